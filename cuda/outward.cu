// The outward search: rows of a 2-D Euclidean distance map where every pixel has a site within some 24 pixels; in small
// and in thin images, where to do without the envelope saves more, within some 96.
//
// A block takes a strip of 32 rows, 512 columns wide or 128, and what it may look at on either side.  It counts the
// distances in every column down and up again, two rows 16 apart in the halves of a register, and lays their squares in
// shared memory.  Then a thread holds 4 columns of two rows and tries the candidates 1, 2, 3 ... columns away, an add
// and a minimum of both rows in one instruction (sm_90; a few before), until none farther out can be better.  For the
// nearest site a row is searched alone, by keys of cost, row and column, whose least is the lowest of the nearest.
//
// Cost: 3/8 byte a pixel in, through the second cache, and the outputs out; some 20 instructions a pixel, and 1 more a
// column outwards.
#include <cuda_runtime.h>

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
constexpr int RESIDENT = 4;                  // blocks on a multiprocessor: leaves a thread 64 registers
constexpr int HALF = STRIP / 2;              // rows r and r + HALF share a register
constexpr uint32_t BOTH = 0x00010001u;       // one in both halves
static_assert(PATCH == WARP * QUAD);

/// Where a block works: a span of a strip of an image.
template <int SPAN>
struct Block {
    int64_t image, strip, left;

