// What the cuts of all jobs share: an image on the host, in slabs over the devices of a context: see cut_runs.h.
//
// Every device has a context of its own, the first one the caller's, and a thread of its own while it works.
//
// Cost: what crosses to the devices is what crosses to one, but for what slabs tell each other.  Where a device has several
// slabs, or a workspace of the caller's, the set crosses twice.
#pragma once

#include <algorithm>
#include <vector>

#include "api/cut_runs.h"
#include "api/workers.h"
#include "runtime/parallel.h"

namespace apsis {

/// Some rows of an image, in 3-D planes.
inline View part_of(const View &image, int axis, int64_t start, int64_t rows) {
    View part = image;
    if (!part) return part;
    part.data += start * part.stride[axis];
    part.size[axis] = rows;
    return part;
}

/// A set that a context has found: its size alone.  Wide pixels are not to be packed again.
inline View found_set(const apsis_context &context, View set) {
    set.data = nullptr;
    set.type = APSIS_U8;
    set.memory = context.own_memory();
    return set;
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

/// Cuts a job into ever more slabs, while memory runs out.
template <class SomeCut, class Job>
void run_cut(apsis_context &context, const Job &job, int64_t rows) {
    for (int64_t each = context.others.empty() ? 2 : 1;; each *= 2) try {
            return SomeCut(context, job, each).run();
        } catch (const Error &error) {
            if (error.status != APSIS_ERROR_MEMORY || each >= rows) throw;
            context.log("%s: in more slabs", error.what());
        }
}

inline bool is_on_host(const View &view) { return !view || view.memory == APSIS_HOST; }

}  // namespace apsis
