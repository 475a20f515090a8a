// The outward search: rows of a 2-D Euclidean distance map where every pixel has a site within some 24 pixels; in small
// and in thin images, where to do without the envelope saves more, within some 96.
//
// A block takes a strip of 32 rows, 512 columns wide or 128, and what it may look at on either side.  It counts the
// distances in every column down and up again, two rows 16 apart in the halves of a register, and lays their squares in
// shared memory.  Then a thread holds 4 columns of two rows and tries the candidates 1, 2, 3 ... columns away, an add
// and a minimum of both rows in one instruction (sm_90; a few before), until none farther out can be better.  For the
// nearest site a row is searched alone, by keys of cost, row and column, whose least is the lowest of the nearest
// (outward_sites.cu).  Both sides of a signed map are searched at once where neither is far.
//
// Cost: 3/8 byte a pixel in, through the second cache, and the outputs out; some 20 instructions a pixel, and 1 more a
// column outwards.
#include "outward.cuh"

namespace apsis {

namespace {

constexpr int RESIDENT = 4;                  // blocks on a multiprocessor: leaves a thread 64 registers
constexpr int RESIDENT_SIGNED = 3;           // which lay twice as much in shared memory
constexpr size_t SIGNED_BYTES = 2 * HALF * Shape<WIDE_SPAN>::PITCH * sizeof(uint32_t);

/// The least costs of a lane's four columns in rows r and r + HALF, and which of the two rows a warp has settled.
struct PatchCosts {
    uint32_t best[QUAD];
    bool settled[2];
};

/// Searches a patch outward: `line` holds the squares of both rows, `column` is the lane's first, and lanes that lie
/// `out` of the image search for nobody.
template <int SPAN>
__device__ PatchCosts search_patch(const uint32_t *line, int column, bool out, int32_t limit) {
    constexpr int REACH = Shape<SPAN>::REACH;
    constexpr int32_t FARTHEST = Shape<SPAN>::FARTHEST;
    uint4 on_left = *reinterpret_cast<const uint4 *>(line + column), on_right = on_left;
    PatchCosts patch = {{on_left.x, on_left.y, on_left.z, on_left.w}, {}};
    uint32_t(&best)[QUAD] = patch.best;
    // In either row a pixel with no candidate near enough makes the rest of the search vain.
    const auto in_vain = [&] {
        const auto least = [](uint32_t a, uint32_t b) { return __vminu2(a, b); };
        const uint32_t reached = least_reached<SPAN>(line, column, ~0u, least);
        const bool doubted = !out && limit >= FARTHEST;
        return __any_sync(ALL_LANES, doubted && (reached & 0xffff) > FARTHEST) &&
               __any_sync(ALL_LANES, doubted && (reached >> 16) > FARTHEST);
    };
    const auto worst = [&] { return __vmaxu2(__vmaxu2(best[0], best[1]), __vmaxu2(best[2], best[3])); };
    int done = 0;  // steps done: what is farther out costs (done + 1)^2 or more
    const auto settled = [&](uint32_t most) {
        const int32_t next = (done + 1) * (done + 1);
        return out || static_cast<int32_t>(max(most & 0xffff, most >> 16)) <= next || next > limit;
    };
    uint32_t most = worst();
    bool near = __all_sync(ALL_LANES, settled(most));
#pragma unroll 1
    for (int from = 0; from < REACH && !near; from += QUAD) {
        if (from == DOUBT && in_vain()) break;
        step_quad(line, column, from, on_left, on_right, [&](int c, int k, uint32_t a, uint32_t b) {
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
        const int32_t worst_here = half ? most >> 16 : most & 0xffff;
        patch.settled[half] = near || __all_sync(ALL_LANES, out || worst_here <= (done + 1) * (done + 1));
    }
    return patch;
}

/// Calls take(r, patch, x) for every two rows of a block's patches, which a warp takes together; x is a lane's first pixel.
template <int SPAN, class Take>
__device__ void each_patch(const Columns &columns, const Block<SPAN> &block, Take take) {
    const int rows = static_cast<int>(min(columns.length - block.strip * STRIP, int64_t(HALF)));
    for (int item = threadIdx.x / WARP; item < rows * (SPAN / PATCH); item += WARPS) {
        const int r = item / (SPAN / PATCH), patch = item % (SPAN / PATCH);
        const int64_t x = block.left + patch * PATCH + threadIdx.x % WARP * QUAD;
        if (block.left + patch * PATCH < columns.count) take(r, patch, x);
    }
}

/// Distances alone: rows r and r + HALF at once.
template <Form FORM, int SPAN>
__global__ void __launch_bounds__(BLOCK, RESIDENT) search_costs(Rows rows, Target target) {
    wait_for_kernel_before();
    __shared__ __align__(16) uint32_t squares[HALF][Shape<SPAN>::PITCH];
    const Columns &columns = rows.columns;
    const Block<SPAN> block(rows, blockIdx.x);
    const int64_t image = block.image, strip = block.strip;
    if (rows.is_far(image, strip)) return;
    const bool is_near = scan_block(columns, block, target, [&](int c, int r, uint32_t up, uint32_t down) {
        squares[r][c] = square_both(__vminu2(up, down));
    });
    if (!is_near) return mark_block(rows, block);

    const int lane = threadIdx.x % WARP;
    each_patch(columns, block, [&](int r, int patch, int64_t x) {
        const int column = Shape<SPAN>::REACH + patch * PATCH + lane * QUAD;
        const PatchCosts found = search_patch<SPAN>(squares[r], column, x >= columns.count, target.limit);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = strip * STRIP + r + half * HALF;
            if (row >= columns.length) break;
            if (lane == 0) rows.mark(image, row, x, !found.settled[half]);
            if (!found.settled[half]) {
                if (lane == 0) rows.mark_strip(image, strip);
                continue;
            }
            uint32_t cost[QUAD];
#pragma unroll
            for (int c = 0; c < QUAD; ++c) cost[c] = half ? found.best[c] >> 16 : found.best[c] & 0xffff;
            write_found<FORM, false>(rows, target, x, row, image, cost, {});
        }
    });
}

/// Both sides of a signed map at once.  Each costs the other's pixels nothing.
template <Form FORM>
__global__ void __launch_bounds__(BLOCK, RESIDENT_SIGNED) search_signed(Rows rows, Target target) {
    wait_for_kernel_before();
    extern __shared__ __align__(16) uint32_t squares[];  // [2][HALF][PITCH]
    constexpr int SPAN = WIDE_SPAN, PITCH = Shape<SPAN>::PITCH;
    const Columns &columns = rows.columns;
    const Block<SPAN> block(rows, blockIdx.x);  // the first half of all
    const int64_t image = block.image, inside = image + rows.images, strip = block.strip;
    if (rows.is_far(image, strip)) return;
    const auto lay_from = [&](uint32_t *from) {
        return [=](int c, int r, uint32_t up, uint32_t down) { from[r * PITCH + c] = square_both(__vminu2(up, down)); };
    };
    if (!scan_block(columns, block, target, lay_from(squares)) ||
        !scan_block(columns, block.of(inside), target, lay_from(squares + HALF * PITCH))) {
        mark_block(rows, block);
        if (threadIdx.x == 0) rows.mark_strip(inside, strip);
        return;
    }

    const int lane = threadIdx.x % WARP;
    each_patch(columns, block, [&](int r, int patch, int64_t x) {
        const uint32_t *const line = squares + r * PITCH;
        const int column = Shape<SPAN>::REACH + patch * PATCH + lane * QUAD;
        const bool out = x >= columns.count;
        const PatchCosts here = search_patch<SPAN>(line, column, out, target.limit);
        const PatchCosts there = search_patch<SPAN>(line + HALF * PITCH, column, out, target.limit);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = strip * STRIP + r + half * HALF;
            if (row >= columns.length) break;
            const bool settled = here.settled[half] && there.settled[half];
            if (lane == 0) rows.mark(image, row, x, !settled);
            if (!settled) {
                if (lane == 0) rows.mark_strip(image, strip), rows.mark_strip(inside, strip);
                continue;
            }
            uint32_t cost[QUAD], negative[QUAD];
#pragma unroll
            for (int c = 0; c < QUAD; ++c) {
                negative[c] = half ? there.best[c] >> 16 : there.best[c] & 0xffff;
                cost[c] = negative[c] + (half ? here.best[c] >> 16 : here.best[c] & 0xffff);
            }
            write_signed<FORM>(rows.output, target.quads, x, row, image, cost, negative,
                               [](uint32_t number) { return small_root_of(number); }, StoreTogether{rest_of(columns, x)});
        }
    });
}

}  // namespace

bool reaches_far(const Columns &columns) {
    constexpr int64_t FEW_BLOCKS = 512;  // do not fill a device
    return columns.count <= WIDE_SPAN / 2 || columns.all().count * parts(columns.count, WIDE_SPAN) < FEW_BLOCKS;
}

bool searches_both(const Output &output) {
    return output.is_signed && !output.nearest && Quads(output).serve && SIGNED_BYTES <= most_shared();
}

void search_both_outward(const Rows &rows, cudaStream_t stream) {
    Target target = target_of(rows.output);
    target.quads.limited = target.limit < Shape<WIDE_SPAN>::FARTHEST;
    launch_large("search_signed",
                 target.quads.distance == Form::ROOTS ? search_signed<Form::ROOTS> : search_signed<Form::SQUARES>,
                 Block<WIDE_SPAN>::count(rows) / rows.sides(), BLOCK, SIGNED_BYTES, early(stream), rows,
                 target);
}

void search_outward(const Rows &rows, cudaStream_t stream) {
    if (rows.output.nearest) return search_sites_outward(rows, stream);
    with_span(rows, [&](auto form, auto span, const Target &target) {
        launch("search_costs", search_costs<form, span>, Block<span>::count(rows), BLOCK, early(stream), rows,
               target);
    });
}

}  // namespace apsis
