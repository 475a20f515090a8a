/* The published methods of distance and Voronoi maps: the exact ones against the oracle, on images whose cells have
 * exclaves above all; what the sweeps leave; and the approximate ones within the bounds that are said of them. */
#include "run_distance.h"

#include <math.h>

static const apsis_method exact[] = {APSIS_RASTER_SCAN, APSIS_SWEEP, APSIS_SWEEP_BLOCKS, APSIS_SWEEP_ROWS};

static const given FORMS[] = {{.set = APSIS_U8, .distance = APSIS_F32, .nearest = APSIS_I32},
                              {.set = APSIS_BIT, .distance = APSIS_I32},
                              {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I64, .set_layout = FLIP_Y | PADDED},
                              {.set = APSIS_BIT, .distance = APSIS_I64, .distance_layout = STEPPED | FLIP_X},
                              {.set = APSIS_U8, .nearest = APSIS_I32, .set_layout = STEPPED, .nearest_layout = SWAPPED}};

/** apsis_voronoi: packed 64-bit indices, to be freed. */
static int64_t *run_voronoi(bench *b, const problem *p) {
    frame set = frame_open(b, APSIS_U8, p->ndim, p->size, PACKED), out = frame_open(b, APSIS_I64, p->ndim, p->size, PADDED);
    int64_t *cells = must_alloc((size_t)(out.count + 8));
    frame_put(&set, p->mask);
    assert_ok(b->ctx, apsis_voronoi(b->ctx, &set.image, &out.image, &p->options));
    frame_get(&out, cells);
    frame_close(&set);
    frame_close(&out);
    return cells;
}

/** Every exact method gives what the oracle says. */
static void check_exact(bench *b, problem p, const given *how) {
    answer want = solve(&p);
    for (int m = 0; m < COUNT(exact); ++m) {
        p.options.method = exact[m];
        outputs out = run_distance(b, &p, how);
        compare_outputs(&p, how, &out, &want);
        free_outputs(&out);
    }
    p.options.method = exact[pixels_of(&p) % COUNT(exact)];
    outputs cells = {NULL, run_voronoi(b, &p)};
    compare_outputs(&p, &(given){.nearest = APSIS_I64}, &cells, &want);
    free_outputs(&cells);
    free_answer(&want);
}

/* ---- Images ---- */

static uint8_t *no_sites(int64_t w, int64_t h) {
    uint8_t *mask = must_alloc((size_t)(w * h));
    memset(mask, 0, (size_t)(w * h));
    return mask;
}

/** Up to 40 sites anywhere: their cells have corners that are as sharp as they come. */
static problem few_sites(chance *c) {
    const int64_t w = 40 + roll_below(c, 261), h = 40 + roll_below(c, 261), sites = 2 + roll_below(c, 39);
    uint8_t *mask = no_sites(w, h);
    for (int64_t i = 0; i < sites; ++i) mask[roll_below(c, w * h)] = 1;
    return new_problem(2, w, h, 1, mask);
}

/** Sites almost on a circle, and beside each other: cells are wedges that are thinner than a pixel before they end. */
static problem wedges(chance *c) {
    const int64_t w = 40 + roll_below(c, 261), h = 40 + roll_below(c, 261), sites = 3 + roll_below(c, 10);
    uint8_t *mask = no_sites(w, h);
    const double x0 = (double)w * roll_real(c), y0 = (double)h * roll_real(c), turn = 6.2832 * roll_real(c);
    for (int64_t i = 0; i < sites; ++i) {
        const double angle = turn + 0.3 * roll_real(c), radius = (double)(w + h) / 3;
        const int64_t x = (int64_t)(x0 + radius * cos(angle)), y = (int64_t)(y0 + radius * sin(angle));
        if (x >= 0 && y >= 0 && x < w && y < h) mask[y * w + x] = 1;
    }
    mask[roll_below(c, w * h)] = 1;
    return new_problem(2, w, h, 1, mask);
}

/** A pattern of 4 x 4 pixels, far apart, and not quite where they would be. */
static problem spread(chance *c, const uint8_t *pattern) {
    const int64_t step = 5 + roll_below(c, 30), side = 4 * step;
    uint8_t *mask = no_sites(side, side);
    for (int k = 0; k < 16; ++k)
        if (pattern[k]) mask[(k / 4 * step + roll_below(c, step)) * side + k % 4 * step + roll_below(c, step)] = 1;
    return new_problem(2, side, side, 1, mask);
}

/* ---- The exact methods ---- */

