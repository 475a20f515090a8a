// The monotone argmin: rows of a 2-D Euclidean distance map where sites are far.
//
// A block takes a row with marked patches and lays the squared column distances of its strip's contenders in shared
// memory.  The best candidate never moves left as x moves right (Hirata 1996), so the best ones of the ends of a
// stretch bracket those inside: the block halves stretches, from the whole row to tiles of 8 pixels, with many lanes a
// point while brackets are long and one when they are short.  A thread then holds the 8 pixels of a tile in registers and tries the candidates of its bracket
// on all of them.  Ties at the ends of a tile go to the left, which keeps every equal candidate of its pixels in the
// bracket; which of them is the nearest site is settled by row, then column.
//
// Cost: 3/8 of a byte a pixel and row of the strip, 12 bytes a pixel through the second cache; log2(n) + 2 evaluations.
#include "launch.h"
#include "rows.h"
#include "transforms.h"

namespace apsis {

namespace {

constexpr int THREADS = 768;      // two such blocks, of rows up to 16384, fill a multiprocessor
constexpr int TILE = 8;           // pixels in a thread's registers
constexpr int AHEAD = 4;          // contenders whose words a thread has on the way at once
constexpr uint32_t BIAS = TILE * TILE;  // keeps costs positive from which the square of a place in the tile is taken
constexpr int PATCH_TILES = PATCH / TILE;
constexpr int SHARE = 12;         // contenders that a lane is to try: of more, more lanes take shares
constexpr int MOST_LANES = 512;   // that share the contenders of one level's points
constexpr int MOST_KEYS = MOST_LANES / WARP * 3;  // points that several warps may serve at once
constexpr int ALONE = 40;         // contenders of a bracket, for every lane that serves it, from which its warp helps

/// The contenders of a row in shared memory.  They lie in groups of 32 with one in between that never wins, so that
/// threads that walk stretches of 8 or 16 words each meet different banks.
struct Row {
    uint32_t *cost;           // [place]: squared distance to the nearest site of the contender's column, and BIAS
    uint32_t *least;          // of these
    unsigned long long *keys; // costs and places of points that several warps serve
    uint16_t *column;         // [place]
    uint16_t *best;           // [i]: the place of the best of pixel i * TILE; at the end that of the pixel after the last
    const uint16_t *places;   // see Rows
    int32_t length, tiles, count;

    __device__ static int32_t place(int32_t number) { return number + number / GROUP; }
    __device__ int32_t pixel(int32_t tile) const { return min(tile * TILE, length); }
    __device__ int32_t last() const { return place(count - 1); }
    __device__ uint32_t at(int32_t candidate, int32_t x) const {
        const int32_t d = x - column[candidate];
        return cost[candidate] + static_cast<uint32_t>(d * d);
    }
};

int64_t row_places(int64_t length) { return parts(length, GROUP) * (GROUP + 1); }

size_t row_bytes(int64_t length) {
    return static_cast<size_t>(MOST_KEYS * 8 + row_places(length) * 6 + (parts(length, TILE) + 1) * 2);
}

__device__ Row shape_row(unsigned long long *shared, uint32_t *least, int32_t length) {
    const int32_t places = (length + GROUP - 1) / GROUP * (GROUP + 1);
    Row row = {};
    row.keys = shared;
    row.least = least;
    row.cost = reinterpret_cast<uint32_t *>(shared + MOST_KEYS);
    row.column = reinterpret_cast<uint16_t *>(row.cost + places);
    row.best = row.column + places;
    row.length = length;
    row.tiles = (length + TILE - 1) / TILE;
    return row;
}

/// A distance that no two pixels are apart.
uint32_t no_distance(const Measure &measure) { return static_cast<uint32_t>(sqrt(static_cast<double>(measure.largest))) + 1; }

/// The costs of the contenders of row y; `none` is the distance of a column without a site.
__device__ void load_row(const Row &row, const Rows &rows, int64_t image, int64_t y, uint32_t none) {
    const Columns &columns = rows.columns;
    const int64_t strip = y / STRIP, first = columns.at(image, strip, 0);
    const uint16_t *const list = rows.contenders_of(image, strip);
    const uint32_t *const words = columns.words + first;
    const int32_t *const before = columns.before + first, *const after = columns.after + first;
    const int32_t at = static_cast<int32_t>(y), bit = at % STRIP;
    uint32_t least = ~0u;
    for (int32_t turn = threadIdx.x; turn < row.count; turn += AHEAD * THREADS) {
        uint32_t x[AHEAD], word[AHEAD];
        int32_t last[AHEAD], next[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) x[k] = list[min(turn + k * THREADS, row.count - 1)];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) word[k] = words[x[k]], last[k] = before[x[k]], next[k] = after[x[k]];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            if (turn + k * THREADS >= row.count) break;
            const uint32_t upper = word[k] << (STRIP - 1 - bit), lower = word[k] >> bit;
            const uint32_t up = upper ? __clz(static_cast<int>(upper)) : at - last[k];
            const uint32_t down = lower ? lowest_bit(lower) : next[k] - at;
            const uint32_t d = min(min(up, down), none), place = Row::place(turn + k * THREADS);
            row.cost[place] = d * d + BIAS;
            row.column[place] = static_cast<uint16_t>(x[k]);
            least = min(least, d * d + BIAS);
        }
    }
    for (int32_t group = threadIdx.x; group < row.count / GROUP; group += THREADS) {
        row.cost[group * (GROUP + 1) + GROUP] = none * none + BIAS;
        row.column[group * (GROUP + 1) + GROUP] = 0;
    }
    least = least_of_warp(least);
    if (threadIdx.x % WARP == 0) atomicMin(row.least, least);
}

