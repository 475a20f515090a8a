// What counts of a strip's columns, and which of 32 may be nearest to a pixel of the strip: what listing its candidates is made
// of (candidates.cu tells how it all goes together).
#pragma once

#include <cuda_runtime.h>

#include "cuda/distance/plane/layout.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/roots.h"

namespace apsis::cuda::plane {

static_assert(GROUP == WARP, "a group's columns are the bits of a ballot");

constexpr int FIRST_AWAY = 4;  // columns to those that are asked first, at least

/// What counts of a column in a word: the row of the site that counts most, from the strip's first; and, if both count, 1
/// and the sum of their rows, which is no more than twice the strip's last row, since somewhere in it they are as near.
constexpr int SUM_BITS = 6;
static_assert(2 * (STRIP - 1) + 1 < 1 << SUM_BITS && (LONGEST + STRIP) << SUM_BITS < int64_t(1) << 31);

__device__ inline int32_t pack_site(int32_t site, int32_t sum, bool both_count) {
    return static_cast<int32_t>(static_cast<uint32_t>(site) << SUM_BITS) + (both_count ? sum + 1 : 0);
}

__device__ inline bool is_two_sited(int32_t packed) { return (packed & ((1 << SUM_BITS) - 1)) != 0; }

/// A column among its neighbours.
struct Column {
    float x, site;

    __device__ Column(float x, int32_t packed) : x(x), site(static_cast<float>(packed >> SUM_BITS)) {}
    __device__ Column(float x, float site) : x(x), site(site) {}
};

/// A column that may lose: with the one of its sites that counts most and, if both count, the other one.
struct MiddleColumn : Column {
    float other;

    __device__ MiddleColumn(float x, int32_t packed) : Column(x, packed), other(site) {
        const int32_t sum = packed & ((1 << SUM_BITS) - 1);
        if (sum) other = static_cast<float>(sum - 1) - site;
    }
};

/// Whether the middle one of three columns is never nearest, its site being in row `site`: whether it costs more than the
/// other two allow, in the first and the last row of the strip.  From left to right it would win from a breakpoint on, and
/// lose from one that lies before it; both times the distances between the columns, that is a sum without divisions.
__device__ inline bool is_above(float slack, const Column &left, float x, float site, const Column &right) {
    const float on_left = x - left.x, on_right = right.x - x, least = on_left * on_right * (on_left + on_right + slack);
    const float a = (site - left.site) * on_right, b = (site - right.site) * on_left;
    const float first = fmaf(a, site + left.site, b * (site + right.site));
    const float last = fmaf(-2.0f * (STRIP - 1), a + b, first);
    return fminf(first, last) > least;
}
__device__ inline bool is_dominated(float slack, const Column &left, const MiddleColumn &middle, const Column &right) {
    return is_above(slack, left, middle.x, middle.site, right) &&
           (middle.other == middle.site || is_above(slack, left, middle.x, middle.other, right));
}

/// Of up to 32 columns, one a lane, drops those that lose to two others, but for some that stay: all at once, again and again,
/// until nobody loses to his neighbours.  They ask columns that are farther first, which clears dents sooner.  Whoever is
/// nearest to any pixel loses to nobody.
__device__ inline uint32_t envelope_of(float slack, uint32_t all, uint32_t fixed, const MiddleColumn &mine,
                                       int away = FIRST_AWAY) {
    const int lane = threadIdx.x % WARP;
    for (; all & ~fixed; away = max(away / 2, 1)) {
        const uint32_t before = all & ((1u << lane) - 1) >> (away - 1), after = all & ~1u << lane << (away - 1);
        const bool asked = ((all & ~fixed) >> lane & 1) && before && after;
        const int left = asked ? highest_bit(before) : lane, right = asked ? lowest_bit(after) : lane;
        const Column on_left(__shfl_sync(ALL_LANES, mine.x, left), __shfl_sync(ALL_LANES, mine.site, left));
        const Column on_right(__shfl_sync(ALL_LANES, mine.x, right), __shfl_sync(ALL_LANES, mine.site, right));
        const uint32_t dominated = __ballot_sync(ALL_LANES, asked && is_dominated(slack, on_left, mine, on_right));
        all ^= dominated;
        if (away == 1 && !dominated) break;
    }
    return all;
}

/// The lane, of some, whose column's site is nearest to the middle of the strip; or -1.
__device__ inline int best_of(uint32_t lanes, int32_t packed) {
    const int lane = threadIdx.x % WARP;
    const uint32_t away = static_cast<uint32_t>(abs(2 * (packed >> SUM_BITS) - (STRIP - 1)));
    const uint32_t least = least_of_warp(lanes >> lane & 1 ? away * WARP + static_cast<uint32_t>(lane) : ~0u);
    return lanes ? static_cast<int>(least % WARP) : -1;
}

/// What counts of a column in the strip that begins at row `start`: see pack_site.  Above the middle between the sites before
/// and after the strip that one is the nearer, below it this one; half their sum is the middle.
__device__ inline int32_t pack_sites(const Sites &sites, int32_t start) {
    constexpr int32_t LAST_ROW = STRIP - 1;
    const int32_t above = sites.before - start, below = sites.after - start, sum = above + below;
    if (sites.word) return pack_site(lowest_bit(sites.word), 0, false);
    return pack_site(sum <= LAST_ROW ? below : above, sum, sum >= 0 && sum <= 2 * LAST_ROW);
}

/// How far the nearest sites of a warp's columns are from the strip that begins at row `start`.
__device__ inline GroupBounds bounds_of_group(const Sites &sites, int32_t start) {
    const uint32_t up = sites.before != NO_SITE_BEFORE ? static_cast<uint32_t>(start - sites.before) + STRIP
                                                       : GroupBounds::NONE;
    const uint32_t down = sites.after != NO_SITE_AFTER ? static_cast<uint32_t>(sites.after - start) : GroupBounds::NONE;
    return {least_of_warp(sites.word ? 0 : up), least_of_warp(sites.word ? 0 : down)};
}

/// What a warp sees of a group's columns, one a lane, or beyond the row's end: a bit a column.
struct GroupMasks {
    uint32_t with_sites, with_inner_sites,
        all_sites;  // those that have sites; that have some in the strip; that are all sites there

    __device__ GroupMasks(const Sites &sites, bool inside, uint32_t valid)
        : with_sites(__ballot_sync(ALL_LANES, inside && sites.any())),
          with_inner_sites(__ballot_sync(ALL_LANES, inside && sites.word)),
          all_sites(__ballot_sync(ALL_LANES, !inside || sites.word == valid)) {}
};

/// A byte of eight lanes' columns: a bit a band of a strip in which all their pixels are sites.
__device__ inline uint32_t find_all_site_bands(uint32_t word) {
    static_assert(BAND == 4, "a band is four bits of a word");
#pragma unroll
    for (int step = 1; step < 8; step *= 2) word &= __shfl_xor_sync(ALL_LANES, word, step);
    word &= word >> 1, word &= word >> 2, word &= 0x11111111u;
    word |= word >> 3, word |= word >> 6;  // bits 0, 4, 8, 12 and 16, 20, 24, 28 come together
    return (word & 0xf) | (word >> 12 & 0xf0);
}

}  // namespace apsis::cuda::plane
