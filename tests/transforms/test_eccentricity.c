/* apsis_eccentricity against a field from every pixel: every small image, random ones of every kind, hard shapes. */
#include "run_eccentricity.h"

#include <math.h>

#include "run_labels.h"

static const given BOTH = {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I32};
static const given ALONE = {.set = APSIS_BIT, .distance = APSIS_F32};

/* ---- Every small image ---- */

static void every_4x4_image(bench *b) {
    int images;
    uint8_t *mask = every_4x4(&images);
    for (int metric = 0; metric < 3; ++metric)
        for (int method = 0; method < 2; ++method) {
            problem p = new_problem(3, 4, 4, images, mask);
            p.options.flags = APSIS_SLICES;
            p.options.metric = (apsis_metric)metric;
            p.options.method = method ? APSIS_EVERY_SOURCE : APSIS_AUTO;
            check_eccentricity(b, &p, &BOTH);
        }
    free(mask);
}

/** Three values, each a set of its own. */
static void every_3x3_label_image(bench *b) {
    int images;
    uint8_t *mask = every_3x3_of_three(&images);
    for (int connectivity = 1; connectivity <= 2; ++connectivity)
        for (int type = 0; type < COUNT(label_types); ++type) {
            problem p = new_problem(3, 3, 3, images, mask);
            p.options.flags = APSIS_SLICES | APSIS_LABELS;
            p.options.metric = type % 2 ? APSIS_CITY_BLOCK : APSIS_EUCLIDEAN;
            p.options.connectivity = connectivity;
            p.options.method = type < 3 ? APSIS_AUTO : APSIS_EVERY_SOURCE;
            const given how = {.set = label_types[type], .distance = APSIS_F64, .nearest = APSIS_I32};
            check_eccentricity(b, &p, &how);
        }
    free(mask);
}

/* ---- Answers written by hand ---- */

static void a_crossing(bench *b) {
    uint8_t mask[5 * 5];
    draw(mask, "..#..", "..#..", "#####", "..#..", "....#", NULL);
    static const int32_t want[25] = {-1, -1, 4, -1, -1, -1, -1, 3, -1, -1, 4, 3, 2, 3, 4, -1, -1, 3, -1, -1, -1, -1, -1, -1, 0};
    static const int64_t far[25] = {-1, -1, 10, -1, -1, -1, -1, 10, -1, -1, 2,  2, 2,
                                    2,  2,  -1, -1, 2,  -1, -1, -1, -1, -1, -1, 24};
    static const apsis_extent extent[2] = {{2, {2, 10}, 12, 4, 2, 0}, {24, {24, 24}, 24, 0, 0, 0}};
    problem p = new_problem(2, 5, 5, 1, mask);
    p.options.metric = APSIS_CITY_BLOCK;
    const given how = {.set = APSIS_U8, .distance = APSIS_I32, .nearest = APSIS_I64};
    apsis_extent got[2];
    int64_t count = 0;
    outputs out = run_eccentricity(b, &p, &how, got, 2, &count);
    assert_memory_equal(out.distance, want, sizeof want);
    assert_memory_equal(out.nearest, far, sizeof far);
    assert_memory_equal(got, extent, sizeof extent);
    assert_int_equal(count, 2);
    free_outputs(&out);
}

/** Paths of equal lengths come to all corners of a room, and its middle, which has neighbours all about, is the farthest
 *  pixel of another: with holes, boundaries are not enough. */
static void a_room_entered_by_its_corners(bench *b) {
    enum { RW = 13, RH = 5, TOP = RW / 2, MIDDLE = 3 * RW + RW / 2 };
    uint8_t mask[RW * RH];
    draw(mask, "#############", "#...........#", "#.#########.#", "###..###..###", "..#########..", NULL);
    problem p = new_problem(2, RW, RH, 1, mask);
    p.options.metric = APSIS_CITY_BLOCK;
    const given how = {.set = APSIS_U8, .distance = APSIS_I32, .nearest = APSIS_I32};
    int64_t count = 0;
    outputs out = run_eccentricity(b, &p, &how, NULL, 0, &count);
    assert_int_equal(((int32_t *)out.distance)[TOP], 17);
    assert_int_equal(((int32_t *)out.nearest)[TOP], MIDDLE);
    for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) assert_true(mask[MIDDLE + y * RW + x]);
    free_outputs(&out);
    check_eccentricity(b, &p, &how);
}

/* ---- Random problems of every kind ---- */

