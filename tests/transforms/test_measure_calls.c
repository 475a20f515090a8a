/* apsis_measures: tables, progress, memory, and what is refused. */
#include "run_measures.h"

static void dense(bench *b) {
    uint8_t mask[6] = {0, 3, 3, 1, 0, 5};
    const int64_t size[3] = {3, 2, 1};
    frame labels = frame_open(b, APSIS_U8, 2, size, PACKED);
    frame_put(&labels, mask);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_DENSE;
    apsis_measure m[7];
    int64_t count;
    assert_ok(b->ctx, apsis_measures(b->ctx, &labels.image, NULL, APSIS_SURFACE, m, 7, &count, &options));
    assert_int_equal(count, 6);
    for (int i = 0; i < 7; ++i) {
        const int area = i == 3 ? 2 : i == 1 || i == 5;
        assert_int_equal(m[i].component.value, i);
        assert_int_equal(m[i].component.area, area);
        assert_int_equal(m[i].component.first, area ? i == 3 ? 1 : i == 1 ? 3 : 5 : -1);
        assert_int_equal(m[i].faces[0] + m[i].faces[1], area ? 2 * area + 2 : 0);
    }
    apsis_measure before[7];
    memcpy(before, m, sizeof m);
    assert_fails(b->ctx, apsis_measures(b->ctx, &labels.image, NULL, 0, m, 5, &count, &options), APSIS_ERROR_RANGE,
                 "pixel (2, 1, 0) is 5|capacity is 5");
    assert_memory_equal(m, before, sizeof m);
    assert_ok(b->ctx, apsis_measures(b->ctx, &labels.image, NULL, 0, NULL, 0, &count, &options));
    assert_int_equal(count, 6);
    frame_close(&labels);
}

/** Where there is no room for sums, the host finds them. */
static void little_workspace(bench *b) {
    enum { W = 40, H = 30, BYTES = 256 };
    uint8_t mask[W * H];
    const int64_t size[3] = {W, H, 1}, row[3] = {BYTES, 1, 1};
    chance c = {2715};
    fill_cells(mask, size, &c);
    frame labels = frame_open(b, APSIS_U16, 2, size, PACKED);
    problem p = new_problem(2, W, H, 1, mask);
    put_set(&labels, &p);
    apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {row[0], row[1]}};
    assert_ok(b->ctx, apsis_alloc(b->ctx, b->device == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE, &memory));
    static apsis_measure found[2][256];
    int64_t count[2];
    for (int i = 0; i < 2; ++i) {
        if (i) assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, BYTES));
        assert_ok(b->ctx,
                  apsis_measures(b->ctx, &labels.image, NULL, APSIS_MOMENTS | APSIS_PERIMETER, found[i], 256, &count[i], NULL));
    }
    assert_int_equal(count[0], count[1]);
    assert_memory_equal(found[0], found[1], (size_t)count[0] * sizeof found[0][0]);
    assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
    apsis_free(b->ctx, &memory);
    frame_close(&labels);
}

/** Where there are more values than a device has room for at first, it begins again, but not to read the image. */
typedef struct label_reader {
    int starts;
    int32_t *labels;
    size_t bytes;
} label_reader;

static void change_labels(void *reader, const char *line) {
    label_reader *const r = reader;
    if (strstr(line, "measures:") && r->starts++ == 1) memset(r->labels, POISON, r->bytes);
}

static void crosses_once(bench *b) {
    enum { W = 90, H = 80 };
    static int32_t labels[W * H];
    static apsis_measure m[W * H];
    for (int i = 0; i < W * H; ++i) labels[i] = 7 * i + 1;
    const apsis_image image = {.data = labels, .type = APSIS_I32, .ndim = 2, .size = {W, H}};
    label_reader reader = {0, labels, sizeof labels};
    assert_ok(b->ctx, apsis_set_log(b->ctx, change_labels, &reader));
    int64_t count;
    assert_ok(b->ctx, apsis_measures(b->ctx, &image, NULL, APSIS_SURFACE, m, W * H, &count, NULL));
    assert_ok(b->ctx, apsis_set_log(b->ctx, NULL, NULL));
    assert_int_equal(count, W * H);
    for (int i = 0; i < W * H; ++i) assert_true(m[i].component.value == 7 * i + 1 && m[i].surface == 4);
}

/** Progress is told to the end, and stops the call. */
static int note(void *told, double done) {
    assert_true(done >= *(double *)told && done <= 1);
    *(double *)told = done;
    return 0;
}

