// Copies of pixels.
#pragma once

#include <cuda_runtime.h>

#include "core/view.h"

namespace apsis::cuda {

/// Copies pixels between host and device as they lie, within the device with any strides, and between bits and bytes.
void copy_views(const View &from, const View &to, cudaStream_t stream);

/// CUDA's error if this build has no code for the current device.
cudaError_t probe_code() noexcept;

}  // namespace apsis::cuda
