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
    // Blocks of a multiprocessor: a thread has 64 registers, and with long values twice as many.
    static constexpr int RESIDENT = (sizeof(Value) == 4 ? 1024 : 512) / THREADS;
    static constexpr int ROW = SIDE + 3, PLANE = AXES == 2 ? 0 : 116, FACE = SIDE + 2;
    static constexpr int MARGIN = PLANE + ROW + 1;  // what is beside the rim is walls too
    static constexpr int CELLS = (AXES == 2 ? ROW : PLANE) * FACE + 2 * MARGIN;
    static constexpr int EACH = (Tile::CELLS + THREADS - 1) / THREADS;  // cells of a thread
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
    /// A lane's first cell in layer 0 along an axis; LANE_CELLS lie side by side along the second axis of the layer.
    template <int AXIS>
    __device__ static Spot first_of_lane() {
        const int lane = threadIdx.x % WARP, i = lane % SIDE, j = lane / SIDE * LANE_CELLS;
        return {AXIS == 0 ? 0 : i, AXIS == 0 ? i : AXIS == 1 ? 0 : j, AXIS == 2 ? 0 : j};
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
    const int first = Shape::template first_of_lane<AXIS>().at();
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

/// The least that the cells of a warp's lanes beyond the face that it sweeps to are offered.
template <class Rule, int AXES, int CONNECTIVITY>
__device__ void offer_beyond(const Walk<Rule> &walk, const Region<Rule, AXES, CONNECTIVITY> &region,
                             typename Rule::Number (&best)[Region<Rule, AXES, CONNECTIVITY>::LANE_CELLS]) {
    using Shape = Region<Rule, AXES, CONNECTIVITY>;
    const int axis = threadIdx.x / WARP / 2;
    const bool back = threadIdx.x / WARP % 2;
#pragma unroll
    for (int k = 0; k < Shape::LANE_CELLS; ++k) best[k] = ~typename Rule::Number(0);
    const auto find = [&](auto along) {
        constexpr int AXIS = decltype(along)::value, BY = Shape::stride(AXIS);
        const int to = Shape::template first_of_lane<AXIS>().at() + (back ? -BY : Shape::SIDE * BY);
        find_offers<AXIS>(walk, region, to, back ? to + BY : to - BY, best);
    };
    if (axis == 0)
        find(std::integral_constant<int, 0>());
    else if (AXES == 2 || axis == 1)
        find(std::integral_constant<int, 1>());
    else
        find(std::integral_constant<int, AXES - 1>());
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

}  // namespace apsis
