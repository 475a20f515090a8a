#include "run_distance.h"

#include <math.h>

const given PLAIN = {.set = APSIS_U8, .distance = APSIS_F32, .nearest = APSIS_I32};
const given DISTANCE_ALONE = {.set = APSIS_U8, .distance = APSIS_F32};

static void *take(frame *f, bool wanted) {
    if (!wanted) return NULL;
    void *pixels = must_alloc((size_t)(f->count + 8) * (f->image.type == APSIS_BIT ? 8 : 1));
    frame_get(f, pixels);
    frame_close(f);
    return pixels;
}

/* ---- What slabs tell ---- */

static size_t column_bytes(const problem *p) { return (size_t)told_of(p) * sizeof(int64_t); }

bench place_of_columns(const bench *b, const problem *p, int64_t start) {
    bench place = *b;
    if ((start + columns_of(p)) % 2) place.memory = APSIS_HOST;
    return place;
}

frame open_columns(bench *place, const problem *p) {
    const int64_t size[3] = {told_of(p), 1, 1};
    return frame_open(place, APSIS_I64, 2, size, PACKED);
}

/** The arrays of a slab, in a place. */
typedef struct beyond {
    bench place;
    frame arrays[4];
} beyond;

static void open_beyond(beyond *at, const bench *b, const problem *p, const apsis_slab *slab) {
    const int64_t *const callers[4] = {slab->above, slab->below, slab->complement_above, slab->complement_below};
    memset(at, 0, sizeof *at);
    at->place = place_of_columns(b, p, slab->start);
    for (int i = 0; i < 4; ++i)
        if (callers[i]) {
            at->arrays[i] = open_columns(&at->place, p);
            frame_put(&at->arrays[i], callers[i]);
        }
}
/** Host memory is not needed any more when a call returns. */
static void poison_beyond(beyond *at) {
    for (int i = 0; i < 4; ++i)
        if (at->place.memory == APSIS_HOST && at->arrays[i].bytes)
            memset(at->arrays[i].bytes, POISON, (size_t)at->arrays[i].count);
}
static void close_beyond(beyond *at) {
    for (int i = 0; i < 4; ++i)
        if (at->arrays[i].bytes) {
            if (at->place.memory == APSIS_DEVICE) frame_assert_unchanged(&at->arrays[i]);
            frame_close(&at->arrays[i]);
        }
}

/** The summaries of a slab, without the set again for the second side; then the context has found it. */
static void find_slab(bench *b, const problem *p, const apsis_image *set, int64_t start) {
    int64_t *rows = must_alloc(column_bytes(p));
    apsis_options options = p->options;
    options.flags ^= APSIS_COMPLEMENT;
    const bool is_signed = options.flags & APSIS_SIGNED;
    if (is_signed) assert_ok(b->ctx, apsis_slab_summary(b->ctx, set, start, rows, NULL, &options));
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, is_signed ? NULL : set, start, NULL, rows, &p->options));
    free(rows);
}

int64_t told_of(const problem *p) { return columns_of(p) * (p->options.flags & APSIS_LABELS ? 3 : 1); }

void put_sites(frame *f, const problem *p) {
    const size_t bytes = type_size(f->image.type);
    if (bytes == 1) return frame_put(f, p->mask);
    uint8_t *pixels = must_alloc((size_t)pixels_of(p) * bytes + 8);
    memset(pixels, 0, (size_t)pixels_of(p) * bytes);
    for (int64_t i = 0; i < pixels_of(p); ++i) pixels[(size_t)i * bytes + bytes - 1] = p->mask[i];
    frame_put(f, pixels);
    free(pixels);
}