static void every_4x4_image(bench *b) {
    int images;
    uint8_t *mask = every_4x4(&images);
    for (int k = 0; k < 4; ++k) {
        problem p = new_problem(3, 4, 4, images, mask);
        p.options.flags = APSIS_SLICES | (k & 1 ? APSIS_COMPLEMENT : 0);
        p.options.max_distance = k & 2 ? 2 : 0;
        check_exact(b, p, &FORMS[k]);
    }
    free(mask);
}

static void patterns_spread(bench *b) {
    chance c = {1};
    int images;
    uint8_t *mask = every_4x4(&images);
    for (int i = 0; i < effort(120); ++i) {
        problem p = spread(&c, mask + 16 * roll_below(&c, images));
        check_exact(b, p, &PLAIN);
        free((void *)p.mask);
    }
    free(mask);
}

/** Images of a few sites, whose exclaves the sweeps hide at so many pixels at least. */
static void check_sparse(bench *b, problem (*draw_sites)(chance *), uint64_t seed, int64_t least) {
    chance c = {seed};
    int64_t hidden = 0;
    for (int i = 0; i < effort(150); ++i) {
        problem p = draw_sites(&c);
        check_exact(b, p, &FORMS[i % 3]);
        p.options.method = APSIS_SWEEP;
        p.options.flags = APSIS_MIXED;
        int64_t *mixed = run_voronoi(b, &p);
        answer want = solve(&p);
        for (int64_t k = 0; k < pixels_of(&p); ++k) hidden += mixed[k] != want.nearest[k];
        free_answer(&want);
        free(mixed);
        free((void *)p.mask);
    }
    if (effort(150) == 150) assert_true(hidden >= least);
}

static void random_few_sites(bench *b) { check_sparse(b, few_sites, 2, 2); }
static void random_wedges(bench *b) { check_sparse(b, wedges, 3, 30); }

static void random_problems(bench *b) {
    static const int64_t sizes[] = {1, 1, 2, 3, 5, 15, 16, 17, 31, 32, 33, 47, 64, 65, 129};
    chance c = {4};
    for (int i = 0; i < effort(200); ++i) {
        const int64_t w = sizes[roll_below(&c, COUNT(sizes))], h = sizes[roll_below(&c, COUNT(sizes))];
        const bool is_batch = roll_below(&c, 2);
        problem p = new_problem(is_batch ? 3 : 2, w, h, is_batch ? 1 + roll_below(&c, 5) : 1, NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, (int)roll_below(&c, MASK_KINDS), roll_real(&c) * roll_real(&c) * roll_real(&c), &c);
        p.mask = mask;
        p.options.flags = (is_batch ? APSIS_SLICES : 0) | (roll_below(&c, 3) ? 0 : APSIS_COMPLEMENT);
        if (roll_below(&c, 3) == 0) p.options.max_distance = 20 * roll_real(&c);
        if (roll_below(&c, 3) == 0) set_spacing(&p, 1, 1, 1, 0.25);
        given how = FORMS[roll_below(&c, COUNT(FORMS))];
        if (p.unit != 1) how.distance = how.distance ? APSIS_F32 : 0;
        check_exact(b, p, &how);
        free(mask);
    }
}

static void wide_and_long(bench *b) {
    static const int64_t sizes[][3] = {{2049, 67, 1}, {67, 2049, 1}, {4097, 1, 1}, {1, 4097, 1}, {2, 3000, 1}};
    chance c = {5};
    for (int i = 0; i < effort(COUNT(sizes)); ++i) {
        problem p = new_problem(2, sizes[i][0], sizes[i][1], 1, NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, NOISE, 0.0005, &c);
        p.mask = mask;
        check_exact(b, p, &PLAIN);
        free(mask);
    }
}

/** The smallest image that was found whose exclave the sweeps hide: (19, 7) is (7, 2)'s, beside 7 pixels of others. */
static void an_exclave_of_three_sites(bench *b) {
    uint8_t *mask = no_sites(25, 8);
    mask[2 * 25 + 7] = mask[6 * 25 + 6] = mask[8] = 1;
    problem p = new_problem(2, 25, 8, 1, mask);
    check_exact(b, p, &PLAIN);
    p.options.method = APSIS_SWEEP;
    int64_t *complete = run_voronoi(b, &p);
    p.options.flags = APSIS_MIXED;
    int64_t *mixed = run_voronoi(b, &p);
    for (int64_t i = 0; i < pixels_of(&p); ++i) assert_int_equal(complete[i] != mixed[i], i == 7 * 25 + 19);
    assert_int_equal(complete[7 * 25 + 19], 2 * 25 + 7);
    assert_int_equal(mixed[7 * 25 + 19], 8);
    free(complete);
    free(mixed);
    free(mask);
}

