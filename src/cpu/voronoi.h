// apsis_voronoi on the CPU: from the complete map to the connected one, in place.
#pragma once

#include <tbb/task_arena.h>

#include "backend.h"

namespace apsis::cpu {

/// Independent of the number of threads.
size_t exclaves_scratch(const VoronoiJob &job);
void hide_exclaves(const VoronoiJob &job, void *scratch, tbb::task_arena &arena, const Progress &progress);

}  // namespace apsis::cpu
