/* Laws that apsis_eccentricity obeys whatever the image: they need no oracle, so the images can be larger. */
#include "run_eccentricity.h"

#include <math.h>

enum { W = 231, H = 197, PIXELS = W * H };

static const given BOTH = {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I32};

static uint8_t *some_mask(double density, uint64_t seed) {
    const int64_t size[3] = {W, H, 1};
    chance c = {seed};
    uint8_t *mask = must_alloc(PIXELS);
    fill_mask(mask, size, NOISE, density, &c);
    return mask;
}

/** Turned, an image has the same eccentricities. */
static void turning(bench *b) {
    uint8_t *mask = some_mask(0.75, 1), *turned = must_alloc(PIXELS);
    int64_t *place = must_alloc(PIXELS * sizeof *place), count = 0;
    problem p = new_problem(2, W, H, 1, mask);
    outputs one = run_eccentricity(b, &p, &BOTH, NULL, 0, &count);
    for (int turn = 1; turn < 8; ++turn) { /* bits: flip x, flip y, transpose */
        const int64_t w = turn & 4 ? H : W, h = turn & 4 ? W : H;
        for (int64_t i = 0; i < PIXELS; ++i) {
            const int64_t x = turn & 1 ? W - 1 - i % W : i % W, y = turn & 2 ? H - 1 - i / W : i / W;
            place[i] = turn & 4 ? y + x * w : x + y * w;
            turned[place[i]] = mask[i];
        }
        problem q = new_problem(2, w, h, 1, turned);
        outputs other = run_eccentricity(b, &q, &BOTH, NULL, 0, &count);
        for (int64_t i = 0; i < PIXELS; ++i)
            assert_memory_equal((double *)one.distance + i, (double *)other.distance + place[i], sizeof(double));
        free_outputs(&other);
    }
    free_outputs(&one);
    free(place);
    free(turned);
    free(mask);
}

/** An eccentricity is the largest distance in the field of its pixel, and the farthest pixel is the lowest that has it. */
static void fields_agree(bench *b) {
    static const double spacings[][2] = {{0, 0}, {1, 2.5}, {0.7, 3.1}};
    uint8_t *mask = some_mask(0.7, 2), *seeds = must_alloc(PIXELS);
    chance c = {3};
    for (int i = 0; i < 9; ++i) {
        problem p = new_problem(2, W, H, 1, mask);
        p.options.metric = (apsis_metric)(i % 3);
        memcpy(p.options.spacing, spacings[p.options.metric == APSIS_CHESSBOARD ? 0 : i / 3], sizeof spacings[0]);
        int64_t count = 0;
        outputs out = run_eccentricity(b, &p, &BOTH, NULL, 0, &count);
        for (int k = 0; k < effort(20); ++k) {
            int64_t at = roll_below(&c, PIXELS), farthest = -1;
            if (!mask[at]) continue;
            seeds[at] = 1;
            outputs field = run_geodesic(b, &p, seeds, &BOTH);
            const double *d = field.distance;
            for (int64_t q = 0; q < PIXELS; ++q)
                if (isfinite(d[q]) && (farthest < 0 || d[q] > d[farthest])) farthest = q;
            assert_true(((double *)out.distance)[at] == d[farthest]);
            assert_int_equal(((int32_t *)out.nearest)[at], farthest);
            free_outputs(&field);
            seeds[at] = 0;
        }
        free_outputs(&out);
    }
    free(mask);
    free(seeds);
}

