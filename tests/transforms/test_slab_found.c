/* Slabs that are not given again: to be labelled, and to be mapped.  More parts than one thread looks at. */
#include "frame.h"

enum { WIDE = 6, HIGH = 4 };

/** The slab of the call before need not be given, once. */
static void the_slab_before(bench *b) {
    uint8_t mask[WIDE * HIGH];
    draw(mask, "#.#..#", "#.#.#.", "#..#.#", "####..", NULL);
    apsis_context *const ctx = b->ctx;
    const int64_t size[3] = {WIDE, HIGH, 1}, other_size[3] = {WIDE, HIGH + 1, 1};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame other = frame_open(b, APSIS_I32, 2, other_size, PACKED);
    frame_put(&set, mask);
    apsis_options options = APSIS_OPTIONS_INIT;
    apsis_slab_labels slab = {.start = 0}, changed = {.start = -1};
    const apsis_image no_rows = {.type = APSIS_BIT, .ndim = 2, .size = {3, 0}};
    const apsis_image no_labels = {.type = APSIS_I32, .ndim = 2, .size = {3, 0}};
#define FIND() assert_ok(ctx, apsis_slab_parts(ctx, &set.image, &slab, NULL))
#define AGAIN() apsis_slab_components(ctx, NULL, &slab, &labels.image, &options)
#define NOT_AGAIN() assert_fails(ctx, AGAIN(), APSIS_ERROR_ARGUMENT, "slab_components|set is NULL|no apsis_slab_parts")
    NOT_AGAIN();
    FIND();
    assert_ok(ctx, AGAIN());
    NOT_AGAIN();
    FIND();
    slab.count = 4;
    assert_fails(ctx, AGAIN(), APSIS_ERROR_ARGUMENT, "count is 4|5 components");
    NOT_AGAIN();
    FIND();
    options.connectivity = 2;
    assert_fails(ctx, AGAIN(), APSIS_ERROR_ARGUMENT, "connectivity is 2|apsis_slab_parts was 1");
    options.connectivity = 1, options.flags = APSIS_COMPLEMENT;
    assert_fails(ctx, AGAIN(), APSIS_ERROR_ARGUMENT, "connectivity is 1, of the complement|was 1");
    options.flags = 0;
    assert_fails(ctx, apsis_slab_components(ctx, NULL, &slab, &other.image, NULL), APSIS_ERROR_ARGUMENT,
                 "labels: size[1] is 5|that of set is 4");
    assert_fails(ctx, apsis_slab_components(ctx, NULL, &slab, NULL, NULL), APSIS_ERROR_ARGUMENT, "labels is NULL");
    assert_ok(ctx, AGAIN()); /* nothing was done in between */
    FIND();
    assert_ok(ctx, apsis_components(ctx, &set.image, NULL, NULL, 0, &slab.count, NULL));
    NOT_AGAIN();
    FIND();
    assert_fails(ctx, apsis_slab_parts(ctx, &set.image, &changed, NULL), APSIS_ERROR_ARGUMENT, "start is -1");
    NOT_AGAIN();
    FIND();
    assert_ok(ctx, apsis_set_workspace(ctx, NULL, 0));
    NOT_AGAIN();
    assert_ok(ctx, apsis_slab_parts(ctx, &no_rows, &slab, NULL));
    assert_ok(ctx, apsis_slab_components(ctx, NULL, &slab, &no_labels, NULL));
    FIND();
    apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {1 << 22, 1}};
    assert_ok(ctx, apsis_alloc(ctx, b->place == ON_CPU ? APSIS_HOST : APSIS_DEVICE, &memory));
    assert_ok(ctx, apsis_set_workspace(ctx, memory.data, 1 << 22));
    NOT_AGAIN();
    FIND();
    assert_fails(ctx, AGAIN(), APSIS_ERROR_ARGUMENT, "set is NULL|its workspace is one that you set");
    assert_ok(ctx, apsis_set_workspace(ctx, NULL, 0));
    apsis_free(ctx, &memory);
    frame_close(&set), frame_close(&labels), frame_close(&other);
}

