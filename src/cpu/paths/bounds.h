// The arithmetic of pair bounds in vectors: the least, over hubs, of the sums of two lengths (Highway).
#pragma once

#include <cstdint>

#include "core/pair_turns.h"

namespace apsis::cpu::paths {

/// A pixel's lengths from hubs lie side by side, MOST_HUBS of them.  Unused ones are NO_HUB.
template <class Length>
constexpr Length NO_HUB = static_cast<Length>((uint64_t(1) << (8 * sizeof(Length) - 2)) - 1);  // twice it still fits

/// sums[i] = min over the first `hubs` of one[h] + rows[i * MOST_HUBS + h], for i < count.
void least_sums(const int32_t *one, const int32_t *rows, int64_t count, int hubs, int32_t *sums);
void least_sums(const int64_t *one, const int64_t *rows, int64_t count, int hubs, int64_t *sums);

/// Pixels whose bounds are found together: a cache line of each hub's lengths.
constexpr int64_t STRETCH = 16;

/// bounds[i] = min over hubs of one[h] + slot[h][first + i], for i < count, at most STRETCH.  Returns the largest.
int32_t pixel_bounds(const int32_t *one, const int32_t *const *slot, int64_t first, int64_t count, int hubs, int32_t *bounds);
int64_t pixel_bounds(const int64_t *one, const int64_t *const *slot, int64_t first, int64_t count, int hubs, int64_t *bounds);

}  // namespace apsis::cpu::paths
