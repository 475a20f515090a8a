// Balls of a set, in host memory on every device: the medial axis and the local thickness, from the map of squared distances
// to the complement.
#pragma once

#include "runtime/backend.h"
#include "runtime/parallel.h"

namespace apsis {

/// apsis_thickness and apsis_medial_axis, once the distances are there.
struct BallsJob {
    View squares;  // packed, APSIS_I32 or APSIS_I64: the cost of the nearest pixel outside the set, 0 there; room for results
    View out;      // of radii
    int axes = 2;  // with 2, every z is an image of its own
    Measure measure;  // Euclidean; its costs are below NO_COST of the type of squares
};

/// The cost of the balls of a set without complement: the largest number of the type of squares.
template <class Cost>
constexpr Cost INFINITE = sizeof(Cost) == 4 ? INT32_MAX : INT64_MAX;

// Both take what they need from the heap.  They write `out`, and change `squares`.
void find_thickness(const BallsJob &job, Arena &arena, const Progress &progress);
void find_medial_axis(const BallsJob &job, Arena &arena, const Progress &progress);

}  // namespace apsis
