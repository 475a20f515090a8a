/* Faces of slabs in the memory of a device: whatever is done with them, the bytes are those of faces in host memory, and labels
 * those of the whole image. */
#include "cuts.h"
#include "periodic.h"
#include "run_components.h"

/* ---- Slabs with faces in both memories ---- */

typedef struct both {
    apsis_slab_labels device[MOST_SLABS], host[MOST_SLABS];
    apsis_image face[MOST_SLABS][2]; /* of the device: first, last */
    int slabs;
    int64_t columns;
} both;

static apsis_image row_of(int64_t columns) { return (apsis_image){.type = APSIS_I64, .ndim = 2, .size = {columns, 1}}; }

static void get(bench *b, const apsis_image *from, int64_t *to) {
    apsis_image row = row_of(from->size[0]);
    row.data = to;
    assert_ok(b->ctx, apsis_copy(b->ctx, from, &row));
}

static void put(bench *b, int64_t *from, const apsis_image *to) {
    apsis_image row = row_of(to->size[0]);
    row.data = from;
    assert_ok(b->ctx, apsis_copy(b->ctx, &row, to));
    assert_ok(b->ctx, apsis_sync(b->ctx));
}

static int64_t **face_of(apsis_slab_labels *slab, int side) { return side ? &slab->last : &slab->first; }

/** Gives each slab two faces in each memory; `all` is false if the image's ends may be left out. */
static both *take_faces(bench *b, const cut *at, int64_t columns, bool all, chance *c) {
    static both two;
    two = (both){.slabs = at->slabs, .columns = columns};
    for (int k = 0; k < at->slabs; ++k) {
        two.device[k].start = two.host[k].start = at->start[k];
        two.device[k].rows = two.host[k].rows = at->start[k + 1] - at->start[k];
        for (int side = 0; side < 2; ++side) {
            const bool at_end = side ? at->start[k + 1] == at->start[at->slabs] : at->start[k] == 0;
            if (!all && at_end && roll_below(c, 2)) continue;
            two.face[k][side] = row_of(columns);
            assert_ok(b->ctx, apsis_alloc(b->ctx, APSIS_DEVICE, &two.face[k][side]));
            *face_of(&two.device[k], side) = two.face[k][side].data;
            *face_of(&two.host[k], side) = must_alloc((size_t)(columns + 1) * sizeof(int64_t));
        }
    }
    return &two;
}

static void free_faces(bench *b, both *two) {
    for (int k = 0; k < two->slabs; ++k)
        for (int side = 0; side < 2; ++side) {
            apsis_free(b->ctx, &two->face[k][side]);
            free(*face_of(&two->host[k], side));
        }
}

/** Whether faces in both memories hold the same. */
static bool are_same(bench *b, const both *two) {
    int64_t *const row = must_alloc((size_t)(two->columns + 1) * sizeof *row);
    bool same = true;
    for (int k = 0; k < two->slabs; ++k)
        for (int side = 0; side < 2; ++side) {
            const int64_t *const want = side ? two->host[k].last : two->host[k].first;
            if (!want) continue;
            get(b, &two->face[k][side], row);
            same = same && !memcmp(row, want, (size_t)two->columns * sizeof *row);
        }
    free(row);
    return same;
}

/** Slabs tell both. */
static both *ask_slabs(bench *b, const problem *p, const cut *at, chance *c) {
    both *two = take_faces(b, at, columns_of(p), is_periodic(p, p->ndim - 1), c);
    for (int k = 0; k < at->slabs; ++k) {
        const problem slab = slab_of(p, at, k);
        frame set = frame_open(b, APSIS_U8, slab.ndim, slab.size, PACKED);
        frame_put(&set, slab.mask);
        assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, &two->host[k], &p->options));
        assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, &two->device[k], &p->options));
        assert_int_equal(two->device[k].count, two->host[k].count);
        frame_close(&set);
    }
    assert_true(are_same(b, two));
    return two;
}

