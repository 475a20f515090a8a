// The contenders of a row in shared memory, and the search for those that bracket its tiles: the first half of
// argmin.cu, which tells how it all goes together.
#pragma once

#include "launch.h"
#include "rows.h"

namespace apsis {

namespace {

constexpr int THREADS = 512;      // two such blocks, of rows up to 16384, fill the shared memory of a multiprocessor
constexpr int TILE = 8;           // pixels in a thread's registers
constexpr int POINTS = 7;         // that cut a stretch into eight
constexpr int AHEAD = 4;          // contenders whose words a thread has on the way at once
constexpr int PATCH_TILES = PATCH / TILE;
constexpr int SHARE = 32;         // contenders that a lane is to try: of more, more lanes take shares
constexpr int MOST_KEYS = THREADS / WARP * POINTS;  // points that several warps may serve at once
constexpr int ALONE = 24;         // candidates, or blocks of them, that a lane tries by itself
constexpr int WIDEST_STEP = static_cast<int>(WIDEST_ROW) / (POINTS + 1);  // between points, in pixels
// Costs are kept with so much added that they stay positive without the square of a way from the middle of a stretch.
constexpr uint32_t BIAS = (POINTS / 2 * WIDEST_STEP) * (POINTS / 2 * WIDEST_STEP);
static_assert(WIDEST_ROW == 8 * 8 * 8 * 8 * TILE, "the widest row is cut four times");

/// The contenders of a row in shared memory.  They lie in groups of 32 with one in between that never wins, so that
/// threads that walk stretches of 8 or 16 words each meet different banks.
struct Row {
    uint32_t *cost;           // [place]: squared distance to the nearest site of the contender's column, and BIAS
    unsigned long long *keys; // costs and places of points that several warps serve
    uint16_t *column;         // [place]
    uint16_t *best;           // [i]: the place of the best of pixel i * TILE; at the end that of the pixel after the last
    int32_t length, tiles;
    uint32_t count;

    __device__ static uint32_t place(uint32_t number) { return number + number / GROUP; }
};

/// Whole blocks of four.
__host__ __device__ int32_t count_places(int32_t length) { return ((length + GROUP - 1) / GROUP * (GROUP + 1) + 3) / 4 * 4; }

size_t row_bytes(int64_t length) {
    return static_cast<size_t>(MOST_KEYS * 8 + count_places(static_cast<int32_t>(length)) * 6 + (parts(length, TILE) + 1) * 2);
}

__device__ Row shape_row(unsigned long long *shared, int32_t length) {
    const int32_t places = count_places(length);
    Row row = {};
    row.keys = shared;
    row.cost = reinterpret_cast<uint32_t *>(shared + MOST_KEYS);
    row.column = reinterpret_cast<uint16_t *>(row.cost + places);
    row.best = row.column + places;
    row.length = length;
    row.tiles = (length + TILE - 1) / TILE;
    return row;
}

/// A distance that no two pixels are apart.
uint32_t no_distance(const Measure &measure) { return static_cast<uint32_t>(sqrt(static_cast<double>(measure.largest))) + 1; }

/// A pointer that the compiler keeps, rather than computes it anew for every load.
template <class T>
__device__ const T *keep(const T *pointer) {
    asm("" : "+l"(pointer));
    return pointer;
}

/// The costs of the contenders of row y; `none` is the distance of a column without a site.
__device__ void load_row(const Row &row, const Rows &rows, int64_t image, int64_t y, uint32_t none) {
    const int64_t strip = y / STRIP;
    const uint16_t *const list = keep(rows.contenders_of(image, strip));
    const uint32_t *const sights = keep(rows.sights_of(image, strip));
    const uint32_t *const words = keep(rows.columns.words + rows.columns.at(image, strip, 0));
    const uint32_t bit = static_cast<uint32_t>(y % STRIP);
    for (uint32_t turn = threadIdx.x; turn < row.count; turn += AHEAD * THREADS) {
        uint32_t x[AHEAD], sight[AHEAD], word[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const uint32_t i = min(turn + k * THREADS, row.count - 1);
            x[k] = __ldg(list + i), sight[k] = __ldg(sights + i);
        }
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) word[k] = x[k] & SITES_INSIDE ? __ldg(words + (x[k] - SITES_INSIDE)) : 0;
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            uint32_t d = min(min((sight[k] & 0xffff) + bit, (sight[k] >> 16) - bit), none);
            if (word[k]) {
                const uint32_t upper = word[k] << (STRIP - 1 - bit), lower = word[k] >> bit;
                if (upper) d = min(d, __clz(static_cast<int>(upper)));
                if (lower) d = min(d, lowest_bit(lower));
            }
            const uint32_t place = Row::place(turn + k * THREADS);
            if (turn + k * THREADS < row.count) {
                row.cost[place] = d * d + BIAS;
                row.column[place] = static_cast<uint16_t>(x[k] & ~SITES_INSIDE);
            }
        }
    }
    // What fills the places between groups, and the last block, never wins.
    const int32_t end = count_places(row.count);
    const auto fill = [&](int32_t place) { row.cost[place] = none * none + BIAS, row.column[place] = 0; };
    for (int32_t place = threadIdx.x * (GROUP + 1) + GROUP; place < end; place += THREADS * (GROUP + 1)) fill(place);
    for (int32_t place = static_cast<int32_t>(Row::place(row.count) + threadIdx.x); place < end; place += THREADS) fill(place);
}

