// Contenders: the columns that may hold the nearest site of some pixel of a strip, listed once for its 32 rows.
//
// In a strip that has no site of column b, two sites are of interest, the last above and the first below.  Where two
// others, k columns left and right, together cost less than twice as much, one of them is nearer to every pixel of the
// row: seen from a row, costs lie under a parabola, and b above their lower hull (Meijster's envelope).  In row r a
// site in row p of the strip costs (r - p)^2, so that the difference is linear in r, and the first and the last row
// speak for those between.  Some columns that never win stay on the list: it is for speed alone.
//
// Cost: a few instructions a pixel; 1/16 of a byte a pixel out.
#include "launch.h"
#include "rows.h"

namespace apsis {

namespace {

constexpr int LISTERS = 1024;             // threads of a block, each with a group of columns to count
constexpr int MOST_OFFSET = 1024;         // that neighbours are tried at: 1, 2, 4 ...
constexpr int32_t FAR_SITE = 30000;       // sites farther from the strip neither drop others nor are dropped, so that
constexpr uint32_t NOBODY = 45000;        // sums of two squares fit 32 bits, and a column of nobody drops none
constexpr uint32_t FAR_SQUARES = 2 * (FAR_SITE + STRIP) * (FAR_SITE + STRIP);
static_assert((NOBODY - STRIP) * (NOBODY - STRIP) > FAR_SQUARES, "twice the dearest that may be dropped");
static_assert(2ull * (NOBODY + STRIP) * (NOBODY + STRIP) + 2ull * MOST_OFFSET * MOST_OFFSET < 1ull << 32);
static_assert(WIDEST_ROW / GROUP <= LISTERS);

/// The sites of a column that a strip sees, as rows of the strip.
struct Sites {
    uint32_t word;
    int32_t above, below;

    __device__ Sites(const Columns &columns, int64_t at, int32_t start)
        : word(columns.words[at]), above(columns.before[at] - start), below(columns.after[at] - start) {}

    /// One that is near the strip, or as good as none.
    __device__ int32_t nearest() const {
        if (word) return lowest_bit(word);
        const int32_t nearest = STRIP - 1 - above < below ? above : below;
        return abs(nearest) > FAR_SITE ? static_cast<int32_t>(NOBODY) : nearest;
    }
};

/// A site of a column without any in the strip, against those of the columns on either side.
struct Contender {
    int32_t row;
    uint32_t first = 0, last = 0;  // twice its cost in the first and the last row of the strip; 0 if nobody drops it

    __device__ explicit Contender(int32_t row) : row(row) {
        if (abs(row) > FAR_SITE) return;
        first = static_cast<uint32_t>(2 * row * row);
        last = static_cast<uint32_t>(2 * (STRIP - 1 - row) * (STRIP - 1 - row));
    }
    __device__ bool loses(uint32_t first_costs, uint32_t last_costs) const {
        return first_costs < first && last_costs < last;
    }
};

/// Whether a column may hold the nearest site of a pixel of the strip.
__device__ bool contends(const Sites &own, const int32_t *nearest, int32_t x, int32_t count) {
    if (own.word) return true;
    const Contender above(own.above), below(own.below);
    // Of its own two, the one that is nearer in the other's best row is nearer in all.
    bool above_wins = own.above > NO_SITE_BEFORE / 2 && own.below >= -own.above;
    bool below_wins = own.below < -(NO_SITE_BEFORE / 2) && STRIP - 1 - own.above >= own.below - (STRIP - 1);
    for (int32_t k = 1; k <= MOST_OFFSET && x - k >= 0 && x + k < count && (above_wins || below_wins); k *= 2) {
        const int32_t a = nearest[x - k], b = nearest[x + k];
        const uint32_t first = static_cast<uint32_t>(a) * a + static_cast<uint32_t>(b) * b + 2 * k * k;
        const uint32_t last = first - 2 * (STRIP - 1) * (a + b) + 2 * (STRIP - 1) * (STRIP - 1);
        above_wins = above_wins && !above.loses(first, last);
        below_wins = below_wins && !below.loses(first, last);
    }
    return above_wins || below_wins;
}

/// How many contenders lie in the groups before a thread's own; in all, for the last thread.
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

        for (int32_t x = threadIdx.x; x < count; x += LISTERS) nearest[x] = Sites(columns, from + x, start).nearest();
        masks[threadIdx.x] = 0;
        __syncthreads();
        for (int32_t x = threadIdx.x; x < groups * GROUP; x += LISTERS) {
            const bool wins = x < count && contends(Sites(columns, from + x, start), nearest, x, count);
            const uint32_t mask = __ballot_sync(ALL_LANES, wins);
            if (threadIdx.x % WARP == 0) masks[x / GROUP] = mask;
        }
        __syncthreads();

        const uint32_t mine = masks[threadIdx.x], before = count_before(__popc(mine));
        uint16_t *const places = rows.places_of(image, strip), *const list = rows.contenders_of(image, strip);
        if (static_cast<int32_t>(threadIdx.x) < groups) places[threadIdx.x] = static_cast<uint16_t>(before);
        if (threadIdx.x == LISTERS - 1) {
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
}

}  // namespace

void list_contenders(const Rows &rows, cudaStream_t stream) {
    const Columns &columns = rows.columns;
    launch_large("list_strips", list_strips, columns.batch * columns.strips(), LISTERS,
                 static_cast<size_t>(columns.count) * sizeof(int32_t), stream, rows);
}

}  // namespace apsis
