// Slabs of images: the sites outside of a slab, which its carries begin with; and what a slab tells of itself.
//
// The first site below a slab may lie in the rest of its last strip.  Then it becomes a bit of the word there, so that the rows
// of a strip find it as they find all others.  Of mirrored columns each of these bits is on a side: the rows go on with the
// side of the first one, up to the first site of the other side.  Which side the rows behind that are on is not known, nor does
// it matter to the rows of the slab.
//
// Cost: some 40 bytes a column, and at most a pass over the pixels for what a slab tells.
#include <algorithm>

#include "cuda/columns/columns.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::columns {

namespace {

/// The caller's arrays, on the device, of either side; nullptr: there is no site.
struct Outside {
    const int64_t *above[2] = {}, *below[2] = {};
    int64_t width = 0, height = 1;

    /// Columns along z are numbered x * height + y, and by the caller x + width * y.  Others have height 1 here.
    __device__ int64_t place(int64_t column) const { return column % height * width + column / height; }
};

/// Bits of the word of a slab's last strip, from a row on, which may be the first one after the strip.
__device__ uint32_t bits_from(int64_t row, int64_t end) { return row < end ? ~0u << (row % STRIP) : 0; }

/// Turns the sites outside of a slab into carries of its first and last strips, and bits of the last one.  A thread takes a
/// column.
template <int SIDES>
__global__ void __launch_bounds__(BLOCK) begin_carries(Columns columns, Outside outside) {
    const int64_t column = first_item(), end = columns.strips() * STRIP;
    if (column >= columns.images() * columns.count) return;
    const int64_t place = outside.place(column);
    if (columns.first_carries) {
        int32_t site[SIDES];
        for (int s = 0; s < SIDES; ++s) {
            const int64_t row = outside.above[s] ? outside.above[s][place] : -1;
            site[s] = row < 0 ? NO_SITE_BEFORE : static_cast<int32_t>(row - columns.start);
        }
        const int32_t farther = min(site[0], site[SIDES - 1]);
        columns.first_carries[column] = SIDES == 1 ? farther : stored_carry(farther, site[0] > site[SIDES - 1]);
    }
    if (columns.last_carries) {
        int32_t site[SIDES];
        for (int s = 0; s < SIDES; ++s) {
            const int64_t row = outside.below[s] ? outside.below[s][place] : INT64_MAX;
            site[s] = row == INT64_MAX ? NO_SITE_AFTER : static_cast<int32_t>(row - columns.start);
        }
        const int32_t farther = max(site[0], site[SIDES - 1]);
        const bool is_in_strip = SIDES == 1 ? farther < end : farther <= end, is_site = site[0] < site[SIDES - 1];
        const int32_t carry = is_in_strip ? NO_SITE_AFTER : farther;
        const uint32_t here = bits_from(columns.length, end), behind = bits_from(farther, end);
        columns.last_carries[column] = SIDES == 1 ? carry : stored_carry(carry, is_site != is_in_strip);
        columns.words[columns.at(column / columns.count, columns.strips() - 1, column % columns.count)] |=
            SIDES == 1 ? behind & ~(behind << 1)
            : is_site  ? here & ~behind
                       : behind;
    }
}

/// A set's columns are numbered here as the caller's are.
View set_of(const SummaryJob &job) { return job.axes == 3 ? swap_y_z(job.set) : job.set; }

}  // namespace

void carve_outside(Columns &columns, const DistanceJob &job, Carver &carver) {
    const int64_t all = columns.images() * columns.count;
    columns.start = job.slab.start;
    columns.outside = carver.take<int64_t>((columns.is_mirrored ? 4 : 2) * all);
    if (job.slab.start > 0) columns.first_carries = carver.take<int32_t>(all);
    if (job.slab.start + columns.length < job.slab.extent) columns.last_carries = carver.take<int32_t>(all);
}

void take_outside(const Columns &columns, const DistanceJob &job, bool inside, cudaStream_t stream) {
    const int64_t all = columns.images() * columns.count;
    Outside outside;
    // The caller's arrays are not kept: they are copied to page-locked memory, if there is some, and from there at once.
    auto *const page_locked = static_cast<int64_t *>(job.slab.page_locked);
    int64_t taken = 0;
    const auto copy = [&](int64_t *to, const int64_t *from, int64_t count) {
        const size_t bytes = static_cast<size_t>(count) * sizeof *from;
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "copying the sites outside of a slab");
    };
    const auto take = [&](const int64_t *from) -> const int64_t * {
        if (!from) return nullptr;
        int64_t *const to = columns.outside + taken;
        if (page_locked)
            std::copy_n(from, all, page_locked + taken);
        else
            copy(to, from, all);
        taken += all;
        return to;
    };
    for (int s = 0; s < (columns.is_mirrored ? 2 : 1); ++s)
        outside.above[s] = take(job.slab.above[s + inside]), outside.below[s] = take(job.slab.below[s + inside]);
    if (page_locked && taken > 0) copy(columns.outside, page_locked, taken);
    if (taken > 0) check(cudaStreamSynchronize(stream), "waiting for the sites outside of a slab");
    if (job.axes == 3 && columns.count == all) outside.width = job.set.size[0], outside.height = job.set.size[1];
    launch("begin_carries", columns.is_mirrored ? begin_carries<2> : begin_carries<1>, ceil_div(all, BLOCK), BLOCK, stream,
           columns, outside);
}

size_t summary_scratch(const SummaryJob &job) {
    Carver carver;
    carver.take<uint32_t>(2 * job.columns());
    return carver.used();
}

void summary(const SummaryJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    const int64_t columns = job.columns();
    const size_t bytes = 2 * static_cast<size_t>(columns) * sizeof(uint32_t);
    auto *const first = static_cast<uint32_t *>(memory);
    auto *const last = reinterpret_cast<int32_t *>(first + columns);
    const View set = set_of(job);
    check(cudaMemsetAsync(memory, 0xff, bytes, stream), "clearing what a slab tells");
    find_ends(set, job.complement, shape_columns(set, 1), {first, last}, stream);
    check(cudaMemcpyAsync(job.slab.page_locked, memory, bytes, cudaMemcpyDeviceToHost, stream), "reading what a slab tells");
    report(progress, 0.8, stream);
    check(cudaStreamSynchronize(stream), "waiting for what a slab tells");
    const auto *const found = static_cast<const uint32_t *>(job.slab.page_locked);
    for (int64_t c = 0; c < columns; ++c) {
        const bool is_empty = found[c] == UINT32_MAX;
        if (job.first) job.first[c] = is_empty ? INT64_MAX : job.slab.start + found[c];
        if (job.last) job.last[c] = is_empty ? -1 : job.slab.start + found[columns + c];
    }
    report(progress, 1, stream);
}

}  // namespace apsis::cuda::columns
