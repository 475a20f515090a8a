// What near search and windows share: words with 16-bit costs of two planes, and marks for what they leave to the argmin.
#pragma once

#include "cuda/distance/volume/layout.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

namespace {

constexpr int HALF = STRIP / 2;         // planes r and r + HALF of a strip share a word
constexpr uint32_t BOTH = 0x00010001u;  // 1 in both halves of a word
constexpr int32_t MOST_CARRY = 1000;    // a longer carry counts as this

/// How many planes are stored: all, or without NEAREST pairs; pair r of a strip holds planes r and r + HALF_STRIP.
template <bool NEAREST>
__host__ __device__ int64_t count_planes(const Volume &volume) {
    const int64_t depth = volume.depth(), rest = depth % STRIP;
    return NEAREST ? depth : depth / STRIP * HALF + (rest < HALF ? rest : HALF);
}

/// The distances along a column from each plane of a strip to the nearest site above and below, planes r and r + HALF_STRIP in
/// one word: calls visit(r, up, down) for 0 <= r < HALF_STRIP.
template <class Lay>
__device__ void scan_column(uint32_t word, int32_t before, int32_t after, int32_t start, Lay lay) {
    const uint32_t lower = word & 0xffff, upper = word >> HALF;
    const uint32_t first = min(start - 1 - before, MOST_CARRY);    // from the plane above the strip
    const uint32_t last = min(after - start - STRIP, MOST_CARRY);  // from the plane below it
    uint32_t up[HALF], count = (lower ? HALF - 1 - highest_bit(lower) : first + HALF) << 16 | first;
#pragma unroll
    for (int r = 0; r < HALF; ++r) up[r] = count = (count + BOTH) & ~((word >> r & BOTH) * 0xffff);
    count = last << 16 | (upper ? static_cast<uint32_t>(lowest_bit(upper)) : last + HALF);
#pragma unroll
    for (int r = HALF - 1; r >= 0; --r) {
        count = (count + BOTH) & ~((word >> r & BOTH) * 0xffff);
        lay(r, up[r], count);
    }
}

/// Marks a tile for the argmin, and as needed all results along y as far from it as its sites may be: `farthest` voxels along x.
///
/// The rows of a patch are marked at the same time by many threads.  A mark holds how many groups to either side are set as
/// needed; a thread that reads as many or more has nothing left to do.  Marks are read from the second cache, because the first
/// one may hold old values.
__device__ void mark_tile(const Volume &volume, int32_t x, int32_t y, int64_t z, float farthest) {
    uint8_t &mark = volume.mark(z, y, x / TILE), &any = volume.any_need();
    const int32_t groups = 1 + static_cast<int32_t>(fminf(farthest / GROUP, UINT8_MAX - 1));
    const bool known = __ldcg(&mark) >= groups, first = !__ldcg(&any);
    if (known) return;
    mark = static_cast<uint8_t>(groups);
    if (first) any = 1;
    const int32_t here = x / GROUP, end = static_cast<int32_t>(volume.groups_across());
    const bool all = groups == UINT8_MAX;
    uint8_t *const needs = &volume.need(z, y, 0);
    for (int32_t g = all ? 0 : max(here - groups, 0); g < (all ? end : min(here + groups + 1, end)); ++g)
        needs[g] = 1;
}

__global__ void __launch_bounds__(BLOCK) fill_lengths(Volume volume, int32_t count) {
    const int32_t cost = blockIdx.x * BLOCK + threadIdx.x;
    if (cost < count) volume.lengths[cost] = length_of<float>(volume.output.measure, cost);
}

}  // namespace

}  // namespace apsis::cuda::volume
