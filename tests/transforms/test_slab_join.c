/* Components of slabs: answers written by hand, what is refused, and what is around the calls. */
#include "frame.h"

enum { WIDE = 6, HIGH = 4 };

static uint8_t *draw_rows(uint8_t mask[WIDE * HIGH]) {
    draw(mask, "#.#..#", "#.#.#.", "#..#.#", "####..", NULL);
    return mask;
}

/* ---- Two slabs of two rows, which every case below spoils in one place ---- */

typedef struct two_slabs {
    int64_t first[2][WIDE], last[2][WIDE], numbers[2][4], size[3], count;
    apsis_part parts[2][4], all[6];
    apsis_slab_labels slabs[2];
    apsis_options options;
} two_slabs;

static void ask_slab(bench *b, two_slabs *two, int k) {
    uint8_t mask[WIDE * HIGH];
    frame set = frame_open(b, APSIS_U8, 2, (const int64_t[3]){WIDE, 2, 1}, PACKED);
    frame_put(&set, draw_rows(mask) + 2 * k * WIDE);
    apsis_slab_labels *slab = &two->slabs[k];
    *slab = (apsis_slab_labels){2 * k, 2, 0, two->first[k], two->last[k], two->parts[k], two->numbers[k]};
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, slab->start, two->first[k], two->last[k], two->parts[k], 4,
                                       &slab->count, NULL));
    frame_close(&set);
}

static two_slabs *ask_both(bench *b) {
    static two_slabs two;
    two = (two_slabs){.size = {WIDE, HIGH}, .options = APSIS_OPTIONS_INIT};
    ask_slab(b, &two, 0);
    ask_slab(b, &two, 1);
    return &two;
}

static apsis_status join(bench *b, two_slabs *two) {
    return apsis_slab_join(b->ctx, 2, two->size, two->slabs, 2, two->all, 6, &two->count, &two->options);
}

/* ---- Answers written by hand ---- */

static void what_slabs_tell(bench *b) {
    two_slabs *two = ask_both(b);
    static const int64_t first[2][WIDE] = {{1, 0, 2, 0, 0, 3}, {1, 0, 0, 1, 0, 2}};
    static const int64_t last[2][WIDE] = {{1, 0, 2, 0, 4, 0}, {1, 1, 1, 1, 0, 0}};
    static const apsis_part lower[2] = {{12, 6, {0, 2, 0}, {3, 3, 0}, {9, 16, 0}}, {17, 1, {5, 2, 0}, {5, 2, 0}, {5, 2, 0}}};
    assert_memory_equal(two->first, first, sizeof first);
    assert_memory_equal(two->last, last, sizeof last);
    assert_int_equal(two->slabs[0].count, 4);
    assert_int_equal(two->slabs[1].count, 2);
    assert_memory_equal(two->parts[1], lower, sizeof lower);
}

static void what_they_are_told(bench *b) {
    two_slabs *two = ask_both(b);
    static const int64_t upper[4] = {1, 2, 3, 4}, lower[2] = {1, 5};
    static const apsis_part one = {0, 8, {0, 0, 0}, {3, 3, 0}, {9, 17, 0}};
    two->slabs[0].first = two->slabs[1].last = NULL; /* there is nothing */
    assert_ok(b->ctx, join(b, two));
    assert_int_equal(two->count, 5);
    assert_memory_equal(two->numbers[0], upper, sizeof upper);
    assert_memory_equal(two->numbers[1], lower, sizeof lower);
    assert_memory_equal(two->all, &one, sizeof one);
    apsis_component known;
    apsis_slab_measure(1, two->all, &known);
    assert_true(known.first == 0 && known.area == 8 && known.upper[0] == 3 && known.centroid[0] == 9.0 / 8 &&
                known.centroid[1] == 17.0 / 8 && known.centroid[2] == 0);
    two->options.connectivity = 2; /* for the neighbours across the cut alone: all but the one at the top right meet */
    assert_ok(b->ctx, join(b, two));
    assert_int_equal(two->count, 2);
    two->options.connectivity = 1;
    two->options.min_area = 2;
    assert_ok(b->ctx, join(b, two));
    assert_int_equal(two->count, 2);
    assert_int_equal(two->numbers[1][0], 1);
    assert_int_equal(two->numbers[1][1], 0);
}

