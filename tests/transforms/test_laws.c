/* Laws that apsis_distance obeys whatever the image: they need no oracle, so the images can be larger. */
#include "run_distance.h"

enum { W = 331, H = 247 };

static uint8_t *some_mask(int kind, uint64_t seed) {
    const int64_t size[3] = {W, H, 1};
    chance c = {seed};
    uint8_t *mask = must_alloc(W * H);
    fill_mask(mask, size, kind, 0.004, &c);
    mask[W * (H / 3) + W / 4] = 1; /* never empty */
    return mask;
}

static const int kinds[] = {NOISE, BLOBS, RING, SINGLE};

/** The squared distances alone: of several nearest pixels, a turned image chooses another one. */
static int32_t *squares(bench *b, problem *p, unsigned set_layout) {
    const given how = {.set = APSIS_U8, .distance = APSIS_I32, .set_layout = set_layout};
    return run_distance(b, p, &how).distance;
}

static void turning(bench *b) {
    for (int k = 0; k < COUNT(kinds); ++k) {
        uint8_t *mask = some_mask(kinds[k], 1), *turned = must_alloc(W * H);
        for (int turn = 0; turn < 8; ++turn) { /* bits: flip x, flip y, transpose */
            const int64_t w = turn & 4 ? H : W, h = turn & 4 ? W : H;
            for (int64_t i = 0; i < W * H; ++i) {
                const int64_t x = turn & 1 ? W - 1 - i % W : i % W, y = turn & 2 ? H - 1 - i / W : i / W;
                turned[turn & 4 ? y + x * w : x + y * w] = mask[i];
            }
            problem p = new_problem(2, W, H, 1, mask), q = new_problem(2, w, h, 1, turned);
            int32_t *straight = squares(b, &p, PACKED), *other = squares(b, &q, PACKED);
            for (int64_t i = 0; i < W * H; ++i) {
                const int64_t x = turn & 1 ? W - 1 - i % W : i % W, y = turn & 2 ? H - 1 - i / W : i / W;
                assert_int_equal(straight[i], other[turn & 4 ? y + x * w : x + y * w]);
            }
            free(straight);
            free(other);
        }
        free(mask);
        free(turned);
    }
}

static void moving(bench *b) {
    enum { BIG_W = W + 70, BIG_H = H + 45 };
    static const int64_t shifts[][2] = {{0, 0}, {1, 31}, {37, 0}, {69, 44}};
    for (int k = 0; k < COUNT(kinds); ++k) {
        uint8_t *mask = some_mask(kinds[k], 2), *big = must_alloc(BIG_W * BIG_H);
        problem p = new_problem(2, W, H, 1, mask), q = new_problem(2, BIG_W, BIG_H, 1, big);
        int32_t *still = squares(b, &p, PACKED);
        for (int s = 0; s < COUNT(shifts); ++s) {
            const int64_t origin = shifts[s][0] + BIG_W * shifts[s][1];
            memset(big, 0, BIG_W * BIG_H);
            for (int64_t y = 0; y < H; ++y) memcpy(big + origin + y * BIG_W, mask + y * W, W);
            int32_t *moved = squares(b, &q, PACKED);
            for (int64_t y = 0; y < H; ++y) assert_memory_equal(moved + origin + y * BIG_W, still + y * W, W * sizeof(int32_t));
            free(moved);
        }
        free(still);
        free(mask);
        free(big);
    }
}

/** Twice as fine a grid with the same sites: squared distances at the old pixels are four times as large. */
static void doubling(bench *b) {
    uint8_t *mask = some_mask(NOISE, 3), *fine = must_alloc(4 * W * H);
    for (int64_t i = 0; i < W * H; ++i) fine[2 * (i % W) + 4 * W * (i / W)] = mask[i];
    problem p = new_problem(2, W, H, 1, mask), q = new_problem(2, 2 * W, 2 * H, 1, fine);
    int32_t *coarse = squares(b, &p, PACKED), *doubled = squares(b, &q, PACKED);
    for (int64_t i = 0; i < W * H; ++i) assert_int_equal(doubled[2 * (i % W) + 4 * W * (i / W)], 4 * coarse[i]);
    free(coarse);
    free(doubled);
    free(mask);
    free(fine);
}

/** A batch is its slices, one by one. */
static void slices(bench *b) {
    enum { N = 5, SW = 97, SH = 66 };
    const int64_t size[3] = {SW, SH, N};
    chance c = {4};
    uint8_t *mask = must_alloc(SW * SH * N);
    fill_mask(mask, size, NOISE, 0.002, &c);
    memset(mask + SW * SH, 0, SW * SH); /* one of them is empty */
    problem all = new_problem(3, SW, SH, N, mask);
    all.options.flags = APSIS_SLICES | APSIS_SIGNED;
    outputs batch = run_distance(b, &all, &PLAIN);
    for (int z = 0; z < N; ++z) {
        problem one = new_problem(2, SW, SH, 1, mask + z * SW * SH);
        one.options.flags = APSIS_SIGNED;
        outputs alone = run_distance(b, &one, &PLAIN);
        assert_memory_equal(alone.distance, (float *)batch.distance + z * SW * SH, SW * SH * sizeof(float));
        for (int i = 0; i < SW * SH; ++i) {
            const int32_t near = ((int32_t *)alone.nearest)[i];
            assert_int_equal(((int32_t *)batch.nearest)[z * SW * SH + i], near < 0 ? -1 : near + z * SW * SH);
        }
        free_outputs(&alone);
    }
    free_outputs(&batch);
    free(mask);
}

