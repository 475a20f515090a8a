// Euclidean distance maps of volumes: columns of bits along z with carries, then lines along y and lines along x.  plan.cu
// chooses the way for both (layout.h lists the three).
//
// Cost: 1 byte a voxel in (1/8 from bits) and the outputs out.  Between these, 3/8 byte a voxel of words and carries, mostly in
// the second cache, and 2 bytes a voxel of results along y written and read (4 for nearest sites); 4 more for the argmin.
#include "cuda/distance/volume/volume.h"

#include "cuda/columns/columns.h"
#include "cuda/distance/volume/layout.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/progress.h"

namespace apsis::cuda::volume {

namespace {

/// Sets the carries of columns of a single strip: no site before, none after.
__global__ void __launch_bounds__(BLOCK) fill_empty_carries(Columns columns) {
    const int64_t at = int64_t(blockIdx.x) * BLOCK + threadIdx.x;
    if (at < columns.total()) columns.before[at] = NO_SITE_BEFORE, columns.after[at] = NO_SITE_AFTER;
}

void find_carries(const Columns &columns, const DistanceJob &job, bool inside, cudaStream_t stream) {
    if (columns.strips() > 1 || job.is_slab()) return columns::carry_columns(columns, job, inside, stream);
    launch("fill_empty_carries", fill_empty_carries, ceil_div(columns.total(), BLOCK), BLOCK, stream, columns);
}

__global__ void __launch_bounds__(BLOCK) fill_length_table(Layout layout, int32_t count) {
    const int32_t cost = blockIdx.x * BLOCK + threadIdx.x;
    if (cost < count) layout.length_table[cost] = length_of<float>(layout.output.measure, cost);
}

void fill(void *bytes, int value, int64_t count, cudaStream_t stream) {
    check(cudaMemsetAsync(bytes, value, static_cast<size_t>(count), stream), "preparing marks");
}

}  // namespace

void distance_in_volume(const DistanceJob &job, const Plan &plan, void *memory, cudaStream_t stream, const Progress &progress) {
    if (job.set.pixels() == 0) return;
    const int sides = job.is_signed ? 2 : 1;
    for (int side = 0; side < sides; ++side) {
        const bool inside = side == 1;
        Carver carver(memory);
        const Layout layout = carve_layout(job, plan, inside, carver);
        const auto report_done = [&](double done) { report(progress, (side + done) / sides, stream); };
        columns::pack_columns(columns::swap_y_z(job.set), 1, job.complement != inside, layout.columns, stream);
        find_carries(layout.columns, job, inside, stream);
        report_done(0.2);
        const bool is_all_marked = !plan.near && !plan.windows;
        fill(layout.marks, is_all_marked, layout.count_marks(), stream);
        fill(layout.far, is_all_marked, sizeof *layout.far + layout.count_needs(), stream);
        launch(plan.table, fill_length_table, stream, layout, plan.table_size);
        if (plan.is_sampled) count_far_samples(plan, layout, stream);
        if (!plan.near) fill(&layout.far->of_near, 0xff, sizeof layout.far->of_near, stream);
        if (plan.near) search_near(plan, layout, stream);
        if (plan.windows) search_in_windows(plan, layout, stream);
        report_done(0.5);
        search_marked(plan, layout, stream);
        report_done(1);
    }
}

}  // namespace apsis::cuda::volume
