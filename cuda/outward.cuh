// What the outward searches share: the distances in the columns that a block looks at, and how it walks outward over them
// (outward.cu tells how it all goes together).
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "contenders.cuh"
#include "launch.h"
#include "quads.h"
#include "rows.h"

namespace apsis {

namespace {

// Columns of a block: 4 patches, 512 of 560 words of which are its own; or 128 of 320, a patch.
constexpr int WIDE_SPAN = 512, SHORT_SPAN = 128;
static_assert(SHORT_SPAN == PATCH && WIDE_SPAN % PATCH == 0);

/// What depends on the columns of a block.
template <int SPAN>
struct Shape {
    static constexpr bool IS_SHORT = SPAN == SHORT_SPAN;
    // Columns that the search looks out: beyond, the envelope is cheaper; and the most that a pixel may cost that it settles.
    static constexpr int REACH = IS_SHORT ? 96 : NEAR;
    static constexpr int32_t FARTHEST = (REACH + 1) * (REACH + 1);
    static constexpr int PITCH = SPAN + 2 * REACH;  // words: rows start on 16 bytes
    // A longer carry counts as this: + 32 rows its square fits 16 bits with REACH^2.
    static constexpr int32_t FAR_CARRY = IS_SHORT ? 204 : 222;
    static_assert((FAR_CARRY + STRIP) * (FAR_CARRY + STRIP) + FARTHEST < 65536 && FAR_CARRY > REACH + STRIP &&
                  PITCH % QUAD == 0);
};

constexpr int DOUBT = 4;                     // columns after which it asks whether it is in vain
constexpr int HALF = STRIP / 2;              // rows r and r + HALF share a register
constexpr uint32_t BOTH = 0x00010001u;       // one in both halves
static_assert(PATCH == WARP * QUAD);

/// Where a block works: a span of a strip of an image.
template <int SPAN>
struct Block {
    int64_t image, strip, left;

