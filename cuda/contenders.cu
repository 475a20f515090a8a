// Contenders: the columns that may hold the nearest site of some pixel of a strip, listed once for its 32 rows.
//
// In a strip that has no site of a column, its last site above or its first one below is what counts, seldom both.  Of
// three columns the middle one is never nearest if the right one is nearer than it from a breakpoint on that lies left
// of where it becomes nearer than the left one (the envelope of Felzenszwalb & Huttenlocher 2012).  In row r a site in
// row p costs (r - p)^2; r^2 cancels, so that the first and the last row speak for those between.  A warp has a group of
// columns, one a lane, and drops at once all that are farther everywhere than one neighbour or the other, be it that those
// fall, too: whoever is nearest to any pixel never is.  It does so until nobody falls.  Then each group sends its best
// column to a coarser level, where the same is done, and a third time; what lies above a coarser envelope is dropped, which
// clears wide dents at once, and the seams of groups are smoothed.  Columns with sites inside the strip stay, but for the
// insides of solid runs.  That some stay which never win does no harm: the list is for speed alone.  So a segment of a row
// that is cut has its own list, made without a look at the others.
//
// Cost: some 150 instructions a column and strip; 3/16 of a byte a pixel out.
#include "launch.h"
#include "roots.h"
#include "rows.h"

namespace apsis {

namespace {

constexpr int LISTERS = 512;    // threads of a block: three such fill a multiprocessor's registers and shared memory
constexpr int AHEAD = 4;        // columns that a thread has on the way at once
constexpr int MOST_DROPS = 16;  // at a seam on either side
constexpr int SMOOTHINGS = 1;   // rounds over the seams: a second finds a few in a thousand
static_assert(GROUP == WARP, "a group's columns are the bits of a ballot");
static_assert(WIDEST_ROW <= GROUP * GROUP * GROUP, "three levels");

/// What a strip, or a segment of it, knows of its columns, in shared memory.
struct Strip {
    const uint32_t *words;  // [column]
    const int32_t *before, *after;
    int32_t start, count;
    float slack;
    int32_t *sites;    // [place]: what counts of a column: see pack
    uint32_t *kept;    // [group]: columns that may be nearest
    uint32_t *stays;   // [group]: those that are not to be dropped
    uint32_t *full;    // [group]: those that are all sites
    int32_t *bests;    // [group]: its best column; at last the place of its first on the list
    int32_t groups;

    static size_t bytes(int64_t columns) {
        return static_cast<size_t>(parts(columns, GROUP)) * (GROUP * sizeof(int32_t) + 3 * sizeof(uint32_t) + sizeof(int32_t));
    }
    __device__ Strip(int32_t *shared, const Rows &rows, int64_t image, int64_t number, int64_t first, int32_t count)
        : words(rows.columns.words + rows.columns.at(image, number, first)),
          before(rows.columns.before + rows.columns.at(image, number, first)),
          after(rows.columns.after + rows.columns.at(image, number, first)),
          start(static_cast<int32_t>(number * STRIP)),
          count(count),
          slack(rows.slack),
          sites(shared),
          groups((count + GROUP - 1) / GROUP) {
        kept = reinterpret_cast<uint32_t *>(sites + groups * GROUP);
        stays = kept + groups;
        full = stays + groups;
        bests = reinterpret_cast<int32_t *>(full + groups);
    }
    __device__ static int32_t place(int32_t x) { return spread_banks(x); }
    __device__ int32_t site(int32_t x) const { return sites[place(x)]; }
};

/// What counts of a column in a word: the row of the site that counts most, from the strip's first; and, if both count, 1
/// and the sum of their rows, which is no more than twice the strip's last row, since somewhere in it they are as near.
constexpr int SUM_BITS = 6;
static_assert(2 * (STRIP - 1) + 1 < 1 << SUM_BITS && (LONGEST + STRIP) << SUM_BITS < int64_t(1) << 31);

__device__ int32_t pack(int32_t site, int32_t sum, bool both_count) {
    return site * (1 << SUM_BITS) + (both_count ? sum + 1 : 0);
}

/// A column among its neighbours.
struct Column {
    float x, site;

