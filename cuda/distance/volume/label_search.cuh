// The search along lines of a label image in a volume.  label_search.cu has it for distances, and label_search_nearest.cu for
// nearest voxels as well.
//
// A block has lines side by side, and ROWS voxels of each.  A thread holds a tile of a line, or of two.  From the ends of runs,
// and the voxels' own costs, the block knows how far it has to reach at most: a way that costs as much as the worst of its
// voxels is in vain.  It lays that many more voxels of the lines in shared memory, on either side, and a thread tries the
// candidates 1, 2, 3 ... voxels away, four steps at a time, until none farther out can be better.
#pragma once

#include "cuda/distance/volume/label_search.h"
#include "cuda/distance/volume/tuning.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

using namespace columns;

constexpr int TILE = LABEL_TILE;
constexpr int ROWS = WARPS * TILE;  // voxels of a line that a block takes: a warp a tile
constexpr int STEPS = 4;            // that are tried together
constexpr int OCTET = 8;            // voxels of a row that a thread finds the ends for
static_assert(STRIP % TILE == 0 && TILE % STEPS == 0 && LABEL_REACH % STEPS == 0);

/// Where a block works: an image of its lines, ACROSS of them side by side, and the first voxel of its part of the lines.
template <int ACROSS>
struct LabelPlace {
    int64_t image, left, first;

    /// Blocks of the same lines follow each other, since they read the same costs.
    __device__ LabelPlace(const Columns &lines, uint32_t number) {
        const uint32_t along = static_cast<uint32_t>((lines.length + ROWS - 1) / ROWS), beside = number / along;
        const uint32_t parts = static_cast<uint32_t>((lines.count + ACROSS - 1) / ACROSS);
        first = int64_t(number % along) * ROWS, left = int64_t(beside % parts) * ACROSS, image = beside / parts;
    }
};

/// Block: calls lay(row, octet, x, y, is_inside) for each eight voxels along x of `count` rows, the i-th one at row_of(i), of a
/// place with lines along y.
template <int ACROSS, class RowOf, class Lay>
__device__ void each_octet(const LabelLayout &layout, const LabelPlace<ACROSS> &place, int count, RowOf row_of, Lay lay) {
    constexpr int OCTETS = ACROSS / OCTET;
    for (int item = threadIdx.x; item < count * OCTETS; item += BLOCK) {
        const int row = row_of(item / OCTETS), octet = item % OCTETS;
        const int64_t y = place.first + row, x = place.left + octet * OCTET;
        lay(row, octet, x, y, y >= 0 && y < layout.height() && x < layout.width());
    }
}

/// The runs of a line along y or z, without which of its voxels have a value.
__device__ inline RowWord run_word(const Columns &lines, int64_t image, int64_t strip, int64_t x) {
    const int64_t at = lines.at(image, strip, x);
    RowWord word;
    word.begins = lines.words[at], word.before = lines.before[at], word.after = lines.after[at], word.members = ~0u;
    return word;
}

/// A voxel's word of a thread's tile, which stays in registers.
__device__ inline uint32_t word_at(const uint32_t (&tile)[TILE], int i) {
    uint32_t word = 0;
#pragma unroll
    for (int k = 0; k < TILE; ++k) word = k == i ? tile[k] : word;
    return word;
}

