// Tiles of the lower envelope: 8 pixels of each of a band's four rows.  A thread holds a tile in registers and tries the
// candidates of its bracket on it: the last part of envelope.cu, which describes the whole.
#pragma once

#include "cuda/distance/plane/envelope_brackets.cuh"
#include "cuda/distance/plane/envelope_keys.cuh"
#include "cuda/distance/plane/layout.h"
#include "cuda/distance/plane/store.h"

namespace apsis::cuda::plane {

constexpr int PATCH_TILES = PATCH / TILE;
static_assert(TILE == 8, "a byte of Layout::interior a tile");
// Added to costs, so that they fit signed numbers, of which sm_90 finds the least of three in one instruction.  The 64 are
// there because a cost without the square of a pixel's place in the tile may be below 0.
constexpr uint32_t BIAS = 0x80000000u + 64;
constexpr int32_t UNKNOWN = INT32_MAX;
constexpr uint32_t NOTHING = ~0u;
constexpr uint32_t NO_INDEX = INT32_MAX;  // above every index of an image whose rows are not cut
static_assert(WIDEST_ROW * LONGEST_COLUMN < NO_INDEX);
// Costs that may not fit 32 bits, WIDE_COST, are counted from the bracket's least cost for the tile's first pixel.  A candidate
// that is nearest to another pixel, 7.6 away at most, costs the first one no more than 31 distances above that, and distances
// are below 2^23.  A candidate that costs the first pixel more is nearest to none.
constexpr uint32_t MOST_ABOVE = 1u << 29;
static_assert(LONGEST <= 1 << 22);

/// The type of costs, wide ones or not, and of indices, which are long in an image whose rows are cut.
template <bool LONG>
using Whole = std::conditional_t<LONG, uint64_t, uint32_t>;

/// Whether the costs of so many rows, with BAND more, and so many columns fit 32 bits together with BIAS.
__device__ inline bool costs_fit_32_bits(int32_t rows, int32_t columns) {
    constexpr float MOST = 4.2e9f;  // off by some 1000 at most
    const float down = static_cast<float>(rows + BAND), along = static_cast<float>(columns);
    return fmaf(down, down, along * along) < MOST;
}

/// The cost of a candidate for the first pixel of a tile that begins at x.
template <class Band>
__device__ uint64_t cost_at_first(const Band &band, int32_t position, int32_t x) {
    const int32_t down = unpack(band.distances[position], 0), d = x - static_cast<int32_t>(band.columns[position]);
    return static_cast<uint64_t>(int64_t(down) * down + int64_t(d) * d);
}

/// Calls at(r), with a constant, so that what it reads may be in registers.
template <class At>
__device__ auto select_row(int r, At at) {
    auto chosen = at(0);
#pragma unroll
    for (int row = 1; row < BAND; ++row)
        if (r == row) chosen = at(row);
    return chosen;
}

/// The costs of a candidate for the pixels of a tile that begins at x: less `least` if WIDE_COST, else with BIAS, and without
/// the square of a pixel's place in the tile, (x + k - c)^2 = (x - c)^2 + 2 (x - c) k + k^2.
template <bool WIDE_COST>
struct CandidateCosts {
    int32_t first[BAND], slope;
    int32_t column;
    uint32_t word;

    template <class Band>
    __device__ CandidateCosts(const Band &band, int32_t position, int32_t x, uint64_t least)
        : column(static_cast<int32_t>(band.columns[position])),
          word(band.distances[position]) {
        const int32_t d = x - column;
        slope = 2 * d;
        if constexpr (WIDE_COST) {
            const uint64_t above = cost_at_first(band, position, x) - least;
            first[0] = static_cast<int32_t>(min(above, uint64_t(MOST_ABOVE)));
            const int32_t down = unpack(word, 0);
#pragma unroll
            for (int r = 1; r < BAND; ++r) first[r] = first[0] + (unpack(word, r) - down) * (unpack(word, r) + down);
        } else {
            const uint32_t base = static_cast<uint32_t>(d * d) + BIAS;
#pragma unroll
            for (int r = 0; r < BAND; ++r) {
                const uint32_t down = static_cast<uint32_t>(unpack(word, r));
                first[r] = static_cast<int32_t>(down * down + base);
            }
        }
    }
    __device__ int32_t cost(int r, int k) const { return first[r] + k * slope; }
    /// The costs in a row without those of the pixels' places.
    __device__ int32_t first_of(int r) const {
        return select_row(r, [&](int row) { return first[row]; });
    }
};

/// The least costs of a tile's pixels.
struct TileCosts {
    int32_t cost[BAND][TILE];

