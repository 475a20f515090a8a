// What a block lays in shared memory in the first near search of a label image (label_search.cu, label_search_nearest.cu).
#pragma once

#include "cuda/distance/plane/near_search.cuh"

namespace apsis::cuda::plane {

/// Block: lays the words of a strip's rows.  Beyond the image no pixel has a value.
template <int SPAN>
__device__ void lay_words(const Layout &layout, const BlockSpan<SPAN> &block, const LabelRows &rows, RowWord (*words)[STRIP]) {
    if (threadIdx.x >= SPAN) return;
    static_assert(SPAN <= BLOCK, "a thread a word");
    const int r = threadIdx.x % STRIP, word = threadIdx.x / STRIP;
    const int64_t y = block.strip * STRIP + r, x = block.left + word * STRIP;
    const bool is_inside = y < layout.columns.length && x < layout.columns.count;
    words[word][r] = is_inside ? RowWord(rows, x, block.image * layout.columns.length + y) : RowWord();
}

/// Block: calls lay(c, r, up, nearest) as scan_runs() does for the c-th column that the block reads: for its own ones, and then
/// for as many on either side as the search may reach.  Returns how many these are: no pixel is farther from another value than
/// its own column says.
template <int SPAN, class Lay>
__device__ int scan_columns(const Layout &layout, const BlockSpan<SPAN> &block, Lay lay) {
    constexpr int REACH = Shape<SPAN>::REACH;
    static_assert(SPAN <= BLOCK && 2 * REACH <= BLOCK, "a thread a column");
    __shared__ uint32_t farthest;
    const Columns &columns = layout.columns;
    const StripColumns<false> strip(columns, block.image, block.strip);
    const int thread = static_cast<int>(threadIdx.x);
    const auto scan = [&](int c) {
        const int64_t x = max(min(block.left - REACH + c, columns.count - 1), int64_t(0));
        uint32_t most = 0;
        scan_runs<Shape<SPAN>::FAR_CARRY>(strip.stored(x), static_cast<int32_t>(block.strip * STRIP),
                                          [&](int r, uint32_t up, uint32_t nearest) {
                                              most = __vmaxu2(most, nearest);
                                              lay(c, r, up, nearest);
                                          });
        return max(most & 0xffff, most >> 16);
    };
    if (thread == 0) farthest = 0;
    __syncthreads();
    const uint32_t of_warp = greatest_of_warp(thread < SPAN ? scan(REACH + thread) : 0);
    if (thread % WARP == 0) atomicMax(&farthest, of_warp);
    __syncthreads();
    const int reach = min(static_cast<int>(farthest + QUAD - 1) / QUAD * QUAD, REACH);
    if (thread < 2 * reach) scan(thread < reach ? REACH - reach + thread : SPAN + REACH - reach + thread);
    __syncthreads();
    return reach;
}

}  // namespace apsis::cuda::plane
