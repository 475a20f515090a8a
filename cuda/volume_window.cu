// The search in windows: the nearest site of every voxel that has one within some 240 voxels; 170 where lines are so long
// that they are cut.
//
// Costs along a line go in chunks of TILE.  A thread holds a tile of as many voxels and tries the chunks of
// its line from its own one outwards, on either side, until the way to the next one costs as much as what it
// has found; and it passes over a chunk whose least cost leaves nothing to be won.  A warp has the same tile
// of 32 words that lie side by side, so that its lanes read their candidates without conflict, share what the
// ways cost, and mostly agree on which chunks to try.
//
// For distances alone a word has two planes, HALF apart, each cost in 16 bits, and one instruction adds and
// takes the least for both (sm_90; a few before).  For the nearest site a word is a key: the cost, then the
// offset along z to the site, then that along y, of which 7 bits are left: it is exact where it is short, else a
// step of several.  Along y that tells sites apart, since of the same cost and z there are but two, one on either
// side.  Along x the least key is of the lowest site, but for its place in the step and its x: the rest of the cost
// tells them, with a look at those who may be it.
//
// What is found is true where it costs less than what lies beyond the reach, and less than candidates that are
// clipped, since they would not fit 16 bits together with a way; all else costs more than that.  So is what the
// search along x makes of it, which says at the end what is known: other patches are marked, and left to the
// monotone argmin.
//
// Cost: 3/8 byte a voxel in, through the second cache, 2 bytes a voxel out and in again (4 for the nearest site),
// and the outputs out; a chunk takes some 90 instructions for 8 voxels of two planes, and 5 of them are tried where
// sites are 28 voxels off.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "launch.h"
#include "volume.h"
#include "volume_words.cuh"

namespace apsis {

namespace {

constexpr int THREADS = 512;  // with two such blocks on a multiprocessor a thread has all registers that it wants
constexpr int RESIDENT = 2;
constexpr int WARPS_HERE = THREADS / WARP;
constexpr int64_t MOST_CHUNKS = 96;  // of a line in shared memory, of which a multiprocessor has room for two

// A key: the cost, then the offset along z to the site, then the step of that along y, each as much more than it is as makes
// it a number without a sign.
constexpr int STEP_BITS = 7, DOWN_BITS = 9, COST_SHIFT = DOWN_BITS + STEP_BITS;
constexpr int32_t STEP_ZERO = 1 << (STEP_BITS - 1), DOWN_ZERO = 1 << (DOWN_BITS - 1);
constexpr uint32_t NO_OFFSET = DOWN_ZERO << STEP_BITS | STEP_ZERO, OFFSETS = (1u << COST_SHIFT) - 1;

// Offsets along y up to this are steps of their own; others share one, so many each.
constexpr int32_t EXACT = 32, TOGETHER_LOG2 = 3, TOGETHER = 1 << TOGETHER_LOG2;
constexpr int32_t MOST_OFFSET = 255;  // whose square fits 16 bits
static_assert(MOST_OFFSET < DOWN_ZERO && MOST_OFFSET < EXACT + (STEP_ZERO - EXACT) * TOGETHER);

/// The step of an offset, and the first offset of a step.
__device__ int32_t step_of(int32_t offset) {
    const int32_t beyond = max(offset - EXACT, 0), before = max(-offset - EXACT, 0);
    return min(max(offset, -EXACT), EXACT) + (beyond >> TOGETHER_LOG2) - ((before + TOGETHER - 1) >> TOGETHER_LOG2);
}
__device__ int32_t first_of(int32_t step) {
    return step + (TOGETHER - 1) * (max(step - EXACT, 0) + min(step + EXACT, 0));
}

/// The chunks that a block may have in shared memory, with the ways to them.
int64_t most_held() {
    const auto rows = static_cast<int64_t>(most_shared() / (sizeof(uint32_t) * WARP)) - 2;
    return std::min(rows / (TILE + 2), MOST_CHUNKS);
}

/// How far the search looks, and what words can tell of it.
template <bool NEAREST>
struct Reach {
    int32_t chunks[2];  // to either side of a tile's own, along x and y
    int32_t farthest;   // distances along z above this count as this
    int32_t most;       // which costs this, as a voxel without a site does
    int32_t sure;       // costs up to this are true
    int32_t real;       // costs up to this are those of some site
    int32_t weight[3];
    float inverse;  // of the root of the weight along x