    /// Tries two candidates: the least of three numbers is one instruction.
    template <class Costs>
    __device__ void take(const Costs &one, const Costs &other) {
#pragma unroll
        for (int k = 0; k < TILE; ++k)
#pragma unroll
            for (int r = 0; r < BAND; ++r) cost[r][k] = __vimin3_s32(one.cost(r, k), other.cost(r, k), cost[r][k]);
    }
    __device__ void begin_without() {
#pragma unroll
        for (auto &row : cost)
#pragma unroll
            for (int32_t &c : row) c = UNKNOWN;
    }
    /// Tries the first two.
    template <class Costs>
    __device__ void begin(const Costs &one, const Costs &other) {
#pragma unroll
        for (int k = 0; k < TILE; ++k)
#pragma unroll
            for (int r = 0; r < BAND; ++r) cost[r][k] = min(one.cost(r, k), other.cost(r, k));
    }
    /// Tries candidate(position) for a whole bracket, an odd last one twice.
    template <class Make>
    __device__ void take_all(int2 bracket, Make candidate) {
        begin(candidate(bracket.x), candidate(min(bracket.x + 1, bracket.y)));
        for (int32_t p = bracket.x + 2; p <= bracket.y; p += 2) take(candidate(p), candidate(min(p + 1, bracket.y)));
    }
    /// Takes BIAS from the costs, and adds the squares of the pixels' places, which they lack.  Costs of columns that are
    /// bits of `sites` become 0.
    __device__ void settle(uint32_t sites) {
#pragma unroll
        for (int k = 0; k < TILE; ++k)
#pragma unroll
            for (int r = 0; r < BAND; ++r) cost[r][k] += k * k - BIAS;
        if (!sites) return;
#pragma unroll
        for (int k = 0; k < TILE; ++k)
#pragma unroll
            for (int r = 0; r < BAND; ++r) cost[r][k] = sites >> k & 1 ? 0 : cost[r][k];
    }
    /// The bits that any cost has.
    __device__ uint32_t bits() const {
        uint32_t bits = 0;
#pragma unroll
        for (const auto &row : cost)
#pragma unroll
            for (const int32_t c : row) bits |= static_cast<uint32_t>(c);
        return bits;
    }
};

/// The lowest index in the image of the sites that are nearest to a column's pixel in row y.
template <class Index>
__device__ Index site_of(const Columns &columns, int64_t image, int64_t y, int32_t column) {
    const Sites sites = StripColumns<>(columns, image, y / STRIP).at(column);
    const int32_t row = nearest_in_column(sites.word, sites.before, sites.after, static_cast<int32_t>(y / STRIP * STRIP),
                                          static_cast<int32_t>(y));
    return static_cast<Index>(columns.start + row) * static_cast<Index>(columns.count) + column;
}

/// Tries a candidate for the lowest indices in the image of the sites that cost the pixels of a tile's row their least.
template <bool WIDE_COST, class Index>
__device__ void find_sites(const Layout &layout, const CandidateCosts<WIDE_COST> &candidate, int r,
                           const int32_t (&least)[TILE], int64_t y, Index (&found)[TILE]) {
    const Columns &columns = layout.columns;
    const Index site =
        static_cast<Index>(columns.start + y + way_to_site(candidate.word, r)) * static_cast<Index>(columns.count) +
        static_cast<Index>(candidate.column);
    const int32_t first = candidate.first_of(r);
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        if constexpr (sizeof(Index) == sizeof(uint32_t)) {
            // A candidate that costs more gets an index above all others.  Multiplications and minima go through different
            // pipes; comparing and choosing would go through one of them three times.
            const uint32_t is_more =
                __viaddmin_u32(static_cast<uint32_t>(least[k]), -static_cast<uint32_t>(first + k * candidate.slope), 1);
            found[k] = min(found[k], is_more * NO_INDEX + site);
        } else {
            if (first + k * candidate.slope == least[k]) found[k] = min(found[k], site);
        }
    }
}