    __host__ __device__ static int64_t spans(const Rows &rows) { return (rows.columns.count + SPAN - 1) / SPAN; }
    __device__ Block(const Rows &rows, int64_t number) {
        const int64_t line = rows.strip_at(number / spans(rows));
        image = line / rows.columns.strips();
        strip = line % rows.columns.strips();
        left = number % spans(rows) * SPAN;
    }
    /// The same of another image.
    __device__ Block of(int64_t other) const {
        Block block = *this;
        block.image = other;
        return block;
    }
    static int64_t count(const Rows &rows) { return rows.count_strips() * spans(rows); }
};

/// The distances to the nearest site of a column above and below each row of a strip, rows r and r + HALF together:
/// calls lay(r, up, down) for 0 <= r < HALF.
template <int SPAN, class Lay>
__device__ void scan_column(uint32_t word, int32_t before, int32_t after, int32_t start, Lay lay) {
    const uint32_t lower = word & 0xffff, upper = word >> HALF;
    const uint32_t first = min(start - 1 - before, Shape<SPAN>::FAR_CARRY);    // at the row above the strip
    const uint32_t last = min(after - start - STRIP, Shape<SPAN>::FAR_CARRY);  // at the row below it
    const uint32_t middle_up = lower ? HALF - 1 - highest_bit(lower) : first + HALF;
    const uint32_t middle_down = upper ? lowest_bit(upper) : last + HALF;
    uint32_t up[HALF], count = middle_up << 16 | first;
#pragma unroll
    for (int r = 0; r < HALF; ++r) {
        const uint32_t sites = (word >> r & BOTH) * 0xffff;
        up[r] = count = (count + BOTH) & ~sites;
    }
    count = last << 16 | middle_down;
#pragma unroll
    for (int r = HALF - 1; r >= 0; --r) {
        const uint32_t sites = (word >> r & BOTH) * 0xffff;
        count = (count + BOTH) & ~sites;
        lay(r, up[r], count);
    }
}

/// Squares of two distances.
__device__ uint32_t square_both(uint32_t near) {
    const uint32_t low = near & 0xffff, high = near >> 16;
    return low * low + (near & 0xffff0000u) * high;
}

/// How results are written.
struct Target {
    Quads quads;
    int32_t limit;  // costs above it count as no site; no more than a search can tell
};

/// How a map is written.
inline Target target_of(const Output &output) {
    return {Quads(output), static_cast<int32_t>(std::min<int64_t>(output.measure.limit, 1 << 20))};
}

/// Calls scan_column for every column that the block looks at; false, and nothing done, if all its pixels are too far.
template <int SPAN, class Lay>
__device__ bool scan_block(const Columns &columns, const Block<SPAN> &block, const Target &target, Lay lay) {
    constexpr int PITCH = Shape<SPAN>::PITCH, REACH = Shape<SPAN>::REACH, EACH = (PITCH + BLOCK - 1) / BLOCK;
    const int32_t start = static_cast<int32_t>(block.strip * STRIP);
    uint32_t word[EACH];
    int32_t before[EACH], after[EACH];
    bool near = target.limit < Shape<SPAN>::FARTHEST;  // then the search settles what is far, too
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const int c = threadIdx.x + i * BLOCK;
        const int64_t x = block.left - REACH + c;
        const bool inside = c < PITCH && x >= 0 && x < columns.count;
        const int64_t at = inside ? columns.at(block.image, block.strip, x) : 0;
        word[i] = inside ? columns.words[at] : 0;
        before[i] = inside ? columns.before[at] : NO_SITE_BEFORE;
        after[i] = inside ? columns.after[at] : NO_SITE_AFTER;
        near = near || word[i] || before[i] >= start - (REACH + 1) || after[i] <= start + STRIP + REACH;
    }
    if (!__syncthreads_or(near)) return false;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const int c = threadIdx.x + i * BLOCK;
        const int64_t x = block.left - REACH + c;
        if (c >= PITCH) break;
        if (x >= 0 && x < columns.count) {
            scan_column<SPAN>(word[i], before[i], after[i], start,
                              [&](int r, uint32_t up, uint32_t down) { lay(c, r, up, down); });
        } else {
            constexpr uint32_t NO_SITE = Shape<SPAN>::FAR_CARRY * BOTH;
#pragma unroll
            for (int r = 0; r < HALF; ++r) lay(c, r, NO_SITE, NO_SITE);
        }
    }
    __syncthreads();
    return true;
}

/// Leaves all patches of a block to the envelope.
template <int SPAN>
__device__ void mark_block(const Rows &rows, const Block<SPAN> &block) {
    const int64_t y = block.strip * STRIP + threadIdx.x / (SPAN / PATCH), x = block.left + threadIdx.x % (SPAN / PATCH) * PATCH;
    static_assert(STRIP * (SPAN / PATCH) <= BLOCK, "a thread a patch");
    if (threadIdx.x < STRIP * (SPAN / PATCH) && y < rows.columns.length && x < rows.columns.count)
        rows.mark(block.image, y, x, true);
    if (threadIdx.x == 0) rows.mark_strip(block.image, block.strip);
}

/// The least of what a lane and those within a wide block's REACH columns hold, where all of them are lanes of the
/// warp; elsewhere `unknown`.
template <class Least>
__device__ uint32_t least_in_reach(uint32_t value, uint32_t unknown, Least least) {
    constexpr int REACH = Shape<WIDE_SPAN>::REACH, SIDE = REACH / QUAD;  // lanes on either side
    static_assert(REACH % QUAD == 0 && SIDE >= 4 && SIDE < 8, "five to eight lanes hold a side and the middle");
    uint32_t right = value;  // of 2, 4, then SIDE + 1 lanes from this one on
    right = least(right, __shfl_down_sync(ALL_LANES, right, 1));
    right = least(right, __shfl_down_sync(ALL_LANES, right, 2));
    right = least(right, __shfl_down_sync(ALL_LANES, right, SIDE - 3));
    const uint32_t left = __shfl_up_sync(ALL_LANES, right, SIDE);
    const int lane = threadIdx.x % WARP;
    return lane >= SIDE && lane + SIDE < WARP ? least(left, right) : unknown;
}

