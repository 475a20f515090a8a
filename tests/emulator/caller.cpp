// Streams that are captured, functions that fail, and the driver's stack of contexts: see caller.h.
#include "caller.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <atomic>
#include <vector>

namespace {

std::atomic<cudaStream_t> captured;
std::atomic<int> violations;
std::atomic<long> called, failing, live;
std::atomic<bool> lasting;
thread_local std::vector<CUcontext> contexts;  // of this thread; the last one is current

CUcontext current() { return contexts.empty() ? nullptr : contexts.back(); }

CUresult driver_fault() { return emulator::fault() == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

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

void apsis_emulated_fail(long n, int for_good) {
    called = 0;
    failing = n;
    lasting = for_good != 0;
}

long apsis_emulated_calls(void) { return called; }

long apsis_emulated_live(void) { return live; }

void emulator::hold(int pieces) { live += pieces; }

cudaError_t emulator::fault(cudaError_t error) {
    const long call = ++called;
    return failing > 0 && (call == failing || (lasting && call > failing)) ? error : cudaSuccess;
}

bool emulator::is_captured(cudaStream_t stream) { return stream && stream == captured; }

cudaError_t emulator::outside_captures(cudaStream_t stream) {
    if (!is_captured(stream)) return fault();
    ++violations;
    return cudaErrorStreamCaptureUnsupported;
}

CUresult cuInit(unsigned) { return driver_fault(); }
CUresult cuDeviceGet(CUdevice *device, int ordinal) { return *device = ordinal, driver_fault(); }
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
    static char primary;
    return *context = reinterpret_cast<CUcontext>(&primary), driver_fault();
}
CUresult cuCtxGetCurrent(CUcontext *context) { return *context = current(), driver_fault(); }
CUresult cuCtxPushCurrent(CUcontext context) {
    if (const CUresult error = driver_fault()) return error;
    return contexts.push_back(context), CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext *context) {
    if (contexts.empty()) return CUDA_ERROR_INVALID_VALUE;
    *context = current();
    contexts.pop_back();
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long,
                                    cudaDriverEntryPointQueryResult *result) {
    const struct {
        const char *name;
        void *function;
    } all[] = {{"cuInit", reinterpret_cast<void *>(cuInit)},
               {"cuDeviceGet", reinterpret_cast<void *>(cuDeviceGet)},
               {"cuDevicePrimaryCtxRetain", reinterpret_cast<void *>(cuDevicePrimaryCtxRetain)},
               {"cuCtxGetCurrent", reinterpret_cast<void *>(cuCtxGetCurrent)},
               {"cuCtxPushCurrent", reinterpret_cast<void *>(cuCtxPushCurrent)},
               {"cuCtxPopCurrent", reinterpret_cast<void *>(cuCtxPopCurrent)},
               {"cuFuncSetAttribute", reinterpret_cast<void *>(cuFuncSetAttribute)}};
    *function = nullptr;
    for (const auto &each : all)
        if (!std::strcmp(each.name, name)) *function = each.function;
    *result = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return emulator::fault();
}
