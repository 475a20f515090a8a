/* Contexts over several devices, and such with little memory: see devices.h. */
#include "devices.h"

bench open_devices(const bench *b, int count) {
    int devices[8];
    bench several = *b;
    for (int i = 0; i < count; ++i) devices[i] = b->device;
    assert_ok(NULL, apsis_create_devices(APSIS_VERSION, devices, count, &several.ctx));
    assert_int_equal(apsis_device(several.ctx), b->device);
    return several;
}

static void *grant(void *user, apsis_memory memory, size_t bytes, struct CUstream_st *stream) {
    budget *of = user;
    (void)stream;
    apsis_image image = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
    if (bytes > of->most) return ++of->refused, NULL;
    return apsis_alloc(of->pool, memory, &image) == APSIS_OK ? image.data : NULL;
}

static void give_back(void *user, apsis_memory memory, void *data, size_t bytes, struct CUstream_st *stream) {
    budget *of = user;
    (void)stream;
    apsis_image image = {.data = data, .type = APSIS_U8, .memory = memory, .ndim = 2, .size = {(int64_t)bytes, 1}};
    apsis_free(of->pool, &image);
}

bench open_little(const bench *b, budget *of) {
    bench little = *b;
    assert_ok(NULL, apsis_create(APSIS_VERSION, b->device, &little.ctx));
    assert_ok(little.ctx, apsis_set_allocator(little.ctx, grant, give_back, of));
    return little;
}
