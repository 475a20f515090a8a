// What apsis uses of CUDA's runtime and of its device functions, on the CPU: see emulator.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#include "emulator.h"

#define __CUDACC__ 1
#define CUDART_VERSION 12000
#define __host__
#define __device__
#define __global__
#define __shared__ static thread_local
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __noinline__
#define __forceinline__ inline

// ---- Types ----

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) longlong2 {
    long long x, y;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
struct alignas(16) double2 {
    double x, y;
};
struct alignas(4) ushort2 {
    unsigned short x, y;
};
struct alignas(4) uchar4 {
    unsigned char x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

inline thread_local emulator::Index &threadIdx = emulator::thread, &blockIdx = emulator::block,
                                    &blockDim = emulator::block_size, &gridDim = emulator::grid_size;

// ---- The runtime: every call has done its work when it returns ----

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorNoDevice = 100,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorLaunchFailure = 719,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureImplicit = 906
};
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};
enum cudaMemoryType { cudaMemoryTypeUnregistered = 0, cudaMemoryTypeHost = 1, cudaMemoryTypeDevice = 2 };
enum cudaDeviceAttr {
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrComputeCapabilityMajor,
    cudaDevAttrComputeCapabilityMinor,
    cudaDevAttrMultiProcessorCount
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone = 0, cudaStreamCaptureStatusActive = 1 };
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess = 0, cudaDriverEntryPointSymbolNotFound = 1 };
constexpr unsigned long long cudaEnableDefault = 0;
constexpr unsigned cudaEventDisableTiming = 2, cudaStreamNonBlocking = 1;
struct cudaDeviceProp {
    char name[256];
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer;
};
struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    int ptxVersion;
};
enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization };
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct {
        int programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes = 0;
    cudaStream_t stream = nullptr;
    cudaLaunchAttribute *attrs = nullptr;  // kernels run one after the other
    unsigned numAttrs = 0;
};

cudaError_t cudaMalloc(void **data, size_t bytes);
cudaError_t cudaMallocHost(void **data, size_t bytes);
cudaError_t cudaFree(void *data);
cudaError_t cudaFreeHost(void *data);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *data);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char *cudaGetErrorString(cudaError_t) { return "an error of the emulated device"; }
inline const char *cudaGetErrorName(cudaError_t) { return "cudaErrorEmulated"; }
namespace emulator {
bool is_captured(cudaStream_t stream);                          // caller.h
cudaError_t outside_captures(cudaStream_t stream);              // of what a captured stream does not allow
cudaError_t fault(cudaError_t error = cudaErrorLaunchFailure);  // that a test wants here, or cudaSuccess
void hold(int pieces);                                          // counts what the device holds
}  // namespace emulator
inline cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, emulator::fault(); }
inline cudaError_t cudaGetDevice(int *device) { return *device = 0, emulator::fault(); }
inline cudaError_t cudaSetDevice(int) { return emulator::fault(); }
inline cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) { return *can = 1, emulator::fault(); }
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return emulator::fault(); }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
    const cudaError_t error = emulator::fault();
    return *stream = nullptr, emulator::hold(error == cudaSuccess), error;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return emulator::hold(-1), cudaSuccess; }
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult *result);
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return emulator::outside_captures(stream); }
inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    *status = emulator::is_captured(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return emulator::fault();
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t, unsigned) {
    return emulator::outside_captures(stream);
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    const cudaError_t error = emulator::fault();
    return *event = nullptr, emulator::hold(error == cudaSuccess), error;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return emulator::hold(-1), cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t stream) { return emulator::outside_captures(stream); }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return emulator::fault(); }
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
    if (const cudaError_t error = emulator::fault()) return error;
    if (!emulator::only_asks()) std::memmove(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    for (size_t row = 0; row < height; ++row) {
        const cudaError_t error = cudaMemcpyAsync(static_cast<char *>(to) + row * to_pitch,
                                                  static_cast<const char *>(from) + row * from_pitch, width, kind, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t) {
    if (const cudaError_t error = emulator::fault()) return error;
    if (!emulator::only_asks()) std::memset(to, value, bytes);
    return cudaSuccess;
}
typedef struct CUfunc_st *cudaFunction_t;
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *kernel);
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel);
template <class... Parameters>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(Parameters...)) {
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *, int, size_t) {
    return *blocks = 2, emulator::fault();
}

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *shape, void (*kernel)(Parameters...), Arguments... arguments) {
    if (const cudaError_t error = emulator::fault()) return error;
    const emulator::Index threads = {shape->blockDim.x, shape->blockDim.y, shape->blockDim.z};
    if (!emulator::can_launch(reinterpret_cast<const void *>(kernel), shape->gridDim.x, threads, shape->dynamicSmemBytes))
        return cudaErrorInvalidValue;
    if (!emulator::only_asks())
        emulator::launch(shape->gridDim.x, threads, shape->dynamicSmemBytes,
                         [=] { kernel(static_cast<Parameters>(arguments)...); });
    return cudaSuccess;
}

// ---- Warps and blocks ----