    explicit Reach(const Volume &volume) {
        const int64_t size[] = {volume.width(), volume.height()}, held = most_held();
        int64_t beyond = UINT16_MAX, clipped = UINT16_MAX;
        for (int axis = 0; axis < 3; ++axis) weight[axis] = volume.weight[axis];
        for (int axis = 0; axis < 2; ++axis) {
            const auto cost = [&](int64_t d) { return weight[axis] * d * d; };
            // The nearest place that n chunks leave out, and what a candidate costs at least that is clipped
            // for the n-th one.
            const auto left_out = [&](int64_t n) { return cost(n * TILE + 1); };
            const auto clip = [&](int64_t n) {
                return UINT16_MAX - cost(n * TILE + TILE - 1) + cost(n * TILE - TILE + 1);
            };
            int64_t n = 0, enough = MOST_CARRY;
            if (size[axis] > held * TILE) enough = held * 2 / 9;                     // or segments would be short
            while (n < enough && left_out(n) < clip(n + 1) &&
                   cost((n + 1) * TILE + TILE - 1) <= UINT16_MAX)
                ++n;
            chunks[axis] = static_cast<int32_t>(n);
            beyond = std::min(beyond, left_out(n));
            if (n) clipped = std::min(clipped, clip(n));
        }
        farthest = 0;
        while (weight[2] * (farthest + 1) * (farthest + 1) < UINT16_MAX) ++farthest;
        most = weight[2] * farthest * farthest;
        real = static_cast<int32_t>(std::min<int64_t>(clipped, most) - 1);
        sure = static_cast<int32_t>(std::min<int64_t>(beyond - 1, real));
        inverse = 1.0f / std::sqrt(static_cast<float>(weight[0]));
    }
    bool serves() const { return chunks[0] > 0 && chunks[1] > 0 && sure > 0; }
    /// A cost as it stands in a word, or in both halves of it.
    __device__ uint32_t word_of(int32_t cost) const {
        return NEAREST ? static_cast<uint32_t>(cost) << COST_SHIFT : cost * BOTH;
    }
    __device__ uint32_t way_of(int axis, int32_t distance) const {
        return word_of(weight[axis] * distance * distance);
    }
    /// What fits 16 bits together with a way.
    __device__ uint32_t rest_of(uint32_t way) const { return NEAREST ? (~way & ~OFFSETS) | NO_OFFSET : ~way; }
    __device__ uint32_t none() const { return word_of(most) | (NEAREST ? NO_OFFSET : 0); }
};

/// What the search along y stores: [plane][x][y], up to whole tiles of y's.
__host__ __device__ int64_t pitch_of(const Volume &volume) { return parts(volume.height(), TILE) * TILE; }
__device__ int64_t stored_line(const Volume &volume, int64_t plane, int64_t x) {
    return (plane * volume.width() + x) * pitch_of(volume);
}

/// How lines are cut into blocks: in segments of whole tiles, with the chunks that these may want to either
/// side; or of short lines several bundles side by side, each of as many words as a warp has lanes.
struct Cut {
    int32_t chunks, segment, reach, bundles_log2;

    Cut(int64_t length, int32_t reach_)
        : chunks(static_cast<int32_t>(parts(length, TILE))), reach(reach_), bundles_log2(0) {
        const int64_t held = most_held(),
                      most = chunks <= held ? chunks : std::max<int64_t>(held - 2 * reach, 0);
        segment = most ? static_cast<int32_t>(parts(chunks, parts(chunks, most))) : 0;
        if (segment == chunks)
            while ((segment << bundles_log2) * 2 <= WARPS_HERE) ++bundles_log2;
    }
    bool serves() const { return segment > 0; }
    __host__ __device__ int32_t bundles() const { return 1 << bundles_log2; }
    __host__ __device__ int32_t segments() const { return (chunks + segment - 1) / segment; }
    size_t bytes() const {
        const size_t rows = std::min(segment + 2 * reach, chunks) * (TILE + 1) + 2;  // see Window
        return sizeof(uint32_t) * (rows * WARP * bundles() + 2 * (reach + 1) * TILE);
    }
};

/// A block's part of its lines in shared memory.
struct Window {
    uint32_t *ways;               // what a way costs, by its signed length
    uint32_t *least;              // [bundle][chunk][lane]: of its candidates; none before the first and after the last
    uint32_t *words;              // [bundle][candidate][lane]
    int32_t first, tiles;         // tiles that are sought
    int32_t first_chunk, chunks;  // those that may have their sites
    bool any = false;             // of them any has a site

