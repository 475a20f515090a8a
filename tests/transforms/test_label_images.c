/* apsis_statistics and apsis_contacts, of label images: against brute force, and by laws. */
#include "run_components.h"

static const apsis_type label_types[] = {APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
enum { SPARE = 2 }; /* records behind the capacity, that must not be touched */

/* ---- One problem: a byte of the mask stands for a value of the type ---- */

typedef struct labels_of {
    int64_t *value; /* [pixel] */
    frame labels;
} labels_of;

static labels_of open_labels(bench *b, const problem *p, apsis_type type, unsigned layout) {
    const size_t pixels = (size_t)pixels_of(p), bytes = type_size(type);
    labels_of l = {must_alloc(pixels * sizeof(int64_t) + 8), frame_open(b, type, p->ndim, p->size, layout)};
    uint8_t *packed = must_alloc(pixels * bytes + 8);
    for (size_t i = 0; i < pixels; ++i) {
        l.value[i] = value_of_byte(type, p->mask[i]);
        memcpy(packed + i * bytes, &l.value[i], bytes);
    }
    frame_put(&l.labels, packed);
    free(packed);
    return l;
}

static void close_labels(labels_of *l) {
    frame_assert_unchanged(&l->labels);
    frame_close(&l->labels);
    free(l->value);
}

static void *guarded(int64_t records, size_t bytes) {
    void *memory = must_alloc((size_t)(records + SPARE) * bytes);
    memset(memory, POISON, (size_t)(records + SPARE) * bytes);
    return memory;
}

static void assert_poison(const void *memory, int64_t from, int64_t records, size_t bytes) {
    const uint8_t *byte = memory;
    for (size_t i = (size_t)from * bytes; i < (size_t)(records + SPARE) * bytes; ++i) assert_int_equal(byte[i], POISON);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int compare_values(const void *one, const void *other) {
    const int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

/** The values that occur, in order. */
static int64_t distinct(const problem *p, const int64_t *value, int64_t *found) {
    const int64_t pixels = pixels_of(p);
    int64_t count = 0;
    memcpy(found, value, (size_t)pixels * sizeof *value);
    qsort(found, (size_t)pixels, sizeof *found, compare_values);
    for (int64_t i = 0; i < pixels; ++i)
        if (i == 0 || found[i] != found[i - 1]) found[count++] = found[i];
    return count;
}

/* ---- Statistics ---- */

/** By a look at every pixel. */
static apsis_component measure(const problem *p, const int64_t *value, int64_t of) {
    const int64_t w = p->size[0], h = p->size[1];
    apsis_component c = {-1, 0, {-1, -1, -1}, {-1, -1, -1}, {0, 0, 0}, of};
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        if (value[i] != of) continue;
        const int64_t at[3] = {i % w, i / w % h, i / w / h};
        for (int a = 0; a < 3; ++a) {
            if (c.area == 0 || at[a] < c.lower[a]) c.lower[a] = at[a];
            if (c.area == 0 || at[a] > c.upper[a]) c.upper[a] = at[a];
            c.centroid[a] += (double)at[a]; /* whole numbers: exact */
        }
        if (c.area++ == 0) c.first = i;
    }
    for (int a = 0; a < 3 && c.area; ++a) c.centroid[a] /= (double)c.area;
    return c;
}

static void check_sparse(bench *b, const problem *p, labels_of *l, int64_t capacity) {
    int64_t *found = must_alloc((size_t)pixels_of(p) * sizeof *found + 8), count = -1;
    const int64_t values = distinct(p, l->value, found);
    apsis_component *got = guarded(capacity, sizeof *got);
    assert_ok(b->ctx, apsis_statistics(b->ctx, &l->labels.image, got, capacity, &count, NULL));
    assert_int_equal(count, values);
    for (int64_t k = 0; k < least(values, capacity); ++k) {
        const apsis_component want = measure(p, l->value, found[k]);
        assert_memory_equal(&got[k], &want, sizeof want);
    }
    assert_poison(got, least(values, capacity), capacity, sizeof *got);
    free(found);
    free(got);
}

/** Every value is from 0 to 255. */
static void check_dense(bench *b, const problem *p, labels_of *l, int64_t capacity) {
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_DENSE;
    int64_t most = -1, count = -1, place = -1;
    for (int64_t i = pixels_of(p); i-- > 0;) {
        if (l->value[i] > most) most = l->value[i];
        if (l->value[i] >= capacity) place = i;
    }
    apsis_component *got = guarded(capacity, sizeof *got);
    const apsis_status status = apsis_statistics(b->ctx, &l->labels.image, got, capacity, &count, &options);
    if (place >= 0) {
        char text[200];
        const long long w = p->size[0], h = p->size[1];
        snprintf(text, sizeof text, "labels: pixel (%lld, %lld, %lld) is %lld, but capacity is %lld|", place % w, place / w % h,
                 place / w / h, (long long)l->value[place], (long long)capacity);
        assert_fails(b->ctx, status, APSIS_ERROR_RANGE, text);
    } else {
        assert_ok(b->ctx, status);
        assert_int_equal(count, most + 1);
        for (int64_t k = 0; k < capacity; ++k) {
            const apsis_component want = measure(p, l->value, k);
            assert_memory_equal(&got[k], &want, sizeof want);
        }
    }
    assert_poison(got, capacity, capacity, sizeof *got);
    free(got);
}

static void check_statistics(bench *b, const problem *p, apsis_type type, unsigned layout, int64_t capacity) {
    labels_of l = open_labels(b, p, type, layout);
    check_sparse(b, p, &l, capacity);
    if (type == APSIS_U8) check_dense(b, p, &l, capacity);
    close_labels(&l);
}

/* ---- Contacts ---- */

static int compare_pairs(const void *one, const void *other) {
    const apsis_contact *p = one, *q = other;
    const int by_a = compare_values(&p->a, &q->a);
    return by_a ? by_a : compare_values(&p->b, &q->b);
}

/** Every pixel with each of its neighbours behind it; then pairs in order.  Returns how many there are. */
static int64_t touch(const problem *p, const int64_t *value, apsis_contact **contacts) {
    const apsis_options *o = &p->options;
    const int64_t *size = p->size, most = o->connectivity ? o->connectivity : 1;
    const bool volume = p->ndim == 3 && !(o->flags & APSIS_SLICES);
    apsis_contact *all = must_alloc((size_t)(pixels_of(p) * 13 + 1) * sizeof *all);
    int64_t count = 0, pairs = 0;
    for (int64_t i = 0; i < pixels_of(p); ++i)
        for (int n = 14; n < 27; ++n) {
            const int64_t d[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            const int64_t at[3] = {i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
            const int64_t axes = (d[0] != 0) + (d[1] != 0) + (d[2] != 0), j = i + d[0] + size[0] * (d[1] + size[1] * d[2]);
            bool inside = axes <= most && (volume || d[2] == 0);
            for (int a = 0; a < 3; ++a) inside = inside && at[a] + d[a] >= 0 && at[a] + d[a] < size[a];
            if (!inside || !value[i] || !value[j] || value[i] == value[j]) continue;
            apsis_contact *c = &all[count++];
            *c =
                (apsis_contact){.a = value[i] < value[j] ? value[i] : value[j], .b = value[i] < value[j] ? value[j] : value[i]};
            if (axes > 1)
                c->corners = 1;
            else
                c->faces[d[0] ? 0 : d[1] ? 1 : 2] = 1;
        }
    qsort(all, (size_t)count, sizeof *all, compare_pairs);
    for (int64_t k = 0; k < count; ++k) {
        if (pairs == 0 || compare_pairs(&all[k], &all[pairs - 1])) {
            all[pairs++] = all[k];
            continue;
        }
        all[pairs - 1].corners += all[k].corners;
        for (int a = 0; a < 3; ++a) all[pairs - 1].faces[a] += all[k].faces[a];
    }
    const bool unit = o->spacing[0] == 0;
    const double s[3] = {unit ? 1 : o->spacing[0], unit ? 1 : o->spacing[1], unit || !volume ? 1 : o->spacing[2]};
    const double face[3] = {s[1] * s[2], s[0] * s[2], s[0] * s[1]};
    for (int64_t k = 0; k < pairs; ++k)
        for (int a = 0; a < 3; ++a) all[k].area += (double)all[k].faces[a] * face[a];
    *contacts = all;
    return pairs;
}

static void check_contacts(bench *b, const problem *p, apsis_type type, unsigned layout, int64_t capacity) {
    labels_of l = open_labels(b, p, type, layout);
    apsis_contact *want, *got = guarded(capacity, sizeof *got);
    const int64_t pairs = touch(p, l.value, &want);
    int64_t count = -1;
    assert_ok(b->ctx, apsis_contacts(b->ctx, &l.labels.image, got, capacity, &count, &p->options));
    assert_int_equal(count, pairs);
    if (least(pairs, capacity) > 0) assert_memory_equal(got, want, (size_t)least(pairs, capacity) * sizeof *got);
    assert_poison(got, least(pairs, capacity), capacity, sizeof *got);
    free(want);
    free(got);
    close_labels(&l);
}

/* ---- Every small image of three values ---- */

static void draw_digits(uint8_t *mask, int pixels, int digits) {
    for (int k = 0; k < pixels; ++k, digits /= 3) mask[k] = (uint8_t)(digits % 3);
}

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

/** Cells of some grain, noise of some values, or both. */
static void fill_values(uint8_t *mask, const int64_t size[3], chance *c) {
    static const int grains[] = {1, 1, 2, 5, 17, 70};
    const int grain = grains[roll_below(c, COUNT(grains))], values = 1 + (int)roll_below(c, roll_below(c, 2) ? 4 : 200);
    const int64_t w = size[0], h = size[1];
    const double noise = roll_below(c, 2) ? 0 : 0.1, empty = roll_below(c, 2) ? 0 : roll_real(c);
    const uint64_t seed = roll(c);
    for (int64_t i = 0; i < w * h * size[2]; ++i) {
        chance cell = {seed + (uint64_t)(i % w / grain + 1000 * (i / w % h / grain) + 1000000 * (i / w / h / grain))};
        roll(&cell);
        mask[i] = roll_real(&cell) < empty ? 0 : (uint8_t)(1 + roll_below(&cell, values));
        if (roll_real(c) < noise) mask[i] = (uint8_t)roll_below(c, values + 1);
    }
}

static problem random_problem(chance *c, uint8_t **mask) {
    static const int64_t sizes[] = {1,  2,  3,  4,  5,  7,  8,  11,  16,  17,  31,  32,
                                    33, 47, 63, 64, 65, 66, 97, 127, 128, 129, 211, 257};
    problem p = new_problem(2, 1, 1, 1, NULL);
    p.ndim = 2 + (int)roll_below(c, 2);
    do
        for (int a = 0; a < 3; ++a) p.size[a] = a < p.ndim ? sizes[roll_below(c, COUNT(sizes))] : 1;
    while (pixels_of(&p) > 30000);
    *mask = must_alloc((size_t)pixels_of(&p));
    fill_values(*mask, p.size, c);
    p.mask = *mask;
    return p;
}

static int64_t some_capacity(chance *c) { return roll_below(c, 2) ? roll_below(c, 20) : 256; }

static void random_statistics(bench *b) {
    chance c = {2031};
    for (int i = 0; i < effort(400); ++i) {
        uint8_t *mask;
        const problem p = random_problem(&c, &mask);
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
        problem p = random_problem(&c, &mask);
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
        fill_values(mask, p.size, &c);
        p.mask = mask;
        p.options.connectivity = p.ndim;
        check_statistics(b, &p, label_types[i % 4], PACKED, 256);
        check_contacts(b, &p, label_types[3 - i % 4], PACKED, 40000);
        free(mask);
    }
}

/** More runs, and more faces, than a device takes at once: what it finds in parts is merged. */
static void noise_in_parts(bench *b) {
    static const int64_t sizes[2][3] = {{1100, 1000, 1}, {49, 48, 47}};
    for (int i = 0; i < 2; ++i) {
        problem p = new_problem(2 + i, sizes[i][0], sizes[i][1], sizes[i][2], NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        chance c = {77};
        for (int64_t k = 0; k < pixels_of(&p); ++k) mask[k] = (uint8_t)roll(&c);
        p.mask = mask;
        p.options.connectivity = p.ndim;
        if (p.ndim == 2) check_statistics(b, &p, APSIS_U8, PACKED, 256);
        if (p.ndim == 3) check_contacts(b, &p, APSIS_U16, PACKED, 40000);
        free(mask);
    }
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
    fill_values(mask, size, &c);
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

static void images_without_pixels(bench *b) {
    const apsis_image none = {.type = APSIS_U16, .ndim = 2, .size = {0, 7}};
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_DENSE;
    apsis_component got[2];
    int64_t count = -1;
    assert_ok(b->ctx, apsis_statistics(b->ctx, &none, NULL, 0, &count, NULL));
    assert_int_equal(count, 0);
    count = -1;
    assert_ok(b->ctx, apsis_statistics(b->ctx, &none, got, 2, &count, &options));
    assert_int_equal(count, 0);
    assert_int_equal(got[1].area, 0);
    count = -1;
    assert_ok(b->ctx, apsis_contacts(b->ctx, &none, NULL, 0, &count, NULL));
    assert_int_equal(count, 0);
}

/* ---- What is refused ---- */

static void wrong_arguments(bench *b) {
    const int64_t size[3] = {8, 8, 1};
    frame bits = frame_open(b, APSIS_BIT, 2, size, PACKED), real = frame_open(b, APSIS_F32, 2, size, PACKED),
          labels = frame_open(b, APSIS_U16, 2, size, PACKED);
    const apsis_image *const set = &labels.image;
    apsis_options o = APSIS_OPTIONS_INIT;
    apsis_component part;
    apsis_contact contact;
    const struct {
        apsis_status status;
        const char *text;
    } none = {APSIS_ERROR_ARGUMENT, "labels is NULL"};
    assert_fails(b->ctx, apsis_statistics(b->ctx, NULL, &part, 1, NULL, NULL), none.status, none.text);
    assert_fails(b->ctx, apsis_contacts(b->ctx, NULL, &contact, 1, NULL, NULL), none.status, none.text);
    assert_fails(b->ctx, apsis_statistics(b->ctx, &bits.image, &part, 1, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "labels: type is APSIS_BIT");
    assert_fails(b->ctx, apsis_contacts(b->ctx, &real.image, &contact, 1, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "labels: type is APSIS_F32");
    assert_fails(b->ctx, apsis_statistics(b->ctx, set, NULL, 1, NULL, NULL), APSIS_ERROR_ARGUMENT, "components is NULL");
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, NULL, 1, NULL, NULL), APSIS_ERROR_ARGUMENT, "contacts is NULL");
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, &contact, -1, NULL, NULL), APSIS_ERROR_ARGUMENT, "capacity is -1");
    o.flags = APSIS_SLICES;
    assert_fails(b->ctx, apsis_statistics(b->ctx, set, &part, 1, NULL, &o), APSIS_ERROR_ARGUMENT, "flags|apsis_statistics");
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, &contact, 1, NULL, &o), APSIS_ERROR_ARGUMENT, "APSIS_SLICES|ndim is 2");
    o.flags = APSIS_DENSE;
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, &contact, 1, NULL, &o), APSIS_ERROR_ARGUMENT, "flags|apsis_contacts");
    o.flags = 0;
    o.connectivity = 3;
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, &contact, 1, NULL, &o), APSIS_ERROR_ARGUMENT, "connectivity is 3");
    o.connectivity = 0;
    o.method = APSIS_SWEEP;
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, &contact, 1, NULL, &o), APSIS_ERROR_ARGUMENT,
                 "APSIS_SWEEP|apsis_contacts");
    o.method = APSIS_AUTO;
    o.spacing[0] = 2;
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, &contact, 1, NULL, &o), APSIS_ERROR_ARGUMENT, "spacing[1] is 0");
    const apsis_image volume = {.data = set->data, .type = APSIS_U16, .ndim = 3, .size = {4, 4, 4}, .memory = set->memory};
    o.spacing[1] = 2;
    assert_fails(b->ctx, apsis_contacts(b->ctx, &volume, &contact, 1, NULL, &o), APSIS_ERROR_ARGUMENT, "spacing[2] is 0");
    for (int a = 0; a < 3; ++a) o.spacing[a] = 1e200;
    assert_fails(b->ctx, apsis_contacts(b->ctx, &volume, &contact, 1, NULL, &o), APSIS_ERROR_RANGE, "spacing|1e+200");
    for (int a = 0; a < 3; ++a) o.spacing[a] = 1e-200;
    assert_fails(b->ctx, apsis_contacts(b->ctx, &volume, &contact, 1, NULL, &o), APSIS_ERROR_RANGE, "spacing|1e-200");
    frame_close(&bits);
    frame_close(&real);
    frame_close(&labels);
}

