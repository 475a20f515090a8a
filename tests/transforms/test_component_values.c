/* apsis_components of label images, where every value is a set of its own: against a flood fill, and by laws. */
#include "run_components.h"
#include "run_labels.h"

static const apsis_type set_types[] = {APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};

/* ---- Every small image of three values ---- */

static problem labels_problem(int ndim, int64_t w, int64_t h, int64_t d, const uint8_t *mask, int connectivity) {
    problem p = new_problem(ndim, w, h, d, mask);
    p.options.flags = APSIS_LABELS;
    p.options.connectivity = connectivity;
    return p;
}

static void every_3x3_image(bench *b) {
    int images;
    uint8_t *mask = every_3x3_of_three(&images);
    for (int connectivity = 1; connectivity <= 2; ++connectivity)
        for (int i = 0; i < 16; ++i) {
            problem p = labels_problem(3, 3, 3, images, mask, connectivity);
            p.options.flags |= APSIS_SLICES;
            leave_out(&p, i);
            const asked how = {.set = set_types[i % 4], .labels = i % 3 ? APSIS_I32 : APSIS_U8, .capacity = 200000};
            check_components(b, &p, &how);
        }
    for (int i = 0; i < images; i += images / effort(2000) + 1) {
        problem p = labels_problem(2, 3, 3, 1, mask + 9 * i, 1 + i % 2);
        p.options.largest = i % 3;
        const asked how = {.set = set_types[i % 4], .labels = APSIS_I32, .capacity = 9};
        check_components(b, &p, &how);
    }
    free(mask);
}

static void every_2x2x2_volume(bench *b) {
    enum { ALL = 6561, PIXELS = 8 };
    uint8_t mask[PIXELS];
    for (int i = 0; i < ALL; i += ALL / effort(ALL))
        for (int connectivity = 1; connectivity <= 3; ++connectivity) {
            draw_digits(mask, PIXELS, i);
            problem p = labels_problem(3, 2, 2, 2, mask, connectivity);
            leave_out(&p, i % 16);
            p.options.largest = i / 16 % 4;
            const asked how = {.set = set_types[i % 4], .labels = APSIS_I32, .capacity = PIXELS};
            check_components(b, &p, &how);
        }
}

/* ---- Answers written by hand ---- */

static void values_side_by_side(bench *b) {
    const int32_t image[2 * 6] = {-5, -5, 1 << 24, 0, 7, 7, /**/ 1 << 24, -5, -5, 7, 0, -5};
    static const int32_t four[12] = {1, 1, 2, 0, 3, 3, 4, 1, 1, 5, 0, 6};
    static const int32_t eight[12] = {1, 1, 2, 0, 3, 3, 4, 1, 1, 3, 0, 5};
    const int64_t size[3] = {6, 2, 1};
    frame set = frame_open(b, APSIS_I32, 2, size, PACKED), labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&set, image);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_LABELS;
    apsis_component found[6];
    int64_t count;
    int32_t got[12];
    assert_ok(b->ctx, apsis_components(b->ctx, &set.image, &labels.image, found, 6, &count, &options));
    frame_get(&labels, got);
    assert_memory_equal(got, four, sizeof four);
    assert_int_equal(count, 6);
    static const int64_t value[6] = {-5, 1 << 24, 7, 1 << 24, 7, -5};
    for (int i = 0; i < 6; ++i) assert_int_equal(found[i].value, value[i]);
    options.connectivity = 2;
    assert_ok(b->ctx, apsis_components(b->ctx, &set.image, &labels.image, found, 6, &count, &options));
    frame_get(&labels, got);
    assert_memory_equal(got, eight, sizeof eight);
    assert_int_equal(count, 5);
    frame_close(&set);
    frame_close(&labels);
}

/* ---- Random problems of every kind ---- */

static void choose_size(chance *c, problem *p) {
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 11, 16, 17, 31, 32, 33, 47, 63, 64, 65, 97, 127, 128, 129, 211, 257};
    const int64_t most = roll_below(c, 8) ? 30000 : 200000;
    p->ndim = 2 + (int)roll_below(c, 2);
    do
        for (int a = 0; a < 3; ++a) p->size[a] = a < p->ndim ? sizes[roll_below(c, COUNT(sizes))] : 1;
    while (pixels_of(p) > most);
}

static void choose_options(chance *c, problem *p) {
    apsis_options *o = &p->options;
    o->flags = APSIS_LABELS | (p->ndim == 3 && !roll_below(c, 3) ? APSIS_SLICES : 0);
    o->connectivity = (int32_t)roll_below(c, (o->flags & APSIS_SLICES ? 2 : p->ndim) + 1);
    if (roll_below(c, 2)) return;
    if (!roll_below(c, 3)) o->min_area = 1 + roll_below(c, 12);
    if (!roll_below(c, 3)) o->max_area = 1 + roll_below(c, 300);
    if (!roll_below(c, 3)) o->flags |= APSIS_NO_BORDER;
    if (!roll_below(c, 4)) o->flags |= APSIS_NO_INNER;
    if (pixels_of(p) <= 4000 && !roll_below(c, 2)) o->largest = 1 + (int32_t)roll_below(c, roll_below(c, 2) ? 4 : 300);
}

