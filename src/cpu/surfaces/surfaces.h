// The surface of a set in a box: its points are marked, and then counted by their costs.
#pragma once

#include "runtime/parallel.h"
#include "runtime/surfaces.h"

namespace apsis::cpu::surfaces {

size_t surface_scratch(const SurfaceJob &job);

/// Writes the marks.  Returns whether there are points.
bool mark_surface(const SurfaceJob &job, void *scratch, Arena &arena);

/// Finds how many points there are of each cost and mark.  Returns false if costs are not known, and a point is too far from the
/// other surface to look for it.
bool count_points(const SurfaceJob &job, Arena &arena);

}  // namespace apsis::cpu::surfaces
