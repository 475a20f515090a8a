/* One call on a label image, or with what lies outside the image as background, on several devices, or in slabs on one that has
 * not the memory for all of it: against brute force, and the same bytes as on one device. */
#include "devices.h"
#include "run_distance.h"
#include "run_labels.h"

enum { DISTANCES, CELLS, COMPONENTS, VALUES, TOUCHING, CALLS };

/* ---- One call, compared with its answer ---- */

/** The map of labels that apsis_voronoi gives, in memory to be freed. */
static void *label_cells(bench *b, const problem *p, const given *how) {
    frame set = frame_open(b, how->set, p->ndim, p->size, how->set_layout),
          cells = frame_open(b, how->nearest, p->ndim, p->size, how->nearest_layout);
    put_sites(&set, p);
    assert_ok(b->ctx, apsis_voronoi(b->ctx, &set.image, &cells.image, &p->options));
    frame_assert_unchanged(&set);
    void *map = must_alloc((size_t)pixels_of(p) * type_size(how->nearest));
    frame_get(&cells, map);
    frame_close(&set);
    frame_close(&cells);
    return map;
}

static void check_cells(bench *one, bench *other, const problem *p, const given *how) {
    void *want = label_cells(one, p, how), *got = label_cells(other, p, how);
    assert_memory_equal(got, want, (size_t)pixels_of(p) * type_size(how->nearest));
    free(want);
    free(got);
}

/** Against brute force, or in large images the map of one device. */
static void check_distances(bench *one, bench *other, const problem *p, const given *how) {
    if (pixels_of(p) <= 5000) return check_distance(other, p, how);
    outputs want = run_distance(one, p, how), got = run_distance(other, p, how);
    assert_memory_equal(got.distance, want.distance, (size_t)pixels_of(p) * type_size(how->distance));
    assert_memory_equal(got.nearest, want.nearest, (size_t)pixels_of(p) * type_size(how->nearest));
    free_outputs(&want);
    free_outputs(&got);
}

/** Closes some of the axes along which a map may be cut. */
static void close_some(problem *p, int axes, int which) {
    for (int a = 0; a < axes; ++a)
        if (which >> a & 1 && p->size[a] > 1) p->options.flags |= (uint32_t)APSIS_PERIODIC_X << a;
}

/** Runs a call on a label image, with some of the options that it takes, by `i`. */
static void check_call(int call, bench *one, bench *other, problem p, int i) {
    const apsis_type type = label_types[i % 4];
    const int axes = p.ndim == 3 && !(p.options.flags & APSIS_SLICES) ? 3 : 2;
    const unsigned layout = i % 3 ? PACKED : (unsigned)(i % LAYOUTS);
    p.options.flags |= APSIS_LABELS;
    if (call <= CELLS) close_some(&p, axes, i / 2 % 8);
    if (call == DISTANCES) {
        p.options.metric = i % 5 ? APSIS_EUCLIDEAN : APSIS_CITY_BLOCK;
        if (i % 2) p.options.flags |= APSIS_BORDER;
        if (i % 7 == 0) p.options.max_distance = 2.3;
        const given how = {type, i % 3 ? APSIS_F32 : APSIS_I32, APSIS_I64, layout, PACKED, layout};
        check_distances(one, other, &p, &how);
    } else if (call == CELLS) {
        p.options.metric = (apsis_metric)(i % 2);
        if (i % 3 == 0) p.options.max_distance = 3.5;
        const given how = {i % 9 ? type : APSIS_BIT, 0, APSIS_I64, layout, PACKED, PACKED};
        check_cells(one, other, &p, &how);
    } else if (call == COMPONENTS) {
        p.options.connectivity = 1 + i % axes;
        leave_out(&p, i % 16);
        const asked how = {type, i % 3 ? APSIS_I32 : APSIS_U8, layout, PACKED, i % 5 ? 3000 : 3, false};
        check_components(other, &p, &how);
    } else if (call == VALUES) {
        check_statistics(other, &p, type, layout, i % 3 ? 300 : 2);
    } else {
        p.options.connectivity = 1 + i % axes;
        if (i % 2) set_spacing(&p, 2, 3, 5, 1);
        check_contacts(other, &p, type, layout, i % 3 ? 300 : 2);
    }
}

/* ---- Several devices ---- */

