// The near search of a label image in a volume (label_search.cu), for the lines that take what it leaves.
#pragma once

#include "cuda/columns/label_rows.h"
#include "cuda/distance/volume/plan.h"
#include "cuda/runtime/pixel_writer.h"
#include "runtime/workspace.h"

namespace apsis::cuda::volume {

constexpr int LABEL_TILE = 8;           // voxels of a line that a thread holds, of one line or two
constexpr int64_t LABEL_PATCH = 64;     // voxels of a row that share a mark
constexpr int64_t FARTHEST_SITE = 127;  // voxels along an axis to a nearest voxel: in a key the offset has a byte

/// The arrays of a label image in a volume: begins of runs along every axis, and what the near search leaves.
struct LabelLayout {
    columns::LabelRows rows;
    Columns along_y, along_z;  // their images are the planes of a z, and of a y
    // After the search along y: [z][y][x / 2], the costs of two voxels side by side; or for nearest voxels [z][y][x], keys.
    uint32_t *y_costs = nullptr;
    uint8_t *marks = nullptr;  // [z tile][y][patch]: not 0 where the search gave up
    uint32_t *left = nullptr;  // [z tile]: not 0 where it has marked a patch; the last one, where there is any
    Output output;

    explicit LabelLayout(const DistanceJob &job)
        : rows{columns::shape_rows(job.set), nullptr},
          along_y(columns::shape_columns(job.set, 1)),
          along_z(columns::shape_columns(columns::swap_y_z(job.set), 1)),
          output(job, false) {}

    __host__ __device__ int64_t width() const { return along_y.count; }
    __host__ __device__ int64_t height() const { return along_y.length; }
    __host__ __device__ int64_t depth() const { return along_z.length; }
    __host__ __device__ int64_t pairs() const { return (width() + 1) / 2; }
    __host__ __device__ int64_t patches() const { return (width() + LABEL_PATCH - 1) / LABEL_PATCH; }
    __host__ __device__ int64_t tiles() const { return (depth() + LABEL_TILE - 1) / LABEL_TILE; }
    __host__ __device__ int64_t count_marks() const { return tiles() * height() * patches(); }
    __host__ __device__ int64_t count_left() const { return tiles() + 1; }
    __device__ uint8_t &mark(int64_t z, int64_t y, int64_t x) const {
        return marks[(z / LABEL_TILE * height() + y) * patches() + x / LABEL_PATCH];
    }
    __device__ bool is_any_left() const { return left[tiles()]; }
    __device__ bool is_left(int64_t z) const { return left[z / LABEL_TILE]; }
    /// Marks are 0 before.
    __device__ void leave(int64_t z, int64_t y, int64_t x) const {
        mark(z, y, x) = 1, left[z / LABEL_TILE] = 1, left[tiles()] = 1;
    }
};

/// Writes voxels near which is another value, and marks the patches of others.
void search_labels(const LabelPlan &plan, const LabelLayout &layout, cudaStream_t stream);
/// Of these, what it does where nearest voxels are asked for.
void search_label_sites(const LabelPlan &plan, const LabelLayout &layout, cudaStream_t stream);

}  // namespace apsis::cuda::volume
