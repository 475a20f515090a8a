// The sites outside of a slab, as candidates for its pixels: in each column the last one before it, and the first one after it.
//
// Where the image closes on itself along the axis that is cut, the way to them may lead across its seam.  So the last one
// before the slab may be a row behind it, or in it; likewise the first one after it.
#pragma once

#include "core/view.h"

namespace apsis {

struct Beyond {
    const int64_t *above, *below;  // [column]: of the set, or its complement, as in Slab; nullptr: there is none
    int64_t columns, start, end, extent;
    bool are_runs;  // `above` tells where runs begin: the site is the row before

    template <class Job>
    Beyond(const Job &job, int side)
        : above(job.slab.above[side]),
          below(job.slab.below[side]),
          columns(job.columns()),
          start(job.slab.start),
          end(start + job.set.size[job.axes - 1]),
          extent(job.slab.extent),
          are_runs(job.labels) {}

    bool any() const { return above || below; }

    /// Calls body(offset, index) for those of the column of a pixel in some row of the slab: how far it is, and where.
    template <class Body>
    APSIS_BOTH void for_sites(int64_t column, int64_t row, Body body) const {
        const int64_t at = start + row, last = above ? above[column] : -1, first = below ? below[column] : INT64_MAX;
        if (last >= 0) {
            const int64_t site = last - are_runs;
            body((site < start ? at : at + extent) - site, site * columns + column);
        }
        if (first < INT64_MAX) body((first < end ? first + extent : first) - at, first * columns + column);
    }
};

}  // namespace apsis
