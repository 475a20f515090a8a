/* apsis_morphology: against brute force, against the map of apsis_distance, and by laws. */
#include <math.h>

#include <apsis_measures.h>

#include "run_distance.h"

enum { OPERATIONS = 4 };

typedef struct question {
    problem p;
    apsis_operation operation;
    double radius;
} question;

/* ---- What it must be, by looking at every pixel of every ball ---- */

static double length_of(const problem *p, int64_t cost) {
    return p->unit * (p->options.metric == APSIS_EUCLIDEAN ? exact_root(cost) : (double)cost);
}

/** Of the pixels of an image, or of one slice, whether j is in the ball around i. */
static uint8_t *find_balls(const problem *p, int64_t pixels, double radius) {
    uint8_t *near = must_alloc((size_t)(pixels * pixels));
    for (int64_t i = 0; i < pixels; ++i)
        for (int64_t j = 0; j < pixels; ++j) near[i * pixels + j] = length_of(p, cost_between(p, i, j)) <= radius;
    return near;
}

/** A pixel is dilated if some pixel of its ball is a member, and eroded if none is not. */
static void apply(uint8_t *image, const uint8_t *near, int64_t pixels, bool dilate) {
    uint8_t *was = must_alloc((size_t)pixels);
    memcpy(was, image, (size_t)pixels);
    for (int64_t i = 0; i < pixels; ++i)
        for (int64_t j = 0; j < pixels; ++j)
            if (near[i * pixels + j] && was[j] == dilate) image[i] = dilate;
    free(was);
}

static void solve_without_border(const question *q, uint8_t *result) {
    const problem *p = &q->p;
    const bool complement = p->options.flags & APSIS_COMPLEMENT;
    const int64_t all = pixels_of(p), pixels = p->options.flags & APSIS_SLICES ? p->size[0] * p->size[1] : all;
    uint8_t *near = find_balls(p, pixels, q->radius);
    for (int64_t i = 0; i < all; ++i) result[i] = (p->mask[i] != 0) != complement;
    const bool first = q->operation == APSIS_DILATE || q->operation == APSIS_CLOSE;
    for (int64_t at = 0; at < all; at += pixels) {
        apply(result + at, near, pixels, first);
        if (q->operation == APSIS_OPEN || q->operation == APSIS_CLOSE) apply(result + at, near, pixels, !first);
    }
    free(near);
}

/** With APSIS_BORDER an image with a margin of zeros: of those the next ones along an axis are the nearest. */
static uint8_t *solve_morphology(const question *q) {
    const problem *p = &q->p;
    uint8_t *result = must_alloc((size_t)pixels_of(p) + 1);
    if (!(p->options.flags & APSIS_BORDER)) {
        solve_without_border(q, result);
        return result;
    }
    question wide = *q;
    const int axes = p->options.flags & APSIS_SLICES ? 2 : p->ndim;
    for (int a = 0; a < axes; ++a) wide.p.size[a] += 2;
    const int64_t w = wide.p.size[0], h = wide.p.size[1], all = pixels_of(&wide.p);
    uint8_t *mask = must_alloc((size_t)all), *of_wide = must_alloc((size_t)all);
    memset(mask, 0, (size_t)all);
    for (int round = 0; round < 2; ++round) {
        for (int64_t i = 0; i < pixels_of(p); ++i) {
            const int64_t x = i % p->size[0] + 1, y = i / p->size[0] % p->size[1] + 1;
            const int64_t at = x + w * (y + h * (i / p->size[0] / p->size[1] + (axes == 3)));
            if (round == 0) mask[at] = p->mask[i];
            if (round == 1) result[i] = of_wide[at];
        }
        wide.p.mask = mask;
        if (round == 0) solve_without_border(&wide, of_wide);
    }
    free(mask);
    free(of_wide);
    return result;
}

/* ---- What it is ---- */