/// The costs and columns of four candidates side by side, one load each.
struct Four {
    uint32_t cost[4];
    int32_t column[4];

    __device__ Four(const Row &row, int32_t block) {
        const uint4 costs = reinterpret_cast<const uint4 *>(row.cost)[block];
        const uint2 columns = reinterpret_cast<const uint2 *>(row.column)[block];
        cost[0] = costs.x, cost[1] = costs.y, cost[2] = costs.z, cost[3] = costs.w;
        column[0] = columns.x & 0xffff, column[1] = columns.x >> 16;
        column[2] = columns.y & 0xffff, column[3] = columns.y >> 16;
    }
};

/// A level of the search: the row is cut every `step` tiles.  At the top every candidate is tried, and the row's ends are
/// among the pixels; below, those at multiples of POINTS + 1 steps are known, and bracket the others.
struct Level {
    int32_t step;
    bool top;

    __device__ int32_t span() const { return (POINTS + 1) * step; }
    __device__ int32_t left(int32_t stretch) const { return top ? (stretch * POINTS - 1) * step : stretch * span(); }
    __device__ int32_t stretches(const Row &row) const {
        const int32_t last = top ? (row.tiles + step - 1) / step : (row.tiles - 1) / step;  // the pixel farthest right
        return top ? last / POINTS + 1 : (last + POINTS) / (POINTS + 1);
    }
    /// Where the best of a tile's first pixel belongs; the first pixel after the row stands for its end.  Or -1.
    __device__ int32_t slot(const Row &row, int32_t tile) const {
        return tile < row.tiles ? tile : top && tile - step < row.tiles ? row.tiles : -1;
    }
    /// Whether a stretch lies in a patch that nobody marked.
    __device__ bool spared(int32_t left, const uint8_t *marks) const {
        return !top && span() <= PATCH_TILES && !marks[left / PATCH_TILES];
    }
};

/// A stretch of a row, which POINTS pixels cut into equal parts, and the bracket of their candidates: blocks of four,
/// [first, last].
struct Stretch {
    int32_t left, first, last;
    uint32_t cost[POINTS];  // the least found for each pixel, without the square of its way from the middle one
    int32_t block[POINTS];  // and the leftmost block that it was found in

    __device__ Stretch(const Row &row, const Level &level, int32_t left) : left(left) {
        first = level.top ? 0 : row.best[left] / 4;
        last = (level.top ? Row::place(row.count - 1) : row.best[min(left + level.span(), row.tiles)]) / 4;
#pragma unroll
        for (int k = 0; k < POINTS; ++k) cost[k] = ~0u, block[k] = 0;
    }
    /// Tries every `lanes`-th block, the `part`-th first.
    __device__ void scan(const Row &row, const Level &level, int32_t part, int32_t lanes) {
        const int32_t x = (left + (POINTS + 1) / 2 * level.step) * TILE, way = 2 * TILE * level.step;
        for (int32_t b = first + part; b <= last; b += lanes) {
            const Four four(row, b);
            uint32_t here[4], slope[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const int32_t d = x - four.column[j];
                slope[j] = static_cast<uint32_t>(d * way);
                here[j] = four.cost[j] + static_cast<uint32_t>(d * d) - (POINTS / 2) * slope[j];
            }
#pragma unroll
            for (int k = 0; k < POINTS; ++k) {
                const uint32_t least = min(min(min(here[0], here[1]), here[2]), min(here[3], cost[k]));
                block[k] = least < cost[k] ? b : block[k];
                cost[k] = least;
#pragma unroll
                for (int j = 0; j < 4; ++j) here[j] += slope[j];
            }
        }
    }
    /// The best of the lanes of an aligned group.
    template <int LANES>
    __device__ void join_lanes() {
#pragma unroll
        for (int k = 0; k < POINTS; ++k)
#pragma unroll
            for (int away = LANES / 2; away > 0; away /= 2) {
                const uint32_t other = __shfl_xor_sync(ALL_LANES, cost[k], away);
                const int32_t there = __shfl_xor_sync(ALL_LANES, block[k], away);
                if (other < cost[k] || (other == cost[k] && there < block[k])) cost[k] = other, block[k] = there;
            }
    }
    __device__ void join_warp() {
#pragma unroll
        for (int k = 0; k < POINTS; ++k) {
            const uint32_t least = least_of_warp(cost[k]);
            block[k] = static_cast<int32_t>(least_of_warp(cost[k] == least ? static_cast<uint32_t>(block[k]) : ~0u));
            cost[k] = least;
        }
    }
    __device__ void store(const Row &row, const Level &level) const {
#pragma unroll
        for (int k = 0; k < POINTS; ++k)
            if (const int32_t slot = level.slot(row, left + (k + 1) * level.step); slot >= 0)
                row.best[slot] = static_cast<uint16_t>(block[k]);
    }
};

