// Euclidean distance maps of volumes: the functions of this folder.  `serves` of a plan (plan.h) must be true.
#pragma once

#include "cuda/distance/volume/plan.h"
#include "runtime/backend.h"

namespace apsis::cuda::volume {

void distance_in_volume(const DistanceJob &job, const Plan &plan, void *scratch, cudaStream_t stream, const Progress &progress);

/// A view with y and z exchanged: an image for every y, whose rows are the planes.  Columns of one y lie side by side along x.
View swap_y_z(View set);

}  // namespace apsis::cuda::volume
