/* Weights of the chamfer metric: every small image with some of them, answers by hand, and what is refused. */
#include <apsis_measures.h>

#include "run_eccentricity.h"
#include "run_geodesic.h"

static const given BOTH = {.set = APSIS_U8, .distance = APSIS_I32, .nearest = APSIS_I32};
static const given REAL = {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I32};

static void set_weights(apsis_options *o, int32_t a, int32_t b, int32_t c) {
    o->metric = APSIS_CHAMFER;
    o->weights[0] = a, o->weights[1] = b, o->weights[2] = c;
}

/* ---- Every small image ---- */

static const int32_t PLANE[][3] = {{5, 7, 11}, {2, 3, 0}, {1, 2, 3}, {4, 5, 9}};

static void every_4x4_image(bench *b) {
    int images;
    uint8_t *mask = every_4x4(&images), *seeds = must_alloc((size_t)images * 16);
    chance c = {6};
    for (int i = 0; i < images * 16; ++i) seeds[i] = roll_below(&c, 6) == 0;
    for (int k = 0; k < COUNT(PLANE); ++k) {
        problem p = new_problem(3, 4, 4, images, mask);
        p.options.flags = APSIS_SLICES;
        set_weights(&p.options, PLANE[k][0], PLANE[k][1], PLANE[k][2]);
        check_geodesic(b, &p, seeds, k % 2 ? &REAL : &BOTH);
        if (k % 2 == 0) check_eccentricity(b, &p, &BOTH);
    }
    free(mask);
    free(seeds);
}

static void every_3x2x2_volume(bench *b) {
    static const int32_t weights[][3] = {{2, 3, 4}, {3, 4, 6}, {7, 9, 13}};
    uint8_t mask[12], seeds[12] = {0};
    for (int i = 0; i < 4096; i += 4096 / effort(4096)) {
        for (int k = 0; k < 12; ++k) mask[k] = i >> k & 1;
        for (int k = 0; k < 12; ++k) seeds[k] = k == i % 12 || k == i / 12 % 12;
        problem p = new_problem(3, 3, 2, 2, mask);
        p.options.connectivity = i % 4;
        set_weights(&p.options, weights[i / 4 % 3][0], weights[i / 4 % 3][1], weights[i / 4 % 3][2]);
        check_geodesic(b, &p, seeds, &REAL);
        check_eccentricity(b, &p, &BOTH);
    }
}

/** Knight's moves across tiles, and lengths that do not fit 32 bits. */
static void large_ones(bench *b) {
    static const int32_t weights[][3] = {{5, 7, 11}, {460000, 650000, 1028000}};
    enum { W = 150, H = 90 };
    const int64_t size[3] = {W, H, 1};
    chance c = {7};
    uint8_t *mask = must_alloc(W * H), *seeds = must_alloc(W * H);
    for (int i = 0; i < effort(12); ++i) {
        fill_mask(mask, size, i % 3 ? NOISE : FULL, i % 3 == 1 ? 0.6 : 0.8, &c);
        for (int64_t k = 0; k < W * H; ++k) seeds[k] = roll_below(&c, 5000) == 0;
        seeds[W + 1] = 1;
        problem p = new_problem(2, W, H, 1, mask);
        set_weights(&p.options, weights[i % 2][0], weights[i % 2][1], weights[i % 2][2]);
        check_geodesic(b, &p, seeds, &REAL);
    }
    for (int64_t y = 0; y < H; ++y) /* a way to and fro, of two pixels */
        for (int64_t x = 0; x < W; ++x) mask[y * W + x] = y % 4 < 2 || (y % 8 < 4 ? x >= W - 2 : x < 2);
    memset(seeds, 0, W * H);
    seeds[0] = 1;
    problem p = new_problem(2, W, H, 1, mask);
    set_weights(&p.options, weights[1][0], weights[1][1], weights[1][2]);
    check_geodesic(b, &p, seeds, &REAL);
    free(mask);
    free(seeds);
}

/* ---- Answers by hand ---- */

