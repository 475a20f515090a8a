// Segmented rows: the lower envelope (envelope.cu) where rows are cut: they are wider, or their costs larger, than one block
// can hold (plan.cu).
//
// A block takes a segment of a band and a window of its strip's candidates.  The window goes from the first column nearest to
// the segment's first pixel to the last column nearest to the next segment's first pixel, or to the row's last pixel.  Columns
// outside it are nearest to no pixel between, since the nearest column never moves left as x moves right.  Such brackets of
// segments are found before, each by a warp that tries groups of 32 columns outward, the best first.  A group is skipped if its
// least distances above and below the strip and its distance along the row make it too far.
//
// If a window has more candidates than a block holds, as in the middle of a large disc, the block halves its pixels and finds
// the bracket between them.  A pixel with too many candidates of its own, such as a circle's centre, is searched alone.
//
// Cost: that of envelope.cu, but 12 bytes a candidate and band instead of 8.  Where costs do not fit 32 bits, each candidate of
// a tile is tried once more.
#include "cuda/distance/plane/envelope_tiles.cuh"
#include "cuda/distance/plane/layout.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::plane {

namespace {

constexpr int SIDE = WARP / 2;  // groups of columns on either side of a bracket that a warp takes in a turn

/// Where a band is.
struct BandPlace {
    int64_t image, strip, y;
    int bit;  // of its first row in the strip's words

    __device__ BandPlace(const Layout &layout, int64_t line)
        : image(line / layout.bands()),
          strip(line % layout.bands() * BAND / STRIP),
          y(line % layout.bands() * BAND),
          bit(static_cast<int>(y % STRIP)) {}
};

// ---- Brackets of segments ----

/// The least costs that a lane has found for the pixels of a band at one x, and the first and the last column of that cost.
struct LeastCosts {
    uint64_t cost[BAND];
    int32_t low[BAND], high[BAND];

