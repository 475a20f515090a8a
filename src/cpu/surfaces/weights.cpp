// What a corner between pixels weighs: the length of the contour of marching squares, in 3-D the area of the surface of
// marching cubes (Lorensen, Cline 1987), in the box whose corners are the centres of the 4 or 8 pixels around it.
//
// The surface cuts the edges of this box in their middle.  Of the corners in the set and those outside the fewer are enclosed,
// those that edges connect together, and apart from others.  So a set and its complement have the same surface.  What encloses
// corners depends on how edges connect them, and its area follows from the spacing:
//
//     one            a triangle, 1/8 of t = |(bc, ac, ab)|, where a, b, c are the spacing
//     two            a rectangle: along a, a |(b, c)| / 2
//     three          a triangle ab/2 in the plane that halves the edges along c, and a trapezoid 3/8 t
//     four, a face   a rectangle: ab
//     four, a star   a hexagon, plane: 6/8 t
//     four, a chain  half the rectangles along the axes of its ends, and 4/8 t
//
// In 2-D one has |(a, b)| / 2 around it, and two along a have a.
#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/surfaces.h"

namespace apsis {

namespace {

constexpr int BEFORE[3] = {0x55, 0x33, 0x0f};  // the corners at 0 along an axis; beside them are those at 1

/// The corners that have a neighbour along an axis among these.
int beside(int corners, int axis) {
    const int step = 1 << axis;
    return (corners & BEFORE[axis]) << step | (corners >> step & BEFORE[axis]);
}

int number_of(int corners) { return std::popcount(static_cast<unsigned>(corners)); }

class Box {
  public:
    Box(int axes, const double *spacing) : axes_(axes), side_{spacing[0], spacing[1], axes == 3 ? spacing[2] : 0} {}

    /// The area of the surface around some corners.
    double area_around(int corners) const {
        double area = 0;
        while (corners) {
            int one = corners & -corners, before = 0;
            while (one != before) {
                before = one;
                for (int a = 0; a < axes_; ++a) one |= beside(one, a) & corners;
            }
            area += axes_ == 3 ? area_around_connected(one) : length_around_connected(one);
            corners &= ~one;
        }
        return area;
    }

  private:
    double length_around_connected(int corners) const {
        if (number_of(corners) == 1) return std::sqrt(square(0) + square(1)) / 2;
        return corners & beside(corners, 0) ? side_[0] : side_[1];
    }

    double area_around_connected(int corners) const {
        const int count = number_of(corners);
        if (count == 1) return slant() / 8;
        int with[3];  // those with an edge along an axis
        for (int a = 0; a < 3; ++a) with[a] = corners & beside(corners, a);
        for (int a = 0; a < 3; ++a) {
            const int with_others = with[(a + 1) % 3] | with[(a + 2) % 3];
            if (count == 2 && with[a]) return across(a);
            if (count == 3 && !with[a]) return face(a) / 2 + slant() * 3 / 8;
            if (count == 4 && !with[a]) return face(a);
            if (number_of(with[a]) == 2 && !(with[a] & ~with_others))  // the middle of a chain
                return (across((a + 1) % 3) + across((a + 2) % 3)) / 2 + slant() / 2;
        }
        return slant() * 6 / 8;
    }

    double face(int axis) const { return side_[(axis + 1) % 3] * side_[(axis + 2) % 3]; }
    double square(int axis) const { return side_[axis] * side_[axis]; }
    double across(int axis) const { return side_[axis] * std::sqrt(square((axis + 1) % 3) + square((axis + 2) % 3)) / 2; }
    double slant() const { return std::sqrt(face(0) * face(0) + face(1) * face(1) + face(2) * face(2)); }

    int axes_;
    double side_[3];
};

}  // namespace

void find_weights(apsis_surface surface, int axes, const double spacing[3], double weight[256]) {
    std::fill_n(weight, 256, 1);
    if (surface != APSIS_SURFACE_CORNERS) return;
    const Box box(axes, spacing);
    const int corners = 1 << axes, all = (1 << corners) - 1;
    for (int code = 0; code <= all; ++code) {
        const bool is_less = 2 * number_of(code) <= corners;
        weight[code] = box.area_around(is_less ? code : all & ~code);
    }
}

}  // namespace apsis
