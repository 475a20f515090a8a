// Euclidean distance maps of volumes: columns of bits along z with carries, then lines along y and lines along x.
// distance_in_volume() chooses the way for both (layout.h lists the three).
//
// Cost: 1 byte a voxel in (1/8 from bits) and the outputs out.  Between these, 3/8 byte a voxel of words and carries, mostly in
// the second cache, and 2 bytes a voxel written and read of results along y (4 for nearest sites); 4 more where the argmin runs.
#include "cuda/distance/volume/layout.h"

#include "cuda/columns/columns.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::volume {

using namespace columns;

namespace {

/// A view with y and z exchanged: an image for every y, whose rows are the planes.  Columns of one y lie side by side along x.
View turn(View set) {
    std::swap(set.size[1], set.size[2]);
    std::swap(set.stride[1], set.stride[2]);
    return set;
}

/// Whether a view is not wanted, or its rows are packed numbers of a type.
bool is_plain(const View &view, apsis_type type) {
    return !view || (view.type == type && view.stride[0] == 4);
}

/// The layout of a call, still without memory.
Volume shape_volume(const DistanceJob &job, bool inside) {
    Volume volume = {
        shape_columns(turn(job.set), 1), {}, nullptr, nullptr, nullptr, nullptr, Output(job, inside), nullptr, false};
    volume.plain = !job.is_signed && is_plain(job.distance, APSIS_F32) && is_plain(job.nearest, APSIS_I32);
    for (int axis = 0; axis < 3; ++axis) volume.weight[axis] = static_cast<int32_t>(job.measure.weight[axis]);
    return volume;
}

void carve_volume(Volume &volume, Carver &carver) {
    carve_words(volume.columns, carver);
    carve_carries(volume.columns, carver);
    volume.marks = carver.take<uint8_t>(volume.count_marks());
    volume.far = carver.take<uint32_t>(1 + ceil_div(volume.count_needs(), sizeof(uint32_t)));
    volume.needs = reinterpret_cast<uint8_t *>(volume.far + 1);
    volume.lengths = carver.take<float>(std::max(outward_lengths(volume), window_lengths(volume)));
    volume.store = carver.take<uint32_t>(std::max({outward_store(volume), window_store(volume), argmin_store(volume)}));
}

/// The carries of columns of a single strip: no site before, none after.
__global__ void __launch_bounds__(BLOCK) carry_nothing(Columns columns) {
    const int64_t at = int64_t(blockIdx.x) * BLOCK + threadIdx.x;
    if (at < columns.total()) columns.before[at] = NO_SITE_BEFORE, columns.after[at] = NO_SITE_AFTER;
}

void find_carries(const Columns &columns, cudaStream_t stream) {
    if (columns.strips() > 1) return carry_columns(columns, stream);
    launch("carry_nothing", carry_nothing, ceil_div(columns.total(), BLOCK), BLOCK, stream, columns);
}

void fill(void *bytes, int value, int64_t count, cudaStream_t stream) {
    check(cudaMemsetAsync(bytes, value, static_cast<size_t>(count), stream), "preparing marks");
}

}  // namespace

bool volume_serves(const DistanceJob &job) {
    return job.axes == 3 && job.measure.metric == APSIS_EUCLIDEAN && is_narrow(job.measure) &&
           argmin_serves(shape_volume(job, false));
}

size_t volume_scratch(const DistanceJob &job) {
    Carver carver;
    Volume volume = shape_volume(job, false);
    carve_volume(volume, carver);
    return carver.used();
}

void distance_in_volume(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    if (job.set.pixels() == 0) return;
    const int sides = job.is_signed ? 2 : 1;
    for (int side = 0; side < sides; ++side) {
        const bool inside = side == 1;
        Carver carver(memory);
        Volume volume = shape_volume(job, inside);
        carve_volume(volume, carver);
        const auto tell = [&](double done) { report(progress, (side + done) / sides, stream); };
        pack_columns(turn(job.set), 1, job.complement != inside, volume.columns, stream);
        find_carries(volume.columns, stream);
        tell(0.2);
        const bool outward = outward_serves(volume), windows = windows_serve(volume);
        // A sample decides between near search and windows.  Without windows the near search takes every image, and leaves to the
        // argmin what is far.
        const bool chosen = outward && windows && !outward_suffices(volume);
        fill(volume.marks, !outward && !windows, volume.count_marks(), stream);
        fill(volume.far, !outward && !windows, sizeof *volume.far + volume.count_needs(), stream);
        if (chosen) count_far(volume, stream);
        if (!outward) fill(volume.far, 0xff, sizeof *volume.far, stream);
        if (outward) search_outward(volume, stream);
        if (windows && (chosen || !outward)) search_in_windows(volume, stream);
        tell(0.5);
        search_marked(volume, stream);
        tell(1);
    }
}

}  // namespace apsis::cuda::volume
