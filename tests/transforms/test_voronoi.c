/* apsis_voronoi against brute force: every small image, and images with many exclaves. */
#include "periodic.h"
#include "run_voronoi.h"

static const given NARROW = {.set = APSIS_U8, .nearest = APSIS_I32};

/* ---- Every small image ---- */

static void every_4x4_image(bench *b) {
    static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD};
    int images;
    uint8_t *mask = every_4x4(&images);
    for (int m = 0; m < COUNT(metrics); ++m) {
        problem p = new_problem(3, 4, 4, images, mask);
        p.options.metric = metrics[m];
        p.options.flags = APSIS_SLICES | APSIS_CONNECTED;
        check_voronoi(b, &p, &NARROW);
        p.options.max_distance = 1.5;
        check_voronoi(b, &p, &NARROW);
        p.options.flags |= periodic_flags(1 + m);
        check_voronoi(b, &p, &NARROW);
    }
    free(mask);
}

/* ---- Images with many exclaves: cells that taper ---- */

/** Sites near a circle or a sphere: the cells inside are thin wedges, which come to an end near the middle. */
static void draw_shell(uint8_t *mask, const int64_t size[3], double density, chance *c) {
    const int64_t shortest = size[0] < size[1] ? size[0] : size[1], r = 1 + shortest / 3 + roll_below(c, 1 + shortest / 3);
    int64_t at[3];
    for (int a = 0; a < 3; ++a) at[a] = size[a] / 3 + roll_below(c, 1 + size[a] / 3);
    for (int64_t i = 0; i < size[0] * size[1] * size[2]; ++i) {
        const int64_t x = i % size[0] - at[0], y = i / size[0] % size[1] - at[1], z = i / size[0] / size[1] - at[2];
        const int64_t square = x * x + y * y + z * z;
        if (square >= r * r && square < (r + 2) * (r + 2) && roll_real(c) < density) mask[i] = 1;
    }
}

/** Pairs and threes of sites side by side, far from each other. */
static void draw_clusters(uint8_t *mask, const int64_t size[3], chance *c) {
    for (int cluster = 0; cluster < 4; ++cluster) {
        const int64_t at[3] = {roll_below(c, size[0]), roll_below(c, size[1]), roll_below(c, size[2])};
        for (int site = 0; site < 4; ++site) {
            const int64_t x = at[0] + roll_below(c, 5), y = at[1] + roll_below(c, 5), z = at[2] + roll_below(c, 3);
            if (x < size[0] && y < size[1] && z < size[2]) mask[x + size[0] * (y + size[1] * z)] = 1;
        }
    }
}

static void fill_tapering(uint8_t *mask, const int64_t size[3], chance *c) {
    static const double densities[] = {0.1, 0.5, 1};
    const int64_t kind = roll_below(c, 4);
    if (kind == 0) fill_mask(mask, size, NOISE, roll_below(c, 2) ? 0.003 : 0.03, c);
    if (kind == 1) draw_clusters(mask, size, c);
    if (kind >= 2) draw_shell(mask, size, densities[roll_below(c, COUNT(densities))], c);
}

static void choose_options(chance *c, problem *p) {
    static const double limits[] = {0, 0, 0, 2, 5.5, 20};
    static const int64_t ratios[][3] = {{1, 1, 1}, {1, 2, 3}, {5, 4, 7}, {1, 1, 10}, {1000, 999, 998}};
    const int64_t *ratio = ratios[roll_below(c, COUNT(ratios))];
    p->options.metric = roll_below(c, 5) ? APSIS_EUCLIDEAN : roll_below(c, 2) ? APSIS_CITY_BLOCK : APSIS_CHESSBOARD;
    p->options.flags = (roll_below(c, 8) ? APSIS_CONNECTED : 0) | (p->ndim == 3 && roll_below(c, 3) == 0 ? APSIS_SLICES : 0);
    if (roll_below(c, 3) == 0) draw_periodic(p, c);
    if (roll_below(c, 3) == 0 && p->options.metric != APSIS_CHESSBOARD) set_spacing(p, ratio[0], ratio[1], ratio[2], 0.5);
    p->options.max_distance = limits[roll_below(c, COUNT(limits))];
}

