// Memory of the emulated device.  Its memory is the CPU's: what is page-locked is remembered by its address.
#include <cuda_runtime.h>

#include <cstdlib>
#include <map>
#include <mutex>

namespace {

constexpr size_t MOST = size_t(4) << 30;  // bytes at once
constexpr size_t SLOT = 256;
constexpr int RUBBISH = 0xAB;

std::mutex lock;
std::map<const char *, size_t> page_locked;

cudaError_t allocate(void **data, size_t bytes) {
    *data = bytes > MOST ? nullptr : std::aligned_alloc(SLOT, (bytes + SLOT) / SLOT * SLOT);
    if (!*data) return cudaErrorMemoryAllocation;
    if (!emulator::only_asks()) std::memset(*data, RUBBISH, bytes);
    return cudaSuccess;
}

}  // namespace

cudaError_t cudaMalloc(void **data, size_t bytes) { return allocate(data, bytes); }

cudaError_t cudaMallocHost(void **data, size_t bytes) {
    const cudaError_t error = allocate(data, bytes);
    const std::lock_guard<std::mutex> guard(lock);
    if (error == cudaSuccess) page_locked[static_cast<char *>(*data)] = bytes;
    return error;
}

cudaError_t cudaFree(void *data) { return std::free(data), cudaSuccess; }

cudaError_t cudaFreeHost(void *data) {
    const std::lock_guard<std::mutex> guard(lock);
    page_locked.erase(static_cast<char *>(data));
    return cudaFree(data);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *data) {
    const std::lock_guard<std::mutex> guard(lock);
    const auto after = page_locked.upper_bound(static_cast<const char *>(data));
    const bool inside = after != page_locked.begin() &&
                        static_cast<const char *>(data) < std::prev(after)->first + std::prev(after)->second;
    attributes->type = inside ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
    return cudaSuccess;
}
