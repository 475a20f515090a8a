// The near search: rows of a 2-D Euclidean distance map where every pixel has a site within some 24 pixels.  In images that do
// not fill a device, or are short, that is 96 pixels, since doing without the envelope saves more there.
//
// A block takes a strip of 32 rows, 512 columns wide or 128, and reads its REACH more columns on either side.  It counts the
// distances in every column down and up again, two rows 16 apart in the halves of a register, and lays their squares in shared
// memory.  Then a thread holds 4 columns of two rows and tries the candidates 1, 2, 3 ... columns away, until none farther out
// can be better.  An addition and a minimum of both rows are one instruction on sm_90, and a few on older devices.  For nearest
// sites a row is searched alone, by keys of cost, row and column (near_search_nearest.cu).
//
// Where neither side of a signed map is far, both are searched at once.  A pixel's distance is measured to the nearest pixel of
// the other side.  In a column it is found from the nearest border between two pixels of different sides, so that one scan
// serves both sides.  In a row, a column costs 0 for pixels of the other side, and the square of that distance for pixels of
// its own side.  Shared memory holds that square, with all bits flipped if the column's pixel is a site.  For a pixel outside,
// negative numbers count as 0.  For a pixel inside, all numbers are flipped first.
//
// Cost: 3/8 byte a pixel in, through the second cache, and the outputs out; some 20 instructions a pixel, and 1 more for each
// column outward.  Where no site is near and a limit makes all far pixels the same, they are written at once: the second map of
// an opening often is of hardly any site.
#include "cuda/distance/plane/near_search.cuh"

namespace apsis::cuda::plane {

namespace {

/// The costs of candidates for pixels of one side: the numbers have been flipped if that is the inside.
struct FlippedSide {
    __device__ uint32_t nearer(int, uint32_t a, uint32_t b) const { return __vimin_s16x2_relu(a, b); }
};

/// The costs of candidates for pixels of both sides.
struct BothSides {
    static constexpr bool ARE_BOTH = true, HAVE_ENDS = false;
    uint32_t sites[QUAD];  // of two rows: all ones in a half if the pixel is a site

