// The window of lines that a block holds in shared memory, and how a thread searches it from its tile outwards.  windows.cu
// describes the method and the terms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cuda/distance/volume/layout.h"
#include "cuda/distance/volume/packed_planes.cuh"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/roots.h"

namespace apsis::cuda::volume {

namespace {

constexpr int THREADS = 512;  // with two such blocks on a multiprocessor a thread still has all registers that it needs
constexpr int RESIDENT = 2;
constexpr int WARPS_HERE = THREADS / WARP;
constexpr int64_t MOST_CHUNKS = 96;  // of a line in a window: a multiprocessor has room for two such windows

// A key along y, from its highest bit: the cost, then the offset along z to the site, then the step of its offset along y.  Both
// are biased, so that they are unsigned.
constexpr int STEP_BITS = 7, DOWN_BITS = 9, COST_SHIFT = DOWN_BITS + STEP_BITS;
constexpr int32_t STEP_ZERO = 1 << (STEP_BITS - 1), DOWN_ZERO = 1 << (DOWN_BITS - 1);
constexpr uint32_t NO_OFFSET = DOWN_ZERO << STEP_BITS | STEP_ZERO, OFFSETS = (1u << COST_SHIFT) - 1;

// A step stands for one offset along y below EXACT_STEPS, from there on for OFFSETS_PER_STEP of them, because it has few bits.
constexpr int32_t EXACT = 32, TOGETHER_LOG2 = 3, TOGETHER = 1 << TOGETHER_LOG2;
constexpr int32_t MOST_OFFSET = 255;  // whose square fits 16 bits
static_assert(MOST_OFFSET < DOWN_ZERO && MOST_OFFSET < EXACT + (STEP_ZERO - EXACT) * TOGETHER);

// A short key, along x: the cost, then the offsets along z and y, each counted from the least one in the window.
constexpr int SHORT_BITS = COST_SHIFT / 2;
constexpr int32_t MOST_SHORT = (1 << SHORT_BITS) - 1, HALF_SHORT = 1 << (SHORT_BITS - 1);

/// The step of an offset, and the first offset of a step.
__device__ int32_t step_of(int32_t offset) {
    const int32_t beyond = max(offset - EXACT, 0), before = max(-offset - EXACT, 0);
    return min(max(offset, -EXACT), EXACT) + (beyond >> TOGETHER_LOG2) - ((before + TOGETHER - 1) >> TOGETHER_LOG2);
}
__device__ int32_t first_of(int32_t step) {
    return step + (TOGETHER - 1) * (max(step - EXACT, 0) + min(step + EXACT, 0));
}

/// How many chunks of a line fit the shared memory of a block, with the costs of the ways to them.
int64_t most_held() {
    const auto rows = static_cast<int64_t>(most_shared() / (sizeof(uint32_t) * WARP)) - 2;
    return std::min(rows / (TILE + 2), MOST_CHUNKS);
}

/// How far the search looks, which costs its words can hold, and which of them are exact.
template <bool NEAREST>
struct Reach {
    int32_t chunks[2];  // that are searched to either side of a tile's own, along x and y
    int32_t farthest;   // greater distances along z count as this
    int32_t most;       // the cost of that, and of a voxel without a site
    int32_t sure;       // costs up to this are exact
    int32_t sure_short; // the same if sites with offsets above HALF_SHORT along z or y are left out
    int32_t real;       // costs up to this are the cost of some site, perhaps not of the nearest
    int32_t weight[3];
    float inverse[2];  // of the roots of the weights along x and y

