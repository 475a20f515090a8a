// The monotone argmin along the lines of a volume where sites are far.
//
// A block takes a bundle of lines that lie side by side, lays their costs in shared memory, and finds what costs least
// for every eighth voxel: the best candidate never moves left as the voxel moves right (Hirata 1996), so the best of two
// voxels bracket those between them, and brackets are halved.  A voxel's own cost and those at the ends of its bracket
// tell how far it need look.  While voxels are few, several threads share one.  Then a thread holds the TILE voxels
// between two bests in registers and tries the candidates of their bracket on all of them.  Ties at the ends of a tile go
// to the left, which keeps every equal candidate of its voxels in the bracket; the nearest site is the one of lowest z,
// then y, then x.
//
// Lines side by side are much alike.  So four of them are a band, which has its brackets in common, from the leftmost of
// their bests to the rightmost: most of what a thread does, it does once for the four.  Along y these are lines of four
// planes, whose distances are counted together; along x of four rows.  What the search along y finds is stored
// transposed, so that what the search along x reads lies side by side too, and a thread writes whole sectors.
//
// Cost, of each of the two searches: log2(n) + 2 evaluations a voxel at most; along y 3 bytes a voxel through the second
// cache and 4 out, along x 4 in and the outputs out.
#include <cuda_runtime.h>

#include "launch.h"
#include "volume.h"

namespace apsis {

namespace {

constexpr int THREADS = 256;                 // of a block at most; a power of two
constexpr int RESIDENT = 3;                  // such blocks on a multiprocessor: leaves a thread 80 registers
constexpr int BAND = 4;                      // lines: of one their costs are a quad, of the planes of a strip whole bands
constexpr int AHEAD = 4;                     // candidates on their way at once
constexpr int32_t NO_SITE_OFFSET = 1 << 29;  // a column without a site is farther from every plane
constexpr uint32_t NO_PLACE = 0xffffffffu;   // stored for the nearest site where there is none
constexpr int64_t LONGEST_LINE = 65535;      // places and candidates are 16 bits
constexpr int SKIPPED_STEP = 2;              // steps up to which it pays to ask which tiles are wanted

// Bands of a bundle.  Eight quads side by side are all banks of shared memory, wherever in their lines eight threads are.
// Of longer lines fewer let several blocks share a multiprocessor; two still fill a sector of memory.
constexpr int FEW = 2, SOME = 4, MANY = 8;

/// What a candidate costs a voxel of each line of a band.
struct Costs {
    int32_t line[BAND];

    __device__ explicit Costs(int4 quad) : line{quad.x, quad.y, quad.z, quad.w} {}
};

/// The best candidates of a voxel's lines.
struct Bests {
    int32_t cost[BAND], at[BAND];
};

/// LANES bands side by side in shared memory.
template <int LANES>
struct Bundle {
    int4 *cost;       // [candidate][lane]
    int4 *rest_cost;  // [thread]: what threads that share a voxel found
    ushort4 *rest_at;
    ushort2 *best;    // [tile][lane]: the leftmost and the rightmost best of the first voxels of the tile; at the end of
                      // the voxels after the last
    uint8_t *wanted;  // [tile]: not 0 if a line wants it
    int32_t length, tiles, weight;
    float inverse;  // of the weight

    static constexpr int LANES_LOG2 = LANES == MANY ? 3 : LANES == SOME ? 2 : 1;
    static_assert(LANES == 1 << LANES_LOG2);

