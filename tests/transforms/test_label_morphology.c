/* apsis_morphology of label images: against sets, value by value, and the cells of apsis_voronoi. */
#include <math.h>

#include <apsis_measures.h>

#include "run_labels.h"

enum { OPERATIONS = 4, VALUES = 5 };

typedef struct question {
    problem p; /* a byte of its mask stands for a value; VALUES of them at most */
    apsis_operation operation;
    double radius;
    apsis_type set, result;
    unsigned layout;
} question;

static frame open_set(bench *b, const problem *p, apsis_type type, unsigned layout) {
    frame set = frame_open(b, type, p->ndim, p->size, layout);
    put_set(&set, p);
    return set;
}

/** The pixels of a result as numbers, to be freed. */
static int64_t *numbers_of(frame *result, int64_t pixels) {
    const size_t each = type_size(result->image.type);
    uint8_t *bytes = must_alloc((size_t)(result->count + 8) * 8);
    int64_t *numbers = must_alloc((size_t)(pixels + 1) * sizeof *numbers);
    frame_get(result, bytes);
    for (int64_t i = 0; i < pixels; ++i) {
        int32_t narrow;
        memcpy(&narrow, bytes + (size_t)i * each, each < 4 ? each : 4);
        if (each == 8) memcpy(&numbers[i], bytes + 8 * i, 8);
        if (each < 8) numbers[i] = each == 1 ? (uint8_t)narrow : narrow;
    }
    free(bytes);
    frame_close(result);
    return numbers;
}

static int64_t *run_morphology(bench *b, const question *q) {
    const problem *p = &q->p;
    frame set = open_set(b, p, q->set, q->layout), result = frame_open(b, q->result, p->ndim, p->size, q->layout);
    assert_ok(b->ctx, apsis_morphology(b->ctx, q->operation, q->radius, &set.image, &result.image, &p->options));
    frame_assert_unchanged(&set);
    frame_close(&set);
    return numbers_of(&result, pixels_of(p));
}

/** What becomes of the set of one byte, or as byte 0 of all others. */
static int64_t *run_set(bench *b, const question *q, uint8_t byte, apsis_operation operation) {
    const int64_t pixels = pixels_of(&q->p);
    uint8_t *mask = must_alloc((size_t)pixels + 1);
    for (int64_t i = 0; i < pixels; ++i) mask[i] = byte ? q->p.mask[i] == byte : q->p.mask[i] != 0;
    question one = *q;
    one.p.mask = mask;
    one.p.options.flags &= ~(uint32_t)APSIS_LABELS;
    one.operation = operation, one.set = one.result = APSIS_U8;
    int64_t *found = run_morphology(b, &one);
    free(mask);
    return found;
}

static int64_t *run_cells(bench *b, const question *q) {
    const problem *p = &q->p;
    frame set = open_set(b, p, q->set, PACKED), cells = frame_open(b, APSIS_I64, p->ndim, p->size, PACKED);
    apsis_options options = p->options;
    options.flags &= ~(uint32_t)APSIS_BORDER;
    assert_ok(b->ctx, apsis_voronoi(b->ctx, &set.image, &cells.image, &options));
    frame_assert_unchanged(&set);
    frame_close(&set);
    return numbers_of(&cells, pixels_of(p));
}

static void check_labels(bench *b, const question *q) {
    const int64_t pixels = pixels_of(&q->p);
    int64_t *got = run_morphology(b, q), *want = must_alloc((size_t)(pixels + 1) * sizeof *want);
    memset(want, 0, (size_t)pixels * sizeof *want);
    if (q->operation == APSIS_ERODE || q->operation == APSIS_OPEN) {
        for (int v = 1; v <= VALUES; ++v) {
            int64_t *left = run_set(b, q, (uint8_t)v, q->operation);
            for (int64_t i = 0; i < pixels; ++i) want[i] += left[i] ? value_of_byte(q->set, (uint8_t)v) : 0;
            free(left);
        }
    } else {
        int64_t *covered = run_set(b, q, 0, q->operation), *cells = run_cells(b, q);
        for (int64_t i = 0; i < pixels; ++i) want[i] = covered[i] ? cells[i] : 0;
        free(covered);
        free(cells);
    }
    for (int64_t i = 0; i < pixels; ++i) {
        if (got[i] == want[i]) continue;
        char text[256];
        describe(&q->p, text, sizeof text);
        print_error("%s, operation %d, radius %.17g\n  result at (%lld, %lld, %lld) is %lld, but should be %lld\n", text,
                    (int)q->operation, q->radius, (long long)(i % q->p.size[0]), (long long)(i / q->p.size[0] % q->p.size[1]),
                    (long long)(i / q->p.size[0] / q->p.size[1]), (long long)got[i], (long long)want[i]);
        fail();
    }
    free(got);
    free(want);
}

