// CUB's host calls, which leave an earlier error of the caller's in place.
//
// After each launch CUB reads the thread's last CUDA error and clears it.  It would take an earlier error of the caller's for
// its own, and a cleared error cannot be restored.  So, while a CallersError lives, CUB reads only errors that are new.
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

    /// The error that CUB reads: cudaSuccess in place of the caller's.  A new error stays until check() clears it.
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
