// The monotone search along lines: kernels of the distance maps of sets (generic_lines.cu) and of label images
// (label_lines.cu).
//
// The distance map is separable: a pixel's cost is the least, over the pixels of its line along one axis, of their own cost
// along the axes before plus the cost of the way along the line.  Along the first axis (y in 2-D, z in 3-D) the cost takes O(1)
// from a word of bits and two carries (core/columns.h) and is never stored.  Along the others the matrix f(x') + c(x - x') is
// totally monotone, so that the best x' never moves left as x moves right.  (The axes one by one: Saito and Toriwaki, 1994, and
// for other metrics Hirata, 1996.  The matrices: Aggarwal, Klawe, Moran, Shor and Wilber, 1987.)  This holds however ties are
// decided: of two candidates the right one wins from some x on.  A tie goes to the lower order, then to the lower x'.  The
// order of a site along the first axis is its position in the image.  Along an axis of n pixels the order of the winner x' is
// order * n + x', which after the last axis is the linear index.
//
// A line is searched by levels of 32.  At a level the points lie at stride 32^k, 32 of them a warp, and their best candidates
// lie between those of two points at stride 32^(k+1).  If that bracket is short, every lane tries all of it for its own point.
// If it is long, the warp halves it point by point, with all lanes on one point.
//
// Cost, for every image: 1 byte a pixel in and the outputs out; 3/8 of words and carries, read again at each level, mostly in
// the caches; in 3-D 4 or 8 bytes a pixel written and read between y and x.  5 candidates a pixel for each level above stride
// 1; at stride 1 about 33, by a lane whose warp shares the loads, or 5 by halves.
#pragma once

#include "cuda/columns/columns.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/pixel_writer.h"

namespace apsis::cuda::distance {

using namespace columns;

// Blocks on a multiprocessor: a thread then has 64 registers, which are enough.
constexpr int RESIDENT = 4;

// A bracket up to this long is tried whole by every lane, at some 10 instructions a candidate.  A longer one is halved by 31
// searches of the warp, at some 60 instructions each and 5 passes over the bracket, 25 instructions for 32 candidates.
constexpr int SHORT_BRACKET = 256;

/// The types of costs and orders.  Orders are kept only if nearest sites are output.
template <class C, class O, bool KEEP>
struct Kind {
    using Cost = C;
    using Order = O;
    static constexpr bool ORDERED = KEEP;
};
using Narrow = Kind<int32_t, int32_t, false>;
using NarrowOrdered = Kind<int32_t, int32_t, true>;
using Wide = Kind<int64_t, int32_t, false>;
using WideOrdered = Kind<int64_t, int64_t, true>;

/// A candidate: the cost and order of a pixel of a line, from the axes before.
template <class K>
struct Site {
    typename K::Cost cost;
    typename K::Order order;
};

/// The best candidate so far for a point of a line.  Its initial cost is the largest that any sum of costs may have.
template <class K>
struct Best {
    typename K::Cost cost = NO_COST<typename K::Cost> - 1 + NO_COST<typename K::Cost>;
    typename K::Order order = 0;
    int32_t at = 0;
};

template <class K>
__device__ bool beats(const Best<K> &a, const Best<K> &b) {
    if (a.cost != b.cost) return a.cost < b.cost;
    if (K::ORDERED && a.order != b.order) return a.order < b.order;
    return a.at < b.at;
}

/// The cost of a way along one axis.
template <class K>
struct Ruler {
    apsis_metric metric;
    typename K::Cost weight;

    __device__ typename K::Cost operator()(int32_t offset) const { return axis_cost<typename K::Cost>(metric, weight, offset); }
};

// ---- Lines ----
// Lines are numbered by two axes, outer * inner_size + inner: outer is z, and inner is x for lines along y, and y for lines
// along x.

/// The lines searched first.  The costs of their pixels come from bit columns.  In 2-D a line is a row with columns along y.
/// In 3-D a line goes along y, and its columns along z.
template <class K>
struct ColumnLines {
    static constexpr int64_t MOST_BLOCKS = cuda::MOST_BLOCKS;  // of a step

