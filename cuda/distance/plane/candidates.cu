// Candidates: the columns that may hold the nearest site of some pixel of a strip, listed once for its 32 rows.
//
// If a column has no site in a strip, its last site above or its first one below counts, seldom both.  Of three columns the
// middle one is dominated, that is never nearest, if its breakpoint with the right one lies left of that with the left one
// (the envelope of Felzenszwalb & Huttenlocher 2012).  In row r a site in row p costs (r - p)^2; r^2 cancels, so that it is
// enough to compare in the first and the last row.  A warp has a group of columns, one a lane, and drops all dominated ones at
// once, even if they dominate each other: a column that is nearest to any pixel is never dominated.  It repeats that until
// none is dropped.
//
// A block takes a strip.  First the column with the nearest sites of each group is compared with those of other groups: the
// best of many groups before those of few.  Columns above the envelope of these are dropped without a comparison in their
// group, which clears wide dents at once and leaves groups half of the work.  Last come comparisons over the seams between
// groups.  Columns with sites in the strip stay, except inside runs of all-site columns.  The list is for speed alone: columns
// on it that are never nearest do no harm.  But a block tries all that lie in a wide dent on each pixel there, so that a few
// hundred too many take up to ten times as long.  Each segment of a row that is cut has a list of its own, made independently.
//
// The number of candidates estimates the load of a strip: the envelope takes heavy strips first.
//
// Only far strips and strips with marks have a list, for envelope.cu or segmented_rows.cu.
//
// Cost: some 100 instructions a column and strip; 3/16 of a byte a pixel out.
#include "cuda/distance/plane/candidates.cuh"
#include "cuda/distance/plane/coarse_envelope.cuh"
#include "cuda/distance/plane/layout.h"
#include "cuda/distance/plane/tuning.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::plane {

namespace {

constexpr int AHEAD = 4;  // columns whose words a thread loads at once
constexpr int LIST_WARPS = LIST_THREADS / WARP;
constexpr int MOST_DROPS = 16;  // on either side of a seam
static_assert(WIDEST_ROW < 1 << 16 && SEGMENT < 1 << 16, "two columns in a word");

/// The columns that a thread loads at once, one of each of its warp's groups, as they are stored; beyond the row's end, the
/// row's last one.
struct ColumnBatch {
    Sites stored[AHEAD];

    template <bool SIGNED>
    __device__ ColumnBatch(const StripList &strip, const StripColumns<SIGNED> &columns, int32_t group) {
        const int32_t x = group * GROUP + static_cast<int32_t>(threadIdx.x) % WARP;
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) stored[k] = columns.stored(strip.first + min(x + k * LIST_THREADS, strip.count - 1));
    }
    /// Whether a warp's batch that begins with a group is its last one.
    __device__ static bool is_last(const StripList &strip, int32_t group) { return group + AHEAD * LIST_WARPS >= strip.groups; }
};

/// Warp: packs the sites of a batch, which begins with a group, and finds the masks of its groups.  Of a signed map `all` loses
/// the bits of bands in which some pixel is no site.
template <bool CUT, bool SIGNED>
__device__ void classify_columns(const StripList &strip, const StripColumns<SIGNED> &columns, const ColumnBatch &batch,
                                 int32_t group, uint32_t &all) {
    const Layout &layout = strip.layout;
    const uint32_t valid = layout.columns.filled(strip.number);
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int k = 0; k < AHEAD; ++k, group += LIST_WARPS) {
        if (group >= strip.groups) break;
        const int32_t x = group * GROUP + lane;
        const bool inside = x < strip.count;
        const Sites mine = columns.sites_of(batch.stored[k]);
        const int32_t packed = pack_sites(mine, strip.start);
        strip.sites[StripList::place(x)] = packed;
        const GroupMasks masks(mine, inside, valid);
        const int best = best_of(masks.with_sites, packed);
        if (lane == 0) {
            strip.kept[group] = masks.with_sites, strip.with_inner_sites[group] = masks.with_inner_sites,
            strip.all_sites[group] = masks.all_sites;
            strip.bests[group] = best < 0 ? -1 : group * GROUP + best;
        }
        if (SIGNED) {
            const uint32_t all_site_bands = find_all_site_bands(inside ? mine.word : ~0u);
            if (lane % 8 == 0)
                layout.all_site_bands_of(strip.image, strip.number)[(strip.first + x) / 8] =
                    static_cast<uint8_t>(all_site_bands);
            all &= all_site_bands;
        }
        if (CUT) {
            const GroupBounds bounds = bounds_of_group(mine, strip.start);
            if (lane == 0) layout.group_bounds_of(strip.image, strip.number)[strip.first / GROUP + group] = bounds;
        }
    }
}