static void choose_size(chance *c, problem *p) {
    static const int64_t sizes[] = {1, 1, 2, 3, 4, 5, 7, 8, 11, 16, 17, 29, 31, 32, 33, 47, 64};
    const int64_t most = roll_below(c, 8) ? 500 : 2500;
    p->ndim = 2 + (int)roll_below(c, 2);
    do
        for (int a = 0; a < 3; ++a) p->size[a] = a < p->ndim ? sizes[roll_below(c, COUNT(sizes))] : 1;
    while (pixels_of(p) > most);
}

static void choose_options(chance *c, problem *p) {
    apsis_options *o = &p->options;
    o->flags = (roll_below(c, 3) ? 0 : APSIS_COMPLEMENT) | (p->ndim == 3 && !roll_below(c, 3) ? APSIS_SLICES : 0);
    o->metric = (apsis_metric)roll_below(c, 4);
    o->method = roll_below(c, 4) ? APSIS_AUTO : APSIS_EVERY_SOURCE;
    o->connectivity = (int32_t)roll_below(c, (o->flags & APSIS_SLICES ? 2 : p->ndim) + 1);
    if (!roll_below(c, 3)) {
        const int64_t x = 1 + roll_below(c, 9), equal = o->metric >= APSIS_CHESSBOARD || roll_below(c, 2);
        set_spacing(p, x, equal ? x : 1 + roll_below(c, 9), equal ? x : 1 + roll_below(c, 20), roll_below(c, 2) ? 1 : 0.25);
    }
}

static given choose_images(chance *c, const problem *p) {
    static const apsis_type real[] = {APSIS_F32, APSIS_F64}, whole[] = {APSIS_F32, APSIS_I32, APSIS_I64, APSIS_F64};
    const bool fits = p->options.metric != APSIS_EUCLIDEAN && p->options.spacing[0] == 0;
    given how = {.set = roll_below(c, 2) ? APSIS_BIT : APSIS_U8,
                 .distance = fits ? whole[roll_below(c, 4)] : real[roll_below(c, 2)],
                 .nearest = roll_below(c, 2) ? APSIS_I32 : APSIS_I64};
    if (roll_below(c, 2)) how.nearest = 0;
    if (!roll_below(c, 5)) how.distance = 0;
    if (roll_below(c, 2)) how.set_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 2)) how.distance_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 2)) how.nearest_layout = (unsigned)roll_below(c, LAYOUTS);
    return how;
}

/** Of sets, or of label images, each value of which is a set of its own. */
static void check_random(bench *b, bool labels, int times, uint64_t seed) {
    static const double densities[] = {0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9, 0.99, 1};
    chance c = {seed};
    for (int i = 0; i < effort(times); ++i) {
        problem p = new_problem(2, 1, 1, 1, NULL);
        choose_size(&c, &p);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        if (labels)
            fill_cells(mask, p.size, &c);
        else
            fill_mask(mask, p.size, roll_below(&c, 2) ? NOISE : (int)roll_below(&c, MASK_KINDS),
                      densities[roll_below(&c, COUNT(densities))], &c);
        p.mask = mask;
        choose_options(&c, &p);
        if (labels) p.options.flags = (p.options.flags | APSIS_LABELS) & ~(uint32_t)APSIS_COMPLEMENT;
        draw_weights(&p, true, &c);
        given how = choose_images(&c, &p);
        if (labels) how.set = label_types[roll_below(&c, COUNT(label_types))];
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_eccentricity(b, &p, &how);
        free(mask);
    }
}

static void random_problems(bench *b) { check_random(b, false, 1000, 2030); }

static void random_label_images(bench *b) { check_random(b, true, 500, 2042); }

/* ---- Schedules ---- */

/** The bytes are the same in a hundred runs, whatever the threads, and whichever is held up: of one large component, and of
 *  many small ones, which threads share out. */
static void random_schedules(bench *b) {
    enum { N = 75, PIXELS = N * N };
    const int64_t size[3] = {N, N, 1};
    chance c = {2041};
    uint8_t *mask = must_alloc(PIXELS);
    for (int many = 0; many < 2; ++many) {
        fill_mask(mask, size, NOISE, many ? 0.55 : 0.85, &c);
        problem p = new_problem(2, N, N, 1, mask);
        p.options.connectivity = many ? 1 : 2;
        apsis_extent extent, again;
        int64_t count = 0, more = 0;
        outputs want = run_eccentricity(b, &p, &BOTH, &extent, 1, &count);
        assert_ok(b->ctx, apsis_set_progress(b->ctx, disturb, &c));
        for (int run = 0; run < effort(100); ++run) {
            assert_ok(b->ctx, apsis_set_threads(b->ctx, 1 + run % 4));
            outputs out = run_eccentricity(b, &p, &BOTH, &again, 1, &more);
            assert_memory_equal(out.distance, want.distance, PIXELS * sizeof(double));
            assert_memory_equal(out.nearest, want.nearest, PIXELS * sizeof(int32_t));
            assert_memory_equal(&again, &extent, sizeof extent);
            assert_int_equal(more, count);
            free_outputs(&out);
        }
        assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
        free_outputs(&want);
    }
    free(mask);
}

