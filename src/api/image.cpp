// Images: see image.h.
#include "api/image.h"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>

#include "api/enums.h"
#include "runtime/packed.h"
#include "runtime/workspace.h"

namespace apsis {

const char *type_name(int type) {
    switch (type) {
        case APSIS_BIT: return "APSIS_BIT";
        case APSIS_U8: return "APSIS_U8";
        case APSIS_I32: return "APSIS_I32";
        case APSIS_I64: return "APSIS_I64";
        case APSIS_F32: return "APSIS_F32";
        case APSIS_F64: return "APSIS_F64";
        case APSIS_U16: return "APSIS_U16";
        default: return nullptr;
    }
}

namespace {

/// The bytes that a view covers: a box of elements with strides.  A row of bits counts as a row of bytes.
struct Cover {
    int64_t element, count[3], stride[3];
    const uint8_t *data;
};

Cover cover_of(const View &view) {
    Cover cover{pixel_bytes(view.type),
                {view.size[0], view.size[1], view.size[2]},
                {view.stride[0], view.stride[1], view.stride[2]},
                view.data};
    if (view.type == APSIS_BIT) {
        cover.count[0] = (view.size[0] + 7) / 8;
        cover.stride[0] = 1;
    }
    return cover;
}

/// The span in bytes of the lowest `axes` axes, from the first byte to the end of the last, with all strides taken as positive.
int64_t reach(const Cover &cover, int axes) {
    int64_t bytes = cover.element;
    for (int a = 0; a < axes; ++a) bytes += (cover.count[a] - 1) * std::llabs(cover.stride[a]);
    return bytes;
}

uintptr_t lowest_address(const Cover &cover) {
    uintptr_t low = reinterpret_cast<uintptr_t>(cover.data);
    for (int a = 0; a < 3; ++a)
        if (cover.stride[a] < 0) low -= static_cast<uintptr_t>((cover.count[a] - 1) * -cover.stride[a]);
    return low;
}

/// A placeholder for data that is given later, so that the view counts as wanted.  Never read or written.
uint8_t *const WANTED = reinterpret_cast<uint8_t *>(uintptr_t(Carver::SLOT));

void check_type(const char *name, int type, Role role) {
    const char *found = type_name(type);
    if (!found) throw Error(APSIS_ERROR_ARGUMENT, "%s: type is %d, which is no apsis_type", name, type);
    const bool is_mask = type == APSIS_BIT || type == APSIS_U8, is_index = type == APSIS_I32 || type == APSIS_I64;
    const bool is_real = type == APSIS_F32 || type == APSIS_F64;
    if (role == Role::SET && is_real)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: type is %s, but a set is APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32 or APSIS_I64",
                    name, found);
    if (role == Role::GREY && type == APSIS_F64)
        throw Error(APSIS_ERROR_ARGUMENT,
                    "%s: type is %s, but with APSIS_LABELS it is APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64 or "
                    "APSIS_F32",
                    name, found);
    if (role == Role::VALUES && (is_real || type == APSIS_BIT))
        throw Error(APSIS_ERROR_ARGUMENT, "%s: type is %s, but a label image is APSIS_U8, APSIS_U16, APSIS_I32 or APSIS_I64",
                    name, found);
    if (role == Role::INTENSITY && type != APSIS_U8 && type != APSIS_U16 && type != APSIS_F32)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: type is %s, but intensities are APSIS_U8, APSIS_U16 or APSIS_F32", name, found);
    if (role == Role::COSTS && type != APSIS_U8 && type != APSIS_U16 && type != APSIS_F32)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: type is %s, but costs are APSIS_U8, APSIS_U16 or APSIS_F32", name, found);
    if (role == Role::DISTANCE && !is_real && !is_index)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: type is %s, but a distance is APSIS_F32, APSIS_F64, APSIS_I32 or APSIS_I64",
                    name, found);
    if (role == Role::INDEX && !is_index)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: type is %s, but an index is APSIS_I32 or APSIS_I64", name, found);
    if (role == Role::MASK && !is_mask)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: type is %s, but a mask is APSIS_BIT or APSIS_U8", name, found);
    if (role == Role::LABELS && !is_index && !is_mask)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: type is %s, but labels are APSIS_I32 or APSIS_I64, or APSIS_BIT or APSIS_U8",
                    name, found);
}

