/* apsis_geodesic against paths relaxed one by one: every small image, random ones of every kind, and shapes that are hard. */
#include "run_geodesic.h"

#include <math.h>

static const given REAL = {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I32};
static const given WHOLE = {.set = APSIS_U8, .distance = APSIS_I32, .nearest = APSIS_I64};

/* ---- Every small image ---- */

static void every_4x4_image(bench *b) {
    int images;
    uint8_t *mask = every_4x4(&images), *seeds = must_alloc((size_t)images * 16);
    chance c = {5};
    for (int metric = 0; metric < 3; ++metric)
        for (int many = 0; many < 2; ++many) {
            for (int i = 0; i < images * 16; ++i) seeds[i] = roll_below(&c, many ? 3 : 10) == 0;
            problem p = new_problem(3, 4, 4, images, mask);
            p.options.flags = APSIS_SLICES;
            p.options.metric = (apsis_metric)metric;
            check_geodesic(b, &p, seeds, metric ? &WHOLE : &REAL);
        }
    for (int i = 0; i < images; i += 65536 / effort(1024)) {
        problem p = new_problem(2, 4, 4, 1, mask + 16 * i);
        p.options.connectivity = 1 + i / 64 % 2;
        check_geodesic(b, &p, seeds + 16 * i, &REAL);
    }
    free(mask);
    free(seeds);
}

static void every_3x2x2_volume(bench *b) {
    uint8_t mask[12], seeds[12] = {0};
    for (int i = 0; i < 4096; i += 4096 / effort(4096)) {
        for (int k = 0; k < 12; ++k) mask[k] = i >> k & 1;
        for (int k = 0; k < 12; ++k) seeds[k] = k == i % 12 || k == i / 12 % 12;
        problem p = new_problem(3, 3, 2, 2, mask);
        p.options.connectivity = i % 4;
        p.options.metric = (apsis_metric)(i / 4 % 3);
        check_geodesic(b, &p, seeds, &REAL);
    }
}

/* ---- Answers written by hand: they need no oracle ---- */

static void round_a_corner(bench *b) {
    uint8_t mask[5 * 4], seeds[20] = {1};
    draw(mask, "##.##", "##.##", "##.#.", "####.", NULL);
    problem p = new_problem(2, 5, 4, 1, mask);
    outputs out = run_geodesic(b, &p, seeds, &REAL);
    const double r = 8119 / 5741.0;
    const double *d = out.distance;
    assert_true(d[0] == 0 && d[1] == 1 && d[6] == r && d[2] == -1 && d[14] == -1);
    assert_true(d[11] == (5741 + 8119) / 5741.0);     /* down and down the diagonal */
    assert_true(d[17] == (5741 + 2 * 8119) / 5741.0); /* to the gap */
    assert_true(d[13] == (5741 + 3 * 8119) / 5741.0); /* through it */
    assert_true(fabs(d[13] - (1 + 3 * sqrt(2))) < 1e-7);
    assert_true(d[4] == (2 * 5741 + 4 * 8119) / 5741.0);
    free_outputs(&out);
    p.options.metric = APSIS_CITY_BLOCK;
    out = run_geodesic(b, &p, seeds, &WHOLE);
    assert_int_equal(((int32_t *)out.distance)[4], 10);
    assert_int_equal(((int64_t *)out.nearest)[4], 0);
    assert_int_equal(((int64_t *)out.nearest)[2], -1);
    free_outputs(&out);
    p.options.metric = APSIS_CHESSBOARD;
    out = run_geodesic(b, &p, seeds, &WHOLE);
    assert_int_equal(((int32_t *)out.distance)[4], 6);
    free_outputs(&out);
    p.options.metric = APSIS_CHAMFER;
    out = run_geodesic(b, &p, seeds, &WHOLE);
    assert_int_equal(((int32_t *)out.distance)[4], 2 * 3 + 4 * 4);
    free_outputs(&out);
    out = run_geodesic(b, &p, seeds, &REAL);
    assert_true(((double *)out.distance)[4] == 22 / 3.0);
    free_outputs(&out);
}

