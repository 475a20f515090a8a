// Runs a job on host images in slabs: see cut_runs.h.
//
// The slabs tell each other what those of apsis.h do, so the map is that of the whole image, byte for byte.  Every device has a
// context of its own, the first one the caller's, and a thread of its own while it works.
//
// Cost: what crosses to the devices is what crosses to one, but for two numbers a column and slab.  Where a device has several
// slabs, or a workspace of the caller's, the set crosses twice; so it does where slabs have more components than there is room
// for at first.  Indices of slices behind the first slab are shifted on the host.
#include "api/cut_runs.h"

#include <algorithm>
#include <vector>

#include "api/workers.h"
#include "runtime/parallel.h"

namespace apsis {
namespace {

constexpr double SHARE_TOLD = 0.2;  // of the progress: until each slab knows of the others

/// Some rows of an image, in 3-D planes.
View part_of(const View &image, int axis, int64_t start, int64_t rows) {
    View part = image;
    if (!part) return part;
    part.data += start * part.stride[axis];
    part.size[axis] = rows;
    return part;
}

/// A set that a context has found: its size alone.  Wide pixels are not to be packed again.
View found_set(const apsis_context &context, View set) {
    set.data = nullptr;
    set.type = APSIS_U8;
    set.memory = context.own_memory();
    return set;
}

/// Adds to the indices of an image.  -1 stays.
template <class Index>
void shift_indices(const View &image, int64_t by, Arena &arena) {
    parallel_for(arena, image.size[1] * image.size[2], {}, 0, 1, [&](int64_t i) {
        uint8_t *const row = image.row(i % image.size[1], i / image.size[1]);
        for (int64_t x = 0; x < image.size[0]; ++x) {
            Index &index = *reinterpret_cast<Index *>(row + x * image.stride[0]);
            if (index >= 0) index = static_cast<Index>(index + by);
        }
    });
}

/// An image cut along its last axis: so many slabs a device, some of them without rows.
class Cut {
  public:
    Cut(apsis_context &context, const View &set, int axis, int64_t each)
        : workers_(context),
          axis_(axis),
          each_(each),
          slabs_(static_cast<int64_t>(workers_.count()) * each),
          whole_(set) {}

  protected:
    int64_t start_of(int64_t k) const {
        const int64_t rows = whole_.size[axis_];
        return rows / slabs_ * k + std::min(rows % slabs_, k);
    }
    int64_t rows_of(int64_t k) const { return start_of(k + 1) - start_of(k); }
    View part_of_slab(const View &image, int64_t k) const { return part_of(image, axis_, start_of(k), rows_of(k)); }

    View set_of(int64_t k) const { return part_of_slab(whole_, k); }
    /// Whether a device, which has one slab, still has what it found of it.
    bool has_found(const apsis_context &context) const { return each_ == 1 && context.found; }

    /// Calls body(k) for the slabs of a device.
    template <class Body>
    void each_slab(size_t worker, Body body) {
        const int64_t first = static_cast<int64_t>(worker) * each_;
        for (int64_t k = first; k < first + each_; ++k) body(k);
    }

    Workers workers_;
    int axis_;
    int64_t each_;   // slabs of a device
    int64_t slabs_;  // in all

  private:
    View whole_;
};

class DistanceCut : Cut {
  public:
    DistanceCut(apsis_context &context, const DistanceJob &job, int64_t each)
        : Cut(context, job.set, job.is_batch() ? 2 : job.axes - 1, each),
          job_(job) {}

    void run() {
        if (!job_.is_batch()) tell_all();
        workers_.run(job_.is_batch() ? 0 : SHARE_TOLD, 1, [&](size_t i) {
            each_slab(i, [&](int64_t k) {
                const DistanceJob part = part_job(workers_[i], k);
                if (part.set.pixels() == 0) return;
                run_here(workers_[i], part);
                if (job_.is_batch() && job_.nearest) count_slices_before(workers_[i], part, k);
            });
        });
    }

  private:
    DistanceJob part_job(const apsis_context &context, int64_t k) const {
        DistanceJob part = job_;
        part.set = set_of(k);
        part.distance = part_of_slab(job_.distance, k);
        part.nearest = part_of_slab(job_.nearest, k);
        if (job_.is_batch()) return part;
        part.is_found = has_found(context);
        if (part.is_found) part.set = found_set(context, part.set);
        part.slab.start = start_of(k);
        for (int side = 0; part.is_slab() && side < sides(); ++side) {
            if (has_above(k)) part.slab.above[side] = row_of(last_[side], k);
            if (has_below(k)) part.slab.below[side] = row_of(first_[side], k);
        }
        return part;
    }

