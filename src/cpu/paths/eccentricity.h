// Eccentricity on the CPU: the functions that the back end calls.
#pragma once

#include "runtime/backend.h"
#include "runtime/parallel.h"

namespace apsis::cpu::paths {

size_t eccentricity_scratch(const EccentricityJob &job, int threads);
void eccentricity(const EccentricityJob &job, void *scratch, Arena &arena, const Progress &progress);

}  // namespace apsis::cpu::paths
