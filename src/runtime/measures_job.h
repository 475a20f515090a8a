// apsis_measures as a job.  A back end may have kernels for what is not about outlines.  The rest is the CPU's work on every
// device.
#pragma once

#include <apsis_measures.h>

#include "core/value_sums.h"
#include "runtime/backend.h"

namespace apsis {

class Arena;

/// apsis_measures, its arguments checked and its defaults filled in.
struct MeasuresJob {
    View set;   // a label image
    View grey;  // without data: not wanted
    int axes = 2;
    int connectivity = 1;
    uint32_t wanted = 0;
    double spacing[3] = {1, 1, 1};
    bool is_dense = false;        // for the caller's table
    int64_t room = 0;             // for so many values, if a back end finds the sums
    void *page_locked = nullptr;  // a back end's own, for sums on their way

    /// Takes the sums of some values that occur but 0, which come in ascending order: of(i) are those of the i-th of them, for
    /// any thread.
    std::function<void(int64_t count, const std::function<ValueSums(int64_t)> &of)> take;

    bool wants(uint32_t some) const { return wanted & some; }
    bool wants_outlines() const { return wants(APSIS_FILLED | APSIS_HULL | APSIS_FERET); }
    /// What the pixels around a pixel are needed for.
    bool wants_windows() const { return wants(APSIS_PERIMETER | APSIS_SURFACE | APSIS_EULER); }
};

/// Finds the sums of all values, of images in host memory.
void measure_values(const MeasuresJob &job, Arena &arena, const Progress &progress);

}  // namespace apsis
