// The monotone argmin along the lines of a volume where sites are far.
//
// A block takes a bundle of lines that lie side by side, lays the scores of their candidates in shared memory, and
// finds what costs least for every eighth voxel: the best candidate never moves left as the voxel moves right (Hirata
// 1996), so the best of two voxels bracket those between them, and brackets are halved.  The first few voxels, far from
// each other, have no bracket: their own cost and those of some candidates tell how far they need look, as those at the
// ends of a bracket do later.  While voxels are few, several threads share one.  Then a thread holds the TILE voxels
// between two bests in registers and tries the candidates of their bracket on all of them.  Where the best leaps over a
// gap, a bracket is long and most of it is vain: the least cost of every STRETCH candidates tells which of them are
// passed over.  A warp takes its tiles by the length of their brackets, so that its lanes have as much to do.  Ties at
// the ends of a tile go to the left, which keeps every equal candidate of its voxels in the bracket; the nearest site is
// the one of lowest z, then y, then x.
//
// Along y a bundle has lines of two planes: one word of bits tells both their costs.
//
// What the search along y finds is stored transposed, so that the lines of the search along x lie side by
// side too, and a thread's tile is a whole sector of memory.
//
// Cost, of each of the two searches: log2(n) + 2 evaluations a voxel at most; along y 6 bytes a voxel
// through the second cache and 4 out, along x 4 in and the outputs out.
#include <cstring>
#include <type_traits>

#include "launch.h"
#include "volume.h"
#include "volume_bundle.cuh"

namespace apsis {

namespace {

constexpr int RESIDENT = 6;          // blocks on a multiprocessor: leaves a thread 40 registers
constexpr int RESIDENT_NEAREST = 5;  // and 48 where it keeps candidates too
constexpr int32_t NO_SITE_OFFSET = 1 << 29;  // a column without a site is farther from every plane
constexpr uint32_t NO_PLACE = 0xffffffffu;   // stored for the nearest site where there is none
constexpr int64_t LONGEST_LINE = 65535;      // places and candidates are 16 bits

/// The costs of a candidate for a tile's voxels: w (x + k - c)^2 = w (x - c)^2 + w k^2 + slope k, and the
/// second term is added when all is done.
struct Ramp {
    int32_t here, slope;

    template <int LANES>
    __device__ Ramp(const Bundle<LANES> &bundle, int32_t lane, int32_t x, int32_t c) {
        here = bundle.at(lane, x, c) + bundle.square(x);
        slope = 2 * bundle.weight * (x - c);
    }
    __device__ int32_t at(int k) const { return here + k * slope; }
    __device__ int32_t least() const { return min(here, here + (TILE - 1) * slope); }
};

/// The least costs of a tile's voxels, less w k^2, and the candidates that they are of.
struct Tile {
    int32_t cost[TILE];
    int32_t at[TILE];     // where somebody asks
    uint32_t site[TILE];  // in the plane of each

    __device__ void take(const Ramp &ramp) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) cost[k] = min(cost[k], ramp.at(k));
    }
    /// What the dearest voxel costs.
    __device__ int32_t dearest(int32_t weight) const {
        int32_t most = cost[0];
#pragma unroll
        for (int k = 1; k < TILE; ++k) most = max(most, cost[k] + weight * k * k);
        return most;
    }
    /// A candidate that costs more than this at both ends of the tile is no use.
    __device__ int32_t worst() const {
        int32_t most = cost[0];
#pragma unroll
        for (int k = 1; k < TILE; ++k) most = max(most, cost[k]);
        return most;
    }
};

/// Tries all candidates from low to high.
template <int LANES>
__device__ void find_costs(const Bundle<LANES> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high,
                           Tile &tile) {
    Ramp ramp(bundle, lane, x, low);
    const int32_t *score = bundle.score + low * LANES + lane;
    int32_t way = ramp.here - *score;
#pragma unroll 2
    for (int32_t c = low; c <= high; ++c, score += LANES, way += bundle.slope(x), ramp.slope -= 2 * bundle.weight) {
        ramp.here = *score + way;
        asm("" : "+r"(ramp.slope));  // or else its multiples would be kept, in as many registers
        tile.take(ramp);
    }
}

