#include "run_eccentricity.h"

#include "run_components.h"

#include <math.h>

static void *take(frame *f, bool wanted) {
    if (!wanted) return NULL;
    void *pixels = must_alloc((size_t)(f->count + 8));
    frame_get(f, pixels);
    frame_close(f);
    return pixels;
}

outputs run_eccentricity(bench *b, const problem *p, const given *how, apsis_extent *extents, int64_t capacity,
                         int64_t *count) {
    const apsis_type type[3] = {how->set, how->distance, how->nearest};
    const unsigned layout[3] = {how->set_layout, how->distance_layout, how->nearest_layout};
    frame f[3];
    for (int k = 0; k < 3; ++k)
        if (type[k]) f[k] = frame_open(b, type[k], p->ndim, p->size, layout[k]);
    put_set(&f[0], p);
    assert_ok(b->ctx, apsis_eccentricity(b->ctx, &f[0].image, type[1] ? &f[1].image : NULL, type[2] ? &f[2].image : NULL,
                                         extents, capacity, count, &p->options));
    frame_assert_unchanged(&f[0]);
    frame_close(&f[0]);
    return (outputs){take(&f[1], type[1]), take(&f[2], type[2])};
}

static void differ(const problem *p, const char *what, int64_t i, double got, double want) {
    char text[256];
    describe(p, text, sizeof text);
    print_error("%s, connectivity %d, method %d\n  %s of %lld is %.17g, but should be %.17g\n", text, p->options.connectivity,
                (int)p->options.method, what, (long long)i, got, want);
    fail();
}

static void compare_extent(const problem *p, const scale *s, int64_t k, const apsis_extent *got, const apsis_extent *want) {
    if (s->rounded) { /* equal lengths may be rounded apart */
        const double slack = want->diameter * 1e-7;
        if (fabs(got->diameter - want->diameter) > slack) differ(p, "diameter", k, got->diameter, want->diameter);
        if (fabs(got->radius - want->radius) > slack) differ(p, "radius", k, got->radius, want->radius);
        return;
    }
    if (memcmp(got, want, sizeof *got) == 0) return;
    differ(p, "first", k, (double)got->first, (double)want->first != (double)got->first ? (double)want->first : -7);
    differ(p, "diameter", k, got->diameter, want->diameter);
}

void check_eccentricity(bench *b, const problem *p, const given *how) {
    enum { SPARE = 2 };
    extremes want = solve_extremes(p);
    const int64_t capacity = want.count > 3 ? want.count - 1 : want.count;
    const size_t bytes = (size_t)(capacity + SPARE) * sizeof(apsis_extent);
    uint8_t *memory = must_alloc(bytes);
    memset(memory, POISON, bytes);
    int64_t count = -1;
    outputs out = run_eccentricity(b, p, how, (apsis_extent *)(void *)memory, capacity, &count);
    const scale s = scale_of(p);
    assert_int_equal(count, want.count);
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        if (out.distance) {
            const double got = value_at(out.distance, how->distance, i);
            const double wanted = want.cost[i] < 0 ? -1 : shown(&s, how->distance, want.cost[i]);
            if (s.rounded ? fabs(got - wanted) > fabs(wanted) * 3e-7 : got != wanted) differ(p, "eccentricity", i, got, wanted);
        }
        if (out.nearest && !s.rounded) {
            const double got = value_at(out.nearest, how->nearest, i);
            if (got != (double)want.farthest[i]) differ(p, "farthest", i, got, (double)want.farthest[i]);
        }
    }
    for (int64_t k = 0; k < capacity; ++k) compare_extent(p, &s, k, (apsis_extent *)(void *)memory + k, &want.extent[k]);
    for (size_t i = (size_t)capacity * sizeof(apsis_extent); i < bytes; ++i) assert_int_equal(memory[i], POISON);
    free(memory);
    free_extremes(&want);
    free_outputs(&out);
}

void check_by_every_source(bench *b, const problem *p) {
    const given alone = {.set = APSIS_U8, .distance = APSIS_F64},
                both = {.set = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I32};
    const size_t pixels = (size_t)pixels_of(p);
    problem slow = *p;
    slow.options.method = APSIS_EVERY_SOURCE;
    int64_t count;
    outputs want = run_eccentricity(b, &slow, &both, NULL, 0, &count);
    for (int k = 0; k < 2; ++k) {
        outputs got = run_eccentricity(b, p, k ? &both : &alone, NULL, 0, &count);
        assert_memory_equal(got.distance, want.distance, pixels * sizeof(double));
        if (k) assert_memory_equal(got.nearest, want.nearest, pixels * sizeof(int32_t));
        free_outputs(&got);
    }
    free_outputs(&want);
}
