/* Distances whose squares, and images whose rows, leave 32 bits behind. */
#define _GNU_SOURCE /* MAP_NORESERVE */
#include "run_distance.h"

#include <math.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#endif

/* ---- Long images: 46341^2 is the first square above INT32_MAX, and 65536^2 is 0 in 32 bits ---- */

static const int64_t sizes[][3] = {{60000, 8, 1}, {8, 60000, 1}, {70000, 3, 1}, {3, 70000, 1},
                                   {46342, 2, 1}, {2, 46342, 1}, {3, 2, 70000}, {70000, 2, 3}};

/** A problem of this size with a site at its end and one on its first quarter. */
static problem long_problem(const int64_t size[3], uint8_t **mask) {
    problem p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], NULL);
    *mask = must_alloc((size_t)pixels_of(&p));
    (*mask)[pixels_of(&p) - 1] = 1;
    (*mask)[pixels_of(&p) / 4] = 1;
    p.mask = *mask;
    return p;
}

static void long_distances(bench *b) {
    static const given forms[] = {{.set = APSIS_U8, .distance = APSIS_I64, .nearest = APSIS_I32},
                                  {.set = APSIS_BIT, .distance = APSIS_F64, .nearest = APSIS_I64},
                                  {.set = APSIS_U8, .distance = APSIS_F32}};
    for (int i = 0; i < COUNT(sizes); ++i)
        for (int sites = 1; sites <= 2; ++sites) {
            uint8_t *mask;
            problem p = long_problem(sizes[i], &mask);
            if (sites == 1) mask[pixels_of(&p) / 4] = 0;
            check_distance(b, &p, &forms[(i + sites) % COUNT(forms)]);
            free(mask);
        }
}

/** 46340^2 fits an APSIS_I32, and 46341^2 does not: a limit decides, or the size of the image. */
static void squares_that_fit(bench *b) {
    const given how = {.set = APSIS_U8, .distance = APSIS_I32, .nearest = APSIS_I32};
    for (int i = 0; i < COUNT(sizes); ++i) {
        uint8_t *mask;
        problem p = long_problem(sizes[i], &mask);
        mask[pixels_of(&p) / 4] = 0;
        p.options.max_distance = 46340;
        check_distance(b, &p, &how);
        free(mask);
    }
}

static void squares_that_do_not_fit(bench *b) {
    for (int i = 0; i < COUNT(sizes); ++i) {
        const int ndim = sizes[i][2] > 1 ? 3 : 2;
        frame set = frame_open(b, APSIS_U8, ndim, sizes[i], PACKED);
        frame out = frame_open(b, APSIS_I32, ndim, sizes[i], PACKED);
        apsis_options options = APSIS_OPTIONS_INIT;
        assert_fails(b->ctx, apsis_distance(b->ctx, &set.image, &out.image, NULL, NULL), APSIS_ERROR_RANGE,
                     "distance|APSIS_I32");
        options.max_distance = 46341;
        assert_fails(b->ctx, apsis_distance(b->ctx, &set.image, &out.image, NULL, &options), APSIS_ERROR_RANGE, "2147488281");
        frame_close(&set);
        frame_close(&out);
    }
}

/** Costs of 2^30 begin at some 1100 pixels: beside pixels that are nearer, in the same row or another. */
static void few_long_distances(bench *b) {
    static const given forms[] = {{.set = APSIS_U8, .distance = APSIS_F32},
                                  {.set = APSIS_BIT, .distance = APSIS_F64, .nearest = APSIS_I64},
                                  {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I32}};
    static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_EUCLIDEAN, APSIS_CITY_BLOCK};
    chance c = {17};
    const int images = effort(60);
    for (int i = 0; i < images; ++i) {
        const int ndim = 2 + i % 2;
        problem p = new_problem(ndim, 900 + roll_below(&c, 2600), 1 + roll_below(&c, ndim == 2 ? 40 : 7),
                                ndim == 2 ? 1 : 2 + roll_below(&c, 20), NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        const int64_t clusters = 1 + roll_below(&c, 4), length = 1 + roll_below(&c, 400);
        for (int64_t k = 0; k < clusters; ++k) {
            const int64_t at = roll_below(&c, pixels_of(&p));
            for (int64_t n = at; n < at + length && n < pixels_of(&p); ++n) mask[n] = roll_below(&c, 3) == 0;
        }
        p.mask = mask;
        p.options.metric = metrics[i % COUNT(metrics)];
        const bool squared = p.options.metric == APSIS_EUCLIDEAN;
        set_spacing(&p, squared ? 30 : 600000, squared ? 7 + roll_below(&c, 900) : 7, squared ? 29 : 500000, 1);
        if (roll_below(&c, 4) == 0) p.options.flags = APSIS_SIGNED;
        check_distance(b, &p, &forms[i % COUNT(forms)]);
        free(mask);
    }
}