static bool is_refused(const question *q) {
    const bool measures_labels = q->operation == APSIS_ERODE || q->operation == APSIS_OPEN;
    return (q->p.options.flags & APSIS_BORDER && q->operation == APSIS_CLOSE) ||
           (q->p.options.metric == APSIS_CHESSBOARD && measures_labels);
}

static void check_random(bench *b, uint64_t seed, int count) {
    static const double radii[] = {0, 1, 1.5, 2, 3.7, 10, 30, INFINITY};
    static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD};
    chance c = {seed};
    for (int i = 0; i < count; ++i) {
        uint8_t *mask;
        question q;
        q.p = draw_labels(&c, &mask);
        q.operation = (apsis_operation)roll_below(&c, OPERATIONS), q.radius = radii[roll_below(&c, COUNT(radii))];
        problem *p = &q.p;
        for (int64_t k = 0; k < pixels_of(p); ++k) mask[k] = mask[k] ? (uint8_t)(1 + mask[k] % VALUES) : 0;
        p->options.flags = APSIS_LABELS;
        p->options.metric = metrics[roll_below(&c, COUNT(metrics))];
        if (p->ndim == 3 && roll_below(&c, 3) == 0) p->options.flags |= APSIS_SLICES;
        if (roll_below(&c, 4) == 0) p->options.flags |= APSIS_BORDER;
        if (roll_below(&c, 4) == 0 && p->options.metric != APSIS_CHESSBOARD) set_spacing(p, 1, 2, 3, 0.5);
        q.set = label_types[roll_below(&c, COUNT(label_types))];
        q.result = q.set == APSIS_I64 || roll_below(&c, 2) ? APSIS_I64 : APSIS_I32;
        q.layout = roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED;
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        if (!is_refused(&q)) check_labels(b, &q);
        free(mask);
    }
}

static void random_labels(bench *b) { check_random(b, 2711, effort(300)); }

static void random_labels_on_several_devices(bench *b) {
    const int devices[3] = {b->device, b->device, b->device};
    bench many = *b;
    assert_ok(NULL, apsis_create_devices(APSIS_VERSION, devices, 3, &many.ctx));
    check_random(&many, 2712, effort(150));
    apsis_destroy(many.ctx);
}

/** Of bits there is one value. */
static void bits_are_a_set(bench *b) {
    uint8_t mask[40 * 9];
    chance c = {2713};
    fill_mask(mask, (const int64_t[3]){40, 9, 1}, NOISE, 0.8, &c);
    for (int k = 0; k < OPERATIONS; ++k) {
        question q = {new_problem(2, 40, 9, 1, mask), (apsis_operation)k, 1.5, APSIS_BIT, APSIS_I32, PACKED};
        q.p.options.flags = APSIS_LABELS;
        int64_t *got = run_morphology(b, &q), *want = run_set(b, &q, 0, q.operation);
        assert_memory_equal(got, want, sizeof(int64_t) * COUNT(mask));
        free(got);
        free(want);
    }
}

