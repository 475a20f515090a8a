// The bracket of each tile of a band, and the order in which tiles are finished: the second part of envelope.cu, which
// describes the whole.
#pragma once

#include "cuda/distance/plane/envelope_band.cuh"
#include "cuda/runtime/roots.h"

namespace apsis::cuda::plane {

constexpr float DOUBTFUL = 2 * TILE;  // halves of a pixel: a breakpoint farther off than this leaves long brackets
constexpr float LOST = 8 * TILE;      // one farther than this leaves long brackets in many tiles
constexpr int AWAY = 16;              // candidates: so far off, another slope or stroke begins
constexpr int32_t HEAVY = 24;         // positions in brackets for each candidate of the band: with more, another round pays
constexpr int32_t WORTHWHILE = 8;     // dropping less than 1 / WORTHWHILE of the candidates takes longer than trying them
constexpr float NEVER = 1e9f;         // halves of a pixel: beyond every row

/// Block: empties the brackets of all tiles.
template <class Band>
__device__ void clear_tiles(const Band &band) {
    for (int32_t t = threadIdx.x; t < band.tiles; t += blockDim.x) band.lows[t] = ~0u, band.highs[t] = 0;
}

/// A candidate of one band or two: its column, and the rows of its sites that are nearest to the first and to the last row,
/// counted from the first.  These numbers are quick to compare; all of them are whole, and exact.
template <int HEIGHT>
struct Candidate {
    float x, first, last;

    template <class Band>
    __device__ Candidate(const Band &band, int32_t position)
        : x(static_cast<float>(static_cast<int32_t>(band.columns[position]) - band.origin)),
          first(static_cast<float>(way_to_site(band.word(position, 0), 0))),
          last(static_cast<float>(HEIGHT - 1 + way_to_site(band.word(position, Band::HALVES - 1), BAND - 1))) {}

    __device__ Candidate(float x, float first, float last) : x(x), first(first), last(last) {}
    __device__ Candidate of_next_lane() const {
        return {__shfl_down_sync(ALL_LANES, x, 1), __shfl_down_sync(ALL_LANES, first, 1), __shfl_down_sync(ALL_LANES, last, 1)};
    }

    /// Whether one site is nearest to all rows.
    __device__ bool is_straight() const { return first == last; }
    /// Whether there may be sites between these two: not where one would be nearer to the first row, or to the last.
    __device__ bool has_others() const { return last - first <= 2 * (HEIGHT - 1); }
    /// The site nearest to row `twice` / 2.  Where other sites may lie between the two, one may lie in that very row.
    __device__ float site_at(float twice) const {
        return has_others() ? fminf(fmaxf(0.5f * twice, first), last) : twice < first + last ? first : last;
    }
};

/// Bounds of the breakpoints of two candidates in the rows of a band: twice the x from which the right one is nearer.  Without
/// the square of the row, the cost of a site is a straight line over the rows, and the cost of a candidate is the least of its
/// sites' lines.  So the difference of two candidates is least in the first row, in the last, or where the nearest site of the
/// left one changes.  It is greatest in the first row, in the last, or where the nearest site of the right one changes.
struct BreakRange {
    float least, most;

    template <int HEIGHT>
    __device__ BreakRange(const Candidate<HEIGHT> &left, const Candidate<HEIGHT> &right) {
        const float inverse = inverse_of(right.x - left.x), sum = left.x + right.x;
        const auto at = [&](float a, float b, float twice) { return fmaf((b - a) * (b + a - twice), inverse, sum); };
        const float first = at(left.first, right.first, 0), last = at(left.last, right.last, 2 * (HEIGHT - 1));
        least = fminf(first, last), most = fmaxf(first, last);
        if (!left.is_straight()) {
            const float twice = left.first + left.last;
            least = fminf(least, at(left.first, right.site_at(twice), twice));
        }
        if (!right.is_straight()) {
            const float twice = right.first + right.last;
            most = fmaxf(most, at(left.site_at(twice), right.first, twice));
        }
    }
};

/// A warp's turns over a band's candidates: 30 at a time, a lane each; the first lane and the last hold the neighbours of
/// these.
struct WarpTurns {
    static constexpr int32_t EACH = WARP - 2;
    int32_t count, lane = static_cast<int32_t>(threadIdx.x % WARP);
    int32_t first = static_cast<int32_t>(threadIdx.x / WARP) * EACH, step = static_cast<int32_t>(blockDim.x / WARP) * EACH;