    __device__ Window(uint32_t *shared, const Cut &cut, int32_t segment) {
        first = segment * cut.segment;
        tiles = min(cut.segment, cut.chunks - first);
        first_chunk = max(first - cut.reach, 0);
        chunks = min(first + tiles + cut.reach, cut.chunks) - first_chunk;
        ways = shared + (cut.reach + 1) * TILE;
        least = ways + (cut.reach + 1) * TILE;
        words = least + cut.bundles() * (chunks + 2) * WARP;
    }
    __device__ uint32_t *least_of(int32_t bundle, int32_t chunk) const {
        return least + (bundle * (chunks + 2) + 1 + chunk) * WARP;
    }
    __device__ uint32_t *row(int32_t bundle, int32_t candidate) const {
        return words + (bundle * chunks * TILE + candidate) * WARP;
    }
};

/// The key of one plane, by its distances to the sites above and below.
__device__ uint32_t first_key(const Reach<true> &reach, int32_t above, int32_t below) {
    const int32_t distance = min(above, below), offset = above <= below ? -above : below;
    return distance < reach.farthest
               ? reach.word_of(reach.weight[2] * distance * distance) + NO_OFFSET + (offset << STEP_BITS)
               : reach.none();
}

/// The costs of a pair of planes.
__device__ uint32_t first_costs(const Reach<false> &reach, uint32_t up, uint32_t down) {
    const uint32_t near = __vminu2(__vminu2(up, down), reach.farthest * BOTH);
    const uint32_t low = near & 0xffff, high = near >> 16;
    return (low * low + (near & 0xffff0000u) * high) * reach.weight[2];
}

/// What is found for a tile of voxels.
template <bool NEAREST>
struct Found {
    uint32_t best[TILE];
    uint32_t worst = ~0u;  // of those that are heeded

    /// Tries a chunk.  Candidates that would not fit 16 bits with all ways count as what just does.
    __device__ void take(const uint32_t *words, const uint32_t *ways, uint32_t most) {
        uint32_t way[2 * TILE];  // from TILE to the left
#pragma unroll
        for (int i = 0; i < 2 * TILE; i += 4)
            memcpy(way + i, __builtin_assume_aligned(ways - TILE + i, 16), 16);
#pragma unroll
        for (int i = 0; i < TILE; ++i) {
            const uint32_t word = NEAREST ? min(words[i * WARP], most) : __vminu2(words[i * WARP], most);
#pragma unroll
            for (int k = 0; k < TILE; ++k)
                best[k] = NEAREST ? __viaddmin_u32(word, way[TILE + i - k], best[k])
                                  : __viaddmin_u16x2(word, way[TILE + i - k], best[k]);
        }
    }
    __device__ void find_worst(uint32_t heeded) {
        worst = best[0];
#pragma unroll
        for (int k = 1; k < TILE; ++k) worst = NEAREST ? max(worst, best[k]) : __vmaxu2(worst, best[k]);
        worst = (NEAREST ? worst | OFFSETS : worst) & heeded;
    }
    /// Whether candidates that cost no less than this may win.
    __device__ bool may_win(uint32_t bound) const {
        return NEAREST ? bound <= worst : __vminu2(bound, worst) != worst;
    }
};

/// Finds the least words of a tile, of which a lane heeds some bits.
template <int AXIS, bool NEAREST>
__device__ Found<NEAREST> search_tile(const Window &window, const Reach<NEAREST> &reach, int32_t bundle,
                                      int32_t tile, uint32_t heeded) {
    const int lane = threadIdx.x % WARP;
    const int32_t own = window.first + tile - window.first_chunk;
    const int32_t most = window.any ? min(reach.chunks[AXIS], max(own, window.chunks - 1 - own)) : 0;
    const uint32_t *const words = window.row(bundle, own * TILE) + lane;
    const uint32_t *const least = window.least_of(bundle, 0) + lane;
    Found<NEAREST> found;
#pragma unroll
    for (int k = 0; k < TILE; ++k) found.best[k] = ~0u;
    found.take(words, window.ways, reach.rest_of(reach.way_of(AXIS, TILE - 1)));
    found.find_worst(heeded);
    const auto attempt = [&](int32_t away, int32_t chunk, uint32_t here, uint32_t way) {
        const uint32_t rest = reach.rest_of(way),
                       bound = NEAREST ? min(here, rest) & ~OFFSETS : __vminu2(here, rest);
        if (!__any_sync(ALL_LANES, found.may_win(bound + way))) return;
        found.take(words + chunk * TILE * WARP, window.ways + chunk * TILE,
                   reach.rest_of(reach.way_of(AXIS, away * TILE + TILE - 1)));
        found.find_worst(heeded);
    };
    int32_t left = own * WARP, right = left;
#pragma unroll 1
    for (int32_t away = 1; away <= most; ++away) {
        const uint32_t way = reach.way_of(AXIS, away * TILE - (TILE - 1));
        if (!__any_sync(ALL_LANES, found.may_win(way))) break;
        left = max(left - WARP, -WARP), right = min(right + WARP, window.chunks * WARP);
        const uint32_t left_least = least[left], right_least = least[right];
        attempt(away, -away, left_least, way);
        attempt(away, away, right_least, way);
    }
    return found;
}

/// The lines along y: a bundle has all words of a strip, one column or two.
template <bool NEAREST_>
struct AlongY {
    Volume volume;
    Reach<NEAREST_> reach;
    Cut cut;