    __device__ LeastCosts() {
#pragma unroll
        for (int r = 0; r < BAND; ++r) cost[r] = NO_COST<int64_t>, low[r] = INT32_MAX, high[r] = 0;
    }
    __device__ void take(int r, uint64_t other, int32_t from, int32_t to) {
        if (other < cost[r]) cost[r] = other, low[r] = from, high[r] = to;
        if (other == cost[r]) low[r] = min(low[r], from), high[r] = max(high[r], to);
    }
    /// Warp: the greatest of the pixels' least costs, rounded up, as the bits of a float.  The bits of floats that are not
    /// negative have the order of the floats.
    __device__ uint32_t worst() const {
        uint32_t most = 0;
#pragma unroll
        for (int r = 0; r < BAND; ++r) most = max(most, least_of_warp(__float_as_uint(__ull2float_ru(cost[r]))));
        return most;
    }
    /// Warp: the columns from the first to the last that are nearest to any of the pixels.
    __device__ int2 columns() {
        int2 all = {INT32_MAX, 0};
#pragma unroll
        for (int r = 0; r < BAND; ++r) {
#pragma unroll
            for (int step = WARP / 2; step > 0; step /= 2)
                take(r, __shfl_xor_sync(ALL_LANES, cost[r], step), __shfl_xor_sync(ALL_LANES, low[r], step),
                     __shfl_xor_sync(ALL_LANES, high[r], step));
            all.x = min(all.x, low[r]), all.y = max(all.y, high[r]);
        }
        return all;
    }
};

constexpr uint32_t TOO_FAR = ~0u;
/// A lower bound of the costs of a group of columns, `gap` columns away, for the pixels of a band, as the bits of a float;
/// TOO_FAR if the group has no sites.
__device__ uint32_t bound_of(const GroupBounds &bounds, int bit, int64_t gap) {
    if (bounds.above == GroupBounds::NONE && bounds.below == GroupBounds::NONE) return TOO_FAR;
    const int32_t up = static_cast<int32_t>(bounds.above) - STRIP + bit;
    const int32_t down = static_cast<int32_t>(bounds.below) - bit - (BAND - 1);
    const int64_t way = max(min(up, down), 0);
    return __float_as_uint(__ull2float_rd(static_cast<uint64_t>(way * way + gap * gap)));
}

/// Warp: finds the columns from the first to the last that are nearest to pixel x in any row of a band.
__device__ int2 find_segment_bracket(const Layout &layout, const BandPlace &place, int32_t x) {
    const Columns &columns = layout.columns;
    const GroupBounds *const group_bounds = layout.group_bounds_of(place.image, place.strip);
    const StripColumns<> strip(columns, place.image, place.strip);
    const int32_t groups = static_cast<int32_t>(layout.groups()), own = x / GROUP,
                  start = static_cast<int32_t>(place.strip * STRIP);
    const int lane = threadIdx.x % WARP;
    LeastCosts least_costs;
    uint32_t worst = __float_as_uint(INFINITY);
    for (int32_t turn = 0;; turn += SIDE) {
        const int32_t group = lane < SIDE ? own - 1 - turn - lane : own + turn + lane - SIDE;
        const int64_t gap = max(max(group * GROUP - x, x - (group * GROUP + GROUP - 1)), 0);
        const bool within = group >= 0 && group < groups && __float_as_uint(__ull2float_rd(gap * gap)) <= worst;
        if (!__any_sync(ALL_LANES, within)) break;
        uint32_t bound = within ? bound_of(group_bounds[group], place.bit, gap) : TOO_FAR;
        for (;;) {
            const uint32_t least = least_of_warp(bound);
            if (least > worst) break;
            const int next = lowest_bit(__ballot_sync(ALL_LANES, bound == least));
            if (lane == next) bound = TOO_FAR;
            const int32_t column = __shfl_sync(ALL_LANES, group, next) * GROUP + lane;
            if (column < columns.count) {
                const int64_t d = column - x;
                const Sites sites = strip.at(column);
                if (sites.any()) {
                    const uint32_t distances =
                        measure_column(CarryDistances(sites, start, GroupBounds::NONE), sites.word, place.bit);
#pragma unroll
                    for (int r = 0; r < BAND; ++r) {
                        const int64_t down = unpack(distances, r);
                        least_costs.take(r, static_cast<uint64_t>(down * down + d * d), column, column);
                    }
                }
            }
            worst = least_costs.worst();
        }
    }
    const int2 bracket = least_costs.columns();
    return bracket.x > bracket.y ? int2{x, x} : bracket;  // there is no site at all
}

/// A warp finds the bracket of a segment's first pixels, or of the row's last ones.
__global__ void __launch_bounds__(BLOCK) find_segment_brackets(Layout layout, int64_t bands) {
    const int64_t per_band = layout.count_segment_brackets(), item = int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP;
    if (item >= bands * per_band) return;
    const int64_t line = layout.band_at(item / per_band), number = item % per_band;
    const BandPlace place(layout, line);
    if (!layout.is_far(place.image, place.strip)) {
        if (!layout.has_marks(place.image, place.strip)) return;
        const int64_t first = max(number - 1, int64_t(0)) * (SEGMENT / PATCH);
        const int64_t end = min((number + 1) * (SEGMENT / PATCH), layout.patches());
        const uint32_t *const marks = reinterpret_cast<const uint32_t *>(layout.marks_of(place.image, place.y / BAND, 0));
        bool marked = false;
        for (int64_t p = first + threadIdx.x % WARP; p < end; p += WARP) marked = marked || marks[p];
        if (!__any_sync(ALL_LANES, marked)) return;
    }
    const int2 bracket =
        find_segment_bracket(layout, place, static_cast<int32_t>(min(number * SEGMENT, layout.columns.count - 1)));
    if (threadIdx.x % WARP == 0) layout.segment_brackets_of(place.image, place.y / BAND)[number] = bracket;
}

// ---- Segments ----

/// The candidates of a strip from column `low` to column `high`, and the others of their two groups.  They are parts of the
/// lists of segments `first` to `last`.
struct CandidateWindow {
    int32_t first, last;  // segments
    int32_t from, to;     // where they begin in the first segment's list, and end in the last one's
    int32_t count;