    __device__ explicit BothSides(const uint4 &own) {
#pragma unroll
        for (int c = 0; c < QUAD; ++c) sites[c] = (quad_at(own, c) >> 15 & BOTH) * 0xffff;
    }
    __device__ uint32_t nearer(int c, uint32_t a, uint32_t b) const { return __vimin_s16x2_relu(a ^ sites[c], b ^ sites[c]); }
    __device__ uint32_t own(int c, uint32_t value) const { return value ^ sites[c]; }
    /// Warp: no more than any cost within reach of a lane's columns; 0 if there are pixels of both sides.
    template <int SPAN>
    __device__ static uint32_t reached(const uint32_t *line, int column) {
        const uint32_t least =
            least_reached<SPAN>(line, column, 0x7fff * BOTH, [](uint32_t a, uint32_t b) { return __vmins2(a, b); });
        const uint32_t most =
            least_reached<SPAN>(line, column, 0x8000 * BOTH, [](uint32_t a, uint32_t b) { return __vmaxs2(a, b); });
        return __vimax_s16x2_relu(least, ~most);
    }
    /// Warp: where pixels of one side alone are not settled, all lanes try that side's costs, which is cheaper.  Pixels of the
    /// other side find nothing less there.
    template <class Search>
    __device__ void search_on(const uint32_t (&best)[QUAD], bool out, uint32_t settled, Search search) const {
        uint32_t outside = 0, inside = 0;
#pragma unroll
        for (int c = 0; c < QUAD; ++c)
            outside = __vmaxu2(outside, best[c] & ~sites[c]), inside = __vmaxu2(inside, best[c] & sites[c]);
        const auto is_wanted = [&](uint32_t worst) {
            return __any_sync(ALL_LANES, !out && max(worst & 0xffff, worst >> 16) > settled);
        };
        const bool wants_inside = is_wanted(inside);
        if (wants_inside && is_wanted(outside))
            search(*this, 0);
        else
            search(FlippedSide(), wants_inside ? ~0u : 0);
    }
    __device__ static uint32_t square_of(uint32_t flipped) { return flipped; }
    template <Form FORM>
    __device__ void to_numbers(const OutputFormat &format, const uint32_t (&cost)[QUAD], int half,
                               uint32_t (&number)[QUAD]) const {
        uint32_t sign[QUAD];  // the highest bit if a pixel is a site
#pragma unroll
        for (int c = 0; c < QUAD; ++c) sign[c] = (half ? sites[c] : sites[c] << 16) & 1u << 31;
        to_signed_numbers<FORM>(format, cost, sign, number, [](uint32_t one) { return small_root_of(one); });
    }
};

/// A block takes a span of a strip: distances alone, of rows r and r + HALF_STRIP at once.  Of both sides of a signed map it is
/// a strip of the outside, which has the first half of all images.
template <Form FORM, int SPAN, class Sides>
__global__ void __launch_bounds__(BLOCK, COSTS_RESIDENT) search_costs(Layout layout, NearOutput target) {
    wait_for_kernel_before();
    __shared__ __align__(16) uint32_t squares[HALF_STRIP][Shape<SPAN>::PITCH];
    const BlockSpan<SPAN> block(layout, blockIdx.x);
    const int64_t image = block.image, strip = block.strip, other_side = Sides::ARE_BOTH ? image + layout.images : image;
    if (layout.is_far(image, strip)) return;
    const bool is_near = scan_block < Sides::ARE_BOTH,
               Sides::ARE_BOTH || FORM == Form::OTHER > (layout.columns, block, target, [&](int c, int r, auto... laid) {
                                              squares[r][c] = Sides::square_of(laid...);
                                          });
    if (!is_near && !settles_far<SPAN>(target)) {
        mark_block(layout, block);
        if (Sides::ARE_BOTH && threadIdx.x == 0) layout.mark_strip(other_side, strip);
        return;
    }
    const WarpPatch<SPAN> patch(layout, block);
    const int height = patch.height();
    const auto write = [&](int row, const uint32_t(&cost)[QUAD], const Sides &sides, int half) {
        if constexpr (FORM == Form::MASK) {
            write_mask(layout.output, patch.x, strip * STRIP + row, image, cost, true, rest_of(layout.columns, patch.x));
        } else if constexpr (FORM == Form::OTHER) {
            write_found<FORM, false>(layout, target, patch.x, strip * STRIP + row, image, cost, {});
        } else {
            uint32_t number[QUAD];
            sides.template to_numbers<FORM>(target.format, cost, half, number);
            patch.store(row, number);
        }
    };
    if (!is_near) {
        const uint32_t without_site[QUAD] = {~0u, ~0u, ~0u, ~0u};
        return patch.each_row(height, [&](int row) {
            patch.mark(row, false, other_side);
            write(row, without_site, Sides(uint4()), 0);
        });
    }
    patch.each_row(min(height, HALF_STRIP), [&](int r) {
        const Sides sides(*reinterpret_cast<const uint4 *>(squares[r] + patch.column));
        const PatchCosts found = search_patch<SPAN>(squares[r], patch.column, patch.out, target.limit, sides);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = r + half * HALF_STRIP;
            if (row >= height) break;
            patch.mark(row, !found.settled[half], other_side);
            if (!found.settled[half]) continue;
            uint32_t cost[QUAD];
#pragma unroll
            for (int c = 0; c < QUAD; ++c) cost[c] = found.cost(c, half);
            write(row, cost, sides, half);
        }
    });
}

}  // namespace

void search_near(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    if (plan.is_paired) {
        NearOutput target = target_of(layout.output);
        target.format.limited = target.limit < Shape<WIDE_SPAN>::MOST_COST;
        const auto kernel = target.format.distance == Form::ROOTS ? search_costs<Form::ROOTS, WIDE_SPAN, BothSides>
                                                                  : search_costs<Form::SQUARES, WIDE_SPAN, BothSides>;
        return launch(plan.near, kernel, early(stream), layout, target);
    }
    with_span(plan, layout, [&](auto form, auto span, const NearOutput &target) {
        if constexpr (form == Form::OTHER)
            if (target.format.is_mask)
                return launch(plan.near, search_costs<Form::MASK, span, OneSide>, early(stream), layout, target);
        launch(plan.near, search_costs<form, span, OneSide>, early(stream), layout, target);
    });
}

}  // namespace apsis::cuda::plane
