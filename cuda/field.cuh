// A block's work on a task: it takes a tile, shortens its lengths until nothing changes, and gives to its neighbours.
//
// Of a tile two warps go along each axis, there and back, line after line or plane after plane: a cell is reached from the
// three cells, or nine, of the line before that touch it.  A shortest path where nothing is in the way goes on along one of
// its axes at every step, so that one such sweep finds it; where something is, they go on until none finds anything.  All
// sweep at once, without waiting for one another.  A warp may so undo what another has just made shorter: that one will do
// it again, as none ends before all of them have found nothing.
//
// The cells around the tile stay walls meanwhile.  At last they are reached like others, and what becomes shorter by it goes
// to the tiles that they belong to.  What lies below the key with which a tile was woken had been there before, and has been
// given then.
#pragma once

#include <type_traits>

#include "field_tasks.cuh"

namespace apsis {

/// Shortest paths: values are lengths.
template <class Path>
struct Shortest {
    using Value = Path;
    using Length = Path;
    using Number = std::make_unsigned_t<Value>;  // a value to begin a step, see Lengths
    using Seen = Number;
    static constexpr bool HAS_LENGTHS = false;

    template <int CELLS>
    struct Cells {
        volatile Value value[CELLS];

        __device__ Seen see(int at) const { return static_cast<Number>(value[at]); }
        __device__ Number offer(Number best, Seen from, Length step, int) const {
            return min(best, static_cast<Number>(from + static_cast<Number>(step)));
        }
        __device__ static Value value_of(Seen seen) { return static_cast<Value>(seen); }
    };
};

/// The lowest names along them: values are names, and lengths are known.
template <class Name, class Path>
struct Lowest {
    using Value = Name;
    using Length = Path;
    using Number = std::make_unsigned_t<Value>;
    struct Seen {
        Number name;
        Length length;
    };
    static constexpr bool HAS_LENGTHS = true;

    template <int CELLS>
    struct Cells {
        volatile Value value[CELLS];
        Length length[CELLS];

        __device__ Seen see(int at) const { return {static_cast<Number>(value[at]), length[at]}; }
        __device__ Number offer(Number best, Seen from, Length step, int to) const {
            return from.length + step == length[to] ? min(best, from.name) : best;
        }
        __device__ static Value value_of(Seen seen) { return static_cast<Value>(seen.name); }
    };
};

/// What a walk knows.
template <class Rule>
struct Walk {
    using Value = typename Rule::Value;
    using Length = typename Rule::Length;

    FieldTasks<Value> tasks;
    Value *values;
    const Length *lengths;
    Length step[8];  // by kind
    Value longest;   // no value above this is kept
    Value span;      // of what is near at a time
    uint32_t *too_long;
    OnlyIf condition;
};

/// A tile in shared memory, with a rim of one cell.  Rows and planes lie so that the cells of a warp lie in different banks of
/// memory, whichever axis it goes along.
template <class Rule, int AXES, int CONNECTIVITY>
struct Region {
    using Value = typename Rule::Value;
    using Number = typename Rule::Number;
    using Tile = FieldTile<AXES>;
    static constexpr int SIDE = Tile::WIDTH, DEPTH = Tile::DEPTH, THREADS = 2 * AXES * WARP;
    static constexpr int ROW = SIDE + 3, PLANE = AXES == 2 ? 0 : 116, FACE = SIDE + 2;
    static constexpr int MARGIN = PLANE + ROW + 1;  // what is beside the rim is walls too
    static constexpr int CELLS = (AXES == 2 ? ROW : PLANE) * FACE + 2 * MARGIN;
    static constexpr int RIM = 2 * FACE * DEPTH + 2 * SIDE * DEPTH + (AXES == 3 ? 2 * FACE * FACE : 0);
    static constexpr int EACH = (Tile::CELLS + THREADS - 1) / THREADS, RIM_EACH = (RIM + THREADS - 1) / THREADS;  // a thread
    static constexpr int AROUND = AXES == 2 ? 9 : 27;                // tiles, itself the one in the middle
    static constexpr int LANE_CELLS = AXES == 2 ? 1 : SIDE * SIDE / WARP;  // side by side along the second axis of a plane
    static constexpr Value WALL = Lengths<Value>::WALL, UNSEEN = Lengths<Value>::UNSEEN, NONE = Lengths<Value>::NONE;

    typename Rule::template Cells<CELLS> cells;
    Value gain[AROUND];  // the least that a tile gains, or NONE

    struct Spot {
        int x, y, z;  // from -1 to SIDE

