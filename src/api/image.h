// Images: checks a caller's descriptor once and yields a View.
#pragma once

#include "core/view.h"

namespace apsis {

/// Which pixel types an argument may have, and whether it is written to.
enum class Role { SET, GREY, VALUES, INTENSITY, COSTS, DISTANCE, INDEX, LABELS, MASK, ANY_INPUT, ANY_OUTPUT };

inline bool is_input(Role role) {
    return role == Role::SET || role == Role::GREY || role == Role::VALUES || role == Role::INTENSITY || role == Role::COSTS ||
           role == Role::ANY_INPUT;
}

/// "APSIS_U8", and so on; NULL for what is no type.
const char *type_name(int type);

/// The view of a caller's image.  `name` is the argument's name, for the message of the Error that is thrown.  `need_data` is
/// false if only the size of a workspace is needed.
View check_image(const char *name, const apsis_image *image, Role role, bool need_data = true);

/// Throws unless the image is in host memory, for a function that takes no other.
void check_host(const char *function, const char *name, const apsis_image *image);

/// Throws unless b has the same ndim and size as a.
void check_same_size(const char *name_a, const apsis_image *a, const char *name_b, const apsis_image *b);

/// Throws if two views of one memory share a byte.  Views that interleave without touching pass.
void check_apart(const char *name_a, const View &a, const char *name_b, const View &b);

}  // namespace apsis
