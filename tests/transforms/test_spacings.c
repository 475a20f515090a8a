/* Spacings: decimal ones, which are taken for the ratio of whole numbers that they mean; large ratios; and those that are in no
 * ratio of whole numbers, or of none that the image has room for, and are rounded. */
#include <float.h>
#include <math.h>

#include "run_geodesic.h"

/** A problem of random extents, with a few sites. */
static problem random_problem(chance *c, int ndim, int64_t most) {
    problem p =
        new_problem(ndim, 1 + roll_below(c, most), 1 + roll_below(c, most), ndim == 3 ? 1 + roll_below(c, most) : 1, NULL);
    uint8_t *mask = must_alloc((size_t)pixels_of(&p));
    fill_mask(mask, p.size, NOISE, roll_below(c, 2) ? 0.01 : 0.2, c);
    mask[roll_below(c, pixels_of(&p))] = 1;
    p.mask = mask;
    return p;
}

/** Fails unless every number is another one, times `unit`, to within a part of itself. */
static void assert_scaled(const double *got, const double *from, long double unit, int64_t pixels, double part) {
    for (int64_t i = 0; i < pixels; ++i) {
        const bool is_length = isfinite(from[i]) && from[i] > 0;
        const long double want = is_length ? unit * from[i] : from[i];
        if ((long double)got[i] != want && !(is_length && fabsl(got[i] - want) <= part * want))
            fail_msg("pixel %lld: %.17g, not %.17Lg", (long long)i, got[i], want);
    }
}

/* ---- Decimal spacings ---- */

/** The map of a decimal spacing is that of its whole numbers, in another unit, however the last bits of doubles lie. */
static void decimals_are_whole_ratios(bench *b) {
    static const struct {
        double spacing[3], unit;
        int64_t ratio[3];
    } cases[] = {{{0.3, 0.2, 0.1}, 0.1, {3, 2, 1}},
                 {{1, 0.05, 1}, 0.05, {20, 1, 20}},
                 {{2.5, 0.1, 0.7}, 0.1, {25, 1, 7}},
                 {{0.7, 0.03, 0.03}, 0.01, {70, 3, 3}},
                 {{1.1, 3.3, 2.2}, 1.1, {1, 3, 2}},
                 {{0.7, 0.7, 0.7}, 0.7, {1, 1, 1}},
                 {{0.123, 0.456, 0.789}, 0.003, {41, 152, 263}},
                 {{1e-9, 1.7e-9, 2.3e-9}, 1e-10, {10, 17, 23}},
                 {{1000.123, 0.5, 0.25}, 0.001, {1000123, 500, 250}},
                 {{1.0 / 3, 1.0 / 7, 1.0 / 11}, 1.0 / 231, {77, 33, 21}},
                 {{1000000, 1200000, 40}, 40, {25000, 30000, 1}}};
    static const given how = {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I64};
    chance c = {26};
    for (int i = 0; i < effort(6 * COUNT(cases)); ++i) {
        const int k = i % COUNT(cases);
        problem p = random_problem(&c, 2 + (int)roll_below(&c, 2), 24), whole = p;
        whole.options.metric = p.options.metric = roll_below(&c, 2) ? APSIS_CITY_BLOCK : APSIS_EUCLIDEAN;
        set_spacing(&whole, cases[k].ratio[0], cases[k].ratio[1], cases[k].ratio[2], 1);
        for (int a = 0; a < 3; ++a) {
            const double toward[] = {-HUGE_VAL, cases[k].spacing[a], HUGE_VAL};
            p.options.spacing[a] = nextafter(cases[k].spacing[a], toward[roll_below(&c, 3)]);
        }
        outputs got = run_distance(b, &p, &how), want = run_distance(b, &whole, &how);
        const size_t bytes = (size_t)pixels_of(&p) * 8;
        assert_memory_equal(got.nearest, want.nearest, bytes);
        assert_scaled(got.distance, want.distance, cases[k].unit, pixels_of(&p), 0x1p-49);
        free_outputs(&got);
        free_outputs(&want);
        check_distance(b, &whole, &how);

        uint8_t *const seeds = must_alloc((size_t)pixels_of(&p)), *const all = (uint8_t *)p.mask;
        memcpy(seeds, all, (size_t)pixels_of(&p));
        fill_mask(all, p.size, NOISE, 0.8, &c);
        const bool is_steep = cases[k].ratio[0] > 4000; /* for paths one step may be 4096 times as long as another */
        if (!is_steep) {
            got = run_geodesic(b, &p, seeds, &how), want = run_geodesic(b, &whole, seeds, &how);
            assert_memory_equal(got.nearest, want.nearest, bytes);
            assert_scaled(got.distance, want.distance, cases[k].unit, pixels_of(&p), 0x1p-49);
            free_outputs(&got);
            free_outputs(&want);
        }
        free(seeds);
        free(all);
    }
}

