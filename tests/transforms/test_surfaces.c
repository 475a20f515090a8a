/* apsis_surface_distance: against brute force, and what it says where a surface has no pixels. */
#include <math.h>

#include <apsis_measures.h>

#include "run_distance.h"

typedef struct question {
    problem p; /* its mask is the first set */
    const uint8_t *second;
    double percentile, tolerance;
} question;

/* ---- What it must be, by looking at every pair of pixels ---- */

/** Whether pixel i is in the set and a neighbour along an axis is not, or there is none. */
static bool is_on_surface(const problem *p, const uint8_t *mask, int64_t i) {
    if (!mask[i]) return false;
    int64_t step = 1;
    for (int a = 0; a < p->ndim; step *= p->size[a++]) {
        const int64_t at = i / step % p->size[a];
        if (at == 0 || at == p->size[a] - 1 || !mask[i - step] || !mask[i + step]) return true;
    }
    return false;
}

static int by_length(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** The sorted lengths from the surface of one set to that of another; returns how many. */
static int64_t lengths_between(const problem *p, const uint8_t *from, const uint8_t *to, double *length) {
    int64_t count = 0;
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        if (!is_on_surface(p, from, i)) continue;
        int64_t least = -1;
        for (int64_t k = 0; k < pixels_of(p); ++k)
            if (is_on_surface(p, to, k) && (least < 0 || cost_between(p, i, k) < least)) least = cost_between(p, i, k);
        const double of_cost = p->options.metric == APSIS_EUCLIDEAN ? exact_root(least < 0 ? 0 : least) : (double)least;
        length[count++] = least < 0 ? INFINITY : p->unit * of_cost;
    }
    qsort(length, (size_t)count, sizeof *length, by_length);
    return count;
}

static bool is_close_to(double got, double want) {
    if (isnan(want) || isinf(want)) return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= 1e-12 * fabs(want);
}

static void assert_number(const question *q, const char *name, double got, double want) {
    if (is_close_to(got, want)) return;
    char text[256];
    describe(&q->p, text, sizeof text);
    print_error("%s, percentile %g, tolerance %.17g\n  %s is %.17g, but should be %.17g\n", text, q->percentile, q->tolerance,
                name, got, want);
    fail();
}

static void assert_found(const question *q, const apsis_surface_distances *got) {
    const int64_t pixels = pixels_of(&q->p);
    double *length = must_alloc((size_t)(pixels + 1) * sizeof *length), sum = 0, largest[2] = {-1, -1}, rank[2] = {-1, -1};
    int64_t all = 0, all_within = 0;
    for (int k = 0; k < 2; ++k) {
        const int64_t n = lengths_between(&q->p, k ? q->second : q->p.mask, k ? q->p.mask : q->second, length);
        int64_t within = 0;
        double own_sum = 0;
        for (int64_t i = 0; i < n; ++i) within += length[i] <= q->tolerance, own_sum += length[i];
        all += n, all_within += within, sum += own_sum;
        assert_int_equal(got->pixels[k], n);
        assert_int_equal(got->within[k], within);
        assert_number(q, "mean", got->mean[k], n ? own_sum / (double)n : NAN);
        if (n == 0) {
            assert_true(isnan(got->largest[k]) && isnan(got->percentile[k]));
            continue;
        }
        largest[k] = length[n - 1];
        const double place = q->percentile * (double)(n - 1) / 100;
        const int64_t low = (int64_t)(place + 1e-9), high = low + 1 < n ? low + 1 : low;
        const double part = fmax(0, place - (double)low);
        rank[k] = isinf(length[low]) || part < 1e-9 ? length[low] : length[low] * (1 - part) + length[high] * part;
        assert_true(got->largest[k] == largest[k]);
        assert_number(q, "percentile", got->percentile[k], rank[k]);
    }
    assert_number(q, "hausdorff", got->hausdorff, all ? fmax(largest[0], largest[1]) : NAN);
    assert_number(q, "hausdorff_percentile", got->hausdorff_percentile, all ? fmax(rank[0], rank[1]) : NAN);
    assert_number(q, "average", got->average, all ? sum / (double)all : NAN);
    assert_number(q, "dice", got->dice, all ? (double)all_within / (double)all : NAN);
    free(length);
}

/* ---- What it is ---- */

static void check_surfaces(bench *b, const question *q, apsis_type type, unsigned layout) {
    const problem *p = &q->p;
    problem other = *p;
    other.mask = q->second;
    frame first = frame_open(b, type, p->ndim, p->size, layout), second = frame_open(b, APSIS_U8, p->ndim, p->size, PACKED);
    put_sites(&first, p);
    put_sites(&second, &other);
    apsis_surface_distances got;
    assert_ok(b->ctx,
              apsis_surface_distance(b->ctx, &first.image, &second.image, q->percentile, q->tolerance, &got, &p->options));
    frame_assert_unchanged(&first);
    frame_assert_unchanged(&second);
    assert_found(q, &got);
    frame_close(&first);
    frame_close(&second);
}

static const double percentiles[] = {0, 50, 95, 100, 33.3};
static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD};

static void every_pair_of_2x3_masks(bench *b) {
    for (int i = 0; i < 4096; i += 4096 / effort(4096)) {
        uint8_t masks[2][6];
        for (int k = 0; k < 12; ++k) masks[k / 6][k % 6] = (uint8_t)(i >> k & 1);
        question q = {new_problem(2, 2, 3, 1, masks[0]), masks[1], percentiles[i % COUNT(percentiles)], i % 3};
        q.p.options.metric = metrics[i % COUNT(metrics)];
        check_surfaces(b, &q, APSIS_U8, PACKED);
    }
}