    explicit Reach(const Volume &volume) {
        const int64_t size[] = {volume.width(), volume.height()}, held = most_held();
        int64_t beyond = UINT16_MAX, clipped = UINT16_MAX;
        for (int axis = 0; axis < 3; ++axis) weight[axis] = volume.weight[axis];
        for (int axis = 0; axis < 2; ++axis) {
            const auto cost = [&](int64_t d) { return weight[axis] * d * d; };
            // What the nearest candidate costs that n chunks leave out, and what a candidate of the n-th chunk costs at least
            // if it is clipped.
            const auto left_out = [&](int64_t n) { return cost(n * TILE + 1); };
            const auto clip = [&](int64_t n) {
                return UINT16_MAX - cost(n * TILE + TILE - 1) + cost(n * TILE - TILE + 1);
            };
            int64_t n = 0, enough = MOST_CARRY;
            if (size[axis] > held * TILE) enough = held * 2 / 9;                     // or else segments would be short
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
        sure_short = static_cast<int32_t>(
            std::min<int64_t>(sure, int64_t(std::min(weight[1], weight[2])) * HALF_SHORT * HALF_SHORT - 1));
        for (int axis = 0; axis < 2; ++axis) inverse[axis] = 1.0f / std::sqrt(static_cast<float>(weight[axis]));
    }
    bool serves() const { return chunks[0] > 0 && chunks[1] > 0 && sure > 0; }
    /// A cost in its place in a key, or in both halves of a word of costs.
    __device__ uint32_t word_of(int32_t cost) const {
        return NEAREST ? static_cast<uint32_t>(cost) << COST_SHIFT : cost * BOTH;
    }
    __device__ uint32_t way_of(int axis, int32_t distance) const {
        return word_of(weight[axis] * distance * distance);
    }
    /// The distance along x or y whose cost is the low 16 bits of `cost`.
    __device__ int32_t distance_of(int axis, int32_t cost) const {
        float root;
        asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(float_of_low(cost)));
        return nearest_whole(root * inverse[axis]);
    }
    /// The greatest word whose costs, with that of a way, still fit 16 bits.
    __device__ uint32_t rest_of(uint32_t way) const { return NEAREST ? (~way & ~OFFSETS) | NO_OFFSET : ~way; }
    __device__ uint32_t none() const { return word_of(most) | (NEAREST ? NO_OFFSET : 0); }
};

/// The search along y stores [plane][x][y], with rows of y padded to whole tiles.
__host__ __device__ int64_t pitch_of(const Volume &volume) { return ceil_div(volume.height(), TILE) * TILE; }
__device__ int64_t stored_line(const Volume &volume, int64_t plane, int64_t x) {
    return (plane * volume.width() + x) * pitch_of(volume);
}

/// How lines are divided among blocks.  A block has a segment of whole tiles, with `reach` chunks to either side.  If whole lines
/// are short, it has several bundles of them, each of WARP words side by side.
struct Cut {
    int32_t chunks, segment, reach, bundles_log2;

    Cut(int64_t length, int32_t reach_)
        : chunks(static_cast<int32_t>(ceil_div(length, TILE))), reach(reach_), bundles_log2(0) {
        const int64_t held = most_held(),
                      most = chunks <= held ? chunks : std::max<int64_t>(held - 2 * reach, 0);
        segment = most ? static_cast<int32_t>(ceil_div(chunks, ceil_div(chunks, most))) : 0;
        if (segment == chunks)
            while ((segment << bundles_log2) * 2 <= WARPS_HERE) ++bundles_log2;
    }
    bool serves() const { return segment > 0; }
    __host__ __device__ int32_t bundles() const { return 1 << bundles_log2; }
    __host__ __device__ int32_t segments() const { return (chunks + segment - 1) / segment; }
};

/// The part of its lines that a block holds in shared memory.  Candidates along a line lie PITCH words apart.
template <bool NEAREST, int PITCH_>
struct Window {
    static constexpr int PITCH = PITCH_;
    using Least = std::conditional_t<NEAREST, uint16_t, uint32_t>;

    uint32_t *ways;               // [signed length]: the word of a way's cost
    Least *least;                 // [bundle][chunk][lane]: the least cost of its candidates, without offsets; with a chunk that
                                  // has no site before the first one and after the last
    uint32_t *words;              // [bundle][candidate][lane]
    uint8_t *solid;               // [bundle][chunk]: whether all its voxels are sites, in all lanes
    int32_t first, tiles;         // the block's own tiles
    int32_t first_chunk, chunks;  // the chunks where their sites may lie
    bool any = false;             // whether these have any site