static int joined_on_device;

static void count_joins(void *user, const char *line) {
    (void)user;
    joined_on_device += !strncmp(line, "slab join: ", 11);
}

/** Joins both, by the device and by the host: the counts, or the errors, are the same, and what slabs are told.  Returns how
 *  many components there are; -1: it has failed, and faces are as they were. */
static int64_t join_both(bench *b, int ndim, const int64_t *size, both *two, const apsis_options *options) {
    int64_t count[2] = {-1, -1};
    char text[2][256] = {"", ""};
    joined_on_device = 0;
    assert_ok(b->ctx, apsis_set_log(b->ctx, count_joins, NULL));
    for (int way = 0; way < 2; ++way) {
        apsis_slab_labels *const slabs = way ? two->host : two->device;
        const apsis_status got = apsis_slab_join(b->ctx, ndim, size, slabs, two->slabs, NULL, 0, &count[way], options);
        if (got != APSIS_OK) snprintf(text[way], sizeof *text, "%s", apsis_message(b->ctx));
        assert_true(got == APSIS_OK || got == APSIS_ERROR_ARGUMENT);
        assert_int_equal(count[way] >= 0, got == APSIS_OK);
    }
    assert_ok(b->ctx, apsis_set_log(b->ctx, NULL, NULL));
    assert_string_equal(text[0], text[1]);
    assert_int_equal(count[0], count[1]);
    assert_true(are_same(b, two));
    for (int k = 0; k < two->slabs; ++k) assert_int_equal(two->device[k].before, two->host[k].before);
    return count[0];
}

/** Whether faces are joined on the device here: the fake one has no kernels for it. */
static bool joins(const bench *b) { return strcmp(apsis_device_name(b->ctx), "fake device") != 0; }

/** The labels of a slab that was told on the device. */
static void label_slab(bench *b, const problem *p, const cut *at, int k, const both *two, int32_t *labels) {
    const problem slab = slab_of(p, at, k);
    frame set = frame_open(b, APSIS_U8, slab.ndim, slab.size, PACKED);
    frame out = frame_open(b, APSIS_I32, slab.ndim, slab.size, PACKED);
    frame_put(&set, slab.mask);
    assert_ok(b->ctx, apsis_slab_components(b->ctx, &set.image, &two->device[k], &out.image, &p->options));
    frame_get(&out, labels + at->start[k] * columns_of(p));
    frame_close(&set), frame_close(&out);
}

/* ---- Every cut, and random ones ---- */

static void check_cut(bench *b, const problem *p, const pieces *whole, const cut *at, chance *c) {
    both *two = ask_slabs(b, p, at, c);
    bool has_faces = false;
    for (int k = 0; k < at->slabs; ++k)
        has_faces = has_faces || (two->device[k].rows > 0 && (two->device[k].first || two->device[k].last));
    const int64_t count = join_both(b, p->ndim, p->size, two, &p->options);
    assert_int_equal(joined_on_device, joins(b) && has_faces && columns_of(p) > 0);
    if (count != whole->count) fail_at(at, "the count");
    int32_t *labels = must_alloc((size_t)(pixels_of(p) + 1) * sizeof *labels);
    for (int k = 0; k < at->slabs; ++k) label_slab(b, p, at, k, two, labels);
    if (memcmp(labels, whole->labels, (size_t)pixels_of(p) * sizeof *labels)) fail_at(at, "a label");
    free(labels);
    free_faces(b, two);
}

static void check_every_cut(bench *b, const problem *p, chance *c) {
    pieces whole = run_components(b, p, &LABELS);
    for (unsigned cuts = 0; cuts < 1u << (rows_of(p) - 1); ++cuts) {
        const cut at = cut_of(cuts, rows_of(p));
        check_cut(b, p, &whole, &at, c);
    }
    free_pieces(&whole);
}

