/* Slabs: however an image is cut, the bytes are those of apsis_distance of all of it. */
#include "periodic.h"
#include "run_slabs.h"

/** Of chessboard maps in slabs there are no nearest pixels. */
static given without_nearest(given how) {
    how.nearest = 0;
    if (!how.distance) how.distance = APSIS_F32;
    return how;
}

static given plain_for(const problem *p) { return p->options.metric == APSIS_CHESSBOARD ? without_nearest(PLAIN) : PLAIN; }

/* ---- Every cut of small images ---- */

static void every_cut_of_every_2x5(bench *b) {
    static const unsigned flags[] = {0, APSIS_COMPLEMENT, APSIS_SIGNED, APSIS_SIGNED | APSIS_COMPLEMENT};
    chance c = {1};
    uint8_t mask[10];
    for (int i = 0; i < 1024; i += mask_step(b, 1024, 7)) {
        for (int k = 0; k < 10; ++k) mask[k] = i >> k & 1;
        problem p = new_problem(2, 2, 5, 1, mask);
        p.options.metric = (apsis_metric)roll_below(&c, 3);
        p.options.flags = flags[roll_below(&c, COUNT(flags))];
        const given how = plain_for(&p);
        check_every_cut(&b, 1, &p, &how, &c);
    }
}

static void every_cut_of_small_ones(bench *b) {
    static const int64_t sizes[][3] = {{1, 9, 1}, {7, 8, 1}, {40, 7, 1}, {2, 3, 6}, {5, 2, 7}};
    chance c = {2};
    for (int i = 0; i < effort(80); ++i) {
        const int64_t *size = sizes[i % COUNT(sizes)];
        uint8_t mask[512];
        fill_mask(mask, size, NOISE, i % 3 ? 0.03 : 0.3, &c);
        problem p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], mask);
        p.options.flags = i % 2 ? APSIS_SIGNED : 0;
        p.options.metric = (apsis_metric)roll_below(&c, 3);
        const given how = plain_for(&p);
        check_every_cut(&b, 1, &p, &how, &c);
    }
}

/* ---- Images that close on themselves ---- */

static void every_cut_of_every_3x4_ring(bench *b) {
    static const unsigned flags[] = {0, APSIS_COMPLEMENT, APSIS_SIGNED, APSIS_SIGNED | APSIS_BORDER};
    chance c = {3};
    uint8_t mask[12];
    for (int i = 0; i < 4096; i += mask_step(b, 4096, 31)) {
        for (int k = 0; k < 12; ++k) mask[k] = i >> k & 1;
        problem p = new_problem(2, 3, 4, 1, mask);
        p.options.metric = (apsis_metric)roll_below(&c, 3);
        p.options.flags = flags[roll_below(&c, COUNT(flags))] | periodic_flags(1 + i % 3);
        const given how = plain_for(&p);
        check_every_cut(&b, 1, &p, &how, &c);
    }
}

static void every_cut_of_small_rings(bench *b) {
    static const int64_t sizes[][3] = {{2, 9, 1}, {7, 8, 1}, {40, 7, 1}, {2, 3, 6}, {5, 2, 7}};
    chance c = {4};
    for (int i = 0; i < effort(160); ++i) {
        const int64_t *size = sizes[i % COUNT(sizes)];
        const int ndim = size[2] > 1 ? 3 : 2;
        uint8_t mask[512];
        fill_mask(mask, size, NOISE, i % 3 ? 0.03 : 0.3, &c);
        problem p = new_problem(ndim, size[0], size[1], size[2], mask);
        p.options.metric = (apsis_metric)roll_below(&c, 3);
        p.options.flags = (i % 2 ? APSIS_SIGNED : 0) | periodic_flags(1 + (int)roll_below(&c, (1 << ndim) - 1));
        if (!roll_below(&c, 3)) p.options.flags |= APSIS_BORDER | APSIS_COMPLEMENT;
        const given how = plain_for(&p);
        check_every_cut(&b, 1, &p, &how, &c);
    }
}

/* ---- Random images and cuts, larger; slabs without rows among them ---- */

