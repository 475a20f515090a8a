// The plan of a distance map of a volume: its ways, and the grids and shared memory of its launches.  It is made once a call,
// from the job and the device's limits alone (plan.cu).
#pragma once

#include "cuda/runtime/limits.h"
#include "runtime/backend.h"

namespace apsis::cuda::volume {

/// Of a signed map, all launches are for one side.
struct Plan {
    bool serves = false;       // otherwise generic_lines.cu searches the map
    bool near = false;         // the near search is launched
    bool windows = false;      // windows are launched
    bool is_sampled = false;   // both are launched, and on the device a sample decides which of them works
    int64_t chunks_held = 0;   // of a line, in a window
    int64_t near_planes = 0;   // planes that a block of the near search takes along x
    int argmin_lines[2] = {};  // of a bundle, along x and y
    int64_t table_size = 0;    // of the length table
    size_t scratch = 0;        // bytes
    Launch table, sample, sample_reach, near_along[2], windows_along[2], argmin_along[2];  // along x and y
};

/// What the costs of a label image's near search can hold, and which of them are exact.
struct LabelLimits {
    uint32_t weight[3] = {}, longest[3] = {};  // greater distances along an axis count as `longest`
    int32_t reach[3] = {};                     // voxels to either side that are searched
    uint32_t most = 0;                         // costs up to this are exact
};

/// The plan of a label image's near search.  Lines take what it leaves, or all of the image if it does not serve.
struct LabelPlan {
    bool serves = false;
    LabelLimits limits;
    Launch along[2];  // along y and z
};

/// Pure arithmetic: no call of CUDA.
Plan plan_of(const DistanceJob &job, const Limits &limits);
LabelPlan plan_of_labels(const DistanceJob &job);

}  // namespace apsis::cuda::volume
