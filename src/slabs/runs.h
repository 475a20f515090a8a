// What slabs of a label image tell each other of their columns: the run of a label that comes first in it, and the last one.
//
// Of each column three numbers, [3][column]: the row of the label that is nearest to the end of the slab, the nearest row
// beyond its run, and the label.  A run that goes through to the other end of the slab may go on in the next one; then its
// `beyond` is the row there, outside of the slab.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/backend.h"

namespace apsis::slabs {

/// An end of a slab: which of the runs is meant.
enum class End { FIRST, LAST };

/// There is no row: no label, or no pixel of another value.
constexpr int64_t no_row(End end) { return end == End::FIRST ? INT64_MAX : -1; }

/// Merges what adjacent slabs tell, into `all`.
void merge_runs(int64_t columns, End end, const int64_t *told, int64_t *all);

/// Around an image that closes on itself: adds to what slabs beyond one tell, `all`, what all slabs tell, `around`.
void close_runs(int64_t columns, End end, int64_t extent, const int64_t *around, int64_t *all);

/// The nearest pixels of another value than a slab's outermost row has, beyond that row.  `own` is what that row tells of
/// itself, `told` the runs beyond it (End::LAST above the slab), or nullptr where there is no label, and `beside` the row
/// there.
std::vector<int64_t> others_beyond(int64_t columns, End end, const int64_t *own, const int64_t *told, int64_t beside,
                                   int64_t extent);

}  // namespace apsis::slabs