    Columns columns;
    Ruler<K> ruler;  // along the columns
    bool along_z;
    int64_t length;

    struct Line {
        const uint32_t *words;
        const int32_t *before, *after;
        int32_t start, at, rows_before;
        Ruler<K> ruler;

        __device__ Site<K> site(int32_t i) const {
            const int32_t position = nearest_in_column(words[i], before[i], after[i], start, at);
            if (position == NO_SITE_BEFORE) return {NO_COST<typename K::Cost>, 0};
            return {ruler(position - at), rows_before + position};
        }
    };

    /// Takes the end of the run of pixel i of a line, where lines have runs.
    __device__ void take_end(Best<K> &, int64_t, int64_t, int64_t, int64_t) const {}
    /// Whether all lines, a line, or its 32 pixels from i on are settled without it.
    __device__ static constexpr bool is_settled() { return false; }
    __device__ static constexpr bool is_settled(int64_t, int64_t) { return false; }
    __device__ static constexpr bool is_settled(int64_t, int64_t, int64_t) { return false; }

    __device__ Line line(int64_t outer, int64_t inner) const {
        const int64_t at = along_z ? outer : inner;
        const int64_t first = along_z ? columns.at(0, at / STRIP, inner * length) : columns.at(outer, at / STRIP, 0);
        return {columns.words + first,
                columns.before + first,
                columns.after + first,
                static_cast<int32_t>(at / STRIP * STRIP),
                static_cast<int32_t>(at),
                static_cast<int32_t>(columns.start),
                ruler};
    }
};

/// The rows of a 3-D image after the search along y, which stores the costs of their pixels.
template <class K>
struct StoredLines {
    static constexpr int64_t MOST_BLOCKS = cuda::MOST_BLOCKS;

    typename K::Cost *cost;
    typename K::Order *order;  // if K::ORDERED
    int64_t length, inner_size;

    struct Line {
        const typename K::Cost *cost;
        const typename K::Order *order;

        __device__ Site<K> site(int32_t i) const {
            if constexpr (K::ORDERED) return {cost[i], order[i]};
            return {cost[i], 0};
        }
    };

    __device__ void take_end(Best<K> &, int64_t, int64_t, int64_t, int64_t) const {}
    __device__ static constexpr bool is_settled() { return false; }
    __device__ static constexpr bool is_settled(int64_t, int64_t) { return false; }
    __device__ static constexpr bool is_settled(int64_t, int64_t, int64_t) { return false; }

    __device__ Line line(int64_t outer, int64_t inner) const {
        const int64_t first = (outer * inner_size + inner) * length;
        return {cost + first, order + first};
    }
};

// ---- The search, by warps ----

/// A warp's share of a level: 32 points of a line, `stride` apart, and the bracket that holds the best candidate of each.
struct Share {
    int32_t first, stride, length;
    int32_t low, high;
    bool first_known;  // the best candidate of the first point is `low`

