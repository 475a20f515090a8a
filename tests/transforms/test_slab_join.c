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
    two->slabs[k] = (apsis_slab_labels){.start = 2 * k,
                                        .first = two->first[k],
                                        .last = two->last[k],
                                        .parts = two->parts[k],
                                        .capacity = 4,
                                        .numbers = two->numbers[k]};
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, &two->slabs[k], NULL));
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
    static const apsis_part lower[2] = {{12, 6, {0, 2, 0}, {3, 3, 0}, {9, 16, 0}, 1},
                                        {17, 1, {5, 2, 0}, {5, 2, 0}, {5, 2, 0}, 1}};
    assert_memory_equal(two->first, first, sizeof first);
    assert_memory_equal(two->last, last, sizeof last);
    assert_int_equal(two->slabs[0].count, 4);
    assert_int_equal(two->slabs[1].count, 2);
    assert_memory_equal(two->parts[1], lower, sizeof lower);
}

static void what_they_are_told(bench *b) {
    two_slabs *two = ask_both(b);
    static const int64_t upper[4] = {1, 2, 3, 4}, lower[2] = {1, 5}, first[WIDE] = {-1, 0, 0, -1, 0, 5};
    static const apsis_part one = {0, 8, {0, 0, 0}, {3, 3, 0}, {9, 17, 0}, 1};
    const two_slabs told = *two;
    two->slabs[0].first = two->slabs[1].last = NULL; /* there is nothing */
    assert_ok(b->ctx, join(b, two));
    assert_int_equal(two->count, 5);
    assert_true(two->slabs[0].before == 0 && two->slabs[1].before == 4);
    assert_memory_equal(two->first[0], told.first[0], sizeof first);
    assert_memory_equal(two->last[0], told.last[0], sizeof first);
    assert_memory_equal(two->first[1], first, sizeof first);
    assert_memory_equal(two->last[1], told.last[1], sizeof first);
    assert_memory_equal(two->numbers[0], upper, sizeof upper);
    assert_memory_equal(two->numbers[1], lower, sizeof lower);
    assert_memory_equal(two->all, &one, sizeof one);
    apsis_component known;
    apsis_slab_measure(1, two->all, &known);
    assert_true(known.first == 0 && known.area == 8 && known.upper[0] == 3 && known.centroid[0] == 9.0 / 8 &&
                known.centroid[1] == 17.0 / 8 && known.centroid[2] == 0);
    two = ask_both(b);
    two->options.connectivity = 2; /* for the neighbours across the cut alone: all but the one at the top right meet */
    assert_ok(b->ctx, join(b, two));
    assert_int_equal(two->count, 2);
    static const int64_t met[WIDE] = {1, 0, -1, 0, -1, 0};
    assert_memory_equal(two->last[0], met, sizeof met);
    two = ask_both(b);
    two->options.min_area = 2;
    assert_ok(b->ctx, join(b, two));
    assert_int_equal(two->count, 2);
    assert_int_equal(two->numbers[1][0], 1);
    assert_int_equal(two->numbers[1][1], 0);
}

/** A slab may ask for all its numbers; then nothing is known but rows and counts. */
static void numbers_of_one(bench *b) {
    two_slabs *two = ask_both(b);
    two->slabs[0].numbers = NULL;
    two->slabs[0].parts = two->slabs[1].parts = NULL;
    assert_ok(b->ctx, apsis_slab_join(b->ctx, 2, two->size, two->slabs, 2, NULL, 0, NULL, NULL));
    assert_int_equal(two->numbers[1][0], 1);
    assert_int_equal(two->numbers[1][1], 5);
}

/** Slabs in the middle of an image, which become one, and that one is told what was found above and below it. */
static void numbers_of_a_group(bench *b) {
    two_slabs *two = ask_both(b);
    int64_t count;
    assert_ok(b->ctx, join(b, two));
    int64_t first[WIDE] = {11, 0, -7, 0, 0, 12}, last[WIDE] = {11, 11, 11, 11, 0, 0}, numbers[5] = {11, 7, 12, 13, 14};
    const apsis_slab_labels whole = {.rows = 4, .count = 5, .before = 10, .first = first, .last = last, .numbers = numbers};
    assert_ok(b->ctx, apsis_slab_renumber(b->ctx, WIDE, &whole, two->slabs, 2));
    static const int64_t want[4][WIDE] = {
        {11, 0, -7, 0, 0, 12}, {11, 0, -7, 0, 13, 0}, {-11, 0, 0, -11, 0, 14}, {-11, -11, -11, -11, 0, 0}};
    static const int64_t own[2][4] = {{11, 7, 12, 13}, {11, 14}};
    for (int k = 0; k < 2; ++k) {
        assert_memory_equal(two->first[k], want[2 * k], sizeof *want);
        assert_memory_equal(two->last[k], want[2 * k + 1], sizeof *want);
        for (count = 0; count < two->slabs[k].count; ++count) assert_int_equal(two->numbers[k][count], own[k][count]);
    }
    assert_true(two->slabs[0].before == 10 && two->slabs[1].before == 13);
}

