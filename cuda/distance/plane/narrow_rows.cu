// Narrow rows: all rows of 2-D Euclidean distance maps whose rows are short and many (plan.cu).  A block takes a strip, a
// thread a column.
//
// Where no group of 32 columns is far, every pixel has a site within 64 columns, and is searched outward as in near_search.cu,
// two rows in the halves of a register.  If rows begin at multiples of 16 bytes, a warp's lanes may lie in more than one row.
// For nearest sites near_search_nearest.cu does this part.
//
// Far strips are searched as in candidates.cu and envelope.cu, but without leaving shared memory.  A warp drops the dominated
// ones of its 32 columns.  Each candidate left is compared with others, outward until those beyond can tell nothing more, which
// gives an interval of the row in which it may be nearest in any of the strip's rows; nearly half of the candidates have none.
// The intervals bracket tiles, and each thread finishes a tile.
//
// Cost: 3/8 byte a pixel in, through the second cache, and the outputs out.
#include "cuda/distance/plane/envelope_tiles.cuh"
#include "cuda/distance/plane/layout.h"
#include "cuda/distance/plane/near_search.cuh"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::plane {

namespace {

constexpr int32_t WIDTH = static_cast<int32_t>(NARROW_WIDTH);
constexpr int BANDS = STRIP / BAND;
constexpr uint32_t LEAST_UNKNOWN = static_cast<uint32_t>(UNKNOWN) - BIAS;  // the least cost of a pixel if there is no site
constexpr int NARROW_REACH = 64;    // columns: if a group is not far, its pixels have sites within these
constexpr int NARROW_RESIDENT = 3;  // blocks of WIDTH threads on a multiprocessor: leaves a thread 64 registers
// Candidates on a side that are compared at once, so that their latencies overlap.  One at a time took up to 37 % more for
// diagonals, and 14 % for blobs.
constexpr int TURN = 4;
static_assert(WARP % TILE == 0, "no more tiles in a strip's bands than threads");
static_assert((STRIP - 1 + NEAR) * (STRIP - 1 + NEAR) + (GROUP - 1) * (GROUP - 1) <= NARROW_REACH * NARROW_REACH);

/// Columns of a block's shared memory: as many as it has threads.
__host__ __device__ int32_t shared_columns(int64_t width) { return static_cast<int32_t>((width + WARP - 1) / WARP * WARP); }

/// The squares of the columns' distances in shared memory: two rows in the halves of a word, and NARROW_REACH columns more on
/// either side.
struct Squares {
    uint32_t *memory;
    int32_t pitch;