    __device__ explicit WarpTurns(int32_t candidates) : count(candidates) {}
    __device__ bool is_any() const { return first < count; }
    __device__ void next() { first += step; }
    __device__ int32_t number() const { return first / EACH; }
    __device__ int32_t position() const { return first + lane - 1; }
    __device__ bool is_own() const { return lane > 0 && lane <= EACH && position() < count; }
};

/// The breakpoints between which a candidate may be nearest: from where it is nearer than each candidate on its left in some
/// row, to where one on its right is nearer in all rows.  Which candidates it is compared with matters for speed alone.
struct DominanceInterval {
    float from, to;

    /// The first and the last tile of the interval: the last pixel of tile t is where 2x = 16 t + 14.  They are beyond the
    /// row's ends if the interval is.
    __device__ int32_t first_tile(float slack) const { return max(0, __float2int_rd((from + (2 - slack)) / (2 * TILE))); }
    __device__ int32_t last_tile(int32_t tiles, float slack) const {
        return min(tiles - 1, __float2int_rd((to + slack) / (2 * TILE)));
    }

    /// Warp: compares a candidate with others if its breakpoints with its neighbours are DOUBTFUL: first with those AWAY.
    /// These may bound it little as well, like columns beside the same stroke of a letter.  If breakpoints are still LOST,
    /// farther candidates are tried.  If they are LOST in all lanes, that does not help: the sites lie on a slope, and the
    /// candidates are nearest to pixels far from their columns.
    template <class Band>
    __device__ void narrow(const Band &band, int32_t position, const Candidate<Band::HEIGHT> &mine) {
        const auto is_late = [&](float doubt) { return to > 2 * mine.x + doubt; };
        const auto is_early = [&](float doubt) { return from < 2 * mine.x - doubt; };
        const auto ask = [&](int32_t away, float doubt) {
            if (is_late(doubt) && position + away < band.count)
                to = fminf(to, BreakRange(mine, Candidate<Band::HEIGHT>(band, position + away)).most);
            if (is_early(doubt) && position >= away)
                from = fmaxf(from, BreakRange(Candidate<Band::HEIGHT>(band, position - away), mine).least);
        };
        ask(AWAY, DOUBTFUL);
        const int lost = __popc(__ballot_sync(ALL_LANES, is_late(LOST) || is_early(LOST)));
        if (lost == 0 || lost == WarpTurns::EACH) return;
        ask(2 * AWAY, LOST);
        ask(4 * AWAY, LOST);
    }
};

/// Block: writes the position of every candidate to the last tile of its interval, of which `lows` keeps the least, and to the
/// first one, of which `highs` keeps the greatest.  Candidates whose intervals end before a tile, or begin after it, are
/// nearest to none of its pixels.  Returns a bit for each of a lane's first 32 turns, set if its candidate is dominated: its
/// interval is empty.
template <class Band>
__device__ uint32_t scatter_breaks(const Band &band) {
    uint32_t dominated = 0, turn = 1;
    for (WarpTurns turns(band.count); turns.is_any(); turns.next(), turn <<= 1) {
        const int32_t position = turns.position(), here = min(max(position, 0), band.count - 1);
        const Candidate<Band::HEIGHT> mine(band, here);
        const BreakRange breaks(mine, mine.of_next_lane());
        DominanceInterval interval = {__shfl_up_sync(ALL_LANES, breaks.least, 1), breaks.most};
        const bool is_own = turns.is_own();
        if (!is_own) interval = {2 * mine.x, 2 * mine.x};
        if (is_own && position == 0) interval.from = -NEVER;
        if (is_own && position + 1 == band.count) interval.to = NEVER;
        interval.narrow(band, here, mine);
        if (interval.from > interval.to + 2 * band.slack()) interval = {NEVER, -NEVER}, dominated |= turn;
        const int32_t low = interval.last_tile(band.tiles, band.slack()), high = interval.first_tile(band.slack());
        const int32_t low_before = __shfl_up_sync(ALL_LANES, low, 1), high_after = __shfl_down_sync(ALL_LANES, high, 1);
        if (!is_own) continue;
        if (low >= 0 && (low != low_before || turns.lane == 1)) atomicMin(band.lows + low, static_cast<uint32_t>(position));
        if (high < band.tiles && (high != high_after || turns.lane == WarpTurns::EACH || position + 1 == band.count))
            atomicMax(band.highs + high, static_cast<uint32_t>(position));
    }
    return dominated;
}

/// Warp: the least of `low` from a lane on, and the greatest of `high` up to it.
__device__ inline void spread_brackets(uint32_t &low, uint32_t &high) {
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int away = 1; away < WARP; away *= 2) {
        const uint32_t on_right = __shfl_down_sync(ALL_LANES, low, away), on_left = __shfl_up_sync(ALL_LANES, high, away);
        if (lane + away < WARP) low = min(low, on_right);
        if (lane >= away) high = max(high, on_left);
    }
}