/** What a slab of an image far larger has been told: beyond 2^32, and beyond what 32 bits hold. */
static void large_numbers(bench *b) {
    uint8_t mask[WIDE * HIGH];
    const int64_t size[3] = {WIDE, HIGH, 1}, far = (int64_t)1 << 40;
    int64_t numbers[5] = {far, 0, INT64_MAX, INT32_MAX, 7};
    int64_t first[WIDE] = {-7, 0, far + 1, 0, 0, -far}, last[WIDE] = {-7, -7, -7, -7, 0, 0};
    const apsis_slab_labels by_numbers = {.count = 5, .numbers = numbers},
                            by_faces = {.count = 5, .before = far, .first = first, .last = last};
    static const int of[WIDE * HIGH] = {1, 0, 2, 0, 0, 3, 1, 0, 2, 0, 4, 0, 1, 0, 0, 1, 0, 5, 1, 1, 1, 1, 0, 0};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), labels = frame_open(b, APSIS_I64, 2, size, PACKED);
    frame small = frame_open(b, APSIS_I32, 2, size, PACKED), kept = frame_open(b, APSIS_U8, 2, size, PACKED);
    frame_put(&set, draw_rows(mask));
    for (int way = 0; way < 2; ++way) {
        const apsis_slab_labels *told = way ? &by_faces : &by_numbers;
        const int64_t in_image[2][5] = {{far, 0, INT64_MAX, INT32_MAX, 7}, {7, far + 1, far, far + 2, far + 3}};
        assert_ok(b->ctx, apsis_slab_components(b->ctx, &set.image, told, &labels.image, NULL));
        assert_ok(b->ctx, apsis_slab_components(b->ctx, &set.image, told, &kept.image, NULL));
        assert_fails(b->ctx, apsis_slab_components(b->ctx, &set.image, told, &small.image, NULL), APSIS_ERROR_RANGE,
                     way ? "labels|APSIS_I32|up to 1099511627781" : "labels|APSIS_I32|numbers[0] is 1099511627776");
        int64_t got[WIDE * HIGH];
        uint8_t is_kept[WIDE * HIGH];
        frame_get(&labels, got);
        frame_get(&kept, is_kept);
        for (int i = 0; i < WIDE * HIGH; ++i) {
            const int64_t want = of[i] ? in_image[way][of[i] - 1] : 0;
            assert_true(got[i] == want);
            assert_int_equal(is_kept[i], want > 0);
        }
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
    apsis_slab_labels slab = {.start = start, .parts = parts, .capacity = 5};
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, &slab, NULL));
    const apsis_part one = {start * WIDE, 8, {0, start, 0}, {3, start + 3, 0}, {9, 8 * start + 17, 0}, 1};
    assert_memory_equal(parts, &one, sizeof one);
    frame_close(&set);
}

static void nothing_there(bench *b) {
    int64_t first[3] = {9, 9, 9}, last[3] = {9, 9, 9}, count;
    const apsis_image no_rows = {.type = APSIS_BIT, .ndim = 2, .size = {3, 0}};
    const apsis_image no_labels = {.type = APSIS_I32, .ndim = 2, .size = {3, 0}};
    apsis_slab_labels slab = {.start = 7, .rows = 9, .count = 9, .first = first, .last = last};
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &no_rows, &slab, NULL));
    for (int x = 0; x < 3; ++x) assert_true(first[x] == 0 && last[x] == 0);
    assert_true(slab.count == 0 && slab.rows == 0);
    assert_ok(b->ctx, apsis_slab_components(b->ctx, &no_rows, &slab, &no_labels, NULL));
    const apsis_image no_columns = {.type = APSIS_U8, .ndim = 2, .size = {0, 5}};
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &no_columns, &slab, NULL));
    assert_true(slab.count == 0 && slab.rows == 5);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.largest = 1;
    const int64_t flat[3] = {3, 0}, thin[3] = {0, 5, 4};
    count = 9;
    assert_ok(b->ctx, apsis_slab_join(b->ctx, 2, flat, NULL, 0, NULL, 0, &count, &options));
    assert_int_equal(count, 0);
    apsis_slab_labels slabs[3] = {{.rows = 2}, {.start = 2}, {.start = 2, .rows = 2}};
    count = 9;
    assert_ok(b->ctx, apsis_slab_join(b->ctx, 3, thin, slabs, 3, NULL, 0, &count, &options));
    assert_int_equal(count, 0);
    assert_ok(b->ctx, apsis_slab_join(b->ctx, 3, thin, slabs, 0, NULL, 0, NULL, NULL));
    assert_ok(b->ctx, apsis_slab_renumber(b->ctx, 0, &slabs[0], slabs, 3));
    assert_ok(b->ctx, apsis_slab_renumber(b->ctx, 3, &slab, NULL, 0));
    apsis_slab_measure(0, NULL, NULL);
}

