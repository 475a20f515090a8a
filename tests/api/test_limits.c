/* Sizes and spacings at the edge of what is allowed: images without pixels, the largest that there are, and units of length
 * that are all but the largest and the smallest that a double holds. */
#include "run_eccentricity.h"

#include <float.h>
#include <math.h>
#include <time.h>

/* ---- Images without pixels ---- */

/** Every call with every set of flags that it takes, and its workspace: nothing happens. */
static void images_without_pixels(bench *b) {
    static const int64_t sizes[][3] = {{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {5, 5, 0}, {0, 5, 1}, {5, 0, 1}};
    static const uint32_t flags[] = {0, APSIS_SLICES, APSIS_COMPLEMENT, APSIS_SLICES | APSIS_COMPLEMENT};
    for (int s = 0; s < COUNT(sizes); ++s)
        for (int f = 0; f < COUNT(flags); ++f)
            for (int connectivity = 1; connectivity <= 2; ++connectivity) {
                apsis_image set = {.type = APSIS_U8, .ndim = 3, .size = {sizes[s][0], sizes[s][1], sizes[s][2]}};
                apsis_image real = set, whole = set;
                real.type = APSIS_F32;
                whole.type = APSIS_I32;
                apsis_options o = APSIS_OPTIONS_INIT;
                o.flags = flags[f];
                o.connectivity = connectivity;
                o.largest = connectivity - 1;
                size_t bytes = 1;
                int64_t count = 7;
                const apsis_image *parts[] = {&set, &whole}, *lengths[] = {&set, &real, &whole};
                const apsis_image *paths[] = {&set, &set, &real, &whole};
                assert_ok(b->ctx, apsis_components(b->ctx, &set, &whole, NULL, 0, &count, &o));
                assert_int_equal(count, 0);
                assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_COMPONENTS, parts, 2, &o, &bytes));
                assert_int_equal(bytes, 0);
                o.largest = 0;
                count = 7;
                assert_ok(b->ctx, apsis_eccentricity(b->ctx, &set, &real, &whole, NULL, 0, &count, &o));
                assert_int_equal(count, 0);
                assert_ok(b->ctx, apsis_geodesic(b->ctx, &set, &set, &real, &whole, &o));
                assert_ok(b->ctx, apsis_distance(b->ctx, &set, &real, &whole, &o));
                assert_ok(b->ctx, apsis_voronoi(b->ctx, &set, &whole, &o));
                assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_ECCENTRICITY, lengths, 3, &o, &bytes));
                assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_GEODESIC, paths, 4, &o, &bytes));
                assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, lengths, 3, &o, &bytes));
                assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_VORONOI, parts, 2, &o, &bytes));
            }
}

/* ---- The largest images ---- */

/** The workspace of the largest images is known at once, or refused; the time does not go with their size. */
static void workspaces_of_the_largest(bench *b) {
    static const int64_t sizes[][3] = {{1 << 20, 1 << 30, 1}, {1 << 30, 1 << 20, 1}, {1, 1 << 30, 1},
                                       {1 << 30, 1, 1},       {1 << 30, 1 << 30, 1}, {1 << 10, 1 << 20, 1 << 30},
                                       {1, 1, 1 << 30},       {1 << 30, 1 << 30, 7}, {218934409, 859764727, 49}};
    for (int s = 0; s < COUNT(sizes); ++s)
        for (int slices = 0; slices < 2; ++slices) {
            apsis_image set = {.type = APSIS_BIT, .ndim = 3, .size = {sizes[s][0], sizes[s][1], sizes[s][2]}};
            apsis_image out = set;
            out.type = APSIS_U8;
            const apsis_image *images[] = {&set, &out};
            apsis_options o = APSIS_OPTIONS_INIT;
            o.flags = slices ? APSIS_SLICES : 0;
            size_t bytes = 0;
            const clock_t before = clock();
            const apsis_status st = apsis_workspace_size(b->ctx, APSIS_COMPONENTS, images, 2, &o, &bytes);
            assert_true(st == APSIS_OK || st == APSIS_ERROR_UNSUPPORTED || st == APSIS_ERROR_ARGUMENT);
            assert_true(clock() - before < CLOCKS_PER_SEC / 4);
        }
}

