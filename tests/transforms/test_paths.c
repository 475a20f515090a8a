/* apsis_paths and apsis_longest_paths: against every path that there is in small images, and in others against costs that
 * have been relaxed, pixel by pixel. */
#include <math.h>

#include <apsis_measures.h>

#include "costs.h"
#include "run_distance.h"

/* ---- What they must be ---- */

/** Every path from a pixel, without a pixel twice: the least cost, of these the lowest seed, of these the lowest pixels. */
typedef struct search {
    const cost_problem *c;
    int64_t path[16], best[16], count, best_count, cost;
} search;

static bool is_better(const search *s, int64_t cost, int64_t count) {
    if (s->best_count == 0 || cost != s->cost) return s->best_count == 0 || cost < s->cost;
    const int64_t seed = s->path[count - 1], other = s->best[s->best_count - 1];
    if (seed != other) return seed < other;
    for (int64_t k = 0; k < count; ++k)
        if (s->path[k] != s->best[k]) return s->path[k] < s->best[k];
    return false;
}

static void walk(search *s, int64_t i, int64_t count, int64_t cost) {
    s->path[count++] = i;
    if (s->c->seeds[i] && is_better(s, cost, count)) {
        memcpy(s->best, s->path, sizeof s->best);
        s->best_count = count, s->cost = cost;
    }
    for (int64_t j = 0; j < pixels_of(&s->c->p); ++j) {
        bool is_new = is_passable(s->c, j) && weight_between(s->c, i, j) > 0;
        for (int64_t k = 0; k < count; ++k) is_new = is_new && s->path[k] != j;
        if (is_new) walk(s, j, count, cost + step_between(s->c, i, j));
    }
}

/** The path from a pixel by costs that are known, as is the next pixel: the lowest.  Returns how many pixels it has. */
static int64_t follow(const cost_problem *c, const answer *a, int64_t i, int64_t *pixels) {
    int64_t count = 0;
    if (seed_of(c, a, i) < 0) return 0;
    for (int64_t next = i; next >= 0; i = next) {
        pixels[count++] = i;
        next = -1;
        for (int64_t j = 0; j < pixels_of(&c->p) && next < 0; ++j) {
            if (!is_passable(c, j) || a->cost[j] < 0 || a->nearest[j] != a->nearest[i] || !weight_between(c, i, j)) continue;
            if (a->cost[j] + step_between(c, i, j) == a->cost[i]) next = j;
        }
    }
    return count;
}

static double straight_of(const problem *p, int64_t i, int64_t j) {
    double square = 0;
    for (int64_t a = 0, stride = 1; a < 3; stride *= p->size[a++]) {
        const double d = (double)((i / stride % p->size[a] - j / stride % p->size[a]) * p->ratio[a]);
        square += d * d;
    }
    return sqrt(square) * p->unit;
}

/** Fails unless a path has these pixels, and the numbers that follow from them. */
static void assert_path(const cost_problem *c, const apsis_path *got, const int64_t *pixels, const int64_t *want, int64_t count,
                        int64_t start) {
    assert_int_equal(got->start, start);
    assert_int_equal(got->count, count);
    assert_int_equal(got->seed, count ? want[count - 1] : -1);
    if (count == 0) {
        assert_true(isinf(got->length) && isinf(got->cost) && isnan(got->straight) && isnan(got->tortuosity));
        return;
    }
    int64_t cost = 0, length = 0;
    for (int64_t k = 0; k < count; ++k) {
        if (pixels[got->first + k] != want[k])
            print_error("pixel %lld of the path from %lld\n", (long long)k, (long long)start);
        assert_int_equal(pixels[got->first + k], want[k]);
        if (k == 0) continue;
        cost += step_between(c, want[k - 1], want[k]);
        length += weight_between(c, want[k - 1], want[k]);
    }
    const scale s = scale_of(&c->p);
    const double straight = straight_of(&c->p, start, want[count - 1]);
    assert_true(got->cost == real_cost(c, cost) && got->length == real_of(&s, length));
    assert_true(fabs(got->straight - straight) <= 1e-15 * straight);
    assert_true(fabs(got->tortuosity - (straight > 0 ? fmax(got->length / straight, 1) : 1)) <= 1e-14 * got->tortuosity);
}