/** The same of maps; for a signed one the second summary does not need it either. */
static void the_set_before(bench *b) {
    uint8_t mask[WIDE * HIGH];
    draw(mask, "......", "..#...", ".###..", "......", NULL);
    apsis_context *const ctx = b->ctx;
    const int64_t size[3] = {WIDE, HIGH, 1}, other_size[3] = {WIDE, HIGH + 1, 1};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), map = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame other = frame_open(b, APSIS_I32, 2, other_size, PACKED);
    frame_put(&set, mask);
    int64_t first[WIDE], last[WIDE];
    apsis_options options = APSIS_OPTIONS_INIT, opposite = APSIS_OPTIONS_INIT;
    opposite.flags = APSIS_COMPLEMENT;
    apsis_slab slab = {.extent = HIGH};
    const apsis_image no_rows = {.type = APSIS_BIT, .ndim = 2, .size = {3, 0}};
    const apsis_image no_map = {.type = APSIS_I32, .ndim = 2, .size = {3, 0}};
#undef FIND
#undef AGAIN
#undef NOT_AGAIN
#define FIND() assert_ok(ctx, apsis_slab_summary(ctx, &set.image, 0, first, last, &options))
#define FIND_OPPOSITE() apsis_slab_summary(ctx, NULL, 0, first, last, &opposite)
#define AGAIN() apsis_slab_distance(ctx, NULL, &slab, &map.image, NULL, &options)
#define NOT_AGAIN() assert_fails(ctx, AGAIN(), APSIS_ERROR_ARGUMENT, "slab_distance|set is NULL|no apsis_slab_summary")
    NOT_AGAIN();
    assert_fails(ctx, FIND_OPPOSITE(), APSIS_ERROR_ARGUMENT, "slab_summary|set is NULL|no apsis_slab_summary");
    FIND();
    assert_ok(ctx, AGAIN());
    NOT_AGAIN();
    FIND();
    options.flags = APSIS_COMPLEMENT | APSIS_SIGNED;
    assert_fails(ctx, AGAIN(), APSIS_ERROR_ARGUMENT, "flags is 0x3, with APSIS_COMPLEMENT|apsis_slab_summary was without");
    assert_ok(ctx, FIND_OPPOSITE());
    static const int64_t want_first[WIDE] = {0, 0, 0, 0, 0, 0}, want_last[WIDE] = {3, 3, 3, 3, 3, 3};
    assert_memory_equal(first, want_first, sizeof want_first);
    assert_memory_equal(last, want_last, sizeof want_last);
    options.flags = 0;
    assert_fails(ctx, AGAIN(), APSIS_ERROR_ARGUMENT, "without APSIS_COMPLEMENT|apsis_slab_summary was with it");
    assert_fails(ctx, apsis_slab_distance(ctx, NULL, &slab, &other.image, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "distance: size[1] is 5|that of set is 4");
    assert_ok(ctx, apsis_slab_summary(ctx, NULL, 0, first, last, NULL)); /* back again */
    static const int64_t set_first[WIDE] = {INT64_MAX, 2, 1, 2, INT64_MAX, INT64_MAX}, set_last[WIDE] = {-1, 2, 2, 2, -1, -1};
    assert_memory_equal(first, set_first, sizeof set_first);
    assert_memory_equal(last, set_last, sizeof set_last);
    options.flags = APSIS_SIGNED;
    assert_ok(ctx, AGAIN());
    static const int32_t squares[WIDE * HIGH] = {5, 2, 1, 2, 5, 8, 2, 1, -1, 1, 2, 5, 1, -1, -1, -1, 1, 4, 2, 1, 1, 1, 2, 5};
    int32_t got[WIDE * HIGH];
    frame_get(&map, got);
    assert_memory_equal(got, squares, sizeof squares);
    options.flags = 0;
    FIND(); /* of the parts nothing is known */
    apsis_slab_labels labels = {.start = 0};
    assert_fails(ctx, apsis_slab_components(ctx, NULL, &labels, &map.image, NULL), APSIS_ERROR_ARGUMENT, "no apsis_slab_parts");
    assert_ok(ctx, apsis_slab_parts(ctx, &set.image, &labels, NULL));
    NOT_AGAIN();
    FIND();
    assert_fails(ctx, apsis_slab_summary(ctx, &set.image, -1, first, last, NULL), APSIS_ERROR_ARGUMENT, "start is -1");
    NOT_AGAIN();
    FIND();
    assert_ok(ctx, apsis_set_workspace(ctx, NULL, 0));
    NOT_AGAIN();
    assert_ok(ctx, apsis_slab_summary(ctx, &no_rows, 0, first, last, NULL));
    assert_ok(ctx, apsis_slab_distance(ctx, NULL, &slab, &no_map, NULL, NULL));
    FIND();
    apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {1 << 22, 1}};
    assert_ok(ctx, apsis_alloc(ctx, b->place == ON_CPU ? APSIS_HOST : APSIS_DEVICE, &memory));
    assert_ok(ctx, apsis_set_workspace(ctx, memory.data, 1 << 22));
    NOT_AGAIN();
    FIND();
    assert_fails(ctx, AGAIN(), APSIS_ERROR_ARGUMENT, "set is NULL|its workspace is one that you set");
    assert_ok(ctx, apsis_set_workspace(ctx, NULL, 0));
    apsis_free(ctx, &memory);
    frame_close(&set), frame_close(&map), frame_close(&other);
}

