// A block's work on a task: it takes a tile, shortens its lengths until nothing changes, and gives to its neighbours.
//
// When nothing changes any more, the cells around the tile are reached like others, and what becomes shorter by it goes to
// the tiles that they belong to.  Of these the block goes on with one that is near and that nobody waits for, at once; the
// others are woken.
#pragma once

#include "field_tile.cuh"

namespace apsis {

constexpr int NOWHERE = -1;

/// The thread's number, for what is computed from it anew whenever a tile is visited: kept meanwhile, it would take more
/// registers than there are.
__device__ inline int this_thread() {
    int thread = threadIdx.x;
    asm volatile("" : "+r"(thread));
    return thread;
}

/// A tile's task, and where its neighbours are.
template <class Rule>
struct Visit {
    using Value = typename Rule::Value;
    uint32_t task, field, x, y, z;  // the tile's place among tiles
    Value key;                      // what has changed at its rim, or has begun, are values from here on

    __device__ Visit(const Walk<Rule> &walk, uint32_t task, Value key)
        : task(task), field(field_of(walk.tasks, task)), key(key) {
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
    /// Goes on to that.
    __device__ void move(const FieldShape &shape, int dx, int dy, int dz, Value with) {
        task = beside(shape, dx, dy, dz);
        x += dx, y += dy, z += dz;
        key = with;
    }
};

/// The tiles around one, itself among them: the n-th lies at (dx, dy, dz).
template <int AXES>
struct Around {
    int dx, dy, dz;

    __device__ explicit Around(int n) : dx(n % 3 - 1), dy(n / 3 % 3 - 1), dz(AXES == 2 ? 0 : n / 9 - 1) {}
};

/// What a thread's cells of the tile and around it held when it was taken; and for the lanes of the first warp, what was
/// pending of a tile around, and what is near.
template <class Rule, int AXES, int CONNECTIVITY>
struct Holding {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    typename Rule::Value own[Shape::EACH], face[Shape::LANE_CELLS], edge, pending, threshold;
};

/// Calls body(k, cell of the tile, spot) for a thread's cells; warps have cells side by side.
template <class Shape, class Body>
__device__ void for_own(Body body) {
    const int thread = this_thread();
#pragma unroll
    for (int k = 0; k < Shape::EACH; ++k) {
        const int i = k * Shape::THREADS + thread;
        if (i < Shape::Tile::CELLS) body(k, i, Shape::inner(i));
    }
}

/// Calls body(cell of the fields, number of the tile around) for a spot beyond the tile, if that lies in a tile.
template <class Shape, class Rule, class Body>
__device__ void with_neighbour(const FieldShape &shape, const Visit<Rule> &visit, const typename Shape::Spot &spot, Body body) {
    const auto side = [](int at) { return at < 0 ? -1 : at >= Shape::SIDE; };
    const int dx = side(spot.x), dy = side(spot.y), dz = Shape::DEPTH == 1 ? 0 : side(spot.z);
    if (!visit.has(shape, dx, dy, dz)) return;
    body(int64_t(visit.beside(shape, dx, dy, dz)) * Shape::Tile::CELLS + spot.cell(),
         dx + 1 + 3 * (dy + 1) + (Shape::DEPTH == 1 ? 0 : 9 * (dz + 1)));
}

/// Calls body(spot, cell of the fields, number of the tile around, k) for a thread's cells of the face beyond the tile that
/// its warp sweeps to, and body(spot, ..., -1) for its cell beyond an edge.
template <class Shape, class Rule, class Body>
__device__ void for_rim(const FieldShape &shape, const Visit<Rule> &visit, Body body) {
    const int thread = this_thread();
    const int axis = thread / WARP / 2, layer = thread / WARP % 2 ? -1 : Shape::SIDE;
#pragma unroll
    for (int k = 0; k < Shape::LANE_CELLS; ++k) {
        typename Shape::Spot spot = Shape::first_of_lane(axis, layer);
        (axis == 2 ? spot.y : spot.z) += k;
        with_neighbour<Shape>(shape, visit, spot, [&](int64_t cell, int around) { body(spot, cell, around, k); });
    }
    if (thread >= Shape::EDGES) return;
    const auto spot = Shape::edge(thread);
    with_neighbour<Shape>(shape, visit, spot, [&](int64_t cell, int around) { body(spot, cell, around, -1); });
}

/// A block takes a tile.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void take_tile(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, const Visit<Rule> &visit,
                          Holding<Rule, AXES, CONNECTIVITY> &holding) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    const FieldShape &shape = walk.tasks.shape;
    const int lane = threadIdx.x % WARP;
    for_own<Shape>([&](int k, int i, auto spot) {
        const int64_t cell = int64_t(visit.task) * Shape::Tile::CELLS + i;
        holding.own[k] = __ldcg(walk.values + cell);
        if constexpr (Rule::HAS_LENGTHS) region.cells.length[spot.at()] = __ldg(walk.lengths + cell);
    });
    for_rim<Shape>(shape, visit, [&](auto spot, int64_t cell, int, int k) {
        (k < 0 ? holding.edge : holding.face[k < 0 ? 0 : k]) = __ldcg(walk.values + cell);
        if constexpr (Rule::HAS_LENGTHS) region.cells.length[spot.at()] = __ldg(walk.lengths + cell);
    });
    if (threadIdx.x < Shape::AROUND) {
        const Around<AXES> at(threadIdx.x);
        region.gain[threadIdx.x] = Shape::NONE;
        holding.threshold = __ldcg(&walk.tasks.field[visit.field].threshold);
        if (visit.has(shape, at.dx, at.dy, at.dz))
            holding.pending = __ldcg(walk.tasks.pending + visit.beside(shape, at.dx, at.dy, at.dz));
    }
    uint32_t layers[3] = {0, 0, 0};
    for_own<Shape>([&](int k, int i, auto spot) {
        const Value value = holding.own[k];
        region.cells.value[spot.at()] = value;
        const uint32_t cells = __ballot_sync(ALL_LANES, value >= visit.key && value <= walk.longest);
        const auto corner = Shape::inner(i - lane);
        const uint32_t rows = rows_of<Shape::SIDE, 1>(cells);
        layers[0] |= columns_of<Shape::SIDE>(cells);
        layers[1] |= rows << corner.y;
        layers[2] |= uint32_t(rows != 0) << corner.z;
    });
    mark_layers(region, 0, layers, Shape::WARPS);
}

