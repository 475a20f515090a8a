// apsis_geodesic on the CPU.
#pragma once

#include "backend.h"
#include "cpu/parallel.h"

namespace apsis::cpu {

size_t geodesic_scratch(const GeodesicJob &job, int threads);
void geodesic(const GeodesicJob &job, void *scratch, Arena &arena, const Progress &progress);

}  // namespace apsis::cpu
