// Contenders: the columns that may hold the nearest site of some pixel of a strip, listed once for its 32 rows.
//
// In a strip that has no site of column b, two sites are of interest, the last above and the first below.  Seen from a
// row, the costs f of three columns a < b < c decide whether b is ever the nearest: not if
//     f(a) (c - b) + f(c) (b - a) + (b - a) (c - b) (c - a) < f(b) (c - a),
// for then b lies above the lower hull of a and c (the envelope of Meijster and of Felzenszwalb).  In row r a site in
// row p of the strip costs (r - p)^2; r^2 cancels, so that the first and the last row speak for those between.
// A few rounds of tries against neighbours on the list leave little more than the hull.  That some columns stay which
// never win does no harm: the list is for speed alone.
//
// Cost: some ten instructions a pixel; 1/16 of a byte a pixel out.
#include "launch.h"
#include "rows.h"

namespace apsis {

namespace {

constexpr int LISTERS = 1024;    // threads of a block, each with a group of columns to count
constexpr int ROUNDS = 8;       // at most: one that drops less than a sixteenth is the last
constexpr int MOST_AWAY = 16;    // places on the list that neighbours are tried at: 1, 4, 16
static_assert(WIDEST_ROW / GROUP <= LISTERS);

/// The sites of a column that a strip sees, in 32 bits: how far above and below its first row they are, as in
/// Rows::sights; 0 and a row of the strip if they are inside.
struct Sites {
    uint32_t bits;