static void progress(bench *b) {
    enum { W = 300, H = 900 };
    static uint8_t mask[W * H];
    const int64_t size[3] = {W, H, 1};
    chance c = {2713};
    fill_cells(mask, size, &c);
    frame labels = frame_open(b, APSIS_U8, 2, size, PACKED);
    frame_put(&labels, mask);
    static apsis_measure m[256];
    for (int i = 0; i < 2; ++i) {
        const uint32_t wanted = i ? APSIS_FILLED : APSIS_MOMENTS;
        double told = 0;
        int calls = 0;
        assert_ok(b->ctx, apsis_set_progress(b->ctx, note, &told));
        assert_ok(b->ctx, apsis_measures(b->ctx, &labels.image, NULL, wanted, m, 256, NULL, NULL));
        assert_true(told == 1);
        assert_ok(b->ctx, apsis_set_progress(b->ctx, stop_at_once, &calls));
        assert_fails(b->ctx, apsis_measures(b->ctx, &labels.image, NULL, wanted, m, 256, NULL, NULL), APSIS_ERROR_CANCELLED,
                     "");
        assert_int_equal(calls, 1);
    }
    frame_close(&labels);
}

static void bad_calls(bench *b) {
    uint8_t pixels[64] = {1};
    apsis_image set = {.data = pixels, .type = APSIS_U8, .ndim = 2, .size = {4, 4}}, volume = set, other = set;
    volume.ndim = 3, volume.size[2] = 4, other.size[0] = 3;
    apsis_options options = APSIS_OPTIONS_INIT;
    apsis_measure m;
#define REFUSED(labels, grey, wanted, to, capacity, status, text) \
    assert_fails(b->ctx, apsis_measures(b->ctx, labels, grey, wanted, to, capacity, NULL, &options), status, text)
    REFUSED(NULL, NULL, 0, &m, 1, APSIS_ERROR_ARGUMENT, "measures: |labels is NULL");
    REFUSED(&set, NULL, 256, &m, 1, APSIS_ERROR_ARGUMENT, "wanted is 0x100|0x100 is unknown");
    REFUSED(&set, NULL, APSIS_INTENSITY, &m, 1, APSIS_ERROR_ARGUMENT, "grey is NULL|APSIS_INTENSITY");
    REFUSED(&set, &other, APSIS_INTENSITY, &m, 1, APSIS_ERROR_ARGUMENT, "grey: size[0] is 3|labels");
    REFUSED(&set, NULL, 0, NULL, 1, APSIS_ERROR_ARGUMENT, "measures is NULL");
    REFUSED(&set, NULL, 0, &m, -1, APSIS_ERROR_ARGUMENT, "capacity is -1");
    REFUSED(&volume, NULL, APSIS_PERIMETER, &m, 1, APSIS_ERROR_UNSUPPORTED, "APSIS_PERIMETER|2-D|ndim is 3");
    REFUSED(&volume, NULL, APSIS_HULL, &m, 1, APSIS_ERROR_UNSUPPORTED, "APSIS_HULL|2-D");
    REFUSED(&volume, NULL, APSIS_FERET, &m, 1, APSIS_ERROR_UNSUPPORTED, "APSIS_FERET|2-D");
    other = set, other.type = APSIS_I32;
    REFUSED(&set, &other, APSIS_INTENSITY, &m, 1, APSIS_ERROR_ARGUMENT,
            "grey: type is APSIS_I32|APSIS_U8, APSIS_U16 or APSIS_F32");
    other.type = APSIS_F32;
    REFUSED(&other, NULL, 0, &m, 1, APSIS_ERROR_ARGUMENT, "labels: type is APSIS_F32");
    options.connectivity = 2;
    REFUSED(&volume, NULL, APSIS_EULER, &m, 1, APSIS_ERROR_UNSUPPORTED, "connectivity is 2|3-D");
    options.connectivity = 3;
    REFUSED(&set, NULL, APSIS_EULER, &m, 1, APSIS_ERROR_ARGUMENT, "connectivity is 3");
    options.connectivity = 0, options.flags = APSIS_SLICES;
    REFUSED(&volume, NULL, 0, &m, 1, APSIS_ERROR_ARGUMENT, "flags is 0x8|APSIS_DENSE and APSIS_LABELS");
    options.flags = 0, options.spacing[0] = 1, options.spacing[1] = 2;
    REFUSED(&set, NULL, APSIS_PERIMETER, &m, 1, APSIS_ERROR_UNSUPPORTED, "spacing is 1 and 2|APSIS_PERIMETER");
    REFUSED(&volume, NULL, 0, &m, 1, APSIS_ERROR_UNSUPPORTED, "spacing[2] is 0");
    options.spacing[1] = 1e200;
    REFUSED(&set, NULL, 0, &m, 1, APSIS_ERROR_UNSUPPORTED, "spacing[1] is 1e+200");
    options.spacing[0] = options.spacing[1] = 0, options.delta = 1;
    REFUSED(&set, NULL, 0, &m, 1, APSIS_ERROR_ARGUMENT, "delta is 1");
    const apsis_image empty = {.type = APSIS_U8, .ndim = 2, .size = {0, 7}};
    int64_t count = -1;
    assert_ok(b->ctx, apsis_measures(b->ctx, &empty, NULL, 0, NULL, 0, &count, NULL));
    assert_int_equal(count, 0);
}

static const test_case cases[] = {
    TEST(dense, EVERYWHERE),
    TEST(progress, EVERYWHERE),
    TEST(little_workspace, EVERYWHERE),
    TEST(crosses_once, ON_DEVICE_HOST),
    TEST(bad_calls, WITH_HOST_IMAGES),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
