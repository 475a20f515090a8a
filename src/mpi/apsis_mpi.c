/*
 * libapsis_mpi: the slabs of apsis.h, told to each other by the ranks of a communicator.
 *
 * This file, and ranks.h and values.h beside it, are the library, and what a program compiles for an MPI of its own.  There is
 * no algorithm on pixels here: the slab functions are called, and what they tell is passed on.
 */
#include "values.h"

const char *apsis_mpi_message(void) { return last_outcome.why; }

apsis_status apsis_mpi_extent(MPI_Comm comm, int64_t extent, int64_t *start, int64_t *rows) {
    call c = {.comm = MPI_COMM_NULL};
    if (extent < 0 || !start || !rows)
        fail(&c, APSIS_ERROR_ARGUMENT, "extent is %lld, but must be 0 or more, and start and rows not NULL", (long long)extent);
    if (c.is.status != APSIS_OK || !check_comm(&c, comm)) return end(&c);
    TRY_MPI(&c, MPI_Comm_rank(comm, &c.rank));
    TRY_MPI(&c, MPI_Comm_size(comm, &c.size));
    if (c.is_broken) return end(&c);
    const int64_t each = extent / c.size + (extent % c.size > 0);
    *start = least_of(c.rank * each, extent);
    *rows = least_of(each, extent - *start);
    return end(&c);
}

/* ---- Distance and Voronoi maps ------------------------------------------ *
 *
 * Of each column a rank must know the last row of the set on the ranks before it, and the first one on those behind it.  They
 * pass these on along a chain, in pieces: while the next rank merges one, the one before it sends the next.  That is as many
 * bytes as there must be, once down and once up, where a tree sends them log2 P times.  Of label images it is three numbers
 * each way, which lie apart.
 */

/** Numbers in a piece, of 1 MiB.  Of 2^22 columns, 8 ranks on two cores pass on 32 MiB down and up in 67 ms, with pieces of
 *  64 KiB in 101 ms, and at once in 131 ms. */
enum { PIECE = 1 << 17 };

static bool has_labels(const call *c) { return c->options.flags & APSIS_LABELS; }

/** How many numbers a column has each way. */
static int64_t told_of(const call *c) { return has_labels(c) ? 3 : 1; }

static void merge(const call *c, bool is_up, int64_t count, const int64_t *told, int64_t *all) {
    const int64_t *const first = is_up ? told : NULL, *const last = is_up ? NULL : told;
    if (has_labels(c))
        apsis_slab_merge_labels(count, first, last, all, all);
    else
        apsis_slab_merge(count, first, last, all, all);
}

/** Puts `count` columns of some of all together, or apart again. */
static void gather(const call *c, int64_t count, const int64_t *some, int64_t *together) {
    for (int64_t k = 0; k < told_of(c); ++k)
        memcpy(together + k * count, some + k * c->columns, (size_t)count * sizeof *together);
}
static void scatter(const call *c, int64_t count, const int64_t *together, int64_t *some) {
    for (int64_t k = 0; k < told_of(c); ++k)
        memcpy(some + k * c->columns, together + k * count, (size_t)count * sizeof *together);
}

/** The last rows down the chain, or the first rows up: of each column, what ranks have found up to here.  pieces: room for one
 *  of this rank's, and of the one before it; NULL where columns need not be gathered. */
static void pass_along(call *c, bool is_up, int64_t *mine, int64_t *found, int64_t *const pieces[2]) {
    const int64_t piece = least_of(PIECE, LARGEST);
    const int before = c->rank + (is_up ? 1 : -1), next = c->rank - (is_up ? 1 : -1);
    for (int64_t i = 0; i < c->columns; i += piece) {
        const int64_t count = least_of(c->columns - i, piece), told = count * told_of(c);
        int64_t *const own = pieces[0] ? pieces[0] : mine + i, *const others = pieces[1] ? pieces[1] : found + i;
        if (pieces[0]) gather(c, count, mine + i, own);
        if (before >= 0 && before < c->size) {
            pass(c, RECEIVED, others, told, before);
            merge(c, is_up, count, others, own);
            if (pieces[1]) scatter(c, count, others, found + i);
        }
        if (next >= 0 && next < c->size) pass(c, SENT, own, told, next);
    }
}

