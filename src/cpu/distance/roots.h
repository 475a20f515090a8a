// The lengths of Euclidean costs, in SIMD with run-time dispatch.
#pragma once

#include <cstdint>

#include "core/measure.h"

namespace apsis::cpu::distance {

/// Whether costs are so small that a double holds each of them: those for lengths().
inline bool has_exact_roots(const Measure &measure) { return measure.largest < int64_t(1) << 52; }

/// The lengths unit * sqrt(cost); +infinity above `limit`, which is below NO_COST.  Costs are read in whole vectors: they have
/// spare ones behind the last.  `length` is written up to its last element.
void lengths(double unit, const int32_t *cost, int64_t count, int32_t limit, float *length);
void lengths(double unit, const int64_t *cost, int64_t count, int64_t limit, float *length);
void lengths(double unit, const int32_t *cost, int64_t count, int32_t limit, double *length);
void lengths(double unit, const int64_t *cost, int64_t count, int64_t limit, double *length);

/// The same for a unit of 1, past the caches.  Other threads see them after hwy::FlushStream().
void stream_lengths(const int32_t *cost, int64_t count, int32_t limit, float *length);

}  // namespace apsis::cpu::distance
