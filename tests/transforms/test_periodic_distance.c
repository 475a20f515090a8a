/* Distance and cells in images that close on themselves: against every pixel with every site and its copies, and tilings. */
#include "periodic.h"
#include "run_distance.h"

static uint32_t some_flags(int i) {
    static const uint32_t kinds[] = {0, APSIS_COMPLEMENT, APSIS_SIGNED, APSIS_SIGNED | APSIS_BORDER,
                                     APSIS_COMPLEMENT | APSIS_BORDER};
    return kinds[i % COUNT(kinds)];
}

/* ---- Every small image ---- */

static void every_3x4_set(bench *b) {
    int images;
    uint8_t *mask = every_3x4(&images);
    for (int i = 0; i < 30; ++i) {
        problem p = new_problem(3, i % 2 ? 3 : 4, i % 2 ? 4 : 3, images, mask);
        p.options.flags = APSIS_SLICES | periodic_flags(1 + i % 3) | some_flags(i);
        p.options.metric = (apsis_metric)(i / 3 % 3);
        if (i % 4 == 3) set_spacing(&p, p.options.metric == APSIS_CHESSBOARD ? 2 : 1 + i % 3, 2, 1, 0.5);
        if (i % 7 == 6) p.options.max_distance = 1.5;
        const given how = {.set = i % 5 ? APSIS_U8 : APSIS_BIT, .distance = APSIS_F64, .nearest = APSIS_I32};
        check_distance(b, &p, i % 6 == 5 ? &DISTANCE_ALONE : &how);
    }
    free(mask);
}

static void every_3x3_label_image(bench *b) {
    int images;
    uint8_t *mask = every_3x3_of_three(&images);
    for (int i = 0; i < 12; ++i) {
        problem p = new_problem(3, 3, 3, images, mask);
        p.options.flags = APSIS_SLICES | APSIS_LABELS | periodic_flags(1 + i % 3) | (i / 3 % 2 ? APSIS_BORDER : 0);
        p.options.metric = i / 6 ? APSIS_CITY_BLOCK : APSIS_EUCLIDEAN;
        const apsis_type types[] = {APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
        const given how = {.set = types[i % 4], .distance = APSIS_F32, .nearest = APSIS_I32};
        check_distance(b, &p, &how);
    }
    free(mask);
}

/** 2 x 2 x 2 and 3 x 2 x 4, with every set of periodic axes. */
static void small_volumes(bench *b) {
    uint8_t mask[24];
    chance c = {92};
    for (int i = 0; i < effort(512); ++i)
        for (int which = 1; which < 8; ++which) {
            const bool cube = i % 2;
            for (int k = 0; k < 24; ++k) mask[k] = (uint8_t)(cube ? i / 2 >> k % 8 & 1 : roll_below(&c, 4) == 0);
            problem p = new_problem(3, cube ? 2 : 3, 2, cube ? 2 : 4, mask);
            p.options.flags = periodic_flags(which) | some_flags(i / 3);
            p.options.metric = (apsis_metric)(i / 2 % 3);
            check_distance(b, &p, &PLAIN);
        }
}

/* ---- Random images ---- */

static void random_spacing(problem *p, chance *c) {
    if (roll_below(c, 2)) return;
    static const double units[] = {1, 0.5, 0.25, 4};
    const int64_t x = 1 + roll_below(c, 5), y = 1 + roll_below(c, 5), z = 1 + roll_below(c, 5);
    const bool is_equal = p->options.metric == APSIS_CHESSBOARD;
    set_spacing(p, x, is_equal ? x : y, is_equal ? x : z, units[roll_below(c, COUNT(units))]);
}

static void random_sets(bench *b) {
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 8, 9, 16, 31, 32, 33, 47, 64, 65, 97};
    static const apsis_type sets[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    chance c = {2604};
    for (int i = 0; i < effort(500); ++i) {
        problem p = new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL);
        do
            for (int a = 0; a < p.ndim; ++a) p.size[a] = sizes[roll_below(&c, COUNT(sizes))];
        while (pixels_of(&p) > 4000);
        p.options.flags = some_flags((int)roll_below(&c, 5));
        if (p.ndim == 3 && !roll_below(&c, 4)) p.options.flags |= APSIS_SLICES;
        draw_periodic(&p, &c);
        p.options.metric = (apsis_metric)roll_below(&c, 3);
        random_spacing(&p, &c);
        if (!roll_below(&c, 4)) p.options.max_distance = 1 + 10 * roll_real(&c);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        const given how = {.set = sets[roll_below(&c, COUNT(sets))],
                           .distance = roll_below(&c, 4) ? APSIS_F32 + (apsis_type)roll_below(&c, 2) : 0,
                           .nearest = roll_below(&c, 4) ? APSIS_I32 + (apsis_type)roll_below(&c, 2) : 0,
                           .set_layout = (unsigned)roll_below(&c, LAYOUTS),
                           .distance_layout = (unsigned)roll_below(&c, LAYOUTS),
                           .nearest_layout = (unsigned)roll_below(&c, LAYOUTS)};
        check_filled(b, &p, (int)roll_below(&c, MASK_KINDS), roll_real(&c) * (roll_below(&c, 2) ? 1 : 0.02), &c, &how);
    }
}

