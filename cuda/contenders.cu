// Contenders: the columns that may hold the nearest site of some pixel of a strip, listed once for its 32 rows.
//
// In a strip that has no site of a column, its last site above or its first one below is what counts, seldom both.  Of
// three columns the middle one is never nearest if the right one is nearer than it from a breakpoint on that lies left
// of where it becomes nearer than the left one (the envelope of Felzenszwalb & Huttenlocher 2012).  In row r a site in
// row p costs (r - p)^2; r^2 cancels, so that the first and the last row speak for those between.  Every thread keeps
// the envelope of its own group of columns as a stack, whose members are the bits of a word.  Then each group sends its
// best column to a coarser level, where the same is done, and a third time; what lies above a coarser envelope is
// dropped, which clears wide dents at once, and the seams of groups are smoothed.  Columns with sites inside the strip
// stay, but for the insides of solid runs.  That some stay which never win does no harm: the list is for speed alone.
// So a segment of a row that is cut has its own list, made without a look at the others.
//
// Cost: some 150 instructions a column and strip; 3/16 of a byte a pixel out.
#include "launch.h"
#include "roots.h"
#include "rows.h"

namespace apsis {

namespace {

constexpr int LISTERS = 512;     // threads of a block, each with a group of columns or two of a wide image
constexpr int MOST_DROPS = 16;   // at a seam on either side
constexpr int SMOOTHINGS = 2;
static_assert(GROUP == WARP, "a group's columns are the bits of a ballot");
static_assert(WIDEST_ROW <= GROUP * GROUP * GROUP, "three levels");

/// What a strip, or a segment of it, knows of its columns, in shared memory.
struct Strip {
    const uint32_t *words;  // [column]
    const int32_t *before, *after;
    int32_t start, count;
    float slack;
    float *sites;      // [place]: the row of the site that counts most, from the strip's first
    uint32_t *kept;    // [group]: columns that may be nearest
    uint32_t *stays;   // [group]: those that are not to be dropped
    uint32_t *both;    // [group]: those of which both sites count
    uint32_t *full;    // [group]: those that are all sites
    int32_t *bests;    // [group]: its best column; at last the place of its first on the list
    int32_t groups;

    static size_t bytes(int64_t columns) {
        return static_cast<size_t>(parts(columns, GROUP)) * (GROUP * sizeof(float) + 4 * sizeof(uint32_t) + sizeof(int32_t));
    }
    __device__ Strip(float *shared, const Rows &rows, int64_t image, int64_t number, int64_t first, int32_t count)
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
        both = stays + groups;
        full = both + groups;
        bests = reinterpret_cast<int32_t *>(full + groups);
    }
    __device__ static int32_t place(int32_t x) { return spread_banks(x); }
};

/// A column among its neighbours.
struct Column {
    int32_t at;
    float x, site;

