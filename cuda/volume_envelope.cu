// The lower envelope along the lines of a volume where sites are far.
//
// A block takes a bundle of lines that lie side by side, and lays their costs in shared memory.  Of two contenders for
// a line's voxels the right one is nearer from a breakpoint on (Maurer, Qi & Raghavan 2003; Felzenszwalb & Huttenlocher
// 2012).  Where breakpoints ascend, the contenders are the envelope; where they do not, somebody between is never
// nearest.  A thread drops such from the 32 contenders of a word, whose bits say who is left; then the seams between
// words are smoothed.  No more is asked: the first contender that is not overtaken before a tile of 8 voxels and the last
// that has overtaken another by its end bracket the nearest of its voxels in any case, and tightly where little is left
// to drop.  A thread then holds the voxels of a tile in registers and tries the candidates of the bracket on all of
// them, in whole numbers.  The bracket holds all equally near ones; the nearest site is the one of lowest z, then y,
// then x.
//
// The lanes of a warp are lines side by side, which are much alike: they do much the same at the same time, and meet
// different banks of shared memory wherever in their lines they are.  What the search along y finds is stored
// transposed, so that the lines of the search along x lie side by side too, and a thread's tile is a whole sector.
//
// Cost, of each of the two searches: some 40 instructions a contender, and for each voxel of a tile 3 a candidate; along
// y 12 bytes a voxel through the second cache and 4 out, along x 4 in and the outputs out.
#include <cuda_runtime.h>

#include "launch.h"
#include "volume.h"

namespace apsis {

namespace {

constexpr int THREADS = 512;                 // of a block at most
constexpr int RESIDENT = 3;                  // such blocks on a multiprocessor: leaves a thread 40 registers
constexpr int RESIDENT_NEAREST = 2;          // and 64 where it keeps candidates too
constexpr int WORD = 32;                     // contenders, whose bits are a word
constexpr int WORD_TILES = WORD / TILE;
constexpr int AHEAD = 8;                     // of them on their way at once
constexpr int32_t NO_SITE_OFFSET = 1 << 29;  // a column without a site is farther from every plane
constexpr uint32_t NO_PLACE = 0xffffffffu;   // stored for the nearest site where there is none
constexpr int64_t LONGEST_LINE = 65535;      // of sites' places z and y, 16 bits each
constexpr int MOST_DROPS = 16;               // at a seam in a turn, on either side
constexpr int MOST_SMOOTHINGS = 6;
static_assert(WORD == GROUP, "a word's columns are needed together");

// Lines of a bundle.  Half a warp of lines reads half a cache line at once, and lets several blocks share a
// multiprocessor.  Of long ones few fit, but fewer would waste most of each sector read.
constexpr int FEW = 8, SOME = 16, MANY = 32;

// Of a breakpoint, twice the place of a voxel, so of half a voxel.  Lines are shorter than 2^15, for the square of their
// length is below 2^30.  A breakpoint is a sum, exact and below 2^16, and a quotient whose terms are exact before they are
// rounded: its five roundings make 2^-21 of itself at most.  If it is beyond 2^17, so is the breakpoint beyond the line
// on the same side, and its error does not matter; else that is below 2^-4, and the last rounding's below 2^-6.
constexpr float SLACK = 0.25f;

/// LANES lines side by side in shared memory.
template <int LANES>
struct Bundle {
    int32_t *cost;            // [column][lane]
    uint32_t *kept;           // [word][lane]: the contenders
    uint32_t *sites;          // [word][lane]: the columns that cost nothing, which are nearest to themselves
    uint32_t *lows, *highs;   // [tile][lane]: the bracket, whose ends are columns
    uint8_t *wanted;          // [tile]: not 0 if a line wants it
    int32_t length, words, tiles, weight;
    float inverse;  // of the weight