/// Whether all of a tile's voxels are sites in their own plane, and nothing is to be found.
template <int LANES>
__device__ bool is_solid(const Bundle<LANES> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high) {
    if (low != x || high != x + TILE) return false;
    int32_t costs = 0;
#pragma unroll
    for (int k = 0; k < TILE; ++k) costs |= bundle.score[(x + k) * LANES + lane] - bundle.square(x + k);
    return costs == 0;
}

/// Finds which candidates from low to high the costs are of; of several the one whose site is the lowest.
template <int LANES, class Site>
__device__ void find_sites(const Bundle<LANES> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high, Tile &tile,
                           Site site) {
    const int32_t bound = tile.worst();
#pragma unroll 1
    for (int32_t c = low; c <= high; ++c) {
        const Ramp ramp(bundle, lane, x, c);
        if (ramp.least() > bound) continue;
        const uint32_t here = site(c);
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const bool lower = ramp.at(k) == tile.cost[k] && here < tile.site[k];
            tile.site[k] = lower ? here : tile.site[k], tile.at[k] = lower ? c : tile.at[k];
        }
    }
}

/// Finds what costs least for a tile's voxels, and if somebody asks the candidates that do.
template <bool NEAREST, int LANES, class Site>
__device__ Tile search_tile(const Bundle<LANES> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high, Site site) {
    Tile tile;
    if (is_solid(bundle, lane, x, low, high)) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            tile.cost[k] = 0, tile.at[k] = x + k;
            if (NEAREST) tile.site[k] = site(x + k);
        }
        return tile;
    }
#pragma unroll
    for (int k = 0; k < TILE; ++k) tile.cost[k] = INT32_MAX, tile.at[k] = 0, tile.site[k] = NO_PLACE;
    int32_t bound = 0;
    if (high - low >= LONG) {
        tile.take(Ramp(bundle, lane, x, low));
        tile.take(Ramp(bundle, lane, x, high));
        bound = tile.dearest(bundle.weight);
    }
    each_promising(bundle, lane, x, x + TILE - 1, low, high, bound,
                   [&](int32_t from, int32_t to) { find_costs(bundle, lane, x, from, to, tile); });
    if constexpr (NEAREST)
        each_promising(bundle, lane, x, x + TILE - 1, low, high, bound,
                       [&](int32_t from, int32_t to) { find_sites(bundle, lane, x, from, to, tile, site); });
#pragma unroll
    for (int k = 0; k < TILE; ++k) tile.cost[k] += bundle.weight * k * k;
    return tile;
}

/// What the search along y stores: [z][x][y], up to whole tiles of y's.
__host__ __device__ int64_t pitch_of(const Volume &volume) {
    return (volume.height() + TILE - 1) / TILE * TILE;
}
__device__ int64_t stored_line(const Volume &volume, int64_t z, int64_t x) {
    return (z * volume.width() + x) * pitch_of(volume);
}

/// The lines along y: their costs come from columns along z.
template <bool NEAREST>
struct AlongY {
    Volume volume;

    __host__ __device__ int64_t length() const { return volume.height(); }
    __host__ __device__ int64_t lines() const { return volume.width(); }
    __device__ int32_t weight() const { return volume.weight[1]; }
    __device__ bool wanted(int64_t z, int64_t x, int32_t tile) const {
        return volume.need(z, int64_t(tile) * TILE, x);
    }