/** By eye: two labels that touch, a gap of one pixel, and a line that no ball fits in. */
static void by_eye(bench *b) {
    static const uint8_t labels[4 * 9] = {1, 1, 1, 2, 2, 2, 0, 3, 3, 1, 1, 1, 2, 2, 2, 0, 3, 3,
                                          1, 1, 1, 2, 2, 2, 0, 3, 3, 0, 0, 4, 0, 0, 0, 0, 0, 0};
    static const int32_t want[OPERATIONS][4 * 9] = {
        {1, 1, 1, 2, 2, 2, 2, 3, 3, 1, 1, 1, 2, 2, 2, 2, 3, 3, 1, 1, 1, 2, 2, 2, 2, 3, 3, 1, 1, 4, 2, 2, 2, 0, 3, 3},
        {1, 1, 0, 0, 2, 0, 0, 0, 3, 1, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {1, 1, 1, 2, 2, 2, 0, 3, 3, 1, 1, 1, 2, 2, 2, 0, 3, 3, 1, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {1, 1, 1, 2, 2, 2, 2, 3, 3, 1, 1, 1, 2, 2, 2, 2, 3, 3, 1, 1, 1, 2, 2, 2, 0, 3, 3, 1, 1, 4, 2, 2, 0, 0, 0, 3}};
    for (int k = 0; k < OPERATIONS; ++k) {
        question q = {new_problem(2, 9, 4, 1, labels), (apsis_operation)k, 1, APSIS_U8, APSIS_I32, PACKED};
        q.p.options.flags = APSIS_LABELS;
        int64_t *got = run_morphology(b, &q);
        for (int i = 0; i < 4 * 9; ++i) assert_int_equal(got[i], want[k][i]);
        free(got);
    }
}

static void bad_calls(bench *b) {
    uint8_t pixels[16] = {1};
    int32_t labels[16] = {0};
    int64_t wide[16] = {0};
    const apsis_image set = {.data = pixels, .type = APSIS_U8, .ndim = 2, .size = {4, 4}};
    apsis_image result = set, other = set;
    result.data = labels, result.type = APSIS_I32;
    apsis_options options = APSIS_OPTIONS_INIT;
#define REFUSED(operation, in, out, status, text) \
    assert_fails(b->ctx, apsis_morphology(b->ctx, operation, 1, in, out, &options), status, text)
    options.flags = APSIS_LABELS;
    REFUSED(APSIS_ERODE, &set, &other, APSIS_ERROR_ARGUMENT, "result: type is APSIS_U8|APSIS_I32 or APSIS_I64");
    other.data = wide, other.type = APSIS_I64;
    REFUSED(APSIS_ERODE, &other, &result, APSIS_ERROR_RANGE, "result: type is APSIS_I32|labels of set are APSIS_I64");
    REFUSED(APSIS_CLOSE, &other, &result, APSIS_ERROR_RANGE, "result: type is APSIS_I32|labels of set are APSIS_I64");
    options.flags = APSIS_LABELS | APSIS_COMPLEMENT;
    REFUSED(APSIS_ERODE, &set, &result, APSIS_ERROR_ARGUMENT, "APSIS_LABELS|APSIS_COMPLEMENT");
    options.flags = APSIS_LABELS | APSIS_BORDER;
    REFUSED(APSIS_CLOSE, &set, &result, APSIS_ERROR_UNSUPPORTED, "APSIS_BORDER|close labels|margin");
    options.flags = APSIS_LABELS, options.metric = APSIS_CHESSBOARD;
    REFUSED(APSIS_OPEN, &set, &result, APSIS_ERROR_UNSUPPORTED, "APSIS_CHESSBOARD|label images");
    for (int i = 0; i < 16; ++i) assert_int_equal(labels[i], 0);
    assert_ok(b->ctx, apsis_morphology(b->ctx, APSIS_DILATE, 1, &set, &result, &options));
    assert_int_equal(labels[5], 1);
}

static void images_apart(bench *b) {
    frame set = frame_open(b, APSIS_U8, 2, (const int64_t[3]){4, 4, 1}, PACKED);
    int32_t labels[16] = {0};
    const apsis_image result = {.data = labels, .type = APSIS_I32, .ndim = 2, .size = {4, 4}};
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_LABELS;
    assert_fails(b->ctx, apsis_morphology(b->ctx, APSIS_ERODE, 1, &set.image, &result, &options), APSIS_ERROR_UNSUPPORTED,
                 "result is in host memory|set is in device memory|APSIS_LABELS");
    frame_close(&set);
}

/** The size that is told suffices for every operation, and less does not. */
static void workspaces(bench *b) {
    for (int n = 0; n < 12; ++n) {
        const int64_t size[3] = {n & 1 ? 300 : 30, 40, n & 2 ? 10 : 1};
        uint8_t *mask = must_alloc((size_t)(size[0] * size[1] * size[2]));
        chance c = {2714};
        fill_cells(mask, size, &c);
        problem p = new_problem(n & 2 ? 3 : 2, size[0], size[1], size[2], mask);
        p.options.flags = APSIS_LABELS | (n & 4 ? APSIS_BORDER : 0);
        if (n & 8) p.options.metric = APSIS_CHESSBOARD;
        frame set = open_set(b, &p, APSIS_U8, PACKED), result = frame_open(b, APSIS_I32, p.ndim, size, PACKED);
        const apsis_image *images[2] = {&set.image, &result.image};
        size_t bytes;
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_MORPHOLOGY, images, 2, &p.options, &bytes));
        apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
        assert_ok(b->ctx, apsis_alloc(b->ctx, b->place == ON_CPU ? APSIS_HOST : APSIS_DEVICE, &memory));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes));
        for (int k = 0; k < OPERATIONS; ++k) {
            question q = {p, (apsis_operation)k, 3, APSIS_U8, APSIS_I32, PACKED};
            if (is_refused(&q)) continue;
            assert_ok(b->ctx, apsis_morphology(b->ctx, q.operation, 3, &set.image, &result.image, &p.options));
            assert_ok(b->ctx, apsis_sync(b->ctx));
        }
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, 256));
        assert_fails(b->ctx, apsis_morphology(b->ctx, APSIS_DILATE, 3, &set.image, &result.image, &p.options),
                     APSIS_ERROR_WORKSPACE, "workspace");
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        frame_close(&set);
        frame_close(&result);
        apsis_free(b->ctx, &memory);
        free(mask);
    }
}

