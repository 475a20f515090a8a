// The contenders of a band of rows in shared memory, and which of them bracket each tile: the first half of
// envelope.cu, which tells how it all goes together.
#pragma once

#include "launch.h"
#include "roots.h"
#include "rows.h"

namespace apsis {

namespace {

constexpr int THREADS = 512;  // of a block at most: two such, of rows up to 16384, fill a multiprocessor's shared memory
constexpr int TILES_EACH = 2;  // that a thread of a shorter row finishes
constexpr int TILE = 8;       // pixels of a row in a thread's registers
constexpr int AHEAD = 4;      // contenders whose words a thread has on the way at once
constexpr int SHORTEST = 8;   // contenders that a thread prunes, at least: fewer have nothing to tell of each other
constexpr int MOST_DROPS = 16;  // at a seam on either side
constexpr int SMOOTHINGS = 2;   // rounds over the seams: a third finds next to nothing
constexpr uint32_t SKIPPED = 0x80000000;
constexpr int DISTANCE_BITS = 22, STEP_BITS = 3;  // of a packed word
static_assert(DISTANCE_BITS + STEP_BITS * (BAND - 1) < 32 && LONGEST <= 1 << DISTANCE_BITS, "below SKIPPED");

/// Who works on a band: a block, or a warp alone.
struct BlockTeam {
    static constexpr bool IS_WARP = false;
    __device__ static int32_t rank() { return static_cast<int32_t>(threadIdx.x); }
    __device__ static int32_t size() { return static_cast<int32_t>(blockDim.x); }
    __device__ static void sync() { __syncthreads(); }
};
struct WarpTeam {
    static constexpr bool IS_WARP = true;
    __device__ static int32_t rank() { return static_cast<int32_t>(threadIdx.x % WARP); }
    __device__ static int32_t size() { return WARP; }
    __device__ static void sync() { __syncwarp(); }
};

/// A band's contenders are cut into stretches, one a thread, whose length is a power of two.  Those that pruning leaves
/// lie side by side in their stretch.  LAST is set in the last one's column; where the first position has been dropped,
/// SKIPPED stands there instead, and the next one that is kept.
template <class N, class T>
struct BandOf {
    using Number = N;
    using Team = T;
    static constexpr bool IS_PIECE = sizeof(Number) == 4;  // of a row that is cut
    static constexpr uint32_t LAST = Number(1) << (8 * sizeof(Number) - 1);

    uint32_t *distances;  // [place]: of the contender's column to its nearest site, in all rows: see pack
    Number *columns;      // [place]
    uint32_t *lows;       // [tile]: the first position of its bracket; then the first and, above it, the last
    uint32_t *highs;      // [tile]: the last
    int32_t length, tiles, count, stretch;
    int32_t room;    // that the tiles' arrays have, for as many stretches
    int32_t origin;  // the first pixel of a piece
    float wide_slack;

