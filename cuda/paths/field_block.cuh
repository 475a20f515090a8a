// A block's work on a task: it loads a tile, shortens its lengths until nothing changes, and passes shorter lengths on to its
// neighbours.
//
// When nothing changes any more, the cells around the tile are reached like others; lengths that become shorter there are
// passed on to their tiles.  If one of these tiles is near and not waiting yet, the block goes on with it at once; the others
// are woken.
#pragma once

#include "cuda/paths/field_tile.cuh"

namespace apsis::cuda::paths {

constexpr int NOWHERE = -1;

/// The largest value, counted from its base, that a tile holds, so that no path through its cells is too long; and the longest
/// step for which values are counted from a base.
constexpr int32_t LARGEST_LOCAL = Lengths<int32_t>::LONGEST / 2, LARGEST_LOCAL_STEP = 1 << 18;
static_assert(int64_t(FieldTile<2>::CELLS) * LARGEST_LOCAL_STEP <= LARGEST_LOCAL, "");

/// The thread's number.  The compiler may not keep numbers computed from it from one visit to the next: that would take too
/// many registers.
__device__ inline int this_thread() {
    int thread = threadIdx.x;
    asm volatile("" : "+r"(thread));
    return thread;
}

/// The task that a block works on, and its neighbours.
template <class Rule>
struct TileVisit {
    using Value = typename Rule::Value;
    uint32_t task, field, x, y, z;  // where the tile lies among tiles
    Value key;                      // only values from here on have changed, or begin

    __device__ TileVisit(const Walk<Rule> &walk, uint32_t task, Value key)
        : task(task),
          field(field_of(walk.tasks, task)),
          key(key) {
        const FieldShape &shape = walk.tasks.shape;
        const uint32_t tile = task - field * static_cast<uint32_t>(shape.tiles()), line = tile / shape.across;
        x = tile - line * shape.across;
        y = line % shape.down;
        z = line / shape.down;
    }
    __device__ bool has(const FieldShape &shape, int dx, int dy, int dz) const {
        return x + dx < shape.across && y + dy < shape.down && z + dz < shape.deep;  // unsigned: -1 is large
    }
    /// The task of a neighbour in the same field.
    __device__ uint32_t beside(const FieldShape &shape, int dx, int dy, int dz) const {
        return task + dx + (dy + dz * static_cast<int>(shape.down)) * static_cast<int>(shape.across);
    }
    /// Goes on to a neighbour.
    __device__ void move(const FieldShape &shape, int dx, int dy, int dz, Value with) {
        task = beside(shape, dx, dy, dz);
        x += dx, y += dy, z += dz;
        key = with;
    }
};

/// The n-th of the tiles around one, itself among them, lies at (dx, dy, dz).
template <int AXES>
struct NeighbourOffset {
    int dx, dy, dz;