/** Neighbours differ by no more than a step; extents are of the map; components are those of apsis_components. */
static void maps_and_extents(bench *b) {
    uint8_t *mask = some_mask(0.6, 4);
    problem p = new_problem(2, W, H, 1, mask);
    p.options.connectivity = 1;
    apsis_extent *extent = must_alloc(PIXELS * sizeof *extent);
    apsis_component *component = must_alloc(PIXELS * sizeof *component);
    int32_t *label = must_alloc(PIXELS * sizeof *label);
    int64_t count = 0, pieces = 0;
    outputs out = run_eccentricity(b, &p, &BOTH, extent, PIXELS, &count);
    const double *e = out.distance;
    const int32_t *far = out.nearest;
    frame set = frame_open(b, APSIS_U8, 2, p.size, PACKED), labels = frame_open(b, APSIS_I32, 2, p.size, PACKED);
    frame_put(&set, mask);
    assert_ok(b->ctx, apsis_components(b->ctx, &set.image, &labels.image, component, PIXELS, &pieces, &p.options));
    frame_get(&labels, label);
    assert_int_equal(count, pieces);
    for (int64_t i = 0; i < PIXELS; ++i) {
        assert_true((e[i] >= 0) == mask[i] && (far[i] >= 0) == mask[i]);
        if (!mask[i]) continue;
        const apsis_extent *x = &extent[label[i] - 1];
        assert_int_equal(label[far[i]], label[i]);
        assert_true(e[i] <= e[far[i]] && e[i] <= x->diameter && e[i] >= x->radius && x->diameter <= 2 * x->radius);
        if (i % W < W - 1 && mask[i + 1]) assert_true(fabs(e[i] - e[i + 1]) <= 1);
        if (i < PIXELS - W && mask[i + W]) assert_true(fabs(e[i] - e[i + W]) <= 1);
    }
    for (int64_t k = 0; k < count; ++k) {
        const apsis_extent *x = &extent[k];
        assert_int_equal(x->first, component[k].first);
        assert_true(e[x->centre] == x->radius && e[x->ends[0]] == x->diameter && e[x->ends[1]] == x->diameter && x->gap == 0);
        assert_int_equal(far[x->ends[0]], x->ends[1]);
    }
    frame_close(&set);
    frame_close(&labels);
    free_outputs(&out);
    free(extent);
    free(component);
    free(label);
    free(mask);
}

/** A batch is its slices, one by one; the complement of the complement is the set. */
static void slices_and_complements(bench *b) {
    enum { SW = 57, SH = 48, N = 5, SIZE = SW * SH };
    const int64_t size[3] = {SW, SH, N};
    chance c = {7};
    uint8_t *mask = must_alloc(SIZE * N), *outside = must_alloc(SIZE * N);
    fill_mask(mask, size, NOISE, 0.7, &c);
    memset(mask + SIZE, 0, SIZE);
    for (int i = 0; i < SIZE * N; ++i) outside[i] = !mask[i];
    problem all = new_problem(3, SW, SH, N, outside);
    all.options.flags = APSIS_SLICES | APSIS_COMPLEMENT;
    int64_t count = 0, total = 0;
    apsis_extent *extent = must_alloc(SIZE * N * sizeof *extent), *own = must_alloc(SIZE * sizeof *own);
    outputs batch = run_eccentricity(b, &all, &BOTH, extent, SIZE * N, &total);
    int64_t before = 0;
    for (int z = 0; z < N; ++z) {
        problem one = new_problem(2 + z % 2, SW, SH, 1, mask + z * SIZE);
        outputs out = run_eccentricity(b, &one, &BOTH, own, SIZE, &count);
        assert_memory_equal((double *)batch.distance + z * SIZE, out.distance, SIZE * sizeof(double));
        for (int i = 0; i < SIZE; ++i) {
            const int32_t far = ((int32_t *)out.nearest)[i];
            assert_int_equal(((int32_t *)batch.nearest)[z * SIZE + i], far < 0 ? -1 : far + z * SIZE);
        }
        for (int64_t k = 0; k < count; ++k) {
            assert_int_equal(extent[before + k].first, own[k].first + z * SIZE);
            assert_int_equal(extent[before + k].ends[1], own[k].ends[1] + z * SIZE);
            assert_true(extent[before + k].diameter == own[k].diameter);
        }
        before += count;
        free_outputs(&out);
    }
    assert_int_equal(before, total);
    free_outputs(&batch);
    free(extent);
    free(own);
    free(mask);
    free(outside);
}

/** The bytes are the same in every run and with any number of threads; how images are stored does not matter. */
static void runs_and_threads(bench *b) {
    uint8_t *mask = some_mask(0.75, 8);
    problem p = new_problem(2, W, H, 1, mask);
    int64_t count = 0;
    apsis_extent extent[3] = {0}, again[3] = {0};
    outputs want = run_eccentricity(b, &p, &BOTH, extent, 3, &count);
    for (int t = 0; t < effort(100); ++t) {
        assert_ok(b->ctx, apsis_set_threads(b->ctx, t % 4));
        given how = BOTH;
        how.set = t % 2 ? APSIS_BIT : APSIS_U8;
        how.distance_layout = (unsigned)(5 * t) % LAYOUTS;
        how.nearest_layout = (unsigned)(7 * t) % LAYOUTS;
        outputs out = run_eccentricity(b, &p, &how, again, 3, &count);
        assert_memory_equal(out.distance, want.distance, PIXELS * sizeof(double));
        assert_memory_equal(out.nearest, want.nearest, PIXELS * sizeof(int32_t));
        assert_memory_equal(extent, again, sizeof extent);
        free_outputs(&out);
    }
    free_outputs(&want);
    free(mask);
}

