// Windows: the nearest site of every voxel that has one within some 240 voxels; 170 where lines are so long that they are cut.
// Taken if sample_voxels() of the near search finds the image far, or if the near search cannot serve.
//
// A line is a row of candidates, each with the cost that the search before has found for it.  To voxel x, candidate c costs
// cost(c) + w (x - c)^2.  The distance from x to c is the way; the second term is what the way costs.
// Candidates form chunks of TILE.  A thread holds a tile of as many voxels and tries the chunks of its line from its own one
// outwards, on either side, until the way to the next chunk alone costs too much for all its voxels.  It skips a chunk if its least cost and the way to it cannot improve any voxel.  The lanes of a warp have the same tile of 32 words side
// by side.  So they read candidates without bank conflicts, share the costs of ways, and mostly agree on the chunks to try.
//
// For distances alone a word has two planes, HALF_STRIP apart, each cost in 16 bits; one instruction adds to both and keeps the
// least (sm_90; several before).  For the nearest site a word is a key: the cost, then the offset along z to the site, then that
// along y.  The last has only 7 bits, so it is exact where it is short, and else one step stands for several offsets.  Along y
// this tells sites apart, because only two have the same cost and z, one on either side.  Along x offsets are counted from the
// least one in a window and have 8 bits each ("short keys").  Where the range is too wide for that, sites that are far along z or
// y are left out.  The least key is that of the lowest site; its x follows from what the offsets leave of the cost.
//
// A cost is exact if it is less than that of any candidate beyond the reach, of any that was clipped (because with the way its
// cost would not fit 16 bits), and of any that was left out.  A cost found is never too low.  This holds for both searches
// together.  So the search along x decides at the end: patches with a cost that is not exact are marked for the monotone argmin.
//
// Cost: 3/8 byte a voxel in, through the second cache, 2 bytes a voxel out and in again (4 for the nearest site), and the
// outputs out.  A chunk takes some 90 instructions for 8 voxels of two planes; 5 chunks are tried where sites are 28 voxels off.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/distance/volume/layout.h"
#include "cuda/distance/volume/window.cuh"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

namespace {

/// Lines along y: a bundle has all words of a strip, for one column (NEAREST) or two.
template <bool NEAREST_>
struct AlongY {
    Volume volume;
    Reach<NEAREST_> reach;
    Cut cut;

