/* apsis_measures: against brute force, by laws, and what it refuses. */
#include <math.h>

#include "measure_oracle.h"
#include "run_labels.h"

enum { IN_2D = APSIS_PERIMETER | APSIS_HULL | APSIS_FERET, OUTLINES = APSIS_FILLED | APSIS_HULL | APSIS_FERET, ALL = 255 };

/* ---- One image ---- */

typedef struct question {
    problem p; /* a byte of its mask stands for a value of the type, as everywhere */
    apsis_type type, grey_type;
    unsigned layout, grey_layout;
    uint32_t wanted;
    int64_t capacity;
    const int64_t *grey; /* [pixel]: whole numbers, in units of grey_unit; NULL: intensities are not wanted */
    double grey_unit;
} question;

static void assert_close(const question *q, const char *name, double got, double want, double scale) {
    if (fabs(got - want) <= 1e-11 * fmax(fabs(want), scale)) return;
    char text[256];
    describe(&q->p, text, sizeof text);
    print_error("%s\n  %s is %.17g, but should be %.17g\n", text, name, got, want);
    fail();
}

/** Axes, orientation and eccentricity are those of the moments: by what eigenvalues add up to, and multiply. */
static void assert_axes(const question *q, const apsis_measure *m) {
    const double area = (double)m->component.area, xx = m->moments[0] / area, yy = m->moments[1] / area,
                 zz = m->moments[2] / area, xy = m->moments[3] / area, xz = m->moments[4] / area, yz = m->moments[5] / area;
    const double part = q->p.ndim == 2 ? 16 : 20, trace = xx + yy + zz;
    double value[3];
    for (int a = 0; a < 3; ++a) value[a] = m->axes[a] * m->axes[a] / part;
    assert_true(m->axes[0] >= m->axes[1] && m->axes[1] >= m->axes[2]);
    assert_close(q, "trace", value[0] + value[1] + value[2], trace, 0);
    assert_close(q, "sum of squares", value[0] * value[0] + value[1] * value[1] + value[2] * value[2],
                 xx * xx + yy * yy + zz * zz + 2 * (xy * xy + xz * xz + yz * yz), 0);
    if (q->p.ndim == 3) {
        const double det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
        assert_close(q, "product", value[0] * value[1] * value[2], det, trace * trace * trace);
        assert_true(m->orientation == 0 && m->eccentricity == 0);
        return;
    }
    assert_close(q, "eccentricity", m->eccentricity * m->eccentricity, value[0] > 0 ? 1 - value[1] / value[0] : 0, 1);
    const double c = cos(m->orientation), s = sin(m->orientation);
    assert_true(fabs(m->orientation) <= 1.5707963267948968);
    if (xx != yy)
        assert_close(q, "along the longest axis", s * s * xx + c * c * yy + 2 * s * c * xy, value[0], trace);
    else
        assert_true(fabs(m->orientation) == 0.78539816339744831 && (m->orientation > 0) == (xy > 0));
}

static void assert_shape(const question *q, const int64_t *value, const apsis_measure *m) {
    const problem *p = &q->p;
    shape_of s = new_shape(p, value, m->component.value);
    apsis_measure want = {.euler = 0};
    const uint32_t wanted = q->wanted;
    if (wanted & APSIS_MOMENTS) moments_of(&s, want.moments);
    double span = 0;
    for (int a = 0; a < p->ndim; ++a) span = fmax(span, (double)p->size[a] * s.spacing[a]);
    for (int k = 0; k < 6; ++k)
        assert_close(q, "moments", m->moments[k], want.moments[k], (double)m->component.area * span * span);
    if (wanted & APSIS_MOMENTS) assert_axes(q, m);
    if (wanted & APSIS_EULER) want.euler = euler_of(&s, p->options.connectivity ? p->options.connectivity : 1);
    if (wanted & APSIS_FILLED) want.filled = filled_of(&s);
    if (wanted & APSIS_SURFACE) faces_of(&s, want.faces, &want.surface);
    if (wanted & APSIS_PERIMETER) {
        want.perimeter = perimeter_of(&s);
        for (int k = 0; k < 2; ++k) want.crofton[k] = crofton_of(&s, 2 + 2 * k);
    }
    if (wanted & (APSIS_HULL | APSIS_FERET)) hull_of(&s, &want);
    free_shape(&s);
    assert_int_equal(m->euler, want.euler);
    assert_int_equal(m->filled, want.filled);
    for (int a = 0; a < 3; ++a) assert_int_equal(m->faces[a], want.faces[a]);
    assert_close(q, "surface", m->surface, want.surface, 0);
    assert_close(q, "perimeter", m->perimeter, want.perimeter, 0);
    for (int k = 0; k < 2; ++k) assert_close(q, "crofton", m->crofton[k], want.crofton[k], 0);
    const bool hull = wanted & APSIS_HULL, feret = wanted & APSIS_FERET;
    assert_int_equal(m->convex, hull ? want.convex : 0);
    assert_close(q, "convex_area", m->convex_area, hull ? want.convex_area : 0, 0);
    for (int k = 0; k < 2; ++k) assert_close(q, "feret", m->feret[k], feret ? want.feret[k] : 0, 0);
    assert_close(q, "feret_contour", m->feret_contour, feret ? want.feret_contour : 0, 0);
}