/** Rows of more pixels than a block has at once, one after the other or apart. */
static void wide_rows(bench *b) {
    static uint8_t mask[4101 * 3];
    chance c = {2717};
    for (int i = 0; i < COUNT(mask); ++i) mask[i] = (uint8_t)(i / 7 % 3 ? 1 + roll_below(&c, VALUES) : 0);
    for (unsigned layout = 0; layout < LAYOUTS; ++layout)
        for (int k = 0; k < OPERATIONS; ++k) {
            question q = {new_problem(2, 4101, 3, 1, mask), (apsis_operation)k, 1.5, APSIS_U16, APSIS_I32, layout};
            q.p.options.flags = APSIS_LABELS;
            check_labels(b, &q);
        }
}

static int note_rise(void *last, double done) {
    assert_true(done >= *(double *)last && done <= 1);
    *(double *)last = done;
    return 0;
}

static void progress_of_each(bench *b) {
    uint8_t mask[90 * 70];
    chance c = {2715};
    fill_mask(mask, (const int64_t[3]){90, 70, 1}, BLOBS, 0.5, &c);
    for (int k = 0; k < OPERATIONS; ++k) {
        question q = {new_problem(2, 90, 70, 1, mask), (apsis_operation)k, 3, APSIS_U8, APSIS_I32, PACKED};
        q.p.options.flags = APSIS_LABELS;
        double last = 0;
        assert_ok(b->ctx, apsis_set_progress(b->ctx, note_rise, &last));
        free(run_morphology(b, &q));
        assert_true(last == 1);
    }
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
}

static void labels_without_pixels(bench *b) {
    const apsis_image set = {.type = APSIS_U8, .ndim = 2, .size = {0, 7}},
                      result = {.type = APSIS_I32, .ndim = 2, .size = {0, 7}};
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_LABELS;
    for (int k = 0; k < OPERATIONS; ++k)
        assert_ok(b->ctx, apsis_morphology(b->ctx, (apsis_operation)k, 2, &set, &result, &options));
}

static const test_case cases[] = {
    TEST(by_eye, EVERYWHERE),           TEST(bits_are_a_set, EVERYWHERE),
    TEST(random_labels, EVERYWHERE),    TEST(random_labels_on_several_devices, ON_DEVICE_HOST),
    TEST(bad_calls, WITH_HOST_IMAGES),  TEST(images_apart, ON_DEVICE),
    TEST(workspaces, EVERYWHERE),       TEST(wide_rows, EVERYWHERE),
    TEST(progress_of_each, EVERYWHERE), TEST(labels_without_pixels, EVERYWHERE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
