// The near search of a label image in a volume: the distances of patches where every voxel of a value has one of another value
// within some 64 voxels.  Patches with a voxel farther from all are marked, and left to lines (cuda/distance/label_lines.cu).
//
// Along x, the distance to another value is that to the nearer end of the voxel's run, which takes a word and its carries.
// Then lines are searched along y, and along z.  A voxel beyond the run of a line may cost too little or too much, but the one
// beside the run is nearer than anything there, and is one more candidate: see docs/methods.md.  So voxels are searched
// whatever their values are.
//
// A block has 64 lines side by side.  A thread holds a tile of two lines, their costs in the halves of a word.
// label_search.cuh has the search along lines; label_search_nearest.cu is for nearest voxels.
//
// A cost is exact if it is not above that of a way out of reach, and below those that were clipped to fit 16 bits.  A cost
// found is never too low.  This holds for both searches together, so only the one along z marks patches.
//
// Cost: 1/2 byte a voxel in and 2 out along y; 3/8 and 2 in along z, and the outputs out.  Some 30 instructions a voxel and
// search, and 1 more for each voxel of reach.
#include <algorithm>

#include "cuda/distance/volume/label_search.cuh"
#include "cuda/runtime/roots.h"

namespace apsis::cuda::volume {

namespace {

static_assert(LABEL_PATCH == 2 * WARP);

/// Two lines side by side along an axis, and their costs in the halves of a word.
template <int ALONG>
struct CostPairs {
    static constexpr int AXIS = ALONG, LINES = 2;
    using Place = LabelPlace<LINES * WARP>;
    LabelLayout layout;
    LabelLimits limits;

    /// Both candidates so many voxels away.
    struct Step {
        uint32_t cost;

        __device__ Step(int way, uint32_t weight) : cost(static_cast<uint32_t>(way * way) * weight * BOTH) {}
        __device__ uint32_t nearest(uint32_t before, uint32_t after, uint32_t best) const {
            return __viaddmin_u16x2(__vminu2(before, after), cost, best);
        }
    };
    __device__ const Columns &lines() const { return AXIS == 1 ? layout.along_y : layout.along_z; }
    /// The voxels' own costs, laid from `own` on, and those of the ends of their runs.
    __device__ void begin(const Place &place, int32_t row, int64_t x, int count, const uint32_t *own,
                          uint32_t (&best)[TILE]) const {
        const int64_t image = place.image, strip = row / STRIP, beside = min(x + 1, lines().count - 1);
        uint32_t way[TILE];
        find_ways(run_word(lines(), image, strip, x), run_word(lines(), image, strip, beside), row, limits.longest[AXIS], way);
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            best[i] = i < count ? __vminu2(own[i * WARP], square_both(way[i]) * limits.weight[AXIS]) : 0;
    }
    /// The greatest cost in a thread's tile.
    __device__ static uint32_t worst_of(const uint32_t (&best)[TILE]) {
        uint32_t worst = best[0];
#pragma unroll
        for (int i = 1; i < TILE; ++i) worst = __vmaxu2(worst, best[i]);
        return max(worst & 0xffff, worst >> 16);
    }
};

/// Lines along y, in the planes of z.  Their costs are those of the ends of runs along x.
struct LabelsAlongY : CostPairs<1> {
    /// Block: lays the costs of `count` rows, the i-th one at row_of(i).
    template <class RowOf>
    __device__ void lay(const Place &place, int count, RowOf row_of, uint32_t (*costs)[WARP]) const {
        each_octet(layout, place, count, row_of, [&](int row, int octet, int64_t x, int64_t y, bool is_inside) {
            uint32_t pair[OCTET / 2];
            if (!is_inside) {
#pragma unroll
                for (uint32_t &each : pair) each = LABEL_CLIP * BOTH;
            } else {
                uint32_t way[OCTET];
                RowWord(layout.rows, x, place.image * layout.height() + y).find_ways(x, way);
#pragma unroll
                for (uint32_t &each : way) each = min(each, limits.longest[0]);
#pragma unroll
                for (int k = 0; k < OCTET / 2; ++k)
                    pair[k] = (way[2 * k] * way[2 * k] | way[2 * k + 1] * way[2 * k + 1] << 16) * limits.weight[0];
            }
            *reinterpret_cast<uint4 *>(&costs[row][octet * (OCTET / 2)]) = make_uint4(pair[0], pair[1], pair[2], pair[3]);
        });
    }
    /// Warp: stores the costs of a tile.
    __device__ void finish(const Place &place, int64_t row, int count, bool is_inside, uint32_t,
                           const uint32_t (&best)[TILE]) const {
        if (!is_inside) return;
        const int64_t pair = place.left / 2 + threadIdx.x % WARP;
        uint32_t *const to = layout.y_costs + (place.image * layout.height() + row) * layout.pairs() + pair;
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            if (i < count) to[i * layout.pairs()] = best[i];
    }
};

/// Lines along z, in the planes of y.  Their costs are those that the search along y has stored.  PACKED: distances are floats
/// side by side, in units of 1.
template <bool PACKED>
struct LabelsAlongZ : CostPairs<2> {
    bool are_pairs_aligned;

