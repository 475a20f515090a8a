// Host images pass through the device strip by strip: see transfer_queue.h.
#include "cuda/distance/plane/transfer_queue.h"

#include "cuda/distance/plane/plane.h"
#include "cuda/runtime/copy.h"

namespace apsis::cuda::plane {

void CudaTransferQueue::copy(Lane lane, void *to, const void *from, size_t bytes) {
    const CurrentDevice current(device_);
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream(lane)), "copying a part of an image");
}

bool CudaTransferQueue::is_page_locked(const void *data, size_t bytes) const {
    const CurrentDevice current(device_);
    return apsis::cuda::is_page_locked(data, bytes);
}

void CudaTransferQueue::mark(Lane lane, int number) {
    const CurrentDevice current(device_);
    check(cudaEventRecord(marks_[number].handle, stream(lane)), "marking a part");
}

void CudaTransferQueue::follow(Lane lane, int number) {
    const CurrentDevice current(device_);
    check(cudaStreamWaitEvent(stream(lane), marks_[number].handle, 0), "queueing behind a part");
}

void CudaTransferQueue::await(int number) {
    const CurrentDevice current(device_);
    check(cudaEventSynchronize(marks_[number].handle), "waiting for a part");
}

void CudaTransferQueue::sync() {
    const CurrentDevice current(device_);
    check(cudaStreamSynchronize(in_.handle), "waiting for copies in");
    check(cudaStreamSynchronize(out_.handle), "waiting for copies out");
}

size_t CudaTransferQueue::scratch(const DistanceJob &job) const { return plan_of(job, limits_).scratch; }

void CudaTransferQueue::take(const DistanceJob &job, const StripRange &range, void *scratch) {
    const CurrentDevice current(device_);
    DistanceJob own = job;
    own.slab.page_locked = &page_locked_;
    take_rows(own, plan_of(job, range, limits_), range, scratch, work_);
}

void CudaTransferQueue::give(const DistanceJob &job, const StripRange &range, void *scratch) {
    const CurrentDevice current(device_);
    give_rows(job, plan_of(job, range, limits_), range, scratch, work_);
}

}  // namespace apsis::cuda::plane
