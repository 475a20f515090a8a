/* apsis_statistics and apsis_contacts, of label images: against brute force, and by laws. */
#include "run_labels.h"

/* ---- Every small image of three values ---- */

static void every_3x3_image(bench *b) {
    enum { ALL = 19683, PIXELS = 9 };
    uint8_t mask[PIXELS];
    for (int i = 0; i < ALL; i += ALL / effort(ALL)) {
        draw_digits(mask, PIXELS, i);
        problem p = new_problem(2, 3, 3, 1, mask);
        check_statistics(b, &p, label_types[i % 4], PACKED, 2 + i / 4 % 2);
        for (p.options.connectivity = 1; p.options.connectivity <= 2; ++p.options.connectivity)
            check_contacts(b, &p, label_types[i / 4 % 4], PACKED, 3);
    }
}

static void every_2x2x2_volume(bench *b) {
    enum { ALL = 6561, PIXELS = 8 };
    uint8_t mask[PIXELS];
    for (int i = 0; i < ALL; i += ALL / effort(ALL)) {
        draw_digits(mask, PIXELS, i);
        problem p = new_problem(3, 2, 2, 2, mask);
        check_statistics(b, &p, label_types[i % 4], PACKED, 3);
        for (p.options.connectivity = 1; p.options.connectivity <= 3; ++p.options.connectivity) {
            p.options.flags = p.options.connectivity < 3 && i % 5 == 0 ? APSIS_SLICES : 0;
            check_contacts(b, &p, label_types[i / 4 % 4], PACKED, 3);
        }
    }
}

/* ---- Random problems of every kind ---- */

static int64_t some_capacity(chance *c) { return roll_below(c, 2) ? roll_below(c, 20) : 256; }

static void random_statistics(bench *b) {
    chance c = {2031};
    for (int i = 0; i < effort(400); ++i) {
        uint8_t *mask;
        const problem p = draw_labels(&c, &mask);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_statistics(b, &p, label_types[roll_below(&c, 4)], (unsigned)roll_below(&c, LAYOUTS), some_capacity(&c));
        free(mask);
    }
}

static void random_contacts(bench *b) {
    static const double spacings[] = {0, 1, 0.25, 3, 0.7};
    chance c = {2032};
    for (int i = 0; i < effort(500); ++i) {
        uint8_t *mask;
        problem p = draw_labels(&c, &mask);
        if (p.ndim == 3 && !roll_below(&c, 3)) p.options.flags = APSIS_SLICES;
        p.options.connectivity = (int32_t)roll_below(&c, (p.options.flags & APSIS_SLICES ? 2 : p.ndim) + 1);
        p.options.spacing[0] = spacings[roll_below(&c, COUNT(spacings))];
        for (int a = 1; a < 3 && p.options.spacing[0] > 0; ++a)
            p.options.spacing[a] = spacings[1 + roll_below(&c, COUNT(spacings) - 1)];
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_contacts(b, &p, label_types[roll_below(&c, 4)], roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED,
                       roll_below(&c, 2) ? roll_below(&c, 20) : 40000);
        free(mask);
    }
}

/** Rows that many threads share, and one of them long. */
static void long_and_thin(bench *b) {
    static const int64_t sizes[][3] = {{50000, 1, 1}, {1, 50000, 1}, {1, 1, 20000}, {20000, 3, 1}, {2, 2, 9000}};
    chance c = {12};
    for (int i = 0; i < COUNT(sizes); ++i) {
        problem p = new_problem(sizes[i][2] > 1 ? 3 : 2, sizes[i][0], sizes[i][1], sizes[i][2], NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_cells(mask, p.size, &c);
        p.mask = mask;
        p.options.connectivity = p.ndim;
        check_statistics(b, &p, label_types[i % 4], PACKED, 256);
        check_contacts(b, &p, label_types[3 - i % 4], PACKED, 40000);
        free(mask);
    }
}

/** Words of 32 pixels, in which devices add up, of one value among others of any: few or many, and one row on in each plane. */
static void words_of_one_value(bench *b) {
    static const int64_t sizes[2][3] = {{150, 130, 1}, {70, 20, 20}};
    enum { WORD = 32, APART = 16 };
    chance c = {2033};
    for (int i = 0; i < effort(200); ++i) {
        problem p = new_problem(2 + i % 2, sizes[i % 2][0], sizes[i % 2][1], sizes[i % 2][2], NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p)), *next = mask;
        for (int64_t z = 0; z < p.size[2]; ++z)
            for (int64_t y = 0; y < p.size[1]; ++y)
                for (int64_t x = 0, value = 0; x < p.size[0]; ++x) {
                    if (x % WORD == 0) value = (y - z) % APART ? roll_below(&c, i / 2 % 2 ? 4 : 30) : 1;
                    *next++ = (uint8_t)(value < 3 ? value : roll_below(&c, 3));
                }
        p.mask = mask;
        p.options.connectivity = p.ndim;
        check_statistics(b, &p, label_types[i / 4 % 4], PACKED, 256);
        check_contacts(b, &p, label_types[i / 4 % 4], PACKED, 256);
        free(mask);
    }
}

