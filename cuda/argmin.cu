// The monotone argmin: rows of a 2-D Euclidean distance map where sites are far.
//
// A block takes a row with marked patches and lays the squared column distances of its strip's contenders in shared
// memory.  The best candidate never moves left as x moves right (Hirata 1996), so the best ones of the ends of a
// stretch bracket those inside: the block cuts stretches into eight (brackets.cuh), from the whole row to tiles of 8
// pixels, with many lanes a stretch while brackets are long and few when they are short.  A thread then holds the 8
// pixels of a tile in registers and tries the candidates of its bracket on all of them.  Ties at the ends of a tile
// go to the left, which keeps every equal candidate of its pixels in the bracket; which of them is the nearest site
// is settled by row, then column.
//
// Cost: 6 bytes a contender and row through the second cache; four levels in a row of 16384, each some 20 instructions
// for every 32 contenders; 2 for a pixel and a candidate of its tile's bracket, which are 9 for 8 pixels on the whole.
#include "brackets.cuh"
#include "launch.h"
#include "roots.h"
#include "rows.h"
#include "transforms.h"

namespace apsis {

namespace {

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

/// Of the sites that cost the pixels of a tile their least, the lowest indices in the image; `found` for every `step`-th
/// candidate from `first` to `last`.
__device__ void find_sites(const Rows &rows, const Row &row, const Tile &tile, int64_t image, int64_t y, int32_t x,
                           int32_t first, int32_t last, int32_t step, int64_t (&found)[TILE]) {
    const Columns &columns = rows.columns;
    const int64_t strip = y / STRIP, from = columns.at(image, strip, 0);
    for (int32_t c = first; c <= last; c += step) {
        const int32_t column = row.column[c], d = x - column;
        const uint32_t here = row.cost[c] + static_cast<uint32_t>(d * d), slope = static_cast<uint32_t>(2 * d);
        bool wins = false;
#pragma unroll
        for (int k = 0; k < TILE; ++k) wins = wins || here + k * slope == tile.cost[k];
        if (!wins) continue;
        const int64_t at = from + column;
        const int64_t site_row = nearest_in_column(columns.words[at], columns.before[at], columns.after[at],
                                                   static_cast<int32_t>(strip * STRIP), static_cast<int32_t>(y));
        const int64_t site = (image * columns.length + site_row) * columns.count + column;
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            if (here + k * slope == tile.cost[k]) found[k] = min(found[k], site);
    }
}

template <bool NEAREST>
__device__ void write_tile(const Rows &rows, const Row &row, const Tile &tile, bool floats, int64_t image, int64_t y,
                           int32_t x, const int64_t (&sites)[TILE]) {
    const uint32_t none = no_cost(rows);
    if (!NEAREST && floats && x + TILE <= row.length) {
        const uint32_t limit = static_cast<uint32_t>(rows.output.measure.limit);  // less than `none`
        float distance[TILE];
        const auto take_roots = [&](auto root) {
#pragma unroll
            for (int k = 0; k < TILE; ++k) distance[k] = tile.result(k) <= limit ? root(tile.result(k)) : INFINITY;
        };
        uint32_t bits = 0;
#pragma unroll
        for (int k = 0; k < TILE; ++k) bits |= tile.result(k);
        if (bits < 1u << 24)
            take_roots([](uint32_t cost) { return small_root(static_cast<float>(cost)); });
        else
            take_roots([](uint32_t cost) { return large_root(cost); });
        float4 *const to = reinterpret_cast<float4 *>(rows.output.distance.row(y, image) + int64_t(x) * 4);
        __stcs(to, make_float4(distance[0], distance[1], distance[2], distance[3]));
        __stcs(to + 1, make_float4(distance[4], distance[5], distance[6], distance[7]));
        return;
    }
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        if (x + k >= row.length) break;
        const uint32_t cost = tile.result(k);
        write_pixel(rows.output, x + k, y, image, cost, cost < none, sites[k]);
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
        int64_t sites[TILE];
#pragma unroll
        for (int64_t &site : sites) site = INT64_MAX;
        if (wanted && high - low < ALONE) {
            for (int32_t c = low; c <= high; ++c) tile.take(row, c, x);
            if constexpr (NEAREST) find_sites(rows, row, tile, image, y, x, low, high, 1, sites);
        }
        for (uint32_t mask = __ballot_sync(ALL_LANES, high - low >= ALONE); mask; mask &= mask - 1) {
            const int owner = __ffs(static_cast<int>(mask)) - 1;
            const int32_t first = __shfl_sync(ALL_LANES, low, owner) + lane, last = __shfl_sync(ALL_LANES, high, owner);
            const int32_t there = (turn + owner) * TILE;
            Tile share;
            for (int32_t c = first; c <= last; c += WARP) share.take(row, c, there);
#pragma unroll
            for (uint32_t &cost : share.cost) cost = least_of_warp(cost);
            if (lane == owner) tile = share;
            if constexpr (NEAREST) {
                int64_t found[TILE];
#pragma unroll
                for (int64_t &site : found) site = INT64_MAX;
                find_sites(rows, row, share, image, y, there, first, last, WARP, found);
#pragma unroll
                for (int k = 0; k < TILE; ++k) {
                    for (int away = WARP / 2; away > 0; away /= 2) {
                        const long long other = __shfl_xor_sync(ALL_LANES, static_cast<long long>(found[k]), away);
                        found[k] = min(found[k], static_cast<int64_t>(other));
                    }
                    if (lane == owner) sites[k] = found[k];
                }
            }
        }
        if (wanted) write_tile<NEAREST>(rows, row, tile, floats, image, y, x, sites);
    }
}

template <bool NEAREST>
__global__ void __launch_bounds__(THREADS, 2) search_rows(Rows rows, bool floats, uint32_t none) {
    extern __shared__ __align__(16) unsigned long long shared[];
    Row row = shape_row(shared, static_cast<int32_t>(rows.columns.count));
    const uint32_t length = static_cast<uint32_t>(rows.columns.length);
    const int64_t image = blockIdx.x / length, y = blockIdx.x % length;
    const uint8_t *const marks = rows.marks_of(image, y);
    bool marked = false;
    for (int32_t p = threadIdx.x; p < static_cast<int32_t>(rows.patches()); p += THREADS) marked = marked || marks[p];
    row.count = *rows.count_of(image, y / STRIP);  // nobody's count if nobody is marked
    if (!__syncthreads_or(marked)) return;
    load_row(row, rows, image, y, none);
    __syncthreads();
    bracket_tiles(row, marks);
    finish_tiles<NEAREST>(rows, row, marks, floats, image, y);
}

/// The shared memory that a block of the current device may have.
size_t most_shared() {
    int device = 0, bytes = 0;
    check(cudaGetDevice(&device), "device");
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "device");
    return static_cast<size_t>(bytes);
}

}  // namespace

