// Surfaces of sets: the points that they are made of, how far each is from another surface, and how much it weighs.
#pragma once

#include <apsis_measures.h>

#include <tuple>
#include <vector>

#include "core/measure.h"

namespace apsis {

/// Points of a surface that are alike: their cost, how far from the other surface they are, their mark, and how many there are.
struct AlikePoints {
    int64_t cost = 0;
    int64_t mark = 0;
    int64_t count = 0;

    bool operator<(const AlikePoints &other) const {
        return std::tie(cost, mark, count) < std::tie(other.cost, other.mark, other.count);
    }
};

/// A set, or a value of a label image, the box of pixels that holds it, and its surface there.
struct SurfaceJob {
    View image;  // not of bits
    bool by_value = false;
    int64_t value = 1;             // by_value: the set is its pixels, otherwise those that are not 0
    int64_t lower[3] = {0, 0, 0};  // the first pixel of the box
    int64_t size[3] = {0, 0, 0};   // its pixels along each axis
    int axes = 2;
    apsis_surface surface = APSIS_SURFACE_PIXELS;
    View marks;   // packed, of APSIS_U8: 0 for a point that is not on the surface, otherwise find_weights knows its weight
    View others;  // the marks of the other surface; without data: it has no points, and costs are 0
    View costs;   // packed, of APSIS_I32 or APSIS_I64: from each point to the other surface; without data: not known
    Measure measure;
    std::vector<AlikePoints> *found = nullptr;  // host memory on every device: in ascending order
};

/// How many points there are to be marked along an axis of so many pixels.
inline int64_t points_along(apsis_surface surface, int64_t pixels) { return pixels + (surface == APSIS_SURFACE_CORNERS); }

/// Makes of points those that are alike.
void join_alike(std::vector<AlikePoints> &points);

/// The weight of a point, for each mark: 1, or for corners the length in 2-D, in 3-D the area, that the surface has in the
/// middle between the centres of the pixels around it.
void find_weights(apsis_surface surface, int axes, const double spacing[3], double weight[256]);

}  // namespace apsis
