// The columns of a strip in shared memory, and the envelope of the best one of each 32 of them.  candidates.cu, which describes
// the method, alone includes it.
#pragma once

#include "cuda/distance/plane/candidates.cuh"
#include "cuda/distance/plane/layout.h"
#include "cuda/distance/plane/tuning.h"

namespace apsis::cuda::plane {

namespace {

static_assert(WIDEST_ROW <= GROUP * GROUP * GROUP, "a word of CoarseEnvelope::left for 32 groups");

/// What a block counts for the summary of its strip: of a signed map a bit a band in which all pixels are sites; and how many
/// candidates have two sites that count.
struct ListTotals {
    uint32_t all_site_bands;
    int32_t two_sited;
};

/// The columns of a strip, or of a segment of it, in shared memory.
struct StripList {
    const Layout &layout;
    ListTotals &list_totals;
    int64_t image, number, first;  // the strip, and its first column
    int32_t start, count;
    int32_t *sites;               // [place]: of a column, see pack_site
    uint32_t *kept;               // [group]: columns that may be nearest
    uint32_t *with_inner_sites;   // [group]: columns with sites in the strip, which are not dropped
    uint32_t *coarse_neighbours;  // [group]: the columns of the coarse envelope before and after it, and 1; 0 if there is none
    uint32_t *all_sites;          // [group]: columns that are all sites: until coarse_neighbours take the place
    int32_t *bests;               // [group]: its column with the nearest sites, or -1; at last the place of its first candidate
    int32_t groups;

    static size_t bytes(int64_t columns) {
        return static_cast<size_t>(ceil_div(columns, GROUP)) *
               (GROUP * sizeof(int32_t) + 3 * sizeof(uint32_t) + sizeof(int32_t));
    }
    __device__ StripList(int32_t *shared, ListTotals &list_totals, const Layout &layout, int64_t image, int64_t number,
                         int64_t first, int32_t count)
        : layout(layout),
          list_totals(list_totals),
          image(image),
          number(number),
          first(first),
          start(static_cast<int32_t>(number * STRIP)),
          count(count),
          sites(shared),
          groups((count + GROUP - 1) / GROUP) {
        kept = reinterpret_cast<uint32_t *>(sites + groups * GROUP);
        with_inner_sites = kept + groups;
        coarse_neighbours = all_sites = with_inner_sites + groups;
        bests = reinterpret_cast<int32_t *>(coarse_neighbours + groups);
    }
    __device__ static int32_t place(int32_t x) { return spread_banks(x); }
    __device__ bool is_kept(int32_t x) const { return x < count && (kept[x / GROUP] >> x % GROUP & 1) != 0; }
    __device__ Column column(int32_t x) const { return Column(static_cast<float>(x), sites[place(x)]); }
    __device__ MiddleColumn middle(int32_t x) const { return MiddleColumn(static_cast<float>(x), sites[place(x)]); }
    __device__ bool is_dominated(const Column &left, const MiddleColumn &middle, const Column &right) const {
        return plane::is_dominated(layout.slack, left, middle, right);
    }
};

/// Warp: reduces `best` to the least of all lanes.  Returns at how many levels, of 2, 4, 8, 16 and 32 lanes side by side, this
/// lane's was the least.
__device__ inline int find_level(uint32_t &best) {
    const uint32_t mine = best;
    int level = 0;
#pragma unroll
    for (int away = 1; away < WARP; away *= 2) best = min(best, __shfl_xor_sync(ALL_LANES, best, away)), level += best == mine;
    return level;
}

/// The columns next to those of a warp, if there are any.
struct OuterColumns {
    bool has_left = false, has_right = false;
    Column left = {0, 0.0f}, right = {0, 0.0f};
};

/// Warp: a bit for each lane whose column is on the envelope of all and of the outer ones.  The best column of all comes first,
/// then those that are the best of half of the lanes, and so on.  At each level the new ones join unless old ones
/// dominate them, and then all are compared with their neighbours.
__device__ inline uint32_t join_levels(float slack, int level, const MiddleColumn &mine, const OuterColumns &outer) {
    const int lane = threadIdx.x % WARP;
    uint32_t joined = 0;
    const auto find_dominated = [&] {
        const uint32_t before = joined & ((1u << lane) - 1), after = joined & ~1u << lane;
        const int32_t on_left = before ? highest_bit(before) : lane, on_right = after ? lowest_bit(after) : lane;
        Column left = column_of(mine, on_left), right = column_of(mine, on_right);
        if (!before) left = outer.left;
        if (!after) right = outer.right;
        const bool asked = (before || outer.has_left) && (after || outer.has_right);
        return __ballot_sync(ALL_LANES, asked && is_dominated(slack, left, mine, right));
    };
    for (int turn = 5; turn >= 0; --turn) {
        const uint32_t joining = __ballot_sync(ALL_LANES, level == turn);
        if (!joining) continue;
        joined |= joining & ~find_dominated();
        joined &= ~find_dominated();
    }
    return joined;
}

/// The envelope of the groups' best columns.
struct CoarseEnvelope {
    const int32_t *bests;
    const uint32_t *left;  // [32 groups]: a bit for each group whose best column is on it
    uint32_t words;        // a bit for each of `left` that is not 0

