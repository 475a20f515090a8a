/* Calls by the published methods of distance and Voronoi maps: what is logged of them, that they can be stopped, and what
 * they refuse. */
#include "run_distance.h"

static const apsis_method methods[] = {APSIS_RASTER_SCAN, APSIS_SWEEP,      APSIS_SWEEP_BLOCKS,
                                       APSIS_SWEEP_ROWS,  APSIS_JUMP_FLOOD, APSIS_SEQUENTIAL_SCAN};

typedef struct told {
    char name[32];
    long long instances, mended;
} told;

static void read_line(void *user, const char *line) {
    told t;
    if (sscanf(line, "%31[^:]: %lld instances, %lld pixels mended", t.name, &t.instances, &t.mended) == 3) *(told *)user = t;
}

static void the_log_tells(bench *b) {
    static const struct {
        apsis_method method;
        const char *name;
        int64_t instances; /* 0 where that depends on the device */
    } expected[] = {{APSIS_RASTER_SCAN, "raster scan", 3}, {APSIS_SWEEP, "sweep", 0}, {APSIS_JUMP_FLOOD, "jump flooding", 6}};
    uint8_t mask[8 * 25] = {[2 * 25 + 7] = 1, [6 * 25 + 6] = 1, [8] = 1}; /* test_methods.c: the sweeps hide an exclave */
    problem p = new_problem(2, 25, 8, 1, mask);
    told t;
    assert_ok(b->ctx, apsis_set_log(b->ctx, read_line, &t));
    for (int m = 0; m < COUNT(expected); ++m) {
        memset(&t, 0, sizeof t);
        p.options.method = expected[m].method;
        outputs out = run_distance(b, &p, &PLAIN);
        free_outputs(&out);
        assert_string_equal(t.name, expected[m].name);
        if (expected[m].method == APSIS_RASTER_SCAN && b->place != ON_CPU) { /* blocks see what others have just changed */
            assert_true(t.instances >= 2);
            continue;
        }
        assert_true(expected[m].instances ? t.instances == expected[m].instances : t.instances > 0);
        assert_int_equal(t.mended, expected[m].method != APSIS_JUMP_FLOOD);
    }
    assert_ok(b->ctx, apsis_set_log(b->ctx, NULL, NULL));
}

static int stop(void *user, double done) {
    *(double *)user = done;
    return done > 0;
}

static void a_call_can_be_stopped(bench *b) {
    const int64_t size[3] = {300, 300, 1};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, APSIS_F32, 2, size, PACKED);
    uint8_t *mask = must_alloc(300 * 300);
    memset(mask, 0, 300 * 300);
    mask[0] = mask[44850] = 1;
    frame_put(&set, mask);
    apsis_options o = APSIS_OPTIONS_INIT;
    double done;
    assert_ok(b->ctx, apsis_set_progress(b->ctx, stop, &done));
    for (int m = 0; m < COUNT(methods); ++m) {
        if (methods[m] == APSIS_SEQUENTIAL_SCAN && b->place != ON_CPU) continue;
        o.method = methods[m];
        assert_int_equal(apsis_distance(b->ctx, &set.image, &out.image, NULL, &o), APSIS_ERROR_CANCELLED);
        assert_true(done > 0 && done < 1);
    }
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    frame_close(&set);
    frame_close(&out);
    free(mask);
}

static apsis_status measure_call(bench *b, int ndim, int64_t w, int64_t h, bool nearest, const apsis_options *o) {
    const apsis_image set = {.type = APSIS_U8, .ndim = ndim, .size = {w, h, ndim == 3 ? 4 : 0}};
    apsis_image distance = set, index = set;
    distance.type = APSIS_F32;
    index.type = APSIS_I64;
    const apsis_image *images[3] = {&set, &distance, nearest ? &index : NULL};
    size_t bytes;
    return apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, o, &bytes);
}

static void refusals(bench *b) {
    static const char *const flat[] = {"APSIS_RASTER_SCAN|2-D", "APSIS_SWEEP|2-D",      "APSIS_SWEEP_BLOCKS|2-D",
                                       "APSIS_SWEEP_ROWS|2-D",  "APSIS_JUMP_FLOOD|2-D", "APSIS_SEQUENTIAL_SCAN|2-D"};
    for (int m = 0; m < COUNT(methods); ++m) {
        const bool is_scan = methods[m] == APSIS_SEQUENTIAL_SCAN;
        if (is_scan && b->place != ON_CPU) continue;
        apsis_options o = APSIS_OPTIONS_INIT;
        o.method = methods[m];
        assert_ok(b->ctx, measure_call(b, 2, 32768, 32768, true, &o));
        assert_fails(b->ctx, measure_call(b, 2, 32769, 1, false, &o), APSIS_ERROR_UNSUPPORTED, "size|32769");
        assert_fails(b->ctx, measure_call(b, 2, 1, 32769, false, &o), APSIS_ERROR_UNSUPPORTED, "size|32769");
        assert_fails(b->ctx, measure_call(b, 3, 4, 4, false, &o), APSIS_ERROR_UNSUPPORTED, flat[m]);
        o.flags = APSIS_SIGNED;
        assert_fails(b->ctx, measure_call(b, 2, 4, 4, false, &o), APSIS_ERROR_UNSUPPORTED, "method|sign");
        o.flags = APSIS_SLICES;
        assert_ok(b->ctx, measure_call(b, 3, 4, 4, false, &o));
        o.spacing[0] = o.spacing[2] = 1;
        o.spacing[1] = 2;
        assert_fails(b->ctx, measure_call(b, 3, 4, 4, false, &o), APSIS_ERROR_UNSUPPORTED, "method|spacing");
        o = (apsis_options)APSIS_OPTIONS_INIT;
        o.method = methods[m];
        for (int metric = APSIS_CITY_BLOCK; metric <= APSIS_CHAMFER; ++metric) {
            o.metric = (apsis_metric)metric;
            if (is_scan) assert_ok(b->ctx, measure_call(b, 2, 4, 4, false, &o));
            const char *const words = is_scan ? "nearest" : "metric";
            assert_fails(b->ctx, measure_call(b, 2, 4, 4, true, &o), APSIS_ERROR_UNSUPPORTED, words);
        }
    }
}

static void no_sequential_scan_on_a_device(bench *b) {
    apsis_options o = APSIS_OPTIONS_INIT;
    o.method = APSIS_SEQUENTIAL_SCAN;
    assert_fails(b->ctx, measure_call(b, 2, 4, 4, false, &o), APSIS_ERROR_UNSUPPORTED, "APSIS_SEQUENTIAL_SCAN|CPU");
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(the_log_tells, EVERYWHERE), TEST(a_call_can_be_stopped, EVERYWHERE),
                                      TEST(refusals, EVERYWHERE), TEST(no_sequential_scan_on_a_device, WITH_DEVICE)};
    return RUN_CASES(cases, argc, argv);
}
