// The outward search: rows of a 2-D Euclidean distance map where every pixel has a site within some 24 pixels; in small
// and in thin images, where to do without the envelope saves more, within some 96.
//
// A block takes a strip of 32 rows, 512 columns wide or 128, and what it may look at on either side.  It counts the
// distances in every column down and up again, two rows 16 apart in the halves of a register, and lays their squares in
// shared memory.  Then a thread holds 4 columns of two rows and tries the candidates 1, 2, 3 ... columns away, an add
// and a minimum of both rows in one instruction (sm_90; a few before), until none farther out can be better.  For the
// nearest site a row is searched alone, by keys of cost, row and column, whose least is the lowest of the nearest
// (near_search_nearest.cu).  Both sides of a signed map are searched at once where neither is far (near_search_signed.cu).
//
// Cost: 3/8 byte a pixel in, through the second cache, and the outputs out; some 20 instructions a pixel, and 1 more a
// column outwards.
#include "cuda/distance/plane/near_search.cuh"

namespace apsis::cuda::plane {

namespace {

constexpr int RESIDENT = 4;  // blocks on a multiprocessor: leaves a thread 64 registers

/// Distances alone: rows r and r + HALF at once.
template <Form FORM, int SPAN>
__global__ void __launch_bounds__(BLOCK, RESIDENT) search_costs(Layout layout, Target target) {
    wait_for_kernel_before();
    __shared__ __align__(16) uint32_t squares[HALF][Shape<SPAN>::PITCH];
    const Columns &columns = layout.columns;
    const Block<SPAN> block(layout, blockIdx.x);
    const int64_t image = block.image, strip = block.strip;
    if (layout.is_far(image, strip)) return;
    const bool is_near = scan_block<FORM == Form::OTHER>(columns, block, target, [&](int c, int r, uint32_t, uint32_t near) {
        squares[r][c] = square_both(near);
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

bool has_long_reach(const Columns &columns) {
    constexpr int64_t FEW_BLOCKS = 512;  // do not fill a device
    return columns.count <= WIDE_SPAN / 2 || columns.all().count * ceil_div(columns.count, WIDE_SPAN) < FEW_BLOCKS;
}

void search_near(const Layout &layout, cudaStream_t stream) {
    if (layout.output.nearest) return search_near_nearest(layout, stream);
    with_span(layout, [&](auto form, auto span, const Target &target) {
        launch("search_costs", search_costs<form, span>, Block<span>::count(layout), BLOCK, early(stream), layout,
               target);
    });
}

}  // namespace apsis::cuda::plane
