// The cells of an image, with walls around it, and the steps between cells.
#pragma once

#include "core/steps.h"
#include "runtime/backend.h"

namespace apsis::cpu::paths {

constexpr int SPAN = 16;  // cells: the widest vector

/// The cells of an image: its pixels, a column of walls behind each row, a row of walls behind each plane, and walls before and
/// behind all.  So every pixel has all its neighbours.  Wide rows begin at a multiple of SPAN.
struct Grid {
    int64_t width, height, depth, pitch, plane, origin, cells;

    Grid(const int64_t size[3], int axes)
        : width(size[0]),
          height(size[1]),
          depth(axes == 3 ? size[2] : 1),
          pitch(width < 4 * SPAN ? width + 1 : whole(width + 1)),
          plane(pitch * (height + 1)),
          origin(whole((axes == 3 ? plane : 0) + pitch + 1)),
          cells(depth * plane + 2 * origin) {}
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
    /// The index of a cell's pixel in the image.
    int64_t index(int64_t cell) const {
        const Place at = place(cell);
        return (at.z * height + at.y) * width + at.x;
    }
};

/// The steps to the neighbours of a cell.
struct Moves {
    int axes, count = 0;
    int64_t offset[26], weight[26];

    Moves(const Grid &grid, const Steps &steps, int dimensions) : axes(dimensions) {
        for (int n = 0; n < 27; ++n) {
            const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1, kind = kind_of(dx, dy, dz);
            if ((dimensions == 2 && dz) || steps.weight[kind] == 0) continue;
            offset[count] = dz * grid.plane + dy * grid.pitch + dx;
            weight[count++] = steps.weight[kind];
        }
    }
};

}  // namespace apsis::cpu::paths
