/* The calls for slabs: answers written by hand, what is refused, and what is around the calls. */
#include <math.h>

#include "run_slabs.h"

/* ---- Answers written by hand ---- */

static void a_summary(bench *b) {
    uint8_t mask[20];
    draw(mask, "#...#", "#.#..", "..#.#", ".....", NULL);
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {5, 4}};
    static const int64_t first[5] = {100, INT64_MAX, 101, INT64_MAX, 100}, last[5] = {101, -1, 102, -1, 102};
    int64_t got_first[5], got_last[5];
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &set, 100, got_first, NULL, NULL));
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &set, 100, NULL, got_last, NULL));
    assert_memory_equal(got_first, first, sizeof first);
    assert_memory_equal(got_last, last, sizeof last);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_SIGNED; /* the set itself */
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &set, 100, got_first, got_last, &options));
    assert_memory_equal(got_first, first, sizeof first);
    assert_memory_equal(got_last, last, sizeof last);
    static const int64_t other_first[5] = {102, 100, 100, 100, 101}, other_last[5] = {103, 103, 103, 103, 103};
    options.flags = APSIS_SIGNED | APSIS_COMPLEMENT;
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &set, 100, got_first, got_last, &options));
    assert_memory_equal(got_first, other_first, sizeof other_first);
    assert_memory_equal(got_last, other_last, sizeof other_last);
    const apsis_image no_rows = {.type = APSIS_BIT, .ndim = 2, .size = {5, 0}};
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &no_rows, 7, got_first, got_last, NULL));
    for (int x = 0; x < 5; ++x) {
        assert_true(got_first[x] == INT64_MAX);
        assert_true(got_last[x] == -1);
    }
    const apsis_image no_columns = {.type = APSIS_U8, .ndim = 2, .size = {0, 5}};
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &no_columns, 7, NULL, NULL, NULL));
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &no_columns, 7, got_first, got_last, NULL));
}

static void merging(bench *b) {
    (void)b;
    const int64_t first[3] = {5, INT64_MAX, 7}, last[3] = {5, -1, 9};
    int64_t all_first[4] = {6, 3, INT64_MAX, 1234}, all_last[4] = {4, 3, -1, 1234};
    apsis_slab_merge(3, first, last, all_first, all_last);
    static const int64_t want_first[4] = {5, 3, 7, 1234}, want_last[4] = {5, 3, 9, 1234};
    assert_memory_equal(all_first, want_first, sizeof want_first);
    assert_memory_equal(all_last, want_last, sizeof want_last);
    apsis_slab_merge(3, NULL, NULL, NULL, NULL);
    apsis_slab_merge(0, first, last, all_last, all_first);
    apsis_slab_merge(-1, first, last, all_last, all_first);
    assert_memory_equal(all_first, want_first, sizeof want_first);
}

/** A slab in the middle of the longest image: sites half a thousand million rows away, squares beyond 2^58, indices
 *  beyond 2^31. */
static void far_sites(bench *b) {
    enum { W = 4, H = 2 };
    const int64_t extent = (int64_t)1 << 30, start = (int64_t)1 << 29;
    const int64_t above[W] = {0, -1, -1, -1}, below[W] = {INT64_MAX, INT64_MAX, extent - 1, INT64_MAX};
    const uint8_t none[W * H] = {0};
    int64_t square[W * H], nearest[W * H];
    float length[W * H];
    const apsis_image set = {.data = (void *)(uintptr_t)none, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image squares = {.data = square, .type = APSIS_I64, .ndim = 2, .size = {W, H}};
    const apsis_image lengths = {.data = length, .type = APSIS_F32, .ndim = 2, .size = {W, H}};
    const apsis_image sites = {.data = nearest, .type = APSIS_I64, .ndim = 2, .size = {W, H}};
    const apsis_slab slab = {.start = start, .extent = extent, .above = above, .below = below};
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, &squares, &sites, NULL));
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, &lengths, NULL, NULL));
    int64_t chessboard[W * H];
    const apsis_image others = {.data = chessboard, .type = APSIS_I64, .ndim = 2, .size = {W, H}};
    apsis_options options = APSIS_OPTIONS_INIT;
    options.metric = APSIS_CHESSBOARD;
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, &others, NULL, &options));
    for (int64_t i = 0; i < W * H; ++i) {
        const int64_t x = i % W, y = start + i / W;
        assert_true(chessboard[i] == (y < extent - 1 - y ? y : extent - 1 - y));
        const int64_t up = x * x + y * y, down = (x - 2) * (x - 2) + (extent - 1 - y) * (extent - 1 - y);
        assert_true(square[i] == (up < down ? up : down));
        assert_true(nearest[i] == (up <= down ? 0 : 2 + W * (extent - 1)));
        assert_true(length[i] == exact_root_float(square[i]));
    }
}

