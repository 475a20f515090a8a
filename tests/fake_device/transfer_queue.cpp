// Images through the fake device strip by strip: see fake_transfer_queue.h.
#include "transfer_queue.h"

#include <cstring>

#include "memory.h"
#include "runtime/packed.h"

using namespace apsis;

namespace fake {
namespace {

[[noreturn]] void refuse(const char *why) { throw Error(APSIS_ERROR_DEVICE, "fake device: %s", why); }

Columns shape_of(const View &set) {
    Columns shape;
    shape.count = set.size[0], shape.length = set.size[1], shape.batch = set.size[2];
    return shape;
}

/// A row of all slices, as a host image.
View row_of(const View &view, int64_t row) {
    View one = view;
    one.memory = APSIS_HOST;
    one.data = view.row(row % view.size[1], row / view.size[1]);
    one.size[1] = one.size[2] = 1;
    return one;
}

/// Copies the rows of a range between two images in device memory.
void copy_range(const View &from, const View &to, const StripRange &range) {
    const Columns shape = shape_of(from);
    const int64_t first = shape.rows_before(range.first), end = shape.rows_before(range.end());
    const Opened open_source(row_of(from, first).data), open_target(row_of(to, first).data);
    for (int64_t row = first; row < end; ++row) copy_pixels(row_of(from, row), row_of(to, row));
}

}  // namespace

/// The whole images in scratch memory.
struct TransferQueue::Whole {
    DistanceJob job;
    void *scratch;
    size_t scratch_bytes;

    Whole(const DistanceJob &outside, const Backend &cpu, Carver &carver) : job(outside) {
        scratch_bytes = cpu.distance_scratch(outside);
        scratch = carver.take<uint8_t>(static_cast<int64_t>(scratch_bytes));  // first, as a set that is found is
        for (View *view : {&job.set, &job.distance, &job.nearest})
            if (*view) *view = packed_like(*view, carver.take<uint8_t>(packed_bytes(*view)), APSIS_HOST);
    }
};

void TransferQueue::copy(Lane lane, void *to, const void *from, size_t bytes) {
    const bool in = lane == Lane::IN;
    if (!owns(in ? to : from, bytes)) refuse("a copy across is not of device memory");
    if (!is_page_locked(in ? from : to, bytes)) refuse("a copy across is not of page-locked memory");
    lanes_.push(lane, [=] {
        const Opened open(in ? to : from);
        std::memcpy(to, from, bytes);
    });
}

bool TransferQueue::is_page_locked(const void *data, size_t bytes) const {
    const uintptr_t at = reinterpret_cast<uintptr_t>(data);
    const auto after = page_locked.upper_bound(at);
    return after != page_locked.begin() && at + bytes <= std::prev(after)->first + std::prev(after)->second;
}

size_t TransferQueue::scratch(const DistanceJob &job) const {
    Carver carver;
    Whole(job, cpu_, carver);
    return carver.used();
}

void TransferQueue::take(const DistanceJob &job, const StripRange &range, void *scratch) {
    const bool last = range.end() == shape_of(job.set).all().end();
    if (range.first != 0 && range.first != taken_) refuse("strips are taken out of order");
    taken_ = last ? 0 : range.end();
    lanes_.push(Lane::WORK, [=, this] {
        const Opened open(scratch);
        Carver carver(scratch);
        const Whole whole(job, cpu_, carver);
        if (!job.is_found) copy_range(job.set, whole.job.set, range);
        if (!last) return;
        if (!job.is_found) std::memset(whole.scratch, POISON, whole.scratch_bytes);
        const std::vector<Opened> open_sites = opened_arrays({job.slab.above[0], job.slab.below[0]});
        cpu_.distance(whole.job, whole.scratch, {});
    });
}

void TransferQueue::give(const DistanceJob &job, const StripRange &range, void *scratch) {
    lanes_.push(Lane::WORK, [=, this] {
        const Opened open(scratch);
        Carver carver(scratch);
        const Whole whole(job, cpu_, carver);
        if (job.distance) copy_range(whole.job.distance, job.distance, range);
        if (job.nearest) copy_range(whole.job.nearest, job.nearest, range);
    });
}

}  // namespace fake