    __device__ explicit NeighbourOffset(int n) : dx(n % 3 - 1), dy(n / 3 % 3 - 1), dz(AXES == 2 ? 0 : n / 9 - 1) {}
};

template <class Value>
__device__ FourCells<Value> read_four(const Value *from) {
    FourCells<Value> four;
#pragma unroll
    for (size_t i = 0; i < sizeof four / sizeof(uint4); ++i)
        reinterpret_cast<uint4 *>(&four)[i] = __ldcg(reinterpret_cast<const uint4 *>(from) + i);
    return four;
}

/// The values of a thread's cells, in the tile and around it, when it was loaded.
template <class Rule, int AXES, int CONNECTIVITY>
struct LoadedCells {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    FourCells<typename Rule::Local> own[Shared::GROUPS];
    Value face[Shared::LANE_CELLS], edge;
    Value least_too_large;  // the least value that is too large to be counted, or NONE
};

/// Block: calls body(k, first cell of the tile, spot) for the cells of the tile, a thread some side by side.
template <class Shared, class Body>
__device__ void for_own_cells(Body body) {
    const int thread = this_thread();
#pragma unroll
    for (int k = 0; k < Shared::GROUPS; ++k) {
        const int i = (k * Shared::THREADS + thread) * Shared::SIDE_BY_SIDE;
        if (i < Shared::Tile::CELLS) body(k, i, Shared::inner(i));
    }
}

/// Calls body(cell of the field, number of its tile among those around) for a spot outside the tile, if that lies in a tile.
template <class Shared, class Rule, class Body>
__device__ void with_neighbour(const FieldShape &shape, const TileVisit<Rule> &visit, const typename Shared::Spot &spot,
                               Body body) {
    const auto side = [](int at) { return at < 0 ? -1 : at >= Shared::SIDE; };
    const int dx = side(spot.x), dy = side(spot.y), dz = Shared::DEPTH == 1 ? 0 : side(spot.z);
    if (!visit.has(shape, dx, dy, dz)) return;
    body(int64_t(visit.beside(shape, dx, dy, dz)) * Shared::Tile::CELLS + spot.cell(),
         dx + 1 + 3 * (dy + 1) + (Shared::DEPTH == 1 ? 0 : 9 * (dz + 1)));
}

/// Block: calls body(spot, cell of the field, number of its tile, k) for the cells around the tile: a thread's k-th cell beyond
/// the face that its warp sweeps to, or with k = -1 its cell beyond an edge.
template <class Shared, class Rule, class Body>
__device__ void for_rim_cells(const FieldShape &shape, const TileVisit<Rule> &visit, Body body) {
    const int thread = this_thread();
    const int axis = thread / WARP / 2, layer = thread / WARP % 2 ? -1 : Shared::SIDE;
#pragma unroll
    for (int k = 0; k < Shared::LANE_CELLS; ++k) {
        typename Shared::Spot spot = Shared::first_of_lane(axis, layer);
        (axis == 2 ? spot.y : spot.z) += k;
        with_neighbour<Shared>(shape, visit, spot, [&](int64_t cell, int around) { body(spot, cell, around, k); });
    }
    if (thread >= Shared::EDGES) return;
    const auto spot = Shared::edge(thread);
    with_neighbour<Shared>(shape, visit, spot, [&](int64_t cell, int around) { body(spot, cell, around, -1); });
}

/// Values as a tile holds them: as they are, or counted from the least that has changed.
template <class Rule, bool IS_COUNTED = sizeof(typename Rule::Local) < sizeof(typename Rule::Value)>
struct LocalValues {
    using Value = typename Rule::Value;
    using Local = typename Rule::Local;
    Value base;

