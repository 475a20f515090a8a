// Memory of the emulated device.  Its memory is the CPU's: what it is for is remembered by its address.
#include <cuda_runtime.h>

#include <cstdlib>
#include <map>
#include <mutex>

namespace {

constexpr size_t MOST = size_t(4) << 30;  // bytes at once
constexpr size_t SLOT = 256;
constexpr int RUBBISH = 0xAB;

struct Block {
    size_t bytes;
    cudaMemoryType type;
};

std::mutex lock;
std::map<const char *, Block> blocks;

cudaError_t allocate(void **data, size_t bytes, cudaMemoryType type) {
    if (const cudaError_t error = emulator::fault(cudaErrorMemoryAllocation)) return error;
    *data = bytes > MOST ? nullptr : std::aligned_alloc(SLOT, (bytes + SLOT) / SLOT * SLOT);
    if (!*data) return cudaErrorMemoryAllocation;
    emulator::hold(1);
    if (!emulator::only_asks()) std::memset(*data, RUBBISH, bytes);
    const std::lock_guard<std::mutex> guard(lock);
    blocks[static_cast<char *>(*data)] = {bytes, type};
    return cudaSuccess;
}

}  // namespace

cudaError_t cudaMalloc(void **data, size_t bytes) { return allocate(data, bytes, cudaMemoryTypeDevice); }

cudaError_t cudaMallocHost(void **data, size_t bytes) { return allocate(data, bytes, cudaMemoryTypeHost); }

/// Memory is let go also where an error is told: it may be that of work before.
cudaError_t cudaFree(void *data) {
    if (data) {
        emulator::hold(-1);
        const std::lock_guard<std::mutex> guard(lock);
        blocks.erase(static_cast<char *>(data));
    }
    std::free(data);
    return emulator::fault();
}

cudaError_t cudaFreeHost(void *data) { return cudaFree(data); }

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *data) {
    const std::lock_guard<std::mutex> guard(lock);
    const char *const at = static_cast<const char *>(data);
    const auto after = blocks.upper_bound(at);
    const bool inside = after != blocks.begin() && at < std::prev(after)->first + std::prev(after)->second.bytes;
    *attributes = {inside ? std::prev(after)->second.type : cudaMemoryTypeUnregistered, 0,
                   inside ? const_cast<void *>(data) : nullptr};
    return emulator::fault();
}
