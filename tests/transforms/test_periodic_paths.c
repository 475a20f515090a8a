/* Paths in images that close on themselves along some axes: against searches that step over their seams, and against
 * tilings. */
#include "periodic.h"
#include "run_eccentricity.h"
#include "run_labels.h"

static const given BOTH = {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I32};
static const given ALONE = {.set = APSIS_BIT, .distance = APSIS_F32};

/** A problem of small images as one batch, the i-th of some with every metric, connectivity and set of periodic axes. */
static problem small_problem(int i, int64_t w, int64_t h, int images, const uint8_t *mask) {
    problem p = new_problem(3, w, h, images, mask);
    p.options.flags = APSIS_SLICES | periodic_flags(1 + i % 3);
    p.options.metric = (apsis_metric)(i % 4);
    p.options.connectivity = i / 4 % 3;
    if (i % 4 < 2 && i / 2 % 2) set_spacing(&p, 1 + i % 3, 2, 1, 0.5);
    return p;
}

/* ---- Every small image ---- */

static void every_3x4_set(bench *b) {
    int images;
    chance c = {2701};
    uint8_t *mask = every_3x4(&images), *seeds = must_alloc((size_t)images * 12);
    for (int i = 0; i < 12; ++i) {
        problem p = small_problem(i, i % 2 ? 3 : 4, i % 2 ? 4 : 3, images, mask);
        for (int k = 0; k < images * 12; ++k) seeds[k] = roll_below(&c, 6) == 0;
        check_geodesic(b, &p, seeds, &BOTH);
        p.options.method = i % 3 ? APSIS_AUTO : APSIS_EVERY_SOURCE;
        check_eccentricity(b, &p, i % 4 == 3 ? &ALONE : &BOTH);
    }
    free(mask);
    free(seeds);
}

/** Three values, each a set of its own. */
static void every_3x3_label_image(bench *b) {
    int images;
    uint8_t *mask = every_3x3_of_three(&images);
    for (int i = 0; i < 6; ++i) {
        problem p = small_problem(i, 3, 3, images, mask);
        p.options.flags |= APSIS_LABELS;
        p.options.method = i % 3 ? APSIS_AUTO : APSIS_EVERY_SOURCE;
        const given how = {.set = label_types[i % 4], .distance = APSIS_F64, .nearest = APSIS_I32};
        check_eccentricity(b, &p, &how);
    }
    free(mask);
}

/** 2 x 2 x 2 and 3 x 2 x 4, with every set of periodic axes and every connectivity. */
static void small_volumes(bench *b) {
    uint8_t mask[24], seeds[24];
    chance c = {93};
    for (int i = 0; i < effort(256); ++i)
        for (int which = 1; which < 8; ++which)
            for (int connectivity = 1; connectivity <= 3; ++connectivity) {
                const bool cube = i % 2;
                for (int k = 0; k < 24; ++k) {
                    mask[k] = (uint8_t)(cube ? i >> k % 8 & 1 : roll_below(&c, 5) != 0);
                    seeds[k] = roll_below(&c, 12) == 0;
                }
                problem p = new_problem(3, cube ? 2 : 3, 2, cube ? 2 : 4, mask);
                p.options.flags = periodic_flags(which);
                p.options.metric = (apsis_metric)(i / 2 % 4);
                p.options.connectivity = connectivity;
                check_geodesic(b, &p, seeds, &BOTH);
                check_eccentricity(b, &p, i % 3 ? &BOTH : &ALONE);
            }
}

/* ---- Random images ---- */