/// The best candidate of a pixel, the leftmost of equals, while it is being found.
struct Best {
    uint32_t cost = ~0u;
    int32_t place = 0;

    __device__ void take(uint32_t here, int32_t candidate) {
        if (here < cost) cost = here, place = candidate;
    }
    __device__ void join(uint32_t other_cost, int32_t other_place) {
        if (other_cost < cost || (other_cost == cost && other_place < place)) cost = other_cost, place = other_place;
    }
    /// With the lanes of its aligned group of `lanes`, at most a warp.
    __device__ void join_lanes(int lanes) {
        for (int step = lanes / 2; step > 0; step /= 2)
            join(__shfl_xor_sync(ALL_LANES, cost, step), __shfl_xor_sync(ALL_LANES, place, step));
    }
    __device__ void join_warp() {
        const uint32_t least = least_of_warp(cost);
        place = static_cast<int32_t>(least_of_warp(cost == least ? static_cast<uint32_t>(place) : ~0u));
        cost = least;
    }
};

/// A stretch of a row that POINTS pixels cut into equal parts, and the bracket of their candidates.
template <int POINTS>
struct Stretch {
    int32_t left, low, high;  // its first tile; the places of the best of its ends
    int32_t x[POINTS];        // the pixels
    Best best[POINTS];

    __device__ Stretch(const Row &row, int32_t left, int32_t step)
        : left(left), low(row.best[left]), high(row.best[min(left + (POINTS + 1) * step, row.tiles)]) {
#pragma unroll
        for (int k = 0; k < POINTS; ++k) x[k] = row.pixel(left + (k + 1) * step);
    }
    /// Narrows the bracket to what lies near enough: all candidates cost row.least or more, and some cost no more than
    /// those of the ends and one close by.
    __device__ void narrow(const Row &row) {
        if (high - low < 4 * GROUP) return;
        int32_t first = row.length, end = 0;
#pragma unroll
        for (int k = 0; k < POINTS; ++k) {
            const int32_t own = Row::place(row.places[min(x[k], row.length - 1) / GROUP]);
            const uint32_t bound = min(min(row.at(low, x[k]), row.at(high, x[k])), row.at(min(max(own, low), high), x[k]));
            const int32_t reach = static_cast<int32_t>(__fsqrt_ru(static_cast<float>(bound - *row.least)) * 1.000001f) + 1;
            first = min(first, x[k] - reach);
            end = max(end, x[k] + reach);
        }
        low = max(low, Row::place(row.places[max(first, 0) / GROUP]));
        high = min(high, Row::place(row.places[min(end, row.length - 1) / GROUP + 1] - 1));
    }
    /// Tries every `step`-th candidate from the first or after it.
    __device__ void scan(const Row &row, int32_t first, int32_t step) {
#pragma unroll 4
        for (int32_t c = low + first; c <= high; c += step) {
            const int32_t column = row.column[c];
            const uint32_t cost = row.cost[c];
#pragma unroll
            for (int k = 0; k < POINTS; ++k) best[k].take(cost + static_cast<uint32_t>((x[k] - column) * (x[k] - column)), c);
        }
    }
    __device__ void store(const Row &row, int32_t step) const {
#pragma unroll
        for (int k = 0; k < POINTS; ++k)
            if (left + (k + 1) * step < row.tiles) row.best[left + (k + 1) * step] = static_cast<uint16_t>(best[k].place);
    }
};

