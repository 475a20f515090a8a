/* apsis_surface_distance: against brute force, by laws, and what it says where a surface has no points. */
#include <math.h>

#include "run_components.h"
#include "run_distance.h"
#include "surface_oracle.h"

typedef struct question {
    problem p; /* its mask is the first set; with APSIS_LABELS its bytes stand for values of the type, as everywhere */
    const uint8_t *second;
    apsis_surface surface;
    double percentile, tolerance;
} question;

/* ---- What it must be, by looking at every pair of points ---- */

typedef struct measured {
    double length, weight;
} measured;

static int by_length(const void *a, const void *b) {
    const double x = ((const measured *)a)->length, y = ((const measured *)b)->length;
    return (x > y) - (x < y);
}

/** The points of the surface of one set, by their distance to that of another; returns how many. */
static int64_t points_between(const question *q, const uint8_t *from, const uint8_t *to, measured *point) {
    const problem p = points_problem(&q->p, q->surface);
    const int64_t all = pixels_of(&p);
    double *weight[2];
    int64_t count = 0;
    for (int k = 0; k < 2; ++k) {
        weight[k] = must_alloc((size_t)all * sizeof(double));
        weigh_points(&q->p, q->surface, k ? to : from, weight[k]);
    }
    for (int64_t i = 0; i < all; ++i) {
        if (weight[0][i] == 0) continue;
        int64_t least = -1;
        for (int64_t k = 0; k < all; ++k)
            if (weight[1][k] > 0 && (least < 0 || cost_between(&p, i, k) < least)) least = cost_between(&p, i, k);
        const double of_cost = p.options.metric == APSIS_EUCLIDEAN ? exact_root(least < 0 ? 0 : least) : (double)least;
        point[count].weight = weight[0][i];
        point[count++].length = least < 0 ? INFINITY : p.unit * of_cost;
    }
    free(weight[0]);
    free(weight[1]);
    qsort(point, (size_t)count, sizeof *point, by_length);
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
    print_error("%s, surface %d, percentile %g, tolerance %.17g\n  %s is %.17g, but should be %.17g\n", text, (int)q->surface,
                q->percentile, q->tolerance, name, got, want);
    fail();
}

/** Of points that weigh 1, in proportion between two; of others the first up to which there is enough, but for rounding. */
static void assert_percentile(const question *q, const measured *point, int64_t n, double area, double got) {
    if (q->surface != APSIS_SURFACE_CORNERS) {
        const double place = q->percentile * (double)(n - 1) / 100;
        const int64_t low = (int64_t)(place + 1e-9), high = low + 1 < n ? low + 1 : low;
        const double part = fmax(0, place - (double)low), length = point[low].length;
        const double want = isinf(length) || part < 1e-9 ? length : length * (1 - part) + point[high].length * part;
        return assert_number(q, "percentile", got, want);
    }
    double below = 0, up_to = 0;
    bool is_one = false;
    for (int64_t i = 0; i < n; ++i) {
        const bool is_equal = is_close_to(got, point[i].length);
        if (point[i].length < got && !is_equal) below += point[i].weight;
        if (point[i].length < got || is_equal) up_to += point[i].weight;
        is_one = is_one || is_equal;
    }
    const double wanted = q->percentile / 100 * area, slack = 1e-12 * area;
    if (!is_one || below > wanted + slack || up_to < wanted - slack) assert_number(q, "percentile of corners", got, NAN);
}

