/*
 * Components of an image that all ranks have some rows of, for apsis_mpi.c.
 *
 * A binomial tree.  On the way up, slabs of 1, 2, 4, ... ranks are joined two by two, and are a slab again, of which only the
 * first and the last row go on; so no rank holds the faces of all.  At its root, rank 0, all is one slab, and there components
 * are left out.  On the way down, numbers in the image come back to each slab.
 */
#ifndef APSIS_MPI_COMPONENTS_H
#define APSIS_MPI_COMPONENTS_H

#include "ranks.h"

enum { FIRST_ROOM = 1 << 12, PART = sizeof(apsis_part) / sizeof(int64_t) };

/** What a rank holds of the tree. */
typedef struct tree {
    apsis_slab_labels slab;        /* its own; then together with those that have been joined with it */
    apsis_slab_labels pair[31][2]; /* [level]: what became one there */
    apsis_part *parts;             /* of `slab` */
    int32_t ndim;
    int64_t size[3];         /* of the image */
    bool selects, has_parts; /* whether components are left out; whether parts go up */
    bool is_ring;            /* whether the first and the last row of the image face each other */
    apsis_options all;       /* as the options, but nothing is left out */
} tree;

static void grow_parts(call *c, tree *t, int64_t count) {
    apsis_part *const grown = count < (int64_t)1 << 56 ? realloc(t->parts, (size_t)(count + 1) * sizeof *grown) : NULL;
    if (grown)
        t->parts = grown;
    else
        fail(c, APSIS_ERROR_MEMORY, "no memory for what is known of %lld components", (long long)count);
}

/** Numbers the slab of this rank. */
static void number_slab(call *c, tree *t, const apsis_image *set, const apsis_options *options) {
    apsis_slab_labels *const slab = &t->slab;
    slab->start = c->start, slab->rows = c->rows;
    slab->first = take(c, c->columns), slab->last = take(c, c->columns);
    do { /* a second time if there was no room for all */
        slab->capacity = !t->has_parts ? 0 : slab->count ? slab->count : FIRST_ROOM;
        if (t->has_parts) grow_parts(c, t, slab->capacity);
        slab->parts = t->parts;
        if (c->is.status == APSIS_OK) note(c, apsis_slab_parts(c->context, set, slab, options));
    } while (c->is.status == APSIS_OK && t->has_parts && slab->count > slab->capacity);
}

/** Takes memory for the slab of the ranks from `step` on, of so many rows and components, and for what both become. */
static void open_pair(call *c, tree *t, apsis_slab_labels pair[2], const int64_t told[2]) {
    const apsis_slab_labels next = {.start = t->slab.start + t->slab.rows, .rows = told[0], .count = told[1]};
    pair[0] = t->slab, pair[1] = next;
    pair[1].first = take(c, c->columns), pair[1].last = take(c, c->columns);
    t->slab.first = take(c, c->columns), t->slab.last = take(c, c->columns);
    t->slab.rows += next.rows, t->slab.count += next.count;
    if (t->has_parts) {
        grow_parts(c, t, t->slab.count);
        t->slab.parts = pair[0].parts = t->parts, pair[1].parts = t->parts + pair[0].count;
    }
    for (int i = 0; i < 2; ++i) {
        pair[i].capacity = pair[i].count;
        if (t->selects) pair[i].numbers = take(c, pair[i].count);
    }
}

/** Copies numbers that belong to the slab of both, wherever in it a component begins. */
static void copy_face(int64_t *to, const int64_t *from, int64_t columns) {
    for (int64_t i = 0; i < columns; ++i) to[i] = llabs(from[i]);
}

static void join_pair(call *c, tree *t, apsis_slab_labels pair[2]) {
    t->slab.capacity = t->has_parts ? t->slab.count : 0;
    note(c, apsis_slab_join(c->context, t->ndim, t->size, pair, 2, t->parts, t->slab.capacity, &t->slab.count, &t->all));
    if (t->slab.rows == 0) return;
    copy_face(t->slab.first, pair[pair[0].rows > 0 ? 0 : 1].first, c->columns);
    copy_face(t->slab.last, pair[pair[1].rows > 0 ? 1 : 0].last, c->columns);
}

/** Passes on what a slab tells, or is told. */
static void pass_slab(call *c, const tree *t, bool is_sent, bool is_told, apsis_slab_labels *slab, int other) {
    if (is_told) pass(c, is_sent, &slab->before, 1, other);
    if (is_told && t->selects)
        pass(c, is_sent, slab->numbers, slab->count, other);
    else if (slab->rows > 0)
        pass(c, is_sent, slab->first, c->columns, other), pass(c, is_sent, slab->last, c->columns, other);
    if (!is_told && t->has_parts) pass(c, is_sent, slab->parts, slab->count * PART, other);
}