void check_size(const char *name, const apsis_image &image, View &view) {
    for (int a = 0; a < 3; ++a) {
        view.size[a] = a < image.ndim ? image.size[a] : 1;
        if (view.size[a] < 0)
            throw Error(APSIS_ERROR_ARGUMENT, "%s: size[%d] is %" PRId64 ", but cannot be negative", name, a, view.size[a]);
    }
    for (int a = 0; a < 3; ++a)
        if (view.size[a] > LONGEST_AXIS)
            throw Error(APSIS_ERROR_UNSUPPORTED, "%s: size[%d] is %" PRId64 ", but at most 2^30 is supported", name, a,
                        view.size[a]);
    int64_t pixels = 1;
    for (int64_t size : view.size)
        if (size && __builtin_mul_overflow(pixels, size, &pixels))
            throw Error(APSIS_ERROR_ARGUMENT, "%s: size is %" PRId64 " x %" PRId64 " x %" PRId64 ", more than 2^63 pixels",
                        name, view.size[0], view.size[1], view.size[2]);
}

/// Fills in packed strides.  Throws if a byte offset in the image could wrap.
void check_strides(const char *name, const apsis_image &image, View &view) {
    const int64_t element = pixel_bytes(view.type);
    int64_t extent = element, total = 0;
    bool is_packed = true;
    for (int a = 0; a < image.ndim; ++a) is_packed &= image.stride[a] == 0;
    for (int a = 0; a < 3; ++a) {
        int64_t given = a < image.ndim ? image.stride[a] : 0;
        int64_t count = view.size[a];
        if (a == 0 && view.type == APSIS_BIT) {
            if (given != 0)
                throw Error(APSIS_ERROR_ARGUMENT, "%s: stride[0] is %" PRId64 ", but that of APSIS_BIT is 0", name, given);
            extent = (count + 7) / 8;
            continue;
        }
        if (given % element)
            throw Error(APSIS_ERROR_ARGUMENT,
                        "%s: stride[%d] is %" PRId64 ", but must be a multiple of the pixel's %" PRId64 " bytes", name, a,
                        given, element);
        view.stride[a] = given ? given : extent;
        if (given != INT64_MIN && !__builtin_mul_overflow(std::llabs(view.stride[a]), std::max<int64_t>(count, 1), &extent) &&
            !__builtin_add_overflow(total, extent, &total))
            continue;
        if (is_packed)
            throw Error(APSIS_ERROR_ARGUMENT,
                        "%s: size is %" PRId64 " x %" PRId64 " x %" PRId64 ", and with %" PRId64
                        " bytes a pixel that is more than 2^63 bytes",
                        name, view.size[0], view.size[1], view.size[2], element);
        throw Error(APSIS_ERROR_ARGUMENT,
                    "%s: stride[%d] is %" PRId64 ", too large for %" PRId64
                    " pixels: offsets reach "
                    "farther than 2^63 bytes",
                    name, a, view.stride[a], count);
    }
}

/// Pixels that are written must not share bytes: from the shortest stride up, each must step over all before it.
void check_output_strides(const char *name, const View &view) {
    const Cover cover = cover_of(view);
    int axis[3] = {0, 1, 2};
    std::sort(axis, axis + 3, [&](int a, int b) {
        return std::pair(std::llabs(cover.stride[a]), a) < std::pair(std::llabs(cover.stride[b]), b);
    });
    int64_t needed = cover.element;
    for (int a : axis) {
        if (cover.count[a] < 2) continue;
        if (std::llabs(cover.stride[a]) < needed)
            throw Error(APSIS_ERROR_ARGUMENT, "%s: stride[%d] is %" PRId64 ", but pixels overlap below %" PRId64, name, a,
                        cover.stride[a], needed);
        needed += (cover.count[a] - 1) * std::llabs(cover.stride[a]);
    }
}

