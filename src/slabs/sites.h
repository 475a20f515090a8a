// What slabs tell of their columns, merged for one of them: the nearest site before it, or behind it.
#pragma once

#include "runtime/backend.h"
#include "runtime/parallel.h"

namespace apsis::slabs {

void merge_sites(const MergeJob &job, Arena &arena);

}  // namespace apsis::slabs
