/* Paths in slabs: however an image is cut, and whichever slab is computed first, the bytes are those of apsis_geodesic of all
 * of it; lengths and calls by hand. */
#include <math.h>

#include "run_slab_paths.h"

static const given REAL = {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I64};

/* ---- Every cut of small images ---- */

static void choose_seeds(chance *c, uint8_t *seeds, int64_t pixels, int64_t one_in) {
    for (int64_t i = 0; i < pixels; ++i) seeds[i] = roll_below(c, one_in) == 0;
}

static void every_cut_of_every_3x4(bench *b) {
    chance c = {1};
    uint8_t mask[12], seeds[12];
    for (int i = 0; i < 4096; i += mask_step(b, 4096, 149)) {
        for (int k = 0; k < 12; ++k) mask[k] = i >> k & 1;
        choose_seeds(&c, seeds, 12, 6);
        problem p = new_problem(2, 3, 4, 1, mask);
        p.options.metric = (apsis_metric)roll_below(&c, 4);
        p.options.connectivity = (int32_t)roll_below(&c, 3);
        draw_weights(&p, false, &c);
        if (i % 3 == 2) draw_periodic(&p, &c);
        check_paths_of_every_cut(&b, 1, &p, seeds, &REAL, &c);
    }
}

/** Here and on the CPU, a slab now in one place and now in the other. */
static void every_cut_of_small_ones(bench *b) {
    static const int64_t sizes[][3] = {{1, 7, 1}, {9, 6, 1}, {40, 5, 1}, {2, 3, 5}, {3, 4, 4}, {17, 2, 4}};
    bench cpu = open_cpu();
    bench *const places[] = {&cpu, b};
    chance c = {2};
    for (int i = 0; i < effort(120); ++i) {
        const int64_t *size = sizes[i % COUNT(sizes)];
        uint8_t mask[256], seeds[256];
        fill_mask(mask, size, NOISE, i % 3 ? 0.7 : 0.5, &c);
        choose_seeds(&c, seeds, size[0] * size[1] * size[2], 20);
        problem p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], mask);
        p.options.metric = (apsis_metric)roll_below(&c, 4);
        p.options.connectivity = (int32_t)roll_below(&c, p.ndim + 1);
        if (i % 3 == 2) draw_periodic(&p, &c);
        check_paths_of_every_cut(places, 2, &p, seeds, &REAL, &c);
    }
    apsis_destroy(cpu.ctx);
}

/* ---- Random images and cuts, larger; slabs without rows among them ---- */

static void choose_problem(chance *c, problem *p) {
    static const int64_t sizes[] = {1, 1, 2, 3, 5, 8, 13, 17, 31, 33, 64, 65, 130, 257};
    const int64_t most = roll_below(c, 8) ? 3000 : 20000;
    p->ndim = 2 + (int)roll_below(c, 2);
    do
        for (int a = 0; a < 3; ++a) p->size[a] = a < p->ndim ? sizes[roll_below(c, COUNT(sizes))] : 1;
    while (pixels_of(p) > most);
    apsis_options *o = &p->options;
    o->flags = roll_below(c, 4) ? 0 : APSIS_COMPLEMENT;
    o->metric = (apsis_metric)roll_below(c, 4);
    o->connectivity = (int32_t)roll_below(c, p->ndim + 1);
    if (!roll_below(c, 3)) {
        const int64_t x = 1 + roll_below(c, 9), equal = o->metric >= APSIS_CHESSBOARD || roll_below(c, 2);
        set_spacing(p, x, equal ? x : 1 + roll_below(c, 9), equal ? x : 1 + roll_below(c, 20), roll_below(c, 2) ? 1 : 0.25);
    }
    if (!roll_below(c, 6) && o->metric < APSIS_CHESSBOARD) { /* no common measure */
        o->spacing[0] = 1;
        o->spacing[1] = 3.14159;
        o->spacing[2] = 0.7;
    }
    if (!roll_below(c, 4)) o->max_distance = roll_below(c, 2) ? (double)(1 + roll_below(c, 20)) : 40 * roll_real(c);
    if (!roll_below(c, 3)) draw_periodic(p, c);
    draw_weights(p, false, c);
}

