// The outward search in a volume where sites are near: within some 8 voxels.
//
// Two planes 16 apart share a register, each cost in 16 bits: one instruction adds and takes the least for both (sm_90;
// a few before).  Along y a block counts the distances of its columns up and down z, lays the costs in shared memory,
// and a thread tries the candidates 1, 2, 3 ... rows away for the TILE voxels that it holds.  What it finds costs no less
// than the truth, and is true where it costs no more than what lies beyond its reach.  So is what the search along x
// makes of it, and that says at the end what is near: nothing need be marked in between.
//
// Cost: 3/8 byte a voxel in, through the second cache, 2 bytes a voxel out and in again, and the outputs out; some 12
// instructions a voxel and search.
#include <cuda_runtime.h>

#include "launch.h"
#include "volume.h"

namespace apsis {

namespace {

constexpr int REACH = 8;                 // voxels that each search looks out: as many as a tile, so that 3 tiles do
constexpr int THREADS = 512;             // two such blocks fill a multiprocessor
constexpr int RESIDENT = 2;
constexpr int SPAN = 32;                 // rows of a block
constexpr int SEEN = SPAN + 2 * REACH;   // and those that it looks at
constexpr int HALF = STRIP / 2;          // planes r and r + HALF of a strip share a register
constexpr uint32_t BOTH = 0x00010001u;   // one in both halves
constexpr int32_t MOST_CARRY = 1000;     // a longer carry counts as this
constexpr size_t SHARED = sizeof(uint32_t) * HALF * SEEN * WARP;
static_assert(REACH == TILE, "a tile and its neighbours are all that is seen");

/// What 16 bits can tell.
struct Reach {
    uint32_t farthest;  // distances along z above this count as this
    int32_t sure;       // costs up to this are true

