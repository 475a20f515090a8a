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
    if (const cudaError_t error = emulator::fault(cudaErrorMemoryAllocation)) return error;
    *data = bytes > MOST ? nullptr : std::aligned_alloc(SLOT, (bytes + SLOT) / SLOT * SLOT);
    if (!*data) return cudaErrorMemoryAllocation;
    emulator::hold(1);
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

/// Memory is let go also where an error is told: it may be that of work before.
cudaError_t cudaFree(void *data) {
    if (data) emulator::hold(-1);
    std::free(data);
    return emulator::fault();
}

cudaError_t cudaFreeHost(void *data) {
    const std::lock_guard<std::mutex> guard(lock);
    page_locked.erase(static_cast<char *>(data));
    return cudaFree(data);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *data) {
    const std::lock_guard<std::mutex> guard(lock);
    const auto after = page_locked.upper_bound(static_cast<const char *>(data));
    const bool inside =
        after != page_locked.begin() && static_cast<const char *>(data) < std::prev(after)->first + std::prev(after)->second;
    attributes->type = inside ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
    attributes->devicePointer = inside ? const_cast<void *>(data) : nullptr;
    return emulator::fault();
}
