// The near search of a label image in a volume (label_search.cu) for nearest voxels.  A voxel has a key in place of its cost:
// from the highest bits down the cost, the offset along the line to where it comes from, and that along the axis before.  The
// least key is that of the lowest index: of z, y and x, the axis that is searched later counts more.
//
// Along y, keys have the offsets of y and x.  Along z they have that of z, and whether the nearest voxel is beyond the end of
// the line's run: it is on the line itself then.  Otherwise the offsets of y and x are those of the key along y, at that z.
// What is beyond the end of a run is farther than the end, so that ties are decided among voxels of other values.
//
// Cost: 1/2 byte a voxel in and 4 out along y; 3/8 and 8 in along z, and the outputs out.  A thread has one line, so each voxel
// of reach takes it twice as many instructions as a cost.
#include "cuda/distance/volume/label_search.cuh"
#include "cuda/runtime/roots.h"

namespace apsis::cuda::volume {

namespace {

constexpr int ORIGIN = 128;    // an offset of 0, in its byte of a key
constexpr uint32_t INNER = 1;  // in the last byte of a key along z: there the key along y tells more
constexpr uint32_t NO_OFFSET = ORIGIN << 8 | ORIGIN;
static_assert(FARTHEST_SITE < ORIGIN && LABEL_REACH < ORIGIN && LABEL_PATCH % WARP == 0);

__device__ int offset_of(uint32_t key, int byte) { return static_cast<int>(key >> 8 * byte & 0xff) - ORIGIN; }

/// A line along an axis, and its keys.  END: the last byte of the key of what is beyond the end of a run.
template <int ALONG, uint32_t END>
struct SiteLines {
    static constexpr int AXIS = ALONG, LINES = 1;
    using Place = LabelPlace<WARP>;
    LabelLayout layout;
    LabelLimits limits;

    /// The candidates so many voxels before and after.
    struct Step {
        uint32_t to_before, to_after;

        __device__ Step(int way, uint32_t weight) {
            const uint32_t cost = static_cast<uint32_t>(way * way) * weight << 16;
            to_before = cost | static_cast<uint32_t>(ORIGIN - way) << 8;
            to_after = cost | static_cast<uint32_t>(ORIGIN + way) << 8;
        }
        __device__ uint32_t nearest(uint32_t before, uint32_t after, uint32_t best) const {
            return min(after + to_after, min(before + to_before, best));
        }
    };
    __device__ const Columns &lines() const { return AXIS == 1 ? layout.along_y : layout.along_z; }
    /// The voxels' own keys, laid from `own` on, and those of the ends of their runs.
    __device__ void begin(const Place &place, int32_t row, int64_t x, int count, const uint32_t *own,
                          uint32_t (&best)[TILE]) const {
        int32_t end[TILE];
        run_word(lines(), place.image, row / STRIP, x).find_ends(row, end);
#pragma unroll
        for (int i = 0; i < TILE; ++i) {
            const uint32_t beside = of_end(end[i], AXIS) | END;
            best[i] = i < count ? min(own[i * WARP] + (ORIGIN << 8), beside) : 0;
        }
    }
    __device__ static uint32_t worst_of(const uint32_t (&best)[TILE]) {
        uint32_t worst = best[0];
#pragma unroll
        for (int i = 1; i < TILE; ++i) worst = max(worst, best[i]);
        return worst >> 16;
    }

