// Components of host images in slabs: see cut_runs.h.
//
// The slabs tell each other what those of apsis.h do, so the labels are those of the whole image, byte for byte.  Where slabs
// have more components than there is room for at first, their set crosses to the device once more.
//
// Where faces alone are told, and the first device can read the memory of the others, faces stay on the devices, and the first
// one joins them: noise of 32768^2 took 58.7 ms on two H100 with a join on the host, and takes 55.5 on two H200.  Their memory
// is kept between calls: to allocate it in each took 3 ms.  With a workspace of the caller's none is allocated.
#include "api/cut.h"

namespace apsis {
namespace {

class ComponentsCut : Cut {
  public:
    ComponentsCut(apsis_context &context, const ComponentsJob &job, int64_t each)
        : Cut(context, job.set, job.axes - 1, each),
          job_(job),
          slab_(static_cast<size_t>(slabs_)) {
        joins_on_device_ = workers_.count() > 1 && !needs_parts() && job.columns() > 0 && !context.has_callers_workspace();
        for (size_t i = 1; i < workers_.count(); ++i)
            joins_on_device_ = joins_on_device_ && workers_[0].backend->can_read(*workers_[i].backend);
    }

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

    bool needs_parts() const { return job_.by_value || job_.selects() || job_.capacity > 0; }

    /// The memory of a face of a slab: its first row, or its last.
    int64_t *face_of(apsis_context &context, int64_t k, bool is_last) {
        const auto columns = static_cast<size_t>(job_.columns()), all = 2 * columns * static_cast<size_t>(each_);
        if (joins_on_device_)
            return static_cast<int64_t *>(context.faces(all * sizeof(int64_t))) + job_.columns() * (k % each_ * 2 + is_last);
        std::vector<int64_t> &numbers = is_last ? slab_[k].last : slab_[k].first;
        numbers.resize(columns);
        return numbers.data();
    }

    void find_parts(apsis_context &context, int64_t k) {
        SlabLabels &slab = slab_[k];
        slab.is.start = start_of(k), slab.is.rows = rows_of(k);
        const bool is_ring = job_.periodic.along[axis_];
        if (is_ring || k > 0) slab.is.first = face_of(context, k, false);
        if (is_ring || k + 1 < slabs_) slab.is.last = face_of(context, k, true);
        if (set_of(k).pixels() == 0) return;
        ComponentsJob parts = without_selection();
        parts.set = set_of(k);
        parts.labels = {};
        parts.start = slab.is.start;
        parts.as_parts = true;
        parts.count = &slab.is.count;
        take_faces(context, parts, slab.is, parts.first, parts.last);
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
        JoinJob join;
        static_cast<ComponentsJob &>(join) = job_;
        join.slabs = told.data();
        join.slab_count = slabs_;
        const int64_t count = joins_on_device_ ? apsis::run(workers_[0], join) : join_on_host(join);
        for (int64_t k = 0; k < slabs_; ++k) slab_[k].is = told[k];
        apsis_slab_measure(std::min(count, job_.capacity), reinterpret_cast<const apsis_part *>(job_.components),
                           job_.components);
        return count;
    }

    int64_t join_on_host(const JoinJob &join) {
        Arena arena(Arena::threads_for(workers_[0].threads));
        return slabs::join(join, arena);
    }

    ComponentsJob labels_job(const apsis_context &context, int64_t k) {
        apsis_slab_labels &slab = slab_[k].is;
        ComponentsJob labels = without_selection();
        labels.set = has_found(context) ? found_set(context, set_of(k)) : set_of(k);
        labels.labels = part_of_slab(job_.labels, k);
        labels.count = &slab.count;
        take_numbers(context, slab, labels);
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
    bool joins_on_device_;
};

}  // namespace

bool can_be_cut(const apsis_context &context, const ComponentsJob &job) {
    return context.own_memory() == APSIS_DEVICE && is_on_host(job.set) && is_on_host(job.labels) && job.method == APSIS_AUTO &&
           !job.as_parts && !job.told.is_any && !job.by_delta() && !(job.axes == 2 && job.set.size[2] > 1) &&
           !(job.by_value && job.periodic.along[job.axes - 1]);
}

void run_in_slabs(apsis_context &context, const ComponentsJob &job) {
    run_cut<ComponentsCut>(context, job, job.set.size[job.axes - 1]);
}

}  // namespace apsis
