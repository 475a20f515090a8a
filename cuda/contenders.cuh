// What counts of a strip's columns, and which of a group of 32 may be nearest to a pixel of the strip: the first step of
// listing its contenders (contenders.cu tells how it all goes together).  Strips that are far are seen by the blocks that
// would have searched them outward, the others by the lister.
#pragma once

#include <cuda_runtime.h>

#include "launch.h"
#include "roots.h"
#include "rows.h"

namespace apsis {

namespace {

static_assert(GROUP == WARP, "a group's columns are the bits of a ballot");

constexpr int FIRST_AWAY = 4;  // columns to those that are asked first, at least

/// What counts of a column in a word: the row of the site that counts most, from the strip's first; and, if both count, 1
/// and the sum of their rows, which is no more than twice the strip's last row, since somewhere in it they are as near.
constexpr int SUM_BITS = 6;
static_assert(2 * (STRIP - 1) + 1 < 1 << SUM_BITS && (LONGEST + STRIP) << SUM_BITS < int64_t(1) << 31);

__device__ int32_t pack_site(int32_t site, int32_t sum, bool both_count) {
    return static_cast<int32_t>(static_cast<uint32_t>(site) << SUM_BITS) + (both_count ? sum + 1 : 0);
}

/// A column among its neighbours.
struct Column {
    float x, site;

    __device__ Column(float x, int32_t packed) : x(x), site(static_cast<float>(packed >> SUM_BITS)) {}
    __device__ Column(float x, float site) : x(x), site(site) {}
};

/// A column that may lose: with the one of its sites that counts most and, if both count, the other one.
struct Middle : Column {
    float other;

    __device__ Middle(float x, int32_t packed) : Column(x, packed), other(site) {
        const int32_t sum = packed & ((1 << SUM_BITS) - 1);
        if (sum) other = static_cast<float>(sum - 1) - site;
    }
};

/// Whether the middle one of three columns is never nearest, its site being in row `site`: whether it costs more than the
/// other two allow, in the first and the last row of the strip.  From left to right it would win from a breakpoint on, and
/// lose from one that lies before it; both times the distances between the columns, that is a sum without divisions.
__device__ bool is_above(float slack, const Column &left, float x, float site, const Column &right) {
    const float on_left = x - left.x, on_right = right.x - x, least = on_left * on_right * (on_left + on_right + slack);
    const float a = (site - left.site) * on_right, b = (site - right.site) * on_left;
    const float first = fmaf(a, site + left.site, b * (site + right.site));
    const float last = fmaf(-2.0f * (STRIP - 1), a + b, first);
    return fminf(first, last) > least;
}
__device__ bool loses(float slack, const Column &left, const Middle &middle, const Column &right) {
    return is_above(slack, left, middle.x, middle.site, right) &&
           (middle.other == middle.site || is_above(slack, left, middle.x, middle.other, right));
}

/// Of up to 32 columns, one a lane, drops those that lose to two others, but for some that stay: all at once, again and again,
/// until nobody loses to his neighbours.  They ask columns that are farther first, which clears dents sooner.  Whoever is
/// nearest to any pixel loses to nobody.
__device__ uint32_t envelope_of(float slack, uint32_t all, uint32_t stays, const Middle &mine) {
    const int lane = threadIdx.x % WARP;
    for (int away = FIRST_AWAY; all & ~stays; away = max(away / 2, 1)) {
        const uint32_t before = all & ((1u << lane) - 1) >> (away - 1), after = all & ~1u << lane << (away - 1);
        const bool asked = ((all & ~stays) >> lane & 1) && before && after;
        const int left = asked ? highest_bit(before) : lane, right = asked ? lowest_bit(after) : lane;
        const Column on_left(__shfl_sync(ALL_LANES, mine.x, left), __shfl_sync(ALL_LANES, mine.site, left));
        const Column on_right(__shfl_sync(ALL_LANES, mine.x, right), __shfl_sync(ALL_LANES, mine.site, right));
        const uint32_t vain = __ballot_sync(ALL_LANES, asked && loses(slack, on_left, mine, on_right));
        all ^= vain;
        if (away == 1 && !vain) break;
    }
    return all;
}

/// The lane, of some, whose column is nearest to the middle of the strip; or -1.
__device__ int best_of(uint32_t some, const Column &mine) {
    const int lane = threadIdx.x % WARP;
    const uint32_t away = static_cast<uint32_t>(fabsf(2 * mine.site - (STRIP - 1)));
    const uint32_t least = least_of_warp(some >> lane & 1 ? away * WARP + static_cast<uint32_t>(lane) : ~0u);
    return some ? static_cast<int>(least % WARP) : -1;
}

/// A lane's column as the image has it.
struct Sites {
    uint32_t word;
    int32_t before, after;