    __device__ Window(uint32_t *shared, uint8_t *solid_, const Cut &cut, int32_t segment) : solid(solid_) {
        first = segment * cut.segment;
        tiles = min(cut.segment, cut.chunks - first);
        first_chunk = max(first - cut.reach, 0);
        chunks = min(first + tiles + cut.reach, cut.chunks) - first_chunk;
        ways = shared + (cut.reach + 1) * TILE;
        uint32_t *const beside = ways + (cut.reach + 1) * TILE;
        least = reinterpret_cast<Least *>(beside);
        words = beside + cut.bundles() * (chunks + 2) * LEAST_WORDS;
    }
    /// Bytes of shared memory.
    static size_t bytes(const Cut &cut) {
        const size_t held = std::min(cut.segment + 2 * cut.reach, cut.chunks), ways = 2 * (cut.reach + 1) * TILE;
        return sizeof(uint32_t) * (ways + cut.bundles() * (held * TILE * PITCH + (held + 2) * LEAST_WORDS));
    }
    __device__ Least *least_of(int32_t bundle, int32_t chunk) const {
        return least + (bundle * (chunks + 2) + 1 + chunk) * WARP;
    }
    __device__ uint8_t *is_solid(int32_t bundle, int32_t chunk) const { return solid + bundle * chunks + chunk; }
    __device__ uint32_t *row(int32_t bundle, int32_t candidate) const {
        return words + (bundle * chunks * TILE + candidate) * PITCH;
    }

  private:
    static constexpr int LEAST_WORDS = WARP * sizeof(Least) / sizeof(uint32_t);
};

/// Reduces the words of a tile by three(a, b, c), the least or the greatest of three words.
template <class Three>
__device__ uint32_t of_tile(const uint32_t (&word)[TILE], Three three) {
    uint32_t found = word[TILE - 1];
#pragma unroll
    for (int k = 0; k + 1 < TILE; k += 2) found = three(found, word[k], word[min(k + 1, TILE - 2)]);
    return found;
}

/// The least, or the greatest, of a tile's words; without NEAREST of each half by itself.
template <bool NEAREST>
__device__ uint32_t least_of(const uint32_t (&word)[TILE]) {
    return of_tile(word, [](uint32_t a, uint32_t b, uint32_t c) {
        return NEAREST ? __vimin3_u32(a, b, c) : __vimin3_u16x2(a, b, c);
    });
}
template <bool NEAREST>
__device__ uint32_t greatest_of(const uint32_t (&word)[TILE]) {
    return of_tile(word, [](uint32_t a, uint32_t b, uint32_t c) {
        return NEAREST ? __vimax3_u32(a, b, c) : __vimax3_u16x2(a, b, c);
    });
}

/// The key of one plane's site in the voxel's own column, by the distances to the sites above and below.  With d the lesser one it
/// is d (d w ± 1), w and 1 in their places in the key, which gives cost and offset together.  From `farthest` on it has the cost of
/// no site.
__device__ uint32_t first_key(const Reach<true> &reach, int32_t above, int32_t below) {
    constexpr int32_t ONE = 1 << STEP_BITS;
    const int32_t distance = __vimin3_s32(above, below, reach.farthest);
    return distance * (distance * reach.word_of(reach.weight[2]) + (above <= below ? -ONE : ONE)) + NO_OFFSET;
}

/// The offset along z, and the step along y, that a key along y holds.
__device__ int32_t down_of(uint32_t key) { return static_cast<int32_t>(key >> STEP_BITS & ((1 << DOWN_BITS) - 1)) - DOWN_ZERO; }
__device__ int32_t step_of_key(uint32_t key) { return static_cast<int32_t>(key & ((1 << STEP_BITS) - 1)) - STEP_ZERO; }

/// The least and the greatest offset along z, and step along y, of the keys that a thread has added; at first 0 of each.  Two keys
/// share a word.  For z whole lower halves of keys are compared, because its offset has their highest bits.
class Offsets {
    static constexpr uint32_t STEPS = ((1 << STEP_BITS) - 1) * BOTH;
    uint32_t least_ = NO_OFFSET * BOTH, greatest_ = NO_OFFSET * BOTH;
    uint32_t least_step_ = STEP_ZERO * BOTH, greatest_step_ = STEP_ZERO * BOTH;

