// Small components, many at a time, with a field from each of their pixels (small_components.cu).
#pragma once

#include "cuda/paths/ranks.h"

namespace apsis::cuda::paths {

/// Small components come in classes of sizes; a class has twice the size of the class before.
constexpr int SIZE_CLASSES = 4;
constexpr uint32_t SMALLEST_CLASS = 32;
/// The largest small component: shared memory has room for its fields.
template <class Length>
constexpr uint32_t MOST_SMALL = SMALLEST_CLASS << (sizeof(Length) == 4 ? SIZE_CLASSES - 1 : SIZE_CLASSES - 2);

/// Finds the eccentricities of listed components, of at most `most` pixels each: by rank, the length and the farthest pixel.
template <class Length>
void solve_small(const EccentricityJob &job, const Ranks &ranks, const uint32_t *list, uint32_t count, uint32_t most,
                 Length *longest, uint32_t *farthest, cudaStream_t stream);

}  // namespace apsis::cuda::paths
