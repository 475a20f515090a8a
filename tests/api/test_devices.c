/* One call on several devices, or in slabs on one that has not the memory for all of it: the same bytes as on one device. */
#include "devices.h"
#include "periodic.h"
#include "run_components.h"
#include "run_distance.h"

static void check_same(bench *one, bench *several, const problem *p, const given *how) {
    outputs want = run_distance(one, p, how), got = run_distance(several, p, how);
    const size_t pixels = (size_t)pixels_of(p);
    if (how->distance) assert_memory_equal(got.distance, want.distance, pixels * type_size(how->distance));
    if (how->nearest) assert_memory_equal(got.nearest, want.nearest, pixels * type_size(how->nearest));
    free_outputs(&want);
    free_outputs(&got);
}

/** Planes, volumes and batches with any options: those that are cut, and those that are not. */
static problem draw_problem(chance *c, uint8_t *mask) {
    const int64_t w = 1 + roll_below(c, 40), h = 1 + roll_below(c, 40), d = roll_below(c, 2) ? 1 : 1 + roll_below(c, 9);
    const int64_t size[3] = {w, h, d};
    fill_mask(mask, size, (int)roll_below(c, MASK_KINDS), roll_below(c, 2) ? 0.3 : 0.01, c);
    problem p = new_problem(d > 1 || roll_below(c, 2) ? 3 : 2, w, h, d, mask);
    p.options.flags = (roll_below(c, 2) ? APSIS_SIGNED : 0) | (roll_below(c, 3) ? 0 : APSIS_COMPLEMENT);
    if (p.ndim == 3 && roll_below(c, 3) == 0) p.options.flags |= APSIS_SLICES;
    p.options.metric = (apsis_metric)roll_below(c, 3);
    if (roll_below(c, 3) == 0) draw_periodic(&p, c);
    return p;
}

static void random_problems(bench *b) {
    static const given hows[] = {{APSIS_U8, APSIS_F32, APSIS_I32, PACKED, PACKED, PACKED},
                                 {APSIS_BIT, APSIS_F64, 0, PADDED, FLIP_Y, PACKED},
                                 {APSIS_U8, APSIS_I64, 0, STEPPED, PADDED, PACKED},
                                 {APSIS_U8, 0, APSIS_I64, FLIP_Z, PACKED, FLIP_X}};
    uint8_t mask[40 * 40 * 9];
    chance c = {5};
    for (int count = 1; count <= 4; ++count) {
        bench several = open_devices(b, count);
        for (int i = 0; i < effort(60); ++i) {
            const problem p = draw_problem(&c, mask);
            check_same(b, &several, &p, &hows[i % COUNT(hows)]);
        }
        apsis_destroy(several.ctx);
    }
}

static void check_same_pieces(bench *one, bench *several, const problem *p, const asked *how) {
    pieces want = run_components(one, p, how), got = run_components(several, p, how);
    assert_int_equal(got.count, want.count);
    if (how->labels) assert_memory_equal(got.labels, want.labels, (size_t)pixels_of(p) * type_size(how->labels));
    const int64_t known = how->capacity < want.count ? how->capacity : want.count;
    if (known > 0) assert_memory_equal(got.component, want.component, (size_t)known * sizeof(apsis_component));
    free_pieces(&want);
    free_pieces(&got);
}

static void random_components(bench *b) {
    static const asked hows[] = {{APSIS_U8, APSIS_I32, PACKED, PACKED, 2000, false},
                                 {APSIS_BIT, APSIS_I64, PADDED, FLIP_Y, -1, false},
                                 {APSIS_U8, APSIS_U8, STEPPED, PADDED, 7, false},
                                 {APSIS_U8, 0, FLIP_Z, PACKED, -1, false}};
    uint8_t mask[40 * 40 * 9];
    chance c = {8};
    for (int count = 1; count <= 4; ++count) {
        bench several = open_devices(b, count);
        for (int i = 0; i < effort(60); ++i) {
            problem p = draw_problem(&c, mask);
            p.options.flags &= APSIS_COMPLEMENT | APSIS_SLICES | PERIODIC;
            p.options.metric = APSIS_EUCLIDEAN;
            p.options.connectivity = 1 + (int)roll_below(&c, p.ndim == 3 && !(p.options.flags & APSIS_SLICES) ? 3 : 2);
            if (roll_below(&c, 3) == 0) p.options.largest = 1 + (int)roll_below(&c, 5);
            if (roll_below(&c, 3) == 0) p.options.min_area = 1 + roll_below(&c, 5);
            if (roll_below(&c, 3) == 0) p.options.flags |= roll_below(&c, 2) ? APSIS_NO_BORDER : APSIS_NO_INNER;
            check_same_pieces(b, &several, &p, &hows[i % COUNT(hows)]);
        }
        apsis_destroy(several.ctx);
    }
}

