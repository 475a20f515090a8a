#include "run_labels.h"

const apsis_type label_types[4] = {APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
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

int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

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

void check_statistics(bench *b, const problem *p, apsis_type type, unsigned layout, int64_t capacity) {
    labels_of l = open_labels(b, p, type, layout);
    check_sparse(b, p, &l, capacity);
    if (type == APSIS_U8) check_dense(b, p, &l, capacity);
    close_labels(&l);
}

/* ---- Contacts ---- */

int compare_pairs(const void *one, const void *other) {
    const apsis_contact *p = one, *q = other;
    const int by_a = compare_values(&p->a, &q->a);
    return by_a ? by_a : compare_values(&p->b, &q->b);
}

/** Every pixel with each of its neighbours behind it; then pairs in order.  Returns how many there are. */
static int64_t touch(const problem *p, const int64_t *value, apsis_contact **contacts) {
    const apsis_options *o = &p->options;
    const int64_t most = o->connectivity ? o->connectivity : 1;
    const bool volume = p->ndim == 3 && !(o->flags & APSIS_SLICES);
    apsis_contact *all = must_alloc((size_t)(pixels_of(p) * 13 + 1) * sizeof *all);
    int64_t count = 0, pairs = 0;
    for (int64_t i = 0; i < pixels_of(p); ++i)
        for (int n = 14; n < 27; ++n) {
            const int64_t d[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            const int64_t axes = (d[0] != 0) + (d[1] != 0) + (d[2] != 0);
            int64_t j;
            if (axes > most || (!volume && d[2]) || !neighbour_at(p, i, d, &j)) continue;
            if (!value[i] || !value[j] || value[i] == value[j]) continue;
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

void check_contacts(bench *b, const problem *p, apsis_type type, unsigned layout, int64_t capacity) {
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

/* ---- Images ---- */

void fill_cells(uint8_t *mask, const int64_t size[3], chance *c) {
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

problem draw_labels(chance *c, uint8_t **mask) {
    static const int64_t sizes[] = {1,  2,  3,  4,  5,  7,  8,  11,  16,  17,  31,  32,
                                    33, 47, 63, 64, 65, 66, 97, 127, 128, 129, 211, 257};
    problem p = new_problem(2, 1, 1, 1, NULL);
    p.ndim = 2 + (int)roll_below(c, 2);
    do
        for (int a = 0; a < 3; ++a) p.size[a] = a < p.ndim ? sizes[roll_below(c, COUNT(sizes))] : 1;
    while (pixels_of(&p) > 30000);
    *mask = must_alloc((size_t)pixels_of(&p));
    fill_cells(*mask, p.size, c);
    p.mask = *mask;
    return p;
}
