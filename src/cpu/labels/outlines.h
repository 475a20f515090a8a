// What follows from the runs of a value: the area with its holes, and the convex hull.
#pragma once

#include <vector>

#include "core/hull.h"
#include "runtime/measures_job.h"

namespace apsis::cpu::labels {

/// Pixels of one value from x = begin to end.
struct Run {
    int32_t z, y, begin, end;
};

/// Memory of a thread, for one value after the other.
class OutlineScratch {
  public:
    /// Of the runs of a value, in any order, which it sorts.
    Outline outline_of(const MeasuresJob &job, Run *runs, int64_t count, int64_t area);

  private:
    struct Row {
        int64_t first, last;  // its runs
    };

    int64_t filled(const MeasuresJob &job, const Run *runs, int64_t count, int64_t area);
    void hull(const MeasuresJob &job, const Run *runs, int64_t count, Outline &outline);
    int64_t root_of(int64_t node);
    void join_row(const Run *runs, const Row *row, int64_t gap);

    std::vector<Row> rows_;
    std::vector<int64_t> parent_;  // of the gap behind each run, and of the outside
    std::vector<HullRow> pixels_, points_;
    Hull hull_;
};

}  // namespace apsis::cpu::labels
