// Phase 2 of argmin.cu: the least cost of every voxel of an interval, and its candidate; a thread an interval.
#pragma once

#include "cuda/distance/volume/argmin_bundle.cuh"
#include "cuda/distance/volume/layout.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

/// The costs of a candidate to a tile's voxels, less w k^2: w (x + k - c)^2 = w (x - c)^2 + w k^2 + slope k.  The second term
/// is the same for all candidates and is added at the end.
struct Ramp {
    int32_t here, slope;  // at the tile's first voxel, and from a voxel to the next

    template <int WIDTH, int PERIOD>
    __device__ Ramp(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t c) {
        here = bundle.at(lane, x, c) + bundle.square(x);
        slope = 2 * bundle.weight * (x - c);
    }
    __device__ int32_t at(int k) const { return here + k * slope; }
};

constexpr uint32_t NO_SITE_PLACE = 0xffffffffu;  // the place of a site where there is none

/// The least costs of a tile's voxels (less w k^2 until the end), and their candidates.
struct TileResult {
    int32_t cost[TILE];
    int32_t at[TILE];     // candidates; for nearest sites alone
    uint32_t site[TILE];  // the site of each candidate; likewise

    __device__ void take(const Ramp &ramp) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) cost[k] = min(cost[k], ramp.at(k));
    }
};

/// The greatest cost of a tile's voxels if each has the better of two candidates.
template <int WIDTH, int PERIOD>
__device__ int32_t worst_cost(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t one, int32_t other) {
    const Ramp ramps[] = {{bundle, lane, x, one}, {bundle, lane, x, other}};
    int32_t most = 0;
#pragma unroll 4
    for (int k = 0; k < TILE; ++k) most = max(most, min(ramps[0].at(k), ramps[1].at(k)) + bundle.weight * k * k);
    return most;
}

/// Tries all candidates from low to high on a tile.
template <int WIDTH, int PERIOD>
__device__ void try_candidates(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high,
                               TileResult &tile) {
    Ramp ramp(bundle, lane, x, low);
    const int32_t *score = bundle.score + low * WIDTH + lane;
    int32_t way = ramp.here - *score;
#pragma unroll 2
    for (int32_t c = low; c <= high; ++c, score += WIDTH, way += bundle.slope(x), ramp.slope -= 2 * bundle.weight) {
        ramp.here = *score + way;
        asm("" : "+r"(ramp.slope));  // or else its multiples would be kept, a register each
        tile.take(ramp);
    }
}

constexpr int TWO_TILES = 2 * TILE;  // voxels of an interval for distances alone

/// An interval of a line, and its bracket.
struct Interval {
    int32_t lane, x, low, high;

    template <int WIDTH, int PERIOD>
    __device__ Interval(const Bundle<WIDTH, PERIOD> &bundle, int32_t item)
        : lane(item % WIDTH),
          x(item / WIDTH * PERIOD),
          low(bundle.best[item]),
          high(bundle.best[item + WIDTH]) {}
};

/// The least costs of a tile's voxels and their candidates, two voxels in a register: register j holds voxels j and j + WORDS.
///
/// A half holds a key: the cost, then the candidate's place in the bracket.  So the least key belongs to the leftmost of equal
/// candidates.  In `last`, places are counted from the right, and the least key belongs to the rightmost.  If both are the same
/// candidate, no other one has the same cost.
///
/// Costs are counted from those of the bracket's first candidate, `low`.  At voxel k, candidate c costs d - 2 w k (c - low)
/// more than low, where d is the difference at voxel 0.  At voxel 0 low is the best candidate, so d >= 0.  A candidate with
/// d > max_gain is best nowhere, so d is clipped.  With max_gain added, all differences are unsigned.
struct HalfKeys {
    static constexpr int WORDS = TILE / 2, MOST_PLACES = 32;
    static constexpr int32_t HEAVIEST = 1 << 12;  // with a larger weight no bracket fits
    uint32_t first[WORDS], last[WORDS];
    int32_t max_gain;
    uint32_t place_count;  // of the bracket, rounded up to a power of two

