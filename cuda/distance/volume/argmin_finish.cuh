// Phase 2 of argmin.cu for a whole bundle: which thread finishes which interval, and in which order.
#pragma once

#include "cuda/distance/volume/argmin_bundle.cuh"
#include "cuda/distance/volume/argmin_interval.cuh"
#include "cuda/distance/volume/layout.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

/// Where a bundle's lines lie: ACROSS of them side by side, in PLANES planes.
template <class Lines, int WIDTH>
struct BundlePlace {
    static constexpr int ACROSS = WIDTH / Lines::PLANES;
    int32_t first, plane;  // the first line, and the first plane

    __device__ int32_t line(int32_t lane) const { return first + lane / Lines::PLANES; }
    __device__ int32_t z(int32_t lane) const { return plane + lane % Lines::PLANES; }
    __device__ bool holds(const Lines &lines, int32_t lane) const {
        return line(lane) < lines.lines() && z(lane) < lines.layout.depth();
    }
};

/// Which tiles of an interval are wanted on a line: a bit for each.
template <int PERIOD, class Lines>
__device__ uint8_t wanted_tiles(const Lines &lines, int64_t z, int64_t line, int32_t interval) {
    uint8_t wanted = 0;
    for (int i = 0; i < PERIOD / TILE; ++i)
        if (const int32_t tile = interval * (PERIOD / TILE) + i; tile * TILE < lines.length() && lines.wanted(z, line, tile))
            wanted |= 1 << i;
    return wanted;
}

/// Distances alone: finds the least costs of an interval's two tiles, and writes the wanted ones.  Returns true: no interval is
/// deferred.
template <class Lines, int WIDTH>
__device__ bool finish(const Bundle<WIDTH, TWO_TILES> &bundle, const Lines &lines, int32_t z, int32_t line,
                       const Interval &interval, uint32_t wanted) {
    const auto [lane, x, low, high] = interval;
    const bool all_sites = is_all_sites(bundle, lane, x, low, high), halves_fit = HalfCosts::fits(bundle.weight, low, high);
    HalfCosts halves(bundle, low, high);
    if (halves_fit && !all_sites) {
        const int32_t bound = high - low >= LONG_BRACKET ? worst_cost<TWO_TILES>(bundle, lane, x, low, high) : 0;
        visit_promising(bundle, interval.lane, interval.x, interval.x + TWO_TILES - 1, interval.low, interval.high, bound,
                        [&](int32_t from, int32_t to) { halves.take(bundle, interval, from, to); });
    }
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
        const int32_t here = x + half * TILE;
        TileResult tile;
        if (all_sites) {
#pragma unroll
            for (int k = 0; k < TILE; ++k) tile.cost[k] = 0;
        } else if (halves_fit) {
            halves.unpack(bundle, lane, here, low, tile.cost);
        } else {
            search_tile(bundle, lane, here, low, high, tile);
        }
        if (wanted >> half & 1) lines.write(z, line, here, tile);
    }
    return true;
}

/// Nearest sites: finds and writes the nearest sites of an interval's tile.  Returns false, with nothing written, if its
/// bracket is too long or the weight too large.
template <class Lines, int WIDTH>
__device__ bool finish(const Bundle<WIDTH, TILE> &bundle, const Lines &lines, int32_t z, int32_t line, const Interval &interval,
                       uint32_t) {
    const auto [lane, x, low, high] = interval;
    const auto site = lines.sites(z, line);
    const bool all_sites = is_all_sites(bundle, lane, x, low, high);
    if (!all_sites && !HalfKeys::fits(bundle.weight, low, high)) return false;
    TileResult tile;
    uint64_t places = 0x0706050403020100;  // for voxels that are their own sites
    if (all_sites) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) tile.cost[k] = 0;
    } else {
        const HalfKeys keys(bundle, lane, x, low, high);
        keys.unpack(bundle, lane, x, low, tile.cost);
        places = keys.find_places(bundle, lane, x, low, high, site);
    }
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        const int32_t at = min(low + static_cast<int32_t>(places >> 8 * k & UINT8_MAX), high), way = x + k - at;
        tile.at[k] = at, tile.site[k] = site(at, tile.cost[k] - bundle.weight * way * way);
    }
    lines.write(z, line, x, tile);
    return true;
}

