// Statistics and contacts of host label images in slabs: see cut_runs.h.
//
// What is known of the values of slabs is added up.  A slab has the contacts across the cut before it if it begins with the row
// before: those in that row alone are taken away again.
#include "api/cut.h"
#include "slabs/values.h"

namespace apsis {
namespace {

int last_axis(const View &image) { return image.size[2] > 1 ? 2 : 1; }

/// What is found in each slab of a label image, and added up.
template <class Job, class Found>
class ValuesCut : protected Cut {
  public:
    ValuesCut(apsis_context &context, const Job &job, int64_t each)
        : Cut(context, job.set, last_axis(job.set), each),
          job_(job),
          found_(static_cast<size_t>(slabs_)) {}

  protected:
    /// Calls find(context, k) for the slabs with rows, and merge(count, all) for all that they have found.
    template <class Find, class Merge>
    void run_and_merge(Find find, Merge merge) {
        workers_.run(0, 1, [&](size_t i) {
            each_slab(i, [&](int64_t k) {
                if (set_of(k).pixels() > 0) find(workers_[i], k);
            });
        });
        std::vector<Found> all;
        for (const std::vector<Found> &slab : found_) all.insert(all.end(), slab.begin(), slab.end());
        all.resize(static_cast<size_t>(merge(static_cast<int64_t>(all.size()), all.data())));
        *job_.found = std::move(all);
    }

    const Job &job_;
    std::vector<std::vector<Found>> found_;  // [slab]
};

class StatisticsCut : ValuesCut<StatisticsJob, apsis_part> {
  public:
    using ValuesCut::ValuesCut;

    void run() {
        run_and_merge([this](apsis_context &context, int64_t k) { find(context, k); }, slabs::merge_parts);
    }

  private:
    void find(apsis_context &context, int64_t k) {
        StatisticsJob part = job_;
        part.set = set_of(k);
        part.found = &found_[k];
        part.told = nullptr;
        run_here(context, part);
        slabs::place_parts(part.set, axis_ + 1, start_of(k), found_[k]);
    }
};

class ContactsCut : ValuesCut<ContactsJob, apsis_contact> {
  public:
    using ValuesCut::ValuesCut;

    void run() {
        run_and_merge([this](apsis_context &context, int64_t k) { find(context, k); }, slabs::merge_contacts);
    }

  private:
    /// Adds the contacts of some rows to those of a slab, or takes them away.
    void add(apsis_context &context, int64_t k, int64_t start, int64_t rows, int64_t sign) {
        std::vector<apsis_contact> found;
        ContactsJob part = job_;
        part.set = part_of(job_.set, axis_, start, rows);
        part.found = &found;
        part.told = nullptr;
        run_here(context, part);
        for (apsis_contact &pair : found) {
            for (int64_t &faces : pair.faces) faces *= sign;
            pair.corners *= sign;
        }
        found_[k].insert(found_[k].end(), found.begin(), found.end());
    }

    void find(apsis_context &context, int64_t k) {
        const bool has_neighbours = start_of(k) > 0 && axis_ < job_.axes;  // not so slices
        const int64_t before = has_neighbours ? 1 : 0;
        add(context, k, start_of(k) - before, rows_of(k) + before, 1);
        if (has_neighbours) add(context, k, start_of(k) - 1, 1, -1);
    }
};

}  // namespace

bool can_be_cut(const apsis_context &context, const StatisticsJob &job) {
    return context.own_memory() == APSIS_DEVICE && is_on_host(job.set);
}

bool can_be_cut(const apsis_context &context, const ContactsJob &job) {
    return context.own_memory() == APSIS_DEVICE && is_on_host(job.set) && !job.periodic.any();
}

void run_in_slabs(apsis_context &context, const StatisticsJob &job) {
    run_cut<StatisticsCut>(context, job, job.set.size[last_axis(job.set)]);
}

void run_in_slabs(apsis_context &context, const ContactsJob &job) {
    run_cut<ContactsCut>(context, job, job.set.size[last_axis(job.set)]);
}

}  // namespace apsis