static uint8_t *run_morphology(bench *b, const question *q, apsis_type set_type, unsigned set_layout, apsis_type result_type,
                               unsigned result_layout) {
    const problem *p = &q->p;
    frame set = frame_open(b, set_type, p->ndim, p->size, set_layout);
    frame result = frame_open(b, result_type, p->ndim, p->size, result_layout);
    put_sites(&set, p);
    assert_ok(b->ctx, apsis_morphology(b->ctx, q->operation, q->radius, &set.image, &result.image, &p->options));
    uint8_t *pixels = must_alloc((size_t)(result.count + 8) * 8);
    frame_get(&result, pixels);
    frame_assert_unchanged(&set);
    frame_close(&set);
    frame_close(&result);
    return pixels;
}

static void assert_same(const question *q, const uint8_t *got, const uint8_t *want) {
    const problem *p = &q->p;
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        if (got[i] == want[i]) continue;
        char text[256];
        describe(p, text, sizeof text);
        print_error("%s, operation %d, radius %.17g\n  result at (%lld, %lld, %lld) is %d, but should be %d\n", text,
                    (int)q->operation, q->radius, (long long)(i % p->size[0]), (long long)(i / p->size[0] % p->size[1]),
                    (long long)(i / p->size[0] / p->size[1]), got[i], want[i]);
        fail();
    }
}

/** Whether the border asks for pixels beyond it. */
static bool is_refused(const question *q) {
    const bool complement = q->p.options.flags & APSIS_COMPLEMENT;
    return q->p.options.flags & APSIS_BORDER && q->operation == (complement ? APSIS_OPEN : APSIS_CLOSE);
}

static void check_morphology(bench *b, const question *q, apsis_type set, unsigned set_layout, apsis_type result,
                             unsigned result_layout) {
    if (is_refused(q)) return;
    uint8_t *got = run_morphology(b, q, set, set_layout, result, result_layout), *want = solve_morphology(q);
    assert_same(q, got, want);
    free(got);
    free(want);
}

/* ---- Every small image ---- */

static const apsis_type masks[] = {APSIS_U8, APSIS_BIT};
static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD};
#define ROOT_2 1.4142135623730951
static const double radii[] = {0, 0.5, 1, 1.4142135623730949, ROOT_2, 1.5, 2, 2.23606797749979, 2.9, 3, 100, INFINITY};

static void every_3x4_mask(bench *b) {
    enum { ALL = 4096, PIXELS = 12 };
    const int step = ALL / effort(ALL), images = (ALL + step - 1) / step;
    uint8_t *mask = must_alloc((size_t)images * PIXELS);
    for (int i = 0; i < images * PIXELS; ++i) mask[i] = (uint8_t)(i / PIXELS * step >> i % PIXELS & 1);
    for (int r = 0; r < COUNT(radii); ++r)
        for (int way = 0; way < 24; ++way) {
            question q = {new_problem(3, 3, 4, images, mask), (apsis_operation)(way % OPERATIONS), radii[r]};
            const int k = way / OPERATIONS; /* metrics; then Euclidean with a border, of a complement, with spacing */
            q.p.options.metric = metrics[k < 3 ? k : 0];
            q.p.options.flags =
                APSIS_SLICES | (k == 3 || (k == 4 && r % 2) ? APSIS_BORDER : 0) | (k == 4 ? APSIS_COMPLEMENT : 0);
            if (k == 5) set_spacing(&q.p, 2, 1, 1, 0.5);
            check_morphology(b, &q, masks[(r + way) % 2], PACKED, masks[(r + way / 2) % 2], PACKED);
        }
    free(mask);
}

static void every_2x2x2_volume(bench *b) {
    uint8_t mask[8];
    for (int i = 0; i < 256; i += 256 / effort(256))
        for (int way = 0; way < 3 * OPERATIONS; ++way) {
            for (int k = 0; k < 8; ++k) mask[k] = (uint8_t)(i >> k & 1);
            question q = {new_problem(3, 2, 2, 2, mask), (apsis_operation)(way % OPERATIONS), radii[(i + way) % COUNT(radii)]};
            q.p.options.metric = metrics[way / OPERATIONS];
            if (i % 3 == 0) q.p.options.flags |= APSIS_BORDER;
            if (i % 5 == 0) q.p.options.flags |= APSIS_COMPLEMENT;
            if (i % 7 == 0 && q.p.options.metric != APSIS_CHESSBOARD) set_spacing(&q.p, 1, 2, 3, 1);
            check_morphology(b, &q, masks[i % 2], PACKED, masks[i / 2 % 2], PACKED);
        }
}