        __device__ int at() const { return MARGIN + (AXES == 2 ? 0 : z + 1) * PLANE + (y + 1) * ROW + x + 1; }
        /// The cell of its own tile.
        __device__ int cell() const { return ((z & (DEPTH - 1)) * SIDE + (y & (SIDE - 1))) * SIDE + (x & (SIDE - 1)); }
    };
    __device__ static Spot inner(int i) { return {i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)}; }
    __device__ static Spot rim(int i) {
        if (AXES == 3 && i < 2 * FACE * FACE) return {i % FACE - 1, i / FACE % FACE - 1, i < FACE * FACE ? -1 : SIDE};
        if (AXES == 3) i -= 2 * FACE * FACE;
        if (i < 2 * FACE * DEPTH) return {i % FACE - 1, i < FACE * DEPTH ? -1 : SIDE, i / FACE % DEPTH};
        i -= 2 * FACE * DEPTH;
        return {i < SIDE * DEPTH ? -1 : SIDE, i % SIDE, i / SIDE % DEPTH};
    }

    static constexpr __device__ int stride(int axis) { return axis == 0 ? 1 : axis == 1 ? ROW : PLANE; }
};

/// The axes of a region as a warp goes along one of them.
template <class Shape, int AXES, int AXIS>
struct Course {
    static constexpr int FIRST = AXIS == 0 ? 1 : 0, SECOND = AXIS == 2 ? 1 : 2;  // of a plane across the way
    static constexpr int FIRST_BY = Shape::stride(FIRST), SECOND_BY = AXES == 2 ? 0 : Shape::stride(SECOND), BY = Shape::stride(AXIS);
    static constexpr int KIND = 1 << AXIS, FIRST_KIND = 1 << FIRST, SECOND_KIND = 1 << SECOND;
};

/// The least that some cells side by side are offered by the line or plane before.
template <int AXIS, class Rule, int AXES, int CONNECTIVITY>
__device__ void find_offers(const Walk<Rule> &walk, const Region<Rule, AXES, CONNECTIVITY> &region, int to, int from,
                            typename Rule::Number (&best)[Region<Rule, AXES, CONNECTIVITY>::LANE_CELLS]) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Way = Course<Shape, AXES, AXIS>;
    constexpr int WING = CONNECTIVITY > 1, BESIDE = AXES == 3 ? WING : 0, COUNT = Shape::LANE_CELLS;
    typename Rule::Seen seen[COUNT + 2 * BESIDE][1 + 2 * WING];
#pragma unroll
    for (int j = 0; j < COUNT + 2 * BESIDE; ++j)
#pragma unroll
        for (int i = 0; i < 1 + 2 * WING; ++i)
            seen[j][i] = region.cells.see(from + (j - BESIDE) * Way::SECOND_BY + (i - WING) * Way::FIRST_BY);
#pragma unroll
    for (int k = 0; k < COUNT; ++k)
#pragma unroll
        for (int j = -BESIDE; j <= BESIDE; ++j)
#pragma unroll
            for (int i = -WING; i <= WING; ++i) {
                if ((i != 0) + (j != 0) >= CONNECTIVITY) continue;
                constexpr int KIND = Way::KIND;
                const int kind = KIND | (i ? Way::FIRST_KIND : 0) | (j ? Way::SECOND_KIND : 0);
                best[k] = region.cells.offer(best[k], seen[k + j + BESIDE][i + WING], walk.step[kind], to + k * Way::SECOND_BY);
            }
}

/// Goes through the tile along an axis.  Returns whether it has found anything.
template <int AXIS, class Rule, int AXES, int CONNECTIVITY>
__device__ bool sweep(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, bool back, bool &too_long) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Way = Course<Shape, AXES, AXIS>;
    using Value = typename Rule::Value;
    using Number = typename Rule::Number;
    constexpr int COUNT = Shape::LANE_CELLS;
    const int lane = threadIdx.x % WARP, by = back ? -Way::BY : Way::BY;
    const typename Shape::Spot corner = {0, 0, 0};
    int to = corner.at() + lane % Shape::SIDE * Way::FIRST_BY + lane / Shape::SIDE * COUNT * Way::SECOND_BY +
             (back ? (Shape::SIDE - 1) * Way::BY : 0);
    bool found = false;
    for (int step = 0; step < Shape::SIDE; ++step, to += by) {
        Number best[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; ++k) best[k] = ~Number(0);
        find_offers<AXIS>(walk, region, to, to - by, best);
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            volatile Value &value = region.cells.value[to + k * Way::SECOND_BY];
            const bool is_shorter = best[k] < static_cast<Number>(Shape::UNSEEN) && static_cast<Value>(best[k]) < value;
            const bool is_kept = is_shorter && best[k] <= static_cast<Number>(walk.longest);
            if (is_kept) value = static_cast<Value>(best[k]);
            found |= is_kept;
            too_long |= is_shorter && !is_kept;
        }
        __syncwarp();
    }
    return found;
}

