/* Laws that apsis_geodesic obeys whatever the image: they need no oracle, so the images can be larger. */
#include "run_geodesic.h"

#include <math.h>

enum { W = 631, H = 447, PIXELS = W * H };

static const given WHOLE = {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I32};

static uint8_t *some_mask(double density, uint64_t seed) {
    const int64_t size[3] = {W, H, 1};
    chance c = {seed};
    uint8_t *mask = must_alloc(PIXELS);
    fill_mask(mask, size, NOISE, density, &c);
    return mask;
}

/** Turned, an image has the same distances; so has one that lies elsewhere in a larger image. */
static void turning_and_moving(bench *b) {
    uint8_t *mask = some_mask(0.7, 1), *seeds = some_mask(0.0001, 2);
    problem p = new_problem(2, W, H, 1, mask);
    outputs one = run_geodesic(b, &p, seeds, &WHOLE);
    for (int turn = 1; turn < 9; ++turn) { /* bits: flip x, flip y, transpose; 8: a margin */
        const int64_t margin = turn == 8 ? 37 : 0, w = (turn & 4 ? H : W) + 2 * margin, h = (turn & 4 ? W : H) + margin;
        uint8_t *turned = must_alloc((size_t)(w * h)), *planted = must_alloc((size_t)(w * h));
        int64_t *place = must_alloc(PIXELS * sizeof *place);
        for (int64_t i = 0; i < PIXELS; ++i) {
            const int64_t x = turn & 1 ? W - 1 - i % W : i % W, y = turn & 2 ? H - 1 - i / W : i / W;
            place[i] = turn & 4 ? y + x * w : x + margin + (y + margin) * w;
            turned[place[i]] = mask[i];
            planted[place[i]] = seeds[i];
        }
        problem q = new_problem(2, w, h, 1, turned);
        outputs other = run_geodesic(b, &q, planted, &WHOLE);
        for (int64_t i = 0; i < PIXELS; ++i)
            assert_memory_equal((double *)one.distance + i, (double *)other.distance + place[i], sizeof(double));
        free_outputs(&other);
        free(place);
        free(turned);
        free(planted);
    }
    free_outputs(&one);
    free(mask);
    free(seeds);
}

/** There and back is as far, by every metric. */
static void there_and_back(bench *b) {
    uint8_t *mask = some_mask(0.7, 3), *seeds = must_alloc(PIXELS);
    chance c = {4};
    for (int i = 0; i < effort(20); ++i) {
        problem p = new_problem(2, W, H, 1, mask);
        p.options.metric = (apsis_metric)(i % 4);
        if (i / 4 % 2 && p.options.metric < APSIS_CHESSBOARD) set_spacing(&p, 2, 3, 1, 0.7);
        int64_t ends[2];
        double length[2];
        for (int k = 0; k < 2; ++k) do
                ends[k] = roll_below(&c, PIXELS);
            while (!mask[ends[k]]);
        for (int k = 0; k < 2; ++k) {
            seeds[ends[k]] = 1;
            outputs out = run_geodesic(b, &p, seeds, &WHOLE);
            length[k] = ((double *)out.distance)[ends[!k]];
            free_outputs(&out);
            seeds[ends[k]] = 0;
        }
        assert_true(length[0] == length[1]);
    }
    free(mask);
    free(seeds);
}

/** In a full image paths are straight: the field of a seed is the offset's length, and no shorter than the true distance. */
static void nothing_in_the_way(bench *b) {
    uint8_t *mask = must_alloc(PIXELS), *seeds = must_alloc(PIXELS);
    memset(mask, 1, PIXELS);
    const int64_t at = 200 + 100 * W;
    seeds[at] = 1;
    problem p = new_problem(2, W, H, 1, mask);
    for (int metric = 0; metric < 4; ++metric) {
        p.options.metric = (apsis_metric)metric;
        outputs out = run_geodesic(b, &p, seeds, &WHOLE);
        for (int64_t i = 0; i < PIXELS; ++i) {
            const int64_t dx = llabs(i % W - 200), dy = llabs(i / W - 100), low = dx < dy ? dx : dy, high = dx + dy - low;
            const double want[] = {(double)(5741 * (high - low) + 8119 * low) / 5741, (double)(dx + dy), (double)high,
                                   (double)(3 * (high - low) + 4 * low) / 3};
            assert_true(((double *)out.distance)[i] == want[metric]);
            assert_true(metric || want[0] >= hypot((double)dx, (double)dy) * (1 - 1e-8));
        }
        free_outputs(&out);
    }
    free(mask);
    free(seeds);
}