/** In a room, round a corner, and before a wall of one pixel, over which MorphoLibJ would leap. */
static void a_knights_move(bench *b) {
    uint8_t mask[7 * 4], seeds[28] = {1};
    draw(mask, "####.##", "####.##", "##..#.#", "###.###", NULL);
    problem p = new_problem(2, 7, 4, 1, mask);
    set_weights(&p.options, 5, 7, 11);
    outputs out = run_geodesic(b, &p, seeds, &BOTH);
    const int32_t *d = out.distance;
    assert_true(d[1] == 5 && d[8] == 7 && d[9] == 11 && d[15] == 11 && d[10] == 16);
    assert_true(d[22] == 16 && d[23] == 18); /* 11 + 5, 11 + 7 */
    assert_true(d[18] == 22 && d[5] == 33);  /* over (3, 1) to (4, 2), and from there over (5, 1) to (5, 0) */
    free_outputs(&out);
    out = run_geodesic(b, &p, seeds, &REAL);
    assert_true(((double *)out.distance)[9] == 11 / 5.0);
    free_outputs(&out);
    draw(mask, "#######", "#######", ".......", "#######", NULL);
    out = run_geodesic(b, &p, seeds, &BOTH);
    assert_true(((int32_t *)out.distance)[21] == INT32_MAX && ((int32_t *)out.nearest)[21] == -1);
    free_outputs(&out);
    int64_t count = 0;
    out = run_eccentricity(b, &p, &BOTH, NULL, 0, &count);
    assert_int_equal(count, 2);
    assert_int_equal(((int32_t *)out.distance)[0], 11 + 4 * 5); /* to (6, 1) */
    assert_int_equal(((int32_t *)out.distance)[21], 6 * 5);
    free_outputs(&out);
}

/** A batch is of images in 2-D; a volume of one plane is in 3-D. */
static void planes(bench *b) {
    uint8_t mask[27], seeds[27] = {1};
    memset(mask, 1, sizeof mask);
    problem p = new_problem(3, 3, 3, 3, mask);
    set_weights(&p.options, 4, 6, 9);
    outputs out = run_geodesic(b, &p, seeds, &BOTH);
    assert_int_equal(((int32_t *)out.distance)[5], 4 + 6);
    assert_int_equal(((int32_t *)out.distance)[26], 18);
    free_outputs(&out);
    p.options.flags = APSIS_SLICES;
    out = run_geodesic(b, &p, seeds, &BOTH);
    assert_int_equal(((int32_t *)out.distance)[5], 9);
    free_outputs(&out);
}

/* ---- What is refused ---- */

static apsis_status call(bench *b, int ndim, int64_t depth, const apsis_options *o, apsis_transform transform) {
    const apsis_image set = {.type = APSIS_U8, .ndim = ndim, .size = {4, 4, depth}, .memory = b->memory},
                      *geodesic[] = {&set, &set, NULL, NULL}, *other[] = {&set, NULL, NULL};
    size_t bytes;
    return transform == APSIS_GEODESIC ? apsis_workspace_size(b->ctx, transform, geodesic, 4, o, &bytes)
                                       : apsis_workspace_size(b->ctx, transform, other, 3, o, &bytes);
}

static void bad_weights(bench *b) {
    static const struct {
        int32_t weights[4];
        int ndim;
        const char *words;
    } bad[] = {
        {{0, 4, 5, 0}, 3, "weights[0] is 0 in 0, 4, 5|from 1 to 1048576|a step along one axis"},
        {{-3, 4, 5, 0}, 3, "weights[0] is -3"},
        {{1048577, 1048577, 0, 0}, 2, "weights[0] is 1048577"},
        {{3, 0, 0, 0}, 2, "weights[1] is 0 in 3, 0, 0|from 3 to 6|a step along two axes"},
        {{3, 2, 0, 0}, 2, "weights[1] is 2|from 3 to 6"},
        {{3, 7, 0, 0}, 2, "weights[1] is 7|from 3 to 6"},
        {{3, 4, 0, 0}, 3, "weights[2] is 0|from 4 to 6|a step along three axes"},
        {{3, 4, 3, 0}, 3, "weights[2] is 3|from 4 to 6"},
        {{3, 4, 7, 0}, 3, "weights[2] is 7|from 4 to 6"},
        {{3, 4, 5, 0}, 2, "weights[2] is 5|from 6 to 7|a knight's move in 2-D, or 0 for none"},
        {{5, 7, 13, 0}, 2, "weights[2] is 13|from 11 to 12"},
        {{5, 7, 10, 0}, 2, "weights[2] is 10|from 11 to 12"},
        {{700000, 1000000, 1500000, 0}, 2, "weights[2] is 1500000|from 1500000 to 1048576"},
        {{3, 4, 5, -1}, 3, "weights[3] is -1|must be 0"},
    };
    for (int i = 0; i < COUNT(bad); ++i) {
        apsis_options o = APSIS_OPTIONS_INIT;
        o.metric = APSIS_CHAMFER;
        memcpy(o.weights, bad[i].weights, sizeof o.weights);
        const apsis_status status = bad[i].weights[3] ? APSIS_ERROR_UNSUPPORTED : APSIS_ERROR_ARGUMENT;
        assert_fails(b->ctx, call(b, bad[i].ndim, bad[i].ndim - 1, &o, APSIS_GEODESIC), status, bad[i].words);
        assert_fails(b->ctx, call(b, bad[i].ndim, bad[i].ndim - 1, &o, APSIS_ECCENTRICITY), status, bad[i].words);
    }
}

