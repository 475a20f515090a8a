// What the near searches share: the distances in the columns that a block reads, and the steps outward over them.
// near_search.cu describes the whole.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "cuda/distance/plane/candidates.cuh"
#include "cuda/distance/plane/layout.h"
#include "cuda/distance/plane/store.h"
#include "cuda/distance/plane/tuning.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::plane {

/// Constants that depend on the columns of a block.
template <int SPAN>
struct Shape {
    static constexpr bool IS_SHORT = SPAN < WIDE_SPAN;
    static constexpr int REACH = IS_SHORT ? 96 : NEAR;               // columns outward; beyond them the envelope is cheaper
    static constexpr int32_t MOST_COST = (REACH + 1) * (REACH + 1);  // the largest cost that the search settles
    static constexpr int PITCH = SPAN + 2 * REACH;                   // words: rows start on 16 bytes
    // Longer carries count as this one.  Its square, 32 rows more, fits 16 bits together with a step's; of wide blocks 15 bits,
    // and a sign.
    static constexpr int32_t FAR_CARRY = IS_SHORT ? 204 : 146;
    static_assert((FAR_CARRY + STRIP) * (FAR_CARRY + STRIP) + MOST_COST < (IS_SHORT ? 65536 : 32768) &&
                  FAR_CARRY > REACH + STRIP && PITCH % QUAD == 0);
};

constexpr int FIRST_STEPS = 4;  // columns after which a warp checks whether its search is hopeless
static_assert(PATCH == WARP * QUAD && FIRST_STEPS % QUAD == 0);

/// Where a block works: a span of a strip of an image.
template <int SPAN>
struct BlockSpan {
    int64_t image, strip, left;

    __host__ __device__ static int64_t spans(const Layout &layout) { return (layout.columns.count + SPAN - 1) / SPAN; }
    __device__ BlockSpan(const Layout &layout, int64_t number) {
        const int64_t line = layout.strip_at(number / spans(layout));
        image = line / layout.columns.strips();
        strip = line % layout.columns.strips();
        left = number % spans(layout) * SPAN;
    }
};

/// How results are written, and up to which cost.
struct NearOutput {
    OutputFormat format;
    int32_t limit;  // larger costs count as no site; at most 2^20, which is above every cost that a near search settles
};

inline NearOutput target_of(const Output &output) {
    return {OutputFormat(output), static_cast<int32_t>(std::min<int64_t>(output.measure.limit, 1 << 20))};
}

/// How many columns a thread of a block takes: every BLOCK-th column that the block reads.
template <int SPAN>
constexpr int COLUMNS_EACH = (Shape<SPAN>::PITCH + BLOCK - 1) / BLOCK;

/// Calls take(i, c, x) for the i-th column of this thread.  It is the c-th column that the block reads, and lies at x in the
/// row.  Beyond an end of the row x is the column at that end: it costs more there than at its own place, so that it changes
/// nothing.
template <int SPAN, class Take>
__device__ void each_column(const Columns &columns, const BlockSpan<SPAN> &block, Take take) {
#pragma unroll
    for (int i = 0; i < COLUMNS_EACH<SPAN>; ++i) {
        const int c = static_cast<int>(threadIdx.x) + i * BLOCK;
        if (c >= Shape<SPAN>::PITCH) break;
        take(i, c, max(min(block.left - Shape<SPAN>::REACH + c, columns.count - 1), int64_t(0)));
    }
}

/// Whether a column's sites are in or near a strip.
template <int SPAN>
__device__ bool are_near(const Sites &sites, int32_t start) {
    constexpr int32_t REACH = Shape<SPAN>::REACH;
    return sites.word || sites.before >= start - (REACH + 1) || sites.after <= start + STRIP + REACH;
}

/// The same for both sides of a signed map.  Calls lay(r, square) for rows r and r + HALF_STRIP together, with the squares of
/// the distances to the nearest pixels of the other side, flipped at sites.
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

/// Whether the search settles far pixels, too: with such a limit they count as without a site.
template <int SPAN>
__device__ bool settles_far(const NearOutput &target) {
    return target.limit < Shape<SPAN>::MOST_COST;
}

