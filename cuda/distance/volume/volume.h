// Euclidean distance maps of volumes: the functions of this folder.  `serves` of a plan (plan.h) must be true.
#pragma once

#include "cuda/distance/volume/plan.h"
#include "runtime/backend.h"

namespace apsis::cuda::volume {

void distance_in_volume(const DistanceJob &job, const Plan &plan, void *scratch, cudaStream_t stream, const Progress &progress);

}  // namespace apsis::cuda::volume