  protected:
    /// The key of the end of a run along an axis, but for the last byte.
    __device__ uint32_t of_end(int32_t end, int axis) const {
        const int32_t longest = static_cast<int32_t>(limits.longest[axis]), offset = max(min(end, longest), -longest);
        return static_cast<uint32_t>(offset * offset) * limits.weight[axis] << 16 | static_cast<uint32_t>(ORIGIN + offset) << 8;
    }
    /// The key along y of a voxel, which has an index.
    __device__ uint32_t &along_y(int64_t index) const { return layout.y_costs[index]; }
    __device__ int64_t index_of(int64_t x, int64_t y, int64_t z) const {
        return (z * layout.height() + y) * layout.width() + x;
    }
};

/// Lines along y, in the planes of z.  Their keys are those of the ends of runs along x.
struct SitesAlongY : SiteLines<1, ORIGIN> {
    /// Block: lays the keys of `count` rows, the i-th one at row_of(i).
    template <class RowOf>
    __device__ void lay(const Place &place, int count, RowOf row_of, uint32_t (*keys)[WARP]) const {
        each_octet(layout, place, count, row_of, [&](int row, int octet, int64_t x, int64_t y, bool is_inside) {
            uint32_t key[OCTET];
            if (!is_inside) {
#pragma unroll
                for (uint32_t &each : key) each = LABEL_CLIP << 16;
            } else {
                int32_t end[OCTET];
                RowWord(layout.rows, x, place.image * layout.height() + y).find_ends(x, end);
#pragma unroll
                for (int k = 0; k < OCTET; ++k) {
                    const uint32_t of_x = of_end(end[k], 0);
                    key[k] = (of_x & 0xffff0000u) | (of_x >> 8 & 0xff);
                }
            }
            auto *const to = reinterpret_cast<uint4 *>(&keys[row][octet * OCTET]);
            to[0] = make_uint4(key[0], key[1], key[2], key[3]), to[1] = make_uint4(key[4], key[5], key[6], key[7]);
        });
    }
    /// Warp: stores the keys of a tile.
    __device__ void finish(const Place &place, int64_t row, int count, bool is_inside, uint32_t,
                           const uint32_t (&best)[TILE]) const {
        if (!is_inside) return;
        const int64_t first = index_of(place.left + threadIdx.x % WARP, row, place.image);
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            if (i < count) along_y(first + i * layout.width()) = best[i];
    }
};

/// Lines along z, in the planes of y.  PACKED: pixels are 32-bit indices side by side, and floats in units of 1 if there are
/// distances.
template <bool PACKED>
struct SitesAlongZ : SiteLines<2, 0> {
    template <class RowOf>
    __device__ void lay(const Place &place, int count, RowOf row_of, uint32_t (*keys)[WARP]) const {
        const int lane = threadIdx.x % WARP;
        const int64_t x = place.left + lane;
#pragma unroll 4
        for (int i = threadIdx.x / WARP; i < count; i += WARPS) {
            const int row = row_of(i);
            const int64_t z = place.first + row;
            const bool is_inside = z >= 0 && z < layout.depth() && x < layout.width();
            const uint32_t key = is_inside ? __ldg(&along_y(index_of(x, place.image, z))) : LABEL_CLIP << 16;
            keys[row][lane] = (key & 0xffff0000u) | INNER;
        }
    }
    /// Warp: writes a tile, or marks it.
    __device__ void finish(const Place &place, int64_t row, int count, bool is_inside, uint32_t worst,
                           const uint32_t (&best)[TILE]) const {
        const int64_t y = place.image, x = place.left + threadIdx.x % WARP;
        if (!settle_tile(layout, limits, x, y, row, worst) || !is_inside) return;
        const int64_t limit = layout.output.measure.limit;
        if constexpr (PACKED) {
            const View &distance = layout.output.distance, &nearest = layout.output.nearest;
            uint32_t key[TILE];
#pragma unroll
            for (int i = 0; i < TILE; ++i) key[i] = i < count ? plane_key(best[i], x, y, row + i) : 0;
#pragma unroll
            for (int i = 0; i < TILE; ++i) {
                if (i >= count) break;
                const uint32_t cost = best[i] >> 16;
                if (distance)
                    __stcs(reinterpret_cast<float *>(distance.row(y, row + i)) + x,
                           cost <= limit ? small_root_of(cost) : INFINITY);
                __stcs(reinterpret_cast<int32_t *>(nearest.row(y, row + i)) + x,
                       cost <= limit ? static_cast<int32_t>(site_of(best[i], key[i], x, y, row + i)) : -1);
            }
        } else {
#pragma unroll 1
            for (int i = 0; i < count; ++i) {
                const uint32_t key = word_at(best, i);
                const int64_t z = row + i;
                write_pixel(layout.output, x, y, z, key >> 16, true, site_of(key, plane_key(key, x, y, z), x, y, z));
            }
        }
    }

  private:
    /// The key along y that has the offsets of y and x.
    __device__ uint32_t plane_key(uint32_t key, int64_t x, int64_t y, int64_t z) const {
        return key & INNER ? __ldg(&along_y(index_of(x, y, z + offset_of(key, 1)))) : NO_OFFSET;
    }
    __device__ int64_t site_of(uint32_t key, uint32_t plane_key, int64_t x, int64_t y, int64_t z) const {
        return index_of(x + offset_of(plane_key, 0), y + offset_of(plane_key, 1), z + offset_of(key, 1));
    }
};

}  // namespace

void search_label_sites(const LabelPlan &plan, const LabelLayout &layout, cudaStream_t stream) {
    const View &distance = layout.output.distance, &nearest = layout.output.nearest;
    const bool is_packed =
        nearest.type == APSIS_I32 && nearest.stride[0] == 4 &&
        (!distance || (distance.type == APSIS_F32 && distance.stride[0] == 4 && layout.output.measure.unit == 1));
    launch(plan.along[0], search_label_lines<SitesAlongY>, stream, SitesAlongY{{layout, plan.limits}});
    if (is_packed)
        launch(plan.along[1], search_label_lines<SitesAlongZ<true>>, stream, SitesAlongZ<true>{{layout, plan.limits}});
    else
        launch(plan.along[1], search_label_lines<SitesAlongZ<false>>, stream, SitesAlongZ<false>{{layout, plan.limits}});
}

}  // namespace apsis::cuda::volume