/** A packed image that is too large: that is told of its size, not of a stride that was not given. */
static void packed_and_too_large(bench *b) {
    apsis_image set = {.type = APSIS_U8, .ndim = 3, .size = {1 << 30, 1 << 30, 4}}, out = set;
    out.type = APSIS_F64;
    const apsis_image *images[] = {&set, &out, NULL};
    size_t bytes;
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &bytes), APSIS_ERROR_ARGUMENT,
                 "distance|size|1073741824 x 1073741824 x 4|8 bytes|2^63");
    set.stride[2] = INT64_MAX / 2;
    assert_fails(b->ctx, apsis_workspace_size(b->ctx, APSIS_DISTANCE, images, 3, NULL, &bytes), APSIS_ERROR_ARGUMENT,
                 "set|stride[2]|4611686018427387903");
}

/* ---- Units of length ---- */

enum { W = 37, H = 23, PIXELS = W * H };

typedef struct lengths {
    double distance[PIXELS], geodesic[PIXELS], eccentricity[PIXELS];
    int64_t nearest[PIXELS], cell[PIXELS], seed[PIXELS], farthest[PIXELS];
} lengths;

/** All lengths in one image, in doubles or in floats. */
static void measure(bench *b, const apsis_options *o, apsis_type real, lengths *out) {
    uint8_t mask[PIXELS], ground[PIXELS], seeds[PIXELS] = {[5] = 1, [PIXELS - 9] = 1};
    const int64_t size[3] = {W, H, 1};
    chance c = {21};
    fill_mask(mask, size, NOISE, 0.01, &c);
    fill_mask(ground, size, NOISE, 0.75, &c);
    problem p = new_problem(2, W, H, 1, mask);
    p.options = *o;
    const given how = {.set = APSIS_U8, .distance = real, .nearest = APSIS_I64};
    outputs found[3] = {run_distance(b, &p, &how)};
    p.mask = ground;
    if (o->max_distance > 0) p.options.max_distance = 0; /* eccentricities have none */
    found[2] = run_eccentricity(b, &p, &how, NULL, 0, NULL);
    p.options = *o;
    found[1] = run_geodesic(b, &p, seeds, &how);
    double *const to[3] = {out->distance, out->geodesic, out->eccentricity};
    int64_t *const index[3] = {out->nearest, out->seed, out->farthest};
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < PIXELS; ++i)
            to[k][i] = real == APSIS_F32 ? (double)((float *)found[k].distance)[i] : ((double *)found[k].distance)[i];
        memcpy(index[k], found[k].nearest, sizeof out->nearest);
        free_outputs(&found[k]);
    }
    bench at = *b;
    frame set = frame_open(&at, APSIS_U8, 2, size, PACKED), cells = frame_open(&at, APSIS_I64, 2, size, PACKED);
    frame_put(&set, mask);
    assert_ok(b->ctx, apsis_voronoi(b->ctx, &set.image, &cells.image, o));
    frame_get(&cells, out->cell);
    frame_close(&set);
    frame_close(&cells);
}

/** Lengths in a unit are those in another, times the one in the other: to the last bit where that is a power of two. */
static void compare_units(bench *b, apsis_metric metric, const double spacing[2], double max_distance, int exponent,
                          apsis_type real) {
    lengths *const plain = must_alloc(sizeof *plain), *const scaled = must_alloc(sizeof *scaled);
    apsis_options o = APSIS_OPTIONS_INIT;
    o.metric = metric;
    o.spacing[0] = spacing[0];
    o.spacing[1] = spacing[1];
    o.max_distance = max_distance;
    measure(b, &o, real, plain);
    for (int a = 0; a < 2; ++a) o.spacing[a] = ldexp(o.spacing[a], exponent);
    o.max_distance = ldexp(o.max_distance, exponent);
    measure(b, &o, real, scaled);
    const double *const from[3] = {plain->distance, plain->geodesic, plain->eccentricity};
    const double *const to[3] = {scaled->distance, scaled->geodesic, scaled->eccentricity};
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < PIXELS; ++i) {
            const bool is_length = isfinite(from[k][i]) && !(k > 0 && from[k][i] < 0); /* -1 is outside of the set */
            const double want = is_length ? ldexp(from[k][i], exponent) : from[k][i];
            if (to[k][i] != want) fail_msg("2^%d, kind %d, pixel %d: %.17g, not %.17g", exponent, k, i, to[k][i], want);
        }
    assert_memory_equal(plain->nearest, scaled->nearest, sizeof plain->nearest);
    assert_memory_equal(plain->cell, scaled->cell, sizeof plain->cell);
    assert_memory_equal(plain->seed, scaled->seed, sizeof plain->seed);
    assert_memory_equal(plain->farthest, scaled->farthest, sizeof plain->farthest);
    free(plain);
    free(scaled);
}