static void the_lowest_of_the_nearest(bench *b) {
    const uint8_t mask[9] = {1, 1, 1, 1, 1, 0, 1, 1, 0}, seeds[9] = {1, 0, 0, 0, 1, 1, 0, 0, 1};
    static const int64_t nearest[9] = {0, 0, 0, 4, 4, -1, -1, -1, -1};
    static const int32_t far[9] = {0, 1, 2, 1, 0, -1, INT32_MAX, INT32_MAX, -1};
    problem p = new_problem(2, 9, 1, 1, mask);
    p.options.metric = APSIS_CITY_BLOCK;
    outputs out = run_geodesic(b, &p, seeds, &WHOLE);
    assert_memory_equal(out.nearest, nearest, sizeof nearest);
    assert_memory_equal(out.distance, far, sizeof far);
    free_outputs(&out);
}

/* ---- Random problems of every kind ---- */

static void choose_size(chance *c, problem *p) {
    static const int64_t sizes[] = {1, 1, 2, 3, 4, 5, 7, 8, 11, 16, 17, 31, 32, 33, 47, 64, 65, 129, 257};
    const int64_t most = roll_below(c, 8) ? 4000 : 40000;
    p->ndim = 2 + (int)roll_below(c, 2);
    do
        for (int a = 0; a < 3; ++a) p->size[a] = a < p->ndim ? sizes[roll_below(c, COUNT(sizes))] : 1;
    while (pixels_of(p) > most);
}

static void choose_options(chance *c, problem *p) {
    apsis_options *o = &p->options;
    o->flags = (roll_below(c, 3) ? 0 : APSIS_COMPLEMENT) | (p->ndim == 3 && !roll_below(c, 3) ? APSIS_SLICES : 0);
    o->metric = (apsis_metric)roll_below(c, 4);
    o->connectivity = (int32_t)roll_below(c, (o->flags & APSIS_SLICES ? 2 : p->ndim) + 1);
    if (!roll_below(c, 3)) {
        const int64_t x = 1 + roll_below(c, 9), equal = o->metric >= APSIS_CHESSBOARD || roll_below(c, 2);
        set_spacing(p, x, equal ? x : 1 + roll_below(c, 9), equal ? x : 1 + roll_below(c, 20), roll_below(c, 2) ? 1 : 0.25);
    }
    if (!roll_below(c, 3)) o->max_distance = roll_below(c, 2) ? (double)(1 + roll_below(c, 20)) : 40 * roll_real(c);
    draw_weights(p, true, c);
}

static given choose_images(chance *c, const problem *p) {
    static const apsis_type real[] = {APSIS_F32, APSIS_F64}, whole[] = {APSIS_F32, APSIS_I32, APSIS_I64, APSIS_F64};
    const bool fits = p->options.metric != APSIS_EUCLIDEAN && p->options.spacing[0] == 0;
    given how = {.set = roll_below(c, 2) ? APSIS_BIT : APSIS_U8,
                 .distance = fits ? whole[roll_below(c, 4)] : real[roll_below(c, 2)],
                 .nearest = roll_below(c, 2) ? APSIS_I32 : APSIS_I64};
    const int64_t left_out = roll_below(c, 4);
    if (left_out == 0) how.distance = 0;
    if (left_out == 1) how.nearest = 0;
    if (roll_below(c, 2)) how.set_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 2)) how.distance_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 2)) how.nearest_layout = (unsigned)roll_below(c, LAYOUTS);
    return how;
}

static void random_problems(bench *b) {
    static const double densities[] = {0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9, 0.99, 1};
    chance c = {2029};
    for (int i = 0; i < effort(2500); ++i) {
        problem p = new_problem(2, 1, 1, 1, NULL);
        choose_size(&c, &p);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p)), *seeds = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, roll_below(&c, 2) ? NOISE : (int)roll_below(&c, MASK_KINDS),
                  densities[roll_below(&c, COUNT(densities))], &c);
        fill_mask(seeds, p.size, roll_below(&c, 3) ? NOISE : (int)roll_below(&c, MASK_KINDS), roll_below(&c, 2) ? 0.01 : 0.3,
                  &c);
        p.mask = mask;
        choose_options(&c, &p);
        const given how = choose_images(&c, &p);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_geodesic(b, &p, seeds, &how);
        free(mask);
        free(seeds);
    }
}

