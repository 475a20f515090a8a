// Which way serves a distance map of a volume: all conditions.  The launches of a way are planned beside its kernels.
//
// - Near search: where nearly all voxels have a site within 8 voxels.  Without it such volumes take up to 50 % more (one H200).
// - Windows: elsewhere, for sites within some 240 voxels.  Where outputs are simple, separate code saves up to 10 %.
// - Monotone argmin: for patches that either has marked.  It serves alone where neither can hold the costs, or most sites are
//   far: windows would read them long before they find the nearest.  Bundles of 16
//   lines, and of 256 where lines are short, save up to 11 % and 47 % of the time of bundles of 8.
//
// The device chooses between the first two by a sample of the voxels, so that the host does not wait.  Without windows the near
// search takes every image, and leaves far patches to the argmin.
#include "cuda/distance/volume/layout.h"

#include "cuda/columns/columns.h"
#include "cuda/distance/volume/volume.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

namespace {

/// Whether a view is not wanted, or its rows are packed numbers of a type.
bool is_packed(const View &view, apsis_type type) { return !view || (view.type == type && view.stride[0] == 4); }

/// The layout of a side, still without memory.
Layout shape_layout(const DistanceJob &job, bool inside) {
    Layout layout = {columns::shape_columns(columns::swap_y_z(job.set), 1), Output(job, inside)};
    layout.has_squares = job.distance && job.distance.type == APSIS_I32;
    layout.is_packed = !job.is_signed && is_packed(job.distance, layout.has_squares ? APSIS_I32 : APSIS_F32) &&
                       is_packed(job.nearest, APSIS_I32);
    layout.has_doubles = !job.is_signed && !job.nearest && job.distance.type == APSIS_F64 && job.distance.stride[0] == 8;
    for (int axis = 0; axis < 3; ++axis) layout.weight[axis] = static_cast<int32_t>(job.measure.weight[axis]);
    return layout;
}

}  // namespace

Layout carve_layout(const DistanceJob &job, const Plan &plan, bool inside, Carver &carver) {
    Layout layout = shape_layout(job, inside);
    columns::carve_words(layout.columns, carver);
    columns::carve_carries(layout.columns, job, carver);
    layout.marks = carver.take<uint8_t>(layout.count_marks());
    layout.far = carver.take<FarSamples>(1 + ceil_div(layout.count_needs(), sizeof(FarSamples)));
    layout.needs = reinterpret_cast<uint8_t *>(layout.far + 1);
    layout.length_table = carver.take<float>(plan.table_size);
    const int64_t of_argmin = layout.depth() * layout.width() * y_pitch(layout);  // windows store as many words, or half
    layout.y_results = carver.take<uint32_t>(std::max(near_search_words(layout), of_argmin));
    return layout;
}

Plan plan_of(const DistanceJob &job, const Limits &limits) {
    Plan plan;
    if (job.axes != 3 || job.measure.metric != APSIS_EUCLIDEAN || !is_narrow(job.measure)) return plan;
    const Layout layout = shape_layout(job, false);
    plan.serves = plan_argmin(plan, layout, job.slab.extent, limits);
    if (!plan.serves) return plan;
    plan.near = plan_near_search(plan, layout, limits);
    plan.windows = plan_windows(plan, layout, limits) && !(plan.near && near_search_suffices(layout));
    plan.is_sampled = plan.near && plan.windows;
    if (plan.is_sampled) {
        plan.sample = {"sample_voxels", SAMPLES / WARPS, BLOCK};
        plan.sample_reach = {"sample_reach", SPARSE_SAMPLES, REACH_THREADS};
    }
    if (plan.table_size) plan.table = {"fill_length_table", ceil_div(plan.table_size, BLOCK), BLOCK};
    Carver carver;
    carve_layout(job, plan, false, carver);
    plan.scratch = carver.used();
    return plan;
}

}  // namespace apsis::cuda::volume