/** Squares within the slab fit 32 bits, those of the image do not. */
static void squares_of_the_image(bench *b) {
    enum { W = 200 };
    const int64_t extent = 70000;
    static const uint8_t none[W] = {0};
    int64_t above[W], square[W];
    fill(above, W, -1);
    above[W - 1] = 3;
    const apsis_image set = {.data = (void *)(uintptr_t)none, .type = APSIS_BIT, .ndim = 2, .size = {W, 1}};
    const apsis_image squares = {.data = square, .type = APSIS_I64, .ndim = 2, .size = {W, 1}};
    const apsis_slab slab = {.start = extent - 1, .extent = extent, .above = above};
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, &squares, NULL, NULL));
    for (int64_t x = 0; x < W; ++x) assert_true(square[x] == (W - 1 - x) * (W - 1 - x) + (extent - 4) * (extent - 4));
}

/** Columns so long that a device carries sites in several steps: without a site, and signed with nothing else. */
static void long_columns(bench *b) {
    enum { W = 3, H = 40000 };
    const int64_t start = 100, end = start + H, extent = end + 100;
    uint8_t *mask = must_alloc(W * H);
    int64_t *square = must_alloc(W * H * sizeof *square), far_above[W], far_below[W], beside_above[W], beside_below[W];
    fill(far_above, W, start - 5);
    fill(far_below, W, end + 8);
    fill(beside_above, W, start - 1);
    fill(beside_below, W, end);
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image squares = {.data = square, .type = APSIS_I64, .ndim = 2, .size = {W, H}};
    const apsis_slab slabs[2] = {{start, extent, far_above, far_below, NULL, NULL},
                                 {start, extent, beside_above, beside_below, far_above, far_below}};
    apsis_options options = APSIS_OPTIONS_INIT;
    for (int is_signed = 0; is_signed < 2; ++is_signed) {
        memset(mask, is_signed, W * H);
        options.flags = is_signed ? APSIS_SIGNED : 0;
        assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slabs[is_signed], &squares, NULL, &options));
        for (int64_t i = 0; i < W * H; ++i) {
            const int64_t up = i / W + 5, down = H - 1 - i / W + 9, nearest = up < down ? up : down;
            assert_true(square[i] == (is_signed ? -nearest * nearest : nearest * nearest));
        }
    }
    free(mask);
    free(square);
}

/** Nearest pixels beyond 2^32, of rows that the near search of a device settles, and of those that it leaves. */
static void far_indices(bench *b) {
    enum { W = 2100, H = 40 };
    const int64_t start = 4000000;
    static const uint8_t none[W * H] = {0};
    int64_t above[W], *nearest = must_alloc(W * H * sizeof *nearest);
    fill(above, W, start - 1);
    const apsis_image set = {.data = (void *)(uintptr_t)none, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image sites = {.data = nearest, .type = APSIS_I64, .ndim = 2, .size = {W, H}};
    const apsis_slab slab = {.start = start, .extent = start + H, .above = above};
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, NULL, &sites, NULL));
    for (int64_t i = 0; i < W * H; ++i) assert_true(nearest[i] == (start - 1) * W + i % W);
    free(nearest);
}

static void nothing_anywhere(bench *b) {
    enum { W = 3, H = 2 };
    static const uint8_t none[W * H] = {0};
    const int64_t above[W] = {-1, -1, -1}, below[W] = {INT64_MAX, INT64_MAX, INT64_MAX};
    float length[W * H];
    int32_t nearest[W * H];
    const apsis_image set = {.data = (void *)(uintptr_t)none, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image lengths = {.data = length, .type = APSIS_F32, .ndim = 2, .size = {W, H}};
    const apsis_image sites = {.data = nearest, .type = APSIS_I32, .ndim = 2, .size = {W, H}};
    for (int arrays = 0; arrays < 2; ++arrays) {
        const apsis_slab slab = {.start = 5, .extent = 9, .above = arrays ? above : NULL, .below = arrays ? below : NULL};
        memset(length, POISON, sizeof length);
        memset(nearest, POISON, sizeof nearest);
        assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, &lengths, &sites, NULL));
        for (int i = 0; i < W * H; ++i) {
            assert_true(length[i] == HUGE_VALF);
            assert_int_equal(nearest[i], -1);
        }
    }
    const apsis_image no_rows = {.type = APSIS_U8, .ndim = 2, .size = {W, 0}};
    const apsis_image out = {.type = APSIS_F32, .ndim = 2, .size = {W, 0}};
    const apsis_slab end = {.start = 9, .extent = 9, .above = above};
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &no_rows, &end, &out, NULL, NULL));
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &(apsis_slab){.extent = 2}, NULL, NULL, NULL));
}

