/* Slabs: however an image is cut, the bytes are those of apsis_distance of all of it. */
#include "run_distance.h"

#include <math.h>

/* ---- An image cut into slabs, each computed with what the others tell of themselves ---- */

enum { MOST_SLABS = 12 };

/** Slab k has the rows from start[k] to start[k + 1]: planes in 3-D. */
typedef struct cut {
    int slabs;
    int64_t start[MOST_SLABS + 1];
} cut;

static int64_t rows_of(const problem *p) { return p->size[p->ndim - 1]; }
static int64_t columns_of(const problem *p) { return p->size[0] * (p->ndim == 3 ? p->size[1] : 1); }

/** A packed output for every pixel of the image, which slabs fill in; NULL for one that is left out. */
static uint8_t *take_output(const problem *p, apsis_type type) {
    return type ? must_alloc((size_t)(pixels_of(p) + 8) * type_size(type)) : NULL;
}

static frame open_slab(bench *b, const problem *p, const cut *at, int k, apsis_type type, unsigned layout) {
    int64_t size[3] = {p->size[0], p->size[1], p->size[2]};
    size[p->ndim - 1] = at->start[k + 1] - at->start[k];
    return frame_open(b, type, p->ndim, size, layout);
}

static frame open_set(bench *b, const problem *p, const given *how, const cut *at, int k) {
    frame set = open_slab(b, p, at, k, how->set, how->set_layout);
    frame_put(&set, p->mask + at->start[k] * columns_of(p));
    return set;
}

/** The rows of one slab, into the outputs of the whole. */
static void run_slab(bench *b, const problem *p, const given *how, const cut *at, int k, const int64_t *above,
                     const int64_t *below, uint8_t *const out[2]) {
    const apsis_type type[2] = {how->distance, how->nearest};
    const unsigned layout[2] = {how->distance_layout, how->nearest_layout};
    const apsis_slab slab = {.start = at->start[k], .extent = rows_of(p), .above = above, .below = below};
    frame set = open_set(b, p, how, at, k), image[2];
    for (int i = 0; i < 2; ++i)
        if (type[i]) image[i] = open_slab(b, p, at, k, type[i], layout[i]);
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set.image, &slab, type[0] ? &image[0].image : NULL,
                                          type[1] ? &image[1].image : NULL, &p->options));
    frame_assert_unchanged(&set);
    frame_close(&set);
    for (int i = 0; i < 2; ++i)
        if (type[i]) {
            frame_get(&image[i], out[i] + (size_t)(slab.start * columns_of(p)) * type_size(type[i]));
            frame_close(&image[i]);
        }
}

static void fill(int64_t *array, int64_t count, int64_t value) {
    for (int64_t i = 0; i < count; ++i) array[i] = value;
}

/** Merges the summaries of slabs [begin, end) in some order: from the left, from the right, or half with half. */
static void merge_some(int64_t columns, int64_t *const first[], int64_t *const last[], int begin, int end, chance *c,
                       int64_t *all_first, int64_t *all_last) {
    if (end - begin > 2 && roll_below(c, 2)) {
        const int middle = (begin + end) / 2;
        merge_some(columns, first, last, middle, end, c, all_first, all_last);
        merge_some(columns, first, last, begin, middle, c, all_first, all_last);
        return;
    }
    const bool backward = roll_below(c, 2);
    for (int i = begin; i < end; ++i) {
        const int k = backward ? begin + end - 1 - i : i;
        apsis_slab_merge(columns, all_first ? first[k] : NULL, all_last ? last[k] : NULL, all_first, all_last);
    }
}

static outputs run_cut(bench *b, const problem *p, const given *how, const cut *at, chance *c) {
    const int64_t columns = columns_of(p);
    int64_t *first[MOST_SLABS], *last[MOST_SLABS];
    int64_t *above = must_alloc((size_t)columns * sizeof *above), *below = must_alloc((size_t)columns * sizeof *below);
    for (int k = 0; k < at->slabs; ++k) {
        frame set = open_set(b, p, how, at, k);
        first[k] = must_alloc((size_t)columns * sizeof *first[k]);
        last[k] = must_alloc((size_t)columns * sizeof *last[k]);
        fill(first[k], columns, -77); /* poison */
        fill(last[k], columns, -77);
        assert_ok(b->ctx, apsis_slab_summary(b->ctx, &set.image, at->start[k], first[k], last[k], &p->options));
        frame_assert_unchanged(&set);
        frame_close(&set);
    }
    uint8_t *const out[2] = {take_output(p, how->distance), take_output(p, how->nearest)};
    for (int k = at->slabs - 1; k >= 0; --k) {
        fill(above, columns, -1);
        fill(below, columns, INT64_MAX);
        merge_some(columns, first, last, 0, k, c, NULL, above);
        merge_some(columns, first, last, k + 1, at->slabs, c, below, NULL);
        run_slab(b, p, how, at, k, k ? above : NULL, k + 1 < at->slabs ? below : NULL, out);
    }
    for (int k = 0; k < at->slabs; ++k) {
        free(first[k]);
        free(last[k]);
    }
    free(above);
    free(below);
    return (outputs){out[0], out[1]};
}

