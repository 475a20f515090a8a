// The spacings of an image's axes, as whole numbers if they are in such a ratio.
//
// Decimal spacings are in a ratio of whole numbers, but the doubles next to them are not: 0.3 and 0.2 are only close to 3 : 2.
// Continued fractions find the ratio that is meant, in some dozens of steps.
#pragma once

#include "apsis.h"

namespace apsis {

/// Whole numbers up to this are found.
constexpr int64_t MOST_WHOLE = 1 << 20;

struct Spacing {
    double along[3] = {1, 1, 1};  // along each axis: whole numbers, or else parts of the largest
    double unit = 1;              // what 1 is in the caller's unit
    int axes = 3;                 // how many axes count
    bool is_whole = true;

    int least() const;  // the axis along which it is least
    int most() const;
    bool is_equal() const { return along[least()] == along[most()]; }
};

/// The ratio of spacings from 1e-270 to 1e270.  It is taken for one of whole numbers if it would be one but for the rounding of
/// every spacing by a unit in the last place.
Spacing ratio_of(const double *spacing, int axes);

}  // namespace apsis