/** Several threads share the fields of one large component, of a plane or a volume, and find what one thread finds. */
static void one_component_by_several_threads(bench *b) {
    static const int64_t sizes[][3] = {{317, 211, 1}, {41, 39, 37}}, smaller[][3] = {{133, 97, 1}, {23, 21, 19}};
    chance c = {14};
    for (int i = 0; i < 2 * COUNT(sizes); ++i) {
        const int64_t *size = effort(10) < 10 ? smaller[i / 2] : sizes[i / 2];
        problem p = new_problem(2 + (size[2] > 1), size[0], size[1], size[2], NULL);
        const size_t pixels = (size_t)pixels_of(&p);
        uint8_t *mask = must_alloc(pixels);
        fill_mask(mask, size, NOISE, 0.85, &c);
        p.mask = mask;
        if (i % 2) set_spacing(&p, 1, 7, 20, 1); /* lengths of 64 bits */
        int64_t count = 0;
        apsis_extent extent[3] = {0}, again[3] = {0};
        assert_ok(b->ctx, apsis_set_threads(b->ctx, 1));
        outputs want = run_eccentricity(b, &p, &BOTH, extent, 3, &count);
        for (int threads = 2; threads < 5; ++threads) {
            assert_ok(b->ctx, apsis_set_threads(b->ctx, threads < 4 ? threads : 16));
            outputs out = run_eccentricity(b, &p, &BOTH, again, 3, &count);
            assert_memory_equal(out.distance, want.distance, pixels * sizeof(double));
            assert_memory_equal(out.nearest, want.nearest, pixels * sizeof(int32_t));
            assert_memory_equal(extent, again, sizeof extent);
            free_outputs(&out);
        }
        free_outputs(&want);
        free(mask);
    }
}

/** All that a call gives, also when its budget runs out. */
typedef struct everything {
    apsis_status status;
    int64_t count;
    double *eccentricity;
    int32_t *farthest;
    apsis_extent *extent;
} everything;

static everything ask(bench *b, const problem *p, bool farthest) {
    frame set = frame_open(b, APSIS_U8, p->ndim, p->size, PACKED), out = frame_open(b, APSIS_F64, p->ndim, p->size, PACKED);
    frame index = frame_open(b, APSIS_I32, p->ndim, p->size, PACKED);
    const size_t pixels = (size_t)pixels_of(p);
    everything all = {.eccentricity = must_alloc(pixels * sizeof(double) + 8),
                      .farthest = must_alloc(pixels * sizeof(int32_t) + 8),
                      .extent = must_alloc(pixels * sizeof(apsis_extent))};
    frame_put(&set, p->mask);
    all.status = apsis_eccentricity(b->ctx, &set.image, &out.image, farthest ? &index.image : NULL, all.extent, (int64_t)pixels,
                                    &all.count, &p->options);
    frame_get(&out, all.eccentricity);
    if (farthest) frame_get(&index, all.farthest);
    frame_close(&set);
    frame_close(&out);
    frame_close(&index);
    return all;
}

static void compare_with_cpu(bench *b, const problem *p, bool farthest) {
    bench cpu = {.place = ON_CPU, .device = APSIS_CPU, .memory = APSIS_HOST};
    assert_ok(NULL, apsis_create(APSIS_VERSION, APSIS_CPU, &cpu.ctx));
    everything got = ask(b, p, farthest), want = ask(&cpu, p, farthest);
    const size_t pixels = (size_t)pixels_of(p);
    assert_int_equal(got.status, want.status);
    assert_int_equal(got.count, want.count);
    assert_memory_equal(got.eccentricity, want.eccentricity, pixels * sizeof(double));
    assert_memory_equal(got.farthest, want.farthest, pixels * sizeof(int32_t));
    assert_memory_equal(got.extent, want.extent, (size_t)want.count * sizeof(apsis_extent));
    for (everything *each = &got; each; each = each == &got ? &want : NULL) {
        free(each->eccentricity);
        free(each->farthest);
        free(each->extent);
    }
    apsis_destroy(cpu.ctx);
}

/** A device gives the same bytes as the CPU, also when a budget runs out: of one large component among small ones, of many
 *  of all sizes, of rings within each other, and of volumes; with short lengths and with long ones. */