static void random_labels(bench *b) {
    static const apsis_type types[] = {APSIS_I32, APSIS_I64, APSIS_BIT, APSIS_U8, APSIS_I32, 0};
    chance c = {2030};
    for (int i = 0; i < effort(1500); ++i) {
        problem p = new_problem(2, 1, 1, 1, NULL);
        choose_size(&c, &p);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_cells(mask, p.size, &c);
        p.mask = mask;
        choose_options(&c, &p);
        asked how = {.set = set_types[roll_below(&c, 4)], .labels = types[roll_below(&c, COUNT(types))]};
        if (roll_below(&c, 2)) how.set_layout = (unsigned)roll_below(&c, LAYOUTS);
        if (roll_below(&c, 2)) how.labels_layout = (unsigned)roll_below(&c, LAYOUTS);
        how.capacity = roll_below(&c, 2) ? -1 : roll_below(&c, 2) ? roll_below(&c, 20) : 200000;
        how.no_count = !roll_below(&c, 4);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_components(b, &p, &how);
        free(mask);
    }
}

/** Rows that begin where several labels can be stored at once, and end anywhere. */
static void every_width_of_pitched_rows(bench *b) {
    chance c = {2031};
    for (int64_t w = 1; w <= 140; w += w == 70 ? 55 : 1)
        for (int ndim = 2; ndim <= 3; ++ndim) {
            problem p = new_problem(ndim, w, 5, ndim == 3 ? 3 : 1, NULL);
            uint8_t *mask = must_alloc((size_t)pixels_of(&p));
            fill_cells(mask, p.size, &c);
            p.mask = mask;
            p.options.flags = APSIS_LABELS;
            p.options.connectivity = 1 + (int)(w % ndim);
            const asked how = {APSIS_U8, (w + ndim) % 2 ? APSIS_I64 : APSIS_I32, .labels_layout = PITCHED, .capacity = -1};
            check_components(b, &p, &how);
            free(mask);
        }
}

static void long_and_thin(bench *b) {
    static const int64_t sizes[][3] = {{50000, 1, 1}, {1, 50000, 1},  {1, 1, 20000}, {20000, 3, 1},
                                       {4, 3, 9000},  {140000, 3, 1}, {2, 2, 20000}};
    chance c = {12};
    for (int i = 0; i < COUNT(sizes); ++i) {
        problem p = labels_problem(sizes[i][2] > 1 ? 3 : 2, sizes[i][0], sizes[i][1], sizes[i][2], NULL, 1 + i % 2);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_cells(mask, p.size, &c);
        p.mask = mask;
        const asked how = {.set = set_types[i % 4], .labels = APSIS_I32, .capacity = pixels_of(&p)};
        check_components(b, &p, &how);
        free(mask);
    }
}

/* ---- Laws ---- */

enum { W = 777, H = 391 };

static uint8_t *some_values(uint64_t seed) {
    const int64_t size[3] = {W, H, 1};
    chance c = {seed};
    uint8_t *mask = must_alloc(W * H);
    fill_cells(mask, size, &c);
    return mask;
}

static pieces pieces_of(bench *b, const problem *p, apsis_type set) {
    const asked how = {.set = set, .labels = APSIS_I32, .capacity = W * H};
    return run_components(b, p, &how);
}

static void assert_same(const pieces *one, const pieces *other, bool with_values) {
    assert_int_equal(one->count, other->count);
    assert_memory_equal(one->labels, other->labels, W * H * sizeof(int32_t));
    for (int64_t k = 0; k < one->count; ++k) {
        apsis_component a = one->component[k], c = other->component[k];
        if (!with_values) a.value = c.value = 0;
        assert_memory_equal(&a, &c, sizeof a);
    }
}

/** Other values for the same pixels change nothing but the values. */
static void permuting_values(bench *b) {
    for (uint64_t seed = 1; seed <= (uint64_t)effort(6); ++seed) {
        uint8_t *mask = some_values(seed), *permuted = must_alloc(W * H);
        for (int64_t i = 0; i < W * H; ++i) permuted[i] = mask[i] ? (uint8_t)(mask[i] * 77) : 0; /* odd: a permutation */
        problem p = labels_problem(2, W, H, 1, mask, 1 + (int)(seed % 2)), q = p;
        q.mask = permuted;
        pieces one = pieces_of(b, &p, APSIS_U16), other = pieces_of(b, &q, set_types[seed % 4]);
        assert_same(&one, &other, false);
        free_pieces(&one);
        free_pieces(&other);
        free(mask);
        free(permuted);
    }
}

