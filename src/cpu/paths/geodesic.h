// Geodesic distance on the CPU: the functions that the back end calls.
#pragma once

#include "runtime/backend.h"
#include "runtime/parallel.h"

namespace apsis::cpu::paths {

size_t geodesic_scratch(const GeodesicJob &job, int threads);
void geodesic(const GeodesicJob &job, void *scratch, Arena &arena, const Progress &progress);

}  // namespace apsis::cpu::paths