static void units_near_the_largest_and_the_least(bench *b) {
    static const double spacings[][2] = {{3.14159, 2.71828}, {1, 2}, {1.4, 1}, {1, 1}, {10, 1.0000001}};
    static const int exponents[] = {-890, -531, 531, 890};
    for (int s = 0; s < COUNT(spacings); s += COUNT(spacings) / effort(COUNT(spacings)))
        for (int e = 0; e < COUNT(exponents); e += COUNT(exponents) / effort(COUNT(exponents)))
            for (int m = APSIS_EUCLIDEAN; m <= (spacings[s][0] == spacings[s][1] ? APSIS_CHESSBOARD : APSIS_CITY_BLOCK); ++m) {
                compare_units(b, (apsis_metric)m, spacings[s], e % 2 ? 9.5 : 0, exponents[e], APSIS_F64);
                compare_units(b, (apsis_metric)m, spacings[s], 0, exponents[e] / 9, APSIS_F32);
            }
}

/** One call of everything that takes a spacing. */
static apsis_status call(bench *b, int transform, apsis_type real, const apsis_options *o) {
    uint8_t mask[PIXELS] = {[7] = 1};
    const int64_t size[3] = {W, H, 1};
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, real, 2, size, PACKED);
    frame_put(&set, mask);
    const apsis_status st = transform == APSIS_DISTANCE  ? apsis_distance(b->ctx, &set.image, &out.image, NULL, o)
                            : transform == APSIS_VORONOI ? apsis_voronoi(b->ctx, &set.image, &out.image, o)
                            : transform == APSIS_GEODESIC
                                ? apsis_geodesic(b->ctx, &set.image, &set.image, &out.image, NULL, o)
                                : apsis_eccentricity(b->ctx, &set.image, &out.image, NULL, NULL, 0, NULL, o);
    apsis_sync(b->ctx);
    frame_close(&set);
    frame_close(&out);
    return st;
}

static const int with_spacing[] = {APSIS_DISTANCE, APSIS_VORONOI, APSIS_GEODESIC, APSIS_ECCENTRICITY};

static apsis_type type_of(int transform) { return transform == APSIS_VORONOI ? APSIS_I64 : APSIS_F64; }

/** What is beyond the range is refused, in every place; what is far from the others is, where it cannot be held. */
static void spacings_that_cannot_be_held(bench *b) {
    static const double beyond[] = {1e300, DBL_MAX, 1.1e270, 0.9e-270, 1e-300, DBL_MIN, 4.9e-324};
    static const double apart[][2] = {{1, 1e200}, {1e-200, 1}, {1e-270, 1e270}, {1e6, 0.0001}, {1e160, 1e-160}, {1, 1e16}};
    for (int t = 0; t < COUNT(with_spacing); ++t) {
        apsis_options o = APSIS_OPTIONS_INIT;
        const int transform = with_spacing[t];
        for (int i = 0; i < COUNT(beyond); ++i)
            for (int a = 0; a < 2; ++a) {
                o.spacing[a] = beyond[i];
                o.spacing[1 - a] = 1;
                assert_fails(b->ctx, call(b, transform, type_of(transform), &o), APSIS_ERROR_ARGUMENT,
                             a ? "options|spacing[1]|1e-270|1e+270" : "options|spacing[0]|1e-270|1e+270");
                o.spacing[1 - a] = beyond[i];
                assert_fails(b->ctx, call(b, transform, type_of(transform), &o), APSIS_ERROR_ARGUMENT, "options|spacing[0]");
            }
        for (int i = 0; i < COUNT(apart); ++i)
            for (int a = 0; a < 2; ++a) {
                o.spacing[a] = apart[i][0];
                o.spacing[1 - a] = apart[i][1];
                assert_fails(b->ctx, call(b, transform, type_of(transform), &o), APSIS_ERROR_UNSUPPORTED, "options|spacing");
            }
        o.spacing[0] = o.spacing[1] = 1e270;
        assert_ok(b->ctx, call(b, transform, type_of(transform), &o));
        o.spacing[0] = o.spacing[1] = 1e-270;
        assert_ok(b->ctx, call(b, transform, type_of(transform), &o));
    }
}

