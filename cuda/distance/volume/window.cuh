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

constexpr int BLOCK_WARPS = WINDOW_THREADS / WARP;

// A key along y, from its highest bit: the cost, then the offset along z to the site, then the step of its offset along y.
// Both are biased, so that they are unsigned.
constexpr int STEP_BITS = 7, Z_BITS = 9, COST_SHIFT = Z_BITS + STEP_BITS;
constexpr int32_t STEP_BIAS = 1 << (STEP_BITS - 1), Z_BIAS = 1 << (Z_BITS - 1);
constexpr uint32_t ZERO_OFFSETS = Z_BIAS << STEP_BITS | STEP_BIAS, OFFSET_MASK = (1u << COST_SHIFT) - 1;

// A step stands for one offset along y below EXACT_STEPS, from there on for OFFSETS_PER_STEP of them, because it has few bits.
constexpr int32_t EXACT_STEPS = 32, OFFSETS_PER_STEP_LOG2 = 3, OFFSETS_PER_STEP = 1 << OFFSETS_PER_STEP_LOG2;
constexpr int32_t MOST_OFFSET = 255;  // its square fits 16 bits
static_assert(MOST_OFFSET < Z_BIAS && MOST_OFFSET < EXACT_STEPS + (STEP_BIAS - EXACT_STEPS) * OFFSETS_PER_STEP);

// A short key, along x: the cost, then the offsets along z and y, each counted from the least one in the window.
constexpr int SHORT_BITS = COST_SHIFT / 2;
constexpr int32_t MOST_SHORT = (1 << SHORT_BITS) - 1, HALF_SHORT = 1 << (SHORT_BITS - 1);

/// The step of an offset, and the first offset of a step.
__device__ inline int32_t step_of(int32_t offset) {
    const int32_t beyond = max(offset - EXACT_STEPS, 0), before = max(-offset - EXACT_STEPS, 0);
    return min(max(offset, -EXACT_STEPS), EXACT_STEPS) + (beyond >> OFFSETS_PER_STEP_LOG2) -
           ((before + OFFSETS_PER_STEP - 1) >> OFFSETS_PER_STEP_LOG2);
}
__device__ inline int32_t first_offset_of(int32_t step) {
    return step + (OFFSETS_PER_STEP - 1) * (max(step - EXACT_STEPS, 0) + min(step + EXACT_STEPS, 0));
}

/// How many chunks of a line fit the shared memory of a block, with the costs of the ways to them.
inline int64_t most_chunks_held(const Limits &limits) {
    const auto rows = static_cast<int64_t>(limits.dynamic() / (sizeof(uint32_t) * WARP)) - 2;
    return std::min(rows / (TILE + 2), MOST_CHUNKS);
}

/// How far the search looks, which costs its words can hold, and which of them are exact.
template <bool NEAREST>
struct WindowLimits {
    int32_t chunks[2];        // chunks searched to either side of a tile's own, along x and y
    int32_t max_distance;     // greater distances along z count as this
    int32_t max_cost;         // the cost of that, and of a voxel without a site
    int32_t max_exact;        // costs up to this are exact
    int32_t max_exact_short;  // the same if sites with offsets above HALF_SHORT along z or y are left out
    int32_t max_of_site;      // costs up to this are the cost of some site, perhaps not of the nearest
    int32_t weight[3];
    float inverse_root[2];  // of the roots of the weights along x and y

