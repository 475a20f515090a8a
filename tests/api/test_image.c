/* What an apsis_image may be, and what it may not: each rule broken once, and the message names the argument. */
#include "frame.h"

enum { W = 20, H = 10, PIXELS = W * H };

/** Three images that are right, to break one field at a time. */
typedef struct trio {
    frame set, distance, nearest;
} trio;

static trio open_trio(bench *b) {
    const int64_t size[3] = {W, H, 1};
    const uint8_t mask[PIXELS] = {1};
    trio t = {frame_open(b, APSIS_U8, 2, size, PACKED), frame_open(b, APSIS_F32, 2, size, PACKED),
              frame_open(b, APSIS_I32, 2, size, PACKED)};
    frame_put(&t.set, mask);
    return t;
}

static void close_trio(trio *t) {
    frame_close(&t->set);
    frame_close(&t->distance);
    frame_close(&t->nearest);
}

/** Not one byte of an output has been written. */
static void assert_untouched(frame *f) {
    uint8_t pixels[PIXELS * 8];
    frame_get(f, pixels);
    for (size_t i = 0; i < PIXELS * type_size(f->image.type); ++i) assert_int_equal(pixels[i], POISON);
}

#define REFUSED(t, status, text) \
    assert_fails(b->ctx, apsis_distance(b->ctx, &(t).set.image, &(t).distance.image, &(t).nearest.image, NULL), status, text)

#define BREAK(which, field, value, status, text) \
    do {                                         \
        trio t_ = open_trio(b);                  \
        t_.which.image.field = (value);          \
        REFUSED(t_, status, text);               \
        close_trio(&t_);                         \
    } while (0)

static void each_field_of_an_image(bench *b) {
    BREAK(set, data, NULL, APSIS_ERROR_ARGUMENT, "set|data|NULL");
    BREAK(distance, data, NULL, APSIS_ERROR_ARGUMENT, "distance|data|NULL");
    BREAK(nearest, data, NULL, APSIS_ERROR_ARGUMENT, "nearest|data|NULL");
    BREAK(set, type, (apsis_type)0, APSIS_ERROR_ARGUMENT, "set|type|0");
    BREAK(set, type, (apsis_type)8, APSIS_ERROR_ARGUMENT, "set|type|8");
    BREAK(set, type, APSIS_F32, APSIS_ERROR_ARGUMENT, "set|type|APSIS_F32");
    BREAK(distance, type, APSIS_U8, APSIS_ERROR_ARGUMENT, "distance|type|APSIS_U8");
    BREAK(nearest, type, APSIS_F32, APSIS_ERROR_ARGUMENT, "nearest|type|APSIS_F32");
    BREAK(set, ndim, 1, APSIS_ERROR_ARGUMENT, "set|ndim|1");
    BREAK(set, ndim, 4, APSIS_ERROR_ARGUMENT, "set|ndim|4");
    BREAK(distance, ndim, 3, APSIS_ERROR_ARGUMENT, "distance|ndim|3");
    BREAK(set, size[0], -1, APSIS_ERROR_ARGUMENT, "set|size[0]|-1");
    BREAK(distance, size[1], H + 1, APSIS_ERROR_ARGUMENT, "distance|size[1]|11|10");
    BREAK(nearest, size[0], W - 1, APSIS_ERROR_ARGUMENT, "nearest|size[0]|19|20");
    BREAK(distance, size[0], ((int64_t)1 << 30) + 1, APSIS_ERROR_UNSUPPORTED, "distance|size[0]|1073741825");
    BREAK(set, memory, (apsis_memory)2, APSIS_ERROR_ARGUMENT, "set|memory|2");
    BREAK(distance, reserved, 5, APSIS_ERROR_ARGUMENT, "distance|reserved|5");
    BREAK(distance, stride[0], 6, APSIS_ERROR_ARGUMENT, "distance|stride[0]|6");
    BREAK(nearest, stride[1], W * 4 + 2, APSIS_ERROR_ARGUMENT, "nearest|stride[1]|82");
    BREAK(distance, stride[1], INT64_MIN, APSIS_ERROR_ARGUMENT, "distance|stride[1]");
    BREAK(set, stride[1], INT64_MAX, APSIS_ERROR_ARGUMENT, "set|stride[1]");
    BREAK(distance, stride[1], W * 4 - 4, APSIS_ERROR_ARGUMENT, "distance|stride[1]|76"); /* rows overlap */
}

static void an_output_that_overlaps_itself(bench *b) {
    trio t = open_trio(b);
    t.nearest.image.stride[0] = t.nearest.image.stride[1] = 4; /* (1, 0) is (0, 1) */
    REFUSED(t, APSIS_ERROR_ARGUMENT, "nearest|stride|overlap");
    assert_untouched(&t.distance);
    close_trio(&t);
}

