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

    /// How far a site is from a pixel, and its index; of none, -1 and -1.
    struct Found {
        int64_t offset, index;
    };
    /// The last one before the slab in the column of a pixel in some row of the slab, and the first one after it.
    APSIS_BOTH Found before(int64_t column, int64_t row) const {
        if (!above || above[column] < 0) return {-1, -1};
        const int64_t site = above[column] - are_runs;
        return {start + row - site + (site < start ? 0 : extent), site * columns + column};
    }
    APSIS_BOTH Found after(int64_t column, int64_t row) const {
        if (!below || below[column] == INT64_MAX) return {-1, -1};
        const int64_t site = below[column];
        return {site - start - row + (site < end ? extent : 0), site * columns + column};
    }
};

}  // namespace apsis
