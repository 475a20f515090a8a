// A tile of a field in shared memory, and how its lengths become shorter until nothing changes.
//
// Of a tile two warps go along each axis, there and back, layer after layer, which are lines or planes: a cell is reached
// from the three cells, or nine, of the layer before that touch it.  A shortest path where nothing is in the way goes on
// along one of its axes at every step, so that one such sweep finds it; where something is, they go on until none finds
// anything.  All sweep at once, and each only goes on from layers in which something has changed.
//
// The cells around the tile stay walls meanwhile.
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
    };
    __device__ static Value value_of(Seen seen) { return static_cast<Value>(seen); }
    __device__ static Seen shortened(Seen, Number value) { return value; }
    __device__ static Number offer(Number best, Seen from, Length step, Seen) {
        return min(best, static_cast<Number>(from + static_cast<Number>(step)));
    }
    /// What another lane has seen; shuffle(number) is its number.
    template <class Shuffle>
    __device__ static Seen seen_by(Seen own, Shuffle shuffle) {
        return shuffle(own);
    }
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
    };
    __device__ static Value value_of(Seen seen) { return static_cast<Value>(seen.name); }
    __device__ static Seen shortened(Seen seen, Number value) { return {value, seen.length}; }
    __device__ static Number offer(Number best, Seen from, Length step, Seen to) {
        return from.length + step == to.length ? min(best, from.name) : best;
    }
    template <class Shuffle>
    __device__ static Seen seen_by(Seen own, Shuffle shuffle) {
        return {shuffle(own.name), shuffle(own.length)};
    }
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
    Value all_fit;   // up to this none is a step from one above
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
    // Blocks of a multiprocessor: a thread has 64 registers, and with long values twice as many.
    static constexpr int RESIDENT = (sizeof(Value) == 4 ? 1024 : 512) / THREADS;
    static constexpr int ROW = SIDE + 3, PLANE = AXES == 2 ? 0 : 116, FACE = SIDE + 2;
    static constexpr int MARGIN = PLANE + ROW + 1;  // what is beside the rim is walls too
    static constexpr int CELLS = (AXES == 2 ? ROW : PLANE) * FACE + 2 * MARGIN;
    static constexpr uint32_t ALL_LAYERS = ~0u >> (32 - SIDE);
    static constexpr int EACH = (Tile::CELLS + THREADS - 1) / THREADS;  // cells of a thread
    static constexpr int AROUND = AXES == 2 ? 9 : 27;                // tiles, itself the one in the middle
    static constexpr int LANE_CELLS = AXES == 2 ? 1 : SIDE * SIDE / WARP;  // side by side along the second axis of a plane
    static constexpr Value WALL = Lengths<Value>::WALL, UNSEEN = Lengths<Value>::UNSEEN, NONE = Lengths<Value>::NONE;

    typename Rule::template Cells<CELLS> cells;
    Value gain[AROUND];       // the least that a tile gains, or NONE
    alignas(16) uint32_t changed[2][WARPS][WARPS];  // from which layers a warp has to go on, says each: in even and odd rounds
    int next;                                       // the tile around to go on with, or NOWHERE
    Value key;                                      // with which a tile was woken

    struct Spot {
        int x, y, z;  // from -1 to SIDE

        __device__ int at() const { return MARGIN + (AXES == 2 ? 0 : z + 1) * PLANE + (y + 1) * ROW + x + 1; }
        /// The cell of its own tile.
        __device__ int cell() const { return ((z & (DEPTH - 1)) * SIDE + (y & (SIDE - 1))) * SIDE + (x & (SIDE - 1)); }
    };
    __device__ static Spot inner(int i) { return {i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)}; }
    /// The cells around a tile that touch its edges only: in 2-D the 4 corners, in 3-D 12 edges and 8 corners.
    static constexpr int EDGES = AXES == 2 ? 4 : 12 * SIDE + 8;
    __device__ static Spot edge(int i) {
        const auto end = [](int bits, int bit) { return bits >> bit & 1 ? SIDE : -1; };
        if (AXES == 2) return {end(i, 0), end(i, 1), 0};
        if (i >= 12 * SIDE) return {end(i, 0), end(i, 1), end(i, 2)};
        const int along = i % SIDE, bits = i / SIDE % 4, axis = i / (4 * SIDE);
        if (axis == 0) return {along, end(bits, 0), end(bits, 1)};
        return axis == 1 ? Spot{end(bits, 0), along, end(bits, 1)} : Spot{end(bits, 0), end(bits, 1), along};
    }
    /// A lane's first cell in a layer along an axis; LANE_CELLS lie side by side along the second axis of the layer.
    __device__ static Spot first_of_lane(int axis, int layer) {
        const int lane = threadIdx.x % WARP, i = lane % SIDE, j = lane / SIDE * LANE_CELLS;
        return {axis == 0 ? layer : i, axis == 0 ? i : axis == 1 ? layer : j, axis == 2 ? layer : j};
    }

    static constexpr __device__ int stride(int axis) { return axis == 0 ? 1 : axis == 1 ? ROW : PLANE; }
};

