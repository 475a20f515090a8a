/* apsis_measures: against brute force, and on every device as on the CPU. */
#include <math.h>

#include "run_measures.h"

/* ---- Every small image of three values ---- */

/** What is wanted of image i: outlines, which are the host's work, with one in four. */
static uint32_t some_wanted(int i) { return (i % 4 ? ALL & ~OUTLINES : ALL) & ~APSIS_INTENSITY; }

static void every_3x4_image(bench *b) {
    enum { IMAGES = 531441, PIXELS = 12 };
    uint8_t mask[PIXELS];
    const int images = effort(20000);
    for (int i = 0; i < images; ++i) {
        draw_digits(mask, PIXELS, (int)((int64_t)IMAGES * i / images));
        measuring q = {.p = new_problem(2, 3, 4, 1, mask), .type = APSIS_U8, .wanted = some_wanted(i), .capacity = 2};
        q.p.options.connectivity = 1 + i / 4 % 2;
        check_measures(b, &q);
    }
}

static void every_4x3_set(bench *b) {
    enum { IMAGES = 4096, PIXELS = 12 };
    uint8_t mask[PIXELS];
    const int images = effort(2 * IMAGES);
    for (int i = 0; i < images; ++i) {
        for (int k = 0; k < PIXELS; ++k) mask[k] = (uint8_t)((IMAGES * i / images) >> k & 1);
        measuring q = {.p = new_problem(2, 4, 3, 1, mask), .type = APSIS_BIT, .wanted = some_wanted(i), .capacity = 1};
        q.p.options.connectivity = 1 + i % 2;
        check_measures(b, &q);
    }
}

static void every_2x2x2_volume(bench *b) {
    enum { IMAGES = 6561, PIXELS = 8 };
    uint8_t mask[PIXELS];
    const int images = effort(2 * IMAGES);
    for (int i = 0; i < images; ++i) {
        draw_digits(mask, PIXELS, (int)((int64_t)IMAGES * i / images));
        measuring q = {.p = new_problem(3, 2, 2, 2, mask),
                       .type = label_types[i / 8 % 4],
                       .wanted = some_wanted(i) & ~(uint32_t)IN_2D,
                       .capacity = 2};
        q.p.options.connectivity = 1 + i % 2 * 2;
        check_measures(b, &q);
    }
}

/* ---- Random problems of every kind ---- */

static void draw_grey(chance *c, measuring *q, int64_t *grey) {
    static const apsis_type types[] = {APSIS_U8, APSIS_U16, APSIS_F32};
    q->grey = grey, q->grey_type = types[roll_below(c, 3)], q->grey_unit = 1;
    q->grey_layout = roll_below(c, 2) ? (unsigned)roll_below(c, LAYOUTS) : PACKED;
    const bool real = q->grey_type == APSIS_F32;
    if (real) q->grey_unit = ldexp(1, (int)roll_below(c, 200) - 149);
    for (int64_t i = 0; i < pixels_of(&q->p); ++i) {
        grey[i] = roll_below(c, real ? 1 << 24 : q->grey_type == APSIS_U8 ? 256 : 65536);
        if (real) grey[i] = (roll_below(c, 2) ? -grey[i] : grey[i]) * ((int64_t)1 << roll_below(c, 35));
    }
}

static void random_measures(bench *b) {
    static const apsis_type types[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    chance c = {2711};
    for (int i = 0; i < effort(250); ++i) {
        measuring q = {.p = new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL), .type = types[roll_below(&c, 5)]};
        problem *p = &q.p;
        do
            for (int a = 0; a < p->ndim; ++a) p->size[a] = 1 + roll_below(&c, p->ndim == 3 ? 12 : roll_below(&c, 2) ? 40 : 200);
        while (pixels_of(p) > 1200);
        uint8_t *mask = must_alloc((size_t)pixels_of(p));
        int64_t *grey = must_alloc((size_t)pixels_of(p) * sizeof *grey);
        fill_cells(mask, p->size, &c);
        p->mask = mask;
        q.layout = roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED;
        q.wanted = roll_below(&c, 2) ? ALL : (uint32_t)roll_below(&c, ALL + 1);
        if (roll_below(&c, 3)) q.wanted &= ~(uint32_t)OUTLINES;
        p->options.connectivity = roll_below(&c, 2) ? p->ndim : (int32_t)roll_below(&c, 2);
        p->options.flags = roll_below(&c, 4) ? 0 : APSIS_LABELS;
        const int kind = (int)roll_below(&c, 3);
        for (int a = 0; a < 3 && kind; ++a) p->options.spacing[a] = kind == 1 ? 0.3 : 0.1 + roll_real(&c) * 5;
        if (p->ndim == 3) q.wanted &= ~(uint32_t)IN_2D;
        if (kind == 2) q.wanted &= ~(uint32_t)APSIS_PERIMETER;
        q.capacity = roll_below(&c, 4) ? 256 : roll_below(&c, 5);
        if (q.wanted & APSIS_INTENSITY) draw_grey(&c, &q, grey);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_measures(b, &q);
        free(mask);
        free(grey);
    }
}

