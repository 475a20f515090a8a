#include "run_components.h"

const asked LABELS = {.set = APSIS_U8, .labels = APSIS_I32, .capacity = -1};

enum { SPARE = 2 }; /* components behind the capacity, that must not be touched */

int64_t value_of_byte(apsis_type type, uint8_t byte) {
    const bool odd = byte & 1;
    switch (type) {
        case APSIS_U16: return odd ? byte : byte << 8;
        case APSIS_I32: return odd ? -byte : (int32_t)((uint32_t)byte << 24);
        case APSIS_I64: return odd ? INT64_MIN + byte : (int64_t)byte << 40;
        default: return byte;
    }
}

void put_set(frame *set, const problem *p) {
    const size_t bytes = type_size(set->image.type);
    if (bytes == 1 && !p->grey) return frame_put(set, p->mask);
    uint8_t *pixels = must_alloc((size_t)pixels_of(p) * bytes + 8);
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        const bool is_real = set->image.type == APSIS_F32;
        const int64_t value = is_real ? 0 : p->grey ? (int64_t)p->grey[i] : value_of_byte(set->image.type, p->mask[i]);
        const float real = is_real ? (float)p->grey[i] : 0;
        memcpy(pixels + (size_t)i * bytes, is_real ? (const void *)&real : &value, bytes);
    }
    frame_put(set, pixels);
    free(pixels);
}

void leave_out(problem *p, int i) {
    apsis_options *o = &p->options;
    if (i & 1) o->min_area = 2;
    if (i & 2) o->flags |= APSIS_NO_INNER;
    if (i & 4) o->max_area = 3;
    if (i & 8) o->flags |= APSIS_NO_BORDER;
}

pieces run_components(bench *b, const problem *p, const asked *how) {
    pieces out = {.count = -1};
    frame set = frame_open(b, how->set, p->ndim, p->size, how->set_layout), labels;
    put_set(&set, p);
    if (how->labels) labels = frame_open(b, how->labels, p->ndim, p->size, how->labels_layout);
    const int64_t capacity = how->capacity < 0 ? 0 : how->capacity;
    const size_t bytes = (size_t)(capacity + SPARE) * sizeof(apsis_component);
    out.component = must_alloc(bytes);
    memset(out.component, POISON, bytes);
    assert_ok(b->ctx,
              apsis_components(b->ctx, &set.image, how->labels ? &labels.image : NULL, how->capacity < 0 ? NULL : out.component,
                               capacity, how->no_count ? NULL : &out.count, &p->options));
    for (size_t i = (size_t)capacity * sizeof(apsis_component); i < bytes; ++i)
        assert_int_equal(((uint8_t *)out.component)[i], POISON);
    frame_assert_unchanged(&set);
    frame_close(&set);
    if (how->labels) {
        out.labels = must_alloc((size_t)(pixels_of(p) + 8) * type_size(how->labels));
        frame_get(&labels, out.labels);
        frame_close(&labels);
    }
    return out;
}

void free_pieces(pieces *out) {
    free(out->labels);
    free(out->component);
}

static int64_t value_at(const void *pixels, apsis_type type, int64_t i) {
    if (type == APSIS_I64) return ((const int64_t *)pixels)[i];
    return type == APSIS_I32 ? ((const int32_t *)pixels)[i] : ((const uint8_t *)pixels)[i];
}

static void compare_labels(const problem *p, apsis_type type, const void *labels, const flooded *want) {
    const bool mask = type == APSIS_BIT || type == APSIS_U8;
    const bool complement = p->options.flags & APSIS_COMPLEMENT;
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        const int64_t got = value_at(labels, type, i), expected = mask ? (want->label[i] > 0) != complement : want->label[i];
        if (got == expected) continue;
        char text[256];
        describe(p, text, sizeof text);
        const apsis_options *o = &p->options;
        print_error(
            "%s, connectivity %d, method %d, flags 0x%x, delta %g, largest %d, area %lld to %lld\n  pixel %lld is %lld, but "
            "should be %lld\n",
            text, o->connectivity, (int)o->method, (unsigned)o->flags, o->delta, o->largest, (long long)o->min_area,
            (long long)o->max_area, (long long)i, (long long)got, (long long)expected);
        fail();
    }
}

void check_components(bench *b, const problem *p, const asked *how) {
    pieces out = run_components(b, p, how);
    flooded want = flood(p);
    if (how->labels) compare_labels(p, how->labels, out.labels, &want);
    if (!how->no_count) assert_int_equal(out.count, want.count);
    for (int64_t k = 0; k < want.count && p->options.flags & APSIS_LABELS; ++k) {
        apsis_component *c = &want.component[k];
        c->value = !p->grey                ? value_of_byte(how->set, (uint8_t)c->value)
                   : how->set == APSIS_F32 ? 1
                                           : (int64_t)p->grey[c->first];
    }
    const int64_t given = how->capacity < want.count ? how->capacity : want.count;
    if (given > 0) assert_memory_equal(out.component, want.component, (size_t)given * sizeof(apsis_component));
    free_flooded(&want);
    free_pieces(&out);
}