static void as_on_the_cpu(bench *b) {
    static const int64_t budgets[] = {0, 1, 2, 5, 12, 40};
    enum { NOISE_OF_ONE, NOISE_OF_MANY, RINGS, VOLUME, KINDS };
    chance c = {21};
    for (int i = 0; i < KINDS * COUNT(budgets); ++i) {
        const int kind = i % KINDS;
        problem p = kind == VOLUME ? new_problem(3, 37, 34, 30, NULL) : new_problem(2, W, H, 1, NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, NOISE, kind == NOISE_OF_MANY ? 0.55 : 0.7, &c);
        for (int k = 0; k < PIXELS && kind == RINGS; ++k) {
            const int x = k % W - W / 2, y = k / W - H / 2;
            mask[k] = (x * x + y * y) / 700 % 2 == 0;
        }
        p.mask = mask;
        p.options.budget = budgets[i / KINDS];
        p.options.connectivity = kind == NOISE_OF_MANY ? 1 : 0;
        if (i / KINDS % 2) p.options.spacing[0] = 1, p.options.spacing[1] = 1.37, p.options.spacing[2] = 2.1;
        compare_with_cpu(b, &p, i / KINDS % 3 == 0);
        free(mask);
    }
}

/** A path too long for 32-bit lengths: of a strip its ends are the farthest. */
static void a_very_long_path(bench *b) {
    enum { LONG = 140000 };
    uint8_t *mask = must_alloc(LONG);
    memset(mask, 1, LONG);
    problem p = new_problem(2, 1, LONG, 1, mask);
    apsis_extent extent;
    int64_t count = 0;
    outputs out = run_eccentricity(b, &p, &BOTH, &extent, 1, &count);
    for (int64_t i = 0; i < LONG; ++i) {
        const int64_t up = i, down = LONG - 1 - i;
        assert_true(((double *)out.distance)[i] == (double)(up > down ? up : down));
        assert_int_equal(((int32_t *)out.nearest)[i], up >= down ? 0 : LONG - 1);
    }
    const apsis_extent want = {0, {0, LONG - 1}, LONG / 2 - 1, LONG - 1, LONG / 2, 0};
    assert_memory_equal(&extent, &want, sizeof want);
    free_outputs(&out);
    free(mask);
}

typedef struct listener {
    double last;
    int calls, stop_at;
} listener;

static int listen(void *user, double done) {
    listener *l = user;
    if (!(done >= l->last && done <= 1)) l->calls = -1000000;
    l->last = done;
    return ++l->calls == l->stop_at;
}

/** Progress rises to 1, and a call that is stopped at any of its ticks, each of them in a small image, or one in seven of these
 *  where that is slow, leaves the context good. */
static void progress(bench *b) {
    const int apart = effort(10) < 10 ? 7 : 1;
    uint8_t *mask = some_mask(0.6, 10);
    static const int64_t sizes[][3] = {{W, H, 1}, {W, H, 1}, {24, 21, 1}, {83, 80, 1}};
    for (int kind = 0; kind < COUNT(sizes); ++kind) {
        const int64_t *size = sizes[kind];
        problem p = new_problem(2, size[0], size[1], 1, mask);
        p.options.connectivity = kind == 1 ? 1 : 2;
        p.options.method = kind == 2 ? APSIS_EVERY_SOURCE : APSIS_AUTO;
        frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, APSIS_F32, 2, size, PACKED);
        frame_put(&set, mask);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, 1));
        listener l = {0};
        int stop = 1;
        assert_ok(b->ctx, apsis_set_progress(b->ctx, listen, &l));
        for (;; stop += stop < 20 ? 1 : kind > 2 ? apart : 29 * apart) {
            l = (listener){.stop_at = stop};
            const apsis_status st = apsis_eccentricity(b->ctx, &set.image, &out.image, NULL, NULL, 0, NULL, &p.options);
            if (st == APSIS_OK) break;
            assert_fails(b->ctx, st, APSIS_ERROR_CANCELLED, "stop");
            assert_int_equal(l.calls, stop);
        }
        assert_true(stop > 3 && l.calls > 3 && l.last == 1);
        assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
        frame_close(&set);
        frame_close(&out);
    }
    problem p = new_problem(2, 31, 22, 1, mask);
    check_eccentricity(b, &p, &BOTH);
    free(mask);
}

typedef struct account {
    long long fields, left;
    int lines;
} account;

static void read_line(void *user, const char *line) {
    account *a = user, now = *a;
    if (sscanf(line, "eccentricity: %lld fields, %lld pixels left", &now.fields, &now.left) != 2) return;
    if (now.fields <= a->fields || now.left > a->left) a->lines = -1000000;
    now.lines = a->lines + 1;
    *a = now;
}

