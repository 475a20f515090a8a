// What is done for a distance map of a volume, and what its launches ask for: chosen once a call, from the job and the device's
// limits alone (plan.cu).
#pragma once

#include "cuda/runtime/limits.h"
#include "runtime/backend.h"

namespace apsis::cuda::volume {

/// All launches are those of a side of a signed map.
struct Plan {
    bool serves = false;       // else the generic lines do
    bool near = false;         // the near search is launched
    bool windows = false;      // windows are
    bool is_sampled = false;   // both are, and a sample decides on the device which of them works
    int64_t chunks_held = 0;   // of a line, in a window
    int64_t near_planes = 0;   // that a block of the near search takes along x
    int argmin_lines[2] = {};  // of a bundle, along x and y
    int64_t table_size = 0;    // of the length table
    size_t scratch = 0;        // bytes
    Launch table, sample, near_along[2], windows_along[2], argmin_along[2];  // along x and y
};

/// Pure arithmetic: no call of CUDA.
Plan plan_of(const DistanceJob &job, const Limits &limits);

}  // namespace apsis::cuda::volume