static void random_labels(bench *b) {
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 8, 9, 16, 31, 32, 33, 47, 64, 65};
    static const apsis_type sets[] = {APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    chance c = {2605};
    for (int i = 0; i < effort(400); ++i) {
        problem p = new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL);
        do
            for (int a = 0; a < p.ndim; ++a) p.size[a] = sizes[roll_below(&c, COUNT(sizes))];
        while (pixels_of(&p) > 2500);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        const int64_t grain = 1 + roll_below(&c, 12), values = 1 + roll_below(&c, 4);
        for (int64_t k = 0; k < pixels_of(&p); ++k)
            mask[k] = k % p.size[0] % grain && k ? mask[k - 1] : (uint8_t)roll_below(&c, values + 1);
        p.mask = mask;
        p.options.flags = APSIS_LABELS | (roll_below(&c, 3) ? 0 : APSIS_BORDER);
        if (p.ndim == 3 && !roll_below(&c, 4)) p.options.flags |= APSIS_SLICES;
        draw_periodic(&p, &c);
        p.options.metric = roll_below(&c, 3) ? APSIS_EUCLIDEAN : APSIS_CITY_BLOCK;
        random_spacing(&p, &c);
        const given how = {.set = sets[roll_below(&c, 4)],
                           .distance = APSIS_F32,
                           .nearest = roll_below(&c, 3) ? APSIS_I32 : 0,
                           .set_layout = (unsigned)roll_below(&c, LAYOUTS)};
        check_distance(b, &p, &how);
        free(mask);
    }
}

/* ---- Laws ---- */

/** The middle of a tiling of 3 x 3 images has the distances of the image that closes on itself, and its nearest pixels are
 *  copies of nearest ones. */
static void tilings(bench *b) {
    enum { W = 41, H = 26 };
    const int64_t size[3] = {W, H, 1}, wide[3] = {3 * W, 3 * H, 1};
    chance c = {2606};
    uint8_t *mask = must_alloc(W * H), *tiles = must_alloc(9 * W * H);
    float *one = must_alloc(W * H * sizeof *one), *nine = must_alloc(9 * W * H * sizeof *nine);
    for (int i = 0; i < effort(30); ++i) {
        fill_mask(mask, size, i % MASK_KINDS, 0.05, &c);
        for (int64_t k = 0; k < 9 * W * H; ++k) tiles[k] = mask[k / (3 * W) % H * W + k % (3 * W) % W];
        frame set = frame_open(b, APSIS_U8, 2, size, PACKED), far = frame_open(b, APSIS_F32, 2, size, PACKED);
        frame set9 = frame_open(b, APSIS_U8, 2, wide, PACKED), far9 = frame_open(b, APSIS_F32, 2, wide, PACKED);
        frame_put(&set, mask);
        frame_put(&set9, tiles);
        apsis_options o = APSIS_OPTIONS_INIT;
        o.metric = (apsis_metric)(i % 3);
        assert_ok(b->ctx, apsis_distance(b->ctx, &set9.image, &far9.image, NULL, &o));
        o.flags = APSIS_PERIODIC_X | APSIS_PERIODIC_Y;
        assert_ok(b->ctx, apsis_distance(b->ctx, &set.image, &far.image, NULL, &o));
        frame_get(&far, one);
        frame_get(&far9, nine);
        for (int64_t y = 0; y < H; ++y) assert_memory_equal(one + y * W, nine + (y + H) * 3 * W + W, W * sizeof *one);
        frame_close(&set);
        frame_close(&far);
        frame_close(&set9);
        frame_close(&far9);
    }
    free(mask);
    free(tiles);
    free(one);
    free(nine);
}

