/* Near sites and far ones, and both in one image at every granularity: a back end searches what is near another way than
 * what is far, and each of its ways, and each change between them, is taken here. */
#include "run_distance.h"

/* ---- The masks: noise, and where there is none ---- */

typedef struct layout {
    bool (*is_bare)(int64_t x, int64_t y, const int64_t size[3], int64_t width);
    int64_t width;
} layout;

static bool nowhere(int64_t x, int64_t y, const int64_t size[3], int64_t width) {
    return (void)x, (void)y, (void)size, (void)width, false;
}

/** A square in the middle. */
static bool hole(int64_t x, int64_t y, const int64_t size[3], int64_t width) {
    return 2 * llabs(x - size[0] / 2) < width && 2 * llabs(y - size[1] / 2) < width;
}

/** All rows of some columns: one gap a thousand columns. */
static bool gap(int64_t x, int64_t y, const int64_t size[3], int64_t width) {
    return (void)y, (void)size, (x + 500) % 1000 < width;
}

static bool every_second_band(int64_t x, int64_t y, const int64_t size[3], int64_t width) {
    return (void)x, (void)size, y / width % 2 == 1;
}

static bool checks(int64_t x, int64_t y, const int64_t size[3], int64_t width) {
    return (void)size, (x / width + y / width) % 2 == 1;
}

static bool all_but_the_left(int64_t x, int64_t y, const int64_t size[3], int64_t width) {
    return (void)y, (void)width, 3 * x > size[0];
}

static bool all_but_the_top(int64_t x, int64_t y, const int64_t size[3], int64_t width) {
    return (void)x, (void)size, y >= width;
}

static const layout layouts[] = {{nowhere, 0},
                                 {hole, 20},
                                 {hole, 49},
                                 {hole, 52},
                                 {hole, 80},
                                 {hole, 128},
                                 {hole, 200},
                                 {gap, 30},
                                 {gap, 48},
                                 {gap, 49},
                                 {gap, 50},
                                 {gap, 51},
                                 {gap, 100},
                                 {gap, 128},
                                 {gap, 200},
                                 {every_second_band, 16},
                                 {every_second_band, 33},
                                 {every_second_band, 64},
                                 {every_second_band, 101},
                                 {checks, 40},
                                 {checks, 128},
                                 {all_but_the_left, 0},
                                 {all_but_the_top, 1},
                                 {all_but_the_top, 40}};

static void fill(uint8_t *mask, const int64_t size[3], const layout *bare, double density, chance *c) {
    fill_mask(mask, size, NOISE, density, c);
    for (int64_t i = 0; i < size[0] * size[1]; ++i)
        if (bare->is_bare(i % size[0], i / size[0], size, bare->width)) mask[i] = 0;
}

/* ---- What is asked of them ---- */

static const given with_nearest = {.set = APSIS_U8, .distance = APSIS_F32, .nearest = APSIS_I32};
static const given alone = {.set = APSIS_U8, .distance = APSIS_F32};
static const given doubles = {.set = APSIS_U8, .distance = APSIS_F64};
static const given squares = {.set = APSIS_BIT, .distance = APSIS_I32, .nearest = APSIS_I64};

static void check_side(bench *b, const layout *bare, int64_t w, int64_t h, double density, double max_distance, uint32_t flags,
                       const given *how) {
    chance c = {(uint64_t)(w + bare->width)};
    problem p = new_problem(2, w, h, 1, NULL);
    uint8_t *mask = must_alloc((size_t)pixels_of(&p));
    fill(mask, p.size, bare, density, &c);
    p.mask = mask;
    p.options.max_distance = max_distance;
    p.options.flags = flags;
    check_distance(b, &p, how);
    free(mask);
}

static void check_layout(bench *b, const layout *bare, int64_t w, int64_t h, double density, double max_distance,
                         const given *how) {
    check_side(b, bare, w, h, density, max_distance, 0, how);
}