static void check_signs(bench *b, problem *p, const given *how) {
    const uint32_t flags = p->options.flags;
    outputs outside = run_distance(b, p, how);
    p->options.flags = flags | APSIS_COMPLEMENT;
    outputs inside = run_distance(b, p, how);
    p->options.flags = flags | APSIS_SIGNED;
    outputs both = run_distance(b, p, how);
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        const outputs *from = p->mask[i] ? &inside : &outside;
        const float unsigned_distance = ((float *)from->distance)[i];
        assert_true(((float *)both.distance)[i] == (p->mask[i] ? -unsigned_distance : unsigned_distance));
        if (how->nearest) assert_int_equal(((int32_t *)both.nearest)[i], ((int32_t *)from->nearest)[i]);
    }
    p->options.flags = flags;
    free_outputs(&outside);
    free_outputs(&inside);
    free_outputs(&both);
}

/** A signed map is two unsigned ones. */
static void signs(bench *b) {
    for (int k = 0; k < COUNT(kinds); ++k) {
        uint8_t *mask = some_mask(kinds[k], 5);
        problem p = new_problem(2, W, H, 1, mask);
        check_signs(b, &p, &PLAIN);
        free(mask);
    }
}

/** So is that of many slices at once, of every kind: near both sides or far from one of them, in parts or all over. */
static void many_signs(bench *b) {
    enum { WIDE = 521, ROWS = 67, MANY = 99 };
    static const double densities[] = {0.5, 0.9, 0.1, 0.01, 0.002};
    static const int64_t size[3] = {WIDE, ROWS, 1};
    static const given alone = {.set = APSIS_U8, .distance = APSIS_F32};
    chance c = {7};
    uint8_t *mask = must_alloc(WIDE * ROWS * MANY);
    for (int z = 0; z < MANY; ++z) {
        const int kind = z % 2 ? NOISE : z / 2 % MASK_KINDS;
        fill_mask(mask + z * WIDE * ROWS, size, kind, densities[z % COUNT(densities)], &c);
    }
    problem p = new_problem(3, WIDE, ROWS, MANY, mask);
    p.options.flags = APSIS_SLICES;
    check_signs(b, &p, &PLAIN);
    check_signs(b, &p, &alone);
    p.options.max_distance = 20;
    check_signs(b, &p, &alone);
    free(mask);
}

/** How a set is stored does not matter: bits or bytes, any non-zero byte, any layout. */
static void storage(bench *b) {
    uint8_t *mask = some_mask(BLOBS, 6);
    for (int i = 0; i < W * H; ++i)
        if (mask[i]) mask[i] = (uint8_t)(1u << (i % 8));
    problem p = new_problem(2, W, H, 1, mask);
    const given bits = {.set = APSIS_BIT, .distance = APSIS_F32, .nearest = APSIS_I32};
    outputs want = run_distance(b, &p, &bits);
    for (unsigned layout = 0; layout < LAYOUTS; ++layout) {
        given how = PLAIN;
        how.set_layout = how.distance_layout = how.nearest_layout = layout;
        outputs out = run_distance(b, &p, &how);
        assert_memory_equal(out.distance, want.distance, W * H * sizeof(float));
        assert_memory_equal(out.nearest, want.nearest, W * H * sizeof(int32_t));
        free_outputs(&out);
    }
    free_outputs(&want);
    free(mask);
}

/** The bytes are the same with any number of threads, and without options. */
static void threads(bench *b) {
    uint8_t *mask = some_mask(NOISE, 7);
    problem p = new_problem(2, W, H, 1, mask);
    outputs want = run_distance(b, &p, &PLAIN);
    static const int counts[] = {1, 2, 7, 64};
    for (int t = 0; t < COUNT(counts); ++t) {
        assert_ok(b->ctx, apsis_set_threads(b->ctx, counts[t]));
        outputs out = run_distance(b, &p, &PLAIN);
        assert_memory_equal(out.distance, want.distance, W * H * sizeof(float));
        assert_memory_equal(out.nearest, want.nearest, W * H * sizeof(int32_t));
        free_outputs(&out);
    }
    free_outputs(&want);
    free(mask);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(turning, EVERYWHERE), TEST(moving, EVERYWHERE), TEST(doubling, EVERYWHERE),
                                      TEST(slices, EVERYWHERE),  TEST(signs, EVERYWHERE),  TEST(many_signs, EVERYWHERE),
                                      TEST(storage, EVERYWHERE), TEST(threads, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