/// Searches a stretch with several warps, which meet in shared memory.
template <int POINTS>
__device__ void search_wide(const Row &row, int32_t step, int32_t stretches, int32_t lanes) {
    const int32_t number = threadIdx.x / lanes, span = (POINTS + 1) * step;
    unsigned long long *const keys = row.keys + number * POINTS;
    if (static_cast<int32_t>(threadIdx.x) < stretches * POINTS) row.keys[threadIdx.x] = ~0ull;
    __syncthreads();
    if (number < stretches) {
        Stretch<POINTS> stretch(row, number * span, step);
        stretch.narrow(row);
        stretch.scan(row, threadIdx.x % lanes, lanes);
#pragma unroll
        for (int k = 0; k < POINTS; ++k) {
            stretch.best[k].join_warp();
            if (threadIdx.x % WARP == 0)
                atomicMin(keys + k, static_cast<unsigned long long>(stretch.best[k].cost) << 32 | stretch.best[k].place);
        }
    }
    __syncthreads();
    if (number < stretches && static_cast<int32_t>(threadIdx.x) % lanes == 0)
        for (int k = 0; k < POINTS; ++k) {
            const int32_t tile = number * span + (k + 1) * step;
            if (tile < row.tiles) row.best[tile] = static_cast<uint16_t>(keys[k]);
        }
}

/// Searches a stretch with a few lanes of a warp; one with a long bracket becomes the warp's.
template <int POINTS>
__device__ void search_narrow(const Row &row, int32_t step, int32_t stretches, int32_t lanes, const uint8_t *marks) {
    const int32_t lane = threadIdx.x % WARP, part = lane % lanes, span = (POINTS + 1) * step;
    for (int32_t turn = threadIdx.x / WARP * (WARP / lanes); turn < stretches; turn += THREADS / lanes) {
        const int32_t number = turn + lane / lanes;
        const bool wanted = number < stretches && (span > PATCH_TILES || marks[number * span / PATCH_TILES]);
        Stretch<POINTS> stretch(row, wanted ? number * span : 0, step);
        if (wanted) stretch.narrow(row);
        const bool is_long = wanted && stretch.high - stretch.low >= ALONE * lanes;
        if (wanted && !is_long) stretch.scan(row, part, lanes);
        for (uint32_t mask = __ballot_sync(ALL_LANES, is_long && part == 0); mask; mask &= mask - 1) {
            const int owner = __ffs(static_cast<int>(mask)) - 1;
            Stretch<POINTS> shared(row, __shfl_sync(ALL_LANES, stretch.left, owner), step);
            shared.narrow(row);
            shared.scan(row, lane, WARP);
#pragma unroll
            for (int k = 0; k < POINTS; ++k) {
                shared.best[k].join_warp();
                if (lane == owner) stretch.best[k] = shared.best[k];
            }
        }
#pragma unroll
        for (int k = 0; k < POINTS; ++k) stretch.best[k].join_lanes(lanes);
        if (wanted && part == 0) stretch.store(row, step);
    }
}