/** More components in a slab than there is room for at first. */
static void many_components(bench *b) {
    const int64_t size[3] = {600, 520, 1};
    const asked how = {APSIS_U8, APSIS_I32, PACKED, PACKED, 100000, false};
    uint8_t *mask = must_alloc((size_t)(size[0] * size[1]));
    for (int64_t i = 0; i < size[0] * size[1]; ++i) mask[i] = (i / size[0] + i % size[0]) % 2 == 0;
    const problem p = new_problem(2, size[0], size[1], 1, mask);
    bench several = open_devices(b, 2);
    check_same_pieces(b, &several, &p, &how);
    apsis_destroy(several.ctx);
    free(mask);
}

/* ---- Memory ---- */

/** Volumes and wide types, which are copied whole where there is room, with ever less memory. */
static void little_memory(bench *b) {
    const int64_t size[3] = {40, 32, 64};
    uint8_t *mask = must_alloc((size_t)(size[0] * size[1] * size[2]));
    chance c = {6};
    fill_mask(mask, size, NOISE, 0.002, &c);
    problem p = new_problem(3, size[0], size[1], size[2], mask);
    const apsis_image set = {.type = APSIS_U8, .ndim = 3, .size = {size[0], size[1], size[2]}};
    const apsis_image map = {.type = APSIS_F32, .ndim = 3, .size = {size[0], size[1], size[2]}};
    const apsis_image *const images[] = {&set, &map, NULL};
    for (int sides = 1; sides <= 2; ++sides) {
        p.options.flags = sides == 2 ? APSIS_SIGNED : 0;
        size_t all;
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, &p.options, &all));
        for (int part = 1; part <= 4; part *= 2) {
            budget of = {b->ctx, all / (size_t)part, 0};
            bench little = open_little(b, &of);
            check_same(b, &little, &p, &DISTANCE_ALONE);
            assert_int_equal(of.refused > 0, part > 1);
            of.most = 256; /* not even for a plane */
            assert_ok(little.ctx, apsis_set_workspace(little.ctx, NULL, 0));
            frame in = frame_open(&little, APSIS_U8, 3, size, PACKED), out = frame_open(&little, APSIS_F32, 3, size, PACKED);
            assert_fails(little.ctx, apsis_distance(little.ctx, &in.image, &out.image, NULL, &p.options), APSIS_ERROR_MEMORY,
                         "allocator");
            frame_close(&in);
            frame_close(&out);
            apsis_destroy(little.ctx);
        }
    }
    free(mask);
}

/** The complete Voronoi map is that of nearest pixels. */
static void check_same_cells(bench *one, bench *several, const problem *p) {
    const given how = {.set = APSIS_U8, .nearest = APSIS_I32};
    outputs want = run_distance(one, p, &how);
    frame in = frame_open(several, APSIS_U8, p->ndim, p->size, PACKED),
          out = frame_open(several, APSIS_I32, p->ndim, p->size, PACKED);
    frame_put(&in, p->mask);
    assert_ok(several->ctx, apsis_voronoi(several->ctx, &in.image, &out.image, &p->options));
    int32_t *cells = must_alloc((size_t)pixels_of(p) * sizeof *cells);
    frame_get(&out, cells);
    assert_memory_equal(cells, want.nearest, (size_t)pixels_of(p) * sizeof *cells);
    free(cells);
    frame_close(&in);
    frame_close(&out);
    free_outputs(&want);
}

/** Nearest pixels, signed maps, slices and Voronoi maps, in planes and volumes, with less memory than they ask for at once. */
static void little_memory_for_sites(bench *b) {
    static const int64_t sizes[][3] = {{400, 300, 1}, {40, 32, 64}};
    static const unsigned flags[] = {0, APSIS_SIGNED, APSIS_SLICES, APSIS_SLICES | APSIS_SIGNED};
    chance c = {10};
    for (int i = 0; i < 8; ++i) {
        const int64_t *size = sizes[i / 4];
        uint8_t *mask = must_alloc((size_t)(size[0] * size[1] * size[2]));
        fill_mask(mask, size, NOISE, 0.002, &c);
        problem p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], mask);
        p.options.flags = flags[i % 4];
        if (p.ndim == 2) p.options.flags &= APSIS_SIGNED;
        const apsis_image set = {.type = APSIS_U8, .ndim = p.ndim, .size = {size[0], size[1], size[2]}};
        const apsis_image map = {.type = APSIS_F32, .ndim = p.ndim, .size = {size[0], size[1], size[2]}};
        const apsis_image sites = {.type = APSIS_I32, .ndim = p.ndim, .size = {size[0], size[1], size[2]}};
        const apsis_image *const images[] = {&set, &map, &sites}, *const alone[] = {&set, NULL, &sites};
        size_t all, for_cells;
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, &p.options, &all));
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, alone, 3, &p.options, &for_cells));
        budget of = {b->ctx, all * 2 / 3, 0};
        bench little = open_little(b, &of);
        check_same(b, &little, &p, &PLAIN);
        assert_true(of.refused > 0);
        of = (budget){b->ctx, for_cells * 2 / 3, 0};
        assert_ok(little.ctx, apsis_set_workspace(little.ctx, NULL, 0));
        p.options.flags &= ~(unsigned)APSIS_SIGNED;
        check_same_cells(b, &little, &p);
        if (!(flags[i % 4] & APSIS_SIGNED)) assert_true(of.refused > 0);
        apsis_destroy(little.ctx);
        free(mask);
    }
}