/* ---- What is refused ---- */

#define REFUSED(spoil, words)                                            \
    do {                                                                 \
        two_slabs *two = ask_both(b);                                    \
        spoil;                                                           \
        assert_fails(b->ctx, join(b, two), APSIS_ERROR_ARGUMENT, words); \
    } while (0)

static void bad_places(bench *b) {
    assert_ok(b->ctx, join(b, ask_both(b)));
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
    REFUSED(two->last[0][2] = -5, "slabs[0]: last[2] is -5|-4 to 4");
    REFUSED(two->last[0][2] = 5, "slabs[0]: last[2] is 5|-4 to 4");
    REFUSED(two->last[0][2] = INT64_MIN, "slabs[0]: last[2]");
    REFUSED(two->first[1][5] = 3, "slabs[1]: first[5] is 3|-2 to 2");
    REFUSED(two->first[0][2] = 4, "slabs[0]: first[2] is 4|before it is 1");
    REFUSED(two->first[0][2] = -4, "slabs[0]: first[2] is -4|before it is 1");
    REFUSED(two->slabs[0].last = two->slabs[1].first, "slabs[1]: first overlaps slabs[0]: last");
    REFUSED(two->slabs[1].last = two->slabs[1].first, "slabs[1]: last overlaps slabs[1]: first");
    REFUSED(two->slabs[0].capacity = 3, "slabs[0]: capacity is 3|count is 4");
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
    REFUSED(two->parts[1][0].sum[1] = 2 * 6 - 1, "slabs[1]: parts[0]");
}