static void every_cut_of_every_3x4(bench *b) {
    chance c = {1};
    uint8_t mask[12];
    for (int i = 0; i < 4096; i += mask_step(b, 4096, 127)) {
        for (int k = 0; k < 12; ++k) mask[k] = i >> k & 1;
        for (int connectivity = 1; connectivity <= 2; ++connectivity) {
            problem p = new_problem(2, 3, 4, 1, mask);
            p.options.connectivity = connectivity;
            p.options.flags = periodic_flags(i % 4);
            check_every_cut(b, &p, &c);
        }
    }
}

/** What a pixel meets behind the seam is not that which the pixel before it has met, though both are of one component. */
static void behind_the_seam(bench *b) {
    chance c = {7};
    uint8_t mask[4 * 3];
    draw(mask, "#..#", "#...", "..##", NULL);
    problem p = new_problem(2, 4, 3, 1, mask);
    p.options.connectivity = 2;
    p.options.flags = APSIS_PERIODIC_X;
    check_every_cut(b, &p, &c);
}

static void every_cut_of_volumes(bench *b) {
    chance c = {2};
    uint8_t mask[3 * 3 * 5];
    for (int i = 0; i < effort(300); ++i) {
        const int64_t size[3] = {1 + roll_below(&c, 3), 1 + roll_below(&c, 3), 1 + roll_below(&c, 5)};
        fill_mask(mask, size, NOISE, 0.2 + 0.5 * roll_real(&c), &c);
        problem p = new_problem(3, size[0], size[1], size[2], mask);
        p.options.connectivity = 1 + i % 3;
        if (i % 2) draw_periodic(&p, &c);
        check_every_cut(b, &p, &c);
    }
}

/** Slabs without rows among them. */
static void random_cuts(bench *b) {
    static const int64_t sizes[] = {1, 2, 5, 13, 31, 32, 33, 65, 128, 200, 300, 1000};
    chance c = {3};
    for (int i = 0; i < effort(400); ++i) {
        problem p = new_problem(2 + i % 2, 1, 1, 1, NULL);
        do
            for (int a = 0; a < p.ndim; ++a) p.size[a] = sizes[roll_below(&c, COUNT(sizes))];
        while (pixels_of(&p) > (i % 5 ? 3000 : 60000));
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, i % 3 ? NOISE : (int)roll_below(&c, MASK_KINDS), 0.1 + 0.6 * roll_real(&c), &c);
        p.mask = mask;
        p.options.connectivity = 1 + (int32_t)roll_below(&c, p.ndim);
        p.options.flags = roll_below(&c, 3) ? 0 : APSIS_COMPLEMENT;
        if (i % 4 == 0) draw_periodic(&p, &c);
        pieces whole = run_components(b, &p, &LABELS);
        for (int k = 0; k < 2; ++k) {
            const cut at = choose_cut(&c, rows_of(&p));
            check_cut(b, &p, &whole, &at, &c);
        }
        free_pieces(&whole);
        free(mask);
    }
}

/* ---- What the host joins, and two slabs that cases below spoil ---- */

enum { WIDE = 6, HIGH = 4 };
static const int64_t SIZE[3] = {WIDE, HIGH, 1};
static uint8_t rows[WIDE * HIGH];

static problem two_by_two(void) {
    draw(rows, "#.#..#", "#.#.#.", "#..#.#", "####..", NULL);
    return new_problem(2, WIDE, HIGH, 1, rows);
}

static both *ask_both(bench *b) {
    const problem p = two_by_two();
    const cut at = cut_of(2, HIGH);
    chance c = {1};
    both *two = NULL;
    do {
        if (two) free_faces(b, two);
        two = ask_slabs(b, &p, &at, &c);
    } while (!two->device[0].first || !two->device[1].last);
    return two;
}