/** Any value of a byte in each pixel; the mask is to be freed. */
static problem noise_of_bytes(int ndim, const int64_t size[3], uint64_t seed, uint8_t **mask) {
    problem p = new_problem(ndim, size[0], size[1], size[2], NULL);
    chance c = {seed};
    *mask = must_alloc((size_t)pixels_of(&p));
    for (int64_t i = 0; i < pixels_of(&p); ++i) (*mask)[i] = (uint8_t)roll(&c);
    p.mask = *mask;
    return p;
}

/** More runs, and more faces, than a device takes at once: what it finds in parts is merged. */
static void noise_in_parts(bench *b) {
    static const int64_t sizes[2][3] = {{1100, 1000, 1}, {49, 48, 47}};
    for (int i = 0; i < 2; ++i) {
        uint8_t *mask;
        problem p = noise_of_bytes(2 + i, sizes[i], 77, &mask);
        p.options.connectivity = p.ndim;
        if (p.ndim == 2) check_statistics(b, &p, APSIS_I32, PACKED, 256);
        if (p.ndim == 3) check_contacts(b, &p, APSIS_U16, PACKED, 40000);
        free(mask);
    }
}

/** More pairs than a table has room for, of values that are few enough for the set of all pairs. */
static void pairs_of_noise(bench *b) {
    static const int64_t sizes[2][3] = {{129, 130, 1}, {31, 33, 30}};
    static const int64_t capacities[] = {0, 1, 3000, 40000};
    for (int i = 0; i < 8; ++i) {
        uint8_t *mask;
        problem p = noise_of_bytes(2 + i % 2, sizes[i % 2], 78 + (uint64_t)i, &mask);
        p.options.connectivity = 1 + i / 2 % p.ndim;
        if (i >= 4) p.options.flags |= p.ndim == 2 ? APSIS_PERIODIC_X : APSIS_PERIODIC_Y | APSIS_PERIODIC_Z;
        check_contacts(b, &p, APSIS_U8, PACKED, capacities[(i + i / 4) % 4]);
        free(mask);
    }
}

/** More values, and more pairs, than a device keeps at once: each pixel has a value of its own. */
static void values_in_parts(bench *b) {
    enum { WIDE = 1100, PIXELS = WIDE * 1000 };
    int32_t *const value = must_alloc(PIXELS * sizeof *value), *const first = must_alloc((PIXELS + 1) * sizeof *first);
    apsis_component *const got = must_alloc(PIXELS * sizeof *got);
    for (int i = 0; i < PIXELS; ++i) {
        value[i] = (int32_t)((int64_t)i * 7919 % PIXELS + 1); /* a permutation */
        first[value[i]] = i;
    }
    const int64_t size[3] = {WIDE, PIXELS / WIDE, 1};
    frame labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&labels, value);
    int64_t count;
    assert_ok(b->ctx, apsis_statistics(b->ctx, &labels.image, got, PIXELS, &count, NULL));
    assert_int_equal(count, PIXELS);
    for (int64_t k = 0; k < PIXELS; ++k) {
        const int64_t i = first[k + 1], x = i % WIDE, y = i / WIDE;
        const apsis_component want = {i, 1, {x, y, 0}, {x, y, 0}, {(double)x, (double)y, 0}, k + 1};
        assert_memory_equal(got + k, &want, sizeof want);
    }
    frame_close(&labels);
    free(value);
    free(first);
    free(got);
}

