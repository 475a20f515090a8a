/* apsis_distance of label images, and with what lies outside the image as background: against brute force, and by laws. */
#include "run_distance.h"

static const apsis_type label_types[] = {APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK};

/* ---- Every small image of three values ---- */

enum { IMAGES_3X3 = 19683 }; /* 3^9 */

static void digits_of(int number, int count, uint8_t *mask) {
    for (int k = 0; k < count; ++k, number /= 3) mask[k] = (uint8_t)(number % 3);
}

static void every_3x3_image(bench *b) {
    const int step = IMAGES_3X3 / effort(IMAGES_3X3), images = (IMAGES_3X3 + step - 1) / step;
    uint8_t *mask = must_alloc((size_t)images * 9);
    for (int i = 0; i < images; ++i) digits_of(i * step, 9, mask + 9 * i);
    for (int way = 0; way < 16; ++way) {
        problem p = new_problem(3, 3, 3, images, mask);
        p.options.metric = metrics[way & 1];
        p.options.flags = APSIS_LABELS | APSIS_SLICES | (way & 2 ? APSIS_BORDER : 0);
        p.options.max_distance = way & 4 ? 1.2 : 0;
        if (way & 8) set_spacing(&p, 2, 3, 1, 1);
        const given how = {label_types[way / 2 % 4], way & 8 ? APSIS_F64 : APSIS_I32, APSIS_I64, 0, 0, 0};
        outputs out = run_distance(b, &p, &how);
        for (int i = 0; i < images; ++i) { /* image by image: the oracle's indices begin anew */
            problem one = p;
            one.mask = mask + 9 * i, one.size[2] = 1, one.ndim = 2, one.options.flags &= ~(uint32_t)APSIS_SLICES;
            answer want = solve_by_force(&one);
            for (int k = 0; k < 9; ++k) want.nearest[k] += want.nearest[k] < 0 ? 0 : 9 * i;
            const outputs part = {(uint8_t *)out.distance + 9 * i * (int)type_size(how.distance),
                                  (int64_t *)out.nearest + 9 * i};
            compare_outputs(&one, &how, &part, &want);
            free_answer(&want);
        }
        free_outputs(&out);
    }
    free(mask);
}

static void every_2x2x2_volume(bench *b) {
    uint8_t mask[8];
    for (int i = 0; i < 6561; i += 6561 / effort(6561))
        for (int m = 0; m < 2; ++m) {
            digits_of(i, 8, mask);
            problem p = new_problem(3, 2, 2, 2, mask);
            p.options.metric = metrics[m];
            p.options.flags = APSIS_LABELS | ((i + m) & 1 ? APSIS_BORDER : 0);
            if (i % 5 == 0) set_spacing(&p, 1, 2, 3, 1);
            const given how = {label_types[i % 4], i % 5 ? APSIS_I32 : APSIS_F32, APSIS_I32, 0, 0, 0};
            check_distance(b, &p, &how);
        }
}

/* ---- By hand ---- */

static void a_line_of_labels(bench *b) {
    static const uint8_t labels[10] = {7, 7, 7, 9, 9, 0, 0, 4, 4, 4};
    static const int32_t squares[10] = {9, 4, 1, 1, 1, 0, 0, 1, 4, 9}, nearest[10] = {3, 3, 3, 2, 5, 5, 6, 6, 6, 6};
    static const int32_t with_border[10] = {1, 4, 1, 1, 1, 0, 0, 1, 4, 1},
                         nearest_border[10] = {-1, -1, 3, 2, 5, 5, 6, 6, -1, -1};
    /* Three rows alike, so that the border above and below is farther than the one beside for the middle one. */
    uint8_t mask[50];
    for (int y = 0; y < 5; ++y) memcpy(mask + 10 * y, labels, 10);
    problem p = new_problem(2, 10, 5, 1, mask);
    p.options.flags = APSIS_LABELS;
    given how = PLAIN;
    how.distance = APSIS_I32;
    outputs out = run_distance(b, &p, &how);
    for (int x = 0; x < 10; ++x) {
        assert_int_equal(((int32_t *)out.distance)[20 + x], squares[x]);
        assert_int_equal(((int32_t *)out.nearest)[20 + x], nearest[x] + 20);
    }
    free_outputs(&out);
    p.options.flags |= APSIS_BORDER;
    out = run_distance(b, &p, &how);
    for (int x = 0; x < 10; ++x) {
        assert_int_equal(((int32_t *)out.distance)[20 + x], with_border[x]);
        assert_int_equal(((int32_t *)out.nearest)[20 + x], nearest_border[x] < 0 ? -1 : nearest_border[x] + 20);
    }
    free_outputs(&out);
}