/* ---- Random ones ---- */

static double some_radius(chance *c, const problem *p) {
    if (roll_below(c, 3) == 0) return radii[roll_below(c, COUNT(radii))] * p->unit;
    if (roll_below(c, 2)) return roll_real(c) * 20 * p->unit;
    const int64_t square = roll_below(c, 400); /* a length that occurs, or the number next to it */
    const double length = length_of(p, square);
    return roll_below(c, 2) ? length : nextafter(length, roll_below(c, 2) ? 0 : INFINITY);
}

static void check_random(bench *b, uint64_t seed, int count) {
    static const int64_t sizes[] = {1, 2, 3, 5, 8, 13, 16, 31, 32, 33, 63, 64, 65, 100, 257};
    static const int64_t ratios[][3] = {{1, 1, 1}, {1, 2, 3}, {3, 2, 1}, {5, 4, 7}, {1, 1024, 1}};
    static const apsis_type sets[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    static const double units[] = {1, 0.5, 8};
    chance c = {seed};
    for (int i = 0; i < count; ++i) {
        question q = {new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL), (apsis_operation)roll_below(&c, OPERATIONS), 0};
        problem *p = &q.p;
        do
            for (int a = 0; a < p->ndim; ++a) p->size[a] = sizes[roll_below(&c, COUNT(sizes))];
        while (pixels_of(p) > 1500);
        p->options.metric = metrics[roll_below(&c, 3)];
        const int64_t *ratio = ratios[p->options.metric == APSIS_CHESSBOARD ? 0 : roll_below(&c, COUNT(ratios))];
        if (roll_below(&c, 2)) set_spacing(p, ratio[0], ratio[1], ratio[2], units[roll_below(&c, COUNT(units))]);
        if (p->ndim == 3 && roll_below(&c, 3) == 0) p->options.flags |= APSIS_SLICES;
        if (roll_below(&c, 3) == 0) p->options.flags |= APSIS_COMPLEMENT;
        if (roll_below(&c, 3) == 0) p->options.flags |= APSIS_BORDER;
        q.radius = some_radius(&c, p);
        uint8_t *mask = must_alloc((size_t)pixels_of(p));
        fill_mask(mask, p->size, (int)roll_below(&c, MASK_KINDS), roll_real(&c), &c);
        p->mask = mask;
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        const unsigned set_layout = roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED;
        const unsigned result_layout = roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED;
        check_morphology(b, &q, sets[roll_below(&c, COUNT(sets))], set_layout, masks[roll_below(&c, 2)], result_layout);
        free(mask);
    }
}

static void random_morphology(bench *b) { check_random(b, 2701, effort(800)); }

/** In slabs, of which each has some rows, or none. */
static void random_on_several_devices(bench *b) {
    const int devices[3] = {b->device, b->device, b->device};
    bench many = *b;
    assert_ok(NULL, apsis_create_devices(APSIS_VERSION, devices, 3, &many.ctx));
    check_random(&many, 2706, effort(300));
    apsis_destroy(many.ctx);
}

/* ---- Of images for which every way of a device is taken: what the map of apsis_distance says ---- */

