// A tile of a field in shared memory, and how its lengths become shorter until nothing changes.
//
// Two warps go along each axis of a tile, there and back, layer after layer; a layer is a line in 2-D and a plane in 3-D.  A
// cell is reached from the three or nine cells of the layer before that touch it.  If nothing is in the way, a shortest path
// goes on along one of its axes at every step, and one such sweep finds it.  Otherwise the warps go on until no sweep finds
// anything.  All warps sweep at once, and each only goes on from layers in which something has changed.
//
// A long thin path is followed step by step; so the time of one step counts.  A lane keeps its cells of the layer in registers
// and reads the cells beside them from other lanes.  Meanwhile shared memory may become shorter, never longer.  So a lane may
// offer too much, which an atomic minimum leaves out, but it misses nothing: a lane that makes a cell shorter goes on from it.
// It also checks whether the layer behind, or in 2-D the cells beside, gain by it, and marks their layers.  Other warps go on
// from marked layers in the next round, after a barrier.
//
// Lengths of 64 bits would take twice as long.  If steps are small, a tile holds 32 bits instead, counted from the least value
// that has changed.  Smaller values cannot be shortened, and count as walls.  Far larger values count as unseen, and the tile
// is visited again for them.
//
// The cells around the tile stay walls meanwhile.
#pragma once

#include <type_traits>

#include "cuda/paths/field_tasks.cuh"

namespace apsis::cuda::paths {

/// The value that a cell offers: no less than UNSEEN if it is a wall, or if no path to it is known.
template <class Local>
__device__ Local offered(Local value) {
    using Number = std::make_unsigned_t<Local>;
    return static_cast<Local>(min(static_cast<Number>(value), static_cast<Number>(Lengths<Local>::UNSEEN)));
}

/// The rule of shortest paths: values are lengths, held in a tile as Near.
template <class Path, class Near = Path>
struct ShortestPaths {
    using Value = Path;
    using Length = Path;
    using Local = Near;
    using Step = Near;
    using Cell = Local;
    static constexpr bool HAS_LENGTHS = false;

    template <int CELLS>
    struct TileCells {
        volatile Local value[CELLS];

        __device__ Cell load(int at) const { return value[at]; }
    };
    __device__ static Local value_of(Cell cell) { return cell; }
    __device__ static Cell with(Cell, Local value) { return value; }
    __device__ static Local offer(Local best, Cell from, Step step, Cell) { return min(best, static_cast<Local>(from + step)); }
    /// The cell of another lane; shuffle(number) is that lane's number.
    template <class Shuffle>
    __device__ static Cell of_lane(Cell own, Shuffle shuffle) {
        return shuffle(own);
    }
};

/// The rule of the lowest names along shortest paths: values are names, and lengths are known.
template <class Name, class Path>
struct LowestNames {
    using Value = Name;
    using Length = Path;
    using Local = Name;
    using Step = Path;
    struct Cell {
        Name name;
        Length length;
    };
    static constexpr bool HAS_LENGTHS = true;

    template <int CELLS>
    struct TileCells {
        volatile Name value[CELLS];
        Length length[CELLS];

        __device__ Cell load(int at) const { return {value[at], length[at]}; }
    };
    __device__ static Name value_of(Cell cell) { return cell.name; }
    __device__ static Cell with(Cell cell, Name value) { return {value, cell.length}; }
    __device__ static Name offer(Name best, Cell from, Length step, Cell to) {
        return from.length + step == to.length ? min(best, from.name) : best;
    }
    template <class Shuffle>
    __device__ static Cell of_lane(Cell own, Shuffle shuffle) {
        return {shuffle(own.name), shuffle(own.length)};
    }
};

/// The parameters of a kernel that visits tiles.
template <class Rule>
struct Walk {
    using Value = typename Rule::Value;
    using Length = typename Rule::Length;