/** A workspace of the size that is told is enough. */
static void workspaces(bench *b) {
    const int64_t size[3] = {100, 50, 3};
    uint8_t *mask = must_alloc(100 * 50 * 3);
    chance c = {5};
    fill_values(mask, size, &c);
    frame labels = frame_open(b, APSIS_U8, 3, size, PADDED | STEPPED);
    frame_put(&labels, mask);
    const apsis_image *const images[] = {&labels.image};
    static const apsis_transform transforms[] = {APSIS_STATISTICS, APSIS_CONTACTS};
    for (int t = 0; t < 2; ++t) {
        size_t bytes;
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, transforms[t], images, 1, NULL, &bytes));
        apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
        if (bytes) assert_ok(b->ctx, apsis_alloc(b->ctx, b->device == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE, &memory));
        if (bytes) assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes));
        int64_t count;
        if (t == 0) assert_ok(b->ctx, apsis_statistics(b->ctx, &labels.image, NULL, 0, &count, NULL));
        if (t == 1) assert_ok(b->ctx, apsis_contacts(b->ctx, &labels.image, NULL, 0, &count, NULL));
        assert_true(count > 0);
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        apsis_free(b->ctx, &memory);
    }
    frame_close(&labels);
    free(mask);
}

static const test_case cases[] = {
    TEST(every_3x3_image, EVERYWHERE),
    TEST(every_2x2x2_volume, EVERYWHERE),
    TEST(random_statistics, EVERYWHERE),
    TEST(random_contacts, EVERYWHERE),
    TEST(long_and_thin, EVERYWHERE),
    TEST(noise_in_parts, EVERYWHERE),
    TEST(flipping_axes, EVERYWHERE),
    TEST(permuting_values, EVERYWHERE),
    TEST(sums_of_areas, EVERYWHERE),
    TEST(values_that_touch, EVERYWHERE),
    TEST(a_corner_alone_has_no_area, EVERYWHERE),
    TEST(a_dense_table, EVERYWHERE),
    TEST(images_without_pixels, EVERYWHERE),
    TEST(wrong_arguments, EVERYWHERE),
    TEST(workspaces, EVERYWHERE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