    __device__ float slack() const { return IS_PIECE ? wide_slack : SLACK; }
    __device__ static int32_t place(int32_t position) { return spread_banks(position); }
    /// Before there are brackets, in their place: the first and the last position that is kept of every stretch.
    __device__ uint16_t *firsts() const { return reinterpret_cast<uint16_t *>(lows); }
    __device__ uint16_t *lasts() const { return firsts() + room; }
    /// When there are brackets: the tiles in the order in which they are finished.
    __device__ uint16_t *order() const { return reinterpret_cast<uint16_t *>(highs); }
    /// Where a stretch begins: where its first position says.
    __device__ int32_t begin(int32_t position) const {
        if (position >= count) return position;
        const uint32_t word = distances[place(position)];
        return word & SKIPPED ? static_cast<int32_t>(word & ~SKIPPED) : position;
    }
    /// The position after one.
    __device__ int32_t next(int32_t position, bool last) const {
        return last ? begin((position | (stretch - 1)) + 1) : position + 1;
    }
    /// Lets as few contenders as may be to every thread.
    __device__ void cut_stretches() {
        stretch = SHORTEST;
        while (stretch * Team::size() < count) stretch *= 2;
    }
};
using RowBand = BandOf<uint16_t, BlockTeam>;    // of whole rows
using PieceBand = BandOf<uint32_t, BlockTeam>;  // of a piece of rows that are cut
using ThinBand = BandOf<uint16_t, WarpTeam>;    // of short rows

__host__ __device__ int32_t count_places(int32_t length) { return (length + 31) / 32 * 32; }

size_t band_bytes(int64_t length) {
    return static_cast<size_t>(count_places(static_cast<int32_t>(length)) * 6 + parts(length, TILE) * 8);
}

__device__ RowBand shape_band(uint32_t *shared, int32_t length, int32_t count) {
    const int32_t places = count_places(length);
    RowBand band = {};
    band.length = length;
    band.tiles = band.room = (length + TILE - 1) / TILE;
    band.lows = shared;
    band.highs = band.lows + band.tiles;
    band.distances = band.highs + band.tiles;
    band.columns = reinterpret_cast<uint16_t *>(band.distances + places);
    band.count = count;
    band.cut_stretches();
    return band;
}

/// A column's distances in the rows of a band in one word: that in the first row, and how much more it is in the
/// others.
__device__ uint32_t pack(const int32_t (&distance)[BAND]) {
    static_assert(BAND <= 1 << (STEP_BITS - 1), "neighbouring rows differ by one at most");
    uint32_t word = static_cast<uint32_t>(distance[0]);
#pragma unroll
    for (int r = 1; r < BAND; ++r)
        word |= static_cast<uint32_t>(distance[r] - distance[0] + BAND - 1) << (DISTANCE_BITS + STEP_BITS * (r - 1));
    return word;
}
__device__ int32_t unpack(uint32_t word, int r) {
    const int32_t first = static_cast<int32_t>(word & ((1u << DISTANCE_BITS) - 1));
    if (r == 0) return first;
    return first + static_cast<int32_t>(word >> (DISTANCE_BITS + STEP_BITS * (r - 1)) & ((1u << STEP_BITS) - 1)) -
           (BAND - 1);
}

/// How far from a strip's first row the nearest sites of a column before and after the strip are; OUT_OF_SIGHT or
/// NOWHERE if there is none.
struct Sight {
    uint32_t above, below;

