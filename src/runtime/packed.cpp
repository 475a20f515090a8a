// Packed images: see packed.h.
#include "runtime/packed.h"

#include <algorithm>
#include <cstring>

#include "runtime/error.h"

namespace apsis {
namespace {

template <class Pixel>
void copy_row(const uint8_t *from, int64_t from_stride, uint8_t *to, int64_t to_stride, int64_t count) {
    if (from_stride == sizeof(Pixel) && to_stride == sizeof(Pixel)) {
        std::memcpy(to, from, static_cast<size_t>(count) * sizeof(Pixel));
        return;
    }
    for (int64_t x = 0; x < count; ++x)
        *reinterpret_cast<Pixel *>(to + x * to_stride) = *reinterpret_cast<const Pixel *>(from + x * from_stride);
}

void copy_set_row(const View &from, const uint8_t *source, const View &to, uint8_t *target) {
    if (to.type == APSIS_U8) {
        for (int64_t x = 0; x < from.size[0]; ++x) put<uint8_t>(to, target, x, is_set(from, source, x));
        return;
    }
    for (int64_t x = 0; x < from.size[0]; x += 8) {
        unsigned bits = 0;
        for (int64_t k = x; k < std::min(x + 8, from.size[0]); ++k) bits |= unsigned(is_set(from, source, k)) << (k - x);
        target[x >> 3] = static_cast<uint8_t>(bits);
    }
}

}  // namespace

int64_t pixel_bytes(apsis_type type) {
    switch (type) {
        case APSIS_I32:
        case APSIS_F32: return 4;
        case APSIS_I64:
        case APSIS_F64: return 8;
        default: return 1;
    }
}

int64_t packed_bytes(const View &view) {
    const int64_t row = view.type == APSIS_BIT ? (view.size[0] + 7) / 8 : view.size[0] * pixel_bytes(view.type);
    int64_t bytes;
    if (__builtin_mul_overflow(row, view.size[1] * view.size[2], &bytes))
        throw Error(APSIS_ERROR_MEMORY, "the image would exceed the address space");
    return bytes;
}

View packed_like(const View &view, void *data, apsis_memory memory) {
    View packed = view;
    packed.data = static_cast<uint8_t *>(data);
    packed.memory = memory;
    packed.stride[0] = view.type == APSIS_BIT ? 0 : pixel_bytes(view.type);
    packed.stride[1] = view.type == APSIS_BIT ? (view.size[0] + 7) / 8 : view.size[0] * pixel_bytes(view.type);
    packed.stride[2] = packed.stride[1] * view.size[1];
    return packed;
}

bool is_packed(const View &view) {
    const View packed = packed_like(view, view.data, view.memory);
    for (int a = 0; a < 3; ++a)
        if (view.size[a] > 1 && view.stride[a] != packed.stride[a]) return false;
    return true;
}

void copy_pixels(const View &from, const View &to) {
    for (int64_t z = 0; z < from.size[2]; ++z)
        for (int64_t y = 0; y < from.size[1]; ++y) {
            const uint8_t *source = from.row(y, z);
            uint8_t *target = to.row(y, z);
            if (from.type != to.type)
                copy_set_row(from, source, to, target);
            else if (from.type == APSIS_BIT)
                std::memcpy(target, source, static_cast<size_t>((from.size[0] + 7) / 8));
            else if (pixel_bytes(from.type) == 1)
                copy_row<uint8_t>(source, from.stride[0], target, to.stride[0], from.size[0]);
            else if (pixel_bytes(from.type) == 4)
                copy_row<uint32_t>(source, from.stride[0], target, to.stride[0], from.size[0]);
            else
                copy_row<uint64_t>(source, from.stride[0], target, to.stride[0], from.size[0]);
        }
}

}  // namespace apsis
