// The pixels of a row within a limit of its columns' sites, in SIMD with run-time dispatch.
#pragma once

#include <cstdint>

#include "core/measure.h"

namespace apsis::cpu::distance {

/// Writes -1 for the pixels x of a row to which cost[x'] and the cost of the offset x - x' add up to at most `limit` for some
/// x', and 0 for others.  All are lines (lines.h): costs are sealed, and others have spare elements.
void cover_row(const Measure &measure, const int32_t *cost, int64_t count, int32_t limit, int32_t *covered, int32_t *scratch);

}  // namespace apsis::cpu::distance