/// Block: drops columns that are all sites, like both their neighbours: they are nearest to their own pixels alone.  A column
/// that one of them dominates is dominated by an end of their run as well.  Beyond a row's ends columns count as all sites,
/// beyond a segment's they do not.
__device__ void drop_interior(const StripList &strip, bool is_first, bool is_last) {
    uint32_t *const interiors =
        reinterpret_cast<uint32_t *>(strip.layout.interior_of(strip.image, strip.number)) + strip.first / GROUP;
    // The last warps begin, since the first ones have more to do in prune_columns.
    for (int32_t group = LIST_THREADS - 1 - static_cast<int32_t>(threadIdx.x); group < strip.groups; group += LIST_THREADS) {
        const uint32_t all_sites = strip.all_sites[group];
        const uint32_t before = group > 0 ? strip.all_sites[group - 1] : is_first ? ~0u : 0;
        const uint32_t after = group + 1 < strip.groups ? strip.all_sites[group + 1] : is_last ? ~0u : 0;
        const uint32_t interior = all_sites & __funnelshift_l(before, all_sites, 1) & __funnelshift_r(all_sites, after, 1);
        strip.kept[group] &= ~interior, interiors[group] = interior;
    }
}

/// Warp: the columns of a group's `some`, one a lane, that do not lie above the envelope of the groups' best ones.  It is given
/// by the group's `own` column there and the columns before and after that; -1 where there is none.
__device__ uint32_t drop_above_envelope(const StripList &strip, int32_t own, int32_t before, int32_t after, uint32_t some,
                                        uint32_t with_inner_sites, int32_t at, const MiddleColumn &mine) {
    const int32_t on_left = own >= 0 && own < at ? own : before, on_right = own > at ? own : after;
    const bool asked = ((some & ~with_inner_sites) >> threadIdx.x % WARP & 1) && own != at && on_left >= 0 && on_right >= 0;
    const bool dominated = asked && strip.is_dominated(strip.column(on_left), mine, strip.column(on_right));
    return some & ~__ballot_sync(ALL_LANES, dominated);
}

/// Block: drops columns that lie above the envelope of the groups' best ones, then columns above their group's envelope.
__device__ void prune_columns(const StripList &strip) {
    const CoarseEnvelope coarse = find_coarse_envelope(strip);
    for (int32_t group = warp_in_block(); group < strip.groups; group += LIST_WARPS) {
        const uint32_t kept = strip.kept[group], with_inner_sites = strip.with_inner_sites[group],
                       coarse_neighbours = strip.coarse_neighbours[group];
        if (!(kept & ~with_inner_sites)) continue;
        const int32_t x = group * GROUP + static_cast<int32_t>(threadIdx.x) % WARP;
        const MiddleColumn mine = strip.middle(x);
        const uint32_t some = drop_above_envelope(
            strip, coarse.has(group) ? strip.bests[group] : -1, static_cast<int32_t>(coarse_neighbours & 0xffff) - 1,
            static_cast<int32_t>(coarse_neighbours >> 16) - 1, kept, with_inner_sites, x, mine);
        const uint32_t rest = envelope_of(strip.layout.slack, some, with_inner_sites, mine, 1);
        __syncwarp();  // all lanes have read kept[group]
        if (threadIdx.x % WARP == 0) strip.kept[group] = rest;
    }
}

