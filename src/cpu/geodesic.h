// apsis_geodesic on the CPU.
#pragma once

#include <tbb/task_arena.h>

#include "backend.h"

namespace apsis::cpu {

size_t geodesic_scratch(const GeodesicJob &job, int threads);
void geodesic(const GeodesicJob &job, void *scratch, tbb::task_arena &arena, const Progress &progress);

}  // namespace apsis::cpu