    static size_t bytes(int64_t length) {
        const int64_t tiles = parts(length, TILE);
        return static_cast<size_t>((length * 16 + (tiles + 1) * 4) * LANES + THREADS * 24 + tiles);
    }
    /// Threads of a block: so many as there are tiles, or as there may be.
    static unsigned threads(int64_t length) {
        unsigned count = THREADS;
        while (count > WARP && count / 2 >= parts(length, TILE) * LANES) count /= 2;
        return count;
    }
    __device__ Bundle(int4 *shared, int32_t length_, int32_t weight_)
        : cost(shared),
          length(length_),
          tiles((length_ + TILE - 1) / TILE),
          weight(weight_),
          inverse(1.0f / weight_) {
        rest_cost = cost + length * LANES;
        rest_at = reinterpret_cast<ushort4 *>(rest_cost + THREADS);
        best = reinterpret_cast<ushort2 *>(rest_at + THREADS);
        wanted = reinterpret_cast<uint8_t *>(best + (tiles + 1) * LANES);
    }
    __device__ Costs at(int32_t lane, int32_t x, int32_t c) const {
        const int32_t d = x - c, way = weight * d * d;
        const int4 quad = cost[c * LANES + lane];
        return Costs(make_int4(quad.x + way, quad.y + way, quad.z + way, quad.w + way));
    }
};

/// The leftmost best candidates in [from, to] for voxel x.
template <int LANES>
__device__ Bests search_band(const Bundle<LANES> &bundle, int32_t lane, int32_t x, int32_t from, int32_t to) {
    Bests best;
#pragma unroll
    for (int r = 0; r < BAND; ++r) best.cost[r] = INT32_MAX, best.at[r] = from;
#pragma unroll 2
    for (int32_t c = from; c <= to; ++c) {
        const Costs costs = bundle.at(lane, x, c);
#pragma unroll
        for (int r = 0; r < BAND; ++r)
            if (costs.line[r] < best.cost[r]) best.cost[r] = costs.line[r], best.at[r] = c;
    }
    return best;
}

/// The part of a bracket where voxel x may have its bests: all farther costs more than a known candidate.
template <int LANES>
__device__ void narrow(const Bundle<LANES> &bundle, int32_t lane, int32_t x, int32_t &low, int32_t &high) {
    const Costs own = bundle.at(lane, x, min(x, bundle.length - 1)), left = bundle.at(lane, x, low),
                right = bundle.at(lane, x, high);
    int32_t bound = 0;
#pragma unroll
    for (int r = 0; r < BAND; ++r) bound = max(bound, min(own.line[r], min(left.line[r], right.line[r])));
    const int32_t reach = static_cast<int32_t>(__fsqrt_ru(static_cast<float>(bound) * bundle.inverse)) + 1;
    low = max(low, x - reach);
    high = min(high, x + reach);
}

__device__ ushort2 span_of(const int32_t (&at)[BAND]) {
    return make_ushort2(static_cast<uint16_t>(min(min(at[0], at[1]), min(at[2], at[3]))),
                        static_cast<uint16_t>(max(max(at[0], at[1]), max(at[2], at[3]))));
}

/// Finds the bests of `count` tiles, first, first + stride ..., between those `step` tiles to either side.
template <int LANES>
__device__ void search_tiles(const Bundle<LANES> &bundle, int32_t first, int32_t stride, int32_t count, int32_t step) {
    const uint32_t items = count * LANES, threads = blockDim.x;
    int32_t shares_log2 = 0, padded_log2 = bundle.LANES_LOG2;  // items, a power of two for each share
    while (1u << padded_log2 < items) ++padded_log2;
    while (2u << padded_log2 + shares_log2 <= threads) ++shares_log2;
    const int32_t shares = 1 << shares_log2;
    for (uint32_t turn = threadIdx.x; turn < static_cast<uint32_t>(shares) << padded_log2; turn += threads) {
        const uint32_t share = turn >> padded_log2, item = turn & (1u << padded_log2) - 1;
        if (item >= items) continue;
        const int32_t lane = item % LANES, t = first + item / LANES * stride;
        bool needed = step > SKIPPED_STEP;  // or else if one of the tiles up to its neighbours is wanted
        for (int32_t i = max(t - step, 0); i < min(t + step, bundle.tiles) && !needed; ++i)
            needed = bundle.wanted[i];
        if (!needed) continue;
        int32_t low = bundle.best[max(t - step, 0) * LANES + lane].x;
        int32_t high = bundle.best[min(t + step, bundle.tiles) * LANES + lane].y;
        narrow(bundle, lane, t * TILE, low, high);
        if (shares == 1) {
            bundle.best[t * LANES + lane] = span_of(search_band(bundle, lane, t * TILE, low, high).at);
        } else {
            const int32_t part = ((high - low) >> shares_log2) + 1;
            const int32_t from = min(low + static_cast<int32_t>(share) * part, high);
            const Bests best = search_band(bundle, lane, t * TILE, from, min(from + part - 1, high));
            bundle.rest_cost[turn] = make_int4(best.cost[0], best.cost[1], best.cost[2], best.cost[3]);
            bundle.rest_at[turn] = make_ushort4(best.at[0], best.at[1], best.at[2], best.at[3]);
        }
    }
    __syncthreads();
    if (shares == 1) return;
    if (const uint32_t item = threadIdx.x; item < items) {
        Costs least(bundle.rest_cost[item]);
        const ushort4 start = bundle.rest_at[item];
        int32_t at[BAND] = {start.x, start.y, start.z, start.w};
        for (int32_t i = 1; i < shares; ++i) {  // the shares lie from left to right
            const uint32_t other = i << padded_log2 | item;
            const Costs costs(bundle.rest_cost[other]);
            const ushort4 there = bundle.rest_at[other];
            const int32_t places[BAND] = {there.x, there.y, there.z, there.w};
#pragma unroll
            for (int r = 0; r < BAND; ++r)
                if (costs.line[r] < least.line[r]) least.line[r] = costs.line[r], at[r] = places[r];
        }
        bundle.best[(first + item / LANES * stride) * LANES + item % LANES] = span_of(at);
    }
    __syncthreads();
}

/// Finds the bests of the first voxels of all tiles that are wanted, and of those after them.
template <int LANES>
__device__ void search_brackets(const Bundle<LANES> &bundle) {
    const uint16_t last = static_cast<uint16_t>(bundle.length - 1);
    if (const int32_t lane = threadIdx.x; lane < LANES) {
        bundle.best[lane] = make_ushort2(0, 0);
        bundle.best[bundle.tiles * LANES + lane] = make_ushort2(last, last);
    }
    __syncthreads();
    if (bundle.tiles == 1) return;
    int32_t step = 1;
    while (step * 2 < bundle.tiles) step *= 2;
    for (; step >= 1; step /= 2)
        search_tiles(bundle, step, 2 * step, (bundle.tiles - step - 1) / (2 * step) + 1, step);
    search_tiles(bundle, 0, bundle.tiles, 2, 1);
}

/// A value that the compiler keeps, rather than computes it anew for every use.
__device__ int32_t keep(int32_t value) {
    asm("" : "+r"(value));
    return value;
}

/// What a candidate costs a tile's voxels: w (x + k - c)^2 = w (x - c)^2 + w k^2 + slope k, and the second term is added
/// when all is done.
struct Candidate {
    int32_t first[BAND], slope;

