// Euclidean distance maps in the plane: columns of bits with carries, then rows.  plan.cu chooses the kernels of a map: small
// images, narrow rows, or the near search, then whole or segmented rows.
//
// Sets and outputs may pass in parts: strips are packed one range after another.  Once all have carries, rows are written one
// range after another.
//
// Cost: 1 byte a pixel in (1/8 from bits) and the outputs out; in between 1/2 byte a pixel of words, carries and marks,
// most of it in the second cache.
#include "cuda/distance/plane/plane.h"

#include "cuda/distance/plane/layout.h"

#include "cuda/runtime/progress.h"

namespace apsis::cuda::plane {

void take_rows(const DistanceJob &job, const Plan &plan, const StripRange &range, void *memory, cudaStream_t stream) {
    Carver carver(memory);
    const Layout layout = carve_layout(job, plan, carver);
    const int64_t strips = layout.images * layout.columns.strips();
    if (plan.way == Way::SMALL_IMAGES && range.count == strips && !job.is_slab() && !job.is_found)
        return pack_whole(job.set, job.complement, layout.columns, stream);
    if (job.is_found)
        keep_words(layout.columns, stream);
    else
        pack_strips_of(job.set, range, job.complement, layout.columns, stream);
    if (range.end() == strips) carry_columns(layout.columns, job, false, stream);
}

void give_rows(const DistanceJob &job, const Plan &plan, const StripRange &range, void *memory, cudaStream_t stream) {
    Carver carver(memory);
    Layout layout = carve_layout(job, plan, carver);
    layout.take(range);
    if (plan.way == Way::SMALL_IMAGES) return search_small_images(plan, layout, stream);
    if (plan.way == Way::NARROW_ROWS) return search_narrow_rows(plan, layout, stream);
    layout.output.nearest ? search_near_nearest(plan, layout, stream) : search_near(plan, layout, stream);
    list_candidates(plan, layout, stream);
    plan.is_cut ? search_segmented_rows(plan, layout, stream) : search_envelope(plan, layout, stream);
}

void distance_by_rows(const DistanceJob &job, const Plan &plan, void *memory, cudaStream_t stream, const Progress &progress) {
    const StripRange all = columns::shape_columns(job.set, 1).all();
    take_rows(job, plan, all, memory, stream);
    report(progress, 0.3, stream);
    give_rows(job, plan, all, memory, stream);
    report(progress, 1, stream);
}

}  // namespace apsis::cuda::plane
