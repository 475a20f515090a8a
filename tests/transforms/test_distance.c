/* apsis_distance against brute force: every small image, random ones of every kind, and shapes that are hard. */
#include "run_distance.h"

#include <math.h>

static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD};
static const uint32_t flag_sets[] = {0, APSIS_COMPLEMENT, APSIS_SIGNED, APSIS_SIGNED | APSIS_COMPLEMENT};

/* ---- Every small image ---- */

static void every_4x4_image(bench *b) {
    int images;
    uint8_t *mask = every_4x4(&images);
    const double limits[] = {0, 1.5};
    for (int m = 0; m < COUNT(metrics); ++m)
        for (int f = 0; f < COUNT(flag_sets); ++f)
            for (int l = 0; l < COUNT(limits); ++l) {
                problem p = new_problem(3, 4, 4, images, mask);
                p.options.metric = metrics[m];
                p.options.flags = flag_sets[f] | APSIS_SLICES;
                p.options.max_distance = limits[l];
                given how = PLAIN;
                how.set = (m + f) & 1 ? APSIS_BIT : APSIS_U8;
                how.distance = l ? APSIS_I32 : APSIS_F32;
                check_distance(b, &p, &how);
            }
    free(mask);
}

static void some_4x4_images_alone(bench *b) {
    int images;
    uint8_t *mask = every_4x4(&images);
    for (int i = 0; i < images; i += 65536 / effort(1024)) {
        problem p = new_problem(2, 4, 4, 1, mask + 16 * i);
        p.options.metric = metrics[i % 3];
        check_distance(b, &p, &PLAIN);
    }
    free(mask);
}

static void every_3x2x2_volume(bench *b) {
    uint8_t mask[12];
    for (int i = 0; i < 4096; i += 4096 / effort(4096))
        for (int m = 0; m < COUNT(metrics); ++m) {
            for (int k = 0; k < 12; ++k) mask[k] = i >> k & 1;
            problem p = new_problem(3, 3, 2, 2, mask);
            p.options.metric = metrics[m];
            p.options.flags = flag_sets[i % 4];
            check_distance(b, &p, &PLAIN);
        }
}

/* ---- Answers written by hand: they need no oracle ---- */

static void ties_go_to_the_lowest_index(bench *b) {
    uint8_t mask[25];
    draw(mask, "..#..", ".....", "#...#", ".....", "..#..", NULL);
    static const int32_t euclidean[25] = {2,  2,  2,  2,  2,  10, 2,  2,  2,  14, 10, 10, 2,
                                          14, 14, 10, 10, 22, 14, 14, 10, 22, 22, 22, 14};
    static const int32_t squares[25] = {4, 1, 0, 1, 4, 1, 2, 1, 2, 1, 0, 1, 4, 1, 0, 1, 2, 1, 2, 1, 4, 1, 0, 1, 4};
    static const int32_t chessboard[25] = {2,  2,  2,  2,  2,  10, 2,  2,  2,  14, 10, 10, 2,
                                           14, 14, 10, 10, 22, 14, 14, 10, 22, 22, 22, 14};
    problem p = new_problem(2, 5, 5, 1, mask);
    given how = PLAIN;
    how.distance = APSIS_I32;
    outputs out = run_distance(b, &p, &how);
    assert_memory_equal(out.nearest, euclidean, sizeof euclidean);
    assert_memory_equal(out.distance, squares, sizeof squares);
    free_outputs(&out);
    p.options.metric = APSIS_CHESSBOARD;
    out = run_distance(b, &p, &how);
    assert_memory_equal(out.nearest, chessboard, sizeof chessboard);
    free_outputs(&out);
}

static void nothing_to_find(bench *b) {
    const uint8_t none[6] = {0}, all[6] = {1, 2, 4, 128, 255, 1};
    problem p = new_problem(2, 3, 2, 1, none);
    given how = {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I64};
    outputs out = run_distance(b, &p, &how);
    for (int i = 0; i < 6; ++i) {
        assert_true(((double *)out.distance)[i] == HUGE_VAL);
        assert_int_equal(((int64_t *)out.nearest)[i], -1);
    }
    free_outputs(&out);
    p.mask = all;
    p.options.flags = APSIS_SIGNED;
    how.distance = APSIS_I32;
    out = run_distance(b, &p, &how);
    for (int i = 0; i < 6; ++i) {
        assert_int_equal(((int32_t *)out.distance)[i], -INT32_MAX);
        assert_int_equal(((int64_t *)out.nearest)[i], -1);
    }
    free_outputs(&out);
}

static void max_distance_counts_itself(bench *b) {
    const uint8_t mask[6] = {1, 0, 0, 0, 0, 0};
    problem p = new_problem(2, 6, 1, 1, mask);
    p.options.max_distance = 3;
    given how = PLAIN;
    how.distance = APSIS_I32;
    outputs out = run_distance(b, &p, &how);
    static const int32_t want[6] = {0, 1, 4, 9, INT32_MAX, INT32_MAX}, nearest[6] = {0, 0, 0, 0, -1, -1};
    assert_memory_equal(out.distance, want, sizeof want);
    assert_memory_equal(out.nearest, nearest, sizeof nearest);
    free_outputs(&out);
}

