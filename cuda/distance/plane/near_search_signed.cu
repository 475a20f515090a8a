// The near search of a signed map (near_search.cu): both sides at once.
//
// A pixel's distance is measured to the nearest pixel of the other side.  In a column it is found from the nearest border
// between two pixels of different sides, so that one scan serves both sides.  In a row, a column costs 0 for pixels of the
// other side, and the square of that distance for pixels of its own side.  Shared memory holds that square, with all bits
// flipped if the column's pixel is a site.  For a pixel outside, negative numbers count as 0.  For a pixel inside, all numbers
// are flipped first.
#include "cuda/distance/plane/near_search.cuh"

namespace apsis::cuda::plane {

namespace {

constexpr int RESIDENT = 4;  // blocks on a multiprocessor: leaves a thread 64 registers

/// Scans a column in the strip that begins at row `start`.  Calls lay(r, square) for rows r and r + HALF together, with the
/// squares of the distances to the nearest pixels of the other side, flipped at sites.
template <int SPAN, class Lay>
__device__ void scan_sides(const StripColumns<> &strip, const Sites &stored, int32_t start, Lay lay) {
    const uint32_t sites = stored.word;
    const uint32_t above = (sites ^ sites << 1) & strip.valid & ~1u;  // rows of another side than the row above
    // The nearest pixel above of another side than the strip's first pixel, and below of another side than its last.
    const int32_t before = strip.before(stored.before, sites & 1);
    const int32_t after = strip.after(stored.after, sites >> (STRIP - 1));
    const uint32_t first = min(start - 1 - before, Shape<SPAN>::FAR_CARRY);
    const uint32_t last = min(after - start - STRIP, Shape<SPAN>::FAR_CARRY);
    scan_rows<1>(above, above >> 1, first, last,
                 [&](int r, uint32_t, uint32_t nearest) { lay(r, square_both(nearest) ^ ~at_bits<0>(sites, r)); });
}

/// Block: calls scan_sides for every column that the block reads.  Returns false, with nothing done, if a side is far.
template <int SPAN, class Lay>
__device__ bool scan_both(const Layout &layout, const Block<SPAN> &block, const Target &target, Lay lay) {
    const Columns &columns = layout.columns;
    const int32_t start = static_cast<int32_t>(block.strip * STRIP);
    const StripColumns<> strip(columns, block.image, block.strip);
    Sites stored[COLUMNS_EACH<SPAN>];
    bool near = target.limit < Shape<SPAN>::MOST_COST;  // with such a limit the search settles far pixels, too
    bool near_inside = near;
    each_column(columns, block, [&](int i, int, int64_t x) {
        stored[i] = strip.stored(x);
        near = near || are_near<SPAN>(strip.sites_of(stored[i], 0), start);
        near_inside = near_inside || are_near<SPAN>(strip.sites_of(stored[i], 1), start);
    });
    if (!__syncthreads_or(near) || !__syncthreads_or(near_inside)) return false;
    each_column(columns, block, [&](int i, int c, int64_t) {
        scan_sides<SPAN>(strip, stored[i], start, [&](int r, uint32_t square) { lay(c, r, square); });
    });
    __syncthreads();
    return true;
}

/// The costs of candidates for pixels of one side: the numbers have been flipped if that is the inside.
struct FlippedSide {
    __device__ uint32_t nearer(int, uint32_t a, uint32_t b) const { return __vimin_s16x2_relu(a, b); }
};

/// The costs of candidates for pixels of both sides.
struct BothSides {
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
    /// The highest bit if a pixel is a site.
    __device__ uint32_t sign(int c, int half) const { return (half ? sites[c] : sites[c] << 16) & 1u << 31; }
};

/// A block takes a span of a strip, of both sides.
template <Form FORM>
__global__ void __launch_bounds__(BLOCK, RESIDENT) search_signed(Layout layout, Target target) {
    wait_for_kernel_before();
    constexpr int SPAN = WIDE_SPAN;
    __shared__ __align__(16) uint32_t squares[HALF][Shape<SPAN>::PITCH];
    const Block<SPAN> block(layout, blockIdx.x);  // of the outside, which has the first half of all
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

void search_near_signed(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    Target target = target_of(layout.output);
    target.format.limited = target.limit < Shape<WIDE_SPAN>::MOST_COST;
    launch(plan.near, target.format.distance == Form::ROOTS ? search_signed<Form::ROOTS> : search_signed<Form::SQUARES>,
           early(stream), layout, target);
}

}  // namespace apsis::cuda::plane
