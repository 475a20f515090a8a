/* apsis_components of grey images, where neighbours are connected that differ by at most delta: against a flood fill. */
#include <float.h>
#include <math.h>

#include "run_components.h"
#include "run_labels.h"

static const apsis_type grey_types[] = {APSIS_U8, APSIS_U16, APSIS_I32, APSIS_F32};

/** How far two values are from each other that are 1 apart in steps_to_grey(); of APSIS_I32 two steps wrap. */
static double step_of(apsis_type type) {
    return type == APSIS_U8 ? 1 : type == APSIS_U16 ? 9999 : type == APSIS_I32 ? 1.5e9 : 0.375;
}

/** A value of the type for each number of steps from 0 to 3. */
static double steps_to_grey(apsis_type type, int steps) {
    if (steps == 0) return 0;
    return type == APSIS_I32 ? (steps - 2) * 1.5e9 + 1 : type == APSIS_F32 ? (steps - 4) * 0.375 : steps * step_of(type);
}

static problem grey_problem(int ndim, int64_t w, int64_t h, int64_t d, double *grey, uint8_t *mask) {
    problem p = new_problem(ndim, w, h, d, mask);
    p.options.flags = APSIS_LABELS;
    p.grey = grey;
    for (int64_t i = 0; i < pixels_of(&p); ++i) mask[i] = grey[i] != 0;
    return p;
}

/* ---- Every small image of four values ---- */

static void every_3x3_image(bench *b) {
    enum { ALL = 1 << 18, PIXELS = 9 };
    /* Each takes a tile on a device, as slow as an image.  An odd step, so that every bit changes. */
    const int share = ALL / effort(ALL), step = share > 16 ? 1021 : share | 1, images = (ALL + step - 1) / step;
    uint8_t *mask = must_alloc((size_t)images * PIXELS);
    double *grey = must_alloc((size_t)images * PIXELS * sizeof *grey);
    for (int i = 0; i < 8; ++i) {
        const apsis_type type = grey_types[i / 2];
        for (int k = 0; k < images * PIXELS; ++k) grey[k] = steps_to_grey(type, k / PIXELS * step >> 2 * (k % PIXELS) & 3);
        problem p = grey_problem(3, 3, 3, images, grey, mask);
        p.options.flags |= APSIS_SLICES;
        p.options.connectivity = 1 + i % 2;
        p.options.delta = step_of(type);
        const asked how = {.set = type, .labels = i % 3 ? APSIS_I32 : APSIS_I64, .capacity = images};
        check_components(b, &p, &how);
        leave_out(&p, 1 + i);
        check_components(b, &p, &how);
    }
    free(mask);
    free(grey);
}

static void every_2x2x2_volume(bench *b) {
    enum { ALL = 1 << 16, PIXELS = 8 };
    double grey[PIXELS];
    uint8_t mask[PIXELS];
    const int images = effort(ALL / 4);
    for (int i = 0; i < images; ++i) {
        const apsis_type type = grey_types[i % 4];
        const int number = i * (ALL / images) + i % (ALL / images);
        for (int k = 0; k < PIXELS; ++k) grey[k] = steps_to_grey(type, number >> 2 * k & 3);
        problem p = grey_problem(3, 2, 2, 2, grey, mask);
        p.options.connectivity = 1 + i / 4 % 3;
        p.options.delta = step_of(type);
        leave_out(&p, i / 12 % 16);
        p.options.largest = i / 16 % 4;
        const asked how = {.set = type, .labels = APSIS_I32, .capacity = PIXELS};
        check_components(b, &p, &how);
    }
}

/* ---- Answers written by hand ---- */

/** The labels of a row of `count` pixels. */
static void check_row(bench *b, apsis_type type, const void *pixels, int64_t count, double delta, const int32_t *want) {
    const int64_t size[3] = {count, 1, 1};
    frame set = frame_open(b, type, 2, size, PACKED), labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&set, pixels);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_LABELS;
    options.delta = delta;
    int32_t got[16];
    assert_ok(b->ctx, apsis_components(b->ctx, &set.image, &labels.image, NULL, 0, NULL, &options));
    frame_get(&labels, got);
    assert_memory_equal(got, want, (size_t)count * sizeof *want);
    frame_close(&set);
    frame_close(&labels);
}

