// A block's work on a task: it takes a tile, shortens its lengths until nothing changes, and gives to its neighbours.
//
// Of a tile two warps go along each axis, there and back, layer after layer, which are lines or planes: a cell is reached
// from the three cells, or nine, of the layer before that touch it.  A shortest path where nothing is in the way goes on
// along one of its axes at every step, so that one such sweep finds it; where something is, they go on until none finds
// anything.  All sweep at once, and each only goes on from layers in which something has changed.
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
    static constexpr int SIDE = Tile::WIDTH, DEPTH = Tile::DEPTH, WARPS = 2 * AXES, THREADS = WARPS * WARP;
    static constexpr int ROW = SIDE + 3, PLANE = AXES == 2 ? 0 : 116, FACE = SIDE + 2;
    static constexpr int MARGIN = PLANE + ROW + 1;  // what is beside the rim is walls too
    static constexpr int CELLS = (AXES == 2 ? ROW : PLANE) * FACE + 2 * MARGIN;
    static constexpr int RIM = 2 * FACE * DEPTH + 2 * SIDE * DEPTH + (AXES == 3 ? 2 * FACE * FACE : 0);
    static constexpr int EACH = (Tile::CELLS + THREADS - 1) / THREADS, RIM_EACH = (RIM + THREADS - 1) / THREADS;  // a thread
    static constexpr int AROUND = AXES == 2 ? 9 : 27;                // tiles, itself the one in the middle
    static constexpr int LANE_CELLS = AXES == 2 ? 1 : SIDE * SIDE / WARP;  // side by side along the second axis of a plane
    static constexpr Value WALL = Lengths<Value>::WALL, UNSEEN = Lengths<Value>::UNSEEN, NONE = Lengths<Value>::NONE;

    typename Rule::template Cells<CELLS> cells;
    Value gain[AROUND];       // the least that a tile gains, or NONE
    uint32_t changed[WARPS];  // from which layers a warp has to go on
    uint32_t next;            // a task
    Value key;                // with which it was woken

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

/// Of the cells of a warp, SIDE along the first axis of a layer and some rows of them: the rows that have bits, BY apart.
template <int SIDE, int BY>
__device__ uint32_t rows_of(uint32_t cells) {
    if (SIDE == WARP) return cells != 0;
    cells |= cells >> 4;
    cells |= cells >> 2;
    cells = (cells | cells >> 1) & 0x01010101;
    return (cells | cells >> (8 - BY) | cells >> 2 * (8 - BY) | cells >> 3 * (8 - BY)) & (BY == 1 ? 0x0f : 0x55);
}
/// The places along the first axis that have.
template <int SIDE>
__device__ uint32_t columns_of(uint32_t cells) {
    if (SIDE == WARP) return cells;
    cells |= cells >> 16;
    return (cells | cells >> 8) & 0xff;
}

/// Tells all warps but one from which layers along each axis to go on.
template <class Shape>
__device__ void mark_layers(Shape &region, const uint32_t (&layers)[3], int but) {
    const int lane = threadIdx.x % WARP;
    const uint32_t own = lane < 2 ? layers[0] : lane < 4 ? layers[1] : layers[2];
    if (lane < Shape::WARPS && lane != but) atomicOr(&region.changed[lane], own);
}

/// Goes through the tile along an axis, from the layers that have changed.  Returns whether it has found anything.
template <int AXIS, class Rule, int AXES, int CONNECTIVITY>
__device__ bool sweep(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, bool &too_long) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Way = Course<Shape, AXES, AXIS>;
    using Value = typename Rule::Value;
    using Number = typename Rule::Number;
    constexpr int COUNT = Shape::LANE_CELLS;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const bool back = warp % 2;
    const int by = back ? -1 : 1;
    const typename Shape::Spot corner = {0, 0, 0};
    const int first = corner.at() + lane % Shape::SIDE * Way::FIRST_BY + lane / Shape::SIDE * COUNT * Way::SECOND_BY;
    bool found = false;
    uint32_t rest = lane == 0 ? atomicExch(&region.changed[warp], 0u) : 0;
    for (rest = __shfl_sync(ALL_LANES, rest, 0); rest; __syncwarp()) {
        const int from = back ? 31 - __clz(static_cast<int>(rest)) : __ffs(static_cast<int>(rest)) - 1, layer = from + by;
        rest &= ~(1u << from);
        if (layer < 0 || layer >= Shape::SIDE) break;  // the last one
        const int to = first + layer * Way::BY;
        Number best[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; ++k) best[k] = ~Number(0);
        find_offers<AXIS>(walk, region, to, to - by * Way::BY, best);
        uint32_t cells = 0, rows = 0;
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            Value *const value = const_cast<Value *>(&region.cells.value[to + k * Way::SECOND_BY]);
            const bool is_shorter = best[k] < static_cast<Number>(Shape::UNSEEN) &&
                                    static_cast<Value>(best[k]) < *static_cast<volatile Value *>(value);
            const bool is_kept = is_shorter && best[k] <= static_cast<Number>(walk.longest);
            if (is_kept) atomic_least(value, static_cast<Value>(best[k]));  // others sweep over it too
            too_long |= is_shorter && !is_kept;
            const uint32_t kept = __ballot_sync(ALL_LANES, is_kept);
            cells |= kept;
            rows |= rows_of<Shape::SIDE, COUNT>(kept) << k;
        }
        if (!cells) continue;
        found = true;
        rest |= 1u << layer;
        uint32_t layers[3] = {0, 0, 0};
        layers[AXIS] = 1u << layer;
        layers[Way::FIRST] = columns_of<Shape::SIDE>(cells);
        if (AXES == 3) layers[Way::SECOND] = rows;
        mark_layers(region, layers, warp);
    }
    return found;
}