    static int64_t count_words(int64_t length) { return parts(length, WORD); }
    static size_t bytes(int64_t length) {
        return static_cast<size_t>(count_words(length) * (LANES * 4 * (WORD + 2 + 2 * WORD_TILES) + WORD_TILES));
    }
    static unsigned threads(int64_t length) {
        const int64_t turns = parts(count_words(length) * LANES, THREADS);
        return static_cast<unsigned>(parts(parts(count_words(length), turns) * LANES, WARP) * WARP);
    }
    __device__ Bundle(int32_t *shared, int32_t length_, int32_t weight_)
        : cost(shared),
          length(length_),
          words((length_ + WORD - 1) / WORD),
          tiles((length_ + TILE - 1) / TILE),
          weight(weight_),
          inverse(1.0f / weight_) {
        kept = reinterpret_cast<uint32_t *>(cost + words * WORD * LANES);
        sites = kept + words * LANES;
        lows = sites + words * LANES;
        highs = lows + words * WORD_TILES * LANES;
        wanted = reinterpret_cast<uint8_t *>(highs + words * WORD_TILES * LANES);
    }
};

/// A thread's line, and what it needs of it.
template <int LANES>
struct Line {
    const Bundle<LANES> &bundle;
    int32_t lane;

    __device__ uint32_t &kept(int32_t word) const { return bundle.kept[word * LANES + lane]; }
    __device__ uint32_t &sites(int32_t word) const { return bundle.sites[word * LANES + lane]; }
    __device__ uint32_t &low(int32_t tile) const { return bundle.lows[tile * LANES + lane]; }
    __device__ uint32_t &high(int32_t tile) const { return bundle.highs[tile * LANES + lane]; }
    __device__ int32_t &cost(int32_t column) const { return bundle.cost[column * LANES + lane]; }

    /// The contender before a column, or after it; -1 if there is none.
    __device__ int32_t before(int32_t column) const {
        int32_t word = column / WORD;
        uint32_t bits = kept(word) & ((1u << column % WORD) - 1);
        while (!bits && --word >= 0) bits = kept(word);
        return bits ? word * WORD + highest_bit(bits) : -1;
    }
    __device__ int32_t after(int32_t column) const {
        int32_t word = column / WORD;
        uint32_t bits = kept(word) & (~1u << column % WORD);
        while (!bits && ++word < bundle.words) bits = kept(word);
        return bits ? word * WORD + lowest_bit(bits) : -1;
    }
};

struct Contender {
    int32_t column, cost;
    float x;