static void a_ramp_is_connected(bench *b) {
    static const uint8_t ramp[9] = {1, 2, 3, 5, 6, 0, 7, 8, 9};
    static const int32_t one[9] = {1, 1, 1, 2, 2, 0, 3, 3, 3}, two[9] = {1, 1, 1, 1, 1, 0, 2, 2, 2},
                         none[9] = {1, 2, 3, 4, 5, 0, 6, 7, 8};
    check_row(b, APSIS_U8, ramp, 9, 1, one);
    check_row(b, APSIS_U8, ramp, 9, 1.999, one);
    check_row(b, APSIS_U8, ramp, 9, 2, two);
    check_row(b, APSIS_U8, ramp, 9, 0.999, none);
    check_row(b, APSIS_U8, ramp, 9, 0, none);
}

static void differences_do_not_wrap(bench *b) {
    static const uint8_t bytes[4] = {255, 1, 254, 255};
    static const int32_t apart[4] = {1, 2, 3, 3}, together[4] = {1, 1, 1, 1};
    check_row(b, APSIS_U8, bytes, 4, 2, apart);
    check_row(b, APSIS_U8, bytes, 4, 253, (const int32_t[4]){1, 2, 2, 2});
    check_row(b, APSIS_U8, bytes, 4, 254, together);
    check_row(b, APSIS_U8, bytes, 4, 256, together);
    static const uint16_t words[4] = {65535, 1, 65534, 65535};
    check_row(b, APSIS_U16, words, 4, 2, apart);
    check_row(b, APSIS_U16, words, 4, 65537, together);
    static const int32_t numbers[4] = {INT32_MAX, INT32_MIN, INT32_MAX - 1, INT32_MAX};
    check_row(b, APSIS_I32, numbers, 4, 2, apart);
    check_row(b, APSIS_I32, numbers, 4, 4294967293.0, apart);
    check_row(b, APSIS_I32, numbers, 4, 4294967294.0, (const int32_t[4]){1, 2, 2, 2});
    check_row(b, APSIS_I32, numbers, 4, 4294967295.0, together);
    check_row(b, APSIS_I32, numbers, 4, 1e300, together);
}

static void reals(bench *b) {
    static const float far[8] = {INFINITY, INFINITY, -INFINITY, NAN, NAN, FLT_MAX, -FLT_MAX, -0.0f};
    check_row(b, APSIS_F32, far, 8, 0, (const int32_t[8]){1, 1, 2, 3, 4, 5, 6, 0});
    check_row(b, APSIS_F32, far, 8, DBL_MAX, (const int32_t[8]){1, 1, 2, 3, 4, 5, 5, 0});
    static const float tenths[5] = {0.1f, 0.2f, 0.3f, 0.4f, 1e-45f}; /* rounded, so that two differences are above 0.1 */
    check_row(b, APSIS_F32, tenths, 5, 0.1, (const int32_t[5]){1, 2, 3, 3, 4});
    check_row(b, APSIS_F32, tenths, 5, (double)0.3f - (double)0.2f, (const int32_t[5]){1, 1, 1, 1, 2});
    check_row(b, APSIS_F32, tenths, 5, 1, (const int32_t[5]){1, 1, 1, 1, 1});
}

/* ---- Random problems of every kind ---- */