/** The complete Voronoi map is the map of nearest pixels; of a label image it has their labels. */
static void cells(bench *b) {
    enum { W = 37, H = 22, PIXELS = W * H };
    const int64_t size[3] = {W, H, 1};
    chance c = {2607};
    uint8_t mask[PIXELS];
    int32_t nearest[PIXELS], cell[PIXELS], label[PIXELS];
    for (int i = 0; i < effort(20); ++i) {
        for (int k = 0; k < PIXELS; ++k) mask[k] = roll_below(&c, 40) ? 0 : (uint8_t)(1 + roll_below(&c, 200));
        frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, APSIS_I32, 2, size, PACKED);
        frame_put(&set, mask);
        apsis_options o = APSIS_OPTIONS_INIT;
        o.flags = periodic_flags(1 + i % 3);
        if (i % 4 == 3) o.max_distance = 3;
        assert_ok(b->ctx, apsis_distance(b->ctx, &set.image, NULL, &out.image, &o));
        frame_get(&out, nearest);
        assert_ok(b->ctx, apsis_voronoi(b->ctx, &set.image, &out.image, &o));
        frame_get(&out, cell);
        assert_memory_equal(nearest, cell, sizeof cell);
        o.flags |= APSIS_LABELS;
        assert_ok(b->ctx, apsis_voronoi(b->ctx, &set.image, &out.image, &o));
        frame_get(&out, label);
        for (int k = 0; k < PIXELS; ++k) assert_int_equal(label[k], cell[k] < 0 ? 0 : mask[cell[k]]);
        frame_close(&set);
        frame_close(&out);
    }
}

/** Of two sites as near, one across the seam, that of the lower index counts, not that of the copy before it. */
static void ties_across_a_seam(bench *b) {
    const uint8_t row[6] = {0, 1, 0, 0, 0, 1};
    static const int32_t want[6] = {1, 1, 1, 1, 5, 5};
    const int64_t size[3] = {6, 1, 1};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&set, row);
    apsis_options o = APSIS_OPTIONS_INIT;
    o.flags = APSIS_PERIODIC_X;
    int32_t got[6];
    assert_ok(b->ctx, apsis_distance(b->ctx, &set.image, NULL, &out.image, &o));
    frame_get(&out, got);
    assert_memory_equal(got, want, sizeof want);
    frame_close(&set);
    frame_close(&out);
}

/* ---- What is refused ---- */

static void wrong_arguments(bench *b) {
    const int64_t plane[3] = {1, 5, 1}, cube[3] = {3, 3, 3};
    frame flat = frame_open(b, APSIS_U8, 2, plane, PACKED), far = frame_open(b, APSIS_F32, 2, plane, PACKED),
          cell = frame_open(b, APSIS_I32, 2, plane, PACKED), deep = frame_open(b, APSIS_U8, 3, cube, PACKED),
          deep_far = frame_open(b, APSIS_F32, 3, cube, PACKED);
    apsis_options o = APSIS_OPTIONS_INIT;
    o.flags = APSIS_PERIODIC_X;
    assert_fails(b->ctx, apsis_distance(b->ctx, &flat.image, &far.image, NULL, &o), APSIS_ERROR_ARGUMENT,
                 "APSIS_PERIODIC_X|set: size[0] is 1|at least 2");
    o.flags = APSIS_PERIODIC_Z;
    assert_fails(b->ctx, apsis_voronoi(b->ctx, &flat.image, &cell.image, &o), APSIS_ERROR_ARGUMENT,
                 "APSIS_PERIODIC_Z|ndim is 2");
    o.flags = APSIS_PERIODIC_Z | APSIS_SLICES;
    assert_fails(b->ctx, apsis_distance(b->ctx, &deep.image, &deep_far.image, NULL, &o), APSIS_ERROR_ARGUMENT,
                 "APSIS_PERIODIC_Z|APSIS_SLICES");
    const apsis_slab one = {.extent = 5}, short_one = {.extent = 6, .above = (const int64_t[1]){6}};
    o.flags = APSIS_PERIODIC_X;
    assert_fails(b->ctx, apsis_slab_distance(b->ctx, &flat.image, &one, &far.image, NULL, &o), APSIS_ERROR_ARGUMENT,
                 "APSIS_PERIODIC_X|the image: size[0] is 1|at least 2");
    o.flags = APSIS_PERIODIC_Y;
    assert_fails(b->ctx, apsis_slab_distance(b->ctx, &flat.image, &short_one, &far.image, NULL, &o), APSIS_ERROR_ARGUMENT,
                 "above[0] is 6|from 0 to 5");
    o.method = APSIS_SWEEP;
    assert_fails(b->ctx, apsis_distance(b->ctx, &flat.image, &far.image, NULL, &o), APSIS_ERROR_UNSUPPORTED,
                 "APSIS_SWEEP|periodic");
    frame_close(&flat);
    frame_close(&far);
    frame_close(&cell);
    frame_close(&deep);
    frame_close(&deep_far);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {
        TEST(every_3x4_set, EVERYWHERE), TEST(every_3x3_label_image, EVERYWHERE), TEST(small_volumes, EVERYWHERE),
        TEST(random_sets, EVERYWHERE),   TEST(random_labels, EVERYWHERE),         TEST(tilings, EVERYWHERE),
        TEST(cells, EVERYWHERE),         TEST(ties_across_a_seam, EVERYWHERE),    TEST(wrong_arguments, EVERYWHERE),
    };
    return RUN_CASES(cases, argc, argv);
}