    FieldTasks<Value> tasks;
    Value *values;
    const Length *lengths;
    Length step[8];  // by kind
    Value longest;   // larger values are not kept
    Value near_end;  // steps from larger values may be too long
    Value span;      // how far near values reach
    uint32_t *too_long;
    DeviceCondition condition;
    Periodic periodic;
};

/// A tile in shared memory, with a rim of one cell.  Rows and planes are padded so that a warp's cells are in different banks,
/// along whichever axis it goes.
template <class Rule, int AXES, int CONNECTIVITY>
struct SharedTile {
    using Value = typename Rule::Value;
    using Local = typename Rule::Local;
    using Tile = FieldTile<AXES>;
    static constexpr int SIDE = Tile::WIDTH, DEPTH = Tile::DEPTH, WARPS = 2 * AXES, THREADS = WARPS * WARP;
    // A thread has 64 registers, and with long values twice as many.
    static constexpr int BLOCKS_PER_SM = (sizeof(Value) == 4 ? 1024 : 512) / THREADS;
    static constexpr int ROW = SIDE + 3, PLANE = AXES == 2 ? 0 : 116, FACE = SIDE + 2;
    static constexpr int MARGIN = PLANE + ROW + 1;  // beside the rim there are walls too
    static constexpr int CELLS = (AXES == 2 ? ROW : PLANE) * FACE + 2 * MARGIN;
    static constexpr int SIDE_BY_SIDE = 4;  // cells that a thread loads at once
    static constexpr int GROUPS = (Tile::CELLS + THREADS * SIDE_BY_SIDE - 1) / (THREADS * SIDE_BY_SIDE);  // that a thread loads
    static constexpr int AROUND = AXES == 2 ? 9 : 27, ITSELF = AROUND / 2;  // tiles; the middle one is the tile itself
    static constexpr int LANE_CELLS = AXES == 2 ? 1 : SIDE * SIDE / WARP;   // of a layer, side by side along its second axis
    static constexpr bool LOOKS_ASIDE = AXES == 2 && CONNECTIVITY == 2;     // a sweep also checks whether cells beside gain
    static constexpr Value NONE = Lengths<Value>::NONE;

    typename Rule::template TileCells<CELLS> cells;
    // The layers along each axis from which a warp has to go on, by the warp that has marked them; for even and odd rounds.
    alignas(16) uint32_t changed[2][WARPS][WARPS];
    // The tiles around; for even and odd visits, since some warps begin a visit while others end the one before.
    struct NextTiles {
        Value gain[AROUND];  // the least value that a tile gains, or NONE
        uint32_t idle;       // bits: tiles that are not waiting
        Value threshold;     // tiles that wait with less are near
        bool is_alone;       // no other task of the field is in the queue or in work
    } next_tiles[2];
    Value key;  // with which a task was woken, or the threshold of a field with one task

    struct Spot {
        int x, y, z;  // from -1 to SIDE

        __device__ int at() const { return MARGIN + (AXES == 2 ? 0 : z + 1) * PLANE + (y + 1) * ROW + x + 1; }
        /// The cell within its own tile.
        __device__ int cell() const { return ((z & (DEPTH - 1)) * SIDE + (y & (SIDE - 1))) * SIDE + (x & (SIDE - 1)); }
    };
    __device__ static Spot inner(int i) { return {i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)}; }
    /// The cells around a tile that touch only its edges: in 2-D the 4 corners, in 3-D 12 edges and 8 corners.
    static constexpr int EDGES = AXES == 2 ? 4 : 12 * SIDE + 8;
    __device__ static Spot edge(int i) {
        const auto end = [](int bits, int bit) { return bits >> bit & 1 ? SIDE : -1; };
        if (AXES == 2) return {end(i, 0), end(i, 1), 0};
        if (i >= 12 * SIDE) return {end(i, 0), end(i, 1), end(i, 2)};
        const int along = i % SIDE, bits = i / SIDE % 4, axis = i / (4 * SIDE);
        if (axis == 0) return {along, end(bits, 0), end(bits, 1)};
        return axis == 1 ? Spot{end(bits, 0), along, end(bits, 1)} : Spot{end(bits, 0), end(bits, 1), along};
    }
    /// A lane's first cell in a layer along an axis.  Its LANE_CELLS cells lie side by side along the second axis of the layer.
    __device__ static Spot first_of_lane(int axis, int layer) {
        const int lane = threadIdx.x % WARP, i = lane % SIDE, j = lane / SIDE * LANE_CELLS;
        return {axis == 0 ? layer : i, axis == 0 ? i : axis == 1 ? layer : j, axis == 2 ? layer : j};
    }

    static constexpr __device__ int stride(int axis) { return axis == 0 ? 1 : axis == 1 ? ROW : PLANE; }
};