static void check_same(const problem *p, const void *got, const void *want, apsis_type type, const cut *at) {
    if (!type || memcmp(got, want, (size_t)pixels_of(p) * type_size(type)) == 0) return;
    char text[256];
    describe(p, text, sizeof text);
    print_error("%s\n  cut at", text);
    for (int k = 1; k < at->slabs; ++k) print_error(" %lld", (long long)at->start[k]);
    print_error(": type %d is not that of the whole image\n", (int)type);
    fail();
}

static void check_cut(bench *b, const problem *p, const given *how, const outputs *whole, const cut *at, chance *c) {
    outputs out = run_cut(b, p, how, at, c);
    check_same(p, out.distance, whole->distance, how->distance, at);
    check_same(p, out.nearest, whole->nearest, how->nearest, at);
    free_outputs(&out);
}

/* ---- Every cut of small images ---- */

/** Between two rows the image is cut where `cuts` has a bit. */
static cut cut_of(unsigned cuts, int64_t rows) {
    cut at = {.slabs = 0};
    for (int64_t row = 1; row < rows; ++row)
        if (cuts >> (row - 1) & 1) at.start[++at.slabs] = row;
    at.start[++at.slabs] = rows;
    return at;
}

static void every_cut_of(bench *b, const problem *p, const given *how, chance *c) {
    outputs whole = run_distance(b, p, how);
    for (unsigned cuts = 0; cuts < 1u << (rows_of(p) - 1); ++cuts) {
        const cut at = cut_of(cuts, rows_of(p));
        check_cut(b, p, how, &whole, &at, c);
    }
    free_outputs(&whole);
}

static void every_cut_of_every_2x5(bench *b) {
    chance c = {1};
    uint8_t mask[10];
    for (int i = 0; i < 1024; i += 1024 / effort(1024)) {
        for (int k = 0; k < 10; ++k) mask[k] = i >> k & 1;
        problem p = new_problem(2, 2, 5, 1, mask);
        p.options.metric = i & 1 ? APSIS_EUCLIDEAN : APSIS_CITY_BLOCK;
        p.options.flags = i & 2 ? APSIS_COMPLEMENT : 0;
        every_cut_of(b, &p, &PLAIN, &c);
    }
}

static void every_cut_of_small_ones(bench *b) {
    static const int64_t sizes[][3] = {{1, 9, 1}, {7, 8, 1}, {40, 7, 1}, {2, 3, 6}, {5, 2, 7}};
    chance c = {2};
    for (int i = 0; i < effort(40); ++i) {
        const int64_t *size = sizes[i % COUNT(sizes)];
        uint8_t mask[512];
        fill_mask(mask, size, NOISE, i % 3 ? 0.03 : 0.3, &c);
        problem p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], mask);
        every_cut_of(b, &p, &PLAIN, &c);
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
    p->options.metric = roll_below(c, 3) ? APSIS_EUCLIDEAN : APSIS_CITY_BLOCK;
    p->options.flags = roll_below(c, 4) ? 0 : APSIS_COMPLEMENT;
    p->options.max_distance = limits[roll_below(c, COUNT(limits))];
    if (roll_below(c, 3) == 0) set_spacing(p, 3, 2, 5, 0.5);
    if (roll_below(c, 6) == 0) { /* no common measure: rounding goes by the size of the image */
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
    return how;
}