static void misaligned_data(bench *b) {
    trio t = open_trio(b);
    t.distance.image.data = (uint8_t *)t.distance.image.data + 2;
    REFUSED(t, APSIS_ERROR_ARGUMENT, "distance|data|multiple");
    t.distance.image.data = (uint8_t *)t.distance.image.data - 2;
    assert_untouched(&t.distance);
    assert_untouched(&t.nearest);
    t.set.image.type = APSIS_BIT;
    t.set.image.stride[0] = 1;
    REFUSED(t, APSIS_ERROR_ARGUMENT, "set|stride[0]|APSIS_BIT");
    close_trio(&t);
}

static void null_images(bench *b) {
    trio t = open_trio(b);
    assert_fails(b->ctx, apsis_distance(b->ctx, NULL, &t.distance.image, NULL, NULL), APSIS_ERROR_ARGUMENT, "set|NULL");
    assert_ok(b->ctx, apsis_distance(b->ctx, &t.set.image, NULL, NULL, NULL));
    close_trio(&t);
}

static void device_images_in_a_cpu_context(bench *b) {
    trio t = open_trio(b);
    t.nearest.image.memory = APSIS_DEVICE;
    REFUSED(t, APSIS_ERROR_ARGUMENT, "nearest|APSIS_DEVICE");
    close_trio(&t);
}

static void sizes_that_overflow(bench *b) {
    const int64_t most = (int64_t)1 << 30;
    size_t bytes = 0;
    apsis_image set = {.type = APSIS_BIT, .ndim = 3, .size = {most, most, 8}};
    apsis_image out = {.type = APSIS_F64, .ndim = 3, .size = {most, most, 8}};
    const apsis_image *images[3] = {&set, &out, NULL};
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &bytes), APSIS_ERROR_ARGUMENT,
                 "set|size");
    set.size[2] = out.size[2] = 1; /* 2^60 pixels: a double more than 2^63 bytes needs no row, the strides do */
    out.stride[2] = INT64_MAX / 8 * 8;
    out.size[2] = set.size[2] = 2;
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &bytes), APSIS_ERROR_ARGUMENT,
                 "distance|stride");
    apsis_image huge = {.type = APSIS_U8, .ndim = 3, .size = {most, most, most}};
    assert_fails(b->ctx, apsis_alloc(b->ctx, APSIS_HOST, &huge), APSIS_ERROR_ARGUMENT, "image|size");
    assert_null(huge.data);
}

/** More than 2^31 pixels: sizes are computed in 64 bits, and an index of 32 is refused. */
static void more_than_2_31_pixels(bench *b) {
    size_t small = 0, large = 0;
    apsis_image set = {.type = APSIS_BIT, .ndim = 2, .size = {1 << 16, 1 << 16}};
    apsis_image out = {.type = APSIS_F32, .ndim = 2, .size = {1 << 16, 1 << 16}};
    apsis_image near = {.type = APSIS_I64, .ndim = 2, .size = {1 << 16, 1 << 16}};
    const apsis_image *images[3] = {&set, &out, &near};
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &large));
    set.size[1] = out.size[1] = near.size[1] = 1 << 12;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &small));
    assert_true(large > 8 * small && large < (size_t)1 << 40);

    set.size[1] = out.size[1] = near.size[1] = 1 << 15; /* the last index is 2^31 - 1 */
    near.type = APSIS_I32;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &large));
    set.size[1] = out.size[1] = near.size[1] = (1 << 15) + 1;
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &large), APSIS_ERROR_RANGE,
                 "nearest|APSIS_I32");
}

/** A square that might not fit 32 bits is refused before anything is read; with a max_distance it fits. */
static void squares_that_might_not_fit(bench *b) {
    const int64_t fits[3] = {46341, 1, 1}, wide[3] = {46342, 1, 1};
    uint8_t *mask = must_alloc(46342);
    apsis_options near = APSIS_OPTIONS_INIT;
    near.max_distance = 46340;
    for (int i = 0; i < 3; ++i) {
        const int64_t *size = i == 0 ? fits : wide;
        frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, APSIS_I32, 2, size, PACKED);
        frame_put(&set, mask);
        if (i == 1)
            assert_fails(b->ctx, apsis_distance(b->ctx, &set.image, &out.image, NULL, NULL), APSIS_ERROR_RANGE,
                         "distance|APSIS_I32");
        else
            assert_ok(b->ctx, apsis_distance(b->ctx, &set.image, &out.image, NULL, i ? &near : NULL));
        assert_ok(b->ctx, apsis_sync(b->ctx));
        frame_close(&set);
        frame_close(&out);
    }
    free(mask);
}

static void images_without_pixels(bench *b) {
    static const int64_t sizes[][3] = {{0, 0, 0}, {0, 5, 1}, {5, 0, 1}, {5, 5, 0}, {0, 5, 5}};
    for (int i = 0; i < COUNT(sizes); ++i)
        for (int ndim = i == 3 ? 3 : 2; ndim <= 3; ++ndim) {
            apsis_image set = {.type = APSIS_BIT, .ndim = ndim, .size = {sizes[i][0], sizes[i][1], sizes[i][2]}};
            apsis_image out = set, near = set, made = set;
            out.type = APSIS_F64;
            near.type = made.type = APSIS_I64;
            assert_ok(b->ctx, apsis_distance(b->ctx, &set, &out, &near, NULL));
            assert_ok(b->ctx, apsis_copy(b->ctx, &set, &set));
            assert_ok(b->ctx, apsis_alloc(b->ctx, b->memory, &made));
            assert_null(made.data);
            apsis_free(b->ctx, &made);
        }
}

