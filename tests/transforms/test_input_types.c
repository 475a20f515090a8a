/* Sets of every type that a set may have: the outputs are those of bytes. */
#include "frame.h"

/* The outputs of a transform of one set, packed one behind the other. */
typedef struct result {
    uint8_t *bytes;
    size_t count;
} result;

static void add(result *to, const void *bytes, size_t count) {
    to->bytes = realloc(to->bytes, to->count + count + 1);
    assert_non_null(to->bytes);
    memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
}

static int64_t pixels_of_size(const int64_t size[3]) { return size[0] * size[1] * size[2]; }

static void add_image(result *to, frame *f, const int64_t size[3]) {
    const size_t bytes = (size_t)pixels_of_size(size) * type_size(f->image.type);
    uint8_t *pixels = must_alloc(bytes + 8);
    frame_get(f, pixels);
    add(to, pixels, bytes);
    free(pixels);
    frame_close(f);
}

/** A value of a pixel in the set: negative ones too, and those whose lowest byte or word is 0. */
static int64_t value_of(chance *c, size_t bytes) {
    const int64_t value = (int64_t)roll(c);
    const int shift = (int)roll_below(c, (int64_t)bytes) * 8;
    return (int64_t)((uint64_t)(value | 1) << shift);
}

/** A set in a frame, drawn from a mask of bytes. */
static frame set_of(bench *b, apsis_type type, int ndim, const int64_t size[3], unsigned layout, const uint8_t *mask) {
    const size_t bytes = type_size(type);
    uint8_t *pixels = must_alloc((size_t)pixels_of_size(size) * bytes + 8);
    chance c = {(uint64_t)type};
    for (int64_t i = 0; i < pixels_of_size(size); ++i) {
        const int64_t value = !mask[i] ? 0 : type == APSIS_BIT ? 1 : value_of(&c, bytes);
        memcpy(pixels + (size_t)i * bytes, &value, bytes);
    }
    frame f = frame_open(b, type, ndim, size, layout);
    frame_put(&f, pixels);
    free(pixels);
    return f;
}

typedef struct images {
    bench *b;
    int ndim;
    const int64_t *size;
    apsis_type type;
    unsigned layout;
    const uint8_t *mask, *seeds;
    apsis_options options;
} images;

static frame output(const images *of, apsis_type type) { return frame_open(of->b, type, of->ndim, of->size, PACKED); }
static frame input(const images *of, const uint8_t *mask) {
    return set_of(of->b, of->type, of->ndim, of->size, of->layout, mask);
}

static result distance(const images *of) {
    result out = {NULL, 0};
    frame set = input(of, of->mask), far = output(of, APSIS_F32), near = output(of, APSIS_I32);
    assert_ok(of->b->ctx, apsis_distance(of->b->ctx, &set.image, &far.image, &near.image, &of->options));
    frame_assert_unchanged(&set);
    add_image(&out, &far, of->size);
    add_image(&out, &near, of->size);
    frame_close(&set);
    return out;
}

static result voronoi(const images *of) {
    result out = {NULL, 0};
    frame set = input(of, of->mask), cells = output(of, APSIS_I64);
    assert_ok(of->b->ctx, apsis_voronoi(of->b->ctx, &set.image, &cells.image, &of->options));
    add_image(&out, &cells, of->size);
    frame_close(&set);
    return out;
}

static result components(const images *of) {
    result out = {NULL, 0};
    frame set = input(of, of->mask), labels = output(of, APSIS_I32);
    apsis_component found[5];
    memset(found, 0, sizeof found);
    int64_t count = -1;
    assert_ok(of->b->ctx, apsis_components(of->b->ctx, &set.image, &labels.image, found, COUNT(found), &count, &of->options));
    add_image(&out, &labels, of->size);
    add(&out, found, sizeof found);
    add(&out, &count, sizeof count);
    frame_close(&set);
    return out;
}

