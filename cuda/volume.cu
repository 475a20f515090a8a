// Euclidean distance maps of volumes: columns of bits along z with carries, then lines along y and lines along x, each
// by the way that suits it.
//
// Cost: 1 byte a voxel in (1/8 from bits) and the outputs out; in between 3/8 byte a voxel of words and carries, most of
// it in the second cache, and the store, 2 bytes a voxel written and read; 4 more where sites are far beyond reach.
#include "volume.h"

#include "columns.h"
#include "launch.h"
#include "transforms.h"

namespace apsis {

namespace {

// One column in so many: where all is near windows cost but a third more than the outward search, and what that one leaves to
// the argmin costs far more.
constexpr int FAR_PART = 64;
constexpr int CHOOSERS = 1024;  // threads that decide: as many as a block may have

/// The images of columns along z: one for every y, whose rows are the planes.  Columns of one y lie side by
/// side along x.
View turn(View set) {
    std::swap(set.size[1], set.size[2]);
    std::swap(set.stride[1], set.stride[2]);
    return set;
}

/// Whether a view's rows are packed numbers of a type, or nobody wants any.
bool is_plain(const View &view, apsis_type type) {
    return !view || (view.type == type && view.stride[0] == 4);
}

/// A volume without memory of its own.
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
    volume.columns.far_groups = carver.take<uint32_t>(volume.columns.count_far());
    volume.far = carver.take<uint8_t>(1);
    volume.marks = carver.take<uint8_t>(volume.count_marks());
    volume.needs = carver.take<uint8_t>(volume.count_needs());
    volume.lengths = carver.take<float>(std::max(outward_lengths(volume), window_lengths(volume)));
    volume.store = carver.take<uint32_t>(std::max({outward_store(volume), window_store(volume), argmin_store(volume)}));
}

/// The carries of columns of a single strip, where there is nothing to walk: a warp takes 32 columns, as carry_columns() does,
/// and counts them if none of them has a site.
__global__ void __launch_bounds__(BLOCK) carry_nothing(Columns columns) {
    const int lane = threadIdx.x % WARP;
    const uint32_t groups = static_cast<uint32_t>((columns.count + WARP - 1) / WARP);
    const uint32_t item = blockIdx.x * WARPS + threadIdx.x / WARP, image = item / groups;
    const int64_t column = int64_t(item - image * groups) * WARP + lane, at = columns.at(image, 0, column);
    if (image >= columns.batch) return;
    const bool inside = column < columns.count;
    if (inside) columns.before[at] = NO_SITE_BEFORE, columns.after[at] = NO_SITE_AFTER;
    if (!__any_sync(ALL_LANES, inside && columns.words[at]) && lane == 0)
        atomicAdd(columns.far_groups + columns.far_at(image, 0), 1u);
}

void find_carries(const Columns &columns, cudaStream_t stream) {
    if (columns.strips() > 1) return carry_columns(columns, stream);
    const int64_t warps = parts(columns.count, WARP) * columns.batch;
    launch("carry_nothing", carry_nothing, parts(warps, WARPS), BLOCK, stream, columns);
}

/// Decides the way: where one column in FAR_PART sees no site near, above or below, the image is far.  One block, which is
/// quicker than several that wait for each other.
__global__ void __launch_bounds__(CHOOSERS) choose_way(Volume volume) {
    __shared__ uint32_t far;
    const Columns &columns = volume.columns;
    const int64_t rows = columns.batch * columns.strips();  // of columns in a strip
    if (threadIdx.x == 0) far = 0;
    __syncthreads();
    uint32_t seen = 0;
#pragma unroll 8
    for (int64_t i = threadIdx.x; i < rows; i += CHOOSERS) seen += columns.far_groups[columns.far_at(0, i)];
    seen = sum_of_warp(seen);
    if (threadIdx.x % WARP == 0) atomicAdd(&far, seen);
    __syncthreads();
    if (threadIdx.x == 0) *volume.far = int64_t(far) * FAR_PART >= rows * volume.groups_across();
}

void fill(uint8_t *bytes, int value, int64_t count, cudaStream_t stream) {
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
        // Where there are no windows, the outward search takes all, and leaves to the argmin what is far.
        const bool chosen = outward && windows && !outward_suffices(volume);
        fill(volume.marks, !outward && !windows, volume.count_marks(), stream);
        fill(volume.needs, !outward && !windows, volume.count_needs(), stream);
        if (chosen)
            launch("choose_way", choose_way, 1, CHOOSERS, stream, volume);
        else
            fill(volume.far, !outward, 1, stream);
        if (outward) search_outward(volume, stream);
        if (windows && (chosen || !outward)) search_in_windows(volume, stream);
        tell(0.5);
        search_marked(volume, stream);
        tell(1);
    }
}

}  // namespace apsis
