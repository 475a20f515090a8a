// Shared by near search and windows: words with 16-bit costs of two planes, and marks of tiles that are left to the argmin.
#pragma once

#include "cuda/distance/volume/layout.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

constexpr int HALF_STRIP = STRIP / 2;   // planes r and r + HALF_STRIP of a strip share a word
constexpr uint32_t ONES = 0x00010001u;  // 1 in both halves of a word
constexpr int32_t MOST_CARRY = 1000;    // a longer carry counts as this

/// How many planes are stored: all, or without NEAREST pairs; pair r of a strip holds planes r and r + HALF_STRIP.
template <bool NEAREST>
__host__ __device__ int64_t count_stored_planes(const Layout &layout) {
    const int64_t depth = layout.depth(), rest = depth % STRIP;
    return NEAREST ? depth : depth / STRIP * HALF_STRIP + (rest < HALF_STRIP ? rest : HALF_STRIP);
}

/// The distances along a column from each plane of a strip to the nearest site above and below, planes r and r + HALF_STRIP in
/// one word: calls visit(r, up, down) for 0 <= r < HALF_STRIP.
template <class Visit>
__device__ void scan_column(uint32_t word, int32_t before, int32_t after, int32_t start, Visit visit) {
    const uint32_t lower = word & 0xffff, upper = word >> HALF_STRIP;
    const uint32_t above = min(start - 1 - before, MOST_CARRY);     // from the plane above the strip
    const uint32_t below = min(after - start - STRIP, MOST_CARRY);  // from the plane below it
    uint32_t up[HALF_STRIP], count = (lower ? HALF_STRIP - 1 - highest_bit(lower) : above + HALF_STRIP) << 16 | above;
#pragma unroll
    for (int r = 0; r < HALF_STRIP; ++r) up[r] = count = (count + ONES) & ~((word >> r & ONES) * 0xffff);
    count = below << 16 | (upper ? static_cast<uint32_t>(lowest_bit(upper)) : below + HALF_STRIP);
#pragma unroll
    for (int r = HALF_STRIP - 1; r >= 0; --r) {
        count = (count + ONES) & ~((word >> r & ONES) * 0xffff);
        visit(r, up[r], count);
    }
}

/// The word of a pair of planes: the costs of their sites in the voxel's own column, by the distances to the sites above and
/// below.  Greater ones than `max_distance` count as that.
__device__ inline uint32_t z_costs(uint32_t weight, uint32_t max_distance, uint32_t up, uint32_t down) {
    const uint32_t near = __vimin3_u16x2(up, down, max_distance * ONES);
    const uint32_t low = near & 0xffff, high = near >> 16;
    return (low * low + (near & 0xffff0000u) * high) * weight;
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