/// The least that a cell beyond an edge is offered by the tile.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ typename Rule::Number best_beyond_edge(const Walk<Rule> &walk, const Region<Rule, AXES, CONNECTIVITY> &region,
                                                  const typename Region<Rule, AXES, CONNECTIVITY>::Spot &spot) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    typename Rule::Number best = ~typename Rule::Number(0);
    const auto inward = [](int at) { return at < 0 ? 1 : at >= Shape::SIDE ? -1 : 0; };
    const int dx = inward(spot.x), dy = inward(spot.y), dz = AXES == 2 ? 0 : inward(spot.z), to = spot.at();
    const int from = to + dx * Shape::stride(0) + dy * Shape::stride(1) + dz * Shape::stride(2), kind = kind_of(dx, dy, dz);
    if (CONNECTIVITY == 1 || (CONNECTIVITY == 2 && kind == 7)) return best;
    const auto beyond = region.cells.see(to);
    best = Rule::offer(best, region.cells.see(from), walk.step[kind], beyond);
    if (CONNECTIVITY < 3 || kind == 7) return best;
    const int along = Shape::stride(dx == 0 ? 0 : dy == 0 ? 1 : 2);
    best = Rule::offer(best, region.cells.see(from - along), walk.step[7], beyond);
    return Rule::offer(best, region.cells.see(from + along), walk.step[7], beyond);
}

/// Makes a cell of the fields shorter, and returns what it was.
template <class Rule>
__device__ typename Rule::Value shorten_cell(const Walk<Rule> &walk, int64_t cell, typename Rule::Value value) {
    if (value > walk.near_end) *walk.too_long = 1;
    return atomic_least(walk.values + cell, value);
}