    __device__ Column(float x, int32_t packed) : x(x), site(static_cast<float>(packed >> SUM_BITS)) {}
    __device__ Column(float x, float site) : x(x), site(site) {}
    __device__ Column(const Strip &strip, int32_t at) : Column(static_cast<float>(at), strip.site(at)) {}
};

/// A column that may lose: with the one of its sites that counts most and, if both count, the other one.
struct Middle : Column {
    float other;

    __device__ Middle(float x, int32_t packed) : Column(x, packed), other(site) {
        const int32_t sum = packed & ((1 << SUM_BITS) - 1);
        if (sum) other = static_cast<float>(sum - 1) - site;
    }
    __device__ Middle(const Strip &strip, int32_t at) : Middle(static_cast<float>(at), strip.site(at)) {}
};

/// Twice the x from which the right one of two columns is nearer, in the first and the last row of the strip.
struct Ends {
    float first, last;

    __device__ Ends(const Column &left, const Column &right) {
        const float inverse = inverse_of(right.x - left.x), sum = left.x + right.x;
        const float way = right.site - left.site, both = right.site + left.site;
        first = fmaf(way * both, inverse, sum);
        last = fmaf(way * (both - 2 * (STRIP - 1)), inverse, sum);
    }
    __device__ bool after(const Ends &other, float slack) const {
        return first > other.first + slack && last > other.last + slack;
    }
};

/// Whether the middle one of three columns is never nearest.
__device__ bool loses(const Strip &strip, const Column &left, const Middle &middle, const Column &right) {
    if (!Ends(left, middle).after(Ends(middle, right), strip.slack)) return false;
    if (middle.other == middle.site) return true;
    const Column other(middle.x, middle.other);
    return Ends(left, other).after(Ends(other, right), strip.slack);
}

/// Of up to 32 columns, one a lane, drops those that lose to their neighbours, but for some that stay: all at once, again
/// and again.  Whoever is nearest to any pixel loses to nobody.
__device__ uint32_t envelope_of(const Strip &strip, uint32_t all, uint32_t stays, const Middle &mine) {
    const int lane = threadIdx.x % WARP;
    while (all & ~stays) {
        const uint32_t before = all & ((1u << lane) - 1), after = all & ~1u << lane;
        const bool asked = ((all & ~stays) >> lane & 1) && before && after;
        const int left = asked ? highest_bit(before) : lane, right = asked ? lowest_bit(after) : lane;
        const Column on_left(__shfl_sync(ALL_LANES, mine.x, left), __shfl_sync(ALL_LANES, mine.site, left));
        const Column on_right(__shfl_sync(ALL_LANES, mine.x, right), __shfl_sync(ALL_LANES, mine.site, right));
        const uint32_t vain = __ballot_sync(ALL_LANES, asked && loses(strip, on_left, mine, on_right));
        if (!vain) break;
        all ^= vain;
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

/// The least distances of a group of columns, one a lane, to their sites.
__device__ Outlook look_out(uint32_t word, bool any_above, uint32_t above, bool any_below, uint32_t below) {
    const uint32_t up = any_above ? above + STRIP : Outlook::NONE, down = any_below ? below : Outlook::NONE;
    return {least_of_warp(word ? 0 : up), least_of_warp(word ? 0 : down)};
}

/// A lane's column as the image has it.
struct Sites {
    uint32_t word;
    int32_t before, after;

    __device__ void load(const Strip &strip, int32_t at) {
        word = strip.words[at], before = strip.before[at], after = strip.after[at];
    }
};

/// Calls take(x, sites) for the columns of a strip, all lanes of a warp together; sites are those of columns that are
/// wanted, and the last one's beyond the end.
template <class Wanted, class Take>
__device__ void each_column(const Strip &strip, Wanted wanted, Take take) {
    const int32_t end = strip.groups * GROUP;
    for (int32_t turn = threadIdx.x; turn < end; turn += AHEAD * LISTERS) {
        Sites sites[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            if (turn + k * LISTERS < end && wanted(turn + k * LISTERS))
                sites[k].load(strip, min(turn + k * LISTERS, strip.count - 1));
#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            if (turn + k * LISTERS < end) take(turn + k * LISTERS, sites[k]);
    }
}

/// Finds out what counts of the columns of a strip, and which of every group may be nearest; where rows are cut, also what
/// groups see.
__device__ void see_columns(const Strip &strip, uint32_t valid, Outlook *outlooks) {
    constexpr int32_t LAST_ROW = STRIP - 1;
    each_column(strip, [](int32_t) { return true; }, [&](int32_t x, const Sites &sites) {
        const uint32_t word = sites.word;
        const int32_t above = sites.before - strip.start, below = sites.after - strip.start, group = x / GROUP;
        const bool any_above = sites.before != NO_SITE_BEFORE, any_below = sites.after != NO_SITE_AFTER;
        const bool any = word || any_above || any_below, inside = x < strip.count;
        const bool above_counts = any_above && (!any_below || -above <= below);
        const bool below_counts = any_below && (!any_above || below - LAST_ROW <= LAST_ROW - above);
        const bool use_below = below_counts && (!above_counts || below <= LAST_ROW - above);
        const int32_t site = word ? lowest_bit(word) : use_below ? below : any ? above : 0;
        const int32_t packed = pack(site, above + below, !word && above_counts && below_counts);
        strip.sites[Strip::place(x)] = packed;
        const uint32_t seen = __ballot_sync(ALL_LANES, inside && any);
        const uint32_t full = __ballot_sync(ALL_LANES, !inside || word == valid);
        const uint32_t stays = __ballot_sync(ALL_LANES, word);
        if (outlooks) {
            const Outlook outlook =
                look_out(word, any_above, static_cast<uint32_t>(-above), any_below, static_cast<uint32_t>(below));
            if (threadIdx.x % WARP == 0) outlooks[group] = outlook;
        }
        const Middle mine(static_cast<float>(x), packed);
        const uint32_t kept = envelope_of(strip, seen, stays, mine);
        const int best = best_of(kept, mine);
        if (threadIdx.x % WARP == 0) {
            strip.kept[group] = kept, strip.stays[group] = stays, strip.full[group] = full;
            strip.bests[group] = best < 0 ? -1 : group * GROUP + best;
        }
    });
}

/// Drops columns that are all sites between two such: they are nearest to their own pixels alone.  Who has lost to one of
/// them has lost to an end of its run.  Beyond the ends of a row all are sites; beyond those of a segment, nobody knows.
__device__ void drop_solid(const Strip &strip, uint32_t *to, bool is_first, bool is_last) {
    const uint32_t beyond_left = is_first ? ~0u : 0, beyond_right = is_last ? ~0u : 0;
    for (int32_t group = threadIdx.x; group < strip.groups; group += LISTERS) {
        const uint32_t full = strip.full[group];
        const uint32_t before = group > 0 ? strip.full[group - 1] : beyond_left;
        const uint32_t after = group + 1 < strip.groups ? strip.full[group + 1] : beyond_right;
        const uint32_t solid = full & __funnelshift_l(before, full, 1) & __funnelshift_r(full, after, 1);
        strip.kept[group] &= ~solid;
        to[group] = solid;
    }
}

/// The columns of a coarser level that are left, by the groups or blocks of groups that have sent them.
struct Coarse {
    const int32_t *bests;
    const uint32_t *left;  // [32 senders]
    int32_t words;

    __device__ int32_t previous(int32_t sender) const {
        int32_t w = sender / 32;
        uint32_t mask = left[w] & ((1u << sender % 32) - 1);
        while (!mask && w > 0) mask = left[--w];
        return mask ? bests[w * 32 + highest_bit(mask)] : -1;
    }
    __device__ int32_t next(int32_t sender) const {
        int32_t w = sender / 32;
        uint32_t mask = left[w] & (~1u << sender % 32);
        while (!mask && w + 1 < words) mask = left[++w];
        return mask ? bests[w * 32 + lowest_bit(mask)] : -1;
    }
    /// Of some columns of a sender, one a lane, who does not lie above the envelope of this level.
    __device__ uint32_t below(const Strip &strip, int32_t sender, uint32_t some, uint32_t stays, int32_t at) const {
        if (!(some & ~stays)) return some;
        const int32_t before = previous(sender), after = next(sender);
        const int32_t own = left[sender / 32] >> sender % 32 & 1 ? bests[sender] : -1;
        const int32_t on_left = own >= 0 && own < at ? own : before, on_right = own > at ? own : after;
        const bool asked = ((some & ~stays) >> threadIdx.x % WARP & 1) && own != at && on_left >= 0 && on_right >= 0;
        const bool vain = asked && loses(strip, Column(strip, on_left), Middle(strip, at), Column(strip, on_right));
        return some & ~__ballot_sync(ALL_LANES, vain);
    }
};

/// Drops columns that lie above the envelopes of coarser levels.
__device__ void prune_columns(const Strip &strip) {
    __shared__ uint32_t middle[GROUP], top;  // who is left of the groups' best, and of the best of those
    __shared__ int32_t middle_bests[GROUP];
    constexpr int32_t WARPS_HERE = LISTERS / WARP;
    const int32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, blocks = (strip.groups + GROUP - 1) / GROUP;
    const auto best = [&](int32_t block) {
        const int32_t group = block * GROUP + lane;
        return group < strip.groups ? strip.bests[group] : -1;
    };
    for (int32_t block = warp; block < blocks; block += WARPS_HERE) {
        const int32_t at = best(block);
        const Middle mine(strip, max(at, 0));
        const uint32_t left = envelope_of(strip, __ballot_sync(ALL_LANES, at >= 0), 0, mine);
        const int first = best_of(left, mine), number = __shfl_sync(ALL_LANES, at, max(first, 0));
        if (lane == 0) middle[block] = left, middle_bests[block] = first < 0 ? -1 : number;
    }
    __syncthreads();
    if (warp == 0) {
        const int32_t at = lane < blocks ? middle_bests[lane] : -1;
        const uint32_t left = envelope_of(strip, __ballot_sync(ALL_LANES, at >= 0), 0, Middle(strip, max(at, 0)));
        if (lane == 0) top = left;
    }
    __syncthreads();
    for (int32_t block = warp; block < blocks; block += WARPS_HERE) {
        const uint32_t left = Coarse{middle_bests, &top, 1}.below(strip, block, middle[block], 0, max(best(block), 0));
        if (lane == 0) middle[block] = left;
    }
    __syncthreads();
    const Coarse coarse = {strip.bests, middle, blocks};
    for (int32_t group = warp; group < strip.groups; group += WARPS_HERE) {
        const uint32_t kept = coarse.below(strip, group, strip.kept[group], strip.stays[group], group * GROUP + lane);
        if (lane == 0) strip.kept[group] = kept;
    }
}

/// Drops at the seam on the right of a group.
__device__ void smooth_seam(const Strip &strip, int32_t group) {
    int32_t other = group + 1;
    uint32_t on_left = strip.kept[group], on_right = 0;
    if (!on_left) return;
    while (other < strip.groups && !(on_right = strip.kept[other])) ++other;
    if (!on_right) return;
    const auto last = [&](uint32_t mask) { return Middle(strip, group * GROUP + highest_bit(mask)); };
    const auto first = [&](uint32_t mask) { return Middle(strip, other * GROUP + lowest_bit(mask)); };
    uint32_t fell_left = 0, fell_right = 0;
    bool more = true;
    for (int drops = 0; more && drops < MOST_DROPS; ++drops) {
        more = false;
        const Middle left = last(on_left), right = first(on_right);
        const uint32_t under = on_left ^ 1u << highest_bit(on_left), beyond = on_right & (on_right - 1);
        if (under && !(strip.stays[group] & (under ^ on_left)) && loses(strip, last(under), left, right))
            fell_left |= under ^ on_left, on_left = under, more = true;
        else if (beyond && !(strip.stays[other] & (beyond ^ on_right)) && loses(strip, left, right, first(beyond)))
            fell_right |= beyond ^ on_right, on_right = beyond, more = true;
    }
    if (fell_left) atomicAnd(strip.kept + group, ~fell_left);
    if (fell_right) atomicAnd(strip.kept + other, ~fell_right);
}

/// How many columns are kept, and how many of them in the groups before a thread's own.
struct Count {
    int32_t before, all;

    __device__ explicit Count(int32_t mine) {
        __shared__ int32_t totals[LISTERS / WARP];
        const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        int32_t sum = mine;
#pragma unroll
        for (int step = 1; step < WARP; step *= 2) {
            const int32_t other = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += other;
        }
        __syncthreads();
        if (lane == WARP - 1) totals[warp] = sum;
        __syncthreads();
        before = sum - mine, all = 0;
        for (int w = 0; w < LISTERS / WARP; ++w) {
            if (w < warp) before += totals[w];
            all += totals[w];
        }
    }
};

/// Writes what is kept, and returns how many that is.
template <bool CUT>
__device__ int32_t write_list(const Strip &strip, const Rows &rows, int64_t image, int64_t number, int64_t first) {
    uint16_t *const list = rows.contenders_of(image, number) + first;
    uint32_t *const sights = rows.sights_of(image, number), *const insides = rows.insides_of(image, number);
    uint16_t *const places = CUT ? rows.places_of(image, number) + first / GROUP : nullptr;
    int32_t total = 0;
    for (int32_t turn = 0; turn < strip.groups; turn += LISTERS) {
        const int32_t group = turn + static_cast<int32_t>(threadIdx.x);
        const Count count(group < strip.groups ? __popc(strip.kept[group]) : 0);
        if (group < strip.groups) {
            strip.bests[group] = total + count.before;  // who was best no longer matters
            if (CUT) places[group] = static_cast<uint16_t>(total + count.before);
        }
        total += count.all;
    }
    __syncthreads();
    const auto is_kept = [&](int32_t x) { return (strip.kept[x / GROUP] >> x % GROUP & 1) != 0; };
    each_column(strip, is_kept, [&](int32_t x, const Sites &column) {
        if (!is_kept(x)) return;
        const int32_t place = strip.bests[x / GROUP] + __popc(strip.kept[x / GROUP] & ((1u << x % GROUP) - 1));
        list[place] = static_cast<uint16_t>(x);
        if (CUT) return;
        const uint32_t above = strip.start - column.before, below = static_cast<uint32_t>(column.after - strip.start);
        insides[place] = column.word;
        sights[place] = min(below, OUT_OF_SIGHT) << 16 | min(above, OUT_OF_SIGHT);
    });
    return total;
}

/// A block takes a strip, or a segment of one.
template <bool CUT>
__global__ void __launch_bounds__(LISTERS, 3) list_strips(Rows rows) {
    extern __shared__ int32_t shared[];
    const Columns &columns = rows.columns;
    const int64_t segments = CUT ? rows.segments() : 1, segment = CUT ? blockIdx.x % segments : 0;
    const int64_t line = rows.strip_at(CUT ? blockIdx.x / segments : blockIdx.x);
    const int64_t image = line / columns.strips(), number = line % columns.strips();
    if (!rows.is_far(image, number) && !rows.has_marks(image, number)) return;
    const int64_t first = segment * SEGMENT, count = CUT ? min(columns.count - first, int64_t(SEGMENT)) : columns.count;
    const Strip strip(shared, rows, image, number, first, static_cast<int32_t>(count));
    see_columns(strip, columns.valid(number), CUT ? rows.outlooks_of(image, number) + first / GROUP : nullptr);
    __syncthreads();
    uint32_t *const solid = reinterpret_cast<uint32_t *>(rows.solid_of(image, number)) + first / GROUP;
    drop_solid(strip, solid, segment == 0, segment + 1 == segments);
    __syncthreads();
    prune_columns(strip);
    for (int turn = 0; turn < SMOOTHINGS; ++turn) {
        __syncthreads();
        for (int32_t group = threadIdx.x; group < strip.groups; group += LISTERS) smooth_seam(strip, group);
    }
    __syncthreads();
    const int32_t total = write_list<CUT>(strip, rows, image, number, first);
    if (threadIdx.x == 0)
        rows.counts_of(image, number)[segment] = static_cast<uint32_t>(total);
}

}  // namespace

void list_contenders(const Rows &rows, cudaStream_t stream) {
    const int64_t each = rows.is_cut ? std::min<int64_t>(rows.columns.count, SEGMENT) : rows.columns.count;
    launch_large("list_strips", rows.is_cut ? list_strips<true> : list_strips<false>,
                 rows.count_strips() * rows.segments(), LISTERS, Strip::bytes(each), stream, rows);
}

}  // namespace apsis