/** Of spacings in the ratio of whole numbers straight steps are exact, whatever the diagonal ones. */
static void straight_steps(bench *b) {
    uint8_t mask[5 * 4 * 3], seeds[5 * 4 * 3] = {1};
    memset(mask, 1, sizeof mask);
    for (int64_t one = 1; one < 8; ++one)
        for (int64_t other = 1; other < 8; ++other) {
            problem p = new_problem(3, 5, 4, 3, mask);
            set_spacing(&p, one, other, 1009, 1);
            outputs out = run_geodesic(b, &p, seeds, &WHOLE);
            const double *length = out.distance;
            assert_true(length[4] == (double)(4 * one) && length[5 * 3] == (double)(3 * other));
            assert_true(length[5 * 4 * 2] == 2.0 * 1009);
            free_outputs(&out);
        }
}

/** Seeds together are each of them alone, the nearest; what lies beyond max_distance is cut off and nothing else. */
static void seeds_and_limits(bench *b) {
    uint8_t *mask = some_mask(0.75, 5), *seeds = must_alloc(PIXELS), *alone = must_alloc(PIXELS);
    double *least = must_alloc(PIXELS * sizeof *least);
    chance c = {6};
    problem p = new_problem(2, W, H, 1, mask);
    for (int64_t i = 0; i < PIXELS; ++i) least[i] = INFINITY;
    for (int k = 0; k < 5; ++k) {
        const int64_t at = roll_below(&c, PIXELS);
        mask[at] = seeds[at] = alone[at] = 1;
    }
    for (int64_t at = 0; at < PIXELS; ++at) {
        if (!seeds[at]) continue;
        memset(alone, 0, PIXELS);
        alone[at] = 1;
        outputs out = run_geodesic(b, &p, alone, &WHOLE);
        for (int64_t i = 0; i < PIXELS; ++i) least[i] = fmin(least[i], ((double *)out.distance)[i]);
        free_outputs(&out);
    }
    outputs all = run_geodesic(b, &p, seeds, &WHOLE);
    assert_memory_equal(all.distance, least, PIXELS * sizeof *least);
    p.options.max_distance = 100;
    outputs near = run_geodesic(b, &p, seeds, &WHOLE);
    for (int64_t i = 0; i < PIXELS; ++i) {
        const bool cut = least[i] > 100;
        assert_true(((double *)near.distance)[i] == (cut ? INFINITY : least[i]));
        assert_int_equal(((int32_t *)near.nearest)[i], cut ? -1 : ((int32_t *)all.nearest)[i]);
    }
    free_outputs(&all);
    free_outputs(&near);
    free(mask);
    free(seeds);
    free(alone);
    free(least);
}

/** A batch is its slices, one by one; the complement of the complement is the set. */
static void slices_and_complements(bench *b) {
    enum { SW = 97, SH = 88, N = 6, SIZE = SW * SH };
    const int64_t size[3] = {SW, SH, N};
    chance c = {7};
    uint8_t *mask = must_alloc(SIZE * N), *outside = must_alloc(SIZE * N), *seeds = must_alloc(SIZE * N);
    fill_mask(mask, size, NOISE, 0.7, &c);
    fill_mask(seeds, size, NOISE, 0.001, &c);
    for (int i = 0; i < SIZE * N; ++i) outside[i] = !mask[i];
    problem all = new_problem(3, SW, SH, N, outside);
    all.options.flags = APSIS_SLICES | APSIS_COMPLEMENT;
    outputs batch = run_geodesic(b, &all, seeds, &WHOLE);
    for (int z = 0; z < N; ++z) {
        problem one = new_problem(2 + z % 2, SW, SH, 1, mask + z * SIZE);
        outputs out = run_geodesic(b, &one, seeds + z * SIZE, &WHOLE);
        assert_memory_equal((double *)batch.distance + z * SIZE, out.distance, SIZE * sizeof(double));
        for (int i = 0; i < SIZE; ++i) {
            const int32_t seed = ((int32_t *)out.nearest)[i];
            assert_int_equal(((int32_t *)batch.nearest)[z * SIZE + i], seed < 0 ? -1 : seed + z * SIZE);
        }
        free_outputs(&out);
    }
    free_outputs(&batch);
    free(mask);
    free(outside);
    free(seeds);
}

