// Writes rows of an output of any pixel type and layout.
#pragma once

#include "core/view.h"

namespace apsis::cpu {

/// Calls body(pixel) with a pixel of the output's type.
template <class Body>
void with_pixel_type(const View &out, Body body) {
    switch (out.type) {
        case APSIS_I32: return body(int32_t());
        case APSIS_I64: return body(int64_t());
        case APSIS_F32: return body(float());
        default: return body(double());
    }
}

/// Writes value_at(x, pixel) to the pixels of a row for which wanted(x) is true; `pixel` has the output's type.  An output
/// without data is skipped.
template <class Wanted, class ValueAt>
void write_pixels(const View &out, int64_t y, int64_t z, Wanted wanted, ValueAt value_at) {
    if (!out) return;
    uint8_t *const row = out.row(y, z);
    with_pixel_type(out, [&](auto pixel) {
        using Pixel = decltype(pixel);
        if (out.stride[0] == sizeof(Pixel)) {
            Pixel *const packed = reinterpret_cast<Pixel *>(row);
            for (int64_t x = 0; x < out.size[0]; ++x)
                if (wanted(x)) packed[x] = value_at(x, pixel);
        } else {
            for (int64_t x = 0; x < out.size[0]; ++x)
                if (wanted(x)) put<Pixel>(out, row, x, value_at(x, pixel));
        }
    });
}

}  // namespace apsis::cpu
