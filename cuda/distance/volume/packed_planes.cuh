// What both searches of volumes whose costs fit 16 bits share: the words of two planes, and the marks of what they leave.
#pragma once

#include "cuda/distance/volume/layout.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

namespace {

constexpr int HALF = STRIP / 2;         // planes r and r + HALF of a strip share a word
constexpr uint32_t BOTH = 0x00010001u;  // one in both halves
constexpr int32_t MOST_CARRY = 1000;    // a longer carry counts as this

/// The planes that are stored: z, or pairs of which pair r of a strip holds planes r and r + HALF.
template <bool NEAREST>
__host__ __device__ int64_t count_planes(const Volume &volume) {
    const int64_t depth = volume.depth(), rest = depth % STRIP;
    return NEAREST ? depth : depth / STRIP * HALF + (rest < HALF ? rest : HALF);
}

/// The distances to the nearest site of a column above and below each plane of a strip, planes r and r + HALF
/// together: calls lay(r, up, down) for 0 <= r < HALF.
template <class Lay>
__device__ void scan_column(uint32_t word, int32_t before, int32_t after, int32_t start, Lay lay) {
    const uint32_t lower = word & 0xffff, upper = word >> HALF;
    const uint32_t first = min(start - 1 - before, MOST_CARRY);    // in the plane above the strip
    const uint32_t last = min(after - start - STRIP, MOST_CARRY);  // in the plane below it
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

/// Marks a tile, and what the search along y must know for it: all as far as its sites may be.
///
/// The rows of a patch come here together, and a mark says how many groups to either side are known to be
/// needed: whoever finds no less leaves that to whoever wrote it.  Marks are read past the first cache, which
/// may be behind.
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
