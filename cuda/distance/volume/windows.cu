// Windows: the nearest site of every voxel that has one within some 240 voxels; 170 where lines are so long that they are cut.
// Taken if sample_voxels() of the near search finds the image far, or if the near search cannot serve.
//
// A line is a row of candidates, each with the cost that the search before has found for it.  To voxel x, candidate c costs
// cost(c) + w (x - c)^2.  The distance from x to c is the way; the second term is the cost of the way.
//
// Candidates form chunks of TILE.  A thread holds a tile of as many voxels and tries the chunks of its line from its own one
// outwards, on either side, until the way to the next chunk alone costs too much for all its voxels.  It skips a chunk whose
// least cost, with the way to it, cannot improve any voxel.  The lanes of a warp have the same tile of 32 lines side by side.
// So they read candidates without bank conflicts, share the costs of ways, and mostly agree on the chunks to try.
//
// For distances alone a word has two planes, HALF_STRIP apart, each cost in 16 bits; one instruction adds to both and keeps the
// least (sm_90; several on older devices).  For the nearest site a word is a key: the cost, then the offsets along z and y to
// the site.  The offset along y has only 7 bits, so short ones are exact, and elsewhere one step stands for several offsets.
// Along y this tells sites apart, because only two have the same cost and z, one on either side.  Along x offsets are counted
// from the least one in a window and have 8 bits each ("short keys").  Where the range is too wide for that, sites that are far
// along z or y are left out.  The least key belongs to the lowest site; its x follows from the part of the cost that the
// offsets leave.
//
// A cost is exact if it is less than the cost of any candidate that lies beyond the reach, was clipped (because with the way
// its cost would not fit 16 bits), or was left out.  A cost found is never too low.  This holds for both searches together.  So
// the search along x decides at the end: patches with a cost that is not exact are marked for the monotone argmin.
//
// Cost: 3/8 byte a voxel in, through the second cache, 2 bytes a voxel out and in again (4 for the nearest site), and the
// outputs out.  A chunk takes some 90 instructions for 8 voxels of two planes; 5 chunks are tried where sites are 28 voxels
// off.
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
    Layout layout;
    WindowLimits<NEAREST_> limits;
    LineCut cut;

    static constexpr bool NEAREST = NEAREST_;
    static constexpr int AXIS = 1;
    // The threads of a warp expand columns side by side: these lie WARP + 1 words apart, which avoids bank conflicts.  For
    // distances alone there is no room for that, because their least words take twice as much.
    using Window = volume::Window<NEAREST, NEAREST ? WARP + 1 : WARP>;
    static constexpr int COLUMN_WORDS = NEAREST ? STRIP : HALF_STRIP, BUNDLE_COLUMNS = WARP / COLUMN_WORDS;
    static constexpr int LOADS_AHEAD = 2;  // columns whose loads a thread has in flight
    /// Blocks side by side, and slabs of blocks along z: here a strip each.
    __host__ __device__ int64_t across() const { return ceil_div(layout.width(), BUNDLE_COLUMNS * cut.bundles()); }
    __host__ __device__ int64_t slabs() const { return layout.columns.strips(); }

    /// The word of a way: its cost, and with NEAREST the step of its offset.
    __device__ int32_t way_word(int32_t d) const { return limits.way_cost(AXIS, d) + (NEAREST ? step_of(d) : 0); }
    __device__ void expand_column(int64_t strip, const Sites &stored, uint32_t *to) const {
        uint32_t laid[4];
        scan_column<MOST_CARRY>(stored, static_cast<int32_t>(strip * STRIP), [&](int r, uint32_t up, uint32_t nearest) {
            if constexpr (NEAREST) {
                to[r] = z_key(limits, up & 0xffff, nearest & 0xffff);
                to[HALF_STRIP + r] = z_key(limits, up >> 16, nearest >> 16);
            } else {
                laid[r % 4] = z_costs(limits.weight[2], limits.max_distance, nearest);
                if (r % 4 == 0) *reinterpret_cast<uint4 *>(to + r) = make_uint4(laid[0], laid[1], laid[2], laid[3]);
            }
        });
    }
    /// Block: fills the window with costs from columns of bits along z.
    __device__ void load(const Window &window, int64_t strip, int64_t place) const {
        const int32_t wide_log2 = BUNDLE_COLUMNS / 2 + cut.bundles_log2, wide = 1 << wide_log2,
                      items = window.chunks * TILE << wide_log2;
        const int64_t x0 = place * wide, y0 = int64_t(window.first_chunk) * TILE;
#pragma unroll 1
        for (int32_t first = threadIdx.x; first < items; first += LOADS_AHEAD * WINDOW_THREADS) {
            Sites stored[LOADS_AHEAD];
#pragma unroll
            for (int j = 0; j < LOADS_AHEAD; ++j) {
                const int32_t i = min(first + j * WINDOW_THREADS, items - 1);
                stored[j] = load_column(layout.columns, strip, x0 + (i & wide - 1), y0 + (i >> wide_log2));
            }
#pragma unroll
            for (int j = 0; j < LOADS_AHEAD; ++j) {
                const int32_t i = first + j * WINDOW_THREADS, row = i >> wide_log2, side = i & wide - 1;
                if (i >= items) break;
                expand_column(strip, stored[j], window.row(side / BUNDLE_COLUMNS, row) + side % BUNDLE_COLUMNS * COLUMN_WORDS);
            }
        }
    }
    __device__ int64_t column(int64_t place, int32_t bundle) const {
        return (place * cut.bundles() + bundle) * BUNDLE_COLUMNS + threadIdx.x % WARP / COLUMN_WORDS;
    }
    __device__ int64_t plane(int64_t strip) const { return strip * COLUMN_WORDS + threadIdx.x % COLUMN_WORDS; }
    /// The bits of this lane's words that lie inside the image.
    __device__ uint32_t inside_bits(int64_t strip, int64_t place, int32_t bundle) const {
        if (column(place, bundle) >= layout.width() || plane(strip) >= count_stored_planes<NEAREST>(layout)) return 0;
        return NEAREST || strip * STRIP + threadIdx.x % COLUMN_WORDS + HALF_STRIP < layout.depth() ? ~0u : 0xffff;
    }
    /// Warp: stores each lane's tile.
    __device__ void finish(const Window &, const ShortKeyOrigin &, int64_t strip, int64_t place, int32_t bundle, int32_t tile,
                           bool is_inside, TileBest<NEAREST> &found) const {
        uint32_t *const to = layout.y_results + stored_line(layout, plane(strip), column(place, bundle)) + int64_t(tile) * TILE;
        if (__all_sync(ALL_LANES, is_inside))
            store_warp_tiles(to, found.best);
        else if (is_inside)
            store_tile(to, found.best, TILE);
    }
};