  public:
    /// Warp: adds those keys of a chunk whose costs are exact.
    __device__ void see(const Reach<true> &reach, const uint32_t (&key)[TILE]) {
        const uint32_t end = reach.word_of(reach.sure + 1);
        const bool all_count = __all_sync(ALL_LANES, greatest_of<true>(key) < end);
        const auto seen = [&](int i) { return all_count || key[i] < end ? key[i] : NO_OFFSET; };
#pragma unroll
        for (int i = 0; i < TILE; i += 4) {
            const uint32_t a = __byte_perm(seen(i), seen(i + 1), 0x5410), b = __byte_perm(seen(i + 2), seen(i + 3), 0x5410);
            least_ = __vimin3_u16x2(least_, a, b), greatest_ = __vimax3_u16x2(greatest_, a, b);
            least_step_ = __vimin3_u16x2(least_step_, a & STEPS, b & STEPS);
            greatest_step_ = __vimax3_u16x2(greatest_step_, a & STEPS, b & STEPS);
        }
    }
    /// Warp: merges the range into the block's four numbers: the least offset along z and step along y, and the negatives of the
    /// greatest ones.
    __device__ void lower(int32_t (&range)[4]) const {
        const auto least = [](uint32_t pair) { return min(pair & 0xffff, pair >> 16); };
        const auto greatest = [](uint32_t pair) { return max(pair & 0xffff, pair >> 16); };
        int32_t own[] = {down_of(least(least_)), step_of_key(least(least_step_)), -down_of(greatest(greatest_)),
                         -step_of_key(greatest(greatest_step_))};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int step = WARP / 2; step > 0; step /= 2) own[i] = min(own[i], __shfl_xor_sync(ALL_LANES, own[i], step));
            if (threadIdx.x % WARP == 0) atomicMin(&range[i], own[i]);
        }
    }
};

/// Where the offsets of short keys are counted from, and the cost up to which all candidates have a short key.
struct Origin {
    int32_t down, along, sure;

    Origin() = default;
    /// Covers a range that OffsetRange has merged; or if that is too wide, the offsets up to HALF_SHORT.
    __device__ Origin(const Reach<true> &reach, const int32_t (&range)[4])
        : down(range[0]), along(first_of(range[1])), sure(reach.sure) {
        if (-range[2] - down <= MOST_SHORT && first_of(1 - range[3]) - 1 - along <= MOST_SHORT) return;
        down = along = -HALF_SHORT, sure = reach.sure_short;
    }
    /// The key of a candidate that is itself a site.
    __device__ uint32_t no_offset() const { return static_cast<uint32_t>(-(down << SHORT_BITS) - along); }
};

/// Warp: turns the keys along y of a chunk into short keys.  Where the cost is too great to be exact, the key becomes that of no
/// site.
__device__ void shorten(const Reach<true> &reach, const Origin &origin, uint32_t (&key)[TILE]) {
    constexpr uint32_t DOWN = ((1 << DOWN_BITS) - 1) << STEP_BITS;
    static_assert(SHORT_BITS == STEP_BITS + 1);
    const uint32_t far = reach.word_of(origin.sure + 1), none = reach.word_of(reach.most);
    const uint32_t move = ((DOWN_ZERO + origin.down) << SHORT_BITS) + STEP_ZERO + origin.along;
    // key - EXACT_STEPS has the bit STEP_BIAS exactly if the step stands for several offsets.
    static_assert(STEP_ZERO == 2 * EXACT);
    uint32_t some = 0;
#pragma unroll
    for (const uint32_t one : key) some |= one - EXACT;
    const bool all_exact = !__any_sync(ALL_LANES, some & STEP_ZERO);
#pragma unroll
    for (uint32_t &one : key) {
        uint32_t shorter = one + (one & DOWN) - move;
        if (!all_exact) {
            const int32_t down = down_of(one), step = step_of_key(one);
            const int32_t along = reach.distance_of(1, static_cast<int32_t>(one >> COST_SHIFT) - reach.weight[2] * down * down);
            shorter += (step < 0 ? -along : along) - step;
        }
        one = one >= far ? none : shorter;
    }
}

/// The word of a pair of planes: the costs of their sites in the voxel's own column.
__device__ uint32_t first_costs(const Reach<false> &reach, uint32_t up, uint32_t down) {
    const uint32_t near = __vimin3_u16x2(up, down, reach.farthest * BOTH);
    const uint32_t low = near & 0xffff, high = near >> 16;
    return (low * low + (near & 0xffff0000u) * high) * reach.weight[2];
}

