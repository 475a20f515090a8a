// apsis_distance and slabs on the CPU.
#pragma once

#include "backend.h"
#include "cpu/parallel.h"

namespace apsis::cpu {

size_t distance_scratch(const DistanceJob &job, int threads);
void distance(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);

// Where the columns of a slab begin and end.
size_t summary_scratch(const SummaryJob &job);
void summary(const SummaryJob &job, void *scratch, Arena &arena, const Progress &progress);

// The chessboard metric, in steps.cpp.
size_t chessboard_scratch(const DistanceJob &job, int threads);
void chessboard(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);

// The published methods, each in its own file; how many threads there are is all the same to them.
size_t raster_scan_scratch(const DistanceJob &job, int threads);
void raster_scan(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);
size_t sweep_scratch(const DistanceJob &job, int threads);
void sweep(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);
size_t jump_flood_scratch(const DistanceJob &job, int threads);
void jump_flood(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);
size_t sequential_scan_scratch(const DistanceJob &job, int threads);
void sequential_scan(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);

}  // namespace apsis::cpu