/// Copies 16 bytes to shared memory, asynchronously from sm_80 on: they are there after wait_for_copies().
__device__ void copy_async(uint4 *to, const uint4 *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))),
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
/// distances are roots of costs (the unit is 1), and there is no limit.
template <bool NEAREST_, bool SIMPLE_OUTPUT>
struct AlongX {
    Layout layout;
    WindowLimits<NEAREST_> limits;
    LineCut cut;

    static constexpr bool NEAREST = NEAREST_;
    static constexpr int AXIS = 0;
    using Window = volume::Window<NEAREST, WARP>;
    /// Blocks side by side, and slabs of blocks along z: here a stored plane each.
    __host__ __device__ int64_t across() const { return ceil_div(layout.height(), WARP * cut.bundles()); }
    __host__ __device__ int64_t slabs() const { return count_stored_planes<NEAREST>(layout); }

    __device__ int32_t way_word(int32_t d) const { return limits.way_cost(AXIS, d); }
    /// Block: fills the window with results along y.
    __device__ void load(const Window &window, int64_t plane, int64_t place) const {
        constexpr int QUADS_LOG2 = 3, QUADS = 1 << QUADS_LOG2;
        static_assert(QUADS * 4 == WARP);
        const int32_t wide_log2 = QUADS_LOG2 + cut.bundles_log2, items = window.chunks * TILE << wide_log2;
        const int64_t y0 = place * WARP * cut.bundles(), x0 = int64_t(window.first_chunk) * TILE, pitch = y_pitch(layout);
        const uint4 no_site = make_uint4(limits.no_site(), limits.no_site(), limits.no_site(), limits.no_site());
#pragma unroll 4
        for (int32_t i = threadIdx.x; i < items; i += WINDOW_THREADS) {
            const int32_t row = i >> wide_log2, quad = i & (1 << wide_log2) - 1;
            const int64_t x = x0 + row, y = y0 + quad * 4;
            const bool inside = x < layout.width() && y < pitch;
            const uint32_t *const from = layout.y_results + (inside ? stored_line(layout, plane, x) + y : 0);
            uint4 *const to = reinterpret_cast<uint4 *>(window.row(quad / QUADS, row) + quad % QUADS * 4);
            if (inside)
                copy_async(to, reinterpret_cast<const uint4 *>(from));
            else
                *to = no_site;
        }
        wait_for_copies();
    }
    __device__ int32_t row(int64_t place, int32_t bundle) const {
        return static_cast<int32_t>((place * cut.bundles() + bundle) * WARP) + threadIdx.x % WARP;
    }
    __device__ int64_t first_plane(int64_t plane) const {
        return NEAREST ? plane : plane / HALF_STRIP * STRIP + plane % HALF_STRIP;
    }
    __device__ uint32_t inside_bits(int64_t plane, int64_t place, int32_t bundle) const {
        if (row(place, bundle) >= layout.height()) return 0;
        return NEAREST || first_plane(plane) + HALF_STRIP < layout.depth() ? ~0u : 0xffff;
    }
    /// Warp: writes each lane's tile, or marks it.
    __device__ void finish(const Window &window, const ShortKeyOrigin &origin, int64_t plane, int64_t place, int32_t bundle,
                           int32_t tile, bool is_inside, TileBest<NEAREST> &found) const {
        const int32_t y = row(place, bundle), x = tile * TILE, inside = static_cast<int32_t>(layout.width()) - x;
        const int64_t z = first_plane(plane);
        if (inside < TILE) {
#pragma unroll
            for (int k = 1; k < TILE; ++k) found.best[k] = k < inside ? found.best[k] : found.best[0];
        }
        const uint32_t worst = greatest_word<NEAREST>(found.best), low = worst & 0xffff, high = worst >> 16;
        static_assert(COST_SHIFT == 16);
        const auto finish_one = [&](auto is_high, int64_t at, int32_t most, auto site) {
            const bool is_near = most <= origin.max_exact || (!SIMPLE_OUTPUT && layout.output.measure.limit < origin.max_exact);
            finish_plane<is_high>(x, y, at, is_inside && is_near, most, found.best, site);
            if (is_inside && !is_near)
                mark_tile(layout, x, y, at,
                          most <= limits.max_of_site ? sqrtf(static_cast<float>(most)) * limits.inverse_root[0] : INFINITY);
        };
        if constexpr (NEAREST) {
            const int64_t own = layout.index(x, y, z);
            const uint32_t *const words = window.row(bundle, x - window.first_chunk * TILE) + threadIdx.x % WARP;
            finish_one(std::true_type(), z, high, [&](int k) {
                return own + k + offset_to_site(words, window.first_chunk * TILE - x, origin, k, found.best[k]);
            });
        } else {
            const auto no_site = [](int) { return int64_t(0); };
            finish_one(std::false_type(), z, low, no_site);
            if (z + HALF_STRIP < layout.depth()) finish_one(std::true_type(), z + HALF_STRIP, high, no_site);
        }
    }
    /// How many voxels after the k-th one of a tile its site lies, in the order of indices.  The key holds its offsets along z
    /// and y, and the part of the cost that these leave gives the distance along x.  If the candidate at that distance to the
    /// left has the same offsets, its site is taken, because it is lower; otherwise that of the candidate to the right.
    /// `words` are the tile's own candidates, and `first` is the window's first candidate, counted from them.  Clamping is
    /// safe: a nearer candidate with that key would have had a lower cost.
    __device__ int64_t offset_to_site(const uint32_t *words, int32_t first, const ShortKeyOrigin &origin, int k,
                                      uint32_t key) const {
        const int32_t dz = static_cast<int32_t>(key >> SHORT_BITS & MOST_SHORT) + origin.dz;
        const int32_t dy = static_cast<int32_t>(key & MOST_SHORT) + origin.dy;
        const int32_t own = limits.weight[2] * (dz * dz) + limits.weight[1] * (dy * dy);
        const int32_t way = limits.distance_of(AXIS, static_cast<int32_t>(key >> COST_SHIFT) - own);
        const bool is_left = words[max(k - way, first) * WARP] == key - limits.way_cost(AXIS, way);
        return (dz * layout.height() + dy) * layout.width() + (is_left ? -way : way);
    }
    /// Whether a whole tile from x on may be stored 16 bytes at a time.
    __device__ bool is_aligned(int32_t x, int32_t y, int64_t z) const {
        const auto start = [&](const auto &view) { return view ? reinterpret_cast<uintptr_t>(view.row(y, z)) : 0; };
        return (start(layout.output.distance) | (NEAREST ? start(layout.output.nearest) : 0)) % sizeof(uint4) == 0;
    }
    /// Warp: writes each lane's tile of one plane if it is wanted.  Its costs are the HIGH halves of words or the low ones, and
    /// `worst` is the greatest of them.
    template <bool HIGH, class Site>
    __device__ void finish_plane(int32_t x, int32_t y, int64_t z, bool is_wanted, int32_t worst, const uint32_t (&word)[TILE],
                                 Site site) const {
        const bool is_packed = SIMPLE_OUTPUT || layout.is_packed, is_whole = x + TILE <= layout.width();
        const bool is_simple = is_wanted && is_packed && is_whole && (SIMPLE_OUTPUT || is_aligned(x, y, z));
        int32_t cost[TILE];
        if (__all_sync(ALL_LANES, is_simple && worst == 0)) {
            const int64_t own = layout.index(x, y, z);
            return write_packed<NEAREST, true, false>(
                layout, x, y, z, cost, [](int32_t) { return 0.0f; }, [](int32_t) { return 0; }, [&](int k) { return own + k; });
        }
        const bool all_simple = __all_sync(ALL_LANES, is_simple);
        if constexpr (SIMPLE_OUTPUT) {
            // Costs are the bits of floats here.
#pragma unroll
            for (int k = 0; k < TILE; ++k) cost[k] = __float_as_int(HIGH ? float_of_high(word[k]) : float_of_low(word[k]));
            const auto length = [](int32_t bits) { return small_root(__int_as_float(bits)); };
            const auto square = [](int32_t bits) { return static_cast<int32_t>(__int_as_float(bits)); };
            if (all_simple) return write_packed<NEAREST, true, false>(layout, x, y, z, cost, length, square, site);
            if (is_wanted) write_packed<NEAREST, false, false>(layout, x, y, z, cost, length, square, site);
        } else {
#pragma unroll
            for (int k = 0; k < TILE; ++k) cost[k] = static_cast<int32_t>(HIGH ? word[k] >> 16 : word[k] & 0xffff);
            const auto length = [&](int32_t c) { return length_of_near(layout, c); };
            if (all_simple) return write_packed<NEAREST, true>(layout, x, y, z, cost, length, OwnCost(), site);
            if (is_wanted && is_packed) write_packed<NEAREST>(layout, x, y, z, cost, length, OwnCost(), site);
            if (is_wanted && !is_packed) write_voxels<NEAREST>(layout, x, y, z, cost, site);
        }
    }
};