    template <class RowOf>
    __device__ void lay(const Place &place, int count, RowOf row_of, uint32_t (*costs)[WARP]) const {
        const int lane = threadIdx.x % WARP;
        const int64_t pair = place.left / 2 + lane, step = layout.height() * layout.pairs();
        const uint32_t *const from = layout.y_costs + place.image * layout.pairs() + pair;
#pragma unroll 4
        for (int i = threadIdx.x / WARP; i < count; i += WARPS) {
            const int row = row_of(i);
            const int64_t z = place.first + row;
            const bool is_inside = z >= 0 && z < layout.depth() && pair < layout.pairs();
            costs[row][lane] = is_inside ? __ldg(from + z * step) : LABEL_CLIP * BOTH;
        }
    }
    /// Warp: writes a tile, or marks it.
    __device__ void finish(const Place &place, int64_t row, int count, bool is_inside, uint32_t worst,
                           const uint32_t (&best)[TILE]) const {
        const int64_t y = place.image, x = place.left + threadIdx.x % WARP * 2;
        if (!settle_tile(layout, limits, x, y, row, worst) || !is_inside) return;
        const bool are_two = x + 1 < layout.width();
        if constexpr (PACKED) {
            const uint32_t limit = static_cast<uint32_t>(min(layout.output.measure.limit, int64_t(LABEL_CLIP)));
            const auto length = [&](uint32_t cost) { return cost <= limit ? small_root_of(cost) : INFINITY; };
            uint8_t *to = layout.output.distance.row(y, row) + x * 4;
#pragma unroll
            for (int i = 0; i < TILE; ++i, to += layout.output.distance.stride[2]) {
                if (i >= count) break;
                const float one = length(best[i] & 0xffff), two = length(best[i] >> 16);
                auto *const floats = reinterpret_cast<float *>(to);
                if (are_pairs_aligned && are_two) {
                    __stcs(reinterpret_cast<float2 *>(floats), float2{one, two});
                } else {
                    floats[0] = one;
                    if (are_two) floats[1] = two;
                }
            }
        } else {
#pragma unroll 1
            for (int i = 0; i < count; ++i) {
                const uint32_t pair = word_at(best, i);
                write_pixel(layout.output, x, y, row + i, pair & 0xffff, true, 0);
                if (are_two) write_pixel(layout.output, x + 1, y, row + i, pair >> 16, true, 0);
            }
        }
    }
};

/// How many blocks the lines of `images` have.
int64_t count_blocks(int64_t images, int64_t length, int64_t width, int64_t across) {
    return images * ceil_div(length, ROWS) * ceil_div(width, across);
}

}  // namespace

LabelPlan plan_of_labels(const DistanceJob &job) {
    LabelPlan plan;
    if (job.axes != 3 || job.measure.metric != APSIS_EUCLIDEAN) return plan;
    LabelLimits &limits = plan.limits;
    int64_t most = LABEL_CLIP - 1;
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t weight = job.measure.weight[axis];
        const auto fits = [&](int64_t way) { return weight <= LABEL_CLIP && weight * way * way <= LABEL_CLIP; };
        int64_t longest = 0, reach = 0;
        while (fits(longest + 1) && !(job.nearest && longest == FARTHEST_SITE)) ++longest;
        while (reach < LABEL_REACH && fits(reach + STEPS)) reach += STEPS;
        if (reach == 0) return plan;
        most = std::min(most, weight * longest * longest - 1);
        if (axis > 0) most = std::min(most, weight * (reach + 1) * (reach + 1));
        limits.weight[axis] = static_cast<uint32_t>(weight);
        limits.longest[axis] = static_cast<uint32_t>(longest), limits.reach[axis] = static_cast<int32_t>(reach);
    }
    limits.most = static_cast<uint32_t>(most);
    const int64_t width = job.set.size[0], height = job.set.size[1], depth = job.set.size[2];
    const int64_t across = job.nearest ? WARP : 2 * WARP;
    plan.along[0] = {"search_label_lines", count_blocks(depth, height, width, across), BLOCK};
    plan.along[1] = {"search_label_lines", count_blocks(height, depth, width, across), BLOCK};
    if (std::max(plan.along[0].blocks, plan.along[1].blocks) > MOST_BLOCKS) return {};
    plan.serves = true;
    return plan;
}

void search_labels(const LabelPlan &plan, const LabelLayout &layout, cudaStream_t stream) {
    check(cudaMemsetAsync(layout.left, 0, static_cast<size_t>(layout.count_left()) * sizeof *layout.left, stream),
          "beginning a search of labels");
    check(cudaMemsetAsync(layout.marks, 0, static_cast<size_t>(layout.count_marks()), stream), "beginning a search of labels");
    if (layout.output.nearest) return search_label_sites(plan, layout, stream);
    launch(plan.along[0], search_label_lines<LabelsAlongY>, stream, LabelsAlongY{{layout, plan.limits}});
    const View &to = layout.output.distance;
    const bool are_aligned = rows_begin_at(to, 8);
    if (to.type == APSIS_F32 && to.stride[0] == 4 && layout.output.measure.unit == 1)
        launch(plan.along[1], search_label_lines<LabelsAlongZ<true>>, stream,
               LabelsAlongZ<true>{{layout, plan.limits}, are_aligned});
    else
        launch(plan.along[1], search_label_lines<LabelsAlongZ<false>>, stream,
               LabelsAlongZ<false>{{layout, plan.limits}, false});
}

}  // namespace apsis::cuda::volume
