/* Slabs of label images, and with what lies outside the image as background: however the image is cut, the bytes are those of
 * apsis_distance, or apsis_voronoi, of all of it. */
#include "run_slabs.h"

static const apsis_type label_types[] = {APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64, APSIS_BIT};

/** One of the maps of slabs that have values, or a border. */
static given choose_map(chance *c, problem *p) {
    static const unsigned flags[] = {APSIS_LABELS,
                                     APSIS_LABELS,
                                     APSIS_LABELS,
                                     APSIS_LABELS | APSIS_BORDER,
                                     APSIS_LABELS | APSIS_BORDER,
                                     APSIS_SIGNED | APSIS_BORDER,
                                     APSIS_SIGNED | APSIS_BORDER | APSIS_COMPLEMENT,
                                     APSIS_BORDER | APSIS_COMPLEMENT};
    given how = {.set = label_types[roll_below(c, COUNT(label_types))]};
    p->options.flags = flags[roll_below(c, COUNT(flags))];
    p->options.metric = roll_below(c, 2) ? APSIS_EUCLIDEAN : APSIS_CITY_BLOCK;
    p->cells = !(p->options.flags & APSIS_BORDER) && roll_below(c, 2);
    how.nearest = p->cells || roll_below(c, 3) ? APSIS_I64 : (apsis_type)0;
    if (how.nearest && how.set != APSIS_I64 && roll_below(c, 2)) how.nearest = APSIS_I32;
    if (!p->cells) how.distance = roll_below(c, 2) ? APSIS_F32 : APSIS_F64;
    if (!p->cells && !(p->options.flags & APSIS_LABELS) && roll_below(c, 4) == 0)
        p->options.metric = APSIS_CHESSBOARD, how.nearest = (apsis_type)0;
    if (roll_below(c, 2)) draw_periodic(p, c);
    return how;
}

/** Runs along the columns, of few values, some longer than slabs; columns alone or many of one value side by side, so that the
 *  nearest pixel of another value may lie beyond a cut of other columns. */
static void fill_labels(uint8_t *mask, const int64_t size[3], int ndim, chance *c) {
    const int64_t columns = ndim == 3 ? size[0] * size[1] : size[0], rows = size[ndim - 1];
    const int values = 2 + (int)roll_below(c, 3), one_in = 1 + (int)roll_below(c, 12);
    const int64_t wide = roll_below(c, 2) ? 1 : 1 + roll_below(c, 150);
    for (int64_t i = 0; i < columns; ++i) mask[i] = i % wide ? mask[i - 1] : (uint8_t)roll_below(c, values);
    for (int64_t i = columns; i < columns * rows; ++i)
        mask[i] = i % wide ? mask[i - 1] : roll_below(c, one_in) ? mask[i - columns] : (uint8_t)roll_below(c, values);
}

static void every_cut_of_every_2x4(bench *b) {
    chance c = {51};
    uint8_t mask[8];
    for (int i = 0; i < 6561; i += b->place == ON_CPU ? 6561 / effort(6561) : 6561 / effort(6561) * 11) {
        for (int k = 0, number = i; k < 8; ++k, number /= 3) mask[k] = (uint8_t)(number % 3);
        problem p = new_problem(2, 2, 4, 1, mask);
        const given how = choose_map(&c, &p);
        check_every_cut(&b, 1, &p, &how, &c);
    }
}

/** Every column of up to 6 pixels and 3 values that closes on itself, and every pair of columns of 3. */
static void every_cut_of_every_ring(bench *b) {
    static const int64_t sizes[][2] = {{1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 6}, {2, 3}};
    chance c = {55};
    for (int s = 0; s < COUNT(sizes); ++s) {
        const int pixels = (int)(sizes[s][0] * sizes[s][1]);
        int images = 1;
        for (int k = 0; k < pixels; ++k) images *= 3;
        for (int i = 0; i < images; i += b->place == ON_CPU ? 1 : 1 + images / 40) {
            uint8_t mask[6];
            for (int k = 0, number = i; k < pixels; ++k, number /= 3) mask[k] = (uint8_t)(number % 3);
            for (int map = 0; map < 3; ++map) {
                problem p = new_problem(2, sizes[s][0], sizes[s][1], 1, mask);
                p.options.flags = APSIS_LABELS | APSIS_PERIODIC_Y | (map == 1 ? APSIS_BORDER : 0);
                if (sizes[s][0] > 1 && roll_below(&c, 2)) p.options.flags |= APSIS_PERIODIC_X;
                p.cells = map == 2;
                const given how = {.set = APSIS_U8, .distance = p.cells ? (apsis_type)0 : APSIS_F32, .nearest = APSIS_I32};
                check_every_cut(&b, 1, &p, &how, &c);
            }
        }
    }
}