static cut choose_cut(chance *c, int64_t rows) {
    cut at = {.slabs = 1 + (int)roll_below(c, MOST_SLABS)};
    for (int k = 1; k < at.slabs; ++k) at.start[k] = roll_below(c, rows + 1);
    for (int i = 1; i < at.slabs; ++i)
        for (int k = 1; k < at.slabs - 1; ++k)
            if (at.start[k] > at.start[k + 1]) {
                const int64_t larger = at.start[k];
                at.start[k] = at.start[k + 1];
                at.start[k + 1] = larger;
            }
    at.start[at.slabs] = rows;
    return at;
}

static void random_cuts(bench *b) {
    static const double densities[] = {0, 0.0005, 0.01, 0.1, 0.5, 0.99};
    chance c = {2026};
    for (int i = 0; i < effort(1500); ++i) {
        problem p = new_problem(2, 1, 1, 1, NULL);
        choose_problem(&c, &p);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        const int kind = roll_below(&c, 2) ? NOISE : (int)roll_below(&c, MASK_KINDS);
        fill_mask(mask, p.size, kind, densities[roll_below(&c, COUNT(densities))], &c);
        p.mask = mask;
        const given how = choose_images(&c, &p);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        outputs whole = run_distance(b, &p, &how);
        for (int k = 0; k < 3; ++k) {
            const cut at = choose_cut(&c, rows_of(&p));
            check_cut(b, &p, &how, &whole, &at, &c);
        }
        free_outputs(&whole);
        free(mask);
    }
}

/* ---- Answers written by hand ---- */

static void a_summary(bench *b) {
    uint8_t mask[20];
    draw(mask, "#...#", "#.#..", "..#.#", ".....", NULL);
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {5, 4}};
    static const int64_t first[5] = {100, INT64_MAX, 101, INT64_MAX, 100}, last[5] = {101, -1, 102, -1, 102};
    int64_t got_first[5], got_last[5];
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &set, 100, got_first, NULL, NULL));
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &set, 100, NULL, got_last, NULL));
    assert_memory_equal(got_first, first, sizeof first);
    assert_memory_equal(got_last, last, sizeof last);
    const apsis_image no_rows = {.type = APSIS_BIT, .ndim = 2, .size = {5, 0}};
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &no_rows, 7, got_first, got_last, NULL));
    for (int x = 0; x < 5; ++x) {
        assert_true(got_first[x] == INT64_MAX);
        assert_true(got_last[x] == -1);
    }
    const apsis_image no_columns = {.type = APSIS_U8, .ndim = 2, .size = {0, 5}};
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &no_columns, 7, NULL, NULL, NULL));
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &no_columns, 7, got_first, got_last, NULL));
}

static void merging(bench *b) {
    (void)b;
    const int64_t first[3] = {5, INT64_MAX, 7}, last[3] = {5, -1, 9};
    int64_t all_first[4] = {6, 3, INT64_MAX, 1234}, all_last[4] = {4, 3, -1, 1234};
    apsis_slab_merge(3, first, last, all_first, all_last);
    static const int64_t want_first[4] = {5, 3, 7, 1234}, want_last[4] = {5, 3, 9, 1234};
    assert_memory_equal(all_first, want_first, sizeof want_first);
    assert_memory_equal(all_last, want_last, sizeof want_last);
    apsis_slab_merge(3, NULL, NULL, NULL, NULL);
    apsis_slab_merge(0, first, last, all_last, all_first);
    apsis_slab_merge(-1, first, last, all_last, all_first);
    assert_memory_equal(all_first, want_first, sizeof want_first);
}

/** A slab in the middle of the longest image: sites half a thousand million rows away, squares beyond 2^58, indices
 *  beyond 2^31. */
static void far_sites(bench *b) {
    enum { W = 4, H = 2 };
    const int64_t extent = (int64_t)1 << 30, start = (int64_t)1 << 29;
    const int64_t above[W] = {0, -1, -1, -1}, below[W] = {INT64_MAX, INT64_MAX, extent - 1, INT64_MAX};
    const uint8_t none[W * H] = {0};
    int64_t square[W * H], nearest[W * H];
    float length[W * H];
    const apsis_image set = {.data = (void *)(uintptr_t)none, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image squares = {.data = square, .type = APSIS_I64, .ndim = 2, .size = {W, H}};
    const apsis_image lengths = {.data = length, .type = APSIS_F32, .ndim = 2, .size = {W, H}};
    const apsis_image sites = {.data = nearest, .type = APSIS_I64, .ndim = 2, .size = {W, H}};
    const apsis_slab slab = {start, extent, above, below};
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, &squares, &sites, NULL));
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, &lengths, NULL, NULL));
    for (int64_t i = 0; i < W * H; ++i) {
        const int64_t x = i % W, y = start + i / W;
        const int64_t up = x * x + y * y, down = (x - 2) * (x - 2) + (extent - 1 - y) * (extent - 1 - y);
        assert_true(square[i] == (up < down ? up : down));
        assert_true(nearest[i] == (up <= down ? 0 : 2 + W * (extent - 1)));
        assert_true(length[i] == exact_root_float(square[i]));
    }
}

