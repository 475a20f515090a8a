// apsis_voronoi on the CPU: from the complete map to the connected one, in place.
#pragma once

#include "runtime/backend.h"
#include "runtime/parallel.h"

namespace apsis::cpu::voronoi {

/// Independent of the number of threads.
size_t exclaves_scratch(const VoronoiJob &job);
void hide_exclaves(const VoronoiJob &job, void *scratch, Arena &arena, const Progress &progress);

}  // namespace apsis::cpu::voronoi
