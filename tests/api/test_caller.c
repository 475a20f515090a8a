/* What is the caller's, on the emulated device: streams that are captured, which a call that waits would spoil, and the CUDA
 * context of the thread.  See test_stream.c for the same on a GPU. */
#include "emulator/caller.h"
#include "frame.h"

enum { W = 70, H = 41 };

typedef struct images {
    frame set, real, index;
} images;

static struct CUstream_st *const stream = (struct CUstream_st *)64, *const other = (struct CUstream_st *)128;

static images open_images(bench *b) {
    const int64_t size[3] = {W, H, 1};
    uint8_t mask[W * H];
    chance c = {3};
    fill_mask(mask, size, NOISE, 0.5, &c);
    images i = {frame_open(b, APSIS_U8, 2, size, PACKED), frame_open(b, APSIS_F32, 2, size, PACKED),
                frame_open(b, APSIS_I32, 2, size, PACKED)};
    frame_put(&i.set, mask);
    return i;
}

static void close_images(images *i) {
    frame_close(&i->set);
    frame_close(&i->real);
    frame_close(&i->index);
}

static int go_on(void *user, double done) { return (void)user, (void)done, 0; }
static void ignore(void *user, const char *line) { (void)user, (void)line; }

static apsis_status map(bench *b, images *i, apsis_method method) {
    apsis_options o = APSIS_OPTIONS_INIT;
    o.method = method;
    return apsis_distance(b->ctx, &i->set.image, &i->real.image, &i->index.image, &o);
}
static apsis_status label(bench *b, images *i, int64_t *count) {
    return apsis_components(b->ctx, &i->set.image, &i->index.image, NULL, 0, count, NULL);
}
static apsis_status paths(bench *b, images *i) {
    return apsis_geodesic(b->ctx, &i->set.image, &i->set.image, &i->real.image, &i->index.image, NULL);
}
static apsis_status far(bench *b, images *i) {
    return apsis_eccentricity(b->ctx, &i->set.image, &i->real.image, NULL, NULL, 0, NULL, NULL);
}

#define REFUSED(call, text) assert_fails(b->ctx, call, APSIS_ERROR_UNSUPPORTED, "stream is being captured|" text)