/** The bytes are the same in every run and with any number of threads; how images are stored does not matter. */
static void threads_and_storage(bench *b) {
    uint8_t *mask = some_mask(0.65, 8), *seeds = some_mask(0.001, 9);
    problem p = new_problem(2, W, H, 1, mask);
    outputs want = run_geodesic(b, &p, seeds, &WHOLE);
    static const int counts[] = {1, 2, 2, 2, 7, 64};
    for (int t = 0; t < COUNT(counts); ++t) {
        assert_ok(b->ctx, apsis_set_threads(b->ctx, counts[t]));
        const given how = {.set = t % 2 ? APSIS_BIT : APSIS_U8,
                           .distance = APSIS_F64,
                           .nearest = APSIS_I32,
                           .set_layout = (unsigned)(3 * t) % LAYOUTS,
                           .distance_layout = (unsigned)(5 * t) % LAYOUTS};
        outputs out = run_geodesic(b, &p, seeds, &how);
        assert_memory_equal(out.distance, want.distance, PIXELS * sizeof(double));
        assert_memory_equal(out.nearest, want.nearest, PIXELS * sizeof(int32_t));
        free_outputs(&out);
    }
    free_outputs(&want);
    free(mask);
    free(seeds);
}

/** Several threads make one field, tile beside tile, and find what one thread finds: in planes and in volumes, with lengths of
 *  32 bits and of 64, with limits, and along paths that wind through many tiles. */
static void one_field_by_several_threads(bench *b) {
    static const int64_t sizes[][3] = {{W, H, 1}, {1031, 130, 1}, {70, 1031, 1}, {67, 53, 41}};
    static const int kinds[] = {FULL, NOISE, BLOBS, RING, DIAGONAL};
    chance c = {13};
    for (int i = 0; i < (effort(10) < 10 ? 1 : 2) * COUNT(sizes) * COUNT(kinds); ++i) {
        const int64_t *size = sizes[i % COUNT(sizes)];
        problem p = new_problem(2 + (size[2] > 1), size[0], size[1], size[2], NULL);
        const size_t pixels = (size_t)pixels_of(&p);
        uint8_t *mask = must_alloc(pixels), *seeds = must_alloc(pixels);
        fill_mask(mask, size, kinds[i / COUNT(sizes) % COUNT(kinds)], size[2] > 1 ? 0.4 : 0.65, &c);
        fill_mask(seeds, size, NOISE, roll_below(&c, 2) ? 0.0001 : 0.01, &c);
        p.mask = mask;
        p.options.metric = (apsis_metric)roll_below(&c, 4);
        p.options.max_distance = roll_below(&c, 3) ? 0 : 150;
        if (!roll_below(&c, 3)) set_spacing(&p, 1, 1, 1, 1);
        if (!roll_below(&c, 3) && p.options.metric == APSIS_EUCLIDEAN) set_spacing(&p, 1, 7, 20, 1);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, 1));
        outputs want = run_geodesic(b, &p, seeds, &WHOLE);
        for (int run = 0; run < 4; ++run) {
            assert_ok(b->ctx, apsis_set_threads(b->ctx, run ? run + 1 : 16));
            outputs out = run_geodesic(b, &p, seeds, &WHOLE);
            assert_memory_equal(out.distance, want.distance, pixels * sizeof(double));
            assert_memory_equal(out.nearest, want.nearest, pixels * sizeof(int32_t));
            free_outputs(&out);
        }
        free_outputs(&want);
        free(mask);
        free(seeds);
    }
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

/** Progress rises to 1, and a call that is stopped at any of its ticks, each of them in a small image, leaves the context
 *  good. */
static void progress(bench *b) {
    uint8_t *mask = some_mask(0.7, 10), *seeds = some_mask(0.0001, 11);
    static const int64_t sizes[][3] = {{W, H, 1}, {61, 43, 5}, {W, 30, 1}, {W, H, 1}, {61, 43, 5}};
    for (int kind = 0; kind < COUNT(sizes); ++kind) {
        const int64_t *size = sizes[kind];
        const bool names = kind >= 3;
        problem p = new_problem(2 + (kind == 1), size[0], size[1], size[2], mask);
        p.options.flags = kind == 1 ? APSIS_SLICES : 0;
        frame set = frame_open(b, APSIS_U8, p.ndim, size, PACKED), seed = frame_open(b, APSIS_U8, p.ndim, size, PACKED);
        frame out = frame_open(b, APSIS_F32, p.ndim, size, PACKED), near = frame_open(b, APSIS_I32, p.ndim, size, PACKED);
        frame_put(&set, mask);
        frame_put(&seed, seeds);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, 1));
        listener l = {0};
        int stop = 1;
        assert_ok(b->ctx, apsis_set_progress(b->ctx, listen, &l));
        for (;; stop += size[1] < H || stop < 30 ? 1 : 61) {
            l = (listener){.stop_at = stop};
            const apsis_status st =
                apsis_geodesic(b->ctx, &set.image, &seed.image, &out.image, names ? &near.image : NULL, &p.options);
            if (st == APSIS_OK) break;
            assert_fails(b->ctx, st, APSIS_ERROR_CANCELLED, "stop");
            assert_int_equal(l.calls, stop);
        }
        assert_true(stop > 3 && l.calls > 3 && l.last == 1);
        assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
        frame_close(&set);
        frame_close(&seed);
        frame_close(&near);
        frame_close(&out);
    }
    problem p = new_problem(2, 63, 44, 1, mask);
    check_geodesic(b, &p, seeds, &WHOLE);
    free(mask);
    free(seeds);
}