static void mixed(bench *b) {
    for (int i = 0; i < COUNT(layouts); i += COUNT(layouts) / effort(COUNT(layouts))) {
        check_layout(b, &layouts[i], 2048, 300, 0.01, 0, &alone);
        check_layout(b, &layouts[i], 2048, 300, 0.01, 0, &with_nearest);
        check_layout(b, &layouts[i], 515, 131, 0.01, 0, &squares);
    }
}

/** A limit that a short search answers alone, limits around its end, and one far beyond it. */
static void within_a_limit(bench *b) {
    static const double limits[] = {5, 24, 24.5, 25, 26, 100};
    for (int i = 0; i < COUNT(layouts); i += COUNT(layouts) / effort(COUNT(layouts)))
        for (int l = 0; l < COUNT(limits); ++l) {
            check_layout(b, &layouts[i], 701, 165, 0.01, limits[l], &with_nearest);
            check_layout(b, &layouts[i], 513, 99, 0.01, limits[l], l % 2 ? &alone : &squares);
            check_layout(b, &layouts[i], 257, 65, 0.01, limits[l], &doubles);
            if (i == 0) check_layout(b, &layouts[i], 47000, 5, 0.01, limits[l], l % 2 ? &alone : &doubles); /* 64-bit costs */
        }
}

/** From a site in every other pixel to one in ten thousand: nothing, some and nearly everything is far. */
static void ever_thinner(bench *b) {
    static const double densities[] = {0.5, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001};
    for (int d = 0; d < COUNT(densities); ++d) {
        check_layout(b, &layouts[0], 1200, 257, densities[d], 0, &with_nearest);
        check_layout(b, &layouts[0], 1200, 257, densities[d], d % 2 ? 25 : 0, &alone);
    }
}

/** The same in the columns: sites this many rows above, below, or above and below everything else. */
static void rows_away(bench *b) {
    static const int64_t away[] = {23, 24, 25, 26, 31, 32, 33, 55, 56, 57, 190, 221, 222, 223, 254, 255, 256, 300};
    for (int i = 0; i < COUNT(away); ++i)
        for (int where = 1; where < 4; ++where) {
            const int64_t h = 2 * away[i] + 1, w = 140;
            problem p = new_problem(2, w, h, 1, NULL);
            uint8_t *mask = must_alloc((size_t)pixels_of(&p));
            if (where & 1) memset(mask, 1, (size_t)w);
            if (where & 2) memset(mask + w * (h - 1), 1, (size_t)w);
            p.mask = mask;
            check_distance(b, &p, i % 2 ? &alone : &with_nearest);
            free(mask);
        }
}

/** Rows and columns longer than a block holds, short rows of many strips, and what is one pixel off a round size. */
static void long_ways(bench *b) {
    static const struct {
        int64_t w, h;
        int layout;
        double density;
    } images[] = {{33001, 70, 6, 0.01},  {33000, 33, 16, 0.001},  {70000, 37, 14, 0.01},   {70001, 5, 21, 0.0003},
                  {40000, 40, 23, 0.01}, {100, 33000, 20, 0.01},  {101, 32800, 6, 0.0001}, {256, 32769, 23, 0.05},
                  {7, 40000, 0, 0.0003}, {257, 65500, 18, 0.001}, {16385, 65, 13, 0.01},   {8193, 67, 20, 0.003}};
    for (int i = 0; i < COUNT(images); ++i)
        check_layout(b, &layouts[images[i].layout], images[i].w, images[i].h, images[i].density, 0,
                     i % 2 ? &alone : &with_nearest);
    for (int i = 0; i < COUNT(images); i += 3)
        check_side(b, &layouts[images[i].layout], images[i].w, images[i].h, images[i].density, 0, APSIS_SIGNED, &alone);
    check_layout(b, &layouts[23], 33001, 70, 0.01, 26, &with_nearest);
    check_layout(b, &layouts[20], 100, 33000, 0.01, 26, &alone);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(mixed, EVERYWHERE), TEST(within_a_limit, EVERYWHERE), TEST(ever_thinner, EVERYWHERE),
                                      TEST(rows_away, EVERYWHERE), TEST(long_ways, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
