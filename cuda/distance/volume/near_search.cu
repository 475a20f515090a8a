// Near search: distances in a volume whose sites are near, within some 8 voxels.  Taken unless sample_voxels() finds too many
// voxels without such a site (FarSamples::is_far).
//
// Along y a block finds the distances to sites up and down its columns and puts their costs into shared memory.  Then a thread
// tries the candidates 1, 2, 3 ... REACH rows away for the TILE voxels that it holds.  The search along x does the same with
// the stored results along y.  A cost found is never too low.  It is exact if a candidate beyond REACH would cost as much or
// more.  This holds for both searches together, so only the search along x marks tiles.
//
// For distances alone two planes, HALF_STRIP apart, share a word, each cost in 16 bits; one instruction adds to both and keeps
// the least (sm_90; several on older devices).  For the nearest site a word is a key of cost and offsets.  The least key
// belongs to the lowest of the nearest sites.
//
// Cost: 3/8 byte a voxel in, through the second cache, 2 bytes a voxel out and in again (4 for the nearest site), and the
// outputs out; some 12 instructions a voxel and search.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>

#include "cuda/distance/volume/layout.h"
#include "cuda/distance/volume/packed_planes.cuh"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

namespace {

constexpr int REACH = 8;        // voxels to either side that are searched: as many as a tile, so that a tile needs three
constexpr int BLOCK_ROWS = 32;  // rows that a block searches along y
constexpr int LOADED_ROWS = BLOCK_ROWS + 2 * REACH;             // rows that it loads
constexpr int WARP_ROWS = LOADED_ROWS / (NEAR_THREADS / WARP);  // rows that a warp loads
constexpr size_t SHARED_BYTES = sizeof(uint32_t) * HALF_STRIP * LOADED_ROWS * WARP;
static_assert(BLOCK_ROWS == MARK_GROUP && REACH == TILE && BLOCK_ROWS % TILE == 0 && LOADED_ROWS % (NEAR_THREADS / WARP) == 0);

// A key, from its highest bit: the cost, then the offsets along z, y and x to the site, each biased, so that it is unsigned.
constexpr int OFFSET_BITS = 5, OFFSET_BIAS = 16;
constexpr int COST_SHIFT = 3 * OFFSET_BITS;
constexpr uint32_t ZERO_OFFSETS = OFFSET_BIAS << 2 * OFFSET_BITS | OFFSET_BIAS << OFFSET_BITS | OFFSET_BIAS;

/// Which costs the words of this search can hold, and which of them are exact.
template <bool NEAREST>
struct NearLimits {
    uint32_t max_distance;  // greater distances along z count as this
    uint32_t no_site;       // the word of a voxel outside the image
    uint32_t weight[3];
    int32_t max_exact;    // costs up to this are exact
    int32_t max_of_site;  // costs up to this are the cost of some site, perhaps not of the nearest
    float inverse_root;   // of the root of the weight along x

