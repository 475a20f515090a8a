/* apsis_distance of images whose rows are wide or many, as makes each way of searching them hard. */
#include "run_distance.h"

/** Round holes about a pixel: most columns of the rows through it are as far from there, or all but, and few of them are
 *  nearest anywhere. */
static void random_round_holes(bench *b) {
    chance c = {1503};
    for (int i = 0; i < effort(4); ++i) {
        const int64_t radius = 500 + roll_below(&c, 200), w = 2049 + roll_below(&c, 8), h = 2 * radius + 1 + roll_below(&c, 64);
        const int64_t x0 = radius + roll_below(&c, w - 2 * radius), y0 = radius + roll_below(&c, h - 2 * radius);
        uint8_t *mask = must_alloc((size_t)(w * h));
        for (int64_t k = 0; k < w * h; ++k) {
            const int64_t dx = k % w - x0, dy = k / w - y0;
            mask[k] = dx * dx + dy * dy > radius * radius;
        }
        problem p = new_problem(2, w, h, 1, mask);
        check_distance(b, &p, &PLAIN);
        free(mask);
    }
}

/** Rows of round holes, some with a site astray: many are as near to their middles, and of those who may be, some are far
 *  nearer than others.  A block takes one band of the wider rows, and two of the others. */
static void random_rows_of_holes(bench *b) {
    chance c = {1816};
    for (int i = 0; i < 2 + effort(6); ++i) {
        const int64_t radius = 150 + roll_below(&c, 50), pitch = 2 * radius + roll_below(&c, 8);
        const int64_t w = (i % 2 ? 2056 : 10640) + 8 * roll_below(&c, 32), h = 2 * radius + 1 + roll_below(&c, 16);
        problem p = new_problem(2, w, h, 1, NULL);
        uint8_t *mask = must_alloc((size_t)(w * h));
        for (int64_t k = 0; k < w * h; ++k) {
            const int64_t dx = k % w % pitch - radius, dy = k / w - radius - k % w / pitch % 4;
            mask[k] = dx * dx + dy * dy > radius * radius || roll_below(&c, 20 * radius * radius) == 0;
        }
        p.mask = mask;
        p.options.flags = i % 4 == 3 ? APSIS_SIGNED : 0;
        check_distance(b, &p, &PLAIN);
        free(mask);
    }
}