static given choose_images(chance *c, const problem *p) {
    static const apsis_type types[] = {APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64};
    const bool fits = p->options.metric != APSIS_EUCLIDEAN && p->options.spacing[0] == 0;
    given how = {.set = roll_below(c, 2) ? APSIS_BIT : APSIS_U8,
                 .distance = types[roll_below(c, fits ? 4 : 2)],
                 .nearest = roll_below(c, 2) ? APSIS_I32 : APSIS_I64};
    const int64_t left_out = roll_below(c, 6);
    if (left_out == 0) how.distance = 0;
    if (left_out == 1) how.nearest = 0;
    if (!roll_below(c, 3)) how.set_layout = (unsigned)roll_below(c, LAYOUTS);
    if (!roll_below(c, 3)) how.distance_layout = (unsigned)roll_below(c, LAYOUTS);
    if (!roll_below(c, 3)) how.nearest_layout = (unsigned)roll_below(c, LAYOUTS);
    return how;
}

static void random_cuts(bench *b) {
    static const double densities[] = {0.4, 0.6, 0.7, 0.9, 1};
    chance c = {2026};
    for (int i = 0; i < effort(b->place == ON_CPU ? 400 : 150); ++i) { /* devices take longer */
        problem p = new_problem(2, 1, 1, 1, NULL);
        choose_problem(&c, &p);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p)), *seeds = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, roll_below(&c, 3) ? NOISE : (int)roll_below(&c, MASK_KINDS),
                  densities[roll_below(&c, COUNT(densities))], &c);
        choose_seeds(&c, seeds, pixels_of(&p), roll_below(&c, 2) ? 10 : pixels_of(&p));
        p.mask = mask;
        const given how = choose_images(&c, &p);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        outputs whole = run_geodesic(b, &p, seeds, &how);
        const cut at = choose_cut(&c, rows_of(&p));
        check_paths_cut(&b, 1, &p, seeds, &how, &whole, &at, &c);
        free_outputs(&whole);
        free(mask);
        free(seeds);
    }
}

/** A path that goes through all slabs, up and down, column after column. */
static void a_path_back_and_forth(bench *b) {
    enum { W = 31, H = 70 };
    static uint8_t mask[W * H], seeds[W * H];
    for (int i = 0; i < W * H; ++i) {
        const int x = i % W, y = i / W;
        mask[i] = x % 2 == 0 || y == (x % 4 == 1 ? H - 1 : 0);
        seeds[i] = i == 0;
    }
    chance c = {7};
    problem p = new_problem(2, W, H, 1, mask);
    outputs whole = run_geodesic(b, &p, seeds, &REAL);
    const cut at = {.slabs = 9, .start = {0, 1, 9, 20, 33, 34, 34, 50, 69, H}};
    check_paths_cut(&b, 1, &p, seeds, &REAL, &whole, &at, &c);
    free_outputs(&whole);
}

/* ---- Answers written by hand ---- */

enum { W = 6, H = 40 };