/// The way that a warp goes.
template <class Rule, int AXES, int CONNECTIVITY>
struct Course {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Length = typename Rule::Length;
    int axis, by;        // layer after layer, forward or back
    int first_axis;      // of a layer
    int start, stride;   // a lane's first cell of layer 0; from layer to layer
    int second;          // from cell to cell of a lane
    Length on[4];        // steps to the next layer: straight, and along its first axis too, its second, or both
    Length within[4];    // likewise in a layer

    __device__ explicit Course(const Walk<Rule> &walk) {
        axis = threadIdx.x / WARP / 2;
        by = threadIdx.x / WARP % 2 ? -1 : 1;
        first_axis = axis == 0;
        start = Shape::first_of_lane(axis, 0).at();
        stride = by * Shape::stride(axis);
        second = AXES == 2 ? 0 : Shape::stride(axis == 2 ? 1 : 2);
        const int kind = 1 << axis, first = 1 << first_axis;
        for (int i = 0; i < 4; ++i) {
            const int beside = (i & 1 ? first : 0) | (i & 2 ? 7 & ~(kind | first) : 0);
            on[i] = walk.step[kind | beside];
            within[i] = walk.step[beside];
        }
    }
    /// A lane's cells of a layer, from the first one on.
    __device__ void see(const Shape &region, int at, typename Rule::Seen (&own)[Shape::LANE_CELLS]) const {
#pragma unroll
        for (int k = 0; k < Shape::LANE_CELLS; ++k) own[k] = region.cells.see(at + k * second);
    }
};

/// What a lane knows of a layer: its own cells, and those that touch them, which other lanes have.  Beyond an end of the layer
/// it sees cells of its own for walls, which offer it there nothing that they do not offer from where they are.
template <class Rule, int AXES, int CONNECTIVITY>
struct Layer {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Way = Course<Rule, AXES, CONNECTIVITY>;
    using Seen = typename Rule::Seen;
    using Number = typename Rule::Number;
    static constexpr int BESIDE = AXES == 3, COUNT = Shape::LANE_CELLS;
    Seen seen[COUNT + 2 * BESIDE][3];

    __device__ explicit Layer(const Seen (&own)[COUNT]) {
#pragma unroll
        for (int j = 0; j < COUNT; ++j) seen[j + BESIDE][1] = own[j];
        if constexpr (BESIDE) {
            seen[0][1] = from_before<Shape::SIDE, WARP>(own[COUNT - 1]);
            seen[COUNT + 1][1] = from_behind<Shape::SIDE, WARP>(own[0]);
        }
        constexpr int FIRST = CONNECTIVITY == 1 ? BESIDE : 0;  // of the rows of which both ends count
#pragma unroll
        for (int j = FIRST; j < COUNT + 2 * BESIDE - FIRST; ++j) {
            seen[j][0] = from_before<1, Shape::SIDE>(seen[j][1]);
            seen[j][2] = from_behind<1, Shape::SIDE>(seen[j][1]);
        }
    }
    template <int BY, int WIDTH>
    __device__ static Seen from_before(Seen own) {
        return Rule::seen_by(own, [](auto number) { return __shfl_up_sync(ALL_LANES, number, BY, WIDTH); });
    }
    template <int BY, int WIDTH>
    __device__ static Seen from_behind(Seen own) {
        return Rule::seen_by(own, [](auto number) { return __shfl_down_sync(ALL_LANES, number, BY, WIDTH); });
    }

