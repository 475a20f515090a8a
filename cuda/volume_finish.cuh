// What costs least for each voxel between two posts of a bundle's lines, and which candidate that is: the second half of
// volume_argmin.cu, which tells how it all goes together.
#pragma once

#include "launch.h"
#include "volume.h"
#include "volume_bundle.cuh"

namespace apsis {

namespace {

constexpr uint32_t NO_PLACE = 0xffffffffu;  // for the nearest site where there is none

/// Where a bundle's lines are: those of a plane side by side, in DEEP planes.
template <class Lines, int LANES>
struct Place {
    static constexpr int ACROSS = LANES / Lines::DEEP;
    int32_t first, plane;  // of its lines, and planes

    __device__ int32_t line(int32_t lane) const { return first + lane % ACROSS; }
    __device__ int32_t z(int32_t lane) const { return plane + lane / ACROSS; }
    __device__ bool holds(const Lines &lines, int32_t lane) const {
        return line(lane) < lines.lines() && z(lane) < lines.volume.depth();
    }
};

/// The costs of a candidate for a tile's voxels: w (x + k - c)^2 = w (x - c)^2 + w k^2 + slope k, and the
/// second term is added when all is done.
struct Ramp {
    int32_t here, slope;

    template <int LANES, int APART>
    __device__ Ramp(const Bundle<LANES, APART> &bundle, int32_t lane, int32_t x, int32_t c) {
        here = bundle.at(lane, x, c) + bundle.square(x);
        slope = 2 * bundle.weight * (x - c);
    }
    __device__ int32_t at(int k) const { return here + k * slope; }
    __device__ int32_t least() const { return min(here, here + (TILE - 1) * slope); }
};

/// The least costs of a tile's voxels, less w k^2, and the candidates that they are of.
struct Tile {
    int32_t cost[TILE];
    int32_t at[TILE];     // where somebody asks
    uint32_t site[TILE];  // in the plane of each

    __device__ void take(const Ramp &ramp) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) cost[k] = min(cost[k], ramp.at(k));
    }
    /// A candidate that costs more than this at both ends of the tile is no use.
    __device__ int32_t worst() const {
        int32_t most = cost[0];
#pragma unroll
        for (int k = 1; k < TILE; ++k) most = max(most, cost[k]);
        return most;
    }
};

/// What the dearest of COUNT voxels from x on costs, if the better of two candidates is taken for each.
template <int COUNT, int LANES, int APART>
__device__ int32_t dearest(const Bundle<LANES, APART> &bundle, int32_t lane, int32_t x, int32_t one, int32_t other) {
    const Ramp ramps[] = {{bundle, lane, x, one}, {bundle, lane, x, other}};
    int32_t most = 0;
#pragma unroll 4
    for (int k = 0; k < COUNT; ++k) most = max(most, min(ramps[0].at(k), ramps[1].at(k)) + bundle.weight * k * k);
    return most;
}

/// Tries all candidates from low to high.
template <int LANES, int APART>
__device__ void find_costs(const Bundle<LANES, APART> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high,
                           Tile &tile) {
    Ramp ramp(bundle, lane, x, low);
    const int32_t *score = bundle.score + low * LANES + lane;
    int32_t way = ramp.here - *score;
#pragma unroll 2
    for (int32_t c = low; c <= high; ++c, score += LANES, way += bundle.slope(x), ramp.slope -= 2 * bundle.weight) {
        ramp.here = *score + way;
        asm("" : "+r"(ramp.slope));  // or else its multiples would be kept, in as many registers
        tile.take(ramp);
    }
}

/// Whether all voxels of an interval are sites in their own plane, and nothing is to be found.
template <int LANES, int APART>
__device__ bool is_solid(const Bundle<LANES, APART> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high) {
    if (low != x || high != x + APART) return false;
    const int32_t slope = bundle.slope(x), square = bundle.square(x);
    int32_t costs = 0, way = slope * (x - bundle.middle) + square;
#pragma unroll
    for (int k = 0; k < APART; ++k, way += slope) costs |= bundle.score[(x + k) * LANES + lane] + way - bundle.weight * k * k;
    return costs == 0;
}

/// Finds which candidates from low to high the costs are of; of several the one whose site is the lowest.
template <int LANES, int APART, class Site>
__device__ void find_sites(const Bundle<LANES, APART> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high, Tile &tile,
                           Site site) {
    constexpr int TOGETHER = 4;  // candidates whose sites are loaded at once
    const int32_t bound = tile.worst();
#pragma unroll 1
    for (int32_t first = low; first <= high; first += TOGETHER) {
        uint32_t sites[TOGETHER];
#pragma unroll
        for (int i = 0; i < TOGETHER; ++i) sites[i] = site(min(first + i, high));
#pragma unroll
        for (int i = 0; i < TOGETHER; ++i) {
            const Ramp ramp(bundle, lane, x, first + i);
            if (first + i > high || ramp.least() > bound) continue;
#pragma unroll
            for (int k = 0; k < TILE; ++k) {
                const bool lower = ramp.at(k) == tile.cost[k] && sites[i] < tile.site[k];
                tile.site[k] = lower ? sites[i] : tile.site[k], tile.at[k] = lower ? first + i : tile.at[k];
            }
        }
    }
}

