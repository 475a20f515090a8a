// What the emulated device is and allows: as a device of $APSIS_EMULATED_CAPABILITY, which is 90 unless it is set, and one of
// 75, 80, 86, 89, 90, 100 and 120.  What kernels declare is in the file $APSIS_EMULATED_KERNELS (kernels.py); without it they
// declare nothing.  With $APSIS_EMULATED_ASKS nothing runs: launches are checked, and that is all.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr size_t UNASKED = 48 << 10;  // bytes of shared memory that a block may have, declared and dynamic, unless allowed more
constexpr unsigned MOST_BLOCKS = 0x7fffffff, MOST_THREADS = 1024, MOST_THREADS_ALONG_Z = 64;
constexpr struct {
    int capability, shared;  // KiB of a block that is allowed all
} DEVICES[] = {{75, 64}, {80, 163}, {86, 99}, {89, 99}, {90, 227}, {100, 227}, {120, 99}};

struct Kernel {
    size_t declared = 0, dynamic = 0;  // bytes; dynamic: what it is allowed
    unsigned threads = MOST_THREADS;
};

[[noreturn]] void refuse(const char *what, const char *value) {
    std::fprintf(stderr, "emulator: %s %s\n", what, value);
    std::abort();
}

class Device {
  public:
    Device() : capability(number("APSIS_EMULATED_CAPABILITY", 90)), asks_(std::getenv("APSIS_EMULATED_ASKS")) {
        for (const auto &device : DEVICES)
            if (device.capability == capability) shared = static_cast<size_t>(device.shared) << 10;
        if (!shared) refuse("there is no such device:", std::getenv("APSIS_EMULATED_CAPABILITY"));
        if (const char *file = std::getenv("APSIS_EMULATED_KERNELS")) read(file);
    }

    bool only_asks() const { return asks_; }

    Kernel find(const void *kernel) {
        const std::lock_guard guard(lock_);
        return kernel_at(kernel);
    }

    cudaError_t allow(const void *address, int bytes) {
        const std::lock_guard guard(lock_);
        Kernel &kernel = kernel_at(address);
        if (bytes < 0 || kernel.declared + static_cast<size_t>(bytes) > shared) return cudaErrorInvalidValue;
        kernel.dynamic = static_cast<size_t>(bytes);
        return cudaSuccess;
    }

    const int capability;
    size_t shared = 0;

  private:
    static int number(const char *name, int otherwise) {
        const char *text = std::getenv(name);
        return text ? std::atoi(text) : otherwise;
    }

    void read(const char *name) {
        std::FILE *file = std::fopen(name, "r");
        if (!file) refuse("cannot read", name);
        Dl_info library;
        dladdr(reinterpret_cast<void *>(&refuse), &library);
        size_t place, declared;
        unsigned threads;
        while (std::fscanf(file, "%zx %zu %u %*[^\n]", &place, &declared, &threads) == 3)
            kernels_[static_cast<char *>(library.dli_fbase) + place] = {declared, 0, threads};
        std::fclose(file);
        is_listed_ = true;
    }

    Kernel &kernel_at(const void *address) {
        if (is_listed_ && !kernels_.count(address)) refuse("a kernel that the compiler's output lacks:", "rebuild");
        return kernels_[address];
    }

    std::mutex lock_;
    std::map<const void *, Kernel> kernels_;
    bool is_listed_ = false, asks_;
};

/// Never destroyed: contexts may outlive static objects.
Device &device() {
    static Device &only = *new Device;
    return only;
}

}  // namespace

namespace emulator {

bool only_asks() { return device().only_asks(); }

bool can_launch(const void *address, unsigned blocks, Index threads, size_t shared_bytes) {
    const Kernel kernel = device().find(address);
    const unsigned long long count = static_cast<unsigned long long>(threads.x) * threads.y * threads.z;
    const size_t unasked = kernel.declared < UNASKED ? UNASKED - kernel.declared : 0;
    return blocks >= 1 && blocks <= MOST_BLOCKS && count >= 1 && count <= kernel.threads && threads.z <= MOST_THREADS_ALONG_Z &&
           shared_bytes <= std::max(unasked, kernel.dynamic);
}

}  // namespace emulator

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute, int value) {
    if (const cudaError_t error = emulator::fault()) return error;
    return device().allow(kernel, value);
}

CUresult cuFuncSetAttribute(CUfunction kernel, CUfunction_attribute, int value) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, value);
    return error == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *kernel) {
    *function = static_cast<cudaFunction_t>(const_cast<void *>(kernel));
    return emulator::fault();
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel) {
    *attributes = {};
    attributes->sharedSizeBytes = device().find(kernel).declared;
    return emulator::fault();
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    switch (attribute) {
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(device().shared); break;
        case cudaDevAttrComputeCapabilityMajor: *value = device().capability / 10; break;
        case cudaDevAttrComputeCapabilityMinor: *value = device().capability % 10; break;
        case cudaDevAttrMultiProcessorCount: *value = 1; break;
        default: *value = 0;
    }
    return emulator::fault();
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
    std::snprintf(properties->name, sizeof properties->name, "emulated device, sm_%d", device().capability);
    return emulator::fault();
}
