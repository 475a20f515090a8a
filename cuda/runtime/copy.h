// Copies of pixels, and memory that needs none.
#pragma once

#include <cuda_runtime.h>

#include "core/view.h"

namespace apsis::cuda {

/// Queues a copy of pixels: between host and device if both views are packed, within the device also between bits and
/// bytes, and from wider pixels of a set to bits.
void copy_views(const View &from, const View &to, cudaStream_t stream);

/// Whether memory of the host is page-locked, so that a device can read and write it.
bool is_page_locked(const void *data, size_t bytes);

/// The device whose memory alone holds an array; -1: the host reaches it, too.
int device_of(const void *array);

/// CUDA's error if this build has no code for the current device, else cudaSuccess.
cudaError_t probe_code() noexcept;

}  // namespace apsis::cuda