    WindowLimits(const Layout &layout, int64_t held) {
        const int64_t size[] = {layout.width(), layout.height()};
        int64_t beyond = UINT16_MAX, clipped = UINT16_MAX;
        for (int axis = 0; axis < 3; ++axis) weight[axis] = layout.weight[axis];
        for (int axis = 0; axis < 2; ++axis) {
            const auto cost = [&](int64_t d) { return weight[axis] * d * d; };
            // The cost of the nearest candidate that n chunks leave out, and the least cost of a clipped candidate of the n-th
            // chunk.
            const auto left_out = [&](int64_t n) { return cost(n * TILE + 1); };
            const auto clip = [&](int64_t n) { return UINT16_MAX - cost(n * TILE + TILE - 1) + cost(n * TILE - TILE + 1); };
            int64_t n = 0, enough = MOST_CARRY;
            if (size[axis] > held * TILE) enough = held * 2 / 9;  // otherwise segments would be short
            while (n < enough && left_out(n) < clip(n + 1) && cost((n + 1) * TILE + TILE - 1) <= UINT16_MAX) ++n;
            chunks[axis] = static_cast<int32_t>(n);
            beyond = std::min(beyond, left_out(n));
            if (n) clipped = std::min(clipped, clip(n));
        }
        max_distance = 0;
        while (int64_t(weight[2]) * (max_distance + 1) * (max_distance + 1) < UINT16_MAX) ++max_distance;
        max_cost = weight[2] * max_distance * max_distance;
        max_of_site = static_cast<int32_t>(std::min<int64_t>(clipped, max_cost) - 1);
        max_exact = static_cast<int32_t>(std::min<int64_t>(beyond - 1, max_of_site));
        max_exact_short = static_cast<int32_t>(
            std::min<int64_t>(max_exact, int64_t(std::min(weight[1], weight[2])) * HALF_SHORT * HALF_SHORT - 1));
        for (int axis = 0; axis < 2; ++axis) inverse_root[axis] = 1.0f / std::sqrt(static_cast<float>(weight[axis]));
    }
    bool serves() const { return chunks[0] > 0 && chunks[1] > 0 && max_exact > 0; }
    /// A cost in its place in a key, or in both halves of a word of costs.
    __device__ uint32_t cost_word(int32_t cost) const {
        return NEAREST ? static_cast<uint32_t>(cost) << COST_SHIFT : cost * BOTH;
    }
    __device__ uint32_t way_cost(int axis, int32_t distance) const { return cost_word(weight[axis] * distance * distance); }
    /// The distance along x or y whose cost is the low 16 bits of `cost`.
    __device__ int32_t distance_of(int axis, int32_t cost) const {
        float root;
        asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(float_of_low(cost)));
        return nearest_whole(root * inverse_root[axis]);
    }
    /// The greatest word whose costs, with the cost of a way, still fit 16 bits.
    __device__ uint32_t most_beside(uint32_t way) const { return NEAREST ? (~way & ~OFFSET_MASK) | ZERO_OFFSETS : ~way; }
    __device__ uint32_t no_site() const { return cost_word(max_cost) | (NEAREST ? ZERO_OFFSETS : 0); }
};

/// How lines are divided among blocks.  A block has a segment of whole tiles, with `margin` chunks to either side.  If whole
/// lines are short, it has several bundles of them, each of WARP words side by side.
struct LineCut {
    int32_t chunks, segment, margin, bundles_log2;