/** Spacings that are equal but for the last bit serve the metrics that take equal ones. */
static void nearly_equal_ones_are_equal(bench *b) {
    static const apsis_metric metrics[] = {APSIS_CHESSBOARD, APSIS_CHAMFER};
    const uint8_t mask[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, seeds[9] = {1};
    for (int m = 0; m < COUNT(metrics); ++m) {
        problem p = new_problem(2, 3, 3, 1, mask);
        p.options.metric = metrics[m];
        p.options.spacing[0] = 0.1 + 0.2;
        p.options.spacing[1] = 0.3;
        const given how = {.set = APSIS_U8, .distance = APSIS_F32};
        outputs out = run_geodesic(b, &p, seeds, &how);
        assert_float_equal(((float *)out.distance)[8], metrics[m] == APSIS_CHESSBOARD ? 0.6f : 0.8f, 1e-7f);
        free_outputs(&out);
    }
}

/** A float is the same whichever loop has rounded it, also where the length is nearly halfway between two floats. */
static void floats_are_the_same_in_every_layout(bench *b) {
    enum { W = 19, H = 17 };
    static const uint8_t mask[W * H] = {1};
    chance c = {77};
    problem p = new_problem(2, W, H, 1, mask);
    for (int i = 0; i < effort(400); ++i) {
        const int64_t at = 1 + roll_below(&c, W * H - 1), cost = (at % W) * (at % W) + (at / W) * (at / W);
        const double halfway = 1 + ldexp((double)(2 * roll_below(&c, 1 << 23) + 1), -24);
        p.options.spacing[0] = p.options.spacing[1] = (double)(halfway / sqrtl((long double)cost));
        given how = DISTANCE_ALONE;
        outputs packed = run_distance(b, &p, &how);
        how.distance_layout = STEPPED;
        outputs stepped = run_distance(b, &p, &how);
        assert_memory_equal(packed.distance, stepped.distance, sizeof(float) * W * H);
        free_outputs(&packed);
        free_outputs(&stepped);
    }
}

/* ---- Large ratios ---- */

/** Whole numbers up to 2^20; among them weights with which the costs of a volume just fit 32 bits, or just do not. */
static void whole_numbers_up_to_a_million(bench *b) {
    static const double units[] = {1, 0.5, 40, 1e-3};
    static const apsis_type reals[] = {APSIS_F32, APSIS_F64};
    chance c = {2020};
    for (int i = 0; i < effort(240); ++i) {
        problem p = random_problem(&c, 2 + (int)roll_below(&c, 2), roll_below(&c, 2) ? 3 : 20);
        int64_t ratio[3];
        for (int a = 0; a < 3; ++a) {
            const double fits = sqrt(ldexp(1, 30) / 3) / (double)(p.size[a] > 1 ? p.size[a] - 1 : 1);
            const double most = roll_below(&c, 2) ? ldexp(1, 20) : fits;
            ratio[a] = 1 + (int64_t)(roll_below(&c, 2) ? exp(roll_real(&c) * log(most)) : most - 2 + roll_real(&c));
            if (ratio[a] > 1 << 20) ratio[a] = 1 << 20;
        }
        p.options.metric = roll_below(&c, 4) ? APSIS_EUCLIDEAN : APSIS_CITY_BLOCK;
        p.options.flags = roll_below(&c, 4) ? 0 : APSIS_SIGNED;
        set_spacing(&p, ratio[0], ratio[1], ratio[2], units[roll_below(&c, 3)]);
        const given how = {.set = APSIS_U8, .distance = reals[i % 2], .nearest = i % 3 ? APSIS_I32 : 0};
        check_distance(b, &p, &how);
        free((uint8_t *)p.mask);
    }
}

/* ---- Spacings that are rounded ---- */

static long double length_between(const problem *p, int64_t i, int64_t j) {
    const int64_t w = p->size[0], h = p->size[1];
    const long double x = (long double)p->options.spacing[0] * (long double)(j % w - i % w);
    const long double y = (long double)p->options.spacing[1] * (long double)(j / w % h - i / w % h);
    const long double z = p->ndim == 3 ? (long double)p->options.spacing[2] * (long double)(j / w / h - i / w / h) : 0;
    return p->options.metric == APSIS_EUCLIDEAN ? sqrtl(x * x + y * y + z * z) : fabsl(x) + fabsl(y) + fabsl(z);
}

/** Against brute force in long doubles: distances, and how far the nearest pixels are, are off by less than 2^-25. */
static void check_rounded(bench *b, const problem *p) {
    static const given how = {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I64};
    outputs out = run_distance(b, p, &how);
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        long double least = HUGE_VALL;
        for (int64_t j = 0; j < pixels_of(p); ++j)
            if (p->mask[j]) least = fminl(least, length_between(p, i, j));
        assert_true(fabsl(((double *)out.distance)[i] - least) <= 0x1p-25L * least);
        assert_true(length_between(p, i, ((int64_t *)out.nearest)[i]) - least <= 0x1p-24L * least);
    }
    free_outputs(&out);
}

