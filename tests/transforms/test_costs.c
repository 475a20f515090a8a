/* apsis_cost_distance against costs relaxed one by one: every small image, random ones of every kind, and answers by hand. */
#include <math.h>

#include <apsis_measures.h>

#include "costs.h"
#include "run_distance.h"

/** How the images of a call are given; a type of 0 leaves one out. */
typedef struct images {
    apsis_type set, costs, seeds, distance, nearest;
    unsigned layout[5];
    double finest; /* APSIS_F32 costs are whole numbers of this */
} images;

static double cost_in_image(const cost_problem *c, const images *how, int64_t i) {
    if (how->costs != APSIS_F32) return (double)c->cost[i];
    static const double none[] = {0, -1, -INFINITY, INFINITY, NAN};
    return c->cost[i] > 0 ? (double)c->cost[i] * how->finest : none[i % COUNT(none)];
}

static void put_costs(frame *f, const cost_problem *c, const images *how) {
    const int64_t pixels = pixels_of(&c->p);
    void *packed = must_alloc((size_t)pixels * 4);
    for (int64_t i = 0; i < pixels; ++i) {
        const double cost = cost_in_image(c, how, i);
        if (how->costs == APSIS_F32) ((float *)packed)[i] = (float)cost;
        if (how->costs == APSIS_U16) ((uint16_t *)packed)[i] = (uint16_t)cost;
        if (how->costs == APSIS_U8) ((uint8_t *)packed)[i] = (uint8_t)cost;
    }
    frame_put(f, packed);
    free(packed);
}

static void differ(const cost_problem *c, const char *what, int64_t i, double got, double want) {
    char text[256];
    describe(&c->p, text, sizeof text);
    print_error("%s, connectivity %d\n  %s of pixel %lld is %.17g, but should be %.17g\n", text, c->p.options.connectivity,
                what, (long long)i, got, want);
    fail();
}

static double wanted_distance(const cost_problem *c, const images *how, const answer *a, int64_t i) {
    const bool whole = how->distance == APSIS_I32 || how->distance == APSIS_I64;
    if (!is_passable(c, i)) return -1;
    if (seed_of(c, a, i) < 0) return how->distance == APSIS_I32 ? INT32_MAX : whole ? (double)INT64_MAX : INFINITY;
    if (whole) return (double)a->cost[i];
    const double real = real_cost(c, a->cost[i]) * (how->costs == APSIS_F32 ? how->finest : 1);
    return how->distance == APSIS_F32 ? (double)(float)real : real;
}

static void check_costs(bench *b, const cost_problem *c, const images *how) {
    const problem *const p = &c->p;
    const apsis_type type[5] = {how->set, how->costs, how->seeds, how->distance, how->nearest};
    frame f[5];
    const apsis_image *in[5] = {NULL};
    for (int k = 0; k < 5; ++k) {
        if (!type[k]) continue;
        f[k] = frame_open(b, type[k], p->ndim, p->size, how->layout[k]);
        in[k] = &f[k].image;
    }
    if (in[0]) put_sites(&f[0], p);
    put_costs(&f[1], c, how);
    problem seeds = *p;
    seeds.mask = c->seeds;
    put_sites(&f[2], &seeds);
    apsis_options options = p->options;
    if (how->costs == APSIS_F32) options.max_distance *= how->finest;
    assert_ok(b->ctx, apsis_cost_distance(b->ctx, in[0], in[1], in[2], in[3], in[4], &options));
    answer want = solve_costs(c);
    void *got[2] = {must_alloc((size_t)pixels_of(p) * 8), must_alloc((size_t)pixels_of(p) * 8)};
    for (int k = 0; k < 5; ++k) {
        if (!type[k]) continue;
        k < 3 ? frame_assert_unchanged(&f[k]) : frame_get(&f[k], got[k - 3]);
        frame_close(&f[k]);
    }
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        const double distance = type[3] ? value_at(got[0], type[3], i) : 0, wanted = wanted_distance(c, how, &want, i);
        if (type[3] && distance != wanted) differ(c, "the cost", i, distance, wanted);
        const double nearest = type[4] ? value_at(got[1], type[4], i) : 0, seed = (double)seed_of(c, &want, i);
        if (type[4] && nearest != seed) differ(c, "the seed", i, nearest, seed);
    }
    free(got[0]);
    free(got[1]);
    free_answer(&want);
}

/* ---- Every small image ---- */

