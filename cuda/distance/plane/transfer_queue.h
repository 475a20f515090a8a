// Host images pass through the device strip by strip: two streams for copies beside the back end's own, and events that order
// them.  src/runtime/streamer.cpp queues the work.
#pragma once

#include "cuda/runtime/current_device.h"
#include "cuda/runtime/host_number.h"
#include "cuda/runtime/limits.h"
#include "runtime/transfer_queue.h"

namespace apsis::cuda::plane {

class CudaTransferQueue final : public TransferQueue {
  public:
    /// `work` is the back end's stream, read whenever something is queued.  The device is current here and in the destructor.
    CudaTransferQueue(int device, const Limits &limits, const cudaStream_t &work)
        : device_(device),
          limits_(limits),
          work_(work) {}
    ~CudaTransferQueue() override { page_locked_.reset(); }

    void copy(Lane lane, void *to, const void *from, size_t bytes) override;
    bool is_page_locked(const void *data, size_t bytes) const override;

    void mark(Lane lane, int number) override;
    void follow(Lane lane, int number) override;
    void await(int number) override;
    void sync();  // waits for the streams of copies

    size_t scratch(const DistanceJob &job) const override;
    void take(const DistanceJob &job, const StripRange &range, void *scratch) override;
    void give(const DistanceJob &job, const StripRange &range, void *scratch) override;

  private:
    struct Stream {
        cudaStream_t handle = nullptr;
        // Non-blocking: neither it nor the default stream of CUDA waits for the other.
        Stream() { check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "creating a stream"); }
        ~Stream() {
            if (cudaStreamDestroy(handle) != cudaSuccess) cudaGetLastError();
        }
        Stream(const Stream &) = delete;
        Stream &operator=(const Stream &) = delete;
    };
    cudaStream_t stream(Lane lane) const { return lane == Lane::WORK ? work_ : lane == Lane::IN ? in_.handle : out_.handle; }

    int device_;
    Limits limits_;
    const cudaStream_t &work_;
    Stream in_, out_;
    Event marks_[MARKS];
    PageLocked page_locked_;  // what slabs are told
};

}  // namespace apsis::cuda::plane