    __device__ explicit LocalValues(Value key) : base(IS_COUNTED ? key : 0) {}
    __device__ Value value_of(Local local) const { return base + local; }
    __device__ Local local_of(Value value) const {
        if (!IS_COUNTED) return static_cast<Local>(value);
        if (value < base) return Lengths<Local>::WALL;
        return is_too_large(value) ? Lengths<Local>::UNSEEN : static_cast<Local>(value - base);
    }
    /// Whether a value is too large to be counted.
    __device__ bool is_too_large(Value value) const { return IS_COUNTED && value >= base && value - base > LARGEST_LOCAL; }
};

/// Warp, the first of a block: reads which tiles around may be next; they have gained nothing yet.
template <class Rule, class NextTiles>
__device__ void read_neighbours(const Walk<Rule> &walk, const TileVisit<Rule> &visit, NextTiles &next_tiles) {
    constexpr auto NONE = Lengths<typename Rule::Value>::NONE;
    constexpr int AROUND = sizeof next_tiles.gain / sizeof *next_tiles.gain, AXES = AROUND == 9 ? 2 : 3;
    const int n = threadIdx.x;
    const NeighbourOffset<AXES> at(n);
    const auto &field = walk.tasks.field[visit.field];
    const FieldShape &shape = walk.tasks.shape;
    bool is_idle = false;
    if (n < AROUND && visit.has(shape, at.dx, at.dy, at.dz))
        is_idle = __ldcg(walk.tasks.pending + visit.beside(shape, at.dx, at.dy, at.dz)) == NONE;
    const uint32_t idle = __ballot_sync(ALL_LANES, is_idle);
    if (n < AROUND) next_tiles.gain[n] = NONE;
    if (n > 0) return;
    next_tiles.idle = idle;
    next_tiles.threshold = __ldcg(&field.threshold);
    next_tiles.is_alone = __ldcg(&field.busy) == 1;
}

/// Block: loads a tile, and marks the layers from which sweeps begin.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void load_tile(const Walk<Rule> &walk, SharedTile<Rule, AXES, CONNECTIVITY> &shared, const TileVisit<Rule> &visit,
                          typename SharedTile<Rule, AXES, CONNECTIVITY>::NextTiles &next_tiles,
                          LoadedCells<Rule, AXES, CONNECTIVITY> &loaded) {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    using Local = typename Rule::Local;
    const FieldShape &shape = walk.tasks.shape;
    const LocalValues<Rule> locals(visit.key);
    FourCells<Value> own[Shared::GROUPS];
    for_own_cells<Shared>([&](int k, int i, auto spot) {
        const int64_t cell = int64_t(visit.task) * Shared::Tile::CELLS + i;
        own[k] = read_four(walk.values + cell);
        if constexpr (Rule::HAS_LENGTHS)
            for (int c = 0; c < Shared::SIDE_BY_SIDE; ++c) shared.cells.length[spot.at() + c] = __ldg(walk.lengths + cell + c);
    });
    for_rim_cells<Shared>(shape, visit, [&](auto spot, int64_t cell, int, int k) {
        (k < 0 ? loaded.edge : loaded.face[k < 0 ? 0 : k]) = __ldcg(walk.values + cell);
        if constexpr (Rule::HAS_LENGTHS) shared.cells.length[spot.at()] = __ldg(walk.lengths + cell);
    });
    if (threadIdx.x < WARP) read_neighbours(walk, visit, next_tiles);
    loaded.least_too_large = Shared::NONE;
    uint32_t layers[3] = {0, 0, 0};
    for_own_cells<Shared>([&](int k, int, auto spot) {
        uint32_t changed = 0;
#pragma unroll
        for (int c = 0; c < Shared::SIDE_BY_SIDE; ++c) {
            const Value value = own[k].of[c];
            const Local local = loaded.own[k].of[c] = locals.local_of(value);
            shared.cells.value[spot.at() + c] = local;
            if (value < visit.key || value > walk.longest) continue;
            if (locals.is_too_large(value))
                loaded.least_too_large = min(loaded.least_too_large, value);
            else
                changed |= 1u << c;
        }
        layers[0] |= changed << spot.x;
        layers[1] |= uint32_t(changed != 0) << spot.y;
        layers[2] |= uint32_t(changed != 0) << spot.z;
    });
    for (int axis = 0; axis < AXES; ++axis) layers[axis] = any_of_warp(layers[axis]);
    mark_layers(shared, 0, layers, Shared::WARPS);
}

/// The least value that the tile offers to a cell beyond an edge.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ typename Rule::Local best_beyond_edge(const Walk<Rule> &walk, const SharedTile<Rule, AXES, CONNECTIVITY> &shared,
                                                 const typename SharedTile<Rule, AXES, CONNECTIVITY>::Spot &spot) {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    typename Rule::Local best = Lengths<typename Rule::Local>::UNSEEN;
    const auto inward = [](int at) { return at < 0 ? 1 : at >= Shared::SIDE ? -1 : 0; };
    const int dx = inward(spot.x), dy = inward(spot.y), dz = AXES == 2 ? 0 : inward(spot.z), to = spot.at();
    const int from = to + dx * Shared::stride(0) + dy * Shared::stride(1) + dz * Shared::stride(2), kind = kind_of(dx, dy, dz);
    if (CONNECTIVITY == 1 || (CONNECTIVITY == 2 && kind == 7)) return best;
    const auto beyond = shared.cells.load(to);
    const auto offer = [&](int from, int kind) {
        const auto cell = shared.cells.load(from);
        best = Rule::offer(best, Rule::with(cell, offered(Rule::value_of(cell))),
                           static_cast<typename Rule::Step>(walk.step[kind]), beyond);
    };
    offer(from, kind);
    if (CONNECTIVITY < 3 || kind == 7) return best;
    const int along = Shared::stride(dx == 0 ? 0 : dy == 0 ? 1 : 2);
    offer(from - along, 7);
    offer(from + along, 7);
    return best;
}

