// Square roots of whole numbers on the device, correctly rounded to float without the slow general division, and approximate
// inverses.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace apsis::cuda {

/// The root of a whole number below 2^24, correctly rounded: after one correction the approximate root is off by less than half
/// a step.  This was tested for every such number.
__device__ inline float small_root(float cost) {
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(cost + 1e-30f));  // the addition changes only 0
    const float root = __fmul_rn(cost, inverse);
    return fmaf(fmaf(-root, root, cost), 0.5f * inverse, root);
}

/// Converts a whole number below 2^23 to a float by its bits, which takes a quarter of a conversion's time.
__device__ inline float float_of(uint32_t number) { return __uint_as_float(0x4b000000 | number) - 0x1p23f; }
/// The same for the low or the high half of a number.
__device__ inline float float_of_low(uint32_t number) { return __uint_as_float(__byte_perm(number, 0x4b00, 0x5410)) - 0x1p23f; }
__device__ inline float float_of_high(uint32_t number) {
    return __uint_as_float(__byte_perm(number, 0x4b00, 0x5432)) - 0x1p23f;
}
__device__ inline float small_root_of(uint32_t cost) { return small_root(float_of(cost)); }

/// The whole number nearest to a float below 2^22, also by its bits.
__device__ inline int32_t nearest_whole(float number) { return __float_as_int(number + 0x1.8p23f) - 0x4b400000; }

/// The inverse of a whole number, with a relative error of up to 2^-22.
__device__ inline float inverse_of(float number) {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(number));
    return inverse;
}

/// The root of any 32-bit whole number, correctly rounded.  The hardware gives the first 20 bits.  Two Newton steps in double
/// precision leave an error far below 2^-50, the least distance between a root and the middle of two floats.
__device__ inline float large_root(uint32_t cost) {
    const double value = __hiloint2double(0x43300000, static_cast<int>(cost)) - 4503599627370496.0;
    double inverse;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(value));
    double root = value * inverse;
    const double half = 0.5 * inverse;
    root = fma(fma(-root, root, value), half, root);
    root = fma(fma(-root, root, value), half, root);
    return static_cast<float>(root);
}

/// The faster of the two that serves a number of this size.
__device__ inline float root_of(uint32_t cost) {
    return cost < 1u << 24 ? small_root(static_cast<float>(cost)) : large_root(cost);
}

}  // namespace apsis::cuda