static void one_value_alone(bench *b) {
    static const uint8_t all[6] = {5, 5, 5, 5, 5, 5};
    problem p = new_problem(2, 3, 2, 1, all);
    p.options.flags = APSIS_LABELS;
    const given how = {APSIS_U16, APSIS_I32, APSIS_I32, 0, 0, 0};
    outputs out = run_distance(b, &p, &how);
    for (int i = 0; i < 6; ++i) {
        assert_int_equal(((int32_t *)out.distance)[i], INT32_MAX);
        assert_int_equal(((int32_t *)out.nearest)[i], -1);
    }
    free_outputs(&out);
}

/* ---- Random problems ---- */

enum { SPECKS, STRIPES, RECTANGLES, CELLS, LABEL_KINDS };

static void fill_labels(uint8_t *mask, const int64_t size[3], int kind, chance *c) {
    const int64_t w = size[0], h = size[1], all = w * h * size[2], values = 2 + roll_below(c, 4);
    if (kind == SPECKS)
        for (int64_t i = 0; i < all; ++i) mask[i] = (uint8_t)roll_below(c, values);
    if (kind == STRIPES) {
        const int64_t axis = roll_below(c, 3), wide = 1 + roll_below(c, 40);
        for (int64_t i = 0; i < all; ++i) {
            const int64_t at[3] = {i % w, i / w % h, i / w / h};
            mask[i] = (uint8_t)(at[axis] / wide % values);
        }
    }
    if (kind == RECTANGLES) {
        memset(mask, (int)roll_below(c, values), (size_t)all);
        for (int n = 0; n < 12; ++n) {
            int64_t from[3], to[3];
            for (int a = 0; a < 3; ++a) from[a] = roll_below(c, size[a]), to[a] = from[a] + 1 + roll_below(c, size[a]);
            const uint8_t value = (uint8_t)roll_below(c, values);
            for (int64_t i = 0; i < all; ++i)
                if (i % w >= from[0] && i % w < to[0] && i / w % h >= from[1] && i / w % h < to[1] && i / w / h >= from[2] &&
                    i / w / h < to[2])
                    mask[i] = value;
        }
    }
    if (kind == CELLS) { /* each pixel the number of the nearest of some points */
        int64_t point[16][3];
        for (int n = 0; n < 16; ++n)
            for (int a = 0; a < 3; ++a) point[n][a] = roll_below(c, size[a]);
        for (int64_t i = 0; i < all; ++i) {
            int64_t least = INT64_MAX;
            for (int n = 0; n < 16; ++n) {
                const int64_t x = i % w - point[n][0], y = i / w % h - point[n][1], z = i / w / h - point[n][2];
                if (x * x + y * y + z * z >= least) continue;
                least = x * x + y * y + z * z;
                mask[i] = (uint8_t)(n * 17);
            }
        }
    }
}