    explicit NearLimits(const Layout &layout) {
        const int64_t x = layout.weight[0], y = layout.weight[1], z = layout.weight[2];
        for (int axis = 0; axis < 3; ++axis) weight[axis] = static_cast<uint32_t>(layout.weight[axis]);
        inverse_root = 1.0f / std::sqrt(static_cast<float>(x));
        const auto fits = [&](int64_t d) { return z * d * d + (x + y) * REACH * REACH <= UINT16_MAX; };
        const int64_t most = NEAREST ? OFFSET_BIAS : MOST_CARRY;
        max_distance = 0;
        while (max_distance < most && fits(max_distance + 1)) ++max_distance;
        const uint32_t most_cost = static_cast<uint32_t>(z * max_distance * max_distance);
        no_site = NEAREST ? 1u << 31 : most_cost << 16 | most_cost;
        max_of_site = static_cast<int32_t>(NEAREST ? UINT16_MAX - 1 : most_cost - 1);
        // A site beyond REACH with an equal cost may be the lower one, which NEAREST has to find.
        const int64_t beyond = std::min(x, y) * (REACH + 1) * (REACH + 1) - NEAREST;
        max_exact = static_cast<int32_t>(std::min<int64_t>(beyond, int64_t(most_cost) - 1));
    }
};

/// Slabs of HALF_STRIP stored planes each.
template <bool NEAREST>
__host__ __device__ int64_t count_slabs(const Layout &layout) {
    return (count_stored_planes<NEAREST>(layout) + HALF_STRIP - 1) / HALF_STRIP;
}

__host__ __device__ int64_t x_pitch(const Layout &layout) { return layout.tiles() * TILE; }

/// The word of a site in the voxel's own column: of a pair of planes, or with NEAREST of the upper or the lower one of them.
template <bool NEAREST>
__device__ uint32_t z_word(const NearLimits<NEAREST> &limits, bool upper, uint32_t up, uint32_t nearest) {
    if constexpr (NEAREST) {
        const uint32_t above = upper ? up >> 16 : up & 0xffff, distance = upper ? nearest >> 16 : nearest & 0xffff;
        const uint32_t offset = above == distance ? -distance : distance;
        const uint32_t cost = limits.weight[2] * distance * distance;
        return distance < limits.max_distance ? (cost << COST_SHIFT | ZERO_OFFSETS) + (offset << 2 * OFFSET_BITS)
                                              : limits.no_site;
    } else {
        return z_costs(limits.weight[2], limits.max_distance, nearest);
    }
}

/// The least words of the middle tile of three, with candidates up to REACH away along AXIS (0: x, 1: y).
template <bool NEAREST, int AXIS>
__device__ void search_tile(const NearLimits<NEAREST> &limits, const uint32_t (&word)[3 * TILE], uint32_t (&best)[TILE]) {
#pragma unroll
    for (int i = 0; i < TILE; ++i) best[i] = word[TILE + i];
#pragma unroll
    for (int k = 1; k <= REACH; ++k) {
        const uint32_t cost = limits.weight[AXIS] * static_cast<uint32_t>(k * k), offset = k << AXIS * OFFSET_BITS;
#pragma unroll
        for (int i = 0; i < TILE; ++i) {
            const uint32_t before = word[TILE + i - k], after = word[TILE + i + k];
            if constexpr (NEAREST)
                best[i] = min(best[i], min(before - offset, after + offset) + (cost << COST_SHIFT));
            else
                best[i] = __viaddmin_u16x2(__vminu2(before, after), cost * BOTH, best[i]);
        }
    }
}

/// Searches along z and y.  A block has BLOCK_ROWS rows, a warp's width of columns, and HALF_STRIP stored planes of a strip:
/// all its pairs, or with NEAREST half its planes.
template <bool NEAREST>
__global__ void __launch_bounds__(NEAR_THREADS, NEAR_BLOCKS_PER_SM)
    search_near_along_y(Layout layout, NearLimits<NEAREST> limits) {
    extern __shared__ uint32_t words[];  // [plane][row][lane]
    if (layout.far->is_far()) return;
    const Columns &columns = layout.columns;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t pitch = x_pitch(layout), planes = count_stored_planes<NEAREST>(layout);
    const uint32_t across = static_cast<uint32_t>((pitch + WARP - 1) / WARP);
    const uint32_t along = static_cast<uint32_t>((layout.height() + BLOCK_ROWS - 1) / BLOCK_ROWS);
    const uint32_t slab = blockIdx.x / across / along, strip = NEAREST ? slab / 2 : slab;
    const int64_t x = blockIdx.x % across * WARP + lane, top = blockIdx.x / across % along * BLOCK_ROWS;
    Sites sites[WARP_ROWS];
#pragma unroll
    for (int i = 0; i < WARP_ROWS; ++i) sites[i] = load_column(columns, strip, x, top - REACH + warp * WARP_ROWS + i);
#pragma unroll
    for (int i = 0; i < WARP_ROWS; ++i)
        scan_column<MOST_CARRY>(sites[i], static_cast<int32_t>(strip * STRIP), [&](int r, uint32_t up, uint32_t nearest) {
            words[(r * LOADED_ROWS + warp * WARP_ROWS + i) * WARP + lane] = z_word(limits, slab % 2, up, nearest);
        });
    __syncthreads();
    for (int tile = warp; tile < HALF_STRIP * (BLOCK_ROWS / TILE); tile += NEAR_THREADS / WARP) {
        const int r = tile / (BLOCK_ROWS / TILE), row = tile % (BLOCK_ROWS / TILE) * TILE;
        const int64_t plane = slab * HALF_STRIP + r, y = top + row;
        if (plane >= planes || x >= pitch) continue;
        uint32_t rows[3 * TILE], best[TILE];
#pragma unroll
        for (int i = 0; i < 3 * TILE; ++i) rows[i] = words[(r * LOADED_ROWS + row + i) * WARP + lane];
        search_tile<NEAREST, 1>(limits, rows, best);
        uint32_t *const to = layout.y_results + (plane * layout.height() + y) * pitch + x;
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            if (y + i < layout.height()) to[i * pitch] = best[i];
    }
}

/// Writes a tile of one plane if all its costs are exact, or marks it.
template <bool NEAREST>
__device__ void write_or_mark_tile(const Layout &layout, const NearLimits<NEAREST> &limits, int32_t tile, int32_t y, int64_t z,
                                   const uint32_t (&word)[TILE]) {
    const int32_t x = tile * TILE, inside = static_cast<int32_t>(layout.width()) - x;
    int32_t cost[TILE], worst = 0;
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        cost[k] = static_cast<int32_t>(NEAREST ? word[k] >> COST_SHIFT : word[k]);
        worst = max(worst, k < inside ? cost[k] : 0);
    }
    if (worst > limits.max_exact && layout.output.measure.limit >= limits.max_exact) {
        mark_tile(layout, x, y, z,
                  worst <= limits.max_of_site ? sqrtf(static_cast<float>(worst)) * limits.inverse_root : INFINITY);
        return;
    }
    const auto offset = [&](int k, int axis) {
        return static_cast<int64_t>(word[k] >> axis * OFFSET_BITS & ((1 << OFFSET_BITS) - 1)) - OFFSET_BIAS;
    };
    const auto site = [&](int k) { return layout.index(x + k + offset(k, 0), y + offset(k, 1), z + offset(k, 2)); };
    const auto length = [&](int32_t c) { return length_of_near(layout, c); };
    if (layout.is_packed)
        write_packed<NEAREST>(layout, x, y, z, cost, length, OwnCost(), site);
    else
        write_voxels<NEAREST>(layout, x, y, z, cost, site);
}