/** A set is a label image of one value; of bits too. */
static void one_value_is_a_set(bench *b) {
    for (uint64_t seed = 1; seed <= (uint64_t)effort(4); ++seed) {
        uint8_t *mask = some_values(seed);
        for (int64_t i = 0; i < W * H; ++i) mask[i] %= 2;
        problem p = labels_problem(2, W, H, 1, mask, 1 + (int)(seed % 2)), q = p;
        q.options.flags = 0;
        pieces want = pieces_of(b, &q, APSIS_U8);
        static const apsis_type types[] = {APSIS_BIT, APSIS_U8, APSIS_U16};
        for (int t = 0; t < COUNT(types); ++t) {
            pieces got = pieces_of(b, &p, types[t]);
            assert_same(&got, &want, true);
            free_pieces(&got);
        }
        free_pieces(&want);
        free(mask);
    }
}

/** Each value on its own has the components that it has among the others. */
static void values_one_by_one(bench *b) {
    uint8_t *mask = some_values(3), *alone = must_alloc(W * H);
    for (int64_t i = 0; i < W * H; ++i) mask[i] %= 4;
    problem p = labels_problem(2, W, H, 1, mask, 2), q = p;
    q.mask = alone;
    pieces all = pieces_of(b, &p, APSIS_U8);
    int64_t count = 0;
    for (int value = 1; value < 4; ++value) {
        for (int64_t i = 0; i < W * H; ++i) alone[i] = mask[i] == value ? (uint8_t)value : 0;
        pieces some = pieces_of(b, &q, APSIS_U8);
        int64_t k = 0;
        for (int64_t i = 0; i < all.count; ++i)
            if (all.component[i].value == value)
                assert_memory_equal(&all.component[i], &some.component[k++], sizeof(apsis_component));
        assert_int_equal(k, some.count);
        count += some.count;
        free_pieces(&some);
    }
    assert_int_equal(count, all.count);
    free_pieces(&all);
    free(mask);
    free(alone);
}

/* ---- What is refused ---- */

static void what_labels_do_not_go_with(bench *b) {
    const int64_t size[3] = {8, 8, 1};
    frame set = frame_open(b, APSIS_U16, 2, size, PACKED), real = frame_open(b, APSIS_F64, 2, size, PACKED),
          labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_LABELS | APSIS_COMPLEMENT;
    assert_fails(b->ctx, apsis_components(b->ctx, &set.image, &labels.image, NULL, 0, NULL, &options), APSIS_ERROR_ARGUMENT,
                 "APSIS_LABELS|APSIS_COMPLEMENT");
    options.flags = APSIS_LABELS;
    assert_fails(b->ctx, apsis_components(b->ctx, &real.image, &labels.image, NULL, 0, NULL, &options), APSIS_ERROR_ARGUMENT,
                 "set|type|APSIS_F64");
    options.method = APSIS_TILE_FILL;
    assert_fails(b->ctx, apsis_components(b->ctx, &set.image, &labels.image, NULL, 0, NULL, &options), APSIS_ERROR_UNSUPPORTED,
                 "APSIS_TILE_FILL|set");
    frame_close(&set);
    frame_close(&real);
    frame_close(&labels);
}

/** Every pixel may be a component. */
static void labels_that_might_not_fit(bench *b) {
    apsis_image set = {.type = APSIS_U8, .ndim = 3, .size = {1 << 12, 1 << 12, 1 << 7}}, labels = set;
    labels.type = APSIS_I32;
    apsis_options options = APSIS_OPTIONS_INIT;
    const apsis_image *const images[] = {&set, &labels};
    size_t bytes;
    options.flags = APSIS_LABELS;
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_COMPONENTS, images, 2, &options, &bytes), APSIS_ERROR_RANGE,
                 "labels|APSIS_I32|2147483648");
    options.flags = 0;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_COMPONENTS, images, 2, &options, &bytes));
}

static const test_case cases[] = {
    TEST(every_3x3_image, EVERYWHERE),
    TEST(every_2x2x2_volume, EVERYWHERE),
    TEST(values_side_by_side, EVERYWHERE),
    TEST(random_labels, EVERYWHERE),
    TEST(long_and_thin, EVERYWHERE),
    TEST(permuting_values, EVERYWHERE),
    TEST(every_width_of_pitched_rows, EVERYWHERE),
    TEST(one_value_is_a_set, EVERYWHERE),
    TEST(values_one_by_one, EVERYWHERE),
    TEST(what_labels_do_not_go_with, EVERYWHERE),
    TEST(labels_that_might_not_fit, ON_CPU),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
