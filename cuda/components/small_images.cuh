// Labels and count of small images: launches, and what lies between them, take longer than the work.
//
// An image of one tile is labelled, and its labels are written, by one block.
//
// Larger ones take three kernels, which start early.  Tiles are labelled as ever (label_rows.cuh), but they are lower and there
// are more of them.  Nodes are linked by the lowest pixel, so that a node drops its first pixel for good when it gets a parent.
// The block that has joined nodes last scans the counts of first pixels.  Then labels are written (write.cuh): blocks find the
// runs of their tiles again while nodes are still being joined.
//
// Chosen for packed labels of 32 bits, and no other result but the count, of images of up to 1024 x 1024 pixels (plan.cu).
//
// Cost: one launch, or three.
#pragma once

#include "cuda/components/label_rows.cuh"
#include "cuda/components/write.cuh"

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

/// Block: makes of the counts of first pixels how many come before; behind them stands, and is told, how many there are in all.
template <class Tile>
__device__ void scan_firsts(const Tiles &tiles, uint32_t *told) {
    constexpr int MOST_QUADS = Tile::MOST_TILES * Tile::ROWS / BLOCK / 4;
    using Scan = cub::BlockScan<uint32_t, BLOCK, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage memory;
    const int end = static_cast<int>(tiles.tile_rows()), count = static_cast<int>(ceil_div(end, 4 * BLOCK));
    const int first = threadIdx.x * count;
    uint4 *const quads = reinterpret_cast<uint4 *>(tiles.firsts_before) + first;
    uint32_t counts[4 * MOST_QUADS], before[4 * MOST_QUADS], all;
#pragma unroll
    for (int i = 0; i < MOST_QUADS; ++i) {
        const int at = (first + i) * 4;
        const uint4 quad = i < count && at < end ? __ldcg(quads + i) : make_uint4(0, 0, 0, 0);
        counts[4 * i] = quad.x, counts[4 * i + 1] = at + 1 < end ? quad.y : 0;
        counts[4 * i + 2] = at + 2 < end ? quad.z : 0, counts[4 * i + 3] = at + 3 < end ? quad.w : 0;
    }
    Scan(memory).ExclusiveSum(counts, before, all);
#pragma unroll
    for (int i = 0; i < MOST_QUADS; ++i)
        if (i < count && (first + i) * 4 < end)
            quads[i] = make_uint4(before[4 * i], before[4 * i + 1], before[4 * i + 2], before[4 * i + 3]);
    if (threadIdx.x > 0) return;
    tiles.firsts_before[end] = all;
    if (told) *told = all;
}

/// Joins the nodes of neighbouring tiles, and scans the counts of first pixels.
template <class Tile>
__global__ void __launch_bounds__(BLOCK) join_small_tiles(Tiles tiles, WorkSplit split, uint32_t *told) {
    wait_for_kernel_before();
    start_kernel_behind();
    join_rims<Tile>(tiles, split);
    if (is_last_block(tiles.firsts_before + tiles.tile_rows() + 1)) scan_firsts<Tile>(tiles, told);
}

/// Labels an image of one tile, in one block.  The roots of its runs begin with the first pixels of components, in their order.
template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS)
    label_one_tile(View set, bool aligned, bool complement, View labels, uint32_t *told) {
    LabelledTile<Tile> &labelled = shared_tile<Tile>();
    const TilePlace place = {};
    pack_tile<Tile, Tile::THREADS>(set, aligned, complement, place, labelled.word);
    __syncthreads();
    const uint32_t runs = labelled.find_runs();
    labelled.label(runs);
    uint32_t roots = 0, number, all, run = labelled.runs_before[threadIdx.x];
    for (uint32_t rest = labelled.start[threadIdx.x]; rest; rest &= rest - 1, ++run)
        if (labelled.parents[entry_of(run)] == entry_of(run)) roots |= rest & -rest;
    typename LabelledTile<Tile>::Scan(labelled.scan).ExclusiveSum(__popc(roots), number, all);
    for (uint32_t rest = roots; rest; rest &= rest - 1)
        labelled.parents[labelled.runs_of(threadIdx.x).run_from(rest & -rest)] = labelled.ENTRIES + ++number;
    __syncthreads();
    number_runs(labelled, runs);
    write_packs<uint32_t>(labelled, place, labels, OwnNumbers());
    if (told && threadIdx.x == 0) *told = all;
}

}  // namespace apsis::cuda::components