/* ---- What is refused ---- */

/** A slab of 3 x 2 pixels in an image of 9 rows, which every case below spoils in one place. */
typedef struct call {
    uint8_t mask[6];
    float length[6];
    int64_t first[3], last[3], above[3], below[3], complement_above[3], complement_below[3];
    apsis_image set, distance;
    apsis_slab slab;
    apsis_options options;
} call;

static call *good_call(void) {
    static call c;
    c = (call){.mask = {1},
               .above = {4, -1, 0},
               .below = {8, INT64_MAX, 7},
               .complement_above = {3, 4, 4},
               .complement_below = {7, 7, 8},
               .options = APSIS_OPTIONS_INIT};
    c.set = (apsis_image){.data = c.mask, .type = APSIS_U8, .ndim = 2, .size = {3, 2}};
    c.distance = (apsis_image){.data = c.length, .type = APSIS_F32, .ndim = 2, .size = {3, 2}};
    c.slab = (apsis_slab){5, 9, c.above, c.below, c.complement_above, c.complement_below};
    return &c;
}

static apsis_status finish(bench *b, const call *c) {
    return apsis_slab_distance(b->ctx, &c->set, &c->slab, &c->distance, NULL, &c->options);
}
static apsis_status find_nearest(bench *b, const call *c) {
    static int64_t index[6];
    const apsis_image nearest = {.data = index, .type = APSIS_I64, .ndim = 2, .size = {3, 2}};
    return apsis_slab_distance(b->ctx, &c->set, &c->slab, NULL, &nearest, &c->options);
}
static apsis_status summarize(bench *b, call *c) {
    return apsis_slab_summary(b->ctx, &c->set, c->slab.start, c->first, c->last, &c->options);
}

#define REFUSED(spoil, call_of, status, words)              \
    do {                                                    \
        call *c = good_call();                              \
        assert_ok(b->ctx, call_of(b, c));                   \
        spoil;                                              \
        assert_fails(b->ctx, call_of(b, c), status, words); \
    } while (0)

static void bad_places(bench *b) {
    REFUSED(c->slab.start = -1, finish, APSIS_ERROR_ARGUMENT, "start is -1|0 to 7");
    REFUSED(c->slab.start = 8, finish, APSIS_ERROR_ARGUMENT, "start is 8|0 to 7|2 of 9");
    REFUSED(c->slab.start = INT64_MAX, finish, APSIS_ERROR_ARGUMENT, "start");
    REFUSED(c->slab.extent = -1, finish, APSIS_ERROR_ARGUMENT, "extent is -1");
    REFUSED(c->slab.extent = ((int64_t)1 << 30) + 1, finish, APSIS_ERROR_ARGUMENT, "extent|1073741825");
    REFUSED(c->slab.start = -1, summarize, APSIS_ERROR_ARGUMENT, "start is -1");
    REFUSED(c->slab.start = ((int64_t)1 << 30) - 1, summarize, APSIS_ERROR_ARGUMENT, "start");
    REFUSED(c->above[1] = 5, finish, APSIS_ERROR_ARGUMENT, "above[1] is 5|0 to 4|-1");
    REFUSED(c->above[2] = -2, finish, APSIS_ERROR_ARGUMENT, "above[2] is -2");
    REFUSED(c->above[0] = INT64_MAX, finish, APSIS_ERROR_ARGUMENT, "above[0]");
    REFUSED(c->below[0] = 6, finish, APSIS_ERROR_ARGUMENT, "below[0] is 6|7 to 8");
    REFUSED(c->below[2] = 9, finish, APSIS_ERROR_ARGUMENT, "below[2] is 9");
    REFUSED(c->below[2] = -1, finish, APSIS_ERROR_ARGUMENT, "below[2] is -1");
}

