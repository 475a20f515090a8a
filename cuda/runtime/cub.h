// CUB's calls for the host, without harm to an error that the caller has not asked for yet.
//
// After each launch CUB asks CUDA for the last error of the thread, takes one of the caller's for its own, and clears it.  It
// cannot be put back.  So, while a CallersError lives, CUB is told of errors only that were not there before.
#pragma once

#ifdef CubDebug
#error "CUB's other headers come after this one: what they have defined already would not be told"
#endif
#include <cuda_runtime.h>

namespace apsis::cuda {

class CallersError {
  public:
    CallersError() : error_(cudaPeekAtLastError()) { kept = this; }
    ~CallersError() { kept = nullptr; }
    CallersError(const CallersError &) = delete;
    CallersError &operator=(const CallersError &) = delete;

    /// What CUB sees.  A new error stays until check() clears it.
    static cudaError_t last(cudaError_t (*ask)()) {
        if (!kept) return ask();
        const cudaError_t error = cudaPeekAtLastError();
        return error == kept->error_ ? cudaSuccess : error;
    }

  private:
    static inline thread_local const CallersError *kept = nullptr;
    cudaError_t error_;
};

}  // namespace apsis::cuda

#define cudaGetLastError() apsis::cuda::CallersError::last(cudaGetLastError)
#define cudaPeekAtLastError() apsis::cuda::CallersError::last(cudaPeekAtLastError)
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/transform_iterator.h>
#undef cudaGetLastError
#undef cudaPeekAtLastError
