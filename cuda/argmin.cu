// The monotone argmin: rows of a 2-D Euclidean distance map where sites are far.
//
// A block takes a row with marked patches and lays the squared column distances of all its pixels in shared memory.
// The best candidate never moves left as x moves right (Hirata 1996), so the best ones of the ends of a stretch
// bracket those inside: the block halves stretches, from the whole row to tiles of 8 pixels, a warp a point while
// brackets are long and a thread a point when they are short.  Long brackets are first thinned by the least cost of
// every 32 columns.  A thread then holds the 8 pixels of a tile in registers and tries the candidates of its bracket
// on all of them.  Ties at the ends of a tile go to the left, which keeps every equal candidate of its pixels in the
// bracket; which of them is the nearest site is settled by row, then column.
//
// Cost: 3/8 of a byte a pixel and row of the strip, 12 bytes a pixel through the second cache; log2(n) + 2 evaluations.
#include "launch.h"
#include "rows.h"
#include "transforms.h"

namespace apsis {

namespace {

constexpr int THREADS = 512;      // three such blocks, of rows up to 16384, fill a multiprocessor
constexpr int TILE = 8;           // pixels in a thread's registers
constexpr int AHEAD = 4;         // columns whose words a thread has on the way at once
constexpr int32_t NO_SITE_OFFSET = 1 << 29;  // a column without a site is farther from every row; rows are shorter
constexpr int GROUP = 32;         // columns that share a least cost: one turn of a warp
constexpr int64_t WIDEST_ROW = 49152;  // of which shared memory holds the costs
constexpr int PATCH_TILES = PATCH / TILE;
constexpr int ALONE = 48;         // candidates that a lane tries alone; of more, its warp takes a share each
constexpr int THINNED = 8 * GROUP;  // candidates from which thinning by groups pays

/// A row in shared memory.
struct Row {
    uint32_t *cost;    // [place(x)]: squared distance to the nearest site of column x; `none` if it has none
    uint32_t *least;   // [x / GROUP]
    uint16_t *best;    // [i]: the best candidate of pixel i * TILE; at the end that of the pixel after the last
    int32_t length, tiles;