static void pairs_of_pixels(bench *b, apsis_type type, int ndim, int64_t w, int64_t h, int64_t d) {
    const int64_t size[3] = {w, h, d}, pixels = w * h * d;
    int64_t *const value = must_alloc((size_t)pixels * sizeof *value), most = 0;
    void *const image = must_alloc((size_t)pixels * sizeof *value);
    apsis_contact *const want = must_alloc((size_t)pixels * 13 * sizeof *want), *const got = must_alloc((size_t)pixels * 13 *
                                                                                                        sizeof *got);
    for (int64_t i = 0; i < pixels; ++i) {
        value[i] = i * 7919 % pixels + 1;
        if (type == APSIS_U16) ((uint16_t *)image)[i] = (uint16_t)value[i];
        if (type == APSIS_I32) ((int32_t *)image)[i] = (int32_t)value[i];
        if (type == APSIS_I64) ((int64_t *)image)[i] = value[i] <<= 33;
    }
    for (int64_t i = 0; i < pixels; ++i)
        for (int n = 0; n < 13; ++n) { /* the neighbours before a pixel */
            const int64_t dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1, x = i % w + dx, y = i / w % h + dy,
                          z = i / w / h + dz;
            if (x < 0 || x >= w || y < 0 || y >= h || z < 0) continue;
            const int64_t one = value[i], other = value[(z * h + y) * w + x];
            const bool is_face = (dx != 0) + (dy != 0) + (dz != 0) == 1;
            want[most++] = (apsis_contact){least(one, other),
                                           one + other - least(one, other),
                                           {is_face && dx, is_face && dy, is_face && dz},
                                           !is_face,
                                           is_face};
        }
    qsort(want, (size_t)most, sizeof *want, compare_pairs);
    frame labels = frame_open(b, type, ndim, size, PACKED);
    frame_put(&labels, image);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.connectivity = ndim;
    int64_t count;
    assert_ok(b->ctx, apsis_contacts(b->ctx, &labels.image, got, most, &count, &options));
    assert_int_equal(count, most);
    assert_memory_equal(got, want, (size_t)most * sizeof *want);
    frame_close(&labels);
    free(value);
    free(image);
    free(want);
    free(got);
}

static void pairs_in_parts(bench *b) {
    pairs_of_pixels(b, APSIS_U16, 2, 257, 255, 1); /* more than a table of such an image has room for */
    pairs_of_pixels(b, APSIS_I32, 3, 49, 48, 47);
    pairs_of_pixels(b, APSIS_I64, 3, 11, 48, 9);
}

/* ---- Laws ---- */

enum { W = 777, H = 391 };

typedef struct touching {
    apsis_contact *contact;
    int64_t count;
} touching;

static touching contacts_of(bench *b, const uint16_t *value, int connectivity) {
    const int64_t size[3] = {W, H, 1}, capacity = 4 * W * H;
    frame labels = frame_open(b, APSIS_U16, 2, size, PACKED);
    frame_put(&labels, value);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.connectivity = connectivity;
    touching t = {must_alloc((size_t)capacity * sizeof(apsis_contact)), 0};
    assert_ok(b->ctx, apsis_contacts(b->ctx, &labels.image, t.contact, capacity, &t.count, &options));
    assert_true(t.count > 0 && t.count <= capacity);
    frame_close(&labels);
    return t;
}

/** Cells, and in some of them noise. */
static uint16_t *some_values(uint64_t seed) {
    const int64_t size[3] = {W, H, 1};
    chance c = {seed};
    uint8_t *mask = must_alloc(W * H);
    uint16_t *value = must_alloc(W * H * sizeof *value);
    fill_cells(mask, size, &c);
    for (int64_t i = 0; i < W * H; ++i) value[i] = (uint16_t)(mask[i] ? mask[i] + i / 5000 * 300 : 0);
    free(mask);
    return value;
}

