// Surfaces of sets, in host memory on every device: the points that they are made of, and how much each weighs.
#pragma once

#include <apsis_measures.h>

#include "core/view.h"
#include "runtime/parallel.h"

namespace apsis {

/// A set, or a value of a label image, and the box of pixels that holds it.
struct SurfaceJob {
    View image;  // in host memory, not of bits
    bool by_value = false;
    int64_t value = 1;             // by_value: the set is its pixels, otherwise those that are not 0
    int64_t lower[3] = {0, 0, 0};  // the first pixel of the box
    int64_t size[3] = {0, 0, 0};   // its pixels along each axis
    int axes = 2;
    apsis_surface surface = APSIS_SURFACE_PIXELS;
};

/// How many points there are to be marked along an axis of so many pixels.
inline int64_t points_along(apsis_surface surface, int64_t pixels) { return pixels + (surface == APSIS_SURFACE_CORNERS); }

/// Writes to marks[x + width * (y + height * z)], where the width and so on are those of points_along, 0 for a point that is
/// not on the surface, otherwise by what find_weights knows its weight.
void mark_surface(const SurfaceJob &job, uint8_t *marks, Arena &arena);

/// The weight of a point, for each mark: 1, or for corners the length in 2-D, in 3-D the area, that the surface has in the
/// middle between the centres of the pixels around it.
void find_weights(apsis_surface surface, int axes, const double spacing[3], double weight[256]);

}  // namespace apsis
