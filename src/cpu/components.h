// apsis_components on the CPU.
#pragma once

#include "backend.h"
#include "cpu/parallel.h"

namespace apsis::cpu {

size_t components_scratch(const ComponentsJob &job, int threads);
void components(const ComponentsJob &job, void *scratch, Arena &arena, const Progress &progress);

// APSIS_TILE_FILL, in tile_fill.cpp.  Returns the number of components.
size_t tile_fill_scratch(const ComponentsJob &job);
int64_t tile_fill(const ComponentsJob &job, void *scratch, Arena &arena, const Progress &progress);

}  // namespace apsis::cpu