static void choose_problem(chance *c, problem *p) {
    static const int64_t sizes[] = {1, 2, 3, 5, 8, 13, 31, 32, 33, 64, 65, 100, 127, 200, 513};
    static const double limits[] = {0, 0, 0, 1, 2.5, 17};
    const bool is_small = roll_below(c, 4);
    p->ndim = 2 + (roll_below(c, 3) == 0);
    do
        for (int a = 0; a < 3; ++a) p->size[a] = a < p->ndim ? sizes[roll_below(c, COUNT(sizes))] : 1;
    while (pixels_of(p) > (is_small ? 3000 : 30000));
    p->options.metric = (apsis_metric)roll_below(c, 3);
    p->options.flags = (roll_below(c, 4) ? 0 : APSIS_COMPLEMENT) | (roll_below(c, 3) ? 0 : APSIS_SIGNED);
    p->options.max_distance = limits[roll_below(c, COUNT(limits))];
    const bool is_chessboard = p->options.metric == APSIS_CHESSBOARD;
    if (roll_below(c, 3) == 0) draw_periodic(p, c);
    if (roll_below(c, 3) == 0) set_spacing(p, 3, is_chessboard ? 3 : 2, is_chessboard ? 3 : 5, 0.5);
    if (roll_below(c, 6) == 0 && !is_chessboard) { /* no common measure: rounding goes by the size of the image */
        p->options.spacing[0] = 1;
        p->options.spacing[1] = 1.4142135623730951;
        p->options.spacing[2] = 0.7;
    }
}

static given choose_images(chance *c, const problem *p) {
    static const apsis_type types[] = {APSIS_F32, APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64};
    const bool has_spacing = p->options.spacing[0] != 0;
    given how = {.set = roll_below(c, 2) ? APSIS_U8 : APSIS_BIT,
                 .distance = types[roll_below(c, has_spacing ? 3 : 5)],
                 .nearest = roll_below(c, 2) ? APSIS_I32 : APSIS_I64};
    if (roll_below(c, 6) == 0) how.nearest = 0;
    if (roll_below(c, 6) == 0 && how.nearest) how.distance = 0;
    if (roll_below(c, 3) == 0) how.set_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 3) == 0) how.distance_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 3) == 0) how.nearest_layout = (unsigned)roll_below(c, LAYOUTS);
    if (p->options.metric == APSIS_CHESSBOARD) how = without_nearest(how);
    return how;
}

static void random_cuts(bench *b) {
    static const double densities[] = {0, 0.0005, 0.01, 0.1, 0.5, 0.99};
    chance c = {2026};
    for (int i = 0; i < effort(b->place == ON_CPU ? 1500 : 300); ++i) { /* devices take longer */
        problem p = new_problem(2, 1, 1, 1, NULL);
        choose_problem(&c, &p);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        const int kind = roll_below(&c, 2) ? NOISE : (int)roll_below(&c, MASK_KINDS);
        fill_mask(mask, p.size, kind, densities[roll_below(&c, COUNT(densities))], &c);
        p.mask = mask;
        const given how = choose_images(&c, &p);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_random_cuts(b, &p, &how, &c);
        free(mask);
    }
}

/** Volumes whose slabs take several words across and along their columns, the last ones in part. */
static void wide_and_deep_ones(bench *b) {
    static const int64_t size[3] = {45, 3, 90};
    chance c = {5};
    uint8_t mask[45 * 3 * 90];
    for (int i = 0; i < effort(12); ++i) {
        fill_mask(mask, size, NOISE, 0.01, &c);
        problem p = new_problem(3, size[0], size[1], size[2], mask);
        check_random_cuts(b, &p, &PLAIN, &c);
    }
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_cut_of_every_2x5, EVERYWHERE),
                                      TEST(every_cut_of_small_ones, EVERYWHERE),
                                      TEST(every_cut_of_every_3x4_ring, EVERYWHERE),
                                      TEST(every_cut_of_small_rings, EVERYWHERE),
                                      TEST(random_cuts, EVERYWHERE),
                                      TEST(wide_and_deep_ones, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