    __device__ int32_t point(int lane) const { return min(first + lane * stride, length - 1); }
};

/// Warp: tries the whole bracket for every point of a share.  Each lane loads one of 32 candidates for all lanes.
template <class K, class Line>
__device__ Best<K> search_whole(const Line &line, const Ruler<K> &ruler, const Share &share, int lane) {
    const int32_t x = share.point(lane);
    Best<K> best;
    best.at = share.low;
    for (int32_t from = share.low; from <= share.high; from += WARP) {
        const int32_t count = min(share.high - from + 1, WARP);
        const Site<K> mine = line.site(from + min(lane, count - 1));
        for (int32_t i = 0; i < count; ++i) {
            const auto cost = __shfl_sync(ALL_LANES, mine.cost, i) + ruler(x - from - i);
            bool better = cost < best.cost;
            if constexpr (K::ORDERED) {
                const auto order = __shfl_sync(ALL_LANES, mine.order, i);
                better = better || (cost == best.cost && order < best.order);
                if (better) best.order = order;
            }
            if (better) best.cost = cost, best.at = from + i;
        }
    }
    return best;
}

/// Warp: finds the best candidate for one point.  Every lane gets it.
template <class K, class Line>
__device__ Best<K> search_together(const Line &line, const Ruler<K> &ruler, int32_t x, int32_t low, int32_t high, int lane) {
    Best<K> best;
    best.at = low + lane;  // loses every tie if it lies beyond the bracket
#pragma unroll 4
    for (int32_t i = low + lane; i <= high; i += WARP) {
        const Site<K> site = line.site(i);
        Best<K> next;
        next.cost = site.cost + ruler(x - i);
        next.order = site.order;
        next.at = i;
        if (beats(next, best)) best = next;
    }
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2) {
        Best<K> other;
        other.cost = __shfl_xor_sync(ALL_LANES, best.cost, step);
        if constexpr (K::ORDERED) other.order = __shfl_xor_sync(ALL_LANES, best.order, step);
        other.at = __shfl_xor_sync(ALL_LANES, best.at, step);
        if (beats(other, best)) best = other;
    }
    return best;
}

/// Warp: halves the bracket.  Searches for the first point, then for the middle point, then for the middles of the halves ...
template <class K, class Line>
__device__ Best<K> search_by_halves(const Line &line, const Ruler<K> &ruler, const Share &share, int lane) {
    int32_t low = share.low, high = share.first_known && lane == 0 ? share.low : share.high;
    Best<K> mine;
    for (int step = WARP; step > 0; step /= 2) {
        for (int turn = step % WARP; turn < WARP; turn += 2 * step) {
            const int32_t x = share.first + turn * share.stride;
            if (x >= share.length) break;
            const Best<K> best =
                search_together(line, ruler, x, __shfl_sync(ALL_LANES, low, turn), __shfl_sync(ALL_LANES, high, turn), lane);
            if (lane <= turn) high = min(high, best.at);
            if (lane >= turn) low = max(low, best.at);
            if (lane == turn) mine = best;
        }
    }
    return mine;
}

/// A level of a search: the winners at 32 times its stride, and where its own winners are stored.
struct Level {
    int64_t outer_size, inner_size;
    int32_t length, stride;
    const int32_t *coarse;  // [line][share], or nullptr at the top
    int32_t *winners;       // [line][point], or nullptr at stride 1

    __host__ __device__ int64_t points() const { return (length + int64_t(stride) - 1) / stride; }
    __host__ __device__ int64_t shares() const { return (points() + WARP - 1) / WARP; }
    __host__ __device__ int64_t lines() const { return outer_size * inner_size; }
};

/// Warp: finds the best candidate of each point of a share, each in its lane.  In lanes beyond the line it is undefined.
template <class K, class Lines>
__device__ Best<K> search_share(const Lines &lines, const Ruler<K> &ruler, const Level &level, int64_t outer, int64_t inner,
                                int64_t number, int lane) {
    const int64_t shares = level.shares();
    Share share;
    share.first = static_cast<int32_t>(number) * WARP * level.stride;
    share.stride = level.stride;
    share.length = level.length;
    share.first_known = level.coarse != nullptr;
    share.low = 0;
    share.high = level.length - 1;
    if (level.coarse) {
        const int32_t *ends = level.coarse + (outer * level.inner_size + inner) * shares + number;
        share.low = ends[0];
        if (number + 1 < shares) share.high = ends[1];
    }
    const auto line = lines.line(outer, inner);
    return share.high - share.low < SHORT_BRACKET ? search_whole<K>(line, ruler, share, lane)
                                                  : search_by_halves<K>(line, ruler, share, lane);
}