/* ---- What they are ---- */

typedef struct found {
    apsis_path *path;
    int64_t *pixels, count;
} found;

/** Paths from all pixels, in descending order, so that they are not in that of slices. */
static found find_paths(bench *b, const cost_problem *c, apsis_type set, unsigned layout) {
    const problem *const p = &c->p;
    const int64_t n = pixels_of(p);
    found out = {must_alloc((size_t)n * sizeof(apsis_path)), NULL, -1};
    int64_t *const starts = must_alloc((size_t)n * 8);
    for (int64_t i = 0; i < n; ++i) starts[i] = n - 1 - i;
    frame f[3] = {frame_open(b, set, p->ndim, p->size, layout), frame_open(b, APSIS_U16, p->ndim, p->size, layout),
                  frame_open(b, APSIS_U8, p->ndim, p->size, PACKED)};
    uint16_t *const costs = must_alloc((size_t)n * 2);
    for (int64_t i = 0; i < n && c->cost; ++i) costs[i] = (uint16_t)c->cost[i];
    if (p->mask) put_sites(&f[0], p);
    frame_put(&f[1], costs);
    frame_put(&f[2], c->seeds);
    const apsis_image *const in[3] = {p->mask ? &f[0].image : NULL, c->cost ? &f[1].image : NULL, &f[2].image};
    assert_ok(b->ctx, apsis_paths(b->ctx, in[0], in[1], in[2], starts, n, NULL, NULL, 0, &out.count, &p->options));
    out.pixels = must_alloc((size_t)(out.count + 1) * 8);
    out.pixels[out.count] = -77;
    int64_t again;
    const int64_t less = out.count - out.count / 3;
    assert_ok(b->ctx,
              apsis_paths(b->ctx, in[0], in[1], in[2], starts, n, NULL, out.pixels + out.count / 3, less, NULL, &p->options));
    assert_ok(b->ctx,
              apsis_paths(b->ctx, in[0], in[1], in[2], starts, n, out.path, out.pixels, out.count + 1, &again, &p->options));
    assert_int_equal(out.count, again);
    assert_int_equal(out.pixels[out.count], -77);
    for (int k = 0; k < 3; ++k) frame_close(&f[k]);
    free(costs);
    free(starts);
    return out;
}

static void free_found(found *f) {
    free(f->path);
    free(f->pixels);
}

/** Those of a problem whose paths have been found; `every` path has been tried, in an image of up to 16 pixels. */
static void check_paths(bench *b, const cost_problem *c, bool every, apsis_type set, unsigned layout) {
    const int64_t n = pixels_of(&c->p);
    found got = find_paths(b, c, set, layout);
    int64_t *const want = must_alloc((size_t)n * 8), end = 0;
    answer a = solve_costs(c);
    for (int64_t k = 0; k < n; end += got.path[k++].count) {
        const int64_t start = n - 1 - k;
        assert_int_equal(got.path[k].first, end);
        assert_path(c, &got.path[k], got.pixels, want, follow(c, &a, start, want), start);
        if (!every) continue;
        search s = {.c = c};
        if (is_passable(c, start)) walk(&s, start, 0, 0);
        assert_path(c, &got.path[k], got.pixels, s.best, s.best_count, start);
    }
    assert_int_equal(end, got.count);
    free(want);
    free_answer(&a);
    free_found(&got);
}

static void every_path_of_3x3_images(bench *b) {
    chance c = {5};
    for (int i = 0; i < 512; i += 512 / effort(512)) {
        uint8_t mask[9], seeds[9];
        int64_t cost[9];
        for (int k = 0; k < 9; ++k)
            mask[k] = (uint8_t)(i >> k & 1), seeds[k] = roll_below(&c, 4) == 0, cost[k] = 1 + roll_below(&c, 3);
        cost_problem q = {new_problem(2, 3, 3, 1, mask), i % 3 ? cost : NULL, seeds};
        q.p.options.metric = (apsis_metric)(i % 4);
        q.p.options.connectivity = 1 + i / 4 % 2;
        check_paths(b, &q, true, APSIS_U8, PACKED);
    }
}