/** Values that go up and down by steps, from corner to corner, some of them disturbed, and some 0. */
static void draw_grey(chance *c, const problem *p, apsis_type type, double step, double *grey) {
    const int64_t w = p->size[0], h = p->size[1], slope[3] = {roll_below(c, 4), roll_below(c, 4), roll_below(c, 4)};
    const int waves = (int)roll_below(c, 3), most = 1 + (int)roll_below(c, 25), few = 1 + (int)roll_below(c, 5);
    const double noise = roll_below(c, 2) ? 0 : roll_real(c), empty = roll_below(c, 2) ? 0 : 0.5 * roll_real(c);
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        const int64_t along = (i % w * slope[0] + i / w % h * slope[1] + i / w / h * slope[2]) / 4, turn = along % (2 * most);
        int64_t steps = waves ? (turn < most ? turn : 2 * most - turn) : 0;
        if (!waves || roll_real(c) < noise) steps += roll_below(c, few);
        grey[i] = type == APSIS_F32 ? (float)((double)steps * step - 7) : (double)(1 + steps) * step;
        if (type == APSIS_I32) grey[i] -= 15 * step + 1;
        if (roll_real(c) < empty) grey[i] = 0;
        static const float odd[] = {NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, 1e-45f, -0.0f};
        if (type == APSIS_F32 && waves == 2 && !roll_below(c, 9)) grey[i] = odd[roll_below(c, COUNT(odd))];
    }
}

static void choose_options(chance *c, problem *p) {
    apsis_options *o = &p->options;
    if (p->ndim == 3 && !roll_below(c, 3)) o->flags |= APSIS_SLICES;
    o->connectivity = (int32_t)roll_below(c, (o->flags & APSIS_SLICES ? 2 : p->ndim) + 1);
    if (roll_below(c, 2)) return;
    leave_out(p, (int)roll_below(c, 16));
    if (o->max_area) o->max_area = 1 + roll_below(c, 300);
    if (pixels_of(p) <= 4000 && !roll_below(c, 2)) o->largest = 1 + (int32_t)roll_below(c, roll_below(c, 2) ? 4 : 300);
}

static void random_grey(bench *b) {
    static const double steps[] = {1, 777, 7e7, 0.1};
    static const apsis_type types[] = {APSIS_I32, APSIS_I64, APSIS_BIT, APSIS_U8, 0};
    chance c = {2031};
    for (int i = 0; i < effort(1500); ++i) {
        uint8_t *mask;
        const problem drawn = draw_labels(&c, &mask);
        const int kind = (int)roll_below(&c, COUNT(grey_types));
        double *grey = must_alloc((size_t)pixels_of(&drawn) * sizeof *grey);
        draw_grey(&c, &drawn, grey_types[kind], steps[kind], grey);
        problem p = grey_problem(drawn.ndim, drawn.size[0], drawn.size[1], drawn.size[2], grey, mask);
        p.options.delta = steps[kind] * (double)roll_below(&c, 4);
        choose_options(&c, &p);
        asked how = {.set = grey_types[kind], .labels = types[roll_below(&c, COUNT(types))]};
        if (roll_below(&c, 2)) how.set_layout = (unsigned)roll_below(&c, LAYOUTS);
        if (roll_below(&c, 2)) how.labels_layout = (unsigned)roll_below(&c, LAYOUTS);
        how.capacity = roll_below(&c, 2) ? -1 : roll_below(&c, 2) ? roll_below(&c, 20) : pixels_of(&p);
        how.no_count = !roll_below(&c, 4);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_components(b, &p, &how);
        free(mask);
        free(grey);
    }
}

/** Images of some tiles of a device, of so many values that components are small, and each neighbour across a rim counts. */
static void values_across_tiles(bench *b) {
    static const struct {
        int64_t size[3];
        int connectivity, neighbours;
    } kinds[] = {
        {{261, 70, 1}, 1, 4}, {{261, 70, 1}, 2, 8}, {{40, 20, 35}, 1, 6}, {{40, 20, 35}, 2, 18}, {{40, 20, 35}, 3, 26}};
    chance c = {77};
    for (int i = 0; i < 4 * COUNT(kinds); ++i) {
        const int k = i / 4;
        const int64_t *size = kinds[k].size, pixels = size[0] * size[1] * size[2];
        uint8_t *mask = must_alloc((size_t)pixels);
        double *grey = must_alloc((size_t)pixels * sizeof *grey);
        for (int64_t j = 0; j < pixels; ++j) grey[j] = (double)(1 + roll_below(&c, 2 * kinds[k].neighbours));
        problem p = grey_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], grey, mask);
        p.options.connectivity = kinds[k].connectivity;
        p.options.delta = 1;
        const asked how = {.set = grey_types[i % 4], .labels = APSIS_I32, .capacity = i % 4 ? -1 : pixels};
        check_components(b, &p, &how);
        free(mask);
        free(grey);
    }
}

