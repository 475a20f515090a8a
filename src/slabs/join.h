// Joins the components of slabs, from what each has told of itself.
#pragma once

#include "runtime/join_job.h"
#include "runtime/parallel.h"

namespace apsis::slabs {

/// Returns the number of components.
int64_t join(const JoinJob &job, Arena &arena);

/// apsis_slab_renumber, its arguments checked.
void renumber(int64_t columns, const apsis_slab_labels &joined, apsis_slab_labels *slabs, int64_t slab_count);

}  // namespace apsis::slabs