/** Turned around, an image has the same contacts. */
static void flipping_axes(bench *b) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        uint16_t *value = some_values(seed), *flipped = must_alloc(W * H * sizeof *value);
        for (int64_t i = 0; i < W * H; ++i)
            flipped[i] = value[seed % 2 ? i / W * W + W - 1 - i % W : (H - 1 - i / W) * W + i % W];
        touching one = contacts_of(b, value, 1 + (int)(seed / 2 % 2)), other = contacts_of(b, flipped, 1 + (int)(seed / 2 % 2));
        assert_int_equal(one.count, other.count);
        assert_memory_equal(one.contact, other.contact, (size_t)one.count * sizeof *one.contact);
        free(one.contact);
        free(other.contact);
        free(value);
        free(flipped);
    }
}

/** Other values for the same pixels: the same contacts under other names. */
static void permuting_values(bench *b) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        uint16_t *value = some_values(seed), *permuted = must_alloc(W * H * sizeof *value);
        for (int64_t i = 0; i < W * H; ++i) permuted[i] = (uint16_t)(value[i] * 12345); /* odd: a permutation, and 0 stays */
        touching one = contacts_of(b, value, 2), other = contacts_of(b, permuted, 2);
        for (int64_t k = 0; k < one.count; ++k) {
            const int64_t a = (uint16_t)(one.contact[k].a * 12345), c = (uint16_t)(one.contact[k].b * 12345);
            one.contact[k].a = least(a, c);
            one.contact[k].b = a + c - least(a, c);
        }
        qsort(one.contact, (size_t)one.count, sizeof *one.contact, compare_pairs);
        assert_int_equal(one.count, other.count);
        assert_memory_equal(one.contact, other.contact, (size_t)one.count * sizeof *one.contact);
        free(one.contact);
        free(other.contact);
        free(value);
        free(permuted);
    }
}

/** The areas of all values are the pixels of the image, their first pixels their own, and their boxes hold their centroids. */
static void sums_of_areas(bench *b) {
    const int64_t size[3] = {W, H, 1};
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        uint16_t *value = some_values(seed);
        frame labels = frame_open(b, APSIS_U16, 2, size, PACKED);
        frame_put(&labels, value);
        static apsis_component c[65536];
        int64_t count, area = 0;
        assert_ok(b->ctx, apsis_statistics(b->ctx, &labels.image, c, COUNT(c), &count, NULL));
        for (int64_t k = 0; k < count; ++k) {
            area += c[k].area;
            assert_int_equal(value[c[k].first], c[k].value);
            for (int a = 0; a < 2; ++a)
                assert_true((double)c[k].lower[a] <= c[k].centroid[a] && c[k].centroid[a] <= (double)c[k].upper[a]);
        }
        assert_int_equal(area, W * H);
        frame_close(&labels);
        free(value);
    }
}

/* ---- Answers written by hand ---- */

/** As cc3d.contacts has it: faces have an area, edges and corners have none. */
static void values_that_touch(bench *b) {
    const int32_t image[2 * 4] = {-7, 5, 5, 0, /**/ -7, -7, 5, 9};
    static const apsis_contact four[] = {{-7, 5, {2, 1, 0}, 0, 2 * 3 + 1 * 2}, {5, 9, {1, 0, 0}, 0, 3}};
    static const apsis_contact eight[] = {{-7, 5, {2, 1, 0}, 2, 2 * 3 + 1 * 2}, {5, 9, {1, 0, 0}, 1, 3}};
    const int64_t size[3] = {4, 2, 1};
    frame labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&labels, image);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.spacing[0] = 2;
    options.spacing[1] = 3;
    apsis_contact got[4];
    for (options.connectivity = 1; options.connectivity <= 2; ++options.connectivity) {
        int64_t count;
        assert_ok(b->ctx, apsis_contacts(b->ctx, &labels.image, got, 4, &count, &options));
        assert_int_equal(count, 2);
        assert_memory_equal(got, options.connectivity == 1 ? four : eight, sizeof four);
    }
    frame_close(&labels);
}