/// Block: drops dominated columns at the seams between groups.  Two lanes have a seam, one for each side.  The columns of a
/// side, in their order from the seam on, are the bits of a word.  The lowest one is dropped if the next one and the
/// lowest one of the other side dominate it.
__device__ void prune_seams(const StripList &strip) {
    const int lane = threadIdx.x % WARP;
    const bool on_left = lane % 2 == 0;  // such a lane's group is reversed: its last column is the first from the seam
    for (int32_t turn = static_cast<int32_t>(threadIdx.x) - lane; turn / 2 < strip.groups; turn += LIST_THREADS) {
        int32_t group = (turn + lane + 1) / 2;
        while (!on_left && group < strip.groups && !strip.kept[group]) ++group;
        const auto from_seam = [&](const uint32_t *columns) {
            const uint32_t word = group < strip.groups ? columns[group] : 0;
            return on_left ? __brev(word) : word;
        };
        const auto lowest = [&](uint32_t columns) {
            const int bit = columns ? lowest_bit(columns) : 0;
            return strip.middle(columns ? group * GROUP + (on_left ? GROUP - 1 - bit : bit) : 0);
        };
        const uint32_t kept = from_seam(strip.kept), with_inner_sites = from_seam(strip.with_inner_sites);
        uint32_t mine = __shfl_xor_sync(ALL_LANES, kept, 1) ? kept : 0, rest = mine & (mine - 1);
        MiddleColumn own = lowest(mine), behind = lowest(rest);
        for (int drops = 0; drops < MOST_DROPS; ++drops) {
            const uint32_t next = rest & (rest - 1);
            const MiddleColumn after = lowest(next);  // loaded while the others are compared
            const Column beyond(__shfl_xor_sync(ALL_LANES, own.x, 1), __shfl_xor_sync(ALL_LANES, own.site, 1));
            const Column left(on_left ? behind.x : beyond.x, on_left ? behind.site : beyond.site);
            const Column right(on_left ? beyond.x : behind.x, on_left ? beyond.site : behind.site);
            const bool dominated = rest && !(mine & ~(mine - 1) & with_inner_sites) && strip.is_dominated(left, own, right);
            if (!__any_sync(ALL_LANES, dominated)) break;
            if (dominated) mine = rest, rest = next, own = behind, behind = after;
        }
        const uint32_t dropped = mine ? kept ^ mine : 0;
        if (dropped) atomicAnd(strip.kept + group, ~(on_left ? __brev(dropped) : dropped));
    }
}

/// Block: puts the place of every group's first column on the list into `bests`, and returns how many columns are kept.
__device__ int32_t place_groups(const StripList &strip) {
    __shared__ int32_t totals[GROUP];  // of 32 groups each
    const int lane = threadIdx.x % WARP;
    const int32_t blocks = (strip.groups + WARP - 1) / WARP, end = blocks * WARP;
    for (int32_t group = threadIdx.x; group < end; group += LIST_THREADS) {
        const int32_t mine = group < strip.groups ? __popc(strip.kept[group]) : 0, sum = sum_up_to(mine);
        if (group < strip.groups) strip.bests[group] = sum - mine;
        if (lane == WARP - 1) totals[group / WARP] = sum;
    }
    __syncthreads();
    const int32_t total = lane < blocks ? totals[lane] : 0, sum = sum_up_to(total);
    for (int32_t group = threadIdx.x; group < end; group += LIST_THREADS) {
        const int32_t before = __shfl_sync(ALL_LANES, sum - total, group / WARP);
        if (group < strip.groups) strip.bests[group] += before;
    }
    __syncthreads();
    return __shfl_sync(ALL_LANES, sum, WARP - 1);
}

/// Block: writes the kept columns, and returns how many there are.
template <bool CUT, bool SIGNED>
__device__ int32_t write_list(const StripList &strip, const StripColumns<SIGNED> &columns) {
    const Layout &layout = strip.layout;
    uint16_t *const list = layout.candidates_of(strip.image, strip.number) + strip.first;
    uint32_t *const carry_distances = layout.carry_distances_of(strip.image, strip.number);
    uint32_t *const site_words = layout.site_words_of(strip.image, strip.number);
    uint16_t *const places = CUT ? layout.places_of(strip.image, strip.number) + strip.first / GROUP : nullptr;
    const int32_t total = place_groups(strip);
    if (CUT)
        for (int32_t group = threadIdx.x; group < strip.groups; group += LIST_THREADS)
            places[group] = static_cast<uint16_t>(strip.bests[group]);
    int32_t two_sited = 0;
    for (int32_t turn = threadIdx.x; turn < strip.count; turn += AHEAD * LIST_THREADS) {
        Sites stored[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            if (!CUT && strip.is_kept(turn + k * LIST_THREADS))
                stored[k] = columns.stored(strip.first + turn + k * LIST_THREADS);
        }
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const int32_t x = turn + k * LIST_THREADS;
            if (!strip.is_kept(x)) continue;
            const int32_t place = strip.bests[x / GROUP] + __popc(strip.kept[x / GROUP] & ((1u << x % GROUP) - 1));
            list[place] = static_cast<uint16_t>(x);
            if (CUT) continue;
            const Sites sites = columns.sites_of(stored[k]);
            const uint32_t above = strip.start - sites.before, below = static_cast<uint32_t>(sites.after - strip.start);
            two_sited += is_two_sited(strip.sites[StripList::place(x)]);
            site_words[place] = sites.word;
            carry_distances[place] = min(below, NO_CARRY) << 16 | min(above, NO_CARRY);
        }
    }
    const uint32_t all = sum_of_warp(static_cast<uint32_t>(two_sited));
    if (!CUT && threadIdx.x % WARP == 0) atomicAdd(&strip.list_totals.two_sited, static_cast<int32_t>(all));
    return total;
}

