// The words of a block's rows, for the first near search of a label image (label_search.cu, label_search_nearest.cu).
#pragma once

#include "cuda/distance/plane/near_search.cuh"

namespace apsis::cuda::plane {

/// Block: lays the words of a strip's rows in shared memory.  Beyond the image no pixel has a value.
template <int SPAN>
__device__ void lay_words(const Layout &layout, const BlockSpan<SPAN> &block, const LabelRows &rows, RowWord (*words)[STRIP]) {
    if (threadIdx.x >= SPAN) return;
    static_assert(SPAN <= BLOCK, "a thread a word");
    const int r = threadIdx.x % STRIP, word = threadIdx.x / STRIP;
    const int64_t y = block.strip * STRIP + r, x = block.left + word * STRIP;
    const bool is_inside = y < layout.columns.length && x < layout.columns.count;
    words[word][r] = is_inside ? RowWord(rows, x, block.image * layout.columns.length + y) : RowWord();
}

}  // namespace apsis::cuda::plane
