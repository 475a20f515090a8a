// Measures components: first pixel, area, box and centroid, from the kept sums of parts (label_rows.cuh, label_row_pairs.cuh).
// Chosen where components are wanted; they are measured a window at a time, so that memory does not depend on their number.
//
// A part without a node is its whole component, and is written as it is.  Sums of nodes are added by atomics: whole numbers, so
// that the order does not matter.  A large component is in all tiles, so that a warp first adds up the sums of one component
// over its tiles.  A tile whose sums were not kept is labelled and measured again if it has components of the window.
//
// Cost: at most 1/4 byte a pixel, and 96 bytes a component.
#pragma once

#include "cuda/components/measure.cuh"

namespace apsis::cuda::components {

/// An apsis_component being added up: sums of coordinates lie where the centroid will be.
struct ComponentSums {
    long long first, area, lower[3], upper[3], sum[3], value;

    static constexpr uint32_t ADDED = 11, FIELDS = 12;  // the value is not added up
    /// The value of a field before anything is added.
    __device__ static long long empty(uint32_t field) {
        const bool is_least = field == 0 || (field >= 2 && field < 5), is_most = field >= 5 && field < 8;
        return is_least ? INT64_MAX : is_most ? -1 : field == ADDED;
    }
    __device__ static ComponentSums empty() {
        ComponentSums sums;
#pragma unroll
        for (uint32_t i = 0; i < FIELDS; ++i) reinterpret_cast<long long *>(&sums)[i] = empty(i);
        return sums;
    }

    __device__ void add(const ComponentSums &other) {
        first = min(first, other.first);
        area += other.area;
        for (int a = 0; a < 3; ++a) {
            lower[a] = min(lower[a], other.lower[a]);
            upper[a] = max(upper[a], other.upper[a]);
            sum[a] += other.sum[a];
        }
    }

    /// Adds to sums that other threads change too.  Reads before the atomics, as most sums do not make a box larger.
    __device__ void add_shared(const ComponentSums &other) {
        const auto add = [](long long &field, long long value) {
            if (value) atomicAdd(reinterpret_cast<unsigned long long *>(&field), static_cast<unsigned long long>(value));
        };
        if (other.first < __ldcg(&first)) atomicMin(&first, other.first);
        add(area, other.area);
        for (int a = 0; a < 3; ++a) {
            if (other.lower[a] < __ldcg(&lower[a])) atomicMin(&lower[a], other.lower[a]);
            if (other.upper[a] > __ldcg(&upper[a])) atomicMax(&upper[a], other.upper[a]);
            add(sum[a], other.sum[a]);
        }
    }
};
static_assert(sizeof(ComponentSums) == sizeof(apsis_component) &&
              sizeof(ComponentSums) == ComponentSums::FIELDS * sizeof(long long));

/// Components that are measured at once; the window may end beyond the last component.
struct Window {
    ComponentSums *sums;
    uint32_t from, count;             // of components, from 0
    const uint32_t *component_count;  // in all

    __device__ bool contains(uint32_t number) const { return number - 1 - from < count; }
    __device__ ComponentSums &of(uint32_t number) const { return sums[number - 1 - from]; }
    __device__ bool is_empty() const { return *component_count <= from; }
    /// Whether the i-th component of the window exists.
    __device__ bool exists(uint32_t i) const { return i < count && from + i < *component_count; }
};

/// A thread has a field, so that neighbouring threads write neighbouring fields.
static __global__ void __launch_bounds__(BLOCK) clear_window(Window window, uint32_t *measured_again) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i == 0) *measured_again = 0;
    if (window.exists(i / ComponentSums::FIELDS))
        reinterpret_cast<long long *>(window.sums)[i] = ComponentSums::empty(i % ComponentSums::FIELDS);
}

