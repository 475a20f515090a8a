// Euclidean distance maps in the plane: what this room offers.  A map has a plan (plan.h), with a way that is not NONE.
#pragma once

#include "cuda/distance/plane/plan.h"
#include "runtime/backend.h"

namespace apsis::cuda::plane {

void distance_by_rows(const DistanceJob &job, const Plan &plan, void *scratch, cudaStream_t stream, const Progress &progress);

// The same in parts, with the same scratch memory: all strips are taken in their order, of which only the set's rows are read;
// then they are given, of which only the outputs' rows are written.  A plan is that of the range.
void take_rows(const DistanceJob &job, const Plan &plan, const StripRange &range, void *scratch, cudaStream_t stream);
void give_rows(const DistanceJob &job, const Plan &plan, const StripRange &range, void *scratch, cudaStream_t stream);

}  // namespace apsis::cuda::plane
