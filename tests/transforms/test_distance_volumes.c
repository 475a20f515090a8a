/* apsis_distance of volumes whose sites are as far, or as near, as makes each way of searching them hard. */
#include <math.h>

#include "run_distance.h"

static void check_far_volume(bench *b, int64_t w, int64_t h, int64_t d, int kind, const int64_t ratio[3], uint32_t flags) {
    chance c = {(uint64_t)(w * 31 + h * 7 + d + kind)};
    problem p = new_problem(3, w, h, d, NULL);
    uint8_t *mask = must_alloc((size_t)pixels_of(&p));
    fill_mask(mask, p.size, kind, 0.0002, &c);
    p.mask = mask;
    p.options.flags = flags;
    set_spacing(&p, ratio[0], ratio[1], ratio[2], 1);
    check_distance(b, &p, &PLAIN);
    check_distance(b, &p, &DISTANCE_ALONE);
    free(mask);
}

/** Lines with gaps as long as several of the stretches of candidates that a search may pass over at once; and weights with
 *  which some brackets' costs fit 16 bits, and some do not. */
static void far_volumes(bench *b) {
    static const int64_t ratios[][3] = {{1, 1, 1}, {2, 3, 1}, {7, 9, 11}};
    for (int kind = 0; kind < MASK_KINDS; ++kind)
        for (int r = 0; r < COUNT(ratios); ++r) {
            check_far_volume(b, 203, 67, 5, kind, ratios[r], 0);
            check_far_volume(b, 67, 203, 4, kind, ratios[r], r ? 0 : APSIS_SIGNED);
        }
    for (int kind = 0; kind < MASK_KINDS; ++kind) { /* of which few fit a block */
        check_far_volume(b, 2011, 5, 6, kind, ratios[0], 0);
        check_far_volume(b, 5, 2003, 3, kind, ratios[1], 0);
    }
}

/** Sites along one axis of a volume, with gaps of about twice what a search may reach. */
static void random_gaps(bench *b) {
    static const int64_t reaches[] = {8, 24, 120, 128, 168, 181, 240, 247, 255};
    static const int64_t ratios[][3] = {{1, 1, 1}, {1, 1, 1}, {2, 3, 1}, {1, 2, 3}};
    chance c = {2407};
    for (int i = 0; i < 12 + effort(24); ++i) {
        const int axis = i / 2 % 3;
        const int64_t *const ratio = ratios[roll_below(&c, COUNT(ratios))];
        problem p = new_problem(3, 1 + roll_below(&c, 12), 1 + roll_below(&c, 12), 1 + roll_below(&c, 40), NULL);
        p.size[axis] = i % 4 == 3 ? 800 + roll_below(&c, 600) : 480 + roll_below(&c, 280);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        for (int64_t at = roll_below(&c, 300); at < p.size[axis];
             at += 2 * reaches[roll_below(&c, COUNT(reaches))] + roll_below(&c, 9) - 4)
            for (int k = 0; k < 2; ++k) {
                int64_t site[3];
                for (int a = 0; a < 3; ++a) site[a] = a == axis ? at : roll_below(&c, p.size[a]);
                mask[(site[2] * p.size[1] + site[1]) * p.size[0] + site[0]] = 1;
            }
        p.mask = mask;
        set_spacing(&p, ratio[0], ratio[1], ratio[2], 1);
        check_distance(b, &p, i % 2 ? &PLAIN : &DISTANCE_ALONE);
        free(mask);
    }
}