bool rows_serve(const DistanceJob &job) {
    const Measure &measure = job.measure;
    if (job.axes != 2 || measure.metric != APSIS_EUCLIDEAN || measure.weight[0] != 1 || measure.weight[1] != 1) return false;
    // A candidate without a site costs a square above the largest cost, and the way to it from a pixel of the row or the
    // first step after it.
    constexpr int64_t WAY = WIDEST_ROW + WIDEST_STEP;
    const int64_t width = job.set.size[0], rows = job.set.size[1] * job.set.size[2], none = no_distance(measure);
    if (width > WIDEST_ROW || rows > MOST_BLOCKS || none * none + WAY * WAY + 2 * int64_t(BIAS) >= int64_t(1) << 32) return false;
    return std::max(row_bytes(width), outward_bytes(static_cast<bool>(job.nearest))) <= most_shared();
}

void search_marked(const Rows &rows, cudaStream_t stream) {
    const auto search = [&](auto kernel) {
        launch_large("search_rows", kernel, rows.columns.batch * rows.columns.length, THREADS,
                     row_bytes(rows.columns.count), stream, rows, rows.plain_distances(), no_distance(rows.output.measure));
    };
    rows.output.nearest ? search(search_rows<true>) : search(search_rows<false>);
}

}  // namespace apsis
