#include "run_slab_paths.h"

/** What a slab tells: lengths and seeds of its first and last row. */
typedef struct told {
    int64_t *first, *last, *first_seeds, *last_seeds;
} told;

/** The slab before slab k, or behind it; -1 where the image ends. */
static int beside(const problem *p, const cut *at, int k, int by) {
    const bool is_ring = is_periodic(p, p->ndim - 1);
    return is_ring ? (k + by + at->slabs) % at->slabs : k + by < at->slabs ? k + by : -1;
}

static int64_t *take_columns(const problem *p, int64_t value) {
    int64_t *array = must_alloc((size_t)columns_of(p) * sizeof *array);
    for (int64_t i = 0; i < columns_of(p); ++i) array[i] = value;
    return array;
}

/** Calls apsis_slab_geodesic for slab k.  With outputs, they go into those of the image. */
static int64_t run_one(bench *b, const problem *p, const uint8_t *seeds, const given *how, const cut *at, int k, const told *of,
                       uint8_t *const out[2]) {
    const int64_t before = at->start[k] * columns_of(p);
    int64_t size[3] = {p->size[0], p->size[1], p->size[2]};
    size[p->ndim - 1] = at->start[k + 1] - at->start[k];
    frame set = frame_open(b, how->set, p->ndim, size, how->set_layout);
    frame from = frame_open(b, how->set, p->ndim, size, how->set_layout);
    frame_put(&set, p->mask + before);
    frame_put(&from, seeds + before);
    const apsis_type type[2] = {how->distance, how->nearest};
    const unsigned layout[2] = {how->distance_layout, how->nearest_layout};
    frame f[2];
    const apsis_image *image[2] = {NULL, NULL};
    for (int i = 0; i < 2; ++i)
        if (out && type[i]) {
            f[i] = frame_open(b, type[i], p->ndim, size, layout[i]);
            image[i] = &f[i].image;
        }
    apsis_slab_paths slab = {.start = at->start[k], .extent = rows_of(p), .first = of[k].first, .last = of[k].last};
    const int above = beside(p, at, k, -1), below = beside(p, at, k, 1);
    if (above >= 0) slab.above = of[above].last;
    if (below >= 0) slab.below = of[below].first;
    if (how->nearest) {
        slab.first_seeds = of[k].first_seeds;
        slab.last_seeds = of[k].last_seeds;
        if (above >= 0) slab.above_seeds = of[above].last_seeds;
        if (below >= 0) slab.below_seeds = of[below].first_seeds;
    }
    int64_t changed = -1;
    assert_ok(b->ctx, apsis_slab_geodesic(b->ctx, &set.image, &from.image, &slab, image[0], image[1], &changed, &p->options));
    frame_assert_unchanged(&set);
    frame_assert_unchanged(&from);
    frame_close(&set);
    frame_close(&from);
    for (int i = 0; i < 2; ++i)
        if (image[i]) {
            uint8_t *pixels = must_alloc((size_t)(f[i].count + 8));
            frame_get(&f[i], pixels);
            const size_t bytes = type_size(type[i]);
            memcpy(out[i] + (size_t)before * bytes, pixels, (size_t)(size[0] * size[1] * size[2]) * bytes);
            frame_close(&f[i]);
            free(pixels);
        }
    return changed;
}

static void check_same(const problem *p, const void *got, const void *want, apsis_type type, const cut *at) {
    if (!type || memcmp(got, want, (size_t)pixels_of(p) * type_size(type)) == 0) return;
    char text[256];
    describe(p, text, sizeof text);
    print_error("%s, connectivity %d, type %d\n", text, p->options.connectivity, (int)type);
    fail_at(at, "a pixel");
}

void check_paths_cut(bench *const places[], int count, const problem *p, const uint8_t *seeds, const given *how,
                     const outputs *whole, const cut *at, chance *c) {
    told of[MOST_SLABS];
    for (int k = 0; k < at->slabs; ++k)
        of[k] = (told){take_columns(p, INT64_MAX), take_columns(p, INT64_MAX), take_columns(p, -1), take_columns(p, -1)};
    bool is_due[MOST_SLABS]; /* something beside it has changed */
    for (int k = 0; k < at->slabs; ++k) is_due[k] = true;
    for (int due = at->slabs; due > 0;) {
        int k = (int)roll_below(c, at->slabs);
        while (!is_due[k] && roll_below(c, 8)) k = (k + 1) % at->slabs; /* sometimes one that would be left out */
        const bool was_due = is_due[k];
        is_due[k] = false;
        if (run_one(places[roll_below(c, count)], p, seeds, how, at, k, of, NULL) > 0) {
            assert_true(was_due);
            for (int by = -1; by <= 1; by += 2)
                if (beside(p, at, k, by) >= 0) is_due[beside(p, at, k, by)] = true;
        }
        due = 0;
        for (int i = 0; i < at->slabs; ++i) due += is_due[i];
    }
    uint8_t *out[2] = {NULL, NULL};
    if (how->distance) out[0] = must_alloc((size_t)(pixels_of(p) + 8) * type_size(how->distance));
    if (how->nearest) out[1] = must_alloc((size_t)(pixels_of(p) + 8) * type_size(how->nearest));
    for (int k = 0; k < at->slabs; ++k)
        assert_int_equal(run_one(places[roll_below(c, count)], p, seeds, how, at, k, of, out), 0);
    check_same(p, out[0], whole->distance, how->distance, at);
    check_same(p, out[1], whole->nearest, how->nearest, at);
    for (int k = 0; k < at->slabs; ++k) {
        free(of[k].first);
        free(of[k].last);
        free(of[k].first_seeds);
        free(of[k].last_seeds);
    }
    free(out[0]);
    free(out[1]);
}

void check_paths_of_every_cut(bench *const places[], int count, const problem *p, const uint8_t *seeds, const given *how,
                              chance *c) {
    outputs whole = run_geodesic(places[0], p, seeds, how);
    for (unsigned cuts = 0; cuts < 1u << (rows_of(p) - 1); ++cuts) {
        const cut at = cut_of(cuts, rows_of(p));
        check_paths_cut(places, count, p, seeds, how, &whole, &at, c);
    }
    free_outputs(&whole);
}
