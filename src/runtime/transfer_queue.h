// A device back end strip by strip, for host images: the transform of some strips at a time, and copies across that run
// beside it.  streamer.cpp says what comes when.
#pragma once

#include "core/columns.h"
#include "runtime/backend.h"

namespace apsis {

/// The back end's stream, and a lane for each way between host and device.  What is queued on one runs beside the others.
enum class Lane { WORK, IN, OUT };

class TransferQueue {
  public:
    static constexpr int MARKS = 8;

    virtual ~TransferQueue() = default;

    /// Copies bytes between the device and page-locked host memory.
    virtual void copy(Lane lane, void *to, const void *from, size_t bytes) = 0;
    virtual bool is_page_locked(const void *data, size_t bytes) const = 0;

    // Order.  A mark stands where its lane was when it was last set; one that never was has been passed.
    virtual void mark(Lane lane, int number) = 0;
    /// What is queued on the lane from now on comes after the mark.
    virtual void follow(Lane lane, int number) = 0;
    /// The calling thread waits.  Backend::sync() waits for all lanes.
    virtual void await(int number) = 0;

    // The transform, on the stream: all strips are taken, in their order, and then given.  Only the rows of the range are
    // read from the set, and written to the outputs; of the others there need be no memory.
    virtual size_t scratch(const DistanceJob &job) const = 0;
    virtual void take(const DistanceJob &job, const StripRange &range, void *scratch) = 0;
    virtual void give(const DistanceJob &job, const StripRange &range, void *scratch) = 0;
};

}  // namespace apsis
