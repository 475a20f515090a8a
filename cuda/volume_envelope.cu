// The lower envelope along the lines of a volume where sites are far.
//
// A block takes a bundle of lines that lie side by side, and lays their costs in shared memory.  Of two contenders for
// a line's voxels the right one is nearer from a breakpoint on (Maurer, Qi & Raghavan 2003; Felzenszwalb & Huttenlocher
// 2012).  Where breakpoints ascend, the contenders are the envelope; where they do not, somebody between is never
// nearest.  A thread drops such from the contenders of a word, whose bits say who is left; then the seams between words
// are smoothed.  No more is asked: the first contender that is not overtaken before a tile of 8 voxels and the last that
// has overtaken another by its end bracket the nearest of its voxels in any case, and tightly where little is left to
// drop.  A thread then holds the voxels of a tile in registers and tries the candidates of the bracket on all of them,
// in whole numbers.  The bracket holds all equally near ones; the nearest site is the one of lowest z, then y, then x.
//
// Lines side by side are much alike.  So four of them are a band, which has its contenders, brackets and tiles in common:
// who is dropped loses in all four, and most of what a thread does, it does once for them.  Along y these are lines of
// four planes, whose distances are counted together; along x of four rows.  What the search along y finds is stored
// transposed, so that what the search along x reads lies side by side too, and a thread writes whole sectors.
//
// Cost, of each of the two searches: some 150 instructions a contender of a band, and for each voxel of a tile 1.6 a
// candidate; along y 3 bytes a voxel through the second cache and 4 out, along x 4 in and the outputs out.
#include <cuda_runtime.h>

#include "launch.h"
#include "volume.h"

namespace apsis {

namespace {

constexpr int THREADS = 256;                 // of a block at most
constexpr int RESIDENT = 3;                  // such blocks on a multiprocessor: leaves a thread 80 registers
constexpr int BAND = 4;                      // lines: of one their costs are a quad, of the planes of a strip whole bands
constexpr int WORD = 16;                     // contenders that a thread prunes, whose bits are a word
constexpr int WORD_TILES = WORD / TILE;
constexpr int AHEAD = 4;                     // of them on their way at once
constexpr int32_t NO_SITE_OFFSET = 1 << 29;  // a column without a site is farther from every plane
constexpr uint32_t NO_PLACE = 0xffffffffu;   // stored for the nearest site where there is none
constexpr int64_t LONGEST_LINE = 65535;      // of sites' places z and y, 16 bits each
constexpr int MOST_DROPS = 8;                // at a seam in a turn, on either side
constexpr int MOST_SMOOTHINGS = 6;
static_assert(GROUP % WORD == 0 && GROUP % BAND == 0 && STRIP % BAND == 0, "what a thread takes is needed together");

// Bands of a bundle.  Eight quads side by side are all banks of shared memory, wherever in their lines eight threads are.
// Of longer lines fewer let several blocks share a multiprocessor; two still fill a sector of memory.
constexpr int FEW = 2, SOME = 4, MANY = 8;

// Of a breakpoint, twice the place of a voxel, so of an eighth of a voxel.  Lines are shorter than 2^15, for the square of
// their length is below 2^30.  A breakpoint is a sum, exact and below 2^16, and a quotient whose terms are exact before they
// are rounded: its five roundings make 2^-21 of itself at most.  If it is beyond 2^17, so is the breakpoint beyond the line
// on the same side, and its error does not matter; else that is below 2^-4, and the last rounding's below 2^-6.
constexpr float SLACK = 0.25f;

/// LANES bands side by side in shared memory.
template <int LANES>
struct Bundle {
    int4 *cost;              // [column][lane]
    uint32_t *kept;          // [word][lane]: the contenders
    uint32_t *sites;         // [word][lane]: the columns that cost nothing in all lines, and are nearest to themselves
    uint32_t *lows, *highs;  // [tile][lane]: the bracket, whose ends are columns
    uint8_t *wanted;         // [tile]: not 0 if a line wants it
    int32_t length, words, tiles, weight;
    float inverse;  // of the weight

    static int64_t count_words(int64_t length) { return parts(length, WORD); }
    static size_t bytes(int64_t length) {
        return static_cast<size_t>(count_words(length) * (LANES * 4 * (BAND * WORD + 2 + 2 * WORD_TILES) + WORD_TILES));
    }
    static unsigned threads(int64_t length) {
        const int64_t turns = parts(count_words(length) * LANES, THREADS);
        return static_cast<unsigned>(parts(parts(count_words(length), turns) * LANES, WARP) * WARP);
    }
    __device__ Bundle(int4 *shared, int32_t length_, int32_t weight_)
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

/// A thread's band, and what it needs of it.
template <int LANES>
struct Band {
    const Bundle<LANES> &bundle;
    int32_t lane;