static void other_refusals(bench *b) {
    apsis_options o = APSIS_OPTIONS_INIT;
    o.weights[0] = 3, o.weights[1] = 4;
    assert_fails(b->ctx, call(b, 2, 1, &o, APSIS_GEODESIC), APSIS_ERROR_ARGUMENT, "weights[0] is 3|APSIS_CHAMFER");
    assert_fails(b->ctx, call(b, 2, 1, &o, APSIS_DISTANCE), APSIS_ERROR_ARGUMENT, "weights[0] is 3|APSIS_CHAMFER");
    o.weights[0] = o.weights[1] = 0, o.weights[3] = 7;
    assert_fails(b->ctx, call(b, 2, 1, &o, APSIS_GEODESIC), APSIS_ERROR_ARGUMENT, "weights[3] is 7");
    o.weights[3] = 0;
    set_weights(&o, 5, 7, 11);
    o.connectivity = 1;
    assert_fails(b->ctx, call(b, 2, 1, &o, APSIS_GEODESIC), APSIS_ERROR_ARGUMENT, "weights[2] is 11|knight|connectivity is 1");
    o.connectivity = 2, o.flags = APSIS_PERIODIC_X;
    assert_fails(b->ctx, call(b, 2, 1, &o, APSIS_GEODESIC), APSIS_ERROR_UNSUPPORTED, "weights[2] is 11|knight|periodic");
    assert_fails(b->ctx, call(b, 2, 1, &o, APSIS_ECCENTRICITY), APSIS_ERROR_UNSUPPORTED, "weights[2] is 11|knight|periodic");
    o.flags = 0;
    if (b->memory != APSIS_HOST) return;
    uint8_t bytes[16] = {1};
    const apsis_image set = {.data = bytes, .type = APSIS_U8, .ndim = 2, .size = {4, 4}};
    const apsis_slab_paths slab = {.start = 0, .extent = 8};
    assert_fails(b->ctx, apsis_slab_geodesic(b->ctx, &set, &set, &slab, NULL, NULL, NULL, &o), APSIS_ERROR_UNSUPPORTED,
                 "weights[2] is 11|knight|slab");
    int32_t lengths[16];
    const apsis_image out = {.data = lengths, .type = APSIS_I32, .ndim = 2, .size = {4, 4}};
    o.spacing[0] = o.spacing[1] = 5;
    assert_fails(b->ctx, apsis_geodesic(b->ctx, &set, &set, &out, NULL, &o), APSIS_ERROR_ARGUMENT, "distance|spacing is not 1");
    o.spacing[1] = 4;
    assert_fails(b->ctx, apsis_geodesic(b->ctx, &set, &set, NULL, NULL, &o), APSIS_ERROR_UNSUPPORTED, "spacing[1]|chamfer");
}

static void can_be_stopped(bench *b) {
    enum { SIDE = 300 };
    static uint8_t set[SIDE * SIDE], seeds[SIDE * SIDE];
    static int32_t lengths[SIDE * SIDE];
    memset(set, 1, sizeof set);
    seeds[7] = 1;
    const apsis_image in = {.data = set, .type = APSIS_U8, .ndim = 2, .size = {SIDE, SIDE}};
    apsis_image at = in, out = in;
    at.data = seeds, out.data = lengths, out.type = APSIS_I32;
    apsis_options o = APSIS_OPTIONS_INIT;
    set_weights(&o, 5, 7, 11);
    int calls = 0;
    assert_ok(b->ctx, apsis_set_progress(b->ctx, stop_at_once, &calls));
    assert_int_equal(apsis_geodesic(b->ctx, &in, &at, &out, NULL, &o), APSIS_ERROR_CANCELLED);
    assert_int_equal(apsis_eccentricity(b->ctx, &in, &out, NULL, NULL, 0, NULL, &o), APSIS_ERROR_CANCELLED);
    assert_int_equal(calls, 2);
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    assert_ok(b->ctx, apsis_geodesic(b->ctx, &in, &at, &out, NULL, &o));
    assert_int_equal(lengths[7 + SIDE * 200], 200 * 5);
    o.budget = 2;
    apsis_extent extent;
    int64_t count;
    assert_fails(b->ctx, apsis_eccentricity(b->ctx, &in, &out, NULL, &extent, 1, &count, &o), APSIS_ERROR_BUDGET,
                 "budget is 2");
    assert_true(count == 1 && extent.gap > 0 && lengths[0] > 0);
}

static const test_case cases[] = {
    TEST(every_4x4_image, EVERYWHERE), TEST(every_3x2x2_volume, EVERYWHERE),
    TEST(large_ones, EVERYWHERE),      TEST(a_knights_move, EVERYWHERE),
    TEST(planes, EVERYWHERE),          TEST(bad_weights, EVERYWHERE),
    TEST(other_refusals, EVERYWHERE),  TEST(can_be_stopped, WITH_HOST_IMAGES),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
