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
constexpr int ROUNDS = 5;       // at most: one that drops less than an eighth is the last
constexpr int MOST_AWAY = 16;    // places on the list that neighbours are tried at: 1, 4, 16
static_assert(WIDEST_ROW / GROUP <= LISTERS);

/// The sites of a column that a strip sees, as rows of the strip.
struct Sites {
    uint32_t word;
    int32_t above, below;

    __device__ Sites(const Columns &columns, int64_t at, int32_t start)
        : word(columns.words[at]), above(columns.before[at] - start), below(columns.after[at] - start) {}

    __device__ bool any_above() const { return above > NO_SITE_BEFORE / 2; }
    __device__ bool any_below() const { return below < -(NO_SITE_BEFORE / 2); }
    /// See Rows::sights.
    __device__ uint32_t sight() const {
        return word ? SITES_INSIDE : min(static_cast<uint32_t>(below), uint32_t(OUT_OF_SIGHT)) << 16 | min(-above, OUT_OF_SIGHT);
    }
    __device__ bool any() const { return word || any_above() || any_below(); }
    /// The one that is nearest to the middle of the strip, or one in it.
    __device__ int32_t nearest() const { return word ? lowest_bit(word) : STRIP - 1 - above < below ? above : below; }
};

/// What a site in row `site` of the strip costs in row `row`, times a width.
__device__ uint64_t weigh(int32_t row, int32_t site, int32_t width) {
    const int32_t d = row - site;
    return static_cast<uint64_t>(static_cast<uint32_t>(d) * static_cast<uint32_t>(d)) * static_cast<uint32_t>(width);
}

/// Whether the i-th column of a list may hold the nearest site of a pixel of the strip.
__device__ bool contends(const Sites &own, const uint16_t *list, int32_t i, int32_t total, const int32_t *nearest) {
    constexpr int32_t LAST = STRIP - 1;
    if (own.word) return true;
    // Of its own two, the one that is nearer in the other's best row is nearer in all.
    bool above = own.any_above() && own.below >= -own.above, below = own.any_below() && LAST - own.above >= own.below - LAST;
    for (int32_t k = 1; k <= MOST_AWAY && i - k >= 0 && i + k < total && (above || below); k *= 4) {
        const int32_t a = list[i - k], b = list[i], c = list[i + k], width = c - a;
        const uint64_t bend = static_cast<uint64_t>((b - a) * (c - b)) * static_cast<uint32_t>(width);
        const uint64_t first = weigh(0, nearest[a], c - b) + weigh(0, nearest[c], b - a) + bend;
        const uint64_t last = weigh(LAST, nearest[a], c - b) + weigh(LAST, nearest[c], b - a) + bend;
        above = above && !(first < weigh(0, own.above, width) && last < weigh(LAST, own.above, width));
        below = below && !(first < weigh(0, own.below, width) && last < weigh(LAST, own.below, width));
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

/// Writes the list of the columns whose bits are set, and how many of them lie left of each group.
__device__ void write_list(const uint32_t *masks, int32_t groups, uint16_t *places, uint16_t *list) {
    const int32_t group = threadIdx.x;
    const uint32_t mine = masks[group], before = count_before(__popc(mine));
    if (group < groups) places[group] = static_cast<uint16_t>(before);
    if (group == LISTERS - 1) {
        const uint32_t total = before + __popc(mine);
        places[groups] = static_cast<uint16_t>(max(total, 1u));
        if (total == 0) list[0] = 0;  // nobody has a site: somebody must say so
    }
    __syncthreads();
    for (int32_t x = threadIdx.x; x < groups * GROUP; x += LISTERS) {
        const uint32_t mask = masks[x / GROUP], bit = 1u << x % GROUP;
        if (mask & bit) list[places[x / GROUP] + __popc(mask & (bit - 1))] = static_cast<uint16_t>(x);
    }
    __syncthreads();
}

/// A block takes a strip.
__global__ void __launch_bounds__(LISTERS, 2) list_strips(Rows rows) {
    extern __shared__ int32_t nearest[];
    __shared__ uint32_t masks[LISTERS];
    const Columns &columns = rows.columns;
    const int32_t count = static_cast<int32_t>(columns.count), groups = static_cast<int32_t>(rows.groups());
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
        for (int32_t x = threadIdx.x; x < groups * GROUP; x += LISTERS) {
            const Sites sites(columns, from + min(x, count - 1), start);
            const uint32_t mask = __ballot_sync(ALL_LANES, x < count && sites.any());
            if (x < count) nearest[x] = sites.nearest();
            if (threadIdx.x % WARP == 0) masks[x / GROUP] = mask;
        }
        __syncthreads();
        uint16_t *const places = rows.places_of(image, strip), *const list = rows.contenders_of(image, strip);
        write_list(masks, groups, places, list);
        int32_t total = places[groups], more = total;
        for (int round = 0; round < ROUNDS && more; ++round) {
            for (int32_t i = threadIdx.x; i < total; i += LISTERS) {
                const int32_t x = list[i];
                if (!contends(Sites(columns, from + x, start), list, i, total, nearest))
                    atomicAnd(&masks[x / GROUP], ~(1u << x % GROUP));
            }
            __syncthreads();
            write_list(masks, groups, places, list);
            more = places[groups] < total - total / 8;
            total = places[groups];
        }
        uint32_t *const sights = rows.sights_of(image, strip);
        for (int32_t i = threadIdx.x; i < total; i += LISTERS) sights[i] = Sites(columns, from + list[i], start).sight();
    }
}

}  // namespace

void list_contenders(const Rows &rows, cudaStream_t stream) {
    const Columns &columns = rows.columns;
    launch_large("list_strips", list_strips, columns.batch * columns.strips(), LISTERS,
                 static_cast<size_t>(columns.count) * sizeof(int32_t), stream, rows);
}

}  // namespace apsis
