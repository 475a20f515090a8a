// Euclidean distance maps in the plane: the functions of this folder.  The way of a plan (plan.h) must not be NONE.
#pragma once

#include "cuda/distance/plane/plan.h"
#include "runtime/backend.h"

namespace apsis::cuda::plane {

void distance_by_rows(const DistanceJob &job, const Plan &plan, void *scratch, cudaStream_t stream, const Progress &progress);

// The same in parts, with the same scratch memory: first all strips are taken in order, then all are given.  Taking a range
// reads only its rows of the set; giving it writes only its rows of the outputs.  `plan` is made for the range.
void take_rows(const DistanceJob &job, const Plan &plan, const StripRange &range, void *scratch, cudaStream_t stream);
void give_rows(const DistanceJob &job, const Plan &plan, const StripRange &range, void *scratch, cudaStream_t stream);

}  // namespace apsis::cuda::plane