static void random_paths(bench *b) {
    static const apsis_type sets[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    chance c = {2712};
    for (int i = 0; i < effort(300); ++i) {
        cost_problem q = {new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL), NULL, NULL};
        problem *const p = &q.p;
        do
            for (int a = 0; a < p->ndim; ++a) p->size[a] = 1 + roll_below(&c, p->ndim == 2 ? 20 : 8);
        while (pixels_of(p) > 250);
        uint8_t *mask = must_alloc((size_t)pixels_of(p)), *seeds = must_alloc((size_t)pixels_of(p));
        int64_t *cost = must_alloc((size_t)pixels_of(p) * 8);
        fill_mask(mask, p->size, (int)roll_below(&c, MASK_KINDS), 0.7, &c);
        fill_mask(seeds, p->size, NOISE, roll_below(&c, 2) ? 0.02 : 0.2, &c);
        const int64_t most = roll_below(&c, 2) ? 4 : 65536;
        for (int64_t k = 0; k < pixels_of(p); ++k) cost[k] = roll_below(&c, most);
        q.seeds = seeds;
        if (roll_below(&c, 2)) q.cost = cost;
        if (roll_below(&c, 4)) p->mask = mask;
        p->options.metric = (apsis_metric)roll_below(&c, 4);
        p->options.flags =
            (p->mask && !roll_below(&c, 3) ? APSIS_COMPLEMENT : 0) | (p->ndim == 3 && !roll_below(&c, 3) ? APSIS_SLICES : 0);
        p->options.connectivity = (int32_t)roll_below(&c, (p->options.flags & APSIS_SLICES ? 2 : p->ndim) + 1);
        if (!roll_below(&c, 3)) set_spacing(p, 3, 3, 3, 0.25);
        if (!roll_below(&c, 3)) p->options.max_distance = 1 + 8 * roll_real(&c);
        draw_weights(p, true, &c);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_paths(b, &q, false, sets[roll_below(&c, 5)], roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED);
        free(mask);
        free(seeds);
        free(cost);
    }
}

/* ---- The longest ---- */

/** The paths between the ends that the oracle finds, each on its own. */
static void check_longest(bench *b, problem *p, apsis_type set) {
    const int64_t n = pixels_of(p);
    frame f = frame_open(b, set, p->ndim, p->size, PACKED);
    put_sites(&f, p);
    apsis_path *const path = must_alloc((size_t)(n + 1) * sizeof *path);
    int64_t count = -1, pixel_count = -1, end = 0, *const want = must_alloc((size_t)n * 8);
    assert_ok(b->ctx, apsis_longest_paths(b->ctx, &f.image, NULL, 0, &count, NULL, 0, &pixel_count, &p->options));
    int64_t *const pixels = must_alloc((size_t)(pixel_count + 1) * 8);
    assert_ok(b->ctx, apsis_longest_paths(b->ctx, &f.image, path, n, NULL, pixels, pixel_count, NULL, &p->options));
    extremes e = solve_extremes(p);
    assert_int_equal(count, e.count);
    uint8_t *const seeds = must_alloc((size_t)n);
    for (int64_t k = 0; k < count; end += path[k++].count) {
        const apsis_extent *const x = &e.extent[k];
        cost_problem c = {*p, NULL, seeds};
        seeds[x->ends[1]] = 1;
        answer a = solve_costs(&c);
        assert_int_equal(path[k].first, end);
        assert_path(&c, &path[k], pixels, want, follow(&c, &a, x->ends[0], want), x->ends[0]);
        assert_true(path[k].length == x->diameter);
        seeds[x->ends[1]] = 0;
        free_answer(&a);
    }
    assert_int_equal(end, pixel_count);
    free_extremes(&e);
    free(seeds);
    free(pixels);
    free(want);
    free(path);
    frame_close(&f);
}

