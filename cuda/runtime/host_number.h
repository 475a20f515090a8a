// Events; a number that the device computes and the host waits for, while the device continues with the work queued behind it;
// and page-locked memory, through which arrays go.
#pragma once

#include <optional>

#include "cuda/runtime/launch.h"

namespace apsis::cuda {

// Both are for the current device, which must be current again in their destructors.

/// Marks a place in a stream.  It measures no time.
struct Event {
    cudaEvent_t handle = nullptr;

    Event() { check(cudaEventCreateWithFlags(&handle, cudaEventDisableTiming), "creating an event"); }
    ~Event() {
        if (cudaEventDestroy(handle) != cudaSuccess) cudaGetLastError();
    }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
};

class HostNumber {
  public:
    HostNumber() {
        void *memory = nullptr;
        check(cudaMallocHost(&memory, sizeof *number_), "allocating page-locked memory");
        number_ = static_cast<uint32_t *>(memory);
    }
    ~HostNumber() {
        if (cudaFreeHost(number_) != cudaSuccess) cudaGetLastError();
    }
    HostNumber(const HostNumber &) = delete;
    HostNumber &operator=(const HostNumber &) = delete;

    /// Where a kernel writes it, to be read when the kernel is done.  The device has this memory at the same address.
    uint32_t *memory() const { return number_; }

    /// Queues its copy to the host.
    void ask(const uint32_t *from, cudaStream_t stream) {
        check(cudaMemcpyAsync(number_, from, sizeof *number_, cudaMemcpyDeviceToHost, stream), "reading a number");
        check(cudaEventRecord(arrived_.handle, stream), "marking where a number is read");
    }
    /// Waits for the last copy, and returns its number.
    uint32_t wait() const {
        check(cudaEventSynchronize(arrived_.handle), "waiting for a number");
        return *number_;
    }

  private:
    uint32_t *number_ = nullptr;
    Event arrived_;
};

/// Page-locked memory that grows.  Its device must be current again in reset(), which comes before the end.
class PageLocked {
  public:
    PageLocked() = default;
    PageLocked(const PageLocked &) = delete;
    PageLocked &operator=(const PageLocked &) = delete;

    /// At least this much, to be written to, after copies from it have been made.
    void *at_least(size_t bytes) {
        if (read_) check(cudaEventSynchronize(read_->handle), "waiting for a copy from page-locked memory");
        if (bytes <= bytes_) return memory_;
        reset();
        check(cudaMallocHost(&memory_, bytes), "allocating page-locked memory");
        bytes_ = bytes;
        return memory_;
    }
    /// Copies from it have been queued.
    void is_read(cudaStream_t stream) {
        if (!read_) read_.emplace();
        check(cudaEventRecord(read_->handle, stream), "marking a copy from page-locked memory");
    }
    void reset() {
        if (memory_ && cudaFreeHost(memory_) != cudaSuccess) cudaGetLastError();
        memory_ = nullptr, bytes_ = 0;
        read_.reset();
    }

  private:
    void *memory_ = nullptr;
    size_t bytes_ = 0;
    std::optional<Event> read_;
};

}  // namespace apsis::cuda
