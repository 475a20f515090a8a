/* apsis_surface_distance as it is called: its progress, and what it refuses. */
#include <apsis_measures.h>
#include <math.h>

#include "run_components.h"
#include "run_distance.h"

static int note(void *last, double done) {
    double *told = last;
    if (done < *told || done > 1) *told = 2; /* fails what follows */
    if (*told <= 1) *told = done;
    return 0;
}

/** Of values in both images, and of one in the first alone. */
static void progress(bench *b) {
    static uint8_t masks[2][3000];
    for (int i = 0; i < 3000; ++i) masks[0][i] = (uint8_t)(i / 1000 + 1), masks[1][i] = i < 1500 ? 1 : 2;
    apsis_image first = {.data = masks[0], .type = APSIS_U8, .ndim = 2, .size = {50, 60}}, second = first;
    second.data = masks[1];
    for (int k = 0; k < 2; ++k) {
        apsis_options options = APSIS_OPTIONS_INIT;
        options.flags = k ? APSIS_LABELS : 0;
        apsis_surface_distances found[3];
        double told = 0;
        int calls = 0;
        assert_ok(b->ctx, apsis_set_progress(b->ctx, note, &told));
        assert_ok(b->ctx, apsis_surface_distance(b->ctx, &first, &second, 0, 95, 1, found, 3, NULL, &options));
        assert_true(told == 1);
        assert_ok(b->ctx, apsis_set_progress(b->ctx, stop_at_once, &calls));
        assert_fails(b->ctx, apsis_surface_distance(b->ctx, &first, &second, 0, 95, 1, found, 3, NULL, &options),
                     APSIS_ERROR_CANCELLED, "");
        assert_int_equal(calls, 1);
    }
}

static void bad_calls(bench *b) {
    uint8_t pixels[16] = {1};
    int32_t numbers[16] = {0, 0, 0, -3, 9};
    apsis_image set = {.data = pixels, .type = APSIS_U8, .ndim = 2, .size = {4, 4}}, other = set, labels = set;
    labels.data = numbers, labels.type = APSIS_I32;
    apsis_options options = APSIS_OPTIONS_INIT;
    apsis_surface_distances found[4];
    int64_t count;
#define CALL(first, second, surface, percentile, tolerance, to, room) \
    apsis_surface_distance(b->ctx, first, second, (apsis_surface)(surface), percentile, tolerance, to, room, &count, &options)
#define REFUSED(first, second, percentile, tolerance, to, status, text) \
    assert_fails(b->ctx, CALL(first, second, 0, percentile, tolerance, to, 1), status, text)
    REFUSED(NULL, &set, 95, 1, found, APSIS_ERROR_ARGUMENT, "surface_distance: |first is NULL");
    REFUSED(&set, NULL, 95, 1, found, APSIS_ERROR_ARGUMENT, "second is NULL");
    REFUSED(&set, &set, 95, 1, NULL, APSIS_ERROR_ARGUMENT, "distances is NULL, but capacity is 1");
    REFUSED(&set, &set, -1, 1, found, APSIS_ERROR_ARGUMENT, "percentile is -1|0 to 100");
    REFUSED(&set, &set, 100.5, 1, found, APSIS_ERROR_ARGUMENT, "percentile is 100.5");
    REFUSED(&set, &set, NAN, 1, found, APSIS_ERROR_ARGUMENT, "percentile is |nan");
    REFUSED(&set, &set, 95, -1, found, APSIS_ERROR_ARGUMENT, "tolerance is -1|0 or more");
    assert_fails(b->ctx, CALL(&set, &set, 3, 95, 1, found, 1), APSIS_ERROR_ARGUMENT, "surface is 3|apsis_surface");
    assert_fails(b->ctx, CALL(&set, &set, 0, 95, 1, found, -1), APSIS_ERROR_ARGUMENT, "capacity is -1");
    other.size[0] = 3;
    REFUSED(&set, &other, 95, 1, found, APSIS_ERROR_ARGUMENT, "first|second|size");
    other.size[0] = 4, other.type = APSIS_F32;
    REFUSED(&set, &other, 95, 1, found, APSIS_ERROR_ARGUMENT, "second: type is APSIS_F32");
    options.flags = APSIS_SLICES;
    REFUSED(&set, &set, 95, 1, found, APSIS_ERROR_ARGUMENT, "flags is 0x8|APSIS_LABELS and APSIS_DENSE alone");
    options.flags = APSIS_DENSE;
    REFUSED(&set, &set, 95, 1, found, APSIS_ERROR_ARGUMENT, "APSIS_DENSE is set|APSIS_LABELS");
    options.flags = APSIS_DENSE | APSIS_LABELS;
    assert_fails(b->ctx, CALL(&set, &labels, 0, 95, 1, found, 4), APSIS_ERROR_RANGE,
                 "second: pixel (3, 0, 0) is -3|begins with 0");
    numbers[3] = 0;
    assert_fails(b->ctx, CALL(&labels, &set, 0, 95, 1, found, 4), APSIS_ERROR_RANGE,
                 "first: pixel (0, 1, 0) is 9|capacity is 4");
    assert_ok(b->ctx, CALL(&labels, &set, 0, 95, 1, NULL, 0));
    assert_int_equal(count, 10);
    options.flags = 0, options.max_distance = 2;
    REFUSED(&set, &set, 95, 1, found, APSIS_ERROR_ARGUMENT, "max_distance is 2");
    options.max_distance = 0, options.method = APSIS_SWEEP;
    REFUSED(&set, &set, 95, 1, found, APSIS_ERROR_ARGUMENT, "APSIS_AUTO");
    options.method = APSIS_AUTO, options.spacing[0] = 1e-70, options.spacing[1] = 1e-70;
    assert_fails(b->ctx, CALL(&set, &set, APSIS_SURFACE_CORNERS, 95, 1, found, 1), APSIS_ERROR_UNSUPPORTED,
                 "spacing[0] is 1e-70|APSIS_SURFACE_CORNERS");
    assert_ok(b->ctx, CALL(&set, &set, APSIS_SURFACE_PIXELS, 95, 1, found, 1));
    const apsis_image empty = {.type = APSIS_U8, .ndim = 2, .size = {0, 7}};
    options = (apsis_options)APSIS_OPTIONS_INIT;
    for (int surface = 0; surface < 3; ++surface) {
        assert_ok(b->ctx, CALL(&empty, &empty, surface, 95, 1, found, 1));
        assert_true(isnan(found[0].hausdorff) && found[0].points[0] == 0 && found[0].value == 1 && count == 1);
    }
    options.flags = APSIS_LABELS;
    assert_ok(b->ctx, CALL(&empty, &empty, 0, 95, 1, found, 1));
    assert_int_equal(count, 0);
}

static const test_case cases[] = {
    TEST(progress, WITH_HOST_IMAGES),
    TEST(bad_calls, WITH_HOST_IMAGES),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
