// apsis_eccentricity on the CPU.
#pragma once

#include <tbb/task_arena.h>

#include "backend.h"

namespace apsis::cpu {

size_t eccentricity_scratch(const EccentricityJob &job, int threads);
void eccentricity(const EccentricityJob &job, void *scratch, tbb::task_arena &arena, const Progress &progress);

}  // namespace apsis::cpu