/// Block: calls scan_column, or scan_sides, for every column that the block reads: lay(c, ...) for the c-th one.  Returns
/// false, with nothing done, if all pixels of a side are far, unless both sides are searched and far pixels are settled.
template <bool BOTH_SIDES, bool MAY_BE_SIGNED, int SPAN, class Lay>
__device__ bool scan_block(const Columns &columns, const BlockSpan<SPAN> &block, const NearOutput &target, Lay lay) {
    const int32_t start = static_cast<int32_t>(block.strip * STRIP);
    const StripColumns<MAY_BE_SIGNED> strip(columns, block.image, block.strip);
    Sites sites[COLUMNS_EACH<SPAN>];
    bool near = BOTH_SIDES && settles_far<SPAN>(target), near_inside = near;
    each_column(columns, block, [&](int i, int, int64_t x) {
        sites[i] = BOTH_SIDES ? strip.stored(x) : strip.at(x);
        near = near || are_near<SPAN>(BOTH_SIDES ? strip.sites_of(sites[i], 0) : sites[i], start);
        if (BOTH_SIDES) near_inside = near_inside || are_near<SPAN>(strip.sites_of(sites[i], 1), start);
    });
    if (!__syncthreads_or(near) || (BOTH_SIDES && !__syncthreads_or(near_inside))) return false;
    each_column(columns, block, [&](int i, int c, int64_t) {
        const auto lay_column = [&](auto... laid) { lay(c, laid...); };
        if constexpr (BOTH_SIDES)
            scan_sides<SPAN>(strip, sites[i], start, lay_column);
        else
            scan_column<Shape<SPAN>::FAR_CARRY>(sites[i], start, lay_column);
    });
    __syncthreads();
    return true;
}

/// Block: leaves all patches of the block to the envelope.
template <int SPAN>
__device__ void mark_block(const Layout &layout, const BlockSpan<SPAN> &block) {
    const int64_t y = block.strip * STRIP + threadIdx.x / (SPAN / PATCH), x = block.left + threadIdx.x % (SPAN / PATCH) * PATCH;
    static_assert(STRIP * (SPAN / PATCH) <= BLOCK, "a thread a patch");
    if (threadIdx.x < STRIP * (SPAN / PATCH) && y < layout.columns.length && x < layout.columns.count)
        layout.mark(block.image, y, x, true);
    if (threadIdx.x == 0) layout.mark_strip(block.image, block.strip);
}

/// Warp: the least value of this lane and of all lanes within a wide block's REACH columns.  If some of them would be lanes of
/// other warps, it is `unknown`.
template <class Least>
__device__ uint32_t least_in_reach(uint32_t value, uint32_t unknown, Least least) {
    constexpr int REACH = Shape<WIDE_SPAN>::REACH, SIDE = REACH / QUAD;  // lanes on either side
    static_assert(REACH % QUAD == 0 && SIDE >= 4 && SIDE < 8, "five to eight lanes hold a side and the middle");
    uint32_t right = value;  // the least of 2, 4, then SIDE + 1 lanes from this one on
    right = least(right, __shfl_down_sync(ALL_LANES, right, 1));
    right = least(right, __shfl_down_sync(ALL_LANES, right, 2));
    right = least(right, __shfl_down_sync(ALL_LANES, right, SIDE - 3));
    const uint32_t left = __shfl_up_sync(ALL_LANES, right, SIDE);
    const int lane = threadIdx.x % WARP;
    return lane >= SIDE && lane + SIDE < WARP ? least(left, right) : unknown;
}

/// Warp: the least of the values within REACH of a lane's four columns, or of more values.  It is 0 if lanes of other warps
/// have some of them.
template <int SPAN, class Least>
__device__ uint32_t least_reached(const uint32_t *shared, int column, uint32_t most, Least least) {
    const auto of_quad = [&](int from) {
        const uint4 quad = *reinterpret_cast<const uint4 *>(shared + from);
        return least(least(quad.x, quad.y), least(quad.z, quad.w));
    };
    if constexpr (!Shape<SPAN>::IS_SHORT) {
        return least_in_reach(of_quad(column), 0u, least);
    } else {
        for (int from = static_cast<int>(threadIdx.x % WARP) * QUAD; from < Shape<SPAN>::PITCH; from += WARP * QUAD)
            most = least(most, of_quad(from));
#pragma unroll
        for (int step = WARP / 2; step > 0; step /= 2) most = least(most, __shfl_xor_sync(ALL_LANES, most, step));
        return most;
    }
}