constexpr int PAIR = 2 * TILE;  // voxels of an interval where only distances are asked for: as many costs, in halves, as fit a
                                // tile's registers

/// An interval of a line, and its bracket.
struct Interval {
    int32_t lane, x, low, high;

    template <int LANES, int APART>
    __device__ Interval(const Bundle<LANES, APART> &bundle, int32_t item)
        : lane(item % LANES), x(item / LANES * APART), low(bundle.best[item]), high(bundle.best[item + LANES]) {}
};

/// The least costs of the voxels of an interval of two tiles, two in a register.
///
/// They are counted from what the first candidate of the bracket, `low`, costs.  Candidate c costs voxel k
/// d - 2 w k (c - low) more, where d, what it costs voxel 0 more, is not negative: low is the best there.  No candidate whose
/// d is above `most` = 2 w (PAIR - 1) (high + 1 - low) is best anywhere; and with `most` added, and d no more than that, what
/// candidates up to high + 1 cost fits 16 bits.
struct Halves {
    uint32_t least[TILE];  // of voxels 2 j and 2 j + 1
    int32_t most;

    static __device__ int32_t most_of(int32_t weight, int32_t places) { return 2 * weight * (PAIR - 1) * (places + 1); }
    /// Whether a bracket is short enough.
    static __device__ bool serve(int32_t weight, int32_t low, int32_t high) {
        return 2 * most_of(weight, high - low) <= UINT16_MAX;
    }

    template <int LANES, int APART>
    __device__ Halves(const Bundle<LANES, APART> &bundle, int32_t low, int32_t high)
        : most(most_of(bundle.weight, high - low)) {
#pragma unroll
        for (int j = 0; j < TILE; ++j) least[j] = most * ONES;
    }
    /// Tries all candidates from `from` to `to`, and if need be one more for an even number.
    template <int LANES, int APART>
    __device__ void take(const Bundle<LANES, APART> &bundle, const Interval &interval, int32_t from, int32_t to) {
        const auto [lane, x, low, high] = interval;
        const int32_t *score = bundle.score + from * LANES + lane;
        const int32_t slope = bundle.slope(x), twice = 2 * bundle.weight;
        int32_t way = slope * (from - bundle.middle) - bundle.at(lane, x, low) + most;
        uint32_t gain = twice * (from - low);  // from a voxel to the next
#pragma unroll 1
        for (int32_t c = from; c <= to; c += 2, score += 2 * LANES, way += 2 * slope, gain += 2 * twice) {
            uint32_t one = min(score[0] + way, 2 * most) * ONES - (gain << 16);
            uint32_t other = min(score[LANES] + (way + slope), 2 * most) * ONES - (gain + twice << 16);
            uint32_t step = gain * (2 * ONES), other_step = step + twice * (2 * ONES);
            asm("" : "+r"(step));  // or else its multiples would be kept, in as many registers
            asm("" : "+r"(other_step));
#pragma unroll
            for (int j = 0; j < TILE; ++j, one -= step, other -= other_step) least[j] = __vimin3_u16x2(least[j], one, other);
        }
    }
    /// The costs of the first tile, whose first voxel is x; the second is the first from then on.
    template <int LANES, int APART>
    __device__ void hand_out(const Bundle<LANES, APART> &bundle, int32_t lane, int32_t x, int32_t low, int32_t (&cost)[TILE]) {
        const Ramp first(bundle, lane, x, low);
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const uint32_t half = k % 2 ? least[k / 2] >> 16 : least[k / 2] & 0xffff;
            cost[k] = first.at(k) + bundle.weight * k * k + static_cast<int32_t>(half) - most;
        }
#pragma unroll
        for (int j = 0; j < TILE / 2; ++j) least[j] = least[j + TILE / 2];
    }

    static constexpr uint32_t ONES = 0x00010001u;  // one in both halves
};

/// Finds what costs least for a tile's voxels, and if somebody asks the candidates that do.
template <bool NEAREST, int LANES, int APART, class Site>
__device__ void search_tile(const Bundle<LANES, APART> &bundle, int32_t lane, int32_t x, int32_t low, int32_t high, Tile &tile,
                            Site site) {
#pragma unroll
    for (int k = 0; k < TILE; ++k) tile.cost[k] = INT32_MAX, tile.at[k] = 0, tile.site[k] = NO_PLACE;
    const int32_t bound = high - low >= LONG ? dearest<TILE>(bundle, lane, x, low, high) : 0;
    each_promising(bundle, lane, x, x + TILE - 1, low, high, bound,
                   [&](int32_t from, int32_t to) { find_costs(bundle, lane, x, from, to, tile); });
    if constexpr (NEAREST)
        each_promising(bundle, lane, x, x + TILE - 1, low, high, bound,
                       [&](int32_t from, int32_t to) { find_sites(bundle, lane, x, from, to, tile, site); });
#pragma unroll
    for (int k = 0; k < TILE; ++k) tile.cost[k] += bundle.weight * k * k;
}