static void assert_found(const question *q, const uint8_t *const masks[2], const apsis_surface_distances *got) {
    const problem points = points_problem(&q->p, q->surface);
    measured *point = must_alloc((size_t)(pixels_of(&points) + 1) * sizeof *point);
    double sum = 0, area = 0, within = 0;
    for (int k = 0; k < 2; ++k) {
        const int64_t n = points_between(q, masks[k], masks[!k], point);
        double own_sum = 0, own_area = 0, own_within = 0;
        for (int64_t i = 0; i < n; ++i) {
            own_sum += point[i].length * point[i].weight, own_area += point[i].weight;
            if (point[i].length <= q->tolerance) own_within += point[i].weight;
        }
        area += own_area, within += own_within, sum += own_sum;
        assert_int_equal(got->points[k], n);
        assert_number(q, "area", got->area[k], own_area);
        assert_number(q, "within", got->within[k], own_within);
        assert_number(q, "mean", got->mean[k], n ? own_sum / own_area : NAN);
        assert_number(q, "largest", got->largest[k], n ? point[n - 1].length : NAN);
        if (n)
            assert_percentile(q, point, n, own_area, got->percentile[k]);
        else
            assert_true(isnan(got->percentile[k]));
    }
    assert_number(q, "hausdorff", got->hausdorff, fmax(got->largest[0], got->largest[1]));
    assert_number(q, "hausdorff_percentile", got->hausdorff_percentile, fmax(got->percentile[0], got->percentile[1]));
    assert_number(q, "average", got->average, area > 0 ? sum / area : NAN);
    assert_number(q, "dice", got->dice, area > 0 ? within / area : NAN);
    free(point);
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
    int64_t count;
    assert_ok(b->ctx, apsis_surface_distance(b->ctx, &first.image, &second.image, q->surface, q->percentile, q->tolerance, &got,
                                             1, &count, &p->options));
    frame_assert_unchanged(&first);
    frame_assert_unchanged(&second);
    assert_true(count == 1 && got.value == 1);
    assert_found(q, (const uint8_t *[]){p->mask, q->second}, &got);
    frame_close(&first);
    frame_close(&second);
}

/** Checks each value of two label images, of which a byte of the masks stands for one of the type; room for some records. */
static void check_labels(bench *b, const question *q, apsis_type type, unsigned layout, int64_t capacity) {
    const problem *p = &q->p;
    problem other = *p;
    other.mask = q->second;
    const size_t pixels = (size_t)pixels_of(p);
    frame first = frame_open(b, type, p->ndim, p->size, layout), second = frame_open(b, type, p->ndim, p->size, PACKED);
    put_set(&first, p);
    put_set(&second, &other);
    apsis_surface_distances got[257];
    memset(got, POISON, sizeof got);
    int64_t count, values = 0, before = 0;
    assert_ok(b->ctx, apsis_surface_distance(b->ctx, &first.image, &second.image, q->surface, q->percentile, q->tolerance, got,
                                             capacity, &count, &p->options));
    uint8_t *mask[2] = {must_alloc(pixels), must_alloc(pixels)};
    bool occurs[256] = {false};
    for (size_t i = 0; i < pixels; ++i) occurs[p->mask[i]] = occurs[q->second[i]] = true;
    for (int byte = 1; byte < 256; ++byte) values += occurs[byte];
    const bool is_dense = p->options.flags & APSIS_DENSE;
    for (int64_t k = 0; k < (is_dense ? capacity : count < capacity ? count : capacity); ++k) {
        bool is_known = false;
        assert_true(is_dense ? got[k].value == k : k == 0 || got[k].value > before);
        before = got[k].value;
        memset(mask[0], 0, pixels);
        memset(mask[1], 0, pixels);
        for (int byte = 1; byte < 256; ++byte) {
            if (!occurs[byte] || value_of_byte(type, (uint8_t)byte) != got[k].value) continue;
            is_known = true;
            for (size_t i = 0; i < pixels; ++i) mask[0][i] = p->mask[i] == byte, mask[1][i] = q->second[i] == byte;
        }
        assert_true(is_known || is_dense);
        assert_found(q, (const uint8_t *[]){mask[0], mask[1]}, &got[k]);
    }
    int64_t greatest = 0;
    for (int byte = 1; byte < 256 && is_dense; ++byte)
        if (occurs[byte]) greatest = byte;
    assert_int_equal(count, !is_dense ? values : values ? greatest + 1 : 0);
    for (int i = 0; i < (int)sizeof *got; ++i) assert_int_equal(((uint8_t *)&got[capacity])[i], POISON);
    free(mask[0]);
    free(mask[1]);
    frame_close(&first);
    frame_close(&second);
}