/** Parts, selections, numbers, and faces some of which are in host memory. */
static void joined_by_the_host(bench *b) {
    for (int i = 0; i < 5; ++i) {
        both *two = ask_both(b);
        apsis_options options = APSIS_OPTIONS_INIT;
        apsis_part parts[2][2][4], all[2][6];
        int64_t numbers[2][2][4], count[2];
        if (i == 1) options.largest = 2;
        for (int way = 0; way < 2; ++way) {
            apsis_slab_labels *const slabs = way ? two->host : two->device;
            for (int k = 0; k < 2; ++k) {
                const problem p = two_by_two(), slab = slab_of(&p, &(cut){2, {0, 2, 4}}, k);
                frame set = frame_open(b, APSIS_U8, 2, slab.size, PACKED);
                frame_put(&set, slab.mask);
                if (i < 2) slabs[k].parts = parts[way][k], slabs[k].capacity = 4;
                assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, &slabs[k], NULL));
                if (i > 0 && i < 3) slabs[k].numbers = numbers[way][k];
                frame_close(&set);
            }
        }
        int64_t on_host[WIDE];
        if (i == 3) get(b, &two->face[1][0], two->device[1].first = on_host);
        joined_on_device = 0;
        assert_ok(b->ctx, apsis_set_log(b->ctx, count_joins, NULL));
        for (int way = 0; way < 2; ++way)
            assert_ok(b->ctx, apsis_slab_join(b->ctx, 2, SIZE, way ? two->host : two->device, 2, i ? NULL : all[way], i ? 0 : 6,
                                              &count[way], &options));
        assert_ok(b->ctx, apsis_set_log(b->ctx, NULL, NULL));
        assert_int_equal(joined_on_device, i == 4 && joins(b));
        assert_int_equal(count[0], count[1]);
        if (i == 0) assert_memory_equal(all[0], all[1], (size_t)count[0] * sizeof **all);
        for (int k = 0; k < 2 && i > 0 && i < 3; ++k)
            assert_memory_equal(numbers[0][k], numbers[1][k], (size_t)two->host[k].count * sizeof **numbers[0]);
        if (i == 3) put(b, on_host, &two->face[1][0]);
        assert_true(are_same(b, two));
        free_faces(b, two);
    }
}

/** Slabs that became one pass on what that one was told; its own faces may be on the device, too. */
static void renumbered(bench *b) {
    for (int i = 0; i < 2; ++i) {
        both *two = ask_both(b);
        int64_t first[WIDE] = {11, 0, -7, 0, 0, 12}, last[WIDE] = {11, 11, 11, 11, 0, 0};
        apsis_slab_labels whole = {.rows = 4, .count = 5, .before = 10, .first = first, .last = last};
        apsis_image own = row_of(WIDE);
        assert_int_equal(join_both(b, 2, SIZE, two, NULL), 5);
        assert_ok(b->ctx, apsis_slab_renumber(b->ctx, WIDE, &whole, two->host, 2));
        assert_ok(b->ctx, apsis_alloc(b->ctx, APSIS_DEVICE, &own));
        put(b, first, &own);
        if (i) whole.first = own.data;
        assert_ok(b->ctx, apsis_slab_renumber(b->ctx, WIDE, &whole, two->device, 2));
        assert_true(are_same(b, two) && two->host[1].before == two->device[1].before);
        first[2] = -16;
        put(b, first, &own);
        assert_fails(b->ctx, apsis_slab_renumber(b->ctx, WIDE, &whole, two->device, 2), APSIS_ERROR_ARGUMENT,
                     i ? "joined: first[2] is -16|-15 to 15" : "joined: first[2] is -16");
        apsis_free(b->ctx, &own);
        free_faces(b, two);
    }
}

