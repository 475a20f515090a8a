// Statistics and contacts of host label images in slabs: see cut_runs.h.
//
// What is known of the values of slabs is added up.  A slab has the contacts across the cut before it if it begins with the row
// before: those in that row alone are taken away again.
#include "api/cut.h"
#include "slabs/values.h"

namespace apsis {
namespace {

int last_axis(const View &image) { return image.size[2] > 1 ? 2 : 1; }

/// What was found in slabs, behind each other.
template <class Found>
std::vector<Found> all_of(const std::vector<std::vector<Found>> &slabs) {
    std::vector<Found> all;
    for (const std::vector<Found> &slab : slabs) all.insert(all.end(), slab.begin(), slab.end());
    return all;
}

class StatisticsCut : Cut {
  public:
    StatisticsCut(apsis_context &context, const StatisticsJob &job, int64_t each)
        : Cut(context, job.set, last_axis(job.set), each),
          job_(job),
          found_(static_cast<size_t>(slabs_)) {}

    void run() {
        workers_.run(0, 1, [&](size_t i) {
            each_slab(i, [&](int64_t k) {
                StatisticsJob part = job_;
                part.set = set_of(k);
                part.found = &found_[k];
                if (part.set.pixels() == 0) return;
                run_here(workers_[i], part);
                slabs::place_parts(part.set, axis_ + 1, start_of(k), found_[k]);
            });
        });
        std::vector<apsis_part> all = all_of(found_);
        all.resize(static_cast<size_t>(slabs::merge_parts(static_cast<int64_t>(all.size()), all.data())));
        *job_.found = std::move(all);
    }

  private:
    const StatisticsJob &job_;
    std::vector<std::vector<apsis_part>> found_;  // [slab]
};

class ContactsCut : Cut {
  public:
    ContactsCut(apsis_context &context, const ContactsJob &job, int64_t each)
        : Cut(context, job.set, last_axis(job.set), each),
          job_(job),
          found_(static_cast<size_t>(slabs_)) {}

    void run() {
        workers_.run(0, 1, [&](size_t i) {
            each_slab(i, [&](int64_t k) {
                if (set_of(k).pixels() > 0) find(workers_[i], k);
            });
        });
        std::vector<apsis_contact> all = all_of(found_);
        all.resize(static_cast<size_t>(slabs::merge_contacts(static_cast<int64_t>(all.size()), all.data())));
        *job_.found = std::move(all);
    }

  private:
    /// Adds the contacts of some rows to those of a slab, or takes them away.
    void add(apsis_context &context, int64_t k, int64_t start, int64_t rows, int64_t sign) {
        std::vector<apsis_contact> found;
        ContactsJob part = job_;
        part.set = part_of(job_.set, axis_, start, rows);
        part.found = &found;
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

    const ContactsJob &job_;
    std::vector<std::vector<apsis_contact>> found_;  // [slab]
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
