/*
 * Statistics and contacts of the values of a label image on all ranks, for apsis_mpi.c.
 *
 * A binomial tree: what the slabs of 1, 2, 4, ... ranks tell is added up two by two, at last on rank 0.
 */
#ifndef APSIS_MPI_VALUES_H
#define APSIS_MPI_VALUES_H

#include "ranks.h"

/** What ranks tell: parts, or contacts. */
typedef struct records {
    int64_t *numbers; /* memory of its own */
    int64_t count;
    bool are_contacts;
    int32_t ndim; /* of the image */
} records;

static int64_t numbers_of(const records *r) {
    return r->count * (int64_t)((r->are_contacts ? sizeof(apsis_contact) : sizeof(apsis_part)) / sizeof(int64_t));
}

static void make_room(call *c, records *r, int64_t count) {
    const records wanted = {.count = count < (int64_t)1 << 50 ? count : 0, .are_contacts = r->are_contacts};
    int64_t *const grown =
        wanted.count == count ? realloc(r->numbers, (size_t)(numbers_of(&wanted) + 1) * sizeof *grown) : NULL;
    if (grown)
        r->numbers = grown;
    else
        fail(c, APSIS_ERROR_MEMORY, "no memory for what is known of %lld values or pairs", (long long)count);
}

/** What this rank's slab tells. */
static void tell_records(call *c, records *r, const apsis_image *labels, const int64_t *before, const apsis_options *options) {
    enum { FIRST = 1 << 10 };
    int64_t room = FIRST;
    for (;; room = r->count) { /* a second time if there was no room for all */
        make_room(c, r, room);
        if (c->is.status != APSIS_OK) return;
        note(c, r->are_contacts
                    ? apsis_slab_contacts(c->context, labels, before, (apsis_contact *)r->numbers, room, &r->count, options)
                    : apsis_slab_statistics(c->context, labels, c->start, (apsis_part *)r->numbers, room, &r->count, options));
        if (c->is.status != APSIS_OK || r->count <= room) return;
    }
}

static void add_up(call *c, records *r, const apsis_options *options) {
    if (r->are_contacts)
        note(c, apsis_slab_merge_contacts(c->context, r->ndim, (apsis_contact *)r->numbers, &r->count, options));
    else
        r->count = apsis_slab_merge_parts(r->count, (apsis_part *)r->numbers);
}

/** Adds up those of all ranks, on rank 0; some phases. */
static bool gather_records(call *c, records *r, const apsis_options *options) {
    for (int step = 1; step < c->size; step *= 2) {
        const int place = c->rank % (2 * step);
        const bool sends = place == step, receives = place == 0 && c->rank + step < c->size;
        records other = *r;
        if (sends) pass(c, SENT, &r->count, 1, c->rank - step);
        if (receives) pass(c, RECEIVED, &other.count, 1, c->rank + step), make_room(c, r, r->count + other.count);
        if (!agree(c, NULL, 0)) return false;
        if (sends) pass(c, SENT, r->numbers, numbers_of(r), c->rank - step);
        if (!receives) continue;
        pass(c, RECEIVED, r->numbers + numbers_of(r), numbers_of(&other), c->rank + step);
        r->count += other.count;
        add_up(c, r, options);
    }
    return agree(c, NULL, 0);
}

/** The bytes from a row of a label image to the next one, in 3-D planes; 0 if its type is not that of labels. */
static int64_t step_of(const apsis_image *labels) {
    int64_t step = labels->type == APSIS_U8    ? 1
                   : labels->type == APSIS_U16 ? 2
                   : labels->type == APSIS_I32 ? 4
                   : labels->type == APSIS_I64 ? 8
                                               : 0;
    const int axis = labels->ndim - 1;
    if (step == 0 || labels->stride[axis]) return step == 0 ? 0 : labels->stride[axis];
    for (int a = 0; a < axis; ++a) step = (labels->stride[a] ? labels->stride[a] : step) * labels->size[a];
    return step;
}

/** A phase: the values in the row before each slab, from the last rank before it that has rows; before the first one those of
 *  the last row, if the image closes on itself there.  `told` has room for what a slab tells. */
