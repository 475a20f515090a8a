// The lines of a bundle in shared memory, and phase 1 of argmin.cu: the best candidates of pivots, which bracket those of the
// voxels between.  argmin.cu describes the method.
#pragma once

#include "cuda/distance/volume/layout.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

constexpr int QUAD = 4;                               // candidates that a thread tries at once in phase 1
constexpr float FLOAT_MARGIN = 1 + 1.0f / (1 << 18);  // more than the rounding of a few operations, 2^-24 each

/// A cost in `float` above this is certainly above `bound`.
__device__ inline float float_bound(int32_t bound) { return static_cast<float>(bound) * FLOAT_MARGIN; }

/// WIDTH lines side by side in shared memory, with a pivot every PERIOD voxels.  `lane` is a line of the bundle.
///
/// With places counted from the middle of a line, the cost of candidate c to voxel x is f(c) + w (x - c)^2 =
/// f(c) + w c^2 - 2 w x c + w x^2.  The first two terms are the candidate's score; the last is the same for all candidates.  So
/// candidates are compared by score(c) - 2 w x c.  No product exceeds w (n + PERIOD + QUAD)^2: see plan_argmin.
template <int WIDTH, int PERIOD>
struct Bundle {
    int32_t *score;       // [candidate][lane], padded by candidates without a site to whole quads
    int32_t *share_cost;  // [thread]: what each thread has found for a pivot that several share
    uint16_t *share_at;
    uint16_t *best;           // [pivot][lane]: its best candidate; at the end, that of the voxel after the line's last
    uint16_t *least;          // [chunk][lane]: the least of its costs, as the upper half of a float; padded
    uint16_t *deferred;       // in phase 2 in the place of share_at: intervals deferred to the block, at most MOST_DEFERRED
    int32_t *deferred_count;  // how many are deferred, or would be if there were room
    int32_t *range;           // the first and the last chunk that has a candidate on some line
    uint8_t *wanted;          // [interval]: a bit for each of its tiles that is wanted on some line
    int32_t length, pivots, weight, middle;
    float inverse;  // of the weight

    /// Whether a pivot's search begins with the most promising chunk: where lines are long, that is worth reading the least
    /// costs of all chunks first.  For nearest sites it takes too many registers.
    static constexpr bool BEST_CHUNK_FIRST = WIDTH == FEW_LINES && PERIOD > TILE;
    static constexpr int WIDTH_LOG2 = WIDTH == MANY_LINES ? 8 : WIDTH == SOME_LINES ? 4 : 3;
    static_assert(WIDTH == 1 << WIDTH_LOG2 && ARGMIN_THREADS % WIDTH == 0);

