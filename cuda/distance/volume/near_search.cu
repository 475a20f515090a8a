// Near search: distances in a volume whose sites are near, within some 8 voxels.  Taken unless sample_voxels() finds too many
// voxels without such a site (Layout::is_far).
//
// Along y a block finds the distances to sites up and down its columns and puts their costs into shared memory.  Then a thread
// tries the candidates 1, 2, 3 ... REACH rows away for the TILE voxels that it holds.  The search along x does the same with
// what that along y stored.  A cost found is never too low, and it is exact if it is no more than what a candidate beyond REACH
// would cost.  This holds for both searches together, so only the search along x marks tiles.
// For distances alone two planes, HALF_STRIP apart, share a word, each cost in 16 bits; one instruction adds to both and keeps
// the least (sm_90; several before).  For the nearest site a word is a key of cost and offsets, whose least is that of the lowest
// of the nearest sites.
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

constexpr int REACH = 8;      // voxels to either side that are searched: as many as a tile, so that a tile needs three
constexpr int THREADS = 512;  // two such blocks fill a multiprocessor
constexpr int RESIDENT = 2;
constexpr int ROWS_RESIDENT = 4;  // along x: fewer blocks with more registers would not hide the latency of memory
// Blocks along x: of larger images each takes several planes.  If the image is far all return at once, and launching more of them
// would only take time.
constexpr int64_t MANY_BLOCKS = 4096;
constexpr int SPAN = 32;                       // rows that a block searches along y
constexpr int SEEN = SPAN + 2 * REACH;         // rows that it loads
constexpr int ROWS = SEEN / (THREADS / WARP);  // rows that a warp loads
constexpr size_t SHARED = sizeof(uint32_t) * HALF * SEEN * WARP;
static_assert(SPAN == GROUP && REACH == TILE && SPAN % TILE == 0 && SEEN % (THREADS / WARP) == 0);

// A key, from its highest bit: the cost, then the offsets along z, y and x to the site, each biased, so that it is unsigned.
constexpr int OFFSET_BITS = 5, OFFSET_ZERO = 16;
constexpr int COST_SHIFT = 3 * OFFSET_BITS;
constexpr uint32_t NO_OFFSET = OFFSET_ZERO << 2 * OFFSET_BITS | OFFSET_ZERO << OFFSET_BITS | OFFSET_ZERO;

/// Which costs the words of this search can hold, and which of them are exact.
template <bool NEAREST>
struct Reach {
    uint32_t farthest;  // greater distances along z count as this
    uint32_t none;      // the word of a voxel outside the image
    uint32_t weight[3];
    int32_t sure;   // costs up to this are exact
    int32_t real;   // costs up to this are the cost of some site, perhaps not of the nearest
    float inverse;  // of the root of the weight along x

    explicit Reach(const Volume &volume) {
        const int64_t x = volume.weight[0], y = volume.weight[1], z = volume.weight[2];
        for (int axis = 0; axis < 3; ++axis) weight[axis] = static_cast<uint32_t>(volume.weight[axis]);
        inverse = 1.0f / std::sqrt(static_cast<float>(x));
        const auto fits = [&](int64_t d) { return z * d * d + (x + y) * REACH * REACH <= UINT16_MAX; };
        const int64_t most = NEAREST ? OFFSET_ZERO : MOST_CARRY;
        farthest = 0;
        while (farthest < most && fits(farthest + 1)) ++farthest;
        const uint32_t most_cost = static_cast<uint32_t>(z * farthest * farthest);
        none = NEAREST ? 1u << 31 : most_cost << 16 | most_cost;
        real = static_cast<int32_t>(NEAREST ? UINT16_MAX - 1 : most_cost - 1);
        // A site beyond REACH with an equal cost may be the lower one, which NEAREST wants.
        const int64_t beyond = std::min(x, y) * (REACH + 1) * (REACH + 1) - NEAREST;
        sure = static_cast<int32_t>(std::min<int64_t>(beyond, int64_t(most_cost) - 1));
    }
};

/// Slabs of HALF_STRIP stored planes each.
template <bool NEAREST>
__host__ __device__ int64_t count_slabs(const Volume &volume) {
    return (count_planes<NEAREST>(volume) + HALF - 1) / HALF;
}

__host__ __device__ int64_t pitch_of(const Volume &volume) { return volume.tiles() * TILE; }

