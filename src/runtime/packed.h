// Packed images, whose pixels lie one after the other, and copies of pixels on the CPU.
#pragma once

#include "core/view.h"

namespace apsis {

/// The bytes of a pixel; 1 for APSIS_BIT, whose rows are stored as bytes.
int64_t pixel_bytes(apsis_type type);

/// The bytes of packed pixels of this view's size and type.
int64_t packed_bytes(const View &view);

/// A packed view of the same pixels at `data`.
View packed_like(const View &view, void *data, apsis_memory memory);
bool is_packed(const View &view);

/// Copies pixels in host memory.  Types are equal, or APSIS_BIT and APSIS_U8.
void copy_pixels(const View &from, const View &to);

}  // namespace apsis