/// What a thread has found so far for its tile.
template <bool NEAREST>
struct Found {
    uint32_t best[TILE];
    uint32_t worst = ~0u;  // the greatest of `best`, where voxels are inside the image

    /// Tries a chunk.  Words are clipped to `most`, so that with any way their costs fit 16 bits.
    template <int PITCH>
    __device__ void take(const uint32_t *words, const uint32_t *ways, uint32_t most) {
        uint32_t way[2 * TILE];  // from -TILE on
#pragma unroll
        for (int i = 0; i < 2 * TILE; i += 4)
            memcpy(way + i, __builtin_assume_aligned(ways - TILE + i, 16), 16);
#pragma unroll
        for (int i = 0; i < TILE; ++i) {
            const uint32_t word = NEAREST ? min(words[i * PITCH], most) : __vminu2(words[i * PITCH], most);
#pragma unroll
            for (int k = 0; k < TILE; ++k)
                best[k] = NEAREST ? __viaddmin_u32(word, way[TILE + i - k], best[k])
                                  : __viaddmin_u16x2(word, way[TILE + i - k], best[k]);
        }
    }
    __device__ void find_worst(uint32_t heeded) {
        worst = greatest_of<NEAREST>(best);
        worst = (NEAREST ? worst | OFFSETS : worst) & heeded;
    }
    /// Whether a candidate so far away may be better for some voxel.
    __device__ bool may_win(uint32_t way) const { return NEAREST ? way <= worst : __vminu2(way, worst) != worst; }
    /// Whether one may of which the least also costs so much.
    __device__ bool may_win(const Reach<NEAREST> &reach, uint32_t least, uint32_t way) const {
        if constexpr (NEAREST) return way <= worst && least <= (worst - way) >> COST_SHIFT;
        return may_win(__vminu2(least, reach.rest_of(way)) + way);
    }
};

/// Warp: finds the least words of a tile.  `heeded` has the bits of words that lie inside the image, for each lane.
template <int AXIS, bool NEAREST, int PITCH>
__device__ Found<NEAREST> search_tile(const Window<NEAREST, PITCH> &window, const Reach<NEAREST> &reach, int32_t bundle,
                                      int32_t tile, uint32_t heeded) {
    const int lane = threadIdx.x % WARP;
    const int32_t own = window.first + tile - window.first_chunk;
    const int32_t most = window.any ? min(reach.chunks[AXIS], max(own, window.chunks - 1 - own)) : 0;
    const uint32_t *const words = window.row(bundle, own * TILE) + lane;
    Found<NEAREST> found;
    if (*window.is_solid(bundle, own)) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) found.best[k] = words[k * PITCH];
        return found;
    }
#pragma unroll
    for (int k = 0; k < TILE; ++k) found.best[k] = ~0u;
    const auto take = [&](int32_t chunk, const uint32_t *farthest) {
        found.template take<PITCH>(words + chunk * TILE * PITCH, window.ways + chunk * TILE, reach.rest_of(*farthest));
        found.find_worst(heeded);
    };
    take(0, window.ways + TILE - 1);
    const auto *const least = window.least_of(bundle, 0) + lane;
    const uint32_t *nearest = window.ways - (TILE - 1);
    int32_t left = own * WARP, right = left;
#pragma unroll 1
    for (int32_t away = 1; away <= most; ++away) {
        nearest += TILE;
        const uint32_t way = *nearest;
        if (!__any_sync(ALL_LANES, found.may_win(way))) break;
        left = max(left - WARP, -WARP), right = min(right + WARP, window.chunks * WARP);
        const uint32_t on_left = least[left], on_right = least[right];
        const uint32_t nearer = NEAREST ? min(on_left, on_right) : __vminu2(on_left, on_right);
        if (!__any_sync(ALL_LANES, found.may_win(reach, nearer, way))) continue;
        const uint32_t *const farthest = nearest + 2 * (TILE - 1);
        if (__any_sync(ALL_LANES, found.may_win(reach, on_left, way))) take(-away, farthest);
        if (__any_sync(ALL_LANES, found.may_win(reach, on_right, way))) take(away, farthest);
    }
    return found;
}

}  // namespace

}  // namespace apsis::cuda::volume