static void every_cut_of_small_ones(bench *b) {
    static const int64_t sizes[][3] = {{1, 9, 1}, {7, 8, 1}, {40, 7, 1}, {2, 3, 6}, {5, 2, 7}};
    chance c = {52};
    for (int i = 0; i < effort(b->place == ON_CPU ? 200 : 60); ++i) {
        const int64_t *size = sizes[i % COUNT(sizes)];
        uint8_t mask[512];
        const int ndim = size[2] > 1 ? 3 : 2;
        fill_labels(mask, size, ndim, &c);
        problem p = new_problem(ndim, size[0], size[1], size[2], mask);
        const given how = choose_map(&c, &p);
        check_every_cut(&b, 1, &p, &how, &c);
    }
}

/** Larger ones, cut anywhere; slabs without rows among them. */
static void random_cuts(bench *b) {
    static const int64_t sizes[] = {1, 2, 3, 5, 8, 13, 31, 32, 33, 64, 65, 100, 127, 200, 513};
    static const double limits[] = {0, 0, 0, 1, 2.5, 17};
    chance c = {53};
    for (int i = 0; i < effort(b->place == ON_CPU ? 1200 : 200); ++i) {
        problem p = new_problem(2 + (roll_below(&c, 3) == 0), 1, 1, 1, NULL);
        do
            for (int a = 0; a < p.ndim; ++a) p.size[a] = sizes[roll_below(&c, COUNT(sizes))];
        while (pixels_of(&p) > 20000);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_labels(mask, p.size, p.ndim, &c);
        p.mask = mask;
        given how = choose_map(&c, &p);
        p.options.max_distance = limits[roll_below(&c, COUNT(limits))];
        if (roll_below(&c, 3) == 0 && p.options.metric != APSIS_CHESSBOARD) set_spacing(&p, 3, 2, 5, 0.5);
        if (roll_below(&c, 3) == 0) how.set_layout = (unsigned)roll_below(&c, LAYOUTS);
        if (roll_below(&c, 3) == 0) how.distance_layout = (unsigned)roll_below(&c, LAYOUTS);
        if (roll_below(&c, 3) == 0) how.nearest_layout = (unsigned)roll_below(&c, LAYOUTS);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_random_cuts(b, &p, &how, &c);
        free(mask);
    }
}

/** Large cells with slanting walls: the nearest pixel of another value is often beyond a cut, in another column.  Spacings are
 *  those of which near searches take whole images, but not slabs. */