/// Turns sums into centroids.
static __global__ void __launch_bounds__(BLOCK) finish_window(Window window) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (!window.exists(i)) return;
    const ComponentSums sums = window.sums[i];
    double *const centroid = reinterpret_cast<apsis_component *>(window.sums)[i].centroid;
    for (int a = 0; a < 3; ++a) centroid[a] = static_cast<double>(sums.sum[a]) / static_cast<double>(sums.area);
}

/// Moves what was measured in a slab to where it is in the image: `start` rows on, in 3-D planes.
static __global__ void __launch_bounds__(BLOCK) move_window(Window window, int axis, int64_t start, int64_t columns) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (!window.exists(i)) return;
    ComponentSums &sums = window.sums[i];
    sums.first += start * columns;
    sums.lower[axis] += start;
    sums.upper[axis] += start;
    sums.sum[axis] += start * sums.area;
}

/// Makes centroids of the sums of a window, or moves parts to where they are in the image.
inline void end_window(const ComponentsJob &job, const Window &window, int64_t count, cudaStream_t stream) {
    if (!job.as_parts)
        launch("finish_window", finish_window, ceil_div(count, BLOCK), BLOCK, stream, window);
    else if (job.start > 0)
        launch("move_window", move_window, ceil_div(count, BLOCK), BLOCK, stream, window, job.axes - 1, job.start,
               job.columns());
}

/// The kept sums of a part, in coordinates of the image.
template <class Tile>
__device__ ComponentSums sums_of(const PackedSums &kept, const TilePlace &place, const Tiles &tiles) {
    using Bits = PartBits<Tile>;
    const auto bits = [](unsigned long long of, int from, int count) {
        return static_cast<long long>(of >> from & ((1ull << count) - 1));
    };
    const long long origin[3] = {place.x, place.y, place.z}, area = kept.area;
    ComponentSums sums = {index_at<Tile>(tiles, place, kept.first), area, {}, {}, {}, 1};
#pragma unroll
    for (int a = 0; a < 3; ++a) {
        const bool known = a < Bits::AXES;
        const int at = 2 * Bits::COORDINATE * a;
        sums.lower[a] = origin[a] + (known ? bits(kept.box, at, Bits::COORDINATE) : 0);
        sums.upper[a] = origin[a] + (known ? bits(kept.box, at + Bits::COORDINATE, Bits::COORDINATE) : 0);
        sums.sum[a] = origin[a] * area + (known ? bits(kept.sum, Bits::SUM * a, Bits::SUM) : 0);
    }
    return sums;
}

/// The same for some pixels of a part.
template <class Tile>
__device__ ComponentSums sums_of(const PixelSums &added, const TilePlace &place, const Tiles &tiles) {
    const long long origin[3] = {place.x, place.y, place.z}, area = added.area;
    ComponentSums sums = {INT64_MAX, area, {}, {}, {}, 1};
#pragma unroll
    for (int a = 0; a < 3; ++a) {
        sums.lower[a] = origin[a] + added.lower[a];
        sums.upper[a] = origin[a] + added.upper[a];
        sums.sum[a] = origin[a] * area + added.sum[a];
    }
    return sums;
}

/// The sums of one component that a warp adds together.
struct WarpSums {
    uint32_t number;
    ComponentSums sums;  // of this lane

    /// Warp: adds the sums of those lanes that have some.
    __device__ void add(bool has, uint32_t of, const ComponentSums &more, const Window &window) {
        const uint32_t all = __ballot_sync(ALL_LANES, has);
        if (!all) return;
        if (number == 0) number = __shfl_sync(ALL_LANES, of, __ffs(all) - 1);
        if (!has) return;
        if (of == number)
            sums.add(more);
        else
            window.of(of).add_shared(more);
    }