/// The word of a site in the voxel's own column: of a pair of planes, or with NEAREST of the upper or the lower one of them.
template <bool NEAREST>
__device__ uint32_t first_word(const Reach<NEAREST> &reach, bool upper, uint32_t up, uint32_t down) {
    if constexpr (NEAREST) {
        const uint32_t above = upper ? up >> 16 : up & 0xffff, below = upper ? down >> 16 : down & 0xffff;
        const uint32_t distance = min(above, below), offset = above <= below ? -above : below;
        const uint32_t cost = reach.weight[2] * distance * distance;
        return distance < reach.farthest ? (cost << COST_SHIFT | NO_OFFSET) + (offset << 2 * OFFSET_BITS)
                                         : reach.none;
    } else {
        const uint32_t near = __vminu2(__vminu2(up, down), reach.farthest * BOTH);
        const uint32_t low = near & 0xffff, high = near >> 16;
        return (low * low + (near & 0xffff0000u) * high) * reach.weight[2];
    }
}

/// The least words of the middle tile of three, with candidates up to REACH away along AXIS (0: x, 1: y).
template <bool NEAREST, int AXIS>
__device__ void search_tile(const Reach<NEAREST> &reach, const uint32_t (&word)[3 * TILE],
                            uint32_t (&best)[TILE]) {
#pragma unroll
    for (int i = 0; i < TILE; ++i) best[i] = word[TILE + i];
#pragma unroll
    for (int k = 1; k <= REACH; ++k) {
        const uint32_t cost = reach.weight[AXIS] * static_cast<uint32_t>(k * k),
                       offset = k << AXIS * OFFSET_BITS;
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

/// Searches along z and y.  A block has SPAN rows, a warp's width of columns, and HALF_STRIP stored planes of a strip: all its
/// pairs, or with NEAREST half its planes.
template <bool NEAREST>
__global__ void __launch_bounds__(THREADS, RESIDENT) search_spans(Volume volume, Reach<NEAREST> reach) {
    extern __shared__ uint32_t words[];  // [plane][row][lane]
    if (volume.is_far()) return;
    const Columns &columns = volume.columns;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t pitch = pitch_of(volume), planes = count_planes<NEAREST>(volume);
    const uint32_t across = static_cast<uint32_t>((pitch + WARP - 1) / WARP);
    const uint32_t along = static_cast<uint32_t>((volume.height() + SPAN - 1) / SPAN);
    const uint32_t slab = blockIdx.x / across / along, strip = NEAREST ? slab / 2 : slab;
    const int64_t x = blockIdx.x % across * WARP + lane, top = blockIdx.x / across % along * SPAN;
    uint32_t word[ROWS];
    int32_t before[ROWS], after[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const int64_t y = top - REACH + warp * ROWS + i;
        const bool inside = x < volume.width() && y >= 0 && y < volume.height();
        const int64_t at = inside ? columns.at(y, strip, x) : 0;
        word[i] = inside ? columns.words[at] : 0;
        before[i] = inside ? columns.before[at] : NO_SITE_BEFORE;
        after[i] = inside ? columns.after[at] : NO_SITE_AFTER;
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
        scan_column(word[i], before[i], after[i], static_cast<int32_t>(strip * STRIP),
                    [&](int r, uint32_t up, uint32_t down) {
                        words[(r * SEEN + warp * ROWS + i) * WARP + lane] =
                            first_word(reach, slab % 2, up, down);
                    });
    __syncthreads();
    for (int tile = warp; tile < HALF * (SPAN / TILE); tile += THREADS / WARP) {
        const int r = tile / (SPAN / TILE), row = tile % (SPAN / TILE) * TILE;
        const int64_t plane = slab * HALF + r, y = top + row;
        if (plane >= planes || x >= pitch) continue;
        uint32_t seen[3 * TILE], best[TILE];
#pragma unroll
        for (int i = 0; i < 3 * TILE; ++i) seen[i] = words[(r * SEEN + row + i) * WARP + lane];
        search_tile<NEAREST, 1>(reach, seen, best);
        uint32_t *const to = volume.store + (plane * volume.height() + y) * pitch + x;
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            if (y + i < volume.height()) to[i * pitch] = best[i];
    }
}

/// Writes a tile of one plane if all its costs are exact, or marks it.
template <bool NEAREST>
__device__ void finish_tile(const Volume &volume, const Reach<NEAREST> &reach, int32_t tile, int32_t y,
                            int64_t z, const uint32_t (&word)[TILE]) {
    const int32_t x = tile * TILE, inside = static_cast<int32_t>(volume.width()) - x;
    int32_t cost[TILE], worst = 0;
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        cost[k] = static_cast<int32_t>(NEAREST ? word[k] >> COST_SHIFT : word[k]);
        worst = max(worst, k < inside ? cost[k] : 0);
    }
    if (worst > reach.sure && volume.output.measure.limit >= reach.sure) {
        mark_tile(volume, x, y, z,
                  worst <= reach.real ? sqrtf(static_cast<float>(worst)) * reach.inverse : INFINITY);
        return;
    }
    const auto offset = [&](int k, int axis) {
        return static_cast<int64_t>(word[k] >> axis * OFFSET_BITS & ((1 << OFFSET_BITS) - 1)) - OFFSET_ZERO;
    };
    const auto site = [&](int k) {
        return ((z + offset(k, 2)) * volume.height() + y + offset(k, 1)) * volume.width() + x + k + offset(k, 0);
    };
    const auto length = [&](int32_t c) {
        return volume.output.measure.unit == 1 ? small_root_of(c) : __ldg(volume.lengths + c);
    };
    if (volume.plain)
        write_plain<NEAREST>(volume, x, y, z, cost, length, site);
    else
        write_voxels<NEAREST>(volume, x, y, z, cost, site);
}

/// Searches a tile of a stored plane along x, and writes or marks it.
template <bool NEAREST>
__device__ void search_row(const Volume &volume, const Reach<NEAREST> &reach, uint32_t plane, uint32_t item) {
    const uint32_t tiles = static_cast<uint32_t>(volume.tiles()), items = tiles * static_cast<uint32_t>(volume.height());
    const uint32_t y = item / tiles, tile = item - y * tiles;
    const uint4 *const line =
        reinterpret_cast<const uint4 *>(volume.store) + (int64_t(plane) * items + item) * 2;
    const uint4 none = {reach.none, reach.none, reach.none, reach.none};
    uint32_t word[3 * TILE], best[TILE];
#pragma unroll
    for (int i = 0; i < 6; ++i) {
        const bool inside = i < 2 ? tile > 0 : i < 4 || tile + 1 < tiles;
        const uint4 quad = inside ? __ldg(line + i - 2) : none;
        word[4 * i] = quad.x, word[4 * i + 1] = quad.y, word[4 * i + 2] = quad.z, word[4 * i + 3] = quad.w;
    }
    search_tile<NEAREST, 0>(reach, word, best);
    if constexpr (NEAREST) {
        finish_tile(volume, reach, tile, y, plane, best);
    } else {
        const uint32_t z = plane / HALF * STRIP + plane % HALF;
        uint32_t low[TILE], high[TILE];
#pragma unroll
        for (int k = 0; k < TILE; ++k) low[k] = best[k] & 0xffff, high[k] = best[k] >> 16;
        finish_tile(volume, reach, tile, y, z, low);
        if (z + HALF < volume.depth()) finish_tile(volume, reach, tile, y, z + HALF, high);
    }
}

/// Searches along x.  A thread has the same tile of `planes` stored planes.
template <bool NEAREST>
__global__ void __launch_bounds__(BLOCK, ROWS_RESIDENT) search_rows(Volume volume, Reach<NEAREST> reach, uint32_t planes) {
    if (volume.is_far()) return;
    const uint32_t items = static_cast<uint32_t>(volume.tiles() * volume.height()), blocks = (items + BLOCK - 1) / BLOCK;
    const uint32_t first = blockIdx.x / blocks * planes, item = blockIdx.x % blocks * BLOCK + threadIdx.x;
    if (item >= items) return;
    const uint32_t end = min(first + planes, static_cast<uint32_t>(count_planes<NEAREST>(volume)));
#pragma unroll 1
    for (uint32_t plane = first; plane < end; ++plane) search_row(volume, reach, plane, item);
}

template <bool NEAREST>
void search(const Volume &volume, cudaStream_t stream) {
    const Reach<NEAREST> reach(volume);
    const int64_t lengths = outward_lengths(volume);
    launch("fill_lengths", fill_lengths, ceil_div(lengths, BLOCK), BLOCK, stream, volume, lengths);
    const int64_t spans =
        ceil_div(pitch_of(volume), WARP) * ceil_div(volume.height(), SPAN) * count_slabs<NEAREST>(volume);
    launch_large("search_spans", search_spans<NEAREST>, spans, THREADS, SHARED, stream, volume, reach);
    const int64_t each = ceil_div(volume.tiles() * volume.height(), BLOCK), planes = count_planes<NEAREST>(volume);
    const int64_t together = ceil_div(each * planes, MANY_BLOCKS);
    launch("search_rows", search_rows<NEAREST>, each * ceil_div(planes, together), BLOCK, stream, volume, reach,
           static_cast<uint32_t>(together));
}

/// Counts the voxels of a sample for which no exact cost is found.  A warp has a voxel, and its lanes look at the columns around
/// it.
template <bool NEAREST>
__global__ void __launch_bounds__(BLOCK) sample_voxels(Volume volume, Reach<NEAREST> reach) {
    constexpr int32_t SIDE = 2 * REACH + 1;
    const Columns &columns = volume.columns;
    const int32_t lane = threadIdx.x % WARP;
    const uint32_t sample = blockIdx.x * WARPS + threadIdx.x / WARP;
    // Multiples of three fractions of 2^32 spread the samples, so that no plane has many of them.
    const auto place = [&](uint32_t fraction, int64_t size) {
        return static_cast<int32_t>(uint64_t(sample * fraction) * static_cast<uint32_t>(size) >> 32);
    };
    const int32_t x = place(0xd1b54a33, volume.width()), y = place(0xabc98389, volume.height());
    const int32_t z = place(0x8cb92ba7, volume.depth()), strip = z / STRIP;
    bool is_near = false;
#pragma unroll
    for (int32_t i = 0; i < (SIDE * SIDE + WARP - 1) / WARP; ++i) {
        // Columns outside count as those at the edge.  This takes no branch: with one, loads would wait for each other.
        const int32_t k = min(i * WARP + lane, SIDE * SIDE - 1);
        const int32_t at_x = min(max(x + k % SIDE - REACH, 0), static_cast<int32_t>(volume.width()) - 1);
        const int32_t at_y = min(max(y + k / SIDE - REACH, 0), static_cast<int32_t>(volume.height()) - 1);
        const int64_t at = columns.at(at_y, strip, at_x);
        const int32_t site = nearest_in_column(columns.words[at], columns.before[at], columns.after[at], strip * STRIP, z);
        const auto cost = [&](int axis, int32_t d) { return uint64_t(reach.weight[axis]) * static_cast<uint32_t>(d * d); };
        const uint64_t all = cost(0, at_x - x) + cost(1, at_y - y) + cost(2, min(abs(site - z), MOST_CARRY));
        is_near = is_near || all <= static_cast<uint64_t>(reach.sure);
    }
    if (!__any_sync(ALL_LANES, is_near) && lane == 0) atomicAdd(volume.far, 1u);
}

int32_t sure_of(const Volume &volume) {
    return volume.output.nearest ? Reach<true>(volume).sure : Reach<false>(volume).sure;
}

}  // namespace

int64_t outward_lengths(const Volume &volume) {
    return volume.output.measure.unit == 1 ? 0 : std::max(sure_of(volume) + 1, 0);
}

bool outward_serves(const Volume &volume) {
    int device, room;
    check(cudaGetDevice(&device), "finding the current device");
    check(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "asking for shared memory");
    return sure_of(volume) > 0 && SHARED <= static_cast<size_t>(room);
}

bool outward_suffices(const Volume &volume) {
    return volume.output.measure.limit < sure_of(volume);
}

int64_t outward_store(const Volume &volume) {
    const int64_t planes = volume.output.nearest ? count_planes<true>(volume) : count_planes<false>(volume);
    return planes * volume.height() * pitch_of(volume);
}

void count_far(const Volume &volume, cudaStream_t stream) {
    const auto launch_by = [&](auto nearest) {
        launch("sample_voxels", sample_voxels<nearest>, SAMPLES / WARPS, BLOCK, stream, volume, Reach<nearest>(volume));
    };
    volume.output.nearest ? launch_by(std::true_type()) : launch_by(std::false_type());
}

void search_outward(const Volume &volume, cudaStream_t stream) {
    volume.output.nearest ? search<true>(volume, stream) : search<false>(volume, stream);
}

}  // namespace apsis::cuda::volume