/* ---- As on the CPU ---- */

/** One of the many values of an image: any number, or those around 0. */
static int64_t some_value(chance *c, int kind, int64_t values) {
    const int64_t i = roll_below(c, values);
    return kind == 0 ? i : kind == 1 ? i - values / 2 : (int64_t)((uint64_t)i * 0x9e3779b97f4a7c15u);
}

/** The same bytes as on the CPU: of long and of narrow images, and of many values. */
static void random_on_the_cpu(bench *b) {
    static const struct {
        int ndim;
        int64_t size[3];
    } shape[] = {{2, {1, 280000, 1}}, {2, {9000, 1, 1}}, {2, {300, 200, 1}}, {2, {61, 400, 1}}, {2, {33, 3000, 1}},
                 {3, {1, 2, 9000}},   {3, {70, 65, 5}},  {3, {31, 32, 33}},  {3, {5, 400, 8}},  {3, {3, 3, 5000}}};
    static const apsis_type grey_types[] = {APSIS_U8, APSIS_U16, APSIS_F32};
    apsis_context *cpu = NULL;
    assert_int_equal(apsis_create(APSIS_VERSION, APSIS_CPU, &cpu), APSIS_OK);
    chance c = {2714};
    for (int i = 0; i < effort(40); ++i) {
        const int k = i % COUNT(shape), ndim = shape[k].ndim, kind = (int)roll_below(&c, 3);
        const int64_t *size = shape[k].size, pixels = size[0] * size[1] * size[2];
        const apsis_type type = label_types[roll_below(&c, 4)], grey_type = grey_types[roll_below(&c, 3)];
        const int64_t values = 1 + roll_below(&c, roll_below(&c, 2) ? 3 : roll_below(&c, 4) ? 300 : 4000);
        const int64_t run = pixels > 100000 ? 500 : 1 + roll_below(&c, roll_below(&c, 2) ? 2 : 50);
        uint8_t *labels = must_alloc((size_t)pixels * type_size(type)), *grey = must_alloc((size_t)pixels * 4);
        int64_t value = 0;
        for (int64_t at = 0; at < pixels; ++at) {
            if (at % run == 0) value = some_value(&c, kind, values);
            memcpy(labels + at * (int64_t)type_size(type), &value, type_size(type));
            const float real = (float)ldexp(roll_real(&c) - 0.5, (int)roll_below(&c, 250) - 126);
            const uint64_t whole = roll(&c);
            memcpy(grey + at * (int64_t)type_size(grey_type), grey_type == APSIS_F32 ? (const void *)&real : &whole,
                   type_size(grey_type));
        }
        frame set = frame_open(b, type, ndim, size, PACKED), bright = frame_open(b, grey_type, ndim, size, PACKED);
        frame_put(&set, labels);
        frame_put(&bright, grey);
        apsis_image host = {.data = labels, .type = type, .ndim = ndim, .size = {size[0], size[1], size[2]}}, host_grey = host;
        host_grey.data = grey, host_grey.type = grey_type;
        apsis_options options = APSIS_OPTIONS_INIT;
        options.connectivity = roll_below(&c, 2) ? ndim : 1;
        uint32_t wanted = roll_below(&c, 2) ? ALL : (uint32_t)roll_below(&c, ALL + 1);
        wanted &= ~(uint32_t)OUTLINES & ~(ndim == 3 ? (uint32_t)IN_2D : 0);
        const size_t bytes = (size_t)(values + 1) * sizeof(apsis_measure);
        apsis_measure *got = must_alloc(bytes), *want = must_alloc(bytes);
        int64_t count = -1, want_count = -2;
        memset(got, 0, bytes), memset(want, 0, bytes);
        assert_ok(b->ctx, apsis_measures(b->ctx, &set.image, &bright.image, wanted, got, values + 1, &count, &options));
        assert_ok(cpu, apsis_measures(cpu, &host, &host_grey, wanted, want, values + 1, &want_count, &options));
        assert_int_equal(count, want_count);
        assert_memory_equal(got, want, bytes);
        frame_close(&set);
        frame_close(&bright);
        free(labels), free(grey), free(got), free(want);
    }
    apsis_destroy(cpu);
}

static const test_case cases[] = {
    TEST(every_3x4_image, WITH_HOST_IMAGES), TEST(every_4x3_set, EVERYWHERE),     TEST(every_2x2x2_volume, WITH_HOST_IMAGES),
    TEST(random_measures, EVERYWHERE),       TEST(random_on_the_cpu, EVERYWHERE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