/** With exactly apsis_workspace_size bytes nothing is allocated, with one less it is refused; and it is not too large. */
static void the_workspace_is_enough(bench *b) {
    static const int64_t sizes[][3] = {{W, H, 1}, {61, 47, 34}, {300, 200, 4}, {1, 1, 1}};
    for (int i = 0; i < 3 * COUNT(sizes); ++i) {
        const int64_t *size = sizes[i / 3], pixels = size[0] * size[1] * size[2];
        const int ndim = size[2] > 1 ? 3 : 2;
        uint8_t *mask = must_alloc((size_t)pixels);
        chance c = {12};
        fill_mask(mask, size, NOISE, 0.8, &c);
        frame set = frame_open(b, APSIS_U8, ndim, size, PACKED), out = frame_open(b, APSIS_F32, ndim, size, PACKED);
        frame nearest = frame_open(b, APSIS_I32, ndim, size, PACKED);
        frame_put(&set, mask); /* every pixel is a seed: all wait at once */
        const apsis_image *images[4] = {&set.image, &set.image, &out.image, i % 3 ? &nearest.image : NULL};
        apsis_options o = APSIS_OPTIONS_INIT;
        if (i / 3 == 2) o.flags = APSIS_SLICES;
        if (i % 3 == 2) o.spacing[0] = 1, o.spacing[1] = 1.1, o.spacing[2] = 30;
        size_t bytes = 0;
        assert_ok(b->ctx, apsis_set_threads(b->ctx, 2));
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_GEODESIC, images, 4, &o, &bytes));
        apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
        assert_ok(b->ctx, apsis_alloc(b->ctx, b->device == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE, &memory));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes));
        assert_ok(b->ctx, apsis_geodesic(b->ctx, images[0], images[1], images[2], images[3], &o));
        assert_ok(b->ctx, apsis_sync(b->ctx));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes - 1));
        assert_fails(b->ctx, apsis_geodesic(b->ctx, images[0], images[1], images[2], images[3], &o), APSIS_ERROR_WORKSPACE,
                     "workspace");
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        apsis_free(b->ctx, &memory);
        frame_close(&set);
        frame_close(&out);
        frame_close(&nearest);
        free(mask);
    }
    const apsis_image set = {.type = APSIS_U8, .ndim = 2, .size = {4096, 4096}, .memory = b->memory};
    const apsis_image out = {.type = APSIS_F32, .ndim = 2, .size = {4096, 4096}, .memory = b->memory};
    const apsis_image *images[4] = {&set, &set, &out, NULL};
    size_t bytes;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_GEODESIC, images, 4, NULL, &bytes));
    const double staged = b->place == ON_DEVICE_HOST ? 6 : 0; /* the images themselves, on the device */
    const bool is_cuda = b->device != APSIS_CPU && !strstr(apsis_device_name(b->ctx), "fake");
    const double lengths = is_cuda ? 8 : 4; /* a path may turn out to be too long for 32 bits */
    assert_true((double)bytes <= (lengths + 0.6 + staged) * 4096 * 4096);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(turning_and_moving, EVERYWHERE),       TEST(there_and_back, EVERYWHERE),
                                      TEST(nothing_in_the_way, EVERYWHERE),       TEST(seeds_and_limits, EVERYWHERE),
                                      TEST(slices_and_complements, EVERYWHERE),   TEST(threads_and_storage, EVERYWHERE),
                                      TEST(one_field_by_several_threads, ON_CPU), TEST(progress, EVERYWHERE),
                                      TEST(the_workspace_is_enough, EVERYWHERE),  TEST(straight_steps, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