static const double percentiles[] = {0, 50, 95, 100, 33.3};
static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD};

static void every_pair_of_2x3_masks(bench *b) {
    for (int i = 0; i < 3 * 4096; i += 4096 / effort(4096)) {
        uint8_t masks[2][6];
        for (int k = 0; k < 12; ++k) masks[k / 6][k % 6] = (uint8_t)(i >> k & 1);
        question q = {new_problem(2, 2, 3, 1, masks[0]), masks[1], (apsis_surface)(i / 4096),
                      percentiles[i % COUNT(percentiles)], i % 3};
        q.p.options.metric = metrics[i % COUNT(metrics)];
        check_surfaces(b, &q, APSIS_U8, PACKED);
    }
}

/** The surface of each of them, and of all between it and one pixel. */
static void every_2x2x2_mask(bench *b) {
    for (int i = 0; i < 256; i += 256 / effort(256)) {
        uint8_t masks[2][8];
        for (int k = 0; k < 8; ++k) masks[0][k] = (uint8_t)(i >> k & 1), masks[1][k] = k == i % 8;
        question q = {new_problem(3, 2, 2, 2, masks[0]), masks[1], APSIS_SURFACE_CORNERS, percentiles[i % COUNT(percentiles)],
                      1};
        set_spacing(&q.p, 1 + i % 3, 1 + i % 4, 1 + i % 5, 0.75);
        check_surfaces(b, &q, APSIS_U8, PACKED);
    }
}

static void draw_question(chance *c, question *q) {
    problem *p = &q->p;
    do
        for (int a = 0; a < p->ndim; ++a) p->size[a] = 1 + roll_below(c, p->ndim == 2 ? 40 : 12);
    while (pixels_of(p) > 800);
    q->surface = (apsis_surface)roll_below(c, 3);
    p->options.metric = metrics[roll_below(c, 3)];
    if (roll_below(c, 2)) {
        const int64_t x = 1 + roll_below(c, 4), equal = p->options.metric == APSIS_CHESSBOARD;
        set_spacing(p, x, equal ? x : 1 + roll_below(c, 4), equal ? x : 1 + roll_below(c, 4), roll_below(c, 2) ? 0.5 : 1);
    }
}

static void random_surfaces(bench *b) {
    static const apsis_type sets[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    chance c = {2710};
    for (int i = 0; i < effort(300); ++i) {
        question q = {new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL), NULL, 0, roll_real(&c) * 100, roll_real(&c) * 4};
        draw_question(&c, &q);
        uint8_t *masks[2];
        for (int k = 0; k < 2; ++k) {
            masks[k] = must_alloc((size_t)pixels_of(&q.p));
            fill_mask(masks[k], q.p.size, (int)roll_below(&c, MASK_KINDS), roll_real(&c), &c);
        }
        q.p.mask = masks[0], q.second = masks[1];
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_surfaces(b, &q, sets[roll_below(&c, COUNT(sets))],
                       roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED);
        free(masks[0]);
        free(masks[1]);
    }
}

/** Boxes of values here and there, over each other, some of them in one image alone. */
static void random_labels(bench *b) {
    static const apsis_type types[] = {APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64, APSIS_BIT};
    chance c = {2711};
    for (int i = 0; i < effort(150); ++i) {
        question q = {new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL), NULL, 0, roll_real(&c) * 100, roll_real(&c) * 4};
        draw_question(&c, &q);
        const apsis_type type = types[roll_below(&c, COUNT(types))];
        const bool is_dense = (type == APSIS_U8 || type == APSIS_BIT) && roll_below(&c, 2);
        q.p.options.flags = APSIS_LABELS | (is_dense ? APSIS_DENSE : 0);
        uint8_t *masks[2];
        for (int k = 0; k < 2; ++k) {
            masks[k] = must_alloc((size_t)pixels_of(&q.p));
            memset(masks[k], 0, (size_t)pixels_of(&q.p));
            for (int64_t box = roll_below(&c, 8); box > 0; --box) {
                const uint8_t byte = type == APSIS_BIT ? 1 : (uint8_t)(roll_below(&c, 6) * 40 + roll_below(&c, 2));
                int64_t lower[3], upper[3];
                for (int a = 0; a < 3; ++a) {
                    lower[a] = roll_below(&c, q.p.size[a]);
                    upper[a] = lower[a] + roll_below(&c, q.p.size[a] - lower[a]);
                }
                for (int64_t at = 0; at < pixels_of(&q.p); ++at) {
                    const int64_t x = at % q.p.size[0], y = at / q.p.size[0] % q.p.size[1], z = at / q.p.size[0] / q.p.size[1];
                    if (x >= lower[0] && x <= upper[0] && y >= lower[1] && y <= upper[1] && z >= lower[2] && z <= upper[2])
                        masks[k][at] = byte;
                }
            }
        }
        q.p.mask = masks[0], q.second = masks[1];
        check_labels(b, &q, type, roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED,
                     is_dense ? 256 : roll_below(&c, 8));
        free(masks[0]);
        free(masks[1]);
    }
}