    LineCut(int64_t length, int32_t margin_, int64_t held)
        : chunks(static_cast<int32_t>(ceil_div(length, TILE))),
          margin(margin_),
          bundles_log2(0) {
        const int64_t most = chunks <= held ? chunks : std::max<int64_t>(held - 2 * margin, 0);
        segment = most ? static_cast<int32_t>(ceil_div(chunks, ceil_div(chunks, most))) : 0;
        if (segment == chunks)
            while ((segment << bundles_log2) * 2 <= BLOCK_WARPS) ++bundles_log2;
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

    uint32_t *way_costs;          // [signed length]: the word of a way's cost
    Least *least;                 // [bundle][chunk][lane]: the least cost of its candidates, without offsets; with a chunk that
                                  // has no site before the first one and after the last
    uint32_t *words;              // [bundle][candidate][lane]
    uint8_t *all_sites;           // [bundle][chunk]: whether all its voxels are sites, in all lanes
    int32_t first, tiles;         // the block's own tiles
    int32_t first_chunk, chunks;  // the chunks where their sites may lie
    bool has_site = false;        // whether these have any site

    __device__ Window(uint32_t *shared, uint8_t *all_sites_, const LineCut &cut, int32_t segment) : all_sites(all_sites_) {
        first = segment * cut.segment;
        tiles = min(cut.segment, cut.chunks - first);
        first_chunk = max(first - cut.margin, 0);
        chunks = min(first + tiles + cut.margin, cut.chunks) - first_chunk;
        way_costs = shared + (cut.margin + 1) * TILE;
        uint32_t *const beside = way_costs + (cut.margin + 1) * TILE;
        least = reinterpret_cast<Least *>(beside);
        words = beside + cut.bundles() * (chunks + 2) * LEAST_WORDS;
    }
    /// Bytes of shared memory.
    static size_t bytes(const LineCut &cut) {
        const size_t held = std::min(cut.segment + 2 * cut.margin, cut.chunks), way_costs = 2 * (cut.margin + 1) * TILE;
        return sizeof(uint32_t) * (way_costs + cut.bundles() * (held * TILE * PITCH + (held + 2) * LEAST_WORDS));
    }
    __device__ Least *least_row(int32_t bundle, int32_t chunk) const {
        return least + (bundle * (chunks + 2) + 1 + chunk) * WARP;
    }
    __device__ uint8_t *all_sites_at(int32_t bundle, int32_t chunk) const { return all_sites + bundle * chunks + chunk; }
    __device__ uint32_t *row(int32_t bundle, int32_t candidate) const {
        return words + (bundle * chunks * TILE + candidate) * PITCH;
    }

  private:
    static constexpr int LEAST_WORDS = WARP * sizeof(Least) / sizeof(uint32_t);
};

/// Reduces the words of a tile by three(a, b, c), the least or the greatest of three words.
template <class Three>
__device__ uint32_t reduce_tile(const uint32_t (&word)[TILE], Three three) {
    uint32_t found = word[TILE - 1];
#pragma unroll
    for (int k = 0; k + 1 < TILE; k += 2) found = three(found, word[k], word[min(k + 1, TILE - 2)]);
    return found;
}

/// The least, or the greatest, of a tile's words; without NEAREST of each half by itself.
template <bool NEAREST>
__device__ uint32_t least_word(const uint32_t (&word)[TILE]) {
    return reduce_tile(
        word, [](uint32_t a, uint32_t b, uint32_t c) { return NEAREST ? __vimin3_u32(a, b, c) : __vimin3_u16x2(a, b, c); });
}
template <bool NEAREST>
__device__ uint32_t greatest_word(const uint32_t (&word)[TILE]) {
    return reduce_tile(
        word, [](uint32_t a, uint32_t b, uint32_t c) { return NEAREST ? __vimax3_u32(a, b, c) : __vimax3_u16x2(a, b, c); });
}

/// The key of one plane's site in the voxel's own column, by the distances to the site above and to the nearest one.  With d
/// the latter it is d (d w ± 1), with w and 1 in their places in the key, which gives cost and offset together.  From
/// `max_distance` on it has the cost of no site.
__device__ inline uint32_t z_key(const WindowLimits<true> &limits, int32_t above, int32_t nearest) {
    constexpr int32_t ONE = 1 << STEP_BITS;
    const int32_t distance = min(nearest, limits.max_distance);
    return distance * (distance * limits.cost_word(limits.weight[2]) + (above == nearest ? -ONE : ONE)) + ZERO_OFFSETS;
}

/// The offset along z, and the step along y, that a key along y holds.
__device__ inline int32_t z_offset_of(uint32_t key) {
    return static_cast<int32_t>(key >> STEP_BITS & ((1 << Z_BITS) - 1)) - Z_BIAS;
}
__device__ inline int32_t step_of_key(uint32_t key) { return static_cast<int32_t>(key & ((1 << STEP_BITS) - 1)) - STEP_BIAS; }

/// The least and the greatest offset along z, and step along y, of the keys that a thread has added; at first 0 of each.  Two
/// keys share a word.  For z whole lower halves of keys are compared, because its offset has their highest bits.
class OffsetRange {
    static constexpr uint32_t STEPS = ((1 << STEP_BITS) - 1) * BOTH;
    uint32_t least_ = ZERO_OFFSETS * BOTH, greatest_ = ZERO_OFFSETS * BOTH;
    uint32_t least_step_ = STEP_BIAS * BOTH, greatest_step_ = STEP_BIAS * BOTH;