/** Spacings that no whole numbers are in the ratio of, and steps of very different lengths. */
static void odd_spacings(bench *b) {
    static const double spacings[][3] = {{0.7, 3.14159, 1.1}, {1e-9, 1.23e-9, 1e-8}, {1e30, 7e30, 1.7e32}, {1, 2000.5, 60.25}};
    const int64_t size[3] = {19, 17, 7};
    chance c = {3};
    uint8_t mask[19 * 17 * 7], seeds[19 * 17 * 7];
    for (int i = 0; i < 8 * COUNT(spacings); ++i) {
        fill_mask(mask, size, NOISE, 0.8, &c);
        fill_mask(seeds, size, NOISE, 0.01, &c);
        problem p = new_problem(3, 19, 17, 7, mask);
        memcpy(p.options.spacing, spacings[i / 8], sizeof p.options.spacing);
        p.options.metric = i % 2 ? APSIS_CITY_BLOCK : APSIS_EUCLIDEAN;
        p.options.connectivity = 1 + i % 3;
        scale s = scale_of(&p); /* the oracle knows whole ratios only: the field must obey the triangle inequality */
        outputs out = run_geodesic(b, &p, seeds, &REAL);
        const double *d = out.distance;
        for (int64_t at = 0; at < 19 * 17 * 7; ++at) {
            double best = mask[at] ? seeds[at] ? 0 : INFINITY : -1;
            const int64_t x = at % 19, y = at / 19 % 17, z = at / 19 / 17;
            for (int n = 0; n < 27 && best > 0; ++n) {
                const int e[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
                const int64_t u = x + e[0], v = y + e[1], w = z + e[2];
                double step = 0;
                for (int a = 0; a < 3; ++a) {
                    const double along = e[a] ? p.options.spacing[a] : 0;
                    step = p.options.metric == APSIS_CITY_BLOCK ? step + along : hypot(step, along);
                }
                if (u < 0 || u >= 19 || v < 0 || v >= 17 || w < 0 || w >= 7) continue;
                if (!s.weight[(e[0] ? 1 : 0) | (e[1] ? 2 : 0) | (e[2] ? 4 : 0)]) continue;
                const double other = d[u + 19 * (v + 17 * w)];
                if (other >= 0 && other + step < best) best = other + step;
            }
            assert_true(d[at] == best || fabs(d[at] - best) <= 1e-7 * best);
        }
        free_outputs(&out);
    }
    uint8_t one[4] = {1, 1, 1, 1};
    problem p = new_problem(2, 2, 2, 1, one);
    set_spacing(&p, 1, 1, 1, 1);
    p.options.spacing[1] = 5000.5;
    const apsis_image set = {.type = APSIS_U8, .ndim = 2, .size = {2, 2}, .memory = b->memory},
                      *images[] = {&set, &set, NULL, NULL};
    size_t bytes;
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_GEODESIC, images, 4, &p.options, &bytes), APSIS_ERROR_UNSUPPORTED,
                 "spacing|5000.5|4096");
}

/* ---- Schedules ---- */

/** The bytes are the same in a hundred runs, whatever the threads, and whichever is held up: in a volume, and in its slices. */
static void random_schedules(bench *b) {
    const int64_t side = effort(10) < 10 ? 51 : 121, size[3] = {side, side, 5}, pixels = 5 * side * side;
    const given how = {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I32};
    chance c = {2040};
    uint8_t *mask = must_alloc((size_t)pixels), *seeds = must_alloc((size_t)pixels);
    fill_mask(mask, size, NOISE, 0.6, &c);
    fill_mask(seeds, size, NOISE, 0.002, &c);
    for (int slices = 0; slices < 2; ++slices) {
        problem p = new_problem(3, side, side, 5, mask);
        p.options.flags = slices ? APSIS_SLICES : 0;
        outputs want = run_geodesic(b, &p, seeds, &how);
        assert_ok(b->ctx, apsis_set_progress(b->ctx, disturb, &c));
        for (int run = 0; run < effort(100); ++run) {
            assert_ok(b->ctx, apsis_set_threads(b->ctx, 1 + run % 4));
            outputs out = run_geodesic(b, &p, seeds, &how);
            assert_memory_equal(out.distance, want.distance, (size_t)pixels * sizeof(double));
            assert_memory_equal(out.nearest, want.nearest, (size_t)pixels * sizeof(int32_t));
            free_outputs(&out);
        }
        assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
        free_outputs(&want);
    }
    free(mask);
    free(seeds);
}