/// Finds the winners of a level.  A warp takes a share.
template <class K, class Lines>
__global__ void __launch_bounds__(BLOCK, RESIDENT) bracket_points(Lines lines, Ruler<K> ruler, Level level) {
    if (lines.is_settled()) return;
    const int lane = threadIdx.x % WARP;
    const int64_t shares = level.shares(), points = level.points(), total = level.lines() * shares;
    const int64_t step = int64_t(gridDim.x) * WARPS;
    for (int64_t item = int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP; item < total; item += step) {
        const int64_t line = item / shares, number = item % shares, point = number * WARP + lane;
        if (lines.is_settled(line / level.inner_size, line % level.inner_size)) continue;
        const Best<K> best =
            search_share<K>(lines, ruler, level, line / level.inner_size, line % level.inner_size, number, lane);
        if (point < points) level.winners[line * points + point] = best.at;
    }
}

/// Finds the best candidate of every pixel of rows, the last axis, and writes the outputs.  A warp takes 32 pixels.
template <class K, class Lines>
__global__ void __launch_bounds__(BLOCK, RESIDENT)
    finish_rows(Lines lines, Ruler<K> ruler, Level level, bool slices, Output output) {
    if (lines.is_settled()) return;
    const int lane = threadIdx.x % WARP;
    const int64_t shares = level.shares(), total = level.lines() * shares, width = level.length;
    const int64_t step = int64_t(gridDim.x) * WARPS;
    for (int64_t item = int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP; item < total; item += step) {
        const int64_t line = item / shares, number = item % shares, x = number * WARP + lane;
        const int64_t z = line / level.inner_size, y = line % level.inner_size;
        if (lines.is_settled(z, y, number * WARP)) continue;
        Best<K> best = search_share<K>(lines, ruler, level, z, y, number, lane);
        if (x >= width) continue;
        lines.take_end(best, z, y, level.inner_size, x);
        const int64_t rows_before = slices ? z * level.inner_size : 0;
        write_pixel(output, x, y, z, best.cost, best.cost < NO_COST<typename K::Cost>,
                    (best.order + rows_before) * width + best.at);
    }
}

constexpr int TILE = WARP;  // lines, and their pixels, that a block transposes: a warp stores 32 neighbours

/// Finds the best candidate of every pixel of lines along y, and stores it for the search along x.  A block takes 32 x 32
/// pixels of a plane.
template <class K, class Lines>
__global__ void __launch_bounds__(BLOCK, RESIDENT)
    store_planes(Lines lines, Ruler<K> ruler, Level level, StoredLines<K> store) {
    using Cost = typename K::Cost;
    using Order = typename K::Order;
    if (lines.is_settled()) return;
    __shared__ Cost costs[TILE][TILE + 1];
    __shared__ Order orders[K::ORDERED ? TILE : 1][TILE + 1];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t width = level.inner_size, height = level.length, shares = level.shares();
    const int64_t across = (width + TILE - 1) / TILE, total = level.outer_size * shares * across;
    for (int64_t item = blockIdx.x; item < total; item += gridDim.x) {
        const int64_t left = item % across * TILE, number = item / across % shares, z = item / across / shares;
        if (lines.is_settled(z, left)) continue;
        for (int i = warp; i < TILE && left + i < width; i += WARPS) {
            Best<K> best = search_share<K>(lines, ruler, level, z, left + i, number, lane);
            if (number * WARP + lane < height) lines.take_end(best, z, left + i, width, number * WARP + lane);
            costs[i][lane] = best.cost;
            if constexpr (K::ORDERED) orders[i][lane] = static_cast<Order>(best.order * height + best.at);
        }
        __syncthreads();
        for (int i = warp; i < TILE; i += WARPS) {
            const int64_t x = left + lane, y = number * TILE + i, to = (z * height + y) * width + x;
            if (x >= width || y >= height) continue;
            store.cost[to] = costs[lane][i];
            if constexpr (K::ORDERED) store.order[to] = orders[lane][i];
        }
        __syncthreads();
    }
}

// ---- The passes ----