/* ---- Random problems of every kind ---- */

static void choose_size(chance *c, problem *p) {
    static const int64_t sizes[] = {1,  1,  2,  3,  4,  5,  7,  8,   11,  13,  16,  17,  29,  31,
                                    32, 33, 47, 63, 64, 65, 97, 127, 128, 129, 211, 255, 256, 257};
    const int64_t most = roll_below(c, 8) ? 3000 : 30000;
    p->ndim = 2 + (int)roll_below(c, 2);
    do
        for (int a = 0; a < 3; ++a) p->size[a] = a < p->ndim ? sizes[roll_below(c, COUNT(sizes))] : 1;
    while (pixels_of(p) > most);
}

static void choose_options(chance *c, problem *p) {
    static const double limits[] = {0, 0, 0, 1, 1.5, 2, 7, 10.3, 1000};
    static const int64_t ratios[][3] = {{1, 1, 1}, {1, 2, 3}, {3, 2, 1}, {5, 4, 7}, {1, 1, 10}, {1, 1024, 1}, {1000, 999, 998}};
    static const double units[] = {1, 0.5, 8, 0.1, 3.14159};
    p->options.metric = metrics[roll_below(c, 3)];
    p->options.flags = flag_sets[roll_below(c, 4)] | (p->ndim == 3 && roll_below(c, 3) == 0 ? APSIS_SLICES : 0);
    const double unit = units[roll_below(c, COUNT(units))];
    const int64_t *ratio = ratios[p->options.metric == APSIS_CHESSBOARD ? 0 : roll_below(c, COUNT(ratios))];
    /* Only a unit that is a power of two keeps doubles in the ratio of whole numbers. */
    const bool keeps = unit == 0.5 || unit == 8 || ratio == ratios[0];
    if (roll_below(c, 2)) set_spacing(p, ratio[0], ratio[1], ratio[2], keeps ? unit : 1);
    p->options.max_distance = limits[roll_below(c, COUNT(limits))];
}

static given choose_images(chance *c, const problem *p) {
    static const apsis_type reals[] = {APSIS_F32, APSIS_F64}, all[] = {APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64};
    const bool squares = p->unit == 1 && p->ratio[0] == 1 && p->ratio[1] == 1 && p->ratio[2] == 1;
    given how = {.set = roll_below(c, 2) ? APSIS_BIT : APSIS_U8,
                 .distance = squares ? all[roll_below(c, 4)] : reals[roll_below(c, 2)],
                 .nearest = roll_below(c, 2) ? APSIS_I32 : APSIS_I64};
    const int64_t left_out = roll_below(c, 6);
    if (left_out == 0) how.nearest = 0;
    if (left_out == 1) how.distance = 0;
    if (roll_below(c, 2)) how.set_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 2)) how.distance_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 2)) how.nearest_layout = (unsigned)roll_below(c, LAYOUTS);
    return how;
}

static void random_problems(bench *b) {
    static const double densities[] = {0, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 0.99, 1};
    chance c = {2026};
    for (int i = 0; i < effort(1500); ++i) {
        problem p = new_problem(2, 1, 1, 1, NULL);
        choose_size(&c, &p);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        const int kind = roll_below(&c, 2) ? NOISE : (int)roll_below(&c, MASK_KINDS);
        fill_mask(mask, p.size, kind, densities[roll_below(&c, COUNT(densities))], &c);
        p.mask = mask;
        choose_options(&c, &p);
        const given how = choose_images(&c, &p);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_distance(b, &p, &how);
        free(mask);
    }
}

/* ---- Larger shapes; test_distance_rows.c and test_distance_volumes.c have more ---- */

static void check_mask(bench *b, int64_t w, int64_t h, int64_t d, int kind, double density, apsis_metric metric,
                       uint32_t flags) {
    chance c = {(uint64_t)(w * 31 + h * 7 + d + kind)};
    problem p = new_problem(d > 1 ? 3 : 2, w, h, d, NULL);
    p.options.metric = metric;
    p.options.flags = flags;
    check_filled(b, &p, kind, density, &c, &PLAIN);
}

static void structured_masks(bench *b) {
    for (int kind = 0; kind < MASK_KINDS; ++kind)
        for (int m = 0; m < COUNT(metrics); ++m) {
            check_mask(b, 300, 211, 1, kind, 0.02, metrics[m], 0);
            check_mask(b, 129, 257, 1, kind, 0.001, metrics[m], APSIS_SIGNED);
            check_mask(b, 33, 29, 35, kind, 0.01, metrics[m], 0);
        }
}

static void wide_structured_masks(bench *b) {
    static const int kinds[] = {SINGLE, NOISE, BLOBS, DISC, RING, DIAGONAL, LEFT_STRIP};
    for (int k = 0; k < COUNT(kinds); ++k) check_mask(b, 600, 400, 1, kinds[k], 0.0005, APSIS_EUCLIDEAN, 0);
    check_mask(b, 1100, 500, 1, NOISE, 0.0001, APSIS_EUCLIDEAN, APSIS_SIGNED);
    check_mask(b, 2053, 70, 1, DIAGONAL, 0, APSIS_EUCLIDEAN, 0);
}