/* ---- Shapes that are hard ---- */

enum { SPIRAL, MAZE, COMB, CHECKERBOARD, ALL, HARD_SHAPES };

/** A one-pixel path that winds inward with one pixel between its turns. */
static void draw_spiral(uint8_t *mask, int64_t w, int64_t h) {
    int64_t x = 0, y = 0, low[2] = {0, 2}, high[2] = {w - 1, h - 1};
    memset(mask, 0, (size_t)(w * h));
    mask[0] = 1;
    for (int turn = 0;; turn = (turn + 1) % 4) {
        int64_t *const at = turn % 2 ? &y : &x;
        const int64_t to = turn < 2 ? high[turn % 2] : low[turn % 2], by = turn < 2 ? 1 : -1;
        if ((to - *at) * by <= 0) return;
        while (*at != to) *at += by, mask[x + w * y] = 1;
        if (turn < 2)
            high[turn % 2] -= 2;
        else
            low[turn % 2] += 2;
    }
}

/** Corridors one pixel wide, by depth-first search. */
static void draw_maze(uint8_t *mask, int64_t w, int64_t h, chance *c) {
    int64_t *stack = must_alloc((size_t)(w * h) * sizeof *stack), depth = 0;
    memset(mask, 0, (size_t)(w * h));
    mask[0] = 1;
    stack[depth++] = 0;
    while (depth > 0) {
        const int64_t i = stack[depth - 1], x = i % w, y = i / w;
        const int first = (int)roll_below(c, 4);
        int k = 0;
        for (; k < 4; ++k) {
            const int64_t u = x + (int64_t[]){2, 0, -2, 0}[(first + k) % 4], v = y + (int64_t[]){0, 2, 0, -2}[(first + k) % 4];
            if (u < 0 || u >= w || v < 0 || v >= h || mask[u + w * v]) continue;
            mask[(x + u) / 2 + w * ((y + v) / 2)] = mask[u + w * v] = 1;
            stack[depth++] = u + w * v;
            break;
        }
        if (k == 4) --depth;
    }
    free(stack);
}

static void draw_hard(uint8_t *mask, const int64_t size[3], int shape, chance *c) {
    const int64_t w = size[0], h = size[1];
    for (int64_t z = 0; z < size[2]; ++z) {
        uint8_t *const plane = mask + z * w * h;
        if (shape == SPIRAL) draw_spiral(plane, w, h);
        if (shape == MAZE) draw_maze(plane, w, h, c);
        for (int64_t i = 0; i < w * h && shape >= COMB; ++i)
            plane[i] = shape == COMB           ? i % w % 2 == 0 || i / w == h - 1
                       : shape == CHECKERBOARD ? (i % w + i / w + z) % 2 == 0
                                               : 1;
    }
}

static void hard_shapes(bench *b) {
    static const int64_t sizes[][3] = {{301, 207, 1}, {64, 1000, 1}, {301, 207, 2}, {41, 37, 23}, {3000, 3, 1}, {1, 5000, 1}};
    chance c = {6};
    for (int shape = 0; shape < HARD_SHAPES; ++shape)
        for (int i = 0; i < COUNT(sizes); ++i) {
            problem p = new_problem(sizes[i][2] > 1 ? 3 : 2, sizes[i][0], sizes[i][1], sizes[i][2], NULL);
            uint8_t *mask = must_alloc((size_t)pixels_of(&p)), *seeds = must_alloc((size_t)pixels_of(&p));
            draw_hard(mask, p.size, shape, &c);
            for (int k = 0; k < 3; ++k) seeds[k ? roll_below(&c, pixels_of(&p)) : 0] = 1;
            p.mask = mask;
            for (int metric = 0; metric < 3; ++metric) {
                p.options.metric = (apsis_metric)metric;
                check_geodesic(b, &p, seeds, &REAL);
            }
            free(mask);
            free(seeds);
        }
}