static void random_surfaces(bench *b) {
    static const apsis_type sets[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    chance c = {2710};
    for (int i = 0; i < effort(300); ++i) {
        question q = {new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL), NULL, roll_real(&c) * 100, roll_real(&c) * 4};
        problem *p = &q.p;
        do
            for (int a = 0; a < p->ndim; ++a) p->size[a] = 1 + roll_below(&c, p->ndim == 2 ? 40 : 12);
        while (pixels_of(p) > 800);
        p->options.metric = metrics[roll_below(&c, 3)];
        if (roll_below(&c, 2)) {
            const int64_t x = 1 + roll_below(&c, 4), equal = p->options.metric == APSIS_CHESSBOARD;
            set_spacing(p, x, equal ? x : 1 + roll_below(&c, 4), equal ? x : 1 + roll_below(&c, 4),
                        roll_below(&c, 2) ? 0.5 : 1);
        }
        uint8_t *masks[2];
        for (int k = 0; k < 2; ++k) {
            masks[k] = must_alloc((size_t)pixels_of(p));
            fill_mask(masks[k], p->size, (int)roll_below(&c, MASK_KINDS), roll_real(&c), &c);
        }
        p->mask = masks[0], q.second = masks[1];
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_surfaces(b, &q, sets[roll_below(&c, COUNT(sets))],
                       roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED);
        free(masks[0]);
        free(masks[1]);
    }
}

/** Two balls of radius 20, one of them moved by (1, 1, 1): as MONAI's own test has it. */
static void balls(bench *b) {
    enum { SIDE = 50 };
    static const double want[] = {1.7320508075688772, 3, 1};
    static uint8_t masks[2][SIDE * SIDE * SIDE];
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < SIDE * SIDE * SIDE; ++i) {
            const int x = i % SIDE - 21 - k, y = i / SIDE % SIDE - 21 - k, z = i / SIDE / SIDE - 21 - k;
            masks[k][i] = x * x + y * y + z * z <= 400;
        }
    apsis_image first = {.data = masks[0], .type = APSIS_U8, .ndim = 3, .size = {SIDE, SIDE, SIDE}}, second = first;
    second.data = masks[1];
    for (int k = 0; k < 3; ++k) {
        apsis_options options = APSIS_OPTIONS_INIT;
        options.metric = metrics[k];
        apsis_surface_distances got;
        assert_ok(b->ctx, apsis_surface_distance(b->ctx, &first, &second, 95, 1, &got, &options));
        assert_true(got.hausdorff == want[k] && got.largest[0] == want[k]);
        assert_ok(b->ctx, apsis_surface_distance(b->ctx, &first, &first, 95, 0, &got, &options));
        assert_true(got.hausdorff == 0 && got.average == 0 && got.dice == 1 && got.pixels[0] == got.pixels[1]);
    }
}

static void bad_calls(bench *b) {
    uint8_t pixels[16] = {1};
    apsis_image set = {.data = pixels, .type = APSIS_U8, .ndim = 2, .size = {4, 4}}, other = set;
    apsis_options options = APSIS_OPTIONS_INIT;
    apsis_surface_distances found;
#define REFUSED(first, second, percentile, tolerance, to, status, text) \
    assert_fails(b->ctx, apsis_surface_distance(b->ctx, first, second, percentile, tolerance, to, &options), status, text)
    REFUSED(NULL, &set, 95, 1, &found, APSIS_ERROR_ARGUMENT, "surface_distance: |first is NULL");
    REFUSED(&set, NULL, 95, 1, &found, APSIS_ERROR_ARGUMENT, "second is NULL");
    REFUSED(&set, &set, 95, 1, NULL, APSIS_ERROR_ARGUMENT, "distances is NULL");
    REFUSED(&set, &set, -1, 1, &found, APSIS_ERROR_ARGUMENT, "percentile is -1|0 to 100");
    REFUSED(&set, &set, 100.5, 1, &found, APSIS_ERROR_ARGUMENT, "percentile is 100.5");
    REFUSED(&set, &set, NAN, 1, &found, APSIS_ERROR_ARGUMENT, "percentile is |nan");
    REFUSED(&set, &set, 95, -1, &found, APSIS_ERROR_ARGUMENT, "tolerance is -1|0 or more");
    other.size[0] = 3;
    REFUSED(&set, &other, 95, 1, &found, APSIS_ERROR_ARGUMENT, "first|second|size");
    other.size[0] = 4, other.type = APSIS_F32;
    REFUSED(&set, &other, 95, 1, &found, APSIS_ERROR_ARGUMENT, "second: type is APSIS_F32");
    options.flags = APSIS_SLICES;
    REFUSED(&set, &set, 95, 1, &found, APSIS_ERROR_ARGUMENT, "flags is 0x8|takes none");
    options.flags = 0, options.max_distance = 2;
    REFUSED(&set, &set, 95, 1, &found, APSIS_ERROR_ARGUMENT, "max_distance is 2");
    options.max_distance = 0, options.method = APSIS_SWEEP;
    REFUSED(&set, &set, 95, 1, &found, APSIS_ERROR_ARGUMENT, "APSIS_AUTO");
    const apsis_image empty = {.type = APSIS_U8, .ndim = 2, .size = {0, 7}};
    assert_ok(b->ctx, apsis_surface_distance(b->ctx, &empty, &empty, 95, 1, &found, NULL));
    assert_true(isnan(found.hausdorff) && found.pixels[0] == 0);
}

static const test_case cases[] = {
    TEST(every_pair_of_2x3_masks, EVERYWHERE),
    TEST(random_surfaces, EVERYWHERE),
    TEST(balls, WITH_HOST_IMAGES),
    TEST(bad_calls, WITH_HOST_IMAGES),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