static void as_the_map_says(bench *b) {
    static const int64_t sizes[][3] = {{300, 70, 1}, {70, 300, 1}, {2501, 40, 1}, {9006, 33, 1}, {200, 3000, 1}, {40, 37, 45}};
    static const double some[] = {0, 1.5, 12, 60, 700};
    static const double densities[] = {0.3, 0.001, 0.00002};
    chance c = {2702};
    const int runs = COUNT(sizes) * COUNT(densities), step = runs / effort(runs);
    for (int run = 0; run < runs; run += step) {
        const int s = run % COUNT(sizes), d = run / COUNT(sizes);
        question q = {new_problem(sizes[s][2] > 1 ? 3 : 2, sizes[s][0], sizes[s][1], sizes[s][2], NULL), APSIS_DILATE, 0};
        const size_t pixels = (size_t)pixels_of(&q.p);
        uint8_t *mask = must_alloc(pixels), *want = must_alloc(pixels);
        fill_mask(mask, q.p.size, NOISE, densities[d], &c);
        mask[roll_below(&c, (int64_t)pixels)] = 1;
        q.p.mask = mask;
        const given how = {APSIS_U8, APSIS_F64, (apsis_type)0, PACKED, PACKED, PACKED};
        outputs map = run_distance(b, &q.p, &how);
        for (int r = 0; r < COUNT(some); ++r) {
            q.radius = some[r];
            for (int erode = 0; erode < 2; ++erode) { /* of the complement: what is left of it */
                q.operation = erode ? APSIS_ERODE : APSIS_DILATE;
                q.p.options.flags = erode ? APSIS_COMPLEMENT : 0;
                for (size_t i = 0; i < pixels; ++i) want[i] = (((double *)map.distance)[i] <= q.radius) != erode;
                uint8_t *got = run_morphology(b, &q, APSIS_U8, PACKED, masks[(r + erode) % 2], r % 3 ? PACKED : PADDED);
                assert_same(&q, got, want);
                free(got);
            }
        }
        free_outputs(&map);
        free(mask);
        free(want);
    }
}

/* ---- Laws ---- */

static uint8_t *result_of(bench *b, const question *q, const uint8_t *mask, apsis_operation operation, uint32_t flags) {
    question one = *q;
    one.p.mask = mask;
    one.operation = operation;
    one.p.options.flags = flags;
    return run_morphology(b, &one, APSIS_U8, PACKED, APSIS_U8, PACKED);
}

static void laws_of_morphology(bench *b) {
    chance c = {2703};
    for (int round = 0; round < effort(30); ++round) {
        question q = {new_problem(2 + round % 2, 90, 70, 1, NULL), APSIS_DILATE, roll_real(&c) * 9};
        if (q.p.ndim == 3) q.p.size[0] = 24, q.p.size[1] = 17, q.p.size[2] = 20;
        q.p.options.metric = metrics[roll_below(&c, 3)];
        const int64_t pixels = pixels_of(&q.p);
        uint8_t *mask = must_alloc((size_t)pixels);
        fill_mask(mask, q.p.size, (int)roll_below(&c, MASK_KINDS), roll_real(&c), &c);
        uint8_t *dilated = result_of(b, &q, mask, APSIS_DILATE, 0), *eroded = result_of(b, &q, mask, APSIS_ERODE, 0);
        uint8_t *opened = result_of(b, &q, mask, APSIS_OPEN, 0), *closed = result_of(b, &q, mask, APSIS_CLOSE, 0);
        uint8_t *again[2] = {result_of(b, &q, opened, APSIS_OPEN, 0), result_of(b, &q, closed, APSIS_CLOSE, 0)};
        uint8_t *dual[2] = {result_of(b, &q, mask, APSIS_ERODE, APSIS_COMPLEMENT),
                            result_of(b, &q, mask, APSIS_OPEN, APSIS_COMPLEMENT)};
        for (int64_t i = 0; i < pixels; ++i) {
            const int in = mask[i] != 0;
            assert_true(eroded[i] <= opened[i] && opened[i] <= in && in <= closed[i] && closed[i] <= dilated[i]);
            assert_int_equal(again[0][i], opened[i]);
            assert_int_equal(again[1][i], closed[i]);
            assert_int_equal(dual[0][i], !dilated[i]);
            assert_int_equal(dual[1][i], !closed[i]);
        }
        for (int k = 0; k < 2; ++k) free(again[k]), free(dual[k]);
        free(dilated), free(eroded), free(opened), free(closed);
        free(mask);
    }
}

/* ---- Calls ---- */

