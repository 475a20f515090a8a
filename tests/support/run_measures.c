#include "run_measures.h"

#include <math.h>

static void assert_close(const measuring *q, const char *name, double got, double want, double scale) {
    if (fabs(got - want) <= 1e-11 * fmax(fabs(want), scale)) return;
    char text[256];
    describe(&q->p, text, sizeof text);
    print_error("%s\n  %s is %.17g, but should be %.17g\n", text, name, got, want);
    fail();
}

/** Axes, orientation and eccentricity are those of the moments: by what eigenvalues add up to, and multiply. */
static void assert_axes(const measuring *q, const apsis_measure *m) {
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

static void assert_shape(const measuring *q, const int64_t *value, const apsis_measure *m) {
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

static void assert_intensity(const measuring *q, const int64_t *value, const apsis_measure *m) {
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

static frame open_grey(bench *b, const measuring *q) {
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

void check_measures(bench *b, const measuring *q) {
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