static void assert_intensity(const question *q, const int64_t *value, const apsis_measure *m) {
    __int128 sum = 0;
    int64_t lower = INT64_MAX, upper = INT64_MIN;
    for (int64_t i = 0; i < pixels_of(&q->p) && q->grey; ++i) {
        if (value[i] != m->component.value) continue;
        sum += q->grey[i];
        lower = q->grey[i] < lower ? q->grey[i] : lower, upper = q->grey[i] > upper ? q->grey[i] : upper;
    }
    const double total = (double)sum * q->grey_unit; /* rounded once: the unit is a power of two */
    assert_true(m->intensity_sum == total && m->intensity_mean == total / (double)m->component.area);
    assert_true(m->intensity_min == (q->grey ? (double)lower * q->grey_unit : 0));
    assert_true(m->intensity_max == (q->grey ? (double)upper * q->grey_unit : 0));
}

static bool touches(const problem *p, const apsis_component *c) {
    bool at = false;
    for (int a = 0; a < p->ndim; ++a) at = at || c->lower[a] == 0 || c->upper[a] == p->size[a] - 1;
    return at;
}

static frame open_grey(bench *b, const question *q) {
    const size_t bytes = type_size(q->grey_type), pixels = (size_t)pixels_of(&q->p);
    frame grey = frame_open(b, q->grey_type, q->p.ndim, q->p.size, q->grey_layout);
    uint8_t *packed = must_alloc(pixels * bytes + 8);
    for (size_t i = 0; i < pixels; ++i) {
        const float real = (float)((double)q->grey[i] * q->grey_unit);
        memcpy(packed + i * bytes, q->grey_type == APSIS_F32 ? (const void *)&real : (const void *)&q->grey[i], bytes);
    }
    frame_put(&grey, packed);
    free(packed);
    return grey;
}

static void check_measures(bench *b, const question *q) {
    const problem *p = &q->p;
    const int64_t pixels = pixels_of(p);
    frame labels = frame_open(b, q->type, p->ndim, p->size, q->layout), grey;
    put_set(&labels, p);
    if (q->grey) grey = open_grey(b, q);
    int64_t *value = must_alloc((size_t)pixels * sizeof *value), values = -1, count = -1;
    for (int64_t i = 0; i < pixels; ++i) value[i] = q->type == APSIS_BIT ? p->mask[i] != 0 : value_of_byte(q->type, p->mask[i]);
    /* What is known without measures has tests of its own. */
    apsis_component *known = must_alloc((size_t)(pixels + 1) * sizeof *known);
    frame as_bytes = frame_open(b, APSIS_I64, p->ndim, p->size, PACKED);
    frame_put(&as_bytes, value);
    assert_ok(b->ctx, apsis_statistics(b->ctx, &as_bytes.image, known, pixels, &values, NULL));
    apsis_measure *got = must_alloc((size_t)(q->capacity + 1) * sizeof *got);
    memset(got, POISON, (size_t)(q->capacity + 1) * sizeof *got);
    assert_ok(b->ctx, apsis_measures(b->ctx, &labels.image, q->grey ? &grey.image : NULL, q->wanted, got, q->capacity, &count,
                                     &p->options));
    int64_t m = 0;
    for (int64_t k = 0; k < values; ++k) {
        if (known[k].value == 0) continue;
        if (m < q->capacity) {
            assert_memory_equal(&got[m].component, &known[k], sizeof known[k]);
            assert_int_equal(got[m].border, touches(p, &known[k]));
            assert_shape(q, value, &got[m]);
            assert_intensity(q, value, &got[m]);
            for (int r = 0; r < 8; ++r) assert_true(got[m].reserved[r] == 0);
        }
        ++m;
    }
    assert_int_equal(count, m);
    const uint8_t *spare = (const uint8_t *)&got[least(m, q->capacity)];
    for (size_t i = 0; i < sizeof *got; ++i) assert_int_equal(spare[i], POISON);
    frame_assert_unchanged(&labels);
    if (q->grey) frame_assert_unchanged(&grey), frame_close(&grey);
    frame_close(&labels);
    frame_close(&as_bytes);
    free(value);
    free(known);
    free(got);
}