/// Block: makes the brackets of tiles: the least of `lows` from a tile on, and the greatest of `highs` up to it.  Returns how
/// many candidates this thread's brackets have.
template <class Band>
__device__ int32_t bracket_tiles(const Band &band) {
    __shared__ uint32_t least[THREADS / WARP], most[THREADS / WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int32_t threads = blockDim.x, each = (band.tiles + threads - 1) / threads;
    const int32_t from = min(static_cast<int32_t>(threadIdx.x) * each, band.tiles), to = min(from + each, band.tiles);
    uint32_t low = ~0u, high = 0;
    for (int32_t t = from; t < to; ++t) low = min(low, band.lows[t]), high = max(high, band.highs[t]);
    spread_brackets(low, high);
    if (lane == 0) least[warp] = low;
    if (lane == WARP - 1) most[warp] = high;
    __syncthreads();
    low = __shfl_down_sync(ALL_LANES, low, 1), high = __shfl_up_sync(ALL_LANES, high, 1);
    if (lane == WARP - 1) low = ~0u;
    if (lane == 0) high = 0;
    for (int w = warp + 1; w < threads / WARP; ++w) low = min(low, least[w]);
    for (int w = 0; w < warp; ++w) high = max(high, most[w]);
    for (int32_t t = to - 1; t >= from; --t) band.lows[t] = low = min(low, band.lows[t]);
    int32_t candidates = 0;
    for (int32_t t = from; t < to; ++t) {
        high = max(high, band.highs[t]);
        candidates += static_cast<int32_t>(high - band.lows[t]) + 1;
        band.lows[t] |= high << 16;
    }
    return candidates;
}

/// Block: the sums of two numbers over its threads.
__device__ inline int2 sums_of_block(int32_t one, int32_t other) {
    __shared__ int2 sums[THREADS / WARP];
    const uint32_t first = sum_of_warp(static_cast<uint32_t>(one)), second = sum_of_warp(static_cast<uint32_t>(other));
    if (threadIdx.x % WARP == 0) sums[threadIdx.x / WARP] = {static_cast<int32_t>(first), static_cast<int32_t>(second)};
    __syncthreads();
    int2 all = {0, 0};
    for (unsigned w = 0; w < blockDim.x / WARP; ++w) all.x += sums[w].x, all.y += sums[w].y;
    return all;
}

// Tiles with brackets up to this length are not sorted by it: there it pays more that a warp takes tiles side by side.
constexpr int32_t SHORT_BRACKET = 4;
// Where rows begin ACROSS 16 bytes, two tiles share some of the 16 bytes.  A sector of memory that two warps write is written
// twice in part, which costs more than lanes that wait.
constexpr int32_t SHORT_ACROSS = 8;
constexpr int32_t TILES_ACROSS = 4;  // tiles side by side that stay together

/// The class of a tile by the length of its bracket: in one class the longest are less than 1.5 times the shortest.  Short ones
/// are one class, so that most tiles of most images stay side by side, and what a warp stores fills whole lines of memory.
template <bool ACROSS, class Band>
__device__ int bracket_class(const Band &band, int32_t t) {
    constexpr int32_t TOGETHER = ACROSS ? TILES_ACROSS : 1;
    const int32_t first = t / TOGETHER * TOGETHER;
    int32_t length = 0;  // of the longest bracket
#pragma unroll
    for (int k = 0; k < TOGETHER; ++k) {
        const uint32_t bracket = band.lows[min(first + k, band.tiles - 1)];
        length = max(length, static_cast<int32_t>(bracket >> 16) - static_cast<int32_t>(bracket & 0xffff) + 1);
    }
    if (length <= (ACROSS ? SHORT_ACROSS : SHORT_BRACKET)) return 0;
    const int power = highest_bit(static_cast<uint32_t>(length));
    return 2 * power + (length >> (power - 1) & 1);
}

/// Block: sorts the tiles that are wanted by the length of their brackets, long ones first, so that the lanes of a warp have
/// the same work.  The order replaces Band::highs.  Returns the number of these tiles.
template <bool ACROSS, class Band, class Wanted>
__device__ int32_t order_tiles(const Band &band, Wanted wanted) {
    __shared__ int32_t places[WARP], total;  // the place of each class's next tile; the number of tiles
    const int lane = threadIdx.x % WARP;
    uint16_t *const order = band.order(), *const ranks = order + band.tiles;  // of a tile in its class
    const auto class_of = [&](int32_t t) {
        return t < band.tiles && wanted(t) ? WARP - 1 - bracket_class<ACROSS>(band, t) : WARP;
    };
    if (threadIdx.x < WARP) places[lane] = 0;
    __syncthreads();
    for (int32_t turn = static_cast<int32_t>(threadIdx.x) - lane; turn < band.tiles; turn += static_cast<int32_t>(blockDim.x)) {
        const int number = class_of(turn + lane);
        const uint32_t same = __match_any_sync(ALL_LANES, number);
        int32_t first = 0;
        if (number < WARP && lane == lowest_bit(same)) first = atomicAdd(places + number, __popc(same));
        const int32_t rank = __shfl_sync(ALL_LANES, first, lowest_bit(same)) + __popc(same & ((1u << lane) - 1));
        if (number < WARP) ranks[turn + lane] = static_cast<uint16_t>(rank);
    }
    __syncthreads();
    if (threadIdx.x < WARP) {
        const int32_t mine = places[lane], sum = sum_up_to(mine);
        places[lane] = sum - mine;
        if (lane == WARP - 1) total = sum;
    }
    __syncthreads();
    for (int32_t t = threadIdx.x; t < band.tiles; t += blockDim.x) {
        const int number = class_of(t);
        if (number < WARP) order[places[number] + ranks[t]] = static_cast<uint16_t>(t);
    }
    __syncthreads();
    return total;
}

/// The positions of candidates after dominated ones are dropped.  Two words for each turn of a warp replace Band::highs.
struct KeptPositions {
    uint32_t *kept, *before;  // [turn of a warp]: a bit a candidate; how many are kept before
    int32_t warp_turns;

    template <class Band>
    __device__ explicit KeptPositions(const Band &band)
        : kept(band.highs),
          warp_turns((band.count + WarpTurns::EACH - 1) / WarpTurns::EACH) {
        before = kept + warp_turns;
    }
    template <class Band>
    __device__ static bool have_room(const Band &band) {
        return 2 * KeptPositions(band).warp_turns <= band.tiles;
    }
    /// The new position of a candidate that is kept.
    __device__ uint32_t operator()(uint32_t position) const {
        const uint32_t n = position / WarpTurns::EACH;
        return before[n] + static_cast<uint32_t>(__popc(kept[n] & ((1u << position % WarpTurns::EACH) - 1)));
    }
    /// Block: finds the positions, and returns how many candidates are kept.
    __device__ int32_t find(int32_t count, uint32_t dominated) const {
        __shared__ int32_t all;
        const int32_t lane = static_cast<int32_t>(threadIdx.x % WARP);
        for (WarpTurns turns(count); turns.is_any(); turns.next(), dominated >>= 1) {
            const uint32_t mask = __ballot_sync(ALL_LANES, turns.is_own() && !(dominated & 1));
            if (lane == 0) kept[turns.number()] = mask >> 1;
        }
        __syncthreads();
        if (threadIdx.x < WARP) {
            int32_t sum = 0;
            for (int32_t turn = 0; turn < warp_turns; turn += WARP) {
                const int32_t n = turn + lane, mine = n < warp_turns ? __popc(kept[n]) : 0, up_to = sum_up_to(mine);
                if (n < warp_turns) before[n] = static_cast<uint32_t>(sum + up_to - mine);
                sum += __shfl_sync(ALL_LANES, up_to, WARP - 1);
            }
            if (lane == 0) all = sum;
        }
        __syncthreads();
        return all;
    }
};

/// Block: moves the candidates that are kept to their new positions.
template <class Band>
__device__ void move_kept(const Band &band, uint32_t dominated, const KeptPositions &kept_positions) {
    constexpr int32_t TURNS = 4;  // whose candidates are in registers at once
    WarpTurns turns(band.count);
    for (int32_t first = 0; first < band.count; first += TURNS * turns.step) {
        uint32_t words[TURNS][Band::HALVES], place[TURNS];
        typename Band::Number columns[TURNS];
        bool is_kept[TURNS];
#pragma unroll
        for (int k = 0; k < TURNS; ++k, turns.next(), dominated >>= 1) {
            const int32_t position = turns.position();
            is_kept[k] = turns.is_own() && !(dominated & 1);
            if (!is_kept[k]) continue;
#pragma unroll
            for (int h = 0; h < Band::HALVES; ++h) words[k][h] = band.word(position, h);
            columns[k] = band.columns[position], place[k] = kept_positions(static_cast<uint32_t>(position));
        }
        __syncthreads();  // no new position is greater than the old one, so that later turns are not overwritten
#pragma unroll
        for (int k = 0; k < TURNS; ++k) {
            if (!is_kept[k]) continue;
#pragma unroll
            for (int h = 0; h < Band::HALVES; ++h) band.distances[place[k] + h * band.stride] = words[k][h];
            band.columns[place[k]] = columns[k];
        }
        __syncthreads();
    }
}

/// Block: drops dominated candidates, and renumbers the positions of brackets.
template <class Band>
__device__ void drop_dominated(Band &band, uint32_t dominated) {
    const KeptPositions kept_positions(band);
    const int32_t left = kept_positions.find(band.count, dominated);
    for (int32_t t = threadIdx.x; t < band.tiles; t += blockDim.x)
        band.lows[t] = kept_positions(band.lows[t] & 0xffff) | kept_positions(band.lows[t] >> 16) << 16;
    move_kept(band, dominated, kept_positions);
    band.count = left;
}

/// Block: finds the brackets of a band whose candidates are in shared memory.  For a pair of bands it drops dominated
/// candidates, which would be tried twice.  For a single band that takes as long as it saves.  If brackets are long in total,
/// the block would end long after others.  That happens in the middle of a round hole, where hundreds or thousands of sites are
/// about equally far.  Then it drops dominated candidates in either case, and compares the rest with their new neighbours.
template <class Band>
__device__ void find_brackets(Band &band) {
    for (bool is_heavy = true; is_heavy;) {
        clear_tiles(band);
        __syncthreads();
        const uint32_t dominated = scatter_breaks(band);
        const bool is_any_dominated = __syncthreads_or(dominated != 0);
        const int32_t candidates = bracket_tiles(band);
        if (!is_any_dominated) return;
        const int2 sums = sums_of_block(candidates, __popc(dominated));
        is_heavy = sums.x * Band::HALVES > HEAVY * max(band.count, band.tiles);
        const bool is_worthwhile = sums.y * WORTHWHILE > band.count && (is_heavy || Band::HALVES > 1);
        if (!is_worthwhile || !KeptPositions::have_room(band)) return;
        drop_dominated(band, dominated);
    }
}

}  // namespace apsis::cuda::plane
