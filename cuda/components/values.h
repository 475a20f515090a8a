// Components of label images, on the device (values.cu).
#pragma once

#include "cuda/runtime/host_number.h"
#include "runtime/backend.h"

namespace apsis::cuda::components {

size_t value_components_scratch(const ComponentsJob &job);
void find_value_components(const ComponentsJob &job, void *memory, cudaStream_t stream, const Progress &progress,
                           HostNumber *number);

}  // namespace apsis::cuda::components