/** Squares within the slab fit 32 bits, those of the image do not. */
static void squares_of_the_image(bench *b) {
    enum { W = 200 };
    const int64_t extent = 70000;
    static const uint8_t none[W] = {0};
    int64_t above[W], square[W];
    fill(above, W, -1);
    above[W - 1] = 3;
    const apsis_image set = {.data = (void *)(uintptr_t)none, .type = APSIS_BIT, .ndim = 2, .size = {W, 1}};
    const apsis_image squares = {.data = square, .type = APSIS_I64, .ndim = 2, .size = {W, 1}};
    const apsis_slab slab = {extent - 1, extent, above, NULL};
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, &squares, NULL, NULL));
    for (int64_t x = 0; x < W; ++x) assert_true(square[x] == (W - 1 - x) * (W - 1 - x) + (extent - 4) * (extent - 4));
}

static void nothing_anywhere(bench *b) {
    enum { W = 3, H = 2 };
    static const uint8_t none[W * H] = {0};
    const int64_t above[W] = {-1, -1, -1}, below[W] = {INT64_MAX, INT64_MAX, INT64_MAX};
    float length[W * H];
    int32_t nearest[W * H];
    const apsis_image set = {.data = (void *)(uintptr_t)none, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image lengths = {.data = length, .type = APSIS_F32, .ndim = 2, .size = {W, H}};
    const apsis_image sites = {.data = nearest, .type = APSIS_I32, .ndim = 2, .size = {W, H}};
    for (int arrays = 0; arrays < 2; ++arrays) {
        const apsis_slab slab = {5, 9, arrays ? above : NULL, arrays ? below : NULL};
        memset(length, POISON, sizeof length);
        memset(nearest, POISON, sizeof nearest);
        assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, &lengths, &sites, NULL));
        for (int i = 0; i < W * H; ++i) {
            assert_true(length[i] == HUGE_VALF);
            assert_int_equal(nearest[i], -1);
        }
    }
    const apsis_image no_rows = {.type = APSIS_U8, .ndim = 2, .size = {W, 0}};
    const apsis_image out = {.type = APSIS_F32, .ndim = 2, .size = {W, 0}};
    const apsis_slab end = {9, 9, above, NULL};
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &no_rows, &end, &out, NULL, NULL));
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &(apsis_slab){0, 2, NULL, NULL}, NULL, NULL, NULL));
}

/* ---- What is refused ---- */

/** A slab of 3 x 2 pixels in an image of 9 rows, which every case below spoils in one place. */
typedef struct call {
    uint8_t mask[6];
    float length[6];
    int64_t first[3], last[3], above[3], below[3];
    apsis_image set, distance;
    apsis_slab slab;
    apsis_options options;
} call;

static call *good_call(void) {
    static call c;
    c = (call){.mask = {1}, .above = {4, -1, 0}, .below = {8, INT64_MAX, 7}, .options = APSIS_OPTIONS_INIT};
    c.set = (apsis_image){.data = c.mask, .type = APSIS_U8, .ndim = 2, .size = {3, 2}};
    c.distance = (apsis_image){.data = c.length, .type = APSIS_F32, .ndim = 2, .size = {3, 2}};
    c.slab = (apsis_slab){5, 9, c.above, c.below};
    return &c;
}

static apsis_status finish(bench *b, const call *c) {
    return apsis_slab_distance(b->ctx, &c->set, &c->slab, &c->distance, NULL, &c->options);
}
static apsis_status summarize(bench *b, call *c) {
    return apsis_slab_summary(b->ctx, &c->set, c->slab.start, c->first, c->last, &c->options);
}

#define REFUSED(spoil, call_of, status, words)              \
    do {                                                    \
        call *c = good_call();                              \
        assert_ok(b->ctx, call_of(b, c));                   \
        spoil;                                              \
        assert_fails(b->ctx, call_of(b, c), status, words); \
    } while (0)

