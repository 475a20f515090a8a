// Distance and Voronoi maps of host images in slabs: see cut_runs.h.
//
// The slabs tell each other what those of apsis.h do, so the map is that of the whole image, byte for byte: two numbers a column
// and slab; of label images six, and then the set crosses to a device once more.  Indices of slices behind the first slab are
// shifted on the host.
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
        for (int side = 0; side < sides(); ++side) {
            part.slab.above[side] = told(last_[side], k > 0);
            part.slab.below[side] = told(first_[side], k + 1 < slabs_);
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
        std::vector<int64_t> own(count), sites(count);
        const auto go_on = [&](std::vector<int64_t> &rows, int64_t k, slabs::End end) {
            int64_t *const row = rows.data() + k * numbers();
            std::copy_n(row, count, own.begin());
            std::copy_n(sites.begin(), count, row);
            const bool is_first = end == slabs::End::FIRST;
            if (by_labels())
                slabs::merge_runs(job_.columns(), end, own.data(), sites.data());
            else
                apsis_slab_merge(job_.columns(), is_first ? own.data() : nullptr, is_first ? nullptr : own.data(), sites.data(),
                                 sites.data());
        };
        for (int side = 0; side < sides(); ++side) {
            std::fill(sites.begin(), sites.end(), no_row(slabs::End::LAST));
            for (int64_t k = 0; k < slabs_; ++k) go_on(last_[side], k, slabs::End::LAST);
            std::fill(sites.begin(), sites.end(), no_row(slabs::End::FIRST));
            for (int64_t k = slabs_; k-- > 0;) go_on(first_[side], k, slabs::End::FIRST);
        }
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
        // No slab lies above the first one, nor below the last.
        if (k > 0) summary.first = first_[side].data() + k * numbers();
        if (k + 1 < slabs_) summary.last = last_[side].data() + k * numbers();
        apsis::run(context, summary);
    }

    const DistanceJob &job_;
    std::vector<int64_t> first_[2], last_[2];  // [side][slab][number]: of the slab; then the first below it, the last above
};

}  // namespace

bool can_be_cut(const apsis_context &context, const DistanceJob &job) {
    const bool has_chessboard_sites = job.measure.metric == APSIS_CHESSBOARD && job.nearest;
    return context.own_memory() == APSIS_DEVICE && is_on_host(job.set) && is_on_host(job.distance) && is_on_host(job.nearest) &&
           !job.is_slab() && job.method == APSIS_AUTO && !job.periodic.any() && (job.is_batch() || !has_chessboard_sites);
}

void run_in_slabs(apsis_context &context, const DistanceJob &job) {
    run_cut<DistanceCut>(context, job, job.set.size[job.is_batch() ? 2 : job.axes - 1]);
}

}  // namespace apsis