    __host__ __device__ static int32_t padded(int64_t length) { return static_cast<int32_t>(length) + QUAD; }
    __host__ __device__ static int32_t chunks(int64_t length) { return static_cast<int32_t>(length + CHUNK - 1) / CHUNK; }
    __host__ __device__ static int32_t padded_chunks(int64_t length) { return chunks(length) + CHUNKS_AT_ONCE - 1; }
    static constexpr int32_t SHARE_BYTES = ARGMIN_THREADS * 6, MOST_DEFERRED = ARGMIN_THREADS;
    static size_t bytes(int64_t length) {
        const int64_t pivots = ceil_div(length, PERIOD);
        const int64_t of_lane = padded(length) * 4 + (pivots + 1 + padded_chunks(length)) * 2;
        return static_cast<size_t>(of_lane * WIDTH + SHARE_BYTES + 3 * sizeof(int32_t) + pivots);
    }
    __device__ Bundle(int32_t *shared, int32_t length_, int32_t weight_)
        : score(shared),
          length(length_),
          pivots((length_ + PERIOD - 1) / PERIOD),
          weight(weight_),
          middle(length_ / 2),
          inverse(1.0f / weight_) {
        share_cost = score + padded(length) * WIDTH;
        share_at = reinterpret_cast<uint16_t *>(share_cost + ARGMIN_THREADS);
        deferred = share_at;
        deferred_count = reinterpret_cast<int32_t *>(share_at + ARGMIN_THREADS);
        range = deferred_count + 1;
        best = reinterpret_cast<uint16_t *>(range + 2);
        least = best + (pivots + 1) * WIDTH;
        wanted = reinterpret_cast<uint8_t *>(least + padded_chunks(length) * WIDTH);
    }
    /// The candidates that need be looked at: from the first one that has a site on some line to the last.  Without any they
    /// are all the same, and the first will do.
    __device__ int32_t lowest() const { return range[1] < 0 ? 0 : range[0] * CHUNK; }
    __device__ int32_t highest() const { return min(max(range[1], 0) * CHUNK + CHUNK, length) - 1; }
    /// The term w c^2 of a score; for a voxel x the term w x^2, which comparisons leave out.
    __device__ int32_t square(int32_t place) const { return weight * (place - middle) * (place - middle); }
    /// The slope of voxel x, -2 w x: added to a candidate's score for every place that it lies right of the middle.
    __device__ int32_t slope(int32_t x) const { return -2 * weight * (x - middle); }
    /// The number by which candidates are compared for voxel x: the cost of candidate c, less the term w x^2.
    __device__ int32_t at(int32_t lane, int32_t x, int32_t c) const {
        return score[c * WIDTH + lane] + slope(x) * (c - middle);
    }
    /// A candidate's cost to the voxel in its own place.
    __device__ int32_t cost(int32_t lane, int32_t c) const { return score[c * WIDTH + lane] - square(c); }
    __device__ bool is_site(int32_t lane, int32_t x) const { return cost(lane, x) == 0; }
    /// Stores the least cost of a chunk, rounded down.
    __device__ void keep_least(int32_t lane, int32_t chunk, int32_t cost) const {
        least[chunk * WIDTH + lane] = static_cast<uint16_t>(__float_as_uint(static_cast<float>(cost)) >> 16);
    }
    /// A lower bound of the costs of a chunk's candidates for all voxels from x to end.
    __device__ float least_cost(int32_t lane, int32_t chunk, int32_t x, int32_t end) const {
        const float way = static_cast<float>(max(max(chunk * CHUNK - end, x - chunk * CHUNK - (CHUNK - 1)), 0));
        return __uint_as_float(static_cast<uint32_t>(least[chunk * WIDTH + lane]) << 16) + weight * way * way;
    }
    /// Whether that bound is more than `bound`, a cost that every one of these voxels can have elsewhere.
    __device__ bool is_dominated(int32_t lane, int32_t chunk, int32_t x, int32_t end, int32_t bound) const {
        return least_cost(lane, chunk, x, end) > float_bound(bound);
    }
};

struct BestCandidate {
    int32_t cost, at;
    int32_t last = 0;  // the begin of the last quad that has a candidate as good
};

/// The best candidate in [from, to] for a voxel, if better than `best`: the first quad with it, not yet its place in the quad.
/// Candidates of the last quad that are beyond `to` do no harm.
template <int WIDTH, int PERIOD>
__device__ void search_quads(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t slope, int32_t from, int32_t to,
                             BestCandidate &best) {
    const int32_t *score = bundle.score + from * WIDTH + lane;
    int32_t way = slope * (from - bundle.middle);
#pragma unroll 2
    for (int32_t c = from; c <= to; c += QUAD, score += QUAD * WIDTH, way += QUAD * slope) {
        int32_t least = score[0];
#pragma unroll
        for (int i = 1; i < QUAD; ++i) least = min(least, score[i * WIDTH] + i * slope);
        least += way;
        if (least <= best.cost) best.last = c;
        if (least < best.cost) best.cost = least, best.at = c;
    }
}

/// Calls take(first, last) once for a short bracket; in a long one for each chunk that may hold a candidate whose cost to a
/// voxel from x to end is `bound` at most.  take() may lower `bound`.
template <int WIDTH, int PERIOD, class Take>
__device__ void visit_promising(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t end, int32_t from,
                                int32_t to, const int32_t &bound, Take take) {
    const bool is_long = to - from >= LONG_BRACKET;
#pragma unroll 1
    for (int32_t first = from, last = to; first <= to; first = last + 1) {
        if (is_long) {
#pragma unroll 1
            while (first <= to && bundle.is_dominated(lane, first / CHUNK, x, end, bound)) first = (first / CHUNK + 1) * CHUNK;
            if (first > to) return;
            last = min(to, first | (CHUNK - 1));
        }
        take(first, last);
    }
}

/// The chunks, of up to MOST successive ones of a line, that may hold a candidate whose cost to voxel x is a bound at most, as
/// bits; and the most promising of them.
struct PromisingChunks {
    static constexpr int MOST = 32;
    uint32_t chunks = 0;
    int best = 0;

