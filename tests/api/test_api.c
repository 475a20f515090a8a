/* Contexts, options, callbacks and messages: every rule of the interface that is not about images. */
#include "run_distance.h"

#include <math.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { W = 211, H = 97 };

static uint8_t *some_mask(void) {
    const int64_t size[3] = {W, H, 1};
    chance c = {1};
    uint8_t *mask = must_alloc(W * H);
    fill_mask(mask, size, NOISE, 0.01, &c);
    return mask;
}

/** A call with these options, which may be of any age. */
static apsis_status call_with(bench *b, const apsis_options *options) {
    uint8_t mask[6] = {1};
    const int64_t size[3] = {3, 2, 1};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, APSIS_F32, 2, size, PACKED);
    frame_put(&set, mask);
    const apsis_status st = apsis_distance(b->ctx, &set.image, &out.image, NULL, options);
    apsis_sync(b->ctx);
    frame_close(&set);
    frame_close(&out);
    return st;
}

/* ---- Contexts ---- */

static void versions(bench *b) {
    (void)b;
    apsis_context *ctx = (apsis_context *)&ctx;
    assert_int_equal(apsis_version(), APSIS_VERSION);
    static const int wrong[] = {0, -1, APSIS_VERSION + 1, 10000, 1000000};
    for (int i = 0; i < COUNT(wrong); ++i) {
        ctx = (apsis_context *)&ctx;
        assert_fails(NULL, apsis_create(wrong[i], APSIS_CPU, &ctx), APSIS_ERROR_UNSUPPORTED, "version");
        assert_null(ctx);
    }
    assert_fails(NULL, apsis_create(APSIS_VERSION, APSIS_CPU, NULL), APSIS_ERROR_ARGUMENT, "context|NULL");
}

static void devices(bench *b) {
    apsis_context *ctx = NULL;
    const int count = apsis_device_count();
    assert_int_equal(apsis_device(b->ctx), b->device);
    assert_true(strlen(apsis_device_name(b->ctx)) > 2);
    assert_ok(NULL, apsis_create(APSIS_VERSION, APSIS_BEST, &ctx));
    assert_int_equal(apsis_device(ctx), count > 0 ? 0 : APSIS_CPU);
    apsis_destroy(ctx);
    assert_fails(NULL, apsis_create(APSIS_VERSION, count, &ctx), APSIS_ERROR_NO_DEVICE, "device");
    assert_null(ctx);
    assert_fails(NULL, apsis_create(APSIS_VERSION, 1000, &ctx), APSIS_ERROR_NO_DEVICE, "device");
    assert_fails(NULL, apsis_create(APSIS_VERSION, -3, &ctx), APSIS_ERROR_ARGUMENT, "device|-3");
    apsis_destroy(NULL);
}

static void null_contexts(bench *b) {
    (void)b;
    size_t bytes;
    apsis_image image = {.type = APSIS_U8, .ndim = 2, .size = {1, 1}};
    const apsis_image *images[3] = {&image, NULL, NULL};
    assert_int_equal(apsis_distance(NULL, &image, NULL, NULL, NULL), APSIS_ERROR_ARGUMENT);
    assert_int_equal(apsis_alloc(NULL, APSIS_HOST, &image), APSIS_ERROR_ARGUMENT);
    assert_int_equal(apsis_copy(NULL, &image, &image), APSIS_ERROR_ARGUMENT);
    assert_int_equal(apsis_sync(NULL), APSIS_ERROR_ARGUMENT);
    assert_int_equal(apsis_set_stream(NULL, NULL), APSIS_ERROR_ARGUMENT);
    assert_int_equal(apsis_set_threads(NULL, 1), APSIS_ERROR_ARGUMENT);
    assert_int_equal(apsis_workspace_size(NULL, APSIS_DISTANCE, images, 3, NULL, &bytes), APSIS_ERROR_ARGUMENT);
    assert_int_equal(apsis_set_workspace(NULL, NULL, 0), APSIS_ERROR_ARGUMENT);
    assert_int_equal(apsis_set_allocator(NULL, NULL, NULL, NULL), APSIS_ERROR_ARGUMENT);
    assert_int_equal(apsis_set_progress(NULL, NULL, NULL), APSIS_ERROR_ARGUMENT);
    assert_int_equal(apsis_set_log(NULL, NULL, NULL), APSIS_ERROR_ARGUMENT);
    apsis_free(NULL, &image);
    apsis_device(NULL);
    assert_non_null(apsis_device_name(NULL));
    assert_non_null(apsis_message(NULL));
}