  public:
    /// Warp: adds those keys of a chunk whose costs are exact.
    __device__ void add(const WindowLimits<true> &limits, const uint32_t (&key)[TILE]) {
        const uint32_t end = limits.cost_word(limits.max_exact + 1);
        const bool all_count = __all_sync(ALL_LANES, greatest_word<true>(key) < end);
        const auto exact = [&](int i) { return all_count || key[i] < end ? key[i] : ZERO_OFFSETS; };
#pragma unroll
        for (int i = 0; i < TILE; i += 4) {
            const uint32_t a = __byte_perm(exact(i), exact(i + 1), 0x5410), b = __byte_perm(exact(i + 2), exact(i + 3), 0x5410);
            least_ = __vimin3_u16x2(least_, a, b), greatest_ = __vimax3_u16x2(greatest_, a, b);
            least_step_ = __vimin3_u16x2(least_step_, a & STEPS, b & STEPS);
            greatest_step_ = __vimax3_u16x2(greatest_step_, a & STEPS, b & STEPS);
        }
    }
    /// Warp: merges the range into the block's four numbers: the least offset along z and step along y, and the negatives of
    /// the greatest ones.
    __device__ void merge_into(int32_t (&range)[4]) const {
        const auto least = [](uint32_t pair) { return min(pair & 0xffff, pair >> 16); };
        const auto greatest = [](uint32_t pair) { return max(pair & 0xffff, pair >> 16); };
        int32_t own[] = {z_offset_of(least(least_)), step_of_key(least(least_step_)), -z_offset_of(greatest(greatest_)),
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
struct ShortKeyOrigin {
    int32_t dz, dy, max_exact;

    ShortKeyOrigin() = default;
    /// Covers a range that OffsetRange has merged; or if that is too wide, the offsets up to HALF_SHORT.
    __device__ ShortKeyOrigin(const WindowLimits<true> &limits, const int32_t (&range)[4])
        : dz(range[0]),
          dy(first_offset_of(range[1])),
          max_exact(limits.max_exact) {
        if (-range[2] - dz <= MOST_SHORT && first_offset_of(1 - range[3]) - 1 - dy <= MOST_SHORT) return;
        dz = dy = -HALF_SHORT, max_exact = limits.max_exact_short;
    }
    /// The key of a candidate that is itself a site.
    __device__ uint32_t site_key() const { return static_cast<uint32_t>(-(dz << SHORT_BITS) - dy); }
};

/// Warp: turns the keys along y of a chunk into short keys.  Where the cost is too great to be exact, the key becomes the key
/// of no site.
__device__ inline void shorten(const WindowLimits<true> &limits, const ShortKeyOrigin &origin, uint32_t (&key)[TILE]) {
    constexpr uint32_t Z_MASK = ((1 << Z_BITS) - 1) << STEP_BITS;
    static_assert(SHORT_BITS == STEP_BITS + 1);
    const uint32_t far = limits.cost_word(origin.max_exact + 1), no_site = limits.cost_word(limits.max_cost);
    const uint32_t move = ((Z_BIAS + origin.dz) << SHORT_BITS) + STEP_BIAS + origin.dy;
    // key - EXACT_STEPS has the bit STEP_BIAS exactly if the step stands for several offsets.
    static_assert(STEP_BIAS == 2 * EXACT_STEPS);
    uint32_t some = 0;
#pragma unroll
    for (const uint32_t one : key) some |= one - EXACT_STEPS;
    const bool all_exact = !__any_sync(ALL_LANES, some & STEP_BIAS);
#pragma unroll
    for (uint32_t &one : key) {
        uint32_t shorter = one + (one & Z_MASK) - move;
        if (!all_exact) {
            const int32_t dz = z_offset_of(one), step = step_of_key(one);
            const int32_t dy = limits.distance_of(1, static_cast<int32_t>(one >> COST_SHIFT) - limits.weight[2] * dz * dz);
            shorter += (step < 0 ? -dy : dy) - step;
        }
        one = one >= far ? no_site : shorter;
    }
}

/// The least words that a thread has found so far for its tile.
template <bool NEAREST>
struct TileBest {
    uint32_t best[TILE];
    uint32_t worst = ~0u;  // the greatest of `best`, where voxels are inside the image

    /// Tries a chunk.  Words are clipped to `most`, so that with any way their costs fit 16 bits.
    template <int PITCH>
    __device__ void try_chunk(const uint32_t *words, const uint32_t *way_costs, uint32_t most) {
        uint32_t way[2 * TILE];  // from -TILE on
#pragma unroll
        for (int i = 0; i < 2 * TILE; i += 4) memcpy(way + i, __builtin_assume_aligned(way_costs - TILE + i, 16), 16);
#pragma unroll
        for (int i = 0; i < TILE; ++i) {
            const uint32_t word = NEAREST ? min(words[i * PITCH], most) : __vminu2(words[i * PITCH], most);
#pragma unroll
            for (int k = 0; k < TILE; ++k)
                best[k] = NEAREST ? __viaddmin_u32(word, way[TILE + i - k], best[k])
                                  : __viaddmin_u16x2(word, way[TILE + i - k], best[k]);
        }
    }
    __device__ void find_worst(uint32_t inside_bits) {
        worst = greatest_word<NEAREST>(best);
        worst = (NEAREST ? worst | OFFSET_MASK : worst) & inside_bits;
    }
    /// Whether a candidate at a way of this cost may be better for some voxel.
    __device__ bool may_win(uint32_t way) const { return NEAREST ? way <= worst : __vminu2(way, worst) != worst; }
    /// The same for a chunk with this least cost.
    __device__ bool may_win(const WindowLimits<NEAREST> &limits, uint32_t least, uint32_t way) const {
        if constexpr (NEAREST) return way <= worst && least <= (worst - way) >> COST_SHIFT;
        return may_win(__vminu2(least, limits.most_beside(way)) + way);
    }
};

/// Warp: finds the least words of a tile.  `inside_bits` has the bits of words that lie inside the image, for each lane.
template <int AXIS, bool NEAREST, int PITCH>
__device__ TileBest<NEAREST> search_tile(const Window<NEAREST, PITCH> &window, const WindowLimits<NEAREST> &limits,
                                         int32_t bundle, int32_t tile, uint32_t inside_bits) {
    const int lane = threadIdx.x % WARP;
    const int32_t own = window.first + tile - window.first_chunk;
    const int32_t most = window.has_site ? min(limits.chunks[AXIS], max(own, window.chunks - 1 - own)) : 0;
    const uint32_t *const words = window.row(bundle, own * TILE) + lane;
    TileBest<NEAREST> found;
    if (*window.all_sites_at(bundle, own)) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) found.best[k] = words[k * PITCH];
        return found;
    }
#pragma unroll
    for (int k = 0; k < TILE; ++k) found.best[k] = ~0u;
    const auto try_chunk = [&](int32_t chunk, const uint32_t *farthest) {
        found.template try_chunk<PITCH>(words + chunk * TILE * PITCH, window.way_costs + chunk * TILE,
                                        limits.most_beside(*farthest));
        found.find_worst(inside_bits);
    };
    try_chunk(0, window.way_costs + TILE - 1);
    const auto *const least = window.least_row(bundle, 0) + lane;
    const uint32_t *nearest = window.way_costs - (TILE - 1);
    int32_t left = own * WARP, right = left;
#pragma unroll 1
    for (int32_t away = 1; away <= most; ++away) {
        nearest += TILE;
        const uint32_t way = *nearest;
        if (!__any_sync(ALL_LANES, found.may_win(way))) break;
        left = max(left - WARP, -WARP), right = min(right + WARP, window.chunks * WARP);
        const uint32_t on_left = least[left], on_right = least[right];
        const uint32_t nearer = NEAREST ? min(on_left, on_right) : __vminu2(on_left, on_right);
        if (!__any_sync(ALL_LANES, found.may_win(limits, nearer, way))) continue;
        const uint32_t *const farthest = nearest + 2 * (TILE - 1);
        if (__any_sync(ALL_LANES, found.may_win(limits, on_left, way))) try_chunk(-away, farthest);
        if (__any_sync(ALL_LANES, found.may_win(limits, on_right, way))) try_chunk(away, farthest);
    }
    return found;
}

}  // namespace apsis::cuda::volume