/* ---- Every small image of three values ---- */

/** What is wanted of image i: outlines, which are the host's work, with one in four. */
static uint32_t some_wanted(int i) { return (i % 4 ? ALL & ~OUTLINES : ALL) & ~APSIS_INTENSITY; }

static void every_3x4_image(bench *b) {
    enum { IMAGES = 531441, PIXELS = 12 };
    uint8_t mask[PIXELS];
    const int images = effort(20000);
    for (int i = 0; i < images; ++i) {
        draw_digits(mask, PIXELS, (int)((int64_t)IMAGES * i / images));
        question q = {.p = new_problem(2, 3, 4, 1, mask), .type = APSIS_U8, .wanted = some_wanted(i), .capacity = 2};
        q.p.options.connectivity = 1 + i / 4 % 2;
        check_measures(b, &q);
    }
}

static void every_4x3_set(bench *b) {
    enum { IMAGES = 4096, PIXELS = 12 };
    uint8_t mask[PIXELS];
    const int images = effort(2 * IMAGES);
    for (int i = 0; i < images; ++i) {
        for (int k = 0; k < PIXELS; ++k) mask[k] = (uint8_t)((IMAGES * i / images) >> k & 1);
        question q = {.p = new_problem(2, 4, 3, 1, mask), .type = APSIS_BIT, .wanted = some_wanted(i), .capacity = 1};
        q.p.options.connectivity = 1 + i % 2;
        check_measures(b, &q);
    }
}

static void every_2x2x2_volume(bench *b) {
    enum { IMAGES = 6561, PIXELS = 8 };
    uint8_t mask[PIXELS];
    const int images = effort(2 * IMAGES);
    for (int i = 0; i < images; ++i) {
        draw_digits(mask, PIXELS, (int)((int64_t)IMAGES * i / images));
        question q = {.p = new_problem(3, 2, 2, 2, mask),
                      .type = label_types[i / 8 % 4],
                      .wanted = some_wanted(i) & ~(uint32_t)IN_2D,
                      .capacity = 2};
        q.p.options.connectivity = 1 + i % 2 * 2;
        check_measures(b, &q);
    }
}

/* ---- Random problems of every kind ---- */

static void draw_grey(chance *c, question *q, int64_t *grey) {
    static const apsis_type types[] = {APSIS_U8, APSIS_U16, APSIS_F32};
    q->grey = grey, q->grey_type = types[roll_below(c, 3)], q->grey_unit = 1;
    q->grey_layout = roll_below(c, 2) ? (unsigned)roll_below(c, LAYOUTS) : PACKED;
    const bool real = q->grey_type == APSIS_F32;
    if (real) q->grey_unit = ldexp(1, (int)roll_below(c, 200) - 149);
    for (int64_t i = 0; i < pixels_of(&q->p); ++i) {
        grey[i] = roll_below(c, real ? 1 << 24 : q->grey_type == APSIS_U8 ? 256 : 65536);
        if (real) grey[i] = (roll_below(c, 2) ? -grey[i] : grey[i]) * ((int64_t)1 << roll_below(c, 35));
    }
}