/** So many that threads look at pieces of them: the sentence is that of the first part that is wrong. */
static void many_parts(bench *b) {
    enum { SIDE = 400, PARTS = SIDE * SIDE / 2 };
    apsis_part *parts = must_alloc(PARTS * sizeof *parts);
    for (int64_t i = 0; i < PARTS; ++i) {
        const int64_t y = 2 * i / SIDE, x = 2 * i % SIDE + y % 2;
        parts[i] = (apsis_part){y * SIDE + x, 1, {x, y, 0}, {x, y, 0}, {x, y, 0}, 1};
    }
    apsis_context *const ctx = b->ctx;
    const int64_t size[2] = {SIDE, SIDE};
    int64_t count;
    apsis_slab_labels slab = {.rows = SIDE, .count = PARTS, .parts = parts, .capacity = PARTS};
#define JOIN() apsis_slab_join(ctx, 2, size, &slab, 1, parts, PARTS, &count, NULL)
    assert_ok(ctx, JOIN());
    assert_int_equal(count, PARTS);
    parts[70000].lower[0] = -1;
    assert_fails(ctx, JOIN(), APSIS_ERROR_ARGUMENT, "slabs[0]: parts[70000] has area 1");
    parts[66000].area = 0;
    assert_fails(ctx, JOIN(), APSIS_ERROR_ARGUMENT, "slabs[0]: parts[66000] has area 0");
    parts[65536].first = parts[65535].first;
    assert_fails(ctx, JOIN(), APSIS_ERROR_ARGUMENT, "slabs[0]: parts[65536]|behind the one before it");
    parts[10] = (apsis_part){20, PARTS + 1, {20, 0, 0}, {20, 0, 0}, {20 * (PARTS + 1), 0, 0}, 1};
    assert_fails(ctx, JOIN(), APSIS_ERROR_ARGUMENT, "slabs[0]: parts[65536]");
    for (int64_t i = 65536; i < PARTS; ++i) {
        const int64_t y = 2 * i / SIDE, x = 2 * i % SIDE + y % 2;
        parts[i] = (apsis_part){y * SIDE + x, 1, {x, y, 0}, {x, y, 0}, {x, y, 0}, 1};
    }
    assert_ok(ctx, JOIN()); /* as many pixels as there are */
    parts[10].area += 1, parts[10].sum[0] += 20;
    assert_fails(ctx, JOIN(), APSIS_ERROR_ARGUMENT, "slabs[0]: parts[79999] has area 1");
    free(parts);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(the_slab_before, EVERYWHERE), TEST(the_set_before, EVERYWHERE),
                                      TEST(many_parts, ON_CPU)};
    return RUN_CASES(cases, argc, argv);
}
