/* Memory: apsis_alloc and apsis_copy, the workspace, and allocators that fail. */
#include "run_distance.h"

/* ---- Copies ---- */

/** A bench on the same context whose images are in this memory. */
static bench with_memory(const bench *b, apsis_memory memory) {
    bench other = *b;
    other.memory = memory;
    return other;
}

static void check_copy(bench *from_bench, bench *to_bench, apsis_type from_type, apsis_type to_type, unsigned from_layout,
                       unsigned to_layout) {
    const int64_t size[3] = {13, 5, 3};
    uint8_t pixels[13 * 5 * 3 * 8], got[sizeof pixels];
    chance c = {from_layout * 64 + to_layout};
    const bool converts = from_type != to_type;
    const bool set_of_bits = from_type == APSIS_BIT || (converts && to_type == APSIS_BIT);
    for (size_t i = 0; i < sizeof pixels; ++i) pixels[i] = (uint8_t)(set_of_bits ? roll(&c) & 1 : roll(&c));
    if (converts && from_type == APSIS_U8) pixels[7] = 200; /* any non-zero byte becomes 1 */
    frame from = frame_open(from_bench, from_type, 3, size, from_layout);
    frame to = frame_open(to_bench, to_type, 3, size, to_layout);
    frame_put(&from, pixels);
    assert_ok(from_bench->ctx, apsis_copy(from_bench->ctx, &from.image, &to.image));
    frame_assert_unchanged(&from);
    frame_get(&to, got);
    const size_t count = 13 * 5 * 3 * type_size(to_type);
    if (converts && to_type == APSIS_BIT) pixels[7] = 1;
    assert_memory_equal(got, pixels, count);
    frame_close(&from);
    frame_close(&to);
}

static void every_copy(bench *b) {
    static const apsis_type types[][2] = {{APSIS_BIT, APSIS_BIT}, {APSIS_BIT, APSIS_U8},  {APSIS_U8, APSIS_BIT},
                                          {APSIS_U8, APSIS_U8},   {APSIS_I32, APSIS_I32}, {APSIS_I64, APSIS_I64},
                                          {APSIS_F32, APSIS_F32}, {APSIS_F64, APSIS_F64}, {APSIS_U16, APSIS_U16}};
    static const unsigned layouts[] = {PACKED, PADDED, STEPPED, SWAPPED, FLIP_X | PADDED, FLIP_Y, FLIP_Z | FLIP_X | STEPPED};
    bench host = with_memory(b, APSIS_HOST), own = *b;
    bench *pairs[][2] = {{&own, &own}, {&own, &host}, {&host, &own}};
    for (int p = 0; p < (b->memory == APSIS_HOST ? 1 : COUNT(pairs)); ++p)
        for (int t = 0; t < COUNT(types); ++t)
            for (int i = 0; i < COUNT(layouts); ++i)
                for (int j = 0; j < COUNT(layouts); ++j)
                    check_copy(pairs[p][0], pairs[p][1], types[t][0], types[t][1], layouts[i], layouts[j]);
}

static void copies_that_are_refused(bench *b) {
    uint8_t bytes[64] = {0};
    const apsis_image from = {.data = bytes, .type = APSIS_U8, .ndim = 2, .size = {4, 4}};
    apsis_image to = from;
    to.data = bytes + 32;
    assert_fails(b->ctx, apsis_copy(b->ctx, NULL, &to), APSIS_ERROR_ARGUMENT, "from|NULL");
    assert_fails(b->ctx, apsis_copy(b->ctx, &from, NULL), APSIS_ERROR_ARGUMENT, "to|NULL");
    to.size[1] = 3;
    assert_fails(b->ctx, apsis_copy(b->ctx, &from, &to), APSIS_ERROR_ARGUMENT, "to|size[1]|3|4");
    to = from;
    assert_fails(b->ctx, apsis_copy(b->ctx, &from, &to), APSIS_ERROR_ARGUMENT, "to|overlap|from");
    to.data = bytes + 16;
    to.type = APSIS_I32;
    to.size[0] = 4;
    assert_fails(b->ctx, apsis_copy(b->ctx, &from, &to), APSIS_ERROR_ARGUMENT, "to|type");
}