static result geodesic(const images *of) {
    result out = {NULL, 0};
    frame set = input(of, of->mask), seeds = input(of, of->seeds), far = output(of, APSIS_F32), near = output(of, APSIS_I32);
    assert_ok(of->b->ctx, apsis_geodesic(of->b->ctx, &set.image, &seeds.image, &far.image, &near.image, &of->options));
    frame_assert_unchanged(&seeds);
    add_image(&out, &far, of->size);
    add_image(&out, &near, of->size);
    frame_close(&set);
    frame_close(&seeds);
    return out;
}

static result eccentricity(const images *of) {
    result out = {NULL, 0};
    frame set = input(of, of->mask), far = output(of, APSIS_F32), end = output(of, APSIS_I32);
    assert_ok(of->b->ctx, apsis_eccentricity(of->b->ctx, &set.image, &far.image, &end.image, NULL, 0, NULL, &of->options));
    add_image(&out, &far, of->size);
    add_image(&out, &end, of->size);
    frame_close(&set);
    return out;
}

static result slab(const images *of) {
    result out = {NULL, 0};
    const int64_t columns = of->ndim == 3 ? of->size[0] * of->size[1] : of->size[0];
    int64_t *rows = must_alloc((size_t)(2 * columns) * sizeof *rows);
    frame set = input(of, of->mask);
    assert_ok(of->b->ctx, apsis_slab_summary(of->b->ctx, &set.image, 7, rows, rows + columns, &of->options));
    add(&out, rows, (size_t)(2 * columns) * sizeof *rows);
    apsis_slab_labels labels = {.start = 7, .first = rows, .last = rows + columns};
    assert_ok(of->b->ctx, apsis_slab_parts(of->b->ctx, &set.image, &labels, &of->options));
    add(&out, rows, (size_t)(2 * columns) * sizeof *rows);
    add(&out, &labels.count, sizeof labels.count);
    frame_close(&set);
    free(rows);
    return out;
}

typedef result (*transform)(const images *of);

