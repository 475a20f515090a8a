// Drops contenders of a band that are never nearest: the second part of envelope.cu, which tells how it all goes together.
#pragma once

#include "band.cuh"
#include "roots.h"

namespace apsis {

namespace {

constexpr int MOST_DROPS = 16;  // at a seam on either side
constexpr int SMOOTHINGS = 1;   // rounds over the seams: what a second finds takes longer than to try it

/// A contender in numbers that are quick to compare; all of them are whole, and exact.
struct Contender {
    uint32_t word, column;
    float first, last, x;  // its column's distances in the first and the last row of the band, and the column

    template <class Band>
    __device__ Contender(const Band &band, int32_t position) {
        const int32_t place = band.place(position);
        word = band.distances[place];
        column = band.columns[place];
        first = static_cast<float>(unpack(word, 0));
        last = static_cast<float>(unpack(word, BAND - 1));
        x = static_cast<float>(static_cast<int32_t>(column & ~band.LAST) - band.origin);
    }
    __device__ Contender(bool one, const Contender &a, const Contender &b)
        : word(one ? a.word : b.word),
          column(one ? a.column : b.column),
          first(one ? a.first : b.first),
          last(one ? a.last : b.last),
          x(one ? a.x : b.x) {}
    /// Whether one site is the column's nearest in all rows.
    __device__ bool is_straight() const { return fabsf(last - first) == BAND - 1; }
    __device__ float distance(int r) const { return static_cast<float>(unpack(word, r)); }
};

/// The breakpoints of two contenders: twice the x from which the right one is nearer, in the first and the last row of
/// the band.  If both are straight, those of the other rows lie between.
struct Breaks {
    float first, last, inverse, sum;

    __device__ Breaks(const Contender &left, const Contender &right) {
        inverse = inverse_of(right.x - left.x), sum = left.x + right.x;
        first = at(left.first, right.first), last = at(left.last, right.last);
    }
    __device__ float at(float left, float right) const { return fmaf((right - left) * (right + left), inverse, sum); }
};

/// Whether the middle one of three contenders is never nearest.  What it costs, less r^2 in row r, is concave in r, and
/// that of the others straight, if they are: then the first and the last row speak for those between.
__device__ bool loses(const Contender &left, const Breaks &to_middle, const Contender &middle,
                      const Breaks &from_middle, const Contender &right, float slack) {
    bool all = to_middle.first > from_middle.first + slack && to_middle.last > from_middle.last + slack;
    if (all && !(left.is_straight() && right.is_straight()))
#pragma unroll
        for (int r = 1; r < BAND - 1; ++r)
            all = all && to_middle.at(left.distance(r), middle.distance(r)) >
                             from_middle.at(middle.distance(r), right.distance(r)) + slack;
    return all;
}

/// Keeps the lower envelope of a stretch as a stack, and returns the position of its top.  A turn drops the top or lays
/// the next on it; both load one contender, so that the lanes of a warp go together.
template <class Band>
__device__ int32_t prune_stretch(const Band &band, int32_t first, int32_t end) {
    if (end - first < 3) return end - 1;
    int32_t top = first + 1, next = first + 2;
    Contender below(band, first), on(band, top), comes(band, next);
    Breaks here(below, on);
    while (next < end) {
        const Breaks ahead(on, comes);
        const bool drop = top > first && loses(below, here, on, ahead, comes, band.slack());
        if (!drop) {
            const int32_t place = band.place(++top);
            band.distances[place] = comes.word;
            band.columns[place] = static_cast<typename Band::Number>(static_cast<int32_t>(comes.x) + band.origin);
        }
        const int32_t wanted = drop ? max(--top - 1, first) : min(++next, end - 1);
        const Contender fresh(band, wanted), was = on;
        on = Contender(drop, below, comes);
        below = Contender(drop, fresh, was);
        comes = Contender(drop, comes, fresh);
        here = Breaks(below, on);
    }
    return top;
}

/// The seam of a stretch and the next one on its right that is not empty.
template <class Band>
struct Seam {
    int32_t least, top;     // the first and the last position that the left one keeps
    int32_t bottom, most;   // and the right one
    int32_t under, over;    // what comes before the left one, and after the right one; or -1
    int32_t other;          // the right one's number

    __device__ Seam(const Band &band, int32_t stretch, int32_t stretches) {
        const uint16_t *const firsts = band.firsts(), *const lasts = band.lasts();
        const auto is_empty = [&](int32_t s) { return firsts[s] > lasts[s]; };
        int32_t before = stretch - 1, after = stretch + 1;
        while (before >= 0 && is_empty(before)) --before;
        while (after < stretches && is_empty(after)) ++after;
        least = firsts[stretch], top = lasts[stretch], under = before < 0 ? -1 : lasts[before];
        other = top < least ? stretches : after;
        if (other >= stretches) return;
        bottom = firsts[other], most = lasts[other];
        while (++after < stretches && is_empty(after));
        over = after < stretches ? firsts[after] : -1;
    }
    /// Drops at the seam whom his neighbours make vain, on both sides in turn.
    __device__ void smooth(const Band &band) {
        Contender left(band, top), right(band, bottom);
        Breaks here(left, right);
        bool more = true;
        for (int drops = 0; more && drops < MOST_DROPS; ++drops) {
            more = false;
            if (const int32_t next = top > least ? top - 1 : under; top >= least && next >= 0) {
                const Contender below(band, next);
                if (loses(below, Breaks(below, left), left, here, right, band.slack()))
                    --top, left = below, here = Breaks(left, right), more = true;
            }
            if (const int32_t next = bottom < most ? bottom + 1 : over; bottom <= most && next >= 0) {
                const Contender beyond(band, next);
                if (loses(left, here, right, Breaks(right, beyond), beyond, band.slack()))
                    ++bottom, right = beyond, here = Breaks(left, right), more = true;
            }
        }
    }
};

/// Every thread prunes its stretch; then the seams are smoothed.
template <class Band>
__device__ void prune(const Band &band, bool worth) {
    const int32_t mine = Band::Team::rank(), start = mine * band.stretch, end = min(start + band.stretch, band.count);
    const int32_t stretches = (band.count + band.stretch - 1) / band.stretch;
    int32_t first = start, top = end - 1;
    if (worth) {
        uint16_t *const firsts = band.firsts(), *const lasts = band.lasts();
        if (start < end) {
            top = prune_stretch(band, start, end);
            firsts[mine] = static_cast<uint16_t>(first), lasts[mine] = static_cast<uint16_t>(top);
        }
        Band::Team::sync();
        for (int turn = 0; turn < SMOOTHINGS; ++turn) {
            Seam<Band> seam(band, min(mine, stretches - 1), stretches);
            const bool smooth = mine < stretches && seam.other < stretches;
            if (smooth) seam.smooth(band);
            Band::Team::sync();
            if (smooth) lasts[mine] = static_cast<uint16_t>(seam.top), firsts[seam.other] = static_cast<uint16_t>(seam.bottom);
            Band::Team::sync();
        }
        if (start < end) {
            first = firsts[mine], top = lasts[mine];
            for (int32_t s = mine; first > lasts[s];) first = firsts[++s];
        }
        Band::Team::sync();
    }
    if (start >= end) return;
    if (first < end) band.columns[band.place(top)] |= band.LAST;
    if (first > start) band.distances[band.place(start)] = SKIPPED | static_cast<uint32_t>(first);
}

}  // namespace

}  // namespace apsis