/// The number of winners that a search keeps, over all levels above stride 1.
inline int64_t count_winners(int64_t lines, int64_t length) {
    int64_t points = 0;
    for (int64_t stride = WARP; stride < length; stride *= WARP) points += ceil_div(length, stride);
    return lines * points;
}

/// Searches every level above stride 1, and returns the level of stride 1.
template <class K, class Lines>
Level search_levels(const Lines &lines, const Ruler<K> &ruler, int64_t outer_size, int64_t inner_size, int32_t *winners,
                    cudaStream_t stream) {
    int64_t stride = 1;
    while (stride * WARP < lines.length) stride *= WARP;
    Level level = {outer_size, inner_size, static_cast<int32_t>(lines.length), 1, nullptr, nullptr};
    for (; stride > 1; stride /= WARP) {
        level.stride = static_cast<int32_t>(stride);
        level.winners = winners;
        launch("bracket_points", bracket_points<K, Lines>,
               std::min(ceil_div(level.lines() * level.shares(), WARPS), Lines::MOST_BLOCKS), BLOCK, stream, lines, ruler,
               level);
        level.coarse = winners;
        winners += level.lines() * level.points();
    }
    level.stride = 1;
    level.winners = nullptr;
    return level;
}

/// The number of winners for the searches of a job.
inline int64_t most_winners(const DistanceJob &job) {
    const int64_t width = job.set.size[0], height = job.set.size[1], depth = job.set.size[2];
    const int64_t along_x = count_winners(height * depth, width);
    return job.axes == 2 ? along_x : std::max(along_x, count_winners(width * depth, height));
}

template <class K>
StoredLines<K> carve_stored(const DistanceJob &job, Carver &carver) {
    StoredLines<K> stored = {};
    stored.length = job.set.size[0];
    stored.inner_size = job.set.size[1];
    stored.cost = carver.take<typename K::Cost>(job.set.pixels());
    if (K::ORDERED) stored.order = carver.take<typename K::Order>(job.set.pixels());
    return stored;
}

template <class K>
Ruler<K> ruler_of(const DistanceJob &job, int axis) {
    return {job.measure.metric, static_cast<typename K::Cost>(job.measure.weight[axis])};
}

/// Queues the search along y, in 3-D.
template <class K, class Lines>
void search_planes(const Lines &lines, const DistanceJob &job, int32_t *winners, const StoredLines<K> &stored,
                   cudaStream_t stream) {
    const int64_t width = job.set.size[0], depth = job.set.size[2];
    const Ruler<K> ruler = ruler_of<K>(job, 1);
    const Level level = search_levels<K>(lines, ruler, depth, width, winners, stream);
    launch("store_planes", store_planes<K, Lines>, std::min(depth * level.shares() * ceil_div(width, TILE), Lines::MOST_BLOCKS),
           BLOCK, stream, lines, ruler, level, stored);
}

/// Queues the search along x, and the outputs.
template <class K, class Lines>
void finish(const Lines &lines, const DistanceJob &job, int32_t *winners, bool slices, const Output &output,
            cudaStream_t stream) {
    const Ruler<K> ruler = ruler_of<K>(job, 0);
    const Level level = search_levels<K>(lines, ruler, job.set.size[2], job.set.size[1], winners, stream);
    launch("finish_rows", finish_rows<K, Lines>, std::min(ceil_div(level.lines() * level.shares(), WARPS), Lines::MOST_BLOCKS),
           BLOCK, stream, lines, ruler, level, slices, output);
}

/// Calls `run` with the narrowest kind that serves a job.
template <class Run>
auto with_kind(const DistanceJob &job, const Run &run) {
    const bool narrow = is_narrow(job.measure);
    if (!job.nearest) return narrow ? run(Narrow()) : run(Wide());
    const bool short_orders = job.axes == 2 || job.set.size[1] * job.slab.extent <= INT32_MAX;
    return narrow && short_orders ? run(NarrowOrdered()) : run(WideOrdered());
}

}  // namespace apsis::cuda::distance