/// Warp: calls visit(bundle, chunk, inside) for the warp's share of a window's chunks, among them one before the first and one
/// after the last, which are not inside.
template <class Window, class Visit>
__device__ void visit_chunks(const LineCut &cut, const Window &window, Visit visit) {
    for (int32_t bundle = 0; bundle < cut.bundles(); ++bundle)
        for (int32_t chunk = static_cast<int32_t>(threadIdx.x / WARP) - 1; chunk <= window.chunks; chunk += BLOCK_WARPS)
            visit(bundle, chunk, static_cast<uint32_t>(chunk) < static_cast<uint32_t>(window.chunks));
}

/// Block: stores the least costs of a window's chunks, and WITH_RANGE merges the range of their offsets.  Returns whether this
/// thread has found a site.
template <bool WITH_RANGE, class Lines>
__device__ bool find_least_costs(const Lines &lines, const typename Lines::Window &window, int32_t (&range)[4]) {
    constexpr bool NEAREST = Lines::NEAREST;
    const int lane = threadIdx.x % WARP;
    const uint32_t no_site = lines.limits.no_site();
    bool has_site = false;
    OffsetRange offsets;
    visit_chunks(lines.cut, window, [&](int32_t bundle, int32_t chunk, bool inside) {
        uint32_t word[TILE], some = 0, least = no_site;
        if (inside) {
#pragma unroll
            for (int i = 0; i < TILE; ++i) word[i] = window.row(bundle, chunk * TILE + i)[lane], some |= word[i];
            const bool is_all_sites = __all_sync(ALL_LANES, NEAREST ? some == ZERO_OFFSETS : some == 0);
            if (lane == 0) *window.all_sites_at(bundle, chunk) = is_all_sites;
            least = least_word<NEAREST>(word);
            if constexpr (WITH_RANGE)
                if (!is_all_sites) offsets.add(lines.limits, word);
        }
        using Least = typename Lines::Window::Least;
        window.least_row(bundle, chunk)[lane] = static_cast<Least>(NEAREST ? least >> COST_SHIFT : least);
        has_site = has_site || (NEAREST ? least < lines.limits.cost_word(lines.limits.max_cost) : least != no_site);
    });
    if constexpr (WITH_RANGE) offsets.merge_into(range);
    return has_site;
}