    __device__ void load(const Columns &columns, int64_t at) {
        word = columns.words[at];
        load_carries(columns, at);
    }
    __device__ void load_carries(const Columns &columns, int64_t at) {
        before = columns.before[at], after = columns.after[at];
    }
    __device__ bool any() const { return word || before != NO_SITE_BEFORE || after != NO_SITE_AFTER; }
    /// What counts of it in the strip that begins at row `start`: see pack_site.  Above the middle between the sites before and
    /// after the strip that one is the nearer, below it this one; half their sum is the middle.
    __device__ int32_t pack(int32_t start) const {
        constexpr int32_t LAST_ROW = STRIP - 1;
        const int32_t above = before - start, below = after - start, sum = above + below;
        if (word) return pack_site(lowest_bit(word), 0, false);
        return pack_site(sum <= LAST_ROW ? below : above, sum, sum >= 0 && sum <= 2 * LAST_ROW);
    }
    /// How far the nearest of a warp's columns' sites are.
    __device__ Outlook look_out(int32_t start) const {
        const uint32_t up = before != NO_SITE_BEFORE ? static_cast<uint32_t>(start - before) + STRIP : Outlook::NONE;
        const uint32_t down = after != NO_SITE_AFTER ? static_cast<uint32_t>(after - start) : Outlook::NONE;
        return {least_of_warp(word ? 0 : up), least_of_warp(word ? 0 : down)};
    }
};

/// Finds out which columns of a group may be nearest, one a lane, or beyond the row's end.
__device__ Seen see_group(const Sites &sites, int32_t packed, int32_t x, bool inside, uint32_t valid, float slack) {
    const Middle mine(static_cast<float>(x), packed);
    Seen group;
    group.full = __ballot_sync(ALL_LANES, !inside || sites.word == valid);
    group.stays = __ballot_sync(ALL_LANES, inside && sites.word);
    group.kept = envelope_of(slack, __ballot_sync(ALL_LANES, inside && sites.any()), group.stays, mine);
    const int best = best_of(group.kept, mine);
    group.best = best < 0 ? -1 : x / GROUP * GROUP + best;
    return group;
}

/// A byte of eight lanes' columns: a bit a band of a strip in which all their pixels are sites.
__device__ uint32_t full_bands(uint32_t word) {
    static_assert(BAND == 4, "a band is four bits of a word");
#pragma unroll
    for (int step = 1; step < 8; step *= 2) word &= __shfl_xor_sync(ALL_LANES, word, step);
    word &= word >> 1, word &= word >> 2, word &= 0x11111111u;
    word |= word >> 3, word |= word >> 6;  // bits 0, 4, 8, 12 and 16, 20, 24, 28 come together
    return (word & 0xf) | (word >> 12 & 0xf0);
}

/// Where what is seen of a strip's columns is noted, those of a row's segment if it is cut.
struct Notes {
    Seen *groups;
    int32_t *sites;
    uint8_t *fulls;
    Outlook *outlooks;  // or nullptr

    __device__ Notes(const Rows &rows, int64_t image, int64_t number, int64_t first)
        : groups(rows.seen_of(image, number) + first / GROUP),
          sites(rows.sites_of(image, number) + first),
          fulls(rows.fulls_of(image, number) + first / 8),
          outlooks(rows.is_cut ? rows.outlooks_of(image, number) + first / GROUP : nullptr) {}

    /// All lanes of a warp together, a column each.
    __device__ void take(const Sites &seen, int32_t start, int32_t x, bool inside, uint32_t valid, float slack) const {
        const int32_t packed = seen.pack(start);
        if (inside) sites[x] = packed;
        const Seen group = see_group(seen, packed, x, inside, valid, slack);
        const uint32_t full = full_bands(inside ? seen.word : ~0u);
        if (threadIdx.x % 8 == 0) fulls[x / 8] = static_cast<uint8_t>(full);
        if (outlooks) {
            const Outlook outlook = seen.look_out(start);
            if (threadIdx.x % WARP == 0) outlooks[x / GROUP] = outlook;
        }
        if (threadIdx.x % WARP == 0) groups[x / GROUP] = group;
    }
};

/// Sees the groups of the columns [left, left + count) of a strip, all threads of a block together, and notes what counts of
/// the columns.  `left` is a group's first column.  With BOTH_SIDES it sees those of the inside, too: all columns are on the
/// way at once.
template <bool BOTH_SIDES = false>
__device__ void see_groups(const Rows &rows, int64_t image, int64_t number, int64_t left, int64_t count) {
    constexpr int SEEN_AHEAD = 2;  // groups that a warp has on the way at once
    const Columns &columns = rows.columns;
    const int64_t first = rows.is_cut ? left / SEGMENT * SEGMENT : 0, from = columns.at(image, number, first);
    const int64_t to_inside = BOTH_SIDES ? columns.at(rows.images, 0, 0) : 0;
    const int32_t start = static_cast<int32_t>(number * STRIP), threads = blockDim.x;
    const int32_t width = static_cast<int32_t>(columns.count - first), end = static_cast<int32_t>(left - first + count);
    const Notes here(rows, image, number, first), inside(rows, BOTH_SIDES ? image + rows.images : image, number, first);
    const uint32_t valid = columns.valid(number);
    const int32_t mine = static_cast<int32_t>(left - first) + static_cast<int32_t>(threadIdx.x);
    for (int32_t turn = mine; turn / GROUP * GROUP < end; turn += SEEN_AHEAD * threads) {
        Sites sites[SEEN_AHEAD], others[SEEN_AHEAD];
#pragma unroll
        for (int k = 0; k < SEEN_AHEAD; ++k) {
            const int64_t at = from + min(turn + k * threads, width - 1);
            sites[k].load(columns, at);
            if (BOTH_SIDES) others[k].load_carries(columns, at + to_inside);
        }
#pragma unroll
        for (int k = 0; k < SEEN_AHEAD; ++k) {
            const int32_t x = turn + k * threads;
            if (x / GROUP * GROUP >= end) break;
            here.take(sites[k], start, x, x < width, valid, rows.slack);
            if (!BOTH_SIDES) continue;
            others[k].word = sites[k].word ^ valid;
            inside.take(others[k], start, x, x < width, valid, rows.slack);
        }
    }
}

}  // namespace

}  // namespace apsis
