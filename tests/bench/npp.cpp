// See npp.h.
#include "npp.h"

#ifdef BENCH_NPP
#include <nppi_filtering_functions.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

void check(int status, const char *what) {
    if (status == 0) return;
    std::fprintf(stderr, "NPP, %s: status %d\n", what, status);
    std::exit(1);
}

NppStreamContext context_of(cudaStream_t stream) {
    NppStreamContext context = {};
    cudaDeviceProp device;
    context.hStream = stream;
    check(cudaGetDevice(&context.nCudaDeviceId), "device");
    check(cudaGetDeviceProperties(&device, context.nCudaDeviceId), "device");
    context.nMultiProcessorCount = device.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = device.maxThreadsPerBlock;
    context.nSharedMemPerBlock = device.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = device.major;
    context.nCudaDevAttrComputeCapabilityMinor = device.minor;
    check(cudaStreamGetFlags(stream, &context.nStreamFlags), "stream");
    return context;
}

}  // namespace

NppDistance npp_distance(cudaStream_t stream, int side) {
    NppDistance result;
    if (side < 64 || side > 32767) return result;
    const NppiSize size = {side, side};
    const NppStreamContext context = context_of(stream);
    void *memory;
    check(nppiDistanceTransformPBAGetBufferSize(size, &result.workspace), "workspace");
    check(cudaMalloc(&memory, result.workspace), "workspace");
    const std::shared_ptr<void> scratch(memory, cudaFree);
    result.call = [=](void *set, void *distance) {
        check(nppiDistanceTransformPBA_8u32f_C1R_Ctx(static_cast<Npp8u *>(set), side, 1, 1, nullptr, 0, nullptr, 0, nullptr, 0,
                                                     static_cast<Npp32f *>(distance), side * 4, size,
                                                     static_cast<Npp8u *>(scratch.get()), context),
              "distance");
    };
    return result;
}

#else

NppDistance npp_distance(cudaStream_t, int) { return {}; }

#endif