/// Block: turns all keys of a window into short keys.
__device__ void shorten_all(const WindowLimits<true> &limits, const ShortKeyOrigin &origin, const LineCut &cut,
                            const Window<true, WARP> &window) {
    visit_chunks(cut, window, [&](int32_t bundle, int32_t chunk, bool inside) {
        if (!inside) return;
        uint32_t *const keys = window.row(bundle, chunk * TILE) + threadIdx.x % WARP;
        uint32_t key[TILE];
        if (*window.all_sites_at(bundle, chunk)) {
#pragma unroll
            for (uint32_t &one : key) one = origin.site_key();
        } else {
#pragma unroll
            for (int i = 0; i < TILE; ++i) key[i] = keys[i * WARP];
            shorten(limits, origin, key);
        }
#pragma unroll
        for (int i = 0; i < TILE; ++i) keys[i * WARP] = key[i];
    });
}

/// A block loads a window and searches its tiles, a warp a tile of 32 lines.
template <class Lines>
__global__ void __launch_bounds__(WINDOW_THREADS, WINDOW_BLOCKS_PER_SM) search_windows(Lines lines) {
    extern __shared__ __align__(16) uint32_t shared[];
    const FarSamples far = *lines.layout.far;
    if (!far.is_far()) return;
    if (far.is_sparse()) return Lines::AXIS == 1 ? lines.layout.find_groups() : lines.layout.mark_all();
    const LineCut &cut = lines.cut;
    const uint32_t across = static_cast<uint32_t>(lines.across()), segments = cut.segments();
    const uint32_t place = blockIdx.x % across, slab = blockIdx.x / across / segments;
    __shared__ uint8_t all_sites[MOST_CHUNKS];
    typename Lines::Window window(shared, all_sites, cut, blockIdx.x / across % segments);
    for (int32_t i = threadIdx.x; i < 2 * (cut.margin + 1) * TILE; i += WINDOW_THREADS)
        shared[i] = lines.way_word(i - (cut.margin + 1) * TILE);
    constexpr bool SHORT_KEYS = Lines::NEAREST && Lines::AXIS == 0;
    __shared__ int32_t range[4];
    if (SHORT_KEYS && threadIdx.x < 4) range[threadIdx.x] = INT32_MAX;
    lines.load(window, slab, place);
    __syncthreads();
    window.has_site = __syncthreads_or(find_least_costs<SHORT_KEYS>(lines, window, range));
    ShortKeyOrigin origin;
    if constexpr (SHORT_KEYS) {
        origin = ShortKeyOrigin(lines.limits, range);
        shorten_all(lines.limits, origin, cut, window);
        __syncthreads();
    } else {
        origin.max_exact = lines.limits.max_exact;
    }
    for (int32_t item = threadIdx.x / WARP; item < window.tiles << cut.bundles_log2; item += BLOCK_WARPS) {
        const int32_t bundle = cut.bundles_log2 ? item / window.tiles : 0, tile = item - bundle * window.tiles;
        const uint32_t inside_bits = lines.inside_bits(slab, place, bundle);
        auto found = search_tile<Lines::AXIS>(window, lines.limits, bundle, tile, inside_bits);
        lines.finish(window, origin, slab, place, bundle, window.first + tile, inside_bits, found);
    }
}