/** Around an image that closes on itself, where no rank above has a row, or none below, the nearest one of all.  rows: some of
 *  those found, first and last. */
static void pass_around(call *c, int64_t *const rows[2], int64_t *const found[2]) {
    combine(c, rows[0], c->columns, MPI_INT64_T, 8, MPI_MIN);
    combine(c, rows[1], c->columns, MPI_INT64_T, 8, MPI_MAX);
    for (int64_t i = 0; i < c->columns; ++i) {
        if (c->rank == 0 || found[0][i] < 0) found[0][i] = rows[1][i];
        if (c->rank + 1 == c->size || found[1][i] == INT64_MAX) found[1][i] = rows[0][i];
    }
}

/** A phase: finds the nearest rows of the set above the slab and below it.  rows: two to work in, and those. */
static bool tell_columns(call *c, const apsis_image *set, const apsis_options *options, int64_t *const work[2],
                         int64_t *const found[2]) {
    const int64_t room = told_of(c) * least_of(PIECE, c->columns);
    int64_t *const pieces[2] = {has_labels(c) ? take(c, room) : NULL, has_labels(c) ? take(c, room) : NULL};
    if (c->is.status == APSIS_OK) note(c, apsis_slab_summary(c->context, set, c->start, work[0], work[1], options));
    if (!agree(c, NULL, 0)) return false;
    pass_along(c, false, work[1], found[0], pieces);
    pass_along(c, true, work[0], found[1], pieces);
    if (is_ring(c, set) && !has_labels(c)) pass_around(c, work, found);
    return !c->is_broken;
}

/** The rows of this rank, of a distance map, or of a map of cells. */
static void map_distance(call *c, const apsis_image *set, const apsis_image *distance, const apsis_image *nearest,
                         bool are_cells, const apsis_options *options) {
    int64_t *rows[6] = {NULL}; /* to work in; above and below; these of the complement */
    const bool is_signed = c->options.flags & APSIS_SIGNED;
    for (int i = 0; i < (is_signed ? 6 : 4); ++i) rows[i] = take(c, told_of(c) * c->columns);
    c->options.flags ^= APSIS_COMPLEMENT;
    if (is_signed && !tell_columns(c, set, &c->options, rows, rows + 4)) return;
    if (!tell_columns(c, set, options, rows, rows + 2)) return;
    apsis_slab slab = {.start = c->start, .extent = c->extent};
    if (is_ring(c, set) || c->rank > 0) slab.above = rows[2], slab.complement_above = rows[4];
    if (is_ring(c, set) || c->rank + 1 < c->size) slab.below = rows[3], slab.complement_below = rows[5];
    /* The context has a set still, unless its workspace is the caller's. */
    apsis_status status = APSIS_ERROR_ARGUMENT;
    for (int is_given = has_labels(c); is_given < 2 && status == APSIS_ERROR_ARGUMENT; ++is_given)
        status = are_cells ? apsis_slab_voronoi(c->context, is_given ? set : NULL, &slab, nearest, options)
                           : apsis_slab_distance(c->context, is_given ? set : NULL, &slab, distance, nearest, options);
    note(c, status);
}

apsis_status apsis_mpi_distance(apsis_context *context, MPI_Comm comm, const apsis_image *set, const apsis_image *distance,
                                const apsis_image *nearest, const apsis_options *options) {
    call c;
    if (!begin(&c, context, comm, set, options)) return end(&c);
    map_distance(&c, set, distance, nearest, false, options);
    return finish(&c);
}

apsis_status apsis_mpi_voronoi(apsis_context *context, MPI_Comm comm, const apsis_image *set, const apsis_image *cells,
                               const apsis_options *options) {
    call c;
    if (!begin(&c, context, comm, set, options)) return end(&c);
    if (!cells) fail(&c, APSIS_ERROR_ARGUMENT, "cells is NULL, but an image is needed");
    if (c.options.flags & APSIS_SIGNED) fail(&c, APSIS_ERROR_ARGUMENT, "options: APSIS_SIGNED is set, but is for distances");
    if (c.options.flags & APSIS_CONNECTED)
        fail(&c, APSIS_ERROR_UNSUPPORTED, "options: APSIS_CONNECTED is set, but slabs are for complete maps");
    map_distance(&c, set, NULL, cells, true, options);
    return finish(&c);
}

