// A block's work on a task: it takes a tile, shortens its lengths until nothing changes, and gives to its neighbours.
//
// When nothing changes any more, the cells around the tile are reached like others, and what becomes shorter by it goes to
// the tiles that they belong to.  Of these the block goes on with one that is near and that nobody waits for, at once; the
// others are woken.
#pragma once

#include "cuda/paths/field_tile.cuh"

namespace apsis::cuda::paths {

constexpr int NOWHERE = -1;

/// The most that a tile counts from its base, so that no path through its cells is too long; and the longest step with which
/// it does.
constexpr int32_t MOST_COUNTED = Lengths<int32_t>::LONGEST / 2, MOST_COUNTED_STEP = 1 << 18;
static_assert(int64_t(FieldTile<2>::CELLS) * MOST_COUNTED_STEP <= MOST_COUNTED, "");

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

/// Cells side by side.
template <class Value>
struct alignas(16) Some {
    Value of[4];
};

__device__ inline Some<int32_t> read_some(const int32_t *from) {
    const uint4 read = __ldcg(reinterpret_cast<const uint4 *>(from));
    return {{static_cast<int32_t>(read.x), static_cast<int32_t>(read.y), static_cast<int32_t>(read.z),
             static_cast<int32_t>(read.w)}};
}
__device__ inline Some<int64_t> read_some(const int64_t *from) {
    const auto joined = [](uint32_t low, uint32_t high) { return static_cast<int64_t>(uint64_t(high) << 32 | low); };
    const uint4 *const both = reinterpret_cast<const uint4 *>(from), one = __ldcg(both), other = __ldcg(both + 1);
    return {{joined(one.x, one.y), joined(one.z, one.w), joined(other.x, other.y), joined(other.z, other.w)}};
}

/// What a thread's cells of the tile and around it held when it was taken.
template <class Rule, int AXES, int CONNECTIVITY>
struct Holding {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    Some<typename Rule::Local> own[Shape::EACH];
    Value face[Shape::LANE_CELLS], edge;
    Value far;  // the least that is not counted, or NONE
};

/// Calls body(k, first cell of the tile, spot) for a thread's cells, some side by side.
template <class Shape, class Body>
__device__ void for_own(Body body) {
    const int thread = this_thread();
#pragma unroll
    for (int k = 0; k < Shape::EACH; ++k) {
        const int i = (k * Shape::THREADS + thread) * Shape::SIDE_BY_SIDE;
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

/// Values as a tile holds them: as they are, or counted from the least that has changed.
template <class Rule, bool IS_COUNTED = sizeof(typename Rule::Local) < sizeof(typename Rule::Value)>
struct Count {
    using Value = typename Rule::Value;
    using Local = typename Rule::Local;
    Value base;

    __device__ explicit Count(Value key) : base(IS_COUNTED ? key : 0) {}
    __device__ Value value_of(Local local) const { return base + local; }
    __device__ Local local_of(Value value) const {
        if (!IS_COUNTED) return static_cast<Local>(value);
        if (value < base) return Lengths<Local>::WALL;
        return is_far(value) ? Lengths<Local>::UNSEEN : static_cast<Local>(value - base);
    }
    /// Whether a value is not counted because it is too large.
    __device__ bool is_far(Value value) const { return IS_COUNTED && value >= base && value - base > MOST_COUNTED; }
};

/// What a block may go on with, for its first warp: nothing has been gained yet.
template <class Rule, class Prospect>
__device__ void look_around(const Walk<Rule> &walk, const Visit<Rule> &visit, Prospect &prospect) {
    constexpr auto NONE = Lengths<typename Rule::Value>::NONE;
    constexpr int AROUND = sizeof prospect.gain / sizeof *prospect.gain, AXES = AROUND == 9 ? 2 : 3;
    const int n = threadIdx.x;
    const Around<AXES> at(n);
    const auto &field = walk.tasks.field[visit.field];
    const FieldShape &shape = walk.tasks.shape;
    bool is_idle = false;
    if (n < AROUND && visit.has(shape, at.dx, at.dy, at.dz))
        is_idle = __ldcg(walk.tasks.pending + visit.beside(shape, at.dx, at.dy, at.dz)) == NONE;
    const uint32_t idle = __ballot_sync(ALL_LANES, is_idle);
    if (n < AROUND) prospect.gain[n] = NONE;
    if (n > 0) return;
    prospect.idle = idle;
    prospect.threshold = __ldcg(&field.threshold);
    prospect.is_alone = __ldcg(&field.busy) == 1;
}

/// A block takes a tile.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void take_tile(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, const Visit<Rule> &visit,
                          typename Region<Rule, AXES, CONNECTIVITY>::Prospect &prospect,
                          Holding<Rule, AXES, CONNECTIVITY> &holding) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    using Local = typename Rule::Local;
    const FieldShape &shape = walk.tasks.shape;
    const Count<Rule> count(visit.key);
    Some<Value> own[Shape::EACH];
    for_own<Shape>([&](int k, int i, auto spot) {
        const int64_t cell = int64_t(visit.task) * Shape::Tile::CELLS + i;
        own[k] = read_some(walk.values + cell);
        if constexpr (Rule::HAS_LENGTHS)
            for (int c = 0; c < Shape::SIDE_BY_SIDE; ++c) region.cells.length[spot.at() + c] = __ldg(walk.lengths + cell + c);
    });
    for_rim<Shape>(shape, visit, [&](auto spot, int64_t cell, int, int k) {
        (k < 0 ? holding.edge : holding.face[k < 0 ? 0 : k]) = __ldcg(walk.values + cell);
        if constexpr (Rule::HAS_LENGTHS) region.cells.length[spot.at()] = __ldg(walk.lengths + cell);
    });
    if (threadIdx.x < WARP) look_around(walk, visit, prospect);
    holding.far = Shape::NONE;
    uint32_t layers[3] = {0, 0, 0};
    for_own<Shape>([&](int k, int, auto spot) {
        uint32_t changed = 0;
#pragma unroll
        for (int c = 0; c < Shape::SIDE_BY_SIDE; ++c) {
            const Value value = own[k].of[c];
            const Local local = holding.own[k].of[c] = count.local_of(value);
            region.cells.value[spot.at() + c] = local;
            if (value < visit.key || value > walk.longest) continue;
            if (count.is_far(value))
                holding.far = min(holding.far, value);
            else
                changed |= 1u << c;
        }
        layers[0] |= changed << spot.x;
        layers[1] |= uint32_t(changed != 0) << spot.y;
        layers[2] |= uint32_t(changed != 0) << spot.z;
    });
    for (int axis = 0; axis < AXES; ++axis) layers[axis] = any_of_warp(layers[axis]);
    mark_layers(region, 0, layers, Shape::WARPS);
}

/// The least that a cell beyond an edge is offered by the tile.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ typename Rule::Local best_beyond_edge(const Walk<Rule> &walk, const Region<Rule, AXES, CONNECTIVITY> &region,
                                                 const typename Region<Rule, AXES, CONNECTIVITY>::Spot &spot) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    typename Rule::Local best = Lengths<typename Rule::Local>::UNSEEN;
    const auto inward = [](int at) { return at < 0 ? 1 : at >= Shape::SIDE ? -1 : 0; };
    const int dx = inward(spot.x), dy = inward(spot.y), dz = AXES == 2 ? 0 : inward(spot.z), to = spot.at();
    const int from = to + dx * Shape::stride(0) + dy * Shape::stride(1) + dz * Shape::stride(2), kind = kind_of(dx, dy, dz);
    if (CONNECTIVITY == 1 || (CONNECTIVITY == 2 && kind == 7)) return best;
    const auto beyond = region.cells.see(to);
    const auto offer = [&](int from, int kind) {
        const auto seen = region.cells.see(from);
        best = Rule::offer(best, Rule::with(seen, to_give(Rule::value_of(seen))),
                           static_cast<typename Rule::Step>(walk.step[kind]), beyond);
    };
    offer(from, kind);
    if (CONNECTIVITY < 3 || kind == 7) return best;
    const int along = Shape::stride(dx == 0 ? 0 : dy == 0 ? 1 : 2);
    offer(from - along, 7);
    offer(from + along, 7);
    return best;
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
                          typename Region<Rule, AXES, CONNECTIVITY>::Prospect &prospect,
                          const Holding<Rule, AXES, CONNECTIVITY> &holding) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    using Local = typename Rule::Local;
    const Count<Rule> count(visit.key);
    if (holding.far < Shape::NONE) atomic_least(&prospect.gain[Shape::ITSELF], holding.far);
    Local face[Shape::LANE_CELLS];
    offer_beyond(course, region, face);
    for_rim<Shape>(walk.tasks.shape, visit, [&](auto spot, int64_t cell, int around, int k) {
        const Local best = k < 0 ? best_beyond_edge(walk, region, spot) : face[k < 0 ? 0 : k];
        if (best >= Lengths<Local>::UNSEEN) return;
        const Value value = count.value_of(best), before = k < 0 ? holding.edge : holding.face[k < 0 ? 0 : k];
        if (value > walk.longest || value >= before) return;
        if (value < shorten_cell(walk, cell, value)) atomic_least(&prospect.gain[around], value);
    });
    Some<Local> own[Shape::EACH];
    for_own<Shape>([&](int k, int, auto spot) {
#pragma unroll
        for (int c = 0; c < Shape::SIDE_BY_SIDE; ++c) own[k].of[c] = region.cells.value[spot.at() + c];
    });
    for_own<Shape>([&](int k, int i, auto) {
#pragma unroll
        for (int c = 0; c < Shape::SIDE_BY_SIDE; ++c) {
            const Value value = count.value_of(own[k].of[c]);
            if (own[k].of[c] < holding.own[k].of[c] && value <= walk.longest)
                shorten_cell(walk, int64_t(visit.task) * Shape::Tile::CELLS + i + c, value);
        }
    });
}