/// The positions of a tile's candidates, from the first to the last; if there are none, the last is before the first.
template <class Band>
__device__ int2 bracket_of(const Band &band, int32_t t) {
    if (band.count == 0) return {0, -1};
    return {static_cast<int32_t>(band.lows[t] & 0xffff), static_cast<int32_t>(band.lows[t] >> 16)};
}

/// Writes a row of one tile, without other lanes.
template <Form FORM, bool NEAREST, RowStart START = RowStart::ANY, class Cost, class Index>
__device__ void write_row(const Layout &layout, const OutputFormat &format, Cost (&cost)[TILE], bool is_known,
                          Index (&found)[TILE], int64_t image, int64_t y, int32_t x) {
    const int32_t length = static_cast<int32_t>(layout.columns.count);
    const int64_t z = FORM == Form::OTHER || FORM == Form::SIGNED ? layout.slice_of(image) : image;
    if (FORM == Form::MASK || (FORM == Form::OTHER && format.is_mask))
        return write_mask(layout.output, x, y, z, cost, is_known, length - x);
    const int64_t before = z * layout.columns.length * layout.columns.count;  // pixels of other slices
    Cost bits = 0;
#pragma unroll
    for (int k = 0; k < TILE; ++k) bits |= cost[k];
    if ((FORM == Form::OTHER && !format.serves) || bits > NOTHING) {
        write_pixels(layout.output_of(image), x, y, z, min(x + TILE, length), cost, is_known, found, before);
        return;
    }
    uint32_t square[TILE];
    int32_t site[TILE];
#pragma unroll
    for (int k = 0; k < TILE; ++k)
        square[k] = static_cast<uint32_t>(cost[k]), site[k] = static_cast<int32_t>(before + found[k]);
    const auto write = [&](auto root) {
        const int count = min(length - x, TILE);
        if constexpr (IS_PLAIN<FORM>)
            write_plain<FORM, NEAREST>(layout.output, format, x, y, z, square, site, root, StoreAlone<START>{count});
        else if constexpr (FORM != Form::MASK)
            write_side<FORM, NEAREST>(layout.output_of(image), format, x, y, z, square, site, root, StoreAlone<>{count});
    };
    if (bits < 1u << 24) {
        write([](uint32_t number) { return small_root(static_cast<float>(number)); });
    } else {
        write([](uint32_t number) { return large_root(number); });
    }
}

/// Warp: writes a row of the tiles of all lanes together, of an unsigned map.
template <Form FORM, bool NEAREST, class Store>
__device__ void write_rows(const Layout &layout, const OutputFormat &format, const Store &store, const uint32_t (&cost)[TILE],
                           const uint32_t (&found)[TILE], int64_t image, int64_t y, int r) {
    uint32_t number[TILE], bits = 0;
#pragma unroll
    for (int k = 0; k < TILE; ++k) bits |= cost[k];
    if (!NEAREST || layout.output.distance) {
        if (!store.wants(r) || bits < 1u << 24)
            to_numbers<FORM>(format, cost, number, [](uint32_t one) { return small_root(static_cast<float>(one)); });
        else
            to_numbers<FORM>(format, cost, number, [](uint32_t one) { return large_root(one); });
        store(layout.output.distance.row(y + r, image), number, r);
    }
    if constexpr (NEAREST) {
        const int64_t before = image * layout.columns.length * layout.columns.count;  // pixels of other slices
        int32_t site[TILE];
#pragma unroll
        for (int k = 0; k < TILE; ++k) site[k] = static_cast<int32_t>(before + found[k]);
        to_indices(format, cost, site, number);
        store(layout.output.nearest.row(y + r, image), number, r);
    }
}

/// Warp: writes the tiles of all lanes together in the common case: all pixels are wanted, rows are aligned, costs are below
/// 2^24 and not limited.  This has no branches, so that the latencies of the rows' roots overlap: 100 slices of 2048^2 with
/// blobs take 5 % less.
template <Form FORM>
__device__ void write_tiles(const Output &output, const StorePairs &store, const TileCosts &tile, int64_t image, int64_t y) {
#pragma unroll
    for (int r = 0; r < BAND; ++r) {
        uint32_t number[TILE];
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const uint32_t cost = static_cast<uint32_t>(tile.cost[r][k]);
            number[k] = FORM == Form::ROOTS ? __float_as_uint(small_root(static_cast<float>(cost))) : cost;
        }
        store.store_whole(output.distance.row(y + r, image), number);
    }
}

