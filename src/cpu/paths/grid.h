// The cells of an image, with walls around it, and the steps between cells.
//
// In an image that closes on itself along an axis, steps across the seam lead to cells far away.  So they have no offset.
#pragma once

#include <cstdlib>

#include "core/seam.h"
#include "core/steps.h"
#include "runtime/backend.h"

namespace apsis::cpu::paths {

constexpr int SPAN = 16;  // cells: the widest vector

/// The cells of an image: its pixels, a column of walls behind each row, a row of walls behind each plane, and walls before and
/// behind all; two columns and rows where steps reach so far.  So every pixel has all its neighbours.  Wide rows begin at a
/// multiple of SPAN.
struct Grid {
    int64_t width, height, depth, pitch, plane, origin, cells;
    Periodic periodic;

    Grid(const int64_t size[3], int axes, const Periodic &of_image = {}, int64_t reach = 1)
        : width(size[0]),
          height(size[1]),
          depth(axes == 3 ? size[2] : 1),
          pitch(width < 4 * SPAN ? width + reach : whole(width + reach)),
          plane(pitch * (height + reach)),
          origin(whole((axes == 3 ? plane : 0) + reach * pitch + reach)),
          cells(depth * plane + 2 * origin),
          periodic(of_image) {}
    int64_t row(int64_t y, int64_t z) const { return origin + z * plane + y * pitch; }
    int64_t rows() const { return height * depth; }

    static int64_t whole(int64_t count) { return (count + SPAN - 1) / SPAN * SPAN; }  // rounds up to whole spans

    struct Place {
        int64_t x, y, z;
    };
    Place place(int64_t cell) const {
        const int64_t at = cell - origin;
        return {at % plane % pitch, at % plane / pitch, at / plane};
    }
    /// The number of a cell's row.
    int64_t row_of(int64_t cell) const {
        const Place at = place(cell);
        return at.z * height + at.y;
    }
    /// The index of a cell's pixel in the image.
    int64_t index(int64_t cell) const { return row_of(cell) * width + place(cell).x; }
};

/// How far steps go along an axis.
inline int64_t reach_of(const Steps &steps) { return steps.knight ? 2 : 1; }

/// The steps to the neighbours of a cell, in the order of cells.  A knight's move goes over two pixels: a straight step and a
/// diagonal one lead over either of them.
struct Moves {
    static constexpr int64_t NOWHERE = -1;
    int axes, count = 0;
    int64_t offset[26], weight[26];
    int64_t over[26][2];  // offsets of the pixels that a knight's move goes over; 0 of other moves

    Moves(const Grid &grid, const Steps &steps, int dimensions)
        : axes(dimensions),
          grid_(grid),
          is_periodic_(grid.periodic.any()) {
        const int deep = dimensions == 3, reach = static_cast<int>(reach_of(steps));
        for (int dz = -deep; dz <= deep; ++dz)
            for (int dy = -reach; dy <= reach; ++dy)
                for (int dx = -reach; dx <= reach; ++dx) {
                    const bool is_far = std::abs(dx) > 1 || std::abs(dy) > 1;
                    const int64_t by = is_far ? steps.knight : steps.weight[kind_of(dx, dy, dz)];
                    if (by == 0 || (is_far && std::abs(dx) + std::abs(dy) != 3)) continue;
                    offset[count] = dz * grid.plane + dy * grid.pitch + dx;
                    over[count][0] = is_far ? dy / 2 * grid.pitch + dx / 2 : 0;
                    over[count][1] = is_far ? offset[count] - over[count][0] : 0;
                    by_[count][0] = dx, by_[count][1] = dy, by_[count][2] = dz;
                    weight[count++] = by;
                }
    }

    bool is_knights(int k) const { return over[k][0] != 0; }
    /// Whether a move leads from a cell, if its target is inside: inside(cell) says whether a cell is.
    template <class Inside>
    bool is_open(int64_t cell, int k, Inside inside) const {
        return !is_knights(k) || inside(cell + over[k][0]) || inside(cell + over[k][1]);
    }

    /// The cell that a move leads to: a wall if it leaves the image.
    int64_t target(int64_t cell, int k) const {
        const int64_t across = is_periodic_ ? across_seam(grid_.place(cell), k) : NOWHERE;
        return across == NOWHERE ? cell + offset[k] : across;
    }

    /// The cell that a move across a seam leads to; NOWHERE if it crosses none, or leaves the image.
    int64_t across_seam(const Grid::Place &at, int k) const {
        const int64_t to[3] = {at.x + by_[k][0], at.y + by_[k][1], at.z + by_[k][2]};
        const int64_t x = grid_.periodic.wrap(0, to[0], grid_.width), y = grid_.periodic.wrap(1, to[1], grid_.height),
                      z = grid_.periodic.wrap(2, to[2], grid_.depth);
        const bool crosses = x != to[0] || y != to[1] || z != to[2];
        return crosses && x >= 0 && y >= 0 && z >= 0 ? grid_.row(y, z) + x : NOWHERE;
    }

  private:
    Grid grid_;
    bool is_periodic_;
    int by_[26][3];
};

}  // namespace apsis::cpu::paths