/** A signed map's sites must be those of a set and its complement: each pixel beside the slab is in one of the two. */
static void bad_complements(bench *b) {
#define SIGNED(spoil, words) REFUSED((c->options.flags = APSIS_SIGNED, spoil), finish, APSIS_ERROR_ARGUMENT, words)
    call *good = good_call();
    good->options.flags = APSIS_SIGNED;
    assert_ok(b->ctx, finish(b, good));
    SIGNED(c->complement_above[0] = 5, "complement_above[0] is 5|0 to 4|-1");
    SIGNED(c->complement_below[2] = 9, "complement_below[2] is 9|7 to 8");
    SIGNED(c->complement_above[0] = 4, "above[0] is 4|complement_above[0] is 4|must be 4");
    SIGNED(c->complement_above[2] = 3, "above[2] is 0|complement_above[2] is 3|must be 4");
    SIGNED(c->complement_below[1] = 8, "below[1] is 9223372036854775807|complement_below[1] is 8|must be 7");
    SIGNED(c->slab.complement_above = NULL, "above[1] is -1|complement_above[1] is -1|must be 4");
    SIGNED(c->slab.below = NULL, "below[2] is 9223372036854775807|complement_below[2] is 8|must be 7");
    REFUSED((c->options.flags = APSIS_SIGNED | APSIS_COMPLEMENT, c->above[0] = 3), finish, APSIS_ERROR_ARGUMENT, "above[0]");
    good = good_call(); /* without a sign the complement does not count */
    good->complement_above[0] = 4;
    assert_ok(b->ctx, finish(b, good));
}

/** Where a slab begins or ends the image, nothing is outside of it. */
static void whole_slabs(bench *b) {
    call *c = good_call();
    c->options.flags = APSIS_SIGNED;
    c->slab = (apsis_slab){.extent = 2};
    assert_ok(b->ctx, finish(b, c));
    static const float want[6] = {-1, 1, 2, 1, 1.41421354f, 2.23606801f};
    assert_memory_equal(c->length, want, sizeof want);
}

static void bad_images(bench *b) {
    const call *good = good_call();
    assert_fails(b->ctx, apsis_slab_distance(b->ctx, NULL, &good->slab, NULL, NULL, NULL), APSIS_ERROR_ARGUMENT, "set|NULL");
    assert_fails(b->ctx, apsis_slab_distance(b->ctx, &good->set, NULL, NULL, NULL, NULL), APSIS_ERROR_ARGUMENT, "slab|NULL");
    assert_fails(b->ctx, apsis_slab_summary(b->ctx, NULL, 0, NULL, NULL, NULL), APSIS_ERROR_ARGUMENT, "set|NULL");
    assert_int_equal(apsis_slab_distance(NULL, &good->set, &good->slab, NULL, NULL, NULL), APSIS_ERROR_ARGUMENT);
    assert_int_equal(apsis_slab_summary(NULL, &good->set, 0, NULL, NULL, NULL), APSIS_ERROR_ARGUMENT);
    REFUSED(c->set.type = APSIS_F32, finish, APSIS_ERROR_ARGUMENT, "set|APSIS_F32");
    REFUSED(c->set.type = APSIS_F32, summarize, APSIS_ERROR_ARGUMENT, "set|APSIS_F32");
    REFUSED(c->set.data = NULL, summarize, APSIS_ERROR_ARGUMENT, "set|data");
    REFUSED(c->distance.size[1] = 1, finish, APSIS_ERROR_ARGUMENT, "distance|size");
    REFUSED(c->distance.data = c->mask, finish, APSIS_ERROR_ARGUMENT, "set|distance");
    if (b->device == APSIS_CPU) REFUSED(c->set.memory = APSIS_DEVICE, summarize, APSIS_ERROR_ARGUMENT, "set|APSIS_DEVICE");
}