/// How a warp goes through a tile.
template <class Rule, int AXES, int CONNECTIVITY>
struct SweepPath {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    using Step = typename Rule::Step;
    int axis;
    bool is_back;       // layer after layer, forward or back
    int start, stride;  // a lane's first cell of the first layer; from layer to layer
    int second;         // from cell to cell of a lane
    Step step[4];       // to the next layer: straight, also along its first axis, also along its second, or both
    Step aside;         // along the first axis of a layer

    __device__ explicit SweepPath(const Walk<Rule> &walk) {
        axis = threadIdx.x / WARP / 2;
        is_back = threadIdx.x / WARP % 2;
        start = Shared::first_of_lane(axis, is_back ? Shared::SIDE - 1 : 0).at();
        stride = (is_back ? -1 : 1) * Shared::stride(axis);
        second = AXES == 2 ? 0 : Shared::stride(axis == 2 ? 1 : 2);
        const int kind = 1 << axis, along = axis == 0 ? 2 : 1;
        step[0] = static_cast<Step>(walk.step[kind]);
        step[1] = static_cast<Step>(walk.step[kind | along]);
        step[2] = static_cast<Step>(walk.step[7 & ~along]);
        step[3] = static_cast<Step>(walk.step[7]);
        aside = static_cast<Step>(walk.step[along]);
    }
    /// Bits by number along the axis become bits in the order of the sweep, and back.
    __device__ uint32_t in_order(uint32_t layers) const { return is_back ? __brev(layers) >> (32 - Shared::SIDE) : layers; }
    /// Loads a lane's cells of a layer, from the first one on.
    __device__ void load(const Shared &shared, int at, typename Rule::Cell (&own)[Shared::LANE_CELLS]) const {
#pragma unroll
        for (int k = 0; k < Shared::LANE_CELLS; ++k) own[k] = shared.cells.load(at + k * second);
    }
};

/// Warp: a lane's view of a layer: its own cells, and the cells of other lanes that touch them.  Beyond an end of the layer it
/// has copies of its own cells instead of walls; these offer nothing that the cells do not offer themselves.
template <class Rule, int AXES, int CONNECTIVITY>
struct Layer {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    using Cell = typename Rule::Cell;
    using Local = typename Rule::Local;
    static constexpr int REACH_FIRST = CONNECTIVITY > 1, REACH_SECOND = AXES == 3 ? REACH_FIRST : 0, COUNT = Shared::LANE_CELLS;
    Cell cell[COUNT + 2 * REACH_SECOND][1 + 2 * REACH_FIRST];

    __device__ explicit Layer(const Cell (&own)[COUNT]) {
#pragma unroll
        for (int j = 0; j < COUNT; ++j)
            cell[j + REACH_SECOND][REACH_FIRST] = Rule::with(own[j], offered(Rule::value_of(own[j])));
        if constexpr (REACH_SECOND) {
            cell[0][REACH_FIRST] = from_before<Shared::SIDE, WARP>(cell[COUNT][REACH_FIRST]);
            cell[COUNT + 1][REACH_FIRST] = from_behind<Shared::SIDE, WARP>(cell[1][REACH_FIRST]);
        }
        if constexpr (REACH_FIRST) {
            constexpr int CORNERS = CONNECTIVITY == AXES ? 0 : REACH_SECOND;
#pragma unroll
            for (int j = CORNERS; j < COUNT + 2 * REACH_SECOND - CORNERS; ++j) {
                cell[j][0] = from_before<1, Shared::SIDE>(cell[j][1]);
                cell[j][2] = from_behind<1, Shared::SIDE>(cell[j][1]);
            }
        }
    }
    /// The cell of the lane BY before this one, or behind it, in a group of WIDTH lanes; beyond the group, its own.
    template <int BY, int WIDTH>
    __device__ static Cell from_before(Cell own) {
        return Rule::of_lane(own, [](auto number) { return __shfl_up_sync(ALL_LANES, number, BY, WIDTH); });
    }
    template <int BY, int WIDTH>
    __device__ static Cell from_behind(Cell own) {
        return Rule::of_lane(own, [](auto number) { return __shfl_down_sync(ALL_LANES, number, BY, WIDTH); });
    }