/// Finds the nearest site of one voxel of an interval, and writes it.
template <class Lines, int WIDTH>
__device__ void finish_voxel(const Bundle<WIDTH, TILE> &bundle, const Lines &lines, const BundlePlace<Lines, WIDTH> &place,
                             int32_t item, int voxel) {
    const Interval interval(bundle, item);
    const int32_t z = place.z(interval.lane), line = place.line(interval.lane), x = interval.x + voxel;
    const auto site = lines.sites(z, line);
    lines.write_voxel(z, line, x, search_voxel(bundle, interval.lane, x, interval.low, interval.high, site));
}

/// Warp: defers the intervals of the lanes that have one to the end, for the whole block.  If too many are deferred already, a
/// lane finishes its own at once.
template <class Lines, int WIDTH>
__device__ void defer(const Bundle<WIDTH, TILE> &bundle, const Lines &lines, const BundlePlace<Lines, WIDTH> &place,
                      int32_t item, bool has_one) {
    const uint32_t here = __ballot_sync(ALL_LANES, has_one);
    if (!here) return;
    const int lane = threadIdx.x % WARP;
    int32_t begin = lane ? 0 : atomicAdd(bundle.deferred_count, __popc(here));
    begin = __shfl_sync(ALL_LANES, begin, 0);
    if (!has_one) return;
    const int32_t at = begin + __popc(here & (1u << lane) - 1);
    if (at < bundle.MOST_DEFERRED)
        bundle.deferred[at] = static_cast<uint16_t>(item);
    else
        for (int k = 0; k < TILE; ++k) finish_voxel(bundle, lines, place, item, k);
}

/// Block: finishes the deferred intervals, a thread a voxel.
template <class Lines, int WIDTH>
__device__ void finish_deferred(const Bundle<WIDTH, TILE> &bundle, const Lines &lines, const BundlePlace<Lines, WIDTH> &place) {
    __syncthreads();
    const int32_t count = min(*bundle.deferred_count, bundle.MOST_DEFERRED);
    for (int32_t i = threadIdx.x; i < count * TILE; i += THREADS)
        finish_voxel(bundle, lines, place, bundle.deferred[i / TILE], i % TILE);
}

constexpr uint32_t IDLE_TRIES = 10 * WARP;  // tries that lanes spend waiting; for fewer, ordering takes longer than it saves
constexpr int CLASSES = 8, CLASS_BITS = 3;  // classes of brackets by their length

__device__ inline int bracket_class(int32_t length) {
    return length < LONG_BRACKET ? (length + 1) * 7 / (LONG_BRACKET + 1) : 7;
}

/// The lanes of a warp whose number of CLASS_BITS is `number`; bits[i] is the ballot of bit i.
__device__ inline uint32_t lanes_with(int number, const uint32_t (&bits)[CLASS_BITS]) {
    uint32_t lanes = ALL_LANES;
#pragma unroll
    for (int i = 0; i < CLASS_BITS; ++i) lanes &= number >> i & 1 ? bits[i] : ~bits[i];
    return lanes;
}

/// The intervals that a warp finishes together: several rows of WARP.
struct IntervalRows {
    int32_t first, step;

    __device__ int32_t item(int place) const { return (first + place / WARP * step) * WARP + place % WARP; }
};

