// The near search of a label image in the plane (label_search.cu), for the lines that take what it leaves.
#pragma once

#include "cuda/columns/label_rows.h"
#include "cuda/distance/plane/layout.h"

namespace apsis::cuda::plane {

/// Writes pixels near which is another value, and marks the patches of others; *is_left becomes 1 if there are any.  The
/// layout's columns are begins of runs.
void search_labels(const Plan &plan, const Layout &layout, const LabelRows &rows, uint32_t *is_left, cudaStream_t stream);

/// The first of its searches for nearest pixels.
void search_label_sites(const Plan &plan, const Layout &layout, const LabelRows &rows, cudaStream_t stream);

}  // namespace apsis::cuda::plane
