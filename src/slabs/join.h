// Joins the components of slabs, from what each has told of itself.
#pragma once

#include "runtime/parallel.h"

namespace apsis::slabs {

/// apsis_slab_join, its arguments checked and its defaults filled in.  From the components job it uses the size of the set,
/// which is that of the image, the neighbours, the selection, and the array of parts.
struct JoinJob : ComponentsJob {
    apsis_slab_labels *slabs = nullptr;
    int64_t slab_count = 0;

    /// Whether slabs are the whole image, and it closes on itself along the axis that is cut.
    bool is_ring() const {
        const apsis_slab_labels *const bottom = slab_count > 0 ? slabs + slab_count - 1 : nullptr;
        return periodic.along[axes - 1] && bottom && slabs->start == 0 && bottom->start + bottom->rows == set.size[axes - 1];
    }
    bool needs_parts() const { return by_value || selects() || capacity > 0; }
};

/// Returns the number of components.
int64_t join(const JoinJob &job, Arena &arena);

/// apsis_slab_renumber, its arguments checked.
void renumber(int64_t columns, const apsis_slab_labels &joined, apsis_slab_labels *slabs, int64_t slab_count);

}  // namespace apsis::slabs