    /// The least that a lane's k-th cell of the next layer is offered.
    __device__ Number on(const Way &way, int k, Seen to) const {
        Number best = ~Number(0);
#pragma unroll
        for (int j = -BESIDE; j <= BESIDE; ++j)
#pragma unroll
            for (int i = -1; i <= 1; ++i)
                if ((i != 0) + (j != 0) < CONNECTIVITY)
                    best = Rule::offer(best, seen[k + j + BESIDE][1 + i], way.on[(i != 0) + 2 * (j != 0)], to);
        return best;
    }
    /// The least that its k-th cell of this one is, by those on one side along its first axis.
    __device__ Number along_first(const Way &way, int k, int i) const {
        Number best = ~Number(0);
#pragma unroll
        for (int j = -BESIDE; j <= BESIDE; ++j)
            if ((j != 0) < CONNECTIVITY) best = Rule::offer(best, seen[k + j + BESIDE][1 + i], way.within[1 + 2 * (j != 0)], own(k));
        return best;
    }
    __device__ Number along_second(const Way &way, int k, int j) const {
        return Rule::offer(~Number(0), seen[k + j + BESIDE][1], way.within[2], own(k));
    }
    __device__ Seen own(int k) const { return seen[k + BESIDE][1]; }
};

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

/// Tells warps from which layers to go on in a round; each lane has the word for the warp of its number.
template <class Shape>
__device__ void mark_layers(Shape &region, int round, uint32_t layers) {
    const int lane = threadIdx.x % WARP;
    if (lane < Shape::WARPS) region.changed[round % 2][lane][threadIdx.x / WARP] = layers;
}
/// What the warps have told this one.
template <class Shape>
__device__ uint32_t marked_layers(const Shape &region, int round) {
    uint32_t layers = 0;
#pragma unroll
    for (int warp = 0; warp < Shape::WARPS; ++warp) layers |= region.changed[round % 2][threadIdx.x / WARP][warp];
    return layers;
}

/// What a sweep finds to be gained, by those who do not go its way.
template <int CELLS>
struct Gains {
    uint32_t behind = 0;                // bits of layers from which the way back gains
    bool first[2] = {};                 // in any layer, a lane's cells from the one before, or behind, along the first axis of the layer
    bool second[2][CELLS] = {};         // each of them along the second
};

/// Goes on from a layer, as long as that finds something, and from those that are left to go on from as far as it comes to them.
/// Returns which of these are left then.
///
/// A step waits for nothing but the one before it: what is in the way has been loaded before, what is found goes to memory in
/// the next step, while that waits for other lanes, and the vote whether to go on is counted one step later.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ uint32_t sweep_from(const Walk<Rule> &walk, const Course<Rule, AXES, CONNECTIVITY> &way,
                               Region<Rule, AXES, CONNECTIVITY> &region, int layer, uint32_t rest,
                               Gains<Region<Rule, AXES, CONNECTIVITY>::LANE_CELLS> &gains) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    using Value = typename Rule::Value;
    using Number = typename Rule::Number;
    using Seen = typename Rule::Seen;
    constexpr int COUNT = Shape::LANE_CELLS;
    int at = way.start + layer * way.by * way.stride;
    Seen before[COUNT], own[COUNT], next[COUNT], after[COUNT];
    bool is_kept[COUNT] = {};
    const auto keep = [&] {
#pragma unroll
        for (int k = 0; k < COUNT; ++k)  // others sweep over it too
            if (is_kept[k]) atomic_least(const_cast<Value *>(&region.cells.value[at + k * way.second]), Rule::value_of(own[k]));
    };
    const auto is_gain = [&](Number best, Seen to) {
        return (static_cast<Value>(best) < Rule::value_of(to)) & (best <= static_cast<Number>(walk.longest));
    };
    way.see(region, at, own);
    way.see(region, at + way.stride, next);