static void irrational_spacings(bench *b) {
    static const double spacings[][3] = {{1, 1.4142135623730951, 3.1415926535897931},
                                         {1e12, 1.0001e12, 0.7713579246801357e12},
                                         {0.7123456789012345, 2.9, 0.013},
                                         {3.1415926535897931, 31415.9, 3.1415926535897931},
                                         {2.718281828459045e-5, 1, 1.41421356},
                                         {1048577, 1048575, 1048577}};
    chance c = {5};
    for (int i = 0; i < effort(8 * COUNT(spacings)); ++i) {
        problem p = random_problem(&c, i % 2 ? 2 : 3, 12);
        p.options.metric = roll_below(&c, 3) ? APSIS_EUCLIDEAN : APSIS_CITY_BLOCK;
        memcpy(p.options.spacing, spacings[i / 2 % COUNT(spacings)], sizeof p.options.spacing);
        check_rounded(b, &p);
        free((uint8_t *)p.mask);
    }
}

/** Whole numbers of which the squares are too large for a long image are rounded as others are. */
static void numbers_too_large_for_the_image(bench *b) {
    enum { W = 70001 };
    static uint8_t mask[2 * W] = {[17] = 1, [W - 9] = 1};
    for (int down = 0; down < 2; ++down) {
        problem p = new_problem(2, down ? 2 : W, down ? W : 2, 1, mask);
        set_spacing(&p, 1048573, 1048576, 1, 0.001);
        const given how = {.set = APSIS_U8, .distance = APSIS_F64};
        outputs out = run_distance(b, &p, &how);
        for (int64_t i = 0; i < 2 * W; ++i) {
            const long double least = fminl(length_between(&p, i, 17), length_between(&p, i, W - 9));
            assert_true(fabsl(((double *)out.distance)[i] - least) <= 0x1p-25L * least);
        }
        free_outputs(&out);
    }
}

/** What images of some size take, as apsis.h has it. */
static void limits_of_spacings(bench *b) {
    static const struct {
        int64_t size[3];
        double spacing[3];
        bool is_taken;
    } cases[] = {{{16384, 16384, 1}, {1, 0.05, 0}, true},
                 {{16384, 16384, 1}, {2.5, 0.1, 0}, true},
                 {{16384, 16384, 1}, {0.7, 0.03, 0}, true},
                 {{16384, 16384, 1}, {1, 1e-4, 0}, true},
                 {{16384, 16384, 1}, {3.1415926535897931e-4, 1, 0}, true},
                 {{16384, 16384, 1}, {90000.9, 1.00001, 0}, true},
                 {{16384, 16384, 1}, {100000.9, 1.00001, 0}, false},
                 {{1024, 1024, 1024}, {1000000, 1200000, 40}, true},
                 {{1024, 1024, 1024}, {0.004, 0.0137, 100}, true},
                 {{1024, 1024, 1024}, {1, 3.1415926535897931, 700}, true},
                 {{1024, 1024, 1024}, {1, 3.1415926535897931, 2000}, false},
                 {{1024, 1024, 1024}, {1, 3, 200000.5}, true}};
    for (int i = 0; i < COUNT(cases); ++i) {
        const int ndim = cases[i].size[2] > 1 ? 3 : 2;
        apsis_image set = {.type = APSIS_U8, .ndim = ndim, .memory = b->memory}, out = set;
        memcpy(set.size, cases[i].size, sizeof set.size);
        memcpy(out.size, cases[i].size, sizeof out.size);
        out.type = APSIS_F64;
        apsis_options o = APSIS_OPTIONS_INIT;
        memcpy(o.spacing, cases[i].spacing, sizeof o.spacing);
        const apsis_image *images[] = {&set, &out, NULL};
        size_t bytes;
        const apsis_status st = apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, &o, &bytes);
        if (cases[i].is_taken)
            assert_ok(b->ctx, st);
        else
            assert_fails(b->ctx, st, APSIS_ERROR_UNSUPPORTED, "options: spacing[1]|too small|must be at least");
    }
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(decimals_are_whole_ratios, EVERYWHERE),
                                      TEST(nearly_equal_ones_are_equal, EVERYWHERE),
                                      TEST(floats_are_the_same_in_every_layout, EVERYWHERE),
                                      TEST(whole_numbers_up_to_a_million, EVERYWHERE),
                                      TEST(irrational_spacings, EVERYWHERE),
                                      TEST(numbers_too_large_for_the_image, EVERYWHERE),
                                      TEST(limits_of_spacings, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
