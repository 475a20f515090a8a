// A device back end strip by strip, for host images: the transform of some strips at a time, and copies between host and device
// that run beside it.  streamer.cpp decides their order.
#pragma once

#include "core/columns.h"
#include "runtime/backend.h"

namespace apsis {

/// The back end's stream, and one lane for each direction between host and device.  The work of the lanes overlaps.
enum class Lane { WORK, IN, OUT };

class TransferQueue {
  public:
    static constexpr int MARKS = 8;

    virtual ~TransferQueue() = default;

    /// Copies bytes between the device and page-locked host memory.
    virtual void copy(Lane lane, void *to, const void *from, size_t bytes) = 0;
    virtual bool is_page_locked(const void *data, size_t bytes) const = 0;

    // Order.  A mark is passed when all work is done that was on its lane when it was last set, or if it was never set.
    virtual void mark(Lane lane, int number) = 0;
    /// Work that is queued on the lane from now on waits for the mark.
    virtual void follow(Lane lane, int number) = 0;
    /// Waits on the calling thread.  Backend::sync() waits for all lanes.
    virtual void await(int number) = 0;

    // The transform, on the stream: all strips are taken, in their order, and then given.  Only the rows of the range are read
    // from the set or written to the outputs.  The other rows need no memory.  A set that is found is taken whole.
    virtual size_t scratch(const DistanceJob &job) const = 0;
    virtual void take(const DistanceJob &job, const StripRange &range, void *scratch) = 0;
    virtual void give(const DistanceJob &job, const StripRange &range, void *scratch) = 0;
};

}  // namespace apsis