/** A slab may ask for its own numbers alone; then nothing is known but rows and counts. */
static void numbers_of_one(bench *b) {
    two_slabs *two = ask_both(b);
    two->slabs[0].numbers = NULL;
    two->slabs[0].parts = two->slabs[1].parts = NULL;
    assert_ok(b->ctx, apsis_slab_join(b->ctx, 2, two->size, two->slabs, 2, NULL, 0, NULL, NULL));
    assert_int_equal(two->numbers[1][0], 1);
    assert_int_equal(two->numbers[1][1], 5);
}

/** Numbers of an image far larger than the slab: beyond 2^32, and beyond what 32 bits hold. */
static void large_numbers(bench *b) {
    uint8_t mask[WIDE * HIGH];
    const int64_t size[3] = {WIDE, HIGH, 1}, numbers[5] = {(int64_t)1 << 40, 0, INT64_MAX, INT32_MAX, 7};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), labels = frame_open(b, APSIS_I64, 2, size, PACKED);
    frame small = frame_open(b, APSIS_I32, 2, size, PACKED), kept = frame_open(b, APSIS_U8, 2, size, PACKED);
    frame_put(&set, draw_rows(mask));
    assert_ok(b->ctx, apsis_slab_components(b->ctx, &set.image, numbers, 5, &labels.image, NULL));
    assert_ok(b->ctx, apsis_slab_components(b->ctx, &set.image, numbers, 5, &kept.image, NULL));
    assert_fails(b->ctx, apsis_slab_components(b->ctx, &set.image, numbers, 5, &small.image, NULL), APSIS_ERROR_RANGE,
                 "labels|APSIS_I32|numbers[0] is 1099511627776");
    static const int of[WIDE * HIGH] = {1, 0, 2, 0, 0, 3, 1, 0, 2, 0, 4, 0, 1, 0, 0, 1, 0, 5, 1, 1, 1, 1, 0, 0};
    int64_t got[WIDE * HIGH];
    uint8_t is_kept[WIDE * HIGH];
    frame_get(&labels, got);
    frame_get(&kept, is_kept);
    for (int i = 0; i < WIDE * HIGH; ++i) {
        const int64_t want = of[i] ? numbers[of[i] - 1] : 0;
        assert_true(got[i] == want);
        assert_int_equal(is_kept[i], want > 0);
    }
    frame_close(&set), frame_close(&labels), frame_close(&small), frame_close(&kept);
}

/** A slab of an image at the end of the longest axis. */
static void a_slab_far_below(bench *b) {
    uint8_t mask[WIDE * HIGH];
    const int64_t start = ((int64_t)1 << 30) - HIGH;
    frame set = frame_open(b, APSIS_U8, 2, (const int64_t[3]){WIDE, HIGH, 1}, PACKED);
    frame_put(&set, draw_rows(mask));
    apsis_part parts[5];
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, start, NULL, NULL, parts, 5, NULL, NULL));
    const apsis_part one = {start * WIDE, 8, {0, start, 0}, {3, start + 3, 0}, {9, 8 * start + 17, 0}};
    assert_memory_equal(parts, &one, sizeof one);
    frame_close(&set);
}