    /// Nearest pixels of slices are counted from the first slice of all.
    void count_slices_before(const apsis_context &context, const DistanceJob &part, int64_t k) const {
        const int64_t before = start_of(k) * job_.set.size[0] * job_.set.size[1];
        Arena arena(Arena::threads_for(context.threads));
        part.nearest.type == APSIS_I32 ? shift_indices<int32_t>(part.nearest, before, arena)
                                       : shift_indices<int64_t>(part.nearest, before, arena);
    }

    bool is_ring() const { return job_.periodic.along[axis_]; }
    bool has_above(int64_t k) const { return is_ring() || k > 0; }
    bool has_below(int64_t k) const { return is_ring() || k + 1 < slabs_; }
    int sides() const { return job_.is_signed ? 2 : 1; }
    const int64_t *row_of(const std::vector<int64_t> &rows, int64_t k) const { return rows.data() + k * job_.columns(); }

    /// Finds for each slab the nearest sites above it and below it, in last_ and first_.
    void tell_all() {
        const auto columns = static_cast<size_t>(job_.columns());
        for (int side = 0; side < sides(); ++side) first_[side].resize(columns * slabs_), last_[side].resize(columns * slabs_);
        workers_.run(0, SHARE_TOLD, [&](size_t i) {
            each_slab(i, [&](int64_t k) {
                for (int side = sides() - 1; side >= 0; --side) summarize(workers_[i], k, side);
            });
        });
        for (int side = 0; side < sides(); ++side) {
            tell_nearest(last_[side], false, -1, [](int64_t a, int64_t b) { return std::max(a, b); });
            tell_nearest(first_[side], true, INT64_MAX, [](int64_t a, int64_t b) { return std::min(a, b); });
        }
    }

    /// Makes of what slabs have told what they are told: of the sites of all slabs before, or behind, the nearest one; around
    /// an image that closes on itself, where there is none, the nearest one of all.
    template <class Nearer>
    void tell_nearest(std::vector<int64_t> &rows, bool is_upward, int64_t none, Nearer nearer) const {
        const auto columns = static_cast<size_t>(job_.columns());
        std::vector<int64_t> sites(columns, none), around(columns, none);
        for (size_t i = 0; is_ring() && i < rows.size(); ++i) around[i % columns] = nearer(around[i % columns], rows[i]);
        for (int64_t i = 0; i < slabs_; ++i) {
            int64_t *const row = rows.data() + (is_upward ? slabs_ - 1 - i : i) * job_.columns();
            for (size_t c = 0; c < columns; ++c) {
                const int64_t site = row[c];
                row[c] = sites[c] == none ? around[c] : sites[c];
                sites[c] = nearer(sites[c], site);
            }
        }
    }

    /// What a slab tells of the set or, as side 1, of its complement.  The set comes last: the map goes on from there.
    void summarize(apsis_context &context, int64_t k, int side) {
        SummaryJob summary;
        static_cast<DistanceJob &>(summary) = job_;
        summary.set = set_of(k);
        summary.is_found = summary.is_opposite = job_.is_signed && side == 0 && context.found;
        if (summary.is_found) summary.set = found_set(context, summary.set);
        summary.distance = summary.nearest = {};
        summary.slab.start = start_of(k);
        summary.complement = job_.complement != (side == 1);
        if (has_above(k)) summary.first = first_[side].data() + k * job_.columns();
        if (has_below(k)) summary.last = last_[side].data() + k * job_.columns();
        apsis::run(context, summary);
    }

    const DistanceJob &job_;
    std::vector<int64_t> first_[2], last_[2];  // [side][slab][column]: of the slab; then the first below it, the last above
};

class ComponentsCut : Cut {
  public:
    ComponentsCut(apsis_context &context, const ComponentsJob &job, int64_t each)
        : Cut(context, job.set, job.axes - 1, each),
          job_(job),
          slab_(static_cast<size_t>(slabs_)) {}

    void run() {
        workers_.run(0, job_.labels ? SHARE_PARTS : 1,
                     [&](size_t i) { each_slab(i, [&](int64_t k) { find_parts(workers_[i], k); }); });
        const int64_t count = join();
        if (job_.count) *job_.count = count;
        if (!job_.labels) return;
        workers_.run(SHARE_PARTS, 1, [&](size_t i) {
            each_slab(i, [&](int64_t k) {
                if (set_of(k).pixels() > 0) run_here(workers_[i], labels_job(workers_[i], k));
            });
        });
    }

  private:
    static constexpr double SHARE_PARTS = 0.4;               // of the progress: until numbers are known
    static constexpr int64_t LEAST_ROOM = int64_t(1) << 16;  // parts of a slab for which there is room at first

    /// What a slab tells, and is told; `is` points to it.
    struct SlabLabels {
        std::vector<int64_t> first, last, numbers;
        std::vector<apsis_part> parts;
        apsis_slab_labels is = {};
    };

    bool needs_parts() const { return job_.selects() || job_.capacity > 0; }

