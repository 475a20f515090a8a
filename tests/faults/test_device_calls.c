/*
 * Every CUDA function that a call of apsis calls fails in turn, once or for good, on the emulated device: the status says so,
 * nothing is written beside the outputs, nothing is left behind, and the next call is right.
 */
#include "calls.h"
#include "emulator/caller.h"

static void destroy_all(apsis_context *ctx, long live) {
    apsis_destroy(ctx);
    assert_int_equal(apsis_emulated_live(), live);
}

static bool is_device_failure(apsis_status status) { return status == APSIS_ERROR_DEVICE || status == APSIS_ERROR_MEMORY; }

static void contexts_on_a_failing_device(bench *b) {
    const long live = apsis_emulated_live();
    long failed = 0;
    for (int for_good = 0; for_good < 2; ++for_good)
        for (long n = 1, made = 0;; ++n) {
            apsis_context *ctx = (apsis_context *)&ctx;
            apsis_emulated_fail(n, for_good);
            const apsis_status status = apsis_create(APSIS_VERSION, b->device, &ctx);
            made = apsis_emulated_calls();
            apsis_emulated_fail(0, 0);
            if (status == APSIS_OK) destroy_all(ctx, live);
            if (made < n) break;
            ++failed;
            if (status == APSIS_OK) continue;
            assert_true(status == APSIS_ERROR_NO_DEVICE || status == APSIS_ERROR_MEMORY);
            assert_null(ctx);
            assert_int_equal(apsis_emulated_live(), live);
        }
    printf("create: %ld CUDA calls failed one by one\n", failed);
    assert_true(failed > 0);
}

static apsis_context *open_context(const bench *b, int devices) {
    const int all[] = {b->device, b->device};
    apsis_context *ctx;
    assert_ok(NULL, devices > 1 ? apsis_create_devices(APSIS_VERSION, all, devices, &ctx)
                                : apsis_create(APSIS_VERSION, b->device, &ctx));
    return ctx;
}

/** A call on so many devices. */
static void fail_one_by_one(bench *b, const named_call *call, int devices) {
    call_outputs *out = must_alloc(sizeof *out), *want = must_alloc(sizeof *want);
    prepare_outputs(want);
    assert_ok(b->ctx, call->run(b->ctx, want));
    const long live = apsis_emulated_live(); /* what b->ctx holds */
    long failed = 0;
    for (int for_good = 0; for_good < 2; ++for_good)
        for (long n = 1, made = 0;; n += n < 40 ? 1 : n / 8) {
            apsis_context *const ctx = open_context(b, devices);
            prepare_outputs(out);
            apsis_emulated_fail(n, for_good);
            const apsis_status status = call->run(ctx, out);
            made = apsis_emulated_calls();
            apsis_emulated_fail(0, 0);
            failed += made >= n;
            assert_true(canaries_live(out));
            if (status == APSIS_OK)
                assert_memory_equal(out, want, sizeof *want);
            else if (!is_device_failure(status))
                fail_msg("%s, CUDA call %ld fails%s: %s", call->name, n, for_good ? ", and all after it" : "",
                         apsis_message(ctx));
            prepare_outputs(out);
            assert_ok(ctx, call->run(ctx, out));
            assert_memory_equal(out, want, sizeof *want);
            destroy_all(ctx, live);
            if (made < n) break;
        }
    printf("%s on %d: %ld CUDA calls failed one by one\n", call->name, devices, failed);
    assert_int_equal(failed == 0, strcmp(call->name, "cost distance") == 0); /* the work of the host */
    free(want);
    free(out);
}

static void calls_on_a_failing_device(bench *b) {
    for (int i = 0; i < call_count; ++i) fail_one_by_one(b, &calls[i], 1);
}