/// Lowers a cell of the field; returns its value before.
template <class Rule>
__device__ typename Rule::Value lower_cell(const Walk<Rule> &walk, int64_t cell, typename Rule::Value value) {
    if (value > walk.near_end) *walk.too_long = 1;
    return atomic_min(walk.values + cell, value);
}

/// Block: writes the cells that have become shorter, in the tile and around it, and notes what the tiles around gain.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void store_tile(const Walk<Rule> &walk, const SweepPath<Rule, AXES, CONNECTIVITY> &path,
                           SharedTile<Rule, AXES, CONNECTIVITY> &shared, const TileVisit<Rule> &visit,
                           typename SharedTile<Rule, AXES, CONNECTIVITY>::NextTiles &next_tiles,
                           const LoadedCells<Rule, AXES, CONNECTIVITY> &loaded) {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    using Local = typename Rule::Local;
    const LocalValues<Rule> locals(visit.key);
    if (loaded.least_too_large < Shared::NONE) atomic_min(&next_tiles.gain[Shared::ITSELF], loaded.least_too_large);
    Local face[Shared::LANE_CELLS];
    offer_beyond(path, shared, face);
    for_rim_cells<Shared>(walk.tasks.shape, visit, [&](auto spot, int64_t cell, int around, int k) {
        const Local best = k < 0 ? best_beyond_edge(walk, shared, spot) : face[k < 0 ? 0 : k];
        if (best >= Lengths<Local>::UNSEEN) return;
        const Value value = locals.value_of(best), before = k < 0 ? loaded.edge : loaded.face[k < 0 ? 0 : k];
        if (value > walk.longest || value >= before) return;
        if (value < lower_cell(walk, cell, value)) atomic_min(&next_tiles.gain[around], value);
    });
    FourCells<Local> own[Shared::GROUPS];
    for_own_cells<Shared>([&](int k, int, auto spot) {
#pragma unroll
        for (int c = 0; c < Shared::SIDE_BY_SIDE; ++c) own[k].of[c] = shared.cells.value[spot.at() + c];
    });
    for_own_cells<Shared>([&](int k, int i, auto) {
#pragma unroll
        for (int c = 0; c < Shared::SIDE_BY_SIDE; ++c) {
            const Value value = locals.value_of(own[k].of[c]);
            if (own[k].of[c] < loaded.own[k].of[c] && value <= walk.longest)
                lower_cell(walk, int64_t(visit.task) * Shared::Tile::CELLS + i + c, value);
        }
    });
}

/// Whether a tile has cells at a seam of the image.
template <class Rule>
__device__ bool is_at_seam(const Walk<Rule> &walk, const TileVisit<Rule> &visit) {
    const FieldShape &shape = walk.tasks.shape;
    const auto is_at = [&](int axis, uint32_t tile, uint32_t tiles) {
        return walk.periodic.along[axis] && (tile == 0 || tile + 1 == tiles);
    };
    return is_at(0, visit.x, shape.across) || is_at(1, visit.y, shape.down) || is_at(2, visit.z, shape.deep);
}

