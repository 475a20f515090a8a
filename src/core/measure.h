// How an offset between two pixels becomes a cost, and a cost a length.
//
// Costs are whole numbers and add up over the axes, so that every comparison is exact on every device:
//     Euclidean    weight[a] * d^2 along axis a,   length = unit * sqrt(cost)
//     city-block   weight[a] * |d|,                length = unit * cost
//     chessboard   the largest |d|,                length = unit * cost
//     chamfer      the weights of steps together,  length = unit * cost / weight[0]
#pragma once

#include <math.h>

#include "core/view.h"

namespace apsis {

struct Measure {
    apsis_metric metric = APSIS_EUCLIDEAN;
    int64_t weight[3] = {1, 1, 1};
    int64_t diagonal = 0, knight = 0;  // chamfer: the weights of a step along both axes, and of a knight's move; 0: none
    double unit = 1;
    int64_t largest = 0;  // no cost between two pixels of the image is above it
    int64_t limit = 0;    // costs above it count as no site; at most `largest`
};

/// The cost of "no site here": above every cost between pixels, and such a cost can be added without overflow.
template <class Cost>
constexpr Cost NO_COST = static_cast<Cost>(Cost(1) << (8 * sizeof(Cost) - 2));

/// 32-bit costs serve an image whose largest cost is below NO_COST<int32_t>.
inline bool is_narrow(const Measure &measure) { return measure.largest < NO_COST<int32_t>; }

template <class Cost>
APSIS_BOTH inline Cost axis_cost(apsis_metric metric, Cost weight, Cost offset) {
    return metric == APSIS_EUCLIDEAN ? weight * offset * offset : weight * (offset < 0 ? -offset : offset);
}

/// The square root of a cost below 2^62, rounded once from the exact value to float or double.
///
/// Below 2^52 the operand is exact in double, and its square root is rounded to 53 bits.  No root lies close enough to the
/// midpoint of two floats for the second rounding to matter: midpoints have 25 bits, their squares 50, and neighbouring
/// integers differ by more than 2^-52 of themselves.  Above, an integer root with 10 spare bits and a sticky last bit is
/// converted, and the conversion rounds correctly.
template <class Real>
APSIS_BOTH inline Real root(int64_t cost) {
    if (cost < (int64_t(1) << 52)) return static_cast<Real>(sqrt(static_cast<double>(cost)));
    const unsigned __int128 scaled = static_cast<unsigned __int128>(cost) << 62;
    uint64_t r = static_cast<uint64_t>(sqrt(static_cast<double>(cost)) * 2147483648.0);
    const unsigned __int128 square = static_cast<unsigned __int128>(r) * r;  // r is right to 2^-52: one Newton step
    const __int128 error = static_cast<__int128>(scaled - square);
    r += static_cast<int64_t>(static_cast<double>(static_cast<int64_t>(error >> 32)) * 4294967296.0 /
                              (2.0 * static_cast<double>(r)));
    while (static_cast<unsigned __int128>(r) * r > scaled) --r;
    while (static_cast<unsigned __int128>(r + 1) * (r + 1) <= scaled) ++r;
    const bool exact = static_cast<unsigned __int128>(r) * r == scaled;
    return static_cast<Real>(static_cast<int64_t>(exact ? r : r | 1)) * static_cast<Real>(1.0 / 2147483648.0);
}

/// unit * sqrt(cost).  The rounding errors of the root and of the product are added back, so that the result is rounded once,
/// to within 0.501 of a unit in the last place.
APSIS_BOTH inline double scaled_root(double unit, int64_t cost) {
    if (cost == 0) return 0;
    const double high = static_cast<double>(cost), low = static_cast<double>(cost - static_cast<int64_t>(high));
    const double r = root<double>(cost), rest = (fma(-r, r, high) + low) / (2 * r);
    const double product = unit * r;
    return product + (fma(unit, r, -product) + unit * rest);
}

/// The length of a cost in the caller's unit.
template <class Real>
APSIS_BOTH inline Real length_of(const Measure &measure, int64_t cost) {
    if (measure.metric == APSIS_EUCLIDEAN)
        return measure.unit == 1 ? root<Real>(cost) : static_cast<Real>(scaled_root(measure.unit, cost));
    if (measure.metric == APSIS_CHAMFER)
        return static_cast<Real>(static_cast<double>(cost) / static_cast<double>(measure.weight[0]) * measure.unit);
    return static_cast<Real>(measure.unit * static_cast<double>(cost));
}

/// The output pixel for a cost.  `found` is false if there is no site.  `negative` is for pixels in the set of a signed map.
template <class Pixel>
APSIS_BOTH inline Pixel distance_pixel(const Measure &measure, int64_t cost, bool found, bool negative) {
    Pixel value;
    if constexpr (Pixel(0.5) == Pixel(0)) {  // an integer
        value = found ? static_cast<Pixel>(cost) : static_cast<Pixel>(sizeof(Pixel) == 4 ? INT32_MAX : INT64_MAX);
    } else {
        value = found ? length_of<Pixel>(measure, cost) : static_cast<Pixel>(HUGE_VAL);
    }
    return negative ? -value : value;
}

}  // namespace apsis