/* ---- Shapes: with holes, thin, winding, with many components; larger than a block of 4096 pixels ---- */

enum { SQUARE, ROUND, ANNULUS, THIN_RING, HOLES, SALT, COMB, WINDING, TREE, BARS, ROOM, SHAPES };

static bool in_shape(int shape, int64_t n, int64_t x, int64_t y, uint64_t noise) {
    const double u = (double)(2 * x + 1 - n) / (double)n, v = (double)(2 * y + 1 - n) / (double)n, r = sqrt(u * u + v * v);
    switch (shape) {
        case ROUND: return r < 1;
        case ANNULUS: return r < 1 && r > 0.6;
        case THIN_RING: return r < 1 && r > 1 - 5.0 / (double)n;
        case HOLES: return sin(9 * u) * sin(11 * v) < 0.6;
        case SALT: return noise % 5 != 0;
        case COMB: return y < n / 8 || x % 8 < 5;
        case WINDING: return fmod(r * 4 + atan2(v, u) / 6.283185307179586 + 1, 1) < 0.6;
        case TREE: return x == n / 2 || (y % 6 == 0 && (x < n / 2) == (y % 12 == 0));
        case BARS: return x % 9 < 8 && y % (n / 2) != 3;
        case ROOM:
            return !(fabs(u) < 0.7 && fabs(v) < 0.7) || (fabs(u) < 0.6 && fabs(v) < 0.6) || (fabs(v) < 0.05 && u > 0) ||
                   (fabs(u) < 0.05 && v > 0);
        default: return true;
    }
}

static uint8_t *draw_shape(int shape, int64_t n, chance *c) {
    uint8_t *mask = must_alloc((size_t)(n * n));
    for (int64_t i = 0; i < n * n; ++i) mask[i] = in_shape(shape, n, i % n, i / n, roll(c));
    return mask;
}

static void shapes(bench *b) {
    chance c = {7};
    for (int shape = 0; shape < SHAPES; ++shape) {
        uint8_t *mask = draw_shape(shape, 33, &c);
        problem p = new_problem(2, 33, 33, 1, mask);
        for (int metric = 0; metric < 3; ++metric) {
            p.options.metric = (apsis_metric)metric;
            check_eccentricity(b, &p, metric % 2 ? &ALONE : &BOTH);
        }
        p.options.metric = APSIS_EUCLIDEAN;
        check_eccentricity(b, &p, &ALONE);
        free(mask);
    }
}

/** With and without the farthest pixels, and by the published method, larger images give the same. */
static void larger_shapes(bench *b) {
    const int64_t side = effort(10) < 10 ? 66 : 100;
    chance c = {17};
    for (int shape = 0; shape < SHAPES; ++shape) {
        uint8_t *mask = draw_shape(shape, side, &c);
        problem p = new_problem(2, side, side, 1, mask);
        check_by_every_source(b, &p);
        free(mask);
    }
}

/** A set and its complement are two labels: what both have by themselves. */
static void a_set_and_its_complement(bench *b) {
    const int64_t side = effort(10) < 10 ? 66 : 100, pixels = side * side;
    chance c = {18};
    for (int shape = 0; shape < SHAPES; ++shape) {
        uint8_t *mask = draw_shape(shape, side, &c);
        problem p = new_problem(2, side, side, 1, mask);
        p.options.connectivity = 1 + shape % 2;
        int64_t count[3];
        outputs out[3]; /* of the set, of its complement, of both */
        for (int k = 0; k < 3; ++k) {
            p.options.flags = k == 0 ? 0 : k == 1 ? APSIS_COMPLEMENT : APSIS_LABELS;
            for (int64_t i = 0; i < pixels && k == 2; ++i) mask[i] = mask[i] ? 7 : 3;
            out[k] = run_eccentricity(b, &p, &BOTH, NULL, 0, &count[k]);
        }
        assert_int_equal(count[2], count[0] + count[1]);
        for (int64_t i = 0; i < pixels; ++i) {
            const outputs *const alone = &out[mask[i] == 3];
            assert_true(((double *)out[2].distance)[i] == ((double *)alone->distance)[i]);
            assert_int_equal(((int32_t *)out[2].nearest)[i], ((int32_t *)alone->nearest)[i]);
        }
        for (int k = 0; k < 3; ++k) free_outputs(&out[k]);
        free(mask);
    }
}

