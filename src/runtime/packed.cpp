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

constexpr int64_t FLAGS = 256;  // pixels that are looked at together: a multiple of 8

template <class Pixel>
void find_flags(const View &set, const uint8_t *row, int64_t x, int64_t count, uint8_t *flags) {
    const auto *const pixels = reinterpret_cast<const Pixel *>(row) + x;
    if (set.stride[0] == sizeof(Pixel))
        for (int64_t i = 0; i < count; ++i) flags[i] = pixels[i] != 0;
    else
        for (int64_t i = 0; i < count; ++i) flags[i] = *reinterpret_cast<const Pixel *>(row + (x + i) * set.stride[0]) != 0;
}

/// Which of up to FLAGS pixels of a row are in the set, as bytes of 0 and 1.
void find_flags(const View &set, const uint8_t *row, int64_t x, int64_t count, uint8_t *flags) {
    switch (set.type) {
        case APSIS_U16: return find_flags<uint16_t>(set, row, x, count, flags);
        case APSIS_I32: return find_flags<uint32_t>(set, row, x, count, flags);
        case APSIS_I64: return find_flags<uint64_t>(set, row, x, count, flags);
        default:
            for (int64_t i = 0; i < count; ++i) flags[i] = is_set(set, row, x + i);
    }
}

void copy_set_row(const View &from, const uint8_t *source, const View &to, uint8_t *target) {
    constexpr uint64_t GATHER = 0x0102040810204080;  // moves the lowest bit of byte k to bit 56 + k
    for (int64_t x = 0; x < from.size[0]; x += FLAGS) {
        const int64_t count = std::min(FLAGS, from.size[0] - x);
        uint8_t flags[FLAGS] = {};
        find_flags(from, source, x, count, flags);
        if (to.type == APSIS_U8) {
            for (int64_t i = 0; i < count; ++i) put<uint8_t>(to, target, x + i, flags[i]);
            continue;
        }
        for (int64_t i = 0; i < count; i += 8) {
            uint64_t eight;
            std::memcpy(&eight, flags + i, sizeof eight);
            target[(x + i) >> 3] = static_cast<uint8_t>(eight * GATHER >> 56);
        }
    }
}

}  // namespace

int64_t pixel_bytes(apsis_type type) {
    switch (type) {
        case APSIS_U16: return 2;
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

View bits_like(const View &view, void *data, apsis_memory memory) {
    View bits = view;
    bits.type = APSIS_BIT;
    return packed_like(bits, data, memory);
}

void copy_pixels(const View &from, const View &to) { copy_rows(from, to, 0, from.size[1] * from.size[2]); }

void copy_rows(const View &from, const View &to, int64_t first, int64_t count) {
    for (int64_t row = first; row < first + count; ++row) {
        const int64_t y = row % from.size[1], z = row / from.size[1];
        const uint8_t *const source = from.row(y, z);
        uint8_t *const target = to.row(y, z);
        if (from.type != to.type) {
            copy_set_row(from, source, to, target);
            continue;
        }
        if (from.type == APSIS_BIT) {
            std::memcpy(target, source, static_cast<size_t>((from.size[0] + 7) / 8));
            continue;
        }
        switch (pixel_bytes(from.type)) {
            case 1: copy_row<uint8_t>(source, from.stride[0], target, to.stride[0], from.size[0]); break;
            case 2: copy_row<uint16_t>(source, from.stride[0], target, to.stride[0], from.size[0]); break;
            case 4: copy_row<uint32_t>(source, from.stride[0], target, to.stride[0], from.size[0]); break;
            default: copy_row<uint64_t>(source, from.stride[0], target, to.stride[0], from.size[0]);
        }
    }
}

}  // namespace apsis