    template <int WIDTH, int PERIOD>
    __device__ PromisingChunks(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t first, int32_t count,
                               int32_t bound) {
        const float limit = float_bound(bound);
        float least = INFINITY;
#pragma unroll 1
        for (int i = 0; i < count; i += CHUNKS_AT_ONCE) {
            uint32_t here = 0;
#pragma unroll
            for (int k = 0; k < CHUNKS_AT_ONCE; ++k) {
                const float cost = bundle.least_cost(lane, first + i + k, x, x);
                if (cost <= limit) here |= 1u << k;
                if (cost < least) least = cost, best = i + k;
            }
            chunks |= here << i;
        }
        chunks &= ~0u >> (MOST - count);
        if (!(chunks >> best & 1)) best = lowest_bit(chunks);
    }
};

/// Searches the chunks of a long bracket for voxel x, the most promising one first, so that most others can be skipped.
template <int WIDTH, int PERIOD>
__device__ void search_ranked(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t from, int32_t to,
                              int32_t bound, BestCandidate &best) {
    const int32_t slope = bundle.slope(x), square = bundle.square(x);
#pragma unroll 1
    for (int32_t begin = from / CHUNK; begin * CHUNK <= to; begin += PromisingChunks::MOST) {
        PromisingChunks promising(bundle, lane, x, begin, min(to / CHUNK + 1 - begin, PromisingChunks::MOST), bound);
#pragma unroll 1
        for (int s = promising.best; promising.chunks; s = lowest_bit(promising.chunks)) {
            promising.chunks &= ~(1u << s);
            if (bundle.is_dominated(lane, begin + s, x, x, bound)) continue;
            const int32_t first = max(from, (begin + s) * CHUNK), last = min(to, (begin + s) * CHUNK + CHUNK - 1);
            BestCandidate found = best;
            if (first < best.at) ++found.cost;  // a candidate farther left with the same cost is preferred
            search_quads(bundle, lane, slope, first, last, found);
            if (found.cost <= best.cost) best = found;
            bound = min(bound, best.cost + square);
        }
    }
}

/// The leftmost best candidate in [from, to] for voxel x.  `bound` is the cost of some candidate, perhaps outside the bracket.
template <int WIDTH, int PERIOD>
__device__ BestCandidate search_line(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t from, int32_t to,
                                     int32_t bound) {
    const int32_t slope = bundle.slope(x);
    BestCandidate best = {INT32_MAX, from};
    if (!bundle.BEST_CHUNK_FIRST) {
        const int32_t square = bundle.square(x);
        visit_promising(bundle, lane, x, x, from, to, bound, [&](int32_t first, int32_t last) {
            search_quads(bundle, lane, slope, first, last, best);
            bound = min(bound, best.cost + square);
        });
    } else if (to - from < LONG_BRACKET) {
        search_quads(bundle, lane, slope, from, to, best);
    } else {
        search_ranked(bundle, lane, x, from, to, bound, best);
    }
    const int32_t quad = best.at;
#pragma unroll
    for (int i = QUAD - 1; i >= 0; --i)
        if (bundle.at(lane, x, quad + i) == best.cost) best.at = quad + i;
    return {best.cost, min(best.at, bundle.highest()), best.last};
}

/// The least cost of some candidates to voxel x: the first bound where no bracket is known.
template <int WIDTH, int PERIOD>
__device__ int32_t probe_cost(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x) {
    const int32_t low = bundle.lowest();
    int32_t least = INT32_MAX;
#pragma unroll 4
    for (int32_t i = 0; i < PROBES; ++i)
        least = min(least, bundle.at(lane, x, low + (bundle.highest() + 1 - low) * i / PROBES));
    return least + bundle.square(x);
}

/// Narrows a bracket to where voxel x may have its best candidate: all farther ones cost more than a known one.  Returns the
/// cost of that candidate, `known` at most.
template <int WIDTH, int PERIOD>
__device__ int32_t narrow_bracket(const Bundle<WIDTH, PERIOD> &bundle, int32_t lane, int32_t x, int32_t known, int32_t &low,
                                  int32_t &high) {
    const int32_t own = bundle.at(lane, x, min(max(x, bundle.lowest()), bundle.highest()));
    const int32_t ends = min(bundle.at(lane, x, low), bundle.at(lane, x, high));
    const int32_t bound = min(known, min(own, ends) + bundle.square(x));
    float root;  // its relative error is below 2^-20, so 1 voxel covers it; the second covers rounding down
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(static_cast<float>(bound) * bundle.inverse));
    const int32_t reach = static_cast<int32_t>(root) + 2;
    low = max(low, x - reach);
    high = min(high, x + reach);
    return bound;
}