static void status_names(bench *b) {
    (void)b;
    assert_string_equal(apsis_status_name(APSIS_OK), "APSIS_OK");
    assert_string_equal(apsis_status_name(APSIS_ERROR_WORKSPACE), "APSIS_ERROR_WORKSPACE");
    assert_string_equal(apsis_status_name(APSIS_ERROR_INTERNAL), "APSIS_ERROR_INTERNAL");
    assert_non_null(apsis_status_name((apsis_status)10));
    assert_non_null(apsis_status_name((apsis_status)-1));
    for (int i = 0; i < 10; ++i)
        for (int j = 0; j < i; ++j)
            assert_string_not_equal(apsis_status_name((apsis_status)i), apsis_status_name((apsis_status)j));
}

/* ---- Messages ---- */

static void *other_thread(void *message) {
    apsis_context *ctx;
    apsis_create(APSIS_VERSION, -7, &ctx);
    strcpy(message, apsis_message(NULL));
    return NULL;
}

static void messages(bench *b) {
    char before[256], other[256];
    pthread_t thread;
    apsis_context *ctx = NULL;
    assert_string_equal(apsis_message(b->ctx), "");
    assert_fails(b->ctx, apsis_set_threads(b->ctx, -4), APSIS_ERROR_ARGUMENT, "threads|-4");
    assert_ok(b->ctx, apsis_set_threads(b->ctx, 0));
    assert_non_null(strstr(apsis_message(b->ctx), "-4")); /* it tells of the last call that failed */

    assert_int_equal(apsis_create(APSIS_VERSION, -5, &ctx), APSIS_ERROR_ARGUMENT);
    snprintf(before, sizeof before, "%s", apsis_message(NULL));
    assert_int_equal(pthread_create(&thread, NULL, other_thread, other), 0);
    pthread_join(thread, NULL);
    assert_string_equal(apsis_message(NULL), before); /* each thread has its own */
    assert_non_null(strstr(other, "-7"));
    assert_ok(NULL, apsis_create(APSIS_VERSION, b->device, &ctx));
    assert_string_equal(apsis_message(ctx), "");
    apsis_destroy(ctx);
}

/* ---- Options ---- */

#define REFUSES(options, status, text) assert_fails(b->ctx, call_with(b, &(options)), status, text)

static void options_of_the_past_and_the_future(bench *b) {
    struct {
        apsis_options now;
        uint32_t later[4];
    } future = {.now = APSIS_OPTIONS_INIT};
    future.now.struct_size = sizeof future;
    assert_ok(b->ctx, call_with(b, &future.now));
    future.later[3] = 1;
    REFUSES(future.now, APSIS_ERROR_UNSUPPORTED, "options|struct_size|field");
    future.now.struct_size = sizeof future - 4; /* then it is not ours to read */
    assert_ok(b->ctx, call_with(b, &future.now));
    static const uint32_t too_short[] = {0, 4, 7};
    for (int i = 0; i < COUNT(too_short); ++i) {
        future.now.struct_size = too_short[i];
        REFUSES(future.now, APSIS_ERROR_ARGUMENT, "options|struct_size");
    }
}

static void options_that_are_wrong(bench *b) {
    static const double bad[] = {-1, -0.5, NAN, INFINITY, -INFINITY, 0};
    apsis_options o = APSIS_OPTIONS_INIT;
    o.flags = 1 << 13;
    REFUSES(o, APSIS_ERROR_ARGUMENT, "options|flags|0x2000");
    o.flags = APSIS_LABELS | APSIS_COMPLEMENT;
    REFUSES(o, APSIS_ERROR_ARGUMENT, "options|APSIS_LABELS|APSIS_COMPLEMENT");
    o.flags = APSIS_CONNECTED;
    REFUSES(o, APSIS_ERROR_ARGUMENT, "options|flags|0x4");
    o.flags = 1u << 31 | APSIS_SIGNED;
    REFUSES(o, APSIS_ERROR_ARGUMENT, "options|flags|0x80000000");
    o.flags = APSIS_SLICES;
    REFUSES(o, APSIS_ERROR_ARGUMENT, "APSIS_SLICES|ndim");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.metric = (apsis_metric)4;
    REFUSES(o, APSIS_ERROR_ARGUMENT, "options|metric|4");
    o.metric = (apsis_metric)-1;
    REFUSES(o, APSIS_ERROR_ARGUMENT, "options|metric|-1");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.method = (apsis_method)9;
    REFUSES(o, APSIS_ERROR_ARGUMENT, "options|method|9|APSIS_SEQUENTIAL_SCAN");
    for (int a = 0; a < 2; ++a)
        for (int i = 0; i < COUNT(bad); ++i) {
            o = (apsis_options)APSIS_OPTIONS_INIT;
            o.spacing[0] = o.spacing[1] = o.spacing[2] = 1;
            o.spacing[a] = bad[i];
            REFUSES(o, APSIS_ERROR_ARGUMENT, a ? "options|spacing[1]" : "options|spacing[0]");
        }
    o = (apsis_options)APSIS_OPTIONS_INIT;
    static const double limits[] = {-1, NAN, -INFINITY};
    for (int i = 0; i < COUNT(limits); ++i) {
        o.max_distance = limits[i];
        REFUSES(o, APSIS_ERROR_ARGUMENT, "options|max_distance");
    }
    o.max_distance = INFINITY;
    assert_ok(b->ctx, call_with(b, &o));
    for (int i = 0; i < COUNT(bad) - 1; ++i) {
        o.delta = bad[i];
        REFUSES(o, APSIS_ERROR_ARGUMENT, "options|delta|number from 0");
    }
    o.delta = 0.25;
    REFUSES(o, APSIS_ERROR_ARGUMENT, "options|delta|0.25|apsis_distance");
}

