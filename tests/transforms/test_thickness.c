/* apsis_thickness and apsis_medial_axis: against brute force, by laws, and of images that take some of their ways alone. */
#include <math.h>

#include <apsis_measures.h>

#include "run_distance.h"

typedef enum measure { THICKNESS, MEDIAL_AXIS, MEASURES } measure;

/* ---- What it must be, by looking at every pair of pixels ---- */

/** The pixels of the image, or of one slice. */
static int64_t pixels_together(const problem *p) {
    return p->options.flags & APSIS_SLICES ? p->size[0] * p->size[1] : pixels_of(p);
}

static bool is_member(const problem *p, int64_t i) { return (p->mask[i] != 0) != ((p->options.flags & APSIS_COMPLEMENT) != 0); }

/** The square of the distance from a pixel of the set to the nearest one outside; -1: there is none. */
static int64_t square_at(const problem *p, int64_t i) {
    const int64_t together = pixels_together(p), first = i / together * together;
    int64_t least = -1, step = 1;
    for (int64_t j = first; j < first + together; ++j)
        if (!is_member(p, j) && (least < 0 || cost_between(p, i, j) < least)) least = cost_between(p, i, j);
    const int axes = p->options.flags & APSIS_SLICES ? 2 : p->ndim;
    for (int a = 0; p->options.flags & APSIS_BORDER && a < axes; step *= p->size[a++]) {
        const int64_t at = i / step % p->size[a], out = at + 1 < p->size[a] - at ? at + 1 : p->size[a] - at;
        const int64_t cost = p->ratio[a] * p->ratio[a] * out * out;
        if (least < 0 || cost < least) least = cost;
    }
    return least;
}

/** The squares of radii that a call must give; 0 outside, -1: infinite. */
static int64_t *solve_balls(const problem *p, measure what) {
    const int64_t all = pixels_of(p), together = pixels_together(p);
    int64_t *square = must_alloc((size_t)(all + 1) * sizeof *square), *result = must_alloc((size_t)(all + 1) * sizeof *result);
    for (int64_t i = 0; i < all; ++i) square[i] = is_member(p, i) ? square_at(p, i) : 0, result[i] = 0;
    for (int64_t i = 0; i < all; ++i) {
        if (square[i] < 0) result[i] = -1;
        if (square[i] <= 0) continue;
        const int64_t first = i / together * together;
        int64_t greatest = 0, centre = -1;
        for (int64_t c = first; c < first + together; ++c) {
            if (square[c] <= cost_between(p, i, c)) continue;
            const int64_t power = what == THICKNESS ? square[c] : square[c] - cost_between(p, i, c);
            if (power > greatest) greatest = power, centre = c;
        }
        result[what == THICKNESS ? i : centre] = what == THICKNESS ? greatest : square[centre];
    }
    free(square);
    return result;
}

/* ---- What it is ---- */

static uint8_t *run_balls(bench *b, const problem *p, measure what, const given *how) {
    frame set = frame_open(b, how->set, p->ndim, p->size, how->set_layout);
    frame out = frame_open(b, how->distance, p->ndim, p->size, how->distance_layout);
    put_sites(&set, p);
    if (what == THICKNESS)
        assert_ok(b->ctx, apsis_thickness(b->ctx, &set.image, &out.image, &p->options));
    else
        assert_ok(b->ctx, apsis_medial_axis(b->ctx, &set.image, &out.image, &p->options));
    uint8_t *pixels = must_alloc((size_t)(out.count + 8) * 8);
    frame_get(&out, pixels);
    frame_assert_unchanged(&set);
    frame_close(&set);
    frame_close(&out);
    return pixels;
}

static void check_balls(bench *b, const problem *p, const given *how) {
    for (int what = 0; what < MEASURES; ++what) {
        const outputs got = {run_balls(b, p, (measure)what, how), NULL};
        const answer want = {solve_balls(p, (measure)what), NULL};
        compare_outputs(p, how, &got, &want);
        free(got.distance);
        free(want.cost);
    }
}