    /// One word of 33 stays empty, so that threads that walk stretches of 8 or 16 words each meet different banks.
    __device__ static int32_t place(int32_t x) { return x + (x >> 5); }
    __device__ int32_t pixel(int32_t tile) const { return min(tile * TILE, length); }
    __device__ uint32_t at(int32_t candidate, int32_t x) const {
        const int32_t d = x - candidate;
        return cost[place(candidate)] + static_cast<uint32_t>(d * d);
    }
};

size_t row_bytes(int64_t length) {
    const int64_t groups = parts(length, GROUP);
    return static_cast<size_t>(groups * (GROUP + 1) * 4 + groups * 4 + (parts(length, TILE) + 2) * 2);
}

__device__ Row shape_row(uint32_t *shared, int32_t length) {
    const int32_t groups = (length + GROUP - 1) / GROUP;
    uint32_t *const least = shared + groups * (GROUP + 1);
    return {shared, least, reinterpret_cast<uint16_t *>(least + groups), length, (length + TILE - 1) / TILE};
}

/// The column costs of row y.
__device__ void load_row(const Row &row, const Columns &columns, int64_t image, int64_t y, uint32_t none) {
    const int64_t strip = y / STRIP, first = columns.at(image, strip, 0);
    const int32_t start = static_cast<int32_t>(strip * STRIP), at = static_cast<int32_t>(y);
    const int32_t end = (row.length + GROUP - 1) / GROUP * GROUP;
    for (int32_t turn = threadIdx.x; turn < end; turn += AHEAD * THREADS) {
        uint32_t word[AHEAD];
        int32_t before[AHEAD], after[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const int64_t from = first + min(turn + k * THREADS, row.length - 1);
            word[k] = columns.words[from];
            before[k] = columns.before[from];
            after[k] = columns.after[from];
        }
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const int32_t x = turn + k * THREADS;
            if (x >= end) break;  // whole warps leave: both are multiples of 32
            const int32_t d = nearest_in_column(word[k], before[k], after[k], start, at) - at;
            const bool has_site = d > -NO_SITE_OFFSET && x < row.length;
            const uint32_t cost = has_site ? static_cast<uint32_t>(d * d) : none;
            row.cost[Row::place(x)] = cost;
            const uint32_t least = least_of_warp(cost);
            if (threadIdx.x % WARP == 0) row.least[x / GROUP] = least;
        }
    }
}

/// The leftmost of the best of the lanes' candidates.
__device__ int32_t leftmost(uint32_t cost, int32_t candidate) {
    const uint32_t least = least_of_warp(cost);
    return static_cast<int32_t>(least_of_warp(cost == least ? static_cast<uint32_t>(candidate) : ~0u));
}

/// The best candidate of pixel x in [low, high], all lanes together.
__device__ int32_t search_all(const Row &row, int32_t x, int32_t low, int32_t high, int lane) {
    uint32_t best = ~0u;
    int32_t found = low;
#pragma unroll 4
    for (int32_t i = low + lane; i <= high; i += WARP) {
        const uint32_t cost = row.at(i, x);
        if (cost < best) best = cost, found = i;
    }
    return leftmost(best, found);
}

/// The same where the bracket is long: only groups whose least cost and distance leave them a chance.
__device__ int32_t search_thinned(const Row &row, int32_t x, int32_t low, int32_t high, int lane) {
    const int32_t first = low / GROUP, last = high / GROUP;
    // Some candidate of a group costs no more than its least cost and the way to its farther end.
    uint32_t bound = ~0u;
    int32_t promising = first;
    for (int32_t g = first + lane; g <= last; g += WARP) {
        const int32_t farther = max(abs(x - g * GROUP), abs(x - g * GROUP - GROUP + 1));
        const uint32_t cost = row.least[g] + static_cast<uint32_t>(farther * farther);
        if (cost < bound) bound = cost, promising = g;
    }
    promising = leftmost(bound, promising);
    bound = least_of_warp(row.at(promising * GROUP + lane, x));

    uint32_t best = ~0u;
    int32_t found = low;
    for (int32_t turn = first; turn <= last; turn += WARP) {
        const int32_t g = turn + lane;
        bool chance = false;
        if (g <= last) {
            const int32_t nearer = max(max(g * GROUP - x, x - g * GROUP - GROUP + 1), 0);
            chance = row.least[g] + static_cast<uint32_t>(nearer * nearer) <= bound;
        }
        for (uint32_t mask = __ballot_sync(ALL_LANES, chance); mask; mask &= mask - 1) {
            const int32_t i = (turn + __ffs(static_cast<int>(mask)) - 1) * GROUP + lane;
            const uint32_t cost = row.at(i, x);
            if (cost < best) best = cost, found = i;
        }
    }
    return leftmost(best, found);
}

__device__ int32_t search_together(const Row &row, int32_t x, int32_t low, int32_t high, int lane) {
    if (low == high) return low;
    return high - low < THINNED ? search_all(row, x, low, high, lane) : search_thinned(row, x, low, high, lane);
}

/// Halves all stretches of 2 * step tiles: a warp a point.
__device__ void halve_together(const Row &row, int32_t step) {
    const int lane = threadIdx.x % WARP;
    for (int32_t i = step * (1 + 2 * (threadIdx.x / WARP)); i < row.tiles; i += 2 * step * (THREADS / WARP)) {
        const int32_t found = search_together(row, row.pixel(i), row.best[i - step], row.best[min(i + step, row.tiles)], lane);
        if (lane == 0) row.best[i] = static_cast<uint16_t>(found);
    }
}

/// The same in marked patches alone, a thread a point; a bracket that is too long for one becomes its warp's.
__device__ void halve_alone(const Row &row, int32_t step, const uint8_t *marks) {
    const int lane = threadIdx.x % WARP;
    for (int32_t turn = threadIdx.x / WARP * WARP; step * (1 + 2 * turn) < row.tiles; turn += THREADS) {
        const int32_t i = step * (1 + 2 * (turn + lane));
        const bool wanted = i < row.tiles && marks[i / PATCH_TILES];
        const int32_t low = wanted ? row.best[i - step] : 0, high = wanted ? row.best[min(i + step, row.tiles)] : 0;
        const int32_t x = row.pixel(i);
        int32_t found = low;
        if (high - low < ALONE && high > low) {
            uint32_t best = ~0u;
            for (int32_t c = low; c <= high; ++c) {
                const uint32_t cost = row.at(c, x);
                if (cost < best) best = cost, found = c;
            }
        }
        for (uint32_t mask = __ballot_sync(ALL_LANES, high - low >= ALONE); mask; mask &= mask - 1) {
            const int owner = __ffs(static_cast<int>(mask)) - 1;
            const int32_t there = search_together(row, __shfl_sync(ALL_LANES, x, owner), __shfl_sync(ALL_LANES, low, owner),
                                                  __shfl_sync(ALL_LANES, high, owner), lane);
            if (lane == owner) found = there;
        }
        if (wanted) row.best[i] = static_cast<uint16_t>(found);
    }
}

/// Finds the best candidates of all tiles' first pixels in marked patches.
__device__ void bracket_tiles(const Row &row, const uint8_t *marks) {
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (warp < 2) {
        const int32_t found = search_together(row, warp ? row.length : 0, 0, row.length - 1, lane);
        if (lane == 0) row.best[warp ? row.tiles : 0] = static_cast<uint16_t>(found);
    }
    __syncthreads();
    int32_t step = 1;
    while (step * 2 < row.tiles) step *= 2;
    if (row.tiles < 2) step = 0;
    for (; step >= PATCH_TILES / 2; step /= 2) {
        halve_together(row, step);
        __syncthreads();
    }
    for (; step >= 1; step /= 2) {
        halve_alone(row, step, marks);
        __syncthreads();
    }
}

/// The least costs of a tile's pixels while they are being found: without the square of the pixel's place in the tile,
/// and with a bias that keeps the rest positive.
struct Tile {
    static constexpr uint32_t BIAS = TILE * TILE;
    uint32_t cost[TILE];