/* ---- Images of the library ---- */

static void allocated_images(bench *b) {
    apsis_image image = {.type = APSIS_BIT, .ndim = 3, .size = {13, 5, 3}, .stride = {9, 9, 9}};
    assert_ok(b->ctx, apsis_alloc(b->ctx, b->memory, &image));
    assert_non_null(image.data);
    assert_int_equal((uintptr_t)image.data % 256, 0);
    assert_int_equal(image.memory, b->memory);
    assert_int_equal(image.stride[0], 0);
    assert_int_equal(image.stride[1], 2);
    assert_int_equal(image.stride[2], 10);
    apsis_free(b->ctx, &image);
    assert_null(image.data);
    apsis_free(b->ctx, &image);
    apsis_free(b->ctx, NULL);

    image = (apsis_image){.type = APSIS_F64, .ndim = 2, .size = {7, 5}};
    assert_ok(b->ctx, apsis_alloc(b->ctx, APSIS_HOST, &image)); /* page-locked in a device context */
    assert_int_equal(image.stride[0], 8);
    assert_int_equal(image.stride[1], 56);
    memset(image.data, 1, 7 * 5 * 8);
    apsis_free(b->ctx, &image);
}

static void images_that_cannot_be(bench *b) {
    apsis_image image = {.type = APSIS_U8, .ndim = 2, .size = {4, 4}};
    assert_fails(b->ctx, apsis_alloc(b->ctx, APSIS_HOST, NULL), APSIS_ERROR_ARGUMENT, "image|NULL");
    assert_fails(b->ctx, apsis_alloc(b->ctx, (apsis_memory)3, &image), APSIS_ERROR_ARGUMENT, "memory|3");
    if (b->device == APSIS_CPU)
        assert_fails(b->ctx, apsis_alloc(b->ctx, APSIS_DEVICE, &image), APSIS_ERROR_ARGUMENT, "memory|APSIS_DEVICE");
    image.type = (apsis_type)9;
    assert_fails(b->ctx, apsis_alloc(b->ctx, APSIS_HOST, &image), APSIS_ERROR_ARGUMENT, "image|type|9");
    image = (apsis_image){.type = APSIS_F64, .ndim = 3, .size = {1 << 20, 1 << 20, 1 << 10}}; /* 2^53 bytes */
    assert_fails(b->ctx, apsis_alloc(b->ctx, b->memory, &image), APSIS_ERROR_MEMORY, "bytes");
    assert_null(image.data);
}

/* ---- Pools: an allocator that counts, and may fail ---- */

typedef struct pool {
    apsis_context *source; /* where its memory comes from */
    int calls, live, fail_at;
    size_t bytes;
} pool;

static void *pool_take(void *user, apsis_memory memory, size_t bytes, struct CUstream_st *stream) {
    pool *p = user;
    (void)stream;
    if (++p->calls == p->fail_at) return NULL;
    apsis_image image = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
    if (apsis_alloc(p->source, memory, &image) != APSIS_OK) return NULL;
    ++p->live;
    p->bytes += bytes;
    return image.data;
}

static void pool_give(void *user, apsis_memory memory, void *data, size_t bytes, struct CUstream_st *stream) {
    pool *p = user;
    (void)stream;
    apsis_image image = {.data = data, .type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}, .memory = memory};
    apsis_free(p->source, &image);
    --p->live;
    p->bytes -= bytes;
}

static pool open_pool(const bench *b) {
    pool p = {0};
    assert_ok(NULL, apsis_create(APSIS_VERSION, b->device, &p.source));
    return p;
}