/** Numbers that cannot be, and such as no set has: the answer, or the error, is the host's. */
static void damaged_faces(bench *b) {
    static const int64_t odd[] = {INT64_MIN, INT64_MIN + 1, -5, -1, 0, 1, 2, 3, 4, 5, (int64_t)1 << 33, INT64_MAX};
    chance c = {4};
    int failed = 0, passed = 0;
    for (int i = 0; i < effort(1500); ++i) {
        both *two = ask_both(b);
        for (int64_t n = 1 + roll_below(&c, 3); n > 0; --n) {
            const int k = (int)roll_below(&c, 2), side = (int)roll_below(&c, 2);
            int64_t *const face = *face_of(&two->host[k], side);
            if (roll_below(&c, 3) == 0)
                for (int x = 0; x < WIDE; ++x) face[x] = 1 + roll_below(&c, x + 1); /* no set has so many side by side */
            face[roll_below(&c, WIDE)] = odd[roll_below(&c, COUNT(odd))];
            put(b, face, &two->face[k][side]);
        }
        if (roll_below(&c, 3) == 0)
            for (int k = 0; k < 2; ++k) two->host[k].count = two->device[k].count = WIDE;
        ++*(join_both(b, 2, SIZE, two, NULL) < 0 ? &failed : &passed);
        free_faces(b, two);
    }
    assert_true(failed > 0 && passed > 0);
}

/** What is wrong is told as of faces in host memory. */
static void bad_faces(bench *b) {
    both *two = ask_both(b);
    const struct {
        int k, side, x;
        int64_t number;
        const char *text;
    } cases[] = {{0, 1, 2, -5, "slabs[0]: last[2] is -5|-4 to 4"},
                 {0, 1, 2, INT64_MIN, "slabs[0]: last[2]"},
                 {1, 0, 5, 3, "slabs[1]: first[5] is 3|-2 to 2"},
                 {0, 0, 2, -4, "slabs[0]: first[2] is -4|before it is 1"},
                 {1, 0, 0, 2, "slabs[1]: first[0] is 2|before it is 0"}};
    for (int i = 0; i < COUNT(cases); ++i) {
        int64_t *const face = *face_of(&two->host[cases[i].k], cases[i].side), was = face[cases[i].x];
        face[cases[i].x] = cases[i].number;
        put(b, face, &two->face[cases[i].k][cases[i].side]);
        assert_fails(b->ctx, apsis_slab_join(b->ctx, 2, SIZE, two->device, 2, NULL, 0, NULL, NULL), APSIS_ERROR_ARGUMENT,
                     cases[i].text);
        assert_true(are_same(b, two));
        face[cases[i].x] = was;
        put(b, face, &two->face[cases[i].k][cases[i].side]);
    }
    int64_t *const last = two->device[0].last;
    two->device[0].last = two->device[1].first;
    assert_fails(b->ctx, apsis_slab_join(b->ctx, 2, SIZE, two->device, 2, NULL, 0, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "slabs[1]: first overlaps slabs[0]: last");
    two->device[0].last = last;
    assert_int_equal(join_both(b, 2, SIZE, two, NULL), 5);
    free_faces(b, two);
}

/** Labels of a slab whose faces hold anything are of no use; no more. */
static void damaged_answers(bench *b) {
    chance c = {5};
    uint8_t mask[WIDE * HIGH];
    frame set = frame_open(b, APSIS_U8, 2, SIZE, PACKED), labels = frame_open(b, APSIS_I64, 2, SIZE, PACKED);
    both *two = take_faces(b, &(cut){1, {0, HIGH}}, WIDE, true, &c);
    for (int i = 0; i < effort(300); ++i) {
        fill_mask(mask, SIZE, NOISE, roll_real(&c), &c);
        frame_put(&set, mask);
        for (int side = 0; side < 2; ++side) {
            int64_t *const face = *face_of(&two->host[0], side);
            for (int x = 0; x < WIDE; ++x) face[x] = (int64_t)(roll(&c) >> 1 >> roll_below(&c, 62)) * (roll_below(&c, 3) - 1);
            put(b, face, &two->face[0][side]);
        }
        two->device[0].count = roll_below(&c, 13), two->device[0].before = roll_below(&c, 3);
        const apsis_status got = apsis_slab_components(b->ctx, &set.image, &two->device[0], &labels.image, NULL);
        assert_true(got == APSIS_OK || got == APSIS_ERROR_ARGUMENT);
    }
    free_faces(b, two);
    frame_close(&set), frame_close(&labels);
}

/* ---- Memory ---- */

/** What was found of a slab stays, though its context joins on the device, and its workspace grows. */
static void found_before_a_join(bench *b) {
    const problem p = two_by_two();
    for (int grown = 0; grown < 2; ++grown) {
        both *two = ask_both(b);
        frame set = frame_open(b, APSIS_U8, 2, (const int64_t[3]){WIDE, 2, 1}, PACKED);
        frame labels = frame_open(b, APSIS_I32, 2, (const int64_t[3]){WIDE, 2, 1}, PACKED);
        frame_put(&set, p.mask + 2 * WIDE);
        if (!grown) assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, &two->device[1], NULL));
        assert_int_equal(join_both(b, 2, SIZE, two, NULL), 5);
        assert_ok(b->ctx, apsis_slab_components(b->ctx, NULL, &two->device[1], &labels.image, NULL));
        static const int32_t want[2 * WIDE] = {1, 0, 0, 1, 0, 5, 1, 1, 1, 1, 0, 0};
        int32_t got[2 * WIDE];
        frame_get(&labels, got);
        assert_memory_equal(got, want, sizeof want);
        frame_close(&set), frame_close(&labels);
        free_faces(b, two);
    }
}