template <class Rule, int AXES, int CONNECTIVITY>
__device__ void shorten(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, bool &too_long) {
    const int axis = threadIdx.x / WARP / 2;
    bool found;
    do {
        if (axis == 0)
            found = sweep<0>(walk, region, too_long);
        else if (AXES == 2 || axis == 1)
            found = sweep<1>(walk, region, too_long);
        else
            found = sweep<AXES - 1>(walk, region, too_long);
    } while (__syncthreads_or(found));
}

/// A tile's task, and where its neighbours are.
template <class Rule>
struct Visit {
    using Value = typename Rule::Value;
    uint32_t task, field, x, y, z;  // the tile's place among tiles
    Value key;                      // with which it was woken
    int64_t first;                  // its first cell

    __device__ Visit(const Walk<Rule> &walk, uint32_t task, Value key)
        : task(task), field(field_of(walk.tasks, task)), key(key), first(int64_t(task) * walk.tasks.shape.tile_cells()) {
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

/// What a thread's cells of the tile and around it held when it was taken.
template <class Rule, int AXES, int CONNECTIVITY>
struct Holding {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    typename Rule::Value own[Shape::EACH], rim[Shape::RIM_EACH];
};

/// Calls body(k, cell of the tile, spot) for a thread's cells; warps have cells side by side.
template <class Shape, class Body>
__device__ void for_own(Body body) {
#pragma unroll
    for (int k = 0; k < Shape::EACH; ++k) {
        const int i = k * Shape::THREADS + threadIdx.x;
        if (i < Shape::Tile::CELLS) body(k, i, Shape::inner(i));
    }
}

/// Calls body(k, spot, number of the tile around, cell of the fields) for those of the rim that lie in tiles.
template <class Shape, class Rule, class Body>
__device__ void for_rim(const FieldShape &shape, const Visit<Rule> &visit, Body body) {
#pragma unroll
    for (int k = 0; k < Shape::RIM_EACH; ++k) {
        const int i = k * Shape::THREADS + threadIdx.x;
        const auto spot = Shape::rim(min(i, Shape::RIM - 1));
        const auto side = [](int at) { return at < 0 ? -1 : at >= Shape::SIDE; };
        const int dx = side(spot.x), dy = side(spot.y), dz = Shape::DEPTH == 1 ? 0 : side(spot.z);
        if (i >= Shape::RIM || !visit.has(shape, dx, dy, dz)) continue;
        const int64_t first = int64_t(visit.beside(shape, dx, dy, dz)) * Shape::Tile::CELLS;
        body(k, spot, dx + 1 + 3 * (dy + 1) + (Shape::DEPTH == 1 ? 0 : 9 * (dz + 1)), first + spot.cell());
    }
}

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

/// A block takes a tile.  What has changed at its rim since, or has begun, are lengths from the key on.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void take_tile(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, const Visit<Rule> &visit,
                          Holding<Rule, AXES, CONNECTIVITY> &holding) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    const int lane = threadIdx.x % WARP;
    for_own<Shape>([&](int k, int i, auto spot) {
        const int64_t cell = visit.first + i;
        const Value value = __ldcg(walk.values + cell);
        region.cells.value[spot.at()] = holding.own[k] = value;
        if constexpr (Rule::HAS_LENGTHS) region.cells.length[spot.at()] = __ldg(walk.lengths + cell);
        const uint32_t cells = __ballot_sync(ALL_LANES, value >= visit.key && value <= walk.longest);
        const auto corner = Shape::inner(i - lane);
        const uint32_t rows = rows_of<Shape::SIDE, 1>(cells), layers[3] = {columns_of<Shape::SIDE>(cells), rows << corner.y,
                                                                           uint32_t(rows != 0) << corner.z};
        if (cells) mark_layers(region, layers, Shape::WARPS);
    });
    for_rim<Shape>(walk.tasks.shape, visit, [&](int k, auto spot, int, int64_t cell) {
        holding.rim[k] = __ldcg(walk.values + cell);
        if constexpr (Rule::HAS_LENGTHS) region.cells.length[spot.at()] = __ldg(walk.lengths + cell);
    });
    if (threadIdx.x < Shape::AROUND) region.gain[threadIdx.x] = Shape::NONE;
}