/* ---- Components --------------------------------------------------------- *
 *
 * A binomial tree.  On the way up, slabs of 1, 2, 4, ... ranks are joined two by two, and are a slab again, of which only the
 * first and the last row go on; so no rank holds the faces of all.  At its root, rank 0, all is one slab, and there components
 * are left out.  On the way down, numbers in the image come back to each slab.
 */

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

static void join_pair(call *c, tree *t, apsis_slab_labels pair[2]) {
    const size_t bytes = (size_t)c->columns * sizeof(int64_t);
    t->slab.capacity = t->has_parts ? t->slab.count : 0;
    note(c, apsis_slab_join(c->context, t->ndim, t->size, pair, 2, t->parts, t->slab.capacity, &t->slab.count, &t->all));
    const bool has_first = pair[0].rows > 0, has_last = pair[1].rows > 0;
    if (t->slab.rows > 0) memcpy(t->slab.first, pair[has_first ? 0 : 1].first, bytes);
    if (t->slab.rows > 0) memcpy(t->slab.last, pair[has_last ? 1 : 0].last, bytes);
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
 *  what is known of them. */
static bool number_image(call *c, tree *t, bool all_want_parts, int64_t *count, const apsis_options *options) {
    if (t->selects && !t->is_ring) t->slab.first = t->slab.last = NULL;
    if (c->rank == 0) {
        if (t->selects) t->slab.numbers = take(c, t->slab.count);
        if (c->is.status == APSIS_OK)
            note(c, apsis_slab_join(c->context, t->ndim, t->size, &t->slab, 1, t->parts, t->has_parts ? t->slab.count : 0,
                                    count, options));
    }
    if (!agree(c, NULL, 0)) return false;
    pass_to_all(c, count, 1);
    if (!all_want_parts) return !c->is_broken;
    if (c->rank > 0) grow_parts(c, t, *count);
    if (!agree(c, NULL, 0)) return false;
    pass_to_all(c, t->parts, *count * PART);
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

/* ---- Geodesic distance -------------------------------------------------- *
 *
 * Every rank finds the shortest paths in its slab, from its seeds and from the rows beside it, and tells its neighbours of its
 * first and last row if these have changed, until none have.
 */

/** The rank with the rows beside this one's; out of range where the image ends. */
static int rank_beside(const call *c, const apsis_image *set, int by) {
    return is_ring(c, set) ? (c->rank + by + c->size) % c->size : c->rank + by;
}

/** Finds what is told in all first and last rows, in as many phases as that takes.  rows: first, last, above and below, and
 *  the seeds of these, if they are wanted. */
static bool relax(call *c, const apsis_image *set, const apsis_image *seeds, const apsis_slab_paths *slab, int64_t *rows[8],
                  const apsis_options *options) {
    const int above = rank_beside(c, set, -1), below = rank_beside(c, set, 1);
    for (bool is_due = true;;) {
        int64_t changed = 0;
        if (is_due && c->is.status == APSIS_OK)
            note(c, apsis_slab_geodesic(c->context, set, seeds, slab, NULL, NULL, &changed, options));
        int64_t least = -changed;
        if (!agree(c, &least, 1)) return false;
        if (least == 0) return true;
        is_due = false;
        for (int i = 0; i < 8 && rows[i]; i += 4) {
            const bool came_down = exchange(c, changed, rows[i + 1], below, rows[i + 2], above);
            const bool came_up = exchange(c, changed, rows[i], above, rows[i + 3], below);
            is_due |= came_down || came_up;
        }
    }
}

apsis_status apsis_mpi_geodesic(apsis_context *context, MPI_Comm comm, const apsis_image *set, const apsis_image *seeds,
                                const apsis_image *distance, const apsis_image *nearest, const apsis_options *options) {
    call c;
    int64_t *rows[8] = {NULL}, wants_seeds = -(nearest != NULL);
    if (!begin(&c, context, comm, set, options) || !agree(&c, &wants_seeds, 1)) return end(&c);
    for (int i = 0; i < (wants_seeds ? 8 : 4); ++i) {
        rows[i] = take(&c, c.columns);
        for (int64_t column = 0; rows[i] && column < c.columns; ++column) rows[i][column] = i < 4 ? INT64_MAX : -1;
    }
    const apsis_slab_paths slab = {c.start, c.extent, rows[2], rows[3], rows[6], rows[7], rows[0], rows[1], rows[4], rows[5]};
    if (relax(&c, set, seeds, &slab, rows, options))
        note(&c, apsis_slab_geodesic(c.context, set, seeds, &slab, distance, nearest, NULL, options));
    return finish(&c);
}

/* ---- Eccentricity ------------------------------------------------------- *
 *
 * How far paths lead is nothing that slabs could tell.  So every rank gets the whole set, a bit a pixel, or the whole label
 * image, makes a share of the distance fields, and gets what the others have found in theirs (apsis_set_allreduce).  Where a
 * rank has a device, each makes all fields itself: that takes less time than their way through host memory.
 */

/** A call of which ranks share the work. */
typedef struct shared {
    call *c;
    bool has_failed; /* as the ranks have agreed already */
} shared;

/** A phase: the largest numbers of any rank. */
static int combine_shared(void *user, apsis_type type, void *numbers, int64_t count) {
    shared *const s = user;
    s->has_failed = !agree(s->c, NULL, 0);
    if (s->has_failed) return 1;
    if (type == APSIS_I32)
        combine(s->c, numbers, count, MPI_INT32_T, 4, MPI_MAX);
    else
        combine(s->c, numbers, count, MPI_INT64_T, 8, MPI_MAX);
    s->has_failed = s->c->is_broken;
    return s->has_failed;
}

/** The rows of this rank, of a whole image. */
static apsis_image rows_of(const call *c, const apsis_image *whole) {
    apsis_image rows = *whole;
    const int last = whole->ndim - 1;
    rows.size[last] = c->rows;
    rows.data = c->rows > 0 && whole->data ? (char *)whole->data + c->start * whole->stride[last] : NULL;
    return rows;
}

/** The bytes of a row of pixels. */
static int64_t row_bytes(apsis_type type, int64_t width) {
    if (type == APSIS_BIT) return (width + 7) / 8;
    return width * (type == APSIS_U8 ? 1 : type == APSIS_U16 ? 2 : type == APSIS_I32 ? 4 : 8);
}

/** Some phases: the whole set, in memory of the call. */
static bool gather_set(call *c, const apsis_image *set, apsis_type type, apsis_image *whole) {
    const int64_t row = row_bytes(type, set->size[0]), bytes = (set->ndim == 3 ? set->size[1] : 1) * row * c->extent;
    const int64_t numbers = (bytes + 7) / 8;
    *whole = (apsis_image){.type = type, .ndim = set->ndim, .size = {set->size[0], set->size[1], 0}};
    whole->size[set->ndim - 1] = c->extent;
    whole->stride[1] = row, whole->stride[2] = set->ndim == 3 ? row * set->size[1] : 0;
    whole->data = take(c, numbers);
    if (whole->data) memset(whole->data, 0, (size_t)numbers * sizeof(int64_t));
    const apsis_image mine = rows_of(c, whole);
    if (c->is.status == APSIS_OK) note(c, apsis_copy(c->context, set, &mine));
    if (c->is.status == APSIS_OK) note(c, apsis_sync(c->context));
    if (!agree(c, NULL, 0)) return false;
    combine(c, whole->data, numbers, MPI_INT64_T, 8, MPI_BOR);
    return !c->is_broken;
}

/** Takes memory for an output of the whole image, of the same kind as this rank's, or where another rank wants one. */
static void open_whole(call *c, const apsis_image *set, const apsis_image *rows, bool is_wanted, apsis_image *whole) {
    memset(whole, 0, sizeof *whole);
    whole->type = rows ? rows->type : APSIS_I64;
    whole->ndim = set->ndim;
    for (int a = 0; a < set->ndim; ++a) whole->size[a] = a == set->ndim - 1 ? c->extent : set->size[a];
    if (c->is.status == APSIS_OK && (rows || is_wanted))
        note(c, apsis_alloc(c->context, rows ? rows->memory : APSIS_HOST, whole));
}

static void copy_rows(call *c, const apsis_image *whole, const apsis_image *rows) {
    const apsis_image mine = rows_of(c, whole);
    if (rows && c->is.status == APSIS_OK) note(c, apsis_copy(c->context, &mine, rows));
}

apsis_status apsis_mpi_eccentricity(apsis_context *context, MPI_Comm comm, const apsis_image *set,
                                    const apsis_image *eccentricity, const apsis_image *farthest, apsis_extent *extents,
                                    int64_t capacity, int64_t *count, const apsis_options *options) {
    call c;
    const apsis_image *const images[] = {set, eccentricity, farthest};
    const apsis_image *checked[3]; /* of the extent of the whole image, where that counts */
    apsis_image of_all[3];
    apsis_image whole[3] = {{NULL}};
    outcome budget = {APSIS_OK, ""};
    size_t bytes;
    if (!begin(&c, context, comm, set, options)) return end(&c);
    for (int i = 0; i < 3; ++i) {
        if (images[i]) of_all[i] = *images[i];
        if (images[i] && is_ring(&c, set) && images[i]->ndim == set->ndim && images[i]->size[set->ndim - 1] == c.rows)
            of_all[i].size[set->ndim - 1] = c.extent;
        checked[i] = images[i] ? &of_all[i] : NULL;
    }
    const apsis_status asked = apsis_workspace_size(context, APSIS_ECCENTRICITY, checked, 3, options, &bytes);
    if (asked != APSIS_OK) { /* an argument is wrong */
        const char *const colon = strchr(apsis_message(context), ':');
        fail(&c, asked, "eccentricity%s", colon ? colon : "");
    }
    for (int i = 1; i < 3; ++i)
        if (images[i] && !images[i]->data && c.columns * c.rows > 0)
            fail(&c, APSIS_ERROR_ARGUMENT, "%s: data is NULL", i == 1 ? "eccentricity" : "farthest");
    const apsis_type type = c.options.flags & APSIS_LABELS ? set->type : APSIS_BIT;
    /* -1: that is so on a rank; then the least type, and, all bits turned, the greatest */
    int64_t wants[4] = {-(farthest != NULL), -(apsis_device(context) != APSIS_CPU), type, ~(int64_t)type};
    if (!agree(&c, wants, 4)) return end(&c);
    if (wants[2] != ~wants[3]) {
        c.is.status = APSIS_ERROR_ARGUMENT;
        snprintf(c.is.why, sizeof c.is.why, "set: the label images of all ranks must have one type");
        return end(&c);
    }
    if (!gather_set(&c, set, type, &whole[0])) return end(&c);
    shared s = {&c, false};
    open_whole(&c, set, eccentricity, false, &whole[1]);
    open_whole(&c, set, farthest, wants[0], &whole[2]);
    if (!wants[1] && c.size > 1 && c.is.status == APSIS_OK)
        note(&c, apsis_set_allreduce(context, c.rank, c.size, combine_shared, &s));
    if (c.is.status == APSIS_OK) {
        int64_t all;
        const apsis_status status =
            apsis_eccentricity(context, &whole[0], eccentricity ? &whole[1] : NULL, farthest || wants[0] ? &whole[2] : NULL,
                               extents, capacity, &all, options);
        budget.status = status;
        if (status == APSIS_ERROR_BUDGET)
            snprintf(budget.why, sizeof budget.why, "%s", apsis_message(context));
        else
            note(&c, status);
        if (count) *count = all;
    }
    apsis_set_allreduce(context, 0, 1, NULL, NULL);
    copy_rows(&c, &whole[1], eccentricity);
    copy_rows(&c, &whole[2], farthest);
    if (c.is.status == APSIS_OK) note(&c, apsis_sync(context));
    apsis_free(context, &whole[1]);
    apsis_free(context, &whole[2]);
    if (!s.has_failed && agree(&c, NULL, 0) && budget.status == APSIS_ERROR_BUDGET) c.is = budget;
    return end(&c);
}