/// Searches a tile of a stored plane along x, and writes or marks it.
template <bool NEAREST>
__device__ void search_x_tile(const Layout &layout, const NearLimits<NEAREST> &limits, uint32_t plane, uint32_t item) {
    const uint32_t tiles = static_cast<uint32_t>(layout.tiles()), items = tiles * static_cast<uint32_t>(layout.height());
    const uint32_t y = item / tiles, tile = item - y * tiles;
    const uint4 *const line = reinterpret_cast<const uint4 *>(layout.y_results) + (int64_t(plane) * items + item) * 2;
    const uint4 no_site = {limits.no_site, limits.no_site, limits.no_site, limits.no_site};
    uint32_t word[3 * TILE], best[TILE];
#pragma unroll
    for (int i = 0; i < 6; ++i) {
        const bool inside = i < 2 ? tile > 0 : i < 4 || tile + 1 < tiles;
        const uint4 quad = inside ? __ldg(line + i - 2) : no_site;
        word[4 * i] = quad.x, word[4 * i + 1] = quad.y, word[4 * i + 2] = quad.z, word[4 * i + 3] = quad.w;
    }
    search_tile<NEAREST, 0>(limits, word, best);
    if constexpr (NEAREST) {
        write_or_mark_tile(layout, limits, tile, y, plane, best);
    } else {
        const uint32_t z = plane / HALF_STRIP * STRIP + plane % HALF_STRIP;
        uint32_t low[TILE], high[TILE];
#pragma unroll
        for (int k = 0; k < TILE; ++k) low[k] = best[k] & 0xffff, high[k] = best[k] >> 16;
        write_or_mark_tile(layout, limits, tile, y, z, low);
        if (z + HALF_STRIP < layout.depth()) write_or_mark_tile(layout, limits, tile, y, z + HALF_STRIP, high);
    }
}

