// Distance and Voronoi maps of host images in slabs: see cut_runs.h.
//
// The slabs tell each other what those of apsis.h do, so the map is that of the whole image, byte for byte: two numbers a
// column and slab; of label images six, and then the set crosses to a device once more.  Indices of slices behind the first
// slab are shifted on the host.
#include "api/cut.h"
#include "api/label_slabs.h"
#include "slabs/runs.h"

namespace apsis {
namespace {

constexpr double SHARE_TOLD = 0.2;  // of the progress: until each slab knows of the others

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

class DistanceCut : Cut {
  public:
    DistanceCut(apsis_context &context, const DistanceJob &job, int64_t each)
        : Cut(context, job.set, job.is_batch() ? 2 : job.axes - 1, each),
          job_(job) {}

    void run() {
        if (!job_.is_batch()) tell_all();
        workers_.run(job_.is_batch() ? 0 : SHARE_TOLD, 1, [&](size_t i) {
            each_slab(i, [&](int64_t k) {
                if (set_of(k).pixels() > 0) run_slab(workers_[i], k);
            });
        });
    }

  private:
    /// Whether slabs tell of labels.
    bool by_labels() const { return job_.labels || job_.values; }

    DistanceJob part_job(int64_t k) const {
        DistanceJob part = job_;
        part.set = set_of(k);
        part.values = part_of_slab(job_.values, k);
        part.distance = part_of_slab(job_.distance, k);
        part.nearest = part_of_slab(job_.nearest, k);
        return part;
    }

    void run_slab(apsis_context &context, int64_t k) {
        DistanceJob part = part_job(k);
        if (job_.is_batch()) {
            run_here(context, part);
            if (job_.nearest && !job_.values) count_slices_before(context, part, k);
            return;
        }
        const auto told = [&](const std::vector<int64_t> &rows, bool is_any) { return is_any ? row_of(rows, k) : nullptr; };
        part.slab.start = start_of(k);
        for (int side = 0; part.is_slab() && side < sides(); ++side) {
            part.slab.above[side] = told(last_[side], has_above(k));
            part.slab.below[side] = told(first_[side], has_below(k));
        }
        const apsis_slab slab = {part.slab.start, part.slab.extent, part.slab.above[0], part.slab.below[0], nullptr, nullptr};
        if (job_.labels) {
            const BeyondLabels beyond(context, slab, part);
            return run_here(context, part);
        }
        if (job_.values) take_labels_beyond(slab, part);
        // The border is looked for in the set itself, if the map is signed.
        part.is_found = has_found(context) && !by_labels() && !(job_.border && job_.is_signed);
        if (part.is_found) part.set = found_set(context, part.set);
        run_here(context, part);
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
    /// How many numbers a slab tells each way.
    int64_t numbers() const { return by_labels() ? 3 * job_.columns() : job_.columns(); }
    const int64_t *row_of(const std::vector<int64_t> &rows, int64_t k) const { return rows.data() + k * numbers(); }

    /// Finds for each slab the nearest sites above it and below it, in last_ and first_.
    void tell_all() {
        const auto count = static_cast<size_t>(numbers());
        for (int side = 0; side < sides(); ++side) first_[side].resize(count * slabs_), last_[side].resize(count * slabs_);
        workers_.run(0, SHARE_TOLD, [&](size_t i) {
            each_slab(i, [&](int64_t k) {
                for (int side = sides() - 1; side >= 0; --side) summarize(workers_[i], k, side);
            });
        });
        for (int side = 0; side < sides(); ++side) {
            tell_nearest(last_[side], slabs::End::LAST);
            tell_nearest(first_[side], slabs::End::FIRST);
        }
    }

    /// Makes of what slabs tell what they are told: of the sites of all slabs before, or behind, the nearest one; around an
    /// image that closes on itself, where there is none, the nearest one of all.
    void tell_nearest(std::vector<int64_t> &rows, slabs::End end) const {
        const bool is_first = end == slabs::End::FIRST;
        const auto count = static_cast<size_t>(numbers());
        const int64_t none = no_row(end);
        const auto take = [&](std::vector<int64_t> &sites, const int64_t *own) {
            if (by_labels())
                slabs::merge_runs(job_.columns(), end, own, sites.data());
            else
                apsis_slab_merge(job_.columns(), is_first ? own : nullptr, is_first ? nullptr : own, sites.data(),
                                 sites.data());
        };
        std::vector<int64_t> own(count), sites(count, none), around(count, none);
        for (int64_t k = 0; is_ring() && k < slabs_; ++k) take(around, row_of(rows, k));
        for (int64_t i = 0; i < slabs_; ++i) {
            int64_t *const row = rows.data() + (is_first ? slabs_ - 1 - i : i) * numbers();
            std::copy_n(row, count, own.begin());
            std::copy_n(sites.begin(), count, row);
            if (is_ring()) close(row, end, around);
            take(sites, own.data());
        }
    }

    void close(int64_t *row, slabs::End end, const std::vector<int64_t> &around) const {
        if (by_labels()) return slabs::close_runs(job_.columns(), end, job_.set.size[axis_], around.data(), row);
        for (size_t c = 0; c < around.size(); ++c)
            if (row[c] == slabs::no_row(end)) row[c] = around[c];
    }

    /// What a slab tells of the set or, as side 1, of its complement.  The set comes last: the map goes on from there.
    void summarize(apsis_context &context, int64_t k, int side) {
        SummaryJob summary;
        static_cast<DistanceJob &>(summary) = job_;
        summary.set = set_of(k);
        summary.is_found = summary.is_opposite = job_.is_signed && side == 0 && context.found;
        if (summary.is_found) summary.set = found_set(context, summary.set);
        summary.distance = summary.nearest = summary.values = {};
        summary.labels = by_labels();
        summary.border = false;
        summary.slab.start = start_of(k);
        summary.complement = job_.complement != (side == 1);
        if (has_above(k)) summary.first = first_[side].data() + k * numbers();
        if (has_below(k)) summary.last = last_[side].data() + k * numbers();
        apsis::run(context, summary);
    }

    const DistanceJob &job_;
    std::vector<int64_t> first_[2], last_[2];  // [side][slab][number]: of the slab; then the first below it, the last above
};

}  // namespace

bool can_be_cut(const apsis_context &context, const DistanceJob &job) {
    const bool has_chessboard_sites = job.measure.metric == APSIS_CHESSBOARD && job.nearest;
    return context.own_memory() == APSIS_DEVICE && is_on_host(job.set) && is_on_host(job.distance) && is_on_host(job.nearest) &&
           !job.is_slab() && job.method == APSIS_AUTO && (job.is_batch() || !has_chessboard_sites);
}

void run_in_slabs(apsis_context &context, const DistanceJob &job) {
    run_cut<DistanceCut>(context, job, job.set.size[job.is_batch() ? 2 : job.axes - 1]);
}

}  // namespace apsis