static problem random_problem(chance *c, int64_t most) {
    static const int64_t sizes[] = {1, 2, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 47, 64, 65, 130};
    problem p = new_problem(2 + (int)roll_below(c, 2), 1, 1, 1, NULL);
    do
        for (int a = 0; a < p.ndim; ++a) p.size[a] = sizes[roll_below(c, COUNT(sizes))];
    while (pixels_of(&p) > most);
    apsis_options *o = &p.options;
    o->flags = (roll_below(c, 3) ? 0 : APSIS_COMPLEMENT) | (p.ndim == 3 && !roll_below(c, 4) ? APSIS_SLICES : 0);
    draw_periodic(&p, c);
    o->metric = (apsis_metric)roll_below(c, 4);
    o->connectivity = (int32_t)roll_below(c, (o->flags & APSIS_SLICES ? 2 : p.ndim) + 1);
    if (!roll_below(c, 3)) {
        const int64_t x = 1 + roll_below(c, 9), equal = o->metric >= APSIS_CHESSBOARD || roll_below(c, 2);
        set_spacing(&p, x, equal ? x : 1 + roll_below(c, 9), equal ? x : 1 + roll_below(c, 20), roll_below(c, 2) ? 1 : 0.25);
    }
    draw_weights(&p, false, c);
    return p;
}

static given random_images(chance *c) {
    given how = {.set = roll_below(c, 2) ? APSIS_BIT : APSIS_U8, .distance = roll_below(c, 2) ? APSIS_F32 : APSIS_F64};
    if (roll_below(c, 3)) how.nearest = roll_below(c, 2) ? APSIS_I32 : APSIS_I64;
    if (!roll_below(c, 5)) how.distance = 0;
    if (roll_below(c, 2)) how.set_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 2)) how.distance_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 2)) how.nearest_layout = (unsigned)roll_below(c, LAYOUTS);
    return how;
}

static void random_geodesic(bench *b) {
    chance c = {2702};
    for (int i = 0; i < effort(800); ++i) {
        problem p = random_problem(&c, roll_below(&c, 8) ? 2500 : 20000);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p)), *seeds = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, roll_below(&c, 2) ? NOISE : (int)roll_below(&c, MASK_KINDS), 0.3 + 0.7 * roll_real(&c), &c);
        fill_mask(seeds, p.size, NOISE, roll_below(&c, 3) ? 0.003 : 0.1, &c);
        p.mask = mask;
        if (!roll_below(&c, 3)) p.options.max_distance = 40 * roll_real(&c);
        const given how = random_images(&c);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_geodesic(b, &p, seeds, &how);
        free(mask);
        free(seeds);
    }
}

static void random_eccentricity(bench *b) {
    chance c = {2703};
    for (int i = 0; i < effort(500); ++i) {
        problem p = random_problem(&c, roll_below(&c, 8) ? 500 : 2500);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        p.mask = mask;
        given how = random_images(&c);
        if (roll_below(&c, 2)) {
            fill_mask(mask, p.size, roll_below(&c, 2) ? NOISE : (int)roll_below(&c, MASK_KINDS), 0.3 + 0.7 * roll_real(&c), &c);
        } else {
            fill_cells(mask, p.size, &c);
            p.options.flags = (p.options.flags | APSIS_LABELS) & ~(uint32_t)APSIS_COMPLEMENT;
            how.set = label_types[roll_below(&c, COUNT(label_types))];
        }
        p.options.method = roll_below(&c, 4) ? APSIS_AUTO : APSIS_EVERY_SOURCE;
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_eccentricity(b, &p, &how);
        free(mask);
    }
}

/* ---- Laws ---- */

/** Where all tiles of 3 x 3 have the seeds, the middle one has the lengths of the image that closes on itself. */
static void tilings(bench *b) {
    enum { W = 41, H = 26 };
    const int64_t size[3] = {W, H, 1};
    chance c = {2704};
    uint8_t *mask = must_alloc(2 * W * H), *tiles = must_alloc(18 * W * H);
    for (int i = 0; i < effort(30); ++i) {
        fill_mask(mask, size, NOISE, 0.7, &c);
        fill_mask(mask + W * H, size, NOISE, 0.01, &c);
        for (int64_t k = 0; k < 18 * W * H; ++k)
            tiles[k] = mask[k / (9 * W * H) * W * H + k % (9 * W * H) / (3 * W) % H * W + k % (3 * W) % W];
        problem one = new_problem(2, W, H, 1, mask), nine = new_problem(2, 3 * W, 3 * H, 1, tiles);
        one.options.metric = nine.options.metric = (apsis_metric)(i % 4);
        one.options.flags = APSIS_PERIODIC_X | APSIS_PERIODIC_Y;
        /* A path that leaves the middle by more than a tile comes back to a seed there that is as near. */
        one.options.max_distance = nine.options.max_distance = H;
        outputs of_one = run_geodesic(b, &one, mask + W * H, &BOTH), of_nine = run_geodesic(b, &nine, tiles + 9 * W * H, &BOTH);
        for (int64_t y = 0; y < H; ++y)
            assert_memory_equal((double *)of_one.distance + y * W, (double *)of_nine.distance + (y + H) * 3 * W + W,
                                W * sizeof(double));
        free_outputs(&of_one);
        free_outputs(&of_nine);
    }
    free(mask);
    free(tiles);
}

