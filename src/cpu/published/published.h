// Published methods on the CPU, each in a file of its own.
#pragma once

#include "runtime/backend.h"
#include "runtime/parallel.h"

namespace apsis::cpu::published {

// Distance maps in the plane: APSIS_RASTER_SCAN, APSIS_SWEEP with its other schedules, APSIS_JUMP_FLOOD and
// APSIS_SEQUENTIAL_SCAN.  None takes more memory for more threads.
size_t raster_scan_scratch(const DistanceJob &job, int threads);
void raster_scan(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);
size_t sweep_scratch(const DistanceJob &job, int threads);
void sweep(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);
size_t jump_flood_scratch(const DistanceJob &job, int threads);
void jump_flood(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);
size_t sequential_scan_scratch(const DistanceJob &job, int threads);
void sequential_scan(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress);

// Components in the plane: APSIS_TILE_FILL, labels and count.
size_t tile_fill_scratch(const ComponentsJob &job);
void tile_fill(const ComponentsJob &job, void *scratch, Arena &arena, const Progress &progress);

}  // namespace apsis::cpu::published