    /// More than any candidate up to high + 1 gains on the first one from the tile's first voxel to its last.
    static __device__ int32_t max_gain_of(int32_t weight, int32_t places) { return 2 * weight * (TILE - 1) * (places + 1) + 1; }
    static __device__ uint32_t place_count_of(int32_t low, int32_t high) { return 1u << ceil_log2(high - low + 1); }
    static __device__ bool fits(int32_t weight, int32_t low, int32_t high) {
        return weight < HEAVIEST && high - low < MOST_PLACES &&
               (2 * max_gain_of(weight, high - low) + 1) * place_count_of(low, high) <= UINT16_MAX;
    }

    /// Tries all candidates from low to high, and one more if their number is odd.
    template <int WIDTH, int PERIOD>
    __device__ HalfKeys(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high)
        : max_gain(max_gain_of(bundle.weight, high - low)),
          place_count(place_count_of(low, high)) {
#pragma unroll
        for (int j = 0; j < WORDS; ++j) first[j] = last[j] = ~0u;
        const int32_t *score = bundle.score + low * WIDTH + lane;
        const int32_t slope = bundle.slope(x), clip = 2 * max_gain;
        const uint32_t gain = 2 * place_count * bundle.weight;  // of a candidate on the one before it, from a voxel to the next
        const uint32_t next = ONES - (WORDS * gain << 16);
        int32_t way = max_gain - *score;
        uint32_t place = 0, step = 0, from_right = (place_count - 1) * ONES;
#pragma unroll 1
        for (int32_t c = low; c <= high; c += 2, score += 2 * WIDTH, way += 2 * slope) {
            uint32_t one = min(score[0] + way, clip) * (place_count * ONES) + place, one_right = one + from_right;
            uint32_t other = min(score[WIDTH] + (way + slope), clip) * (place_count * ONES) + (place + next),
                     other_right = other + from_right - 2 * ONES;
            const uint32_t other_step = step + gain * ONES;
#pragma unroll
            for (int j = 0; j < WORDS; ++j) {
                first[j] = __vimin3_u16x2(first[j], one, other), one -= step, other -= other_step;
                last[j] = __vimin3_u16x2(last[j], one_right, other_right), one_right -= step, other_right -= other_step;
            }
            place += 2 * next, step += 2 * gain * ONES, from_right -= 4 * ONES;
        }
    }

    /// The costs of the tile, whose first voxel is x.
    template <int WIDTH, int PERIOD>
    __device__ void unpack(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t low,
                           int32_t (&cost)[TILE]) const {
        const Ramp ramp(bundle, lane, x, low);
        const int bits = highest_bit(place_count);
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const uint32_t half = k < WORDS ? first[k] & 0xffff : first[k - WORDS] >> 16;
            cost[k] = ramp.at(k) + bundle.weight * k * k + static_cast<int32_t>(half >> bits) - max_gain;
        }
    }

    /// The places of the voxels' candidates in the bracket, a byte each: of equal ones the candidate with the lowest site.
    /// Places of voxels beyond the end of the line may lie behind `high`.
    template <int WIDTH, int PERIOD, class Site>
    __device__ uint64_t find_places(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high,
                                    const Site &site) const {
        uint64_t found = bytes_of(first);
        const uint64_t rightmost = bytes_of(last) ^ (place_count - 1) * (~uint64_t(0) / UINT8_MAX);
        for (uint64_t ties = found ^ rightmost; ties;) {
            const int shift = (__ffsll(static_cast<long long>(ties)) - 1) & ~7, k = shift / 8;
            const int32_t leftmost = min(low + static_cast<int32_t>(found >> shift & UINT8_MAX), high);
            const int32_t end = min(low + static_cast<int32_t>(rightmost >> shift & UINT8_MAX), high);
            const int32_t cost = bundle.at(lane, x + k, leftmost);
            int32_t best = leftmost;
            uint32_t lowest = site(best, bundle.cost(lane, best));
#pragma unroll 1
            for (int32_t c = leftmost + 1; c <= end; ++c) {
                if (bundle.at(lane, x + k, c) != cost) continue;
                if (const uint32_t other = site(c, bundle.cost(lane, c)); other < lowest) lowest = other, best = c;
            }
            found += static_cast<uint64_t>(best - leftmost) << shift;
            ties &= ~(uint64_t(UINT8_MAX) << shift);
        }
        return found;
    }

    static constexpr uint32_t ONES = 0x00010001u;  // 1 in both halves of a word

  private:
    __device__ uint64_t bytes_of(const uint32_t (&key)[WORDS]) const {
        static_assert(WORDS == 4 && MOST_PLACES <= 1 << 8);
        const uint32_t place = (place_count - 1) * ONES;
        const uint32_t low = (key[0] & place) | (key[1] & place) << 8;   // of voxels 0, 1, 4 and 5
        const uint32_t high = (key[2] & place) | (key[3] & place) << 8;  // 2, 3, 6 and 7
        return uint64_t(__byte_perm(low, high, 0x7632)) << 32 | __byte_perm(low, high, 0x5410);
    }
};

