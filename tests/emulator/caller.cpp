// Streams that are captured, and the driver's stack of contexts: see caller.h.
#include "caller.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <atomic>
#include <vector>

namespace {

std::atomic<cudaStream_t> captured;
std::atomic<int> violations;
thread_local std::vector<CUcontext> contexts;  // of this thread; the last one is current

CUcontext current() { return contexts.empty() ? nullptr : contexts.back(); }

}  // namespace

void apsis_emulated_capture(CUstream_st *stream) {
    captured = stream;
    violations = 0;
}

int apsis_emulated_violations(void) { return violations; }

void *apsis_emulated_context(void *context) {
    void *const before = current();
    contexts.clear();
    if (context) contexts.push_back(static_cast<CUcontext>(context));
    return before;
}

bool emulator::is_captured(cudaStream_t stream) { return stream && stream == captured; }

cudaError_t emulator::outside_captures(cudaStream_t stream) {
    if (!is_captured(stream)) return cudaSuccess;
    ++violations;
    return cudaErrorStreamCaptureUnsupported;
}

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
    static char primary;
    return *context = reinterpret_cast<CUcontext>(&primary), CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *context) { return *context = current(), CUDA_SUCCESS; }
CUresult cuCtxPushCurrent(CUcontext context) { return contexts.push_back(context), CUDA_SUCCESS; }
CUresult cuCtxPopCurrent(CUcontext *context) {
    if (contexts.empty()) return CUDA_ERROR_INVALID_VALUE;
    *context = current();
    contexts.pop_back();
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long,
                                    cudaDriverEntryPointQueryResult *result) {
    const struct { const char *name; void *function; } all[] = {
        {"cuInit", reinterpret_cast<void *>(cuInit)},
        {"cuDeviceGet", reinterpret_cast<void *>(cuDeviceGet)},
        {"cuDevicePrimaryCtxRetain", reinterpret_cast<void *>(cuDevicePrimaryCtxRetain)},
        {"cuCtxGetCurrent", reinterpret_cast<void *>(cuCtxGetCurrent)},
        {"cuCtxPushCurrent", reinterpret_cast<void *>(cuCtxPushCurrent)},
        {"cuCtxPopCurrent", reinterpret_cast<void *>(cuCtxPopCurrent)}};
    *function = nullptr;
    for (const auto &each : all)
        if (!std::strcmp(each.name, name)) *function = each.function;
    *result = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}
