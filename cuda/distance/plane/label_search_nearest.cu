// The first near search of a label image for nearest pixels (label_search.cu): a row at a time, as that of sets
// (near_search_nearest.cu), with the pixel beside the run of the row as first candidate.
//
// Beyond the end of a run no column is as near as the pixel beside the run, so that ties are decided among pixels that are of
// another value.  The least key is that of the lowest index.
#include "cuda/distance/plane/label_search.h"
#include "cuda/distance/plane/label_block.cuh"
#include "cuda/distance/plane/site_keys.cuh"

namespace apsis::cuda::plane {

namespace {

/// A block takes a span of a strip.
template <Form FORM>
__global__ void __launch_bounds__(BLOCK, 3) search_label_sites(Layout layout, NearOutput target, LabelRows rows) {
    extern __shared__ __align__(16) uint32_t keys[];  // [STRIP][PITCH]
    __shared__ RowWord words[SHORT_SPAN / STRIP][STRIP];
    using Key = SiteKeys<SHORT_SPAN>;
    const BlockSpan<SHORT_SPAN> block(layout, blockIdx.x);
    const int32_t start = static_cast<int32_t>(block.strip * STRIP);
    lay_words(layout, block, rows, words);
    const int reach =
        scan_columns(layout, block, [&](int c, int r, uint32_t up, uint32_t nearest) { Key::lay(keys, c, r, up, nearest); });
    const WarpPatch<SHORT_SPAN> patch(layout, block);
    patch.each_row(patch.height(), [&](int r) {
        const uint32_t *const line = keys + r * Shape<SHORT_SPAN>::PITCH;
        uint32_t best[QUAD] = {};
        if (!patch.out) {
            int32_t end[QUAD];
            words[(patch.x - block.left) / STRIP][r].find_ends(patch.x, end);
#pragma unroll
            for (int c = 0; c < QUAD; ++c) {
                const uint32_t beside =
                    abs(end[c]) < Key::ORIGIN ? Key::of_offset(end[c]) | Key::ORIGIN << Key::BITS : Key::NO_SITE;
                best[c] = min(line[patch.column + c] + Key::ORIGIN, beside);
            }
        }
        const bool is_near = search_row<SHORT_SPAN, true>(patch, line, target.limit, best, reach == Shape<SHORT_SPAN>::REACH);
        patch.mark(r, !is_near, block.image);
        if (is_near) write_keys<FORM>(patch, target, start + r, best);
    });
}

}  // namespace

void search_label_sites(const Plan &plan, const Layout &layout, const LabelRows &rows, cudaStream_t stream) {
    with_span(plan, layout, [&](auto form, auto span, const NearOutput &target) {
        if constexpr (span == SHORT_SPAN) launch(plan.near, search_label_sites<form>, stream, layout, target, rows);
    });
}

}  // namespace apsis::cuda::plane