    __device__ Tile() {
#pragma unroll
        for (uint32_t &c : cost) c = ~0u;
    }
    /// (x + k - c)^2 = (x - c)^2 + 2 (x - c) k + k^2: one product serves all the pixels.
    __device__ void take(const Row &row, int32_t candidate, int32_t x) {
        const uint32_t slope = static_cast<uint32_t>(2 * (x - candidate));
        uint32_t here = row.at(candidate, x) + BIAS;
#pragma unroll
        for (int k = 0; k < TILE; ++k, here += slope) cost[k] = min(cost[k], here);
    }
    /// Of the pixels' least costs the largest: a candidate whose column alone costs more is no use.
    __device__ uint32_t worst() const {
        uint32_t most = 0;
#pragma unroll
        for (int k = 0; k < TILE; ++k) most = max(most, result(k));
        return most;
    }
    __device__ uint32_t result(int k) const { return cost[k] - BIAS + k * k; }
};

__device__ uint32_t no_cost(const Rows &rows) { return static_cast<uint32_t>(rows.output.measure.largest) + 1; }

/// Of the candidates that a pixel has the same least cost with, the site of lowest index.
__device__ int64_t lowest_site(const Rows &rows, const Row &row, int64_t image, int64_t y, int32_t x, uint32_t cost,
                               int32_t low, int32_t high) {
    const Columns &columns = rows.columns;
    const int64_t strip = y / STRIP, first = columns.at(image, strip, 0);
    int64_t lowest = INT64_MAX;
    for (int32_t c = low; c <= high; ++c) {
        if (row.at(c, x) != cost) continue;
        const int64_t site = nearest_in_column(columns.words[first + c], columns.before[first + c],
                                               columns.after[first + c], static_cast<int32_t>(strip * STRIP),
                                               static_cast<int32_t>(y));
        lowest = min(lowest, site * columns.count + c);
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
        if (wanted) {
            tile.take(row, low, x);
            if (high > low) tile.take(row, high, x);
        }
        const uint32_t bound = tile.worst();
        if (high - low < ALONE)
            for (int32_t c = low + 1; c < high; ++c)
                if (row.cost[Row::place(c)] <= bound) tile.take(row, c, x);
        for (uint32_t mask = __ballot_sync(ALL_LANES, high - low >= ALONE); mask; mask &= mask - 1) {
            const int owner = __ffs(static_cast<int>(mask)) - 1;
            const int32_t from = __shfl_sync(ALL_LANES, low, owner), to = __shfl_sync(ALL_LANES, high, owner);
            const uint32_t most = __shfl_sync(ALL_LANES, bound, owner);
            Tile share;
            for (int32_t c = from + 1 + lane; c < to; c += WARP)
                if (row.cost[Row::place(c)] <= most) share.take(row, c, (turn + owner) * TILE);
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
__global__ void __launch_bounds__(THREADS, NEAREST ? 2 : 3) search_rows(Rows rows, bool floats) {
    extern __shared__ __align__(16) uint32_t shared[];
    const Row row = shape_row(shared, static_cast<int32_t>(rows.columns.count));
    for (int64_t item = blockIdx.x; item < rows.columns.batch * rows.columns.length; item += gridDim.x) {
        const int64_t image = item / rows.columns.length, y = item % rows.columns.length;
        const uint8_t *const marks = rows.marks_of(image, y);
        bool marked = false;
        for (int64_t p = threadIdx.x; p < rows.patches(); p += THREADS) marked = marked || marks[p];
        if (!__syncthreads_or(marked)) continue;
        load_row(row, rows.columns, image, y, no_cost(rows));
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
    // A candidate without a site costs largest + 1, and the way to it; with a tile's bias that must fit 32 bits.
    const int64_t width = job.set.size[0], way = (width - 1) * (width - 1);
    return width <= WIDEST_ROW && measure.largest + 1 + way + 2 * Tile::BIAS < (int64_t(1) << 32);
}

void search_marked(const Rows &rows, cudaStream_t stream) {
    const auto search = [&](auto kernel) {
        launch_large("search_rows", kernel, rows.columns.batch * rows.columns.length, THREADS,
                     row_bytes(rows.columns.count), stream, rows, rows.plain_distances());
    };
    rows.output.nearest ? search(search_rows<true>) : search(search_rows<false>);
}

}  // namespace apsis