/// Finds the best candidates of the pixels that cut every stretch of POINTS + 1 steps, with as many lanes as have work.
template <int POINTS>
__device__ void cut_stretches(const Row &row, int32_t step, const uint8_t *marks) {
    const int32_t stretches = (row.tiles - step - 1) / ((POINTS + 1) * step) + 1;
    int32_t lanes = 1;
    while (lanes * stretches * SHARE < row.count && lanes * stretches * 2 <= MOST_LANES) lanes *= 2;
    if (lanes > WARP)
        search_wide<POINTS>(row, step, stretches, lanes);
    else
        search_narrow<POINTS>(row, step, stretches, lanes, marks);
    __syncthreads();
}

/// Finds the best candidates of all tiles' first pixels in marked patches.
__device__ void bracket_tiles(const Row &row, const uint8_t *marks) {
    if (threadIdx.x == 0) row.best[0] = 0, row.best[row.tiles] = static_cast<uint16_t>(row.last());
    __syncthreads();
    int32_t step = 1;
    while (step * 4 < row.tiles) step *= 4;
    if (step * 2 >= row.tiles && step < row.tiles) {
        cut_stretches<1>(row, step, marks);
        step /= 4;
    }
    for (; step >= 1 && step < row.tiles; step /= 4) cut_stretches<3>(row, step, marks);
}

/// The least costs of a tile's pixels while they are being found: without the square of the pixel's place in the tile,
/// and with BIAS.
struct Tile {
    uint32_t cost[TILE];

    __device__ Tile() {
#pragma unroll
        for (uint32_t &c : cost) c = ~0u;
    }
    /// (x + k - c)^2 = (x - c)^2 + 2 (x - c) k + k^2: one product serves all the pixels.
    __device__ void take(const Row &row, int32_t candidate, int32_t x) {
        const int32_t d = x - row.column[candidate];
        const uint32_t slope = static_cast<uint32_t>(2 * d);
        uint32_t here = row.cost[candidate] + static_cast<uint32_t>(d * d);
#pragma unroll
        for (int k = 0; k < TILE; ++k, here += slope) cost[k] = min(cost[k], here);
    }
    __device__ uint32_t result(int k) const { return cost[k] - BIAS + k * k; }
};

/// Above the cost of every site.
__device__ uint32_t no_cost(const Rows &rows) { return static_cast<uint32_t>(rows.output.measure.largest) + 1; }

/// Of the candidates that a pixel has the same least cost with, the site of lowest index.
__device__ int64_t lowest_site(const Rows &rows, const Row &row, int64_t image, int64_t y, int32_t x, uint32_t cost,
                               int32_t low, int32_t high) {
    const Columns &columns = rows.columns;
    const int64_t strip = y / STRIP, first = columns.at(image, strip, 0);
    int64_t lowest = INT64_MAX;
    for (int32_t c = low; c <= high; ++c) {
        if (row.at(c, x) - BIAS != cost) continue;
        const int64_t column = row.column[c], at = first + column;
        const int64_t site = nearest_in_column(columns.words[at], columns.before[at], columns.after[at],
                                               static_cast<int32_t>(strip * STRIP), static_cast<int32_t>(y));
        lowest = min(lowest, site * columns.count + column);
    }
    return image * columns.length * columns.count + lowest;
}

__device__ float root_of(uint32_t cost) {
    return cost < 1u << 24 ? small_root(static_cast<float>(cost)) : large_root(cost);
}

template <bool NEAREST>
__device__ void write_tile(const Rows &rows, const Row &row, const Tile &tile, bool floats, int64_t image, int64_t y,
                           int32_t x, int32_t low, int32_t high) {
    const uint32_t none = no_cost(rows);
    const int64_t limit = rows.output.measure.limit;
    if (!NEAREST && floats && x + TILE <= row.length) {
        float distance[TILE];
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const uint32_t cost = tile.result(k);
            distance[k] = cost <= limit ? root_of(cost) : INFINITY;
        }
        float4 *const to = reinterpret_cast<float4 *>(rows.output.distance.row(y, image) + int64_t(x) * 4);
        __stcs(to, make_float4(distance[0], distance[1], distance[2], distance[3]));
        __stcs(to + 1, make_float4(distance[4], distance[5], distance[6], distance[7]));
        return;
    }
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        if (x + k >= row.length) break;
        const uint32_t cost = tile.result(k);
        const int64_t site = NEAREST && cost < none ? lowest_site(rows, row, image, y, x + k, cost, low, high) : 0;
        write_pixel(rows.output, x + k, y, image, cost, cost < none, site);
    }
}