    template <int LANES>
    __device__ Contender(const Line<LANES> &line, int32_t column_)
        : column(column_), cost(line.cost(column_)), x(static_cast<float>(column_)) {}
};

/// Twice the voxel from which the right one of two contenders is nearer.
__device__ float find_break(const Contender &left, const Contender &right, float inverse) {
    float way;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(way) : "f"(right.x - left.x));
    return fmaf(static_cast<float>(right.cost - left.cost) * inverse, way, left.x + right.x);
}

/// Reads the costs of a word's columns; says which are contenders: those between two others that cost nothing are not.
template <int LANES, class Lines>
__device__ uint32_t load_word(const Line<LANES> &line, const Lines &lines, int32_t z, int32_t number, int32_t word) {
    const int32_t first = word * WORD, inside = min(line.bundle.length - first, WORD);
    uint32_t found = 0, sites = 0;
    if (lines.sees(z, number, first)) {
        const int64_t stride = lines.stride();
        int64_t at = lines.first(z, number) + first * stride;
#pragma unroll 1
        for (int32_t turn = 0; turn < inside; turn += AHEAD) {
            int32_t cost[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; ++i, at += turn + i < inside ? stride : 0) cost[i] = lines.cost(at, z, number);
#pragma unroll
            for (int i = 0; i < AHEAD; ++i) {
                if (turn + i >= inside) break;
                line.cost(first + turn + i) = cost[i];
                found |= (cost[i] < NO_COST<int32_t> ? 1u : 0u) << (turn + i);
                sites |= (cost[i] == 0 ? 1u : 0u) << (turn + i);
            }
        }
    }
    line.sites(word) = sites;
    return found & ~(sites & sites << 1 & sites >> 1);
}

/// Which of a word's contenders are on their lower envelope, found as a stack.
template <int LANES>
__device__ uint32_t prune_word(const Line<LANES> &line, int32_t first, uint32_t rest) {
    if (!rest) return 0;
    const float inverse = line.bundle.inverse;
    Contender on(line, first + lowest_bit(rest)), below = on;
    uint32_t kept = rest & -rest;
    float here = -INFINITY;  // of `below` and `on`
    while (rest &= rest - 1) {
        const Contender comes(line, first + lowest_bit(rest));
        float ahead = find_break(on, comes, inverse);
        while (here > ahead + SLACK) {
            on = below;
            kept &= (2u << (on.column - first)) - 1;
            const uint32_t under = kept ^ 1u << (on.column - first);
            here = -INFINITY;
            if (under) below = Contender(line, first + highest_bit(under)), here = find_break(below, on, inverse);
            ahead = find_break(on, comes, inverse);
        }
        kept |= rest & -rest;
        below = on, on = comes, here = ahead;
    }
    return kept;
}

/// Drops at the seam behind a word whom his neighbours make vain, on both sides in turn; says whether it did.  Who is
/// dropped is farther from every voxel than somebody else, whom nobody drops while he is the nearest: so it does no harm
/// that others drop from the same words.
template <int LANES>
__device__ bool smooth_seam(const Line<LANES> &line, int32_t word) {
    const uint32_t bits = line.kept(word);
    const int32_t next = bits ? line.after(word * WORD + WORD - 1) : -1;
    if (next < 0) return false;
    const float inverse = line.bundle.inverse;
    Contender left(line, word * WORD + highest_bit(bits)), right(line, next);
    float here = find_break(left, right, inverse);
    const auto drop = [&](int32_t column) { atomicAnd(&line.kept(column / WORD), ~(1u << column % WORD)); };
    bool any = false, more = true;
    for (int drops = 0; more && drops < MOST_DROPS; ++drops) {
        more = false;
        if (const int32_t at = line.before(left.column); at >= 0) {
            const Contender below(line, at);
            if (find_break(below, left, inverse) > here + SLACK)
                drop(left.column), left = below, here = find_break(left, right, inverse), more = true;
        }
        if (const int32_t at = line.after(right.column); at >= 0) {
            const Contender beyond(line, at);
            if (here > find_break(right, beyond, inverse) + SLACK)
                drop(right.column), right = beyond, here = find_break(left, right, inverse), more = true;
        }
        any = any || more;
    }
    return any;
}

/// Every tile learns of the breakpoints that lie in it: of the first contender that is not overtaken before the tile, for
/// all before it are farther than their neighbours on the right; and of the last that has overtaken its neighbour on the
/// left by the end of the tile, for all after it are farther than theirs.
template <int LANES>
__device__ void scatter_breaks(const Line<LANES> &line, int32_t word) {
    uint32_t rest = line.kept(word);
    if (!rest) return;
    const int32_t tiles = line.bundle.tiles;
    int32_t low_tile = -1, high_tile = tiles;
    Contender left(line, word * WORD + lowest_bit(rest));
    if (line.before(left.column) < 0) high_tile = 0;  // the first of all
    while (true) {
        rest &= rest - 1;
        const int32_t next = rest ? word * WORD + lowest_bit(rest) : line.after(left.column);
        int32_t low_now = tiles - 1, high_now = tiles;  // the last of all is never overtaken
        Contender right = left;
        if (next >= 0) {
            right = Contender(line, next);
            const float here = find_break(left, right, line.bundle.inverse);
            // The last voxel of tile t is where 2x = 16 t + 14.
            low_now = min(low_now, __float2int_rd((here + SLACK) / (2 * TILE)));
            high_now = max(0, __float2int_rd((here - SLACK + 2) / (2 * TILE)));
        }
        if (low_now >= 0 && low_now != low_tile) atomicMin(&line.low(low_now), static_cast<uint32_t>(left.column));
        if (high_now != high_tile && high_tile < tiles) atomicMax(&line.high(high_tile), static_cast<uint32_t>(left.column));
        low_tile = low_now, high_tile = high_now;
        left = right;
        if (!rest) break;
    }
    if (high_tile < tiles) atomicMax(&line.high(high_tile), static_cast<uint32_t>(left.column));
}

/// From the breakpoints in tiles to the brackets of tiles: the least of those from a tile on, the most up to it.  First
/// among the tiles of a word.
template <int LANES>
__device__ void bracket_word(const Line<LANES> &line, int32_t word) {
    const int32_t first = word * WORD_TILES;
#pragma unroll
    for (int t = 1; t < WORD_TILES; ++t) {
        line.low(first + WORD_TILES - 1 - t) = min(line.low(first + WORD_TILES - 1 - t), line.low(first + WORD_TILES - t));
        line.high(first + t) = max(line.high(first + t), line.high(first + t - 1));
    }
}

/// Then among words.  It does no harm that others do the same at the same time.
template <int LANES>
__device__ void bracket_line(const Line<LANES> &line, int32_t word) {
    uint32_t low = ~0u, high = 0;
    for (int32_t w = word + 1; w < line.bundle.words; ++w) low = min(low, line.low(w * WORD_TILES));
    for (int32_t w = 0; w < word; ++w) high = max(high, line.high(w * WORD_TILES + WORD_TILES - 1));
#pragma unroll
    for (int t = 0; t < WORD_TILES; ++t) {
        uint32_t &here = line.low(word * WORD_TILES + t), &there = line.high(word * WORD_TILES + t);
        here = min(here, low), there = max(there, high);
    }
}

/// Calls take(column) for every contender in a tile's bracket, from left to right.
template <int LANES, class Take>
__device__ void each_in_bracket(const Line<LANES> &line, int32_t tile, Take take) {
    const uint32_t low = line.low(tile), high = line.high(tile);
    if (low > high) return;  // there is none
    const int32_t last = static_cast<int32_t>(high / WORD);
    int32_t word = static_cast<int32_t>(low / WORD);
    uint32_t bits = line.kept(word) & (~0u << low % WORD);
    while (true) {
        if (word == last) bits &= ~0u >> (WORD - 1 - high % WORD);
        for (; bits; bits &= bits - 1) take(word * WORD + lowest_bit(bits));
        if (++word > last) return;
        bits = line.kept(word);
    }
}

/// The costs of a candidate for a tile's voxels: w (x + k - c)^2 = w (x - c)^2 + w k^2 + slope k, and the second term is
/// added when all is done.
struct Ramp {
    int32_t here, slope;

