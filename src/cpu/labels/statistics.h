// Statistics of a label image: first pixel, area, bounding box and sums of coordinates of each value that occurs.
#pragma once

#include "runtime/parallel.h"

namespace apsis::cpu::labels {

size_t statistics_scratch(const StatisticsJob &job, int threads);
void statistics(const StatisticsJob &job, void *scratch, Arena &arena, const Progress &progress);

}  // namespace apsis::cpu::labels