/// Whether two covers lie apart in a common period of |stride[axis]|: their spans below that axis are in disjoint parts of the
/// period, and all strides from that axis on are multiples of it.
bool interleave(const Cover &a, const Cover &b, int axis) {
    const int64_t period = std::llabs(a.stride[axis]);
    if (period == 0) return false;
    for (int k = axis; k < 3; ++k)
        if ((a.count[k] > 1 && a.stride[k] % period) || (b.count[k] > 1 && b.stride[k] % period)) return false;
    Cover below_a = a, below_b = b;
    for (int k = axis; k < 3; ++k) below_a.count[k] = below_b.count[k] = 1;
    const uintptr_t start_a = lowest_address(below_a), start_b = lowest_address(below_b);
    const int64_t step = static_cast<int64_t>(start_b - start_a) % period;
    const int64_t phase = step < 0 ? step + period : step;
    return phase >= reach(below_a, axis) && period - phase >= reach(below_b, axis);
}

}  // namespace

View check_image(const char *name, const apsis_image *image, Role role, bool need_data) {
    if (!image) throw Error(APSIS_ERROR_ARGUMENT, "%s is NULL, but an image is needed", name);
    if (image->ndim != 2 && image->ndim != 3)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: ndim is %d, but must be 2 or 3", name, int(image->ndim));
    if (raw(image->memory) != APSIS_HOST && raw(image->memory) != APSIS_DEVICE)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: memory is %d, but must be APSIS_HOST or APSIS_DEVICE", name, raw(image->memory));
    if (image->reserved != 0)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: reserved is %d, but must be 0", name, int(image->reserved));
    check_type(name, raw(image->type), role);

    View view;
    view.type = image->type;
    view.memory = image->memory;
    check_size(name, *image, view);
    check_strides(name, *image, view);
    if (view.pixels() == 0) return view;
    if (!is_input(role)) check_output_strides(name, view);
    if (!need_data) {
        view.data = WANTED;
        return view;
    }
    if (!image->data) throw Error(APSIS_ERROR_ARGUMENT, "%s: data is NULL, but the image has pixels", name);
    if (reinterpret_cast<uintptr_t>(image->data) % static_cast<uintptr_t>(pixel_bytes(view.type)))
        throw Error(APSIS_ERROR_ARGUMENT, "%s: data is at %p, but must be a multiple of the pixel's %d bytes", name,
                    image->data, int(pixel_bytes(view.type)));
    view.data = static_cast<uint8_t *>(image->data);
    return view;
}

void check_host(const char *function, const char *name, const apsis_image *image) {
    if (image->memory != APSIS_HOST)
        throw Error(APSIS_ERROR_UNSUPPORTED, "%s: memory is APSIS_DEVICE, but %s takes APSIS_HOST alone", name, function);
}

void check_same_size(const char *name_a, const apsis_image *a, const char *name_b, const apsis_image *b) {
    if (a->ndim != b->ndim)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: ndim is %d, but that of %s is %d", name_b, int(b->ndim), name_a, int(a->ndim));
    for (int k = 0; k < a->ndim; ++k)
        if (a->size[k] != b->size[k])
            throw Error(APSIS_ERROR_ARGUMENT, "%s: size[%d] is %" PRId64 ", but that of %s is %" PRId64, name_b, k, b->size[k],
                        name_a, a->size[k]);
}

void check_apart(const char *name_a, const View &a, const char *name_b, const View &b) {
    if (!a || !b || a.memory != b.memory) return;
    const Cover cover_a = cover_of(a), cover_b = cover_of(b);
    const uintptr_t low_a = lowest_address(cover_a), low_b = lowest_address(cover_b);
    if (low_a + static_cast<uintptr_t>(reach(cover_a, 3)) <= low_b ||
        low_b + static_cast<uintptr_t>(reach(cover_b, 3)) <= low_a)
        return;
    for (int axis = 0; axis < 3; ++axis)
        if (interleave(cover_a, cover_b, axis)) return;
    throw Error(APSIS_ERROR_ARGUMENT, "%s overlaps %s", name_b, name_a);
}

}  // namespace apsis