#pragma unroll
    for (int k = 0; k < COUNT; ++k) before[k] = region.cells.see(0);  // a wall
    uint32_t vote = ALL_LANES, vote_before;
    do {
        way.see(region, at + 2 * way.stride, after);
        const Layer<Rule, AXES, CONNECTIVITY> from(own);
        keep();
        bool has_kept = false;
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            const Number best = from.on(way, k, next[k]);
            is_kept[k] = is_gain(best, next[k]);
            has_kept |= is_kept[k];
            if (is_gain(from.on(way, k, before[k]), before[k])) gains.behind |= 1u << layer;
#pragma unroll
            for (int side = 0; side < 2; ++side) {
                if (is_gain(from.along_first(way, k, 2 * side - 1), own[k])) gains.first[side] = true;
                if (AXES == 3 && is_gain(from.along_second(way, k, AXES == 3 ? 2 * side - 1 : 0), own[k])) gains.second[side][k] = true;
            }
            before[k] = own[k];
            own[k] = is_kept[k] ? Rule::shortened(next[k], best) : next[k];
            next[k] = after[k];
        }
        vote_before = vote;
        vote = __ballot_sync(ALL_LANES, has_kept);
        rest &= ~(1u << layer);
        layer += way.by;
        at += way.stride;
    } while (static_cast<unsigned>(layer) < Shape::SIDE && (vote_before || rest >> layer & 1));
    keep();
    return static_cast<unsigned>(layer) < Shape::SIDE && vote ? rest | 1u << layer : rest;
}

/// Tells the other warps from which layers they gain.  Returns whether there is any.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ bool tell_gains(const Course<Rule, AXES, CONNECTIVITY> &way, Region<Rule, AXES, CONNECTIVITY> &region, int round,
                           const Gains<Region<Rule, AXES, CONNECTIVITY>::LANE_CELLS> &gains) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    const int reader = threadIdx.x % WARP, side = reader % 2;
    uint32_t first[2], second[2] = {0, 0};
#pragma unroll
    for (int s = 0; s < 2; ++s) {
        first[s] = columns_of<Shape::SIDE>(__ballot_sync(ALL_LANES, gains.first[s]));
#pragma unroll
        for (int k = 0; AXES == 3 && k < Shape::LANE_CELLS; ++k)
            second[s] |= rows_of<Shape::SIDE, Shape::LANE_CELLS>(__ballot_sync(ALL_LANES, gains.second[s][k])) << k;
    }
    const uint32_t behind = any_of_warp(gains.behind), gaining = reader / 2 == way.first_axis ? first[side] : second[side];
    uint32_t layers = side ? gaining << 1 & Shape::ALL_LAYERS : gaining >> 1;
    if (reader / 2 == way.axis) layers = side == (way.by < 0) ? 0 : behind;
    mark_layers(region, round, layers);
    return __any_sync(ALL_LANES, layers && reader < Shape::WARPS);
}

/// Goes through the tile from the layers that have changed.  Returns whether others are to go on.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ bool sweep(const Walk<Rule> &walk, const Course<Rule, AXES, CONNECTIVITY> &way,
                      Region<Rule, AXES, CONNECTIVITY> &region, int round) {
    Gains<Region<Rule, AXES, CONNECTIVITY>::LANE_CELLS> gains;
    for (uint32_t rest = marked_layers(region, round); rest;) {
        const int start = way.by < 0 ? 31 - __clz(static_cast<int>(rest)) : __ffs(static_cast<int>(rest)) - 1;
        rest = sweep_from(walk, way, region, start, rest, gains);
    }
    return tell_gains(way, region, round + 1, gains);
}

/// The least that the cells of a warp's lanes beyond the face that it sweeps to are offered.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void offer_beyond(const Course<Rule, AXES, CONNECTIVITY> &way, const Region<Rule, AXES, CONNECTIVITY> &region,
                             typename Rule::Number (&best)[Region<Rule, AXES, CONNECTIVITY>::LANE_CELLS]) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    const int last = way.start + (way.by < 0 ? 0 : (Shape::SIDE - 1) * way.stride);
    typename Rule::Seen own[Shape::LANE_CELLS], beyond[Shape::LANE_CELLS];
    way.see(region, last, own);
    way.see(region, last + way.stride, beyond);
    const Layer<Rule, AXES, CONNECTIVITY> from(own);
#pragma unroll
    for (int k = 0; k < Shape::LANE_CELLS; ++k) best[k] = from.on(way, k, beyond[k]);
}

/// Rounds of sweeps by all warps, until nobody is to go on.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void shorten(const Walk<Rule> &walk, const Course<Rule, AXES, CONNECTIVITY> &way,
                        Region<Rule, AXES, CONNECTIVITY> &region) {
    int round = 0;
    while (__syncthreads_or(sweep(walk, way, region, round))) ++round;
}

}  // namespace apsis