    template <int LANES>
    __device__ Candidate(const Bundle<LANES> &bundle, int32_t lane, int32_t x, int32_t c) {
        const int32_t d = x - c, way = bundle.weight * d;
        const int4 cost = bundle.cost[c * LANES + lane];
        first[0] = cost.x + way * d, first[1] = cost.y + way * d, first[2] = cost.z + way * d, first[3] = cost.w + way * d;
        slope = 2 * way;
    }
    __device__ int32_t at(int r, int k) const { return first[r] + k * slope; }
};

/// The least costs of a tile's voxels.
struct Tile {
    int32_t cost[BAND][TILE];
};

/// Tries all candidates from low to high.
template <int LANES>
__device__ void find_costs(const Bundle<LANES> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high, Tile &tile) {
#pragma unroll
    for (auto &line : tile.cost)
#pragma unroll
        for (int32_t &cost : line) cost = INT32_MAX;
#pragma unroll 1
    for (int32_t c = low; c <= high; ++c) {
        const Candidate candidate(bundle, lane, x, c);
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const int32_t way = keep(k * candidate.slope);  // once for all lines
#pragma unroll
            for (int r = 0; r < BAND; ++r) tile.cost[r][k] = __viaddmin_s32(candidate.first[r], way, tile.cost[r][k]);
        }
    }
}

/// Finds which candidates the costs of a line are of; of several the one whose site is lower(a, b).
template <int LANES, class Lower>
__device__ void find_candidates(const Bundle<LANES> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high, int r,
                                const int32_t (&cost)[TILE], int32_t (&at)[TILE], Lower lower) {
#pragma unroll
    for (int32_t &a : at) a = -1;
#pragma unroll 1
    for (int32_t c = low; c <= high; ++c) {
        const Candidate candidate(bundle, lane, x, c);
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            if (candidate.at(r, k) == cost[k] && (at[k] < 0 || lower(c, at[k]))) at[k] = c;
    }
}

/// What the search along y stores: [z][x][y], up to whole tiles of y's.
__host__ __device__ int64_t pitch_of(const Volume &volume) {
    return (volume.height() + TILE - 1) / TILE * TILE;
}
__device__ int64_t stored_line(const Volume &volume, int64_t z, int64_t x) {
    return (z * volume.width() + x) * pitch_of(volume);
}

/// The lines along y, of four planes a band: their costs come from columns along z.
template <bool NEAREST>
struct AlongY {
    Volume volume;