static given choose_images(chance *c, const problem *p) {
    static const apsis_type reals[] = {APSIS_F32, APSIS_F64}, all[] = {APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64};
    const bool whole = p->unit == 1 && p->ratio[0] == 1 && p->ratio[1] == 1 && p->ratio[2] == 1;
    given how = {.set = label_types[roll_below(c, 4)],
                 .distance = whole ? all[roll_below(c, 4)] : reals[roll_below(c, 2)],
                 .nearest = roll_below(c, 2) ? APSIS_I32 : APSIS_I64};
    if (!(p->options.flags & APSIS_LABELS) && roll_below(c, 3) == 0) how.set = APSIS_BIT;
    const int64_t left_out = roll_below(c, 5);
    if (left_out == 0) how.nearest = 0;
    if (left_out == 1) how.distance = 0;
    if (roll_below(c, 2)) how.set_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 2)) how.distance_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 2)) how.nearest_layout = (unsigned)roll_below(c, LAYOUTS);
    return how;
}

static void choose_problem(chance *c, problem *p) {
    static const int64_t sizes[] = {1, 2, 3, 5, 8, 13, 16, 31, 32, 33, 63, 64, 65, 100, 129, 257};
    static const int64_t ratios[][3] = {{1, 1, 1}, {1, 1, 1}, {1, 2, 3}, {3, 2, 1}, {5, 4, 7}, {1, 1024, 1}, {1000, 999, 998}};
    static const double limits[] = {0, 0, 1, 1.5, 7, 10.3, 1000}, units[] = {1, 0.5, 8};
    p->ndim = 2 + (int)roll_below(c, 2);
    do
        for (int a = 0; a < 3; ++a) p->size[a] = a < p->ndim ? sizes[roll_below(c, COUNT(sizes))] : 1;
    while (pixels_of(p) > 4000);
    p->options.metric = metrics[roll_below(c, 2)];
    const int64_t *ratio = ratios[roll_below(c, COUNT(ratios))];
    if (roll_below(c, 2)) set_spacing(p, ratio[0], ratio[1], ratio[2], units[roll_below(c, COUNT(units))]);
    p->options.max_distance = limits[roll_below(c, COUNT(limits))];
    p->options.flags = p->ndim == 3 && roll_below(c, 3) == 0 ? APSIS_SLICES : 0;
}

static void run_random(bench *b, uint64_t seed, int count, bool labels) {
    static const uint32_t sides[] = {APSIS_COMPLEMENT, APSIS_SIGNED, APSIS_SIGNED | APSIS_COMPLEMENT};
    chance c = {seed};
    for (int i = 0; i < count; ++i) {
        problem p = new_problem(2, 1, 1, 1, NULL);
        choose_problem(&c, &p);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_labels(mask, p.size, (int)roll_below(&c, LABEL_KINDS), &c);
        p.mask = mask;
        p.options.flags |=
            labels ? APSIS_LABELS | (roll_below(&c, 2) ? APSIS_BORDER : 0) : APSIS_BORDER | sides[roll_below(&c, 3)];
        if (!labels && p.unit == 1 && p.ratio[0] == 1 && p.ratio[1] == 1 && p.ratio[2] == 1 && roll_below(&c, 3) == 0)
            p.options.metric = APSIS_CHESSBOARD;
        const given how = choose_images(&c, &p);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_distance(b, &p, &how);
        free(mask);
    }
}

static void random_labels(bench *b) { run_random(b, 26, effort(800), true); }
static void random_borders(bench *b) { run_random(b, 27, effort(500), false); }

/* ---- Laws: larger images ---- */