/** Floats hold less: a length beyond them is no infinity, which means that there is none, and none below is 0. */
static void lengths_that_floats_do_not_hold(bench *b) {
    static const struct {
        double spacing, max_distance;
        bool is_held;
    } units[] = {{1e30, 0, true},  {1e38, 0, false},    {1e38, 3e38, true}, {1e100, 0, false},
                 {1e-37, 0, true}, {1.1e-38, 0, false}, {1e-200, 0, false}};
    for (int t = 0; t < COUNT(with_spacing); ++t)
        for (int i = 0; with_spacing[t] != APSIS_VORONOI && i < COUNT(units); ++i) {
            apsis_options o = APSIS_OPTIONS_INIT;
            o.spacing[0] = o.spacing[1] = units[i].spacing;
            o.max_distance = units[i].max_distance;
            if (o.max_distance > 0 && with_spacing[t] == APSIS_ECCENTRICITY) continue;
            assert_ok(b->ctx, call(b, with_spacing[t], APSIS_F64, &o));
            const apsis_status st = call(b, with_spacing[t], APSIS_F32, &o);
            if (units[i].is_held)
                assert_ok(b->ctx, st);
            else
                assert_fails(b->ctx, st, APSIS_ERROR_RANGE, "type is APSIS_F32|may be as");
        }
}

/** Limits far below and above every length. */
static void limits_near_the_largest_and_the_least(bench *b) {
    static const double limits[] = {4.9e-324, 1e-300, 1e300, DBL_MAX};
    static const double units[] = {1e-270, 1, 5e269};
    for (int l = 0; l < COUNT(limits); l += COUNT(limits) / effort(COUNT(limits)))
        for (int u = 0; u < COUNT(units); ++u) {
            lengths *const all = must_alloc(sizeof *all), *const limited = must_alloc(sizeof *limited);
            apsis_options o = APSIS_OPTIONS_INIT;
            o.spacing[0] = units[u];
            o.spacing[1] = 1.7 * units[u];
            measure(b, &o, APSIS_F64, all);
            o.max_distance = limits[l];
            measure(b, &o, APSIS_F64, limited);
            for (int i = 0; i < PIXELS; ++i) {
                const bool near = all->distance[i] <= limits[l], short_way = all->geodesic[i] <= limits[l];
                assert_true(limited->distance[i] == (near ? all->distance[i] : HUGE_VAL));
                assert_int_equal(limited->nearest[i], near ? all->nearest[i] : -1);
                assert_true(limited->geodesic[i] == (short_way ? all->geodesic[i] : HUGE_VAL));
            }
            free(all);
            free(limited);
        }
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(images_without_pixels, EVERYWHERE),
                                      TEST(workspaces_of_the_largest, EVERYWHERE),
                                      TEST(packed_and_too_large, EVERYWHERE),
                                      TEST(units_near_the_largest_and_the_least, EVERYWHERE),
                                      TEST(spacings_that_cannot_be_held, EVERYWHERE),
                                      TEST(lengths_that_floats_do_not_hold, EVERYWHERE),
                                      TEST(limits_near_the_largest_and_the_least, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