    static __host__ __device__ int32_t pitch_of(int64_t width) { return shared_columns(width) + 2 * NARROW_REACH; }
    static size_t bytes(int64_t width) { return sizeof(uint32_t) * HALF_STRIP * static_cast<size_t>(pitch_of(width)); }
    __device__ Squares(void *shared, int32_t width) : memory(static_cast<uint32_t *>(shared)), pitch(pitch_of(width)) {}
    __device__ uint32_t *operator[](int row) const { return memory + row * pitch; }
};

/// Block: lays the squares of the columns' distances in shared memory, with columns without sites beyond the row's ends.
__device__ void lay_squares(const Squares &squares, int32_t width, int32_t start, const Sites &mine) {
    constexpr uint32_t NO_SITE = Shape<SHORT_SPAN>::FAR_CARRY * Shape<SHORT_SPAN>::FAR_CARRY * BOTH;
    const int32_t x = static_cast<int32_t>(threadIdx.x), warps = static_cast<int32_t>(blockDim.x) / WARP;
    for (int r = x / WARP; r < HALF_STRIP; r += warps)
        for (int c = x % WARP; c < 2 * NARROW_REACH; c += WARP) squares[r][c < NARROW_REACH ? c : width + c] = NO_SITE;
    if (x < width)
        scan_column<Shape<SHORT_SPAN>::FAR_CARRY>(
            mine, start, [&](int r, uint32_t, uint32_t near) { squares[r][NARROW_REACH + x] = square_both(near); });
    __syncthreads();
}

/// Block: searches a strip outward.  `mine` is this thread's column, if it has one.
template <Form FORM>
__device__ void search_near_rows(const Squares &squares, const Layout &layout, const NearOutput &target, int64_t image,
                                 int64_t strip, const Sites &mine) {
    const int32_t width = static_cast<int32_t>(layout.columns.count), start = static_cast<int32_t>(strip * STRIP);
    const int32_t x = static_cast<int32_t>(threadIdx.x), threads = static_cast<int32_t>(blockDim.x), lane = x % WARP;
    lay_squares(squares, width, start, mine);
    const int32_t quads = (width + QUAD - 1) / QUAD;
    const int32_t across = target.format.aligned ? quads : (quads + WARP - 1) / WARP * WARP;  // lanes of a row
    for (int32_t item = x; item - lane < HALF_STRIP * across; item += threads) {
        const int32_t r = item / across, left = item % across * QUAD, beyond_row = across * QUAD;
        const bool out = r >= HALF_STRIP || left >= width;
        const uint32_t *const line = squares[out ? 0 : r];
        const int column = NARROW_REACH + (out ? 0 : left);
        uint4 on_left = *reinterpret_cast<const uint4 *>(line + column), on_right = on_left;
        uint32_t best[QUAD] = {on_left.x, on_left.y, on_left.z, on_left.w};
        for (int from = 0; from < NARROW_REACH; from += QUAD) {
            const uint32_t most = __vmaxu2(__vmaxu2(best[0], best[1]), __vmaxu2(best[2], best[3]));
            const int32_t next = (from + 1) * (from + 1);  // a candidate farther out costs as much or more
            if (__all_sync(ALL_LANES, out || next > target.limit || max(most & 0xffff, most >> 16) <= next)) break;
            step_quad(line, column, from, on_left, on_right, [&](int c, int k, uint32_t a, uint32_t b) {
                const uint32_t step = static_cast<uint32_t>((from + k) * (from + k)) * BOTH;
                best[c] = __viaddmin_u16x2(__vminu2(a, b), step, best[c]);
            });
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t y = start + r + half * HALF_STRIP;
            uint32_t cost[QUAD];
#pragma unroll
            for (int c = 0; c < QUAD; ++c) cost[c] = half ? best[c] >> 16 : best[c] & 0xffff;
            const int32_t to = out || y >= layout.columns.length ? beyond_row : left;
            write_found<FORM, false>(layout, target, to, y, image, cost, {});
        }
    }
}

/// Bounds of a candidate's costs in a strip.  Without r^2 in row r, they are the least of straight lines, one a site.  So each
/// site's line is an upper bound, and the line through the costs in the first and the last row is a lower bound.
struct alignas(16) CandidateBounds {
    float x, site;      // the row of a site, from the strip's first
    float first, last;  // the column's distances in the first and the last row

    __device__ CandidateBounds() = default;
    __device__ CandidateBounds(const Sites &sites, int32_t packed, int32_t x, int32_t start)
        : x(static_cast<float>(x)),
          site(static_cast<float>(packed >> SUM_BITS)) {
        constexpr int32_t LAST_ROW = STRIP - 1;
        const int32_t below = sites.word ? lowest_bit(sites.word) : min(sites.after - start, FAR_OFF);
        const int32_t above = sites.word ? LAST_ROW - highest_bit(sites.word) : min(start - sites.before, FAR_OFF) + LAST_ROW;
        first = static_cast<float>(min(below, min(start - sites.before, FAR_OFF)));
        last = static_cast<float>(min(above, min(sites.after - start, FAR_OFF) - LAST_ROW));
    }
    /// Twice the breakpoints with `other` in the first and the last row, from lower bounds of this one's costs and upper bounds
    /// of the other's; breakpoints in the rows between lie between these.  On the other's side of both, this candidate is never
    /// nearest.
    __device__ float2 breaks(const CandidateBounds &other) const {
        const float inverse = inverse_of(other.x - x), sum = other.x + x, there = other.site - (STRIP - 1);
        return {fmaf((other.site - first) * (other.site + first), inverse, sum),
                fmaf((there - last) * (there + last), inverse, sum)};
    }
    /// Whether a column on one side, so far `away` or farther, may be the nearer one in all rows from less than half of `twice`
    /// on that side on.
    __device__ bool may_break(float twice, float away) const {
        const float least = fminf(first, last);
        return (away - twice) * away < least * least;
    }