/* ---- Outputs that meet ---- */

/** Both outputs in one frame of 64-bit pixels, the nearest map `offset` bytes behind the distance. */
static void share(bench *b, int64_t offset, int64_t pixel, int64_t row, bool allowed) {
    const int64_t size[3] = {2 * W, 2 * H, 1}, mask_size[3] = {W, H, 1};
    uint8_t mask[PIXELS] = {1};
    frame set = frame_open(b, APSIS_U8, 2, mask_size, PACKED), both = frame_open(b, APSIS_I64, 2, size, PACKED);
    frame_put(&set, mask);
    apsis_image distance = both.image, nearest;
    distance.type = APSIS_F32;
    distance.size[0] = W;
    distance.size[1] = H;
    distance.stride[0] = pixel;
    distance.stride[1] = row;
    nearest = distance;
    nearest.type = APSIS_I32;
    nearest.data = (uint8_t *)distance.data + offset;
    if (allowed) {
        assert_ok(b->ctx, apsis_distance(b->ctx, &set.image, &distance, &nearest, NULL));
        uint8_t *pixels = must_alloc(2 * W * 2 * H * 8);
        frame_get(&both, pixels);
        float last;
        int32_t near = -1;
        memcpy(&last, pixels + (W - 1) * pixel + (H - 1) * row, 4);
        memcpy(&near, pixels + offset + (W - 1) * pixel + (H - 1) * row, 4);
        assert_true(last == 21.0237961f); /* sqrt(19^2 + 9^2) */
        assert_int_equal(near, 0);
        free(pixels);
    } else {
        assert_fails(b->ctx, apsis_distance(b->ctx, &set.image, &distance, &nearest, NULL), APSIS_ERROR_ARGUMENT,
                     "nearest|overlap|distance");
    }
    frame_close(&set);
    frame_close(&both);
}

static void outputs_that_meet(bench *b) {
    share(b, 4, 8, W * 16, true);             /* channels of one image */
    share(b, W * 4, 4, W * 8, true);          /* halves, side by side */
    share(b, W * H * 4, 4, W * 4, true);      /* one behind the other */
    share(b, 0, 4, W * 4, false);             /* the same */
    share(b, W * H * 4 - 4, 4, W * 4, false); /* they share a pixel */
    share(b, W * 4 - 4, 4, W * 8, false);     /* halves that share a column */
    share(b, W * 8, 4, W * 8, false);         /* one row lower */
}

static void an_output_on_the_set(bench *b) {
    trio t = open_trio(b);
    t.set.image.data = (uint8_t *)t.distance.image.data + 4 * PIXELS - 1;
    REFUSED(t, APSIS_ERROR_ARGUMENT, "distance|set|overlap");
    t.set.image.data = (uint8_t *)t.nearest.image.data + 10;
    REFUSED(t, APSIS_ERROR_ARGUMENT, "nearest|set|overlap");
    close_trio(&t);
}

/** One row read again and again, through a stride that inputs alone may have: every row equals the first. */
static void an_input_may_overlap_itself(bench *b) {
    uint8_t mask[PIXELS] = {0, 1};
    const int64_t row[3] = {2 * W, 1, 1}, size[3] = {W, H, 1};
    frame set = frame_open(b, APSIS_U8, 2, row, PACKED), out = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&set, mask);
    apsis_image slanted = set.image;
    slanted.size[0] = W;
    slanted.size[1] = H;
    slanted.stride[0] = slanted.stride[1] = 1;
    int32_t got[PIXELS];
    assert_ok(b->ctx, apsis_distance(b->ctx, &slanted, &out.image, NULL, NULL));
    frame_get(&out, got);
    assert_int_equal(got[1], 0); /* (1, 0) and */
    assert_int_equal(got[W], 0); /* (0, 1) are the same byte */
    assert_int_equal(got[W + 1], 1);
    frame_close(&set);
    frame_close(&out);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(each_field_of_an_image, EVERYWHERE),
                                      TEST(an_output_that_overlaps_itself, EVERYWHERE),
                                      TEST(misaligned_data, EVERYWHERE),
                                      TEST(null_images, EVERYWHERE),
                                      TEST(device_images_in_a_cpu_context, ON_CPU),
                                      TEST(sizes_that_overflow, EVERYWHERE),
                                      TEST(more_than_2_31_pixels, EVERYWHERE),
                                      TEST(squares_that_might_not_fit, EVERYWHERE),
                                      TEST(images_without_pixels, EVERYWHERE),
                                      TEST(outputs_that_meet, EVERYWHERE),
                                      TEST(an_output_on_the_set, EVERYWHERE),
                                      TEST(an_input_may_overlap_itself, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