/** Two columns that a long path enters from above, or from below, and three others with a seed; a wall is between them. */
static void long_paths(bench *b) {
    static const int64_t ends[] = {1 << 20, 1 << 30, (int64_t)1 << 31, 2013265905, (int64_t)1 << 40, (int64_t)1 << 60};
    uint8_t mask[W * H], seeds[W * H] = {[20 * W + 4] = 1};
    for (int i = 0; i < W * H; ++i) mask[i] = i % W != 2;
    int64_t length[W * H], nearest[W * H], first[W], last[W], first_seeds[W], last_seeds[W], seed[W];
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image from = {.data = seeds, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image lengths = {.data = length, .type = APSIS_I64, .ndim = 2, .size = {W, H}};
    const apsis_image sources = {.data = nearest, .type = APSIS_I64, .ndim = 2, .size = {W, H}};
    apsis_options options = APSIS_OPTIONS_INIT;
    options.metric = APSIS_CITY_BLOCK;
    const int64_t extent = (int64_t)1 << 30, start = extent / 2, before = start * W;
    for (int i = 0; i < COUNT(ends); ++i)
        for (int64_t far = ends[i] - H - 2; far <= ends[i]; far += b->place == ON_CPU ? 3 : 14)
            for (int side = 0; side < 2; ++side) {
                int64_t beside[W];
                for (int x = 0; x < W; ++x) beside[x] = INT64_MAX, seed[x] = -1;
                beside[0] = beside[1] = far;
                seed[0] = extent * W - 1;
                seed[1] = 5;
                const apsis_slab_paths slab = {.start = start,
                                               .extent = extent,
                                               .above = side ? NULL : beside,
                                               .above_seeds = side ? NULL : seed,
                                               .below = side ? beside : NULL,
                                               .below_seeds = side ? seed : NULL,
                                               .first = first,
                                               .last = last,
                                               .first_seeds = first_seeds,
                                               .last_seeds = last_seeds};
                assert_ok(b->ctx, apsis_slab_geodesic(b->ctx, &set, &from, &slab, &lengths, &sources, NULL, &options));
                for (int64_t k = 0; k < W * H; ++k) {
                    const int64_t x = k % W, y = k / W, down = (side ? H - 1 - y : y) + 1;
                    const int64_t want = x < 2 ? far + down : x == 2 ? -1 : (y < 20 ? 20 - y : y - 20) + (x == 4 ? 0 : 1);
                    const int64_t who = x < 2 ? (x ? 5 : seed[0]) : x == 2 ? -1 : before + 20 * W + 4;
                    assert_true(length[k] == want);
                    assert_true(nearest[k] == who);
                    if (y == 0) assert_true(first[x] == (x == 2 ? INT64_MAX : want) && first_seeds[x] == nearest[k]);
                    if (y == H - 1) assert_true(last[x] == (x == 2 ? INT64_MAX : want) && last_seeds[x] == nearest[k]);
                }
            }
}

/** Of equal paths the one from the lowest seed counts, wherever it comes in; and a shorter one before it. */
static void lowest_seeds(bench *b) {
    const uint8_t mask[5] = {1, 1, 1, 1, 1}, seeds[5] = {0, 0, 0, 0, 0};
    const int64_t above[5] = {7, 7, 9, 8, INT64_MAX}, above_seeds[5] = {3, 2, 0, 1, -1};
    const int64_t below[5] = {7, INT64_MAX, 6, 8, 8}, below_seeds[5] = {11, -1, 14, 13, 12};
    static const int64_t straight[5] = {8, 8, 7, 8, 9}, straight_seed[5] = {3, 2, 14, 14, 12};
    static const int64_t diagonal[5] = {8, 7, 7, 7, 8}, diagonal_seed[5] = {2, 14, 14, 14, 14};
    int64_t nearest[5], length[5], first[5], last_seeds[5];
    const apsis_image set = {.data = (void *)(uintptr_t)mask, .type = APSIS_U8, .ndim = 2, .size = {5, 1}};
    const apsis_image from = {.data = (void *)(uintptr_t)seeds, .type = APSIS_U8, .ndim = 2, .size = {5, 1}};
    const apsis_image lengths = {.data = length, .type = APSIS_I64, .ndim = 2, .size = {5, 1}};
    const apsis_image sources = {.data = nearest, .type = APSIS_I64, .ndim = 2, .size = {5, 1}};
    const apsis_slab_paths slab = {1, 3, above, below, above_seeds, below_seeds, first, NULL, NULL, last_seeds};
    apsis_options options = APSIS_OPTIONS_INIT;
    for (int is_diagonal = 0; is_diagonal < 2; ++is_diagonal) {
        options.metric = is_diagonal ? APSIS_CHESSBOARD : APSIS_CITY_BLOCK;
        int64_t changed;
        for (int i = 0; i < 5; ++i) first[i] = INT64_MAX, last_seeds[i] = -1;
        assert_ok(b->ctx, apsis_slab_geodesic(b->ctx, &set, &from, &slab, &lengths, &sources, &changed, &options));
        assert_int_equal(changed, 10);
        assert_memory_equal(length, is_diagonal ? diagonal : straight, sizeof length);
        assert_memory_equal(nearest, is_diagonal ? diagonal_seed : straight_seed, sizeof nearest);
        assert_memory_equal(first, length, sizeof first);
        assert_memory_equal(last_seeds, nearest, sizeof last_seeds);
        first[3] = last_seeds[0] = last_seeds[1] = 99;
        assert_ok(b->ctx, apsis_slab_geodesic(b->ctx, &set, &from, &slab, &lengths, NULL, &changed, &options));
        assert_int_equal(changed, 3);
    }
}

/** A slab without rows tells what it is told; one without columns tells nothing. */
static void empty_slabs(bench *b) {
    const int64_t above[3] = {4, INT64_MAX, 0}, below[3] = {9, 8, 7}, above_seeds[3] = {2, -1, 5}, below_seeds[3] = {9, 9, 11};
    int64_t first[3] = {9, 8, 7}, last[3] = {-5, -5, -5}, first_seeds[3] = {0, 0, 0}, last_seeds[3] = {0, 0, 0}, changed;
    const apsis_image none = {.type = APSIS_U8, .ndim = 2, .size = {3, 0}};
    const apsis_image out = {.type = APSIS_F32, .ndim = 2, .size = {3, 0}};
    const apsis_slab_paths slab = {2, 4, above, below, above_seeds, below_seeds, first, last, first_seeds, last_seeds};
    assert_ok(b->ctx, apsis_slab_geodesic(b->ctx, &none, &none, &slab, &out, NULL, &changed, NULL));
    assert_int_equal(changed, 9);
    assert_memory_equal(first, below, sizeof first);
    assert_memory_equal(last, above, sizeof last);
    assert_memory_equal(first_seeds, below_seeds, sizeof first_seeds);
    assert_memory_equal(last_seeds, above_seeds, sizeof last_seeds);
    const apsis_slab_paths end = {.start = 4, .extent = 4, .last = last};
    assert_ok(b->ctx, apsis_slab_geodesic(b->ctx, &none, &none, &end, NULL, NULL, &changed, NULL));
    assert_int_equal(changed, 2);
    const apsis_image thin = {.type = APSIS_U8, .ndim = 2, .size = {0, 3}};
    const apsis_slab_paths any = {.start = 1, .extent = 9, .above = above, .first = first};
    assert_ok(b->ctx, apsis_slab_geodesic(b->ctx, &thin, &thin, &any, NULL, NULL, &changed, NULL));
    assert_int_equal(changed, 0);
}

/* ---- What is refused ---- */

/** A slab of 3 x 2 pixels in an image of 9 rows, which every case below spoils in one place. */
typedef struct call {
    uint8_t mask[6], seed[6];
    int64_t length[6], index[6], above[3], below[3], above_seeds[3], below_seeds[3], told[4][3];
    apsis_image set, seeds, distance, nearest;
    apsis_slab_paths slab;
    apsis_options options;
} call;

static call *good_call(void) {
    static call c;
    c = (call){.mask = {1, 1, 1, 0, 1, 1},
               .seed = {1},
               .above = {4, INT64_MAX, 0},
               .below = {INT64_MAX, (int64_t)1 << 60, 7},
               .above_seeds = {0, -1, 14},
               .below_seeds = {-1, 26, 3},
               .options = APSIS_OPTIONS_INIT};
    c.set = c.seeds = (apsis_image){.data = c.mask, .type = APSIS_U8, .ndim = 2, .size = {3, 2}};
    c.seeds.data = c.seed;
    c.distance = c.nearest = (apsis_image){.data = c.length, .type = APSIS_I64, .ndim = 2, .size = {3, 2}};
    c.nearest.data = c.index;
    c.slab =
        (apsis_slab_paths){5, 9, c.above, c.below, c.above_seeds, c.below_seeds, c.told[0], c.told[1], c.told[2], c.told[3]};
    c.options.metric = APSIS_CITY_BLOCK;
    return &c;
}

static apsis_status find(bench *b, const call *c) {
    return apsis_slab_geodesic(b->ctx, &c->set, &c->seeds, &c->slab, &c->distance, &c->nearest, NULL, &c->options);
}

#define REFUSED(spoil, status, words)                    \
    do {                                                 \
        call *c = good_call();                           \
        assert_ok(b->ctx, find(b, c));                   \
        spoil;                                           \
        assert_fails(b->ctx, find(b, c), status, words); \
    } while (0)

static void bad_places(bench *b) {
    REFUSED(c->slab.start = -1, APSIS_ERROR_ARGUMENT, "start is -1|0 to 7");
    REFUSED(c->slab.start = 8, APSIS_ERROR_ARGUMENT, "start is 8|0 to 7|2 of 9");
    REFUSED(c->slab.extent = ((int64_t)1 << 30) + 1, APSIS_ERROR_ARGUMENT, "extent|1073741825");
    REFUSED(c->above[1] = -1, APSIS_ERROR_ARGUMENT, "above[1] is -1|0 to 2^60");
    REFUSED(c->below[1] = ((int64_t)1 << 60) + 1, APSIS_ERROR_ARGUMENT, "below[1] is 1152921504606846977");
    REFUSED(c->below[0] = 5, APSIS_ERROR_ARGUMENT, "below_seeds[0] is -1|0 to 26");
    REFUSED(c->above_seeds[2] = 27, APSIS_ERROR_ARGUMENT, "above_seeds[2] is 27|0 to 26");
    REFUSED(c->slab.above_seeds = NULL, APSIS_ERROR_ARGUMENT, "above_seeds is NULL|above");
    REFUSED(c->slab.below_seeds = NULL, APSIS_ERROR_ARGUMENT, "below_seeds is NULL|below");
    REFUSED(c->slab.start = 0, APSIS_ERROR_ARGUMENT, "above[0] is 4|INT64_MAX|ends");
    REFUSED(c->slab.start = 7, APSIS_ERROR_ARGUMENT, "below[1]|INT64_MAX|ends");
    call *c = good_call(); /* seeds count only where they are wanted */
    c->slab = (apsis_slab_paths){.start = 5, .extent = 9, .above = c->above, .first = c->told[0]};
    assert_ok(b->ctx, apsis_slab_geodesic(b->ctx, &c->set, &c->seeds, &c->slab, &c->distance, NULL, NULL, &c->options));
    c->slab.last_seeds = c->told[3];
    assert_fails(b->ctx, apsis_slab_geodesic(b->ctx, &c->set, &c->seeds, &c->slab, NULL, NULL, NULL, &c->options),
                 APSIS_ERROR_ARGUMENT, "above_seeds is NULL");
}

static void bad_images_and_options(bench *b) {
    const call *good = good_call();
    assert_fails(b->ctx, apsis_slab_geodesic(b->ctx, NULL, &good->seeds, &good->slab, NULL, NULL, NULL, NULL),
                 APSIS_ERROR_ARGUMENT, "slab_geodesic|set|NULL");
    assert_fails(b->ctx, apsis_slab_geodesic(b->ctx, &good->set, NULL, &good->slab, NULL, NULL, NULL, NULL),
                 APSIS_ERROR_ARGUMENT, "seeds|NULL");
    assert_fails(b->ctx, apsis_slab_geodesic(b->ctx, &good->set, &good->seeds, NULL, NULL, NULL, NULL, NULL),
                 APSIS_ERROR_ARGUMENT, "slab|NULL");
    assert_int_equal(apsis_slab_geodesic(NULL, &good->set, &good->seeds, &good->slab, NULL, NULL, NULL, NULL),
                     APSIS_ERROR_ARGUMENT);
    REFUSED(c->seeds.size[1] = 1, APSIS_ERROR_ARGUMENT, "seeds|size");
    REFUSED(c->distance.data = c->index, APSIS_ERROR_ARGUMENT, "distance|nearest");
    REFUSED(c->options.flags = APSIS_SIGNED, APSIS_ERROR_ARGUMENT, "APSIS_SIGNED");
    REFUSED((c->options.flags = APSIS_SLICES, c->set.ndim = c->seeds.ndim = c->distance.ndim = c->nearest.ndim = 3,
             c->set.size[2] = c->seeds.size[2] = c->distance.size[2] = c->nearest.size[2] = 1),
            APSIS_ERROR_UNSUPPORTED, "APSIS_SLICES");
    REFUSED(c->options.method = APSIS_SWEEP, APSIS_ERROR_ARGUMENT, "APSIS_SWEEP");
    REFUSED(c->options.metric = APSIS_EUCLIDEAN, APSIS_ERROR_ARGUMENT, "distance|Euclidean");
    /* Whether a type is too small goes by the image, not by the slab. */
    REFUSED((c->nearest.type = APSIS_I32, c->slab.extent = (int64_t)1 << 30), APSIS_ERROR_RANGE, "nearest|3221225471");
    REFUSED((c->distance.type = APSIS_I32, c->slab.extent = (int64_t)1 << 30), APSIS_ERROR_RANGE, "distance|APSIS_I32");
}

static void cancelling(bench *b) {
    int calls = 0;
    call *c = good_call();
    c->told[0][0] = c->told[2][0] = 77;
    assert_ok(b->ctx, apsis_set_progress(b->ctx, stop_at_once, &calls));
    assert_fails(b->ctx, find(b, c), APSIS_ERROR_CANCELLED, "slab_geodesic");
    assert_int_equal(calls, 1);
    assert_true(c->told[0][0] == 77 && c->told[2][0] == 77); /* what was told before still holds */
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    assert_ok(b->ctx, find(b, c));
    assert_true(c->told[0][0] == 0 && c->told[2][0] == 15);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_cut_of_every_3x4, EVERYWHERE),
                                      TEST(every_cut_of_small_ones, EVERYWHERE),
                                      TEST(random_cuts, EVERYWHERE),
                                      TEST(a_path_back_and_forth, EVERYWHERE),
                                      TEST(long_paths, WITH_HOST_IMAGES),
                                      TEST(lowest_seeds, WITH_HOST_IMAGES),
                                      TEST(empty_slabs, WITH_HOST_IMAGES),
                                      TEST(bad_places, WITH_HOST_IMAGES),
                                      TEST(bad_images_and_options, WITH_HOST_IMAGES),
                                      TEST(cancelling, WITH_HOST_IMAGES)};
    return RUN_CASES(cases, argc, argv);
}