static void bad_places(bench *b) {
    REFUSED(c->slab.start = -1, finish, APSIS_ERROR_ARGUMENT, "start is -1|0 to 7");
    REFUSED(c->slab.start = 8, finish, APSIS_ERROR_ARGUMENT, "start is 8|0 to 7|2 of 9");
    REFUSED(c->slab.start = INT64_MAX, finish, APSIS_ERROR_ARGUMENT, "start");
    REFUSED(c->slab.extent = -1, finish, APSIS_ERROR_ARGUMENT, "extent is -1");
    REFUSED(c->slab.extent = ((int64_t)1 << 30) + 1, finish, APSIS_ERROR_ARGUMENT, "extent|1073741825");
    REFUSED(c->slab.start = -1, summarize, APSIS_ERROR_ARGUMENT, "start is -1");
    REFUSED(c->slab.start = ((int64_t)1 << 30) - 1, summarize, APSIS_ERROR_ARGUMENT, "start");
    REFUSED(c->above[1] = 5, finish, APSIS_ERROR_ARGUMENT, "above[1] is 5|0 to 4|-1");
    REFUSED(c->above[2] = -2, finish, APSIS_ERROR_ARGUMENT, "above[2] is -2");
    REFUSED(c->above[0] = INT64_MAX, finish, APSIS_ERROR_ARGUMENT, "above[0]");
    REFUSED(c->below[0] = 6, finish, APSIS_ERROR_ARGUMENT, "below[0] is 6|7 to 8");
    REFUSED(c->below[2] = 9, finish, APSIS_ERROR_ARGUMENT, "below[2] is 9");
    REFUSED(c->below[2] = -1, finish, APSIS_ERROR_ARGUMENT, "below[2] is -1");
}

static void bad_images(bench *b) {
    const call *good = good_call();
    assert_fails(b->ctx, apsis_slab_distance(b->ctx, NULL, &good->slab, NULL, NULL, NULL), APSIS_ERROR_ARGUMENT, "set|NULL");
    assert_fails(b->ctx, apsis_slab_distance(b->ctx, &good->set, NULL, NULL, NULL, NULL), APSIS_ERROR_ARGUMENT, "slab|NULL");
    assert_fails(b->ctx, apsis_slab_summary(b->ctx, NULL, 0, NULL, NULL, NULL), APSIS_ERROR_ARGUMENT, "set|NULL");
    assert_int_equal(apsis_slab_distance(NULL, &good->set, &good->slab, NULL, NULL, NULL), APSIS_ERROR_ARGUMENT);
    assert_int_equal(apsis_slab_summary(NULL, &good->set, 0, NULL, NULL, NULL), APSIS_ERROR_ARGUMENT);
    REFUSED(c->set.type = APSIS_F32, finish, APSIS_ERROR_ARGUMENT, "set|APSIS_F32");
    REFUSED(c->set.type = APSIS_F32, summarize, APSIS_ERROR_ARGUMENT, "set|APSIS_F32");
    REFUSED(c->set.data = NULL, summarize, APSIS_ERROR_ARGUMENT, "set|data");
    REFUSED(c->distance.size[1] = 1, finish, APSIS_ERROR_ARGUMENT, "distance|size");
    REFUSED(c->distance.data = c->mask, finish, APSIS_ERROR_ARGUMENT, "set|distance");
    REFUSED(c->set.memory = APSIS_DEVICE, summarize, APSIS_ERROR_ARGUMENT, "set|APSIS_DEVICE");
}

static void bad_options(bench *b) {
    REFUSED(c->options.flags = APSIS_SIGNED, finish, APSIS_ERROR_UNSUPPORTED, "sign");
    REFUSED(c->options.flags = APSIS_SLICES, finish, APSIS_ERROR_UNSUPPORTED, "slices");
    REFUSED(c->options.flags = APSIS_SIGNED, summarize, APSIS_ERROR_UNSUPPORTED, "sign");
    REFUSED(c->options.flags = APSIS_CONNECTED, finish, APSIS_ERROR_ARGUMENT, "cells");
    REFUSED(c->options.flags = 1u << 30, summarize, APSIS_ERROR_ARGUMENT, "flags");
    REFUSED(c->options.metric = APSIS_CHESSBOARD, finish, APSIS_ERROR_UNSUPPORTED, "metric");
    REFUSED(c->options.metric = APSIS_CHAMFER, finish, APSIS_ERROR_UNSUPPORTED, "APSIS_CHAMFER");
    REFUSED(c->options.method = APSIS_SWEEP, finish, APSIS_ERROR_UNSUPPORTED, "APSIS_SWEEP");
    REFUSED(c->options.spacing[0] = -1, finish, APSIS_ERROR_ARGUMENT, "spacing");
}