static void volumes(bench *b) {
    chance c = {8};
    const int n = effort(10) < 10 ? 9 : 11;
    for (int shape = 0; shape < 4; ++shape) {
        const int64_t size[3] = {n, n, n};
        uint8_t mask[11 * 11 * 11];
        fill_mask(mask, size, NOISE, shape == 0 ? 0.3 : shape == 1 ? 0.7 : 1, &c);
        for (int i = 0; i < n * n * n && shape == 3; ++i) {
            const int x = 2 * (i % n) + 1 - n, y = 2 * (i / n % n) + 1 - n, z = 2 * (i / n / n) + 1 - n,
                      r = x * x + y * y + z * z;
            mask[i] = r < n * n && r > (n - 4) * (n - 4);
        }
        for (int connectivity = 1; connectivity <= 3; ++connectivity) {
            problem p = new_problem(3, n, n, n, mask);
            p.options.connectivity = connectivity;
            check_eccentricity(b, &p, &ALONE);
            if (shape == 1 || effort(10) == 10) check_eccentricity(b, &p, &BOTH);
        }
    }
}

/** Of small slices more than every other pixel of the whole can be a component. */
static void small_slices(bench *b) {
    enum { DEPTH = 777 };
    static uint8_t mask[9 * DEPTH];
    for (int side = 1; side <= 3; side += 2) {
        for (int i = 0; i < side * side * DEPTH; ++i) mask[i] = i % (side * side) % 2 == 0;
        problem p = new_problem(3, side, side, DEPTH, mask);
        p.options.flags = APSIS_SLICES;
        p.options.connectivity = 1;
        check_eccentricity(b, &p, &BOTH);
    }
}

/* ---- What is refused, and what is cut short ---- */

static void wrong_arguments(bench *b) {
    const int64_t size[3] = {4, 3, 1};
    uint8_t mask[12] = {1};
    apsis_options o = APSIS_OPTIONS_INIT;
    apsis_extent list[2];
    int64_t count;
    frame f[] = {frame_open(b, APSIS_U8, 2, size, PACKED), frame_open(b, APSIS_F32, 2, size, PACKED),
                 frame_open(b, APSIS_I32, 2, size, PACKED)};
    frame_put(&f[0], mask);
    const apsis_image *set = &f[0].image, *real = &f[1].image, *whole = &f[2].image;
#define REFUSES(set, eccentricity, farthest, list, capacity, status, text) \
    assert_fails(b->ctx, apsis_eccentricity(b->ctx, set, eccentricity, farthest, list, capacity, &count, &o), status, text)
    REFUSES(NULL, real, NULL, NULL, 0, APSIS_ERROR_ARGUMENT, "set|NULL");
    REFUSES(set, set, NULL, NULL, 0, APSIS_ERROR_ARGUMENT, "eccentricity|APSIS_U8");
    REFUSES(set, whole, NULL, NULL, 0, APSIS_ERROR_ARGUMENT, "eccentricity|integer|Euclidean");
    REFUSES(set, NULL, real, NULL, 0, APSIS_ERROR_ARGUMENT, "farthest|APSIS_F32");
    REFUSES(set, real, NULL, list, -1, APSIS_ERROR_ARGUMENT, "capacity|-1");
    REFUSES(set, real, NULL, NULL, 2, APSIS_ERROR_ARGUMENT, "extents|NULL|capacity|2");
    o.metric = APSIS_CHESSBOARD;
    REFUSES(set, whole, whole, NULL, 0, APSIS_ERROR_ARGUMENT, "farthest overlaps eccentricity");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.max_distance = 3;
    REFUSES(set, real, NULL, NULL, 0, APSIS_ERROR_ARGUMENT, "max_distance|3");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.budget = -1;
    REFUSES(set, real, NULL, NULL, 0, APSIS_ERROR_ARGUMENT, "budget|-1");
    o.budget = 9;
    o.method = APSIS_EVERY_SOURCE;
    REFUSES(set, real, NULL, NULL, 0, APSIS_ERROR_ARGUMENT, "budget|9|APSIS_EVERY_SOURCE");
    o.method = APSIS_TILE_FILL;
    REFUSES(set, real, NULL, NULL, 0, APSIS_ERROR_ARGUMENT, "method|APSIS_TILE_FILL|apsis_eccentricity|APSIS_EVERY_SOURCE");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.connectivity = 3;
    REFUSES(set, real, NULL, NULL, 0, APSIS_ERROR_ARGUMENT, "connectivity|3|2-D");
    o.connectivity = 0;
    o.flags = APSIS_SIGNED;
    REFUSES(set, real, NULL, NULL, 0, APSIS_ERROR_ARGUMENT, "APSIS_SIGNED");
    o.flags = APSIS_LABELS | APSIS_COMPLEMENT;
    REFUSES(set, real, NULL, NULL, 0, APSIS_ERROR_ARGUMENT, "APSIS_LABELS and APSIS_COMPLEMENT");
    o.flags = APSIS_LABELS;
    REFUSES(real, real, NULL, NULL, 0, APSIS_ERROR_ARGUMENT, "set: type is APSIS_F32");
    o.flags = 0;
    o.method = APSIS_EVERY_SOURCE;
    assert_fails(b->ctx, apsis_components(b->ctx, set, NULL, NULL, 0, &count, &o), APSIS_ERROR_ARGUMENT,
                 "method|APSIS_EVERY_SOURCE|apsis_components|APSIS_TILE_FILL");
    assert_int_equal(apsis_eccentricity(NULL, set, real, NULL, NULL, 0, NULL, NULL), APSIS_ERROR_ARGUMENT);
    for (int k = 0; k < COUNT(f); ++k) frame_close(&f[k]);
    const apsis_image none = {.type = APSIS_U8, .ndim = 3, .size = {5, 0, 3}, .memory = b->memory};
    count = 7;
    assert_ok(b->ctx, apsis_eccentricity(b->ctx, &none, NULL, NULL, NULL, 0, &count, NULL));
    assert_int_equal(count, 0);
}

