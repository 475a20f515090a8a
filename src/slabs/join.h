// Joins the components of slabs, from what each has told of itself.
#pragma once

#include "runtime/backend.h"

namespace apsis::slabs {

/// apsis_slab_join, its arguments checked and its defaults filled in.  From the components job it uses the size of the set,
/// which is that of the image, the neighbours, the selection, and the array of parts.
struct JoinJob : ComponentsJob {
    const apsis_slab_labels *slabs = nullptr;
    int64_t slab_count = 0;

    bool needs_parts() const { return selects() || capacity > 0; }
};

/// Returns the number of components.
int64_t join(const JoinJob &job);

/// Moves parts of a slab of a job to where it is in the image: behind `start` rows.
void move_parts(const ComponentsJob &job, int64_t start, apsis_part *parts, int64_t count);

}  // namespace apsis::slabs
