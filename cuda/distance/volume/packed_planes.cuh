// Shared by near search and windows: words with 16-bit costs of two planes, and marks of tiles that are left to the argmin.
#pragma once

#include "cuda/columns/columns.h"
#include "cuda/distance/volume/layout.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

using namespace columns;

constexpr int32_t MOST_CARRY = 1000;  // a longer carry counts as this

/// How many planes are stored: all, or without NEAREST pairs; pair r of a strip holds planes r and r + HALF_STRIP.
template <bool NEAREST>
__host__ __device__ int64_t count_stored_planes(const Layout &layout) {
    const int64_t depth = layout.depth(), rest = depth % STRIP;
    return NEAREST ? depth : depth / STRIP * HALF_STRIP + (rest < HALF_STRIP ? rest : HALF_STRIP);
}

/// A row's column at x in a strip; without sites beyond the image.  There is no branch: with one, loads would wait for each
/// other.
__device__ inline Sites load_column(const Columns &columns, int64_t strip, int64_t x, int64_t y) {
    const bool inside = x < columns.count && y >= 0 && y < columns.batch;
    const int64_t at = inside ? columns.at(y, strip, x) : 0;
    const Sites stored = {__ldg(columns.words + at), __ldg(columns.before + at), __ldg(columns.after + at)};
    return inside ? stored : Sites{0, NO_SITE_BEFORE, NO_SITE_AFTER};
}

/// The word of a pair of planes: the costs of their sites in the voxel's own column, by the distances to the nearest ones.
/// Greater ones than `max_distance` count as that.
__device__ inline uint32_t z_costs(uint32_t weight, uint32_t max_distance, uint32_t nearest) {
    return square_both(__vminu2(nearest, max_distance * BOTH)) * weight;
}

/// The distance that a cost of 16 bits stands for.
__device__ inline float length_of_near(const Layout &layout, int32_t cost) {
    return layout.output.measure.unit == 1 ? small_root_of(cost) : __ldg(layout.length_table + cost);
}

/// Marks a tile for the argmin.  Also sets as needed the results along y where its sites may be: up to `farthest` voxels away
/// along x.
///
/// The rows of a patch are marked at the same time by many threads.  A mark holds how many groups to either side are set as
/// needed; a thread that reads as many or more is done.  Marks are read from the second cache, because the first one may hold
/// old values.
__device__ inline void mark_tile(const Layout &layout, int32_t x, int32_t y, int64_t z, float farthest) {
    uint8_t &mark = layout.mark(z, y, x / TILE), &any = layout.any_need();
    const int32_t groups = 1 + static_cast<int32_t>(fminf(farthest / MARK_GROUP, UINT8_MAX - 1));
    const bool known = __ldcg(&mark) >= groups, first = !__ldcg(&any);
    if (known) return;
    mark = static_cast<uint8_t>(groups);
    if (first) any = 1;
    const int32_t here = x / MARK_GROUP, end = static_cast<int32_t>(layout.groups_across());
    const bool all = groups == UINT8_MAX;
    uint8_t *const needs = &layout.need(z, y, 0);
    for (int32_t g = all ? 0 : max(here - groups, 0); g < (all ? end : min(here + groups + 1, end)); ++g) needs[g] = 1;
}

}  // namespace apsis::cuda::volume