/// Gives back what is shorter now, and to the tiles around what they gain.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void give_tile(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, const Visit<Rule> &visit,
                          const Holding<Rule, AXES, CONNECTIVITY> &holding, bool &too_long) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    for_own<Shape>([&](int k, int i, auto spot) {
        const Value value = region.cells.value[spot.at()];
        if (value < holding.own[k]) atomic_least(walk.values + visit.first + i, value);
    });
    for_rim<Shape>(walk.tasks.shape, visit, [&](int k, auto spot, int around, int64_t cell) {
        const auto best = best_beyond(walk, region, spot.at(), visit.key);
        const Value value = static_cast<Value>(best);
        if (best >= static_cast<typename Rule::Number>(Shape::UNSEEN) || value >= holding.rim[k]) return;
        if (value > walk.longest)
            too_long = true;
        else if (value < atomic_least(walk.values + cell, value))
            atomic_least(&region.gain[around], value);
    });
}

/// Wakes the tiles that have gained.  The first that is near becomes the block's next task.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void wake_around(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, const Visit<Rule> &visit) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    if (threadIdx.x >= WARP) return;
    const int n = threadIdx.x, dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = AXES == 2 ? 0 : n / 9 - 1;
    const uint32_t task = visit.beside(walk.tasks.shape, dx, dy, dz);
    bool is_near = false;
    if (n < Shape::AROUND && region.gain[n] < Shape::NONE) is_near = wake(walk.tasks, visit.field, task, region.gain[n]);
    const uint32_t near = __ballot_sync(ALL_LANES, is_near);
    if (n == __ffs(static_cast<int>(near)) - 1)
        region.next = task;
    else if (is_near)
        queue_task(walk.tasks, visit.field, task);
    else if (n == 0 && !near)
        region.next = NO_TASK;
}

/// Does a task, and what it leads to.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void walk_on(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, uint32_t task) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    while (task != NO_TASK) {
        if (threadIdx.x == 0) {
            region.key = atomic_exchange(walk.tasks.pending + task, Shape::NONE);
            __threadfence();
        }
        __syncthreads();
        const Visit<Rule> visit(walk, task, region.key);
        Holding<Rule, AXES, CONNECTIVITY> holding;
        bool too_long = false;
        take_tile(walk, region, visit, holding);
        __syncthreads();
        shorten(walk, region, too_long);
        give_tile(walk, region, visit, holding, too_long);
        if (too_long && walk.too_long) *walk.too_long = 1;
        __threadfence();
        __syncthreads();
        wake_around(walk, region, visit);
        __syncthreads();
        task = region.next;
        if (task == NO_TASK) task = leave_field<typename Rule::Value, Shape::THREADS>(walk.tasks, visit.field, walk.span);
    }
}

/// Blocks take tasks until nothing waits.
template <class Rule, int AXES, int CONNECTIVITY>
__global__ void __launch_bounds__(Region<Rule, AXES, CONNECTIVITY>::THREADS) walk_tiles(Walk<Rule> walk) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    __shared__ Shape region;
    if (!walk.condition.holds()) return;
    for (int i = threadIdx.x; i < Shape::CELLS; i += Shape::THREADS) region.cells.value[i] = Shape::WALL;
    if (threadIdx.x < Shape::WARPS) region.changed[threadIdx.x] = 0;
    bool all_begun = false;
    for (;;) {
        const uint32_t task = next_task<typename Rule::Value, Shape::THREADS>(walk.tasks, all_begun, walk.span);
        if (task == LEAVE) return;
        walk_on(walk, region, task);
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