/// Offers the value of a cell of a field to the cells across the seams of the image, and wakes the tiles of those that gain.
/// Returns whether there are any.
template <class Rule>
__device__ bool offer_across(const Walk<Rule> &walk, uint32_t field, int64_t cell) {
    using Value = typename Rule::Value;
    const FieldShape &shape = walk.tasks.shape;
    const int64_t first = int64_t(field) * shape.cells();
    const FieldShape::Place at = shape.place_of(cell - first);
    const Value value = __ldcg(walk.values + cell);
    bool has_gained = false;
    if (!shape.holds(at) || offered(value) >= Lengths<Value>::UNSEEN) return false;
#pragma unroll 1
    for (int n = 0; n < 27; ++n) {
        const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1;
        const auto step = walk.step[kind_of(dx, dy, dz)];
        const int64_t x = walk.periodic.wrap(0, at.x + dx, shape.width), y = walk.periodic.wrap(1, at.y + dy, shape.height),
                      z = walk.periodic.wrap(2, at.z + dz, shape.depth);
        const bool crosses = x != at.x + dx || y != at.y + dy || z != at.z + dz;
        if (step == 0 || !crosses || x < 0 || y < 0 || z < 0) continue;
        const int64_t to = first + shape.cell_of(x, y, z);
        Value offer = value;
        if constexpr (Rule::HAS_LENGTHS) {
            if (walk.lengths[cell] + step != walk.lengths[to]) continue;
        } else {
            offer += step;
        }
        if (offer > walk.longest || offer >= __ldcg(walk.values + to) || offer >= lower_cell(walk, to, offer)) continue;
        __threadfence();
        const uint32_t task = static_cast<uint32_t>(to / shape.tile_cells());
        if (wake(walk.tasks, field, task, offer)) queue_task(walk.tasks, field, task);
        has_gained = true;
    }
    return has_gained;
}

/// Block: the same for all cells of a tile that has been stored.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void cross_seams(const Walk<Rule> &walk, const TileVisit<Rule> &visit,
                            typename SharedTile<Rule, AXES, CONNECTIVITY>::NextTiles &next_tiles) {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    for (int i = this_thread(); i < Shared::Tile::CELLS; i += Shared::THREADS)
        if (offer_across(walk, visit.field, int64_t(visit.task) * Shared::Tile::CELLS + i)) next_tiles.is_alone = false;
    __syncthreads();
}

/// Block: the neighbouring tile with which it goes on, and the key of that; or NOWHERE.  All warps find the same.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ int choose_next(const Walk<Rule> &walk, SharedTile<Rule, AXES, CONNECTIVITY> &shared, const TileVisit<Rule> &visit,
                           const typename SharedTile<Rule, AXES, CONNECTIVITY>::NextTiles &next_tiles,
                           typename Rule::Value gain, typename Rule::Value &key) {
    using Value = typename Rule::Value;
    const auto choose = [&](Value threshold) {
        return __ballot_sync(ALL_LANES, gain < threshold && next_tiles.idle >> threadIdx.x % WARP & 1);
    };
    uint32_t free = choose(next_tiles.threshold);
    if (!free && next_tiles.is_alone && __any_sync(ALL_LANES, gain < Lengths<Value>::NONE)) {
        const Value least = least_of_warp(gain);
        if (threadIdx.x == 0) shared.key = continue_alone(walk.tasks, visit.field, least, walk.span);
        __syncthreads();
        free = choose(shared.key);
    }
    const int next = __ffs(static_cast<int>(free)) - 1;
    key = __shfl_sync(ALL_LANES, gain, max(next, 0));
    return next;
}

/// Block: goes on to a tile that has gained, if one is near and not waiting; wakes the others.  Returns whether it goes on.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ bool move_on(const Walk<Rule> &walk, SharedTile<Rule, AXES, CONNECTIVITY> &shared, TileVisit<Rule> &visit,
                        const typename SharedTile<Rule, AXES, CONNECTIVITY>::NextTiles &next_tiles) {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    const int n = threadIdx.x % WARP;
    const Value gain = n < Shared::AROUND ? next_tiles.gain[n] : Shared::NONE;
    Value key;
    const int next = choose_next(walk, shared, visit, next_tiles, gain, key);
    if (threadIdx.x < WARP) {
        if (gain < Shared::NONE && n != next) {
            const NeighbourOffset<AXES> at(n);
            const uint32_t task = visit.beside(walk.tasks.shape, at.dx, at.dy, at.dz);
            __threadfence();
            if (wake(walk.tasks, visit.field, task, gain)) queue_task(walk.tasks, visit.field, task);
        }
        __syncwarp();  // before checking whether the field has other tasks
    }
    if (next == NOWHERE) return false;
    const NeighbourOffset<AXES> at(next);
    visit.move(walk.tasks.shape, at.dx, at.dy, at.dz, key);
    return true;
}

