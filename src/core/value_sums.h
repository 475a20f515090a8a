// What is counted of a value of a label image: whole numbers, so that the sums of parts of an image are those of the image, in
// any order.
#pragma once

#include "core/exact_sum.h"

namespace apsis {

/// The sums of squares and products of coordinates, and what the surroundings of pixels are like.
struct ShapeSums {
    __int128 product[6] = {};  // xx, yy, zz, xy, xz, yz
    int64_t faces[3] = {};     // across each axis
    int64_t diagonals = 0;     // in 2-D: pairs of pixels side by side across a corner, one of them of another value
    int64_t euler = 0;
    int64_t steps[3] = {};  // of the perimeter: pixels where it is straight, diagonal, or one and then the other

    /// Adds the sums of other pixels, or with -1 takes them away.
    APSIS_BOTH void add(const ShapeSums &other, int sign = 1) {
        for (int i = 0; i < 6; ++i) product[i] += sign * other.product[i];
        for (int i = 0; i < 3; ++i) faces[i] += sign * other.faces[i], steps[i] += sign * other.steps[i];
        diagonals += sign * other.diagonals, euler += sign * other.euler;
    }
    /// Adds pixels from x = begin to end.
    APSIS_BOTH void add_run(int64_t begin, int64_t end, int64_t y, int64_t z) {
        const int64_t length = end - begin, sum = length * (begin + end - 1) / 2;
        const __int128 rest = static_cast<__int128>(length * (length - 1) / 2) * (2 * length - 1);  // of 0, 1, ..., length - 1
        product[0] += static_cast<__int128>(2 * sum - length * begin) * begin + rest / 3;
        product[1] += static_cast<__int128>(length * y) * y;
        product[2] += static_cast<__int128>(length * z) * z;
        product[3] += static_cast<__int128>(sum) * y;
        product[4] += static_cast<__int128>(sum) * z;
        product[5] += static_cast<__int128>(length * y) * z;
    }
};

/// The intensities of its pixels.  The least and the largest one are kept as numbers that sort as floats do.
struct IntensitySums {
    ExactSum sum;
    int32_t least = INT32_MAX, largest = INT32_MIN;
    uint32_t special = 0;  // NAN_FOUND | ABOVE | BELOW: what has no part in the sum

    static constexpr uint32_t NAN_FOUND = 1, ABOVE = 2, BELOW = 4;

    APSIS_BOTH void add(const IntensitySums &other) {
        sum.add(other.sum);
        least = other.least < least ? other.least : least;
        largest = other.largest > largest ? other.largest : largest;
        special |= other.special;
    }
    APSIS_BOTH void add(float value) {
        if (value != value) {
            special |= NAN_FOUND;
            return;
        }
        meet(key_of(value));
        if (isinf(value))
            special |= value > 0 ? ABOVE : BELOW;
        else
            sum.add(value);
    }
    /// Adds whole numbers, by their sum.
    APSIS_BOTH void add_whole(int64_t total, int32_t lower, int32_t upper) {
        sum.add_whole(total);
        meet(key_of(static_cast<float>(lower))), meet(key_of(static_cast<float>(upper)));
    }

    double total() const {
        if (special & NAN_FOUND || (special & ABOVE && special & BELOW)) return NAN;
        return special & ABOVE ? HUGE_VAL : special & BELOW ? -HUGE_VAL : sum.rounded();
    }
    double of(int32_t key) const { return special & NAN_FOUND ? NAN : static_cast<double>(float_of(key)); }

    APSIS_BOTH static int32_t key_of(float value) {
        int32_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits ^ ((bits >> 31) & INT32_MAX);
    }

  private:
    static float float_of(int32_t key) {
        const int32_t bits = key ^ ((key >> 31) & INT32_MAX);
        float value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    APSIS_BOTH void meet(int32_t key) {
        least = key < least ? key : least;
        largest = key > largest ? key : largest;
    }
};

/// What follows from all of its pixels together.
struct Outline {
    int64_t filled = 0;
    int64_t convex = 0;
    double convex_area = 0, feret[2] = {0, 0}, feret_contour = 0;  // in units of spacing
};

/// All that is known of a value, as far as it is wanted.
struct ValueSums {
    apsis_part part;
    ShapeSums shape;
    IntensitySums intensity;
    Outline outline;
};

}  // namespace apsis