/** Every small image of three values: with four devices one of them has no row. */
static void every_3x3_image(bench *b) {
    enum { ALL = 19683 };
    bench several[3];
    for (int k = 0; k < 3; ++k) several[k] = open_devices(b, 2 + k);
    uint8_t mask[9];
    const int step = ALL / effort(ALL / 20);
    for (int i = 0; i < ALL; i += step) {
        draw_digits(mask, 9, i);
        const problem p = new_problem(2, 3, 3, 1, mask);
        for (int call = 0; call < CALLS; ++call) check_call(call, b, &several[(i + call) % 3], p, i);
    }
    for (int k = 0; k < 3; ++k) apsis_destroy(several[k].ctx);
}

static void every_2x2x2_volume(bench *b) {
    enum { ALL = 6561 };
    bench several = open_devices(b, 2);
    uint8_t mask[8];
    for (int i = 0; i < ALL; i += ALL / effort(ALL / 20)) {
        draw_digits(mask, 8, i);
        const problem p = new_problem(3, 2, 2, 2, mask);
        for (int call = 0; call < CALLS; ++call) check_call(call, b, &several, p, i);
    }
    apsis_destroy(several.ctx);
}

static void random_problems(bench *b) {
    chance c = {15};
    for (int count = 1; count <= 4; ++count) {
        bench several = open_devices(b, count);
        for (int i = 0; i < effort(40); ++i) {
            uint8_t *mask;
            problem p = draw_labels(&c, &mask);
            while (pixels_of(&p) > 4000) free(mask), p = draw_labels(&c, &mask); /* for the oracle */
            const int call = i % CALLS;
            if (p.ndim == 3 && call != DISTANCES && call != VALUES && roll_below(&c, 3) == 0) p.options.flags |= APSIS_SLICES;
            check_call(call, b, &several, p, (int)roll_below(&c, 1000));
            free(mask);
        }
        apsis_destroy(several.ctx);
    }
}

/** Sets whose distances lead outside of the image, too. */
static void random_borders(bench *b) {
    static const unsigned flags[] = {APSIS_SIGNED, APSIS_COMPLEMENT, APSIS_SIGNED | APSIS_COMPLEMENT};
    chance c = {16};
    uint8_t mask[20 * 20 * 9];
    for (int count = 1; count <= 4; ++count) {
        bench several = open_devices(b, count);
        for (int i = 0; i < effort(30); ++i) {
            const int64_t size[3] = {1 + roll_below(&c, 20), 1 + roll_below(&c, 20), i % 2 ? 1 : 1 + roll_below(&c, 9)};
            fill_mask(mask, size, (int)roll_below(&c, MASK_KINDS), 0.2, &c);
            problem p = new_problem(i % 2 ? 2 : 3, size[0], size[1], size[2], mask);
            p.options.flags = APSIS_BORDER | flags[i % 3];
            const given how = {i % 4 ? APSIS_U8 : APSIS_I32, APSIS_F32, APSIS_I32, PACKED, PACKED, PACKED};
            check_distance(&several, &p, &how);
        }
        apsis_destroy(several.ctx);
    }
}

/** Slices that each have labels of their own, also where they close on themselves. */
static void slices(bench *b) {
    chance c = {17};
    uint8_t *mask;
    bench several = open_devices(b, 3);
    for (int i = 0; i < effort(20); ++i) {
        problem p = draw_labels(&c, &mask);
        p.ndim = 3, p.size[2] = pixels_of(&p) / p.size[0] / p.size[1];
        p.options.flags = APSIS_SLICES;
        check_call(TOUCHING, b, &several, p, i);
        if (p.size[0] > 1) p.options.flags |= APSIS_PERIODIC_X;
        p.options.connectivity = 2;
        check_contacts(&several, &p, APSIS_U16, PACKED, 10);
        p.options.flags = APSIS_SLICES;
        check_call(CELLS, b, &several, p, i);
        free(mask);
    }
    apsis_destroy(several.ctx);
}

/* ---- Memory ---- */