/** Whether a type is too small goes by the image, not by the slab. */
static void too_small_types(bench *b) {
    static int32_t out[6];
    call *c = good_call();
    const apsis_image small = {.data = out, .type = APSIS_I32, .ndim = 2, .size = {3, 2}};
    const apsis_slab long_slab = {5, 46343, NULL, NULL}, vast_slab = {5, (int64_t)1 << 30, NULL, NULL};
    assert_fails(b->ctx, apsis_slab_distance(b->ctx, &c->set, &long_slab, &small, NULL, NULL), APSIS_ERROR_RANGE, "distance");
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &c->set, &long_slab, NULL, &small, NULL));
    assert_fails(b->ctx, apsis_slab_distance(b->ctx, &c->set, &vast_slab, NULL, &small, NULL), APSIS_ERROR_RANGE,
                 "nearest|APSIS_I32|3221225471");
}

/* ---- Around the call ---- */

static void the_scratch_memory(bench *b) {
    enum { W = 300, H = 100 };
    chance c = {5};
    uint8_t *mask = must_alloc(W * H);
    fill_mask(mask, (const int64_t[]){W, H, 1}, NOISE, 0.01, &c);
    double *length = must_alloc(W * H * sizeof *length);
    int64_t *sites = must_alloc(W * H * sizeof *sites), first[W], last[W];
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image distance = {.data = length, .type = APSIS_F64, .ndim = 2, .size = {W, H}};
    const apsis_image nearest = {.data = sites, .type = APSIS_I64, .ndim = 2, .size = {W, H}};
    const apsis_image *images[3] = {&set, &distance, &nearest};
    const apsis_slab slab = {(int64_t)1 << 29, (int64_t)1 << 30, NULL, NULL}; /* 64-bit costs, where a slab alone has 32 */
    size_t bytes;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &bytes));
    apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {2 * (int64_t)bytes, 1}};
    assert_ok(b->ctx, apsis_alloc(b->ctx, APSIS_HOST, &memory));
    assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, 2 * bytes));
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &set, slab.start, first, last, NULL));
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, &distance, &nearest, NULL));
    assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
    apsis_free(b->ctx, &memory);
    free(mask);
    free(length);
    free(sites);
}

static int stop(void *calls, double done) {
    assert_true(done >= 0 && done <= 1);
    ++*(int *)calls;
    return 1;
}

static void cancelling(bench *b) {
    int calls = 0;
    call *c = good_call();
    assert_ok(b->ctx, apsis_set_progress(b->ctx, stop, &calls));
    assert_fails(b->ctx, summarize(b, c), APSIS_ERROR_CANCELLED, "slab_summary");
    assert_fails(b->ctx, finish(b, c), APSIS_ERROR_CANCELLED, "slab_distance");
    assert_int_equal(calls, 2);
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    assert_ok(b->ctx, finish(b, c));
}

static void devices_refuse(bench *b) {
    call *c = good_call();
    assert_fails(b->ctx, summarize(b, c), APSIS_ERROR_UNSUPPORTED, "device|CPU");
    assert_fails(b->ctx, finish(b, c), APSIS_ERROR_UNSUPPORTED, "device|CPU");
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_cut_of_every_2x5, ON_CPU),
                                      TEST(every_cut_of_small_ones, ON_CPU),
                                      TEST(random_cuts, ON_CPU),
                                      TEST(a_summary, ON_CPU),
                                      TEST(merging, ON_CPU),
                                      TEST(far_sites, ON_CPU),
                                      TEST(squares_of_the_image, ON_CPU),
                                      TEST(nothing_anywhere, ON_CPU),
                                      TEST(bad_places, ON_CPU),
                                      TEST(bad_images, ON_CPU),
                                      TEST(bad_options, ON_CPU),
                                      TEST(too_small_types, ON_CPU),
                                      TEST(the_scratch_memory, ON_CPU),
                                      TEST(cancelling, ON_CPU),
                                      TEST(devices_refuse, ON_DEVICE_HOST)};
    return RUN_CASES(cases, argc, argv);
}
