// apsis_distance and slabs on the CPU.
#pragma once

#include "core/columns.h"
#include "runtime/backend.h"
#include "runtime/parallel.h"

namespace apsis::cpu::distance {

// The Euclidean and the city-block metric.
size_t columns_scratch(const DistanceJob &job, int threads);
void distance_by_columns(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);

/// The columns of a job along its last axis, with room for their words: where a summary leaves them, if it is the first room.
Columns columns_of(const DistanceJob &job, Carver &carver);

// The first and the last site of each column of a slab; of a label image its first and its last run.
size_t summary_scratch(const SummaryJob &job);
void summary(const SummaryJob &job, void *scratch, Arena &arena, const Progress &progress);

// The Euclidean and the city-block metric, where an axis is periodic.
size_t periodic_scratch(const DistanceJob &job, int threads);
void distance_in_periodic(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);

// The chessboard metric.
size_t chessboard_scratch(const DistanceJob &job, int threads);
void chessboard(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);

/// Takes the border of the image into account in the outputs of a job.
void settle_border(const DistanceJob &job, Arena &arena);

}  // namespace apsis::cpu::distance
