/* Labels in place of indices: apsis_voronoi of label images, and apsis_geodesic with label seeds, against the maps of
 * indices. */
#include "run_distance.h"

typedef struct pair {
    problem p;
    apsis_type set, cells;
    unsigned layout;
} pair;

/** Labels are bytes moved up by some bits, which does not change which are 0; as numbers of their type. */
static int64_t label_of(apsis_type type, uint8_t byte) {
    switch (type) {
        case APSIS_BIT: return byte != 0;
        case APSIS_U8: return byte;
        case APSIS_U16: return byte * 256;
        case APSIS_I32: return (int32_t)((uint32_t)byte << 24);
        default: return (int64_t)((uint64_t)byte << 56);
    }
}

static frame labels_in(bench *b, const problem *p, const uint8_t *bytes, apsis_type type, unsigned layout) {
    const size_t size = type_size(type);
    uint8_t *pixels = must_alloc((size_t)pixels_of(p) * size + 8);
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        const int64_t value = label_of(type, bytes[i]);
        memcpy(pixels + (size_t)i * size, &value, size);
    }
    frame f = frame_open(b, type, p->ndim, p->size, layout);
    frame_put(&f, pixels);
    free(pixels);
    return f;
}

/** The pixels of a map as numbers, in memory to be freed. */
static int64_t *numbers_of(frame *f, const problem *p) {
    uint8_t *pixels = must_alloc((size_t)f->count + 8);
    int64_t *numbers = must_alloc((size_t)pixels_of(p) * sizeof *numbers);
    frame_get(f, pixels);
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        int32_t narrow;
        if (f->image.type == APSIS_I64) memcpy(&numbers[i], pixels + 8 * i, 8);
        if (f->image.type == APSIS_I32) memcpy(&narrow, pixels + 4 * i, 4), numbers[i] = narrow;
    }
    free(pixels);
    frame_close(f);
    return numbers;
}

static void choose_problem(chance *c, pair *q, uint8_t *bytes) {
    static const int64_t sizes[] = {1, 2, 3, 8, 13, 32, 33, 65, 129};
    static const apsis_type types[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    static const double limits[] = {0, 0, 2.5, 10}, densities[] = {0, 0.003, 0.05, 0.5};
    problem *p = &q->p;
    *p = new_problem(2 + (int)roll_below(c, 2), 1, 1, 1, bytes);
    do
        for (int a = 0; a < 3; ++a) p->size[a] = a < p->ndim ? sizes[roll_below(c, COUNT(sizes))] : 1;
    while (pixels_of(p) > 5000);
    fill_mask(bytes, p->size, NOISE, densities[roll_below(c, COUNT(densities))], c);
    for (int64_t i = 0; i < pixels_of(p); ++i) bytes[i] = (uint8_t)(bytes[i] * (1 + roll_below(c, 255)));
    p->options.max_distance = limits[roll_below(c, COUNT(limits))];
    if (p->ndim == 3 && roll_below(c, 3) == 0) p->options.flags |= APSIS_SLICES;
    q->set = types[roll_below(c, COUNT(types))];
    q->cells = q->set != APSIS_I64 && roll_below(c, 2) ? APSIS_I32 : APSIS_I64;
    q->layout = roll_below(c, 2) ? (unsigned)roll_below(c, LAYOUTS) : PACKED;
}

/** Fails unless a map of labels is what a map of indices says. */
static void compare(const pair *q, const uint8_t *bytes, const int64_t *labels, const int64_t *indices) {
    for (int64_t i = 0; i < pixels_of(&q->p); ++i)
        assert_int_equal(labels[i], indices[i] < 0 ? 0 : label_of(q->set, bytes[indices[i]]));
}

enum { MOST = 5000 };

static void random_cells(bench *b) {
    chance c = {31};
    uint8_t bytes[MOST];
    for (int i = 0; i < effort(400); ++i) {
        pair q;
        choose_problem(&c, &q, bytes);
        static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD};
        q.p.options.metric = metrics[roll_below(&c, 4)];
        if (roll_below(&c, 3) == 0) q.p.options.flags |= APSIS_CONNECTED;
        int64_t *map[2];
        for (int labels = 0; labels < 2; ++labels) {
            if (labels) q.p.options.flags |= APSIS_LABELS;
            frame set = labels_in(b, &q.p, bytes, q.set, q.layout);
            frame cells = frame_open(b, labels ? q.cells : APSIS_I64, q.p.ndim, q.p.size, q.layout);
            assert_ok(b->ctx, apsis_voronoi(b->ctx, &set.image, &cells.image, &q.p.options));
            frame_assert_unchanged(&set);
            frame_close(&set);
            map[labels] = numbers_of(&cells, &q.p);
        }
        compare(&q, bytes, map[1], map[0]);
        free(map[0]);
        free(map[1]);
    }
}