    __device__ Column(const Strip &strip, int32_t at)
        : at(at), x(static_cast<float>(at)), site(strip.sites[Strip::place(at)]) {}
    __device__ Column(bool one, const Column &a, const Column &b)
        : at(one ? a.at : b.at), x(one ? a.x : b.x), site(one ? a.site : b.site) {}
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
__device__ bool loses(const Strip &strip, const Column &left, const Ends &to_middle, Column middle, const Ends &from_middle,
                      const Column &right) {
    if (!to_middle.after(from_middle, strip.slack)) return false;
    if (!(strip.both[middle.at / GROUP] >> middle.at % GROUP & 1)) return true;
    for (const int32_t site : {strip.before[middle.at], strip.after[middle.at]}) {
        middle.site = static_cast<float>(site - strip.start);
        if (!Ends(left, middle).after(Ends(middle, right), strip.slack)) return false;
    }
    return true;
}
__device__ bool loses(const Strip &strip, const Column &left, const Column &middle, const Column &right) {
    return loses(strip, left, Ends(left, middle), middle, Ends(middle, right), right);
}

/// The least distances of a group of columns, one a lane, to their sites.
__device__ Outlook look_out(uint32_t word, bool any_above, uint32_t above, bool any_below, uint32_t below) {
    const uint32_t up = any_above ? above + STRIP : Outlook::NONE, down = any_below ? below : Outlook::NONE;
    return {least_of_warp(word ? 0 : up), least_of_warp(word ? 0 : down)};
}

/// Finds out what counts of the columns of a strip; where rows are cut, also what groups of them see.
__device__ void see_columns(const Strip &strip, uint32_t valid, Outlook *outlooks) {
    constexpr int32_t LAST_ROW = STRIP - 1;
    const int32_t count = strip.count;
#pragma unroll 4
    for (int32_t x = threadIdx.x; x < strip.groups * GROUP; x += LISTERS) {
        const int32_t at = min(x, count - 1);
        const uint32_t word = strip.words[at];
        const int32_t before = strip.before[at], after = strip.after[at], above = before - strip.start, below = after - strip.start;
        const bool any_above = before != NO_SITE_BEFORE, any_below = after != NO_SITE_AFTER;
        const bool above_counts = any_above && (!any_below || -above <= below);
        const bool below_counts = any_below && (!any_above || below - LAST_ROW <= LAST_ROW - above);
        const bool use_below = below_counts && (!above_counts || below <= LAST_ROW - above);
        strip.sites[Strip::place(x)] = static_cast<float>(word ? lowest_bit(word) : use_below ? below : above);
        const uint32_t kept = __ballot_sync(ALL_LANES, x < count && (word || any_above || any_below));
        const uint32_t full = __ballot_sync(ALL_LANES, x >= count || word == valid);
        const uint32_t stays = __ballot_sync(ALL_LANES, word);
        const uint32_t both = __ballot_sync(ALL_LANES, !word && above_counts && below_counts);
        const int32_t group = x / GROUP;
        if (outlooks) {
            const Outlook outlook =
                look_out(word, any_above, static_cast<uint32_t>(-above), any_below, static_cast<uint32_t>(below));
            if (threadIdx.x % WARP == 0) outlooks[group] = outlook;
        }
        if (threadIdx.x % WARP == 0)
            strip.kept[group] = kept, strip.stays[group] = stays, strip.both[group] = both, strip.full[group] = full;
    }
}

/// Drops columns that are all sites between two such: they are nearest to their own pixels alone.  Beyond the ends of a
/// row all are sites; beyond those of a segment, nobody knows.
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

/// The envelope of up to 32 columns, `all`, of which some stay: who is left.  `number` tells a bit's column.
template <class Number>
__device__ uint32_t envelope_of(const Strip &strip, uint32_t all, uint32_t stays, Number number) {
    if (!(all & ~stays) || __popc(all) < 3) return all;
    uint32_t rest = all & (all - 1), under = all ^ rest, top = rest & (0 - rest);  // those to come, and the stack
    rest ^= top;
    Column below(strip, number(lowest_bit(under))), on(strip, number(lowest_bit(top))), comes(strip, number(lowest_bit(rest)));
    Ends here(below, on);
    while (rest) {
        const Ends ahead(on, comes);
        const bool drop = under && !(stays & top) && loses(strip, below, here, on, ahead, comes);
        if (drop) {
            top = 1u << highest_bit(under), under ^= top;
        } else {
            under |= top, top = rest & (0 - rest), rest ^= top;
        }
        const uint32_t wanted = drop ? under : rest;  // where it is empty any column does
        const int bit = !wanted ? lowest_bit(top) : drop ? highest_bit(wanted) : lowest_bit(wanted);
        const Column fresh(strip, number(bit)), was = on;
        on = Column(drop, below, comes);
        below = Column(drop, fresh, was);
        comes = Column(drop, comes, fresh);
        here = Ends(below, on);
    }
    return under | top;
}

/// The column, of some, that is nearest to the middle of the strip; or -1.
template <class Number>
__device__ int32_t best_of(const Strip &strip, uint32_t some, Number number) {
    float least = INFINITY;
    int32_t best = -1;
    for (; some; some &= some - 1) {
        const int32_t x = number(lowest_bit(some));
        const float away = fabsf(strip.sites[Strip::place(x)] - (STRIP - 1) / 2.0f);
        if (away < least) least = away, best = x;
    }
    return best;
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
    /// Of some columns of a sender, who does not lie above the envelope of this level.
    template <class Number>
    __device__ uint32_t below(const Strip &strip, int32_t sender, uint32_t some, uint32_t stays, Number number) const {
        const int32_t before = previous(sender), after = next(sender);
        const int32_t own = left[sender / 32] >> sender % 32 & 1 ? bests[sender] : -1;
        for (uint32_t rest = some & ~stays; rest; rest &= rest - 1) {
            const Column middle(strip, number(lowest_bit(rest)));
            const int32_t on_left = own >= 0 && own < middle.at ? own : before, on_right = own > middle.at ? own : after;
            if (own == middle.at || on_left < 0 || on_right < 0) continue;
            if (loses(strip, Column(strip, on_left), middle, Column(strip, on_right))) some ^= rest & (0 - rest);
        }
        return some;
    }
};

/// Drops columns that are never nearest; tells whether there were any, or some that were not asked.
__device__ bool prune_columns(const Strip &strip) {
    __shared__ uint32_t middle[GROUP], top;  // who is left of the groups' best, and of the best of those
    __shared__ int32_t middle_bests[GROUP];
    const int32_t me = threadIdx.x, blocks = (strip.groups + GROUP - 1) / GROUP;
    const auto column = [](int32_t group) { return [=](int bit) { return group * GROUP + bit; }; };
    const auto best = [&](int32_t block) { return [=](int bit) { return strip.bests[block * GROUP + bit]; }; };
    const auto middle_best = [&](int bit) { return middle_bests[bit]; };
    int32_t worth = 0;
    for (int32_t group = me; group < strip.groups; group += LISTERS) {
        const uint32_t all = strip.kept[group], stays = strip.stays[group], kept = envelope_of(strip, all, stays, column(group));
        strip.kept[group] = kept;
        strip.bests[group] = best_of(strip, kept, column(group));
        worth |= all ^ (kept & ~stays);
    }
    const bool any = __syncthreads_or(worth);
    if (me < blocks) {
        uint32_t sent = 0;
        for (int bit = 0; bit < GROUP && me * GROUP + bit < strip.groups; ++bit)
            sent |= (strip.bests[me * GROUP + bit] >= 0 ? 1u : 0u) << bit;
        middle[me] = envelope_of(strip, sent, 0, best(me));
        middle_bests[me] = best_of(strip, middle[me], best(me));
    }
    __syncthreads();
    if (me == 0) {
        uint32_t sent = 0;
        for (int bit = 0; bit < blocks; ++bit) sent |= (middle_bests[bit] >= 0 ? 1u : 0u) << bit;
        top = envelope_of(strip, sent, 0, middle_best);
    }
    __syncthreads();
    if (me < blocks) middle[me] = Coarse{middle_bests, &top, 1}.below(strip, me, middle[me], 0, best(me));
    __syncthreads();
    const Coarse coarse = {strip.bests, middle, blocks};
    for (int32_t group = me; group < strip.groups; group += LISTERS)
        strip.kept[group] = coarse.below(strip, group, strip.kept[group], strip.stays[group], column(group));
    return any;
}

/// Drops at the seam on the right of a group.
__device__ void smooth_seam(const Strip &strip, int32_t group) {
    int32_t other = group + 1;
    uint32_t on_left = strip.kept[group], on_right = 0;
    if (!on_left) return;
    while (other < strip.groups && !(on_right = strip.kept[other])) ++other;
    if (!on_right) return;
    const auto last = [&](uint32_t mask) { return Column(strip, group * GROUP + highest_bit(mask)); };
    const auto first = [&](uint32_t mask) { return Column(strip, other * GROUP + lowest_bit(mask)); };
    uint32_t fell_left = 0, fell_right = 0;
    bool more = true;
    for (int drops = 0; more && drops < MOST_DROPS; ++drops) {
        more = false;
        const Column left = last(on_left), right = first(on_right);
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
    for (int32_t x = threadIdx.x; x < strip.groups * GROUP; x += LISTERS) {
        const uint32_t kept = strip.kept[x / GROUP], bit = 1u << x % GROUP;
        if (!(kept & bit)) continue;
        const int32_t place = strip.bests[x / GROUP] + __popc(kept & (bit - 1));
        list[place] = static_cast<uint16_t>(x);
        if (CUT) continue;
        const uint32_t above = strip.start - strip.before[x],
                       below = static_cast<uint32_t>(strip.after[x] - strip.start);
        insides[place] = strip.words[x];
        sights[place] = min(below, OUT_OF_SIGHT) << 16 | min(above, OUT_OF_SIGHT);
    }
    return total;
}

/// A block takes a strip, or a segment of one.
template <bool CUT>
__global__ void __launch_bounds__(LISTERS, 3) list_strips(Rows rows) {
    extern __shared__ float shared[];
    const Columns &columns = rows.columns;
    const int64_t segments = CUT ? rows.segments() : 1, segment = CUT ? blockIdx.x % segments : 0;
    const int64_t line = rows.range.first + (CUT ? blockIdx.x / segments : blockIdx.x);
    const int64_t image = line / columns.strips(), number = line % columns.strips();
    if (!rows.is_far(image, number) && !rows.has_marks(image, number)) return;
    const int64_t first = segment * SEGMENT, count = CUT ? min(columns.count - first, int64_t(SEGMENT)) : columns.count;
    const Strip strip(shared, rows, image, number, first, static_cast<int32_t>(count));
    see_columns(strip, columns.valid(number), CUT ? rows.outlooks_of(image, number) + first / GROUP : nullptr);
    __syncthreads();
    uint32_t *const solid = reinterpret_cast<uint32_t *>(rows.solid_of(image, number)) + first / GROUP;
    drop_solid(strip, solid, segment == 0, segment + 1 == segments);
    const bool pruned = prune_columns(strip);
    for (int turn = 0; turn < SMOOTHINGS; ++turn) {
        __syncthreads();
        for (int32_t group = threadIdx.x; group < strip.groups; group += LISTERS) smooth_seam(strip, group);
    }
    __syncthreads();
    const int32_t total = write_list<CUT>(strip, rows, image, number, first);
    if (threadIdx.x == 0)
        rows.counts_of(image, number)[segment] = static_cast<uint32_t>(total) | (pruned ? WORTH_PRUNING : 0);
}

}  // namespace

void list_contenders(const Rows &rows, cudaStream_t stream) {
    const int64_t each = rows.is_cut ? std::min<int64_t>(rows.columns.count, SEGMENT) : rows.columns.count;
    launch_large("list_strips", rows.is_cut ? list_strips<true> : list_strips<false>,
                 rows.range.count * rows.segments(), LISTERS, Strip::bytes(each), stream, rows);
}

}  // namespace apsis