static void close_pool(bench *b, pool *p) {
    assert_ok(b->ctx, apsis_set_allocator(b->ctx, NULL, NULL, NULL));
    assert_int_equal(p->live, 0);
    assert_int_equal(p->bytes, 0);
    apsis_destroy(p->source);
}

/* A 3-D problem, signed, that needs every kind of scratch. */
static const int64_t big[3] = {61, 47, 34};

static void *big_mask(void) {
    chance c = {8};
    uint8_t *mask = must_alloc(61 * 47 * 34);
    fill_mask(mask, big, NOISE, 0.01, &c);
    return mask;
}

static void the_nth_allocation_fails(bench *b) {
    pool p = open_pool(b);
    uint8_t *mask = big_mask();
    frame set = frame_open(b, APSIS_BIT, 3, big, PADDED), out = frame_open(b, APSIS_F32, 3, big, FLIP_Y);
    frame_put(&set, mask);
    int n = 1;
    for (;; ++n) {
        assert_ok(b->ctx, apsis_set_allocator(b->ctx, NULL, NULL, NULL)); /* drops the workspace of the last round */
        p.calls = 0;
        p.fail_at = n;
        assert_ok(b->ctx, apsis_set_allocator(b->ctx, pool_take, pool_give, &p));
        const apsis_status st = apsis_distance(b->ctx, &set.image, &out.image, NULL, NULL);
        if (p.calls < n) {
            assert_ok(b->ctx, st);
            break;
        }
        const bool goes_by_slabs = st == APSIS_OK && b->place == ON_DEVICE_HOST; /* test_devices.c compares their maps */
        if (!goes_by_slabs) assert_fails(b->ctx, st, APSIS_ERROR_MEMORY, "allocator|NULL|bytes");
        assert_true(n < 100);
    }
    assert_true(n > 1);
    assert_ok(b->ctx, apsis_sync(b->ctx));
    close_pool(b, &p);
    frame_close(&set);
    frame_close(&out);
    free(mask);
}

static void images_from_a_pool(bench *b) {
    pool p = open_pool(b);
    apsis_image image = {.type = APSIS_I32, .ndim = 2, .size = {100, 100}};
    assert_ok(b->ctx, apsis_set_allocator(b->ctx, pool_take, pool_give, &p));
    assert_ok(b->ctx, apsis_alloc(b->ctx, b->memory, &image));
    assert_int_equal(p.live, 1);
    assert_int_equal(p.bytes, 40000);
    apsis_free(b->ctx, &image);
    assert_fails(b->ctx, apsis_set_allocator(b->ctx, pool_take, NULL, &p), APSIS_ERROR_ARGUMENT, "release|NULL");
    assert_fails(b->ctx, apsis_set_allocator(b->ctx, NULL, pool_give, &p), APSIS_ERROR_ARGUMENT, "allocate|NULL");
    close_pool(b, &p);
}

/* ---- The workspace ---- */