/// Finds the least costs of a tile's voxels.
template <int WIDTH, int PERIOD>
__device__ void search_tile(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high,
                            TileResult &tile) {
#pragma unroll
    for (int k = 0; k < TILE; ++k) tile.cost[k] = INT32_MAX;
    const int32_t bound = high - low >= LONG_BRACKET ? worst_cost(bundle, lane, x, low, high) : 0;
    visit_promising(bundle, lane, x, x + TILE - 1, low, high, bound,
                    [&](int32_t from, int32_t to) { try_candidates(bundle, lane, x, from, to, tile); });
#pragma unroll
    for (int k = 0; k < TILE; ++k) tile.cost[k] += bundle.weight * k * k;
}

/// The least cost of a voxel, its candidate, and the candidate's site.
struct NearestSite {
    int32_t cost, at;
    uint32_t site;
};

/// Finds the nearest site of a single voxel; of several the lowest.
template <int WIDTH, int PERIOD, class Site>
__device__ NearestSite search_voxel(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high,
                                    const Site &site) {
    const int32_t bound = narrow_bracket(bundle, lane, x, INT32_MAX, low, high);
    const BestCandidate best = search_line(bundle, lane, x, low, high, bound);
    NearestSite found = {best.cost + bundle.square(x), best.at, site(best.at, bundle.cost(lane, best.at))};
    const int32_t end = min(best.last + QUAD - 1, high);
    visit_promising(bundle, lane, x, x, best.at + 1, end, found.cost, [&](int32_t first, int32_t last) {
#pragma unroll 1
        for (int32_t c = first; c <= last; ++c) {
            if (bundle.at(lane, x, c) != best.cost) continue;
            if (const uint32_t other = site(c, bundle.cost(lane, c)); other < found.site) found.site = other, found.at = c;
        }
    });
    return found;
}

/// Where a bundle's lines lie: ACROSS of them side by side, in PLANES planes.
template <class Lines, int WIDTH>
struct BundlePlace {
    static constexpr int ACROSS = WIDTH / Lines::PLANES;
    int32_t first, plane;  // the first line, and the first plane

    __device__ int32_t line(int32_t lane) const { return first + lane / Lines::PLANES; }
    __device__ int32_t z(int32_t lane) const { return plane + lane % Lines::PLANES; }
    __device__ bool holds(const Lines &lines, int32_t lane) const {
        return line(lane) < lines.lines() && z(lane) < lines.layout.depth();
    }
};

/// Which tiles of an interval are wanted on a line: a bit for each.
template <int PERIOD, class Lines>
__device__ uint8_t wanted_tiles(const Lines &lines, int64_t z, int64_t line, int32_t interval) {
    uint8_t wanted = 0;
    for (int i = 0; i < PERIOD / TILE; ++i)
        if (const int32_t tile = interval * (PERIOD / TILE) + i; tile * TILE < lines.length() && lines.wanted(z, line, tile))
            wanted |= 1 << i;
    return wanted;
}

/// Distances alone: finds the least costs of an interval's two tiles, and writes the wanted ones.
template <class Lines, int WIDTH>
__device__ void finish(const Bundle<WIDTH, TWO_TILES> &bundle, const Lines &lines, const BundlePlace<Lines, WIDTH> &place,
                       int32_t item, uint32_t wanted) {
    const auto [lane, x, low, high] = Interval(bundle, item);
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
        if (!(wanted >> half & 1)) continue;
        const int32_t here = x + half * TILE;
        TileResult tile;
        search_tile(bundle, lane, here, low, high, tile);
        lines.write(place.z(lane), place.line(lane), here, tile);
    }
}