    static constexpr int DEEP = 2;   // planes of a bundle, to which the same words tell the costs
    static constexpr int WIDE = 1;   // lines that a thread loads together
    static constexpr int AHEAD = 4;  // candidates that it loads at once, three words each
    /// Where a line's candidates are, and how far apart.
    __device__ int64_t first(int64_t z, int64_t x) const { return volume.columns.at(0, z / STRIP, x); }
    __device__ uint32_t stride() const { return static_cast<uint32_t>(volume.columns.strips() * volume.columns.count); }

    /// Of which groups of a line's candidates costs are known; nullptr for all.
    __device__ const uint8_t *known(int64_t, int64_t) const { return nullptr; }

    /// What is stored of a candidate, `offset` behind the first one of its line: 32 bits, or no memory would hold it.
    struct Stored {
        uint32_t word = 0;
        int32_t before = NO_SITE_BEFORE, after = NO_SITE_AFTER;
    };
    __device__ Stored load(int64_t begin, uint32_t offset) const {
        const Columns &columns = volume.columns;
        return {__ldg(columns.words + begin + offset), __ldg(columns.before + begin + offset),
                __ldg(columns.after + begin + offset)};
    }
    /// Both planes lie in one strip: what is far in one is one farther in the other.
    __device__ void costs(const Stored &stored, int32_t z, int32_t, int32_t (&cost)[DEEP][WIDE]) const {
        static_assert(DEEP == 2 && STRIP % DEEP == 0);
        const int bit = z % STRIP;
        const uint32_t lower = stored.word << (STRIP - 1 - bit), upper = stored.word >> bit >> 1;
        const uint32_t first = upper & ~(upper - 1);  // one instruction of a slow unit fewer than its number by itself
        const int32_t up = lower ? STRIP - 1 - highest_bit(lower) : z - stored.before;
        const int32_t down = upper ? highest_bit(first) : stored.after - z - 1;
        cost[0][0] = square(min(up, down + 1));
        cost[1][0] = square(min(up + 1, down));
    }
    __device__ int32_t square(int32_t d) const { return d < NO_SITE_OFFSET ? volume.weight[2] * d * d : NO_COST<int32_t>; }
    __device__ uint32_t site(int64_t z, int64_t x, int32_t y) const {
        const int64_t at = first(z, x) + y * int64_t(stride());
        const int32_t found =
            nearest_in_column(__ldg(volume.columns.words + at), __ldg(volume.columns.before + at),
                              __ldg(volume.columns.after + at), static_cast<int32_t>(z / STRIP * STRIP),
                              static_cast<int32_t>(z));
        return found == NO_SITE_BEFORE ? NO_PLACE
                                       : static_cast<uint32_t>(found) << 16 | static_cast<uint32_t>(y);
    }
    __device__ void write(int64_t z, int64_t x, int32_t y, const Tile &tile) const {
        const auto value = [&](int k) {
            return NEAREST ? tile.site[k] : static_cast<uint32_t>(tile.cost[k]);
        };
        uint4 *const to = reinterpret_cast<uint4 *>(volume.store + stored_line(volume, z, x) + y);
        to[0] = make_uint4(value(0), value(1), value(2), value(3));
        to[1] = make_uint4(value(4), value(5), value(6), value(7));
    }
};

/// The lines along x: what the search along y stored, a cost or a site in the plane of its x.
template <bool NEAREST>
struct AlongX {
    Volume volume;

    __host__ __device__ int64_t length() const { return volume.width(); }
    __host__ __device__ int64_t lines() const { return volume.height(); }
    __device__ int32_t weight() const { return volume.weight[0]; }
    __device__ bool wanted(int64_t z, int64_t y, int32_t tile) const { return volume.mark(z, y, tile); }

    static constexpr int DEEP = 1, AHEAD = 4;
    static constexpr int WIDE = 4;  // a load of 16 bytes
    static_assert(TILE % WIDE == 0);  // lines are stored by whole tiles
    __device__ int64_t first(int64_t z, int64_t y) const { return stored_line(volume, z, 0) + y; }
    __device__ uint32_t stride() const { return static_cast<uint32_t>(pitch_of(volume)); }