static void bad_calls(bench *b) {
    uint8_t pixels[2][16] = {{1}};
    apsis_image set = {.data = pixels[0], .type = APSIS_U8, .ndim = 2, .size = {4, 4}}, result = set, other = set;
    result.data = pixels[1];
    apsis_options options = APSIS_OPTIONS_INIT;
#define REFUSED(operation, radius, in, out, status, text) \
    assert_fails(b->ctx, apsis_morphology(b->ctx, operation, radius, in, out, &options), status, text)
    REFUSED((apsis_operation)4, 1, &set, &result, APSIS_ERROR_ARGUMENT, "morphology: |operation is 4|no apsis_operation");
    REFUSED((apsis_operation)-1, 1, &set, &result, APSIS_ERROR_ARGUMENT, "operation is -1");
    REFUSED(APSIS_OPEN, -1, &set, &result, APSIS_ERROR_ARGUMENT, "radius is -1|0 or more");
    REFUSED(APSIS_OPEN, NAN, &set, &result, APSIS_ERROR_ARGUMENT, "radius is |nan|0 or more");
    REFUSED(APSIS_OPEN, -INFINITY, &set, &result, APSIS_ERROR_ARGUMENT, "radius is -inf");
    REFUSED(APSIS_OPEN, 1, NULL, &result, APSIS_ERROR_ARGUMENT, "set is NULL");
    REFUSED(APSIS_OPEN, 1, &set, NULL, APSIS_ERROR_ARGUMENT, "result is NULL");
    REFUSED(APSIS_OPEN, 1, &set, &set, APSIS_ERROR_ARGUMENT, "set|result|overlap");
    other.type = APSIS_F32;
    REFUSED(APSIS_OPEN, 1, &set, &other, APSIS_ERROR_ARGUMENT, "result: type is APSIS_F32|mask is APSIS_BIT or APSIS_U8");
    REFUSED(APSIS_OPEN, 1, &other, &result, APSIS_ERROR_ARGUMENT, "set: type is APSIS_F32");
    other = result, other.size[0] = 3;
    REFUSED(APSIS_OPEN, 1, &set, &other, APSIS_ERROR_ARGUMENT, "result|size");
    options.flags = APSIS_SIGNED;
    REFUSED(APSIS_DILATE, 1, &set, &result, APSIS_ERROR_ARGUMENT, "flags is 0x2");
    options.flags = APSIS_SLICES;
    REFUSED(APSIS_DILATE, 1, &set, &result, APSIS_ERROR_ARGUMENT, "APSIS_SLICES|ndim is 2");
    options.flags = APSIS_BORDER;
    REFUSED(APSIS_CLOSE, 1, &set, &result, APSIS_ERROR_UNSUPPORTED, "APSIS_BORDER|close a set|margin");
    options.flags = APSIS_BORDER | APSIS_COMPLEMENT;
    REFUSED(APSIS_OPEN, 1, &set, &result, APSIS_ERROR_UNSUPPORTED, "APSIS_BORDER|open a complement|margin");
    options.flags = 0;
    options.max_distance = 3;
    REFUSED(APSIS_DILATE, 1, &set, &result, APSIS_ERROR_ARGUMENT, "max_distance is 3|radius");
    options.max_distance = 0, options.method = APSIS_SWEEP;
    REFUSED(APSIS_DILATE, 1, &set, &result, APSIS_ERROR_ARGUMENT, "method is APSIS_SWEEP|APSIS_AUTO");
    options.method = APSIS_AUTO, options.delta = 1;
    REFUSED(APSIS_DILATE, 1, &set, &result, APSIS_ERROR_ARGUMENT, "delta is 1");
    options.delta = 0, options.metric = APSIS_CHAMFER;
    REFUSED(APSIS_DILATE, 1, &set, &result, APSIS_ERROR_UNSUPPORTED, "APSIS_CHAMFER");
    for (int i = 0; i < 16; ++i) assert_int_equal(pixels[1][i], 0);
    assert_ok(b->ctx, apsis_morphology(b->ctx, APSIS_DILATE, INFINITY, &set, &result, NULL));
    for (int i = 0; i < 16; ++i) assert_int_equal(pixels[1][i], 1);
}

static void images_without_pixels(bench *b) {
    const apsis_image empty = {.type = APSIS_U8, .ndim = 2, .size = {0, 7}};
    for (int k = 0; k < OPERATIONS; ++k)
        assert_ok(b->ctx, apsis_morphology(b->ctx, (apsis_operation)k, 2, &empty, &empty, NULL));
}