    static constexpr bool NEAREST = NEAREST_;
    static constexpr int AXIS = 1;
    static constexpr int DEEP = NEAREST ? STRIP : HALF, WIDE = WARP / DEEP;  // words of a column, and columns
    static constexpr int AHEAD = 2;  // columns that a thread loads at once
    __host__ __device__ int64_t across() const { return parts(volume.width(), WIDE * cut.bundles()); }
    __host__ __device__ int64_t slabs() const { return volume.columns.strips(); }

    __device__ int32_t way_word(int32_t d) const { return reach.way_of(AXIS, d) + (NEAREST ? step_of(d) : 0); }
    /// What is stored of a column.
    struct Stored {
        uint32_t word;
        int32_t before, after;
    };
    __device__ Stored load_column(int64_t strip, int64_t x, int64_t y) const {
        const Columns &columns = volume.columns;
        const bool inside = x < volume.width() && y < volume.height();
        const int64_t at = inside ? columns.at(y, strip, x)
                                  : 0;  // without a branch, or else one load would wait for the other
        const Stored stored = {__ldg(columns.words + at), __ldg(columns.before + at),
                               __ldg(columns.after + at)};
        return inside ? stored : Stored{0, NO_SITE_BEFORE, NO_SITE_AFTER};
    }
    __device__ void lay_column(int64_t strip, const Stored &stored, uint4 *to) const {
        uint32_t laid[DEEP / HALF][4];  // of planes up to HALF, and beyond
        scan_column(stored.word, stored.before, stored.after, static_cast<int32_t>(strip * STRIP),
                    [&](int r, uint32_t up, uint32_t down) {
                        if constexpr (NEAREST) {
                            laid[0][r % 4] = first_key(reach, up & 0xffff, down & 0xffff);
                            laid[1][r % 4] = first_key(reach, up >> 16, down >> 16);
                        } else {
                            laid[0][r % 4] = first_costs(reach, up, down);
                        }
                        if (r % 4) return;
#pragma unroll
                        for (int half = 0; half < DEEP / HALF; ++half)
                            memcpy(to + (half * HALF + r) / 4, laid[half], sizeof(*to));
                    });
    }
    __device__ void load(const Window &window, int64_t strip, int64_t place) const {
        const int32_t wide_log2 = WIDE / 2 + cut.bundles_log2, wide = 1 << wide_log2,
                      items = window.chunks * TILE << wide_log2;
        const int64_t x0 = place * wide, y0 = int64_t(window.first_chunk) * TILE;
#pragma unroll 1
        for (int32_t first = threadIdx.x; first < items; first += AHEAD * THREADS) {
            Stored stored[AHEAD];
#pragma unroll
            for (int j = 0; j < AHEAD; ++j) {
                const int32_t i = min(first + j * THREADS, items - 1);
                stored[j] = load_column(strip, x0 + (i & wide - 1), y0 + (i >> wide_log2));
            }
#pragma unroll
            for (int j = 0; j < AHEAD; ++j) {
                const int32_t i = first + j * THREADS, row = i >> wide_log2, side = i & wide - 1;
                if (i >= items) break;
                lay_column(strip, stored[j],
                           reinterpret_cast<uint4 *>(window.row(side / WIDE, row) + side % WIDE * DEEP));
            }
        }
    }
    __device__ int64_t column(int64_t place, int32_t bundle) const {
        return (place * cut.bundles() + bundle) * WIDE + threadIdx.x % WARP / DEEP;
    }
    __device__ int64_t plane(int64_t strip) const { return strip * DEEP + threadIdx.x % DEEP; }
    __device__ uint32_t heeded(int64_t strip, int64_t place, int32_t bundle) const {
        if (column(place, bundle) >= volume.width() || plane(strip) >= count_planes<NEAREST>(volume))
            return 0;
        return NEAREST || strip * STRIP + threadIdx.x % DEEP + HALF < volume.depth() ? ~0u : 0xffff;
    }
    __device__ void finish(const Window &, int64_t strip, int64_t place, int32_t bundle, int32_t tile,
                           bool is_heeded, const Found<NEAREST> &found) const {
        uint32_t *const to =
            volume.store + stored_line(volume, plane(strip), column(place, bundle)) + int64_t(tile) * TILE;
        if (__all_sync(ALL_LANES, is_heeded))
            store_tiles(to, found.best);
        else if (is_heeded)
            store_tile(to, found.best, TILE);
    }
};

/// Copies 16 bytes to shared memory, and need not wait for them (sm_80): they are there after
/// wait_for_copies().
__device__ void copy_early(uint4 *to, const uint4 *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(from));
#else
    *to = __ldg(from);
#endif
}
__device__ void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// The lines along x: a bundle has as many rows of a stored plane.  LEAN where outputs are packed and lengths
/// roots, which spares branches.
template <bool NEAREST_, bool LEAN>
struct AlongX {
    Volume volume;
    Reach<NEAREST_> reach;
    Cut cut;

