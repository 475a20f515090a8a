// apsis_distance on the CPU.
#pragma once

#include <tbb/task_arena.h>

#include "backend.h"

namespace apsis::cpu {

size_t distance_scratch(const DistanceJob &job, int threads);
void distance(const DistanceJob &job, void *scratch, tbb::task_arena &arena, const Progress &progress);

// The chessboard metric, in steps.cpp.
size_t chessboard_scratch(const DistanceJob &job);
void chessboard(const DistanceJob &job, void *scratch, tbb::task_arena &arena, const Progress &progress);

}  // namespace apsis::cpu