/// How many pixels a row has from x on; more than two quads make no difference.
__device__ inline int rest_of(const Columns &columns, int64_t x) {
    return static_cast<int>(min(columns.count - x, int64_t(2 * QUAD)));
}

/// The patch of a block that a warp takes.  WARPS / ACROSS warps share the rows of a patch.
template <int SPAN>
struct WarpPatch {
    static constexpr int ACROSS = SPAN / PATCH;
    static_assert(WARPS % ACROSS == 0);

    const Layout &layout;
    const BlockSpan<SPAN> &block;
    int64_t x;    // of a lane's first pixel
    int column;   // of that pixel, counted from the first that the block reads
    bool out;     // whether it lies beyond the row's end
    uint8_t *to;  // its place in the strip's first row, in a map of distances in numbers of 32 bits

    __device__ WarpPatch(const Layout &layout, const BlockSpan<SPAN> &block) : layout(layout), block(block) {
        const int left = static_cast<int>(threadIdx.x / WARP) % ACROSS * PATCH + lane() * QUAD;
        x = block.left + left, column = Shape<SPAN>::REACH + left;
        out = x >= layout.columns.count;
        to = layout.output.distance.row(block.strip * STRIP, layout.slice_of(block.image)) + x * 4;
    }
    __device__ static int lane() { return static_cast<int>(threadIdx.x % WARP); }
    /// How many of the strip's rows the image has.
    __device__ int height() const { return static_cast<int>(min(layout.columns.length - block.strip * STRIP, int64_t(STRIP))); }
    /// Warp: calls take(r) for those of the strip's first `count` rows that the warp takes.
    template <class Take>
    __device__ void each_row(int count, Take take) const {
        if (x - lane() * QUAD >= layout.columns.count) return;
        for (int r = static_cast<int>(threadIdx.x / WARP) / ACROSS; r < count; r += WARPS / ACROSS) take(r);
    }
    /// Warp: writes the numbers of a row's pixels, four a lane.
    __device__ void store(int r, const uint32_t (&number)[QUAD]) const {
        StoreTogether{rest_of(layout.columns, x)}(to + r * layout.output.distance.stride[1], number);
    }
    /// Warp: notes whether a row of the patch is left to the envelope.  `side` is an image that shares the marks, or this one.
    __device__ void mark(int r, bool far, int64_t side) const {
        if (lane() != 0) return;
        const unsigned row = static_cast<unsigned>(r), pitch = static_cast<unsigned>(layout.patches()) * BAND;
        layout.marks_of(block.image, block.strip * (STRIP / BAND), x / PATCH)[row / BAND * pitch + row % BAND] = far;
        if (!far) return;
        layout.mark_strip(block.image, block.strip);
        if (side != block.image) layout.mark_strip(side, block.strip);
    }
};

/// Warp: writes pixels of a row, four a lane, from their costs and with NEAREST the indices of their nearest sites.
template <Form FORM, bool NEAREST>
__device__ void write_found(const Layout &layout, const NearOutput &target, int64_t x, int64_t y, int64_t image,
                            const uint32_t (&cost)[QUAD], const int64_t (&site)[QUAD]) {
    const auto root = [](uint32_t number) { return small_root_of(number); };
    const int rest = rest_of(layout.columns, x);
    int32_t index[QUAD];
#pragma unroll
    for (int c = 0; c < QUAD; ++c) index[c] = static_cast<int32_t>(site[c]);
    if constexpr (IS_PLAIN<FORM>) {
        write_plain<FORM, NEAREST>(layout.output, target.format, x, y, image, cost, index, root, StoreTogether{rest});
    } else if (FORM == Form::SIGNED || target.format.serves) {
        write_side<FORM, NEAREST>(layout.output_of(image), target.format, x, y, layout.slice_of(image), cost, index, root,
                                  StoreAlone<>{rest});
    } else if (target.format.is_mask) {
        write_mask(layout.output, x, y, image, cost, true, rest);
    } else {
#pragma unroll
        for (int c = 0; c < QUAD; ++c)
            if (c < rest) write_pixel(layout.output_of(image), x + c, y, layout.slice_of(image), cost[c], true, site[c]);
    }
}