static void every_3x2_image(bench *b) {
    const images how = {.costs = APSIS_U8, .seeds = APSIS_U8, .distance = APSIS_F64, .nearest = APSIS_I32};
    const images whole = {.costs = APSIS_U16, .seeds = APSIS_U8, .distance = APSIS_I32, .nearest = APSIS_I64};
    for (int i = 0; i < 4096; i += 4096 / effort(4096)) /* costs of 0 to 3 */
        for (int seeds = 1; seeds < 64; seeds += 1 + i % 5) {
            int64_t cost[6];
            uint8_t is_seed[6];
            for (int k = 0; k < 6; ++k) cost[k] = i >> 2 * k & 3, is_seed[k] = (uint8_t)(seeds >> k & 1);
            cost_problem c = {new_problem(2, 3, 2, 1, NULL), cost, is_seed};
            c.p.options.metric = (apsis_metric)(i % 4);
            c.p.options.connectivity = i / 4 % 3;
            check_costs(b, &c, i % 4 ? &whole : &how);
        }
}

/* ---- Random problems of every kind ---- */

static void choose_options(chance *c, problem *p) {
    apsis_options *const o = &p->options;
    o->flags = (p->mask && !roll_below(c, 3) ? APSIS_COMPLEMENT : 0) | (p->ndim == 3 && !roll_below(c, 3) ? APSIS_SLICES : 0);
    o->metric = (apsis_metric)roll_below(c, 4);
    o->connectivity = (int32_t)roll_below(c, (o->flags & APSIS_SLICES ? 2 : p->ndim) + 1);
    const bool equal = o->metric != APSIS_CITY_BLOCK && o->connectivity != 1;
    if (!roll_below(c, 3) && (equal || o->metric <= APSIS_CITY_BLOCK)) {
        const int64_t x = 1 + roll_below(c, 9);
        set_spacing(p, x, equal ? x : 1 + roll_below(c, 9), equal ? x : 1 + roll_below(c, 20), roll_below(c, 2) ? 1 : 0.25);
    }
    if (!roll_below(c, 3)) o->max_distance = 1 + 4000 * roll_real(c) * roll_real(c);
    draw_weights(p, true, c);
}

static images choose_images(chance *c, const problem *p) {
    static const apsis_type sets[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    static const apsis_type costs[] = {APSIS_U8, APSIS_U16, APSIS_F32}, whole[] = {APSIS_F64, APSIS_I64, APSIS_F32};
    images how = {.set = p->mask ? sets[roll_below(c, 5)] : 0,
                  .costs = costs[roll_below(c, 3)],
                  .seeds = sets[roll_below(c, 5)],
                  .nearest = roll_below(c, 2) ? APSIS_I32 : APSIS_I64,
                  .finest = ldexp(1, (int)roll_below(c, 60) - 30)};
    const bool fits = p->options.metric != APSIS_EUCLIDEAN && p->options.spacing[0] == 0 && how.costs != APSIS_F32;
    how.distance = fits ? whole[roll_below(c, 3)] : roll_below(c, 2) ? APSIS_F32 : APSIS_F64;
    const int64_t left_out = roll_below(c, 4);
    if (left_out == 0) how.distance = 0;
    if (left_out == 1) how.nearest = 0;
    for (int k = 0; k < 5; ++k) how.layout[k] = roll_below(c, 2) ? (unsigned)roll_below(c, LAYOUTS) : PACKED;
    return how;
}

static void random_costs(bench *b) {
    static const double densities[] = {0.4, 0.6, 0.9, 0.99, 1};
    chance c = {27};
    for (int i = 0; i < effort(1500); ++i) {
        cost_problem q = {new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL), NULL, NULL};
        problem *const p = &q.p;
        do
            for (int a = 0; a < p->ndim; ++a) p->size[a] = 1 + roll_below(&c, p->ndim == 2 ? 40 : 12);
        while (pixels_of(p) > 600);
        const int64_t pixels = pixels_of(p);
        uint8_t *mask = must_alloc((size_t)pixels), *seeds = must_alloc((size_t)pixels);
        int64_t *cost = must_alloc((size_t)pixels * 8);
        fill_mask(mask, p->size, (int)roll_below(&c, MASK_KINDS), densities[roll_below(&c, COUNT(densities))], &c);
        fill_mask(seeds, p->size, NOISE, roll_below(&c, 2) ? 0.01 : 0.2, &c);
        if (roll_below(&c, 2)) p->mask = mask;
        choose_options(&c, p);
        const images how = choose_images(&c, p);
        const int bits = how.costs == APSIS_U8 ? 8 : how.costs == APSIS_U16 ? 16 : 24;
        const int64_t most = (int64_t)1 << roll_below(&c, bits + 1), few = roll_below(&c, 2);
        for (int64_t k = 0; k < pixels; ++k) cost[k] = few ? roll_below(&c, 4) : roll_below(&c, most);
        q.cost = cost, q.seeds = seeds;
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_costs(b, &q, &how);
        free(mask);
        free(seeds);
        free(cost);
    }
}