/// Which tiles of an interval a line wants: a bit for each.
template <int APART, class Lines>
__device__ uint8_t wanted_tiles(const Lines &lines, int64_t z, int64_t line, int32_t interval) {
    uint8_t wanted = 0;
    for (int i = 0; i < APART / TILE; ++i)
        if (const int32_t tile = interval * (APART / TILE) + i; tile * TILE < lines.length() && lines.wanted(z, line, tile))
            wanted |= 1 << i;
    return wanted;
}

/// Finds what costs least for the voxels of an interval of two tiles, and hands on what is wanted.
template <class Lines, int LANES>
__device__ void finish(const Bundle<LANES, PAIR> &bundle, const Lines &lines, int32_t z, int32_t line, const Interval &interval,
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
            search_tile<false>(bundle, lane, here, low, high, tile, [](int32_t) { return NO_PLACE; });
        }
        if (wanted >> half & 1) lines.write(z, line, here, tile);
    }
}

/// Finds the nearest sites of the voxels of an interval of one tile, and hands them on.
template <class Lines, int LANES>
__device__ void finish(const Bundle<LANES, TILE> &bundle, const Lines &lines, int32_t z, int32_t line, const Interval &interval,
                       uint32_t) {
    const auto [lane, x, low, high] = interval;
    const auto site = [&, lane = lane](int32_t c) { return lines.site(bundle, lane, z, line, c); };
    Tile tile;
    if (is_solid(bundle, lane, x, low, high)) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) tile.cost[k] = 0, tile.at[k] = x + k, tile.site[k] = site(x + k);
    } else {
        search_tile<true>(bundle, lane, x, low, high, tile, site);
    }
    lines.write(z, line, x, tile);
}

constexpr uint32_t VAIN_TRIES = 10 * WARP;  // of a warp's lanes that wait for another, up to which order takes longer
constexpr int CLASSES = 8, CLASS_BITS = 3;  // of brackets, by their length

__device__ int bracket_class(int32_t length) { return length < LONG ? (length + 1) * 7 / (LONG + 1) : 7; }

/// The lanes of a warp that have a number of CLASS_BITS, of which `bits` are the ballots.
__device__ uint32_t lanes_with(int number, const uint32_t (&bits)[CLASS_BITS]) {
    uint32_t lanes = ALL_LANES;
#pragma unroll
    for (int i = 0; i < CLASS_BITS; ++i) lanes &= number >> i & 1 ? bits[i] : ~bits[i];
    return lanes;
}

/// The intervals of lines that a warp finishes together: rows of as many as it has lanes.
struct Rows {
    int32_t first, step;

    __device__ int32_t item(int place) const { return (first + place / WARP * step) * WARP + place % WARP; }
};

/// Orders the intervals of a warp's rows that are wanted by the length of their brackets, long ones first, so that its lanes
/// have as much to do.  Returns how many they are.
template <int LANES, int APART, class Wanted>
__device__ int order_intervals(const Bundle<LANES, APART> &bundle, const Rows &rows, uint8_t *order, Wanted wanted) {
    const int lane = threadIdx.x % WARP;
    const int32_t items = bundle.posts * LANES;
    constexpr int ROUNDS = bundle.ROUNDS;
    uint32_t here[ROUNDS], most = 0, sum = 0;
    int32_t length[ROUNDS];  // 0 if nobody wants the interval
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
    int number[ROUNDS], counted[ROUNDS], ours = 0;  // intervals of the class whose number is the lane's
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

/// Finds what costs least for the voxels of every wanted tile, and hands it on.
template <class Lines, int LANES, int APART>
__device__ void finish_intervals(const Bundle<LANES, APART> &bundle, const Lines &lines, const Place<Lines, LANES> &place) {
    constexpr int32_t WARPS_HERE = THREADS / WARP;
    const int32_t warp = threadIdx.x / WARP, rows_in_all = (bundle.posts * LANES + WARP - 1) / WARP;
    constexpr int ROUNDS = bundle.ROUNDS;
    uint8_t *const order = bundle.order + warp * bundle.ORDERED;
    const auto wanted = [&](int32_t interval, int32_t lane) -> uint32_t {  // lines of a group want the same
        if (LANES <= GROUP || !bundle.wanted[interval]) return bundle.wanted[interval];
        return wanted_tiles<APART>(lines, place.z(lane), place.line(lane), interval);
    };
    for (Rows rows = {warp, WARPS_HERE}; rows.first < rows_in_all; rows.first += ROUNDS * WARPS_HERE) {
        const int total = order_intervals(bundle, rows, order, [&](int32_t interval, int32_t lane) {
            return place.holds(lines, lane) && wanted(interval, lane);
        });
        for (int i = threadIdx.x % WARP; i < total; i += WARP) {
            const int32_t item = rows.item(order[i]), lane = item % LANES;
            finish(bundle, lines, place.z(lane), place.line(lane), Interval(bundle, item), wanted(item / LANES, lane));
        }
        __syncwarp();
    }
}

}  // namespace

}  // namespace apsis
