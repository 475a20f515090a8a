// Fields: the lengths of the shortest paths from some sources to every pixel of a set, many fields at once.
//
// The lengths are the unique least fixpoint of length(v) = min(length(u) + step), so that they do not depend on what is
// computed first.  An image is cut into tiles; a task is a tile of a field.  A block loads the tile's lengths into shared
// memory, shortens them until nothing changes (field_tile.cuh), and passes shorter lengths on to neighbouring tiles
// (field_block.cuh).  These become tasks: near ones in a queue that all fields share, far ones in a list of their field until
// nothing nearer is left (field_tasks.cuh; near-far, Davidson et al. 2014).  No block waits for a block that may not have
// begun, and the host waits for none.
//
// Where an image closes on itself, the cells of a tile at its seam then offer their lengths to those across it, whose tiles are
// woken.
//
//     FieldTasks<int32_t> tasks(shape, fields, carver);
//     clear_tasks(tasks, always, stream);
//     start_fields(tasks, members, lengths, sources, count, always, stream);
//     run_fields(tasks, lengths, steps, periodic, &too_long, always, stream);
//
// Lengths lie tile by tile, field after field: cell c of field k has lengths[k * shape.cells() + c].
//
// Cost: a tile is visited about twice.  Memory beside the lengths: some 20 bytes a tile and a field.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/seam.h"
#include "core/steps.h"
#include "cuda/runtime/launch.h"
#include "runtime/workspace.h"

namespace apsis::cuda::paths {

/// The tiles of images in 2 or 3 dimensions.  In 2-D a row of a tile is what a warp reads at once.
template <int AXES>
struct FieldTile {
    static constexpr int WIDTH = AXES == 2 ? 32 : 8, HEIGHT = WIDTH, DEPTH = AXES == 2 ? 1 : WIDTH;
    static constexpr int CELLS = WIDTH * HEIGHT * DEPTH;
};

/// Where the cells of a field lie.  Cells are the pixels of an image, and those that fill up its last tiles.  In 2-D every z
/// has tiles of its own, and no step leads from one z to another.
struct FieldShape {
    int axes;
    int64_t width, height, depth;
    uint32_t across, down, deep;  // tiles

    struct Place {
        int64_t x, y, z;
    };

    FieldShape(const int64_t size[3], int axes);

    APSIS_BOTH int64_t tiles() const { return int64_t(across) * down * deep; }
    APSIS_BOTH int tile_cells() const { return axes == 2 ? FieldTile<2>::CELLS : FieldTile<3>::CELLS; }
    APSIS_BOTH int64_t cells() const { return tiles() * tile_cells(); }

    APSIS_BOTH int64_t cell_of(int64_t x, int64_t y, int64_t z) const {
        return axes == 2 ? cell_in<FieldTile<2>>(x, y, z) : cell_in<FieldTile<3>>(x, y, z);
    }
    /// The pixel of a cell; it may lie outside the image.
    APSIS_BOTH Place place_of(int64_t cell) const {
        return axes == 2 ? place_in<FieldTile<2>>(cell) : place_in<FieldTile<3>>(cell);
    }
    APSIS_BOTH bool holds(const Place &at) const { return at.x < width && at.y < height && at.z < depth; }
    APSIS_BOTH int64_t index_of(const Place &at) const { return (at.z * height + at.y) * width + at.x; }