/** A component whose fields devices share out: with this budget it is not a small one. */
static apsis_status shared_fields(apsis_context *ctx, call_outputs *out) {
    enum { WIDTH = 15, HEIGHT = 13 };
    static uint8_t mask[WIDTH * HEIGHT];
    for (int i = 0; i < WIDTH * HEIGHT; ++i) mask[i] = i % 5 != 0 || i % 3 == 0;
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {WIDTH, HEIGHT}},
                      far = {.data = out->real, .type = APSIS_F32, .ndim = 2, .size = {WIDTH, HEIGHT}},
                      farthest = {.data = out->index, .type = APSIS_I32, .ndim = 2, .size = {WIDTH, HEIGHT}};
    apsis_options options = APSIS_OPTIONS_INIT;
    options.budget = 200;
    return apsis_eccentricity(ctx, &set, &far, &farthest, NULL, 0, &out->count, &options);
}

/** None waits for one that has failed. */
static void calls_of_which_a_device_fails(bench *b) {
    static const named_call call = {"shared fields", shared_fields};
    fail_one_by_one(b, &call, 2);
}

static int64_t *faces; /* two rows in the memory of the device */

static apsis_status joined_slabs(apsis_context *ctx, call_outputs *out) {
    enum { WIDTH = 61, ROWS = 20 };
    static uint8_t mask[2][ROWS * WIDTH];
    const int64_t size[2] = {WIDTH, 2 * ROWS};
    apsis_slab_labels slabs[2] = {{.last = faces}, {.start = ROWS, .first = faces + WIDTH}};
    apsis_status status = APSIS_OK;
    for (int i = 0; i < 2 * ROWS * WIDTH; ++i) mask[i / (ROWS * WIDTH)][i % (ROWS * WIDTH)] = i % 5 != 0 && i % 7 % 3 != 0;
    for (int step = 0; step < 4 && status == APSIS_OK; ++step) {
        const int k = step % 2;
        const apsis_image set = {.data = mask[k], .type = APSIS_U8, .ndim = 2, .size = {WIDTH, ROWS}},
                          labels = {.data = out->index + k * ROWS * WIDTH, .type = APSIS_I32, .ndim = 2, .size = {WIDTH, ROWS}};
        if (step == 2) status = apsis_slab_join(ctx, 2, size, slabs, 2, NULL, 0, &out->count, NULL);
        if (status == APSIS_OK)
            status = step < 2 ? apsis_slab_parts(ctx, &set, &slabs[k], NULL)
                              : apsis_slab_components(ctx, &set, &slabs[k], &labels, NULL);
    }
    return status;
}

static void joins_on_a_failing_device(bench *b) {
    static const named_call call = {"joined slabs", joined_slabs};
    apsis_image rows = {.type = APSIS_I64, .ndim = 2, .size = {61, 2}};
    assert_ok(b->ctx, apsis_alloc(b->ctx, APSIS_DEVICE, &rows));
    faces = rows.data;
    fail_one_by_one(b, &call, 1);
    apsis_free(b->ctx, &rows);
}

/* Whatever fails while an image is freed, but the freeing itself: it is freed, and only once. */
static void images_freed_on_a_failing_device(bench *b) {
    for (int for_good = 0; for_good < 2; ++for_good)
        for (long n = 1, made = 0; made >= n - 1; ++n) {
            apsis_context *ctx;
            assert_ok(NULL, apsis_create(APSIS_VERSION, b->device, &ctx));
            const long live = apsis_emulated_live();
            apsis_image image = {NULL, APSIS_U8, 2, {64, 8}, {0}, APSIS_DEVICE, 0};
            assert_ok(ctx, apsis_alloc(ctx, APSIS_DEVICE, &image));
            apsis_emulated_fail(n, for_good);
            apsis_free(ctx, &image);
            made = apsis_emulated_calls();
            apsis_emulated_fail(0, 0);
            assert_null(image.data);
            apsis_free(ctx, &image);
            if (!for_good && n < made) assert_int_equal(apsis_emulated_live(), live);
            apsis_destroy(ctx);
        }
}

int main(int argc, char **argv) {
    static const test_case cases[] = {
        TEST(contexts_on_a_failing_device, ON_DEVICE_HOST), TEST(calls_on_a_failing_device, ON_DEVICE_HOST),
        TEST(calls_of_which_a_device_fails, ON_DEVICE_HOST), TEST(joins_on_a_failing_device, ON_DEVICE_HOST),
        TEST(images_freed_on_a_failing_device, ON_DEVICE)};
    return RUN_CASES(cases, argc, argv);
}
