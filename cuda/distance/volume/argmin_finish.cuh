// Phase 2 of argmin.cu for a whole bundle: which thread finishes which interval, and in which order.
#pragma once

#include "cuda/distance/volume/argmin_bundle.cuh"
#include "cuda/distance/volume/argmin_interval.cuh"
#include "cuda/distance/volume/layout.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

namespace {

/// Where a bundle's lines lie: ACROSS of them side by side, in PLANES planes.
template <class Lines, int LANES>
struct Place {
    static constexpr int ACROSS = LANES / Lines::DEEP;
    int32_t first, plane;  // the first line, and the first plane

    __device__ int32_t line(int32_t lane) const { return first + lane / Lines::DEEP; }
    __device__ int32_t z(int32_t lane) const { return plane + lane % Lines::DEEP; }
    __device__ bool holds(const Lines &lines, int32_t lane) const {
        return line(lane) < lines.lines() && z(lane) < lines.volume.depth();
    }
};

/// Which tiles of an interval are wanted on a line: a bit for each.
template <int APART, class Lines>
__device__ uint8_t wanted_tiles(const Lines &lines, int64_t z, int64_t line, int32_t interval) {
    uint8_t wanted = 0;
    for (int i = 0; i < APART / TILE; ++i)
        if (const int32_t tile = interval * (APART / TILE) + i; tile * TILE < lines.length() && lines.wanted(z, line, tile))
            wanted |= 1 << i;
    return wanted;
}

/// Distances alone: finds the least costs of an interval's two tiles, and writes the wanted ones.  Returns true: it is done.
template <class Lines, int LANES>
__device__ bool finish(const Bundle<LANES, PAIR> &bundle, const Lines &lines, int32_t z, int32_t line, const Interval &interval,
                       uint32_t wanted) {
    const auto [lane, x, low, high] = interval;
    const bool solid = is_solid(bundle, lane, x, low, high), halves_serve = Halves::serve(bundle.weight, low, high);
    Halves halves(bundle, low, high);
    if (halves_serve && !solid) {
        const int32_t bound = high - low >= LONG ? dearest<PAIR>(bundle, lane, x, low, high) : 0;
        each_promising(bundle, interval.lane, interval.x, interval.x + PAIR - 1, interval.low, interval.high, bound,
                       [&](int32_t from, int32_t to) { halves.take(bundle, interval, from, to); });
    }
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
        const int32_t here = x + half * TILE;
        Tile tile;
        if (solid) {
#pragma unroll
            for (int k = 0; k < TILE; ++k) tile.cost[k] = 0;
        } else if (halves_serve) {
            halves.hand_out(bundle, lane, here, low, tile.cost);
        } else {
            search_tile(bundle, lane, here, low, high, tile);
        }
        if (wanted >> half & 1) lines.write(z, line, here, tile);
    }
    return true;
}