    /// Warp.
    __device__ CoarseEnvelope(const int32_t *bests, const uint32_t (&left)[GROUP])
        : bests(bests),
          left(left),
          words(__ballot_sync(ALL_LANES, left[threadIdx.x % WARP])) {}

    __device__ bool has(int32_t group) const { return left[group / 32] >> group % 32 & 1; }
    /// The columns on it before and after those of a group; -1 if there is none.
    __device__ int32_t before(int32_t group) const {
        int32_t w = group / 32;
        uint32_t mask = left[w] & ((1u << group % 32) - 1);
        const uint32_t others = words & ((1u << w) - 1);
        if (!mask && others) w = highest_bit(others), mask = left[w];
        return mask ? bests[w * 32 + highest_bit(mask)] : -1;
    }
    __device__ int32_t after(int32_t group) const {
        int32_t w = group / 32;
        uint32_t mask = left[w] & ~1u << group % 32;
        const uint32_t others = words & ~1u << w;
        if (!mask && others) w = lowest_bit(others), mask = left[w];
        return mask ? bests[w * 32 + lowest_bit(mask)] : -1;
    }
    /// Whether two columns on it, so many groups away or more, dominate a group's best one.
    __device__ bool dominates(const StripList &strip, int32_t group, int32_t away) const {
        const int32_t on_left = before(max(group - away + 1, 0)), on_right = after(min(group + away, strip.groups) - 1);
        return on_left >= 0 && on_right >= 0 &&
               strip.is_dominated(strip.column(on_left), strip.middle(bests[group]), strip.column(on_right));
    }
};

/// The groups of which a thread has the best columns.
constexpr int GROUPS_EACH = (WIDEST_ROW / GROUP + LIST_THREADS - 1) / LIST_THREADS;
__device__ inline int32_t group_of_thread(int k) { return static_cast<int32_t>(threadIdx.x) + k * LIST_THREADS; }

/// Block: joins the groups' best columns: a bit for each group whose best one may be on the envelope of all, a word for 32
/// groups.  First comes the envelope of the best columns of 32 groups each, in one warp.  Then each warp finds that of 32
/// groups between their neighbours on the first.
__device__ void join_bests(const StripList &strip, uint32_t (&joined)[GROUP]) {
    constexpr uint32_t GROUP_BITS = 10, MOST = (1u << (32 - GROUP_BITS)) - 1;
    static_assert(WIDEST_ROW / GROUP <= 1 << GROUP_BITS);
    __shared__ uint32_t best_of_words[GROUP], top;
    const int lane = threadIdx.x % WARP;
    const auto column_of_word = [&](int word) { return strip.bests[best_of_words[word] & ((1u << GROUP_BITS) - 1)]; };
    int level[GROUPS_EACH];
#pragma unroll
    for (int k = 0; k < GROUPS_EACH; ++k) {
        const int32_t group = group_of_thread(k), column = group < strip.groups ? strip.bests[group] : -1;
        uint32_t best = ~0u;
        if (column >= 0) best = min(way_to_middle(strip.sites[StripList::place(column)]), MOST) << GROUP_BITS | group;
        if (group - lane < strip.groups) level[k] = find_level(best);
        if (column < 0) level[k] = -1;
        if (lane == 0) best_of_words[group / 32] = best;
    }
    __syncthreads();
    if (threadIdx.x < WARP) {
        uint32_t best = best_of_words[lane];
        const bool is_any = best != ~0u;
        const int word_level = find_level(best);
        const uint32_t on =
            join_levels(strip.layout.slack, is_any ? word_level : -1, strip.middle(is_any ? column_of_word(lane) : 0), {});
        if (lane == 0) top = on;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < GROUPS_EACH; ++k) {
        const int32_t group = group_of_thread(k), word = group / 32;
        if (word * 32 >= strip.groups) break;
        const uint32_t before = top & ((1u << word) - 1), after = top & ~1u << word;
        OuterColumns outer;
        if (before) outer.has_left = true, outer.left = strip.column(column_of_word(highest_bit(before)));
        if (after) outer.has_right = true, outer.right = strip.column(column_of_word(lowest_bit(after)));
        const int32_t column = level[k] >= 0 ? strip.bests[group] : 0;
        const uint32_t on = join_levels(strip.layout.slack, level[k], strip.middle(column), outer);
        if (lane == 0) joined[word] = on;
    }
    __syncthreads();
}

/// Block: finds the envelope of the groups' best columns, and each group's neighbours there.  Those that were joined are
/// compared until no column's neighbours dominate it.  As in envelope_of, more distant ones come first: two neighbours may fail
/// to dominate what lies above the envelope where one of them is above it in the first row and the other one in the last.
/// Each turn needs a barrier, which is what a narrow row waits for: two or three turns, and in the widest dents some ten.
__device__ CoarseEnvelope find_coarse_envelope(const StripList &strip) {
    __shared__ uint32_t left[2][GROUP];
    if (threadIdx.x < GROUP) left[0][threadIdx.x] = left[1][threadIdx.x] = 0;
    join_bests(strip, left[0]);
    const int lane = threadIdx.x % WARP;
    int now = 0;
    bool any = true;
    for (int32_t away = max(strip.groups / 32, 1); any; away = max(away / 4, 1), now = 1 - now) {
        any = away > 1;
        if (group_of_thread(0) - lane < strip.groups) {  // else the warp has no group
            const CoarseEnvelope coarse(strip.bests, left[now]);
#pragma unroll
            for (int k = 0; k < GROUPS_EACH; ++k) {
                const int32_t group = group_of_thread(k), word = group / 32;
                if (word * 32 >= strip.groups) break;
                const bool dominated = coarse.has(group) && coarse.dominates(strip, group, away);
                const uint32_t on = coarse.left[word] & ~__ballot_sync(ALL_LANES, dominated);
                if (lane == 0) left[1 - now][word] = on;
                any = any || dominated;
            }
        }
        any = __syncthreads_or(any);
    }
    const CoarseEnvelope coarse(strip.bests, left[now]);
    for (int32_t group = threadIdx.x; group < strip.groups; group += LIST_THREADS)
        strip.coarse_neighbours[group] =
            static_cast<uint32_t>(coarse.before(group) + 1) | static_cast<uint32_t>(coarse.after(group) + 1) << 16;
    __syncthreads();
    return coarse;
}

}  // namespace

}  // namespace apsis::cuda::plane
