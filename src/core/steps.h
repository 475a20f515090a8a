// The length of a path, from a whole number for each kind of step, so that every comparison is exact on every device.
//
// A kind is the set of axes along which a step goes: 1 for x, 2 for y, 4 for z.  For equal spacings the ratios of the weights
// are close to sqrt(2) and sqrt(3), and the weights are small enough for 32-bit lengths.  (They are best simultaneous
// approximations; in the plane, convergents.)  Other weights are rounded to 26 bits or more.
#pragma once

#include <math.h>

#include "core/view.h"

namespace apsis {

struct Steps {
    int64_t weight[8] = {0, 1, 1, 2, 1, 2, 2, 3};  // by kind; 0 where there is no such step
    double divisor = 1, unit = 1;                  // a length in the caller's unit is length / divisor * unit
    int64_t limit = INT64_MAX;                     // longer paths are not searched
    int connectivity = 1;                          // the number of axes that a step may go along
    int64_t least = 1, most = 1;                   // the weights of the shortest and the longest step
    int64_t knight = 0;                            // the weight of a step by (1, 2), in the plane; 0: there is none
};

/// The kind of the step to a neighbour at (dx, dy, dz), each -1, 0 or 1.
APSIS_BOTH inline int kind_of(int dx, int dy, int dz) { return (dx ? 1 : 0) | (dy ? 2 : 0) | (dz ? 4 : 0); }

/// A length in the caller's unit, in double precision.
APSIS_BOTH inline double real_length(const Steps &steps, double length) { return length / steps.divisor * steps.unit; }

/// The output pixel for the sum of two lengths.  A floating-point pixel is rounded from it once if it is below 2^53.
template <class Pixel, class Length>
APSIS_BOTH inline Pixel length_pixel(const Steps &steps, Length length, int64_t more = 0) {
    if constexpr (Pixel(0.5) == Pixel(0))
        return static_cast<Pixel>(length + more);
    else
        return static_cast<Pixel>(real_length(steps, static_cast<double>(length) + static_cast<double>(more)));
}

/// The output pixel where no path leads.
template <class Pixel>
APSIS_BOTH inline Pixel no_path() {
    if constexpr (Pixel(0.5) == Pixel(0))
        return static_cast<Pixel>(sizeof(Pixel) == 4 ? INT32_MAX : INT64_MAX);
    else
        return static_cast<Pixel>(HUGE_VAL);
}

}  // namespace apsis
