// How the CUDA files call CUDA.  Every call is checked, and every kernel is launched on a stream.  Errors are cleared, so that
// neither a later call of apsis nor one of the caller's reports them again.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/view.h"
#include "cuda/runtime/limits.h"
#include "runtime/error.h"

namespace apsis::cuda {

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;
constexpr int BLOCK = 256;  // threads of a block whose warps are independent: a few of these blocks fill any multiprocessor
constexpr int WARPS = BLOCK / WARP;
constexpr int WALKERS = 64;  // threads of a block for long loops in few threads: small blocks spread over more multiprocessors
constexpr int64_t MOST_BLOCKS = INT32_MAX;  // of a grid's x axis; kernels loop over further items

/// Throws CUDA's error, if there is one.
inline void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    cudaGetLastError();
    throw Error(error == cudaErrorMemoryAllocation ? APSIS_ERROR_MEMORY : APSIS_ERROR_DEVICE, "%s: %s (%s)", what,
                cudaGetErrorString(error), cudaGetErrorName(error));
}

#if defined(__CUDACC__)
/// The loop of a thread over items that the threads of a grid take side by side: its first item, and the step to its next one.
__device__ inline int64_t first_item() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline int64_t item_step() { return int64_t(gridDim.x) * blockDim.x; }

/// Waits, in a kernel that is queued early(): before it writes, and before it reads what the kernel before has written.
__device__ inline void wait_for_kernel_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/// Lets the kernel behind this one start, if it is queued early(), once all blocks have come here.  If they have waited before,
/// that kernel may read what the kernels before this one have written without waiting itself.
__device__ inline void start_kernel_behind() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Permutes indices into shared memory: 32 threads that walk adjacent stretches of 8, 16 or 32 elements use 32 different banks.
template <class Number>
__device__ Number spread_banks(Number number) {
    return number ^ (number >> 5 & 31);
}

/// Warp: its number in the block.  One lane tells it, so that the compiler knows that all lanes take the same branches, and
/// does not guard each vote.
__device__ inline int warp_in_block() { return __shfl_sync(ALL_LANES, static_cast<int>(threadIdx.x) / WARP, 0); }

/// Warp: the least and the greatest of the lanes' values.
template <class Number>
__device__ Number least_of_warp(Number value) {
    for (int step = WARP / 2; step > 0; step /= 2) value = min(value, __shfl_xor_sync(ALL_LANES, value, step));
    return value;
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ inline uint32_t least_of_warp(uint32_t value) { return __reduce_min_sync(ALL_LANES, value); }
__device__ inline int32_t least_of_warp(int32_t value) { return __reduce_min_sync(ALL_LANES, value); }
#endif
template <class Number>
__device__ Number greatest_of_warp(Number value) {
    return ~least_of_warp(~value);
}

/// Warp: the sum of the lanes' values.
template <class Number>
__device__ Number sum_of_warp(Number value) {
    for (int step = WARP / 2; step > 0; step /= 2) value += __shfl_xor_sync(ALL_LANES, value, step);
    return value;
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ inline uint32_t sum_of_warp(uint32_t value) { return __reduce_add_sync(ALL_LANES, value); }
__device__ inline int32_t sum_of_warp(int32_t value) { return static_cast<int32_t>(sum_of_warp(static_cast<uint32_t>(value))); }
#endif

/// Warp: places in a list of `count` for the lanes that want one, in the order of the lanes.
__device__ inline uint32_t take_places(uint32_t *count, bool wants) {
    const unsigned all = __ballot_sync(ALL_LANES, wants);
    if (!all) return 0;
    const int lane = threadIdx.x % WARP;
    uint32_t first = 0;
    if (lane == 0) first = atomicAdd(count, static_cast<uint32_t>(__popc(all)));
    return __shfl_sync(ALL_LANES, first, 0) + static_cast<uint32_t>(__popc(all & ((1u << lane) - 1)));
}

/// Warp: the sum of a lane's value and the values of the lanes before it.
template <class Number>
__device__ Number sum_up_to(Number value) {
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const Number other = __shfl_up_sync(ALL_LANES, value, step);
        if (lane >= step) value += other;
    }
    return value;
}

/// Warp: the bits that are set in any lane's value.
__device__ inline uint32_t any_of_warp(uint32_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL_LANES, value);
#else
    for (int step = WARP / 2; step > 0; step /= 2) value |= __shfl_xor_sync(ALL_LANES, value, step);
    return value;
#endif
}
#endif