static void nothing_there(bench *b) {
    int64_t first[3] = {9, 9, 9}, last[3] = {9, 9, 9}, count = 9;
    const apsis_image no_rows = {.type = APSIS_BIT, .ndim = 2, .size = {3, 0}};
    const apsis_image no_labels = {.type = APSIS_I32, .ndim = 2, .size = {3, 0}};
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &no_rows, 7, first, last, NULL, 0, &count, NULL));
    for (int x = 0; x < 3; ++x) assert_true(first[x] == 0 && last[x] == 0);
    assert_int_equal(count, 0);
    assert_ok(b->ctx, apsis_slab_components(b->ctx, &no_rows, NULL, 0, &no_labels, NULL));
    const apsis_image no_columns = {.type = APSIS_U8, .ndim = 2, .size = {0, 5}};
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &no_columns, 7, first, last, NULL, 0, &count, NULL));
    apsis_options options = APSIS_OPTIONS_INIT;
    options.largest = 1;
    const int64_t flat[3] = {3, 0}, thin[3] = {0, 5, 4};
    count = 9;
    assert_ok(b->ctx, apsis_slab_join(b->ctx, 2, flat, NULL, 0, NULL, 0, &count, &options));
    assert_int_equal(count, 0);
    const apsis_slab_labels slabs[3] = {{.rows = 2}, {.start = 2}, {.start = 2, .rows = 2}};
    count = 9;
    assert_ok(b->ctx, apsis_slab_join(b->ctx, 3, thin, slabs, 3, NULL, 0, &count, &options));
    assert_int_equal(count, 0);
    assert_ok(b->ctx, apsis_slab_join(b->ctx, 3, thin, slabs, 0, NULL, 0, NULL, NULL));
    apsis_slab_measure(0, NULL, NULL);
}

/* ---- What is refused ---- */

#define REFUSED(spoil, words)                                            \
    do {                                                                 \
        two_slabs *two = ask_both(b);                                    \
        assert_ok(b->ctx, join(b, two));                                 \
        spoil;                                                           \
        assert_fails(b->ctx, join(b, two), APSIS_ERROR_ARGUMENT, words); \
    } while (0)

static void bad_places(bench *b) {
    REFUSED(two->slabs[0].start = -1, "slabs[0]: start is -1|0 to 4");
    REFUSED(two->slabs[0].rows = -1, "slabs[0]: rows is -1|0 to 4");
    REFUSED((two->slabs[0].rows = 1, two->slabs[0].count = 3), "slabs[1]: start is 2|ends at 1");
    REFUSED(two->slabs[1].start = 3, "slabs[1]: rows is 2|0 to 1");
    REFUSED(two->slabs[1].rows = INT64_MAX, "slabs[1]: rows");
    REFUSED(two->slabs[0].count = -1, "slabs[0]: count is -1|0 to 6");
    REFUSED(two->slabs[1].count = 7, "slabs[1]: count is 7|0 to 6");
    REFUSED(two->size[1] = 3, "slabs[1]: rows is 2|0 to 1");
    REFUSED(two->size[0] = -1, "size[0] is -1");
    REFUSED((two->size[1] = 5, two->options.largest = 1), "rows 0 to 4 of 5|whole image");
    REFUSED((two->size[1] = 5, two->options.flags = APSIS_NO_BORDER), "rows 0 to 4 of 5|whole image");
}

static void bad_arrays(bench *b) {
    REFUSED(two->last[0][2] = -1, "slabs[0]: last[2] is -1|0 to 4");
    REFUSED(two->last[0][2] = 5, "slabs[0]: last[2] is 5|0 to 4");
    REFUSED(two->first[1][5] = 3, "slabs[1]: first[5] is 3|0 to 2");
    REFUSED(two->slabs[0].last = NULL, "slabs[0]: last is NULL");
    REFUSED(two->slabs[1].first = NULL, "slabs[1]: first is NULL");
    REFUSED(two->slabs[1].parts = NULL, "slabs[1]: parts is NULL");
    REFUSED(two->parts[1][0].area = 0, "slabs[1]: parts[0] has area 0");
    REFUSED(two->parts[1][1].area = 7, "slabs[1]: parts[1] has area 7");
    REFUSED(two->parts[1][1].first = 12, "slabs[1]: parts[1]|first pixel 12");
    REFUSED(two->parts[1][0].first = 11, "slabs[1]: parts[0]|first pixel 11");
    REFUSED(two->parts[1][1].first = 24, "slabs[1]: parts[1]|first pixel 24");
    REFUSED(two->parts[0][0].upper[1] = 2, "slabs[0]: parts[0]");
    REFUSED(two->parts[0][0].lower[0] = -1, "slabs[0]: parts[0]");
    REFUSED(two->parts[0][0].sum[0] = INT64_MAX, "slabs[0]: parts[0]");
}