static void cells_across_cuts(bench *b) {
    static const int64_t sizes[][3] = {{90, 70, 1}, {40, 24, 33}, {33, 40, 12}};
    static const int64_t spacings[][3] = {{1, 1, 1}, {3, 4, 4}, {1, 1, 2}};
    chance c = {56};
    for (int i = 0; i < effort(b->place == ON_CPU ? 90 : 27); ++i) {
        const int64_t *const size = sizes[i % COUNT(sizes)], *const spacing = spacings[i / 3 % COUNT(spacings)];
        const int ndim = size[2] > 1 ? 3 : 2;
        problem p = new_problem(ndim, size[0], size[1], size[2], NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        const int64_t wide = 9 + roll_below(&c, 20), high = 9 + roll_below(&c, 20), slant = 1 + roll_below(&c, 3);
        for (int64_t at = 0; at < pixels_of(&p); ++at) {
            const int64_t x = at % size[0], y = at / size[0] % size[1], z = at / size[0] / size[1];
            mask[at] = (uint8_t)(1 + ((x + slant * (y + z)) / wide + (y + slant * z) / high * 5) % 7);
        }
        p.mask = mask;
        p.options.flags = APSIS_LABELS;
        if (i % 4 == 3) draw_periodic(&p, &c);
        if (ndim == 3 || i / 3 % 3 == 0) set_spacing(&p, spacing[0], spacing[1], spacing[2], 0.1);
        const given how = {.set = APSIS_U8, .distance = APSIS_F32, .nearest = i % 5 == 4 ? APSIS_I32 : (apsis_type)0};
        check_random_cuts(b, &p, &how, &c);
        free(mask);
    }
}

/* ---- Slabs of vast images, on a device and on the CPU ---- */

/** Runs beyond a slab, drawn: of labels that its own rows have, some of them far away. */
static void draw_runs(chance *c, int64_t columns, bool is_above, int64_t beside, int64_t rows, int64_t *told) {
    const int64_t none = is_above ? -1 : INT64_MAX, away = is_above ? -1 : 1;
    fill(told, 3 * columns, none);
    for (int64_t i = 0; i < columns && rows > 0; ++i) {
        if (roll_below(c, 4) == 0) continue;
        const int64_t from = roll_below(c, 2) ? 0 : roll_below(c, rows), length = 1 + roll_below(c, rows - from);
        told[i] = beside + away * from, told[columns + i] = beside + away * (from + length);
        told[2 * columns + i] = 1 + roll_below(c, 3);
    }
}

static void vast_images(bench *b) {
    static const int64_t sizes[][3] = {{40, 33, 1}, {300, 70, 1}, {130, 100, 1}, {5, 600, 1}, {20, 30, 40}, {9, 65, 33}};
    static const int64_t extents[] = {0, 3, 100, 3000, 60000, 70000, 4000000};
    bench cpu = open_cpu();
    chance c = {54};
    for (int i = 0; i < effort(200); ++i) {
        const int64_t *size = sizes[i % COUNT(sizes)];
        const int ndim = size[2] > 1 ? 3 : 2;
        problem p = new_problem(ndim, size[0], size[1], size[2], NULL);
        const int64_t columns = columns_of(&p), most = extents[roll_below(&c, COUNT(extents))];
        const int64_t start = roll_below(&c, most + 1), end = start + rows_of(&p), extent = most + rows_of(&p);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        int64_t *above = must_alloc((size_t)columns * 3 * sizeof *above),
                *below = must_alloc((size_t)columns * 3 * sizeof *below);
        fill_labels(mask, p.size, ndim, &c);
        draw_runs(&c, columns, true, start - 1, start, above);
        draw_runs(&c, columns, false, end, extent - end, below);
        p.mask = mask;
        given how = choose_map(&c, &p);
        p.options.flags |= APSIS_LABELS, p.options.flags &= ~(uint32_t)(APSIS_SIGNED | APSIS_COMPLEMENT);
        if (p.options.metric == APSIS_CHESSBOARD) p.options.metric = APSIS_CITY_BLOCK;
        if (how.nearest) how.nearest = APSIS_I64;
        const apsis_slab slab = {.start = start, .extent = extent, .above = above, .below = below};
        outputs want = run_slab(&cpu, &p, &how, &slab, false), got = run_slab(b, &p, &how, &slab, false);
        const size_t pixels = (size_t)pixels_of(&p);
        if (how.distance) assert_memory_equal(got.distance, want.distance, pixels * type_size(how.distance));
        if (how.nearest) assert_memory_equal(got.nearest, want.nearest, pixels * type_size(how.nearest));
        free_outputs(&want);
        free_outputs(&got);
        free(mask);
        free(above);
        free(below);
    }
    apsis_destroy(cpu.ctx);
}

/* ---- By hand ---- */

enum { W = 4, H = 5 };

static const uint8_t by_hand[W * H] = {0, 7, 0, 9,  //
                                       7, 7, 0, 9,  //
                                       7, 8, 0, 9,  //
                                       0, 8, 0, 9,  //
                                       5, 8, 0, 9};

static void a_summary(bench *b) {
    static const int64_t none = INT64_MAX;
    const int64_t first[3 * W] = {11, 10, none, 10, 13, 12, none, 15, 7, 7, none, 9};
    static const int64_t last[3 * W] = {14, 14, -1, 14, 13, 11, -1, 9, 5, 8, -1, 9};
    const problem p = new_problem(2, W, H, 1, by_hand);
    frame set = frame_open(b, APSIS_U8, 2, p.size, PACKED);
    frame_put(&set, by_hand);
    int64_t got_first[3 * W], got_last[3 * W];
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_LABELS;
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &set.image, 10, got_first, got_last, &options));
    assert_memory_equal(got_first, first, sizeof first);
    assert_memory_equal(got_last, last, sizeof last);
    frame_close(&set);
    const apsis_image no_rows = {.type = APSIS_U16, .ndim = 2, .size = {W, 0}};
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &no_rows, 10, got_first, got_last, &options));
    for (int i = 0; i < 3 * W; ++i) assert_true(got_first[i] == INT64_MAX && got_last[i] == -1);
}