    void find_parts(apsis_context &context, int64_t k) {
        SlabLabels &slab = slab_[k];
        slab.is.start = start_of(k), slab.is.rows = rows_of(k);
        const auto face = [&](std::vector<int64_t> &numbers) {
            numbers.resize(static_cast<size_t>(job_.columns()));
            return numbers.data();
        };
        const bool is_ring = job_.periodic.along[axis_];
        if (is_ring || k > 0) slab.is.first = face(slab.first);
        if (is_ring || k + 1 < slabs_) slab.is.last = face(slab.last);
        if (set_of(k).pixels() == 0) return;
        ComponentsJob parts = without_selection();
        parts.set = set_of(k);
        parts.labels = {};
        parts.start = slab.is.start;
        parts.as_parts = true;
        parts.count = &slab.is.count;
        take_faces(parts, slab.is, parts.first, parts.last);
        int64_t room = needs_parts() ? LEAST_ROOM : 0;
        do {  // a second time if there was no room for all
            slab.parts.resize(static_cast<size_t>(room));
            parts.components = reinterpret_cast<apsis_component *>(slab.parts.data());
            parts.capacity = room;
            run_parts(context, parts);
            room = slab.is.count;
        } while (needs_parts() && parts.capacity < room);
        slab.is.parts = slab.parts.data(), slab.is.capacity = parts.capacity;
        if (!job_.selects()) return;
        slab.numbers.resize(static_cast<size_t>(slab.is.count));
        slab.is.numbers = slab.numbers.data();
    }

    int64_t join() {
        std::vector<apsis_slab_labels> told;
        for (const SlabLabels &slab : slab_) told.push_back(slab.is);
        slabs::JoinJob join;
        static_cast<ComponentsJob &>(join) = job_;
        join.slabs = told.data();
        join.slab_count = slabs_;
        Arena arena(Arena::threads_for(workers_[0].threads));
        const int64_t count = slabs::join(join, arena);
        for (int64_t k = 0; k < slabs_; ++k) slab_[k].is = told[k];
        apsis_slab_measure(std::min(count, job_.capacity), reinterpret_cast<const apsis_part *>(job_.components),
                           job_.components);
        return count;
    }

    ComponentsJob labels_job(const apsis_context &context, int64_t k) {
        apsis_slab_labels &slab = slab_[k].is;
        ComponentsJob labels = without_selection();
        labels.set = has_found(context) ? found_set(context, set_of(k)) : set_of(k);
        labels.labels = part_of_slab(job_.labels, k);
        labels.count = &slab.count;
        take_numbers(slab, labels);
        return labels;
    }

    ComponentsJob without_selection() const {
        ComponentsJob all = job_;
        all.periodic.along[axis_] = false;  // slabs have ends there
        all.no_border = all.no_inner = false;
        all.min_area = 0, all.max_area = all.largest = INT64_MAX;
        all.components = nullptr;
        all.capacity = 0;
        return all;
    }

    const ComponentsJob &job_;
    std::vector<SlabLabels> slab_;
};

template <class SomeCut, class Job>
void run_cut(apsis_context &context, const Job &job, int64_t rows) {
    for (int64_t each = context.others.empty() ? 2 : 1;; each *= 2) try {
            return SomeCut(context, job, each).run();
        } catch (const Error &error) {
            if (error.status != APSIS_ERROR_MEMORY || each >= rows) throw;
            context.log("%s: in more slabs", error.what());
        }
}

bool is_on_host(const View &view) { return !view || view.memory == APSIS_HOST; }

}  // namespace

bool can_be_cut(const apsis_context &context, const DistanceJob &job) {
    const bool has_chessboard_sites = job.measure.metric == APSIS_CHESSBOARD && job.nearest;
    return context.own_memory() == APSIS_DEVICE && is_on_host(job.set) && is_on_host(job.distance) && is_on_host(job.nearest) &&
           !job.is_slab() && job.method == APSIS_AUTO && !job.labels && !job.border && !job.values &&
           (job.is_batch() || !has_chessboard_sites);
}

bool can_be_cut(const apsis_context &context, const ComponentsJob &job) {
    return context.own_memory() == APSIS_DEVICE && is_on_host(job.set) && is_on_host(job.labels) && job.method == APSIS_AUTO &&
           !job.as_parts && !job.told.is_any && !job.by_value && !(job.axes == 2 && job.set.size[2] > 1);
}

void run_in_slabs(apsis_context &context, const DistanceJob &job) {
    run_cut<DistanceCut>(context, job, job.set.size[job.is_batch() ? 2 : job.axes - 1]);
}

void run_in_slabs(apsis_context &context, const ComponentsJob &job) {
    run_cut<ComponentsCut>(context, job, job.set.size[job.axes - 1]);
}

}  // namespace apsis
