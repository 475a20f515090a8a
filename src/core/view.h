// A checked image, as every transform reads and writes it.  2-D images have size[2] = 1.  Strides are never 0, except
// stride[0] of APSIS_BIT.  It is plain data, so that a kernel can take it by value.
#pragma once

#include <apsis.h>

#if defined(__CUDACC__)
#define APSIS_BOTH __host__ __device__
#else
#define APSIS_BOTH
#endif

namespace apsis {

constexpr int64_t LONGEST_AXIS = int64_t(1) << 30;  // so that squared distances in 3-D stay below 2^62

struct View {
    uint8_t *data = nullptr;
    apsis_type type = APSIS_U8;
    apsis_memory memory = APSIS_HOST;
    int64_t size[3] = {0, 0, 0};
    int64_t stride[3] = {0, 0, 0};

    APSIS_BOTH int64_t pixels() const { return size[0] * size[1] * size[2]; }
    APSIS_BOTH uint8_t *row(int64_t y, int64_t z) const { return data + y * stride[1] + z * stride[2]; }
    APSIS_BOTH explicit operator bool() const { return data != nullptr; }
};

/// Whether the address of every row is a multiple of `bytes`.
inline bool rows_begin_at(const View &view, uintptr_t bytes) {
    const auto places = reinterpret_cast<uintptr_t>(view.data) | static_cast<uintptr_t>(view.stride[1]) |
                        static_cast<uintptr_t>(view.size[2] > 1 ? view.stride[2] : 0);
    return places % bytes == 0;
}

/// Whether pixel x of a row of a set is non-zero.
APSIS_BOTH inline bool is_set(const View &set, const uint8_t *row, int64_t x) {
    return set.type == APSIS_BIT ? (row[x >> 3] >> (x & 7)) & 1 : row[x * set.stride[0]] != 0;
}

/// The value of pixel x of a row of a set or a label image.
APSIS_BOTH inline int64_t value_at(const View &image, const uint8_t *row, int64_t x) {
    const uint8_t *const pixel = row + x * image.stride[0];
    switch (image.type) {
        case APSIS_BIT: return row[x >> 3] >> (x & 7) & 1;
        case APSIS_U8: return *pixel;
        case APSIS_U16: return *reinterpret_cast<const uint16_t *>(pixel);
        case APSIS_I32: return *reinterpret_cast<const int32_t *>(pixel);
        default: return *reinterpret_cast<const int64_t *>(pixel);
    }
}

template <class Pixel>
APSIS_BOTH inline void put(const View &image, uint8_t *row, int64_t x, Pixel value) {
    *reinterpret_cast<Pixel *>(row + x * image.stride[0]) = value;
}

}  // namespace apsis