static void spacing_and_its_metric(bench *b) {
    apsis_options o = APSIS_OPTIONS_INIT;
    o.spacing[0] = 1;
    o.spacing[1] = 2;
    assert_ok(b->ctx, call_with(b, &o)); /* the third one does not count in 2-D */
    o.metric = APSIS_CITY_BLOCK;
    assert_ok(b->ctx, call_with(b, &o));
    o.metric = APSIS_CHESSBOARD;
    REFUSES(o, APSIS_ERROR_UNSUPPORTED, "options|spacing");
    o.metric = APSIS_CHAMFER;
    REFUSES(o, APSIS_ERROR_UNSUPPORTED, "options|metric|APSIS_CHAMFER");

    uint8_t mask[8] = {1};
    const int64_t size[3] = {2, 2, 2};
    frame set = frame_open(b, APSIS_U8, 3, size, PACKED), out = frame_open(b, APSIS_I32, 3, size, PACKED);
    frame_put(&set, mask);
    o.metric = APSIS_EUCLIDEAN;
    assert_fails(b->ctx, apsis_distance(b->ctx, &set.image, NULL, &out.image, &o), APSIS_ERROR_ARGUMENT, "spacing[2]|0");
    o.spacing[2] = 1;
    assert_fails(b->ctx, apsis_distance(b->ctx, &set.image, &out.image, NULL, &o), APSIS_ERROR_ARGUMENT,
                 "distance|integer|spacing");
    frame_close(&set);
    frame_close(&out);
}

/* ---- Callbacks ---- */

typedef struct listener {
    double last;
    int calls, stop_at;
    pthread_t thread;
} listener;

static int listen(void *user, double done) {
    listener *l = user;
    if (!(done >= l->last && done <= 1) || !pthread_equal(l->thread, pthread_self())) l->calls = -1000000;
    l->last = done;
    return ++l->calls == l->stop_at;
}

static void progress_and_cancelling(bench *b) {
    uint8_t *mask = some_mask();
    const int64_t size[3] = {W, H, 1};
    problem p = new_problem(2, W, H, 1, mask);
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, APSIS_F32, 2, size, PACKED);
    frame_put(&set, mask);
    listener l = {.last = 0, .thread = pthread_self()};
    assert_ok(b->ctx, apsis_set_progress(b->ctx, listen, &l));
    assert_ok(b->ctx, apsis_distance(b->ctx, &set.image, &out.image, NULL, NULL));
    assert_true(l.calls >= 2 && l.last == 1);
    int stop = 1; /* the number of calls may differ from run to run: stop later and later, until it is too late */
    for (;; ++stop) {
        l = (listener){.stop_at = stop, .thread = pthread_self()};
        const apsis_status st = apsis_distance(b->ctx, &set.image, &out.image, NULL, NULL);
        if (st == APSIS_OK) break;
        assert_fails(b->ctx, st, APSIS_ERROR_CANCELLED, "stop");
        assert_int_equal(l.calls, stop);
    }
    assert_true(stop > 2 && l.calls < stop && l.last == 1);
    l = (listener){.thread = pthread_self()};
    check_distance(b, &p, &PLAIN); /* the context is still good */
    const int after = l.calls;
    assert_true(after >= 2);
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    check_distance(b, &p, &PLAIN);
    assert_int_equal(l.calls, after);
    frame_close(&set);
    frame_close(&out);
    free(mask);
}

static int count_slowly(void *user, double done) {
    listener *l = user;
    const struct timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, NULL);
    l->last = done;
    ++l->calls;
    return 0;
}