/** Maps too large for any cache, which are written past them: roots of the squares. */
static void maps_beyond_caches(bench *b) {
    static const int64_t large[][3] = {{9001, 4001, 1}, {333, 331, 337}};
    chance c = {23};
    for (int i = 0; i < COUNT(large); ++i) {
        const int64_t *size = large[i], pixels = size[0] * size[1] * size[2];
        apsis_image set = {.type = APSIS_U8, .ndim = size[2] > 1 ? 3 : 2, .size = {size[0], size[1], size[2]}};
        apsis_image squares = set, roots = set;
        squares.type = APSIS_I32;
        roots.type = APSIS_F32;
        uint8_t *const mask = must_alloc((size_t)pixels);
        int32_t *const square = must_alloc((size_t)pixels * sizeof *square);
        float *const root = must_alloc((size_t)(pixels + 1) * sizeof *root);
        for (int k = 0; k < 20000; ++k) mask[roll_below(&c, pixels)] = 1;
        set.data = mask, squares.data = square, roots.data = root + 1;
        assert_ok(b->ctx, apsis_distance(b->ctx, &set, &squares, NULL, NULL));
        assert_ok(b->ctx, apsis_distance(b->ctx, &set, &roots, NULL, NULL));
        int64_t wrong = 0;
        for (int64_t at = 0; at < pixels; ++at) wrong += root[at + 1] != sqrtf((float)square[at]);
        assert_int_equal(wrong, 0);
        free(mask);
        free(square);
        free(root);
    }
}

/* ---- Rows far apart: the offset of a byte leaves 32 bits, unsigned ones too ---- */

enum { W = 300, H = 4 };
static const int64_t APART = 3 * ((int64_t)1 << 30);

/** Memory of which only what is at the rows is ever touched. */
#ifdef _WIN32
static void *spread_memory(void) {
    uint8_t *data = VirtualAlloc(NULL, (size_t)(H * APART), MEM_RESERVE, PAGE_READWRITE);
    assert_non_null(data);
    for (int y = 0; y < H; ++y) assert_non_null(VirtualAlloc(data + y * APART, W * 4, MEM_COMMIT, PAGE_READWRITE));
    return data;
}
static void release_spread(void *data) { VirtualFree(data, 0, MEM_RELEASE); }
#else
static void *spread_memory(void) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *data = mmap(NULL, (size_t)(H * APART), PROT_READ | PROT_WRITE, flags, -1, 0);
    assert_true(data != MAP_FAILED);
    return data;
}
static void release_spread(void *data) { munmap(data, (size_t)(H * APART)); }
#endif

static apsis_image spread(apsis_type type, int64_t pixel) {
    return (apsis_image){.data = spread_memory(), .type = type, .ndim = 2, .size = {W, H}, .stride = {pixel, APART}};
}

static void rows_gigabytes_apart(bench *b) {
    chance c = {1};
    uint8_t mask[W * H], values[W * H * 4];
    const int64_t size[3] = {W, H, 1};
    fill_mask(mask, size, NOISE, 0.03, &c);
    problem p = new_problem(2, W, H, 1, mask);
    const given how = {.set = APSIS_U8, .distance = APSIS_F32};
    apsis_image set = spread(APSIS_U8, 1), distance = spread(APSIS_F32, 4);
    for (int y = 0; y < H; ++y) memcpy((uint8_t *)set.data + y * APART, mask + y * W, W);
    assert_ok(b->ctx, apsis_distance(b->ctx, &set, &distance, NULL, NULL));
    for (int y = 0; y < H; ++y) memcpy(values + y * W * 4, (uint8_t *)distance.data + y * APART, W * 4);
    answer want = solve(&p);
    compare_outputs(&p, &how, &(outputs){values, NULL}, &want);
    free_answer(&want);
    release_spread(set.data);
    release_spread(distance.data);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(long_distances, EVERYWHERE),          TEST(squares_that_fit, EVERYWHERE),
                                      TEST(squares_that_do_not_fit, EVERYWHERE), TEST(few_long_distances, EVERYWHERE),
                                      TEST(maps_beyond_caches, ON_CPU),          TEST(rows_gigabytes_apart, WITH_HOST_IMAGES)};
    return RUN_CASES(cases, argc, argv);
}