static void bad_options(bench *b) {
    REFUSED(c->options.flags = APSIS_SLICES, finish, APSIS_ERROR_UNSUPPORTED, "APSIS_SLICES");
    REFUSED(c->options.flags = APSIS_CONNECTED, finish, APSIS_ERROR_ARGUMENT, "cells");
    REFUSED(c->options.flags = 1u << 30, summarize, APSIS_ERROR_ARGUMENT, "flags");
    REFUSED(c->options.metric = APSIS_CHESSBOARD, find_nearest, APSIS_ERROR_UNSUPPORTED, "nearest|APSIS_CHESSBOARD");
    REFUSED(c->options.metric = APSIS_CHAMFER, finish, APSIS_ERROR_UNSUPPORTED, "APSIS_CHAMFER");
    REFUSED(c->options.method = APSIS_SWEEP, finish, APSIS_ERROR_UNSUPPORTED, "APSIS_SWEEP");
    REFUSED(c->options.spacing[0] = -1, finish, APSIS_ERROR_ARGUMENT, "spacing");
}

/** Whether a type is too small goes by the image, not by the slab. */
static void too_small_types(bench *b) {
    static int32_t out[6];
    call *c = good_call();
    const apsis_image small = {.data = out, .type = APSIS_I32, .ndim = 2, .size = {3, 2}};
    const apsis_slab long_slab = {.start = 5, .extent = 46343}, vast_slab = {.start = 5, .extent = (int64_t)1 << 30};
    assert_fails(b->ctx, apsis_slab_distance(b->ctx, &c->set, &long_slab, &small, NULL, NULL), APSIS_ERROR_RANGE, "distance");
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &c->set, &long_slab, NULL, &small, NULL));
    assert_fails(b->ctx, apsis_slab_distance(b->ctx, &c->set, &vast_slab, NULL, &small, NULL), APSIS_ERROR_RANGE,
                 "nearest|APSIS_I32|3221225471");
}

/* ---- Around the call ---- */

static void the_scratch_memory(bench *b) {
    enum { W = 300, H = 100 };
    chance c = {5};
    uint8_t *mask = must_alloc(W * H);
    fill_mask(mask, (const int64_t[]){W, H, 1}, NOISE, 0.01, &c);
    double *length = must_alloc(W * H * sizeof *length);
    int64_t *sites = must_alloc(W * H * sizeof *sites), first[W], last[W];
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image distance = {.data = length, .type = APSIS_F64, .ndim = 2, .size = {W, H}};
    const apsis_image nearest = {.data = sites, .type = APSIS_I64, .ndim = 2, .size = {W, H}};
    const apsis_image *images[3] = {&set, &distance, &nearest};
    /* 64-bit costs, where a slab alone has 32 */
    const apsis_slab slab = {.start = (int64_t)1 << 29, .extent = (int64_t)1 << 30};
    size_t bytes;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &bytes));
    apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {2 * (int64_t)bytes, 1}};
    assert_ok(b->ctx, apsis_alloc(b->ctx, APSIS_HOST, &memory));
    assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, 2 * bytes));
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &set, slab.start, first, last, NULL));
    assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set, &slab, &distance, &nearest, NULL));
    assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
    apsis_free(b->ctx, &memory);
    free(mask);
    free(length);
    free(sites);
}

static void cancelling(bench *b) {
    int calls = 0;
    call *c = good_call();
    assert_ok(b->ctx, apsis_set_progress(b->ctx, stop_at_once, &calls));
    assert_fails(b->ctx, summarize(b, c), APSIS_ERROR_CANCELLED, "slab_summary");
    assert_fails(b->ctx, finish(b, c), APSIS_ERROR_CANCELLED, "slab_distance");
    assert_int_equal(calls, 2);
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    assert_ok(b->ctx, finish(b, c));
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(a_summary, WITH_HOST_IMAGES),        TEST(merging, WITH_HOST_IMAGES),
                                      TEST(far_sites, WITH_HOST_IMAGES),        TEST(squares_of_the_image, WITH_HOST_IMAGES),
                                      TEST(long_columns, WITH_HOST_IMAGES),     TEST(far_indices, WITH_HOST_IMAGES),
                                      TEST(nothing_anywhere, WITH_HOST_IMAGES), TEST(bad_places, WITH_HOST_IMAGES),
                                      TEST(bad_complements, WITH_HOST_IMAGES),  TEST(whole_slabs, WITH_HOST_IMAGES),
                                      TEST(bad_images, WITH_HOST_IMAGES),       TEST(bad_options, WITH_HOST_IMAGES),
                                      TEST(too_small_types, WITH_HOST_IMAGES),  TEST(the_scratch_memory, ON_CPU),
                                      TEST(cancelling, WITH_HOST_IMAGES)};
    return RUN_CASES(cases, argc, argv);
}