/** The map of a value is that of the complement of its pixels. */
static void check_by_values(bench *b, int64_t w, int64_t h, int64_t d, int kind, apsis_metric metric, int64_t ratio,
                            uint32_t border) {
    chance c = {(uint64_t)(w * 31 + h * 7 + d + kind)};
    problem p = new_problem(d > 1 ? 3 : 2, w, h, d, NULL);
    uint8_t *mask = must_alloc((size_t)pixels_of(&p)), *one = must_alloc((size_t)pixels_of(&p));
    fill_labels(mask, p.size, kind, &c);
    p.mask = mask;
    p.options.metric = metric;
    p.options.flags = APSIS_LABELS | border;
    set_spacing(&p, 1, ratio, 1, 1);
    for (int only = 0; only < 2; ++only) { /* with nearest pixels, and the distance alone, which other code may compute */
        const given how = {APSIS_U16, APSIS_F64, only ? 0 : APSIS_I64, 0, 0, 0};
        outputs out = run_distance(b, &p, &how);
        for (int value = 1; value < 256; ++value) {
            bool any = false;
            for (int64_t i = 0; i < pixels_of(&p); ++i) any |= one[i] = mask[i] == value;
            if (!any) continue;
            problem q = p;
            q.mask = one;
            q.options.flags = APSIS_COMPLEMENT | border;
            const given plain = {APSIS_U8, APSIS_F64, only ? 0 : APSIS_I64, 0, 0, 0};
            outputs want = run_distance(b, &q, &plain);
            for (int64_t i = 0; i < pixels_of(&p); ++i) {
                if (!one[i]) continue;
                assert_true(((double *)out.distance)[i] == ((double *)want.distance)[i]);
                if (!only) assert_int_equal(((int64_t *)out.nearest)[i], ((int64_t *)want.nearest)[i]);
            }
            free_outputs(&want);
        }
        for (int64_t i = 0; i < pixels_of(&p); ++i)
            if (mask[i] == 0) {
                assert_true(((double *)out.distance)[i] == 0);
                if (!only) assert_int_equal(((int64_t *)out.nearest)[i], i);
            }
        free_outputs(&out);
    }
    free(mask);
    free(one);
}

static void each_value_is_a_set(bench *b) {
    static const int64_t sizes[][3] = {{61, 17, 23}, {300, 211, 1}, {1300, 90, 1}, {61, 47, 53}, {5, 3000, 1},
                                       {3000, 5, 1}, {2100, 3, 5},  {3, 2100, 5},  {4, 3, 900}};
    for (int i = 0; i < effort(COUNT(sizes)); ++i)
        for (int kind = 0; kind < LABEL_KINDS; ++kind)
            check_by_values(b, sizes[i][0], sizes[i][1], sizes[i][2], kind, metrics[kind & 1], 1 + (i & 1),
                            (i + kind) & 1 ? APSIS_BORDER : 0);
}

/** Costs of 2^30 and more need 64 bits, of all pixels or of some. */
static void long_labels(bench *b) {
    static const int64_t sizes[][3] = {{40000, 3, 1}, {3, 40000, 1}, {33000, 2, 2},
                                       {2, 33000, 2}, {2, 2, 33000}, {33000, 2, 1}};
    for (int i = 0; i < effort(COUNT(sizes)); ++i)
        for (int kind = 0; kind < LABEL_KINDS; ++kind)
            check_by_values(b, sizes[i][0], sizes[i][1], sizes[i][2], kind, APSIS_EUCLIDEAN, 1 + 1000 * (i & 1), 0);
}

/** Values other than 0 mean nothing but that they differ. */
static void names_of_labels_do_not_matter(bench *b) {
    chance c = {3};
    problem p = new_problem(2, 97, 65, 1, NULL);
    uint8_t *mask = must_alloc((size_t)pixels_of(&p));
    fill_labels(mask, p.size, CELLS, &c);
    p.mask = mask;
    p.options.flags = APSIS_LABELS;
    outputs out[2];
    for (int turn = 0; turn < 2; ++turn) {
        out[turn] = run_distance(b, &p, &PLAIN);
        for (int64_t i = 0; i < pixels_of(&p); ++i) mask[i] = (uint8_t)(mask[i] * 37); /* odd: a permutation */
    }
    assert_memory_equal(out[0].distance, out[1].distance, (size_t)pixels_of(&p) * 4);
    assert_memory_equal(out[0].nearest, out[1].nearest, (size_t)pixels_of(&p) * 4);
    free_outputs(&out[0]);
    free_outputs(&out[1]);
    free(mask);
}

