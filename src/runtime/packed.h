// Packed images, whose pixels lie one after the other, and copies of pixels on the CPU.
#pragma once

#include "core/view.h"

namespace apsis {

/// Whether pixels of this type, in a set, are packed to bits before a transform reads them.
inline bool is_wide(apsis_type type) { return type == APSIS_U16 || type == APSIS_I32 || type == APSIS_I64; }

/// The bytes of a pixel; 1 for APSIS_BIT, whose rows are stored as bytes.
int64_t pixel_bytes(apsis_type type);

/// The bytes of packed pixels of this view's size and type.
int64_t packed_bytes(const View &view);

/// A packed view of the same pixels at `data`.
View packed_like(const View &view, void *data, apsis_memory memory);
bool is_packed(const View &view);

/// The same for bits, whatever the type of the view.
View bits_like(const View &view, void *data, apsis_memory memory);

/// Copies pixels in host memory.  Types are equal, or those of sets: from any to APSIS_BIT or APSIS_U8, which become 0 and 1.
void copy_pixels(const View &from, const View &to);
/// Some rows alone; those of all slices are numbered slice by slice.
void copy_rows(const View &from, const View &to, int64_t first, int64_t count);

}  // namespace apsis
