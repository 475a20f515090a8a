/* Arrays of slabs in the memory of their device: what is told there, merged there, and checked there. */
#include "run_slabs.h"

enum { COLUMNS = 67, SLABS = 37 }; /* more than a kernel takes at once */

/** Numbers of columns, in the bench's place. */
static frame open_array(bench *b) { return frame_open(b, APSIS_I64, 2, (const int64_t[]){COLUMNS, 1, 1}, PACKED); }
static frame put_columns(bench *b, const int64_t *columns) {
    frame f = open_array(b);
    frame_put(&f, columns);
    return f;
}
static int64_t *array_of(const frame *f) { return f->image.data; }

static void check_columns(frame *f, const int64_t *want) {
    int64_t got[COLUMNS];
    frame_get(f, got);
    assert_memory_equal(got, want, sizeof got);
}

/** Slabs of one row each, some of them without rows. */
static void gathering(bench *b) {
    chance c = {77};
    frame first[SLABS], last[SLABS];
    int64_t firsts[SLABS][COLUMNS], lasts[SLABS][COLUMNS];
    const int64_t *first_of[SLABS] = {NULL}, *last_of[SLABS] = {NULL};
    for (int k = 0; k < SLABS; ++k) {
        for (int x = 0; x < COLUMNS; ++x) {
            const bool has = roll_below(&c, 20) == 0;
            firsts[k][x] = has ? k : INT64_MAX;
            lasts[k][x] = has ? k : -1;
        }
        first[k] = put_columns(b, firsts[k]);
        last[k] = put_columns(b, lasts[k]);
        if (k % 5 == 3) continue; /* NULL */
        first_of[k] = array_of(&first[k]);
        last_of[k] = array_of(&last[k]);
    }
    int64_t above[COLUMNS], below[COLUMNS];
    for (int k = 0; k < SLABS; ++k) {
        fill(above, COLUMNS, -1);
        fill(below, COLUMNS, INT64_MAX);
        for (int i = 0; i < SLABS; ++i)
            if (first_of[i]) apsis_slab_merge(COLUMNS, i > k ? firsts[i] : NULL, i < k ? lasts[i] : NULL, below, above);
        frame got_above = frame_open(b, APSIS_I64, 2, (const int64_t[]){COLUMNS, 1, 1}, PACKED),
              got_below = put_columns(b, above);
        assert_ok(b->ctx, apsis_slab_gather(b->ctx, COLUMNS, k + 1 < SLABS ? first_of : NULL, k > 0 ? last_of : NULL, SLABS, k,
                                            array_of(&got_above), array_of(&got_below)));
        check_columns(&got_above, above);
        check_columns(&got_below, below);
        frame_close(&got_above);
        frame_close(&got_below);
    }
    assert_ok(b->ctx, apsis_slab_gather(b->ctx, COLUMNS, NULL, NULL, SLABS, 5, NULL, NULL));
    assert_ok(b->ctx, apsis_slab_gather(b->ctx, 0, NULL, NULL, SLABS, 5, above, below));
    for (int k = 0; k < SLABS; ++k) {
        frame_assert_unchanged(&first[k]);
        frame_assert_unchanged(&last[k]);
        frame_close(&first[k]);
        frame_close(&last[k]);
    }
}

static void bad_gathers(bench *b) {
    int64_t numbers[COLUMNS];
    fill(numbers, COLUMNS, -1);
    frame f = put_columns(b, numbers), all = put_columns(b, numbers);
    const int64_t *const told[2] = {array_of(&f), array_of(&f)};
    int64_t *const merged = array_of(&all);
    assert_fails(b->ctx, apsis_slab_gather(b->ctx, -1, told, told, 2, 1, merged, NULL), APSIS_ERROR_ARGUMENT, "columns|-1");
    assert_fails(b->ctx, apsis_slab_gather(b->ctx, COLUMNS, told, told, 2, 2, merged, NULL), APSIS_ERROR_ARGUMENT,
                 "slab is 2|slab_count is 2");
    assert_fails(b->ctx, apsis_slab_gather(b->ctx, COLUMNS, told, told, 2, -1, merged, NULL), APSIS_ERROR_ARGUMENT,
                 "slab is -1");
    assert_fails(b->ctx, apsis_slab_gather(b->ctx, COLUMNS, told, NULL, 2, 1, merged, NULL), APSIS_ERROR_ARGUMENT,
                 "last is NULL|1 slab");
    assert_fails(b->ctx, apsis_slab_gather(b->ctx, COLUMNS, NULL, told, 2, 0, NULL, merged), APSIS_ERROR_ARGUMENT,
                 "first is NULL|1 slab");
    if (b->memory == APSIS_DEVICE) {
        const int64_t *const mixed[2] = {told[0], numbers};
        assert_fails(b->ctx, apsis_slab_gather(b->ctx, COLUMNS, mixed, told, 2, 0, NULL, merged), APSIS_ERROR_ARGUMENT,
                     "first[1] is in host memory|below is in device memory");
        assert_fails(b->ctx, apsis_slab_gather(b->ctx, COLUMNS, told, told, 2, 1, numbers, NULL), APSIS_ERROR_ARGUMENT,
                     "last[0] is in device memory|above is in host memory");
    }
    frame_assert_unchanged(&all);
    frame_close(&all);
    frame_close(&f);
}