static void merging(bench *b) {
    (void)b;
    /* A run that goes on; one that does not, though it touches the next one; one that is farther away; none. */
    const int64_t first[12] = {5, 5, 5, INT64_MAX, 8, 8, 6, INT64_MAX, 3, 3, 3, INT64_MAX};
    const int64_t lower[12] = {8, 8, 8, 9, 11, 10, 12, 12, 3, 4, 3, 6};
    int64_t all[12];
    fill(all, 12, INT64_MAX);
    apsis_slab_merge_labels(4, lower, NULL, all, NULL);
    assert_memory_equal(all, lower, sizeof lower);
    apsis_slab_merge_labels(4, first, NULL, all, NULL);
    static const int64_t want[12] = {5, 5, 5, 9, 11, 8, 6, 12, 3, 3, 3, 6};
    assert_memory_equal(all, want, sizeof want);
    apsis_slab_merge_labels(4, NULL, NULL, NULL, NULL);
    apsis_slab_merge_labels(0, first, first, all, all);
    assert_memory_equal(all, want, sizeof want);
}

/** Above slabs of an image of 10 rows, and below. */
static void closing(bench *b) {
    (void)b;
    /* A run that goes on behind the seam; one that ends there; one that does not reach it; one all around; none before the
     * seam, and one behind it that goes up to the first row; the same all around; none at all. */
    const int64_t last[21] = {9, 9, 9, 9, 8, 9, -1, 6, 4, 6, -1, -1, -1, -1, 5, 5, 5, 5, 5, 5, -1};
    int64_t above[21] = {2, 3, 3, 3, -1, -1, -1, -1, -1, 1, -1, -1, -1, -1, 5, 6, 5, 5, -1, -1, -1};
    static const int64_t want_above[21] = {2, 3, 3, 3, 8, 9, -1, 6, 9, 1, -1, 9, -1, -1, 5, 6, 5, 5, 5, 5, -1};
    int64_t first[21], below[21], want_below[21];
    for (int i = 0; i < 21; ++i) { /* upside down */
        const bool is_row = i < 14;
        first[i] = is_row ? i < 7 && last[i] < 0 ? INT64_MAX : 9 - last[i] : last[i];
        below[i] = is_row ? i < 7 && above[i] < 0 ? INT64_MAX : 9 - above[i] : above[i];
        want_below[i] = is_row ? i < 7 && want_above[i] < 0 ? INT64_MAX : 9 - want_above[i] : want_above[i];
    }
    apsis_slab_close_labels(7, 10, first, last, below, above);
    assert_memory_equal(above, want_above, sizeof above);
    for (int row = 0; row < 3; ++row)
        for (int i = 0; i < 6; ++i) assert_int_equal(below[7 * row + i], want_below[7 * row + i]);
    assert_true(above[6] == -1 && below[6] == INT64_MAX);
    apsis_slab_close_labels(7, 10, NULL, NULL, below, above);
    apsis_slab_close_labels(0, 10, first, last, below, above);
    assert_int_equal(above[4], 8);
}

/* ---- What is refused ---- */