/** Labels with half the memory that they ask for at once. */
static void little_memory_for_labels(bench *b) {
    const int64_t size[3] = {90, 80, 70};
    uint8_t *mask = must_alloc((size_t)(size[0] * size[1] * size[2]));
    chance c = {9};
    fill_mask(mask, size, NOISE, 0.3, &c);
    const problem p = new_problem(3, size[0], size[1], size[2], mask);
    const apsis_image set = {.type = APSIS_U8, .ndim = 3, .size = {size[0], size[1], size[2]}};
    const apsis_image labels = {.type = APSIS_I32, .ndim = 3, .size = {size[0], size[1], size[2]}};
    const apsis_image *const images[] = {&set, &labels};
    size_t all;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_COMPONENTS, images, 2, NULL, &all));
    budget of = {b->ctx, all / 2, 0};
    bench little = open_little(b, &of);
    check_same_pieces(b, &little, &p, &LABELS);
    assert_true(of.refused > 0);
    apsis_destroy(little.ctx);
    free(mask);
}

/* ---- Progress and errors ---- */

typedef struct reports {
    double last;
    int count, stop_at;
} reports;

static int told(void *user, double done) {
    reports *of = user;
    assert_true(done >= of->last && done <= 1);
    of->last = done;
    return ++of->count == of->stop_at;
}

static void progress(bench *b) {
    const int64_t size[3] = {300, 200, 1};
    uint8_t *mask = must_alloc((size_t)(size[0] * size[1]));
    chance c = {7};
    fill_mask(mask, size, NOISE, 0.01, &c);
    const problem p = new_problem(2, size[0], size[1], 1, mask);
    bench several = open_devices(b, 3);
    reports of = {0};
    assert_ok(several.ctx, apsis_set_progress(several.ctx, told, &of));
    check_same(b, &several, &p, &PLAIN);
    assert_true(of.last == 1);
    frame in = frame_open(&several, APSIS_U8, 2, size, PACKED), out = frame_open(&several, APSIS_F32, 2, size, PACKED);
    frame_put(&in, mask);
    for (int stop = 1; stop == 1 || of.count == stop - 1; ++stop) { /* until it is done before that report */
        of = (reports){.stop_at = stop};
        const apsis_status st = apsis_distance(several.ctx, &in.image, &out.image, NULL, NULL);
        assert_int_equal(st, of.count == stop ? APSIS_ERROR_CANCELLED : APSIS_OK);
    }
    of = (reports){0};
    check_same(b, &several, &p, &PLAIN);
    frame_close(&in);
    frame_close(&out);
    apsis_destroy(several.ctx);
    free(mask);
}

static void wrong_arguments(bench *b) {
    apsis_context *ctx = NULL;
    const int devices[] = {b->device, b->device}, negative[] = {b->device, APSIS_CPU}, missing[] = {b->device, 1000};
    assert_fails(NULL, apsis_create_devices(APSIS_VERSION, devices, 2, NULL), APSIS_ERROR_ARGUMENT, "context|NULL");
    assert_fails(NULL, apsis_create_devices(APSIS_VERSION, NULL, 2, &ctx), APSIS_ERROR_ARGUMENT, "devices|NULL");
    assert_fails(NULL, apsis_create_devices(APSIS_VERSION, devices, 0, &ctx), APSIS_ERROR_ARGUMENT, "count|0");
    assert_fails(NULL, apsis_create_devices(APSIS_VERSION, negative, 2, &ctx), APSIS_ERROR_ARGUMENT, "devices[1]|-1");
    assert_fails(NULL, apsis_create_devices(APSIS_VERSION, missing, 2, &ctx), APSIS_ERROR_NO_DEVICE, "1000");
    assert_fails(NULL, apsis_create_devices(9900, devices, 2, &ctx), APSIS_ERROR_UNSUPPORTED, "version");
    assert_null(ctx);
}

static const test_case cases[] = {TEST(random_problems, ON_DEVICE_HOST),
                                  TEST(random_components, ON_DEVICE_HOST),
                                  TEST(many_components, ON_DEVICE_HOST),
                                  TEST(little_memory, ON_DEVICE_HOST),
                                  TEST(little_memory_for_sites, ON_DEVICE_HOST),
                                  TEST(little_memory_for_labels, ON_DEVICE_HOST),
                                  TEST(progress, ON_DEVICE_HOST),
                                  TEST(wrong_arguments, ON_DEVICE_HOST)};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