__device__ inline uint32_t quad_at(const uint4 &quad, int i) {
    return i == 0 ? quad.x : i == 1 ? quad.y : i == 2 ? quad.z : quad.w;
}

/// Flips the bits of a quad that are set in `bits`.
__device__ inline void flip(uint4 &quad, uint32_t bits) { quad.x ^= bits, quad.y ^= bits, quad.z ^= bits, quad.w ^= bits; }

/// Four steps outward for four columns, after `from` steps.  `left` and `right` are the quads `from` columns away.  On return
/// they are the next ones outward, with the bits `flipped` flipped.
template <class Take>
__device__ void step_quad(const uint32_t *shared, int column, int from, uint4 &left, uint4 &right, Take take,
                          uint32_t flipped = 0) {
    uint4 left_on = *reinterpret_cast<const uint4 *>(shared + column - from - QUAD);
    uint4 right_on = *reinterpret_cast<const uint4 *>(shared + column + from + QUAD);
    flip(left_on, flipped), flip(right_on, flipped);
#pragma unroll
    for (int k = 1; k <= QUAD; ++k)
#pragma unroll
        for (int c = 0; c < QUAD; ++c) {
            const int l = c - k, r = c + k - QUAD;  // of the candidates, counted from `left` and from `right_on`
            take(c, k, l >= 0 ? quad_at(left, l) : quad_at(left_on, l + QUAD),
                 r < 0 ? quad_at(right, r + QUAD) : quad_at(right_on, r));
        }
    left = left_on;
    right = right_on;
}

// ---- Distances alone, of two rows in the halves of a word ----

constexpr int COSTS_RESIDENT = 4;  // blocks on a multiprocessor: leaves a thread 64 registers

/// The costs of one side's candidates, as shared memory has them.
struct OneSide {
    static constexpr bool ARE_BOTH = false, HAVE_ENDS = false;

    __device__ explicit OneSide(const uint4 &) {}
    /// The lesser of two costs for a lane's c-th column, in either half.
    __device__ uint32_t nearer(int, uint32_t a, uint32_t b) const { return __vminu2(a, b); }
    /// The cost of a pixel's own column.
    __device__ uint32_t own(int, uint32_t value) const { return value; }
    /// Warp: no more than any cost within reach of a lane's columns.
    template <int SPAN>
    __device__ static uint32_t reached(const uint32_t *line, int column) {
        return least_reached<SPAN>(line, column, ~0u, [](uint32_t a, uint32_t b) { return __vminu2(a, b); });
    }
    /// What shared memory has of two rows.
    __device__ static uint32_t square_of(uint32_t, uint32_t nearest) { return square_both(nearest); }
    template <Form FORM>
    __device__ void to_numbers(const OutputFormat &format, const uint32_t (&cost)[QUAD], int, uint32_t (&number)[QUAD]) const {
        plane::to_numbers<FORM>(format, cost, number, [](uint32_t one) { return small_root_of(one); });
    }
    /// Warp: calls search(candidates, flipped) for the steps farther out; costs above `settled` are not settled yet.
    template <class Search>
    __device__ void search_on(const uint32_t (&)[QUAD], bool, uint32_t, Search search) const {
        search(*this, 0);
    }
};

/// The least costs of a lane's four pixels in rows r and r + HALF_STRIP, and which of the two rows the warp has settled.
struct PatchCosts {
    uint32_t best[QUAD];
    bool settled[2];

    __device__ uint32_t cost(int c, int half) const { return half ? best[c] >> 16 : best[c] & 0xffff; }
};