static given choose_images(chance *c) {
    given how = {.set = roll_below(c, 2) ? APSIS_BIT : APSIS_U8, .nearest = roll_below(c, 2) ? APSIS_I32 : APSIS_I64};
    if (roll_below(c, 2)) how.set_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 2)) how.nearest_layout = (unsigned)roll_below(c, LAYOUTS);
    return how;
}

static void random_problems(bench *b) {
    static const int64_t sizes[][3] = {{70, 61, 1}, {33, 90, 1}, {97, 40, 1},  {64, 64, 1}, {150, 31, 1}, {211, 3, 1},
                                       {1, 80, 1},  {80, 1, 1},  {20, 17, 15}, {32, 9, 11}, {7, 30, 19},  {35, 34, 5},
                                       {1, 40, 41}, {50, 1, 40}, {45, 44, 1},  {129, 33, 2}};
    chance c = {2017};
    int64_t exclaves = 0;
    for (int i = 0; i < effort(800); ++i) {
        const int64_t *size = sizes[roll_below(&c, COUNT(sizes))];
        problem p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_tapering(mask, size, &c);
        choose_options(&c, &p);
        if (roll_below(&c, 4) == 0) {
            p.options.flags |= APSIS_COMPLEMENT;
            for (int64_t k = 0; k < pixels_of(&p); ++k) mask[k] = !mask[k];
        }
        p.mask = mask;
        const given how = choose_images(&c);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        exclaves += check_voronoi(b, &p, &how);
        free(mask);
    }
    print_message("%lld exclaves\n", (long long)exclaves);
    assert_true(exclaves > 0);
}