/// The dynamic shared memory that a block of this kernel may have on the current device.  The first call sets the kernel's
/// allowance to all of it.  All host threads share the allowance, so lowering it to the size of one launch would make a larger
/// launch of another host thread fail.
size_t allow_shared(const void *kernel);

/// For a device whose context is new, as after cudaDeviceReset: it has no allowances.
void forget_allowances(int device);

/// How many blocks of a kernel the current device runs at once.
template <class... Parameters>
int64_t resident_blocks(void (*kernel)(Parameters...), int threads) {
    int device = 0, processors = 0, blocks = 0;
    check(cudaGetDevice(&device), "device");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "device");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0), "occupancy");
    return int64_t(processors) * blocks;
}

APSIS_BOTH inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Where a kernel is queued: on a stream, behind all earlier work.  An early kernel's blocks start while the last blocks of the
/// kernel before still run, and wait for its end themselves (sm_90), which saves about a microsecond.
struct Queue {
    cudaStream_t stream;
    bool is_early;

    Queue(cudaStream_t on, bool early = false) : stream(on), is_early(early) {}
};
inline Queue early(cudaStream_t stream) { return Queue(stream, true); }

/// Whether kernels can wait for the kernel before by themselves: their code is for sm_90 at least.  All kernels are compiled
/// for the same devices, and the query is slow.  So one kernel is queried, once for each device.
inline bool can_wait(const void *kernel) {
    constexpr uint8_t UNKNOWN = 0, NO = 1, YES = 2;
    constexpr int MOST_DEVICES = 64;
    static std::atomic<uint8_t> answers[MOST_DEVICES];
    int device = 0;
    check(cudaGetDevice(&device), "device");
    const uint8_t known = device < MOST_DEVICES ? answers[device].load() : UNKNOWN;
    if (known != UNKNOWN) return known == YES;
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, kernel), "a kernel's attributes");
    const bool can = attributes.ptxVersion >= 90;
    if (device < MOST_DEVICES) answers[device] = can ? YES : NO;
    return can;
}

/// Launches a kernel that takes dynamic shared memory.  Unlike <<<>>>, this call returns its own error, so that an earlier
/// error of the caller's code is not taken for it.
template <class... Parameters, class... Arguments>
void launch_large(const char *name, void (*kernel)(Parameters...), int64_t blocks, dim3 threads, size_t shared_bytes,
                  const Queue &queue, const Arguments &...arguments) {
    if (blocks == 0) return;
    if (shared_bytes > 0)
        if (const size_t most = allow_shared(reinterpret_cast<const void *>(kernel)); shared_bytes > most)
            throw Error(APSIS_ERROR_UNSUPPORTED, "%s takes %zu bytes of shared memory a block, and this device has %zu", name,
                        shared_bytes, most);
    cudaLaunchConfig_t shape = {};
    shape.gridDim = dim3(static_cast<unsigned>(std::min(blocks, MOST_BLOCKS)));
    shape.blockDim = threads;
    shape.dynamicSmemBytes = shared_bytes;
    shape.stream = queue.stream;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    if (queue.is_early && can_wait(reinterpret_cast<const void *>(kernel))) shape.attrs = &attribute, shape.numAttrs = 1;
    check(cudaLaunchKernelEx(&shape, kernel, static_cast<Parameters>(arguments)...), name);
}

template <class... Parameters, class... Arguments>
void launch(const char *name, void (*kernel)(Parameters...), int64_t blocks, dim3 threads, const Queue &queue,
            const Arguments &...arguments) {
    launch_large(name, kernel, blocks, threads, 0, queue, arguments...);
}

/// Launches a kernel as a plan says.
template <class... Parameters, class... Arguments>
void launch(const Launch &plan, void (*kernel)(Parameters...), const Queue &queue, const Arguments &...arguments) {
    if (plan.kernel) launch_large(plan.kernel, kernel, plan.blocks, plan.threads, plan.shared, queue, arguments...);
}

}  // namespace apsis::cuda