    /// Block: adds the sums to the window: lanes of a warp together, and warps of the same component.
    __device__ void finish(const Window &window) {
        __shared__ WarpSums of_warp[WARPS];
        for (int step = WARP / 2; step > 0; step /= 2) {
            ComponentSums other;
#pragma unroll
            for (uint32_t i = 0; i < ComponentSums::ADDED; ++i)
                reinterpret_cast<long long *>(&other)[i] =
                    __shfl_xor_sync(ALL_LANES, reinterpret_cast<const long long *>(&sums)[i], step);
            sums.add(other);
        }
        if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP] = *this;
        __syncthreads();
        if (threadIdx.x >= WARPS) return;
        WarpSums own = of_warp[threadIdx.x];
        if (own.number == 0) return;
        for (uint32_t warp = 0; warp < WARPS; ++warp) {
            if (warp == threadIdx.x || of_warp[warp].number != own.number) continue;
            if (warp < threadIdx.x) return;
            own.sums.add(of_warp[warp].sums);
        }
        window.of(own.number).add_shared(own.sums);
    }
};

/// Whether a component of the window may begin in a tile.
template <class Tile>
__device__ bool begins_in(const Window &window, const TilePlace &place, const Tiles &tiles) {
    const int64_t y = min(place.y + Tile::ROWS, tiles.height) - 1, z = min(place.z + Tile::PLANES, tiles.depth) - 1;
    const uint32_t begin = tiles.firsts_before[tiles.tile_row_at(place.y, place.z, place.tx)];
    const uint32_t end = tiles.firsts_before[tiles.tile_row_at(y, z, place.tx) + 1];
    return begin < window.from + window.count && end > window.from;
}

/// A tile from which on no component of the window begins: the first one of a row of tiles, found by bisection.
template <class Tile>
__device__ uint32_t tiles_before_end(const Window &window, const Tiles &tiles) {
    uint32_t low = 0, high = tiles.down * tiles.deep;  // rows of tiles: one with fewer components before it, and one without
    while (low + 1 < high) {
        const uint32_t line = (low + high) / 2;
        const TilePlace place = place_of<Tile>(tiles, line * tiles.across);
        const bool is_below = tiles.firsts_before[tiles.tile_row_at(place.y, place.z, 0)] >= window.from + window.count;
        (is_below ? high : low) = line;
    }
    return high * tiles.across;
}

/// Adds the kept sums of tiles, and lists the tiles to be measured again.  The tiles of a warp lie far apart, as the components
/// of a window begin in neighbouring tiles.
template <class Tile>
__global__ void __launch_bounds__(BLOCK) add_parts(Tiles tiles, Window window) {
    if (window.is_empty()) return;
    const uint32_t lane = threadIdx.x % WARP;
    const uint32_t end = tiles_before_end<Tile>(window, tiles);
    const auto number_in = [&](uint32_t node) {  // 0 if no component of the window begins in its tile
        return tiles.parent[node] >> Tile::NODE_BITS < end ? number_of_node<Tile>(tiles, node) : 0;
    };
    WarpSums warp_sums = {0, ComponentSums::empty()};
    for (uint32_t tile = blockIdx.x * WARPS + threadIdx.x / WARP; tile < tiles.count(); tile += gridDim.x * WARPS) {
        const uint32_t parts = tiles.kept_part_count[tile], nodes = tiles.has_nodes ? tiles.nodes[tile] : 0;
        const bool is_kept = parts != NONE_KEPT && parts != ONLY_NODES_KEPT;
        const TilePlace place = place_of<Tile>(tiles, tile);
        const bool begins = begins_in<Tile>(window, place, tiles);
        const uint32_t known = parts == NONE_KEPT ? 0 : is_kept && begins ? parts : nodes;
        bool again = !is_kept && begins;
        if (parts == NONE_KEPT && !again)
            for (uint32_t i = lane; i < nodes; i += WARP)
                again = again || window.contains(number_in(tile << Tile::NODE_BITS | i));
        if (__any_sync(ALL_LANES, again) && lane == 0) tiles.measured_again[1 + atomicAdd(tiles.measured_again, 1u)] = tile;
        for (uint32_t i = lane; i - lane < known; i += WARP) {
            uint32_t number = 0;
            PackedSums kept = {};
            if (i < known) kept = tiles.sums[int64_t(tile) * tiles.most_kept_parts + i];
            if (i < nodes && i < known)
                number = number_in(tile << Tile::NODE_BITS | i);
            else if (i < known)
                number = number_of_first<Tile>(tiles, place, kept.first);
            const bool has = window.contains(number), is_whole = i >= nodes;
            const ComponentSums sums = sums_of<Tile>(kept, place, tiles);
            if (has && is_whole) window.of(number) = sums;
            warp_sums.add(has && !is_whole, number, sums, window);
        }
    }
    warp_sums.finish(window);
}

