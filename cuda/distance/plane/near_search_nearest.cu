// The near search for nearest sites (near_search.cu): a row at a time, by keys of cost, row and column.  The least key is the
// nearest site of the lowest index.
#include "cuda/distance/plane/site_keys.cuh"

namespace apsis::cuda::plane {

namespace {

/// A block takes a span of a strip: distances and nearest sites, a row at a time.
template <Form FORM, int SPAN>
__global__ void __launch_bounds__(BLOCK, 3) search_sites(Layout layout, NearOutput target) {
    wait_for_kernel_before();
    extern __shared__ __align__(16) uint32_t keys[];  // [STRIP][PITCH]
    const BlockSpan<SPAN> block(layout, blockIdx.x);
    if (layout.is_far(block.image, block.strip)) return;
    const bool is_near = scan_block < false,
               FORM == Form::OTHER > (layout.columns, block, target, [&](int c, int r, uint32_t up, uint32_t nearest) {
                           SiteKeys<SPAN>::lay(keys, c, r, up, nearest);
                       });
    if (!is_near && !settles_far<SPAN>(target)) return mark_block(layout, block);

    const WarpPatch<SPAN> patch(layout, block);
    if (!is_near) {
        constexpr uint32_t without_site[QUAD] = {~0u, ~0u, ~0u, ~0u};
        return patch.each_row(patch.height(), [&](int r) {
            patch.mark(r, false, block.image);
            write_keys<FORM>(patch, target, block.strip * STRIP + r, without_site);
        });
    }
    patch.each_row(patch.height(), [&](int r) {
        const uint32_t *const line = keys + r * Shape<SPAN>::PITCH;
        const uint4 own = *reinterpret_cast<const uint4 *>(line + patch.column);
        uint32_t best[QUAD];
#pragma unroll
        for (int c = 0; c < QUAD; ++c) best[c] = quad_at(own, c) + SiteKeys<SPAN>::ORIGIN;
        const bool is_settled = search_row<SPAN, false>(patch, line, target.limit, best);
        patch.mark(r, !is_settled, block.image);
        if (is_settled) write_keys<FORM>(patch, target, block.strip * STRIP + r, best);
    });
}

}  // namespace

size_t near_search_bytes(bool nearest, bool has_long_reach) {
    return nearest ? STRIP * (has_long_reach ? Shape<SHORT_SPAN>::PITCH : Shape<WIDE_SPAN>::PITCH) * sizeof(uint32_t) : 0;
}

void search_near_nearest(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    with_span(plan, layout, [&](auto form, auto span, const NearOutput &target) {
        launch(plan.near, search_sites<form, span>, early(stream), layout, target);
    });
}

}  // namespace apsis::cuda::plane
