// How long a path is: whole numbers, one for each kind of step, so that every comparison is exact on every device.
//
// A kind is the set of axes along which a step goes, 1 for x, 2 for y, 4 for z.  Steps of equal pixels have weights whose
// ratios are close to sqrt(2) and sqrt(3) (best simultaneous approximations: convergents, in the plane), small enough for
// 32-bit lengths; others are rounded to 26 bits or more.
#pragma once

#include <math.h>

#include "core/view.h"

namespace apsis {

struct Steps {
    int64_t weight[8] = {0, 1, 1, 2, 1, 2, 2, 3};  // by kind; 0 where there is no such step
    double divisor = 1, unit = 1;                  // a length in the caller's unit is length / divisor * unit
    int64_t limit = INT64_MAX;                     // longer paths are not looked for
    int connectivity = 1;                          // the axes that a step may go along
    int64_t least = 1, most = 1;                   // the weights of the shortest and the longest step
};

/// The kind of the step to a neighbour at (dx, dy, dz), each -1, 0 or 1.
APSIS_BOTH inline int kind_of(int dx, int dy, int dz) { return (dx ? 1 : 0) | (dy ? 2 : 0) | (dz ? 4 : 0); }

/// What a caller sees of a length, in double precision.
APSIS_BOTH inline double real_length(const Steps &steps, double length) { return length / steps.divisor * steps.unit; }

/// What an output pixel holds for a length that is the sum of two: below 2^53 a real one is rounded from it once.
template <class Pixel, class Length>
APSIS_BOTH inline Pixel length_pixel(const Steps &steps, Length length, int64_t more = 0) {
    if constexpr (Pixel(0.5) == Pixel(0))
        return static_cast<Pixel>(length + more);
    else
        return static_cast<Pixel>(real_length(steps, static_cast<double>(length) + static_cast<double>(more)));
}

/// What it holds for a pixel that no path leads to.
template <class Pixel>
APSIS_BOTH inline Pixel no_path() {
    if constexpr (Pixel(0.5) == Pixel(0))
        return static_cast<Pixel>(sizeof(Pixel) == 4 ? INT32_MAX : INT64_MAX);
    else
        return static_cast<Pixel>(HUGE_VAL);
}

}  // namespace apsis