    /// The value that a lane's k-th cell gets in the next layer, or in the one behind: both are offered the same.
    __device__ Local best(const SweepPath<Rule, AXES, CONNECTIVITY> &path, int k, Cell to) const {
        Local best = Rule::offer(Lengths<Local>::UNSEEN, cell[k + REACH_SECOND][REACH_FIRST], path.step[0], to);
#pragma unroll
        for (int j = -REACH_SECOND; j <= REACH_SECOND; ++j)
#pragma unroll
            for (int i = -REACH_FIRST; i <= REACH_FIRST; ++i)
                if ((i || j) && (i != 0) + (j != 0) < CONNECTIVITY)
                    best =
                        Rule::offer(best, cell[k + j + REACH_SECOND][i + REACH_FIRST], path.step[(i != 0) + 2 * (j != 0)], to);
        return min(best, Rule::value_of(to));
    }
    /// Whether a lane's own cell gains from the cells beside it.
    __device__ bool gains_aside(const SweepPath<Rule, AXES, CONNECTIVITY> &path, Cell own) const {
        const Local least = Rule::value_of(own);
        return Rule::offer(Rule::offer(least, cell[0][0], path.aside, own), cell[0][2], path.aside, own) < least;
    }
};

/// The rows that have bits, of the cells of a warp with SIDE columns a row; rows are BY apart in the result.
template <int SIDE, int BY>
__device__ uint32_t rows_of(uint32_t cells) {
    if (SIDE == WARP) return cells != 0;
    cells |= cells >> 4;
    cells |= cells >> 2;
    cells = (cells | cells >> 1) & 0x01010101;
    return (cells | cells >> (8 - BY) | cells >> 2 * (8 - BY) | cells >> 3 * (8 - BY)) & (BY == 1 ? 0x0f : 0x55);
}
/// The same for columns.
template <int SIDE>
__device__ uint32_t columns_of(uint32_t cells) {
    if (SIDE == WARP) return cells;
    cells |= cells >> 16;
    return (cells | cells >> 8) & 0xff;
}

/// Warp: marks the layers along each axis from which the other warps, but not warp `but`, go on in a round.  Once a round.
template <class Shared>
__device__ void mark_layers(Shared &shared, int round, const uint32_t (&layers)[3], int but) {
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t own = lane < 2 ? layers[0] : lane < 4 ? layers[1] : layers[2];
    if (lane < Shared::WARPS) shared.changed[round % 2][lane][warp] = lane == but ? 0 : own;
}
/// The layers that all warps have marked for this one.
template <class Shared>
__device__ uint32_t marked_layers(const Shared &shared, int round) {
    uint32_t layers = 0;
#pragma unroll
    for (int warp = 0; warp < Shared::WARPS; ++warp) layers |= shared.changed[round % 2][threadIdx.x / WARP][warp];
    return layers;
}

/// The layers in which a lane has found something, as bits.
template <int CELLS>
struct SweepGains {
    uint32_t kept[CELLS] = {};  // each of its cells has made the next one shorter
    uint32_t aside = 0;         // a cell gains from those beside it
    uint32_t behind = 0;        // the layer behind gains
};