/** If delta is as large as differences become, values do not count. */
static void all_are_near(bench *b) {
    const int64_t size[3] = {777, 391, 1};
    const size_t pixels = (size_t)(size[0] * size[1]);
    uint8_t *mask = must_alloc(pixels);
    double *grey = must_alloc(pixels * sizeof *grey);
    chance c = {5};
    for (int i = 0; i < effort(4); ++i) {
        const problem drawn = new_problem(2, size[0], size[1], 1, NULL);
        draw_grey(&c, &drawn, grey_types[i], i < 3 ? 3 : 0.1, grey);
        for (size_t k = 0; k < pixels; ++k)
            if (roll_below(&c, 3) || !isfinite(grey[k])) grey[k] = 0;
        problem p = grey_problem(2, size[0], size[1], 1, grey, mask), q = p;
        p.options.connectivity = q.options.connectivity = 1 + i % 2;
        p.options.delta = DBL_MAX;
        q.options.flags = 0;
        q.grey = NULL;
        const asked how = {.set = grey_types[i], .labels = APSIS_I32, .capacity = -1};
        pieces got = run_components(b, &p, &how), want = run_components(b, &q, &LABELS);
        assert_int_equal(got.count, want.count);
        assert_memory_equal(got.labels, want.labels, pixels * sizeof(int32_t));
        free_pieces(&got);
        free_pieces(&want);
    }
    free(mask);
    free(grey);
}

/* ---- What is refused ---- */

static void what_delta_does_not_go_with(bench *b) {
    const int64_t size[3] = {8, 8, 1};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), real = frame_open(b, APSIS_F32, 2, size, PACKED),
          wide = frame_open(b, APSIS_I64, 2, size, PACKED), out = frame_open(b, APSIS_I32, 2, size, PACKED);
    apsis_options options = APSIS_OPTIONS_INIT;
#define REFUSES(call, status, text) assert_fails(b->ctx, call, status, text)
#define COMPONENTS(of) apsis_components(b->ctx, &(of).image, &out.image, NULL, 0, NULL, &options)
    REFUSES(COMPONENTS(real), APSIS_ERROR_ARGUMENT, "set|APSIS_F32|APSIS_U8");
    options.delta = 2.5;
    REFUSES(COMPONENTS(set), APSIS_ERROR_ARGUMENT, "delta|2.5|APSIS_LABELS");
    static const double bad[] = {-1, NAN, INFINITY, -INFINITY};
    for (int i = 0; i < COUNT(bad); ++i) {
        options.flags = APSIS_LABELS;
        options.delta = bad[i];
        REFUSES(COMPONENTS(set), APSIS_ERROR_ARGUMENT, "options|delta");
    }
    options.delta = 2.5;
    REFUSES(COMPONENTS(wide), APSIS_ERROR_UNSUPPORTED, "delta|2.5|set|APSIS_I64");
    options.method = APSIS_TILE_FILL;
    REFUSES(COMPONENTS(set), APSIS_ERROR_UNSUPPORTED, "APSIS_TILE_FILL");
    options.method = APSIS_AUTO;
    const apsis_image *const s = &set.image, *const o = &out.image;
    int64_t count;
    REFUSES(apsis_statistics(b->ctx, s, NULL, 0, &count, &options), APSIS_ERROR_ARGUMENT, "delta|2.5|apsis_statistics");
    REFUSES(apsis_contacts(b->ctx, s, NULL, 0, &count, &options), APSIS_ERROR_ARGUMENT, "delta|2.5|apsis_contacts");
    REFUSES(apsis_distance(b->ctx, s, NULL, o, &options), APSIS_ERROR_ARGUMENT, "delta|2.5|apsis_distance");
    REFUSES(apsis_voronoi(b->ctx, s, o, &options), APSIS_ERROR_ARGUMENT, "delta|2.5|apsis_voronoi");
    REFUSES(apsis_geodesic(b->ctx, s, s, NULL, o, &options), APSIS_ERROR_ARGUMENT, "delta|2.5|apsis_geodesic");
    options.flags = 0;
    REFUSES(apsis_eccentricity(b->ctx, s, NULL, o, NULL, 0, NULL, &options), APSIS_ERROR_ARGUMENT,
            "delta|2.5|apsis_eccentricity");
    REFUSES(apsis_statistics(b->ctx, &real.image, NULL, 0, &count, NULL), APSIS_ERROR_ARGUMENT, "labels|APSIS_F32");
    REFUSES(apsis_distance(b->ctx, &real.image, NULL, o, NULL), APSIS_ERROR_ARGUMENT, "set|APSIS_F32");
    frame_close(&set);
    frame_close(&real);
    frame_close(&wide);
    frame_close(&out);
}