/** A set against itself; two sets exchanged; two sets moved in a larger image.  The bytes are the same. */
static void laws(bench *b) {
    enum { SIDE = 24, ROOM = 29 };
    static uint8_t masks[2][SIDE * SIDE * SIDE], moved[2][ROOM * ROOM * ROOM];
    chance c = {2712};
    for (int i = 0; i < effort(12); ++i) {
        const int64_t size[3] = {SIDE, SIDE, SIDE}, by[3] = {roll_below(&c, 6), roll_below(&c, 6), roll_below(&c, 6)};
        memset(moved, 0, sizeof moved);
        apsis_image images[2], away[2];
        for (int k = 0; k < 2; ++k) {
            fill_mask(masks[k], size, NOISE + (int)roll_below(&c, 4), 0.4, &c);
            for (int64_t z = 0; z < SIDE; ++z)
                for (int64_t y = 0; y < SIDE; ++y)
                    memcpy(&moved[k][by[0] + ROOM * (y + by[1] + ROOM * (z + by[2]))], &masks[k][SIDE * (y + SIDE * z)], SIDE);
            images[k] = (apsis_image){.data = masks[k], .type = APSIS_U8, .ndim = 3, .size = {SIDE, SIDE, SIDE}};
            away[k] = (apsis_image){.data = moved[k], .type = APSIS_U8, .ndim = 3, .size = {ROOM, ROOM, ROOM}};
        }
        apsis_options options = APSIS_OPTIONS_INIT;
        options.spacing[0] = 0.7, options.spacing[1] = 1.25, options.spacing[2] = 2;
        const apsis_surface surface = (apsis_surface)(i % 3);
        apsis_surface_distances found, exchanged, same, far;
        assert_ok(b->ctx, apsis_surface_distance(b->ctx, images, images + 1, surface, 95, 1.5, &found, 1, NULL, &options));
        assert_ok(b->ctx, apsis_surface_distance(b->ctx, images + 1, images, surface, 95, 1.5, &exchanged, 1, NULL, &options));
        assert_ok(b->ctx, apsis_surface_distance(b->ctx, away, away + 1, surface, 95, 1.5, &far, 1, NULL, &options));
        assert_ok(b->ctx, apsis_surface_distance(b->ctx, images, images, surface, 95, 0, &same, 1, NULL, &options));
        assert_memory_equal(&found, &far, sizeof found);
        assert_true(same.hausdorff == 0 && same.average == 0 && same.dice == 1 && same.within[0] == same.area[1]);
        for (int k = 0; k < 2; ++k)
            assert_true(found.mean[k] == exchanged.mean[!k] && found.percentile[k] == exchanged.percentile[!k] &&
                        found.within[k] == exchanged.within[!k] && found.largest[k] == exchanged.largest[!k]);
        assert_number(&(question){{0}, NULL, surface, 95, 1.5}, "average", exchanged.average, found.average);
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
        assert_ok(b->ctx,
                  apsis_surface_distance(b->ctx, &first, &second, APSIS_SURFACE_PIXELS, 95, 1, &got, 1, NULL, &options));
        assert_true(got.hausdorff == want[k] && got.largest[0] == want[k]);
        assert_ok(b->ctx, apsis_surface_distance(b->ctx, &first, &first, APSIS_SURFACE_PIXELS, 95, 0, &got, 1, NULL, &options));
        assert_true(got.hausdorff == 0 && got.average == 0 && got.dice == 1 && got.points[0] == got.points[1]);
    }
}