    __host__ __device__ int64_t length() const { return volume.height(); }
    __host__ __device__ int64_t bands() const { return volume.width(); }  // side by side
    __host__ __device__ int64_t layers() const { return (volume.depth() + BAND - 1) / BAND; }
    __device__ int32_t weight() const { return volume.weight[1]; }
    __device__ bool wanted(int64_t layer, int64_t x, int32_t tile) const {
        bool any = false;
        for (int64_t z = layer * BAND; z < min(layer * BAND + BAND, volume.depth()); ++z)
            any = any || volume.need(z, int64_t(tile) * TILE, x);
        return any;
    }

    /// Where a band's candidates are, and how far apart.
    __device__ int64_t first(int64_t layer, int64_t x) const { return volume.columns.at(0, layer * BAND / STRIP, x); }
    __device__ int64_t stride() const { return volume.columns.strips() * volume.columns.count; }

    __device__ bool sees(int64_t, int64_t, int32_t) const { return true; }
    __device__ int4 costs(int64_t at, int32_t layer, int32_t) const {
        const int32_t z = layer * BAND;
        const int bit = z % STRIP;
        const uint32_t word = __ldg(volume.columns.words + at);
        const int32_t before = __ldg(volume.columns.before + at), after = __ldg(volume.columns.after + at);
        const uint32_t above = word << (STRIP - 1 - bit), below = word >> bit >> (BAND - 1);
        int32_t up[BAND], down[BAND];
        up[0] = above ? __clz(static_cast<int>(above)) : z - before;
        down[BAND - 1] = below ? lowest_bit(below) : after - z - (BAND - 1);
#pragma unroll
        for (int r = 1; r < BAND; ++r) up[r] = word >> (bit + r) & 1 ? 0 : up[r - 1] + 1;
#pragma unroll
        for (int r = BAND - 2; r >= 0; --r) down[r] = word >> (bit + r) & 1 ? 0 : down[r + 1] + 1;
        const bool any = min(up[BAND - 1], down[0]) < NO_SITE_OFFSET;
        const auto cost = [&](int r) {
            const int32_t d = min(up[r], down[r]);
            return any ? volume.weight[2] * d * d : NO_COST<int32_t>;
        };
        return make_int4(cost(0), cost(1), cost(2), cost(3));
    }
    __device__ uint32_t site(int64_t z, int64_t x, int32_t y) const {
        const int64_t at = volume.columns.at(y, z / STRIP, x);
        const int32_t found =
            nearest_in_column(__ldg(volume.columns.words + at), __ldg(volume.columns.before + at),
                              __ldg(volume.columns.after + at), static_cast<int32_t>(z / STRIP * STRIP),
                              static_cast<int32_t>(z));
        return found == NO_SITE_BEFORE ? NO_PLACE
                                       : static_cast<uint32_t>(found) << 16 | static_cast<uint32_t>(y);
    }
    /// Whether the site of candidate a is lower than that of b, which is left of it.
    __device__ bool lower(int32_t layer, int r, int32_t x, int32_t a, int32_t b) const {
        return site(layer * BAND + r, x, a) < site(layer * BAND + r, x, b);
    }
    __device__ bool inside(int32_t layer, int r, int32_t) const { return layer * BAND + r < volume.depth(); }
    __device__ void write(int32_t layer, int r, int32_t x, int32_t y, const int32_t (&cost)[TILE],
                          const int32_t (&at)[TILE]) const {
        const int64_t z = layer * BAND + r;
        const auto value = [&](int k) {
            if (!NEAREST) return static_cast<uint32_t>(cost[k]);
            return at[k] < 0 ? NO_PLACE : site(z, x, at[k]);
        };
        uint4 *const to = reinterpret_cast<uint4 *>(volume.store + stored_line(volume, z, x) + y);
        to[0] = make_uint4(value(0), value(1), value(2), value(3));
        to[1] = make_uint4(value(4), value(5), value(6), value(7));
    }
};

/// The lines along x, of four rows a band: what the search along y stored, a cost or a site in the plane of its x.
template <bool NEAREST>
struct AlongX {
    Volume volume;