    explicit Reach(const Volume &volume) {
        const int64_t ways = (int64_t(volume.weight[0]) + volume.weight[1]) * REACH * REACH;
        farthest = 0;
        while (ways + volume.weight[2] * int64_t(farthest + 1) * (farthest + 1) <= UINT16_MAX && farthest < MOST_CARRY) ++farthest;
        const int64_t beyond = int64_t(std::min(volume.weight[0], volume.weight[1])) * (REACH + 1) * (REACH + 1);
        sure = static_cast<int32_t>(std::min<int64_t>(beyond, volume.weight[2] * int64_t(farthest) * farthest - 1));
    }
};

/// The distances of the voxels of a column to their nearest sites in it, planes r and r + HALF of a strip together.
__device__ void scan_column(uint32_t word, int32_t before, int32_t after, int32_t start, uint32_t (&distance)[HALF]) {
    const uint32_t lower = word & 0xffff, upper = word >> HALF;
    const uint32_t first = min(start - 1 - before, MOST_CARRY);    // in the plane above the strip
    const uint32_t last = min(after - start - STRIP, MOST_CARRY);  // in the plane below it
    uint32_t count = (lower ? HALF - 1 - highest_bit(lower) : first + HALF) << 16 | first;
#pragma unroll
    for (int r = 0; r < HALF; ++r) distance[r] = count = (count + BOTH) & ~((word >> r & BOTH) * 0xffff);
    count = last << 16 | (upper ? static_cast<uint32_t>(lowest_bit(upper)) : last + HALF);
#pragma unroll
    for (int r = HALF - 1; r >= 0; --r) {
        count = (count + BOTH) & ~((word >> r & BOTH) * 0xffff);
        distance[r] = __vminu2(distance[r], count);
    }
}

__device__ uint32_t squares(uint32_t distances, uint32_t weight) {
    const uint32_t low = distances & 0xffff, high = distances >> 16;
    return weight * low * low + (weight * high * high << 16);
}

/// Planes of pairs: pair r of a strip holds its planes r and r + HALF.
__host__ __device__ int64_t count_pairs(int64_t depth) { return depth / STRIP * HALF + min(depth % STRIP, int64_t(HALF)); }

/// The least costs of the voxels of the middle tile of `cost`.
__device__ void search_tile(const uint32_t (&cost)[3 * TILE], uint32_t weight, uint32_t (&best)[TILE]) {
#pragma unroll
    for (int i = 0; i < TILE; ++i) best[i] = cost[TILE + i];
#pragma unroll
    for (int k = 1; k <= REACH; ++k) {
        const uint32_t way = weight * static_cast<uint32_t>(k * k) * BOTH;
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            best[i] = __viaddmin_u16x2(__vminu2(cost[TILE + i - k], cost[TILE + i + k]), way, best[i]);
    }
}

/// Along z and y: a block a span of rows of a strip, as wide as a warp.
__global__ void __launch_bounds__(THREADS, RESIDENT) search_rows(Volume volume, Reach reach) {
    extern __shared__ uint32_t costs[];  // [pair][row][lane]
    const Columns &columns = volume.columns;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t across = (volume.width() + WARP - 1) / WARP, along = (volume.height() + SPAN - 1) / SPAN;
    for (int64_t item = blockIdx.x; item < across * along * columns.strips(); item += gridDim.x) {
        const int64_t strip = item / (across * along), top = item / across % along * SPAN;
        const int64_t x = item % across * WARP + lane, pairs = count_pairs(volume.depth()) - strip * HALF;
        for (int row = warp; row < SEEN; row += THREADS / WARP) {
            const int64_t y = top - REACH + row;
            const bool inside = x < volume.width() && y >= 0 && y < volume.height();
            const int64_t at = inside ? columns.at(y, strip, x) : 0;
            uint32_t distance[HALF];
            scan_column(inside ? columns.words[at] : 0, inside ? columns.before[at] : NO_SITE_BEFORE,
                        inside ? columns.after[at] : NO_SITE_AFTER, static_cast<int32_t>(strip * STRIP), distance);
#pragma unroll
            for (int r = 0; r < HALF; ++r)
                costs[(r * SEEN + row) * WARP + lane] =
                    squares(__vminu2(distance[r], reach.farthest * BOTH), static_cast<uint32_t>(volume.weight[2]));
        }
        __syncthreads();
        for (int tile = warp; tile < HALF * (SPAN / TILE); tile += THREADS / WARP) {
            const int r = tile / (SPAN / TILE), row = tile % (SPAN / TILE) * TILE;
            if (r >= pairs || top + row >= volume.pitch() || x >= volume.width()) continue;
            uint32_t cost[3 * TILE], best[TILE];
#pragma unroll
            for (int i = 0; i < 3 * TILE; ++i) cost[i] = costs[(r * SEEN + row + i) * WARP + lane];
            search_tile(cost, static_cast<uint32_t>(volume.weight[1]), best);
            uint4 *const to = reinterpret_cast<uint4 *>(volume.stored(strip * HALF + r, x) + top + row);
            to[0] = make_uint4(best[0], best[1], best[2], best[3]);
            to[1] = make_uint4(best[4], best[5], best[6], best[7]);
        }
        __syncthreads();
    }
}

/// Writes a tile that is near.
__device__ void write_tile(const Volume &volume, bool plain, int64_t x, int64_t y, int64_t z, const int32_t (&cost)[TILE]) {
    const Output &output = volume.output;
    if (plain && x + TILE <= volume.width()) {
        float distance[TILE];
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            distance[i] = cost[i] <= output.measure.limit ? small_root(static_cast<float>(cost[i])) : INFINITY;
        float4 *const to = reinterpret_cast<float4 *>(output.distance.row(y, z) + x * 4);
        to[0] = make_float4(distance[0], distance[1], distance[2], distance[3]);
        to[1] = make_float4(distance[4], distance[5], distance[6], distance[7]);
        return;
    }
#pragma unroll
    for (int i = 0; i < TILE; ++i)
        if (x + i < volume.width()) write_pixel(output, x + i, y, z, cost[i], true, 0);
}

/// Along x: a warp a tile of a group of rows, in a pair of planes.
__global__ void __launch_bounds__(BLOCK) finish_tiles(Volume volume, Reach reach, bool plain) {
    const int lane = threadIdx.x % WARP;
    const int64_t total = count_pairs(volume.depth()) * volume.groups() * volume.tiles();
    for (int64_t item = int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP; item < total; item += int64_t(gridDim.x) * WARPS) {
        const int64_t tile = item % volume.tiles(), group = item / volume.tiles() % volume.groups();
        const int64_t pair = item / volume.tiles() / volume.groups(), x = tile * TILE, y = group * GROUP + lane;
        const bool inside = y < volume.height();
        const uint32_t *const line = volume.stored(pair, 0) + (inside ? y : group * GROUP);
        const uint32_t none = squares(reach.farthest * BOTH, static_cast<uint32_t>(volume.weight[2]));
        uint32_t cost[3 * TILE], best[TILE];
#pragma unroll
        for (int i = 0; i < 3 * TILE; ++i) {
            const int64_t at = x - TILE + i;
            cost[i] = at >= 0 && at < volume.width() ? __ldg(line + at * volume.pitch()) : none;
        }
        search_tile(cost, static_cast<uint32_t>(volume.weight[0]), best);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t z = pair / HALF * STRIP + pair % HALF + half * HALF;
            if (z >= volume.depth()) break;
            int32_t here[TILE], worst = 0;
#pragma unroll
            for (int i = 0; i < TILE; ++i) {
                here[i] = half ? best[i] >> 16 : best[i] & 0xffff;
                if (x + i < volume.width()) worst = max(worst, here[i]);
            }
            const bool near = __all_sync(ALL_LANES, !inside || worst <= reach.sure || volume.output.measure.limit < reach.sure);
            if (lane == 0) {
                volume.mark(z, y, tile) = !near;
                if (!near) volume.row_mark(z, y) = 1;
            }
            if (near && inside) write_tile(volume, plain, x, y, z, here);
        }
    }
}

}  // namespace

bool outward_serves(const Volume &volume) {
    int device, room;
    check(cudaGetDevice(&device), "finding the current device");
    check(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "asking for shared memory");
    return !volume.output.nearest && Reach(volume).sure > 0 && SHARED <= static_cast<size_t>(room);
}

int64_t outward_planes(const Volume &volume) { return count_pairs(volume.depth()); }

void search_outward(const Volume &volume, cudaStream_t stream) {
    const Reach reach(volume);
    const int64_t blocks = parts(volume.width(), WARP) * parts(volume.height(), SPAN) * volume.columns.strips();
    launch_large("search_rows", search_rows, blocks, THREADS, SHARED, stream, volume, reach);
    launch("finish_tiles", finish_tiles, parts(count_pairs(volume.depth()) * volume.groups() * volume.tiles(), WARPS), BLOCK,
           stream, volume, reach, plain_distances(volume.output));
}

}  // namespace apsis