/** A slab of three rows of the set's complement, in the middle of eleven. */
static void bad_sites(bench *b) {
    static const uint8_t none[3 * COLUMNS] = {0};
    const int64_t size[3] = {COLUMNS, 3, 1};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), distance = frame_open(b, APSIS_F32, 2, size, PACKED);
    frame_put(&set, none);
    static const struct {
        int64_t above, below;
        const char *words;
    } rows[] = {{3, 11, "below[41] is 11|7 to 10"},
                {3, 6, "below[41] is 6|7 to 10"},
                {-2, INT64_MAX, "above[41] is -2|0 to 3"},
                {4, 7, "above[41] is 4|0 to 3"},
                {INT64_MAX, 7, "above[41] is 9223372036854775807"},
                {0, 10, NULL}};
    for (int i = 0; i < COUNT(rows); ++i) {
        int64_t above[COLUMNS], below[COLUMNS];
        fill(above, COLUMNS, 3);
        fill(below, COLUMNS, 7);
        above[41] = rows[i].above;
        below[41] = rows[i].below;
        frame at[2] = {put_columns(b, above), put_columns(b, below)};
        const apsis_slab slab = {.start = 4, .extent = 11, .above = array_of(&at[0]), .below = array_of(&at[1])};
        if (rows[i].words)
            assert_fails(b->ctx, apsis_slab_distance(b->ctx, &set.image, &slab, &distance.image, NULL, NULL),
                         APSIS_ERROR_ARGUMENT, rows[i].words);
        else
            assert_ok(b->ctx, apsis_slab_distance(b->ctx, &set.image, &slab, &distance.image, NULL, NULL));
        assert_ok(b->ctx, apsis_sync(b->ctx));
        frame_close(&at[0]);
        frame_close(&at[1]);
    }
    frame_close(&set);
    frame_close(&distance);
}

/** Four slabs, on as many devices as there are: told and gathered where the images are, and no set given again. */
static void without_the_host(bench *b) {
    enum { SLAB_ROWS = 10, ROWS = 4 * SLAB_ROWS, PIXELS = COLUMNS * ROWS };
    chance c = {5};
    uint8_t mask[PIXELS];
    fill_mask(mask, (const int64_t[]){COLUMNS, ROWS, 1}, NOISE, 0.002, &c);
    problem p = new_problem(2, COLUMNS, ROWS, 1, mask);
    outputs whole = run_distance(b, &p, &DISTANCE_ALONE);
    const int64_t size[3] = {COLUMNS, SLAB_ROWS, 1};
    bench on[4];
    frame set[4], first[4], last[4];
    const int64_t *first_of[4], *last_of[4];
    for (int k = 0; k < 4; ++k) {
        on[k] = *b;
        if (b->device != APSIS_CPU) on[k].device = k % apsis_device_count();
        assert_ok(NULL, apsis_create(APSIS_VERSION, on[k].device, &on[k].ctx));
        set[k] = frame_open(&on[k], APSIS_U8, 2, size, PACKED);
        frame_put(&set[k], mask + k * SLAB_ROWS * COLUMNS);
        first[k] = open_array(&on[k]);
        last[k] = open_array(&on[k]);
        first_of[k] = array_of(&first[k]);
        last_of[k] = array_of(&last[k]);
    }
    for (int k = 0; k < 4; ++k)
        assert_ok(on[k].ctx,
                  apsis_slab_summary(on[k].ctx, &set[k].image, k * SLAB_ROWS, array_of(&first[k]), array_of(&last[k]), NULL));
    for (int k = 0; k < 4; ++k) {
        frame above = open_array(&on[k]), below = open_array(&on[k]), out = frame_open(&on[k], APSIS_F32, 2, size, PACKED);
        apsis_context *const ctx = on[k].ctx;
        assert_ok(ctx, apsis_slab_gather(ctx, COLUMNS, first_of, last_of, 4, k, array_of(&above), array_of(&below)));
        const apsis_slab place = {.start = k * SLAB_ROWS, .extent = ROWS, .above = array_of(&above), .below = array_of(&below)};
        assert_ok(ctx, apsis_slab_distance(ctx, NULL, &place, &out.image, NULL, NULL));
        float got[COLUMNS * SLAB_ROWS];
        frame_get(&out, got);
        assert_memory_equal(got, (const float *)whole.distance + k * SLAB_ROWS * COLUMNS, sizeof got);
        frame_close(&above);
        frame_close(&below);
        frame_close(&out);
    }
    for (int k = 0; k < 4; ++k) {
        frame_close(&set[k]);
        frame_close(&first[k]);
        frame_close(&last[k]);
        apsis_destroy(on[k].ctx);
    }
    free_outputs(&whole);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(gathering, EVERYWHERE), TEST(bad_gathers, EVERYWHERE), TEST(bad_sites, EVERYWHERE),
                                      TEST(without_the_host, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
