#include "run_geodesic.h"

#include <math.h>

static void *take(frame *f, bool wanted) {
    if (!wanted) return NULL;
    void *pixels = must_alloc((size_t)(f->count + 8));
    frame_get(f, pixels);
    frame_close(f);
    return pixels;
}

outputs run_geodesic(bench *b, const problem *p, const uint8_t *seeds, const given *how) {
    const apsis_type type[4] = {how->set, how->set, how->distance, how->nearest};
    const unsigned layout[4] = {how->set_layout, how->set_layout, how->distance_layout, how->nearest_layout};
    frame f[4];
    for (int k = 0; k < 4; ++k)
        if (type[k]) f[k] = frame_open(b, type[k], p->ndim, p->size, layout[k]);
    frame_put(&f[0], p->mask);
    frame_put(&f[1], seeds);
    assert_ok(b->ctx, apsis_geodesic(b->ctx, &f[0].image, &f[1].image, type[2] ? &f[2].image : NULL,
                                     type[3] ? &f[3].image : NULL, &p->options));
    for (int k = 0; k < 2; ++k) {
        frame_assert_unchanged(&f[k]);
        frame_close(&f[k]);
    }
    return (outputs){take(&f[2], type[2]), take(&f[3], type[3])};
}

static void differ(const problem *p, const char *what, int64_t i, double got, double want) {
    char text[256];
    describe(p, text, sizeof text);
    print_error("%s, connectivity %d\n  %s at (%lld, %lld, %lld) is %.17g, but should be %.17g\n", text,
                p->options.connectivity, what, (long long)(i % p->size[0]), (long long)(i / p->size[0] % p->size[1]),
                (long long)(i / p->size[0] / p->size[1]), got, want);
    fail();
}

/** What a pixel should hold that no path leads to. */
static double nothing(apsis_type type) {
    return type == APSIS_I32 ? INT32_MAX : type == APSIS_I64 ? (double)INT64_MAX : INFINITY;
}

static double wanted_distance(const problem *p, const scale *s, apsis_type type, int64_t i, int64_t cost) {
    if (!is_member(p, i)) return -1;
    return cost < 0 ? nothing(type) : shown(s, type, cost);
}

static bool is_near(double a, double b) { return a == b || fabs(a - b) <= fabs(b) * 3e-7; }

void compare_geodesic(const problem *p, const given *how, const uint8_t *seeds, const outputs *out, const answer *want) {
    const scale s = scale_of(p);
    const double limit = p->options.max_distance;
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        int64_t cost = want->cost[i];
        if (limit > 0 && cost >= 0 && s.rounded && fabs(real_of(&s, cost) - limit) < limit * 1e-7) continue;
        if (limit > 0 && cost >= 0 && real_of(&s, cost) > limit) cost = -1;
        if (out->distance) {
            const double got = value_at(out->distance, how->distance, i);
            const double wanted = wanted_distance(p, &s, how->distance, i, cost);
            if (s.rounded ? !is_near(got, wanted) : got != wanted) differ(p, "distance", i, got, wanted);
        }
        if (out->nearest) {
            const double got = value_at(out->nearest, how->nearest, i), wanted = cost < 0 ? -1 : (double)want->nearest[i];
            const bool is_seed = got >= 0 && cost >= 0 && seeds[(int64_t)got]; /* equal lengths may be rounded apart */
            if (got != wanted && !(s.rounded && is_seed)) differ(p, "nearest", i, got, wanted);
        }
    }
}

void check_geodesic(bench *b, const problem *p, const uint8_t *seeds, const given *how) {
    outputs out = run_geodesic(b, p, seeds, how);
    answer want = solve_paths(p, seeds);
    compare_geodesic(p, how, seeds, &out, &want);
    free_answer(&want);
    free_outputs(&out);
}