    static constexpr bool NEAREST = NEAREST_;
    static constexpr int AXIS = 0;
    __host__ __device__ int64_t across() const { return parts(volume.height(), WARP * cut.bundles()); }
    __host__ __device__ int64_t slabs() const { return count_planes<NEAREST>(volume); }

    __device__ int32_t way_word(int32_t d) const { return reach.way_of(AXIS, d); }
    __device__ void load(const Window &window, int64_t plane, int64_t place) const {
        constexpr int QUADS_LOG2 = 3, QUADS = 1 << QUADS_LOG2;
        static_assert(QUADS * 4 == WARP);
        const int32_t wide_log2 = QUADS_LOG2 + cut.bundles_log2, items = window.chunks * TILE << wide_log2;
        const int64_t y0 = place * WARP * cut.bundles(), x0 = int64_t(window.first_chunk) * TILE,
                      pitch = pitch_of(volume);
        const uint4 none = make_uint4(reach.none(), reach.none(), reach.none(), reach.none());
#pragma unroll 4
        for (int32_t i = threadIdx.x; i < items; i += THREADS) {
            const int32_t row = i >> wide_log2, quad = i & (1 << wide_log2) - 1;
            const int64_t x = x0 + row, y = y0 + quad * 4;
            const bool inside = x < volume.width() && y < pitch;
            const uint32_t *const from = volume.store + (inside ? stored_line(volume, plane, x) + y : 0);
            uint4 *const to = reinterpret_cast<uint4 *>(window.row(quad / QUADS, row) + quad % QUADS * 4);
            if (inside)
                copy_early(to, reinterpret_cast<const uint4 *>(from));
            else
                *to = none;
        }
        wait_for_copies();
    }
    __device__ int32_t row(int64_t place, int32_t bundle) const {
        return static_cast<int32_t>((place * cut.bundles() + bundle) * WARP) + threadIdx.x % WARP;
    }
    __device__ int64_t first_plane(int64_t plane) const {
        return NEAREST ? plane : plane / HALF * STRIP + plane % HALF;
    }
    __device__ uint32_t heeded(int64_t plane, int64_t place, int32_t bundle) const {
        if (row(place, bundle) >= volume.height()) return 0;
        return NEAREST || first_plane(plane) + HALF < volume.depth() ? ~0u : 0xffff;
    }
    __device__ void finish(const Window &window, int64_t plane, int64_t place, int32_t bundle, int32_t tile,
                           bool is_heeded, const Found<NEAREST> &found) const {
        const int32_t y = row(place, bundle), x = tile * TILE;
        const int64_t z = first_plane(plane);
        if constexpr (NEAREST) {
            finish_plane(x, y, z, is_heeded, found.best,
                         [&](int k) { return site(window, bundle, x + k, y, z, found.best[k]); });
        } else {
            const auto no_site = [](int) { return int64_t(0); };
            uint32_t cost[TILE];
#pragma unroll
            for (int k = 0; k < TILE; ++k) cost[k] = found.best[k] & 0xffff;
            finish_plane(x, y, z, is_heeded, cost, no_site);
            if (z + HALF >= volume.depth()) return;
#pragma unroll
            for (int k = 0; k < TILE; ++k) cost[k] = found.best[k] >> 16;
            finish_plane(x, y, z + HALF, is_heeded, cost, no_site);
        }
    }
    /// The lowest site of a voxel, whose key says how far it is: the first offset of the step along y, and the left one of two
    /// candidates whose sites have that.
    __device__ int64_t site(const Window &window, int32_t bundle, int32_t x, int32_t y, int64_t z, uint32_t key) const {
        const int32_t begin = window.first_chunk * TILE, end = begin + window.chunks * TILE;
        const uint32_t *const words = window.row(bundle, 0) + threadIdx.x % WARP;
        const int32_t step = static_cast<int32_t>(key & ((1 << STEP_BITS) - 1)) - STEP_ZERO, last = first_of(step + 1) - 1;
        const int32_t down = static_cast<int32_t>(key >> STEP_BITS & ((1 << DOWN_BITS) - 1)) - DOWN_ZERO;
        const int32_t across = static_cast<int32_t>(key >> COST_SHIFT) - reach.weight[2] * down * down;
        for (int32_t along = first_of(step);; ++along) {
            const int32_t rest = across - reach.weight[1] * along * along;
            const int32_t way = static_cast<int32_t>(small_root(static_cast<float>(max(rest, 0))) * reach.inverse + 0.5f);
            const uint32_t before = key - reach.way_of(AXIS, way);  // the candidate's own key
            const auto is_there = [&](int32_t at) { return begin <= at && at < end && words[(at - begin) * WARP] == before; };
            const bool may_be = rest == reach.weight[0] * way * way, is_left = may_be && is_there(x - way);
            if (is_left || along == last || (may_be && is_there(x + way)))
                return ((z + down) * volume.height() + y + along) * volume.width() + x + (is_left ? -way : way);
        }
    }
    /// Whether a whole tile from x on may be stored 16 bytes at a time.
    __device__ bool is_aligned(int32_t x, int32_t y, int64_t z) const {
        const auto start = [&](const auto &view) {
            return view ? reinterpret_cast<uintptr_t>(view.row(y, z)) : 0;
        };
        return (start(volume.output.distance) | (NEAREST ? start(volume.output.nearest) : 0)) %
                   sizeof(uint4) ==
               0;
    }
    /// Writes a tile of one plane if it is near, or marks it.
    template <class Site>
    __device__ void finish_plane(int32_t x, int32_t y, int64_t z, bool is_heeded,
                                 const uint32_t (&word)[TILE], Site site) const {
        const int32_t inside = static_cast<int32_t>(volume.width()) - x;
        int32_t cost[TILE], worst = 0;
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            cost[k] = static_cast<int32_t>(NEAREST ? word[k] >> COST_SHIFT : word[k]);
            worst = max(worst, k < inside ? cost[k] : 0);
        }
        const bool is_near = worst <= reach.sure || volume.output.measure.limit < reach.sure;
        const auto length = [&](int32_t c) {
            if (LEAN) return small_root(static_cast<float>(c));
            return volume.output.measure.unit == 1 ? small_root(static_cast<float>(c))
                                                   : __ldg(volume.lengths + c);
        };
        const bool is_plain = LEAN || volume.plain;
        const bool is_simple = is_heeded && is_near && is_plain && inside >= TILE && is_aligned(x, y, z);
        if (__all_sync(ALL_LANES, is_simple))
            return write_plain<NEAREST, true>(volume, x, y, z, cost, length, site);
        if (!is_heeded) return;
        if (!is_near)
            mark_tile(volume, x, y, z,
                      worst <= reach.real ? sqrtf(static_cast<float>(worst)) * reach.inverse : INFINITY);
        else if (is_plain)
            write_plain<NEAREST>(volume, x, y, z, cost, length, site);
        else
            write_voxels<NEAREST>(volume, x, y, z, cost, site);
    }
};