/// Warp: tries the candidates up to `reach` voxels away, from the tile's own costs at `laid`, as far as any lane needs it.
template <class Lines>
__device__ void search_outward(const Lines &lines, const uint32_t (*laid)[WARP], int reach, uint32_t &worst,
                               uint32_t (&best)[TILE]) {
    const uint32_t *const own = laid[0] + threadIdx.x % WARP;
    uint32_t left[TILE], right[TILE];  // what is laid `from` voxels before the tile's, and after
#pragma unroll
    for (int i = 0; i < TILE; ++i) left[i] = right[i] = own[i * WARP];
#pragma unroll 1
    for (int from = 0; from < reach; from += STEPS) {
        const uint32_t next = static_cast<uint32_t>((from + 1) * (from + 1)) * lines.limits.weight[Lines::AXIS];
        if (__all_sync(ALL_LANES, worst <= next)) break;
        uint32_t left_on[STEPS], right_on[STEPS];
#pragma unroll
        for (int k = 0; k < STEPS; ++k)
            left_on[k] = own[(k - from - STEPS) * WARP], right_on[k] = own[(TILE + from + k) * WARP];
#pragma unroll
        for (int k = 1; k <= STEPS; ++k) {
            const typename Lines::Step step(from + k, lines.limits.weight[Lines::AXIS]);
#pragma unroll
            for (int i = 0; i < TILE; ++i) {
                const uint32_t before = i - k >= 0 ? left[i - k] : left_on[STEPS + i - k];
                const uint32_t after = i + k < TILE ? right[i + k] : right_on[i + k - TILE];
                best[i] = step.nearest(before, after, best[i]);
            }
        }
#pragma unroll
        for (int i = TILE - 1; i >= 0; --i) left[i] = i < STEPS ? left_on[i] : left[i - STEPS];
#pragma unroll
        for (int i = 0; i < TILE; ++i) right[i] = i + STEPS < TILE ? right[i + STEPS] : right_on[i + STEPS - TILE];
        worst = Lines::worst_of(best);
    }
}

/// `Lines` are lines along an axis, and say what is laid of a voxel, and how such words are compared.
template <class Lines>
__global__ void __launch_bounds__(BLOCK, LABEL_BLOCKS_PER_SM) search_label_lines(Lines lines) {
    constexpr int AXIS = Lines::AXIS;
    __shared__ __align__(16) uint32_t shared[ROWS + 2 * LABEL_REACH][WARP];
    __shared__ uint32_t worst_of_block;
    const LabelLimits &limits = lines.limits;
    const typename Lines::Place place(lines.lines(), blockIdx.x);
    uint32_t(*const laid)[WARP] = shared + LABEL_REACH;  // of the block's own rows
    const int lane = threadIdx.x % WARP, tile = threadIdx.x / WARP * TILE;
    if (threadIdx.x == 0) worst_of_block = 0;
    lines.lay(place, ROWS, [](int i) { return i; }, laid);
    __syncthreads();
    const int64_t row = place.first + tile, x = place.left + lane * Lines::LINES;
    const int count = static_cast<int>(min(max(lines.lines().length - row, int64_t(0)), int64_t(TILE)));
    const bool is_inside = x < lines.layout.width() && count > 0;
    uint32_t best[TILE] = {}, worst = 0;
    if (is_inside) {
        lines.begin(place, static_cast<int32_t>(row), x, count, laid[tile] + lane, best);
        worst = Lines::worst_of(best);
    }
    if (const uint32_t of_warp = greatest_of_warp(worst); lane == 0 && of_warp) atomicMax(&worst_of_block, of_warp);
    __syncthreads();
    int reach = 0;
    while (reach < limits.reach[AXIS] &&
           static_cast<uint32_t>((reach + 1) * (reach + 1)) * limits.weight[AXIS] < worst_of_block)
        reach += STEPS;
    lines.lay(place, 2 * reach, [=](int i) { return i < reach ? i - reach : ROWS + i - reach; }, laid);
    __syncthreads();
    if (count == 0) return;
    search_outward(lines, laid + tile, reach, worst, best);
    lines.finish(place, row, count, is_inside, worst, best);
}

/// Warp: whether a tile can be written, of which `worst` is the greatest of a lane's costs.  If not, it is marked.
__device__ inline bool settle_tile(const LabelLayout &layout, const LabelLimits &limits, int64_t x, int64_t y, int64_t z,
                                   uint32_t worst) {
    if (__all_sync(ALL_LANES, worst <= limits.most) || layout.output.measure.limit <= limits.most) return true;
    if (threadIdx.x % WARP == 0) layout.leave(z, y, x);
    return false;
}

}  // namespace apsis::cuda::volume
