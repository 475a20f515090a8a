#include "run_slabs.h"

void fill(int64_t *array, int64_t count, int64_t value) {
    for (int64_t i = 0; i < count; ++i) array[i] = value;
}
static int64_t *take_columns(const problem *p, int64_t value) {
    int64_t *array = must_alloc((size_t)told_of(p) * sizeof *array);
    fill(array, told_of(p), value);
    return array;
}

/* ---- Orders ---- */

/** The slabs in some order. */
static void choose_order(chance *c, int slabs, int order[MOST_SLABS]) {
    for (int k = 0; k < slabs; ++k) {
        const int other = (int)roll_below(c, k + 1);
        order[k] = order[other];
        order[other] = k;
    }
}

/* ---- The slabs of a cut ---- */

/** What slabs tell of the set, and of its complement. */
typedef struct told {
    int64_t *first[MOST_SLABS], *last[MOST_SLABS];
} told;

static void summarize_slab(bench *b, const problem *p, const given *how, const cut *at, int k, unsigned flags, told *of) {
    problem slab = slab_of(p, at, k);
    slab.options.flags ^= flags;
    frame set = frame_open(b, how->set, slab.ndim, slab.size, how->set_layout);
    put_sites(&set, &slab);
    bench place = place_of_columns(b, p, at->start[k]);
    frame first = open_columns(&place, p), last = open_columns(&place, p);
    assert_ok(b->ctx, apsis_slab_summary(b->ctx, &set.image, at->start[k], first.image.data, last.image.data, &slab.options));
    frame_get(&first, of->first[k] = take_columns(p, 0));
    frame_get(&last, of->last[k] = take_columns(p, 0));
    frame_assert_unchanged(&set);
    frame_close(&set);
    frame_close(&first);
    frame_close(&last);
}

static void merge(const problem *p, const int64_t *first, const int64_t *last, int64_t *all_first, int64_t *all_last) {
    if (p->options.flags & APSIS_LABELS)
        apsis_slab_merge_labels(columns_of(p), first, last, all_first, all_last);
    else
        apsis_slab_merge(columns_of(p), first, last, all_first, all_last);
}

/** Merges what slabs [begin, end) tell in some order: from the left, from the right, or half with half.  Halves of label images
 *  are merged on their own, so that each is beside what is there. */
static void merge_some(const problem *p, const told *of, int begin, int end, chance *c, int64_t *first, int64_t *last) {
    if (end - begin > 2 && roll_below(c, 2)) {
        const int middle = (begin + end) / 2;
        int64_t *all_first = first ? take_columns(p, INT64_MAX) : NULL, *all_last = last ? take_columns(p, -1) : NULL;
        merge_some(p, of, middle, end, c, first, last);
        merge_some(p, of, begin, middle, c, all_first, all_last);
        merge(p, all_first, all_last, first, last);
        free(all_first);
        free(all_last);
        return;
    }
    const bool backward = roll_below(c, 2);
    for (int i = begin; i < end; ++i) {
        const int k = backward ? begin + end - 1 - i : i;
        merge(p, first ? of->first[k] : NULL, last ? of->last[k] : NULL, first, last);
    }
}

/** Around an image that closes on itself: where no slab before has a row, the last one of all; and likewise below. */
static void merge_around(const problem *p, const told *of, int slabs, chance *c, int64_t *above, int64_t *below) {
    int64_t *first = take_columns(p, INT64_MAX), *last = take_columns(p, -1);
    merge_some(p, of, 0, slabs, c, first, last);
    if (p->options.flags & APSIS_LABELS)
        apsis_slab_close_labels(columns_of(p), rows_of(p), first, last, below, above);
    else
        for (int64_t i = 0; i < columns_of(p); ++i) {
            if (above[i] < 0) above[i] = last[i];
            if (below[i] == INT64_MAX) below[i] = first[i];
        }
    free(first);
    free(last);
}

/** What a slab is told of those before it and behind it; one side alone, or both. */
static void gather(bench *b, const problem *p, const told *of, int slabs, int k, int64_t *above, int64_t *below) {
    const int64_t *first[MOST_SLABS], *last[MOST_SLABS];
    for (int i = 0; i < slabs; ++i) {
        first[i] = of->first[i];
        last[i] = of->last[i];
    }
    assert_ok(b->ctx, apsis_slab_gather(b->ctx, columns_of(p), first, last, slabs, k, above, below));
}