static const given SQUARES = {APSIS_U8, APSIS_I32, (apsis_type)0, PACKED, PACKED, PACKED};

/* ---- Every small image ---- */

static void every_4x4_image(bench *b) {
    int count;
    uint8_t *masks = every_4x4(&count);
    static const uint32_t flags[] = {0, APSIS_BORDER, APSIS_COMPLEMENT};
    for (int k = 0; k < COUNT(flags); ++k) {
        problem p = new_problem(3, 4, 4, count, masks);
        p.options.flags = APSIS_SLICES | flags[k];
        if (k == 2) set_spacing(&p, 2, 3, 1, 0.5);
        given how = SQUARES;
        if (k == 2) how.distance = APSIS_F64;
        check_balls(b, &p, &how);
    }
    free(masks);
}

static void every_2x2x3_volume(bench *b) {
    for (int i = 0; i < 4096; i += 4096 / effort(4096)) {
        uint8_t mask[12];
        for (int k = 0; k < 12; ++k) mask[k] = (uint8_t)(i >> k & 1);
        problem p = new_problem(3, 2, 2, 3, mask);
        if (i % 3 == 0) p.options.flags |= APSIS_BORDER;
        check_balls(b, &p, &SQUARES);
    }
}

/* ---- Random ones ---- */

static void check_random(bench *b, uint64_t seed, int count) {
    static const int64_t sizes[] = {1, 2, 3, 5, 8, 13, 16, 31, 33, 64, 100, 130, 257};
    static const int64_t ratios[][3] = {{1, 1, 1}, {1, 2, 3}, {3, 2, 1}, {5, 4, 7}, {1, 1024, 1}, {1 << 17, 3, 2}};
    static const apsis_type sets[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    static const apsis_type reals[] = {APSIS_F32, APSIS_F64}, squares[] = {APSIS_I32, APSIS_I64};
    static const double units[] = {1, 0.5, 8};
    chance c = {seed};
    for (int i = 0; i < count; ++i) {
        problem p = new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL);
        do
            for (int a = 0; a < p.ndim; ++a) p.size[a] = sizes[roll_below(&c, COUNT(sizes))];
        while (pixels_of(&p) > 1500);
        const bool spaced = roll_below(&c, 2);
        const int64_t *ratio = ratios[roll_below(&c, COUNT(ratios))];
        if (spaced) set_spacing(&p, ratio[0], ratio[1], ratio[2], units[roll_below(&c, COUNT(units))]);
        if (p.ndim == 3 && roll_below(&c, 3) == 0) p.options.flags |= APSIS_SLICES;
        const int border = (int)roll_below(&c, 3);
        p.options.flags |= border == 0 ? APSIS_BORDER : border == 1 ? APSIS_COMPLEMENT : 0;
        const given how = {.set = sets[roll_below(&c, COUNT(sets))],
                           .distance = (spaced || roll_below(&c, 2) ? reals : squares)[roll_below(&c, 2)],
                           .set_layout = roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED,
                           .distance_layout = roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED};
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, (int)roll_below(&c, MASK_KINDS), roll_real(&c), &c);
        p.mask = mask;
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_balls(b, &p, &how);
        free(mask);
    }
}

static void random_balls(bench *b) { check_random(b, 2720, effort(400)); }

static void random_on_several_devices(bench *b) {
    const int devices[3] = {b->device, b->device, b->device};
    bench many = *b;
    assert_ok(NULL, apsis_create_devices(APSIS_VERSION, devices, 3, &many.ctx));
    check_random(&many, 2721, effort(200));
    apsis_destroy(many.ctx);
}