__device__ inline int32_t ceil_log2(uint32_t value) { return value > 1 ? 1 + highest_bit(value - 1) : 0; }

/// A level of halving: the pivots first, first + stride, ..., `count` of them.  Each has the bracket between the best
/// candidates of the pivots `step` to either side.
struct PivotLevel {
    int32_t first, stride, count, step;
    bool is_open;  // the first level: no bracket is known
};

/// Block: finds the best candidates of a level's pivots.
template <int WIDTH, int PERIOD>
__device__ void search_level(const Bundle<WIDTH, PERIOD> &bundle, const PivotLevel &level, bool all_wanted) {
    const int32_t step = level.step;
    const uint32_t items = level.count * WIDTH;
    const int32_t padded_log2 = ceil_log2(items);  // items rounded up to a power of two, for each share
    const int32_t shares_log2 = max(ARGMIN_THREADS_LOG2 - padded_log2, 0);
    const int32_t shares = 1 << shares_log2;
    for (uint32_t turn = threadIdx.x; turn < static_cast<uint32_t>(shares) << padded_log2; turn += ARGMIN_THREADS) {
        const uint32_t share = turn >> padded_log2, item = turn & (1u << padded_log2) - 1;
        if (item >= items) continue;
        const int32_t lane = item % WIDTH, t = level.first + item / WIDTH * level.stride;
        bool needed = all_wanted || step > CHECKED_STEP;  // otherwise only if an interval between its neighbours is wanted
        for (int32_t i = max(t - step, 0); i < min(t + step, bundle.pivots) && !needed; ++i) needed = bundle.wanted[i];
        if (!needed) continue;
        int32_t low = bundle.lowest(), high = bundle.highest();
        if (bundle.is_site(lane, t * PERIOD)) {
            low = high = t * PERIOD;
        } else if (!level.is_open) {
            low = bundle.best[(t - step) * WIDTH + lane];
            high = bundle.best[min(t + step, bundle.pivots) * WIDTH + lane];
        }
        int32_t bound = INT32_MAX;
        if (high > low) {
            if (level.is_open) bound = probe_cost(bundle, lane, t * PERIOD);
            bound = narrow_bracket(bundle, lane, t * PERIOD, bound, low, high);
        }
        if (shares == 1) {
            bundle.best[t * WIDTH + lane] = static_cast<uint16_t>(search_line(bundle, lane, t * PERIOD, low, high, bound).at);
        } else {
            const int32_t part = ((high - low) >> shares_log2) + 1;
            const int32_t from = min(low + static_cast<int32_t>(share) * part, high);
            const BestCandidate best = search_line(bundle, lane, t * PERIOD, from, min(from + part - 1, high), bound);
            bundle.share_cost[turn] = best.cost;
            bundle.share_at[turn] = static_cast<uint16_t>(best.at);
        }
    }
    __syncthreads();
    if (shares == 1) return;
    if (const uint32_t item = threadIdx.x; item < items) {
        uint32_t found = item;  // shares go from left to right, so the leftmost of equal ones wins
        for (int32_t i = 1; i < shares; ++i)
            if (const uint32_t other = i << padded_log2 | item; bundle.share_cost[other] < bundle.share_cost[found])
                found = other;
        bundle.best[(level.first + item / WIDTH * level.stride) * WIDTH + item % WIDTH] = bundle.share_at[found];
    }
    __syncthreads();
}

/// Block: finds the best candidates at both ends of all wanted intervals.  After the line's last voxel the last candidate is
/// taken, which is right of all that may be best.
template <int WIDTH, int PERIOD>
__device__ void find_brackets(const Bundle<WIDTH, PERIOD> &bundle, bool all_wanted) {
    __syncthreads();
    for (int32_t lane = threadIdx.x; lane < WIDTH; lane += ARGMIN_THREADS)
        bundle.best[bundle.pivots * WIDTH + lane] = static_cast<uint16_t>(bundle.highest());
    const int32_t widest = 1 << max(ceil_log2(bundle.pivots) - FIRST_PIVOTS_LOG2, 0);
    PivotLevel level = {0, widest, (bundle.pivots - 1) / widest + 1, widest, true};
    for (int32_t step = widest; step > 0; step /= 2) {
        search_level(bundle, level, all_wanted);
        const int32_t half = step / 2;
        level = {half, step, (bundle.pivots - half - 1) / step + 1, half, false};
    }
}

}  // namespace apsis::cuda::volume
