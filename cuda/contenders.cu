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
// The first step, groups by themselves, takes most of it, and is done by as many warps as there are room for
// (contenders.cuh); the others by a block a strip.
//
// Cost: some 150 instructions a column and strip; 3/16 of a byte a pixel out.
#include "contenders.cuh"
#include "launch.h"
#include "rows.h"

namespace apsis {

namespace {

constexpr int LISTERS = 512;    // threads of a block: three such fill a multiprocessor's registers and shared memory
constexpr int MOST_LISTERS = 1024;  // where there is hardly a block for a multiprocessor
constexpr int64_t FEW_BLOCKS = 160;
constexpr int AHEAD = 4;        // columns that a thread has on the way at once
constexpr int MOST_DROPS = 16;  // at a seam on either side
constexpr int SMOOTHINGS = 1;   // rounds over the seams: a second finds a few in a thousand
static_assert(WIDEST_ROW <= GROUP * GROUP * GROUP, "three levels");
static_assert(WIDEST_ROW < 1 << 16 && SEGMENT < 1 << 16, "two columns in a word");

/// What a strip, or a segment of it, knows of its columns, in shared memory.
struct Strip {
    const Columns &columns;
    int64_t from;  // its first column
    int32_t start, count;
    float slack;
    int32_t *sites;    // [place]: what counts of a column: see pack_site
    uint32_t *kept;    // [group]: columns that may be nearest
    uint32_t *stays;   // [group]: those that are not to be dropped
    uint32_t *sides;   // [group]: the columns of the coarser level before and after it, and 1; 0 if there is none
    int32_t *bests;    // [group]: its best column; at last the place of its first on the list
    int32_t groups;