/** The log tells how many fields have been made, always more, and how many pixels are left, never more, at last none. */
static void fields_and_pixels_left(bench *b) {
    uint8_t *mask = some_mask(0.8, 12);
    problem p = new_problem(2, W, H, 1, mask);
    account a = {0, PIXELS, 0};
    int64_t count = 0;
    assert_ok(b->ctx, apsis_set_log(b->ctx, read_line, &a));
    outputs out = run_eccentricity(b, &p, &BOTH, NULL, 0, &count);
    assert_ok(b->ctx, apsis_set_log(b->ctx, NULL, NULL));
    assert_true(a.lines > 3 && a.left == 0);
    free_outputs(&out);
    free(mask);
}

static int count_between(void *calls, double done) {
    *(int *)calls += done > 0.05 && done < 0.9; /* after components, before outputs */
    return 0;
}

/** A call reports after each field, though several are made between two proofs, so that it can soon be stopped. */
static void reports_between_fields(bench *b) {
    uint8_t *mask = some_mask(0.8, 12);
    problem p = new_problem(2, W, H, 1, mask);
    account a = {0, PIXELS, 0};
    int64_t count = 0;
    int calls = 0;
    assert_ok(b->ctx, apsis_set_threads(b->ctx, 1));
    assert_ok(b->ctx, apsis_set_log(b->ctx, read_line, &a));
    assert_ok(b->ctx, apsis_set_progress(b->ctx, count_between, &calls));
    outputs out = run_eccentricity(b, &p, &BOTH, NULL, 0, &count);
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    assert_ok(b->ctx, apsis_set_log(b->ctx, NULL, NULL));
    assert_true(calls > a.fields);
    free_outputs(&out);
    free(mask);
}

/** With exactly apsis_workspace_size bytes nothing is allocated, with one less it is refused. */
static void the_workspace_is_enough(bench *b) {
    static const int64_t sizes[][3] = {{W, H, 1}, {13, 11, 9}, {100, 80, 4}, {1, 1, 1}, {300, 300, 1}};
    for (int i = 0; i < 3 * COUNT(sizes); ++i) {
        const int64_t *size = sizes[i / 3], pixels = size[0] * size[1] * size[2];
        const int ndim = size[2] > 1 ? 3 : 2;
        uint8_t *mask = must_alloc((size_t)pixels);
        chance c = {12};
        fill_mask(mask, size, NOISE, i / 3 == 4 ? 1 : 0.7, &c);
        frame set = frame_open(b, APSIS_U8, ndim, size, PACKED), out = frame_open(b, APSIS_F32, ndim, size, PACKED);
        frame farthest = frame_open(b, APSIS_I32, ndim, size, PACKED);
        frame_put(&set, mask);
        const apsis_image *images[3] = {&set.image, &out.image, i % 3 ? &farthest.image : NULL};
        apsis_options o = APSIS_OPTIONS_INIT;
        if (i / 3 == 2) o.flags = APSIS_SLICES;
        if (i % 3 == 2) o.spacing[0] = 1, o.spacing[1] = 1.1, o.spacing[2] = 30;
        if (i / 3 == 1) o.method = APSIS_EVERY_SOURCE;
        size_t bytes = 0;
        assert_ok(b->ctx, apsis_set_threads(b->ctx, 2));
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_ECCENTRICITY, images, 3, &o, &bytes));
        apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
        assert_ok(b->ctx, apsis_alloc(b->ctx, b->device == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE, &memory));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes));
        assert_ok(b->ctx, apsis_eccentricity(b->ctx, images[0], images[1], images[2], NULL, 0, NULL, &o));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes - 1));
        assert_fails(b->ctx, apsis_eccentricity(b->ctx, images[0], images[1], images[2], NULL, 0, NULL, &o),
                     APSIS_ERROR_WORKSPACE, "workspace");
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        apsis_free(b->ctx, &memory);
        frame_close(&set);
        frame_close(&out);
        frame_close(&farthest);
        free(mask);
    }
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(turning, EVERYWHERE),
                                      TEST(fields_agree, EVERYWHERE),
                                      TEST(maps_and_extents, EVERYWHERE),
                                      TEST(slices_and_complements, EVERYWHERE),
                                      TEST(runs_and_threads, EVERYWHERE),
                                      TEST(one_component_by_several_threads, ON_CPU),
                                      TEST(a_very_long_path, EVERYWHERE),
                                      TEST(progress, EVERYWHERE),
                                      TEST(fields_and_pixels_left, EVERYWHERE),
                                      TEST(reports_between_fields, ON_CPU),
                                      TEST(the_workspace_is_enough, EVERYWHERE),
                                      TEST(as_on_the_cpu, WITH_DEVICE)};
    return RUN_CASES(cases, argc, argv);
}