/// Block: measures a tile whose sums were not all kept: its components in the window, without nodes whose sums were kept.
template <class Tile>
__device__ void remeasure_tile(LabelledTile<Tile> &labelled, const TilePlace &place, const Tiles &tiles, const Window &window) {
    constexpr uint32_t ENTRIES = LabelledTile<Tile>::ENTRIES;
    const uint32_t runs = recall_tile(labelled, place, tiles);
    number_roots(labelled, runs, place, tiles);
    if (tiles.kept_part_count[place.tile] == ONLY_NODES_KEPT) {
        for_nodes<Tile>(tiles, place.tile,
                        [&](uint32_t node) { labelled.parents[labelled.root_of_node(tiles, node)] = ENTRIES; });
        __syncthreads();
    }
    for (uint32_t rest = firsts_of<Tile>(place, tiles); rest; rest &= rest - 1) {
        const int x = __ffs(rest) - 1;
        const uint32_t number = labelled.parents[labelled.run_at(threadIdx.x, x)] - ENTRIES;
        if (window.contains(number)) window.of(number).first = index_at<Tile>(tiles, place, threadIdx.x * 32 + x);
    }
    add_words<Tile>(
        labelled,
        [&](uint32_t run) {
            const uint32_t up = labelled.parents[run], number = (up < ENTRIES ? labelled.parents[up] : up) - ENTRIES;
            return window.contains(number) ? number : NO_PART;
        },
        [&](uint32_t number, const PixelSums &added) { window.of(number).add_shared(sums_of<Tile>(added, place, tiles)); });
    __syncthreads();
}

/// Measures the listed tiles again, a block each.
template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS) remeasure_tiles(Tiles tiles, Window window) {
    extern __shared__ __align__(16) uint8_t memory[];
    for (uint32_t i = blockIdx.x; i < tiles.measured_again[0]; i += gridDim.x)
        remeasure_tile(*reinterpret_cast<LabelledTile<Tile> *>(memory), place_of<Tile>(tiles, tiles.measured_again[1 + i]),
                       tiles, window);
}

/// Measures a window of components: `count` of them, or fewer if there are fewer, from number `from` on.  After the scan.
template <class Tile>
void measure_components(const ComponentsJob &job, const Plan &plan, const Tiles &tiles, apsis_component *memory, int64_t from,
                        int64_t count, cudaStream_t stream) {
    const Window window = {reinterpret_cast<ComponentSums *>(memory), static_cast<uint32_t>(from), static_cast<uint32_t>(count),
                           tiles.firsts_before + tiles.tile_rows()};
    const int64_t warp_blocks = std::min(ceil_div(tiles.count(), WARPS), MOST_MEASURING_BLOCKS);
    launch("clear_window", clear_window, ceil_div(count * ComponentSums::FIELDS, BLOCK), BLOCK, stream, window,
           tiles.measured_again);
    launch("add_parts", add_parts<Tile>, warp_blocks, BLOCK, stream, tiles, window);
    launch(plan.remeasure, remeasure_tiles<Tile>, stream, tiles, window);
    end_window(job, window, count, stream);
}

}  // namespace apsis::cuda::components