/// The searches of a map, along y and x.
template <bool NEAREST>
struct Searches {
    WindowLimits<NEAREST> limits;
    AlongY<NEAREST> along_y;
    AlongX<NEAREST, true> along_x;

    Searches(const Layout &layout, int64_t held)
        : limits(layout, held),
          along_y{layout, limits, LineCut(layout.height(), limits.chunks[1], held)},
          along_x{layout, limits, LineCut(layout.width(), limits.chunks[0], held)} {}
    bool serve() const { return limits.serves() && along_y.cut.serves() && along_x.cut.serves(); }
};

template <class Lines>
Launch launch_of(const Lines &lines) {
    return {"search_windows", lines.across() * lines.cut.segments() * lines.slabs(), WINDOW_THREADS,
            Lines::Window::bytes(lines.cut)};
}

template <bool NEAREST>
bool plan_by(Plan &plan, const Layout &layout) {
    const Searches<NEAREST> searches(layout, plan.chunks_held);
    if (layout.output.measure.unit != 1) plan.table_size = std::max<int64_t>(plan.table_size, searches.limits.max_exact + 1);
    if (!searches.serve()) return false;
    plan.windows_along[1] = launch_of(searches.along_y), plan.windows_along[0] = launch_of(searches.along_x);
    return true;
}