    __device__ static uint32_t sight(const Columns &columns, int64_t at, int32_t start) {
        const uint32_t above = start - columns.before[at], below = static_cast<uint32_t>(columns.after[at] - start);
        return min(below, OUT_OF_SIGHT) << 16 | min(above, OUT_OF_SIGHT);
    }
    __device__ static Sites see(const Columns &columns, int64_t at, int32_t start) {
        const uint32_t word = columns.words[at];
        return {word ? static_cast<uint32_t>(lowest_bit(word)) << 16 : sight(columns, at, start)};
    }
    __device__ bool inside() const { return (bits & 0xffff) == 0; }
    __device__ int32_t above() const { return -static_cast<int32_t>(bits & 0xffff); }
    __device__ int32_t below() const { return static_cast<int32_t>(bits >> 16); }
    __device__ bool any_above() const { return (bits & 0xffff) < OUT_OF_SIGHT; }
    __device__ bool any_below() const { return bits >> 16 < OUT_OF_SIGHT; }
    /// The one that is nearest to the middle of the strip.
    __device__ int32_t nearest() const { return inside() || STRIP - 1 - above() >= below() ? below() : above(); }
};

/// What a site in row `site` of the strip costs in row `row`, times a width.
__device__ uint64_t weigh(int32_t row, int32_t site, int32_t width) {
    const int32_t d = row - site;
    return static_cast<uint64_t>(static_cast<uint32_t>(d) * static_cast<uint32_t>(d)) * static_cast<uint32_t>(width);
}

/// Whether the i-th column of a list may hold the nearest site of a pixel of the strip.
__device__ bool contends(const Sites *sites, const uint16_t *list, int32_t i, int32_t total) {
    constexpr int32_t LAST = STRIP - 1;
    const int32_t b = list[i];
    const Sites own = sites[b];
    if (own.inside()) return true;
    // Of its own two, the one that is nearer in the other's best row is nearer in all.
    bool above = own.any_above() && own.below() >= -own.above();
    bool below = own.any_below() && LAST - own.above() >= own.below() - LAST;
    for (int32_t k = 1; k <= MOST_AWAY && i - k >= 0 && i + k < total && (above || below); k *= 4) {
        const int32_t a = list[i - k], c = list[i + k], width = c - a, left = sites[a].nearest(), right = sites[c].nearest();
        const uint64_t bend = static_cast<uint64_t>((b - a) * (c - b)) * static_cast<uint32_t>(width);
        const uint64_t first = weigh(0, left, c - b) + weigh(0, right, b - a) + bend;
        const uint64_t last = weigh(LAST, left, c - b) + weigh(LAST, right, b - a) + bend;
        above = above && !(first < weigh(0, own.above(), width) && last < weigh(LAST, own.above(), width));
        below = below && !(first < weigh(0, own.below(), width) && last < weigh(LAST, own.below(), width));
    }
    return above || below;
}

/// How many contenders lie in the groups before a thread's own.
__device__ uint32_t count_before(uint32_t mine) {
    __shared__ uint32_t totals[LISTERS / WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t sum = mine;
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const uint32_t other = __shfl_up_sync(ALL_LANES, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == WARP - 1) totals[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; ++w) sum += totals[w];
    return sum - mine;
}

/// Writes the list of the columns whose bits are set, and tells how many they are.
__device__ int32_t write_list(const uint32_t *masks, int32_t count, uint16_t *list) {
    __shared__ uint16_t places[LISTERS];  // of each group's first on the list
    __shared__ int32_t total;
    const int32_t group = threadIdx.x, mine = __popc(masks[group]), before = count_before(mine);
    places[group] = static_cast<uint16_t>(before);
    if (group == LISTERS - 1) {
        total = max(before + mine, 1);
        if (before + mine == 0) list[0] = 0;  // nobody has a site: somebody must say so
    }
    __syncthreads();
    for (int32_t x = threadIdx.x; x < count; x += LISTERS) {
        const uint32_t mask = masks[x / GROUP], bit = 1u << x % GROUP;
        if (mask & bit) list[places[x / GROUP] + __popc(mask & (bit - 1))] = static_cast<uint16_t>(x);
    }
    __syncthreads();
    return total;
}

/// A block takes a strip.
__global__ void __launch_bounds__(LISTERS, 2) list_strips(Rows rows) {
    extern __shared__ Sites sites[];
    __shared__ uint32_t masks[LISTERS];
    const Columns &columns = rows.columns;
    const int32_t count = static_cast<int32_t>(columns.count), whole = (count + GROUP - 1) / GROUP * GROUP;
    for (int64_t item = blockIdx.x; item < columns.batch * columns.strips(); item += gridDim.x) {
        const int64_t image = item / columns.strips(), strip = item % columns.strips();
        const int64_t from = columns.at(image, strip, 0);
        const int32_t start = static_cast<int32_t>(strip * STRIP);
        const uint8_t *const marks = rows.marks_of(image, start);
        const int64_t end = rows.patches() * min(int64_t(STRIP), columns.length - start);
        bool marked = false;
        for (int64_t p = threadIdx.x; p < end; p += LISTERS) marked = marked || marks[p];
        if (!__syncthreads_or(marked)) continue;

        masks[threadIdx.x] = 0;
        __syncthreads();
        for (int32_t x = threadIdx.x; x < whole; x += LISTERS) {
            const Sites own = Sites::see(columns, from + min(x, count - 1), start);
            if (x < count) sites[x] = own;
            const uint32_t mask = __ballot_sync(ALL_LANES, x < count && (own.any_above() || own.any_below()));
            if (threadIdx.x % WARP == 0) masks[x / GROUP] = mask;
        }
        __syncthreads();
        uint16_t *const list = rows.contenders_of(image, strip);
        int32_t total = write_list(masks, count, list);
        for (int round = 0, before = INT32_MAX; round < ROUNDS && total < before - before / 16; ++round) {
            for (int32_t i = threadIdx.x; i < total; i += LISTERS) {
                const int32_t x = list[i];
                if (!contends(sites, list, i, total))
                    atomicAnd(&masks[x / GROUP], ~(1u << x % GROUP));
            }
            __syncthreads();
            before = total;
            total = write_list(masks, count, list);
        }
        if (threadIdx.x == 0) *rows.count_of(image, strip) = static_cast<uint16_t>(total);
        uint32_t *const sights = rows.sights_of(image, strip);
        for (int32_t i = threadIdx.x; i < total; i += LISTERS) {
            const int32_t x = list[i];
            sights[i] = Sites::sight(columns, from + x, start);
            if (sites[x].inside()) list[i] = static_cast<uint16_t>(x | SITES_INSIDE);
        }
    }
}

}  // namespace

void list_contenders(const Rows &rows, cudaStream_t stream) {
    const Columns &columns = rows.columns;
    launch_large("list_strips", list_strips, columns.batch * columns.strips(), LISTERS,
                 static_cast<size_t>(columns.count) * sizeof(Sites), stream, rows);
}

}  // namespace apsis