static void random_measures(bench *b) {
    static const apsis_type types[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    chance c = {2711};
    for (int i = 0; i < effort(250); ++i) {
        question q = {.p = new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL), .type = types[roll_below(&c, 5)]};
        problem *p = &q.p;
        do
            for (int a = 0; a < p->ndim; ++a) p->size[a] = 1 + roll_below(&c, p->ndim == 3 ? 12 : roll_below(&c, 2) ? 40 : 200);
        while (pixels_of(p) > 1200);
        uint8_t *mask = must_alloc((size_t)pixels_of(p));
        int64_t *grey = must_alloc((size_t)pixels_of(p) * sizeof *grey);
        fill_cells(mask, p->size, &c);
        p->mask = mask;
        q.layout = roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED;
        q.wanted = roll_below(&c, 2) ? ALL : (uint32_t)roll_below(&c, ALL + 1);
        if (roll_below(&c, 3)) q.wanted &= ~(uint32_t)OUTLINES;
        p->options.connectivity = roll_below(&c, 2) ? p->ndim : (int32_t)roll_below(&c, 2);
        p->options.flags = roll_below(&c, 4) ? 0 : APSIS_LABELS;
        const int kind = (int)roll_below(&c, 3);
        for (int a = 0; a < 3 && kind; ++a) p->options.spacing[a] = kind == 1 ? 0.3 : 0.1 + roll_real(&c) * 5;
        if (p->ndim == 3) q.wanted &= ~(uint32_t)IN_2D;
        if (kind == 2) q.wanted &= ~(uint32_t)APSIS_PERIMETER;
        q.capacity = roll_below(&c, 4) ? 256 : roll_below(&c, 5);
        if (q.wanted & APSIS_INTENSITY) draw_grey(&c, &q, grey);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_measures(b, &q);
        free(mask);
        free(grey);
    }
}

/* ---- Laws ---- */

/** The same bytes with any number of threads, of an image with more rows than one thread takes. */
static void random_threads(bench *b) {
    enum { W = 700, H = 600 };
    const int64_t size[3] = {W, H, 1};
    chance c = {2712};
    uint8_t *mask = must_alloc(W * H);
    float *grey = must_alloc(W * H * sizeof *grey);
    for (int i = 0; i < effort(6); ++i) {
        fill_cells(mask, size, &c);
        for (int k = 0; k < W * H; ++k) grey[k] = (float)ldexp(roll_real(&c) - 0.5, (int)roll_below(&c, 250) - 126);
        frame labels = frame_open(b, APSIS_U8, 2, size, PACKED), grey_frame = frame_open(b, APSIS_F32, 2, size, PACKED);
        frame_put(&labels, mask);
        frame_put(&grey_frame, grey);
        static apsis_measure found[4][256];
        int64_t count[4];
        for (int threads = 1; threads < 4; ++threads) {
            assert_ok(b->ctx, apsis_set_threads(b->ctx, threads));
            memset(found[threads], 0, sizeof found[threads]);
            assert_ok(b->ctx, apsis_measures(b->ctx, &labels.image, &grey_frame.image, ALL, found[threads], 256,
                                             &count[threads], NULL));
            assert_memory_equal(found[threads], found[1], sizeof found[1]);
            assert_int_equal(count[threads], count[1]);
        }
        frame_close(&labels);
        frame_close(&grey_frame);
    }
    free(mask);
    free(grey);
}

/** One of the many values of an image: any number, or those around 0. */
static int64_t some_value(chance *c, int kind, int64_t values) {
    const int64_t i = roll_below(c, values);
    return kind == 0 ? i : kind == 1 ? i - values / 2 : (int64_t)((uint64_t)i * 0x9e3779b97f4a7c15u);
}