    template <int LANES>
    __device__ Ramp(const Line<LANES> &line, int32_t x, int32_t c) {
        const int32_t d = x - c, way = line.bundle.weight * d;
        here = line.cost(c) + way * d;
        slope = 2 * way;
    }
    __device__ int32_t at(int k) const { return here + k * slope; }
};

/// The least costs of a tile's voxels, and the candidates that they are of.
struct Tile {
    int32_t cost[TILE];
    int32_t at[TILE];
};

/// Finds the costs of a tile that has no site but those whose bits are set.
template <int LANES>
__device__ void find_costs(const Line<LANES> &line, int32_t tile, uint32_t sites, Tile &found) {
#pragma unroll
    for (int k = 0; k < TILE; ++k)
        found.cost[k] = sites >> k & 1 ? -line.bundle.weight * k * k : NO_COST<int32_t>;
    each_in_bracket(line, tile, [&](int32_t c) {
        const Ramp ramp(line, tile * TILE, c);
#pragma unroll
        for (int k = 0; k < TILE; ++k) found.cost[k] = min(found.cost[k], ramp.at(k));
    });
}

/// Finds which candidates the costs are of; of several the one whose site is lower(a, b).
template <int LANES, class Lower>
__device__ void find_candidates(const Line<LANES> &line, int32_t tile, uint32_t sites, Tile &found, Lower lower) {
#pragma unroll
    for (int k = 0; k < TILE; ++k) found.at[k] = sites >> k & 1 ? tile * TILE + k : -1;
    each_in_bracket(line, tile, [&](int32_t c) {
        const Ramp ramp(line, tile * TILE, c);
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            if (ramp.at(k) == found.cost[k] && c != found.at[k] && (found.at[k] < 0 || lower(c, found.at[k]))) found.at[k] = c;
    });
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

    /// Where a line's candidates are, and how far apart.
    __device__ int64_t first(int64_t z, int64_t x) const { return volume.columns.at(0, z / STRIP, x); }
    __device__ int64_t stride() const { return volume.columns.strips() * volume.columns.count; }

    __device__ bool sees(int64_t, int64_t, int32_t) const { return true; }
    __device__ int32_t cost(int64_t at, int32_t z, int32_t) const {
        const int bit = z % STRIP;
        const uint32_t word = __ldg(volume.columns.words + at);
        const int32_t before = __ldg(volume.columns.before + at), after = __ldg(volume.columns.after + at);
        const uint32_t lower = word << (STRIP - 1 - bit), upper = word >> bit;
        const int32_t d =
            min(lower ? STRIP - 1 - highest_bit(lower) : z - before, upper ? lowest_bit(upper) : after - z);
        return d < NO_SITE_OFFSET ? volume.weight[2] * d * d : NO_COST<int32_t>;
    }
    __device__ uint32_t site(int64_t z, int64_t x, int32_t y) const {
        const int64_t at = first(z, x) + y * stride();
        const int32_t found =
            nearest_in_column(__ldg(volume.columns.words + at), __ldg(volume.columns.before + at),
                              __ldg(volume.columns.after + at), static_cast<int32_t>(z / STRIP * STRIP),
                              static_cast<int32_t>(z));
        return found == NO_SITE_BEFORE ? NO_PLACE
                                       : static_cast<uint32_t>(found) << 16 | static_cast<uint32_t>(y);
    }
    __device__ void write(int64_t z, int64_t x, int32_t y, const Tile &tile) const {
        const auto value = [&](int k) {
            if (!NEAREST) return static_cast<uint32_t>(tile.cost[k]);
            return tile.at[k] < 0 ? NO_PLACE : site(z, x, tile.at[k]);
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

    __device__ int64_t first(int64_t z, int64_t y) const { return stored_line(volume, z, 0) + y; }
    __device__ int64_t stride() const { return pitch_of(volume); }

    /// What is not needed is too far from every tile that is marked.
    __device__ bool sees(int64_t z, int64_t y, int32_t x) const { return volume.need(z, y, x); }
    __device__ int32_t cost(int64_t at, int32_t z, int32_t y) const {
        const uint32_t stored = volume.store[at];
        if (!NEAREST) return static_cast<int32_t>(stored);
        const int32_t down = static_cast<int32_t>(stored >> 16) - z,
                      along = static_cast<int32_t>(stored & 0xffff) - y;
        return stored == NO_PLACE ? NO_COST<int32_t>
                                  : volume.weight[2] * down * down + volume.weight[1] * along * along;
    }
    __device__ uint32_t site(int64_t z, int64_t y, int32_t x) const {
        return volume.store[first(z, y) + x * stride()];
    }
    __device__ void write(int64_t z, int64_t y, int32_t x, const Tile &tile) const {
        write_tile(
            volume, x, y, z, tile.cost,
            [&](int32_t cost) {
                const Measure &measure = volume.output.measure;
                return measure.unit == 1 ? root_of(cost) : length_of<float>(measure, cost);
            },
            [&](int k) {
                const uint32_t place = site(z, y, tile.at[k]);
                return (int64_t(place >> 16) * volume.height() + (place & 0xffff)) * volume.width() +
                       tile.at[k];
            });
    }
};

/// Finds what costs least for the voxels of a tile, and hands it on.
template <bool NEAREST, int LANES, class Lines>
__device__ void finish_tile(const Line<LANES> &line, const Lines &lines, int32_t z, int32_t number, int32_t tile) {
    const uint32_t sites = line.sites(tile / WORD_TILES) >> tile % WORD_TILES * TILE & ((1u << TILE) - 1);
    Tile found;
    if (sites == (1u << TILE) - 1) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) found.cost[k] = 0, found.at[k] = tile * TILE + k;
    } else {
        find_costs(line, tile, sites, found);
        if constexpr (NEAREST)
            find_candidates(line, tile, sites, found, [&](int32_t a, int32_t b) {  // a is right of b
                return lines.site(z, number, a) < lines.site(z, number, b);
            });
#pragma unroll
        for (int k = 0; k < TILE; ++k) found.cost[k] += line.bundle.weight * k * k;
    }
    lines.write(z, number, tile * TILE, found);
}

/// Which tiles lines [first, end) of plane z want; false if none.
template <int LANES, class Lines>
__device__ bool find_wanted(const Bundle<LANES> &bundle, const Lines &lines, int32_t z, int32_t first, int32_t end) {
    bool any = false;
    for (int32_t t = threadIdx.x; t < bundle.tiles; t += blockDim.x) {
        bundle.wanted[t] = lines.wanted(z, first, t);
        any = any || bundle.wanted[t];
    }
    return __syncthreads_or(any);
}

template <bool NEAREST, int LANES, class Lines>
__global__ void __launch_bounds__(THREADS, NEAREST ? RESIDENT_NEAREST : RESIDENT) search_bundles(Lines lines) {
    static_assert(GROUP % LANES == 0, "the lines of a bundle want the same");
    if (!lines.volume.any_need()) return;
    extern __shared__ __align__(16) int32_t shared[];
    const Bundle<LANES> bundle(shared, static_cast<int32_t>(lines.length()), lines.weight());
    const int32_t count = static_cast<int32_t>(lines.lines());
    const uint32_t across = (count + LANES - 1) / LANES;
    const int32_t z = blockIdx.x / across, first = blockIdx.x % across * LANES, end = min(first + LANES, count);
    if (!find_wanted(bundle, lines, z, first, end)) return;
    const Line<LANES> line = {bundle, static_cast<int32_t>(threadIdx.x % LANES)};
    const int32_t number = min(first + line.lane, count - 1);
    const auto each_word = [&](auto take) {
        for (int32_t word = threadIdx.x / LANES; word < bundle.words; word += blockDim.x / LANES) take(word);
        __syncthreads();
    };
    each_word([&](int32_t word) {
        const uint32_t contenders = load_word(line, lines, z, number, word);
        line.kept(word) = prune_word(line, word * WORD, contenders);
#pragma unroll
        for (int t = 0; t < WORD_TILES; ++t) line.low(word * WORD_TILES + t) = ~0u, line.high(word * WORD_TILES + t) = 0;
    });
    bool any = true;
    for (int turn = 0; turn < MOST_SMOOTHINGS && __syncthreads_or(any); ++turn) {
        any = false;
        each_word([&](int32_t word) { any = smooth_seam(line, word) || any; });
    }
    each_word([&](int32_t word) { scatter_breaks(line, word); });
    each_word([&](int32_t word) { bracket_word(line, word); });
    each_word([&](int32_t word) { bracket_line(line, word); });
    for (int32_t tile = threadIdx.x / LANES; tile < bundle.tiles; tile += blockDim.x / LANES)
        if (bundle.wanted[tile] && first + line.lane < count) finish_tile<NEAREST>(line, lines, z, number, tile);
}

template <bool NEAREST, int LANES, class Lines>
void search_by(const Lines &lines, cudaStream_t stream) {
    using Shape = Bundle<LANES>;
    launch_large("search_bundles", search_bundles<NEAREST, LANES, Lines>,
                 parts(lines.lines(), LANES) * lines.volume.depth(), Shape::threads(lines.length()),
                 Shape::bytes(lines.length()), stream, lines);
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
    const size_t room = most_shared();
    if (Bundle<MANY>::bytes(lines.length()) <= room / 4)
        search_by<NEAREST, MANY>(lines, stream);
    else if (Bundle<SOME>::bytes(lines.length()) <= room / 2)
        search_by<NEAREST, SOME>(lines, stream);
    else
        search_by<NEAREST, FEW>(lines, stream);
}

}  // namespace

bool envelope_serves(const Volume &volume) {
    const size_t room = most_shared();
    const auto fits = [&](int64_t weight, int64_t length) {
        const int64_t way = length + TILE;  // voxels a little beyond the end of a line are tried too
        return length <= LONGEST_LINE && weight * way * way < NO_COST<int32_t> &&
               Bundle<FEW>::bytes(length) <= room;
    };
    return volume.depth() <= LONGEST_LINE && fits(volume.weight[0], volume.width()) &&
           fits(volume.weight[1], volume.height());
}

int64_t envelope_store(const Volume &volume) { return volume.depth() * volume.width() * pitch_of(volume); }

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