/// Warp: sweeps from the first of some layers as long as it finds something, or comes to another of the layers.  Returns the
/// layers that are left.
///
/// A step waits for nothing but the step before.  The cells ahead are loaded one step early.  Shorter values are written in the
/// next step, while it waits for other lanes.  The vote whether to go on is counted one step late.  Where no value is shorter,
/// the atomic minimum is done all the same: deciding would take more time.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ uint32_t sweep_from(const SweepPath<Rule, AXES, CONNECTIVITY> &path, SharedTile<Rule, AXES, CONNECTIVITY> &shared,
                               uint32_t rest, SweepGains<SharedTile<Rule, AXES, CONNECTIVITY>::LANE_CELLS> &gains) {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    using Local = typename Rule::Local;
    constexpr int COUNT = Shared::LANE_CELLS;
    constexpr uint32_t ALL_LAYERS = ~0u >> (32 - Shared::SIDE);
    uint32_t layer = rest & -rest;  // its bit
    int at = path.start + (__ffs(static_cast<int>(rest)) - 1) * path.stride;
    typename Rule::Cell before[COUNT], own[COUNT], next[COUNT], after[COUNT];
    bool is_kept[COUNT] = {};
    const auto keep = [&] {
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            Local *const value = const_cast<Local *>(&shared.cells.value[at + k * path.second]);
            // Other warps sweep over the cell too.
            if (is_kept[k] || (AXES == 2 && sizeof(Local) == 4)) atomic_min(value, Rule::value_of(own[k]));
        }
    };
    path.load(shared, at - path.stride, before);
    path.load(shared, at, own);
    path.load(shared, at + path.stride, next);
    uint32_t vote = ALL_LANES, vote_before;
    do {
        path.load(shared, at + 2 * path.stride, after);
        const Layer<Rule, AXES, CONNECTIVITY> from(own);
        keep();
        bool has_kept = false;
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            const Local best = from.best(path, k, next[k]);
            is_kept[k] = best < Rule::value_of(next[k]);
            has_kept |= is_kept[k];
            if (is_kept[k]) gains.kept[k] |= layer;
            if (from.best(path, k, before[k]) < Rule::value_of(before[k])) gains.behind |= layer;
            if (Shared::LOOKS_ASIDE && from.gains_aside(path, own[k])) gains.aside |= layer;
            before[k] = own[k];
            own[k] = Rule::with(next[k], best);
            next[k] = after[k];
        }
        vote_before = vote;
        vote = __ballot_sync(ALL_LANES, has_kept);
        layer <<= 1;
        at += path.stride;
    } while (layer & ALL_LAYERS && (vote_before || rest & layer));
    keep();
    if (vote) rest |= layer;
    return rest & -layer & ALL_LAYERS;
}

/// Warp: sweeps from the marked layers.  Returns whether there are layers from which other warps have to go on.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ bool sweep(const SweepPath<Rule, AXES, CONNECTIVITY> &path, SharedTile<Rule, AXES, CONNECTIVITY> &shared,
                      int round) {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    SweepGains<Shared::LANE_CELLS> gains;
    for (uint32_t rest = path.in_order(marked_layers(shared, round)); rest;) rest = sweep_from(path, shared, rest, gains);
    uint32_t cells = 0, rows = 0;
#pragma unroll
    for (int k = 0; k < Shared::LANE_CELLS; ++k) {
        const uint32_t kept = __ballot_sync(ALL_LANES, gains.kept[k] != 0);
        cells |= kept;
        rows |= rows_of<Shared::SIDE, Shared::LANE_CELLS>(kept) << k;
    }
    uint32_t columns = columns_of<Shared::SIDE>(cells);
    if constexpr (Shared::LOOKS_ASIDE) {
        const uint32_t aside = __ballot_sync(ALL_LANES, gains.aside != 0);
        columns = aside << 1 | aside >> 1;
        rows = 0;
    }
    const uint32_t behind = path.in_order(any_of_warp(gains.behind));
    const uint32_t layers[3] = {path.axis == 0 ? behind : columns,
                                path.axis == 0   ? columns
                                : path.axis == 1 ? behind
                                                 : rows,
                                path.axis == 2 ? behind : rows};
    mark_layers(shared, round + 1, layers, threadIdx.x / WARP);
    return cells && (columns | rows | behind);
}

/// Warp: the least values offered to the cells beyond the face that the warp sweeps to.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void offer_beyond(const SweepPath<Rule, AXES, CONNECTIVITY> &path,
                             const SharedTile<Rule, AXES, CONNECTIVITY> &shared,
                             typename Rule::Local (&best)[SharedTile<Rule, AXES, CONNECTIVITY>::LANE_CELLS]) {
    using Shared = SharedTile<Rule, AXES, CONNECTIVITY>;
    const int last = path.start + (Shared::SIDE - 1) * path.stride;
    typename Rule::Cell own[Shared::LANE_CELLS], beyond[Shared::LANE_CELLS];
    path.load(shared, last, own);
    path.load(shared, last + path.stride, beyond);
    const Layer<Rule, AXES, CONNECTIVITY> from(own);
#pragma unroll
    for (int k = 0; k < Shared::LANE_CELLS; ++k)
        best[k] = from.best(path, k, Rule::with(beyond[k], Lengths<typename Rule::Local>::UNSEEN));
}

/// Block: sweeps in rounds, until no warp finds anything.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void shorten(const SweepPath<Rule, AXES, CONNECTIVITY> &path, SharedTile<Rule, AXES, CONNECTIVITY> &shared) {
    int round = 0;
    while (__syncthreads_or(sweep(path, shared, round))) ++round;
}

}  // namespace apsis::cuda::paths