template <class Rule, int AXES, int CONNECTIVITY>
__device__ void shorten(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, bool &too_long) {
    const int axis = threadIdx.x / WARP / 2;
    const bool back = threadIdx.x / WARP % 2;
    bool found;
    do {
        if (axis == 0)
            found = sweep<0>(walk, region, back, too_long);
        else if (AXES == 2 || axis == 1)
            found = sweep<1>(walk, region, back, too_long);
        else
            found = sweep<AXES - 1>(walk, region, back, too_long);
    } while (__syncthreads_or(found));
}

/// A tile's task, and where its neighbours are.
template <class Rule>
struct Visit {
    using Value = typename Rule::Value;
    uint32_t task, field, x, y, z;  // the tile's place among tiles
    Value key;                      // with which it was woken

    __device__ Visit(const Walk<Rule> &walk, uint32_t task, Value key) : task(task), field(field_of(walk.tasks, task)), key(key) {
        const FieldShape &shape = walk.tasks.shape;
        const uint32_t tile = task - field * static_cast<uint32_t>(shape.tiles()), line = tile / shape.across;
        x = tile - line * shape.across;
        y = line % shape.down;
        z = line / shape.down;
    }
    __device__ bool has(const FieldShape &shape, int dx, int dy, int dz) const {
        return x + dx < shape.across && y + dy < shape.down && z + dz < shape.deep;  // numbers without sign
    }
    /// The task of a neighbour in the same field.
    __device__ uint32_t beside(const FieldShape &shape, int dx, int dy, int dz) const {
        return task + dx + (dy + dz * static_cast<int>(shape.down)) * static_cast<int>(shape.across);
    }
};

/// A thread's cells of the rim: where they are, and what they held when the tile was taken.
template <class Rule, int AXES, int CONNECTIVITY>
struct Rim {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    Value before[Shape::RIM_EACH];

    /// Calls body(k, spot, number of the tile around, task, cell) for those that exist.
    template <class Body>
    __device__ static void for_cells(const FieldShape &shape, const Visit<Rule> &visit, Body body) {
#pragma unroll
        for (int k = 0; k < Shape::RIM_EACH; ++k) {
            const int i = k * Shape::THREADS + threadIdx.x;
            const typename Shape::Spot spot = Shape::rim(min(i, Shape::RIM - 1));
            const auto side = [](int at) { return at < 0 ? -1 : at >= Shape::SIDE; };
            const int dx = side(spot.x), dy = side(spot.y), dz = AXES == 2 ? 0 : side(spot.z);
            if (i >= Shape::RIM || !visit.has(shape, dx, dy, dz)) continue;
            const int64_t first = int64_t(visit.beside(shape, dx, dy, dz)) * Shape::Tile::CELLS;
            body(k, spot, (dx + 1) + 3 * (dy + 1) + (AXES == 2 ? 0 : 9 * (dz + 1)), first + spot.cell());
        }
    }
};

/// The least that a cell of the rim is offered by the tile.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ typename Rule::Number best_beyond(const Walk<Rule> &walk, const Region<Rule, AXES, CONNECTIVITY> &region, int to,
                                             typename Rule::Value key) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    typename Rule::Number best = ~typename Rule::Number(0);
    constexpr int HIGH = AXES == 3;
#pragma unroll
    for (int dz = -HIGH; dz <= HIGH; ++dz)
#pragma unroll
        for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
            for (int dx = -1; dx <= 1; ++dx) {
                const int along = (dx != 0) + (dy != 0) + (dz != 0);
                if (along == 0 || along > CONNECTIVITY) continue;
                const auto seen = region.cells.see(to + dx * Shape::stride(0) + dy * Shape::stride(1) + dz * Shape::stride(2));
                if (region.cells.value_of(seen) >= key) best = region.cells.offer(best, seen, walk.step[kind_of(dx, dy, dz)], to);
            }
    return best;
}