/** Paths too long for 32-bit lengths: along a spiral the distance is the number of steps, but for its corners. */
static void a_very_long_path(bench *b) {
    enum { SIDE = 1201 };
    const int64_t size[3] = {SIDE, SIDE, 1};
    uint8_t *mask = must_alloc(SIDE * SIDE), *seeds = must_alloc(SIDE * SIDE);
    draw_spiral(mask, SIDE, SIDE);
    seeds[0] = 1;
    problem p = new_problem(2, SIDE, SIDE, 1, mask);
    check_geodesic(b, &p, seeds, &REAL);
    given how = PLAIN;
    how.distance_layout = STEPPED;
    p.options.max_distance = 500000;
    check_geodesic(b, &p, seeds, &how);
    p.options = (apsis_options)APSIS_OPTIONS_INIT;
    p.options.connectivity = 1;
    outputs out = run_geodesic(b, &p, seeds, &REAL);
    double last = 0;
    int64_t members = 0;
    for (int64_t i = 0; i < SIDE * SIDE; ++i) {
        members += mask[i];
        if (((double *)out.distance)[i] > last) last = ((double *)out.distance)[i];
    }
    assert_true(last == (double)(members - 1) && size[2] == 1);
    free_outputs(&out);
    free(mask);
    free(seeds);
}

/* ---- What is refused ---- */

