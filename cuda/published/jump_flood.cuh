// APSIS_JUMP_FLOOD on CUDA: jump flooding (Rong and Tan 2006), with one pass of step 1 before the others (1+JFA, Rong and Tan
// 2007).  It is approximate: the pixels that should pass on a pixel's site may have taken other sites.
//
// In a pass every pixel takes the nearest of the sites that it and the eight pixels at a step from it hold.  A pass reads one
// map and writes another, so that the result does not depend on the order of threads.  Steps go from the power of two at or
// above half the larger extent down to 1.
//
// Cost: 1 byte a pixel in, 4 out; and for each of the log2(n) + 1 passes 9 loads of 4 bytes and 4 bytes out.  Of the loads,
// three come from memory where steps are long, and one where steps are short.  Memory: 8 bytes a pixel.
#pragma once

#include "cuda/published/site_map.cuh"

namespace apsis::cuda::published {

/// The nearest of the sites that three pixels of a row hold, a step apart.  Pixels beyond the image hold none.
__device__ inline uint64_t nearest_in_row(const SiteMaps &from, int x, int y, int64_t z, int step, int row) {
    uint64_t best = nearness(x, y, NO_SITE);
    if (row < 0 || row >= from.height) return best;
    const Site *const sites = from.at(0, row, z);
    best = min(best, nearness(x, y, sites[x]));
    if (x >= step) best = min(best, nearness(x, y, sites[x - step]));
    if (x + step < from.width) best = min(best, nearness(x, y, sites[x + step]));
    return best;
}

static __global__ void __launch_bounds__(BLOCK) flood(SiteMaps from, SiteMaps to, int step) {
    for_pixels(from, [&](int x, int y, int64_t z) {
        const auto row = [&](int at) { return nearest_in_row(from, x, y, z, step, at); };
        *to.at(x, y, z) = static_cast<Site>(min(row(y), min(row(y - step), row(y + step))));
    });
}

class JumpFlood {
  public:
    JumpFlood(const DistanceJob &job, Carver &carver) : job_(job), from_(job.set), to_(job.set) {
        from_.sites = carver.take<Site>(job.set.pixels());
        to_.sites = carver.take<Site>(job.set.pixels());
    }

    SiteMaps run(cudaStream_t stream, const Progress &progress) {
        fill_map(job_, from_, stream);
        const int passes = count_passes();
        for (int pass = 0; pass < passes; ++pass) {
            const int step = pass == 0 ? 1 : 1 << (passes - 1 - pass);
            launch("flood", flood, count_patches(from_), BLOCK, stream, from_, to_, step);
            std::swap(from_, to_);
            report(progress, 0.9 * (pass + 1) / passes, stream);
        }
        if (job_.report) *job_.report = {passes, 0};
        return from_;
    }

  private:
    /// The pass with step 1, and one for each power of two up to the first that is at least half of the image.
    int count_passes() const {
        int passes = 2;
        while (2 << (passes - 2) < std::max(from_.width, from_.height)) ++passes;
        return passes;
    }

    const DistanceJob &job_;
    SiteMaps from_, to_;
};

}  // namespace apsis::cuda::published
