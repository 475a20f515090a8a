#include "frame.h"

/** Canaries before and behind.  A packed image has none, so that AddressSanitizer and the fake device see who leaves it. */
static int64_t guard_of(unsigned layout) { return layout == PACKED ? 0 : 64; }

size_t type_size(apsis_type type) {
    return type == APSIS_I64 || type == APSIS_F64 ? 8 : type == APSIS_I32 || type == APSIS_F32 ? 4 : type == APSIS_U16 ? 2 : 1;
}

static int64_t at_least(int64_t low, int64_t value) { return value < low ? low : value; }

/** Sets stride and origin, and returns the bytes that the image spans. */
static int64_t lay_out(frame *f, unsigned layout) {
    const apsis_image *image = &f->image;
    const bool bits = image->type == APSIS_BIT;
    const int64_t pixel = (int64_t)type_size(image->type);
    int order[3] = {0, 1, 2};
    if (layout & SWAPPED) {
        const int first = bits ? 1 : 0, last = image->ndim - 1;
        order[first] = last;
        order[last] = first;
    }
    int64_t span = pixel * (layout & STEPPED && !bits ? 2 : 1), flipped = 0;
    for (int i = 0; i < image->ndim; ++i) {
        const int axis = order[i];
        const int64_t size = image->size[axis];
        const bool flip = layout & (unsigned)(FLIP_X << axis) && !(bits && axis == 0);
        f->stride[axis] = flip ? -span : span;
        flipped += flip ? span * at_least(0, size - 1) : 0;
        span = (bits && axis == 0 ? (size + 7) / 8 : span * size) + (layout & PADDED ? 3 * pixel : 0);
        if (layout == PITCHED && i == 0) span = (span + 63) / 64 * 64;
    }
    if (bits) f->stride[0] = 0;
    f->origin = guard_of(layout) + (layout & PADDED ? pixel : 0) + flipped;
    return span + (layout & PADDED ? pixel : 0);
}

/** The whole buffer as one row of bytes, on the host. */
static apsis_image raw(const frame *f, void *bytes) {
    return (apsis_image){.data = bytes, .type = APSIS_U8, .ndim = 2, .size = {f->count, 1}};
}

frame frame_open(bench *b, apsis_type type, int ndim, const int64_t size[3], unsigned layout) {
    frame f = {.image = {.type = type, .ndim = ndim, .size = {size[0], size[1], ndim == 3 ? size[2] : 0}}, .bench = b};
    f.count = lay_out(&f, layout) + 2 * guard_of(layout);
    f.bytes = must_alloc((size_t)f.count);
    f.sent = must_alloc((size_t)f.count);
    memset(f.bytes, POISON, (size_t)f.count);
    f.image.memory = b->memory;
    if (layout != PACKED) memcpy(f.image.stride, f.stride, sizeof f.stride);
    uint8_t *base = f.bytes;
    if (b->memory == APSIS_DEVICE) {
        const apsis_image host = raw(&f, f.bytes);
        f.device = host;
        assert_ok(b->ctx, apsis_alloc(b->ctx, APSIS_DEVICE, &f.device));
        assert_ok(b->ctx, apsis_copy(b->ctx, &host, &f.device));
        base = f.device.data;
    }
    f.image.data = base + f.origin;
    return f;
}

void frame_close(frame *f) {
    if (f->device.data) apsis_free(f->bench->ctx, &f->device);
    free(f->bytes);
    free(f->sent);
}

static int64_t depth(const frame *f) { return f->image.ndim == 3 ? f->image.size[2] : 1; }

/** Calls for every pixel, in order of index, with its byte and, for bits, its bit. */
typedef void (*visitor)(uint8_t *byte, uint8_t bit, size_t size, uint8_t *packed);

static void each(frame *f, visitor visit, void *pixels) {
    const size_t size = type_size(f->image.type);
    uint8_t *packed = pixels;
    for (int64_t z = 0; z < depth(f); ++z)
        for (int64_t y = 0; y < f->image.size[1]; ++y) {
            uint8_t *row = f->bytes + f->origin + y * f->stride[1] + z * (f->image.ndim == 3 ? f->stride[2] : 0);
            for (int64_t x = 0; x < f->image.size[0]; ++x) {
                const bool bits = f->image.type == APSIS_BIT;
                visit(bits ? row + x / 8 : row + x * f->stride[0], (uint8_t)(bits ? 1u << (x % 8) : 0), size, packed);
                if (packed) packed += size;
            }
        }
}

static void put_pixel(uint8_t *byte, uint8_t bit, size_t size, uint8_t *packed) {
    if (!bit)
        memcpy(byte, packed, size);
    else
        *byte = (uint8_t)(*packed ? *byte | bit : *byte & ~bit);
}

static void get_pixel(uint8_t *byte, uint8_t bit, size_t size, uint8_t *packed) {
    if (!bit)
        memcpy(packed, byte, size);
    else
        *packed = (*byte & bit) != 0;
}

static void poison_pixel(uint8_t *byte, uint8_t bit, size_t size, uint8_t *packed) {
    (void)packed;
    if (!bit)
        memset(byte, POISON, size);
    else
        *byte = POISON; /* the unused bits of a row's last byte may change */
}

void frame_put(frame *f, const void *pixels) {
    each(f, put_pixel, (void *)(uintptr_t)pixels);
    memcpy(f->sent, f->bytes, (size_t)f->count);
    if (!f->device.data) return;
    const apsis_image host = raw(f, f->bytes);
    assert_ok(f->bench->ctx, apsis_copy(f->bench->ctx, &host, &f->device));
}

static void download(frame *f, uint8_t *bytes) {
    const apsis_image host = raw(f, bytes);
    assert_ok(f->bench->ctx, apsis_copy(f->bench->ctx, &f->device, &host));
}

void frame_get(frame *f, void *pixels) {
    if (f->device.data) download(f, f->bytes);
    each(f, get_pixel, pixels);
    each(f, poison_pixel, NULL);
    for (int64_t i = 0; i < f->count; ++i)
        if (f->bytes[i] != POISON) {
            print_error("byte %lld of the image's memory, which is no pixel, has changed\n", (long long)(i - f->origin));
            fail();
        }
    each(f, put_pixel, pixels);
}

void frame_assert_unchanged(frame *f) {
    if (f->device.data) download(f, f->bytes);
    assert_memory_equal(f->bytes, f->sent, (size_t)f->count);
}
