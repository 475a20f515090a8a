// Connected components on the CPU: the functions that the back end and the path transforms call.
#pragma once

#include "runtime/backend.h"
#include "runtime/parallel.h"

namespace apsis::cpu::components {

size_t components_scratch(const ComponentsJob &job, int threads);
void find_components(const ComponentsJob &job, void *scratch, Arena &arena, const Progress &progress);

}  // namespace apsis::cpu::components