static void refused(bench *b) {
    static uint8_t mask[W * H];
    int64_t above[3 * W], below[3 * W];
    int64_t cells[W * H];
    float length[W * H];
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image distance = {.data = length, .type = APSIS_F32, .ndim = 2, .size = {W, H}};
    const apsis_image map = {.data = cells, .type = APSIS_I64, .ndim = 2, .size = {W, H}};
    const apsis_slab slab = {.start = 10, .extent = 30, .above = above, .below = below};
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_LABELS;
#define RESET() (fill(above, 3 * W, -1), fill(below, 3 * W, INT64_MAX))
#define REFUSED(change, status, words)                                                                            \
    do {                                                                                                          \
        RESET();                                                                                                  \
        change;                                                                                                   \
        assert_fails(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, &distance, NULL, &options), status, words); \
        assert_fails(b->ctx, apsis_slab_voronoi(b->ctx, &set, &slab, &map, &options), status, words);             \
    } while (0)
    REFUSED(above[1] = 10, APSIS_ERROR_ARGUMENT, "above[1] is 10|0 to 9");
    REFUSED((above[1] = 5, above[W + 1] = 5, above[2 * W + 1] = 3), APSIS_ERROR_ARGUMENT, "above[5] is 5|row 5|-1 to 4");
    REFUSED((above[1] = 5, above[W + 1] = -1, above[2 * W + 1] = 0), APSIS_ERROR_ARGUMENT, "above[9] is 0|label in row 5");
    REFUSED((below[0] = 15, below[W] = 31, below[2 * W] = 1), APSIS_ERROR_ARGUMENT, "below[4] is 31|row 15|16 to 30");
    REFUSED(options.flags = APSIS_LABELS | APSIS_COMPLEMENT, APSIS_ERROR_ARGUMENT, "no complement");
    REFUSED(options.flags = APSIS_LABELS | APSIS_SLICES, APSIS_ERROR_UNSUPPORTED, "APSIS_SLICES");
    REFUSED((options.flags = APSIS_LABELS, options.metric = APSIS_CHESSBOARD), APSIS_ERROR_UNSUPPORTED, "APSIS_CHESSBOARD");
    options.metric = APSIS_EUCLIDEAN;
    REFUSED(options.flags = APSIS_LABELS | APSIS_PERIODIC_Z, APSIS_ERROR_ARGUMENT, "APSIS_PERIODIC_Z|ndim is 2");
    options.flags = APSIS_LABELS | APSIS_PERIODIC_Y;
    REFUSED(above[1] = 30, APSIS_ERROR_ARGUMENT, "above[1] is 30|0 to 29");
    REFUSED((above[1] = 5, above[W + 1] = 30, above[2 * W + 1] = 3), APSIS_ERROR_ARGUMENT, "above[5] is 30|row 5|-1 to 29");
    REFUSED((below[0] = 15, below[W] = -1, below[2 * W] = 1), APSIS_ERROR_ARGUMENT, "below[4] is -1|row 15|0 to 30");
    options.flags = APSIS_LABELS;
    RESET();
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &set, 10, above, NULL, &options));
    assert_fails(b->ctx, apsis_slab_summary(b->ctx, NULL, 10, above, NULL, &options), APSIS_ERROR_ARGUMENT, "set is NULL");
    RESET();
    assert_fails(b->ctx, apsis_slab_distance(b->ctx, NULL, &slab, &distance, NULL, &options), APSIS_ERROR_ARGUMENT,
                 "set is NULL");
    assert_fails(b->ctx, apsis_slab_voronoi(b->ctx, &set, &slab, NULL, &options), APSIS_ERROR_ARGUMENT, "cells is NULL");
    options.flags = APSIS_LABELS | APSIS_CONNECTED;
    assert_fails(b->ctx, apsis_slab_voronoi(b->ctx, &set, &slab, &map, &options), APSIS_ERROR_UNSUPPORTED, "complete maps");
    options.flags = APSIS_LABELS | APSIS_BORDER;
    assert_fails(b->ctx, apsis_slab_voronoi(b->ctx, &set, &slab, &map, &options), APSIS_ERROR_ARGUMENT, "APSIS_BORDER");
    options.flags = APSIS_SIGNED;
    assert_fails(b->ctx, apsis_slab_voronoi(b->ctx, &set, &slab, &map, &options), APSIS_ERROR_ARGUMENT, "APSIS_SIGNED|no sign");
    options.flags = APSIS_LABELS;
    const apsis_image wide = {.data = cells, .type = APSIS_I64, .ndim = 2, .size = {1, H}};
    const apsis_image narrow = {.data = length, .type = APSIS_I32, .ndim = 2, .size = {1, H}};
    assert_fails(b->ctx, apsis_slab_voronoi(b->ctx, &wide, &slab, &narrow, &options), APSIS_ERROR_RANGE, "cells|APSIS_I64");
#undef REFUSED
#undef RESET
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_cut_of_every_2x4, EVERYWHERE),
                                      TEST(every_cut_of_every_ring, EVERYWHERE),
                                      TEST(every_cut_of_small_ones, EVERYWHERE),
                                      TEST(random_cuts, EVERYWHERE),
                                      TEST(cells_across_cuts, EVERYWHERE),
                                      TEST(vast_images, WITH_DEVICE),
                                      TEST(a_summary, EVERYWHERE),
                                      TEST(merging, EVERYWHERE),
                                      TEST(closing, EVERYWHERE),
                                      TEST(refused, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