    __device__ explicit Sight(uint32_t packed) : above(packed & 0xffff), below(packed >> 16) {}
    __device__ Sight(const Columns &columns, int64_t at, int32_t start, uint32_t most)
        : above(min(static_cast<uint32_t>(start - columns.before[at]), most)),
          below(min(static_cast<uint32_t>(columns.after[at] - start), most)) {}
};

/// The distances of a column without a site in the strip, in a band that begins at row `bit` of it.
__device__ uint32_t measure_from_afar(const Sight &sight, int bit) {
    const int32_t up = static_cast<int32_t>(sight.above + bit), down = static_cast<int32_t>(sight.below) - bit;
    int32_t distance[BAND];
#pragma unroll
    for (int r = 0; r < BAND; ++r) distance[r] = min(up + r, down - r);
    return pack(distance);
}

/// The same of any column, one by one.
__device__ void find_distances(const Sight &sight, uint32_t word, int bit, int32_t (&distance)[BAND]) {
    int32_t up[BAND], down[BAND];
    const uint32_t upper = word << (STRIP - 1 - bit), lower = word >> bit >> (BAND - 1);
    up[0] = upper ? __clz(static_cast<int>(upper)) : static_cast<int32_t>(sight.above + bit);
    down[BAND - 1] = lower ? lowest_bit(lower) : static_cast<int32_t>(sight.below) - bit - (BAND - 1);
#pragma unroll
    for (int r = 1; r < BAND; ++r) up[r] = word >> (bit + r) & 1 ? 0 : up[r - 1] + 1;
#pragma unroll
    for (int r = BAND - 2; r >= 0; --r) down[r] = word >> (bit + r) & 1 ? 0 : down[r + 1] + 1;
#pragma unroll
    for (int r = 0; r < BAND; ++r) distance[r] = min(up[r], down[r]);
}
__device__ uint32_t measure_column(const Sight &sight, uint32_t word, int bit) {
    int32_t distance[BAND];
    find_distances(sight, word, bit, distance);
    return pack(distance);
}

/// A value that the compiler keeps, rather than computes it anew for every use.
template <class T>
__device__ const T *keep(const T *pointer) {
    asm("" : "+l"(pointer));
    return pointer;
}
__device__ int32_t keep(int32_t value) {
    asm("" : "+r"(value));
    return value;
}

/// Lays all columns of the band that begins at row y in shared memory.
__device__ void load_columns(const RowBand &band, const Columns &columns, int64_t image, int64_t y) {
    const int64_t strip = y / STRIP, from = columns.at(image, strip, 0);
    const int32_t start = static_cast<int32_t>(strip * STRIP);
    for (int32_t x = threadIdx.x; x < band.count; x += blockDim.x) {
        const Sight sight(columns, from + x, start, NOWHERE);
        const int32_t place = band.place(x);
        band.distances[place] = measure_column(sight, columns.words[from + x], static_cast<int>(y % STRIP));
        band.columns[place] = static_cast<uint16_t>(x);
    }
}

/// Lays the contenders of the band that begins at row y in shared memory.
__device__ void load_band(const RowBand &band, const Rows &rows, int64_t image, int64_t y) {
    const int64_t strip = y / STRIP;
    const uint16_t *const list = keep(rows.contenders_of(image, strip));
    const uint32_t *const sights = keep(rows.sights_of(image, strip));
    const uint32_t *const insides = keep(rows.insides_of(image, strip));
    const int bit = static_cast<int>(y % STRIP), threads = blockDim.x;
    for (int32_t turn = threadIdx.x; turn < band.count; turn += AHEAD * threads) {
        uint32_t x[AHEAD], sight[AHEAD], word[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const int32_t i = min(turn + k * threads, band.count - 1);
            x[k] = __ldg(list + i), sight[k] = __ldg(sights + i), word[k] = __ldg(insides + i);
        }
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const int32_t position = turn + k * threads, place = band.place(position);
            if (position >= band.count) break;
            const Sight seen(sight[k]);
            band.distances[place] = word[k] ? measure_column(seen, word[k], bit) : measure_from_afar(seen, bit);
            band.columns[place] = static_cast<uint16_t>(x[k]);
        }
    }
}

template <class Band>
__device__ void clear_tiles(const Band &band) {
    for (int32_t t = Band::Team::rank(); t < band.tiles; t += Band::Team::size()) band.lows[t] = ~0u, band.highs[t] = 0;
}

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

/// Every tile learns of the breakpoints that lie in it: of the first contender that is not overtaken before the tile, for
/// all before it are farther than their neighbours on the right; and of the last that has overtaken its neighbour on the
/// left by the end of the tile, for all after it are farther than theirs.
template <class Band>
__device__ void scatter_breaks(const Band &band) {
    const int32_t start = Band::Team::rank() * band.stretch, first = band.begin(start);
    if (first >= min(start + band.stretch, band.count)) return;
    int32_t low_tile = -1, high_tile = band.tiles, high = 0;
    const auto tell_high = [&] {
        if (high_tile < band.tiles) atomicMax(band.highs + high_tile, static_cast<uint32_t>(high));
    };
    Contender left(band, first);
    for (int32_t position = first;;) {
        const bool ends = left.column & band.LAST;
        const int32_t next = band.next(position, ends);
        int32_t low_now = band.tiles - 1, high_now = band.tiles;  // the last of all is never overtaken
        if (next < band.count) {
            const Contender right(band, next);
            const Breaks breaks(left, right);
            float least = fminf(breaks.first, breaks.last), most = fmaxf(breaks.first, breaks.last);
            if (!(left.is_straight() && right.is_straight()))
#pragma unroll
                for (int r = 1; r < BAND - 1; ++r) {
                    const float here = breaks.at(left.distance(r), right.distance(r));
                    least = fminf(least, here), most = fmaxf(most, here);
                }
            // The last pixel of tile t is where 2x = 16 t + 14.
            low_now = min(low_now, __float2int_rd((most + band.slack()) / (2 * TILE)));
            high_now = max(0, __float2int_rd((least - band.slack() + 2) / (2 * TILE)));
            left = right;
        }
        if (low_now >= 0 && low_now != low_tile) atomicMin(band.lows + low_now, static_cast<uint32_t>(position));
        if (high_now != high_tile) tell_high();
        low_tile = low_now, high_tile = high_now, high = next;
        if (ends) break;
        position = next;
    }
    tell_high();
}

/// From the breakpoints in tiles to the brackets of tiles: the least of those from a tile on, the most up to it.
template <class Band>
__device__ void bracket_tiles(const Band &band) {
    __shared__ uint32_t least[THREADS / WARP], most[THREADS / WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int32_t threads = Band::Team::size(), each = (band.tiles + threads - 1) / threads;
    const int32_t from = min(Band::Team::rank() * each, band.tiles), to = min(from + each, band.tiles);
    uint32_t low = ~0u, high = 0;
    for (int32_t t = from; t < to; ++t) low = min(low, band.lows[t]), high = max(high, band.highs[t]);
#pragma unroll
    for (int away = 1; away < WARP; away *= 2) {
        const uint32_t on_right = __shfl_down_sync(ALL_LANES, low, away), on_left = __shfl_up_sync(ALL_LANES, high, away);
        if (lane + away < WARP) low = min(low, on_right);
        if (lane >= away) high = max(high, on_left);
    }
    if (!Band::Team::IS_WARP) {
        if (lane == 0) least[warp] = low;
        if (lane == WARP - 1) most[warp] = high;
        __syncthreads();
    }
    low = __shfl_down_sync(ALL_LANES, low, 1), high = __shfl_up_sync(ALL_LANES, high, 1);
    if (lane == WARP - 1) low = ~0u;
    if (lane == 0) high = 0;
    if (!Band::Team::IS_WARP) {
        for (int w = warp + 1; w < threads / WARP; ++w) low = min(low, least[w]);
        for (int w = 0; w < warp; ++w) high = max(high, most[w]);
    }
    for (int32_t t = to - 1; t >= from; --t) band.lows[t] = low = min(low, band.lows[t]);
    for (int32_t t = from; t < to; ++t) {
        high = max(high, band.highs[t]);
        band.lows[t] |= high << 16;
    }
}

constexpr int32_t SHORT_BRACKET = 4;  // up to that, neighbours cost a warp less than tiles of one length far apart

/// Of brackets of one class, the longest are less than half as long again as the shortest.  Short ones are one class: so
/// most tiles of most images stay side by side, and what a warp stores fills whole lines of memory.
template <class Band>
__device__ int bracket_class(const Band &band, int32_t t) {
    const uint32_t bracket = band.lows[t];
    const int32_t length = static_cast<int32_t>(bracket >> 16) - static_cast<int32_t>(bracket & 0xffff) + 1;
    if (length <= SHORT_BRACKET) return 0;
    const int power = highest_bit(static_cast<uint32_t>(length));
    return 2 * power + (length >> (power - 1) & 1);
}

/// Orders the tiles that are wanted by the length of their brackets, long ones first, so that the lanes of a warp have as
/// much to do; they take the place of Band::highs.  Returns how many they are.
template <class Band, class Wanted>
__device__ int32_t order_tiles(const Band &band, Wanted wanted) {
    __shared__ int32_t places[WARP], total;  // of each class's next, and how many there are
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const auto each = [&](auto take) {
        for (int32_t turn = warp * WARP; turn < band.tiles; turn += static_cast<int32_t>(blockDim.x)) {
            const int32_t t = turn + lane;
            const int number = t < band.tiles && wanted(t) ? WARP - 1 - bracket_class(band, t) : WARP;
            const uint32_t same = __match_any_sync(ALL_LANES, number);
            int32_t first = 0;
            if (number < WARP && lane == lowest_bit(same)) first = atomicAdd(places + number, __popc(same));
            take(t, number, __shfl_sync(ALL_LANES, first, lowest_bit(same)) + __popc(same & ((1u << lane) - 1)));
        }
    };
    if (threadIdx.x < WARP) places[lane] = 0;
    __syncthreads();
    each([](int32_t, int, int32_t) {});
    __syncthreads();
    if (threadIdx.x < WARP) {
        const int32_t mine = places[lane];
        int32_t sum = mine;
#pragma unroll
        for (int step = 1; step < WARP; step *= 2) {
            const int32_t other = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += other;
        }
        places[lane] = sum - mine;
        if (lane == WARP - 1) total = sum;
    }
    __syncthreads();
    uint16_t *const order = band.order();
    each([&](int32_t t, int number, int32_t place) {
        if (number < WARP) order[place] = static_cast<uint16_t>(t);
    });
    __syncthreads();
    return total;
}

}  // namespace

}  // namespace apsis
