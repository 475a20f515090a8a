// The near search: rows of a 2-D Euclidean distance map where every pixel has a site within some 24 pixels.  In images that do
// not fill a device, or are short, that is 96 pixels, since doing without the envelope saves more there.
//
// A block takes a strip of 32 rows, 512 columns wide or 128, and reads its REACH more columns on either side.  It counts the
// distances in every column down and up again, two rows 16 apart in the halves of a register, and lays their squares in shared
// memory.  Then a thread holds 4 columns of two rows and tries the candidates 1, 2, 3 ... columns away, until none farther out
// can be better.  An addition and a minimum of both rows are one instruction on sm_90, and a few on older devices.  For nearest
// sites a row is searched alone, by keys of cost, row and column (near_search_nearest.cu).  Where neither side of a signed map
// is far, both are searched at once (near_search_signed.cu).
//
// Cost: 3/8 byte a pixel in, through the second cache, and the outputs out; some 20 instructions a pixel, and 1 more for each
// column outward.
#include "cuda/distance/plane/near_search.cuh"

namespace apsis::cuda::plane {

namespace {

constexpr int RESIDENT = 4;  // blocks on a multiprocessor: leaves a thread 64 registers

/// A block takes a span of a strip: distances alone, of rows r and r + HALF at once.
template <Form FORM, int SPAN>
__global__ void __launch_bounds__(BLOCK, RESIDENT) search_costs(Layout layout, Target target) {
    wait_for_kernel_before();
    __shared__ __align__(16) uint32_t squares[HALF][Shape<SPAN>::PITCH];
    const Columns &columns = layout.columns;
    const Block<SPAN> block(layout, blockIdx.x);
    const int64_t image = block.image, strip = block.strip;
    if (layout.is_far(image, strip)) return;
    const bool is_near =
        scan_block < FORM == Form::OTHER > (columns, block, target, [&](int c, int r, uint32_t, uint32_t nearest) {
                                 squares[r][c] = square_both(nearest);
                             });
    if (!is_near) return mark_block(layout, block);

    const WarpPatch<SPAN> patch(layout, block);
    const int height = patch.height();
    patch.each_row(min(height, HALF), [&](int r) {
        const PatchCosts found = search_patch<SPAN>(squares[r], patch.column, patch.out, target.limit, OneSide());
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = r + half * HALF;
            if (row >= height) break;
            patch.mark(row, !found.settled[half], image);
            if (!found.settled[half]) continue;
            uint32_t cost[QUAD];
#pragma unroll
            for (int c = 0; c < QUAD; ++c) cost[c] = found.cost(c, half);
            if constexpr (FORM == Form::OTHER) {
                write_found<FORM, false>(layout, target, patch.x, strip * STRIP + row, image, cost, {});
            } else {
                uint32_t number[QUAD];
                to_numbers<FORM>(target.format, cost, number, [](uint32_t one) { return small_root_of(one); });
                patch.store(row, number);
            }
        }
    });
}

}  // namespace

void search_near(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    with_span(plan, layout, [&](auto form, auto span, const Target &target) {
        launch(plan.near, search_costs<form, span>, early(stream), layout, target);
    });
}

}  // namespace apsis::cuda::plane