/// Block: works on a task, and on the tiles that follow from it, until there is none left for it.
template <class Rule, int AXES, int CONNECTIVITY, bool CLOSES>
__device__ void process_task(const Walk<Rule> &walk, SharedTile<Rule, AXES, CONNECTIVITY> &shared, uint32_t task) {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    const SweepPath<Rule, AXES, CONNECTIVITY> path(walk);
    while (task != NO_TASK) {
        if (threadIdx.x == 0) {
            shared.key = atomic_exchange(walk.tasks.pending + task, Shared::NONE);
            __threadfence();
        }
        __syncthreads();
        TileVisit<Rule> visit(walk, task, shared.key);
        for (int turn = 0;; turn = !turn) {
            auto &next_tiles = shared.next_tiles[turn];
            LoadedCells<Rule, AXES, CONNECTIVITY> loaded;
            load_tile(walk, shared, visit, next_tiles, loaded);
            __syncthreads();
            shorten(path, shared);
            store_tile(walk, path, shared, visit, next_tiles, loaded);
            __syncthreads();
            if (CLOSES && is_at_seam(walk, visit)) cross_seams<Rule, AXES, CONNECTIVITY>(walk, visit, next_tiles);
            if (!move_on(walk, shared, visit, next_tiles)) break;
        }
        task = leave_field<typename Rule::Value, Shared::THREADS>(walk.tasks, visit.field, walk.span);
    }
}

/// Blocks take tasks until nothing waits.  CLOSES: whether the image closes on itself.  Other images have kernels of their own,
/// which keep more in registers.
template <class Rule, int AXES, int CONNECTIVITY, bool CLOSES>
__global__ void __launch_bounds__(SharedTile<Rule, AXES, CONNECTIVITY>::THREADS,
                                  SharedTile<Rule, AXES, CONNECTIVITY>::BLOCKS_PER_SM) walk_tiles(Walk<Rule> walk) {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    __shared__ Shared shared;
    if (!walk.condition.holds()) return;
    constexpr auto WALL = Lengths<typename Rule::Local>::WALL;
    for (int i = threadIdx.x; i < Shared::CELLS; i += Shared::THREADS) shared.cells.value[i] = WALL;
    bool all_begun = false;
    for (;;) {
        const uint32_t task = next_task<typename Rule::Value, Shared::THREADS>(walk.tasks, all_begun, walk.span);
        if (task == LEAVE) return;
        process_task<Rule, AXES, CONNECTIVITY, CLOSES>(walk, shared, task);
    }
}

/// As many blocks as the device runs at once: otherwise blocks that wait might hold the places that others need to end their
/// tasks.
template <bool CLOSES, class Rule, int AXES, int CONNECTIVITY>
void launch_walk(const Walk<Rule> &walk, cudaStream_t stream) {
    constexpr int THREADS = SharedTile<Rule, AXES, CONNECTIVITY>::THREADS;
    const auto kernel = walk_tiles<Rule, AXES, CONNECTIVITY, CLOSES>;
    const int64_t blocks = std::min({walk.tasks.tasks(), resident_blocks(kernel, THREADS), MOST_RESIDENT});
    launch("walk_tiles", kernel, blocks, THREADS, stream, walk);
}

template <bool CLOSES, class Rule>
void launch_walk(const Walk<Rule> &walk, int connectivity, cudaStream_t stream) {
    if (walk.tasks.shape.axes == 2)
        connectivity == 1 ? launch_walk<CLOSES, Rule, 2, 1>(walk, stream) : launch_walk<CLOSES, Rule, 2, 2>(walk, stream);
    else if (connectivity == 1)
        launch_walk<CLOSES, Rule, 3, 1>(walk, stream);
    else
        connectivity == 2 ? launch_walk<CLOSES, Rule, 3, 2>(walk, stream) : launch_walk<CLOSES, Rule, 3, 3>(walk, stream);
}

/// For images that close on themselves (field_closed.cu).
template <class Rule>
void run_closed_walk(const Walk<Rule> &walk, int connectivity, cudaStream_t stream);

}  // namespace apsis::cuda::paths