    __host__ __device__ int64_t length() const { return volume.width(); }
    __host__ __device__ int64_t bands() const { return (volume.height() + BAND - 1) / BAND; }
    __host__ __device__ int64_t layers() const { return volume.depth(); }
    __device__ int32_t weight() const { return volume.weight[0]; }
    __device__ bool wanted(int64_t z, int64_t band, int32_t tile) const { return volume.mark(z, band * BAND, tile); }

    __device__ int64_t first(int64_t z, int64_t band) const { return stored_line(volume, z, 0) + band * BAND; }
    __device__ int64_t stride() const { return pitch_of(volume); }

    /// What is not needed is too far from every tile that is marked.
    __device__ bool sees(int64_t z, int64_t band, int32_t x) const { return volume.need(z, band * BAND, x); }
    __device__ int32_t cost(uint32_t stored, int32_t z, int32_t y) const {
        if (!NEAREST) return static_cast<int32_t>(stored);
        const int32_t down = static_cast<int32_t>(stored >> 16) - z,
                      along = static_cast<int32_t>(stored & 0xffff) - y;
        return stored == NO_PLACE ? NO_COST<int32_t>
                                  : volume.weight[2] * down * down + volume.weight[1] * along * along;
    }
    __device__ int4 costs(int64_t at, int32_t z, int32_t band) const {
        const uint4 stored = *reinterpret_cast<const uint4 *>(volume.store + at);
        const int32_t y = band * BAND;
        return make_int4(cost(stored.x, z, y), cost(stored.y, z, y + 1), cost(stored.z, z, y + 2), cost(stored.w, z, y + 3));
    }
    __device__ uint32_t site(int64_t z, int64_t y, int32_t x) const { return volume.store[stored_line(volume, z, x) + y]; }
    __device__ bool lower(int32_t z, int r, int32_t band, int32_t a, int32_t b) const {
        return site(z, band * BAND + r, a) < site(z, band * BAND + r, b);
    }
    __device__ bool inside(int32_t, int r, int32_t band) const { return band * BAND + r < volume.height(); }
    __device__ void write(int32_t z, int r, int32_t band, int32_t x, const int32_t (&cost)[TILE],
                          const int32_t (&at)[TILE]) const {
        const int64_t y = band * BAND + r;
        const Measure &measure = volume.output.measure;
        const auto index = [&](int k) {
            const uint32_t place = site(z, y, at[k]);
            return (int64_t(place >> 16) * volume.height() + (place & 0xffff)) * volume.width() + at[k];
        };
        int32_t bits = 0;
#pragma unroll
        for (int k = 0; k < TILE; ++k) bits |= cost[k];
        if (measure.unit == 1 && bits < 1 << 24)
            write_tile(volume, x, y, z, cost, [](int32_t c) { return small_root(static_cast<float>(c)); }, index);
        else
            write_tile(volume, x, y, z, cost, [&](int32_t c) { return measure.unit == 1 ? root_of(c) : length_of<float>(measure, c); }, index);
    }
};

/// Lays the costs of a bundle, from band `first` of a layer on, in shared memory.
template <int LANES, class Lines>
__device__ void load_bundle(const Bundle<LANES> &bundle, const Lines &lines, int32_t layer, int32_t first) {
    const int32_t lane = threadIdx.x % LANES, step = blockDim.x / LANES, last = bundle.length - 1;
    const int32_t number = min(first + lane, static_cast<int32_t>(lines.bands()) - 1);
    const int64_t begin = lines.first(layer, number), stride = lines.stride();
    for (int32_t turn = threadIdx.x / LANES; turn <= last; turn += AHEAD * step) {
        int4 costs[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            const int32_t c = min(turn + i * step, last);
            costs[i] = lines.sees(layer, number, c)
                           ? lines.costs(begin + c * stride, layer, number)
                           : make_int4(NO_COST<int32_t>, NO_COST<int32_t>, NO_COST<int32_t>, NO_COST<int32_t>);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; ++i)
            if (turn + i * step <= last) bundle.cost[(turn + i * step) * LANES + lane] = costs[i];
    }
}

/// Finds what costs least for the voxels of a tile, and hands it on.
template <bool NEAREST, int LANES, class Lines>
__device__ void finish_tile(const Bundle<LANES> &bundle, const Lines &lines, int32_t layer, int32_t first, int32_t lane,
                            int32_t t) {
    const int32_t x = t * TILE, low = bundle.best[t * LANES + lane].x, high = bundle.best[(t + 1) * LANES + lane].y;
    Tile tile;
    find_costs(bundle, lane, x, low, high, tile);
#pragma unroll
    for (int r = 0; r < BAND; ++r) {
        if (!lines.inside(layer, r, first + lane)) break;
        int32_t at[TILE];
        if constexpr (NEAREST)
            find_candidates(bundle, lane, x, low, high, r, tile.cost[r], at, [&](int32_t a, int32_t b) {
                return lines.lower(layer, r, first + lane, a, b);
            });
#pragma unroll
        for (int k = 0; k < TILE; ++k) tile.cost[r][k] += bundle.weight * k * k;
        lines.write(layer, r, first + lane, x, tile.cost[r], at);
    }
}

/// Which tiles the bands of a bundle want; false if none.
template <int LANES, class Lines>
__device__ bool find_wanted(const Bundle<LANES> &bundle, const Lines &lines, int32_t layer, int32_t first) {
    bool any = false;
    for (int32_t t = threadIdx.x; t < bundle.tiles; t += blockDim.x) {
        bundle.wanted[t] = lines.wanted(layer, first, t);
        any = any || bundle.wanted[t];
    }
    return __syncthreads_or(any);
}

template <bool NEAREST, int LANES, class Lines>
__global__ void __launch_bounds__(THREADS, RESIDENT) search_bundles(Lines lines) {
    static_assert(GROUP % (LANES * BAND) == 0, "the bands of a bundle want the same");
    if (!lines.volume.any_need()) return;
    extern __shared__ __align__(16) int4 shared[];
    const Bundle<LANES> bundle(shared, static_cast<int32_t>(lines.length()), lines.weight());
    const int32_t count = static_cast<int32_t>(lines.bands());
    const uint32_t across = (count + LANES - 1) / LANES;
    const int32_t layer = blockIdx.x / across, first = blockIdx.x % across * LANES;
    if (!find_wanted(bundle, lines, layer, first)) return;
    load_bundle(bundle, lines, layer, first);
    search_brackets(bundle);
    const int32_t lane = threadIdx.x % LANES;
    for (int32_t t = threadIdx.x / LANES; t < bundle.tiles; t += blockDim.x / LANES)
        if (bundle.wanted[t] && first + lane < count) finish_tile<NEAREST>(bundle, lines, layer, first, lane, t);
}

template <bool NEAREST, int LANES, class Lines>
void search_by(const Lines &lines, cudaStream_t stream) {
    using Shape = Bundle<LANES>;
    launch_large("search_bundles", search_bundles<NEAREST, LANES, Lines>, parts(lines.bands(), LANES) * lines.layers(),
                 Shape::threads(lines.length()), Shape::bytes(lines.length()), stream, lines);
}

/// Bytes of shared memory that a block may have.
size_t most_shared() {
    int device, room;
    check(cudaGetDevice(&device), "finding the current device");
    check(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "asking for shared memory");
    return static_cast<size_t>(room);
}

template <bool NEAREST, class Lines>
void search(const Lines &lines, cudaStream_t stream) {
    const size_t room = most_shared() / RESIDENT;
    if (Bundle<MANY>::bytes(lines.length()) <= room)
        search_by<NEAREST, MANY>(lines, stream);
    else if (Bundle<SOME>::bytes(lines.length()) <= room)
        search_by<NEAREST, SOME>(lines, stream);
    else
        search_by<NEAREST, FEW>(lines, stream);
}

}  // namespace

bool argmin_serves(const Volume &volume) {
    const size_t room = most_shared();
    const auto fits = [&](int64_t weight, int64_t length) {
        const int64_t way = length + TILE;  // voxels a little beyond the end of a line are tried too
        return length <= LONGEST_LINE && weight * way * way < NO_COST<int32_t> &&
               Bundle<FEW>::bytes(length) <= room;
    };
    return volume.depth() <= LONGEST_LINE && fits(volume.weight[0], volume.width()) &&
           fits(volume.weight[1], volume.height());
}

int64_t argmin_store(const Volume &volume) { return volume.depth() * volume.width() * pitch_of(volume); }

void search_marked(const Volume &volume, cudaStream_t stream) {
    if (volume.output.nearest) {
        search<true>(AlongY<true>{volume}, stream);
        search<true>(AlongX<true>{volume}, stream);
    } else {
        search<false>(AlongY<false>{volume}, stream);
        search<false>(AlongX<false>{volume}, stream);
    }
}

}  // namespace apsis