    __device__ CandidateWindow(const Layout &layout, const BandPlace &place, int32_t low, int32_t high)
        : first(low / SEGMENT),
          last(high / SEGMENT),
          count(0) {
        const uint16_t *const places = layout.places_of(place.image, place.strip);
        const uint32_t *const counts = layout.summaries_of(place.image, place.strip);
        const int32_t after = high / GROUP + 1;
        const bool to_end = after % (SEGMENT / GROUP) == 0 || after >= layout.groups();
        from = places[low / GROUP];
        to = to_end ? static_cast<int32_t>(counts[last]) : places[after];
        for (int32_t s = first; s <= last; ++s) count += end_of(counts, s) - begin_of(s);
    }
    __device__ int32_t begin_of(int32_t segment) const { return segment == first ? from : 0; }
    __device__ int32_t end_of(const uint32_t *counts, int32_t segment) const {
        return segment == last ? to : static_cast<int32_t>(counts[segment]);
    }
    /// Block: calls take(i, column) for every candidate, the i-th one, each in one thread.
    template <class Take>
    __device__ void each(const Layout &layout, const BandPlace &place, Take take) const {
        const uint32_t *const counts = layout.summaries_of(place.image, place.strip);
        int32_t before = 0;
        for (int32_t s = first; s <= last; ++s) {
            const uint16_t *const list = layout.candidates_of(place.image, place.strip) + int64_t(s) * SEGMENT;
            const int32_t begin = begin_of(s), end = end_of(counts, s);
#pragma unroll 4
            for (int32_t i = begin + static_cast<int32_t>(threadIdx.x); i < end; i += static_cast<int32_t>(blockDim.x))
                take(before + i - begin, s * SEGMENT + __ldg(list + i));
            before += end - begin;
        }
    }
};

/// Block: lays a piece of a segment, and its window, in shared memory.  `wide_costs` becomes true if costs of this thread's
/// candidates may not fit 32 bits.
__device__ PieceBand load_piece(uint32_t *shared, bool &wide_costs, const Layout &layout, const BandPlace &place,
                                const CandidateWindow &window, int32_t x, int32_t end) {
    const Columns &columns = layout.columns;
    const StripColumns<> strip(columns, place.image, place.strip);
    const int32_t start = static_cast<int32_t>(place.strip * STRIP);
    PieceBand band = {};
    band.length = end - x;
    band.tiles = (band.length + TILE - 1) / TILE;
    band.origin = x;
    band.wide_slack = layout.slack;
    band.count = window.count;
    band.lows = shared;
    band.highs = band.lows + band.tiles;
    band.distances = band.highs + band.tiles;
    band.columns = band.distances + window.count;
    window.each(layout, place, [&](int32_t i, int32_t column) {
        const Sites sites = strip.at(column);
        const uint32_t distances = measure_column(CarryDistances(sites, start, GroupBounds::NONE), sites.word, place.bit);
        band.columns[i] = static_cast<uint32_t>(column);
        band.distances[i] = distances;
        wide_costs = wide_costs || !costs_fit_32_bits(unpack(distances, 0), max(end + TILE - column, column - x));
    });
    return band;
}

/// The least cost, and the least index at that cost.
struct CostAndIndex {
    uint64_t cost, index;

    __device__ void take(const CostAndIndex &other) {
        if (other.cost < cost || (other.cost == cost && other.index < index)) *this = other;
    }
};

/// Block: finds and writes a pixel.  It tries all candidates of a window, and the pixel's own column.
__device__ void search_pixel(const Layout &layout, const BandPlace &place, const CandidateWindow &window, int32_t x, int r) {
    __shared__ CostAndIndex found[THREADS / WARP];
    const Columns &columns = layout.columns;
    const StripColumns<> strip(columns, place.image, place.strip);
    const int32_t start = static_cast<int32_t>(place.strip * STRIP), y = static_cast<int32_t>(place.y) + r;
    CostAndIndex best = {NO_COST<int64_t>, 0};
    const auto take = [&](int32_t, int32_t column) {
        const int64_t d = column - x;
        const Sites sites = strip.at(column);
        const int32_t row = nearest_in_column(sites.word, sites.before, sites.after, start, y);
        if (row == NO_SITE_BEFORE) return;
        const int64_t down = row - y;
        best.take({static_cast<uint64_t>(d * d + down * down),
                   static_cast<uint64_t>((columns.start + row) * columns.count + column)});
    };
    window.each(layout, place, take);
    if (threadIdx.x == 0) take(0, x);
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2)
        best.take({__shfl_xor_sync(ALL_LANES, best.cost, step), __shfl_xor_sync(ALL_LANES, best.index, step)});
    if (threadIdx.x % WARP == 0) found[threadIdx.x / WARP] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < blockDim.x / WARP; ++w) best.take(found[w]);
        const int64_t slice = layout.slice_of(place.image), before = slice * columns.length * columns.count;
        write_pixel(layout.output_of(place.image), x, y, slice, static_cast<int64_t>(best.cost), true,
                    before + static_cast<int64_t>(best.index));
    }
    __syncthreads();
}