/// The summary of a strip.  A candidate with two sites that count takes the work of four candidates.
__device__ StripSummary summarize(const StripList &strip, int32_t count) {
    constexpr int TWO_SITED = 3;
    const int32_t load = ((count + TWO_SITED * strip.list_totals.two_sited) << StripSummary::LOAD_BITS) / strip.count;
    return StripSummary(load, strip.list_totals.all_site_bands, strip.layout.is_far(strip.image, strip.number), count);
}

/// A block takes a strip, or a segment of one.
template <bool CUT, bool SIGNED>
__global__ void __launch_bounds__(LIST_THREADS, 3) list_strips(Layout layout) {
    wait_for_kernel_before();
    extern __shared__ int32_t shared[];
    const Columns &columns = layout.columns;
    const int64_t segments = CUT ? layout.segments() : 1, segment = CUT ? blockIdx.x % segments : 0;
    const int64_t line = layout.strip_at(CUT ? blockIdx.x / segments : blockIdx.x);
    const int64_t image = line / columns.strips(), number = line % columns.strips();
    const int64_t first = segment * SEGMENT, count = CUT ? min(columns.count - first, int64_t(SEGMENT)) : columns.count;
    __shared__ ListTotals list_totals;
    if (threadIdx.x == 0) list_totals = {SIGNED ? ~0u : 0, 0};
    const StripList strip(shared, list_totals, layout, image, number, first, static_cast<int32_t>(count));
    const StripColumns<SIGNED> stored(columns, image, number);
    int32_t group = warp_in_block();
    ColumnBatch batch(strip, stored, group);  // loaded before it is clear whether the strip has a list
    uint32_t *const summary = layout.summaries_of(image, number) + segment;
    if (!layout.is_far(image, number) && !layout.has_marks(image, number)) {
        if (threadIdx.x == 0) *summary = 0;
        return;
    }
    uint32_t mine = ~0u;
    while (classify_columns<CUT>(strip, stored, batch, group, mine), !ColumnBatch::is_last(strip, group))
        batch = ColumnBatch(strip, stored, group += AHEAD * LIST_WARPS);
    __syncthreads();
    if (SIGNED && !CUT) {
        const uint32_t open = any_of_warp(~mine);
        if (threadIdx.x % WARP == 0) atomicAnd(&list_totals.all_site_bands, ~open);
    }
    drop_interior(strip, segment == 0, segment + 1 == segments);
    prune_columns(strip);
    __syncthreads();
    prune_seams(strip);
    __syncthreads();
    const int32_t total = write_list<CUT>(strip, stored);
    __syncthreads();
    if (threadIdx.x == 0) *summary = CUT ? static_cast<uint32_t>(total) : summarize(strip, total).word();
}

}  // namespace

size_t list_bytes(int64_t columns) { return StripList::bytes(columns); }

void list_candidates(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    const bool is_signed = layout.output.is_signed;
    const auto kernel = plan.is_cut ? is_signed ? list_strips<true, true> : list_strips<true, false>
                        : is_signed ? list_strips<false, true>
                                    : list_strips<false, false>;
    launch(plan.list, kernel, early(stream), layout);
}

}  // namespace apsis::cuda::plane