/** With exactly apsis_workspace_size bytes nothing is allocated; with one byte less it is refused, with both numbers. */
static void the_workspace_is_enough(bench *b) {
    static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD};
    uint8_t *mask = big_mask();
    for (int m = 0; m < 3 * 4; ++m) {
        apsis_options options = APSIS_OPTIONS_INIT;
        options.metric = metrics[m % 3];
        options.flags = (m / 3 & 1 ? APSIS_SIGNED : 0) | (m / 6 ? APSIS_SLICES : 0);
        pool source = open_pool(b), none = open_pool(b);
        const unsigned layout = m & 1 ? FLIP_Y | PADDED : PACKED;
        frame set = frame_open(b, APSIS_U8, 3, big, layout), out = frame_open(b, APSIS_F32, 3, big, layout);
        frame near = frame_open(b, APSIS_I64, 3, big, layout);
        frame_put(&set, mask);
        const apsis_image *images[3] = {&set.image, &out.image, &near.image};
        size_t bytes = 0;
        char numbers[64];
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, &options, &bytes));
        assert_true(bytes > 256);
        const apsis_memory own = b->device == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE;
        void *memory = pool_take(&source, own, bytes, NULL);
        none.fail_at = 1; /* an allocator that is asked at all fails */
        assert_ok(b->ctx, apsis_set_allocator(b->ctx, pool_take, pool_give, &none));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory, bytes));
        assert_ok(b->ctx, apsis_distance(b->ctx, images[0], images[1], images[2], &options));
        assert_ok(b->ctx, apsis_sync(b->ctx));
        assert_int_equal(none.calls, 0);

        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory, bytes - 1));
        snprintf(numbers, sizeof numbers, "workspace|%zu|%zu", bytes - 1, bytes);
        assert_fails(b->ctx, apsis_distance(b->ctx, images[0], images[1], images[2], &options), APSIS_ERROR_WORKSPACE, numbers);
        assert_fails(b->ctx, apsis_set_workspace(b->ctx, (uint8_t *)memory + 8, bytes - 8), APSIS_ERROR_ARGUMENT, "memory|256");
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        pool_give(&source, own, memory, bytes, NULL);
        close_pool(b, &none);
        assert_int_equal(source.live, 0);
        apsis_destroy(source.source);
        frame_close(&set);
        frame_close(&out);
        frame_close(&near);
    }
    free(mask);
}

/** The size does not depend on where data is, and NULL stands for an image that is left out. */
static void the_size_of_a_workspace(bench *b) {
    apsis_image set = {.type = APSIS_U8, .ndim = 2, .size = {500, 300}, .memory = b->memory};
    apsis_image out = {.type = APSIS_F32, .ndim = 2, .size = {500, 300}, .memory = b->memory};
    const apsis_image *images[3] = {&set, &out, NULL};
    size_t bytes = 0;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &bytes));
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, (apsis_transform)99, images, 3, NULL, &bytes), APSIS_ERROR_ARGUMENT,
                 "transform|99");
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 2, NULL, &bytes), APSIS_ERROR_ARGUMENT,
                 "count|2|3");
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, NULL, 3, NULL, &bytes), APSIS_ERROR_ARGUMENT,
                 "images|NULL");
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "bytes|NULL");
    images[0] = NULL;
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &bytes), APSIS_ERROR_ARGUMENT,
                 "set|NULL");
}

/** The context's workspace grows, is kept, and is as good the second time. */
static void the_workspace_is_kept(bench *b) {
    pool p = open_pool(b);
    uint8_t *mask = big_mask();
    problem small = new_problem(3, 5, 4, 3, mask), large = new_problem(3, 61, 47, 34, mask);
    frame set = frame_open(b, APSIS_U8, 3, big, PACKED), out = frame_open(b, APSIS_F32, 3, big, PACKED);
    frame_put(&set, mask);
    assert_ok(b->ctx, apsis_set_allocator(b->ctx, pool_take, pool_give, &p));
    for (int i = 0; i < 3; ++i) assert_ok(b->ctx, apsis_distance(b->ctx, &set.image, &out.image, NULL, NULL));
    assert_int_equal(p.calls, 1);
    assert_ok(b->ctx, apsis_sync(b->ctx));
    close_pool(b, &p);
    frame_close(&set);
    frame_close(&out);
    for (int i = 0; i < 2; ++i) {
        check_distance(b, &small, &PLAIN);
        check_distance(b, &large, &PLAIN);
    }
    free(mask);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_copy, EVERYWHERE),
                                      TEST(copies_that_are_refused, EVERYWHERE),
                                      TEST(allocated_images, EVERYWHERE),
                                      TEST(images_that_cannot_be, EVERYWHERE),
                                      TEST(the_nth_allocation_fails, EVERYWHERE),
                                      TEST(images_from_a_pool, EVERYWHERE),
                                      TEST(the_workspace_is_enough, EVERYWHERE),
                                      TEST(the_size_of_a_workspace, EVERYWHERE),
                                      TEST(the_workspace_is_kept, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