static void random_seeds(bench *b) {
    chance c = {32};
    uint8_t bytes[MOST], mask[MOST];
    for (int i = 0; i < effort(300); ++i) {
        pair q;
        choose_problem(&c, &q, bytes);
        fill_mask(mask, q.p.size, roll_below(&c, 2) ? BLOBS : NOISE, 0.7, &c);
        if (roll_below(&c, 2)) q.p.options.flags |= APSIS_COMPLEMENT;
        const bool with_distance = roll_below(&c, 2);
        int64_t *map[2];
        for (int labels = 0; labels < 2; ++labels) {
            if (labels) q.p.options.flags |= APSIS_LABELS;
            frame set = frame_open(b, APSIS_U8, q.p.ndim, q.p.size, PACKED);
            frame seeds = labels_in(b, &q.p, bytes, q.set, q.layout),
                  far = frame_open(b, APSIS_F32, q.p.ndim, q.p.size, PACKED);
            frame near = frame_open(b, labels ? q.cells : APSIS_I64, q.p.ndim, q.p.size, q.layout);
            frame_put(&set, mask);
            assert_ok(b->ctx, apsis_geodesic(b->ctx, &set.image, &seeds.image, with_distance ? &far.image : NULL, &near.image,
                                             &q.p.options));
            frame_assert_unchanged(&seeds);
            frame_close(&set);
            frame_close(&seeds);
            frame_close(&far);
            map[labels] = numbers_of(&near, &q.p);
        }
        compare(&q, bytes, map[1], map[0]);
        free(map[0]);
        free(map[1]);
    }
}

static void what_does_not_fit(bench *b) {
    const problem p = new_problem(2, 2, 1, 1, (const uint8_t[]){3, 0});
    apsis_options o = APSIS_OPTIONS_INIT;
    o.flags = APSIS_LABELS;
    frame wide = labels_in(b, &p, p.mask, APSIS_I64, PACKED), cells = frame_open(b, APSIS_I32, 2, p.size, PACKED);
    assert_fails(b->ctx, apsis_voronoi(b->ctx, &wide.image, &cells.image, &o), APSIS_ERROR_RANGE, "cells|APSIS_I32|APSIS_I64");
    assert_fails(b->ctx, apsis_geodesic(b->ctx, &wide.image, &wide.image, NULL, &cells.image, &o), APSIS_ERROR_RANGE,
                 "nearest|APSIS_I32|seeds|APSIS_I64");
    frame_close(&wide);
    frame set = labels_in(b, &p, p.mask, APSIS_U16, PACKED);
    o.flags = APSIS_LABELS | APSIS_COMPLEMENT;
    assert_fails(b->ctx, apsis_voronoi(b->ctx, &set.image, &cells.image, &o), APSIS_ERROR_ARGUMENT, "no complement");
    o.flags = APSIS_BORDER;
    assert_fails(b->ctx, apsis_voronoi(b->ctx, &set.image, &cells.image, &o), APSIS_ERROR_ARGUMENT,
                 "APSIS_BORDER|apsis_voronoi");
    o.flags = APSIS_LABELS, o.method = APSIS_SWEEP;
    assert_fails(b->ctx, apsis_voronoi(b->ctx, &set.image, &cells.image, &o), APSIS_ERROR_UNSUPPORTED, "APSIS_SWEEP");
    frame_close(&set);
    frame_close(&cells);
}

static const test_case cases[] = {
    TEST(random_cells, EVERYWHERE),
    TEST(random_seeds, EVERYWHERE),
    TEST(what_does_not_fit, EVERYWHERE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
