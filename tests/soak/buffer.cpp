// Images in buffers with canaries.
#include "buffer.h"

#include <algorithm>
#include <cstring>

extern "C" {
#include "run_components.h"
}

namespace soak {

void need(apsis_context *context, apsis_status status, const char *call) {
    if (status != APSIS_OK) throw Fault{std::string(call) + ": " + apsis_status_name(status) + ", " + apsis_message(context)};
}

/// Changes from byte to byte, so that a copy that goes astray is seen as well as a value that is written.
uint8_t canary(size_t i) { return static_cast<uint8_t>(0xa5 ^ (i * 29)); }

Memory::Memory(apsis_context *owner, Place place, int64_t count) : bytes(static_cast<size_t>(count)), context(owner) {
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = canary(i);
    here = {.data = bytes.data(),
            .type = APSIS_U8,
            .ndim = 2,
            .size = {count, 1, 0},
            .stride = {},
            .memory = APSIS_HOST,
            .reserved = 0};
    there = here;
    if (place == Place::HOST || count == 0) return;
    need(context, apsis_alloc(context, place == Place::DEVICE ? APSIS_DEVICE : APSIS_HOST, &there), "apsis_alloc");
    upload();
}

Memory::~Memory() {
    if (there.data != here.data) apsis_free(context, &there);
}

void Memory::copy(const apsis_image &from, const apsis_image &to) {
    if (here.data != there.data) need(context, apsis_copy(context, &from, &to), "apsis_copy");
}

Buffer::Buffer(apsis_context *context, Place place, apsis_type type, int ndim, const std::array<int64_t, 3> &size,
               const Layout &layout) {
    view = {.data = nullptr,
            .type = type,
            .ndim = ndim,
            .size = {size[0], size[1], ndim == 3 ? size[2] : 0},
            .stride = {},
            .memory = APSIS_HOST,
            .reserved = 0};
    memory = std::make_unique<Memory>(context, place, lay_out(layout));
    view.memory = memory->kind();
    if (layout.strides) std::copy(stride, stride + 3, view.stride);
    view.data = memory->bytes.empty() ? nullptr : memory->data() + origin;
}

/// Sets strides and origin, and returns the bytes of the buffer.
int64_t Buffer::lay_out(const Layout &layout) {
    const bool bits = view.type == APSIS_BIT;
    const int64_t pixel = static_cast<int64_t>(pixel_size(view.type));
    int order[3] = {0, 1, 2};
    if (layout.swapped) std::swap(order[bits ? 1 : 0], order[view.ndim - 1]);
    int64_t span = layout.strides && !bits ? pixel * layout.step : pixel, flipped = 0;
    for (int i = 0; i < view.ndim; ++i) {
        const int axis = order[i];
        const int64_t size = view.size[axis];
        const bool flip = layout.strides && (layout.flips >> axis & 1) && !(bits && axis == 0);
        stride[axis] = flip ? -span : span;
        flipped += flip ? span * std::max<int64_t>(0, size - 1) : 0;
        span = (bits && axis == 0 ? (size + 7) / 8 : span * size) + (layout.strides ? layout.pad[i] * pixel : 0);
    }
    if (bits) stride[0] = 0;
    origin = layout.guard * pixel + flipped;
    return span + 2 * layout.guard * pixel;
}

/// Visits every pixel in the order of indices, with its byte in the buffer and its number.
template <class F>
void Buffer::each(F visit) {
    const int64_t depth = view.ndim == 3 ? view.size[2] : 1;
    if (view.size[0] == 0) return;  // then there may be no bytes, of which no row can begin
    size_t i = 0;
    for (int64_t z = 0; z < depth; ++z)
        for (int64_t y = 0; y < view.size[1]; ++y) {
            uint8_t *row = memory->bytes.data() + origin + y * stride[1] + z * stride[2];
            if (view.type == APSIS_BIT)
                for (int64_t x = 0; x < view.size[0]; ++x, ++i) visit(row + x / 8, i, static_cast<int>(x % 8));
            else
                for (int64_t x = 0; x < view.size[0]; ++x, ++i) visit(row + x * stride[0], i, 0);
        }
}

void Buffer::put(const uint8_t *mask) {
    if (view.type == APSIS_BIT)
        each([&](uint8_t *byte, size_t i, int bit) {
            *byte = static_cast<uint8_t>((*byte & ~(1 << bit)) | (mask[i] != 0) << bit);
        });
    else
        each([&](uint8_t *byte, size_t i, int) {
            const int64_t value = value_of_byte(view.type, mask[i]);
            const float real = static_cast<float>(value);
            view.type == APSIS_F32 ? std::memcpy(byte, &real, sizeof real) : std::memcpy(byte, &value, pixel_size(view.type));
        });
    memory->upload();
    sent = memory->bytes;
}

void Buffer::check_unchanged() {
    memory->download();
    if (memory->bytes != sent) throw Fault{"an input has changed"};
}

std::vector<uint8_t> Buffer::get() {
    const size_t size = pixel_size(view.type);
    const int64_t depth = view.ndim == 3 ? view.size[2] : 1;
    std::vector<uint8_t> pixels(static_cast<size_t>(view.size[0] * view.size[1] * depth) * size);
    memory->download();
    std::vector<uint8_t> &bytes = memory->bytes;
    const auto restore = [&](uint8_t *byte) {
        for (size_t k = 0; k < size; ++k) byte[k] = canary(static_cast<size_t>(byte - bytes.data()) + k);
    };
    if (view.type == APSIS_BIT)
        each([&](uint8_t *byte, size_t i, int bit) { pixels[i] = *byte >> bit & 1; });
    else
        each([&](uint8_t *byte, size_t i, int) { std::memcpy(&pixels[i * size], byte, size); });
    each([&](uint8_t *byte, size_t, int) { restore(byte); });  // the unused bits of a row's last byte may have changed
    for (size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] != canary(i))
            throw Fault{"byte " + std::to_string(static_cast<int64_t>(i) - origin) + " of an output, no pixel, has changed"};
    return pixels;
}

}  // namespace soak