/** What a call asks for at once. */
static size_t workspace(bench *b, int call, const problem *p) {
    static const apsis_transform transforms[CALLS] = {APSIS_DISTANCE, APSIS_VORONOI, APSIS_COMPONENTS, APSIS_STATISTICS,
                                                      APSIS_CONTACTS};
    static const int counts[CALLS] = {3, 2, 2, 1, 1};
    const apsis_image set = {.type = APSIS_U16, .ndim = p->ndim, .size = {p->size[0], p->size[1], p->size[2]}};
    apsis_image output = set, nearest = set;
    output.type = call == DISTANCES ? APSIS_F32 : call == CELLS ? APSIS_I64 : APSIS_I32, nearest.type = APSIS_I64;
    const apsis_image *const images[] = {&set, &output, &nearest};
    apsis_options options = p->options;
    if (call != VALUES) options.flags |= APSIS_LABELS;
    size_t bytes;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, transforms[call], images, counts[call], &options, &bytes));
    return bytes;
}

/** Each call with less memory than it asks for at once; with hardly any it says so, and the context is good. */
static void little_memory(bench *b) {
    static const int64_t sizes[][3] = {{90, 140, 1}, {32, 24, 40}};
    chance c = {18};
    for (int i = 0; i < 2 * CALLS; ++i) {
        const int64_t *size = sizes[i / CALLS];
        const int call = i % CALLS;
        uint8_t *mask = must_alloc((size_t)(size[0] * size[1] * size[2]));
        for (int64_t k = 0; k < size[0] * size[1] * size[2]; ++k)
            mask[k] = (uint8_t)(k % size[0] / 7 + k / size[0] % size[1] / 5 % 3 + (roll_below(&c, 20) == 0));
        const problem p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], mask);
        problem part = p; /* what a call asks for may be much for any image */
        part.size[p.ndim - 1] = p.size[p.ndim - 1] * 2 / 3;
        budget of = {b->ctx, workspace(b, call, &part), 0};
        bench little = open_little(b, &of);
        check_call(call, b, &little, p, 1); /* APSIS_U16 */
        assert_true(of.refused > 0);
        of.most = 256; /* not even for a row */
        assert_ok(little.ctx, apsis_set_workspace(little.ctx, NULL, 0));
        const apsis_image image = {mask, APSIS_U8, p.ndim, {size[0], size[1], size[2]}, {0, 0, 0}, APSIS_HOST, 0};
        int64_t count;
        assert_fails(little.ctx, apsis_statistics(little.ctx, &image, NULL, 0, &count, NULL), APSIS_ERROR_MEMORY, "allocator");
        assert_fails(little.ctx, apsis_contacts(little.ctx, &image, NULL, 0, &count, NULL), APSIS_ERROR_MEMORY, "allocator");
        of.most = SIZE_MAX;
        check_call(call, b, &little, p, 1);
        apsis_destroy(little.ctx);
        free(mask);
    }
}

/** What cannot be cut says what it asks for. */
static void whole_alone(bench *b) {
    uint8_t mask[40 * 40];
    chance c = {19};
    const int64_t size[3] = {40, 40, 1};
    fill_mask(mask, size, NOISE, 0.5, &c);
    const problem p = new_problem(2, 40, 40, 1, mask);
    budget of = {b->ctx, 2048, 0};
    bench little = open_little(b, &of);
    frame set = frame_open(&little, APSIS_U8, 2, size, PACKED), labels = frame_open(&little, APSIS_I32, 2, size, PACKED);
    frame_put(&set, mask);
    apsis_options options = p.options;
    options.flags = APSIS_LABELS, options.delta = 1;
    assert_fails(little.ctx, apsis_components(little.ctx, &set.image, &labels.image, NULL, 0, NULL, &options),
                 APSIS_ERROR_MEMORY, "allocator");
    options.flags = APSIS_PERIODIC_Y, options.delta = 0;
    int64_t count;
    assert_fails(little.ctx, apsis_contacts(little.ctx, &set.image, NULL, 0, &count, &options), APSIS_ERROR_MEMORY,
                 "allocator");
    frame_close(&set);
    frame_close(&labels);
    apsis_destroy(little.ctx);
}

static const test_case cases[] = {TEST(every_3x3_image, ON_DEVICE_HOST), TEST(every_2x2x2_volume, ON_DEVICE_HOST),
                                  TEST(random_problems, ON_DEVICE_HOST), TEST(random_borders, ON_DEVICE_HOST),
                                  TEST(slices, ON_DEVICE_HOST),          TEST(little_memory, ON_DEVICE_HOST),
                                  TEST(whole_alone, ON_DEVICE_HOST)};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