    static constexpr uint32_t NOTHING = NEAREST ? NO_PLACE : static_cast<uint32_t>(NO_COST<int32_t>);

    /// What is not needed is too far from every tile that is marked.
    __device__ const uint8_t *known(int64_t z, int64_t y) const { return &volume.need(z, y, 0); }

    struct Stored {
        uint4 quad = {NOTHING, NOTHING, NOTHING, NOTHING};
    };
    __device__ Stored load(int64_t begin, uint32_t offset) const {
        return {__ldg(reinterpret_cast<const uint4 *>(volume.store + begin + offset))};
    }
    __device__ void costs(const Stored &stored, int32_t z, int32_t y, int32_t (&cost)[DEEP][WIDE]) const {
        const uint32_t word[WIDE] = {stored.quad.x, stored.quad.y, stored.quad.z, stored.quad.w};
#pragma unroll
        for (int i = 0; i < WIDE; ++i) cost[0][i] = NEAREST ? cost_of(word[i], z, y + i) : static_cast<int32_t>(word[i]);
    }
    __device__ int32_t cost_of(uint32_t stored, int32_t z, int32_t y) const {
        const int32_t down = static_cast<int32_t>(stored >> 16) - z,
                      along = static_cast<int32_t>(stored & 0xffff) - y;
        return stored == NO_PLACE ? NO_COST<int32_t>
                                  : volume.weight[2] * down * down + volume.weight[1] * along * along;
    }
    __device__ uint32_t site(int64_t z, int64_t y, int32_t x) const {
        return __ldg(volume.store + first(z, y) + x * int64_t(stride()));
    }
    __device__ void write(int64_t z, int64_t y, int32_t x, const Tile &tile) const {
        const Measure &measure = volume.output.measure;
        const auto index = [&](int k) {
            if (!NEAREST) return int64_t(0);  // or else a tile's candidates would be kept in registers
            const uint32_t place = pick(tile.site, k);
            return (int64_t(place >> 16) * volume.height() + (place & 0xffff)) * volume.width() + pick(tile.at, k);
        };
        int32_t bits = 0;
#pragma unroll
        for (int k = 0; k < TILE; ++k) bits |= tile.cost[k];
        if (measure.unit == 1 && bits < 1 << 24)
            write_tile(volume, x, y, z, tile.cost, [](int32_t cost) { return small_root(static_cast<float>(cost)); }, index);
        else
            write_tile(volume, x, y, z, tile.cost, [&](int32_t cost) {
                return measure.unit == 1 ? root_of(cost) : length_of<float>(measure, cost);
            }, index);
    }
};

/// Where a bundle's lines are: those of a plane side by side, in DEEP planes.
template <class Lines, int LANES>
struct Place {
    static constexpr int ACROSS = LANES / Lines::DEEP;
    int32_t first, plane;  // of its lines, and planes

    __device__ int32_t line(int32_t lane) const { return first + lane % ACROSS; }
    __device__ int32_t z(int32_t lane) const { return plane + lane / ACROSS; }
    __device__ bool holds(const Lines &lines, int32_t lane) const {
        return line(lane) < lines.lines() && z(lane) < lines.volume.depth();
    }
};

