// The outward search of a signed map (near_search.cu): both sides at once.
//
// A pixel's cost is that of the nearest pixel of the other side, whichever side it is on.  In a column that
// is 1 more than the way to the nearest border between two pixels: one scan serves both sides.  Of the two
// costs that a column has in a row one is the square of that distance, and the other one 0; they are laid as
// one number, whose sign tells the sides apart.  A pixel on the one side takes negative numbers as 0, and one
// on the other turns them all around before.
#include "cuda/distance/plane/near_search.cuh"

namespace apsis::cuda::plane {

namespace {

constexpr int RESIDENT = 4;  // blocks on a multiprocessor: leaves a thread 64 registers

/// A column of both sides in the strip that begins at row `start`; calls lay(r, square) for rows r and r +
/// HALF together: the square of the distance to the nearest pixel of the other side, inverted at pixels that
/// are sites.
template <int SPAN, class Lay>
__device__ void scan_sides(const StripColumns<> &strip, const Sites &stored, int32_t start, Lay lay) {
    const uint32_t sites = stored.word;
    const uint32_t above = (sites ^ sites << 1) & strip.valid & ~1u;  // where a row's side is not that above
    // The nearest ones of the other side than that of the strip's first and last pixel.
    const int32_t before = strip.before(stored.before, sites & 1);
    const int32_t after = strip.after(stored.after, sites >> (STRIP - 1));
    const uint32_t first = min(start - 1 - before, Shape<SPAN>::FAR_CARRY);
    const uint32_t last = min(after - start - STRIP, Shape<SPAN>::FAR_CARRY);
    scan_rows<1>(above, above >> 1, first, last,
                 [&](int r, uint32_t, uint32_t near) { lay(r, square_both(near) ^ ~at_bits<0>(sites, r)); });
}

/// Calls scan_sides for every column that the block looks at; false, and nothing done, if all pixels of a
/// side are too far.
template <int SPAN, class Lay>
__device__ bool scan_both(const Layout &layout, const Block<SPAN> &block, const Target &target, Lay lay) {
    const Columns &columns = layout.columns;
    const int32_t start = static_cast<int32_t>(block.strip * STRIP);
    const StripColumns<> strip(columns, block.image, block.strip);
    Sites stored[COLUMNS_EACH<SPAN>];
    bool near = target.limit < Shape<SPAN>::FARTHEST,
         near_inside = near;  // then the search settles what is far, too
    each_column(columns, block, [&](int i, int, int64_t x) {
        stored[i] = strip.stored(x);
        near = near || are_near<SPAN>(strip.seen(stored[i], 0), start);
        near_inside = near_inside || are_near<SPAN>(strip.seen(stored[i], 1), start);
    });
    if (!__syncthreads_or(near) || !__syncthreads_or(near_inside)) return false;
    each_column(columns, block, [&](int i, int c, int64_t) {
        scan_sides<SPAN>(strip, stored[i], start, [&](int r, uint32_t square) { lay(c, r, square); });
    });
    __syncthreads();
    return true;
}

/// Candidates of one of the two sides, the numbers of which have been turned over if need be.
struct TurnedSide {
    __device__ uint32_t nearer(int, uint32_t a, uint32_t b) const { return __vimin_s16x2_relu(a, b); }
};

/// Candidates of both sides.
struct BothSides {
    uint32_t sites[QUAD];  // all ones in a half whose pixel is a site

    __device__ explicit BothSides(const uint4 &own) {
#pragma unroll
        for (int c = 0; c < QUAD; ++c) sites[c] = (quad_at(own, c) >> 15 & BOTH) * 0xffff;
    }
    __device__ uint32_t nearer(int c, uint32_t a, uint32_t b) const { return __vimin_s16x2_relu(a ^ sites[c], b ^ sites[c]); }
    __device__ uint32_t own(int c, uint32_t value) const { return value ^ sites[c]; }
    /// No more than any of a lane's columns may find, which is nothing where there are pixels of both sides.
    template <int SPAN>
    __device__ static uint32_t reached(const uint32_t *line, int column) {
        const uint32_t least =
            least_reached<SPAN>(line, column, 0x7fff * BOTH, [](uint32_t a, uint32_t b) { return __vmins2(a, b); });
        const uint32_t most =
            least_reached<SPAN>(line, column, 0x8000 * BOTH, [](uint32_t a, uint32_t b) { return __vmaxs2(a, b); });
        return __vimax_s16x2_relu(least, ~most);
    }
    /// Where pixels of one side alone are not settled, what the others try changes nothing any more.
    template <class Search>
    __device__ void go_on(const uint32_t (&best)[QUAD], bool out, uint32_t settled, Search search) const {
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
            search(TurnedSide(), wants_inside ? ~0u : 0);
    }
    /// The highest bit if a pixel is a site.
    __device__ uint32_t sign(int c, int half) const { return (half ? sites[c] : sites[c] << 16) & 1u << 31; }
};

template <Form FORM>
__global__ void __launch_bounds__(BLOCK, RESIDENT) search_signed(Layout layout, Target target) {
    wait_for_kernel_before();
    constexpr int SPAN = WIDE_SPAN;
    __shared__ __align__(16) uint32_t squares[HALF][Shape<SPAN>::PITCH];
    const Block<SPAN> block(layout, blockIdx.x);  // the first half of all
    const int64_t image = block.image, inside = image + layout.images, strip = block.strip;
    if (layout.is_far(image, strip)) return;
    if (!scan_both(layout, block, target, [&](int c, int r, uint32_t square) { squares[r][c] = square; })) {
        mark_block(layout, block);
        if (threadIdx.x == 0) layout.mark_strip(inside, strip);
        return;
    }
    const WarpPatch<SPAN> patch(layout, block);
    const int height = patch.height();
    patch.each_row(min(height, HALF), [&](int r) {
        const BothSides sides(*reinterpret_cast<const uint4 *>(squares[r] + patch.column));
        const PatchCosts found = search_patch<SPAN>(squares[r], patch.column, patch.out, target.limit, sides);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = r + half * HALF;
            if (row >= height) break;
            patch.mark(row, !found.settled[half], inside);
            if (!found.settled[half]) continue;
            uint32_t cost[QUAD], sign[QUAD], number[QUAD];
#pragma unroll
            for (int c = 0; c < QUAD; ++c) cost[c] = found.cost(c, half), sign[c] = sides.sign(c, half);
            to_signed_numbers<FORM>(target.format, cost, sign, number, [](uint32_t one) { return small_root_of(one); });
            patch.store(row, number);
        }
    });
}

}  // namespace

bool searches_both_sides(const Output &output) { return output.is_signed && !output.nearest && OutputFormat(output).serve; }

void search_near_signed(const Layout &layout, cudaStream_t stream) {
    Target target = target_of(layout.output);
    target.format.limited = target.limit < Shape<WIDE_SPAN>::FARTHEST;
    launch("search_signed", target.format.distance == Form::ROOTS ? search_signed<Form::ROOTS> : search_signed<Form::SQUARES>,
           Block<WIDE_SPAN>::count(layout) / layout.sides(), BLOCK, early(stream), layout, target);
}

}  // namespace apsis::cuda::plane