/** Runs a transform with each type of set, and compares with bytes. */
static void check_types(bench *b, transform run, int ndim, const int64_t size[3], const apsis_options *options) {
    static const apsis_type types[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    static const unsigned layouts[] = {PACKED, PADDED | STEPPED | FLIP_Y, FLIP_X, SWAPPED | PADDED};
    chance c = {(uint64_t)(size[0] * 31 + ndim)};
    uint8_t *mask = must_alloc((size_t)(2 * pixels_of_size(size)));
    fill_mask(mask, size, NOISE, run == distance || run == voronoi ? 0.02 : 0.6, &c);
    fill_mask(mask + pixels_of_size(size), size, NOISE, 0.05, &c);
    images of = {b, ndim, size, APSIS_U8, PACKED, mask, mask + pixels_of_size(size), *options};
    result want = run(&of);
    for (int t = 0; t < COUNT(types); ++t)
        for (int l = 0; l < COUNT(layouts); ++l) {
            if (effort(COUNT(layouts)) < COUNT(layouts) && l != t % COUNT(layouts)) continue; /* where cases are slow */
            of.type = types[t], of.layout = layouts[l];
            result got = run(&of);
            assert_int_equal(got.count, want.count);
            assert_memory_equal(got.bytes, want.bytes, want.count);
            free(got.bytes);
        }
    free(want.bytes);
    free(mask);
}

static void check_everywhere(bench *b, transform run, uint32_t flags) {
    static const int64_t sizes[][3] = {{1, 1, 1}, {67, 9, 1}, {300, 40, 1}, {21, 7, 5}, {64, 3, 9}};
    for (int s = 0; s < COUNT(sizes); ++s) {
        if (run == eccentricity && effort(100) < 10 && pixels_of_size(sizes[s]) > 1000)
            continue; /* minutes where fields are slow */
        apsis_options options = APSIS_OPTIONS_INIT;
        options.flags = flags;
        check_types(b, run, sizes[s][2] > 1 ? 3 : 2, sizes[s], &options);
        options.flags |= APSIS_COMPLEMENT;
        check_types(b, run, sizes[s][2] > 1 ? 3 : 2, sizes[s], &options);
    }
}

static void in_distance(bench *b) {
    check_everywhere(b, distance, 0);
    check_everywhere(b, distance, APSIS_SIGNED);
}

static void in_voronoi(bench *b) { check_everywhere(b, voronoi, APSIS_CONNECTED); }
static void in_components(bench *b) { check_everywhere(b, components, 0); }
static void in_geodesic(bench *b) { check_everywhere(b, geodesic, 0); }
static void in_eccentricity(bench *b) { check_everywhere(b, eccentricity, 0); }
static void in_slabs(bench *b) { check_everywhere(b, slab, 0); }

/* Host images so large that they cross to a device in several parts. */
static void in_parts(bench *b) {
    if (effort(100) < 10) skip_case(b);
    const int64_t size[3] = {1100, 1000, 1};
    const apsis_options options = APSIS_OPTIONS_INIT;
    check_types(b, distance, 2, size, &options);
}

/* The workspace holds the bits as well. */
static void in_a_workspace(bench *b) {
    const int64_t size[3] = {333, 50, 1};
    uint8_t *mask = must_alloc((size_t)pixels_of_size(size));
    chance c = {5};
    fill_mask(mask, size, NOISE, 0.3, &c);
    frame set = set_of(b, APSIS_I64, 2, size, PADDED, mask), labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    const apsis_image *const given[] = {&set.image, &labels.image};
    size_t bytes = 0, of_bytes = 0;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_COMPONENTS, given, 2, NULL, &bytes));
    apsis_image workspace = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
    assert_ok(b->ctx, apsis_alloc(b->ctx, b->place == ON_CPU ? APSIS_HOST : APSIS_DEVICE, &workspace));
    assert_ok(b->ctx, apsis_set_workspace(b->ctx, workspace.data, bytes));
    assert_ok(b->ctx, apsis_components(b->ctx, &set.image, &labels.image, NULL, 0, NULL, NULL));
    assert_ok(b->ctx, apsis_set_workspace(b->ctx, workspace.data, bytes - 256));
    assert_fails(b->ctx, apsis_components(b->ctx, &set.image, &labels.image, NULL, 0, NULL, NULL), APSIS_ERROR_WORKSPACE,
                 "workspace");
    assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
    apsis_free(b->ctx, &workspace);
    frame byte = set_of(b, APSIS_U8, 2, size, PACKED, mask);
    const apsis_image *const less[] = {&byte.image, &labels.image};
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_COMPONENTS, less, 2, NULL, &of_bytes));
    if (b->memory == APSIS_DEVICE || b->place == ON_CPU) assert_true(bytes > of_bytes && bytes <= of_bytes + 42 * 50 + 256);
    frame_close(&byte);
    frame_close(&set);
    frame_close(&labels);
    free(mask);
}

static void types_that_are_none(bench *b) {
    const int64_t size[3] = {4, 4, 1};
    frame set = frame_open(b, APSIS_F32, 2, size, PACKED), labels = frame_open(b, APSIS_U16, 2, size, PACKED);
    assert_fails(b->ctx, apsis_components(b->ctx, &set.image, NULL, NULL, 0, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "set|type|APSIS_F32|APSIS_U16|APSIS_I64");
    assert_fails(b->ctx, apsis_components(b->ctx, &labels.image, &labels.image, NULL, 0, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "labels|type|APSIS_U16");
    assert_fails(b->ctx, apsis_distance(b->ctx, &labels.image, &labels.image, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "distance|type|APSIS_U16");
    frame_close(&set);
    frame_close(&labels);
}

static const test_case cases[] = {
    TEST(in_distance, EVERYWHERE), TEST(in_voronoi, EVERYWHERE),      TEST(in_components, EVERYWHERE),
    TEST(in_geodesic, EVERYWHERE), TEST(in_eccentricity, EVERYWHERE), TEST(in_slabs, EVERYWHERE),
    TEST(in_parts, EVERYWHERE),    TEST(in_a_workspace, EVERYWHERE),  TEST(types_that_are_none, EVERYWHERE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