/** No shortest path leaves a cell where paths go from neighbour to neighbour. */
static void other_metrics_have_no_exclaves(bench *b) {
    chance c = {5};
    for (int i = 0; i < effort(100); ++i) {
        problem p = new_problem(2 + i % 2, 40, 31, i % 2 ? 9 : 1, NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_tapering(mask, p.size, &c);
        p.mask = mask;
        p.options.metric = i % 4 < 2 ? APSIS_CITY_BLOCK : APSIS_CHESSBOARD;
        p.options.flags = APSIS_CONNECTED;
        if (i % 3 == 2) draw_periodic(&p, &c);
        assert_int_equal(check_voronoi(b, &p, &NARROW), 0);
        free(mask);
    }
}

/* ---- Laws, on larger images ---- */

static int64_t *map_of(bench *b, problem *p, uint32_t flags) {
    p->options.flags = flags;
    return run_voronoi(b, p, &NARROW);
}

/** Every cell of a connected map is connected, and only exclaves of the complete one have changed: so many. */
static int64_t check_laws(bench *b, problem *p) {
    int64_t *complete = map_of(b, p, 0), *connected = map_of(b, p, APSIS_CONNECTED), before, after;
    uint8_t *exclaves = find_exclaves(p, complete, &before), *left = find_exclaves(p, connected, &after);
    assert_int_equal(after, 0);
    for (int64_t i = 0; i < pixels_of(p); ++i) assert_true(connected[i] == complete[i] || exclaves[i]);
    free(complete);
    free(connected);
    free(exclaves);
    free(left);
    return before;
}

static void cells_are_connected(bench *b) {
    static const double densities[] = {0.0001, 0.001, 0.01};
    int64_t flat = 0, deep = 0;
    uint8_t *mask = must_alloc(512 * 512);
    for (int d = 0; d < COUNT(densities); ++d) {
        chance c = {(uint64_t)d};
        problem p = new_problem(2, 512, 512, 1, mask), q = new_problem(3, 64, 64, 64, mask);
        fill_mask(mask, p.size, NOISE, densities[d], &c);
        flat += check_laws(b, &p);
        set_spacing(&q, 1, 2, 5, 1);
        deep += check_laws(b, &q);
        memset(mask, 0, 512 * 512);
        draw_shell(mask, p.size, 0.1, &c);
        flat += check_laws(b, &p);
        memset(mask, 0, 512 * 512);
        draw_shell(mask, q.size, 0.3, &c);
        deep += check_laws(b, &q);
    }
    print_message("%lld exclaves in the plane, %lld in volumes\n", (long long)flat, (long long)deep);
    assert_true(flat > 100 && deep > 1000);
    free(mask);
}

/** The cells of a map with errors are connected by the same rule: what the rounds make of its own exclaves. */
static void cells_of_jump_flooding_are_connected(bench *b) {
    int64_t hidden = 0, size[3] = {301, 280, 1};
    uint8_t *mask = must_alloc(301 * 280);
    for (int i = 0; i < effort(12); ++i) {
        chance c = {(uint64_t)i};
        problem p = new_problem(2, size[0], size[1], 1, mask);
        memset(mask, 0, 301 * 280);
        if (i % 3 == 2)
            fill_mask(mask, size, NOISE, 0.001, &c);
        else
            draw_shell(mask, size, i % 3 ? 1 : 0.1, &c);
        p.options.method = APSIS_JUMP_FLOOD;
        int64_t *want = map_of(b, &p, 0), *got = map_of(b, &p, APSIS_CONNECTED), exclaves, left;
        uint8_t *cut = find_exclaves(&p, want, &exclaves), *still = find_exclaves(&p, got, &left);
        hide_exclaves(&p, want, cut);
        assert_int_equal(left, 0);
        assert_memory_equal(got, want, (size_t)pixels_of(&p) * sizeof *got);
        hidden += exclaves;
        free(want);
        free(got);
        free(cut);
        free(still);
    }
    print_message("%lld exclaves\n", (long long)hidden);
    assert_true(hidden > 0);
    free(mask);
}

/** With any number of threads. */
static void inside_a_ring(bench *b) {
    uint8_t *mask = must_alloc(400 * 380);
    problem p = new_problem(2, 400, 380, 1, mask);
    chance c = {1};
    fill_mask(mask, p.size, RING, 0, &c);
    p.options.flags = APSIS_CONNECTED;
    for (int threads = 1; threads < 4; ++threads) {
        assert_ok(b->ctx, apsis_set_threads(b->ctx, threads));
        assert_true(check_voronoi(b, &p, &NARROW) > 200);
    }
    free(mask);
}

static void the_complete_map_is_that_of_nearest_pixels(bench *b) {
    const int64_t size[3] = {97, 83, 1};
    uint8_t *mask = must_alloc(97 * 83);
    chance c = {9};
    fill_mask(mask, size, NOISE, 0.01, &c);
    problem p = new_problem(2, 97, 83, 1, mask);
    const given how = {.set = APSIS_BIT, .nearest = APSIS_I64, .nearest_layout = PADDED};
    outputs out = run_distance(b, &p, &how);
    int64_t *cells = run_voronoi(b, &p, &how);
    assert_memory_equal(cells, out.nearest, 97 * 83 * sizeof *cells);
    free(cells);
    free_outputs(&out);
    free(mask);
}

/* ---- Ends ---- */

static void nothing_to_do(bench *b) {
    const apsis_image none = {.type = APSIS_U8, .ndim = 3, .size = {5, 0, 3}, .memory = b->memory};
    const apsis_image to = {.type = APSIS_I32, .ndim = 3, .size = {5, 0, 3}, .memory = b->memory};
    apsis_options o = APSIS_OPTIONS_INIT;
    o.flags = APSIS_CONNECTED;
    assert_ok(b->ctx, apsis_voronoi(b->ctx, &none, &to, &o));
    static const int64_t sizes[][3] = {{3, 2, 1}, {1, 1, 1}, {100, 1, 1}, {1, 100, 1}, {1, 1, 100}};
    uint8_t mask[100] = {0};
    for (int full = 0; full < 2; ++full) {
        for (int s = 0; s < COUNT(sizes); ++s) {
            problem p = new_problem(sizes[s][2] > 1 ? 3 : 2, sizes[s][0], sizes[s][1], sizes[s][2], mask);
            p.options.flags = APSIS_CONNECTED;
            assert_int_equal(check_voronoi(b, &p, &NARROW), 0);
        }
        memset(mask, 1, sizeof mask);
    }
}

static int tell(void *user, double done) {
    double *last = user;
    assert_true(done >= *last && done <= 1);
    *last = done;
    return 0;
}

static int stop(void *user, double done) {
    (void)done;
    return --*(int *)user < 0;
}

static void progress(bench *b) {
    const int64_t size[3] = {200, 150, 1};
    uint8_t *mask = must_alloc(200 * 150);
    chance c = {3};
    fill_mask(mask, size, NOISE, 0.01, &c);
    apsis_options o = APSIS_OPTIONS_INIT;
    o.flags = APSIS_CONNECTED;
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&set, mask);
    double last = 0;
    assert_ok(b->ctx, apsis_set_progress(b->ctx, tell, &last));
    assert_ok(b->ctx, apsis_voronoi(b->ctx, &set.image, &out.image, &o));
    assert_true(last == 1);
    int calls = 1;
    assert_ok(b->ctx, apsis_set_progress(b->ctx, stop, &calls));
    assert_fails(b->ctx, apsis_voronoi(b->ctx, &set.image, &out.image, &o), APSIS_ERROR_CANCELLED, "progress");
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    frame_close(&set);
    frame_close(&out);
    free(mask);
}