/** By the rule of the paper the block of (17, 15) is finished before its nearest site has come, by way of a third block. */
static void a_site_that_comes_late(bench *b) {
    uint8_t *mask = no_sites(18, 21);
    mask[3 * 18 + 11] = mask[14 * 18 + 11] = mask[20 * 18 + 14] = 1;
    check_exact(b, new_problem(2, 18, 21, 1, mask), &PLAIN);
    free(mask);
}

/* ---- The mixed map ---- */

/** Marks the pixels of a complete map that a path of 8 neighbours in their cell joins to their site. */
static void mark_connected(const problem *p, const int64_t *cells, uint8_t *mark) {
    const int64_t w = p->size[0], h = p->size[1];
    int64_t *waiting = must_alloc((size_t)(w * h) * sizeof *waiting), count = 0;
    for (int64_t i = 0; i < w * h; ++i)
        if ((mark[i] = cells[i] == i)) waiting[count++] = i;
    while (count > 0) {
        const int64_t i = waiting[--count], x = i % w, y = i / w;
        for (int64_t v = y ? y - 1 : 0; v <= y + 1 && v < h; ++v)
            for (int64_t u = x ? x - 1 : 0; u <= x + 1 && u < w; ++u)
                if (!mark[v * w + u] && cells[v * w + u] == cells[i]) mark[waiting[count++] = v * w + u] = 1;
    }
    free(waiting);
}

static void check_mixed(bench *b, problem p) {
    answer want = solve(&p);
    uint8_t *mark = must_alloc((size_t)pixels_of(&p));
    mark_connected(&p, want.nearest, mark);
    p.options.flags = APSIS_MIXED;
    p.options.method = APSIS_SWEEP;
    int64_t *mixed = run_voronoi(b, &p);
    for (int64_t i = 0; i < pixels_of(&p); ++i) {
        if (mark[i]) assert_int_equal(mixed[i], want.nearest[i]);
        assert_true(p.mask[mixed[i]]);
    }
    for (int m = 2; m < COUNT(exact); ++m) {
        p.options.method = exact[m];
        int64_t *again = run_voronoi(b, &p);
        assert_memory_equal(mixed, again, (size_t)pixels_of(&p) * sizeof *mixed);
        free(again);
    }
    free(mixed);
    free(mark);
    free_answer(&want);
}

static void random_mixed(bench *b) {
    chance c = {6};
    for (int i = 0; i < effort(100); ++i) {
        problem p = i & 1 ? few_sites(&c) : wedges(&c);
        check_mixed(b, p);
        free((void *)p.mask);
    }
}

/* ---- The approximate methods ---- */

/** The distance is that to the pixel named, and never less than the true one; more by at most `most` pixels.  Returns at how
 *  many pixels it is more. */
static int64_t check_near(bench *b, const problem *p, double most) {
    const given how = {.set = APSIS_U8, .distance = APSIS_I64, .nearest = APSIS_I64};
    outputs out = run_distance(b, p, &how);
    answer want = solve(p);
    const int64_t *cost = out.distance, *nearest = out.nearest, w = p->size[0];
    int64_t wrong = 0;
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        if (want.cost[i] < 0) {
            assert_true(cost[i] == INT64_MAX && nearest[i] == -1);
            continue;
        }
        const int64_t dx = nearest[i] % w - i % w, dy = nearest[i] / w - i / w;
        assert_true(p->mask[nearest[i]]);
        assert_int_equal(cost[i], dx * dx + dy * dy);
        assert_true(cost[i] >= want.cost[i]);
        assert_true(sqrt((double)cost[i]) <= sqrt((double)want.cost[i]) + most);
        wrong += cost[i] != want.cost[i];
    }
    free_answer(&want);
    free_outputs(&out);
    return wrong;
}

static void check_approximate(bench *b, apsis_method method, double most, double share) {
    chance c = {7};
    int64_t wrong = 0, pixels = 0;
    for (int i = 0; i < effort(80); ++i) {
        problem p = i % 3 == 0 ? few_sites(&c) : i % 3 == 1 ? wedges(&c) : new_problem(2, 100 + i, 130, 1, NULL);
        uint8_t *mask = p.mask ? (uint8_t *)p.mask : must_alloc((size_t)pixels_of(&p));
        if (i % 3 == 2) fill_mask(mask, p.size, NOISE, i % 2 ? 0.01 : 0.2, &c);
        p.mask = mask;
        p.options.method = method;
        wrong += check_near(b, &p, most);
        pixels += pixels_of(&p);
        free(mask);
    }
    assert_true((double)wrong <= share * (double)pixels);
}