/** Images whose pixels differ in width: 300 is no value of bytes, but its lowest byte is 44. */
static void labels_of_two_types(bench *b) {
    static uint8_t bytes[64];
    static uint16_t words[64];
    for (int i = 0; i < 64; ++i) bytes[i] = i < 32 ? 44 : 0, words[i] = i < 24 ? 300 : i < 40 ? 44 : 0;
    const apsis_image first = {.data = bytes, .type = APSIS_U8, .ndim = 2, .size = {8, 8}},
                      second = {.data = words, .type = APSIS_U16, .ndim = 2, .size = {8, 8}};
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_LABELS;
    apsis_surface_distances got[2];
    int64_t count;
    assert_ok(b->ctx, apsis_surface_distance(b->ctx, &first, &second, APSIS_SURFACE_ALL, 95, 1, got, 2, &count, &options));
    assert_true(count == 2 && got[0].value == 44 && got[1].value == 300);
    assert_true(got[0].points[0] == 32 && got[0].points[1] == 16 && got[0].hausdorff == 3);
    assert_true(got[1].points[0] == 0 && got[1].points[1] == 24 && isinf(got[1].hausdorff));
}

/** A tolerance of some steps, and half of the area: neither may be missed by the rounding of lengths and of sums. */
static void equal_but_for_rounding(bench *b) {
    static const double spacings[][3] = {{1.91, 2.35, 1}, {1.39, 0.85, 1}, {0.85, 1.39, 1}, {1.3, 1, 0.7}, {0.1, 0.3, 0.7}};
    static const apsis_surface surfaces[] = {APSIS_SURFACE_PIXELS, APSIS_SURFACE_ALL, APSIS_SURFACE_CORNERS};
    uint8_t masks[2][4] = {{1}, {0}};
    for (int s = 0; s < COUNT(spacings); ++s)
        for (int steps = 1; steps <= 3; ++steps)
            for (int k = 0; k < COUNT(surfaces); ++k) {
                memset(masks[1], 0, 4);
                masks[1][steps] = 1;
                apsis_image first = {.data = masks[0], .type = APSIS_U8, .ndim = 3, .size = {4, 1, 1}}, second = first;
                second.data = masks[1];
                apsis_options options = APSIS_OPTIONS_INIT;
                memcpy(options.spacing, spacings[s], sizeof options.spacing);
                apsis_surface_distances found;
                const double length = steps * spacings[s][0];
                assert_ok(b->ctx,
                          apsis_surface_distance(b->ctx, &first, &second, surfaces[k], 50, length, &found, 1, NULL, &options));
                assert_true(found.dice == 1 && fabs(found.hausdorff - length) < 1e-12);
                if (steps == 1 && surfaces[k] == APSIS_SURFACE_CORNERS) /* of eight corners four are shared */
                    assert_true(found.percentile[0] == 0 && found.percentile[1] == 0);
                assert_ok(b->ctx, apsis_surface_distance(b->ctx, &first, &second, surfaces[k], 50, length * (1 - 1e-12), &found,
                                                         1, NULL, &options));
                assert_true(found.dice < 1);
            }
}

static const test_case cases[] = {
    TEST(every_pair_of_2x3_masks, EVERYWHERE),
    TEST(every_2x2x2_mask, EVERYWHERE),
    TEST(random_surfaces, EVERYWHERE),
    TEST(random_labels, EVERYWHERE),
    TEST(laws, WITH_HOST_IMAGES),
    TEST(balls, WITH_HOST_IMAGES),
    TEST(labels_of_two_types, WITH_HOST_IMAGES),
    TEST(equal_but_for_rounding, WITH_HOST_IMAGES),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