/// Gives back what is shorter now, and to the tiles around what they gain.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void give_tile(const Walk<Rule> &walk, const Course<Rule, AXES, CONNECTIVITY> &course,
                          Region<Rule, AXES, CONNECTIVITY> &region, const Visit<Rule> &visit,
                          const Holding<Rule, AXES, CONNECTIVITY> &holding) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    using Number = typename Rule::Number;
    for_own<Shape>([&](int k, int i, auto spot) {
        const Value value = region.cells.value[spot.at()];
        if (value < holding.own[k]) shorten_cell(walk, int64_t(visit.task) * Shape::Tile::CELLS + i, value);
    });
    Number face[Shape::LANE_CELLS];
    offer_beyond(course, region, face);
    for_rim<Shape>(walk.tasks.shape, visit, [&](auto spot, int64_t cell, int around, int k) {
        const Number best = k < 0 ? best_beyond_edge(walk, region, spot) : face[k < 0 ? 0 : k];
        const Value value = static_cast<Value>(best), before = k < 0 ? holding.edge : holding.face[k < 0 ? 0 : k];
        if (best > static_cast<Number>(walk.longest) || value >= before) return;
        if (value < shorten_cell(walk, cell, value)) atomic_least(&region.gain[around], value);
    });
}

/// The block goes on with a tile that has gained, if that is near and nobody waits for it; wakes the others.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void wake_around(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, const Visit<Rule> &visit,
                            const Holding<Rule, AXES, CONNECTIVITY> &holding) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    if (threadIdx.x >= WARP) return;
    const int n = threadIdx.x;
    const Around<AXES> at(n);
    const Value gain = n < Shape::AROUND ? region.gain[n] : Shape::NONE;
    const bool has_gained = gain < Shape::NONE;
    const uint32_t free = __ballot_sync(ALL_LANES, has_gained && gain < holding.threshold && holding.pending == Shape::NONE);
    const int next = __ffs(static_cast<int>(free)) - 1;  // NOWHERE if nobody is
    if (n == 0) region.next = next;
    if (n == next) region.key = gain;
    if (!has_gained || n == next) return;
    const uint32_t task = visit.beside(walk.tasks.shape, at.dx, at.dy, at.dz);
    __threadfence();
    if (wake(walk.tasks, visit.field, task, gain)) queue_task(walk.tasks, visit.field, task);
}

/// Does a task, and what it leads to.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void walk_on(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, uint32_t task) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    const Course<Rule, AXES, CONNECTIVITY> course(walk);
    while (task != NO_TASK) {
        if (threadIdx.x == 0) {
            region.key = atomic_exchange(walk.tasks.pending + task, Shape::NONE);
            __threadfence();
        }
        __syncthreads();
        Visit<Rule> visit(walk, task, region.key);
        for (;;) {
            Holding<Rule, AXES, CONNECTIVITY> holding;
            take_tile(walk, region, visit, holding);
            __syncthreads();
            shorten(walk, course, region);
            give_tile(walk, course, region, visit, holding);
            __syncthreads();
            wake_around(walk, region, visit, holding);
            __syncthreads();
            if (region.next == NOWHERE) break;
            const Around<AXES> next(region.next);
            visit.move(walk.tasks.shape, next.dx, next.dy, next.dz, region.key);
        }
        task = leave_field<typename Rule::Value, Shape::THREADS>(walk.tasks, visit.field, walk.span);
    }
}

/// Blocks take tasks until nothing waits.
template <class Rule, int AXES, int CONNECTIVITY>
__global__ void __launch_bounds__(Region<Rule, AXES, CONNECTIVITY>::THREADS, Region<Rule, AXES, CONNECTIVITY>::RESIDENT)
    walk_tiles(Walk<Rule> walk) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    __shared__ Shape region;
    if (!walk.condition.holds()) return;
    for (int i = threadIdx.x; i < Shape::CELLS; i += Shape::THREADS) region.cells.value[i] = Shape::WALL;
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
