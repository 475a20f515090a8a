// Labels and count of small images in three kernels, which start early, so that launches and what lies between them do not take
// longer than the work.
//
// Tiles are labelled as ever (label_rows.cuh), but they are lower and there are more of them.  Nodes are linked by the lowest
// pixel, so that a node drops its first pixel for good when it gets a parent.  The block that has joined nodes last scans the
// counts of first pixels.  Then labels are written (write.cuh): blocks find the runs of their tiles again while nodes are still
// being joined.
//
// Chosen for packed labels of 32 bits, and no other result but the count, of images of up to 1024 x 1024 pixels (plan.cu).
//
// Cost: three launches.
#pragma once

#include "cuda/components/label_rows.cuh"
#include "cuda/components/merge.cuh"

namespace apsis::cuda::components {

/// Block: whether all other blocks of the grid have come here before.  What they have written can be read then.
__device__ inline bool is_last_block(uint32_t *arrived) {
    __syncthreads();
    bool is_last = false;
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicAdd(arrived, 1u) == gridDim.x - 1;
        __threadfence();
    }
    return __syncthreads_or(is_last);
}

/// Block: makes of the counts of first pixels how many come before; writes how many there are in all.
template <class Tile>
__device__ void scan_firsts(const Tiles &tiles, uint32_t *total) {
    constexpr int QUADS = Tile::MOST_TILES * Tile::ROWS / BLOCK / 4;
    using Scan = cub::BlockScan<uint32_t, BLOCK, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage memory;
    const int64_t end = tiles.tile_rows();
    const int first = threadIdx.x * QUADS;
    uint4 *const quads = reinterpret_cast<uint4 *>(tiles.firsts_before) + first;
    uint32_t counts[4 * QUADS] = {}, before[4 * QUADS], all;
#pragma unroll
    for (int i = 0; i < QUADS; ++i)
        if ((first + i) * 4 <= end) {
            const uint4 quad = __ldcg(quads + i);
            counts[4 * i] = quad.x, counts[4 * i + 1] = quad.y, counts[4 * i + 2] = quad.z, counts[4 * i + 3] = quad.w;
        }
    Scan(memory).ExclusiveSum(counts, before, all);
#pragma unroll
    for (int i = 0; i < QUADS; ++i)
        if ((first + i) * 4 <= end)
            quads[i] = make_uint4(before[4 * i], before[4 * i + 1], before[4 * i + 2], before[4 * i + 3]);
    if (!total) return;
#pragma unroll
    for (int i = 0; i < 4 * QUADS; ++i)
        if (first * 4 + i == end) *total = before[i];
}

/// Joins the nodes of neighbouring tiles, and scans the counts of first pixels.
template <class Tile>
__global__ void __launch_bounds__(BLOCK) join_small_tiles(Tiles tiles, WorkSplit split, uint32_t *total) {
    wait_for_kernel_before();
    start_kernel_behind();
    join_rims<Tile>(tiles, split);
    if (is_last_block(tiles.firsts_before + tiles.tile_rows() + 1)) scan_firsts<Tile>(tiles, total);
}

}  // namespace apsis::cuda::components
