// The sites of a strip's columns that count, and which of 32 columns may be nearest to a pixel of the strip.  candidates.cu,
// which describes the method, and narrow_rows.cu share it.
#pragma once

#include <cuda_runtime.h>

#include "cuda/distance/plane/layout.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/roots.h"

namespace apsis::cuda::plane {

static_assert(GROUP == WARP, "a group's columns are the bits of a ballot");

constexpr int FIRST_AWAY = 4;  // the first neighbours compared are at least so many columns away

/// The sites of a column that count, in a word.  From the highest bits down: the row of the site that counts most, from the
/// strip's first row; and 0, or if two sites count, 1 + the sum of their rows.  Two count if some row of the strip is equally
/// far from both; then the sum is at most twice the strip's last row.
constexpr int SUM_BITS = 6;
static_assert(2 * (STRIP - 1) + 1 < 1 << SUM_BITS && (LONGEST + STRIP) << SUM_BITS < int64_t(1) << 31);

__device__ inline int32_t pack_site(int32_t site, int32_t sum, bool both_count) {
    return static_cast<int32_t>(static_cast<uint32_t>(site) << SUM_BITS) + (both_count ? sum + 1 : 0);
}

__device__ inline bool is_two_sited(int32_t packed) { return (packed & ((1 << SUM_BITS) - 1)) != 0; }

/// A column with the site that counts most.
struct Column {
    float x, site;

    __device__ Column(float x, int32_t packed) : x(x), site(static_cast<float>(packed >> SUM_BITS)) {}
    __device__ Column(float x, float site) : x(x), site(site) {}
};

/// A column that may be dominated: with the site that counts most and, if two count, the other one.
struct MiddleColumn : Column {
    float other;

    __device__ MiddleColumn(float x, int32_t packed) : Column(x, packed), other(site) {
        const int32_t sum = packed & ((1 << SUM_BITS) - 1);
        if (sum) other = static_cast<float>(sum - 1) - site;
    }
};

/// Whether a column at x with its site in row `site` lies above the envelope of columns `left` and `right` in the first and
/// the last row of the strip, and so in all.  It does if its breakpoint with `right` comes before that with `left`.  The
/// comparison is multiplied by the distances between the columns, which saves divisions.
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

/// Warp: the column that a lane has.
__device__ inline Column column_of(const MiddleColumn &mine, int lane) {
    return {__shfl_sync(ALL_LANES, mine.x, lane), __shfl_sync(ALL_LANES, mine.site, lane)};
}

/// Warp: of the columns `all`, one a lane, drops those that two others dominate, except the `fixed` ones: all at once, until no
/// column is dominated by its neighbours.  More distant columns are compared first, which clears dents sooner.  A column that
/// is nearest to any pixel is never dominated.
__device__ inline uint32_t envelope_of(float slack, uint32_t all, uint32_t fixed, const MiddleColumn &mine,
                                       int away = FIRST_AWAY) {
    const int lane = threadIdx.x % WARP;
    for (; all & ~fixed; away = max(away / 2, 1)) {
        const uint32_t before = all & ((1u << lane) - 1) >> (away - 1), after = all & ~1u << lane << (away - 1);
        const bool asked = ((all & ~fixed) >> lane & 1) && before && after;
        const int left = asked ? highest_bit(before) : lane, right = asked ? lowest_bit(after) : lane;
        const Column on_left = column_of(mine, left), on_right = column_of(mine, right);
        const uint32_t dominated = __ballot_sync(ALL_LANES, asked && is_dominated(slack, on_left, mine, on_right));
        all ^= dominated;
        if (away == 1 && !dominated) break;
    }
    return all;
}

/// Twice how far the site of a column that counts most is from the middle of the strip.
__device__ inline uint32_t way_to_middle(int32_t packed) {
    return static_cast<uint32_t>(abs(2 * (packed >> SUM_BITS) - (STRIP - 1)));
}

/// Warp: the lane of `lanes` whose site is nearest to the middle of the strip; or -1.
__device__ inline int best_of(uint32_t lanes, int32_t packed) {
    const int lane = threadIdx.x % WARP;
    const uint32_t least = least_of_warp(lanes >> lane & 1 ? way_to_middle(packed) * WARP + static_cast<uint32_t>(lane) : ~0u);
    return lanes ? static_cast<int>(least % WARP) : -1;
}

/// Packs a column's sites that count in the strip that begins at row `start`: see pack_site.  Half the sum of their rows is the
/// middle between the sites before and after the strip: rows above it are nearer to the site before, rows below it to the site
/// after.
__device__ inline int32_t pack_sites(const Sites &sites, int32_t start) {
    constexpr int32_t LAST_ROW = STRIP - 1;
    const int32_t above = sites.before - start, below = sites.after - start, sum = above + below;
    if (sites.word) return pack_site(lowest_bit(sites.word), 0, false);
    return pack_site(sum <= LAST_ROW ? below : above, sum, sum >= 0 && sum <= 2 * LAST_ROW);
}

/// Warp: bounds of the distances from the strip that begins at row `start` to the sites of the warp's columns.
__device__ inline GroupBounds bounds_of_group(const Sites &sites, int32_t start) {
    const uint32_t up =
        sites.before != NO_SITE_BEFORE ? static_cast<uint32_t>(start - sites.before) + STRIP : GroupBounds::NONE;
    const uint32_t down = sites.after != NO_SITE_AFTER ? static_cast<uint32_t>(sites.after - start) : GroupBounds::NONE;
    return {least_of_warp(sites.word ? 0 : up), least_of_warp(sites.word ? 0 : down)};
}

/// Warp: masks of a group's columns, one a lane; lanes that are not `inside` lie beyond the row's end.
struct GroupMasks {
    uint32_t with_sites;        // columns that have a site
    uint32_t with_inner_sites;  // columns that have a site in the strip
    uint32_t all_sites;         // columns that are all sites in the strip

    __device__ GroupMasks(const Sites &sites, bool inside, uint32_t valid)
        : with_sites(__ballot_sync(ALL_LANES, inside && sites.any())),
          with_inner_sites(__ballot_sync(ALL_LANES, inside && sites.word)),
          all_sites(__ballot_sync(ALL_LANES, !inside || sites.word == valid)) {}
};

/// Warp: a byte for every eight lanes' columns: a bit a band of the strip in which all their pixels are sites.
__device__ inline uint32_t find_all_site_bands(uint32_t word) {
    static_assert(BAND == 4, "a band is four bits of a word");
#pragma unroll
    for (int step = 1; step < 8; step *= 2) word &= __shfl_xor_sync(ALL_LANES, word, step);
    word &= word >> 1, word &= word >> 2, word &= 0x11111111u;
    word |= word >> 3, word |= word >> 6;  // bits 0, 4, 8, 12 and 16, 20, 24, 28 come together
    return (word & 0xf) | (word >> 12 & 0xf0);
}

}  // namespace apsis::cuda::plane