/// The least of what may be reached from any of a lane's four columns, or from some of them; 0 if the lane does not
/// know.
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

/// The root of a cost that is near.
__device__ float small_root_of(uint32_t cost) { return small_root(static_cast<float>(cost)); }

/// How many pixels a row has from x on; more than two quads make no difference.
__device__ int rest_of(const Columns &columns, int64_t x) {
    return static_cast<int>(min(columns.count - x, int64_t(2 * QUAD)));
}

/// Writes four pixels of a row, a lane's of its warp: their costs, and the indices of their nearest sites if anybody
/// wants them.
template <Form FORM, bool NEAREST>
__device__ void write_found(const Rows &rows, const Target &target, int64_t x, int64_t y, int64_t image,
                            const uint32_t (&cost)[QUAD], const int64_t (&site)[QUAD]) {
    const auto root = [](uint32_t number) { return small_root_of(number); };
    const int rest = rest_of(rows.columns, x);
    int32_t index[QUAD];
#pragma unroll
    for (int c = 0; c < QUAD; ++c) index[c] = static_cast<int32_t>(site[c]);
    if constexpr (FORM != Form::OTHER) {
        write_plain<FORM, NEAREST>(rows.output, target.quads, x, y, image, cost, index, root, StoreTogether{rest});
    } else if (target.quads.aligned && rest >= QUAD) {
        write_quad(rows.output_of(image), target.quads, x, y, rows.slice_of(image), cost, index, root);
    } else {
#pragma unroll
        for (int c = 0; c < QUAD; ++c)
            if (c < rest)
                write_pixel(rows.output_of(image), x + c, y, rows.slice_of(image), cost[c], true, site[c]);
    }
}

__device__ uint32_t quad_at(const uint4 &quad, int i) { return i == 0 ? quad.x : i == 1 ? quad.y : i == 2 ? quad.z : quad.w; }

/// Four steps outwards from step `from` for four columns.  `left` and `right` are the quads that `from` lies in, going
/// in; those `QUAD` columns farther out, coming out.
template <class Take>
__device__ void step_quad(const uint32_t *shared, int column, int from, uint4 &left, uint4 &right, Take take) {
    const uint4 left_on = *reinterpret_cast<const uint4 *>(shared + column - from - QUAD);
    const uint4 right_on = *reinterpret_cast<const uint4 *>(shared + column + from + QUAD);
#pragma unroll
    for (int k = 1; k <= QUAD; ++k)
#pragma unroll
        for (int c = 0; c < QUAD; ++c) {
            const int l = c - k, r = c + k - QUAD;  // the candidates' places in the quads
            take(c, k, l >= 0 ? quad_at(left, l) : quad_at(left_on, l + QUAD),
                 r < 0 ? quad_at(right, r + QUAD) : quad_at(right_on, r));
        }
    left = left_on;
    right = right_on;
}

/// Calls search(form, span) for what a map's kernels are compiled for, with a target of that span.
template <class Search>
void with_span(const Rows &rows, Search search) {
    Target target = target_of(rows.output);
    const auto search_span = [&](auto form, auto span) {
        target.quads.limited = target.limit < Shape<span>::FARTHEST;  // else nothing is settled that is farther
        search(form, span, target);
    };
    with_form(target.quads.plain(rows.output), [&](auto form) {
        if (rows.reaches_far)
            search_span(form, std::integral_constant<int, SHORT_SPAN>());
        else
            search_span(form, std::integral_constant<int, WIDE_SPAN>());
    });
}

}  // namespace

}  // namespace apsis