/// Which of the tiles around a block goes on with, and with which key; or NOWHERE.  All warps find the same.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ int choose_next(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, const Visit<Rule> &visit,
                           const typename Region<Rule, AXES, CONNECTIVITY>::Prospect &prospect, typename Rule::Value gain,
                           typename Rule::Value &key) {
    using Value = typename Rule::Value;
    const auto choose = [&](Value threshold) {
        return __ballot_sync(ALL_LANES, gain < threshold && prospect.idle >> threadIdx.x % WARP & 1);
    };
    uint32_t free = choose(prospect.threshold);
    if (!free && prospect.is_alone && __any_sync(ALL_LANES, gain < Lengths<Value>::NONE)) {
        const Value least = least_in_warp(gain);
        if (threadIdx.x == 0) region.key = go_on_alone(walk.tasks, visit.field, least, walk.span);
        __syncthreads();
        free = choose(region.key);
    }
    const int next = __ffs(static_cast<int>(free)) - 1;
    key = __shfl_sync(ALL_LANES, gain, max(next, 0));
    return next;
}

/// Goes on to one of the tiles around that have gained, if one is near and nobody waits for it; wakes the others.  Returns
/// whether it does.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ bool go_on(const Walk<Rule> &walk, Region<Rule, AXES, CONNECTIVITY> &region, Visit<Rule> &visit,
                      const typename Region<Rule, AXES, CONNECTIVITY>::Prospect &prospect) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    const int n = threadIdx.x % WARP;
    const Value gain = n < Shape::AROUND ? prospect.gain[n] : Shape::NONE;
    Value key;
    const int next = choose_next(walk, region, visit, prospect, gain, key);
    if (threadIdx.x < WARP) {
        if (gain < Shape::NONE && n != next) {
            const Around<AXES> at(n);
            const uint32_t task = visit.beside(walk.tasks.shape, at.dx, at.dy, at.dz);
            __threadfence();
            if (wake(walk.tasks, visit.field, task, gain)) queue_task(walk.tasks, visit.field, task);
        }
        __syncwarp();  // before anyone looks whether the field has other tasks
    }
    if (next == NOWHERE) return false;
    const Around<AXES> at(next);
    visit.move(walk.tasks.shape, at.dx, at.dy, at.dz, key);
    return true;
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
        for (int turn = 0;; turn = !turn) {
            auto &prospect = region.prospect[turn];
            Holding<Rule, AXES, CONNECTIVITY> holding;
            take_tile(walk, region, visit, prospect, holding);
            __syncthreads();
            shorten(course, region);
            give_tile(walk, course, region, visit, prospect, holding);
            __syncthreads();
            if (!go_on(walk, region, visit, prospect)) break;
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
    constexpr auto WALL = Lengths<typename Rule::Local>::WALL;
    for (int i = threadIdx.x; i < Shape::CELLS; i += Shape::THREADS) region.cells.value[i] = WALL;
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

}  // namespace apsis::cuda::paths
