// The contenders of a band of rows, and how far their columns' nearest sites are, in shared memory: the first part of
// envelope.cu, which tells how it all goes together.
#pragma once

#include "launch.h"
#include "rows.h"

namespace apsis {

namespace {

constexpr int THREADS = 512;  // of a block at most: two such, of rows up to 16384, fill a multiprocessor's shared memory
constexpr int TILES_EACH = 2;  // that a thread of a shorter row finishes
constexpr int TILE = 8;       // pixels of a row in a thread's registers
constexpr int AHEAD = 4;      // contenders whose words a thread has on the way at once
constexpr int SHORTEST = 8;   // contenders that a thread prunes, at least: fewer have nothing to tell of each other
constexpr uint32_t SKIPPED = 0x80000000;
constexpr int DISTANCE_BITS = 22, STEP_BITS = 3;  // of a packed word
constexpr uint32_t TIE = 1u << (DISTANCE_BITS + 2);  // the first step has but two bits
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
    /// Whether a place still holds a column, be it kept or dropped, and not where its stretch begins.
    __device__ bool is_column(int32_t position) const { return !(distances[place(position)] & SKIPPED); }
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

/// How many bits hold how much more the distance in row r > 0 of a band is than that in its first row, and what is added.
__host__ __device__ constexpr uint32_t step_mask(int r) { return r == 1 ? 3 : (1u << STEP_BITS) - 1; }
__host__ __device__ constexpr int step_bias(int r) { return r == 1 ? 1 : BAND - 1; }

/// A column's distances in the rows of a band in one word: that in the first row, and how much more it is in the
/// others; and whether two sites are nearest in the first row.
__device__ uint32_t pack(const int32_t (&distance)[BAND], bool tie) {
    static_assert(BAND <= 1 << (STEP_BITS - 1), "neighbouring rows differ by one at most");
    uint32_t word = static_cast<uint32_t>(distance[0]) | (tie ? TIE : 0);
#pragma unroll
    for (int r = 1; r < BAND; ++r)
        word |= static_cast<uint32_t>(distance[r] - distance[0] + step_bias(r)) << (DISTANCE_BITS + STEP_BITS * (r - 1));
    return word;
}
__device__ int32_t unpack(uint32_t word, int r) {
    const int32_t first = static_cast<int32_t>(word & ((1u << DISTANCE_BITS) - 1));
    if (r == 0) return first;
    return first + static_cast<int32_t>(word >> (DISTANCE_BITS + STEP_BITS * (r - 1)) & step_mask(r)) - step_bias(r);
}
/// How many rows after row r the nearest site of the column lies, the upper one of two.  Where the distance is more than in
/// the row before, that row's site lies above this one, too; where it is not, the site below is nearer.
__device__ int32_t way_to_site(uint32_t word, int r) {
    const int32_t distance = unpack(word, r);
    const bool above = r > 0 ? distance > unpack(word, r - 1) : (word & TIE) || unpack(word, 1) >= distance;
    return above ? -distance : distance;
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
    return pack(distance, up == down);
}

/// The same of any column, one by one.  Returns whether the sites above and below are as near to the first row.
__device__ bool find_distances(const Sight &sight, uint32_t word, int bit, int32_t (&distance)[BAND]) {
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
    return up[0] == down[0];
}
__device__ uint32_t measure_column(const Sight &sight, uint32_t word, int bit) {
    int32_t distance[BAND];
    const bool tie = find_distances(sight, word, bit, distance);
    return pack(distance, tie);
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

}  // namespace

}  // namespace apsis