/** Images that are shared out in boxes. */
static void images_of_many_boxes(bench *b) {
    static const int64_t sizes[][3] = {{110, 90, 1}, {24, 20, 22}, {80, 60, 2}};
    chance c = {2725};
    for (int k = 0; k < effort(COUNT(sizes)); ++k) {
        problem p = new_problem(sizes[k][2] > 1 ? 3 : 2, sizes[k][0], sizes[k][1], sizes[k][2], NULL);
        if (k == 2) p.options.flags |= APSIS_SLICES;
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, BLOBS, 0.7, &c);
        p.mask = mask;
        check_balls(b, &p, &SQUARES);
        free(mask);
    }
}

/** Squares that 32 bits do not hold. */
static void long_images(bench *b) {
    static const int64_t sizes[][3] = {{40000, 2, 1}, {1, 40000, 1}, {1, 2, 40000}};
    for (int k = 0; k < COUNT(sizes); ++k) {
        problem p = new_problem(k == 2 ? 3 : 2, sizes[k][0], sizes[k][1], sizes[k][2], NULL);
        const size_t pixels = (size_t)pixels_of(&p);
        uint8_t *mask = must_alloc(pixels);
        memset(mask, 1, pixels);
        mask[0] = 0;
        p.mask = mask;
        given how = SQUARES;
        how.distance = APSIS_I64;
        for (int what = 0; what < MEASURES; ++what) {
            int64_t *got = (int64_t *)(void *)run_balls(b, &p, (measure)what, &how);
            const int64_t last = (int64_t)pixels - 1, square = cost_between(&p, 0, last);
            assert_int_equal(got[0], 0);
            assert_int_equal(got[last], square);
            assert_int_equal(got[20000], what == THICKNESS ? square : 0);
            free(got);
        }
        free(mask);
    }
}

/* ---- Laws ---- */

/** The balls of the axis cover the set and nothing else, and none lies in another; and the thickness is no less than the
 *  distance, nor less than of any ball of the axis that covers the pixel. */
static void laws_of_balls(bench *b) {
    chance c = {2722};
    for (int round = 0; round < effort(20); ++round) {
        problem p = new_problem(2 + round % 2, 70, 50, 1, NULL);
        if (p.ndim == 3) p.size[0] = 21, p.size[1] = 17, p.size[2] = 15;
        const int64_t pixels = pixels_of(&p);
        uint8_t *mask = must_alloc((size_t)pixels);
        do fill_mask(mask, p.size, (int)roll_below(&c, MASK_KINDS), roll_real(&c), &c);
        while (memchr(mask, 0, (size_t)pixels) == NULL);
        p.mask = mask;
        int32_t *axis = (int32_t *)(void *)run_balls(b, &p, MEDIAL_AXIS, &SQUARES);
        int32_t *thick = (int32_t *)(void *)run_balls(b, &p, THICKNESS, &SQUARES);
        for (int64_t i = 0; i < pixels; ++i) {
            int64_t greatest = 0;
            for (int64_t k = 0; k < pixels; ++k) {
                const int64_t apart = cost_between(&p, i, k);
                if (apart < axis[k] && axis[k] > greatest) greatest = axis[k];
                if (i != k && axis[i] && axis[k]) assert_true(sqrt((double)apart) > sqrt(axis[k]) - sqrt(axis[i]) - 1e-9);
            }
            assert_int_equal(greatest > 0, mask[i] != 0);
            assert_true(thick[i] >= greatest && thick[i] >= axis[i]);
        }
        free(axis);
        free(thick);
        free(mask);
    }
}

