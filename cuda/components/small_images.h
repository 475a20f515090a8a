// Labels of a small image: see small_images.cu.
#pragma once

#include "cuda/components/plan.h"
#include "cuda/runtime/host_number.h"

namespace apsis::cuda::components {

/// 0 if the image is not small.
size_t small_image_scratch(const ComponentsJob &job);
void label_small_image(const ComponentsJob &job, const Plan &plan, void *memory, cudaStream_t stream, const Progress &progress,
                       HostNumber *number);

}  // namespace apsis::cuda::components
