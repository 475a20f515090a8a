// Host images through a device in parts: see streamer.h.
//
// A part is a range of strips.  Parts of the set are copied into the slots of device memory in turn, and are packed.  Then
// parts of the outputs are computed in the same slots and copied out.  While a part is computed, the part before it is copied.
// Page-locked images are copied directly.  Others pass through page-locked staging memory, slot by slot, and some threads copy
// between it and the image.
//
// Cost: device memory for 3 slots of up to 32 MiB, or of one strip if that is more, and the scratch memory of the transform.
#include "runtime/streamer.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/packed.h"
#include "runtime/parallel.h"

namespace apsis {
namespace {

constexpr int SLOTS = 3;                          // one part is computed, one crosses, and one is copied by threads
constexpr int64_t LEAST_PART = int64_t(2) << 20;  // bytes, so that a copy takes longer than its call
constexpr int64_t MOST_PART = int64_t(32) << 20;  // bytes; more would only take memory
constexpr int64_t PART_PER_COLUMN = 2048;         // bytes: strips of few columns are quickly computed
constexpr int64_t PIECE = int64_t(256) << 10;     // bytes that a thread copies at a time
constexpr int MOST_THREADS = 8;                   // these copy faster than any link
constexpr double SHARE_IN = 0.2;                  // of the progress: a set has fewer bytes than its map

/// An image of the job.
struct Image {
    View view, inside;      // `inside`: packed, with bits for wide pixels of a set; without data
    int64_t row_bytes = 0;  // of its packed copy
    bool crosses = false;   // it is on the host
    bool direct = false;    // it crosses without staging memory

    explicit Image(const View &given, bool is_set = false) : view(given) {
        if (!view) return;
        inside =
            is_set && is_wide(view.type) ? bits_like(view, nullptr, APSIS_DEVICE) : packed_like(view, nullptr, APSIS_DEVICE);
        row_bytes = inside.stride[1];
        crosses = view.memory == APSIS_HOST;
    }
    bool is_packed_first() const { return view && view.type != inside.type; }
    int64_t crossing_bytes() const { return crosses ? row_bytes : 0; }  // for one row
};

/// Rows of all slices, numbered slice by slice.
struct RowRange {
    int64_t first, count;
};

/// A packed view of an image.  Only the rows of a part have memory; the first of them is at `data`.
View part_view(const Image &image, const RowRange &rows, uint8_t *data, apsis_memory memory) {
    return packed_like(image.inside, data - rows.first * image.row_bytes, memory);
}

void copy_range(const View &from, const View &to, const RowRange &rows, int64_t row_bytes) {
    if (is_packed(from) && is_packed(to) && from.type == to.type) {
        const int64_t at = rows.first * row_bytes;
        std::memcpy(to.data + at, from.data + at, static_cast<size_t>(rows.count * row_bytes));
        return;
    }
    copy_rows(from, to, rows.first, rows.count);
}

class Streamer {
  public:
    Streamer(const DistanceJob &job, TransferQueue &queue, Carver &carver);
    void run(apsis_context &context);

  private:
    void take_all();
    void give_all();
    void send_in(int64_t part);
    void send_out(int64_t part);
    void collect(int64_t part);

    StripRange strips_of(int64_t part) const {
        const int64_t first = part * strips_each_;
        return {first, std::min(strips_each_, shape_.all().count - first)};
    }
    RowRange rows_of(int64_t part) const {
        const StripRange range = strips_of(part);
        const int64_t first = shape_.rows_before(range.first);
        return {first, shape_.rows_before(range.end()) - first};
    }
    static int slot_of(int64_t part) { return static_cast<int>(part % SLOTS); }
    // The marks of a slot: its part has crossed, and its part has been packed or computed.
    static int crossed(int64_t part) { return slot_of(part); }
    static int worked(int64_t part) { return SLOTS + slot_of(part); }
    static_assert(2 * SLOTS <= TransferQueue::MARKS);

    /// Where a part of an image lies in its slot, on the device and in staging memory.
    uint8_t *inside(const Image &image, int64_t part) const { return slots_[slot_of(part)] + offset_of(image); }
    uint8_t *staged(const Image &image, int64_t part) const {
        return staging_ + slot_of(part) * slot_bytes_ + offset_of(image);
    }
    int64_t offset_of(const Image &image) const { return &image == &nearest_ ? nearest_offset_ : 0; }