static void bad_calls(bench *b) {
    two_slabs *two = ask_both(b);
    const apsis_slab_labels *slabs = two->slabs;
    apsis_context *const ctx = b->ctx;
    assert_fails(ctx, apsis_slab_join(ctx, 4, two->size, slabs, 2, NULL, 0, NULL, NULL), APSIS_ERROR_ARGUMENT, "ndim is 4");
    assert_fails(ctx, apsis_slab_join(ctx, 2, NULL, slabs, 2, NULL, 0, NULL, NULL), APSIS_ERROR_ARGUMENT, "size is NULL");
    assert_fails(ctx, apsis_slab_join(ctx, 2, two->size, NULL, 2, NULL, 0, NULL, NULL), APSIS_ERROR_ARGUMENT, "slabs is NULL");
    assert_fails(ctx, apsis_slab_join(ctx, 2, two->size, slabs, -1, NULL, 0, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "slab_count is -1");
    assert_fails(ctx, apsis_slab_join(ctx, 2, two->size, slabs, 2, NULL, 1, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "parts is NULL|capacity is 1");
    assert_fails(ctx, apsis_slab_join(ctx, 2, two->size, slabs, 2, two->all, -1, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "capacity is -1");
    assert_int_equal(apsis_slab_join(NULL, 2, two->size, slabs, 2, NULL, 0, NULL, NULL), APSIS_ERROR_ARGUMENT);
    two->options.connectivity = 3;
    assert_fails(ctx, join(b, two), APSIS_ERROR_ARGUMENT, "connectivity is 3");
    two->options.connectivity = 1;
    two->options.flags = APSIS_SLICES;
    assert_fails(ctx, join(b, two), APSIS_ERROR_UNSUPPORTED, "APSIS_SLICES");
    const int64_t vast[3] = {(int64_t)1 << 30, (int64_t)1 << 30, 5}; /* pixels by their longest axis: beyond 2^63 */
    assert_fails(ctx, apsis_slab_join(ctx, 3, vast, NULL, 0, two->all, 6, NULL, NULL), APSIS_ERROR_UNSUPPORTED,
                 "size is 1073741824|centroids");
    assert_ok(ctx, apsis_slab_join(ctx, 3, vast, NULL, 0, NULL, 0, NULL, NULL));
}

static void bad_slabs(bench *b) {
    uint8_t mask[WIDE * HIGH];
    int64_t rows[2][WIDE], count = 0;
    apsis_part part;
    apsis_context *const ctx = b->ctx;
    const int64_t size[3] = {WIDE, HIGH, 1}, last_start = ((int64_t)1 << 30) - HIGH, numbers[6] = {1, 2, 3, 4, 5, 6};
    const int64_t negative[5] = {1, 2, -3, 4, 5};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&set, draw_rows(mask));
    const apsis_image *const image = &set.image, *const out = &labels.image;
#define PARTS(start, first, last, capacity, options) \
    apsis_slab_parts(ctx, image, start, first, last, NULL, capacity, &count, options)
    assert_fails(ctx, PARTS(-1, NULL, NULL, 0, NULL), APSIS_ERROR_ARGUMENT, "slab_parts|start is -1");
    assert_fails(ctx, PARTS(last_start + 1, NULL, NULL, 0, NULL), APSIS_ERROR_ARGUMENT, "start is 1073741821|0 to 1073741820");
    assert_fails(ctx, PARTS(0, NULL, NULL, 1, NULL), APSIS_ERROR_ARGUMENT, "parts is NULL|capacity is 1");
    assert_fails(ctx, PARTS(0, NULL, NULL, -1, NULL), APSIS_ERROR_ARGUMENT, "capacity is -1");
    assert_fails(ctx, PARTS(0, rows[0], rows[0] + 1, 0, NULL), APSIS_ERROR_ARGUMENT, "last overlaps first");
    assert_fails(ctx, apsis_slab_parts(ctx, NULL, 0, NULL, NULL, &part, 1, &count, NULL), APSIS_ERROR_ARGUMENT, "set is NULL");
#define LABELS(numbers, count, options) apsis_slab_components(ctx, image, numbers, count, out, options)
    assert_fails(ctx, LABELS(NULL, 5, NULL), APSIS_ERROR_ARGUMENT, "slab_components|numbers is NULL");
    assert_fails(ctx, LABELS(negative, 5, NULL), APSIS_ERROR_ARGUMENT, "numbers[2] is -3");
    assert_fails(ctx, LABELS(numbers, -1, NULL), APSIS_ERROR_ARGUMENT, "count is -1|0 to 12");
    assert_fails(ctx, LABELS(numbers, 13, NULL), APSIS_ERROR_ARGUMENT, "count is 13|0 to 12");
    assert_fails(ctx, LABELS(numbers, 4, NULL), APSIS_ERROR_ARGUMENT, "count is 4|5 components");
    assert_fails(ctx, LABELS(numbers, 6, NULL), APSIS_ERROR_ARGUMENT, "count is 6|5 components");
    assert_fails(ctx, LABELS(NULL, 0, NULL), APSIS_ERROR_ARGUMENT, "count is 0|5 components");
    assert_ok(ctx, LABELS(numbers, 5, NULL));
    assert_fails(ctx, apsis_slab_components(ctx, image, numbers, 5, NULL, NULL), APSIS_ERROR_ARGUMENT, "labels is NULL");
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_SLICES;
    assert_fails(ctx, PARTS(0, NULL, NULL, 0, &options), APSIS_ERROR_UNSUPPORTED, "APSIS_SLICES");
    assert_fails(ctx, LABELS(numbers, 5, &options), APSIS_ERROR_UNSUPPORTED, "APSIS_SLICES");
    options.flags = APSIS_SIGNED;
    assert_fails(ctx, PARTS(0, NULL, NULL, 0, &options), APSIS_ERROR_ARGUMENT, "APSIS_SIGNED");
    options.flags = 0;
    options.method = APSIS_TILE_FILL;
    assert_fails(ctx, PARTS(0, NULL, NULL, 0, &options), APSIS_ERROR_UNSUPPORTED, "APSIS_TILE_FILL");
    frame_close(&set), frame_close(&labels);
}

/** Damaged files and messages: some numbers are anything.  Then the call fails, or its answer is of no use; no more. */
static void damaged_arrays(bench *b) {
    static const int64_t odd[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, 2, 5, 23, (int64_t)1 << 30, INT64_MAX - 1, INT64_MAX};
    const two_slabs good = *ask_both(b);
    chance c = {3};
    for (int i = 0; i < effort(20000); ++i) {
        two_slabs two = good;
        for (int k = 0; k < 2; ++k) {
            two.slabs[k].first = two.first[k], two.slabs[k].last = two.last[k];
            two.slabs[k].parts = two.parts[k], two.slabs[k].numbers = two.numbers[k];
        }
        if (roll_below(&c, 2)) two.options.largest = 1;
        for (int64_t n = 1 + roll_below(&c, 3); n > 0; --n) {
            const int64_t value = odd[roll_below(&c, COUNT(odd))];
            const int k = (int)roll_below(&c, 2), at = (int)roll_below(&c, WIDE);
            switch (roll_below(&c, 5)) {
                case 0: two.first[k][at] = value; break;
                case 1: two.last[k][at] = value; break;
                case 2: ((int64_t *)&two.parts[k][at % 2])[roll_below(&c, sizeof(apsis_part) / sizeof value)] = value; break;
                case 3: *(roll_below(&c, 2) ? &two.slabs[k].start : &two.slabs[k].rows) = value; break;
                default: two.slabs[k].count = value < 5 ? value : INT64_MAX; /* the arrays have no more */
            }
        }
        const apsis_status got = join(b, &two);
        assert_true(got == APSIS_OK || got == APSIS_ERROR_ARGUMENT);
    }
}

/* ---- Around the calls ---- */

/** That of apsis_components, and on a device 8 bytes for each element of the arrays: 256 at least. */
static void the_scratch_memory(bench *b) {
    enum { W = 300, H = 100 };
    chance c = {5};
    const int64_t size[3] = {W, H, 1};
    uint8_t *mask = must_alloc(W * H);
    fill_mask(mask, size, NOISE, 0.3, &c);
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&set, mask);
    int64_t first[W], last[W], *numbers = must_alloc(W * H * sizeof *numbers), count;
    apsis_part *parts = must_alloc(W * H * sizeof *parts);
    const apsis_memory own = b->place == ON_CPU ? APSIS_HOST : APSIS_DEVICE;
    for (int step = 0; step < 2; ++step) {
        const apsis_image *images[2] = {&set.image, step ? &labels.image : NULL};
        size_t bytes;
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_COMPONENTS, images, 2, NULL, &bytes));
        if (own == APSIS_DEVICE) bytes += ((step ? (size_t)count : 2 * W) * 8 + 511) / 256 * 256;
        apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
        assert_ok(b->ctx, apsis_alloc(b->ctx, own, &memory));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes));
        if (step) {
            for (int64_t i = 0; i < count; ++i) numbers[i] = i + 1;
            assert_ok(b->ctx, apsis_slab_components(b->ctx, &set.image, numbers, count, &labels.image, NULL));
        } else {
            assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, 9, first, last, parts, W * H, &count, NULL));
        }
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        apsis_free(b->ctx, &memory);
    }
    frame_close(&set), frame_close(&labels);
    free(mask), free(numbers), free(parts);
}