/** Joins the slabs of all ranks, at rank 0; some phases. */
static bool go_up(call *c, tree *t) {
    for (int level = 0; 1 << level < c->size; ++level) {
        apsis_slab_labels *const pair = t->pair[level];
        const int step = 1 << level, place = c->rank % (2 * step);
        const bool sends = place == step, receives = place == 0 && c->rank + step < c->size;
        int64_t told[2] = {t->slab.rows, t->slab.count};
        if (sends) pass(c, SENT, told, 2, c->rank - step);
        if (receives) pass(c, RECEIVED, told, 2, c->rank + step), open_pair(c, t, pair, told);
        if (!agree(c, NULL, 0)) return false;
        if (sends) pass_slab(c, t, SENT, false, &t->slab, c->rank - step);
        if (receives) pass_slab(c, t, RECEIVED, false, &pair[1], c->rank + step), join_pair(c, t, pair);
    }
    return true;
}

/** Tells all ranks the numbers in the image that rank 0 has been told; some phases. */
static bool go_down(call *c, tree *t) {
    int level = 0;
    while (1 << level < c->size) ++level;
    while (level-- > 0) {
        apsis_slab_labels *const pair = t->pair[level];
        const int step = 1 << level, place = c->rank % (2 * step);
        const bool receives = place == step, sends = place == 0 && c->rank + step < c->size;
        if (receives && t->selects) t->slab.numbers = take(c, t->slab.count);
        if (sends && t->selects) pair[0].first = pair[0].last = pair[1].first = pair[1].last = NULL; /* numbers are enough */
        if (sends) note(c, apsis_slab_renumber(c->context, c->columns, &t->slab, pair, 2));
        if (!agree(c, NULL, 0)) return false;
        if (receives) pass_slab(c, t, RECEIVED, true, &t->slab, c->rank - step);
        if (sends) pass_slab(c, t, SENT, true, &pair[1], c->rank + step), t->slab = pair[0];
    }
    return true;
}

/** A phase of rank 0: leaves components out, and numbers the others.  All get their number and, if any but rank 0 wants them,
 *  what is known of them.  Where none are left out, and the rows at both ends do not meet, the slab of all ranks has it all. */
static bool number_image(call *c, tree *t, bool all_want_parts, int64_t *count, const apsis_options *options) {
    if (t->selects && !t->is_ring) t->slab.first = t->slab.last = NULL;
    if (c->rank == 0 && (t->selects || t->is_ring)) {
        if (t->selects) t->slab.numbers = take(c, t->slab.count);
        if (c->is.status == APSIS_OK)
            note(c, apsis_slab_join(c->context, t->ndim, t->size, &t->slab, 1, t->parts, t->has_parts ? t->slab.count : 0,
                                    count, options));
    } else {
        *count = t->slab.count;
        t->slab.before = 0;
    }
    if (!agree(c, NULL, 0)) return false;
    pass_to_all(c, count, 1, 0);
    if (!all_want_parts) return !c->is_broken;
    if (c->rank > 0) grow_parts(c, t, *count);
    if (!agree(c, NULL, 0)) return false;
    pass_to_all(c, t->parts, *count * PART, 0);
    return !c->is_broken;
}

static void find_components(call *c, tree *t, const apsis_image *set, const apsis_image *labels, apsis_component *components,
                            int64_t capacity, int64_t *count, const apsis_options *options) {
    int64_t wants[3] = {-(capacity > 0), -(capacity > 0 && c->rank > 0), -(labels != NULL)}; /* -1: a rank wants this */
    int64_t all = 0;
    if (capacity < 0 || (capacity > 0 && !components))
        fail(c, APSIS_ERROR_ARGUMENT, "capacity is %lld, but must be 0, or components not NULL", (long long)capacity);
    if (!agree(c, wants, 3)) return;
    t->ndim = set->ndim;
    t->is_ring = is_ring(c, set);
    for (int a = 0; a < t->ndim; ++a) t->size[a] = a == t->ndim - 1 ? c->extent : set->size[a];
    t->all = c->options;
    t->all.flags &= ~(uint32_t)(APSIS_NO_BORDER | APSIS_NO_INNER);
    t->all.largest = 0, t->all.min_area = t->all.max_area = 0;
    t->selects = memcmp(&t->all, &c->options, sizeof t->all) != 0;
    t->has_parts = t->selects || wants[0] || (c->options.flags & APSIS_LABELS); /* parts tell the values */
    number_slab(c, t, set, options);
    if (!go_up(c, t) || !number_image(c, t, wants[1], &all, options)) return;
    if (count) *count = all;
    if (capacity > 0) apsis_slab_measure(least_of(all, capacity), t->parts, components);
    if (!wants[2] || !go_down(c, t) || !labels) return;
    apsis_status status = apsis_slab_components(c->context, NULL, &t->slab, labels, options); /* as in map_distance */
    if (status == APSIS_ERROR_ARGUMENT) status = apsis_slab_components(c->context, set, &t->slab, labels, options);
    note(c, status);
}

apsis_status apsis_mpi_components(apsis_context *context, MPI_Comm comm, const apsis_image *set, const apsis_image *labels,
                                  apsis_component *components, int64_t capacity, int64_t *count, const apsis_options *options) {
    call c;
    tree t = {.parts = NULL};
    if (!begin(&c, context, comm, set, options)) return end(&c);
    find_components(&c, &t, set, labels, components, capacity, count, options);
    free(t.parts);
    return finish(&c);
}

#endif