/// A block takes a segment of a band, in pieces whose windows have no more than `most_candidates`.
template <Form FORM, bool NEAREST>
__global__ void __launch_bounds__(THREADS, 2) search_pieces(Layout layout, OutputFormat format, int32_t most_candidates) {
    extern __shared__ __align__(16) uint32_t shared[];
    __shared__ int2 bracket;
    const int64_t segments = layout.segments(), segment = blockIdx.x % segments;
    const BandPlace place(layout, layout.band_at(blockIdx.x / segments));
    const int32_t count = static_cast<int32_t>(layout.columns.count), first = static_cast<int32_t>(segment * SEGMENT);
    const int32_t end = min(first + SEGMENT, count);
    const uint32_t *const marks = reinterpret_cast<const uint32_t *>(layout.marks_of(place.image, place.y / BAND, 0));
    const bool far = layout.is_far(place.image, place.strip);
    if (!far) {
        if (!layout.has_marks(place.image, place.strip)) return;
        bool marked = false;
        for (int32_t p = first / PATCH + static_cast<int32_t>(threadIdx.x); p * PATCH < end;
             p += static_cast<int32_t>(blockDim.x))
            marked = marked || marks[p];
        if (!__syncthreads_or(marked)) return;
    }
    const int2 *const segment_brackets =
        segments > 1 ? layout.segment_brackets_of(place.image, place.y / BAND) + segment : nullptr;
    const int32_t low_end = segment_brackets ? segment_brackets[0].x : 0,
                  high_end = segment_brackets ? segment_brackets[1].y : count - 1;
    const uint8_t *const interior = layout.interior_of(place.image, place.strip);
    const uint8_t *const all_site_bands = layout.all_site_bands_of(place.image, place.strip);
    int32_t low = low_end;
    for (int32_t x = first; x < end;) {
        int32_t stop = end, high = high_end, low_on = low;
        CandidateWindow window(layout, place, low, high);
        while (window.count > most_candidates && stop - x > TILE) {
            stop = x + (stop - x + 2 * TILE - 1) / (2 * TILE) * TILE;
            if (threadIdx.x < WARP) {
                const int2 found = find_segment_bracket(layout, place, stop);
                if (threadIdx.x == 0) bracket = found;
            }
            __syncthreads();
            low_on = bracket.x, high = bracket.y;
            __syncthreads();
            window = CandidateWindow(layout, place, low, high);
        }
        const auto wanted = [&](int32_t t, int = 0) { return far ? ~0u : marks[(x + t * TILE) / PATCH]; };
        if (window.count > most_candidates) {
            for (int32_t at = x; at < stop; ++at)
                for (int r = 0; r < BAND && place.y + r < layout.columns.length; ++r)
                    if (wanted(0) >> 8 * r & 0xff) search_pixel(layout, place, window, at, r);
        } else {
            bool wide_costs = false;
            PieceBand band = load_piece(shared, wide_costs, layout, place, window, x, stop);
            wide_costs = __syncthreads_or(wide_costs || band.count == 0);
            find_brackets(band);
            finish_tiles<FORM, NEAREST>(layout, format, band, interior + x / TILE, all_site_bands + x / TILE, place.image,
                                        place.y, wanted, wide_costs);
            __syncthreads();
        }
        x = stop, low = low_on;
    }
}

}  // namespace

/// What a block lays in shared memory: the tiles of a segment, and candidates (load_piece).
size_t segment_bytes(int64_t width, int64_t candidates) {
    return static_cast<size_t>((ceil_div(width, TILE) + candidates) * 8);
}

void search_segmented_rows(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    launch(plan.brackets, find_segment_brackets, stream, layout, layout.count_bands());
    const OutputFormat format(layout.output);
    with_form(format, layout.output, [&](auto form, auto with_nearest) {
        launch(plan.rows, search_pieces<SHARED_FORM<form, with_nearest>, with_nearest>, stream, layout, format,
               plan.most_candidates);
    });
}

}  // namespace apsis::cuda::plane
