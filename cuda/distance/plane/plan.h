// The plan of a distance map in the plane: its way, and the grids and shared memory of its launches.  It is made once a call,
// from the job and the device's limits alone (plan.cu).
#pragma once

#include "core/columns.h"
#include "cuda/runtime/limits.h"
#include "runtime/backend.h"

namespace apsis::cuda::plane {

enum class Way {
    NONE,            // generic_lines.cu searches the map
    SMALL_IMAGES,    // one kernel for all rows
    NARROW_ROWS,     // likewise, a block a strip; for nearest sites a near search comes first
    WHOLE_ROWS,      // the near search, then the envelope of whole rows
    SEGMENTED_ROWS,  // the near search, then the envelope of segments of rows
    LABELS,          // a label image: its near search, then lines
};

struct Plan {
    Way way = Way::NONE;
    bool has_long_reach = false;  // the near search reaches 96 columns in place of 24
    bool is_paired = false;       // one near search takes both sides of a signed map, which share their marks
    bool is_cut = false;          // rows are cut into segments
    int halves = 1;               // bands that a block of the envelope takes together
    int32_t most_candidates = 0;  // of a piece of a segment
    uint32_t least_far = 0;       // with so many far groups, a strip is left to the envelope
    size_t scratch = 0;           // bytes
    Launch near, list, brackets, rows;
};

/// The plan of a map of which a range of strips is written.  Pure arithmetic: no call of CUDA.
Plan plan_of(const DistanceJob &job, const StripRange &range, const Limits &limits);

/// The plan of a whole map.
Plan plan_of(const DistanceJob &job, const Limits &limits);

/// The plan of a label image's near search.  The way is NONE where lines search all of it.
Plan plan_of_labels(const DistanceJob &job);

}  // namespace apsis::cuda::plane
