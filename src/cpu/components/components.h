// Connected components on the CPU: what the room offers to the back end and to paths.
#pragma once

#include "runtime/backend.h"
#include "runtime/parallel.h"

namespace apsis::cpu::components {

size_t components_scratch(const ComponentsJob &job, int threads);
void find_components(const ComponentsJob &job, void *scratch, Arena &arena, const Progress &progress);

}  // namespace apsis::cpu::components