static bool tell_rows(call *c, const apsis_image *labels, int64_t *before, int64_t *told) {
    const int64_t step = step_of(labels);
    if (c->rows > 0 && step && labels->data && c->is.status == APSIS_OK) {
        apsis_image last = *labels;
        apsis_options options = APSIS_OPTIONS_INIT;
        options.flags = APSIS_LABELS;
        last.data = (char *)last.data + (c->rows - 1) * step;
        last.size[last.ndim - 1] = 1;
        note(c, apsis_slab_summary(c->context, &last, c->start + c->rows - 1, NULL, told, &options));
    }
    if (!agree(c, NULL, 0)) return false;
    for (int64_t i = 0; c->rows > 0 && i < c->columns; ++i) told[i] = told[i] < 0 ? 0 : told[2 * c->columns + i];
    if (c->start > 0) pass(c, RECEIVED, before, c->columns, c->rank - 1);
    if (c->rank + 1 < c->size && c->start + c->rows > 0) pass(c, SENT, c->rows > 0 ? told : before, c->columns, c->rank + 1);
    if (!is_ring(c, labels)) return !c->is_broken;
    const bool has_last = c->rows > 0 && c->start + c->rows == c->extent;
    for (int64_t i = 0; !has_last && i < c->columns; ++i) told[i] = 0;
    combine(c, told, c->columns, MPI_INT64_T, 8, MPI_BOR);
    for (int64_t i = 0; c->start == 0 && i < c->columns; ++i) before[i] = told[i];
    return !c->is_broken;
}

/** What is known of the image, on rank 0, and on all ranks if any other wants it.  Returns the number of values, or pairs. */
static int64_t find_records(call *c, records *r, const apsis_image *labels, const void *array, int64_t capacity,
                            const apsis_options *options) {
    int64_t wants = -(capacity > 0 && c->rank > 0), all = 0, *before = NULL, *told = NULL; /* -1: a rank wants this */
    if (capacity < 0 || (capacity > 0 && !array))
        fail(c, APSIS_ERROR_ARGUMENT, "capacity is %lld, but must be 0, or %s not NULL", (long long)capacity,
             r->are_contacts ? "contacts" : "components");
    if (!agree(c, &wants, 1)) return 0;
    r->ndim = labels->ndim;
    if (r->are_contacts) {
        before = take(c, c->columns), told = take(c, 3 * c->columns);
        if (!tell_rows(c, labels, before, told)) return 0;
    }
    tell_records(c, r, labels, c->start > 0 || is_ring(c, labels) ? before : NULL, options);
    if (!agree(c, NULL, 0) || !gather_records(c, r, options)) return 0;
    all = r->count;
    pass_to_all(c, &all, 1, 0);
    if (!wants) return all;
    if (c->rank > 0) make_room(c, r, all);
    if (!agree(c, NULL, 0)) return 0;
    r->count = all;
    pass_to_all(c, r->numbers, numbers_of(r), 0);
    return all;
}

apsis_status apsis_mpi_statistics(apsis_context *context, MPI_Comm comm, const apsis_image *labels, apsis_component *components,
                                  int64_t capacity, int64_t *count, const apsis_options *options) {
    call c;
    records r = {.are_contacts = false};
    if (!begin(&c, context, comm, labels, options)) return end(&c);
    const int64_t all = find_records(&c, &r, labels, components, capacity, options);
    if (c.is.status == APSIS_OK && capacity > 0)
        apsis_slab_measure(least_of(all, capacity), (const apsis_part *)r.numbers, components);
    if (c.is.status == APSIS_OK && count) *count = all;
    free(r.numbers);
    return finish(&c);
}

apsis_status apsis_mpi_contacts(apsis_context *context, MPI_Comm comm, const apsis_image *labels, apsis_contact *contacts,
                                int64_t capacity, int64_t *count, const apsis_options *options) {
    call c;
    records r = {.are_contacts = true};
    if (!begin(&c, context, comm, labels, options)) return end(&c);
    const int64_t all = find_records(&c, &r, labels, contacts, capacity, options);
    if (c.is.status == APSIS_OK && all > 0 && capacity > 0)
        memcpy(contacts, r.numbers, (size_t)least_of(all, capacity) * sizeof *contacts);
    if (c.is.status == APSIS_OK && count) *count = all;
    free(r.numbers);
    return finish(&c);
}

#endif