/// Warp: orders the wanted intervals of its rows by the length of their brackets, long ones first, so that its lanes have equal
/// work.  Returns how many there are.
template <int WIDTH, int PERIOD, class Wanted>
__device__ int order_intervals(const Bundle<WIDTH, PERIOD> &bundle, const IntervalRows &rows, uint8_t *order, Wanted wanted) {
    const int lane = threadIdx.x % WARP;
    const int32_t items = bundle.pivots * WIDTH;
    constexpr int ORDER_ROWS = bundle.ORDER_ROWS;
    uint32_t here[ORDER_ROWS], most = 0, sum = 0;
    int32_t length[ORDER_ROWS];  // of the bracket; 0 if the interval is not wanted
#pragma unroll
    for (int k = 0; k < ORDER_ROWS; ++k) {
        const int32_t item = rows.item(k * WARP + lane);
        const bool is_wanted = item < items && wanted(item / WIDTH, item % WIDTH);
        length[k] = is_wanted ? bundle.best[item + WIDTH] - bundle.best[item] + 1 : 0;
        here[k] = __ballot_sync(ALL_LANES, is_wanted);
        most += greatest_of_warp(length[k]), sum += length[k];
    }
    const uint32_t below = (1u << lane) - 1;
    if (most * WARP <= sum_of_warp(sum) + IDLE_TRIES) {
        int count = 0;
#pragma unroll
        for (int k = 0; k < ORDER_ROWS; ++k) {
            if (here[k] >> lane & 1) order[count + __popc(here[k] & below)] = static_cast<uint8_t>(k * WARP + lane);
            count += __popc(here[k]);
        }
        __syncwarp();
        return count;
    }
    uint32_t bits[ORDER_ROWS][CLASS_BITS];
    int number[ORDER_ROWS], counted[ORDER_ROWS], ours = 0;  // counts of the class whose number is the lane's
#pragma unroll
    for (int k = 0; k < ORDER_ROWS; ++k) {
        number[k] = CLASSES - 1 - bracket_class(length[k]);
#pragma unroll
        for (int i = 0; i < CLASS_BITS; ++i) bits[k][i] = __ballot_sync(ALL_LANES, number[k] >> i & 1);
        counted[k] = __popc(lanes_with(lane, bits[k]) & here[k]);
        ours += counted[k];
    }
    int end = ours;
#pragma unroll
    for (int step = 1; step < CLASSES; step *= 2) {
        const int other = __shfl_up_sync(ALL_LANES, end, step);
        if (lane >= step) end += other;
    }
    const int total = __shfl_sync(ALL_LANES, end, CLASSES - 1);
    int begin = end - ours;
#pragma unroll
    for (int k = 0; k < ORDER_ROWS; ++k) {
        const int place = __shfl_sync(ALL_LANES, begin, number[k]) + __popc(lanes_with(number[k], bits[k]) & here[k] & below);
        if (here[k] >> lane & 1) order[place] = static_cast<uint8_t>(k * WARP + lane);
        begin += counted[k];
    }
    __syncwarp();
    return total;
}

/// Block: finds and writes the best candidates of the voxels of every wanted tile.
template <class Lines, int WIDTH, int PERIOD>
__device__ void finish_intervals(const Bundle<WIDTH, PERIOD> &bundle, const Lines &lines,
                                 const BundlePlace<Lines, WIDTH> &place) {
    constexpr int32_t BLOCK_WARPS = THREADS / WARP;
    const int32_t warp = threadIdx.x / WARP, rows_in_all = (bundle.pivots * WIDTH + WARP - 1) / WARP;
    constexpr int ORDER_ROWS = bundle.ORDER_ROWS;
    uint8_t *const order = bundle.order + warp * bundle.ORDERED_INTERVALS;
    const auto wanted = [&](int32_t interval, int32_t lane) -> uint32_t {  // all lines of a group have the same wanted tiles
        if (WIDTH <= MARK_GROUP || !bundle.wanted[interval]) return bundle.wanted[interval];
        return wanted_tiles<PERIOD>(lines, place.z(lane), place.line(lane), interval);
    };
    for (IntervalRows rows = {warp, BLOCK_WARPS}; rows.first < rows_in_all; rows.first += ORDER_ROWS * BLOCK_WARPS) {
        const int total = order_intervals(bundle, rows, order, [&](int32_t interval, int32_t lane) {
            return place.holds(lines, lane) && wanted(interval, lane);
        });
        for (int first = 0; first < total; first += WARP) {
            const int i = first + threadIdx.x % WARP;
            const int32_t item = rows.item(order[min(i, total - 1)]), lane = item % WIDTH;
            const auto finish_one = [&] {
                const Interval interval(bundle, item);
                return finish(bundle, lines, place.z(lane), place.line(lane), interval, wanted(item / WIDTH, lane));
            };
            const bool done = i >= total || finish_one();
            if constexpr (PERIOD == TILE) defer(bundle, lines, place, item, !done);
        }
        __syncwarp();
    }
    if constexpr (PERIOD == TILE) finish_deferred(bundle, lines, place);
}

}  // namespace apsis::cuda::volume
