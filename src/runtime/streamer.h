// Host images through a device in parts: copies in, work and copies out run side by side, and the device holds no whole image.
#pragma once

#include "runtime/context.h"
#include "runtime/transfer_queue.h"

namespace apsis {

/// The queue that passes a job's images through the device in parts; null if none is on the host, or they must pass whole.
TransferQueue *find_transfer_queue(const apsis_context &context, const DistanceJob &job);

/// The bytes of scratch memory that it takes.
size_t streaming_bytes(const DistanceJob &job, TransferQueue &queue);

/// Computes the job, and waits, also on failure: the caller's memory is not touched after the call.
void stream_distance(apsis_context &context, const DistanceJob &job, TransferQueue &queue, void *memory);

}  // namespace apsis