static int stop(void *calls, double done) {
    assert_true(done >= 0 && done <= 1);
    ++*(int *)calls;
    return 1;
}

static void cancelling(bench *b) {
    int calls = 0;
    uint8_t mask[WIDE * HIGH];
    int64_t count;
    frame set = frame_open(b, APSIS_U8, 2, (const int64_t[3]){WIDE, HIGH, 1}, PACKED);
    frame_put(&set, draw_rows(mask));
    assert_ok(b->ctx, apsis_set_progress(b->ctx, stop, &calls));
    assert_fails(b->ctx, apsis_slab_parts(b->ctx, &set.image, 0, NULL, NULL, NULL, 0, &count, NULL), APSIS_ERROR_CANCELLED,
                 "slab_parts");
    assert_int_equal(calls, 1);
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, 0, NULL, NULL, NULL, 0, &count, NULL));
    assert_int_equal(count, 5);
    frame_close(&set);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(what_slabs_tell, EVERYWHERE),
                                      TEST(what_they_are_told, EVERYWHERE),
                                      TEST(numbers_of_one, EVERYWHERE),
                                      TEST(large_numbers, EVERYWHERE),
                                      TEST(a_slab_far_below, EVERYWHERE),
                                      TEST(nothing_there, EVERYWHERE),
                                      TEST(bad_places, ON_CPU),
                                      TEST(bad_arrays, ON_CPU),
                                      TEST(bad_calls, ON_CPU),
                                      TEST(bad_slabs, EVERYWHERE),
                                      TEST(damaged_arrays, ON_CPU),
                                      TEST(the_scratch_memory, EVERYWHERE),
                                      TEST(cancelling, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
