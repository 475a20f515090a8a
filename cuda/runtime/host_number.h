// What a device computes and the host waits for: a number, while the device continues with the work queued behind it; and
// page-locked memory, through which arrays go.
#pragma once

#include "cuda/runtime/launch.h"

namespace apsis::cuda {

class HostNumber {
  public:
    /// For the current device, which must be current again in the destructor.
    HostNumber() {
        check(cudaEventCreateWithFlags(&arrived_, cudaEventDisableTiming), "creating an event");
        void *memory = nullptr;
        const cudaError_t error = cudaMallocHost(&memory, sizeof *number_);
        if (error != cudaSuccess) destroy_event();
        check(error, "allocating page-locked memory");
        number_ = static_cast<uint32_t *>(memory);
    }
    ~HostNumber() {
        if (cudaFreeHost(number_) != cudaSuccess) cudaGetLastError();
        destroy_event();
    }
    HostNumber(const HostNumber &) = delete;
    HostNumber &operator=(const HostNumber &) = delete;

    /// Queues its copy to the host.
    void ask(const uint32_t *from, cudaStream_t stream) {
        check(cudaMemcpyAsync(number_, from, sizeof *number_, cudaMemcpyDeviceToHost, stream), "reading a number");
        check(cudaEventRecord(arrived_, stream), "marking where a number is read");
    }
    /// Waits for the last copy, and returns its number.
    uint32_t wait() const {
        check(cudaEventSynchronize(arrived_), "waiting for a number");
        return *number_;
    }

  private:
    void destroy_event() {
        if (cudaEventDestroy(arrived_) != cudaSuccess) cudaGetLastError();
    }

    uint32_t *number_ = nullptr;
    cudaEvent_t arrived_ = nullptr;
};

/// Page-locked memory that grows.  Its device must be current again in reset(), which comes before the end.
class PageLocked {
  public:
    PageLocked() = default;
    PageLocked(const PageLocked &) = delete;
    PageLocked &operator=(const PageLocked &) = delete;

    void *at_least(size_t bytes) {
        if (bytes <= bytes_) return memory_;
        reset();
        check(cudaMallocHost(&memory_, bytes), "allocating page-locked memory");
        bytes_ = bytes;
        return memory_;
    }
    void reset() {
        if (memory_ && cudaFreeHost(memory_) != cudaSuccess) cudaGetLastError();
        memory_ = nullptr, bytes_ = 0;
    }

  private:
    void *memory_ = nullptr;
    size_t bytes_ = 0;
};

}  // namespace apsis::cuda
