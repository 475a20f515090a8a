// Which contenders of a band bracket each tile, and in which order tiles are finished: the third part of envelope.cu, which
// tells how it all goes together.
#pragma once

#include "band_prune.cuh"

namespace apsis {

namespace {

constexpr int AWAY = 16;              // places: so far off, another slope or stroke begins
constexpr float DOUBTFUL = 8 * TILE;  // halves of a pixel: below, a bracket has little to gain

template <class Band>
__device__ void clear_tiles(const Band &band) {
    for (int32_t t = Band::Team::rank(); t < band.tiles; t += Band::Team::size()) band.lows[t] = ~0u, band.highs[t] = 0;
}

/// The least and the greatest breakpoint of two contenders in the rows of a band.
struct BreakRange {
    float least, most;

    __device__ BreakRange(const Contender &left, const Contender &right) {
        const Breaks breaks(left, right);
        least = fminf(breaks.first, breaks.last), most = fmaxf(breaks.first, breaks.last);
        if (left.is_straight() && right.is_straight()) return;
#pragma unroll
        for (int r = 1; r < BAND - 1; ++r) {
            const float here = breaks.at(left.distance(r), right.distance(r));
            least = fminf(least, here), most = fmaxf(most, here);
        }
    }
    /// A contender is overtaken as soon as anybody on its right is nearer in all rows, and has overtaken no sooner than it
    /// is nearer than everybody on its left.  Where rows differ much, neighbours alone leave brackets of hundreds, and two
    /// others are asked: whoever stands AWAY places off, even if it has been dropped.
    template <class Band>
    __device__ void narrow(const Band &band, int32_t position, const Contender &left, int32_t next, const Contender &right) {
        if (most - least <= DOUBTFUL) return;
        if (position + AWAY < band.count && band.is_column(position + AWAY)) {
            const Contender other(band, position + AWAY);
            if (other.x > left.x) most = fminf(most, BreakRange(left, other).most);
        }
        if (next >= AWAY && band.is_column(next - AWAY)) {
            const Contender other(band, next - AWAY);
            if (other.x < right.x) least = fmaxf(least, BreakRange(other, right).least);
        }
    }
};

/// Every tile learns of the breakpoints that lie in it: of the first contender that is not overtaken before the tile, for
/// all before it are farther than somebody on their right; and of the last that has overtaken those on its left by the
/// end of the tile, for all after it are farther than one of theirs.
template <class Band>
__device__ void scatter_breaks(const Band &band) {
    const int32_t start = Band::Team::rank() * band.stretch, first = band.begin(start);
    if (first >= min(start + band.stretch, band.count)) return;
    int32_t low_tile = -1, high_tile = band.tiles, high = 0;
    const auto tell_high = [&] {
        if (high_tile < band.tiles) atomicMax(band.highs + high_tile, static_cast<uint32_t>(high));
    };
    Contender left(band, first);
    for (int32_t position = first;;) {
        const bool ends = left.column & band.LAST;
        const int32_t next = band.next(position, ends);
        int32_t low_now = band.tiles - 1, high_now = band.tiles;  // the last of all is never overtaken
        if (next < band.count) {
            const Contender right(band, next);
            BreakRange breaks(left, right);
            breaks.narrow(band, position, left, next, right);
            // The last pixel of tile t is where 2x = 16 t + 14.
            low_now = min(low_now, __float2int_rd((breaks.most + band.slack()) / (2 * TILE)));
            high_now = max(0, __float2int_rd((breaks.least - band.slack() + 2) / (2 * TILE)));
            left = right;
        }
        if (low_now >= 0 && low_now != low_tile) atomicMin(band.lows + low_now, static_cast<uint32_t>(position));
        if (high_now != high_tile) tell_high();
        low_tile = low_now, high_tile = high_now, high = next;
        if (ends) break;
        position = next;
    }
    tell_high();
}

/// From the breakpoints in tiles to the brackets of tiles: the least of those from a tile on, the most up to it.
template <class Band>
__device__ void bracket_tiles(const Band &band) {
    __shared__ uint32_t least[THREADS / WARP], most[THREADS / WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int32_t threads = Band::Team::size(), each = (band.tiles + threads - 1) / threads;
    const int32_t from = min(Band::Team::rank() * each, band.tiles), to = min(from + each, band.tiles);
    uint32_t low = ~0u, high = 0;
    for (int32_t t = from; t < to; ++t) low = min(low, band.lows[t]), high = max(high, band.highs[t]);
#pragma unroll
    for (int away = 1; away < WARP; away *= 2) {
        const uint32_t on_right = __shfl_down_sync(ALL_LANES, low, away), on_left = __shfl_up_sync(ALL_LANES, high, away);
        if (lane + away < WARP) low = min(low, on_right);
        if (lane >= away) high = max(high, on_left);
    }
    if (!Band::Team::IS_WARP) {
        if (lane == 0) least[warp] = low;
        if (lane == WARP - 1) most[warp] = high;
        __syncthreads();
    }
    low = __shfl_down_sync(ALL_LANES, low, 1), high = __shfl_up_sync(ALL_LANES, high, 1);
    if (lane == WARP - 1) low = ~0u;
    if (lane == 0) high = 0;
    if (!Band::Team::IS_WARP) {
        for (int w = warp + 1; w < threads / WARP; ++w) low = min(low, least[w]);
        for (int w = 0; w < warp; ++w) high = max(high, most[w]);
    }
    for (int32_t t = to - 1; t >= from; --t) band.lows[t] = low = min(low, band.lows[t]);
    for (int32_t t = from; t < to; ++t) {
        high = max(high, band.highs[t]);
        band.lows[t] |= high << 16;
    }
}

constexpr int32_t SHORT_BRACKET = 4;  // up to that, neighbours cost a warp less than tiles of one length far apart

/// Of brackets of one class, the longest are less than half as long again as the shortest.  Short ones are one class: so
/// most tiles of most images stay side by side, and what a warp stores fills whole lines of memory.
template <class Band>
__device__ int bracket_class(const Band &band, int32_t t) {
    const uint32_t bracket = band.lows[t];
    const int32_t length = static_cast<int32_t>(bracket >> 16) - static_cast<int32_t>(bracket & 0xffff) + 1;
    if (length <= SHORT_BRACKET) return 0;
    const int power = highest_bit(static_cast<uint32_t>(length));
    return 2 * power + (length >> (power - 1) & 1);
}

/// Orders the tiles that are wanted by the length of their brackets, long ones first, so that the lanes of a warp have as
/// much to do; they take the place of Band::highs.  Returns how many they are.
template <class Band, class Wanted>
__device__ int32_t order_tiles(const Band &band, Wanted wanted) {
    __shared__ int32_t places[WARP], total;  // of each class's next, and how many there are
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const auto each = [&](auto take) {
        for (int32_t turn = warp * WARP; turn < band.tiles; turn += static_cast<int32_t>(blockDim.x)) {
            const int32_t t = turn + lane;
            const int number = t < band.tiles && wanted(t) ? WARP - 1 - bracket_class(band, t) : WARP;
            const uint32_t same = __match_any_sync(ALL_LANES, number);
            int32_t first = 0;
            if (number < WARP && lane == lowest_bit(same)) first = atomicAdd(places + number, __popc(same));
            take(t, number, __shfl_sync(ALL_LANES, first, lowest_bit(same)) + __popc(same & ((1u << lane) - 1)));
        }
    };
    if (threadIdx.x < WARP) places[lane] = 0;
    __syncthreads();
    each([](int32_t, int, int32_t) {});
    __syncthreads();
    if (threadIdx.x < WARP) {
        const int32_t mine = places[lane];
        int32_t sum = mine;
#pragma unroll
        for (int step = 1; step < WARP; step *= 2) {
            const int32_t other = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += other;
        }
        places[lane] = sum - mine;
        if (lane == WARP - 1) total = sum;
    }
    __syncthreads();
    uint16_t *const order = band.order();
    each([&](int32_t t, int number, int32_t place) {
        if (number < WARP) order[place] = static_cast<uint16_t>(t);
    });
    __syncthreads();
    return total;
}

/// Finds the brackets of a band whose contenders are laid out.
template <class Band>
__device__ void find_brackets(const Band &band, bool worth_pruning) {
    prune(band, worth_pruning);
    clear_tiles(band);
    Band::Team::sync();
    scatter_breaks(band);
    Band::Team::sync();
    bracket_tiles(band);
    Band::Team::sync();
}

}  // namespace

}  // namespace apsis
