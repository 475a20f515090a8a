// apsis_slab_join as a job.  A back end may join faces in its device's memory; the rest is the host's work on every device.
#pragma once

#include "runtime/backend.h"

namespace apsis {

/// apsis_slab_join, its arguments checked and its defaults filled in.  From the components job it uses the size of the set,
/// which is that of the image, the neighbours, the selection, and the array of parts.
struct JoinJob : ComponentsJob {
    apsis_slab_labels *slabs = nullptr;
    int64_t slab_count = 0;
    void *page_locked = nullptr;  // a back end's own, for what slabs tell on its way

    /// Whether slabs are the whole image, and it closes on itself along the axis that is cut.
    bool is_ring() const {
        const apsis_slab_labels *const bottom = slab_count > 0 ? slabs + slab_count - 1 : nullptr;
        return periodic.along[axes - 1] && bottom && slabs->start == 0 && bottom->start + bottom->rows == set.size[axes - 1];
    }
    bool needs_parts() const { return by_value || selects() || capacity > 0; }
};

}  // namespace apsis