/// Lays the costs of a bundle's lines in shared memory, a stretch of them at a time, with its least.
template <class Lines, int LANES>
__device__ void load_lines(const Bundle<LANES> &bundle, const Lines &lines, const Place<Lines, LANES> &place) {
    constexpr int DEEP = Lines::DEEP, WIDE = Lines::WIDE, ACROSS = place.ACROSS;
    constexpr int HEADS = ACROSS / WIDE;  // threads that load a candidate of all lines
    constexpr int SIDES = HEADS * WIDE < WARP ? WARP / (HEADS * WIDE) : 1;  // candidates that fill a row of banks
    constexpr int PARTY = HEADS * SIDES;                                   // threads that load a stretch
    constexpr int TOGETHER = PARTY < WARP ? WARP / PARTY : 1;              // stretches that a warp loads at once
    constexpr int AHEAD = Lines::AHEAD < STRETCH / SIDES ? Lines::AHEAD : STRETCH / SIDES;
    using Scores = std::conditional_t<WIDE == 1, int32_t, int4>;
    const int32_t lane = threadIdx.x % HEADS * WIDE, side = threadIdx.x / HEADS % SIDES, z = place.plane;
    const int32_t last = (static_cast<int32_t>(lines.lines()) - 1) / WIDE * WIDE, line = min(place.line(lane), last);
    const int32_t count = bundle.stretches(bundle.length);
    const uint8_t *const known = lines.known(z, line);
    const int64_t begin = lines.first(z, line);
    const uint32_t stride = lines.stride();
    for (int32_t s = threadIdx.x / PARTY; s / TOGETHER * TOGETHER < count; s += THREADS / PARTY) {
        const bool is_known = s < count && (!known || __ldg(known + s * STRETCH / GROUP));
        int32_t least[DEEP][WIDE], c = s * STRETCH + side;
#pragma unroll
        for (int p = 0; p < DEEP; ++p)
#pragma unroll
            for (int i = 0; i < WIDE; ++i) least[p][i] = NO_COST<int32_t>;
#pragma unroll 1
        for (int k = 0; k < STRETCH / SIDES; k += AHEAD) {
            typename Lines::Stored stored[AHEAD];
            if (is_known)
#pragma unroll
                for (int j = 0; j < AHEAD; ++j)  // without a branch, or else one would wait for the other
                    stored[j] = lines.load(begin, min(c + j * SIDES, bundle.length - 1) * stride);
#pragma unroll
            for (int j = 0; j < AHEAD; ++j, c += SIDES) {
                int32_t cost[DEEP][WIDE];
                lines.costs(stored[j], z, line, cost);
                const int32_t square = bundle.square(c);
#pragma unroll
                for (int p = 0; p < DEEP; ++p) {
                    int32_t score[WIDE];
#pragma unroll
                    for (int i = 0; i < WIDE; ++i) least[p][i] = min(least[p][i], cost[p][i]), score[i] = cost[p][i] + square;
                    Scores together;
                    memcpy(&together, score, sizeof(together));
                    if (c < bundle.length) *reinterpret_cast<Scores *>(bundle.score + c * LANES + p * ACROSS + lane) = together;
                }
            }
        }
#pragma unroll
        for (int p = 0; p < DEEP; ++p)
#pragma unroll
            for (int i = 0; i < WIDE; ++i) {
#pragma unroll
                for (int step = 1; step < SIDES; step *= 2)
                    least[p][i] = min(least[p][i], __shfl_xor_sync(ALL_LANES, least[p][i], step * HEADS));
                if (side == 0 && s < count) bundle.keep_least(p * ACROSS + lane + i, s, least[p][i]);
            }
    }
    for (int32_t i = bundle.length * LANES + threadIdx.x; i < bundle.padded(bundle.length) * LANES; i += THREADS)
        bundle.score[i] = NO_COST<int32_t> + bundle.square(i / LANES);
}

static_assert(ROUNDS == 4);
constexpr uint32_t VAIN_TRIES = 10 * WARP;  // of a warp's lanes that wait for another, up to which order takes longer
constexpr int CLASSES = 8, CLASS_BITS = 3;  // of brackets, by their length

__device__ int bracket_class(int32_t length) {
    return length < 10 ? length / 2 : length < 16 ? 5 : length < LONG ? 6 : 7;
}

/// The lanes of a warp that have a number of CLASS_BITS, of which `bits` are the ballots.
__device__ uint32_t lanes_with(int number, const uint32_t (&bits)[CLASS_BITS]) {
    uint32_t lanes = ALL_LANES;
#pragma unroll
    for (int i = 0; i < CLASS_BITS; ++i) lanes &= number >> i & 1 ? bits[i] : ~bits[i];
    return lanes;
}