/** A full torus looks the same from everywhere: half its sides.  So nearly every pixel needs a field of its own. */
static void a_full_torus(bench *b) {
    const int w = effort(10) < 10 ? 18 : 70, h = effort(10) < 10 ? 12 : 44;
    static uint8_t mask[70 * 44];
    memset(mask, 1, sizeof mask);
    problem p = new_problem(2, w, h, 1, mask);
    p.options.metric = APSIS_CITY_BLOCK;
    p.options.flags = periodic_flags(3);
    const given how = {.set = APSIS_U8, .distance = APSIS_I32, .nearest = APSIS_I32};
    apsis_extent extent;
    int64_t count;
    outputs out = run_eccentricity(b, &p, &how, &extent, 1, &count);
    for (int i = 0; i < w * h; ++i) {
        assert_int_equal(((int32_t *)out.distance)[i], w / 2 + h / 2);
        assert_int_equal(((int32_t *)out.nearest)[i], (i / w + h / 2) % h * w + (i % w + w / 2) % w);
    }
    assert_true(extent.radius == w / 2 + h / 2 && extent.diameter == extent.radius);
    assert_true(extent.centre == 0 && extent.ends[0] == 0 && extent.ends[1] == h / 2 * w + w / 2);
    free_outputs(&out);
}

/** Larger components than a block of 4096 pixels, with and without farthest pixels, as a field from every pixel gives it. */
static void larger_shapes(bench *b) {
    const int64_t side = effort(10) < 10 ? 34 : 100, size[3] = {side, side, 1};
    chance c = {2705};
    uint8_t *mask = must_alloc((size_t)(side * side));
    for (int i = 0; i < effort(6); ++i) {
        fill_mask(mask, size, NOISE, i % 2 ? 0.65 : 0.85, &c);
        problem p = new_problem(2, side, side, 1, mask);
        p.options.flags = periodic_flags(1 + i % 3);
        check_by_every_source(b, &p);
    }
    free(mask);
}

/** A path that goes round and round a cylinder, until 32 bits do not hold its length: every other row has a wall, and behind it
 *  an opening to the next one. */
static void a_very_long_path(bench *b) {
    enum { W = 401, H = 299 };
    uint8_t *mask = must_alloc(W * H), *seeds = must_alloc(W * H);
    for (int i = 0; i < W * H; ++i) {
        const int x = i % W, y = i / W;
        mask[i] = y % 2 ? x == (y + 1) % W : x != (y + 1) % W;
    }
    seeds[0] = 1;
    problem p = new_problem(2, W, H, 1, mask);
    p.options.flags = APSIS_PERIODIC_X;
    p.options.metric = APSIS_CITY_BLOCK;
    const given how = {.set = APSIS_U8, .distance = APSIS_I64, .nearest = APSIS_I32};
    outputs out = run_geodesic(b, &p, seeds, &how);
    assert_true(((int64_t *)out.distance)[W * H - 1] > W / 2 * H - W); /* it goes by all of them */
    free_outputs(&out);
    set_spacing(&p, 99991, 99990, 1, 1);
    check_geodesic(b, &p, seeds, &BOTH);
    p.options.max_distance = 5e9;
    check_geodesic(b, &p, seeds, &BOTH);
    free(mask);
    free(seeds);
}