    void copy_across(const View &from, const View &to, const RowRange &rows, int64_t row_bytes);
    void tell(double done) const {
        if (progress_) progress_(done);
    }

    DistanceJob job_;
    TransferQueue &queue_;
    Columns shape_;
    Image set_, distance_, nearest_;
    int64_t strips_each_ = 0, parts_ = 0, slot_bytes_ = 0, nearest_offset_ = 0;
    uint8_t *slots_[SLOTS] = {}, *staging_ = nullptr;
    void *scratch_ = nullptr;
    Progress progress_;
    std::optional<Arena> threads_;
};

Streamer::Streamer(const DistanceJob &job, TransferQueue &queue, Carver &carver)
    : job_(job),
      queue_(queue),
      set_(job.set, true),
      distance_(job.distance),
      nearest_(job.nearest) {
    shape_.count = job.set.size[0], shape_.length = job.set.size[1], shape_.batch = job.set.size[2];
    const int64_t strip_rows = std::min(shape_.length, int64_t(STRIP)), strips = shape_.all().count;
    const int64_t row_bytes = std::max(set_.crossing_bytes(), distance_.crossing_bytes() + nearest_.crossing_bytes());
    const int64_t wanted = std::clamp(shape_.count * PART_PER_COLUMN, LEAST_PART, MOST_PART);
    strips_each_ = std::clamp(wanted / (strip_rows * row_bytes), int64_t(1), strips);
    parts_ = (strips + strips_each_ - 1) / strips_each_;

    const int64_t most_rows = strips_each_ * strip_rows, slot = Carver::SLOT;
    nearest_offset_ = (most_rows * distance_.crossing_bytes() + slot - 1) / slot * slot;
    slot_bytes_ = std::max(most_rows * set_.crossing_bytes(), nearest_offset_ + most_rows * nearest_.crossing_bytes());
    slot_bytes_ = (slot_bytes_ + slot - 1) / slot * slot;
    if (set_.is_packed_first()) job_.set = bits_like(job.set, job.set.data, APSIS_DEVICE);
    scratch_ = carver.take<uint8_t>(static_cast<int64_t>(queue.scratch(job_)));  // first: what a slab has found stays there
    for (int64_t s = 0; s < std::min(parts_, int64_t(SLOTS)); ++s) slots_[s] = carver.take<uint8_t>(slot_bytes_);
    if (!set_.crosses && set_.is_packed_first()) job_.set.data = carver.take<uint8_t>(packed_bytes(job_.set));
}

void Streamer::run(apsis_context &context) {
    progress_ = context.progress();
    bool staged = false;
    for (Image *image : {&set_, &distance_, &nearest_}) {
        if (!image->crosses) continue;
        const size_t bytes = static_cast<size_t>(packed_bytes(image->view));
        image->direct = !image->is_packed_first() && is_packed(image->view) && queue_.is_page_locked(image->view.data, bytes);
        staged = staged || !image->direct;
    }
    if (staged) {
        staging_ = static_cast<uint8_t *>(context.staging(static_cast<size_t>(std::min(parts_, int64_t(SLOTS)) * slot_bytes_)));
        threads_.emplace(std::min(Arena::threads_for(context.threads), MOST_THREADS));
    }
    try {
        if (!set_.crosses && set_.is_packed_first()) context.backend->copy(set_.view, job_.set);
        take_all();
        give_all();
    } catch (...) {
        try {
            context.backend->sync();
        } catch (...) {  // the first failure is the one to report
        }
        throw;
    }
    context.backend->sync();
}

void Streamer::take_all() {
    if (!set_.crosses) return queue_.take(job_, shape_.all(), scratch_);
    for (int64_t part = 0; part < parts_; ++part) {
        send_in(part);
        tell(SHARE_IN * (static_cast<double>(part + 1) / static_cast<double>(parts_)));
    }
}

void Streamer::send_in(int64_t part) {
    const RowRange rows = rows_of(part);
    const uint8_t *from = set_.view.data + rows.first * set_.row_bytes;
    queue_.await(crossed(part));  // the staging memory is free, and at most one part a slot is queued
    if (!set_.direct) {
        from = staged(set_, part);
        copy_across(set_.view, part_view(set_, rows, staged(set_, part), APSIS_HOST), rows, set_.row_bytes);
    }
    // The first part of a slot waits for earlier work on the stream.
    if (part < SLOTS) queue_.mark(Lane::WORK, worked(part));
    queue_.follow(Lane::IN, worked(part));
    queue_.copy(Lane::IN, inside(set_, part), from, static_cast<size_t>(rows.count * set_.row_bytes));
    queue_.mark(Lane::IN, crossed(part));

    queue_.follow(Lane::WORK, crossed(part));
    job_.set = part_view(set_, rows, inside(set_, part), APSIS_DEVICE);
    queue_.take(job_, strips_of(part), scratch_);
    queue_.mark(Lane::WORK, worked(part));
}

void Streamer::give_all() {
    if (!distance_.crosses && !nearest_.crosses) {
        queue_.give(job_, shape_.all(), scratch_);
        queue_.mark(Lane::WORK, worked(0));
        queue_.await(worked(0));
        return tell(1);
    }
    for (int64_t part = 0; part < parts_ + SLOTS; ++part) {
        if (part >= SLOTS && part - SLOTS < parts_) collect(part - SLOTS);
        if (part < parts_) send_out(part);
    }
}

void Streamer::send_out(int64_t part) {
    const RowRange rows = rows_of(part);
    queue_.follow(Lane::WORK, crossed(part));
    if (distance_.crosses) job_.distance = part_view(distance_, rows, inside(distance_, part), APSIS_DEVICE);
    if (nearest_.crosses) job_.nearest = part_view(nearest_, rows, inside(nearest_, part), APSIS_DEVICE);
    queue_.give(job_, strips_of(part), scratch_);
    queue_.mark(Lane::WORK, worked(part));

    queue_.follow(Lane::OUT, worked(part));
    for (const Image *image : {&distance_, &nearest_}) {
        if (!image->crosses) continue;
        uint8_t *const to = image->direct ? image->view.data + rows.first * image->row_bytes : staged(*image, part);
        queue_.copy(Lane::OUT, to, inside(*image, part), static_cast<size_t>(rows.count * image->row_bytes));
    }
    queue_.mark(Lane::OUT, crossed(part));
}

/// Waits for a part of the outputs, and takes it out of staging memory.
void Streamer::collect(int64_t part) {
    const RowRange rows = rows_of(part);
    queue_.await(crossed(part));
    for (const Image *image : {&distance_, &nearest_})
        if (image->crosses && !image->direct)
            copy_across(part_view(*image, rows, staged(*image, part), APSIS_HOST), image->view, rows, image->row_bytes);
    const double share = static_cast<double>(part + 1) / static_cast<double>(parts_);
    tell(SHARE_IN + (1 - SHARE_IN) * share);
}

/// Copies rows between an image and staging memory, by several threads.
void Streamer::copy_across(const View &from, const View &to, const RowRange &rows, int64_t row_bytes) {
    const int64_t each = std::max(PIECE / row_bytes, int64_t(1)), pieces = (rows.count + each - 1) / each;
    parallel_for(*threads_, pieces, {}, 0, 1, [&](int64_t piece) {
        const int64_t first = piece * each;
        copy_range(from, to, {rows.first + first, std::min(each, rows.count - first)}, row_bytes);
    });
}

}  // namespace

TransferQueue *find_transfer_queue(const apsis_context &context, const DistanceJob &job) {
    const auto crosses = [&](const View &view) { return view && view.memory != context.own_memory(); };
    const bool any = crosses(job.set) || crosses(job.distance) || crosses(job.nearest);
    const bool is_plain = job.method == APSIS_AUTO && !job.labels && !job.border && !job.values && !job.periodic.any();
    return any && is_plain ? context.backend->transfer_queue(job) : nullptr;
}

size_t streaming_bytes(const DistanceJob &job, TransferQueue &queue) {
    Carver carver;
    Streamer(job, queue, carver);
    return carver.used();
}

void stream_distance(apsis_context &context, const DistanceJob &job, TransferQueue &queue, void *memory) {
    Carver carver(memory);
    Streamer(job, queue, carver).run(context);
}

}  // namespace apsis