/// Searches along x.  A thread has the same tile of `planes` stored planes.
template <bool NEAREST>
__global__ void __launch_bounds__(BLOCK, X_BLOCKS_PER_SM)
    search_near_along_x(Layout layout, NearLimits<NEAREST> limits, uint32_t planes) {
    if (layout.far->is_far()) return;
    const uint32_t items = static_cast<uint32_t>(layout.tiles() * layout.height()), blocks = (items + BLOCK - 1) / BLOCK;
    const uint32_t first = blockIdx.x / blocks * planes, item = blockIdx.x % blocks * BLOCK + threadIdx.x;
    if (item >= items) return;
    const uint32_t end = min(first + planes, static_cast<uint32_t>(count_stored_planes<NEAREST>(layout)));
#pragma unroll 1
    for (uint32_t plane = first; plane < end; ++plane) search_x_tile(layout, limits, plane, item);
}

/// A voxel of a sample.  Multiples of three fractions of 2^32 spread the samples, so that no plane has many of them.
struct SampleVoxel {
    int32_t x, y, z, strip;

    __device__ SampleVoxel(const Layout &layout, uint32_t sample)
        : x(place(sample * 0xd1b54a33, layout.width())),
          y(place(sample * 0xabc98389, layout.height())),
          z(place(sample * 0x8cb92ba7, layout.depth())),
          strip(z / STRIP) {}
    __device__ static int32_t place(uint32_t fraction, int64_t size) {
        return static_cast<int32_t>(uint64_t(fraction) * static_cast<uint32_t>(size) >> 32);
    }
    /// The plane of the nearest site of a column.
    __device__ int32_t site_of(const Columns &columns, int32_t at_x, int32_t at_y) const {
        const int64_t at = columns.at(at_y, strip, at_x);
        return nearest_in_column(columns.words[at], columns.before[at], columns.after[at], strip * STRIP, z);
    }
};

/// Counts the voxels of a sample for which no exact cost is found.  A warp has a voxel, and its lanes read the columns around
/// it.
template <bool NEAREST>
__global__ void __launch_bounds__(BLOCK) sample_voxels(Layout layout, NearLimits<NEAREST> limits) {
    constexpr int32_t SIDE = 2 * REACH + 1;
    const int32_t lane = threadIdx.x % WARP;
    const SampleVoxel voxel(layout, blockIdx.x * WARPS + threadIdx.x / WARP);
    bool is_near = false;
#pragma unroll
    for (int32_t i = 0; i < (SIDE * SIDE + WARP - 1) / WARP; ++i) {
        // Columns outside count as those at the edge.  This takes no branch: with one, loads would wait for each other.
        const int32_t k = min(i * WARP + lane, SIDE * SIDE - 1);
        const int32_t at_x = min(max(voxel.x + k % SIDE - REACH, 0), static_cast<int32_t>(layout.width()) - 1);
        const int32_t at_y = min(max(voxel.y + k / SIDE - REACH, 0), static_cast<int32_t>(layout.height()) - 1);
        const int32_t site = voxel.site_of(layout.columns, at_x, at_y);
        const auto cost = [&](int axis, int32_t d) { return uint64_t(limits.weight[axis]) * static_cast<uint32_t>(d * d); };
        const uint64_t all = cost(0, at_x - voxel.x) + cost(1, at_y - voxel.y) + cost(2, min(abs(site - voxel.z), MOST_CARRY));
        is_near = is_near || all <= static_cast<uint64_t>(limits.max_exact);
    }
    if (!__any_sync(ALL_LANES, is_near) && lane == 0) atomicAdd(&layout.far->of_near, 1u);
}