/// Searches a stretch with several warps, which meet in shared memory.
__device__ void search_by_warps(const Row &row, const Level &level, int32_t stretches, int32_t lanes) {
    const int32_t thread = threadIdx.x, number = thread / lanes;
    unsigned long long *const keys = row.keys + number * POINTS;
    if (thread < stretches * POINTS) row.keys[thread] = ~0ull;
    __syncthreads();
    if (number < stretches) {
        Stretch stretch(row, level, level.left(number));
        stretch.scan(row, level, thread % lanes, lanes);
        stretch.join_warp();
        if (thread % WARP == 0)
#pragma unroll
            for (int k = 0; k < POINTS; ++k)
                atomicMin(keys + k, static_cast<unsigned long long>(stretch.cost[k]) << 32 | stretch.block[k]);
    }
    __syncthreads();
    if (thread < stretches * POINTS) {
        const int32_t slot = level.slot(row, level.left(thread / POINTS) + (thread % POINTS + 1) * level.step);
        if (slot >= 0) row.best[slot] = static_cast<uint16_t>(row.keys[thread]);
    }
}

/// Searches a stretch with LANES lanes of a warp; one with a long bracket becomes the warp's.
template <int LANES>
__device__ void search_by_lanes(const Row &row, const Level &level, int32_t stretches, const uint8_t *marks) {
    const int32_t lane = threadIdx.x % WARP, part = lane % LANES;
    for (int32_t turn = threadIdx.x / WARP * (WARP / LANES); turn < stretches; turn += THREADS / LANES) {
        const int32_t left = level.left(turn + lane / LANES);
        const bool wanted = turn + lane / LANES < stretches && !level.spared(left, marks);
        Stretch stretch(row, level, wanted ? left : 0);
        const bool is_long = wanted && LANES < WARP && stretch.last - stretch.first >= ALONE * LANES;
        if (wanted && !is_long) stretch.scan(row, level, part, LANES);
        if constexpr (LANES < WARP)
            stretch.template join_lanes<LANES>();
        else
            stretch.join_warp();
        for (uint32_t mask = __ballot_sync(ALL_LANES, is_long && part == 0); mask; mask &= mask - 1) {
            const int owner = __ffs(static_cast<int>(mask)) - 1;
            Stretch shared(row, level, __shfl_sync(ALL_LANES, stretch.left, owner));
            shared.scan(row, level, lane, WARP);
            shared.join_warp();
            if (lane == owner) stretch = shared;
        }
        if (wanted && part == 0) stretch.store(row, level);
    }
}

/// Finds the best candidate of every pixel of a level in the block that the search has found.
__device__ void pinpoint(const Row &row, const Level &level, int32_t stretches, const uint8_t *marks) {
    for (int32_t i = threadIdx.x; i < stretches * POINTS; i += THREADS) {
        const int32_t left = level.left(i / POINTS), tile = left + (i % POINTS + 1) * level.step, slot = level.slot(row, tile);
        if (slot < 0 || level.spared(left, marks)) continue;
        const int32_t block = row.best[slot], x = tile * TILE;
        const Four four(row, block);
        uint32_t best = ~0u;
        int32_t found = 0;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int32_t d = x - four.column[j];
            const uint32_t here = four.cost[j] + static_cast<uint32_t>(d * d);
            if (here < best) best = here, found = j;
        }
        row.best[slot] = static_cast<uint16_t>(block * 4 + found);
    }
}

/// Finds the best candidates of all tiles' first pixels in marked patches.
__device__ void bracket_tiles(const Row &row, const uint8_t *marks) {
    Level level = {1, true};
    while (level.span() < row.tiles) level.step = level.span();
    for (; level.step >= 1; level.step /= POINTS + 1, level.top = false) {
        const int32_t stretches = level.stretches(row);
        int32_t lanes = 1;  // as many as have work
        while (lanes * stretches * SHARE < row.count && lanes * stretches * 2 <= THREADS) lanes *= 2;
        if (lanes > WARP)
            search_by_warps(row, level, stretches, lanes);
        else if (lanes > 8)
            search_by_lanes<WARP>(row, level, stretches, marks);
        else if (lanes > 2)
            search_by_lanes<8>(row, level, stretches, marks);
        else if (lanes > 1)
            search_by_lanes<2>(row, level, stretches, marks);
        else
            search_by_lanes<1>(row, level, stretches, marks);
        __syncthreads();
        pinpoint(row, level, stretches, marks);
        __syncthreads();
    }
}

}  // namespace

}  // namespace apsis