/** A workspace of the caller's serves, if it is large enough. */
static void a_workspace(bench *b) {
    both *two = ask_both(b);
    apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {1 << 20, 1}};
    assert_ok(b->ctx, apsis_alloc(b->ctx, APSIS_DEVICE, &memory));
    assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, 256));
    const apsis_status got = apsis_slab_join(b->ctx, 2, SIZE, two->device, 2, NULL, 0, NULL, NULL);
    assert_int_equal(got, joins(b) ? APSIS_ERROR_WORKSPACE : APSIS_OK);
    if (!joins(b)) assert_ok(b->ctx, apsis_slab_join(b->ctx, 2, SIZE, two->host, 2, NULL, 0, NULL, NULL));
    assert_true(are_same(b, two));
    assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, 1 << 20));
    if (joins(b)) assert_int_equal(join_both(b, 2, SIZE, two, NULL), 5);
    assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
    apsis_free(b->ctx, &memory);
    free_faces(b, two);
}

/** There may be columns, without rows; then faces are 0. */
static void no_rows(bench *b) {
    chance c = {6};
    both *two = take_faces(b, &(cut){1, {0, 0}}, WIDE, true, &c);
    const apsis_image set = {.type = APSIS_BIT, .ndim = 2, .size = {WIDE, 0}};
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set, &two->device[0], NULL));
    memset(two->host[0].first, 0, WIDE * sizeof(int64_t)), memset(two->host[0].last, 0, WIDE * sizeof(int64_t));
    assert_true(are_same(b, two));
    assert_int_equal(join_both(b, 2, (const int64_t[2]){WIDE, 0}, two, NULL), 0);
    free_faces(b, two);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_cut_of_every_3x4, ON_DEVICE),
                                      TEST(every_cut_of_volumes, ON_DEVICE),
                                      TEST(random_cuts, WITH_DEVICE),
                                      TEST(behind_the_seam, ON_DEVICE),
                                      TEST(joined_by_the_host, ON_DEVICE),
                                      TEST(renumbered, ON_DEVICE),
                                      TEST(damaged_faces, ON_DEVICE),
                                      TEST(bad_faces, ON_DEVICE),
                                      TEST(damaged_answers, ON_DEVICE),
                                      TEST(found_before_a_join, ON_DEVICE),
                                      TEST(a_workspace, ON_DEVICE),
                                      TEST(no_rows, ON_DEVICE)};
    return RUN_CASES(cases, argc, argv);
}