/** A disc, a bar and a ball are as thick as they are made; and so is one in a larger image, in every box of pixels. */
static void made_shapes(bench *b) {
    enum { SIDE = 300 };
    uint8_t *mask = must_alloc(SIDE * SIDE);
    problem p = new_problem(2, SIDE, SIDE, 1, mask);
    for (int i = 0; i < SIDE * SIDE; ++i) {
        const int x = i % SIDE - 150, y = i / SIDE - 150;
        mask[i] = x * x + y * y < 10000 || (y >= -5 && y <= 5);
    }
    int32_t *thick = (int32_t *)(void *)run_balls(b, &p, THICKNESS, &SQUARES);
    for (int i = 0; i < SIDE * SIDE; ++i) {
        const int x = i % SIDE - 150, y = i / SIDE - 150;
        if (x * x + y * y < 10000) assert_int_equal(thick[i], 10000);
        if (!mask[i]) assert_int_equal(thick[i], 0);
        if (mask[i] && (x < -115 || x > 115)) assert_int_equal(thick[i], 36);
    }
    free(thick);
    free(mask);
}

/** The bytes of large images do not depend on threads. */
static void the_same_with_any_threads(bench *b) {
    static const int64_t sizes[][3] = {{400, 300, 1}, {70, 50, 60}};
    chance c = {2723};
    for (int k = 0; k < COUNT(sizes); ++k) {
        problem p = new_problem(sizes[k][2] > 1 ? 3 : 2, sizes[k][0], sizes[k][1], sizes[k][2], NULL);
        const size_t pixels = (size_t)pixels_of(&p);
        uint8_t *mask = must_alloc(pixels);
        fill_mask(mask, p.size, BLOBS, 0.6, &c);
        p.mask = mask;
        for (int what = 0; what < MEASURES; ++what) {
            uint8_t *want = NULL;
            for (int threads = 1; threads < 6; threads += 2) {
                assert_ok(b->ctx, apsis_set_threads(b->ctx, threads));
                uint8_t *got = run_balls(b, &p, (measure)what, &SQUARES);
                if (want) assert_memory_equal(got, want, pixels * 4);
                if (want) free(got);
                if (!want) want = got;
            }
            free(want);
        }
        free(mask);
    }
}

/* ---- Calls ---- */

static void bad_calls(bench *b) {
    uint8_t pixels[16] = {1};
    int32_t out[16] = {7};
    apsis_image set = {.data = pixels, .type = APSIS_U8, .ndim = 2, .size = {4, 4}}, other = set;
    apsis_image radii = {.data = out, .type = APSIS_I32, .ndim = 2, .size = {4, 4}};
    apsis_options options = APSIS_OPTIONS_INIT;
#define REFUSED(in, to, status, text)                                                                     \
    do {                                                                                                  \
        assert_fails(b->ctx, apsis_thickness(b->ctx, in, to, &options), status, "thickness: |" text);     \
        assert_fails(b->ctx, apsis_medial_axis(b->ctx, in, to, &options), status, "medial_axis: |" text); \
    } while (0)
    REFUSED(NULL, &radii, APSIS_ERROR_ARGUMENT, "set is NULL");
    REFUSED(&set, NULL, APSIS_ERROR_ARGUMENT, "is NULL|needed");
    REFUSED(&set, &set, APSIS_ERROR_ARGUMENT, "type is APSIS_U8");
    other = radii;
    REFUSED(&other, &radii, APSIS_ERROR_ARGUMENT, "overlap");
    other = set, other.size[0] = 3;
    REFUSED(&other, &radii, APSIS_ERROR_ARGUMENT, "size");
    options.flags = APSIS_LABELS;
    REFUSED(&set, &radii, APSIS_ERROR_UNSUPPORTED, "APSIS_LABELS");
    options.flags = APSIS_SIGNED;
    REFUSED(&set, &radii, APSIS_ERROR_ARGUMENT, "flags is 0x2");
    options.flags = APSIS_SLICES;
    REFUSED(&set, &radii, APSIS_ERROR_ARGUMENT, "APSIS_SLICES|ndim is 2");
    options.flags = APSIS_PERIODIC_X;
    REFUSED(&set, &radii, APSIS_ERROR_UNSUPPORTED, "APSIS_PERIODIC_X");
    options.flags = APSIS_BORDER | APSIS_COMPLEMENT;
    REFUSED(&set, &radii, APSIS_ERROR_UNSUPPORTED, "APSIS_BORDER|APSIS_COMPLEMENT|margin");
    options.flags = 0, options.metric = APSIS_CITY_BLOCK;
    REFUSED(&set, &radii, APSIS_ERROR_UNSUPPORTED, "metric is APSIS_CITY_BLOCK|APSIS_EUCLIDEAN");
    options.metric = APSIS_EUCLIDEAN, options.max_distance = 3;
    REFUSED(&set, &radii, APSIS_ERROR_ARGUMENT, "max_distance is 3");
    options.max_distance = 0, options.method = APSIS_SWEEP;
    REFUSED(&set, &radii, APSIS_ERROR_ARGUMENT, "method is APSIS_SWEEP|APSIS_AUTO");
    options.method = APSIS_AUTO, options.delta = 1;
    REFUSED(&set, &radii, APSIS_ERROR_ARGUMENT, "delta is 1");
    options.delta = 0, options.spacing[0] = options.spacing[1] = 2;
    REFUSED(&set, &radii, APSIS_ERROR_ARGUMENT, "integer|spacing is not 1");
    assert_int_equal(out[0], 7);
    assert_ok(b->ctx, apsis_thickness(b->ctx, &set, &radii, NULL));
    assert_int_equal(out[0], 1);
    const apsis_image empty = {.type = APSIS_U8, .ndim = 2, .size = {0, 7}};
    other = empty, other.type = APSIS_F32;
    assert_ok(b->ctx, apsis_thickness(b->ctx, &empty, &other, NULL));
    assert_ok(b->ctx, apsis_medial_axis(b->ctx, &empty, &other, NULL));
}