  private:
    template <class Tile>
    APSIS_BOTH int64_t cell_in(int64_t x, int64_t y, int64_t z) const {
        const int64_t tile = (z / Tile::DEPTH * down + y / Tile::HEIGHT) * across + x / Tile::WIDTH;
        return tile * Tile::CELLS + (z % Tile::DEPTH * Tile::HEIGHT + y % Tile::HEIGHT) * Tile::WIDTH + x % Tile::WIDTH;
    }
    template <class Tile>
    APSIS_BOTH Place place_in(int64_t cell) const {
        const uint32_t tile = static_cast<uint32_t>(cell / Tile::CELLS), line = tile / across;
        const int in = static_cast<int>(cell % Tile::CELLS), row = in / Tile::WIDTH;
        return {int64_t(tile - line * across) * Tile::WIDTH + in % Tile::WIDTH,
                int64_t(line % down) * Tile::HEIGHT + row % Tile::HEIGHT,
                int64_t(line / down) * Tile::DEPTH + row / Tile::HEIGHT};
    }
};

/// What a cell may hold: a length from 0 to LONGEST, or one of these.
///
/// Where a step begins, a length is read as unsigned: a wall is then larger than all lengths.  Where a step ends, it is read as
/// signed: a wall is then smaller than all, and never shortened.
template <class Value>
struct Lengths {
    static constexpr Value WALL = Value(Value(1) << (8 * sizeof(Value) - 2)) * -2;  // the least number
    static constexpr Value LONGEST = (Value(1) << (8 * sizeof(Value) - 2)) - 1;     // a quarter of all numbers
    static constexpr Value MOST_STEP = Value(1) << (sizeof(Value) == 4 ? 20 : 52);  // no step may be longer
    static constexpr Value UNSEEN = LONGEST + MOST_STEP + 1;                        // no path is known yet
    static constexpr Value NONE = -(WALL + 1);                                      // greater than all others: nothing waits
};

/// A condition on the device: work queued under it is done only if the word is not zero, or, unless `is_set`, only if it is 0.
struct DeviceCondition {
    const uint32_t *word = nullptr;
    bool is_set = true;

    APSIS_BOTH bool holds() const { return !word || (*word != 0) == is_set; }
};

/// The waiting tasks of `fields` fields.  Value is int32_t or int64_t.
template <class Value>
struct FieldTasks {
    FieldShape shape;
    uint32_t fields;
    uint32_t first = 0;  // what sources call the first of them

    struct Field {
        Value threshold;        // tiles that wait with less are near
        uint32_t busy;          // tasks in the queue or in work, and one while the list of far tiles is looked through
        uint32_t turn;          // which of the two lists is written
        uint32_t list_size[2];  // of both lists
    };
    struct Counters {
        uint32_t head, tail;    // of the queue: tickets given to blocks that take tasks, and that put some in
        uint32_t fields_begun;  // fields that have begun
        uint32_t fields_left;   // fields that are not done
    };

    Value *pending;       // [field][tile]: the least value that has changed at its rim since it was taken last, or NONE
    uint32_t *far_tiles;  // [list][field][tile]: the tiles that wait, and some that no longer do
    uint32_t *is_listed;  // [field][tile]: a bit: whether the tile is in a list
    uint32_t *queue;      // a ring
    uint32_t queue_size;  // a power of two
    Field *field;         // [field]
    Counters *counters;

    /// Throws APSIS_ERROR_UNSUPPORTED if there are 2^31 tasks or more.
    FieldTasks(const FieldShape &shape, int64_t fields, Carver &carver);

    APSIS_BOTH int64_t tasks() const { return shape.tiles() * fields; }
};

/// Nothing waits.  To be called before fields are started.
template <class Value>
void clear_tasks(const FieldTasks<Value> &tasks, DeviceCondition condition, cudaStream_t stream);

/// A cell from which the paths of a field begin; no source if it is negative.
struct FieldSource {
    int64_t cell;
    int64_t field;
};

/// Fills all fields; `lengths` are those of the first.  Cells with a bit in `members`, 32 cells a word, become UNSEEN, sources
/// 0, and all others walls.  Both arrays are the device's.
template <class Length>
void start_fields(const FieldTasks<Length> &tasks, const uint32_t *members, Length *lengths, const FieldSource *sources,
                  int64_t count, DeviceCondition condition, cudaStream_t stream);

/// Finds the lengths from the sources to all cells within the limit of steps.  If a length comes within a step of LONGEST, sets
/// *too_long, which the caller has cleared; cells behind may stay UNSEEN.  No step may be longer than MOST_STEP.
template <class Length>
void run_fields(const FieldTasks<Length> &tasks, Length *lengths, const Steps &steps, const Periodic &periodic,
                uint32_t *too_long, DeviceCondition condition, cudaStream_t stream);

/// Finds for every cell the lowest name of a source that one of its shortest paths comes from.  Cells of length 0 hold their
/// names, others UNSEEN, or a wall where no path leads.
template <class Name, class Length>
void run_names(const FieldTasks<Name> &tasks, Name *names, const Length *lengths, const Steps &steps, const Periodic &periodic,
               DeviceCondition condition, cudaStream_t stream);

}  // namespace apsis::cuda::paths