/** A few sites in a volume, so that most lines have none, with weights of which a cost of no site would wrap around. */
static void lines_without_sites(bench *b) {
    static const int64_t sizes[][3] = {{5, 290, 1}, {9, 301, 2}, {290, 6, 3}, {4, 7, 300}, {37, 263, 5}};
    static const int64_t ratios[][3] = {{7, 8, 5}, {1, 8, 3}, {11, 2, 7}};
    chance c = {84};
    for (int i = 0; i < COUNT(sizes) * COUNT(ratios); ++i) {
        const int64_t *const size = sizes[i % COUNT(sizes)], *const ratio = ratios[i / COUNT(sizes)];
        problem p = new_problem(3, size[0], size[1], size[2], NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        for (int k = 0; k < 1 + i % 3; ++k) mask[roll_below(&c, pixels_of(&p)) / (i % 2 ? 1 : 9)] = 1;
        p.mask = mask;
        set_spacing(&p, ratio[0], ratio[1], ratio[2], 1);
        check_distance(b, &p, &PLAIN);
        free(mask);
    }
}

/** Two sites on a line, such that a voxel between them is one farther from the nearer one than a search looks, which takes 8
 *  voxels and more together, and two farther from the other one. */
static void ends_of_reach(bench *b) {
    static const int64_t reaches[] = {8, 120, 168, 240};
    for (int axis = 0; axis < 3; ++axis)
        for (int r = 0; r < COUNT(reaches); ++r)
            for (int64_t begin = 0; begin < 8; ++begin) {
                problem p = new_problem(3, 2, 2, 2, NULL);
                const int64_t reach = reaches[r];
                p.size[axis] = reach == 168 ? 800 : 2 * reach + 16; /* lines of 800 are cut, and 168 is the reach there */
                const int64_t step[] = {1, p.size[0], p.size[0] * p.size[1]};
                uint8_t *mask = must_alloc((size_t)pixels_of(&p));
                mask[begin * step[axis]] = mask[(begin + 2 * reach + 3) * step[axis]] = 1;
                p.mask = mask;
                check_distance(b, &p, &PLAIN);
                check_distance(b, &p, &DISTANCE_ALONE);
                p.options.max_distance = (double)reach; /* so that what lies beyond is known, too */
                check_distance(b, &p, &PLAIN);
                free(mask);
            }
}

/** Two sites in columns apart, and as far from each other along z or y as the offsets of one search may be from each other, or
 *  somewhat less or more. */
static void ranges_of_offsets(bench *b) {
    static const int64_t ranges[] = {224, 225, 255, 256};
    for (int axis = 1; axis < 3; ++axis)
        for (int r = 0; r < 2 * COUNT(ranges); ++r) {
            problem p = new_problem(3, 80, 2, 2, NULL);
            const int64_t range = ranges[r / 2], begin = r % 2 ? 23 : 8;
            p.size[axis] = begin + range + 20;
            const int64_t step[] = {1, p.size[0], p.size[0] * p.size[1]};
            uint8_t *mask = must_alloc((size_t)pixels_of(&p));
            mask[begin * step[axis]] = mask[(begin + range) * step[axis] + 79] = 1;
            p.mask = mask;
            check_distance(b, &p, &PLAIN);
            free(mask);
        }
}

/** Volumes of many sites with a few holes, which are as large as what a search of near sites reaches. */
static void random_holes(bench *b) {
    chance c = {907};
    for (int i = 0; i < 6 + effort(6); ++i) {
        problem p = new_problem(3, 50 + roll_below(&c, 30), 50 + roll_below(&c, 30), 50 + roll_below(&c, 30), NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, NOISE, 0.3, &c);
        for (int hole = 0; hole < 2; ++hole) {
            int64_t first[3], size[3];
            for (int a = 0; a < 3; ++a) size[a] = 14 + roll_below(&c, 10), first[a] = roll_below(&c, p.size[a] - size[a]);
            for (int64_t z = first[2]; z < first[2] + size[2]; ++z)
                for (int64_t y = first[1]; y < first[1] + size[1]; ++y)
                    memset(mask + (z * p.size[1] + y) * p.size[0] + first[0], 0, (size_t)size[0]);
        }
        p.mask = mask;
        check_distance(b, &p, i % 2 ? &PLAIN : &DISTANCE_ALONE);
        free(mask);
    }
}

/** The least steps along one axis are as long as any number: right, and in no more memory than other small volumes take, which
 *  is a table of lengths for costs of 16 bits, and little else. */
static void steep_spacings(bench *b) {
    enum { MOST = (4 << 16) + 1024 };
    static const uint8_t mask[6] = {0, 1, 0, 0, 0, 0};
    for (int axis = 0; axis < 3; ++axis)
        for (double step = 1e-3; step < 1e4; step *= 1.7) {
            problem p = new_problem(3, axis == 0 ? 1 : 3, axis == 1 ? 1 : axis == 0 ? 3 : 2, axis == 2 ? 1 : 2, mask);
            for (int a = 0; a < 3; ++a) p.options.spacing[a] = a == axis ? step : 0.9 + 0.1 * a;
            for (int tiny = 0; tiny < 2; ++tiny) {
                frame set = frame_open(b, APSIS_U8, 3, p.size, PACKED), out = frame_open(b, APSIS_F64, 3, p.size, PACKED);
                const apsis_image *images[] = {&set.image, &out.image, NULL};
                double got[6];
                size_t bytes;
                frame_put(&set, mask + tiny);
                assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, &p.options, &bytes));
                assert_true(bytes <= MOST);
                assert_ok(b->ctx, apsis_distance(b->ctx, &set.image, &out.image, NULL, &p.options));
                frame_get(&out, got);
                for (int64_t i = 0; i < pixels_of(&p); ++i) {
                    double squares = 0;
                    int64_t left = i, from = tiny ? 0 : 1;
                    for (int a = 0; a < 3; ++a) {
                        const double way = p.options.spacing[a] * (double)(left % p.size[a] - from % p.size[a]);
                        squares += way * way;
                        left /= p.size[a], from /= p.size[a];
                    }
                    assert_true(fabs(got[i] - sqrt(squares)) <= 1e-4 * sqrt(squares));
                }
                frame_close(&set);
                frame_close(&out);
                for (int a = 0; a < 3; ++a) p.size[a] = 1;
            }
        }
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(far_volumes, EVERYWHERE),        TEST(random_gaps, EVERYWHERE),
                                      TEST(ends_of_reach, EVERYWHERE),      TEST(ranges_of_offsets, EVERYWHERE),
                                      TEST(random_holes, EVERYWHERE),       TEST(steep_spacings, EVERYWHERE),
                                      TEST(lines_without_sites, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
