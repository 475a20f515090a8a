// Outputs of a map that are there, changed pixel by pixel.
#pragma once

#include <cuda_runtime.h>

#include "core/label_values.h"
#include "runtime/backend.h"

namespace apsis::cuda {

/// Queues that the border of the image is taken into account in the outputs of a job.
void settle_border(const DistanceJob &job, cudaStream_t stream);

/// Queues that each index in `nearest` becomes the label there, and -1 becomes 0.
void write_labels(const View &nearest, const LabelValues &labels, cudaStream_t stream);

/// Queues that the labels of the pixels where a mask is 1 are written, otherwise 0.  The result may be the labels.
void keep_labels(const View &mask, const View &labels, const View &result, cudaStream_t stream);

}  // namespace apsis::cuda
