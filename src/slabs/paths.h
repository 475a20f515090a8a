// Paths across the borders of a slab: how they come in from the rows beside it, and what is told of its own rows.
#pragma once

#include <vector>

#include "runtime/backend.h"

namespace apsis::slabs {

/// No path leads to a pixel.
constexpr int64_t NO_PATH = INT64_MAX, NO_SEED = -1;

/// The arrays of a geodesic job for a slab.  In 3-D read "plane" for "row".
class BorderPaths {
  public:
    /// Finds the paths that come in, and gives the job both arrays.  Their memory is this object's.
    BorderPaths(const apsis_slab_paths &slab, GeodesicJob &job);

    /// Brings the caller's arrays up to date, after the job has run.  Returns how many elements have changed.
    int64_t tell() const;

  private:
    int64_t *entering(int i) { return entering_.data() + i * columns_; }
    void enter(GeodesicJob &job, const int64_t *lengths, const int64_t *seeds, int side);

    const apsis_slab_paths &slab_;
    int64_t columns_;
    std::vector<int64_t> entering_, told_;  // [lengths at the first row, at the last one, seeds at both][column]
};

}  // namespace apsis::slabs