static int note_rise(void *last, double done) {
    assert_true(done >= *(double *)last && done <= 1);
    *(double *)last = done;
    return 0;
}

static void progress_and_stop(bench *b) {
    uint8_t *mask = must_alloc(300 * 300);
    chance c = {2724};
    fill_mask(mask, (const int64_t[3]){300, 300, 1}, BLOBS, 0.5, &c);
    const problem p = new_problem(2, 300, 300, 1, mask);
    frame set = frame_open(b, APSIS_U8, 2, p.size, PACKED), out = frame_open(b, APSIS_I32, 2, p.size, PACKED);
    put_sites(&set, &p);
    for (int what = 0; what < MEASURES; ++what) {
        apsis_status (*const call)(apsis_context *, const apsis_image *, const apsis_image *, const apsis_options *) =
            what == THICKNESS ? apsis_thickness : apsis_medial_axis;
        double last = 0;
        assert_ok(b->ctx, apsis_set_progress(b->ctx, note_rise, &last));
        assert_ok(b->ctx, call(b->ctx, &set.image, &out.image, NULL));
        assert_true(last == 1);
        int calls = 0;
        assert_ok(b->ctx, apsis_set_progress(b->ctx, stop_at_once, &calls));
        assert_fails(b->ctx, call(b->ctx, &set.image, &out.image, NULL), APSIS_ERROR_CANCELLED, "progress callback");
        assert_true(calls == 1);
        assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
        assert_ok(b->ctx, call(b->ctx, &set.image, &out.image, NULL));
    }
    frame_close(&set);
    frame_close(&out);
    free(mask);
}

static const test_case cases[] = {
    TEST(every_4x4_image, EVERYWHERE),
    TEST(every_2x2x3_volume, EVERYWHERE),
    TEST(random_balls, EVERYWHERE),
    TEST(random_on_several_devices, ON_DEVICE_HOST),
    TEST(images_of_many_boxes, EVERYWHERE),
    TEST(long_images, EVERYWHERE),
    TEST(laws_of_balls, EVERYWHERE),
    TEST(made_shapes, EVERYWHERE),
    TEST(the_same_with_any_threads, EVERYWHERE),
    TEST(bad_calls, WITH_HOST_IMAGES),
    TEST(progress_and_stop, EVERYWHERE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