static void long_and_thin(bench *b) {
    static const int64_t sizes[][3] = {{5000, 1, 1}, {1, 5000, 1}, {1, 1, 5000}, {20000, 3, 1}, {3, 20000, 1},
                                       {4, 3, 4000}, {4000, 4, 3}, {1, 4099, 3}, {70000, 1, 1}, {1, 70000, 1}};
    for (int i = 0; i < COUNT(sizes); ++i)
        for (int m = 0; m < COUNT(metrics); ++m) {
            check_mask(b, sizes[i][0], sizes[i][1], sizes[i][2], NOISE, 0.01, metrics[m], 0);
            check_mask(b, sizes[i][0], sizes[i][1], sizes[i][2], CORNERS, 0, metrics[m], APSIS_COMPLEMENT);
        }
}

/** Costs of 2^30 and more need 64 bits, and roots of 2^52 and more need more care than a double's. */
static void large_costs(bench *b) {
    static const struct {
        int64_t w, h, d, x, y, z;
    } cases[] = {{40000, 2, 1, 1, 1, 1},        {2, 40000, 1, 1, 1, 1},        {3, 2, 33000, 1, 1, 1},
                 {33000, 2, 3, 1, 1, 1},        {3, 33000, 2, 1, 1, 1},        {200, 200, 1, 1024, 1023, 1},
                 {2, 200000, 1, 1024, 1023, 1}, {200000, 2, 1, 1023, 1024, 1}, {2, 3, 90000, 1019, 1021, 1013}};
    static const apsis_type reals[] = {APSIS_F32, APSIS_F64};
    for (int i = 0; i < COUNT(cases); ++i)
        for (int t = 0; t < 2; ++t) {
            problem p = new_problem(cases[i].d > 1 ? 3 : 2, cases[i].w, cases[i].h, cases[i].d, NULL);
            uint8_t *mask = must_alloc((size_t)pixels_of(&p));
            mask[1] = 1; /* one site near a corner: all distances differ */
            p.mask = mask;
            set_spacing(&p, cases[i].x, cases[i].y, cases[i].z, 1);
            const given how = {.set = APSIS_U8, .distance = reals[t], .nearest = APSIS_I64};
            check_distance(b, &p, &how);
            free(mask);
        }
}

/** Also in units that are no power of two a distance is rounded once from the exact value. */
static void rounded_once(bench *b) {
    static const double units[] = {0.1, 3.14159, 1.0 / 3, 1e-7};
    static const apsis_type reals[] = {APSIS_F32, APSIS_F64};
    uint8_t mask[61 * 47] = {[7] = 1};
    for (int u = 0; u < COUNT(units); ++u)
        for (int m = 0; m < COUNT(metrics); ++m)
            for (int t = 0; t < 2; ++t) {
                problem p = new_problem(2, 61, 47, 1, mask);
                p.options.metric = metrics[m];
                set_spacing(&p, 1, 1, 1, units[u]);
                const given how = {.set = APSIS_U8, .distance = reals[t]};
                check_distance(b, &p, &how);
            }
}

static void the_oracles_agree(bench *b) {
    (void)b;
    chance c = {11};
    for (int i = 0; i < 400; ++i) {
        problem p =
            new_problem(2 + i % 2, 1 + roll_below(&c, 12), 1 + roll_below(&c, 9), i % 2 ? 1 + roll_below(&c, 5) : 1, NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, NOISE, roll_real(&c), &c);
        p.mask = mask;
        choose_options(&c, &p);
        answer force = solve_by_force(&p), rows = solve_by_rows(&p);
        assert_memory_equal(force.cost, rows.cost, (size_t)pixels_of(&p) * 8);
        assert_memory_equal(force.nearest, rows.nearest, (size_t)pixels_of(&p) * 8);
        if (has_envelope(&p)) {
            answer envelope = solve_by_envelope(&p);
            assert_memory_equal(force.cost, envelope.cost, (size_t)pixels_of(&p) * 8);
            assert_memory_equal(force.nearest, envelope.nearest, (size_t)pixels_of(&p) * 8);
            free_answer(&envelope);
        }
        free_answer(&force);
        free_answer(&rows);
        free(mask);
    }
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(the_oracles_agree, ON_CPU),      TEST(ties_go_to_the_lowest_index, EVERYWHERE),
                                      TEST(nothing_to_find, EVERYWHERE),    TEST(max_distance_counts_itself, EVERYWHERE),
                                      TEST(every_4x4_image, EVERYWHERE),    TEST(some_4x4_images_alone, EVERYWHERE),
                                      TEST(every_3x2x2_volume, EVERYWHERE), TEST(random_problems, EVERYWHERE),
                                      TEST(structured_masks, EVERYWHERE),   TEST(wide_structured_masks, EVERYWHERE),
                                      TEST(long_and_thin, EVERYWHERE),      TEST(large_costs, EVERYWHERE),
                                      TEST(rounded_once, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