/// Warp: searches two rows of a patch outward.  `line` has their squares, and `column` is the lane's first.  Lanes that are
/// `out` of the image do not count.
template <int SPAN, class Sides>
__device__ PatchCosts search_patch(const uint32_t *line, int column, bool out, int32_t limit, const Sides &sides) {
    constexpr int REACH = Shape<SPAN>::REACH;
    constexpr int32_t MOST_COST = Shape<SPAN>::MOST_COST;
    uint4 on_left = *reinterpret_cast<const uint4 *>(line + column), on_right = on_left;
    PatchCosts patch;
    uint32_t(&best)[QUAD] = patch.best;
#pragma unroll
    for (int c = 0; c < QUAD; ++c) best[c] = sides.own(c, quad_at(on_left, c));
    // If each of the two rows has a pixel without a candidate near enough, more steps settle neither.
    const auto is_hopeless = [&] {
        const uint32_t reached = sides.template reached<SPAN>(line, column);
        const bool counts = !out && limit >= MOST_COST;
        return __any_sync(ALL_LANES, counts && (reached & 0xffff) > MOST_COST) &&
               __any_sync(ALL_LANES, counts && (reached >> 16) > MOST_COST);
    };
    const auto worst = [&] { return __vmaxu2(__vmaxu2(best[0], best[1]), __vmaxu2(best[2], best[3])); };
    int done = 0;  // steps done: a candidate farther out costs (done + 1)^2 or more
    const auto settled = [&](uint32_t most) {
        const int32_t next = (done + 1) * (done + 1);
        return out || static_cast<int32_t>(max(most & 0xffff, most >> 16)) <= next || next > limit;
    };
    uint32_t most = worst();
    bool near = __all_sync(ALL_LANES, settled(most));
    const auto search = [&](const auto &candidates, uint32_t flipped, int first, int end) {
    // A short reach is unrolled, so that the instructions hold the steps' numbers.
#pragma unroll(Shape<SPAN>::IS_SHORT ? 1 : REACH / QUAD)
        for (int from = first; from < end; from += QUAD) {
            if (near) break;
            const auto take = [&](int c, int k, uint32_t a, uint32_t b) {
                const uint32_t step = static_cast<uint32_t>((from + k) * (from + k)) * BOTH;
                best[c] = __viaddmin_u16x2(candidates.nearer(c, a, b), step, best[c]);
            };
            step_quad(line, column, from, on_left, on_right, take, flipped);
            done = from + QUAD;
            most = worst();
            near = __all_sync(ALL_LANES, settled(most));
        }
    };
    search(sides, 0, 0, FIRST_STEPS);
    const bool searches_on = !near && !is_hopeless();
    // Nothing within reach is nearer than MOST_COST then: what is nearer lies beside a run.
    if (Sides::HAVE_ENDS && !near && !searches_on) done = REACH;
    if (searches_on)
        sides.search_on(best, out, (FIRST_STEPS + 1) * (FIRST_STEPS + 1), [&](const auto &candidates, uint32_t flipped) {
            flip(on_left, flipped), flip(on_right, flipped);
            search(candidates, flipped, FIRST_STEPS, REACH);
        });
    // One row may be settled without the other.
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int32_t worst_here = half ? most >> 16 : most & 0xffff;
        patch.settled[half] = near || __all_sync(ALL_LANES, out || worst_here <= (done + 1) * (done + 1));
    }
    return patch;
}

/// Calls search(form, span, target) with the constants that a map's kernels are compiled for.
template <class Search>
void with_span(const Plan &plan, const Layout &layout, Search search) {
    NearOutput target = target_of(layout.output);
    const auto search_span = [&](auto form, auto span) {
        target.format.limited = target.limit < Shape<span>::MOST_COST;  // else no cost above the limit is settled
        search(form, span, target);
    };
    with_form(target.format.plain(layout.output), [&](auto form) {
        if (plan.has_long_reach)
            search_span(form, std::integral_constant<int, SHORT_SPAN>());
        else
            search_span(form, std::integral_constant<int, WIDE_SPAN>());
    });
}

}  // namespace apsis::cuda::plane