/** The map of slab k, into the outputs of the whole. */
static void run_one(bench *b, const problem *p, const given *how, const cut *at, int k, const told *of, chance *c,
                    uint8_t *const out[2]) {
    const int64_t columns = columns_of(p);
    const int sides = p->options.flags & APSIS_SIGNED ? 2 : 1;
    int64_t *above[2] = {NULL, NULL}, *below[2] = {NULL, NULL};
    for (int side = 0; side < sides; ++side) {
        const bool is_ring = is_periodic(p, p->ndim - 1);
        if (!is_ring && !(p->options.flags & APSIS_LABELS) && roll_below(c, 2)) {
            gather(b, p, of + side, at->slabs, k, above[side] = take_columns(p, 0), below[side] = take_columns(p, 0));
            continue;
        }
        if (is_ring || k > 0) merge_some(p, of + side, 0, k, c, NULL, above[side] = take_columns(p, -1));
        if (is_ring || k + 1 < at->slabs)
            merge_some(p, of + side, k + 1, at->slabs, c, below[side] = take_columns(p, INT64_MAX), NULL);
        if (is_ring) merge_around(p, of + side, at->slabs, c, above[side], below[side]);
    }
    const problem slab = slab_of(p, at, k);
    const apsis_slab place = {at->start[k], rows_of(p), above[0], below[0], above[1], below[1]};
    const bool is_kept = !(p->options.flags & APSIS_LABELS) &&
                         (p->options.flags & (APSIS_SIGNED | APSIS_BORDER)) != (APSIS_SIGNED | APSIS_BORDER);
    outputs map = run_slab(b, &slab, how, &place, is_kept && roll_below(c, 2));
    const size_t before = (size_t)(at->start[k] * columns), pixels = (size_t)pixels_of(&slab);
    if (out[0]) memcpy(out[0] + before * type_size(how->distance), map.distance, pixels * type_size(how->distance));
    if (out[1]) memcpy(out[1] + before * type_size(how->nearest), map.nearest, pixels * type_size(how->nearest));
    free_outputs(&map);
    for (int side = 0; side < 2; ++side) {
        free(above[side]);
        free(below[side]);
    }
}

/** A packed output for every pixel of the image, which slabs fill in; NULL for one that is left out. */
static uint8_t *take_output(const problem *p, apsis_type type) {
    return type ? must_alloc((size_t)(pixels_of(p) + 8) * type_size(type)) : NULL;
}

static outputs run_cut(bench *const places[], int count, const problem *p, const given *how, const cut *at, chance *c) {
    told of[2] = {{{NULL}, {NULL}}, {{NULL}, {NULL}}};
    int order[MOST_SLABS];
    choose_order(c, at->slabs, order);
    const int sides = p->options.flags & APSIS_LABELS ? 1 : 2;
    for (int i = 0; i < at->slabs; ++i)
        for (int side = 0; side < sides; ++side)
            summarize_slab(places[order[i] % count], p, how, at, order[i], side ? APSIS_COMPLEMENT : 0, &of[side]);
    uint8_t *const out[2] = {take_output(p, how->distance), take_output(p, how->nearest)};
    choose_order(c, at->slabs, order);
    for (int i = 0; i < at->slabs; ++i) run_one(places[order[i] % count], p, how, at, order[i], of, c, out);
    for (int k = 0; k < at->slabs; ++k)
        for (int side = 0; side < 2; ++side) {
            free(of[side].first[k]);
            free(of[side].last[k]);
        }
    return (outputs){out[0], out[1]};
}

/* ---- The same as the whole ---- */

static void check_same(const problem *p, const void *got, const void *want, apsis_type type, const cut *at) {
    if (!type || memcmp(got, want, (size_t)pixels_of(p) * type_size(type)) == 0) return;
    char text[256];
    describe(p, text, sizeof text);
    print_error("%s, type %d\n", text, (int)type);
    fail_at(at, "a pixel");
}

/** Fails unless the map by slabs is `whole`. */
static void check_cut(bench *const places[], int count, const problem *p, const given *how, const outputs *whole, const cut *at,
                      chance *c) {
    outputs out = run_cut(places, count, p, how, at, c);
    check_same(p, out.distance, whole->distance, how->distance, at);
    check_same(p, out.nearest, whole->nearest, how->nearest, at);
    free_outputs(&out);
}

void check_every_cut(bench *const places[], int count, const problem *p, const given *how, chance *c) {
    outputs whole = run_distance(places[0], p, how);
    for (unsigned cuts = 0; cuts < 1u << (rows_of(p) - 1); ++cuts) {
        const cut at = cut_of(cuts, rows_of(p));
        check_cut(places, count, p, how, &whole, &at, c);
    }
    free_outputs(&whole);
}

void check_random_cuts(bench *place, const problem *p, const given *how, chance *c) {
    outputs whole = run_distance(place, p, how);
    for (int k = 0; k < 3; ++k) {
        const cut at = choose_cut(c, rows_of(p));
        check_cut(&place, 1, p, how, &whole, &at, c);
    }
    free_outputs(&whole);
}
