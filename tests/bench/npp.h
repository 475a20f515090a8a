// NVIDIA's NPP, to be timed beside apsis where it is installed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

/// Maps the sites of a square of bytes, 1 each, to float distances, on the stream it was made for.
struct NppDistance {
    std::function<void(void *set, void *distance)> call;  // empty in a build without NPP, and for sizes that NPP refuses
    size_t workspace = 0;
};

NppDistance npp_distance(cudaStream_t stream, int side);
