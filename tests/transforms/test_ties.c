/* Masks in which sites as far as each other are everywhere, so that the lowest index must decide; in sizes on both sides
 * of where the back ends change their step: vectors, warps, words, patches, blocks. */
#include "run_distance.h"

/* ---- The masks: whether pixel (x, y, z) of an image w x h is a site ---- */

typedef bool (*shape)(int64_t x, int64_t y, int64_t z, int64_t w, int64_t h, int64_t step);

static bool lattice(int64_t x, int64_t y, int64_t z, int64_t w, int64_t h, int64_t step) {
    return (void)w, (void)h, x % step == 0 && y % step == 0 && z % step == 0;
}

/** Every second row of it is moved half a step. */
static bool shifted_lattice(int64_t x, int64_t y, int64_t z, int64_t w, int64_t h, int64_t step) {
    return lattice(x + (y / step + z / step) % 2 * (step / 2), y, z, w, h, step);
}

static bool rings(int64_t x, int64_t y, int64_t z, int64_t w, int64_t h, int64_t step) {
    const int64_t dx = 2 * x - (w - 1), dy = 2 * y - (h - 1), r2 = dx * dx + dy * dy + 4 * z * z;
    int64_t r = 0;
    while ((r + 1) * (r + 1) <= r2) ++r;
    return r % (2 * step) < 2;
}

/** Teeth that hang from the upper half. */
static bool comb(int64_t x, int64_t y, int64_t z, int64_t w, int64_t h, int64_t step) {
    return (void)w, x % step == 0 && 2 * y < h && z % step == 0;
}

static bool staircase(int64_t x, int64_t y, int64_t z, int64_t w, int64_t h, int64_t step) {
    return (void)w, (void)h, (x / step + y / step + z / step) % 4 == 0 && (x % step == 0 || y % step == 0);
}

/** Nothing but the first and the last column: the middle is as far from both. */
static bool walls(int64_t x, int64_t y, int64_t z, int64_t w, int64_t h, int64_t step) {
    return (void)y, (void)z, (void)h, (void)step, x == 0 || x == w - 1;
}

static bool floor_and_ceiling(int64_t x, int64_t y, int64_t z, int64_t w, int64_t h, int64_t step) {
    return (void)x, (void)z, (void)w, (void)step, y == 0 || y == h - 1;
}

static bool corners(int64_t x, int64_t y, int64_t z, int64_t w, int64_t h, int64_t step) {
    return walls(x, y, z, w, h, step) && floor_and_ceiling(x, y, z, w, h, step);
}

static const shape shapes[] = {lattice, shifted_lattice, rings, comb, staircase, walls, floor_and_ceiling, corners};

/* ---- What is asked of them ---- */

/** With the nearest pixel and without it a back end may go different ways. */
static const given forms[] = {{.set = APSIS_U8, .distance = APSIS_F32, .nearest = APSIS_I32},
                              {.set = APSIS_BIT, .distance = APSIS_I32},
                              {.set = APSIS_U8, .distance = APSIS_F32},
                              {.set = APSIS_BIT, .nearest = APSIS_I64}};

static void check_shape(bench *b, shape is_site, const int64_t size[3], int64_t step, int form, uint32_t flags) {
    problem p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], NULL);
    uint8_t *mask = must_alloc((size_t)pixels_of(&p)), *pixel = mask;
    for (int64_t z = 0; z < size[2]; ++z)
        for (int64_t y = 0; y < size[1]; ++y)
            for (int64_t x = 0; x < size[0]; ++x) *pixel++ = is_site(x, y, z, size[0], size[1], step);
    p.mask = mask;
    p.options.flags = flags;
    check_distance(b, &p, &forms[form % COUNT(forms)]);
    free(mask);
}

static const int64_t steps[] = {2, 3, 4, 6, 10, 16, 25, 50, 64}; /* within the reach of a search for near sites, and not */

/** Every shape in these sizes, with a step and a form that change from one to the next. */
static void check_sizes(bench *b, const int64_t (*size)[3], int count) {
    int turn = 0;
    for (int i = 0; i < count; ++i)
        for (int s = 0; s < COUNT(shapes); ++s, ++turn) {
            const int64_t step = steps[turn % COUNT(steps)];
            check_shape(b, shapes[s], size[i], step, 0, 0);
            check_shape(b, shapes[s], size[i], step, 1 + turn / 2, turn % 3 ? 0 : APSIS_SIGNED);
        }
}

static void around_every_step(bench *b) {
    static const int64_t widths[] = {1,   2,   3,   4,   7,   8,   15,  16,  31,  32,  33,  63,  64,   65,   127,
                                     128, 129, 255, 256, 257, 383, 511, 512, 513, 559, 560, 561, 1023, 1024, 1025};
    static const int64_t heights[] = {1, 31, 4, 33, 63, 3, 32, 65, 5, 95, 2, 64, 8, 97, 7};
    int64_t sizes[COUNT(widths) * 2][3];
    for (int i = 0; i < COUNT(sizes); ++i) {
        const int64_t size[3] = {widths[i / 2], heights[(i * 7 + i / 2) % COUNT(heights)], 1};
        memcpy(sizes[i], size, sizeof size);
    }
    check_sizes(b, sizes, COUNT(sizes));
}

static void long_and_thin(bench *b) {
    static const int64_t sizes[][3] = {{4097, 1, 1}, {1, 4097, 1}, {4095, 3, 1}, {3, 4095, 1}, {2048, 2, 1}, {2, 2049, 1}};
    check_sizes(b, sizes, COUNT(sizes));
}

static void large(bench *b) {
    static const int64_t sizes[][3] = {{701, 389, 1}, {400, 512, 1}, {2049, 129, 1}};
    check_sizes(b, sizes, effort(COUNT(sizes)));
}

static void volumes(bench *b) {
    static const int64_t sizes[][3] = {{33, 31, 34}, {65, 4, 33}, {5, 64, 31}, {31, 33, 3}, {129, 32, 2}};
    check_sizes(b, sizes, effort(COUNT(sizes)));
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(around_every_step, EVERYWHERE), TEST(long_and_thin, EVERYWHERE),
                                      TEST(large, EVERYWHERE), TEST(volumes, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
