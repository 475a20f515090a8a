// Bit-packed columns on the device: see core/columns.h.
#pragma once

#include <cuda_runtime.h>

#include "core/columns.h"
#include "workspace.h"

namespace apsis {

constexpr int NEAR = 24;  // rows within which a strip sees a site near

/// Columns along y, one image a slice, or along z, one image in all.  Column x of a slice is number x. Column
/// (x, y) along z is number x * height + y: neighbours along y, the axis of the next pass, are neighbours in
/// memory.
Columns shape_columns(const View &set, int axis);

void carve_words(Columns &columns, Carver &carver);
void carve_carries(Columns &columns, Carver &carver);

/// Queues the packing of a set, or of its complement, into columns along an axis.
void pack_columns(const View &set, int axis, bool complement, const Columns &columns, cudaStream_t stream);

/// The same of some strips of columns along y, and of those of the opposite set if `inverse` has memory for them.  Only
/// their rows of the set are read.
void pack_strips_of(const View &set, const StripRange &range, bool complement, const Columns &columns, const Columns &inverse,
                    cudaStream_t stream);

/// Queues both the packing of columns along y that are LONGEST_WHOLE pixels long at most and the filling in of their
/// carries, in one launch; of twice as many columns those of the opposite set, too.
constexpr int64_t LONGEST_WHOLE = 4096;
void pack_whole(const View &set, bool complement, const Columns &columns, cudaStream_t stream);

/// Queues the filling in of the carries.
void carry_columns(const Columns &columns, cudaStream_t stream);

}  // namespace apsis
