/*
 * libapsis_mpi: the slabs of apsis.h, told to each other by the ranks of a communicator.
 *
 * This file, and the headers beside it, are the library, and what a program compiles for an MPI of its own.  There is
 * no algorithm on pixels here: the slab functions are called, and what they tell is passed on.
 */
#include "components.h"
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
            if (pieces[0]) scatter(c, count, own, mine + i);
        }
        if (next >= 0 && next < c->size) pass(c, SENT, own, told, next);
    }
}

/** Around an image that closes on itself, where no rank above has a row, or none below, the nearest one of all; runs go on
 *  there.  rows: what has come along, first and last, of which the ends of the chain have that of all ranks. */
static void pass_around(call *c, int64_t *const rows[2], int64_t *const found[2]) {
    const int64_t numbers = told_of(c) * c->columns;
    for (int64_t i = 0; i < numbers && c->rank == 0; ++i) found[0][i] = -1;
    for (int64_t i = 0; i < numbers && c->rank + 1 == c->size; ++i) found[1][i] = INT64_MAX;
    pass_to_all(c, rows[0], numbers, 0);
    pass_to_all(c, rows[1], numbers, c->size - 1);
    if (has_labels(c)) apsis_slab_close_labels(c->columns, c->extent, rows[0], rows[1], found[1], found[0]);
    for (int64_t i = 0; i < c->columns && !has_labels(c); ++i) {
        if (found[0][i] < 0) found[0][i] = rows[1][i];
        if (found[1][i] == INT64_MAX) found[1][i] = rows[0][i];
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
    if (is_ring(c, set)) pass_around(c, work, found);
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