template <class Lines>
__global__ void __launch_bounds__(THREADS, RESIDENT) search_windows(Lines lines) {
    extern __shared__ __align__(16) uint32_t shared[];
    if (!lines.volume.is_far()) return;
    constexpr bool NEAREST = Lines::NEAREST;
    const Cut &cut = lines.cut;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t across = static_cast<uint32_t>(lines.across()), segments = cut.segments();
    const uint32_t place = blockIdx.x % across, slab = blockIdx.x / across / segments;
    Window window(shared, cut, blockIdx.x / across % segments);
    for (int32_t i = threadIdx.x; i < 2 * (cut.reach + 1) * TILE; i += THREADS)
        shared[i] = lines.way_word(i - (cut.reach + 1) * TILE);
    lines.load(window, slab, place);
    __syncthreads();
    const uint32_t none = lines.reach.none();
    for (int32_t bundle = 0; bundle < cut.bundles(); ++bundle)
        for (int32_t chunk = warp - 1; chunk <= window.chunks; chunk += WARPS_HERE) {
            const bool inside = static_cast<uint32_t>(chunk) < static_cast<uint32_t>(window.chunks);
            const uint32_t *const words = window.row(bundle, inside ? chunk * TILE : 0) + lane;
            uint32_t least = words[0];
#pragma unroll
            for (int i = 1; i < TILE; ++i)
                least = NEAREST ? min(least, words[i * WARP]) : __vminu2(least, words[i * WARP]);
            window.least_of(bundle, chunk)[lane] = inside ? least : none;
            window.any = window.any || (inside && least != none);
        }
    window.any = __syncthreads_or(window.any);
    for (int32_t item = warp; item < window.tiles << cut.bundles_log2; item += WARPS_HERE) {
        const int32_t bundle = cut.bundles_log2 ? item / window.tiles : 0,
                      tile = item - bundle * window.tiles;
        const uint32_t heeded = lines.heeded(slab, place, bundle);
        const Found<NEAREST> found = search_tile<Lines::AXIS>(window, lines.reach, bundle, tile, heeded);
        lines.finish(window, slab, place, bundle, window.first + tile, heeded, found);
    }
}

