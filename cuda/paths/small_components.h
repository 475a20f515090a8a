// Small components, many at a time: a field from each of their pixels.
#pragma once

#include "cuda/paths/ranks.h"

namespace apsis::cuda::paths {

/// Sizes come in classes, each of components of twice as many pixels as the last; and larger ones.
constexpr int SIZE_CLASSES = 4;
constexpr uint32_t SMALLEST_CLASS = 32;
template <class Length>
constexpr uint32_t MOST_SMALL =
    SMALLEST_CLASS << (sizeof(Length) == 4 ? SIZE_CLASSES - 1 : SIZE_CLASSES - 2);  // the largest: see their memory

/// The eccentricities of components that are listed, all of at most `most` pixels: a length and a farthest pixel by rank.
template <class Length>
void solve_small(const EccentricityJob &job, const Ranks &ranks, const uint32_t *list, uint32_t count, uint32_t most,
                 Length *longest, uint32_t *farthest, cudaStream_t stream);

}  // namespace apsis::cuda::paths
