// Shared by the published methods of distance and Voronoi maps on the device: a map of sites, its initial state, the conversion
// of a mixed map, which may lack exclaves, to the complete one, and the outputs.
#pragma once

#include <cuda_runtime.h>

#include "core/exclaves.h"
#include "cuda/runtime/launch.h"
#include "runtime/backend.h"
#include "runtime/workspace.h"

namespace apsis::cuda::published {

/// The site that each pixel of each slice holds, or NO_SITE; packed.
struct SiteMaps {
    Site *sites = nullptr;
    int width = 0, height = 0;
    int64_t slices = 0;

    explicit SiteMaps(const View &set, Site *memory = nullptr)
        : sites(memory),
          width(static_cast<int>(set.size[0])),
          height(static_cast<int>(set.size[1])),
          slices(set.size[2]) {}

    APSIS_BOTH int64_t area() const { return int64_t(width) * height; }
    int64_t pixels() const { return area() * slices; }

#if defined(__CUDACC__)
    __device__ SiteMap slice(int64_t z) const { return {sites + z * area(), width, height}; }
    __device__ Site *at(int x, int y, int64_t z) const { return sites + z * area() + int64_t(y) * width + x; }
#endif
};

/// The side of a patch: the square of pixels that a block takes at a time, with its rows divided among warps.
constexpr int PATCH = WARP;

inline int64_t count_patches(int64_t width, int64_t height, int64_t slices) {
    return ceil_div(width, PATCH) * ceil_div(height, PATCH) * slices;
}

#if defined(__CUDACC__)

struct Patch {
    int left, top;
    int64_t z;
};

/// Block: calls body(patch) for the patches that the block takes.
template <class Body>
__device__ void for_patches(int width, int height, int64_t slices, Body body) {
    const int64_t across = ceil_div(width, PATCH), down = ceil_div(height, PATCH), total = across * down * slices;
    for (int64_t item = blockIdx.x; item < total; item += gridDim.x) {
        const int64_t line = item / across;
        body(Patch{static_cast<int>(item - line * across) * PATCH, static_cast<int>(line % down) * PATCH, line / down});
    }
}

/// Block, of BLOCK threads: calls body(x, y, z) for every pixel that the block takes, each in one thread.
template <class Body>
__device__ void for_pixels(int width, int height, int64_t slices, Body body) {
    for_patches(width, height, slices, [&](const Patch &patch) {
        const int x = patch.left + static_cast<int>(threadIdx.x) % WARP;
#pragma unroll
        for (int row = 0; row < PATCH; row += WARPS) {
            const int y = patch.top + row + static_cast<int>(threadIdx.x) / WARP;
            if (x < width && y < height) body(x, y, patch.z);
        }
    });
}

#endif

/// Queues the initial map: every site holds itself, and other pixels NO_SITE.
void fill_map(const DistanceJob &job, const SiteMaps &maps, cudaStream_t stream);

/// Queues the conversion of a mixed map to the complete one.  It needs count_marks words for marks.
int64_t count_marks(const SiteMaps &maps);
void complete_map(const SiteMaps &mixed, const SiteMaps &complete, uint32_t *marks, cudaStream_t stream);

/// Queues the outputs.
void write_map(const DistanceJob &job, const SiteMaps &maps, cudaStream_t stream);

/// Counts the pixels in which two maps differ, in `count` on the device, and waits for the result.
int64_t count_mended(const SiteMaps &mixed, const SiteMaps &complete, unsigned long long *count, cudaStream_t stream);

}  // namespace apsis::cuda::published