/** More values side by side than a tile has room for. */
static void a_value_for_each_pixel(bench *b) {
    enum { WIDE = 128, PIXELS = WIDE * 128 };
    static uint16_t value[PIXELS];
    static apsis_component got[PIXELS + 1];
    for (int i = 0; i < PIXELS; ++i) value[i] = (uint16_t)(65535 - i);
    const int64_t size[3] = {WIDE, PIXELS / WIDE, 1};
    frame labels = frame_open(b, APSIS_U16, 2, size, PACKED);
    frame_put(&labels, value);
    int64_t count;
    assert_ok(b->ctx, apsis_statistics(b->ctx, &labels.image, got, COUNT(got), &count, NULL));
    assert_int_equal(count, PIXELS);
    for (int64_t k = 0; k < PIXELS; ++k) {
        const int64_t first = PIXELS - 1 - k, x = first % WIDE, y = first / WIDE;
        const apsis_component want = {first, 1, {x, y, 0}, {x, y, 0}, {(double)x, (double)y, 0}, value[first]};
        assert_memory_equal(got + k, &want, sizeof want);
    }
    frame_close(&labels);
}

static void a_corner_alone_has_no_area(bench *b) {
    const uint8_t image[8] = {1, 0, 0, 0, /**/ 0, 0, 0, 2};
    const int64_t size[3] = {2, 2, 2};
    frame labels = frame_open(b, APSIS_U8, 3, size, PACKED);
    frame_put(&labels, image);
    apsis_options options = APSIS_OPTIONS_INIT;
    const apsis_contact want = {.a = 1, .b = 2, .corners = 1};
    for (options.connectivity = 1; options.connectivity <= 3; ++options.connectivity) {
        apsis_contact got[1];
        int64_t count;
        assert_ok(b->ctx, apsis_contacts(b->ctx, &labels.image, got, 1, &count, &options));
        assert_int_equal(count, options.connectivity == 3);
        if (count) assert_memory_equal(got, &want, sizeof want);
    }
    frame_close(&labels);
}

/** Where a table of values has gaps, and where it ends. */
static void a_dense_table(bench *b) {
    const int32_t image[3] = {2, 0, 2};
    const int64_t size[3] = {3, 1, 1};
    static const apsis_component want[4] = {{1, 1, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}, 0},
                                            {-1, 0, {-1, -1, -1}, {-1, -1, -1}, {0, 0, 0}, 1},
                                            {0, 2, {0, 0, 0}, {2, 0, 0}, {1, 0, 0}, 2},
                                            {-1, 0, {-1, -1, -1}, {-1, -1, -1}, {0, 0, 0}, 3}};
    frame labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&labels, image);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_DENSE | APSIS_LABELS;
    apsis_component got[4];
    int64_t count;
    assert_ok(b->ctx, apsis_statistics(b->ctx, &labels.image, got, 4, &count, &options));
    assert_int_equal(count, 3);
    assert_memory_equal(got, want, sizeof want);
    assert_ok(b->ctx, apsis_statistics(b->ctx, &labels.image, NULL, 0, &count, &options));
    assert_int_equal(count, 3);
    assert_ok(b->ctx, apsis_statistics(b->ctx, &labels.image, got, 4, NULL, &options));
    const int32_t negative[3] = {2, -3, -4};
    frame_put(&labels, negative);
    assert_fails(b->ctx, apsis_statistics(b->ctx, &labels.image, got, 4, &count, &options), APSIS_ERROR_RANGE,
                 "labels: pixel (1, 0, 0) is -3");
    assert_fails(b->ctx, apsis_statistics(b->ctx, &labels.image, got, 2, &count, &options), APSIS_ERROR_RANGE,
                 "labels: pixel (0, 0, 0) is 2|capacity is 2");
    frame_close(&labels);
}

static const test_case cases[] = {
    TEST(every_3x3_image, EVERYWHERE),    TEST(every_2x2x2_volume, EVERYWHERE),
    TEST(words_of_one_value, EVERYWHERE), TEST(random_statistics, EVERYWHERE),
    TEST(random_contacts, EVERYWHERE),    TEST(long_and_thin, EVERYWHERE),
    TEST(pairs_of_noise, EVERYWHERE),     TEST(noise_in_parts, EVERYWHERE),
    TEST(values_in_parts, EVERYWHERE),    TEST(pairs_in_parts, EVERYWHERE),
    TEST(flipping_axes, EVERYWHERE),      TEST(permuting_values, EVERYWHERE),
    TEST(sums_of_areas, EVERYWHERE),      TEST(a_value_for_each_pixel, EVERYWHERE),
    TEST(values_that_touch, EVERYWHERE),  TEST(a_corner_alone_has_no_area, EVERYWHERE),
    TEST(a_dense_table, EVERYWHERE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
