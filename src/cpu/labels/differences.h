// Where two rows of a label image differ: equal pixels are skipped 64 at a time.  Compiled once for every instruction set
// (Highway).
#pragma once

#include "runtime/backend.h"
#include "runtime/packed.h"

namespace apsis::cpu::labels {

/// Sets bit i where pixel i of one row is not that of the other.  Pixels have so many bytes each; bits from `count` on are 0.
void mark_differences(const void *one, const void *other, int64_t bytes, int64_t count, uint64_t *bits);

/// Calls body(i) for the set bits, in order.
template <class Body>
void for_bits(const uint64_t *bits, int64_t count, Body body) {
    for (int64_t i = 0; i < (count + 63) / 64; ++i)
        for (uint64_t word = bits[i]; word; word &= word - 1) body(i * 64 + __builtin_ctzll(word));
}

inline bool has_side_by_side(const View &image) { return image.stride[0] == pixel_bytes(image.type); }

/// The pixels of a row, side by side: its own, or copied to `memory`.
template <class Pixel>
const Pixel *row_of(const View &image, int64_t y, int64_t z, void *memory) {
    const uint8_t *const row = image.row(y, z);
    if (has_side_by_side(image)) return reinterpret_cast<const Pixel *>(row);
    auto *const line = static_cast<Pixel *>(memory);
    for (int64_t x = 0; x < image.size[0]; ++x) line[x] = *reinterpret_cast<const Pixel *>(row + x * image.stride[0]);
    return line;
}

}  // namespace apsis::cpu::labels