    static size_t bytes(int64_t columns) {
        return static_cast<size_t>(parts(columns, GROUP)) * (GROUP * sizeof(int32_t) + 3 * sizeof(uint32_t) + sizeof(int32_t));
    }
    __device__ Strip(int32_t *shared, const Rows &rows, int64_t image, int64_t number, int64_t first, int32_t count)
        : columns(rows.columns),
          from(rows.columns.at(image, number, first)),
          start(static_cast<int32_t>(number * STRIP)),
          count(count),
          slack(rows.slack),
          sites(shared),
          groups((count + GROUP - 1) / GROUP) {
        kept = reinterpret_cast<uint32_t *>(sites + groups * GROUP);
        stays = kept + groups;
        sides = stays + groups;
        bests = reinterpret_cast<int32_t *>(sides + groups);
    }
    __device__ static int32_t place(int32_t x) { return spread_banks(x); }
    __device__ bool is_kept(int32_t x) const { return x < count && (kept[x / GROUP] >> x % GROUP & 1) != 0; }
    __device__ Column column(int32_t x) const { return Column(static_cast<float>(x), sites[place(x)]); }
    __device__ Middle middle(int32_t x) const { return Middle(static_cast<float>(x), sites[place(x)]); }
};

/// Loads what has been seen of a strip.  Columns that are all sites between two such are dropped: they are nearest to their own
/// pixels alone.  Who has lost to one of them has lost to an end of its run.  Beyond the ends of a row all are sites; beyond
/// those of a segment, nobody knows.
__device__ void load_strip(const Strip &strip, const Seen *seen, const int32_t *sites, uint32_t *solids, bool is_first,
                           bool is_last) {
    const int32_t threads = blockDim.x;
    for (int32_t turn = threadIdx.x; turn < strip.count; turn += AHEAD * threads) {
        int32_t site[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) site[k] = sites[min(turn + k * threads, strip.count - 1)];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            if (turn + k * threads < strip.count) strip.sites[Strip::place(turn + k * threads)] = site[k];
    }
    for (int32_t group = threadIdx.x; group < strip.groups; group += threads) {
        const Seen mine = seen[group];
        const uint32_t before = group > 0 ? seen[group - 1].full : is_first ? ~0u : 0;
        const uint32_t after = group + 1 < strip.groups ? seen[group + 1].full : is_last ? ~0u : 0;
        const uint32_t solid = mine.full & __funnelshift_l(before, mine.full, 1) & __funnelshift_r(mine.full, after, 1);
        strip.kept[group] = mine.kept & ~solid, strip.stays[group] = mine.stays, strip.bests[group] = mine.best;
        solids[group] = solid;
    }
    __syncthreads();
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
    __device__ int32_t own(int32_t sender) const { return left[sender / 32] >> sender % 32 & 1 ? bests[sender] : -1; }
};

/// Of some columns of a sender, one a lane, who does not lie above the envelope of a coarser level: of the sender's `own`
/// column there and those before and after it; -1 where there is none.
__device__ uint32_t below(const Strip &strip, int32_t own, int32_t before, int32_t after, uint32_t some, uint32_t stays,
                          int32_t at) {
    const int32_t on_left = own >= 0 && own < at ? own : before, on_right = own > at ? own : after;
    const bool asked = ((some & ~stays) >> threadIdx.x % WARP & 1) && own != at && on_left >= 0 && on_right >= 0;
    const bool vain = asked && loses(strip.slack, strip.column(on_left), strip.middle(at), strip.column(on_right));
    return some & ~__ballot_sync(ALL_LANES, vain);
}

/// Drops columns that lie above the envelopes of coarser levels.
__device__ void prune_columns(const Strip &strip) {
    __shared__ uint32_t middle[GROUP], top;  // who is left of the groups' best, and of the best of those
    __shared__ int32_t middle_bests[GROUP];
    const int32_t warps = blockDim.x / WARP, warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int32_t blocks = (strip.groups + GROUP - 1) / GROUP;
    const auto best = [&](int32_t block) {
        const int32_t group = block * GROUP + lane;
        return group < strip.groups ? strip.bests[group] : -1;
    };
    for (int32_t block = warp; block < blocks; block += warps) {
        const int32_t at = best(block);
        const Middle mine = strip.middle(max(at, 0));
        const uint32_t left = envelope_of(strip.slack, __ballot_sync(ALL_LANES, at >= 0), 0, mine);
        const int first = best_of(left, mine), number = __shfl_sync(ALL_LANES, at, max(first, 0));
        if (lane == 0) middle[block] = left, middle_bests[block] = first < 0 ? -1 : number;
    }
    __syncthreads();
    if (warp == 0) {
        const int32_t at = lane < blocks ? middle_bests[lane] : -1;
        const uint32_t left =
            envelope_of(strip.slack, __ballot_sync(ALL_LANES, at >= 0), 0, strip.middle(max(at, 0)));
        if (lane == 0) top = left;
    }
    __syncthreads();
    const Coarse coarsest = {middle_bests, &top, 1};
    for (int32_t block = warp; block < blocks; block += warps) {
        const uint32_t left = below(strip, coarsest.own(block), coarsest.previous(block), coarsest.next(block), middle[block],
                                    0, max(best(block), 0));
        if (lane == 0) middle[block] = left;
    }
    __syncthreads();
    const Coarse coarse = {strip.bests, middle, blocks};
    for (int32_t group = threadIdx.x; group < strip.groups; group += blockDim.x)
        strip.sides[group] = static_cast<uint32_t>(coarse.previous(group) + 1) |
                             static_cast<uint32_t>(coarse.next(group) + 1) << 16;
    __syncthreads();
    for (int32_t group = warp; group < strip.groups; group += warps) {
        const uint32_t kept = strip.kept[group], stays = strip.stays[group], sides = strip.sides[group];
        if (!(kept & ~stays)) continue;
        const uint32_t left = below(strip, coarse.own(group), static_cast<int32_t>(sides & 0xffff) - 1,
                                    static_cast<int32_t>(sides >> 16) - 1, kept, stays, group * GROUP + lane);
        if (lane == 0) strip.kept[group] = left;
    }
}

/// Drops at the seam on the right of a group.
__device__ void smooth_seam(const Strip &strip, int32_t group) {
    int32_t other = group + 1;
    uint32_t on_left = strip.kept[group], on_right = 0;
    if (!on_left) return;
    while (other < strip.groups && !(on_right = strip.kept[other])) ++other;
    if (!on_right) return;
    const auto last = [&](uint32_t mask) { return strip.middle(group * GROUP + highest_bit(mask)); };
    const auto first = [&](uint32_t mask) { return strip.middle(other * GROUP + lowest_bit(mask)); };
    uint32_t fell_left = 0, fell_right = 0;
    bool more = true;
    for (int drops = 0; more && drops < MOST_DROPS; ++drops) {
        more = false;
        const Middle left = last(on_left), right = first(on_right);
        const uint32_t under = on_left ^ 1u << highest_bit(on_left), beyond = on_right & (on_right - 1);
        if (under && !(strip.stays[group] & (under ^ on_left)) && loses(strip.slack, last(under), left, right))
            fell_left |= under ^ on_left, on_left = under, more = true;
        else if (beyond && !(strip.stays[other] & (beyond ^ on_right)) && loses(strip.slack, left, right, first(beyond)))
            fell_right |= beyond ^ on_right, on_right = beyond, more = true;
    }
    if (fell_left) atomicAnd(strip.kept + group, ~fell_left);
    if (fell_right) atomicAnd(strip.kept + other, ~fell_right);
}

/// The sum of a lane's value and those of the lanes before it.
__device__ int32_t sum_up_to(int32_t value) {
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const int32_t other = __shfl_up_sync(ALL_LANES, value, step);
        if (lane >= step) value += other;
    }
    return value;
}

/// Lays the place of every group's first column on the list where its best was, which no longer matters, and returns how many
/// columns are kept.
__device__ int32_t place_groups(const Strip &strip) {
    __shared__ int32_t totals[GROUP];  // of 32 groups each
    const int lane = threadIdx.x % WARP;
    const int32_t blocks = (strip.groups + WARP - 1) / WARP, end = blocks * WARP;
    for (int32_t group = threadIdx.x; group < end; group += blockDim.x) {
        const int32_t mine = group < strip.groups ? __popc(strip.kept[group]) : 0, sum = sum_up_to(mine);
        if (group < strip.groups) strip.bests[group] = sum - mine;
        if (lane == WARP - 1) totals[group / WARP] = sum;
    }
    __syncthreads();
    const int32_t total = lane < blocks ? totals[lane] : 0, sum = sum_up_to(total);
    for (int32_t group = threadIdx.x; group < end; group += blockDim.x) {
        const int32_t before = __shfl_sync(ALL_LANES, sum - total, group / WARP);
        if (group < strip.groups) strip.bests[group] += before;
    }
    __syncthreads();
    return __shfl_sync(ALL_LANES, sum, WARP - 1);
}

/// Writes what is kept, and returns how many that is.
template <bool CUT>
__device__ int32_t write_list(const Strip &strip, const Rows &rows, int64_t image, int64_t number, int64_t first) {
    uint16_t *const list = rows.contenders_of(image, number) + first;
    uint32_t *const sights = rows.sights_of(image, number), *const insides = rows.insides_of(image, number);
    uint16_t *const places = CUT ? rows.places_of(image, number) + first / GROUP : nullptr;
    const int32_t total = place_groups(strip);
    if (CUT)
        for (int32_t group = threadIdx.x; group < strip.groups; group += blockDim.x)
            places[group] = static_cast<uint16_t>(strip.bests[group]);
    const int32_t threads = blockDim.x;
    for (int32_t turn = threadIdx.x; turn < strip.count; turn += AHEAD * threads) {
        Sites sites[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            if (!CUT && strip.is_kept(turn + k * threads)) sites[k].load(strip.columns, strip.from + turn + k * threads);
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const int32_t x = turn + k * threads;
            if (!strip.is_kept(x)) continue;
            const int32_t place = strip.bests[x / GROUP] + __popc(strip.kept[x / GROUP] & ((1u << x % GROUP) - 1));
            list[place] = static_cast<uint16_t>(x);
            if (CUT) continue;
            const uint32_t above = strip.start - sites[k].before, below = static_cast<uint32_t>(sites[k].after - strip.start);
            insides[place] = sites[k].word;
            sights[place] = min(below, OUT_OF_SIGHT) << 16 | min(above, OUT_OF_SIGHT);
        }
    }
    return total;
}

/// A block takes a strip, or a segment of one.
template <bool CUT, int THREADS>
__global__ void __launch_bounds__(THREADS, THREADS == LISTERS ? 3 : 1) list_strips(Rows rows) {
    wait_for_kernel_before();
    extern __shared__ int32_t shared[];
    const Columns &columns = rows.columns;
    const int64_t segments = CUT ? rows.segments() : 1, segment = CUT ? blockIdx.x % segments : 0;
    const int64_t line = rows.strip_at(CUT ? blockIdx.x / segments : blockIdx.x);
    const int64_t image = line / columns.strips(), number = line % columns.strips();
    const bool is_far = rows.is_far(image, number);
    if (!is_far && !rows.has_marks(image, number)) return;
    const int64_t first = segment * SEGMENT, count = CUT ? min(columns.count - first, int64_t(SEGMENT)) : columns.count;
    if (!is_far) {
        see_groups(rows, image, number, first, count);
        __syncthreads();
    }
    const Strip strip(shared, rows, image, number, first, static_cast<int32_t>(count));
    uint32_t *const solids = reinterpret_cast<uint32_t *>(rows.solid_of(image, number)) + first / GROUP;
    load_strip(strip, rows.seen_of(image, number) + first / GROUP, rows.sites_of(image, number) + first, solids, segment == 0,
               segment + 1 == segments);
    prune_columns(strip);
    for (int turn = 0; turn < SMOOTHINGS; ++turn) {
        __syncthreads();
        for (int32_t group = threadIdx.x; group < strip.groups; group += THREADS) smooth_seam(strip, group);
    }
    __syncthreads();
    const int32_t total = write_list<CUT>(strip, rows, image, number, first);
    if (threadIdx.x == 0)
        rows.counts_of(image, number)[segment] = static_cast<uint32_t>(total);
}

template <int THREADS>
void list_strips_by(const Rows &rows, cudaStream_t stream) {
    const int64_t each = rows.is_cut ? std::min<int64_t>(rows.columns.count, SEGMENT) : rows.columns.count;
    launch_large("list_strips", rows.is_cut ? list_strips<true, THREADS> : list_strips<false, THREADS>,
                 rows.count_strips() * rows.segments(), THREADS, Strip::bytes(each), early(stream), rows);
}

}  // namespace

void list_contenders(const Rows &rows, cudaStream_t stream) {
    if (rows.count_strips() * rows.segments() <= FEW_BLOCKS)
        list_strips_by<MOST_LISTERS>(rows, stream);
    else
        list_strips_by<LISTERS>(rows, stream);
}

}  // namespace apsis