/** A callback that is slow is not called for each of thousands of rows, but once more at the end. */
static void a_slow_callback(bench *b) {
    const int64_t size[3] = {16, 4000, 1};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, APSIS_F32, 2, size, PACKED);
    uint8_t *mask = must_alloc(16 * 4000);
    memset(mask, 1, 16 * 4000);
    frame_put(&set, mask);
    listener l = {0};
    assert_ok(b->ctx, apsis_set_threads(b->ctx, 1));
    assert_ok(b->ctx, apsis_set_progress(b->ctx, count_slowly, &l));
    assert_ok(b->ctx, apsis_distance(b->ctx, &set.image, &out.image, NULL, NULL));
    assert_true(l.calls >= 2 && l.calls < 400 && l.last == 1);
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    assert_ok(b->ctx, apsis_set_threads(b->ctx, 0));
    frame_close(&set);
    frame_close(&out);
    free(mask);
}

static void count_line(void *user, const char *line) {
    int *lines = user;
    *lines = strlen(line) > 0 && !strchr(line, '\n') ? *lines + 1 : -1000;
}

static void log_lines(bench *b) {
    int lines = 0;
    assert_ok(b->ctx, apsis_set_log(b->ctx, count_line, &lines));
    assert_ok(b->ctx, call_with(b, NULL));
    assert_true(lines > 0);
    const int before = lines;
    assert_ok(b->ctx, apsis_set_log(b->ctx, NULL, NULL));
    assert_ok(b->ctx, call_with(b, NULL));
    assert_int_equal(lines, before);
}

static void streams(bench *b) {
    assert_ok(b->ctx, apsis_set_stream(b->ctx, NULL));
    if (b->device == APSIS_CPU)
        assert_fails(b->ctx, apsis_set_stream(b->ctx, (struct CUstream_st *)b), APSIS_ERROR_ARGUMENT, "stream");
}

/* What clang's detector of races knows, it asks a program of its own, which may print that it has not found a file. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DETECTOR_PRINTS 1
#endif
#endif
#ifndef DETECTOR_PRINTS
#define DETECTOR_PRINTS 0
#endif

/** A library says what it has to say through its callbacks. */
static void nothing_is_printed(bench *b) {
    uint8_t *mask = some_mask();
    problem p = new_problem(2, W, H, 1, mask);
    char text[512] = "";
    FILE *caught = tmpfile();
    assert_non_null(caught);
    fflush(NULL);
    const int out = dup(1), err = dup(2);
    dup2(fileno(caught), 1);
    dup2(fileno(caught), 2);
    apsis_status st = apsis_set_threads(b->ctx, 64);
    outputs result = run_distance(b, &p, &PLAIN);
    if (st == APSIS_OK) st = apsis_distance(b->ctx, NULL, NULL, NULL, NULL);
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    rewind(caught);
    const size_t printed = fread(text, 1, sizeof text - 1, caught);
    fclose(caught);
    if (printed) print_error("the library has printed: %s\n", text);
    assert_true(printed == 0 || DETECTOR_PRINTS);
    assert_int_equal(st, APSIS_ERROR_ARGUMENT);
    free_outputs(&result);
    free(mask);
}

/** Work that was queued is done when the context is gone. */
static void destroy_waits(bench *b) {
    const int64_t size[3] = {W, H, 1};
    uint8_t *mask = some_mask();
    bench other = *b;
    assert_ok(NULL, apsis_create(APSIS_VERSION, b->device, &other.ctx));
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&set, mask);
    assert_ok(other.ctx, apsis_distance(other.ctx, &set.image, &out.image, NULL, NULL));
    apsis_destroy(other.ctx);
    int32_t *got = must_alloc(W * H * 4);
    frame_get(&out, got);
    for (int i = 0; i < W * H; ++i) assert_int_equal(got[i] == 0, mask[i]);
    frame_close(&set);
    frame_close(&out);
    free(got);
    free(mask);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(nothing_is_printed, EVERYWHERE), /* first: some warn once */
                                      TEST(versions, ON_CPU),
                                      TEST(devices, EVERYWHERE),
                                      TEST(null_contexts, ON_CPU),
                                      TEST(status_names, ON_CPU),
                                      TEST(messages, EVERYWHERE),
                                      TEST(options_of_the_past_and_the_future, EVERYWHERE),
                                      TEST(options_that_are_wrong, EVERYWHERE),
                                      TEST(spacing_and_its_metric, EVERYWHERE),
                                      TEST(progress_and_cancelling, EVERYWHERE),
                                      TEST(a_slow_callback, EVERYWHERE),
                                      TEST(log_lines, EVERYWHERE),
                                      TEST(streams, EVERYWHERE),
                                      TEST(destroy_waits, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