/** The same bytes as on the CPU: of long and of narrow images, and of many values. */
static void random_on_the_cpu(bench *b) {
    static const struct {
        int ndim;
        int64_t size[3];
    } shape[] = {{2, {1, 280000, 1}}, {2, {9000, 1, 1}}, {2, {300, 200, 1}}, {2, {61, 400, 1}}, {2, {33, 3000, 1}},
                 {3, {1, 2, 9000}},   {3, {70, 65, 5}},  {3, {31, 32, 33}},  {3, {5, 400, 8}},  {3, {3, 3, 5000}}};
    static const apsis_type grey_types[] = {APSIS_U8, APSIS_U16, APSIS_F32};
    apsis_context *cpu = NULL;
    assert_int_equal(apsis_create(APSIS_VERSION, APSIS_CPU, &cpu), APSIS_OK);
    chance c = {2714};
    for (int i = 0; i < effort(40); ++i) {
        const int k = i % COUNT(shape), ndim = shape[k].ndim, kind = (int)roll_below(&c, 3);
        const int64_t *size = shape[k].size, pixels = size[0] * size[1] * size[2];
        const apsis_type type = label_types[roll_below(&c, 4)], grey_type = grey_types[roll_below(&c, 3)];
        const int64_t values = 1 + roll_below(&c, roll_below(&c, 2) ? 3 : roll_below(&c, 4) ? 300 : 4000);
        const int64_t run = pixels > 100000 ? 500 : 1 + roll_below(&c, roll_below(&c, 2) ? 2 : 50);
        uint8_t *labels = must_alloc((size_t)pixels * type_size(type)), *grey = must_alloc((size_t)pixels * 4);
        int64_t value = 0;
        for (int64_t at = 0; at < pixels; ++at) {
            if (at % run == 0) value = some_value(&c, kind, values);
            memcpy(labels + at * (int64_t)type_size(type), &value, type_size(type));
            const float real = (float)ldexp(roll_real(&c) - 0.5, (int)roll_below(&c, 250) - 126);
            const uint64_t whole = roll(&c);
            memcpy(grey + at * (int64_t)type_size(grey_type), grey_type == APSIS_F32 ? (const void *)&real : &whole,
                   type_size(grey_type));
        }
        frame set = frame_open(b, type, ndim, size, PACKED), bright = frame_open(b, grey_type, ndim, size, PACKED);
        frame_put(&set, labels);
        frame_put(&bright, grey);
        apsis_image host = {.data = labels, .type = type, .ndim = ndim, .size = {size[0], size[1], size[2]}}, host_grey = host;
        host_grey.data = grey, host_grey.type = grey_type;
        apsis_options options = APSIS_OPTIONS_INIT;
        options.connectivity = roll_below(&c, 2) ? ndim : 1;
        uint32_t wanted = roll_below(&c, 2) ? ALL : (uint32_t)roll_below(&c, ALL + 1);
        wanted &= ~(uint32_t)OUTLINES & ~(ndim == 3 ? (uint32_t)IN_2D : 0);
        const size_t bytes = (size_t)(values + 1) * sizeof(apsis_measure);
        apsis_measure *got = must_alloc(bytes), *want = must_alloc(bytes);
        int64_t count = -1, want_count = -2;
        memset(got, 0, bytes), memset(want, 0, bytes);
        assert_ok(b->ctx, apsis_measures(b->ctx, &set.image, &bright.image, wanted, got, values + 1, &count, &options));
        assert_ok(cpu, apsis_measures(cpu, &host, &host_grey, wanted, want, values + 1, &want_count, &options));
        assert_int_equal(count, want_count);
        assert_memory_equal(got, want, bytes);
        frame_close(&set);
        frame_close(&bright);
        free(labels), free(grey), free(got), free(want);
    }
    apsis_destroy(cpu);
}

/** Sums of squares that do not fit 64 bits. */
static void long_line(bench *b) {
    enum { LENGTH = 4 << 20 };
    const int64_t size[3] = {1, LENGTH, 1};
    uint8_t *line = must_alloc(LENGTH);
    memset(line, 1, LENGTH);
    frame labels = frame_open(b, APSIS_U8, 2, size, PACKED);
    frame_put(&labels, line);
    apsis_measure m;
    assert_ok(b->ctx, apsis_measures(b->ctx, &labels.image, NULL, APSIS_MOMENTS, &m, 1, NULL, NULL));
    const double n = LENGTH;
    assert_true(m.moments[1] == n * ((n * n - 1) / 12) && m.moments[0] == 0);
    frame_close(&labels);
    free(line);
}