static void slabs_have_no_delta(bench *b) {
    const int64_t size[3] = {8, 8, 1};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), real = frame_open(b, APSIS_F32, 2, size, PACKED),
          labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    int64_t last[8] = {0}, count;
    apsis_slab_labels slab = {.rows = 8, .last = last};
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_LABELS;
    REFUSES(apsis_slab_parts(b->ctx, &real.image, &slab, &options), APSIS_ERROR_UNSUPPORTED, "set|APSIS_F32|slabs");
    options.delta = 2;
    REFUSES(apsis_slab_parts(b->ctx, &set.image, &slab, &options), APSIS_ERROR_UNSUPPORTED, "delta|2|slabs");
    REFUSES(apsis_slab_join(b->ctx, 2, size, &slab, 1, NULL, 0, &count, &options), APSIS_ERROR_UNSUPPORTED, "delta|2|slabs");
    REFUSES(apsis_slab_components(b->ctx, &set.image, &slab, &labels.image, &options), APSIS_ERROR_UNSUPPORTED,
            "delta|2|slabs");
    options.flags = 0;
    REFUSES(apsis_slab_summary(b->ctx, &set.image, 0, NULL, last, &options), APSIS_ERROR_ARGUMENT, "delta|2|slab");
    frame_close(&set);
    frame_close(&real);
    frame_close(&labels);
}

/** Options without the field, of a program that was compiled before it. */
static void options_without_delta(bench *b) {
    static const uint8_t ramp[3] = {1, 2, 3};
    const int64_t size[3] = {3, 1, 1};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&set, ramp);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.struct_size = offsetof(apsis_options, delta);
    options.flags = APSIS_LABELS;
    options.delta = 1; /* behind its end */
    int64_t count;
    assert_ok(b->ctx, apsis_components(b->ctx, &set.image, &labels.image, NULL, 0, &count, &options));
    assert_int_equal(count, 3);
    options.struct_size = sizeof options;
    assert_ok(b->ctx, apsis_components(b->ctx, &set.image, &labels.image, NULL, 0, &count, &options));
    assert_int_equal(count, 1);
    frame_close(&set);
    frame_close(&labels);
}

static const test_case cases[] = {
    TEST(every_3x3_image, EVERYWHERE),
    TEST(every_2x2x2_volume, EVERYWHERE),
    TEST(a_ramp_is_connected, EVERYWHERE),
    TEST(differences_do_not_wrap, EVERYWHERE),
    TEST(reals, EVERYWHERE),
    TEST(random_grey, EVERYWHERE),
    TEST(values_across_tiles, EVERYWHERE),
    TEST(all_are_near, EVERYWHERE),
    TEST(what_delta_does_not_go_with, EVERYWHERE),
    TEST(slabs_have_no_delta, EVERYWHERE),
    TEST(options_without_delta, EVERYWHERE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