/// The tiles of lines that a warp finishes together: ROUNDS rows of as many as it has lanes.
struct TileRows {
    int32_t first, step;

    __device__ int32_t item(int place) const { return (first + place / WARP * step) * WARP + place % WARP; }
};

/// Orders the tiles of a warp's rows that are wanted by the length of their brackets, long ones first, so that its lanes
/// have as much to do.  Returns how many they are.
template <int LANES, class Wanted>
__device__ int order_tiles(const Bundle<LANES> &bundle, const TileRows &rows, uint8_t *order, Wanted wanted) {
    const int lane = threadIdx.x % WARP;
    const int32_t items = bundle.tiles * LANES;
    uint32_t here[ROUNDS], most = 0, sum = 0;
    int32_t length[ROUNDS];  // 0 if nobody wants the tile
#pragma unroll
    for (int k = 0; k < ROUNDS; ++k) {
        const int32_t item = rows.item(k * WARP + lane);
        const bool is_wanted = item < items && wanted(item / LANES, item % LANES);
        length[k] = is_wanted ? bundle.best[item + LANES] - bundle.best[item] + 1 : 0;
        here[k] = __ballot_sync(ALL_LANES, is_wanted);
        most += greatest_of_warp(length[k]), sum += length[k];
    }
    if (most * WARP <= sum_of_warp(sum) + VAIN_TRIES && (here[0] & here[1] & here[2] & here[3]) == ALL_LANES) {
#pragma unroll
        for (int k = 0; k < ROUNDS; ++k) order[k * WARP + lane] = static_cast<uint8_t>(k * WARP + lane);
        __syncwarp();
        return ORDERED;
    }
    uint32_t bits[ROUNDS][CLASS_BITS];
    int number[ROUNDS], counted[ROUNDS], ours = 0;  // tiles of the class whose number is the lane's
#pragma unroll
    for (int k = 0; k < ROUNDS; ++k) {
        number[k] = CLASSES - 1 - bracket_class(length[k]);
#pragma unroll
        for (int i = 0; i < CLASS_BITS; ++i) bits[k][i] = __ballot_sync(ALL_LANES, number[k] >> i & 1);
        counted[k] = __popc(lanes_with(lane, bits[k]) & here[k]);
        ours += counted[k];
    }
    int end = ours;
#pragma unroll
    for (int step = 1; step < CLASSES; step *= 2) {
        const int other = __shfl_up_sync(ALL_LANES, end, step);
        if (lane >= step) end += other;
    }
    const int total = __shfl_sync(ALL_LANES, end, CLASSES - 1);
    int begin = end - ours;
#pragma unroll
    for (int k = 0; k < ROUNDS; ++k) {
        const int place = __shfl_sync(ALL_LANES, begin, number[k]) +
                          __popc(lanes_with(number[k], bits[k]) & here[k] & ((1u << lane) - 1));
        if (here[k] >> lane & 1) order[place] = static_cast<uint8_t>(k * WARP + lane);
        begin += counted[k];
    }
    __syncwarp();
    return total;
}