    __device__ uint32_t &kept(int32_t word) const { return bundle.kept[word * LANES + lane]; }
    __device__ uint32_t &sites(int32_t word) const { return bundle.sites[word * LANES + lane]; }
    __device__ uint32_t &low(int32_t tile) const { return bundle.lows[tile * LANES + lane]; }
    __device__ uint32_t &high(int32_t tile) const { return bundle.highs[tile * LANES + lane]; }
    __device__ int4 &cost(int32_t column) const { return bundle.cost[column * LANES + lane]; }

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
    int32_t column;
    int4 cost;
    float x;

    template <int LANES>
    __device__ Contender(const Band<LANES> &band, int32_t column_)
        : column(column_), cost(band.cost(column_)), x(static_cast<float>(column_)) {}
};

/// Of two contenders, twice the voxels of the lines of a band from which the right one is nearer.
struct Breaks {
    float at[BAND];

    __device__ Breaks() {
#pragma unroll
        for (float &b : at) b = -INFINITY;
    }
    __device__ Breaks(const Contender &left, const Contender &right, float inverse) {
        float way;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(way) : "f"(right.x - left.x));
        way *= inverse;
        const float sum = left.x + right.x;
        at[0] = fmaf(static_cast<float>(right.cost.x - left.cost.x), way, sum);
        at[1] = fmaf(static_cast<float>(right.cost.y - left.cost.y), way, sum);
        at[2] = fmaf(static_cast<float>(right.cost.z - left.cost.z), way, sum);
        at[3] = fmaf(static_cast<float>(right.cost.w - left.cost.w), way, sum);
    }
    __device__ float least() const { return fminf(fminf(at[0], at[1]), fminf(at[2], at[3])); }
    __device__ float most() const { return fmaxf(fmaxf(at[0], at[1]), fmaxf(at[2], at[3])); }
    /// Whether they are behind the next ones in all lines, so that the contender between is never nearest.
    __device__ bool pass(const Breaks &next) const {
        return at[0] > next.at[0] + SLACK && at[1] > next.at[1] + SLACK && at[2] > next.at[2] + SLACK &&
               at[3] > next.at[3] + SLACK;
    }
};

/// Reads the costs of a word's columns; says which are contenders: those between two others that cost nothing are not.
template <int LANES, class Lines>
__device__ uint32_t load_word(const Band<LANES> &band, const Lines &lines, int32_t outer, int32_t number, int32_t word) {
    const int32_t first = word * WORD, length = band.bundle.length;
    uint32_t found = 0, sites = 0;
    if (lines.sees(outer, number, first)) {
        const int64_t begin = lines.first(outer, number), stride = lines.stride();
#pragma unroll 1
        for (int32_t turn = 0; turn < min(length - first, WORD); turn += AHEAD) {
            int4 cost[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; ++i) cost[i] = lines.costs(begin + min(first + turn + i, length - 1) * stride, outer, number);
#pragma unroll
            for (int i = 0; i < AHEAD; ++i) {
                const int4 &c = cost[i];
                band.cost(first + turn + i) = c;
                const uint32_t inside = first + turn + i < length;
                found |= (min(min(c.x, c.y), min(c.z, c.w)) < NO_COST<int32_t> ? inside : 0) << (turn + i);
                sites |= ((c.x | c.y | c.z | c.w) == 0 ? inside : 0) << (turn + i);
            }
        }
    }
    band.sites(word) = sites;
    return found & ~(sites & sites << 1 & sites >> 1);
}

/// Which of a word's contenders are on their lower envelope, found as a stack.
template <int LANES>
__device__ uint32_t prune_word(const Band<LANES> &band, int32_t first, uint32_t rest) {
    if (!rest) return 0;
    const float inverse = band.bundle.inverse;
    Contender on(band, first + lowest_bit(rest)), below = on;
    uint32_t kept = rest & -rest;
    Breaks here;  // of `below` and `on`
    while (rest &= rest - 1) {
        const Contender comes(band, first + lowest_bit(rest));
        Breaks ahead(on, comes, inverse);
        while (here.pass(ahead)) {
            on = below;
            kept &= (2u << (on.column - first)) - 1;
            const uint32_t under = kept ^ 1u << (on.column - first);
            here = Breaks();
            if (under) below = Contender(band, first + highest_bit(under)), here = Breaks(below, on, inverse);
            ahead = Breaks(on, comes, inverse);
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
__device__ bool smooth_seam(const Band<LANES> &band, int32_t word) {
    const uint32_t bits = band.kept(word);
    const int32_t next = bits ? band.after(word * WORD + WORD - 1) : -1;
    if (next < 0) return false;
    const float inverse = band.bundle.inverse;
    Contender left(band, word * WORD + highest_bit(bits)), right(band, next);
    Breaks here(left, right, inverse);
    const auto drop = [&](int32_t column) { atomicAnd(&band.kept(column / WORD), ~(1u << column % WORD)); };
    bool any = false, more = true;
    for (int drops = 0; more && drops < MOST_DROPS; ++drops) {
        more = false;
        if (const int32_t at = band.before(left.column); at >= 0) {
            const Contender below(band, at);
            if (Breaks(below, left, inverse).pass(here))
                drop(left.column), left = below, here = Breaks(left, right, inverse), more = true;
        }
        if (const int32_t at = band.after(right.column); at >= 0) {
            const Contender beyond(band, at);
            if (here.pass(Breaks(right, beyond, inverse)))
                drop(right.column), right = beyond, here = Breaks(left, right, inverse), more = true;
        }
        any = any || more;
    }
    return any;
}

/// Every tile learns of the breakpoints that lie in it: of the first contender that is not overtaken before the tile, for
/// all before it are farther than their neighbours on the right; and of the last that has overtaken its neighbour on the
/// left by the end of the tile, for all after it are farther than theirs.
template <int LANES>
__device__ void scatter_breaks(const Band<LANES> &band, int32_t word) {
    uint32_t rest = band.kept(word);
    if (!rest) return;
    const int32_t tiles = band.bundle.tiles;
    int32_t low_tile = -1, high_tile = tiles;
    Contender left(band, word * WORD + lowest_bit(rest));
    if (band.before(left.column) < 0) high_tile = 0;  // the first of all
    while (true) {
        rest &= rest - 1;
        const int32_t next = rest ? word * WORD + lowest_bit(rest) : band.after(left.column);
        int32_t low_now = tiles - 1, high_now = tiles;  // the last of all is never overtaken
        Contender right = left;
        if (next >= 0) {
            right = Contender(band, next);
            const Breaks breaks(left, right, band.bundle.inverse);
            // The last voxel of tile t is where 2x = 16 t + 14.
            low_now = min(low_now, __float2int_rd((breaks.most() + SLACK) / (2 * TILE)));
            high_now = max(0, __float2int_rd((breaks.least() - SLACK + 2) / (2 * TILE)));
        }
        if (low_now >= 0 && low_now != low_tile) atomicMin(&band.low(low_now), static_cast<uint32_t>(left.column));
        if (high_now != high_tile && high_tile < tiles) atomicMax(&band.high(high_tile), static_cast<uint32_t>(left.column));
        low_tile = low_now, high_tile = high_now;
        left = right;
        if (!rest) break;
    }
    if (high_tile < tiles) atomicMax(&band.high(high_tile), static_cast<uint32_t>(left.column));
}

/// From the breakpoints in tiles to the brackets of tiles: the least of those from a tile on, the most up to it.  First
/// among the tiles of a word.
template <int LANES>
__device__ void bracket_word(const Band<LANES> &band, int32_t word) {
    const int32_t first = word * WORD_TILES;
#pragma unroll
    for (int t = 1; t < WORD_TILES; ++t) {
        band.low(first + WORD_TILES - 1 - t) = min(band.low(first + WORD_TILES - 1 - t), band.low(first + WORD_TILES - t));
        band.high(first + t) = max(band.high(first + t), band.high(first + t - 1));
    }
}

/// Then among words.  It does no harm that others do the same at the same time.
template <int LANES>
__device__ void bracket_band(const Band<LANES> &band, int32_t word) {
    uint32_t low = ~0u, high = 0;
    for (int32_t w = word + 1; w < band.bundle.words; ++w) low = min(low, band.low(w * WORD_TILES));
    for (int32_t w = 0; w < word; ++w) high = max(high, band.high(w * WORD_TILES + WORD_TILES - 1));
#pragma unroll
    for (int t = 0; t < WORD_TILES; ++t) {
        uint32_t &here = band.low(word * WORD_TILES + t), &there = band.high(word * WORD_TILES + t);
        here = min(here, low), there = max(there, high);
    }
}

/// Calls take(column) for every contender in a tile's bracket, from left to right.
template <int LANES, class Take>
__device__ void each_in_bracket(const Band<LANES> &band, int32_t tile, Take take) {
    const uint32_t low = band.low(tile), high = band.high(tile);
    if (low > high) return;  // there is none
    const int32_t last = static_cast<int32_t>(high / WORD);
    int32_t word = static_cast<int32_t>(low / WORD);
    uint32_t bits = band.kept(word) & (~0u << low % WORD);
    while (true) {
        if (word == last) bits &= (2u << high % WORD) - 1;
        for (; bits; bits &= bits - 1) take(word * WORD + lowest_bit(bits));
        if (++word > last) return;
        bits = band.kept(word);
    }
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
    __device__ Candidate(const Band<LANES> &band, int32_t x, int32_t c) {
        const int32_t d = x - c, way = band.bundle.weight * d;
        const int4 cost = band.cost(c);
        first[0] = cost.x + way * d, first[1] = cost.y + way * d, first[2] = cost.z + way * d, first[3] = cost.w + way * d;
        slope = 2 * way;
    }
    __device__ int32_t at(int r, int k) const { return first[r] + k * slope; }
};

/// The least costs of a tile's voxels.
struct Tile {
    int32_t cost[BAND][TILE];
};

/// Finds the costs of a tile that has no site in all lines but those whose bits are set.
template <int LANES>
__device__ void find_costs(const Band<LANES> &band, int32_t tile, uint32_t sites, Tile &found) {
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        const int32_t cost = sites >> k & 1 ? -band.bundle.weight * k * k : NO_COST<int32_t>;
#pragma unroll
        for (int r = 0; r < BAND; ++r) found.cost[r][k] = cost;
    }
    each_in_bracket(band, tile, [&](int32_t c) {
        const Candidate candidate(band, tile * TILE, c);
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const int32_t way = keep(k * candidate.slope);  // once for all lines
#pragma unroll
            for (int r = 0; r < BAND; ++r) found.cost[r][k] = __viaddmin_s32(candidate.first[r], way, found.cost[r][k]);
        }
    });
}

/// Finds which candidates the costs of a line are of; of several the one whose site is lower(a, b); -1 for none.
template <int LANES, class Lower>
__device__ void find_candidates(const Band<LANES> &band, int32_t tile, uint32_t sites, int r, const int32_t (&cost)[TILE],
                                int32_t (&at)[TILE], Lower lower) {
#pragma unroll
    for (int k = 0; k < TILE; ++k) at[k] = sites >> k & 1 ? tile * TILE + k : -1;
    if (sites == (1u << TILE) - 1) return;
    each_in_bracket(band, tile, [&](int32_t c) {
        const Candidate candidate(band, tile * TILE, c);
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            if (candidate.at(r, k) == cost[k] && c != at[k] && (at[k] < 0 || lower(c, at[k]))) at[k] = c;
    });
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
        write_tile(
            volume, x, y, z, cost,
            [&](int32_t c) {
                const Measure &measure = volume.output.measure;
                return measure.unit == 1 ? root_of(c) : length_of<float>(measure, c);
            },
            [&](int k) {
                const uint32_t place = site(z, y, at[k]);
                return (int64_t(place >> 16) * volume.height() + (place & 0xffff)) * volume.width() + at[k];
            });
    }
};

/// Finds what costs least for the voxels of a tile, and hands it on.
template <bool NEAREST, int LANES, class Lines>
__device__ void finish_tile(const Band<LANES> &band, const Lines &lines, int32_t layer, int32_t number, int32_t tile) {
    const uint32_t sites = band.sites(tile / WORD_TILES) >> tile % WORD_TILES * TILE & ((1u << TILE) - 1);
    Tile found;
    find_costs(band, tile, sites, found);
#pragma unroll
    for (int r = 0; r < BAND; ++r) {
        if (!lines.inside(layer, r, number)) break;
        int32_t at[TILE];
        if constexpr (NEAREST)
            find_candidates(band, tile, sites, r, found.cost[r], at,
                            [&](int32_t a, int32_t b) { return lines.lower(layer, r, number, a, b); });
#pragma unroll
        for (int k = 0; k < TILE; ++k) found.cost[r][k] += band.bundle.weight * k * k;
        lines.write(layer, r, number, tile * TILE, found.cost[r], at);
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
    const Band<LANES> band = {bundle, static_cast<int32_t>(threadIdx.x % LANES)};
    const int32_t number = min(first + band.lane, count - 1);
    const auto each_word = [&](auto take) {
        for (int32_t word = threadIdx.x / LANES; word < bundle.words; word += blockDim.x / LANES) take(word);
        __syncthreads();
    };
    each_word([&](int32_t word) {
        const uint32_t contenders = load_word(band, lines, layer, number, word);
        band.kept(word) = prune_word(band, word * WORD, contenders);
#pragma unroll
        for (int t = 0; t < WORD_TILES; ++t) band.low(word * WORD_TILES + t) = ~0u, band.high(word * WORD_TILES + t) = 0;
    });
    bool any = true;
    for (int turn = 0; turn < MOST_SMOOTHINGS && __syncthreads_or(any); ++turn) {
        any = false;
        each_word([&](int32_t word) { any = smooth_seam(band, word) || any; });
    }
    each_word([&](int32_t word) { scatter_breaks(band, word); });
    each_word([&](int32_t word) { bracket_word(band, word); });
    each_word([&](int32_t word) { bracket_band(band, word); });
    for (int32_t tile = threadIdx.x / LANES; tile < bundle.tiles; tile += blockDim.x / LANES)
        if (bundle.wanted[tile] && first + band.lane < count) finish_tile<NEAREST>(band, lines, layer, number, tile);
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