/// Nearest sites: finds and writes those of an interval's tile.  Returns false, with nothing written, if its bracket is too long or
/// the weight too large.
template <class Lines, int LANES>
__device__ bool finish(const Bundle<LANES, TILE> &bundle, const Lines &lines, int32_t z, int32_t line, const Interval &interval,
                       uint32_t) {
    const auto [lane, x, low, high] = interval;
    const auto site = lines.sites(z, line);
    const bool solid = is_solid(bundle, lane, x, low, high);
    if (!solid && !Keys::serve(bundle.weight, low, high)) return false;
    Tile tile;
    uint64_t places = 0x0706050403020100;  // for voxels that are their own sites
    if (solid) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) tile.cost[k] = 0;
    } else {
        const Keys keys(bundle, lane, x, low, high);
        keys.hand_out(bundle, lane, x, low, tile.cost);
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
template <class Lines, int LANES>
__device__ void finish_voxel(const Bundle<LANES, TILE> &bundle, const Lines &lines, const Place<Lines, LANES> &place,
                             int32_t item, int voxel) {
    const Interval interval(bundle, item);
    const int32_t z = place.z(interval.lane), line = place.line(interval.lane), x = interval.x + voxel;
    const auto site = lines.sites(z, line);
    lines.write_voxel(z, line, x, search_voxel(bundle, interval.lane, x, interval.low, interval.high, site));
}

/// Warp: defers the intervals of the lanes that have one to the end, for the whole block.  If too many are deferred already, a lane
/// finishes its own at once.
template <class Lines, int LANES>
__device__ void leave(const Bundle<LANES, TILE> &bundle, const Lines &lines, const Place<Lines, LANES> &place, int32_t item,
                      bool has_one) {
    const uint32_t here = __ballot_sync(ALL_LANES, has_one);
    if (!here) return;
    const int lane = threadIdx.x % WARP;
    int32_t begin = lane ? 0 : atomicAdd(bundle.lefts, __popc(here));
    begin = __shfl_sync(ALL_LANES, begin, 0);
    if (!has_one) return;
    const int32_t at = begin + __popc(here & (1u << lane) - 1);
    if (at < bundle.MOST_LEFT)
        bundle.left[at] = static_cast<uint16_t>(item);
    else
        for (int k = 0; k < TILE; ++k) finish_voxel(bundle, lines, place, item, k);
}

/// Block: finishes the deferred intervals, a thread a voxel.
template <class Lines, int LANES>
__device__ void finish_left(const Bundle<LANES, TILE> &bundle, const Lines &lines, const Place<Lines, LANES> &place) {
    __syncthreads();
    const int32_t count = min(*bundle.lefts, bundle.MOST_LEFT);
    for (int32_t i = threadIdx.x; i < count * TILE; i += THREADS)
        finish_voxel(bundle, lines, place, bundle.left[i / TILE], i % TILE);
}

constexpr uint32_t VAIN_TRIES = 10 * WARP;  // tries that lanes spend waiting; for fewer, ordering takes longer than it saves
constexpr int CLASSES = 8, CLASS_BITS = 3;  // classes of brackets by their length

__device__ int bracket_class(int32_t length) { return length < LONG ? (length + 1) * 7 / (LONG + 1) : 7; }

/// The lanes of a warp whose number of CLASS_BITS is `number`; bits[i] is the ballot of bit i.
__device__ uint32_t lanes_with(int number, const uint32_t (&bits)[CLASS_BITS]) {
    uint32_t lanes = ALL_LANES;
#pragma unroll
    for (int i = 0; i < CLASS_BITS; ++i) lanes &= number >> i & 1 ? bits[i] : ~bits[i];
    return lanes;
}

/// The intervals that a warp finishes together: several rows of WARP.
struct Rows {
    int32_t first, step;

    __device__ int32_t item(int place) const { return (first + place / WARP * step) * WARP + place % WARP; }
};

/// Warp: orders the wanted intervals of its rows by the length of their brackets, long ones first, so that its lanes have equal
/// work.  Returns how many there are.
template <int LANES, int APART, class Wanted>
__device__ int order_intervals(const Bundle<LANES, APART> &bundle, const Rows &rows, uint8_t *order, Wanted wanted) {
    const int lane = threadIdx.x % WARP;
    const int32_t items = bundle.posts * LANES;
    constexpr int ROUNDS = bundle.ROUNDS;
    uint32_t here[ROUNDS], most = 0, sum = 0;
    int32_t length[ROUNDS];  // of the bracket; 0 if the interval is not wanted
#pragma unroll
    for (int k = 0; k < ROUNDS; ++k) {
        const int32_t item = rows.item(k * WARP + lane);
        const bool is_wanted = item < items && wanted(item / LANES, item % LANES);
        length[k] = is_wanted ? bundle.best[item + LANES] - bundle.best[item] + 1 : 0;
        here[k] = __ballot_sync(ALL_LANES, is_wanted);
        most += greatest_of_warp(length[k]), sum += length[k];
    }
    const uint32_t below = (1u << lane) - 1;
    if (most * WARP <= sum_of_warp(sum) + VAIN_TRIES) {
        int count = 0;
#pragma unroll
        for (int k = 0; k < ROUNDS; ++k) {
            if (here[k] >> lane & 1) order[count + __popc(here[k] & below)] = static_cast<uint8_t>(k * WARP + lane);
            count += __popc(here[k]);
        }
        __syncwarp();
        return count;
    }
    uint32_t bits[ROUNDS][CLASS_BITS];
    int number[ROUNDS], counted[ROUNDS], ours = 0;  // counts of the class whose number is the lane's
#pragma unroll
    for (int k = 0; k < ROUNDS; ++k) {
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
    for (int k = 0; k < ROUNDS; ++k) {
        const int place = __shfl_sync(ALL_LANES, begin, number[k]) +
                          __popc(lanes_with(number[k], bits[k]) & here[k] & below);
        if (here[k] >> lane & 1) order[place] = static_cast<uint8_t>(k * WARP + lane);
        begin += counted[k];
    }
    __syncwarp();
    return total;
}

/// Block: finds and writes the best candidates of the voxels of every wanted tile.
template <class Lines, int LANES, int APART>
__device__ void finish_intervals(const Bundle<LANES, APART> &bundle, const Lines &lines, const Place<Lines, LANES> &place) {
    constexpr int32_t WARPS_HERE = THREADS / WARP;
    const int32_t warp = threadIdx.x / WARP, rows_in_all = (bundle.posts * LANES + WARP - 1) / WARP;
    constexpr int ROUNDS = bundle.ROUNDS;
    uint8_t *const order = bundle.order + warp * bundle.ORDERED;
    const auto wanted = [&](int32_t interval, int32_t lane) -> uint32_t {  // all lines of a group want the same
        if (LANES <= GROUP || !bundle.wanted[interval]) return bundle.wanted[interval];
        return wanted_tiles<APART>(lines, place.z(lane), place.line(lane), interval);
    };
    for (Rows rows = {warp, WARPS_HERE}; rows.first < rows_in_all; rows.first += ROUNDS * WARPS_HERE) {
        const int total = order_intervals(bundle, rows, order, [&](int32_t interval, int32_t lane) {
            return place.holds(lines, lane) && wanted(interval, lane);
        });
        for (int first = 0; first < total; first += WARP) {
            const int i = first + threadIdx.x % WARP;
            const int32_t item = rows.item(order[min(i, total - 1)]), lane = item % LANES;
            const auto finish_one = [&] {
                const Interval interval(bundle, item);
                return finish(bundle, lines, place.z(lane), place.line(lane), interval, wanted(item / LANES, lane));
            };
            const bool done = i >= total || finish_one();
            if constexpr (APART == TILE) leave(bundle, lines, place, item, !done);
        }
        __syncwarp();
    }
    if constexpr (APART == TILE) finish_left(bundle, lines, place);
}

}  // namespace

}  // namespace apsis::cuda::volume