static void longest_paths(bench *b) {
    chance c = {2713};
    for (int i = 0; i < effort(120); ++i) {
        problem p = new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL);
        do
            for (int a = 0; a < p.ndim; ++a) p.size[a] = 1 + roll_below(&c, p.ndim == 2 ? 16 : 7);
        while (pixels_of(&p) > 150);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, (int)roll_below(&c, MASK_KINDS), 0.6, &c);
        const bool labels = i % 3 == 0;
        for (int64_t k = 0; k < pixels_of(&p) && labels; ++k) mask[k] = (uint8_t)(mask[k] * (1 + 200 * roll_below(&c, 2)));
        p.mask = mask;
        p.options.metric = (apsis_metric)roll_below(&c, 4);
        if (!roll_below(&c, 3)) p.options.flags |= labels ? 0 : APSIS_COMPLEMENT;
        if (p.ndim == 3 && !roll_below(&c, 3)) p.options.flags |= APSIS_SLICES;
        if (labels) p.options.flags |= APSIS_LABELS;
        p.options.connectivity = (int32_t)roll_below(&c, (p.options.flags & APSIS_SLICES ? 2 : p.ndim) + 1);
        if (!roll_below(&c, 3)) set_spacing(&p, 3, 3, 3, 0.25);
        draw_weights(&p, true, &c);
        check_longest(b, &p, labels ? APSIS_U16 : roll_below(&c, 2) ? APSIS_BIT : APSIS_U8);
        free(mask);
    }
}

/** Of two ways round a square the one through the lower pixels; a ring of other costs; and what an arc of it tells. */
static void by_hand(bench *b) {
    uint8_t ring[25], seeds[25] = {0};
    draw(ring, "#####", "#...#", "#...#", "#...#", "#####", NULL);
    seeds[24] = 1;
    const apsis_image set = {.data = ring, .type = APSIS_U8, .ndim = 2, .size = {5, 5}};
    apsis_image at = set;
    at.data = seeds;
    apsis_options options = APSIS_OPTIONS_INIT;
    options.metric = APSIS_CITY_BLOCK;
    const int64_t start = 0, lowest[9] = {0, 1, 2, 3, 4, 9, 14, 19, 24};
    apsis_path path;
    int64_t pixels[9], count;
    assert_ok(b->ctx, apsis_paths(b->ctx, &set, NULL, &at, &start, 1, &path, pixels, 9, &count, &options));
    assert_int_equal(count, 9);
    assert_memory_equal(pixels, lowest, sizeof pixels);
    assert_true(path.length == 8 && path.cost == 8 && path.straight == sqrt(32) && path.tortuosity == 8 / sqrt(32));
    assert_true(path.start == 0 && path.seed == 24 && path.first == 0 && path.count == 9);
    uint8_t costs[25];
    memset(costs, 2, sizeof costs);
    costs[2] = 3;
    apsis_image dear = set;
    dear.data = costs;
    assert_ok(b->ctx, apsis_paths(b->ctx, &set, &dear, &at, &start, 1, &path, pixels, 9, &count, &options));
    assert_true(pixels[1] == 5 && path.cost == 16 && path.length == 8);
}