static void bad_calls(bench *b) {
    two_slabs *two = ask_both(b);
    apsis_slab_labels *slabs = two->slabs;
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

static void bad_groups(bench *b) {
    two_slabs *two = ask_both(b);
    int64_t first[WIDE] = {0}, last[WIDE] = {0}, numbers[5] = {0};
    assert_ok(b->ctx, join(b, two));
    const apsis_slab_labels good = {.rows = 4, .count = 5, .first = first, .last = last};
    apsis_slab_labels whole = good;
    apsis_context *const ctx = b->ctx;
#define RENUMBER(joined, count) apsis_slab_renumber(ctx, WIDE, joined, two->slabs, count)
    assert_fails(ctx, RENUMBER(NULL, 2), APSIS_ERROR_ARGUMENT, "slab_renumber|joined is NULL");
    assert_fails(ctx, RENUMBER(&whole, -1), APSIS_ERROR_ARGUMENT, "slab_count is -1");
    assert_fails(ctx, apsis_slab_renumber(ctx, WIDE, &whole, NULL, 2), APSIS_ERROR_ARGUMENT, "slabs is NULL");
    assert_fails(ctx, apsis_slab_renumber(ctx, -1, &whole, two->slabs, 2), APSIS_ERROR_ARGUMENT, "columns is -1");
    whole.count = 4;
    assert_fails(ctx, RENUMBER(&whole, 2), APSIS_ERROR_ARGUMENT, "slabs[1]: first[5] is 5|-4 to 4");
    whole.count = -1;
    assert_fails(ctx, RENUMBER(&whole, 2), APSIS_ERROR_ARGUMENT, "joined: count is -1");
    whole = good;
    whole.before = INT64_MAX;
    assert_fails(ctx, RENUMBER(&whole, 2), APSIS_ERROR_ARGUMENT, "joined: before is 9223372036854775807");
    whole = good;
    last[3] = INT64_MIN;
    assert_fails(ctx, RENUMBER(&whole, 2), APSIS_ERROR_ARGUMENT, "joined: last[3] is -9223372036854775808|-5 to 5");
    last[3] = 0;
    two->slabs[1].before = 6;
    assert_fails(ctx, RENUMBER(&whole, 2), APSIS_ERROR_ARGUMENT, "slabs[1]: before is 6|0 to 5");
    two->slabs[1].before = 4;
    two->numbers[0][1] = 6;
    assert_fails(ctx, RENUMBER(&whole, 2), APSIS_ERROR_ARGUMENT, "slabs[0]: numbers[1] is 6|0 to 5");
    two->numbers[0][1] = 2;
    numbers[4] = -1;
    whole.numbers = numbers;
    assert_fails(ctx, RENUMBER(&whole, 2), APSIS_ERROR_ARGUMENT, "joined: numbers[4] is -1");
    numbers[4] = 0;
    assert_ok(ctx, RENUMBER(&whole, 2));
}

static void bad_slabs(bench *b) {
    uint8_t mask[WIDE * HIGH];
    int64_t rows[2 * WIDE] = {0};
    apsis_context *const ctx = b->ctx;
    const int64_t size[3] = {WIDE, HIGH, 1}, last_start = ((int64_t)1 << 30) - HIGH;
    int64_t numbers[6] = {1, 2, 3, 4, 5, 6}, negative[5] = {1, 2, -3, 4, 5};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&set, draw_rows(mask));
    const apsis_image *const image = &set.image, *const out = &labels.image;
    apsis_options options = APSIS_OPTIONS_INIT;
#define SLAB(...) \
    &(apsis_slab_labels) { __VA_ARGS__ }
#define PARTS(slab) apsis_slab_parts(ctx, image, slab, &options)
    assert_fails(ctx, PARTS(NULL), APSIS_ERROR_ARGUMENT, "slab_parts|slab is NULL");
    assert_fails(ctx, PARTS(SLAB(.start = -1)), APSIS_ERROR_ARGUMENT, "start is -1");
    assert_fails(ctx, PARTS(SLAB(.start = last_start + 1)), APSIS_ERROR_ARGUMENT, "start is 1073741821|0 to 1073741820");
    assert_fails(ctx, PARTS(SLAB(.capacity = 1)), APSIS_ERROR_ARGUMENT, "parts is NULL|capacity is 1");
    assert_fails(ctx, PARTS(SLAB(.capacity = -1)), APSIS_ERROR_ARGUMENT, "capacity is -1");
    assert_fails(ctx, PARTS(SLAB(.first = rows, .last = rows + 1)), APSIS_ERROR_ARGUMENT, "slab: last overlaps slab: first");
    assert_fails(ctx, apsis_slab_parts(ctx, NULL, SLAB(.start = 0), NULL), APSIS_ERROR_ARGUMENT, "set is NULL");
#define LABELS(slab) apsis_slab_components(ctx, image, slab, out, &options)
    assert_fails(ctx, LABELS(NULL), APSIS_ERROR_ARGUMENT, "slab_components|slab is NULL");
    assert_fails(ctx, LABELS(SLAB(.count = 5, .numbers = negative)), APSIS_ERROR_ARGUMENT, "numbers[2] is -3");
    assert_fails(ctx, LABELS(SLAB(.count = -1)), APSIS_ERROR_ARGUMENT, "count is -1|0 to 12");
    assert_fails(ctx, LABELS(SLAB(.count = 13)), APSIS_ERROR_ARGUMENT, "count is 13|0 to 12");
    assert_fails(ctx, LABELS(SLAB(.count = 4, .numbers = numbers)), APSIS_ERROR_ARGUMENT, "count is 4|5 components");
    assert_fails(ctx, LABELS(SLAB(.count = 6, .numbers = numbers)), APSIS_ERROR_ARGUMENT, "count is 6|5 components");
    assert_fails(ctx, LABELS(SLAB(.start = 0)), APSIS_ERROR_ARGUMENT, "count is 0|5 components");
    rows[0] = -1; /* of the largest one: it is elsewhere, and still counts */
    assert_fails(ctx, LABELS(SLAB(.count = 4, .first = rows)), APSIS_ERROR_ARGUMENT, "count is 4|5 components");
    assert_fails(ctx, LABELS(SLAB(.count = 6, .last = rows)), APSIS_ERROR_ARGUMENT, "count is 6|5 components");
    assert_ok(ctx, LABELS(SLAB(.count = 5, .last = rows)));
    rows[0] = -6;
    assert_fails(ctx, LABELS(SLAB(.count = 5, .last = rows)), APSIS_ERROR_ARGUMENT, "slab: last[0] is -6|-5 to 5");
    assert_fails(ctx, LABELS(SLAB(.count = 5, .before = -1)), APSIS_ERROR_ARGUMENT, "before is -1");
    assert_fails(ctx, LABELS(SLAB(.count = 5, .before = INT64_MAX)), APSIS_ERROR_ARGUMENT, "before is 9223372036854775807");
    assert_ok(ctx, LABELS(SLAB(.count = 5, .numbers = numbers)));
    assert_fails(ctx, apsis_slab_components(ctx, image, SLAB(.count = 5), NULL, NULL), APSIS_ERROR_ARGUMENT, "labels is NULL");
    options.min_area = 2;
    assert_fails(ctx, LABELS(SLAB(.count = 5)), APSIS_ERROR_ARGUMENT, "numbers is NULL|leave components out");
    options.min_area = 0;
    options.flags = APSIS_SLICES;
    assert_fails(ctx, PARTS(SLAB(.start = 0)), APSIS_ERROR_UNSUPPORTED, "APSIS_SLICES");
    assert_fails(ctx, LABELS(SLAB(.count = 5)), APSIS_ERROR_UNSUPPORTED, "APSIS_SLICES");
    options.flags = APSIS_SIGNED;
    assert_fails(ctx, PARTS(SLAB(.start = 0)), APSIS_ERROR_ARGUMENT, "APSIS_SIGNED");
    options.flags = 0;
    options.method = APSIS_TILE_FILL;
    assert_fails(ctx, PARTS(SLAB(.start = 0)), APSIS_ERROR_UNSUPPORTED, "APSIS_TILE_FILL");
    frame_close(&set), frame_close(&labels);
}