/* ---- The workspace ---- */

/** With exactly apsis_workspace_size bytes the answer is the same; with one byte less it is refused. */
static void the_workspace_is_enough(bench *b) {
    static const apsis_type types[] = {APSIS_I32, APSIS_I64};
    const int64_t size[3] = {61, 47, 34};
    uint8_t *mask = must_alloc(61 * 47 * 34);
    chance c = {8};
    draw_shell(mask, size, 0.5, &c);
    for (int t = 0; t < 4; ++t) {
        apsis_options o = APSIS_OPTIONS_INIT;
        o.flags = APSIS_CONNECTED | (t / 2 ? APSIS_SLICES : 0);
        frame set = frame_open(b, APSIS_U8, 3, size, PACKED), out = frame_open(b, types[t % 2], 3, size, PACKED);
        frame_put(&set, mask);
        const apsis_image *images[2] = {&set.image, &out.image};
        size_t bytes = 0;
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_VORONOI, images, 2, &o, &bytes));
        apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
        assert_ok(b->ctx, apsis_alloc(b->ctx, b->device == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE, &memory));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes - 1));
        assert_fails(b->ctx, apsis_voronoi(b->ctx, &set.image, &out.image, &o), APSIS_ERROR_WORKSPACE, "workspace");
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes));
        assert_ok(b->ctx, apsis_voronoi(b->ctx, &set.image, &out.image, &o));
        assert_ok(b->ctx, apsis_sync(b->ctx));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        apsis_free(b->ctx, &memory);
        frame_close(&set);
        frame_close(&out);
    }
    free(mask);
}

/* ---- What is refused ---- */