  private:
    static constexpr int32_t FAR_OFF = 1 << 30;  // no site; exact in a float
};

/// A far strip in shared memory.
struct StripShared {
    CandidateBounds *bounds;            // of candidates, from left to right
    Sites *sites;                       // likewise
    uint32_t *distances;                // [band][candidate]
    uint32_t *lows, *highs;             // [tile]
    uint32_t *all_sites, *kept, *live;  // [group]: columns that are all sites; that are candidates; with an interval
    uint16_t *columns;
    int32_t width;  // the arrays have so many columns

    static constexpr size_t BYTES = sizeof(CandidateBounds) + sizeof(Sites) + sizeof(uint32_t) * BANDS + sizeof(uint16_t);
    static size_t bytes(int64_t width) {
        const size_t columns = static_cast<size_t>(shared_columns(width));
        return columns * BYTES + sizeof(uint32_t) * (2 * columns / TILE + 3 * columns / GROUP);
    }
    __device__ StripShared(void *shared, int32_t row) : width(shared_columns(row)) {
        bounds = static_cast<CandidateBounds *>(shared);
        sites = reinterpret_cast<Sites *>(bounds + width);
        distances = reinterpret_cast<uint32_t *>(sites + width);
        lows = distances + BANDS * width, highs = lows + width / TILE;
        all_sites = highs + width / TILE, kept = all_sites + width / GROUP, live = kept + width / GROUP;
        columns = reinterpret_cast<uint16_t *>(live + width / GROUP);
    }
    __device__ RowBand<1> band(int number, int32_t length, int32_t count) const {
        RowBand<1> band = {};
        band.length = length;
        band.tiles = (length + TILE - 1) / TILE;
        band.count = count;
        band.distances = distances + number * width;
        band.columns = columns;
        band.lows = lows, band.highs = highs;
        return band;
    }
    /// The columns of a group that are all sites, as are both neighbours.  Beyond the ends of a row all columns count as all
    /// sites.
    __device__ uint32_t interior_of(int group) const {
        const uint32_t before = group > 0 ? all_sites[group - 1] : ~0u;
        const uint32_t after = group + 1 < static_cast<int>(blockDim.x / WARP) ? all_sites[group + 1] : ~0u;
        return all_sites[group] & __funnelshift_l(before, all_sites[group], 1) & __funnelshift_r(all_sites[group], after, 1);
    }
};

/// How many bits are set before a bit in an array of words.
__device__ int32_t count_before(const uint32_t *words, int32_t bit) {
    int32_t count = bit % WARP ? __popc(words[bit / WARP] << (WARP - bit % WARP)) : 0;
    for (int32_t w = 0; w < bit / WARP; ++w) count += __popc(words[w]);
    return count;
}

/// Block: lays the candidates of a strip side by side.  `mine` is this thread's column, if it has one.  Returns their number.
__device__ int32_t gather_candidates(const StripShared &shared, const Layout &layout, int64_t strip, const Sites &mine) {
    const int32_t x = static_cast<int32_t>(threadIdx.x), width = static_cast<int32_t>(layout.columns.count);
    const int32_t start = static_cast<int32_t>(strip * STRIP), packed = pack_sites(mine, start);
    const int group = x / GROUP, lane = x % WARP;
    const GroupMasks masks(mine, x < width, layout.columns.filled(strip));
    if (lane == 0) shared.all_sites[group] = masks.all_sites;
    __syncthreads();
    const MiddleColumn middle(static_cast<float>(x), packed);
    const uint32_t kept =
        envelope_of(layout.slack, masks.with_sites, masks.with_inner_sites, middle) & ~shared.interior_of(group);
    if (lane == 0) shared.kept[group] = kept;
    if (x < shared.width / TILE) shared.lows[x] = ~0u, shared.highs[x] = 0;
    __syncthreads();
    const int32_t place = count_before(shared.kept, x);
    if (kept >> lane & 1) shared.bounds[place] = CandidateBounds(mine, packed, x, start), shared.sites[place] = mine;
    __syncthreads();
    return count_before(shared.kept, static_cast<int32_t>(blockDim.x));
}

/// The interval of a candidate, compared with others on either side until those beyond cannot make it shorter.
__device__ DominanceInterval interval_of(const CandidateBounds *bounds, int32_t position, int32_t count) {
    const CandidateBounds mine = bounds[position];
    DominanceInterval interval = {-NEVER, NEVER};
    for (int32_t next = position - 1; next >= 0; next -= TURN) {
        CandidateBounds other;
#pragma unroll
        for (int k = 0; k < TURN; ++k) {
            other = bounds[max(next - k, 0)];
            const float2 breaks = mine.breaks(other);
            interval.from = fmaxf(interval.from, fminf(breaks.x, breaks.y));
        }
        if (!mine.may_break(2 * mine.x - interval.from, mine.x - other.x)) break;
    }
    for (int32_t next = position + 1; next < count; next += TURN) {
        CandidateBounds other;
#pragma unroll
        for (int k = 0; k < TURN; ++k) {
            other = bounds[min(next + k, count - 1)];
            const float2 breaks = mine.breaks(other);
            interval.to = fminf(interval.to, fmaxf(breaks.x, breaks.y));
        }
        if (!mine.may_break(interval.to - 2 * mine.x, other.x - mine.x)) break;
    }
    return interval;
}

/// Warp: makes the brackets of a strip's tiles, two in a lane, as bracket_tiles does.  That takes 6 % more.
__device__ void spread_strip_brackets(const StripShared &shared) {
    const int32_t t = static_cast<int32_t>(threadIdx.x) % WARP * 2;
    const bool is_there = t < shared.width / TILE;
    uint2 *const lows = reinterpret_cast<uint2 *>(shared.lows + t), *const highs = reinterpret_cast<uint2 *>(shared.highs + t);
    const uint2 low = is_there ? *lows : make_uint2(~0u, ~0u), high = is_there ? *highs : make_uint2(0, 0);
    uint32_t least = min(low.x, low.y), most = max(high.x, high.y);
    spread_brackets(least, most);
    const uint32_t on_right = __shfl_down_sync(ALL_LANES, least, 1), on_left = __shfl_up_sync(ALL_LANES, most, 1);
    const uint32_t second = t + 2 < 2 * WARP ? min(low.y, on_right) : low.y, first = t > 0 ? max(high.x, on_left) : high.x;
    if (is_there) *lows = {least | first << 16, second | most << 16};
}

/// Block: finds the brackets of a strip's tiles, the same for all its rows.  A candidate that is nearest nowhere in the row is
/// dropped.  Returns how many are left.
__device__ int32_t bracket_strip(const StripShared &shared, const Layout &layout, int32_t count) {
    const int32_t i = static_cast<int32_t>(threadIdx.x), lane = i % WARP;
    const int32_t width = static_cast<int32_t>(layout.columns.count), tiles = (width + TILE - 1) / TILE;
    bool is_live = false;
    int32_t low = 0, high = 0;
    CandidateBounds mine;
    Sites sites;
    if (i < count) {
        mine = shared.bounds[i], sites = shared.sites[i];
        const DominanceInterval interval = interval_of(shared.bounds, i, count);
        low = interval.last_tile(tiles, layout.slack), high = interval.first_tile(layout.slack);
        is_live = interval.from - layout.slack <= interval.to + layout.slack && low >= 0 && high < tiles;
    }
    const uint32_t live = __ballot_sync(ALL_LANES, is_live);
    if (lane == 0) shared.live[i / WARP] = live;
    __syncthreads();
    if (is_live) {
        const int32_t place = count_before(shared.live, i);
        shared.columns[place] = static_cast<uint16_t>(mine.x), shared.sites[place] = sites;
        atomicMin(shared.lows + low, static_cast<uint32_t>(place));
        atomicMax(shared.highs + high, static_cast<uint32_t>(place));
    }
    __syncthreads();
    if (i < WARP) spread_strip_brackets(shared);
    return count_before(shared.live, count);
}

/// Block: measures the candidates in all bands of a strip.  Returns whether costs may not fit 32 bits.
__device__ bool measure_strip(const StripShared &shared, int32_t start, int32_t count) {
    bool wide_costs = false;
    for (int b = threadIdx.x / WARP; b < BANDS; b += static_cast<int>(blockDim.x) / WARP)
        for (int32_t i = threadIdx.x % WARP; i < count; i += WARP) {
            const Sites sites = shared.sites[i];
            CarryDistances carries(0);
            carries.above = min(static_cast<uint32_t>(start - sites.before), GroupBounds::NONE);
            carries.below = min(static_cast<uint32_t>(sites.after - start), GroupBounds::NONE);
            const uint32_t distances = measure_column(carries, sites.word, b * BAND);
            shared.distances[b * shared.width + i] = distances;
            wide_costs = wide_costs || !costs_fit_32_bits(unpack(distances, 0), WIDTH + TILE);
        }
    return __syncthreads_or(wide_costs);
}

/// Block: finds and writes a far strip.
template <Form FORM, bool NEAREST>
__device__ void search_far_rows(const StripShared &shared, const Layout &layout, OutputFormat format, int64_t image,
                                int64_t strip, const Sites &mine) {
    const int32_t width = static_cast<int32_t>(layout.columns.count);
    const int32_t count = bracket_strip(shared, layout, gather_candidates(shared, layout, strip, mine));
    const bool is_empty = count == 0;
    // Without a site costs are above the limit, unless the limit is one that 32 bits do not hold.
    const bool wide_costs =
        is_empty ? format.limit >= LEAST_UNKNOWN : measure_strip(shared, static_cast<int32_t>(strip * STRIP), count);
    format.limited = format.limited || is_empty;
    const int32_t tiles = (width + TILE - 1) / TILE, t = static_cast<int32_t>(threadIdx.x) % tiles;
    const int b = static_cast<int>(threadIdx.x) / tiles;
    const int64_t y = strip * STRIP + b * BAND;
    if (b >= BANDS || y >= layout.columns.length) return;
    const uint32_t interior = shared.interior_of(t * TILE / GROUP) >> t * TILE % GROUP & ((1u << TILE) - 1);
    if (layout.output.is_signed && interior == (1u << TILE) - 1) return;  // the other side writes it
    const RowBand<1> band = shared.band(b, width, count);
    if (wide_costs)
        finish_tile<FORM, NEAREST, true>(layout, format, band, ~0u, interior, image, y, t);
    else
        finish_tile<FORM, NEAREST, false>(layout, format, band, ~0u, interior, image, y, t);
}

/// A block takes a strip.
template <Form FORM, bool NEAREST>
__global__ void __launch_bounds__(WIDTH, NARROW_RESIDENT) search_narrow_rows(Layout layout, NearOutput target) {
    wait_for_kernel_before();
    extern __shared__ __align__(16) uint32_t shared[];
    const int32_t width = static_cast<int32_t>(layout.columns.count);
    const Columns &columns = layout.columns;
    const int64_t line = layout.strip_at(blockIdx.x), image = line / columns.strips(), strip = line % columns.strips();
    const StripColumns<FORM == Form::OTHER || FORM == Form::SIGNED> stored(columns, image, strip);
    const Sites mine = stored.at(min(int64_t(threadIdx.x), columns.count - 1));
    if (layout.is_far(image, strip))
        search_far_rows<FORM, NEAREST>(StripShared(shared, width), layout, target.format, image, strip, mine);
    else if constexpr (!NEAREST)
        search_near_rows<FORM>(Squares(shared, width), layout, target, image, strip, mine);
}

}  // namespace

size_t narrow_rows_bytes(int64_t width) { return std::max(Squares::bytes(width), StripShared::bytes(width)); }

void search_narrow_rows(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    if (layout.output.nearest) search_near_nearest(plan, layout, stream);
    NearOutput target = target_of(layout.output);
    // With a higher limit every pixel that is searched outward has a site within it.
    if (target.limit < NARROW_REACH * NARROW_REACH) target.format.limited = true;
    with_form_or_signed(target.format, layout.output, [&](auto form, auto with_nearest) {
        launch(plan.rows, search_narrow_rows<form, with_nearest>, early(stream), layout, target);
    });
}

}  // namespace apsis::cuda::plane