/** A digital disc has the moments and the perimeters of a disc, nearly. */
static void disc(bench *b) {
    enum { SIDE = 221, R = 100 };
    static uint8_t mask[SIDE * SIDE];
    const double pi = 3.14159265358979323846;
    for (int i = 0; i < SIDE * SIDE; ++i) {
        const int x = i % SIDE - SIDE / 2, y = i / SIDE - SIDE / 2;
        mask[i] = x * x + y * y <= R * R;
    }
    const int64_t size[3] = {SIDE, SIDE, 1};
    frame labels = frame_open(b, APSIS_U8, 2, size, PACKED);
    frame_put(&labels, mask);
    apsis_measure m;
    assert_ok(b->ctx, apsis_measures(b->ctx, &labels.image, NULL, ALL & ~APSIS_INTENSITY, &m, 1, NULL, NULL));
    for (int a = 0; a < 2; ++a) assert_true(fabs(m.axes[a] / (2 * R) - 1) < 0.01);
    assert_true(fabs(m.crofton[1] / (2 * pi * R) - 1) < 0.01 && fabs(m.perimeter / (2 * pi * R) - 1) < 0.06);
    assert_true(fabs(m.feret[0] / (2 * R + 1) - 1) < 0.01 && fabs(m.feret[1] / (2 * R + 1) - 1) < 0.01);
    assert_true(m.convex >= m.component.area && (double)m.convex < 1.01 * (double)m.component.area);
    assert_true(m.eccentricity == 0 && m.euler == 1 && m.filled == m.component.area && !m.border);
    frame_close(&labels);
}

/** Sums of floats that cancel, and what is no number. */
static void unusual_intensities(bench *b) {
    uint8_t ones[4] = {1, 1, 1, 1};
    const float big = 3e38f, tiny = 1e-45f;
    const struct {
        float grey[4];
        double sum, least, most;
    } row[] = {{{big, 1, -big, tiny}, 1, -(double)big, (double)big},
               {{tiny, tiny, -0.0f, 0}, 2 * (double)tiny, 0, (double)tiny},
               {{big, big, big, big}, 4 * (double)big, (double)big, (double)big},
               {{0x1p100F, 0x1p47F, tiny, 0}, 0x1p100 + 0x1p48, 0, 0x1p100}, /* more than half way */
               {{0x1p100F, 0x1p47F, -0.0F, 0}, 0x1p100, 0, 0x1p100},
               {{-0x1p100F, -0x1p47F, -tiny, 0}, -0x1p100 - 0x1p48, -0x1p100, 0},
               {{INFINITY, 1, -1, 2}, INFINITY, -1, INFINITY},
               {{INFINITY, -INFINITY, 1, 2}, NAN, -INFINITY, INFINITY},
               {{NAN, INFINITY, 1, 2}, NAN, NAN, NAN}};
    const int64_t size[3] = {4, 1, 1};
    for (int i = 0; i < COUNT(row); ++i) {
        frame labels = frame_open(b, APSIS_U8, 2, size, PACKED), grey = frame_open(b, APSIS_F32, 2, size, PACKED);
        frame_put(&labels, ones);
        frame_put(&grey, row[i].grey);
        apsis_measure m;
        assert_ok(b->ctx, apsis_measures(b->ctx, &labels.image, &grey.image, APSIS_INTENSITY, &m, 1, NULL, NULL));
        const double got[3] = {m.intensity_sum, m.intensity_min, m.intensity_max},
                     want[3] = {row[i].sum, row[i].least, row[i].most};
        for (int k = 0; k < 3; ++k) assert_true(isnan(want[k]) ? isnan(got[k]) : got[k] == want[k]);
        frame_close(&labels);
        frame_close(&grey);
    }
}

/* ---- Tables, and what is refused ---- */

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
    TEST(every_3x4_image, WITH_HOST_IMAGES),
    TEST(every_4x3_set, EVERYWHERE),
    TEST(every_2x2x2_volume, WITH_HOST_IMAGES),
    TEST(random_measures, EVERYWHERE),
    TEST(random_threads, EVERYWHERE),
    TEST(disc, EVERYWHERE),
    TEST(random_on_the_cpu, EVERYWHERE),
    TEST(long_line, WITH_HOST_IMAGES),
    TEST(unusual_intensities, EVERYWHERE),
    TEST(dense, EVERYWHERE),
    TEST(progress, EVERYWHERE),
    TEST(little_workspace, EVERYWHERE),
    TEST(bad_calls, WITH_HOST_IMAGES),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