/// If the image is far, counts the voxels of a sample that have no site within SPARSE_REACH along each axis.  A block has a
/// voxel, and reads every SPARSE_STEP-th row of the columns around it.
__global__ void __launch_bounds__(REACH_THREADS) sample_reach(Layout layout) {
    if (!layout.far->is_far()) return;
    constexpr int32_t ACROSS = SPARSE_REACH / 2, ROWS = REACH_THREADS / ACROSS, SIDE = 2 * SPARSE_REACH + 1;
    const SampleVoxel voxel(layout, blockIdx.x);
    bool found = false;
    for (int32_t row = threadIdx.x / ACROSS; row * SPARSE_STEP < SIDE; row += ROWS) {
        const int32_t y = voxel.y - SPARSE_REACH + row * SPARSE_STEP;
        const int32_t left = voxel.x - SPARSE_REACH + static_cast<int32_t>(threadIdx.x) % ACROSS;
        const int32_t at_y = min(max(y, 0), static_cast<int32_t>(layout.height()) - 1);
#pragma unroll
        for (int32_t i = 0; i < SIDE; i += ACROSS) {  // without a branch, as above; the last ones are beyond the reach
            const int32_t at_x = min(max(left + i, 0), static_cast<int32_t>(layout.width()) - 1);
            found |= abs(voxel.site_of(layout.columns, at_x, at_y) - voxel.z) <= SPARSE_REACH;
        }
    }
    if (!__syncthreads_or(found) && threadIdx.x == 0) atomicAdd(&layout.far->of_wide, 1u);
}

int32_t max_exact_of(const Layout &layout) {
    return layout.output.nearest ? NearLimits<true>(layout).max_exact : NearLimits<false>(layout).max_exact;
}

template <bool NEAREST>
void plan_launches(Plan &plan, const Layout &layout) {
    const int64_t y_blocks = ceil_div(x_pitch(layout), WARP) * ceil_div(layout.height(), BLOCK_ROWS);
    plan.near_along[1] = {"search_near_along_y", y_blocks * count_slabs<NEAREST>(layout), NEAR_THREADS, SHARED_BYTES};
    const int64_t plane_blocks = ceil_div(layout.tiles() * layout.height(), BLOCK),
                  planes = count_stored_planes<NEAREST>(layout);
    plan.near_planes = ceil_div(plane_blocks * planes, MOST_X_BLOCKS);
    plan.near_along[0] = {"search_near_along_x", plane_blocks * ceil_div(planes, plan.near_planes), BLOCK};
}

template <bool NEAREST>
void search(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    const NearLimits<NEAREST> limits(layout);
    launch(plan.near_along[1], search_near_along_y<NEAREST>, stream, layout, limits);
    launch(plan.near_along[0], search_near_along_x<NEAREST>, stream, layout, limits, static_cast<uint32_t>(plan.near_planes));
}

}  // namespace

bool plan_near_search(Plan &plan, const Layout &layout, const Limits &limits) {
    const int32_t max_exact = max_exact_of(layout);
    if (max_exact <= 0 || SHARED_BYTES > limits.dynamic() || layout.columns.total() == 0) return false;
    if (layout.output.measure.unit != 1) plan.table_size = std::max<int64_t>(plan.table_size, max_exact + 1);
    layout.output.nearest ? plan_launches<true>(plan, layout) : plan_launches<false>(plan, layout);
    return true;
}

bool near_search_suffices(const Layout &layout) { return layout.output.measure.limit < max_exact_of(layout); }

int64_t near_search_words(const Layout &layout) {
    const int64_t planes = layout.output.nearest ? count_stored_planes<true>(layout) : count_stored_planes<false>(layout);
    return planes * layout.height() * x_pitch(layout);
}

void count_far_samples(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    if (layout.output.nearest)
        launch(plan.sample, sample_voxels<true>, stream, layout, NearLimits<true>(layout));
    else
        launch(plan.sample, sample_voxels<false>, stream, layout, NearLimits<false>(layout));
    launch(plan.sample_reach, sample_reach, stream, layout);
}

void search_near(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    layout.output.nearest ? search<true>(plan, layout, stream) : search<false>(plan, layout, stream);
}

}  // namespace apsis::cuda::volume