/// Finds what costs least for the voxels of every wanted tile, and hands it on.
template <bool NEAREST, class Lines, int LANES>
__device__ void finish_tiles(const Bundle<LANES> &bundle, const Lines &lines, const Place<Lines, LANES> &place) {
    constexpr int32_t WARPS_HERE = THREADS / WARP;
    const int32_t warp = threadIdx.x / WARP, rows_in_all = (bundle.tiles * LANES + WARP - 1) / WARP;
    uint8_t *const order = bundle.order + warp * ORDERED;
    for (TileRows rows = {warp, WARPS_HERE}; rows.first < rows_in_all; rows.first += ROUNDS * WARPS_HERE) {
        const int total = order_tiles(bundle, rows, order, [&](int32_t t, int32_t lane) {
            return place.holds(lines, lane) && bundle.wanted[t] &&
                   (LANES <= GROUP || lines.wanted(place.z(lane), place.line(lane), t));
        });
        for (int i = threadIdx.x % WARP; i < total; i += WARP) {
            const int32_t item = rows.item(order[i]), lane = item % LANES, t = item / LANES;
            const int32_t z = place.z(lane), line = place.line(lane);
            lines.write(z, line, t * TILE,
                        search_tile<NEAREST>(bundle, lane, t * TILE, bundle.best[item], bundle.best[item + LANES],
                                             [&](int32_t c) { return lines.site(z, line, c); }));
        }
        __syncwarp();
    }
}

template <bool NEAREST, int LANES, class Lines>
__global__ void __launch_bounds__(THREADS, NEAREST ? RESIDENT_NEAREST : RESIDENT)
    search_bundles(Lines lines) {
    if (!lines.volume.any_need()) return;
    extern __shared__ __align__(16) int32_t shared[];
    const Bundle<LANES> bundle(shared, static_cast<int32_t>(lines.length()), lines.weight());
    using Where = Place<Lines, LANES>;
    const int32_t count = static_cast<int32_t>(lines.lines());
    const uint32_t across = (count + Where::ACROSS - 1) / Where::ACROSS;
    const Where place = {static_cast<int32_t>(blockIdx.x % across * Where::ACROSS),
                         static_cast<int32_t>(blockIdx.x / across * Lines::DEEP)};
    const int32_t end = min(place.first + Where::ACROSS, count);
    const int32_t deep = min(place.plane + Lines::DEEP, static_cast<int32_t>(lines.volume.depth()));
    bool any = false, all = true;
    for (int32_t t = threadIdx.x; t < bundle.tiles; t += THREADS) {
        bool here = false;
        for (int32_t z = place.plane; z < deep; ++z)
            for (int32_t line = place.first; line < end; line += GROUP) here = here || lines.wanted(z, line, t);
        bundle.wanted[t] = here;
        any = any || here, all = all && here;
    }
    if (!__syncthreads_or(any)) return;
    const bool all_wanted = !__syncthreads_or(!all);
    load_lines(bundle, lines, place);
    search_brackets(bundle, all_wanted);
    finish_tiles<NEAREST>(bundle, lines, place);
}

template <bool NEAREST, int LANES, class Lines>
void search_by(const Lines &lines, cudaStream_t stream) {
    launch_large("search_bundles", search_bundles<NEAREST, LANES, Lines>,
                 parts(lines.lines(), Place<Lines, LANES>::ACROSS) * parts(lines.volume.depth(), Lines::DEEP), THREADS,
                 Bundle<LANES>::bytes(lines.length()), stream, lines);
}

/// Bytes of shared memory that a block may have, if a multiprocessor is to have two.
size_t half_of_shared() {
    int device, room;
    check(cudaGetDevice(&device), "finding the current device");
    check(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "asking for shared memory");
    return static_cast<size_t>(room) / 2;
}

template <bool NEAREST, class Lines>
void search(const Lines &lines, cudaStream_t stream) {
    const size_t room = half_of_shared();
    if (Bundle<MANY>::bytes(lines.length()) <= room / 2)
        search_by<NEAREST, MANY>(lines, stream);
    else if (Bundle<SOME>::bytes(lines.length()) <= room)
        search_by<NEAREST, SOME>(lines, stream);
    else
        search_by<NEAREST, FEW>(lines, stream);
}

}  // namespace

bool argmin_serves(const Volume &volume) {
    const size_t room = half_of_shared();
    const auto fits = [&](int64_t weight, int64_t length) {
        // Candidates and voxels a little beyond the end of a line are tried too: no way's cost may overflow.
        const int64_t way = length + TILE + QUAD;
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
