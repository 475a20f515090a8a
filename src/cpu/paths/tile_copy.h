// A tile and the cells around it in a thread's own memory, for fields that several threads make.
//
// A visit lowers cells of its tile alone, but reads those around it, which other threads may be lowering.  So it works on a
// copy.  Other threads read only the rim of the tile, which is therefore read and written a cell at a time, atomically.  An
// old value of a neighbour is a larger one, and only wakes more.
#pragma once

#include <atomic>
#include <vector>

#include "cpu/paths/grid.h"
#include "cpu/paths/spans.h"

namespace apsis::cpu::paths {

/// The pixels of a tile: the first one, and how many there are along each axis.
struct TileBox {
    int64_t low[3], extent[3];
};

/// The layout of a copy.  Behind each row are SPAN cells: the first is on its right, the last on the left of the next row.
struct CopyShape {
    int64_t deep;  // planes around the tile, before and behind it
    int64_t pitch, plane, first, cells;
    TileShape tile;

    explicit CopyShape(bool volume)
        : deep(volume),
          pitch((volume ? 2 : 5) * SPAN),
          plane(pitch * (volume ? 10 : 18)),
          first(deep * plane + pitch + SPAN),
          cells((volume ? 10 : 1) * plane + 2 * SPAN),
          tile(volume, pitch, plane) {}

    int64_t row(int64_t y, int64_t z) const { return first + z * plane + y * pitch; }
};

template <class Value>
class TileCopy {
  public:
    /// It has no cells if it is not needed.
    explicit TileCopy(const CopyShape &shape, bool is_needed = true)
        : shape_(shape),
          copy_(is_needed ? static_cast<size_t>(shape.cells) : 0, Value(-1)) {}

    Value *data() { return copy_.data(); }

    /// Copies a tile, which no other thread changes, and the cells around it.
    void load(Value *cells, const Grid &grid, const TileBox &box) {
        const int64_t width = box.extent[0];
        for (int64_t z = -shape_.deep; z < box.extent[2] + shape_.deep; ++z)
            for (int64_t y = -1; y <= box.extent[1]; ++y) {
                Value *const from = cells + grid.row(box.low[1] + y, box.low[2] + z) + box.low[0];
                Value *const to = data() + shape_.row(y, z);
                if (y >= 0 && y < box.extent[1] && z >= 0 && z < box.extent[2]) {
                    to[-1] = load_cell(from - 1);
                    std::copy_n(from, width, to);
                    to[width] = load_cell(from + width);
                } else {
                    for (int64_t x = -1; x <= width; ++x) to[x] = load_cell(from + x);
                }
            }
    }

    /// Copies the rows of the tile back that have one of these spans, from the first to the last of them.
    void store(Value *cells, const Grid &grid, const TileBox &box, uint64_t spans) {
        const int64_t *const side = shape_.tile.side;
        for (int64_t z = 0; z < box.extent[2]; ++z)
            for (int64_t y = 0; y < box.extent[1]; ++y) {
                const uint64_t of_row = spans >> ((z * side[1] + y) * side[0]) & ((uint64_t(1) << side[0]) - 1);
                if (!of_row) continue;
                const int64_t low = std::countr_zero(of_row) * SPAN;
                const int64_t high = std::min<int64_t>(std::bit_width(of_row) * SPAN, box.extent[0]);
                const Value *const from = data() + shape_.row(y, z);
                Value *const to = cells + grid.row(box.low[1] + y, box.low[2] + z) + box.low[0];
                const bool is_rim = y == 0 || y == side[1] - 1 || (shape_.deep && (z == 0 || z == side[2] - 1));
                const int64_t left = is_rim ? high : std::max<int64_t>(low, 1);
                const int64_t right = is_rim ? high : std::min(high, side[0] * SPAN - 1);
                for (int64_t x = low; x < left; ++x) store_cell(to + x, from[x]);
                if (left < right) std::copy(from + left, from + right, to + left);
                for (int64_t x = std::max(left, right); x < high; ++x) store_cell(to + x, from[x]);
            }
    }

  private:
    static Value load_cell(Value *cell) { return std::atomic_ref(*cell).load(std::memory_order_relaxed); }
    static void store_cell(Value *cell, Value value) { std::atomic_ref(*cell).store(value, std::memory_order_relaxed); }

    const CopyShape &shape_;
    std::vector<Value> copy_;
};

}  // namespace apsis::cpu::paths