namespace emulator {

template <class Value>
uint64_t bits_of(Value value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class Value>
Value value_of(uint64_t bits) {
    Value value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
inline unsigned lane() { return (thread.x + block_size.x * (thread.y + block_size.y * thread.z)) % 32; }
template <class Value>
Value read_lane(unsigned mask, Value value, unsigned from) {
    return value_of<Value>(meet(Meeting::SHUFFLE, mask, bits_of(value), from));
}

}  // namespace emulator

constexpr int warpSize = 32;
inline void __syncthreads() { emulator::barrier(); }
inline int __syncthreads_or(int value) { return emulator::barrier(value != 0) != 0; }
inline int __syncthreads_count(int value) { return emulator::barrier(value != 0); }
inline void __syncwarp(unsigned mask = ~0u) { emulator::meet(emulator::Meeting::SYNC, mask, 0); }
inline unsigned __activemask() { return ~0u; }
inline unsigned __ballot_sync(unsigned mask, bool value) {
    return static_cast<unsigned>(emulator::meet(emulator::Meeting::BALLOT, mask, value));
}
inline bool __any_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) != 0; }
inline bool __all_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) == mask; }
template <class Value>
unsigned __match_any_sync(unsigned mask, Value value) {
    return static_cast<unsigned>(emulator::meet(emulator::Meeting::MATCH, mask, emulator::bits_of(value)));
}
template <class Value>
Value __shfl_sync(unsigned mask, Value value, int from, int width = 32) {
    const unsigned lane = emulator::lane(), part = static_cast<unsigned>(width);
    return emulator::read_lane(mask, value, lane / part * part + static_cast<unsigned>(from) % part);
}
template <class Value>
Value __shfl_xor_sync(unsigned mask, Value value, int bits, int = 32) {
    return emulator::read_lane(mask, value, emulator::lane() ^ static_cast<unsigned>(bits));
}
template <class Value>
Value __shfl_up_sync(unsigned mask, Value value, unsigned by, int width = 32) {
    const unsigned lane = emulator::lane();
    return emulator::read_lane(mask, value, lane % static_cast<unsigned>(width) >= by ? lane - by : lane);
}
template <class Value>
Value __shfl_down_sync(unsigned mask, Value value, unsigned by, int width = 32) {
    const unsigned lane = emulator::lane(), part = static_cast<unsigned>(width);
    return emulator::read_lane(mask, value, lane % part + by < part ? lane + by : lane);
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value) {
    return static_cast<unsigned>(emulator::meet(emulator::Meeting::LEAST, mask, value));
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value) {
    return static_cast<unsigned>(emulator::meet(emulator::Meeting::MOST, mask, value));
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
    return static_cast<unsigned>(emulator::meet(emulator::Meeting::SUM, mask, value));
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value) {
    return static_cast<unsigned>(emulator::meet(emulator::Meeting::AND, mask, value));
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
    return static_cast<unsigned>(emulator::meet(emulator::Meeting::OR, mask, value));
}

// ---- Memory ----

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __threadfence(); }
inline void __nanosleep(unsigned) { emulator::pause(); }
template <class Value>
Value __ldg(const Value *at) {
    return *at;
}
template <class Value>
Value __ldcg(const Value *at) {
    return *const_cast<const volatile Value *>(at);
}
template <class Value>
Value __ldcs(const Value *at) {
    return *at;
}
template <class Value>
void __stcg(Value *at, std::common_type_t<Value> value) {
    *at = value;
}
template <class Value>
void __stcs(Value *at, std::common_type_t<Value> value) {
    *at = value;
}
inline uint4 __ldcg(const uint4 *at) { return *at; }
inline uint2 __ldcg(const uint2 *at) { return *at; }

namespace emulator {

/// Changes a number in memory, and returns what it was.
template <class Number, class Change>
Number change(Number *at, Change to) {
    may_pause();
    Number before = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(at, &before, to(before), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return before;
}

}  // namespace emulator

template <class Number>
using Same = std::common_type_t<Number>;  // not deduced
template <class Number>
Number atomicAdd(Number *at, Same<Number> by) {
    return emulator::change(at, [=](Number n) { return Number(n + by); });
}
template <class Number>
Number atomicSub(Number *at, Same<Number> by) {
    return emulator::change(at, [=](Number n) { return Number(n - by); });
}
template <class Number>
Number atomicMin(Number *at, Same<Number> by) {
    return emulator::change(at, [=](Number n) { return std::min(n, by); });
}
template <class Number>
Number atomicMax(Number *at, Same<Number> by) {
    return emulator::change(at, [=](Number n) { return std::max(n, by); });
}
template <class Number>
Number atomicAnd(Number *at, Same<Number> by) {
    return emulator::change(at, [=](Number n) { return Number(n & by); });
}
template <class Number>
Number atomicOr(Number *at, Same<Number> by) {
    return emulator::change(at, [=](Number n) { return Number(n | by); });
}
template <class Number>
Number atomicExch(Number *at, Same<Number> by) {
    return emulator::change(at, [=](Number) { return by; });
}
template <class Number>
Number atomicCAS(Number *at, Same<Number> was, Same<Number> by) {
    return emulator::change(at, [=](Number n) { return n == was ? by : n; });
}

#include "cuda_numbers.h"