static void wrong_arguments(bench *b) {
    const int64_t size[3] = {4, 3, 1}, other[3] = {3, 4, 1};
    uint8_t mask[12] = {1};
    apsis_options o = APSIS_OPTIONS_INIT;
    frame f[] = {frame_open(b, APSIS_U8, 2, size, PACKED), frame_open(b, APSIS_I32, 2, size, PACKED),
                 frame_open(b, APSIS_F32, 2, size, PACKED), frame_open(b, APSIS_I32, 2, other, PACKED)};
    frame_put(&f[0], mask);
    const apsis_image *set = &f[0].image, *cells = &f[1].image;
#define REFUSES(set, cells, text) assert_fails(b->ctx, apsis_voronoi(b->ctx, set, cells, &o), APSIS_ERROR_ARGUMENT, text)
    REFUSES(NULL, cells, "set|NULL");
    REFUSES(set, NULL, "cells|NULL");
    REFUSES(set, &f[2].image, "cells|APSIS_F32");
    REFUSES(set, &f[3].image, "cells|size[0]|3|4");
    REFUSES(set, set, "cells|APSIS_U8");
    static const struct {
        uint32_t flags;
        apsis_method method;
        const char *text;
    } wrong[] = {{APSIS_SIGNED, APSIS_AUTO, "APSIS_SIGNED"},
                 {APSIS_SLICES, APSIS_AUTO, "APSIS_SLICES|ndim"},
                 {0, APSIS_TILE_FILL, "method|APSIS_TILE_FILL|apsis_voronoi|APSIS_SWEEP"},
                 {APSIS_CONNECTED, APSIS_EVERY_SOURCE, "method|APSIS_EVERY_SOURCE"},
                 {0, APSIS_SEQUENTIAL_SCAN, "method|APSIS_SEQUENTIAL_SCAN"},
                 {APSIS_MIXED, APSIS_AUTO, "APSIS_MIXED|APSIS_AUTO|APSIS_SWEEP_ROWS"},
                 {APSIS_MIXED, APSIS_JUMP_FLOOD, "APSIS_MIXED|APSIS_JUMP_FLOOD"},
                 {APSIS_MIXED | APSIS_CONNECTED, APSIS_SWEEP, "APSIS_MIXED|APSIS_CONNECTED"}};
    for (int i = 0; i < COUNT(wrong); ++i) {
        o.flags = wrong[i].flags;
        o.method = wrong[i].method;
        REFUSES(set, cells, wrong[i].text);
    }
    assert_int_equal(apsis_voronoi(NULL, set, cells, NULL), APSIS_ERROR_ARGUMENT);
    for (int k = 0; k < COUNT(f); ++k) frame_close(&f[k]);
}

static void indices_that_do_not_fit(bench *b) {
    apsis_options o = APSIS_OPTIONS_INIT;
    apsis_image large = {.type = APSIS_BIT, .ndim = 2, .size = {65536, 32768}, .memory = b->memory}, to = large;
    const apsis_image *images[2] = {&large, &to};
    size_t bytes;
    to.type = APSIS_I32;
    o.flags = APSIS_CONNECTED;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_VORONOI, images, 2, &o, &bytes));
    large.size[1] = to.size[1] = 32769;
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_VORONOI, images, 2, &o, &bytes), APSIS_ERROR_RANGE,
                 "cells|APSIS_I32");
    to.type = APSIS_I64;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_VORONOI, images, 2, &o, &bytes));
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_VORONOI, images, 3, &o, &bytes), APSIS_ERROR_ARGUMENT,
                 "count|3|apsis_voronoi|2");
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_4x4_image, EVERYWHERE),
                                      TEST(random_problems, EVERYWHERE),
                                      TEST(other_metrics_have_no_exclaves, EVERYWHERE),
                                      TEST(cells_are_connected, EVERYWHERE),
                                      TEST(cells_of_jump_flooding_are_connected, EVERYWHERE),
                                      TEST(inside_a_ring, EVERYWHERE),
                                      TEST(the_complete_map_is_that_of_nearest_pixels, EVERYWHERE),
                                      TEST(nothing_to_do, EVERYWHERE),
                                      TEST(progress, EVERYWHERE),
                                      TEST(the_workspace_is_enough, EVERYWHERE),
                                      TEST(wrong_arguments, EVERYWHERE),
                                      TEST(indices_that_do_not_fit, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
