// Small components, many at a time, with a field from each of their pixels (small_components.cu).
#pragma once

#include "cuda/paths/plan.h"
#include "cuda/paths/ranks.h"

namespace apsis::cuda::paths {

/// The largest small component: shared memory has room for its fields.
template <class Length>
constexpr uint32_t MOST_SMALL = SMALLEST_CLASS << (sizeof(Length) == 4 ? SIZE_CLASSES - 1 : SIZE_CLASSES - 2);

/// The launch for a class, of components of at most `most` pixels; empty if there is no such class.
template <class Length>
Launch plan_small(const EccentricityJob &job, uint32_t most);

/// Finds the eccentricities of listed components of a class: by rank, the length and the farthest pixel.
template <class Length>
void solve_small(const EccentricityJob &job, const Launch &plan, const Ranks &ranks, const uint32_t *list, uint32_t count,
                 uint32_t most, Length *longest, uint32_t *farthest, cudaStream_t stream);

}  // namespace apsis::cuda::paths
