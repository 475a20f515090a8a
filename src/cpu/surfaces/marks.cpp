// The points of a surface.  The pixels of the box become bytes of 0 and 1 with a margin of 0 around them, and each point is
// marked from the bytes next to it.  Rows are marked side by side.  Cost: two passes over the box, of bytes.
#include <algorithm>
#include <atomic>

#include "core/label_values.h"
#include "cpu/surfaces/surfaces.h"

namespace apsis::cpu::surfaces {

namespace {

/// The bytes of a box: that of pixel (x, y, z) is at (x + 1, y + 1, z + 1), in 2-D (x + 1, y + 1, 0).
struct Members {
    Members(const SurfaceJob &job, Carver &carver)
        : pitch(job.size[0] + 2),
          rows(job.size[1] + 2),
          planes(job.axes == 3 ? job.size[2] + 2 : 1),
          bytes(carver.take<uint8_t>(pitch * rows * planes)) {}

    uint8_t *row(int64_t y, int64_t z) const { return bytes + (z * rows + y) * pitch; }

    int64_t plane() const { return pitch * rows; }

    int64_t pitch, rows, planes;
    uint8_t *bytes;
};

template <class Pixel>
void find_row(const uint8_t *from, int64_t stride, int64_t count, bool by_value, int64_t value, uint8_t *to) {
    const auto at = [&](int64_t x) { return *reinterpret_cast<const Pixel *>(from + x * stride); };
    const auto *const packed = reinterpret_cast<const Pixel *>(from);
    const auto wanted = static_cast<Pixel>(by_value ? value : 0);
    const bool is_packed = stride == sizeof(Pixel);
    if (by_value && static_cast<int64_t>(wanted) != value) {  // no pixel of this type has it
        std::fill_n(to, count, uint8_t(0));
    } else if (is_packed && by_value) {
        for (int64_t x = 0; x < count; ++x) to[x] = packed[x] == wanted;
    } else if (is_packed) {
        for (int64_t x = 0; x < count; ++x) to[x] = packed[x] != 0;
    } else {
        for (int64_t x = 0; x < count; ++x) to[x] = (at(x) == wanted) == by_value;
    }
}

void find_members(const SurfaceJob &job, const uint8_t *from, uint8_t *to) {
    const View &image = job.image;
    const int64_t first = job.lower[0], count = job.size[0];
    with_label_type(image.type, [&]<class Pixel>(Pixel) {
        find_row<Pixel>(from + first * image.stride[0], image.stride[0], count, job.by_value, job.value, to);
    });
}

/// Pixels with a neighbour that is not in the set.  `m` is the byte of the first one.
void mark_pixels(const uint8_t *__restrict m, const Members &in, int axes, int64_t count, uint8_t *__restrict marks) {
    const int64_t up = in.pitch, over = axes == 3 ? in.plane() : 0;
    for (int64_t x = 0; x < count; ++x) {
        const int inner = m[x - 1] & m[x + 1] & m[x - up] & m[x + up] & m[x - over] & m[x + over];
        marks[x] = static_cast<uint8_t>(m[x] & ~inner);
    }
}

/// Corners of pixels, not all of which are in the set.  The mark says which are: bit 1 << (dx + 2 dy + 4 dz) of the pixel
/// before the corner (0) or after it (1).  `m` is the byte of the first one.
void mark_corners(const uint8_t *__restrict m, const Members &in, int axes, int64_t count, uint8_t *__restrict marks) {
    const auto four = [&](const uint8_t *at) { return at[0] | at[1] << 1 | at[in.pitch] << 2 | at[in.pitch + 1] << 3; };
    const int all = axes == 3 ? 255 : 15;
    for (int64_t x = 0; x < count; ++x) {
        const int code = axes == 3 ? four(m + x) | four(m + x + in.plane()) << 4 : four(m + x);
        marks[x] = static_cast<uint8_t>(code == all ? 0 : code);
    }
}

}  // namespace

size_t surface_scratch(const SurfaceJob &job) {
    Carver count;
    Members(job, count);
    return count.used();
}

bool mark_surface(const SurfaceJob &job, void *scratch, Arena &arena) {
    Carver carver(scratch);
    const Members in(job, carver);
    const int64_t margin = job.axes == 3, height = job.size[1];
    parallel_for(arena, in.rows * in.planes, {}, 0, 0, [&](int64_t row) {
        const int64_t y = row % in.rows - 1, z = row / in.rows - margin;
        uint8_t *const to = in.row(y + 1, z + margin);
        if (y < 0 || y >= height || z < 0 || z >= job.size[2]) {
            std::fill_n(to, in.pitch, uint8_t(0));
            return;
        }
        to[0] = to[in.pitch - 1] = 0;
        find_members(job, job.image.row(job.lower[1] + y, job.lower[2] + z), to + 1);
    });
    const int64_t width = job.marks.size[0], rows = job.marks.size[1];
    std::atomic<bool> has_points = false;
    parallel_for(arena, rows * job.marks.size[2], {}, 0, 0, [&](int64_t row) {
        const int64_t y = row % rows, z = row / rows;
        uint8_t *const to = job.marks.data + row * width;
        switch (job.surface) {
            case APSIS_SURFACE_CORNERS: mark_corners(in.row(y, z), in, job.axes, width, to); break;
            case APSIS_SURFACE_PIXELS: mark_pixels(in.row(y + 1, z + margin) + 1, in, job.axes, width, to); break;
            default: std::copy_n(in.row(y + 1, z + margin) + 1, width, to);
        }
        uint8_t any = 0;
        for (int64_t x = 0; x < width; ++x) any |= to[x];
        if (any) has_points.store(true, std::memory_order_relaxed);
    });
    return has_points;
}

}  // namespace apsis::cpu::surfaces