/** With a budget the values are bounds, and the gap is true; with enough they are exact. */
static void budgets(bench *b) {
    enum { N = 40, PIXELS = N * N };
    const int64_t size[3] = {N, N, 1};
    chance c = {9};
    for (int shape = 0; shape < SHAPES; ++shape) {
        uint8_t *mask = draw_shape(shape, N, &c);
        problem p = new_problem(2, N, N, 1, mask);
        extremes want = solve_extremes(&p);
        const scale s = scale_of(&p);
        apsis_extent *extent = must_alloc((size_t)(want.count + 1) * sizeof *extent);
        double *got = must_alloc(PIXELS * sizeof *got);
        bool exact = false;
        for (int64_t budget = 1; !exact; budget *= 3) {
            frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, APSIS_F64, 2, size, PACKED);
            frame_put(&set, mask);
            p.options.budget = budget;
            int64_t count = 0;
            const apsis_status st =
                apsis_eccentricity(b->ctx, &set.image, &out.image, NULL, extent, want.count, &count, &p.options);
            exact = st == APSIS_OK;
            if (!exact) assert_fails(b->ctx, st, APSIS_ERROR_BUDGET, "budget|gap");
            frame_get(&out, got);
            double gap = 0;
            for (int64_t k = 0; k < count; ++k) gap = fmax(gap, extent[k].gap);
            assert_true(exact == (gap == 0));
            for (int i = 0; i < PIXELS; ++i) {
                const double real = want.cost[i] < 0 ? -1 : real_of(&s, want.cost[i]);
                assert_true(exact ? got[i] == real : got[i] <= real && real <= got[i] + gap * (1 + 1e-12));
            }
            frame_close(&set);
            frame_close(&out);
        }
        free_extremes(&want);
        free(extent);
        free(got);
        free(mask);
    }
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(a_crossing, EVERYWHERE),
                                      TEST(a_room_entered_by_its_corners, EVERYWHERE),
                                      TEST(every_4x4_image, EVERYWHERE),
                                      TEST(random_problems, EVERYWHERE),
                                      TEST(random_schedules, EVERYWHERE),
                                      TEST(shapes, EVERYWHERE),
                                      TEST(larger_shapes, EVERYWHERE),
                                      TEST(volumes, EVERYWHERE),
                                      TEST(small_slices, EVERYWHERE),
                                      TEST(wrong_arguments, EVERYWHERE),
                                      TEST(budgets, EVERYWHERE),
                                      TEST(every_3x3_label_image, EVERYWHERE),
                                      TEST(random_label_images, EVERYWHERE),
                                      TEST(a_set_and_its_complement, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