/** Rows that are short and many: sites are near in some strips and far in others, above, below, or nowhere. */
static void random_thin(bench *b) {
    static const double densities[] = {0.3, 0.01, 0.0003};
    chance c = {2209};
    for (int i = 0; i < 12 + effort(12); ++i) {
        const bool is_wide = i % 4 == 3;
        const int64_t w = 1 + roll_below(&c, 40) + (is_wide ? 40 + i / 4 % 3 * 120 : 0), slices = i % 3 ? 1 : 8;
        const int64_t h = (slices > 1 ? 4097 : 32768) + roll_below(&c, 64);
        problem p = new_problem(slices > 1 ? 3 : 2, w, h, slices, NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        const int kind = is_wide ? RING - i / 4 % 3 : i % 2 ? (int)roll_below(&c, MASK_KINDS) : NOISE;
        const bool is_even = i % 20 == 5; /* as many pixels of either side of a signed map, in a long column */
        fill_mask(mask, p.size, is_even ? NOISE : kind, is_even ? 0.5 : densities[i / 2 % 3], &c);
        /* A hole from side to side, that narrows to one column. */
        for (int64_t y = h / 5; y < h / 2; ++y) memset(mask + y * w, 0, (size_t)(w - (y - h / 5) * (w - 1) / h));
        p.mask = mask;
        p.options.flags = (slices > 1 ? APSIS_SLICES : 0) | (i % 5 ? 0 : APSIS_SIGNED);
        check_distance(b, &p, is_wide ? &PLAIN : &DISTANCE_ALONE);
        free(mask);
    }
}

/** Thin images with nothing in some slices, or in any.  In one column of 70 000 pixels costs may not fit 32 bits. */
static void thin_without_sites(bench *b) {
    static const int64_t sizes[][3] = {{200, 33, 520}, {320, 20, 1030}, {3, 70000, 1}};
    chance c = {81};
    for (int i = 0; i < 2 * COUNT(sizes); ++i) {
        const int64_t *size = sizes[i / 2];
        problem p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        memset(mask, 0, (size_t)pixels_of(&p));
        for (int64_t z = 0; size[2] > 1 && z < size[2]; ++z)
            if (roll_below(&c, 4) == 0) mask[z * size[0] * size[1] + roll_below(&c, size[0] * size[1])] = 1;
        p.mask = mask;
        p.options.flags = (size[2] > 1 ? APSIS_SLICES : 0) | (i % 2 ? APSIS_SIGNED : 0);
        check_distance(b, &p, &DISTANCE_ALONE);
        if (i % 2 == 0) check_distance(b, &p, &PLAIN);
        free(mask);
    }
}

/** Strips of nine or ten groups of 32 columns of which the last one alone has no site nearby: the nearest site of its last
 *  pixel may be more than 64 columns away, beyond a nearer column with a site in another row. */
static void thin_with_far_ends(bench *b) {
    chance c = {384};
    for (int groups = 9; groups <= 10; ++groups) {
        const int64_t w = 32 * groups, h = 32, dense = w - 64;
        problem p = new_problem(3, w, h, 1024, NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        for (int64_t k = 0; k < pixels_of(&p); ++k) mask[k] = k % w < dense && roll_below(&c, 3) == 0;
        for (int64_t z = 0; z < 1024; ++z) mask[(z * h + roll_below(&c, h)) * w + dense] = 1;
        p.mask = mask;
        p.options.flags = APSIS_SLICES | (groups == 9 ? APSIS_SIGNED : 0);
        check_distance(b, &p, &DISTANCE_ALONE);
        free(mask);
    }
}

/** Small images with wide rows and few sites: where the nearest one changes, all that lies between two of them has to be
 *  looked at, or passed over. */
static void random_wide_rows(bench *b) {
    static const double densities[] = {0.00005, 0.0005, 0.005, 0.05};
    chance c = {1024};
    for (int i = 0; i < effort(800); ++i) {
        problem p = new_problem(2, 100 + roll_below(&c, 1949), 8 + roll_below(&c, 40), 1, NULL);
        const int kind = i % 2 ? NOISE : (int)roll_below(&c, MASK_KINDS);
        p.options.flags = i % 4 == 0 ? APSIS_SIGNED : 0;
        check_filled(b, &p, kind, densities[roll_below(&c, COUNT(densities))], &c, i % 3 ? &PLAIN : &DISTANCE_ALONE);
    }
}

/** Rows too wide for the way of small images, some for pairs of bands, of few sites: unless the map is plain, aligned and
 *  whole, tiles at its edges or with sites of their own are written otherwise. */
static void random_envelopes(bench *b) {
    static const double densities[] = {0.0002, 0.001, 0.005};
    chance c = {4096};
    for (int i = 0; i < 8 + effort(24); ++i) {
        const bool is_wide = i % 3 == 1;
        const int64_t even = is_wide ? 10600 + 8 * roll_below(&c, 700) : 2056 + 8 * roll_below(&c, 250);
        const int64_t w = even + (is_wide ? 5 + i / 3 % 2 * 2 : i % 4 == 3 ? roll_below(&c, 8) : 0);
        problem p = new_problem(2, w, 40 + roll_below(&c, is_wide ? 20 : 80), 1, NULL);
        const int kind = i % 3 ? NOISE : (int)roll_below(&c, MASK_KINDS);
        p.options.flags = i % 6 == 5 ? APSIS_SIGNED : 0;
        const double density = i % 6 == 4 ? 0.1 : densities[i % 3]; /* many sites tell how rows were read */
        check_filled(b, &p, kind, density, &c, i % 6 == 4 ? &PLAIN : &DISTANCE_ALONE);
    }
}

/** As many slices with lines of strokes as a large page has strips, signed: in most strips one side is far, and in some of
 *  their bands all pixels are of the other. */
static void random_lines(bench *b) {
    chance c = {1440};
    for (int i = 0; i < 2 + effort(2); ++i) {
        problem p = new_problem(3, 520 + roll_below(&c, 200), 60 + roll_below(&c, 5), 129, NULL);
        const int64_t w = p.size[0], lines = p.size[1] * p.size[2];
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        memset(mask, i % 2, (size_t)pixels_of(&p));
        for (int64_t y = 0; y < lines; y += 1 + (roll_below(&c, 4) ? 0 : roll_below(&c, 50)))
            for (int64_t x = roll_below(&c, w); x < w; x += 1 + (roll_below(&c, 20) ? 0 : roll_below(&c, w)))
                mask[y * w + x] ^= 1;
        p.mask = mask;
        p.options.flags = APSIS_SLICES | APSIS_SIGNED;
        check_distance(b, &p, i % 4 == 3 ? &PLAIN : &DISTANCE_ALONE);
        free(mask);
    }
}

/** As many slices as a large image has strips, signed and not: near sites are searched for on both sides at once. */
static void random_many_slices(bench *b) {
    static const double densities[] = {0.5, 0.03, 0.003};
    chance c = {512};
    for (int i = 0; i < 3 + effort(3); ++i) {
        const int64_t w = 300 + roll_below(&c, 100), h = 8 + roll_below(&c, 28);
        problem p = new_problem(3, w, h, h > 32 ? 257 : 513, NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, NOISE, densities[i % 3], &c);
        for (int64_t k = 0; k < pixels_of(&p); ++k) mask[k] ^= k / 97 % 5 == 1; /* sides that are thick, too */
        p.mask = mask;
        p.options.flags = APSIS_SLICES | (i % 4 == 3 ? 0 : APSIS_SIGNED);
        check_distance(b, &p, i == 2 ? &PLAIN : &DISTANCE_ALONE);
        free(mask);
    }
}

/** A limit below the reach of the near search settles far pixels.  In as many slices as a large image has strips that reach is
 *  24 pixels; there are few sites.  In one image it is 96, and a gap between many sites is as wide as a block reads. */
static void random_limits(bench *b) {
    static const double densities[] = {0, 0.00002, 0.00005, 0.0005}, limits[] = {4.5, 24, 24.98, 26.5, 96.99, 97.2};
    chance c = {24};
    for (int i = 0; i < 10 * COUNT(densities); ++i) {
        const bool many = i % 10 >= COUNT(limits);
        const int64_t w = many ? 520 + roll_below(&c, 60) : 2700, h = 34 + roll_below(&c, many ? 8 : 30);
        problem p = new_problem(many ? 3 : 2, w, h, many ? 51 : 1, NULL);
        p.options.flags = (many ? APSIS_SLICES : 0) | (roll_below(&c, 4) ? 0 : APSIS_SIGNED);
        p.options.max_distance = limits[i % 10 % COUNT(limits)];
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, NOISE, many ? densities[i / 10] : 0.05, &c);
        const int64_t gap = 128 * roll_below(&c, 18) + 32, width = 320 + roll_below(&c, 2);
        for (int64_t y = 0; !many && y < h; ++y) memset(mask + y * w + gap, 0, (size_t)width);
        p.mask = mask;
        check_distance(b, &p, roll_below(&c, 3) ? &DISTANCE_ALONE : &PLAIN);
        free(mask);
    }
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(random_round_holes, EVERYWHERE), TEST(random_rows_of_holes, EVERYWHERE),
                                      TEST(random_thin, EVERYWHERE),        TEST(random_wide_rows, EVERYWHERE),
                                      TEST(random_envelopes, EVERYWHERE),   TEST(random_lines, EVERYWHERE),
                                      TEST(random_many_slices, EVERYWHERE), TEST(random_limits, EVERYWHERE),
                                      TEST(thin_without_sites, EVERYWHERE), TEST(thin_with_far_ends, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
