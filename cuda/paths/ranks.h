// Ranks: an order of the pixels of a set.  The pixels of a component follow each other; in it the pixels of a tile; in a tile
// the pixels of a smaller tile.  The CPU back end has the same order, and so the same choices of pair bounds (pair_bounds.h).
#pragma once

#include <cuda_runtime.h>

#include "core/seam.h"
#include "cuda/runtime/host_number.h"
#include "runtime/backend.h"

namespace apsis::cuda::paths {

constexpr uint32_t NO_PIXEL = UINT32_MAX;  // no pixel, no rank

/// An image as numbered pixels.
struct Raster {
    uint32_t width, height, depth;

    struct Place {
        int32_t x, y, z;
    };
    APSIS_BOTH int64_t pixels() const { return int64_t(width) * height * depth; }
    APSIS_BOTH bool holds(const Place &at) const {
        return static_cast<uint32_t>(at.x) < width && static_cast<uint32_t>(at.y) < height &&
               static_cast<uint32_t>(at.z) < depth;
    }
    APSIS_BOTH uint32_t pixel(const Place &at) const { return (at.z * height + at.y) * width + at.x; }
    APSIS_BOTH Place place(uint32_t pixel) const {
        const uint32_t row = pixel / width, z = row / height;
        return {static_cast<int32_t>(pixel - row * width), static_cast<int32_t>(row - z * height), static_cast<int32_t>(z)};
    }
};

/// The steps to the neighbours of a pixel, in the order of the neighbours: the first half to earlier pixels, the others to
/// later ones; but across a seam it is the other way about.
struct Moves {
    static constexpr int MOST = 26;
    int axes, count = 0;
    Periodic periodic;
    bool is_periodic;
    int8_t by[MOST][3];
    int64_t weight[MOST];

    template <class Job>
    explicit Moves(const Job &job) : Moves(job.steps, job.axes, job.periodic) {}

    Moves(const Steps &steps, int dimensions, const Periodic &of_image)
        : axes(dimensions),
          periodic(of_image),
          is_periodic(of_image.any()) {
        for (int n = 0; n < 27; ++n) {
            const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1, kind = kind_of(dx, dy, dz);
            if ((dimensions == 2 && dz) || steps.weight[kind] == 0) continue;
            by[count][0] = static_cast<int8_t>(dx), by[count][1] = static_cast<int8_t>(dy),
            by[count][2] = static_cast<int8_t>(dz);
            weight[count++] = steps.weight[kind];
        }
    }
    APSIS_BOTH Raster::Place move(int k) const { return {by[k][0], by[k][1], by[k][2]}; }
    /// Where a move leads: beyond the image, if it leaves it.
    APSIS_BOTH Raster::Place place(const Raster &raster, const Raster::Place &from, const Raster::Place &move) const {
        const Raster::Place to = {from.x + move.x, from.y + move.y, from.z + move.z};
        if (!is_periodic || raster.holds(to)) return to;
        return {static_cast<int32_t>(periodic.wrap(0, to.x, raster.width)),
                static_cast<int32_t>(periodic.wrap(1, to.y, raster.height)),
                static_cast<int32_t>(periodic.wrap(2, to.z, raster.depth))};
    }
    /// The pixel there, or NO_PIXEL.
    APSIS_BOTH uint32_t target(const Raster &raster, const Raster::Place &from, int k) const {
        const Raster::Place to = place(raster, from, move(k));
        return raster.holds(to) ? raster.pixel(to) : NO_PIXEL;
    }
};

/// Components count from 0 here.
struct Ranks {
    Raster raster;
    uint32_t *pixel;  // [rank]
    uint32_t *rank;   // [pixel]: NO_PIXEL outside the set
    uint32_t *start;  // [component]: its first rank; behind the last component, where its ranks end
};

/// Lower bounds of the eccentricities of pixels, by rank.
template <class Length>
struct LowerBounds {
    Length *lower;       // the lower bound
    uint32_t *farthest;  // the pixel at that distance, where wanted
};

/// The largest value, and the lowest pixel that has it.
template <class Length>
struct Largest {
    Length value = -1;
    uint32_t pixel = NO_PIXEL;

    __device__ bool operator>(const Largest &other) const {
        return value > other.value || (value == other.value && pixel < other.pixel);
    }
    __device__ void raise(const Largest &other) {
        if (other > *this) *this = other;
    }
    /// Warp: the largest of the lanes' values, for all lanes.
    __device__ Largest of_warp() const {
        const Length most = greatest_of_warp(value);
        return {most, least_of_warp(value == most ? pixel : NO_PIXEL)};
    }
};

/// Throws APSIS_ERROR_UNSUPPORTED if an image has more pixels than ranks have bits for.
Raster raster_of(const View &set);

/// The scratch memory of rank_pixels().
size_t ranking_bytes(const EccentricityJob &job);

/// Ranks the pixels of a set; returns the number of components.  `spare` has room for a number a pixel, and may change places
/// with ranks.pixel.
int64_t rank_pixels(const EccentricityJob &job, Ranks &ranks, uint32_t *&spare, void *memory, cudaStream_t stream,
                    const Progress &progress, HostNumber *number);

}  // namespace apsis::cuda::paths