    static constexpr bool NEAREST = NEAREST_;
    static constexpr int AXIS = 1;
    // The threads of a warp expand columns side by side: these lie WARP + 1 words apart, which avoids bank conflicts.  For
    // distances alone there is no room for that, because their least words take twice as much.
    using Window = volume::Window<NEAREST, NEAREST ? WARP + 1 : WARP>;
    static constexpr int DEEP = NEAREST ? STRIP : HALF, WIDE = WARP / DEEP;  // words of a column, and columns of a bundle
    static constexpr int AHEAD = 2;  // columns whose loads a thread has in flight
    __host__ __device__ int64_t across() const { return ceil_div(volume.width(), WIDE * cut.bundles()); }
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
                                  : 0;  // no branch: with one, one load would wait for the other
        const Stored stored = {__ldg(columns.words + at), __ldg(columns.before + at),
                               __ldg(columns.after + at)};
        return inside ? stored : Stored{0, NO_SITE_BEFORE, NO_SITE_AFTER};
    }
    __device__ void lay_column(int64_t strip, const Stored &stored, uint32_t *to) const {
        uint32_t laid[4];
        scan_column(stored.word, stored.before, stored.after, static_cast<int32_t>(strip * STRIP),
                    [&](int r, uint32_t up, uint32_t down) {
                        if constexpr (NEAREST) {
                            to[r] = first_key(reach, up & 0xffff, down & 0xffff);
                            to[HALF + r] = first_key(reach, up >> 16, down >> 16);
                        } else {
                            laid[r % 4] = first_costs(reach, up, down);
                            if (r % 4 == 0) *reinterpret_cast<uint4 *>(to + r) = make_uint4(laid[0], laid[1], laid[2], laid[3]);
                        }
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
                lay_column(strip, stored[j], window.row(side / WIDE, row) + side % WIDE * DEEP);
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
    __device__ void finish(const Window &, const Origin &, int64_t strip, int64_t place, int32_t bundle, int32_t tile,
                           bool is_heeded, Found<NEAREST> &found) const {
        uint32_t *const to =
            volume.store + stored_line(volume, plane(strip), column(place, bundle)) + int64_t(tile) * TILE;
        if (__all_sync(ALL_LANES, is_heeded))
            store_tiles(to, found.best);
        else if (is_heeded)
            store_tile(to, found.best, TILE);
    }
};

/// Copies 16 bytes to shared memory, asynchronously from sm_80 on: they are there after wait_for_copies().
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

/// Lines along x: a bundle has WARP rows of a stored plane.  SIMPLE_OUTPUT where all rows of outputs are packed and aligned,
/// distances are plain roots of costs, and there is no limit.
template <bool NEAREST_, bool LEAN>
struct AlongX {
    Volume volume;
    Reach<NEAREST_> reach;
    Cut cut;

    static constexpr bool NEAREST = NEAREST_;
    static constexpr int AXIS = 0;
    using Window = volume::Window<NEAREST, WARP>;
    __host__ __device__ int64_t across() const { return ceil_div(volume.height(), WARP * cut.bundles()); }
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
    /// Warp: writes each lane's tile, or marks it.
    __device__ void finish(const Window &window, const Origin &origin, int64_t plane, int64_t place, int32_t bundle,
                           int32_t tile, bool is_heeded, Found<NEAREST> &found) const {
        const int32_t y = row(place, bundle), x = tile * TILE, inside = static_cast<int32_t>(volume.width()) - x;
        const int64_t z = first_plane(plane);
        if (inside < TILE) {
#pragma unroll
            for (int k = 1; k < TILE; ++k) found.best[k] = k < inside ? found.best[k] : found.best[0];
        }
        const uint32_t worst = greatest_of<NEAREST>(found.best), low = worst & 0xffff, high = worst >> 16;
        static_assert(COST_SHIFT == 16);
        const auto finish_one = [&](auto is_high, int64_t at, int32_t most, auto site) {
            const bool is_near = most <= origin.sure || (!LEAN && volume.output.measure.limit < origin.sure);
            finish_plane<is_high>(x, y, at, is_heeded && is_near, most, found.best, site);
            if (is_heeded && !is_near)
                mark_tile(volume, x, y, at, most <= reach.real ? sqrtf(static_cast<float>(most)) * reach.inverse[0] : INFINITY);
        };
        if constexpr (NEAREST) {
            const int64_t own = (z * volume.height() + y) * volume.width() + x;
            const uint32_t *const words = window.row(bundle, x - window.first_chunk * TILE) + threadIdx.x % WARP;
            finish_one(std::true_type(), z, high, [&](int k) {
                return own + k + way_to_site(words, window.first_chunk * TILE - x, origin, k, found.best[k]);
            });
        } else {
            const auto no_site = [](int) { return int64_t(0); };
            finish_one(std::false_type(), z, low, no_site);
            if (z + HALF < volume.depth()) finish_one(std::true_type(), z + HALF, high, no_site);
        }
    }
    /// How many voxels after the k-th one of a tile its site lies, in the order of indices.  The key tells its offsets along z and y,
    /// and what these leave of the cost tells the distance along x.  If the candidate at that distance to the left has the same
    /// offsets it is the site, because it is lower; else it is the one to the right.  `words` are the tile's own candidates, and
    /// `first` is the window's first candidate, counted from them.  Clamping is safe: a nearer one with that key would have won.
    __device__ int64_t way_to_site(const uint32_t *words, int32_t first, const Origin &origin, int k, uint32_t key) const {
        const int32_t down = static_cast<int32_t>(key >> SHORT_BITS & MOST_SHORT) + origin.down;
        const int32_t along = static_cast<int32_t>(key & MOST_SHORT) + origin.along;
        const int32_t own = reach.weight[2] * (down * down) + reach.weight[1] * (along * along);
        const int32_t way = reach.distance_of(AXIS, static_cast<int32_t>(key >> COST_SHIFT) - own);
        const bool is_left = words[max(k - way, first) * WARP] == key - reach.way_of(AXIS, way);
        return (down * volume.height() + along) * volume.width() + (is_left ? -way : way);
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
    /// Warp: writes each lane's tile of one plane if that is wanted.  Its costs are the HIGH halves of words or the low ones, and
    /// `worst` is the greatest of them.
    template <bool HIGH, class Site>
    __device__ void finish_plane(int32_t x, int32_t y, int64_t z, bool is_wanted, int32_t worst, const uint32_t (&word)[TILE],
                                 Site site) const {
        const bool is_plain = LEAN || volume.plain, is_whole = x + TILE <= volume.width();
        const bool is_simple = is_wanted && is_plain && is_whole && (LEAN || is_aligned(x, y, z));
        int32_t cost[TILE];
        if (__all_sync(ALL_LANES, is_simple && worst == 0)) {
            const int64_t own = (z * volume.height() + y) * volume.width() + x;
            return write_plain<NEAREST, true, false>(volume, x, y, z, cost, [](int32_t) { return 0.0f; },
                                                     [&](int k) { return own + k; });
        }
        const bool all_simple = __all_sync(ALL_LANES, is_simple);
        if constexpr (LEAN) {
            // Costs are the bits of floats here.
#pragma unroll
            for (int k = 0; k < TILE; ++k)
                cost[k] = __float_as_int(HIGH ? float_of_high(word[k]) : float_of_low(word[k]));
            const auto length = [](int32_t bits) { return small_root(__int_as_float(bits)); };
            if (all_simple) return write_plain<NEAREST, true, false>(volume, x, y, z, cost, length, site);
            if (is_wanted) write_plain<NEAREST, false, false>(volume, x, y, z, cost, length, site);
        } else {
#pragma unroll
            for (int k = 0; k < TILE; ++k) cost[k] = static_cast<int32_t>(HIGH ? word[k] >> 16 : word[k] & 0xffff);
            const auto length = [&](int32_t c) {
                return volume.output.measure.unit == 1 ? small_root_of(c) : __ldg(volume.lengths + c);
            };
            if (all_simple) return write_plain<NEAREST, true>(volume, x, y, z, cost, length, site);
            if (is_wanted && is_plain) write_plain<NEAREST>(volume, x, y, z, cost, length, site);
            if (is_wanted && !is_plain) write_voxels<NEAREST>(volume, x, y, z, cost, site);
        }
    }
};

/// Warp: calls visit(bundle, chunk, inside) for the warp's share of a window's chunks, among them one before the first and one
/// after the last, which are not inside.
template <class Window, class Visit>
__device__ void visit_chunks(const Cut &cut, const Window &window, Visit visit) {
    for (int32_t bundle = 0; bundle < cut.bundles(); ++bundle)
        for (int32_t chunk = static_cast<int32_t>(threadIdx.x / WARP) - 1; chunk <= window.chunks; chunk += WARPS_HERE)
            visit(bundle, chunk, static_cast<uint32_t>(chunk) < static_cast<uint32_t>(window.chunks));
}

/// Block: stores the least costs of a window's chunks, and WITH_RANGE merges the range of their offsets.  Returns whether this
/// thread has seen a site.
template <bool WITH_RANGE, class Lines>
__device__ bool find_least(const Lines &lines, const typename Lines::Window &window, int32_t (&range)[4]) {
    constexpr bool NEAREST = Lines::NEAREST;
    const int lane = threadIdx.x % WARP;
    const uint32_t none = lines.reach.none();
    bool any = false;
    Offsets offsets;
    visit_chunks(lines.cut, window, [&](int32_t bundle, int32_t chunk, bool inside) {
        uint32_t word[TILE], some = 0, least = none;
        if (inside) {
#pragma unroll
            for (int i = 0; i < TILE; ++i) word[i] = window.row(bundle, chunk * TILE + i)[lane], some |= word[i];
            const bool is_solid = __all_sync(ALL_LANES, NEAREST ? some == NO_OFFSET : some == 0);
            if (lane == 0) *window.is_solid(bundle, chunk) = is_solid;
            least = least_of<NEAREST>(word);
            if constexpr (WITH_RANGE)
                if (!is_solid) offsets.see(lines.reach, word);
        }
        using Least = typename Lines::Window::Least;
        window.least_of(bundle, chunk)[lane] = static_cast<Least>(NEAREST ? least >> COST_SHIFT : least);
        any = any || (NEAREST ? least < lines.reach.word_of(lines.reach.most) : least != none);
    });
    if constexpr (WITH_RANGE) offsets.lower(range);
    return any;
}

/// Block: turns all keys of a window into short keys.
__device__ void shorten_all(const Reach<true> &reach, const Origin &origin, const Cut &cut,
                            const Window<true, WARP> &window) {
    visit_chunks(cut, window, [&](int32_t bundle, int32_t chunk, bool inside) {
        if (!inside) return;
        uint32_t *const keys = window.row(bundle, chunk * TILE) + threadIdx.x % WARP;
        uint32_t key[TILE];
        if (*window.is_solid(bundle, chunk)) {
#pragma unroll
            for (uint32_t &one : key) one = origin.no_offset();
        } else {
#pragma unroll
            for (int i = 0; i < TILE; ++i) key[i] = keys[i * WARP];
            shorten(reach, origin, key);
        }
#pragma unroll
        for (int i = 0; i < TILE; ++i) keys[i * WARP] = key[i];
    });
}

template <class Lines>
__global__ void __launch_bounds__(THREADS, RESIDENT) search_windows(Lines lines) {
    extern __shared__ __align__(16) uint32_t shared[];
    if (!lines.volume.is_far()) return;
    const Cut &cut = lines.cut;
    const uint32_t across = static_cast<uint32_t>(lines.across()), segments = cut.segments();
    const uint32_t place = blockIdx.x % across, slab = blockIdx.x / across / segments;
    __shared__ uint8_t solid[MOST_CHUNKS];
    typename Lines::Window window(shared, solid, cut, blockIdx.x / across % segments);
    for (int32_t i = threadIdx.x; i < 2 * (cut.reach + 1) * TILE; i += THREADS)
        shared[i] = lines.way_word(i - (cut.reach + 1) * TILE);
    constexpr bool BY_KEYS = Lines::NEAREST && Lines::AXIS == 0;
    __shared__ int32_t range[4];
    if (BY_KEYS && threadIdx.x < 4) range[threadIdx.x] = INT32_MAX;
    lines.load(window, slab, place);
    __syncthreads();
    window.any = __syncthreads_or(find_least<BY_KEYS>(lines, window, range));
    Origin origin;
    if constexpr (BY_KEYS) {
        origin = Origin(lines.reach, range);
        shorten_all(lines.reach, origin, cut, window);
        __syncthreads();
    } else {
        origin.sure = lines.reach.sure;
    }
    for (int32_t item = threadIdx.x / WARP; item < window.tiles << cut.bundles_log2; item += WARPS_HERE) {
        const int32_t bundle = cut.bundles_log2 ? item / window.tiles : 0,
                      tile = item - bundle * window.tiles;
        const uint32_t heeded = lines.heeded(slab, place, bundle);
        auto found = search_tile<Lines::AXIS>(window, lines.reach, bundle, tile, heeded);
        lines.finish(window, origin, slab, place, bundle, window.first + tile, heeded, found);
    }
}

template <class Lines>
void search(const Lines &lines, cudaStream_t stream) {
    launch_large("search_windows", search_windows<Lines>,
                 lines.across() * lines.cut.segments() * lines.slabs(), THREADS, Lines::Window::bytes(lines.cut), stream,
                 lines);
}

template <bool NEAREST>
void search(const Volume &volume, cudaStream_t stream) {
    const Reach<NEAREST> reach(volume);
    const int64_t lengths = window_lengths(volume);
    launch("fill_lengths", fill_lengths, ceil_div(lengths, BLOCK), BLOCK, stream, volume, lengths);
    search(AlongY<NEAREST>{volume, reach, Cut(volume.height(), reach.chunks[1])}, stream);
    const Cut cut(volume.width(), reach.chunks[0]);
    const auto is_aligned = [](const View &view) { return !view || rows_begin_at(view, sizeof(uint4)); };
    const Output &output = volume.output;
    if (volume.plain && output.measure.unit == 1 && output.measure.limit >= UINT16_MAX && is_aligned(output.distance) &&
        is_aligned(output.nearest))
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

}  // namespace apsis::cuda::volume
