// apsis_measures as a job.  It is the CPU's work on every device, and no back end's.
#pragma once

#include <apsis_measures.h>

#include <vector>

#include "core/value_sums.h"
#include "runtime/parallel.h"

namespace apsis {

/// apsis_measures, its arguments checked and its defaults filled in.
struct MeasuresJob {
    View set;   // a label image, in host memory, as is `grey`
    View grey;  // without data: not wanted
    int axes = 2;
    int connectivity = 1;
    uint32_t wanted = 0;
    double spacing[3] = {1, 1, 1};
    bool is_dense = false;                    // for the caller's table
    std::vector<ValueSums> *found = nullptr;  // of the values that occur but 0, in ascending order

    bool wants(uint32_t some) const { return wanted & some; }
    bool wants_outlines() const { return wants(APSIS_FILLED | APSIS_HULL | APSIS_FERET); }
};

/// Finds the sums of all values.
void measure_values(const MeasuresJob &job, Arena &arena, const Progress &progress);

}  // namespace apsis