/* ---- Answers by hand ---- */

static void by_hand(bench *b) {
    uint8_t costs[12] = {1, 9, 1, 1, /**/ 1, 0, 9, 1, /**/ 1, 1, 1, 1}, seeds[12] = {1};
    double distance[12];
    int32_t twice[12], nearest[12];
    apsis_image in = {.data = costs, .type = APSIS_U8, .ndim = 2, .size = {4, 3}}, at = in, out = in, seed = in;
    at.data = seeds, out.data = distance, out.type = APSIS_F64, seed.data = nearest, seed.type = APSIS_I32;
    apsis_options options = APSIS_OPTIONS_INIT;
    options.metric = APSIS_CITY_BLOCK;
    assert_ok(b->ctx, apsis_cost_distance(b->ctx, NULL, &in, &at, &out, &seed, &options));
    const double want[12] = {0, 5, 8, 7, 1, -1, 9, 6, 2, 3, 4, 5};
    const int32_t one[12] = {0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(distance, want, sizeof want);
    assert_memory_equal(nearest, one, sizeof one);
    out.data = twice, out.type = APSIS_I32;
    assert_ok(b->ctx, apsis_cost_distance(b->ctx, NULL, &in, &at, &out, NULL, &options));
    for (int i = 0; i < 12; ++i) assert_true(twice[i] == (want[i] < 0 ? -1 : 2 * want[i]));
}

/** Costs that are far apart, where 64 bits are too few, and those that are rounded. */
static void far_apart(bench *b) {
    float costs[5] = {1e30F, 1e-20F, 3e30F, 1, 1e30F};
    uint8_t seeds[5] = {1};
    double distance[5];
    apsis_image in = {.data = costs, .type = APSIS_F32, .ndim = 2, .size = {5, 1}}, at = in, out = in;
    at.data = seeds, at.type = APSIS_U8, out.data = distance, out.type = APSIS_F64;
    assert_ok(b->ctx, apsis_cost_distance(b->ctx, NULL, &in, &at, &out, NULL, NULL));
    double want = 0;
    for (int i = 1; i < 5; ++i) {
        want += ((double)costs[i - 1] + (double)costs[i]) / 2;
        assert_true(fabs(distance[i] - want) <= want * 1e-15);
    }
    costs[0] = costs[2] = costs[4] = ldexpf(1, 29), costs[1] = costs[3] = nextafterf(1, 2);
    assert_ok(b->ctx, apsis_cost_distance(b->ctx, NULL, &in, &at, &out, NULL, NULL));
    assert_true(distance[4] == 4 * ((double)costs[0] + (double)costs[1]) / 2); /* exact */
    for (int i = 0; i < 5; ++i) costs[i] = i == 2 ? ldexpf(1, 100) : ldexpf(1, -100);
    assert_ok(b->ctx, apsis_cost_distance(b->ctx, NULL, &in, &at, &out, NULL, NULL));
    assert_true(distance[1] == ldexp(1, 100 - 52)); /* not to 0 */
}

/** Seeds as a label image: the map of whose basin a pixel is in. */
static void labels_of_seeds(bench *b) {
    uint8_t costs[6] = {1, 1, 1, 5, 1, 0}, seeds[6] = {7, 0, 0, 0, 3, 9};
    int32_t nearest[6];
    apsis_image in = {.data = costs, .type = APSIS_U8, .ndim = 2, .size = {6, 1}}, at = in, out = in;
    at.data = seeds, out.data = nearest, out.type = APSIS_I32;
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_LABELS;
    assert_ok(b->ctx, apsis_cost_distance(b->ctx, NULL, &in, &at, NULL, &out, &options));
    const int32_t want[6] = {7, 7, 7, 3, 3, 0};
    assert_memory_equal(nearest, want, sizeof want);
}

static void bad_calls(bench *b) {
    uint8_t pixels[16] = {1};
    int64_t out[16], more[16];
    const apsis_image set = {.data = pixels, .type = APSIS_U8, .ndim = 2, .size = {4, 4}};
    apsis_image distance = set, other = set;
    distance.data = out, distance.type = APSIS_I64;
    apsis_options options = APSIS_OPTIONS_INIT;
#define REFUSED(set, costs, seeds, distance, status, text) \
    assert_fails(b->ctx, apsis_cost_distance(b->ctx, set, costs, seeds, distance, NULL, &options), status, text)
    REFUSED(NULL, NULL, &set, NULL, APSIS_ERROR_ARGUMENT, "cost_distance: |costs is NULL");
    REFUSED(NULL, &set, NULL, NULL, APSIS_ERROR_ARGUMENT, "seeds is NULL");
    REFUSED(NULL, &set, &set, &distance, APSIS_ERROR_ARGUMENT, "integer|Euclidean");
    other.type = APSIS_I32;
    REFUSED(NULL, &other, &set, NULL, APSIS_ERROR_ARGUMENT, "costs: type is APSIS_I32|APSIS_U16 or APSIS_F32");
    other.type = APSIS_U8, other.size[0] = 3;
    REFUSED(NULL, &other, &set, NULL, APSIS_ERROR_ARGUMENT, "costs: size[0] is 3|seeds is 4");
    REFUSED(&other, &set, &set, NULL, APSIS_ERROR_ARGUMENT, "set: size[0] is 3");
    other = distance, other.data = pixels, other.type = APSIS_F32;
    options.metric = APSIS_CITY_BLOCK;
    REFUSED(NULL, &set, &set, &other, APSIS_ERROR_ARGUMENT, "distance overlaps");
    const apsis_image real = {.data = out, .type = APSIS_F32, .ndim = 2, .size = {4, 4}};
    distance.data = more;
    REFUSED(NULL, &real, &set, &distance, APSIS_ERROR_ARGUMENT, "integer|costs are APSIS_F32");
    options.flags = APSIS_COMPLEMENT;
    REFUSED(NULL, &set, &set, &distance, APSIS_ERROR_ARGUMENT, "APSIS_COMPLEMENT|set is NULL");
    options.flags = APSIS_PERIODIC_X;
    REFUSED(NULL, &set, &set, &distance, APSIS_ERROR_UNSUPPORTED, "APSIS_PERIODIC_X");
    options.flags = APSIS_SIGNED;
    REFUSED(NULL, &set, &set, &distance, APSIS_ERROR_ARGUMENT, "flags is 0x2|APSIS_LABELS");
    options.flags = 0, options.delta = 1;
    REFUSED(NULL, &set, &set, &distance, APSIS_ERROR_ARGUMENT, "delta is 1");
    options.delta = 0;
    apsis_image large = set, narrow = distance;
    large.size[0] = large.size[1] = narrow.size[0] = narrow.size[1] = 4096, narrow.type = APSIS_I32;
    large.data = must_alloc(4096 * 4096), narrow.data = must_alloc(4096 * 4096 * 4);
    REFUSED(NULL, &large, &large, &narrow, APSIS_ERROR_RANGE, "distance: type is APSIS_I32");
    free(large.data);
    free(narrow.data);
    const apsis_image empty = {.type = APSIS_U8, .ndim = 2, .size = {0, 7}};
    assert_ok(b->ctx, apsis_cost_distance(b->ctx, NULL, &empty, &empty, NULL, NULL, NULL));
}

static void device_images(bench *b) {
    frame f = frame_open(b, APSIS_U8, 2, (int64_t[3]){4, 4, 1}, PACKED);
    assert_fails(b->ctx, apsis_cost_distance(b->ctx, NULL, &f.image, &f.image, NULL, NULL, NULL), APSIS_ERROR_UNSUPPORTED,
                 "APSIS_DEVICE|APSIS_HOST alone");
    frame_close(&f);
}

static const test_case cases[] = {
    TEST(every_3x2_image, WITH_HOST_IMAGES), TEST(random_costs, WITH_HOST_IMAGES),    TEST(by_hand, WITH_HOST_IMAGES),
    TEST(far_apart, WITH_HOST_IMAGES),       TEST(labels_of_seeds, WITH_HOST_IMAGES), TEST(bad_calls, WITH_HOST_IMAGES),
    TEST(device_images, ON_DEVICE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
