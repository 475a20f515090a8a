// APSIS_EVERY_SOURCE: eccentricities by a distance field from every pixel (every_source.cu).
#pragma once

#include "cuda/paths/pair_bounds.h"

namespace apsis::cuda::paths {

template <class Length>
size_t every_source_bytes(const EccentricityJob &job);

/// Solves all components.  Returns the size of the largest, which is the number of fields.  Throws TooLong.
template <class Length>
int64_t solve_every_source(const EccentricityJob &job, const Ranks &ranks, uint32_t components, Length *longest,
                           uint32_t *farthest, void *memory, cudaStream_t stream, const Progress &progress);

}  // namespace apsis::cuda::paths
