/* Host images in every kind of memory and layout, of as many strips and parts as it takes to reach every path. */
#include "run_distance.h"

/** A mask of noise and far sites, so that both ways of the row search are taken. */
static uint8_t *new_mask(const int64_t size[3], uint64_t seed) {
    chance c = {seed};
    uint8_t *mask = must_alloc((size_t)(size[0] * size[1] * size[2]));
    fill_mask(mask, size, seed % 3 ? NOISE : BLOBS, 0.003, &c);
    return mask;
}

static problem slices_problem(const int64_t size[3], const uint8_t *mask, uint32_t flags) {
    problem p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], mask);
    p.options.flags = flags | (size[2] > 1 ? APSIS_SLICES : 0);
    return p;
}

/* ---- Layouts ---- */

static void layouts_and_strips(bench *b) {
    static const int64_t sizes[][3] = {{70, 31, 1}, {70, 32, 1}, {69, 33, 1}, {33, 64, 1},
                                       {32, 65, 1}, {7, 33, 5},  {64, 20, 9}, {5, 96, 3}};
    static const unsigned layouts[] = {PACKED, PADDED, STEPPED, FLIP_Y, FLIP_X | PADDED, SWAPPED, FLIP_Z | STEPPED};
    static const apsis_type distances[] = {APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64};
    for (int s = 0; s < COUNT(sizes); ++s) {
        uint8_t *mask = new_mask(sizes[s], (uint64_t)s + 1);
        for (int i = 0; i < COUNT(layouts); ++i)
            for (int j = i % 2; j < COUNT(layouts); j += 2) {
                problem p = slices_problem(sizes[s], mask,
                                           (i + j) % 3 == 0   ? APSIS_SIGNED
                                           : (i + j) % 3 == 1 ? APSIS_COMPLEMENT
                                                              : 0);
                const given how = {.set = j & 1 ? APSIS_BIT : APSIS_U8,
                                   .distance = distances[(s + i) % 4],
                                   .nearest = j % 3 == 0 ? 0
                                              : i & 1    ? APSIS_I32
                                                         : APSIS_I64,
                                   .set_layout = layouts[i],
                                   .distance_layout = layouts[j],
                                   .nearest_layout = layouts[(i + j) % COUNT(layouts)]};
                check_distance(b, &p, &how);
            }
        free(mask);
    }
}

/* ---- Several parts: narrow images have parts of 2 MiB ---- */

static void several_parts(bench *b) {
    static const int64_t sizes[][3] = {{257, 2500, 1}, {640, 1409, 1}, {100, 100, 70}, {32, 33, 600}};
    for (int s = 0; s < COUNT(sizes); ++s) {
        uint8_t *mask = new_mask(sizes[s], (uint64_t)s + 5);
        for (int f = 0; f < 2; ++f) {
            problem p = slices_problem(sizes[s], mask, f ? APSIS_SIGNED : 0);
            const given how = {.set = f ? APSIS_BIT : APSIS_U8,
                               .distance = f ? APSIS_F64 : APSIS_F32,
                               .nearest = f ? APSIS_I64 : APSIS_I32,
                               .set_layout = f ? PADDED : PACKED,
                               .distance_layout = f ? FLIP_Y : PACKED,
                               .nearest_layout = PACKED};
            check_distance(b, &p, &how);
        }
        free(mask);
    }
}

/* ---- Kinds of memory ---- */

enum { W = 512, H = 3000 }; /* three parts and more of each image */

/** An image in page-locked or device memory of the context, or in memory of the C library. */
typedef struct held {
    apsis_image image;
    bool ours;
} held;

enum { PAGEABLE, PAGE_LOCKED, RESIDENT, KINDS };

static held hold(bench *b, apsis_type type, int kind) {
    held h = {.image = {.type = type, .ndim = 2, .size = {W, H}}, .ours = kind != PAGEABLE};
    if (h.ours)
        assert_ok(b->ctx, apsis_alloc(b->ctx, kind == RESIDENT ? APSIS_DEVICE : APSIS_HOST, &h.image));
    else
        h.image.data = must_alloc(W * H * type_size(type));
    return h;
}

static void let_go(bench *b, held *h) {
    if (h->ours)
        apsis_free(b->ctx, &h->image);
    else
        free(h->image.data);
}

/** Copies to or from packed host memory through apsis_copy, or, host to host, through memcpy. */
static void move(bench *b, const held *h, void *pixels, bool in) {
    const apsis_image plain = {.data = pixels, .type = h->image.type, .ndim = 2, .size = {W, H}};
    const size_t bytes = W * H * type_size(h->image.type);
    if (h->image.memory == APSIS_DEVICE)
        assert_ok(b->ctx, in ? apsis_copy(b->ctx, &plain, &h->image) : apsis_copy(b->ctx, &h->image, &plain));
    else
        memcpy(in ? h->image.data : pixels, in ? pixels : h->image.data, bytes);
}