/// Tries the candidates of every marked tile, a thread a tile, and writes its pixels.
template <bool NEAREST>
__device__ void finish_tiles(const Rows &rows, const Row &row, const uint8_t *marks, bool floats, int64_t image,
                             int64_t y) {
    const int lane = threadIdx.x % WARP;
    for (int32_t turn = threadIdx.x / WARP * WARP; turn < row.tiles; turn += THREADS) {
        const int32_t t = turn + lane;
        const bool wanted = t < row.tiles && marks[t / PATCH_TILES];
        const int32_t low = wanted ? row.best[t] : 0, high = wanted ? row.best[t + 1] : 0, x = t * TILE;
        Tile tile;
        if (wanted && high - low < ALONE)
            for (int32_t c = low; c <= high; ++c) tile.take(row, c, x);
        for (uint32_t mask = __ballot_sync(ALL_LANES, high - low >= ALONE); mask; mask &= mask - 1) {
            const int owner = __ffs(static_cast<int>(mask)) - 1;
            const int32_t from = __shfl_sync(ALL_LANES, low, owner), to = __shfl_sync(ALL_LANES, high, owner);
            Tile share;
            for (int32_t c = from + lane; c <= to; c += WARP) share.take(row, c, (turn + owner) * TILE);
#pragma unroll
            for (int k = 0; k < TILE; ++k) {
                const uint32_t least = least_of_warp(share.cost[k]);
                if (lane == owner) tile.cost[k] = min(tile.cost[k], least);
            }
        }
        if (wanted) write_tile<NEAREST>(rows, row, tile, floats, image, y, x, low, high);
    }
}

template <bool NEAREST>
__global__ void __launch_bounds__(THREADS, NEAREST ? 1 : 2) search_rows(Rows rows, bool floats, uint32_t none) {
    extern __shared__ __align__(16) unsigned long long shared[];
    __shared__ uint32_t least;
    Row row = shape_row(shared, &least, static_cast<int32_t>(rows.columns.count));
    for (int64_t item = blockIdx.x; item < rows.columns.batch * rows.columns.length; item += gridDim.x) {
        const int64_t image = item / rows.columns.length, y = item % rows.columns.length;
        const uint8_t *const marks = rows.marks_of(image, y);
        bool marked = false;
        for (int64_t p = threadIdx.x; p < rows.patches(); p += THREADS) marked = marked || marks[p];
        least = ~0u;
        if (!__syncthreads_or(marked)) continue;
        row.places = rows.places_of(image, y / STRIP);
        row.count = row.places[rows.groups()];
        load_row(row, rows, image, y, none);
        __syncthreads();
        bracket_tiles(row, marks);
        finish_tiles<NEAREST>(rows, row, marks, floats, image, y);
        __syncthreads();
    }
}

}  // namespace

bool rows_serve(const DistanceJob &job) {
    const Measure &measure = job.measure;
    if (job.axes != 2 || measure.metric != APSIS_EUCLIDEAN || measure.weight[0] != 1 || measure.weight[1] != 1) return false;
    // A candidate without a site costs a square above the largest cost, and the way to it; with a tile's bias that must
    // fit 32 bits.
    const int64_t width = job.set.size[0], way = (width - 1) * (width - 1);
    const int64_t none = no_distance(measure);
    return width <= WIDEST_ROW && none * none + way + 2 * BIAS < (int64_t(1) << 32);
}

void search_marked(const Rows &rows, cudaStream_t stream) {
    const auto search = [&](auto kernel) {
        launch_large("search_rows", kernel, rows.columns.batch * rows.columns.length, THREADS,
                     row_bytes(rows.columns.count), stream, rows, rows.plain_distances(), no_distance(rows.output.measure));
    };
    rows.output.nearest ? search(search_rows<true>) : search(search_rows<false>);
}

}  // namespace apsis
