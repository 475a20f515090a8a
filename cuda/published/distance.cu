// The published methods of Euclidean distance in the plane: which one serves a job, and what their calls have in common.
#include "cuda/published/jump_flood.cuh"
#include "cuda/published/raster_scan.cuh"
#include "cuda/published/sweep.cuh"
#include "cuda/transforms.h"

namespace apsis::cuda::published {

namespace {

/// Calls body(method) with the method of a job in its scratch memory.
template <class Body>
void with_method(const DistanceJob &job, Carver &carver, Body body) {
    if (job.method == APSIS_RASTER_SCAN) return body(RasterScan(job, carver));
    if (job.method == APSIS_JUMP_FLOOD) return body(JumpFlood(job, carver));
    body(FourSweeps(job, carver));
}

}  // namespace

size_t distance_scratch(const DistanceJob &job) {
    Carver carver;
    with_method(job, carver, [](auto &&) {});
    return carver.used();
}

void distance(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    if (job.set.pixels() == 0) return;
    Carver carver(memory);
    with_method(job, carver, [&](auto &&method) {
        const SiteMaps maps = method.run(stream, progress);
        report(progress, 0.9, stream);
        write_map(job, maps, stream);
    });
    report(progress, 1, stream);
}

}  // namespace apsis::cuda::published