/** The size that is told suffices for every operation and radius, and less does not. */
static void workspaces(bench *b) {
    static const uint32_t flags[] = {0, APSIS_BORDER, APSIS_BORDER | APSIS_COMPLEMENT};
    static const int64_t sizes[][3] = {{70, 50, 1}, {300, 90, 1}, {20, 30, 33}};
    for (int n = 0; n < COUNT(sizes) * 12; ++n) {
        const int64_t *size = sizes[n / 12];
        uint8_t *mask = must_alloc((size_t)(size[0] * size[1] * size[2]));
        chance c = {2704};
        fill_mask(mask, size, NOISE, 0.01, &c);
        question q = {new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], mask), APSIS_ERODE, 3};
        q.p.options.flags = flags[n % 3];
        const apsis_options *options = n % 3 ? &q.p.options : NULL;
        const apsis_type set_type = n & 1 ? APSIS_U8 : APSIS_I32, type = masks[n / 2 % 2];
        frame set = frame_open(b, set_type, q.p.ndim, size, PACKED), result = frame_open(b, type, q.p.ndim, size, PACKED);
        const apsis_image *images[2] = {&set.image, &result.image};
        size_t bytes;
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_MORPHOLOGY, images, 2, options, &bytes));
        assert_true(bytes > 0);
        apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
        assert_ok(b->ctx, apsis_alloc(b->ctx, b->place == ON_CPU ? APSIS_HOST : APSIS_DEVICE, &memory));
        put_sites(&set, &q.p);
        for (int k = 0; k < OPERATIONS; ++k)
            for (int r = 0; r < 3; ++r) {
                const double radius = r == 0 ? 0 : r == 1 ? 3 : INFINITY;
                q.operation = (apsis_operation)k;
                if (is_refused(&q)) continue;
                assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes));
                assert_ok(b->ctx, apsis_morphology(b->ctx, q.operation, radius, &set.image, &result.image, options));
                assert_ok(b->ctx, apsis_sync(b->ctx));
            }
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, 256));
        assert_fails(b->ctx, apsis_morphology(b->ctx, APSIS_ERODE, 3, &set.image, &result.image, options),
                     APSIS_ERROR_WORKSPACE, "workspace");
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        frame_close(&set);
        frame_close(&result);
        apsis_free(b->ctx, &memory);
        free(mask);
    }
}

static int note_rise(void *last, double done) {
    assert_true(done >= *(double *)last && done <= 1);
    *(double *)last = done;
    return 0;
}

static void progress_and_stop(bench *b) {
    uint8_t *mask = must_alloc(300 * 300);
    chance c = {2705};
    fill_mask(mask, (const int64_t[3]){300, 300, 1}, BLOBS, 0.5, &c);
    question q = {new_problem(2, 300, 300, 1, mask), APSIS_CLOSE, 6};
    double last = 0;
    assert_ok(b->ctx, apsis_set_progress(b->ctx, note_rise, &last));
    free(run_morphology(b, &q, APSIS_U8, PACKED, APSIS_U8, PACKED));
    assert_true(last == 1);
    int calls = 0;
    frame set = frame_open(b, APSIS_U8, 2, q.p.size, PACKED), result = frame_open(b, APSIS_BIT, 2, q.p.size, PACKED);
    put_sites(&set, &q.p);
    assert_ok(b->ctx, apsis_set_progress(b->ctx, stop_at_once, &calls));
    assert_fails(b->ctx, apsis_morphology(b->ctx, APSIS_CLOSE, 6, &set.image, &result.image, NULL), APSIS_ERROR_CANCELLED,
                 "progress callback");
    assert_true(calls == 1);
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    assert_ok(b->ctx, apsis_morphology(b->ctx, APSIS_CLOSE, 6, &set.image, &result.image, NULL));
    frame_close(&set);
    frame_close(&result);
    free(mask);
}

static const test_case cases[] = {
    TEST(every_3x4_mask, EVERYWHERE),    TEST(every_2x2x2_volume, EVERYWHERE),
    TEST(random_morphology, EVERYWHERE), TEST(random_on_several_devices, ON_DEVICE_HOST),
    TEST(as_the_map_says, EVERYWHERE),   TEST(laws_of_morphology, EVERYWHERE),
    TEST(bad_calls, WITH_HOST_IMAGES),   TEST(images_without_pixels, EVERYWHERE),
    TEST(workspaces, EVERYWHERE),        TEST(progress_and_stop, EVERYWHERE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
