// How much shared memory a kernel may use on a device: set and cached once for each kernel and device.
#include "cuda/runtime/launch.h"

#include "cuda/runtime/current_device.h"

#include <map>
#include <mutex>
#include <utility>

namespace apsis::cuda {

namespace {

struct Allowances {
    std::mutex lock;
    std::map<std::pair<const void *, int>, size_t> bytes;  // [kernel, device]
};

/// Never destroyed: contexts may outlive static objects.
Allowances &allowances() {
    static Allowances &kept = *new Allowances;
    return kept;
}

}  // namespace

size_t allow_shared(const void *kernel) {
    int device = 0, most = 0;
    check(cudaGetDevice(&device), "device");
    Allowances &kept = allowances();
    const std::lock_guard guard(kept.lock);
    const auto known = kept.bytes.find({kernel, device});
    if (known != kept.bytes.end()) return known->second;
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "device");
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, kernel), "a kernel's attributes");
    const int left = most - static_cast<int>(attributes.sharedSizeBytes);
    // By the driver, because CUDA 13.0's own function clears an error that the caller has not read yet.
    cudaFunction_t function;
    check(cudaGetFuncBySymbol(&function, kernel), "finding a kernel");
    Driver::require(Driver::get().set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, left),
                    "a kernel's shared memory");
    return kept.bytes[{kernel, device}] = static_cast<size_t>(left);
}

Limits limits_of_device() {
    int device = 0, shared = 0, processors = 0;
    check(cudaGetDevice(&device), "device");
    check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "device");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "device");
    return {static_cast<size_t>(shared), processors};
}

void forget_allowances(int device) {
    Allowances &kept = allowances();
    const std::lock_guard guard(kept.lock);
    std::erase_if(kept.bytes, [&](const auto &entry) { return entry.first.second == device; });
}

}  // namespace apsis::cuda