static void refused_while_captured(bench *b) {
    images i = open_images(b);
    bench host = *b;
    host.memory = APSIS_HOST;
    images outside = open_images(&host);
    int64_t count;
    apsis_image more = {.type = APSIS_U8, .ndim = 2, .size = {W, H}};
    frame sites = frame_open(b, APSIS_I64, 2, (const int64_t[]){W, 1, 1}, PACKED);
    const apsis_slab slab = {.start = 5, .extent = H + 5, .above = sites.image.data};
    assert_ok(b->ctx, apsis_set_stream(b->ctx, stream));
    apsis_emulated_capture(stream);
    REFUSED(map(b, &i, APSIS_AUTO), "workspace must grow");
    apsis_emulated_capture(NULL);
    assert_ok(b->ctx, far(b, &i)); /* the workspace is large enough now */
    assert_ok(b->ctx, map(b, &i, APSIS_RASTER_SCAN));

    apsis_emulated_capture(stream);
    REFUSED(far(b, &i), "eccentricities");
    REFUSED(label(b, &i, &count), "count");
    REFUSED(map(b, &i, APSIS_RASTER_SCAN), "APSIS_RASTER_SCAN");
    REFUSED(map(b, &outside, APSIS_AUTO), "host memory");
    REFUSED(label(b, &outside, NULL), "host memory");
    REFUSED(paths(b, &outside), "host memory");
    REFUSED(apsis_copy(b->ctx, &i.set.image, &outside.set.image), "host memory");
    REFUSED(apsis_alloc(b->ctx, APSIS_DEVICE, &more), "memory");
    REFUSED(apsis_sync(b->ctx), "waited for");
    apsis_options options = APSIS_OPTIONS_INIT; /* sites in device memory are looked at, on the device or on the host */
    REFUSED(apsis_slab_distance(b->ctx, &i.set.image, &slab, &i.real.image, NULL, &options), "waited for");
    options.flags = APSIS_SIGNED;
    REFUSED(apsis_slab_distance(b->ctx, &i.set.image, &slab, &i.real.image, NULL, &options), "waited for");
    REFUSED(apsis_slab_summary(b->ctx, &i.set.image, 0, sites.image.data, NULL, NULL), "what a slab tells");
    REFUSED(apsis_set_workspace(b->ctx, NULL, 0), "waited for");
    assert_ok(b->ctx, apsis_set_progress(b->ctx, go_on, NULL));
    REFUSED(map(b, &i, APSIS_AUTO), "progress");
    REFUSED(paths(b, &i), "progress");
    REFUSED(label(b, &i, NULL), "progress");
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    assert_ok(b->ctx, apsis_set_log(b->ctx, ignore, NULL));
    REFUSED(map(b, &i, APSIS_SWEEP), "log");
    REFUSED(map(b, &i, APSIS_JUMP_FLOOD), "log");
    assert_ok(b->ctx, map(b, &i, APSIS_AUTO));
    assert_ok(b->ctx, apsis_set_log(b->ctx, NULL, NULL));

    assert_ok(b->ctx, map(b, &i, APSIS_AUTO)); /* these can be captured */
    assert_ok(b->ctx, map(b, &i, APSIS_SWEEP));
    assert_ok(b->ctx, label(b, &i, NULL));
    assert_ok(b->ctx, paths(b, &i));
    assert_ok(b->ctx, apsis_voronoi(b->ctx, &i.set.image, &i.index.image, NULL));
    assert_int_equal(apsis_emulated_violations(), 0);
    apsis_emulated_capture(NULL);
    assert_ok(b->ctx, apsis_set_stream(b->ctx, NULL));
    frame_close(&sites);
    close_images(&i);
    close_images(&outside);
}

/** Onto a stream that is captured, and away from it, without an event that would join it and the others. */
static void streams_that_are_captured(bench *b) {
    images i = open_images(b);
    assert_ok(b->ctx, map(b, &i, APSIS_AUTO));
    apsis_emulated_capture(stream);
    assert_ok(b->ctx, apsis_set_stream(b->ctx, stream));
    assert_ok(b->ctx, map(b, &i, APSIS_AUTO));
    assert_ok(b->ctx, apsis_set_stream(b->ctx, other));
    assert_ok(b->ctx, map(b, &i, APSIS_AUTO));
    assert_ok(b->ctx, apsis_set_stream(b->ctx, stream));
    assert_ok(b->ctx, apsis_set_stream(b->ctx, NULL));
    assert_ok(b->ctx, map(b, &i, APSIS_AUTO));
    assert_int_equal(apsis_emulated_violations(), 0);
    apsis_emulated_capture(NULL);
    close_images(&i);
}

/** None, or one from the driver's interface: after each call it is the same. */
static void the_context_of_the_thread(bench *b) {
    static char mine;
    images i = open_images(b);
    for (int k = 0; k < 2; ++k) {
        void *const context = k ? &mine : NULL;
        int64_t count;
        apsis_context *ctx;
        apsis_emulated_context(context);
        assert_ok(NULL, apsis_create(APSIS_VERSION, b->device, &ctx));
        assert_ptr_equal(apsis_emulated_context(context), context);
        assert_ok(b->ctx, map(b, &i, APSIS_AUTO));
        assert_ok(b->ctx, label(b, &i, &count));
        assert_ok(b->ctx, far(b, &i));
        assert_ptr_equal(apsis_emulated_context(context), context);
        apsis_destroy(ctx);
        assert_ptr_equal(apsis_emulated_context(context), context);
    }
    apsis_emulated_context(NULL);
    close_images(&i);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(refused_while_captured, ON_DEVICE), TEST(streams_that_are_captured, ON_DEVICE),
                                      TEST(the_context_of_the_thread, ON_DEVICE)};
    return RUN_CASES(cases, argc, argv);
}
