// What is done for a distance map in the plane, and what its launches ask for: chosen once a call, from the job and the
// device's limits alone (plan.cu).
#pragma once

#include "core/columns.h"
#include "cuda/runtime/limits.h"
#include "runtime/backend.h"

namespace apsis::cuda::plane {

enum class Way {
    NONE,            // the generic lines serve
    SMALL_IMAGES,    // one kernel for all rows
    NARROW_ROWS,     // likewise, a block a strip; for nearest sites behind a near search
    WHOLE_ROWS,      // the near search, then the envelope of whole rows
    SEGMENTED_ROWS,  // the near search, then the envelope of segments of rows
};

struct Plan {
    Way way = Way::NONE;
    bool has_long_reach = false;  // the near search reaches 96 columns in place of 24
    bool is_paired = false;       // one near search takes both sides of a signed map, which share their marks
    bool is_cut = false;          // rows are cut into segments
    int halves = 1;               // bands that a block of the envelope takes together
    int32_t most_candidates = 0;  // of a piece of a segment
    uint32_t least_far = 0;       // groups of columns that leave a strip to the envelope, if they are far
    size_t scratch = 0;           // bytes
    Launch near, list, brackets, rows;
};

/// The plan of a map of which a range of strips is written.  Pure arithmetic: no call of CUDA.
Plan plan_of(const DistanceJob &job, const StripRange &range, const Limits &limits);

/// That of a whole map.
Plan plan_of(const DistanceJob &job, const Limits &limits);

}  // namespace apsis::cuda::plane
