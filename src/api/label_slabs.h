// What a slab of a label image is told, for its maps.
#pragma once

#include <vector>

#include "api/jobs.h"
#include "slabs/runs.h"

namespace apsis {

/// What one row of a label image, in 3-D plane, tells of the runs there (slabs/runs.h), as a slab that begins with row 0.
std::vector<int64_t> runs_of_row(apsis_context &context, const View &set, int axes, int64_t row, slabs::End end);

/// The row of a slab next to what is above it, or below.
struct Edge {
    const char *name;
    slabs::End end;       // of the runs that are told there
    const int64_t *told;  // as in apsis_slab
    int64_t row, beside;  // of the image: the slab's own one, and the one next to it
};

/// The edges of a slab beside which the image has rows.
std::vector<Edge> edges_of(const apsis_slab &slab, const DistanceJob &job);

/// Where distances lead from the labels of a slab, beyond its rows.  The job, which has pixels, points there.
class BeyondLabels {
  public:
    BeyondLabels(apsis_context &context, const apsis_slab &slab, DistanceJob &job);

  private:
    std::vector<int64_t> above_, below_;
};

/// Gives a job whose cells have labels those of the sites beyond its rows.
void take_labels_beyond(const apsis_slab &slab, DistanceJob &job);

}  // namespace apsis