template <class Lines>
void search(const Lines &lines, cudaStream_t stream) {
    launch_large("search_windows", search_windows<Lines>,
                 lines.across() * lines.cut.segments() * lines.slabs(), THREADS, lines.cut.bytes(), stream,
                 lines);
}

template <bool NEAREST>
void search(const Volume &volume, cudaStream_t stream) {
    const Reach<NEAREST> reach(volume);
    const int64_t lengths = window_lengths(volume);
    launch("fill_lengths", fill_lengths, parts(lengths, BLOCK), BLOCK, stream, volume, lengths);
    search(AlongY<NEAREST>{volume, reach, Cut(volume.height(), reach.chunks[1])}, stream);
    const Cut cut(volume.width(), reach.chunks[0]);
    if (volume.plain && volume.output.measure.unit == 1)
        search(AlongX<NEAREST, true>{volume, reach, cut}, stream);
    else
        search(AlongX<NEAREST, false>{volume, reach, cut}, stream);
}

template <bool NEAREST>
bool serves(const Volume &volume) {
    const Reach<NEAREST> reach(volume);
    return reach.serves() && Cut(volume.height(), reach.chunks[1]).serves() &&
           Cut(volume.width(), reach.chunks[0]).serves();
}

}  // namespace

int64_t window_lengths(const Volume &volume) {
    const int32_t sure = volume.output.nearest ? Reach<true>(volume).sure : Reach<false>(volume).sure;
    return volume.output.measure.unit == 1 ? 0 : std::max(sure + 1, 0);
}

bool windows_serve(const Volume &volume) {
    return volume.output.nearest ? serves<true>(volume) : serves<false>(volume);
}

int64_t window_store(const Volume &volume) {
    const int64_t planes = volume.output.nearest ? count_planes<true>(volume) : count_planes<false>(volume);
    return planes * volume.width() * pitch_of(volume);
}

void search_in_windows(const Volume &volume, cudaStream_t stream) {
    volume.output.nearest ? search<true>(volume, stream) : search<false>(volume, stream);
}

}  // namespace apsis
