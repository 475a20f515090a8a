// Reports the progress of work on the device to the caller while it runs.
#pragma once

#include "cuda/runtime/launch.h"
#include "runtime/backend.h"

namespace apsis::cuda {

/// Waits for the work so far and reports progress.  Without a callback it does neither.
inline void report(const Progress &progress, double done, cudaStream_t stream) {
    if (!progress) return;
    check(cudaStreamSynchronize(stream), "waiting for the device");
    progress(done);
}

}  // namespace apsis::cuda