/// Takes a tile, shortens it and gives.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void visit_tile(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, const Visit<Rule> &visit) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    using Number = typename Rule::Number;
    const FieldShape &shape = walk.tasks.shape;
    const int64_t first = int64_t(visit.task) * Shape::Tile::CELLS;
    Value before[Shape::EACH], beyond[Shape::RIM_EACH];
    bool too_long = false;
    const auto for_own = [](auto body) {
#pragma unroll
        for (int k = 0; k < Shape::EACH; ++k) {
            const int i = k * Shape::THREADS + threadIdx.x;
            if (i < Shape::Tile::CELLS) body(k, i, Shape::inner(i).at());
        }
    };
    for_own([&](int k, int i, int at) {
        region.cells.value[at] = before[k] = __ldcg(walk.values + first + i);
        if constexpr (Rule::HAS_LENGTHS) region.cells.length[at] = __ldg(walk.lengths + first + i);
    });
    Rim<Rule, AXES, CONNECTIVITY>::for_cells(shape, visit, [&](int k, auto spot, int, int64_t cell) {
        beyond[k] = __ldcg(walk.values + cell);
        if constexpr (Rule::HAS_LENGTHS) region.cells.length[spot.at()] = __ldg(walk.lengths + cell);
    });
    if (threadIdx.x < Shape::AROUND) region.gain[threadIdx.x] = Shape::NONE;
    __syncthreads();
    shorten(walk, region, too_long);
    for_own([&](int k, int i, int at) {
        if (region.cells.value[at] < before[k]) atomic_least(walk.values + first + i, region.cells.value[at]);
    });
    Rim<Rule, AXES, CONNECTIVITY>::for_cells(shape, visit, [&](int k, auto spot, int around, int64_t cell) {
        const Number best = best_beyond(walk, region, spot.at(), visit.key);
        if (best >= static_cast<Number>(Shape::UNSEEN) || static_cast<Value>(best) >= beyond[k]) return;
        const Value value = static_cast<Value>(best);
        if (value > walk.longest)
            too_long = true;
        else if (value < atomic_least(walk.values + cell, value))
            atomic_least(&region.gain[around], value);
    });
    if (too_long && walk.too_long) *walk.too_long = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x < Shape::AROUND && region.gain[threadIdx.x] < Shape::NONE) {
        const int n = threadIdx.x;
        wake(walk.tasks, visit.field, visit.beside(shape, n % 3 - 1, n / 3 % 3 - 1, AXES == 2 ? 0 : n / 9 - 1), region.gain[n]);
    }
}

/// Blocks take tasks until nothing waits.
template <class Rule, int AXES, int CONNECTIVITY>
__global__ void __launch_bounds__(Region<Rule, AXES, CONNECTIVITY>::THREADS) walk_tiles(Walk<Rule> walk) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    __shared__ Shape region;
    __shared__ uint32_t next;
    __shared__ Value next_key;
    if (!walk.condition.holds()) return;
    for (int i = threadIdx.x; i < Shape::CELLS; i += Shape::THREADS) region.cells.value[i] = Shape::WALL;
    begin_fields<Value, Shape::THREADS>(walk.tasks, walk.span);
    for (;;) {
        if (threadIdx.x == 0) {
            next = take_task(walk.tasks);
            if (next != LEAVE) next_key = atomic_exchange(walk.tasks.pending + next, Shape::NONE);
            __threadfence();
        }
        __syncthreads();
        const uint32_t task = next;
        const Value key = next_key;
        if (task == LEAVE) return;
        const Visit<Rule> visit(walk, task, key);
        visit_tile(walk, region, visit);
        leave_field<Value, Shape::THREADS>(walk.tasks, visit.field, walk.span);
    }
}

/// As many blocks as the device runs at once: none waits for a place that another's task needs, and no task for a block.
template <class Rule, int AXES, int CONNECTIVITY>
void launch_walk(const char *name, const Walk<Rule> &walk, cudaStream_t stream) {
    constexpr int THREADS = Region<Rule, AXES, CONNECTIVITY>::THREADS;
    const auto kernel = walk_tiles<Rule, AXES, CONNECTIVITY>;
    const int64_t blocks = std::min({walk.tasks.tasks(), resident_blocks(kernel, THREADS), MOST_RESIDENT});
    launch(name, kernel, blocks, THREADS, stream, walk);
}

template <class Rule>
void run_walk(const char *name, const Walk<Rule> &walk, int connectivity, cudaStream_t stream) {
    if (walk.tasks.shape.axes == 2)
        connectivity == 1 ? launch_walk<Rule, 2, 1>(name, walk, stream) : launch_walk<Rule, 2, 2>(name, walk, stream);
    else if (connectivity == 1)
        launch_walk<Rule, 3, 1>(name, walk, stream);
    else
        connectivity == 2 ? launch_walk<Rule, 3, 2>(name, walk, stream) : launch_walk<Rule, 3, 3>(name, walk, stream);
}

}  // namespace apsis