/// Finds and writes a tile.  `marks` has a byte for each row, not 0 if it is wanted.  `interior` has a bit for each column that
/// is no candidate because it lies inside an area of sites.  With TOGETHER a warp calls it, all lanes.
template <Form FORM, bool NEAREST, bool WIDE_COST, RowStart START = RowStart::ANY, bool TOGETHER = false, class Band>
__device__ void finish_tile(const Layout &layout, const OutputFormat &format, const Band &band, uint32_t marks,
                            uint32_t interior, int64_t image, int64_t y, int32_t t) {
    constexpr bool BY_KEYS = TOGETHER && NEAREST && !WIDE_COST;
    constexpr bool SHARED = TOGETHER && !WIDE_COST && IS_PLAIN<FORM>;  // lanes store for each other
    constexpr bool IN_PAIRS = SHARED && START == RowStart::ALIGNED;
    const int64_t row = layout.columns.start + y;  // of the image
    const int32_t x = band.origin + t * TILE;
    const bool is_interior = interior == (1u << TILE) - 1;
    int2 bracket = bracket_of(band, t);
    if (is_interior) bracket.y = min(bracket.x, bracket.y);  // no other candidate is needed
    uint64_t least = ~uint64_t(0);
    if constexpr (WIDE_COST)
        for (int32_t p = bracket.x; p <= bracket.y; ++p) least = min(least, cost_at_first(band, p, x));
    const auto candidate = [&](int32_t position) { return CandidateCosts<WIDE_COST>(band, position, x, least); };
    SiteKeys keys;
    if constexpr (BY_KEYS) keys = SiteKeys(band, bracket, x);
    TileCosts tile;
    if (keys.fit)
        tile.take_all(bracket, [&](int32_t position) { return keys.candidate(band, position); });
    else if (band.count > 0)
        tile.take_all(bracket, candidate);
    else
        tile.begin_without();
    uint32_t wanted = 0;  // a bit a row
#pragma unroll
    for (int r = 0; r < BAND; ++r) wanted |= (y + r < layout.columns.length && (marks >> 8 * r & 0xff) ? 1u : 0u) << r;
    const auto store = [&] {
        using Store = std::conditional_t<IN_PAIRS, StorePairs, StoreAcross>;
        if constexpr (SHARED)
            return Store(x, min(static_cast<int32_t>(layout.columns.count) - x, TILE), wanted);
        else
            return nullptr;
    }();
    constexpr bool IS_SETTLED = IN_PAIRS && !NEAREST;
    if constexpr (IS_SETTLED) {
        tile.settle(interior);
        const bool plain = store.are_whole(BAND) && !format.limited && tile.bits() < 1u << 24;
        if (__all_sync(ALL_LANES, plain)) return write_tiles<FORM>(layout.output, store, tile, image, y);
    }
    // Where that is rare, rows share their code: it is long, and took a third of the compiler's time.
#pragma unroll(WIDE_COST || FORM == Form::OTHER ? 1 : BAND)
    for (int r = 0; r < BAND; ++r) {
        if (!(SHARED ? __any_sync(ALL_LANES, wanted >> r & 1) : wanted >> r & 1)) continue;
        Whole<Band::IS_PIECE> found[TILE];
        Whole<WIDE_COST> cost[TILE];
        const bool is_known = band.count > 0 || is_interior;
        int32_t least_costs[TILE];
#pragma unroll
        for (int k = 0; k < TILE; ++k) least_costs[k] = select_row(r, [&](int other) { return tile.cost[other][k]; });
        if (keys.fit) {
            keys.decode(band, least_costs, row + r, layout.columns.count, cost, found);
        } else {
#pragma unroll
            for (auto &site : found) site = ~Whole<Band::IS_PIECE>(0);
            if (NEAREST)
                for (int32_t p = bracket.x; p <= bracket.y; ++p) find_sites(layout, candidate(p), r, least_costs, y + r, found);
#pragma unroll
            for (int k = 0; k < TILE; ++k) {
                // Without a site the cost is beyond every limit.
                if constexpr (WIDE_COST)
                    cost[k] = is_known ? least + static_cast<int64_t>(least_costs[k] + k * k) : uint64_t(NO_COST<int64_t>);
                else
                    cost[k] = static_cast<uint32_t>(least_costs[k]) + (IS_SETTLED ? 0 : k * k - BIAS);
            }
        }
        if (!IS_SETTLED && interior) {
            const auto own =
                static_cast<Whole<Band::IS_PIECE>>(row + r) * static_cast<Whole<Band::IS_PIECE>>(layout.columns.count) + x;
#pragma unroll
            for (int k = 0; k < TILE; ++k)
                if (interior >> k & 1) cost[k] = 0, found[k] = own + k;
        }
        if constexpr (SHARED)
            write_rows<FORM, NEAREST>(layout, format, store, cost, found, image, y, r);
        else
            write_row<FORM, NEAREST, START>(layout, format, cost, is_known, found, image, y + r, x);
    }
}

