// Euclidean distance maps of volumes: columns of bits along z with carries, then lines along y and lines along x.
// distance_in_volume() chooses the way for both (layout.h lists the three).
//
// Cost: 1 byte a voxel in (1/8 from bits) and the outputs out.  Between these, 3/8 byte a voxel of words and carries, mostly in
// the second cache, and 2 bytes a voxel of results along y written and read (4 for nearest sites); 4 more for the argmin.
#include "cuda/distance/volume/layout.h"

#include "cuda/columns/columns.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::volume {

using namespace columns;

namespace {

/// A view with y and z exchanged: an image for every y, whose rows are the planes.  Columns of one y lie side by side along x.
View swap_y_z(View set) {
    std::swap(set.size[1], set.size[2]);
    std::swap(set.stride[1], set.stride[2]);
    return set;
}

/// Whether a view is not wanted, or its rows are packed numbers of a type.
bool is_packed(const View &view, apsis_type type) {
    return !view || (view.type == type && view.stride[0] == 4);
}

/// The layout of a call, still without memory.
Layout shape_layout(const DistanceJob &job, bool inside) {
    Layout layout = {
        shape_columns(swap_y_z(job.set), 1), {}, nullptr, nullptr, nullptr, nullptr, Output(job, inside), nullptr, false};
    layout.is_packed = !job.is_signed && is_packed(job.distance, APSIS_F32) && is_packed(job.nearest, APSIS_I32);
    for (int axis = 0; axis < 3; ++axis) layout.weight[axis] = static_cast<int32_t>(job.measure.weight[axis]);
    return layout;
}

void carve_layout(Layout &layout, Carver &carver) {
    carve_words(layout.columns, carver);
    carve_carries(layout.columns, carver);
    layout.marks = carver.take<uint8_t>(layout.count_marks());
    layout.far_samples = carver.take<uint32_t>(1 + ceil_div(layout.count_needs(), sizeof(uint32_t)));
    layout.needs = reinterpret_cast<uint8_t *>(layout.far_samples + 1);
    layout.length_table = carver.take<float>(std::max(near_search_table_size(layout), window_table_size(layout)));
    layout.y_results = carver.take<uint32_t>(std::max({near_search_words(layout), window_words(layout), argmin_words(layout)}));
}

/// The carries of columns of a single strip: no site before, none after.
__global__ void __launch_bounds__(BLOCK) fill_empty_carries(Columns columns) {
    const int64_t at = int64_t(blockIdx.x) * BLOCK + threadIdx.x;
    if (at < columns.total()) columns.before[at] = NO_SITE_BEFORE, columns.after[at] = NO_SITE_AFTER;
}

void find_carries(const Columns &columns, cudaStream_t stream) {
    if (columns.strips() > 1) return carry_columns(columns, stream);
    launch("fill_empty_carries", fill_empty_carries, ceil_div(columns.total(), BLOCK), BLOCK, stream, columns);
}

void fill(void *bytes, int value, int64_t count, cudaStream_t stream) {
    check(cudaMemsetAsync(bytes, value, static_cast<size_t>(count), stream), "preparing marks");
}

}  // namespace

bool volume_serves(const DistanceJob &job) {
    return job.axes == 3 && job.measure.metric == APSIS_EUCLIDEAN && is_narrow(job.measure) &&
           argmin_serves(shape_layout(job, false));
}

size_t volume_scratch(const DistanceJob &job) {
    Carver carver;
    Layout layout = shape_layout(job, false);
    carve_layout(layout, carver);
    return carver.used();
}

void distance_in_volume(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    if (job.set.pixels() == 0) return;
    const int sides = job.is_signed ? 2 : 1;
    for (int side = 0; side < sides; ++side) {
        const bool inside = side == 1;
        Carver carver(memory);
        Layout layout = shape_layout(job, inside);
        carve_layout(layout, carver);
        const auto report_done = [&](double done) { report(progress, (side + done) / sides, stream); };
        pack_columns(swap_y_z(job.set), 1, job.complement != inside, layout.columns, stream);
        find_carries(layout.columns, stream);
        report_done(0.2);
        const bool near = near_search_serves(layout), windows = windows_serve(layout);
        // A sample decides between near search and windows.  Without windows the near search takes every image, and leaves to
        // the argmin what is far.
        const bool is_sampled = near && windows && !near_search_suffices(layout);
        fill(layout.marks, !near && !windows, layout.count_marks(), stream);
        fill(layout.far_samples, !near && !windows, sizeof *layout.far_samples + layout.count_needs(), stream);
        if (is_sampled) count_far_samples(layout, stream);
        if (!near) fill(layout.far_samples, 0xff, sizeof *layout.far_samples, stream);
        if (near) search_near(layout, stream);
        if (windows && (is_sampled || !near)) search_in_windows(layout, stream);
        report_done(0.5);
        search_marked(layout, stream);
        report_done(1);
    }
}

}  // namespace apsis::cuda::volume
