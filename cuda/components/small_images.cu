// See small_images.cuh.
#include "cuda/components/small_images.h"

#include "cuda/components/small_images.cuh"
#include "cuda/runtime/progress.h"

namespace apsis::cuda::components {

namespace {

void label_tiles(const ComponentsJob &job, const Plan &plan, void *memory, cudaStream_t stream, const Progress &progress,
                 uint32_t *told) {
    with_small_tile(plan, [&](auto tile) {
        using Tile = decltype(tile);
        Carver carver(memory);
        const Tiles tiles = tiles_of<Tile>(job, plan, carver);
        launch(plan.label, label_tile<Tile, false>, stream, job.set, is_aligned(job.set), job.complement, tiles);
        report(progress, 0.4, stream);
        launch(plan.join, join_small_tiles<Tile>, early(stream), tiles, split_joins<Tile>(tiles.count(), tiles.across > 1),
               told);
        report(progress, 0.6, stream);
        launch(plan.write, write_tile<Tile, OwnNumbers>, early(stream), job.labels, job.complement, tiles, OwnNumbers());
    });
}

}  // namespace

size_t small_image_scratch(const ComponentsJob &job) {
    const Plan plan = small_image_plan_of(job);
    if (!plan.is_small_image || plan.is_one_tile) return 0;
    return with_small_tile(plan, [&](auto tile) {
        Carver carver;
        tiles_of<decltype(tile)>(job, plan, carver);
        return carver.used();
    });
}

void label_small_image(const ComponentsJob &job, const Plan &plan, void *memory, cudaStream_t stream, const Progress &progress,
                       HostNumber *number) {
    uint32_t *const told = job.count ? number->memory() : nullptr;
    if (plan.is_one_tile)
        launch(plan.label, plan.connectivity == 1 ? label_one_tile<PlaneTile<1>> : label_one_tile<PlaneTile<2>>, stream,
               job.set, is_aligned(job.set), job.complement, job.labels, told);
    else
        label_tiles(job, plan, memory, stream, progress, told);
    if (job.count) {
        check(cudaStreamSynchronize(stream), "waiting for a number");
        *job.count = *number->memory();
    }
    report(progress, 1, stream);
}

}  // namespace apsis::cuda::components