/** The bytes are the same whatever the threads, and in whatever order they come. */
static void random_schedules(bench *b) {
    const int64_t side = effort(10) < 10 ? 20 : 70, size[3] = {side, side, 1};
    const size_t pixels = (size_t)(side * side);
    chance c = {2706};
    uint8_t *mask = must_alloc(pixels);
    fill_mask(mask, size, NOISE, 0.85, &c);
    problem p = new_problem(2, side, side, 1, mask);
    p.options.flags = periodic_flags(3);
    int64_t count;
    outputs want = run_eccentricity(b, &p, &BOTH, NULL, 0, &count);
    assert_ok(b->ctx, apsis_set_progress(b->ctx, disturb, &c));
    for (int run = 0; run < effort(30); ++run) {
        assert_ok(b->ctx, apsis_set_threads(b->ctx, 1 + run % 4));
        outputs out = run_eccentricity(b, &p, &BOTH, NULL, 0, &count);
        assert_memory_equal(out.distance, want.distance, pixels * sizeof(double));
        assert_memory_equal(out.nearest, want.nearest, pixels * sizeof(int32_t));
        free_outputs(&out);
    }
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    free_outputs(&want);
    free(mask);
}

/* ---- What is refused ---- */

static void wrong_arguments(bench *b) {
    const int64_t plane[3] = {1, 5, 1}, cube[3] = {3, 3, 3};
    frame flat = frame_open(b, APSIS_U8, 2, plane, PACKED), far = frame_open(b, APSIS_F32, 2, plane, PACKED),
          deep = frame_open(b, APSIS_U8, 3, cube, PACKED), deep_far = frame_open(b, APSIS_F32, 3, cube, PACKED);
    apsis_options o = APSIS_OPTIONS_INIT;
    int64_t count;
#define REFUSES(set, far, text)                                                                        \
    assert_fails(b->ctx, apsis_geodesic(b->ctx, set, set, far, NULL, &o), APSIS_ERROR_ARGUMENT, text); \
    assert_fails(b->ctx, apsis_eccentricity(b->ctx, set, far, NULL, NULL, 0, &count, &o), APSIS_ERROR_ARGUMENT, text)
    o.flags = APSIS_PERIODIC_X;
    REFUSES(&flat.image, &far.image, "APSIS_PERIODIC_X|set: size[0] is 1|at least 2");
    o.flags = APSIS_PERIODIC_Z;
    REFUSES(&flat.image, &far.image, "APSIS_PERIODIC_Z|ndim is 2");
    o.flags = APSIS_PERIODIC_Z | APSIS_SLICES;
    REFUSES(&deep.image, &deep_far.image, "APSIS_PERIODIC_Z|APSIS_SLICES");
    o.flags = APSIS_PERIODIC_X;
    const apsis_slab_paths slab = {.start = 0, .extent = 5};
    assert_fails(b->ctx, apsis_slab_geodesic(b->ctx, &flat.image, &flat.image, &slab, NULL, NULL, NULL, &o),
                 APSIS_ERROR_ARGUMENT, "APSIS_PERIODIC_X|set: size[0] is 1|at least 2");
    const int64_t row[3] = {5, 1, 1};
    frame thin = frame_open(b, APSIS_U8, 2, row, PACKED);
    const apsis_slab_paths one = {.start = 0, .extent = 1};
    o.flags = APSIS_PERIODIC_Y;
    assert_fails(b->ctx, apsis_slab_geodesic(b->ctx, &thin.image, &thin.image, &one, NULL, NULL, NULL, &o),
                 APSIS_ERROR_ARGUMENT, "APSIS_PERIODIC_Y|the image: size[1] is 1|at least 2");
    frame_close(&flat);
    frame_close(&far);
    frame_close(&deep);
    frame_close(&deep_far);
    frame_close(&thin);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {
        TEST(every_3x4_set, EVERYWHERE),    TEST(every_3x3_label_image, EVERYWHERE), TEST(small_volumes, EVERYWHERE),
        TEST(random_geodesic, EVERYWHERE),  TEST(random_eccentricity, EVERYWHERE),   TEST(tilings, EVERYWHERE),
        TEST(a_full_torus, EVERYWHERE),     TEST(larger_shapes, EVERYWHERE),         TEST(a_very_long_path, EVERYWHERE),
        TEST(random_schedules, EVERYWHERE), TEST(wrong_arguments, EVERYWHERE),
    };
    return RUN_CASES(cases, argc, argv);
}