/// Finds the nearest site of one voxel of an interval, and writes it.
template <class Lines, int WIDTH>
__device__ void finish_voxel(const Bundle<WIDTH, TILE> &bundle, const Lines &lines, const BundlePlace<Lines, WIDTH> &place,
                             int32_t item, int voxel) {
    const Interval interval(bundle, item);
    const int32_t z = place.z(interval.lane), line = place.line(interval.lane), x = interval.x + voxel;
    const auto site = lines.sites(z, line);
    lines.write_voxel(z, line, x, search_voxel(bundle, interval.lane, x, interval.low, interval.high, site));
}

/// Defers an interval to the end, for the whole block.  If too many are deferred already, finishes it at once.
template <class Lines, int WIDTH>
__device__ void defer(const Bundle<WIDTH, TILE> &bundle, const Lines &lines, const BundlePlace<Lines, WIDTH> &place,
                      int32_t item) {
    const int32_t at = atomicAdd(bundle.deferred_count, 1);
    if (at < bundle.MOST_DEFERRED)
        bundle.deferred[at] = static_cast<uint16_t>(item);
    else
        for (int k = 0; k < TILE; ++k) finish_voxel(bundle, lines, place, item, k);
}

/// Nearest sites: finds and writes the nearest sites of an interval's tile.  Defers the interval if its bracket is too long or
/// the weight too large.
template <class Lines, int WIDTH>
__device__ void finish(const Bundle<WIDTH, TILE> &bundle, const Lines &lines, const BundlePlace<Lines, WIDTH> &place,
                       int32_t item, uint32_t) {
    const auto [lane, x, low, high] = Interval(bundle, item);
    const int32_t z = place.z(lane), line = place.line(lane);
    const auto site = lines.sites(z, line);
    if (!HalfKeys::fits(bundle.weight, low, high)) return defer(bundle, lines, place, item);
    const HalfKeys keys(bundle, lane, x, low, high);
    TileResult tile;
    keys.unpack(bundle, lane, x, low, tile.cost);
    const uint64_t places = keys.find_places(bundle, lane, x, low, high, site);
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        const int32_t at = min(low + static_cast<int32_t>(places >> 8 * k & UINT8_MAX), high), way = x + k - at;
        // On a line without a site the one candidate more may be the best: its place is not `at`.
        const bool has_site = tile.cost[k] < NO_COST<int32_t>;
        tile.at[k] = at, tile.site[k] = has_site ? site(at, tile.cost[k] - bundle.weight * way * way) : NO_SITE_PLACE;
    }
    lines.write(z, line, x, tile);
}

/// Block: finishes the deferred intervals, a thread a voxel.
template <class Lines, int WIDTH>
__device__ void finish_deferred(const Bundle<WIDTH, TILE> &bundle, const Lines &lines, const BundlePlace<Lines, WIDTH> &place) {
    __syncthreads();
    const int32_t count = min(*bundle.deferred_count, bundle.MOST_DEFERRED);
    for (int32_t i = threadIdx.x; i < count * TILE; i += ARGMIN_THREADS)
        finish_voxel(bundle, lines, place, bundle.deferred[i / TILE], i % TILE);
}

/// Block: finds and writes the best candidates of the voxels of every wanted tile.
template <class Lines, int WIDTH, int PERIOD>
__device__ void finish_intervals(const Bundle<WIDTH, PERIOD> &bundle, const Lines &lines,
                                 const BundlePlace<Lines, WIDTH> &place) {
    for (int32_t item = threadIdx.x; item < bundle.pivots * WIDTH; item += ARGMIN_THREADS) {
        const int32_t interval = item / WIDTH, lane = item % WIDTH;
        uint32_t wanted = place.holds(lines, lane) ? bundle.wanted[interval] : 0;
        if (WIDTH > MARK_GROUP && wanted)  // lines of a group want the same
            wanted = wanted_tiles<PERIOD>(lines, place.z(lane), place.line(lane), interval);
        if (wanted) finish(bundle, lines, place, item, wanted);
    }
    if constexpr (PERIOD == TILE) finish_deferred(bundle, lines, place);
}

}  // namespace apsis::cuda::volume