template <bool NEAREST>
void search(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    const Searches<NEAREST> searches(layout, plan.chunks_held);
    launch(plan.windows_along[1], search_windows<AlongY<NEAREST>>, stream, searches.along_y);
    const auto is_aligned = [](const View &view) { return !view || rows_begin_at(view, sizeof(uint4)); };
    const Output &output = layout.output;
    const AlongX<NEAREST, true> &along_x = searches.along_x;
    if (layout.is_packed && output.measure.unit == 1 && output.measure.limit >= UINT16_MAX && is_aligned(output.distance) &&
        is_aligned(output.nearest))
        launch(plan.windows_along[0], search_windows<AlongX<NEAREST, true>>, stream, along_x);
    else
        launch(plan.windows_along[0], search_windows<AlongX<NEAREST, false>>, stream,
               AlongX<NEAREST, false>{along_x.layout, along_x.limits, along_x.cut});
}

}  // namespace

bool plan_windows(Plan &plan, const Layout &layout, const Limits &limits) {
    plan.chunks_held = most_chunks_held(limits);
    return layout.output.nearest ? plan_by<true>(plan, layout) : plan_by<false>(plan, layout);
}

void search_in_windows(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    layout.output.nearest ? search<true>(plan, layout, stream) : search<false>(plan, layout, stream);
}

}  // namespace apsis::cuda::volume