/** If `slab` is NULL, of the whole image. */
outputs run_slab(bench *b, const problem *p, const given *how, const apsis_slab *slab, bool is_found) {
    beyond sites;
    apsis_slab own;
    if (slab) {
        open_beyond(&sites, b, p, slab);
        const frame *const of = sites.arrays;
        own = (apsis_slab){slab->start, slab->extent, of[0].image.data, of[1].image.data, of[2].image.data, of[3].image.data};
        slab = &own;
    }
    const apsis_type type[2] = {how->distance, how->nearest};
    const unsigned layout[2] = {how->distance_layout, how->nearest_layout};
    frame set = frame_open(b, how->set, p->ndim, p->size, how->set_layout), out[2];
    put_sites(&set, p);
    for (int k = 0; k < 2; ++k)
        if (type[k]) out[k] = frame_open(b, type[k], p->ndim, p->size, layout[k]);
    const apsis_image *distance = type[0] ? &out[0].image : NULL, *nearest = type[1] ? &out[1].image : NULL;
    if (is_found) find_slab(b, p, &set.image, slab->start);
    const apsis_image *const given_set = is_found ? NULL : &set.image;
    if (p->cells)
        assert_ok(b->ctx, slab ? apsis_slab_voronoi(b->ctx, given_set, slab, nearest, &p->options)
                               : apsis_voronoi(b->ctx, &set.image, nearest, &p->options));
    else
        assert_ok(b->ctx, slab ? apsis_slab_distance(b->ctx, given_set, slab, distance, nearest, &p->options)
                               : apsis_distance(b->ctx, &set.image, distance, nearest, &p->options));
    if (slab) poison_beyond(&sites);
    frame_assert_unchanged(&set);
    frame_close(&set);
    const outputs taken = {take(&out[0], type[0]), take(&out[1], type[1])};
    if (slab) close_beyond(&sites);
    return taken;
}

outputs run_distance(bench *b, const problem *p, const given *how) { return run_slab(b, p, how, NULL, false); }

void free_outputs(outputs *out) {
    free(out->distance);
    free(out->nearest);
}

/* ---- Comparing ---- */

static void print_value(apsis_type type, const void *pixel) {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    switch (type) {
        case APSIS_I32:
            memcpy(&i32, pixel, sizeof i32);
            print_error("%d", i32);
            break;
        case APSIS_I64:
            memcpy(&i64, pixel, sizeof i64);
            print_error("%lld", (long long)i64);
            break;
        case APSIS_F32:
            memcpy(&f32, pixel, sizeof f32);
            print_error("%.9g", (double)f32);
            break;
        default:
            memcpy(&f64, pixel, sizeof f64);
            print_error("%.17g", f64);
            break;
    }
}

static void differ(const problem *p, const char *what, int64_t i, apsis_type type, const void *got, const void *want) {
    char text[256];
    describe(p, text, sizeof text);
    print_error("%s\n  %s at (%lld, %lld, %lld) is ", text, what, (long long)(i % p->size[0]),
                (long long)(i / p->size[0] % p->size[1]), (long long)(i / p->size[0] / p->size[1]));
    print_value(type, got);
    print_error(", but should be ");
    print_value(type, want);
    print_error("\n");
    fail();
}

static bool is_power_of_two(double unit) {
    int exponent;
    return frexp(unit, &exponent) == 0.5;
}

void compare_outputs(const problem *p, const given *how, const outputs *out, const answer *want) {
    const bool exact = is_power_of_two(p->unit);
    const uint8_t *distance = out->distance, *nearest = out->nearest;
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        uint8_t pixel[8];
        const size_t size = type_size(how->distance), index_size = type_size(how->nearest);
        if (distance) {
            const uint8_t *got = distance + (size_t)i * size;
            expected_pixel(p, want, i, how->distance, pixel);
            const bool same =
                exact || want->cost[i] <= 0 ? memcmp(got, pixel, size) == 0 : is_close(p, want, i, how->distance, got);
            if (!same) differ(p, "distance", i, how->distance, got, pixel);
        }
        if (nearest) {
            const uint8_t *got = nearest + (size_t)i * index_size;
            const int32_t narrow = (int32_t)want->nearest[i];
            memcpy(pixel, index_size == 4 ? (const void *)&narrow : &want->nearest[i], index_size);
            if (memcmp(got, pixel, index_size) != 0) differ(p, "nearest", i, how->nearest, got, pixel);
        }
    }
}

void check_distance(bench *b, const problem *p, const given *how) {
    outputs out = run_distance(b, p, how);
    answer want = solve(p);
    compare_outputs(p, how, &out, &want);
    free_answer(&want);
    free_outputs(&out);
}

void check_filled(bench *b, problem *p, int kind, double density, chance *c, const given *how) {
    uint8_t *mask = must_alloc((size_t)pixels_of(p));
    fill_mask(mask, p->size, kind, density, c);
    p->mask = mask;
    check_distance(b, p, how);
    free(mask);
}