/** What a slab was told has been damaged, or its set has changed.  Then its labels are of no use; no more. */
static void damaged_answers(bench *b) {
    chance c = {4};
    uint8_t mask[WIDE * HIGH];
    const int64_t size[3] = {WIDE, HIGH, 1};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), labels = frame_open(b, APSIS_I64, 2, size, PACKED);
    for (int i = 0; i < effort(300); ++i) {
        int64_t first[WIDE], last[WIDE];
        fill_mask(mask, size, NOISE, roll_real(&c), &c);
        frame_put(&set, mask);
        apsis_slab_labels slab = {.count = roll_below(&c, 13), .before = roll_below(&c, 3), .first = first, .last = last};
        if (roll_below(&c, 4) == 0) slab.first = NULL;
        const int64_t most = slab.before + slab.count;
        for (int x = 0; x < WIDE; ++x) {
            first[x] = roll_below(&c, 2 * most + 1) - most;
            last[x] = roll_below(&c, 2 * most + 1) - most;
        }
        const apsis_status got = apsis_slab_components(b->ctx, &set.image, &slab, &labels.image, NULL);
        assert_true(got == APSIS_OK || got == APSIS_ERROR_ARGUMENT);
    }
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
        two.slabs[1].before = odd[roll_below(&c, COUNT(odd))];
        const apsis_slab_labels joined = {.rows = 4, .count = 5, .first = two.first[0], .last = two.last[1]};
        if (got == APSIS_OK) {
            const apsis_status then = apsis_slab_renumber(b->ctx, WIDE, &joined, two.slabs, 2);
            assert_true(then == APSIS_OK || then == APSIS_ERROR_ARGUMENT);
        }
    }
}

/* ---- Around the calls ---- */

static void cancelling(bench *b) {
    int calls = 0;
    uint8_t mask[WIDE * HIGH];
    apsis_slab_labels slab = {.start = 0};
    frame set = frame_open(b, APSIS_U8, 2, (const int64_t[3]){WIDE, HIGH, 1}, PACKED);
    frame_put(&set, draw_rows(mask));
    assert_ok(b->ctx, apsis_set_progress(b->ctx, stop_at_once, &calls));
    assert_fails(b->ctx, apsis_slab_parts(b->ctx, &set.image, &slab, NULL), APSIS_ERROR_CANCELLED, "slab_parts");
    assert_int_equal(calls, 1);
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, &slab, NULL));
    assert_int_equal(slab.count, 5);
    frame_close(&set);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(what_slabs_tell, EVERYWHERE), TEST(what_they_are_told, EVERYWHERE),
                                      TEST(numbers_of_one, EVERYWHERE),  TEST(numbers_of_a_group, EVERYWHERE),
                                      TEST(large_numbers, EVERYWHERE),   TEST(a_slab_far_below, EVERYWHERE),
                                      TEST(nothing_there, EVERYWHERE),   TEST(bad_places, ON_CPU),
                                      TEST(bad_arrays, ON_CPU),          TEST(bad_calls, ON_CPU),
                                      TEST(bad_groups, ON_CPU),          TEST(bad_slabs, EVERYWHERE),
                                      TEST(damaged_answers, EVERYWHERE), TEST(damaged_arrays, ON_CPU),
                                      TEST(cancelling, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