/** A set is a label image of one value: then the map is that of its complement. */
static void bits_are_labels(bench *b) {
    chance c = {4};
    problem p = new_problem(3, 33, 31, 7, NULL), q = p;
    uint8_t *mask = must_alloc((size_t)pixels_of(&p));
    fill_mask(mask, p.size, NOISE, 0.7, &c);
    p.mask = q.mask = mask;
    p.options.flags = APSIS_LABELS, q.options.flags = APSIS_COMPLEMENT;
    given how = PLAIN;
    outputs want = run_distance(b, &q, &PLAIN);
    for (int bits = 0; bits < 2; ++bits) {
        how.set = bits ? APSIS_BIT : APSIS_U8;
        outputs out = run_distance(b, &p, &how);
        assert_memory_equal(out.distance, want.distance, (size_t)pixels_of(&p) * 4);
        assert_memory_equal(out.nearest, want.nearest, (size_t)pixels_of(&p) * 4);
        free_outputs(&out);
    }
    free_outputs(&want);
    free(mask);
}

/* ---- Errors ---- */

static void what_does_not_go_together(bench *b) {
    static const uint8_t mask[4] = {1, 2, 0, 1};
    frame set = frame_open(b, APSIS_U8, 2, (const int64_t[]){2, 2, 1}, PACKED),
          out = frame_open(b, APSIS_F32, 2, set.image.size, PACKED);
    frame_put(&set, mask);
    apsis_options o = APSIS_OPTIONS_INIT;
    const struct {
        uint32_t flags;
        apsis_metric metric;
        apsis_method method;
        apsis_status status;
        const char *text;
    } cases[] = {
        {APSIS_LABELS | APSIS_SIGNED, 0, 0, APSIS_ERROR_ARGUMENT, "APSIS_LABELS|APSIS_SIGNED|no sign"},
        {APSIS_LABELS | APSIS_COMPLEMENT, 0, 0, APSIS_ERROR_ARGUMENT, "APSIS_LABELS|APSIS_COMPLEMENT|no complement"},
        {APSIS_BORDER, 0, 0, APSIS_ERROR_ARGUMENT, "APSIS_BORDER|APSIS_LABELS|APSIS_COMPLEMENT|APSIS_SIGNED"},
        {APSIS_LABELS, APSIS_CHESSBOARD, 0, APSIS_ERROR_UNSUPPORTED, "metric|APSIS_CHESSBOARD"},
        {APSIS_LABELS, 0, APSIS_SWEEP, APSIS_ERROR_UNSUPPORTED, "method|APSIS_SWEEP|APSIS_LABELS"},
        {APSIS_BORDER | APSIS_COMPLEMENT, 0, APSIS_RASTER_SCAN, APSIS_ERROR_UNSUPPORTED,
         "method|APSIS_RASTER_SCAN|APSIS_BORDER"},
    };
    for (int i = 0; i < COUNT(cases); ++i) {
        o.flags = cases[i].flags, o.metric = cases[i].metric, o.method = cases[i].method;
        assert_fails(b->ctx, apsis_distance(b->ctx, &set.image, &out.image, NULL, &o), cases[i].status, cases[i].text);
    }
    frame_close(&set);
    frame_close(&out);
}

static const test_case cases[] = {
    TEST(every_3x3_image, EVERYWHERE),
    TEST(every_2x2x2_volume, EVERYWHERE),
    TEST(a_line_of_labels, EVERYWHERE),
    TEST(one_value_alone, EVERYWHERE),
    TEST(random_labels, EVERYWHERE),
    TEST(random_borders, EVERYWHERE),
    TEST(each_value_is_a_set, EVERYWHERE),
    TEST(long_labels, EVERYWHERE),
    TEST(names_of_labels_do_not_matter, EVERYWHERE),
    TEST(bits_are_labels, EVERYWHERE),
    TEST(what_does_not_go_together, EVERYWHERE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