static void bad_calls(bench *b) {
    uint8_t bytes[16] = {1};
    int64_t start = 16, pixels[16];
    apsis_path path;
    const apsis_image set = {.data = bytes, .type = APSIS_U8, .ndim = 2, .size = {4, 4}};
    apsis_options options = APSIS_OPTIONS_INIT;
#define REFUSED(starts, count, capacity, status, text)                                                                  \
    assert_fails(b->ctx, apsis_paths(b->ctx, &set, NULL, &set, starts, count, &path, pixels, capacity, NULL, &options), \
                 status, text)
    REFUSED(&start, 1, 16, APSIS_ERROR_ARGUMENT, "paths: |starts[0] is 16|16 pixels");
    start = -1;
    REFUSED(&start, 1, 16, APSIS_ERROR_ARGUMENT, "starts[0] is -1");
    start = 0;
    REFUSED(NULL, 1, 16, APSIS_ERROR_ARGUMENT, "starts is NULL|start_count is 1");
    REFUSED(&start, -1, 16, APSIS_ERROR_ARGUMENT, "start_count is -1");
    REFUSED(&start, 1, -1, APSIS_ERROR_ARGUMENT, "capacity is -1");
    options.flags = APSIS_LABELS;
    REFUSED(&start, 1, 16, APSIS_ERROR_UNSUPPORTED, "APSIS_LABELS");
    options.flags = APSIS_BORDER;
    REFUSED(&start, 1, 16, APSIS_ERROR_ARGUMENT, "APSIS_BORDER");
    options.flags = 0, options.method = APSIS_SWEEP;
    REFUSED(&start, 1, 16, APSIS_ERROR_ARGUMENT, "APSIS_SWEEP|APSIS_AUTO");
#define REFUSED_LONGEST(status, text) \
    assert_fails(b->ctx, apsis_longest_paths(b->ctx, &set, &path, 1, NULL, pixels, 16, NULL, &options), status, text)
    REFUSED_LONGEST(APSIS_ERROR_ARGUMENT, "longest_paths: |APSIS_SWEEP");
    options.method = APSIS_AUTO, options.max_distance = 3;
    REFUSED_LONGEST(APSIS_ERROR_ARGUMENT, "max_distance is 3");
    options.max_distance = 0, options.budget = 3;
    REFUSED_LONGEST(APSIS_ERROR_ARGUMENT, "budget is 3");
    options.budget = 0, options.flags = APSIS_LABELS | APSIS_COMPLEMENT;
    REFUSED_LONGEST(APSIS_ERROR_ARGUMENT, "APSIS_LABELS and APSIS_COMPLEMENT");
    int64_t count = -1, pixel_count = -1;
    const apsis_image empty = {.type = APSIS_U8, .ndim = 2, .size = {0, 7}};
    assert_ok(b->ctx, apsis_longest_paths(b->ctx, &empty, NULL, 0, &count, NULL, 0, &pixel_count, NULL));
    assert_true(count == 0 && pixel_count == 0);
    assert_ok(b->ctx, apsis_paths(b->ctx, NULL, NULL, &empty, NULL, 0, NULL, NULL, 0, &count, NULL));
    assert_int_equal(count, 0);
}

static void can_be_stopped(bench *b) {
    enum { SIDE = 300 };
    static uint8_t set[SIDE * SIDE], seeds[SIDE * SIDE];
    memset(set, 1, sizeof set);
    seeds[7] = 1;
    const apsis_image in = {.data = set, .type = APSIS_U8, .ndim = 2, .size = {SIDE, SIDE}};
    apsis_image at = in;
    at.data = seeds;
    const int64_t start = SIDE * SIDE - 1;
    int calls = 0;
    assert_ok(b->ctx, apsis_set_progress(b->ctx, stop_at_once, &calls));
    assert_int_equal(apsis_paths(b->ctx, &in, NULL, &at, &start, 1, NULL, NULL, 0, NULL, NULL), APSIS_ERROR_CANCELLED);
    assert_true(calls > 0);
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    int64_t count;
    assert_ok(b->ctx, apsis_paths(b->ctx, &in, NULL, &at, &start, 1, NULL, NULL, 0, &count, NULL));
    assert_int_equal(count, SIDE);
}

static const test_case cases[] = {
    TEST(every_path_of_3x3_images, WITH_HOST_IMAGES),
    TEST(random_paths, WITH_HOST_IMAGES),
    TEST(longest_paths, WITH_HOST_IMAGES),
    TEST(by_hand, WITH_HOST_IMAGES),
    TEST(bad_calls, WITH_HOST_IMAGES),
    TEST(can_be_stopped, WITH_HOST_IMAGES),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