/** Every image in every kind of memory, the workspace set to what apsis_workspace_size says. */
static void kinds_of_memory(bench *b) {
    const int64_t size[3] = {W, H, 1};
    uint8_t *mask = new_mask(size, 7);
    problem p = new_problem(2, W, H, 1, mask);
    answer want = solve_by_rows(&p);
    float *distance = must_alloc(W * H * sizeof *distance);
    int32_t *nearest = must_alloc(W * H * sizeof *nearest);
    for (int kinds = 0; kinds < KINDS * KINDS * KINDS; ++kinds) {
        held set = hold(b, APSIS_U8, kinds % KINDS), far = hold(b, APSIS_F32, kinds / KINDS % KINDS),
             near = hold(b, APSIS_I32, kinds / KINDS / KINDS);
        const apsis_image *images[3] = {&set.image, &far.image, &near.image};
        apsis_image workspace = {.type = APSIS_U8, .ndim = 2, .size = {0, 4096}};
        size_t bytes = 0;
        move(b, &set, mask, true);
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &bytes));
        workspace.size[0] = (int64_t)((bytes + 4095) / 4096);
        assert_ok(b->ctx, apsis_alloc(b->ctx, APSIS_DEVICE, &workspace));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, workspace.data, bytes));
        assert_ok(b->ctx, apsis_distance(b->ctx, images[0], images[1], images[2], NULL));
        if (set.image.memory == APSIS_HOST) memset(set.image.data, 0, W * H); /* it is read no more */
        move(b, &far, distance, false);
        move(b, &near, nearest, false);
        const outputs out = {distance, nearest};
        compare_outputs(&p, &PLAIN, &out, &want);
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        apsis_free(b->ctx, &workspace);
        let_go(b, &set);
        let_go(b, &far);
        let_go(b, &near);
    }
    free(distance);
    free(nearest);
    free_answer(&want);
    free(mask);
}

/** A GiB of outputs passes through an eighth of that, but on the fake device, whose scratch memory holds whole images. */
static void images_larger_than_the_workspace(bench *b) {
    apsis_image set = {.type = APSIS_BIT, .ndim = 2, .size = {8192, 8192}};
    apsis_image far = {.type = APSIS_F64, .ndim = 2, .size = {8192, 8192}};
    apsis_image near = {.type = APSIS_I64, .ndim = 2, .size = {8192, 8192}};
    const apsis_image *images[3] = {&set, &far, &near};
    size_t bytes = 0;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &bytes));
    if (!strstr(apsis_device_name(b->ctx), "fake")) assert_true(bytes < (size_t)8192 * 8192 * 2);
}

/* ---- Stopping ---- */

typedef struct listener {
    int calls, stop_at;
    double last;
    bool fell;
} listener;

static int listen(void *user, double done) {
    listener *l = user;
    l->fell = l->fell || done < l->last || done > 1;
    l->last = done;
    return ++l->calls == l->stop_at;
}

static void cancel_between_parts(bench *b, int kind) {
    const int64_t size[3] = {W, H, 1};
    uint8_t *mask = new_mask(size, 8);
    problem p = new_problem(2, W, H, 1, mask);
    held set = hold(b, APSIS_U8, kind), far = hold(b, APSIS_F32, kind);
    move(b, &set, mask, true);
    for (int stop = 1;; ++stop) {
        listener l = {.stop_at = stop};
        assert_ok(b->ctx, apsis_set_progress(b->ctx, listen, &l));
        const apsis_status st = apsis_distance(b->ctx, &set.image, &far.image, NULL, NULL);
        assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
        assert_false(l.fell);
        if (st == APSIS_OK) {
            assert_true(stop > 6 && l.last == 1); /* each image has three parts or more */
            break;
        }
        assert_fails(b->ctx, st, APSIS_ERROR_CANCELLED, "stop");
        memset(far.image.data, POISON, W * H * 4); /* it is written no more */
        assert_ok(b->ctx, apsis_sync(b->ctx));
        for (size_t i = 0; i < W * H * 4; ++i)
            if (((uint8_t *)far.image.data)[i] != POISON) fail_msg("byte %zu was written after the call", i);
    }
    answer want = solve_by_rows(&p);
    const given how = {.set = APSIS_U8, .distance = APSIS_F32};
    const outputs out = {far.image.data, NULL};
    compare_outputs(&p, &how, &out, &want);
    free_answer(&want);
    let_go(b, &set);
    let_go(b, &far);
    free(mask);
}

static void cancelled_between_parts(bench *b) {
    cancel_between_parts(b, PAGEABLE);
    cancel_between_parts(b, PAGE_LOCKED);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(layouts_and_strips, WITH_HOST_IMAGES), TEST(several_parts, WITH_HOST_IMAGES),
                                      TEST(kinds_of_memory, ON_DEVICE_HOST),
                                      TEST(images_larger_than_the_workspace, ON_DEVICE_HOST),
                                      TEST(cancelled_between_parts, ON_DEVICE_HOST)};
    return RUN_CASES(cases, argc, argv);
}
