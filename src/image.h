// Images: checks a caller's descriptor once and yields a View, and moves pixels between views on the CPU.
#pragma once

#include "core/view.h"

namespace apsis {

constexpr int64_t LONGEST_AXIS = int64_t(1) << 30;  // so that squared distances in 3-D stay below 2^62

/// Which pixel types an argument may have, and whether it is written to.
enum class Role { SET, DISTANCE, INDEX, LABELS, ANY_INPUT, ANY_OUTPUT };

/// The view of a caller's image.  `name` is the argument's, for the message of the Error that it throws; `need_data`
/// is false where only the size of a workspace is asked for.
View check_image(const char *name, const apsis_image *image, Role role, bool need_data = true);

/// Throws unless b has the ndim and size of a.
void check_same_size(const char *name_a, const apsis_image *a, const char *name_b, const apsis_image *b);

/// Throws if two views of one memory share a byte.  Views that interleave without touching pass.
void check_apart(const char *name_a, const View &a, const char *name_b, const View &b);

/// The bytes of a pixel; 1 for APSIS_BIT, whose rows are bytes.
int64_t pixel_bytes(apsis_type type);

/// The bytes of packed pixels of this view's size and type.
int64_t packed_bytes(const View &view);

/// A packed view of the same pixels at `data`.
View packed_like(const View &view, void *data, apsis_memory memory);
bool is_packed(const View &view);

/// Copies pixels in host memory.  Types are equal, or APSIS_BIT and APSIS_U8.
void copy_pixels(const View &from, const View &to);

}  // namespace apsis