/// Block: finds and writes those tiles of a band with brackets that are `wanted`, as their marks say, in either half.  Tiles of
/// a signed map in which all pixels are sites are left to the other side.
template <Form FORM, bool NEAREST, RowStart START = RowStart::ANY, class Band, class Wanted>
__device__ void finish_tiles(const Layout &layout, const OutputFormat &format, const Band &band, const uint8_t *interior,
                             const uint8_t *all_site_bands, int64_t image, int64_t y, Wanted wanted, bool wide_costs = false) {
    // With TOGETHER lanes write whole sectors, and all find nearest sites by keys or none does.  For distances alone, in
    // aligned rows so wide that a block takes one band, and images far larger than the second cache, that was faster on text
    // and slower on blobs and discs; with nearest sites it was faster on all.
    constexpr bool ACROSS = START == RowStart::ACROSS;
    constexpr bool TOGETHER = Band::HALVES > 1 || ACROSS || (NEAREST && !Band::IS_PIECE && IS_PLAIN<FORM>);
    __shared__ int32_t next;  // the next 32 tiles that a warp takes
    if (threadIdx.x == 0) next = 0;
    const bool is_signed = layout.output.is_signed;
    const int32_t first = static_cast<int32_t>(y % STRIP / BAND);
    const uint32_t bands = ((1u << Band::HALVES) - 1) << first;
    const auto is_of_other_side = [&](int32_t t) {
        return is_signed && all_site_bands && (all_site_bands[t] & bands) == bands;
    };
    const int32_t total = order_tiles<ACROSS>(band, [&](int32_t t) {
        uint32_t any = 0;
#pragma unroll
        for (int h = 0; h < Band::HALVES; ++h) any |= wanted(t, h);
        return any && !is_of_other_side(t);
    });
    const int32_t lane = threadIdx.x % WARP;
    for (int32_t turn;;) {
        if (lane == 0) turn = atomicAdd(&next, 1);
        turn = __shfl_sync(ALL_LANES, turn, 0);
        const int32_t i = turn / Band::HALVES * WARP + lane, half = turn % Band::HALVES;
        if (i - lane >= total) break;
        if (!TOGETHER && i >= total) continue;
        const int32_t t = band.order()[min(i, total - 1)];
        const auto finish = [&](auto is_wide) {
            finish_tile<FORM, NEAREST, is_wide, START, TOGETHER>(layout, format, band.half(half),
                                                                 i < total ? wanted(t, half) : 0, interior ? interior[t] : 0,
                                                                 image, y + half * BAND, t);
        };
        if (wide_costs)
            finish(std::true_type());
        else
            finish(std::false_type());
    }
}

/// Calls search(form, with_nearest) with the constants that a map's kernels are compiled for.
template <class Search>
void with_form(const OutputFormat &format, const Output &output, Search search) {
    with_form(format.plain(output), [&](auto form) {
        if (output.nearest)
            search(form, std::true_type());
        else
            search(form, std::false_type());
    });
}

/// The same, also for the floats of a signed map.
template <class Search>
void with_form_or_signed(const OutputFormat &format, const Output &output, Search search) {
    if (!format.is_signed_float(output)) return with_form(format, output, search);
    const std::integral_constant<Form, Form::SIGNED> form;
    if (output.nearest)
        search(form, std::true_type());
    else
        search(form, std::false_type());
}

}  // namespace apsis::cuda::plane