    __host__ __device__ static int64_t count(const Rows &rows) {
        return rows.range.count * ((rows.columns.count + SPAN - 1) / SPAN);
    }
    __device__ Block(const Rows &rows, int64_t number) {
        const int64_t spans = (rows.columns.count + SPAN - 1) / SPAN, line = rows.range.first + number / spans;
        left = number % spans * SPAN;
        strip = line % rows.columns.strips();
        image = line / rows.columns.strips();
    }
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

/// How results are written.
struct Target {
    Quads quads;
    int32_t limit;  // costs above it count as no site; no more than a search can tell
};

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

/// Writes four pixels of a row, a lane's of its warp: their costs, and the indices of their nearest sites if anybody
/// wants them.
template <Form FORM, bool NEAREST>
__device__ void write_found(const Rows &rows, const Target &target, int64_t x, int64_t y, int64_t z,
                            const uint32_t (&cost)[QUAD], const int64_t (&site)[QUAD]) {
    const auto root = [](uint32_t number) { return small_root(static_cast<float>(number)); };
    const int rest = static_cast<int>(min(rows.columns.count - x, int64_t(2 * QUAD)));  // more makes no difference
    int32_t index[QUAD];
#pragma unroll
    for (int c = 0; c < QUAD; ++c) index[c] = static_cast<int32_t>(site[c]);
    if constexpr (FORM != Form::OTHER) {
        write_plain<FORM, NEAREST>(rows.output, target.quads, x, y, z, cost, index, root, StoreTogether{rest});
    } else if (target.quads.aligned && rest >= QUAD) {
        write_quad(rows.output, target.quads, x, y, z, cost, index, root);
    } else {
#pragma unroll
        for (int c = 0; c < QUAD; ++c)
            if (c < rest) write_pixel(rows.output, x + c, y, z, cost[c], true, site[c]);
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

/// Distances alone: rows r and r + HALF at once.
template <Form FORM, int SPAN>
__global__ void __launch_bounds__(BLOCK, RESIDENT) search_costs(Rows rows, Target target) {
    __shared__ __align__(16) uint32_t squares[HALF][Shape<SPAN>::PITCH];
    constexpr int REACH = Shape<SPAN>::REACH;
    constexpr int32_t FARTHEST = Shape<SPAN>::FARTHEST;
    const Columns &columns = rows.columns;
    const Block<SPAN> block(rows, blockIdx.x);
    const int64_t image = block.image, strip = block.strip, left = block.left;
    if (rows.is_far(image, strip)) return;
    const bool is_near = scan_block(columns, block, target, [&](int c, int r, uint32_t up, uint32_t down) {
        const uint32_t near = __vminu2(up, down);
        const uint32_t low = near & 0xffff, high = near >> 16;
        squares[r][c] = low * low + (near & 0xffff0000u) * high;
    });
    if (!is_near) return mark_block(rows, block);

    const int lane = threadIdx.x % WARP;
    for (int item = threadIdx.x / WARP; item < HALF * (SPAN / PATCH); item += WARPS) {
        const int r = item / (SPAN / PATCH), patch = item % (SPAN / PATCH), column = REACH + patch * PATCH + lane * QUAD;
        const int64_t x = left + patch * PATCH + lane * QUAD, y = strip * STRIP + r;
        if (left + patch * PATCH >= columns.count) continue;
        uint4 on_left = *reinterpret_cast<const uint4 *>(&squares[r][column]), on_right = on_left;
        uint32_t best[QUAD] = {on_left.x, on_left.y, on_left.z, on_left.w};
        const bool out = x >= columns.count;
        // In either row a pixel with no candidate near enough makes the rest of the search vain.
        const auto in_vain = [&] {
            const auto least = [](uint32_t a, uint32_t b) { return __vminu2(a, b); };
            const uint32_t reached = least_reached<SPAN>(squares[r], column, ~0u, least);
            const bool doubted = !out && target.limit >= FARTHEST;
            return __any_sync(ALL_LANES, doubted && (reached & 0xffff) > FARTHEST) &&
                   __any_sync(ALL_LANES, doubted && (reached >> 16) > FARTHEST);
        };
        const auto worst = [&] { return __vmaxu2(__vmaxu2(best[0], best[1]), __vmaxu2(best[2], best[3])); };
        int done = 0;  // steps done: what is farther out costs (done + 1)^2 or more
        const auto settled = [&](uint32_t most) {
            const int32_t next = (done + 1) * (done + 1);
            return out || static_cast<int32_t>(max(most & 0xffff, most >> 16)) <= next || next > target.limit;
        };
        uint32_t most = worst();
        bool near = __all_sync(ALL_LANES, settled(most));
#pragma unroll 1
        for (int from = 0; from < REACH && !near; from += QUAD) {
            if (from == DOUBT && in_vain()) break;
            step_quad(squares[r], column, from, on_left, on_right, [&](int c, int k, uint32_t a, uint32_t b) {
                const uint32_t step = static_cast<uint32_t>((from + k) * (from + k)) * BOTH;
                best[c] = __viaddmin_u16x2(__vminu2(a, b), step, best[c]);
            });
            done = from + QUAD;
            most = worst();
            near = __all_sync(ALL_LANES, settled(most));
        }
        // The two rows part here: either may be near.
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = y + half * HALF;
            const int32_t worst_here = half ? most >> 16 : most & 0xffff;
            const bool ends = near || __all_sync(ALL_LANES, out || worst_here <= (done + 1) * (done + 1));
            if (row >= columns.length) break;
            if (lane == 0) rows.mark(image, row, left + patch * PATCH, !ends);
            if (!ends) {
                if (lane == 0) rows.mark_strip(image, strip);
                continue;
            }
            uint32_t cost[QUAD];
#pragma unroll
            for (int c = 0; c < QUAD; ++c) cost[c] = half ? best[c] >> 16 : best[c] & 0xffff;
            write_found<FORM, false>(rows, target, x, row, image, cost, {});
        }
    }
}

/// Keys for the nearest site: cost, row and column, so that the least is the lowest of the nearest.
template <int SPAN>
struct Keys {
    static constexpr int BITS = Shape<SPAN>::IS_SHORT ? 8 : 6;  // of a row, and of a column: offsets from -ORIGIN on
    static constexpr int ORIGIN = 1 << (BITS - 1), MASK = 2 * ORIGIN - 1, COST_SHIFT = 2 * BITS;
    // Costs more than any key that matters, and a way fits above it.
    static constexpr uint32_t NO_SITE = static_cast<uint32_t>(ORIGIN * ORIGIN) << COST_SHIFT;
    static_assert(Shape<SPAN>::REACH < ORIGIN, "a site ORIGIN rows away is never near");
    static_assert((uint64_t(ORIGIN * ORIGIN + Shape<SPAN>::FARTHEST) << COST_SHIFT) < uint64_t(1) << 32);

    /// The key of a site by its distances up and down its own column.  Of two as far, the one above is lower.
    __device__ static uint32_t of_column(uint32_t up, uint32_t down) {
        const uint32_t distance = min(up, down);
        const uint32_t row = up <= down ? ORIGIN - up : ORIGIN + down;
        return distance < ORIGIN ? distance * distance << COST_SHIFT | row << BITS : NO_SITE;
    }
    /// What a candidate `offset` columns away adds to the key of its column.
    __device__ static uint32_t of_way(int offset) {
        return static_cast<uint32_t>((offset * offset << COST_SHIFT) + ORIGIN + offset);
    }
};

/// Distances and nearest sites: a row at a time.
template <Form FORM, int SPAN>
__global__ void __launch_bounds__(BLOCK, 3) search_sites(Rows rows, Target target) {
    extern __shared__ __align__(16) uint32_t keys[];  // [STRIP][PITCH]
    using Key = Keys<SPAN>;
    constexpr int PITCH = Shape<SPAN>::PITCH, REACH = Shape<SPAN>::REACH, COST_SHIFT = Key::COST_SHIFT;
    constexpr int32_t FARTHEST = Shape<SPAN>::FARTHEST;
    const Columns &columns = rows.columns;
    const Block<SPAN> block(rows, blockIdx.x);
    const int64_t image = block.image, strip = block.strip, left = block.left;
    if (rows.is_far(image, strip)) return;
    const bool is_near = scan_block(columns, block, target, [&](int c, int r, uint32_t up, uint32_t down) {
        keys[r * PITCH + c] = Key::of_column(up & 0xffff, down & 0xffff);
        keys[(r + HALF) * PITCH + c] = Key::of_column(up >> 16, down >> 16);
    });
    if (!is_near) return mark_block(rows, block);

    const int lane = threadIdx.x % WARP;
    for (int item = threadIdx.x / WARP; item < STRIP * (SPAN / PATCH); item += WARPS) {
        const int r = item / (SPAN / PATCH), patch = item % (SPAN / PATCH), column = REACH + patch * PATCH + lane * QUAD;
        const int64_t x = left + patch * PATCH + lane * QUAD, y = strip * STRIP + r;
        if (left + patch * PATCH >= columns.count || y >= columns.length) continue;
        const uint32_t *const line = keys + r * PITCH;
        uint4 on_left = *reinterpret_cast<const uint4 *>(line + column), on_right = on_left;
        uint32_t best[QUAD] = {on_left.x + Key::ORIGIN, on_left.y + Key::ORIGIN, on_left.z + Key::ORIGIN,
                               on_left.w + Key::ORIGIN};
        int done = 0;
        const auto in_vain = [&] {
            const uint32_t reached =
                least_reached<SPAN>(line, column, ~0u, [](uint32_t a, uint32_t b) { return min(a, b); });
            return x < columns.count && reached >> COST_SHIFT > FARTHEST && target.limit >= FARTHEST;
        };
        const auto settled = [&] {
            const int32_t worst = max(max(best[0], best[1]), max(best[2], best[3])) >> COST_SHIFT;
            const int32_t next = (done + 1) * (done + 1);  // where it is equal, a lower site may be found
            return x >= columns.count || worst < next || next > target.limit;
        };
        bool near = __all_sync(ALL_LANES, settled());
#pragma unroll 1
        for (int from = 0; from < REACH && !near; from += QUAD) {
            if (from == DOUBT && __any_sync(ALL_LANES, in_vain())) break;
            step_quad(line, column, from, on_left, on_right, [&](int c, int k, uint32_t a, uint32_t b) {
                best[c] = min(best[c], min(a + Key::of_way(-from - k), b + Key::of_way(from + k)));
            });
            done = from + QUAD;
            near = __all_sync(ALL_LANES, settled());
        }
        if (lane == 0) rows.mark(image, y, left + patch * PATCH, !near);
        if (!near) {
            if (lane == 0) rows.mark_strip(image, strip);
            continue;
        }
        uint32_t cost[QUAD];
        int64_t site[QUAD];
#pragma unroll
        for (int c = 0; c < QUAD; ++c) {
            const int64_t down = static_cast<int64_t>(best[c] >> Key::BITS & Key::MASK) - Key::ORIGIN;
            const int64_t along = static_cast<int64_t>(best[c] & Key::MASK) - Key::ORIGIN;
            cost[c] = best[c] >> COST_SHIFT;
            site[c] = (image * columns.length + y + down) * columns.count + x + c + along;
        }
        write_found<FORM, true>(rows, target, x, y, image, cost, site);
    }
}

}  // namespace

size_t outward_bytes(bool nearest) { return (nearest ? STRIP : HALF) * Shape<WIDE_SPAN>::PITCH * sizeof(uint32_t); }

bool reaches_far(const Columns &columns) {
    constexpr int64_t FEW_BLOCKS = 512;  // do not fill a device
    return columns.count <= WIDE_SPAN / 2 || columns.all().count * parts(columns.count, WIDE_SPAN) < FEW_BLOCKS;
}

void search_outward(const Rows &rows, cudaStream_t stream) {
    const Output &output = rows.output;
    Target target = {Quads(output), static_cast<int32_t>(std::min<int64_t>(output.measure.limit, 1 << 20))};
    const auto search = [&](auto form, auto span) {
        target.quads.limited = target.limit < Shape<span>::FARTHEST;  // else nothing is settled that is farther
        const int64_t blocks = Block<span>::count(rows);
        if (output.nearest)
            launch_large("search_sites", search_sites<form, span>, blocks, BLOCK,
                         STRIP * Shape<span>::PITCH * sizeof(uint32_t), stream, rows, target);
        else
            launch("search_costs", search_costs<form, span>, blocks, BLOCK, stream, rows, target);
    };
    const auto search_form = [&](auto form) {
        if (rows.reaches_far)
            search(form, std::integral_constant<int, SHORT_SPAN>());
        else
            search(form, std::integral_constant<int, WIDE_SPAN>());
    };
    switch (target.quads.plain(output)) {
        case Form::ROOTS:
            return search_form(std::integral_constant<Form, Form::ROOTS>());
        case Form::SQUARES:
            return search_form(std::integral_constant<Form, Form::SQUARES>());
        default:
            return search_form(std::integral_constant<Form, Form::OTHER>());
    }
}

}  // namespace apsis