static void wrong_arguments(bench *b) {
    const int64_t size[3] = {4, 3, 1}, other[3] = {3, 4, 1};
    uint8_t mask[12] = {1};
    apsis_options o = APSIS_OPTIONS_INIT;
    frame f[] = {frame_open(b, APSIS_U8, 2, size, PACKED), frame_open(b, APSIS_U8, 2, size, PACKED),
                 frame_open(b, APSIS_F32, 2, size, PACKED), frame_open(b, APSIS_I32, 2, size, PACKED),
                 frame_open(b, APSIS_U8, 2, other, PACKED)};
    frame_put(&f[0], mask);
    frame_put(&f[1], mask);
    const apsis_image *set = &f[0].image, *seeds = &f[1].image, *real = &f[2].image, *whole = &f[3].image;
#define REFUSES(set, seeds, distance, nearest, status, text) \
    assert_fails(b->ctx, apsis_geodesic(b->ctx, set, seeds, distance, nearest, &o), status, text)
    REFUSES(NULL, seeds, real, NULL, APSIS_ERROR_ARGUMENT, "set|NULL");
    REFUSES(set, NULL, real, NULL, APSIS_ERROR_ARGUMENT, "seeds|NULL");
    REFUSES(set, real, whole, NULL, APSIS_ERROR_ARGUMENT, "seeds|APSIS_F32");
    REFUSES(set, &f[4].image, real, NULL, APSIS_ERROR_ARGUMENT, "seeds|size[0]|3|4");
    REFUSES(set, seeds, set, NULL, APSIS_ERROR_ARGUMENT, "distance|APSIS_U8");
    REFUSES(set, seeds, NULL, real, APSIS_ERROR_ARGUMENT, "nearest|APSIS_F32");
    REFUSES(set, seeds, whole, NULL, APSIS_ERROR_ARGUMENT, "distance|integer|Euclidean");
    o.metric = APSIS_CITY_BLOCK;
    REFUSES(set, seeds, whole, whole, APSIS_ERROR_ARGUMENT, "nearest overlaps distance");
    for (int twos = 1; twos < 4; ++twos) { /* along one axis, the other, both */
        for (int a = 0; a < 2; ++a) o.spacing[a] = twos >> a & 1 ? 2 : 1;
        REFUSES(set, seeds, whole, NULL, APSIS_ERROR_ARGUMENT, "distance|integer|spacing");
    }
    o.spacing[0] = 2;
    o.metric = APSIS_CHESSBOARD;
    o.spacing[1] = 3;
    REFUSES(set, seeds, real, NULL, APSIS_ERROR_UNSUPPORTED, "spacing[1]|3|chessboard");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.connectivity = 3;
    REFUSES(set, seeds, real, NULL, APSIS_ERROR_ARGUMENT, "connectivity|3|2-D");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.flags = APSIS_SIGNED;
    REFUSES(set, seeds, real, NULL, APSIS_ERROR_ARGUMENT, "APSIS_SIGNED");
    o.flags = APSIS_SLICES;
    REFUSES(set, seeds, real, NULL, APSIS_ERROR_ARGUMENT, "APSIS_SLICES|ndim");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.method = APSIS_TILE_FILL;
    REFUSES(set, seeds, real, NULL, APSIS_ERROR_ARGUMENT, "method|APSIS_TILE_FILL|apsis_geodesic|APSIS_AUTO");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.max_distance = -1;
    REFUSES(set, seeds, real, NULL, APSIS_ERROR_ARGUMENT, "max_distance|-1");
    assert_int_equal(apsis_geodesic(NULL, set, seeds, real, NULL, NULL), APSIS_ERROR_ARGUMENT);
    o = (apsis_options)APSIS_OPTIONS_INIT;
    assert_ok(b->ctx, apsis_geodesic(b->ctx, set, seeds, NULL, NULL, &o)); /* nothing is wanted */
    assert_ok(b->ctx, apsis_geodesic(b->ctx, set, set, real, NULL, &o));   /* inputs may be one image */
    for (int k = 0; k < COUNT(f); ++k) frame_close(&f[k]);

    apsis_image large = {.type = APSIS_BIT, .ndim = 2, .size = {65536, 65536}, .memory = b->memory}, to = large;
    const apsis_image *images[4] = {&large, &large, &to, NULL};
    size_t bytes;
    to.type = APSIS_I32;
    o.metric = APSIS_CHESSBOARD;
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_GEODESIC, images, 4, &o, &bytes), APSIS_ERROR_RANGE,
                 "distance|APSIS_I32|4294967295");
    o.max_distance = 1e6;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_GEODESIC, images, 4, &o, &bytes));
    images[2] = NULL, images[3] = &to;
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_GEODESIC, images, 4, &o, &bytes), APSIS_ERROR_RANGE,
                 "nearest|APSIS_I32");
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_GEODESIC, images, 3, &o, &bytes), APSIS_ERROR_ARGUMENT,
                 "count|3|apsis_geodesic|4");
}

static void nothing_to_do(bench *b) {
    const apsis_image none = {.type = APSIS_U8, .ndim = 3, .size = {5, 0, 3}, .memory = b->memory};
    const apsis_image real = {.type = APSIS_F32, .ndim = 3, .size = {5, 0, 3}, .memory = b->memory};
    assert_ok(b->ctx, apsis_geodesic(b->ctx, &none, &none, &real, NULL, NULL));
    const uint8_t zero[6] = {0}, one[6] = {1, 1, 1, 1, 1, 1};
    problem p = new_problem(2, 3, 2, 1, zero), q = new_problem(2, 3, 2, 1, one);
    check_geodesic(b, &p, one, &REAL);
    check_geodesic(b, &q, zero, &REAL);
    check_geodesic(b, &q, one, &REAL);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(round_a_corner, EVERYWHERE),   TEST(the_lowest_of_the_nearest, EVERYWHERE),
                                      TEST(every_4x4_image, EVERYWHERE),  TEST(every_3x2x2_volume, EVERYWHERE),
                                      TEST(random_problems, EVERYWHERE),  TEST(random_schedules, EVERYWHERE),
                                      TEST(odd_spacings, EVERYWHERE),     TEST(hard_shapes, EVERYWHERE),
                                      TEST(a_very_long_path, EVERYWHERE), TEST(wrong_arguments, EVERYWHERE),
                                      TEST(nothing_to_do, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
