// Rows of label images, in SIMD with run-time dispatch: where runs of equal values begin, and how far pixels are from the ends
// of theirs.  Words and carries are those of core/columns.h, with a bit for each pixel that differs from the one before it.
#pragma once

#include "core/columns.h"
#include "core/measure.h"

namespace apsis {

/// Sets bit `bit` of words[x] where pixel x of a row differs from that of the row before it.
void pack_begins(const View &labels, const uint8_t *row, const uint8_t *before, int bit, uint32_t *words);

/// Sets the bits of the pixels of a row that differ from the one before them.
void pack_row_begins(const View &labels, const uint8_t *row, uint32_t *words);

/// For `count` columns at position `at`: the cost of the nearest pixel of another value in the column, and its position.  As
/// column_costs() of cpu/distance/lines.h.
void run_end_costs(const Measure &measure, int axis, const uint32_t *words, const int32_t *before, const int32_t *after,
                   int64_t count, int32_t start, int32_t at, int32_t *cost, int32_t *position);
void run_end_costs(const Measure &measure, int axis, const uint32_t *words, const int32_t *before, const int32_t *after,
                   int64_t count, int32_t start, int32_t at, int64_t *cost, int64_t *position);

/// The same for all pixels of a column.  A row is the one column of columns along x.
void line_end_costs(const Measure &measure, int axis, const Columns &columns, int64_t column, int32_t *cost, int32_t *position);
void line_end_costs(const Measure &measure, int axis, const Columns &columns, int64_t column, int64_t *cost, int64_t *position);

/// Whether a row has no value at all.  Rows with gaps between pixels are not looked at.
bool is_background(const View &labels, const uint8_t *row);

/// Gives the background of a row cost 0, and itself, at position `at`, as the nearest.  `order` may be nullptr.
void clear_background(const View &labels, const uint8_t *row, int32_t at, int32_t *cost, int32_t *order);
void clear_background(const View &labels, const uint8_t *row, int32_t at, int64_t *cost, int64_t *order);

}  // namespace apsis