static void jump_flooding(bench *b) { check_approximate(b, APSIS_JUMP_FLOOD, 3, 1e-3); }
static void sequential_sites(bench *b) { check_approximate(b, APSIS_SEQUENTIAL_SCAN, 0.1, 1e-3); }

/* ---- The sequential scan of other metrics ---- */

/** The least sum of weights whose steps add up to an offset, however many of them are knight's moves. */
static int64_t chamfer_length(const int32_t weights[3], int64_t dx, int64_t dy) {
    dx = dx < 0 ? -dx : dx;
    dy = dy < 0 ? -dy : dy;
    const int64_t most = dx > dy ? dx : dy, less = dx > dy ? dy : dx;
    int64_t best = INT64_MAX;
    for (int64_t n = 0; n <= less && (n == 0 || (weights[2] && 2 * n <= most)); ++n) {
        const int64_t u = most - 2 * n, v = less - n, far = u > v ? u : v, near = u > v ? v : u;
        const int64_t length = n * weights[2] + (far - near) * weights[0] + near * weights[1];
        if (length < best) best = length;
    }
    return best;
}

static void check_chamfer(bench *b, problem p, const int32_t weights[3]) {
    p.options.metric = APSIS_CHAMFER;
    if (weights[0] != 3) memcpy(p.options.weights, weights, 3 * sizeof *weights);
    p.options.method = APSIS_SEQUENTIAL_SCAN;
    outputs thirds = run_distance(b, &p, &(given){.set = APSIS_U8, .distance = APSIS_I32});
    outputs reals = run_distance(b, &p, &(given){.set = APSIS_U8, .distance = APSIS_F64});
    const int64_t w = p.size[0];
    for (int64_t i = 0; i < pixels_of(&p); ++i) {
        int64_t least = INT32_MAX;
        for (int64_t j = 0; j < pixels_of(&p); ++j) {
            const int64_t length = p.mask[j] ? chamfer_length(weights, j % w - i % w, j / w - i / w) : INT32_MAX;
            if (length < least) least = length;
        }
        assert_int_equal(((int32_t *)thirds.distance)[i], least);
        assert_true(((double *)reals.distance)[i] == (least == INT32_MAX ? HUGE_VAL : (double)least / weights[0]));
    }
    free_outputs(&thirds);
    free_outputs(&reals);
}

static void sequential_steps(bench *b) {
    static const int64_t sizes[] = {1, 2, 7, 20, 33, 70};
    static const int32_t weights[][3] = {{3, 4}, {2, 3}, {5, 7, 11}, {4, 5, 9}, {1, 2, 3}};
    chance c = {8};
    for (int i = 0; i < effort(120); ++i) {
        problem p = new_problem(2, sizes[roll_below(&c, COUNT(sizes))], sizes[roll_below(&c, COUNT(sizes))], 1, NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, (int)roll_below(&c, MASK_KINDS), roll_real(&c) * roll_real(&c), &c);
        p.mask = mask;
        if (i % 4 == 0) check_chamfer(b, p, weights[i / 4 % COUNT(weights)]);
        p.options.method = APSIS_SEQUENTIAL_SCAN;
        p.options.metric = i & 1 ? APSIS_CITY_BLOCK : APSIS_CHESSBOARD;
        p.options.flags = i & 2 ? APSIS_COMPLEMENT : 0;
        if (i % 3 == 0) p.options.max_distance = 5 * roll_real(&c);
        if (i % 5 == 0) set_spacing(&p, 1, 1, 1, 0.5);
        check_distance(b, &p, &(given){.set = APSIS_BIT, .distance = i % 7 ? APSIS_F32 : APSIS_F64});
        free(mask);
    }
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_4x4_image, EVERYWHERE),
                                      TEST(patterns_spread, EVERYWHERE),
                                      TEST(random_few_sites, EVERYWHERE),
                                      TEST(random_wedges, EVERYWHERE),
                                      TEST(random_problems, EVERYWHERE),
                                      TEST(wide_and_long, EVERYWHERE),
                                      TEST(an_exclave_of_three_sites, EVERYWHERE),
                                      TEST(a_site_that_comes_late, EVERYWHERE),
                                      TEST(random_mixed, EVERYWHERE),
                                      TEST(jump_flooding, EVERYWHERE),
                                      TEST(sequential_sites, ON_CPU),
                                      TEST(sequential_steps, ON_CPU)};
    return RUN_CASES(cases, argc, argv);
}
