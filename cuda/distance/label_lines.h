// Distance in label images (label_lines.cu): the plan, and what it takes.
#pragma once

#include "cuda/distance/plane/plan.h"
#include "cuda/distance/volume/plan.h"
#include "runtime/backend.h"

namespace apsis::cuda::distance {

/// A near search in the plane or in a volume comes first, or neither.
struct LabelPlan {
    plane::Plan plane;
    volume::LabelPlan volume;
    size_t scratch = 0;  // bytes
};

LabelPlan plan_of_labels(const DistanceJob &job);

void distance_of_labels(const DistanceJob &job, const LabelPlan &plan, void *scratch, cudaStream_t stream,
                        const Progress &progress);

}  // namespace apsis::cuda::distance
