/*
 * libapsis_mpi: the slabs of apsis.h, told to each other by the ranks of a communicator.
 *
 * This one file is the library, and what a program compiles itself for an MPI of its own.  It holds no algorithm on pixels: it
 * calls the slab functions, and passes on what they tell.  A call goes in phases.  In a phase a rank works alone; at its end
 * the ranks agree (agree), and only when all have got through it are messages sent.  So a rank that fails leaves no other
 * waiting for its messages.
 */
#include <apsis_mpi.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG = 1,
    PIECE = 1 << 13,    /* numbers in a message along the chain of ranks, which a rank passes on while the next one comes */
    LARGEST = 1 << 27,  /* numbers in any other message: 1 GiB */
    MOST_AXIS = 1 << 30 /* pixels along an axis */
};

/** What a phase ended with on the rank that failed. */
typedef struct outcome {
    apsis_status status;
    char why[508];
} outcome;

static _Thread_local outcome last_outcome;

/** Memory of a call, which goes with it. */
typedef struct block {
    struct block *next;
    int64_t numbers[];
} block;

/** A call on one rank. */
typedef struct call {
    apsis_context *context;
    MPI_Comm comm; /* a duplicate */
    int rank, size;
    outcome is;           /* of this rank; when the ranks have agreed, of all */
    bool is_broken;       /* MPI itself has failed, and is not called again */
    apsis_options options; /* filled up with defaults */
    int64_t columns, start, rows, extent;
    block *blocks;
} call;

/* ---- Failing together --------------------------------------------------- */

static void fail(call *c, apsis_status status, const char *format, ...) {
    if (c->is.status != APSIS_OK) return;
    va_list arguments;
    va_start(arguments, format);
    int used = c->size > 0 ? snprintf(c->is.why, sizeof c->is.why, "rank %d: ", c->rank) : 0;
    vsnprintf(c->is.why + used, sizeof c->is.why - (size_t)used, format, arguments);
    va_end(arguments);
    c->is.status = status;
}

/** Takes note of what a function of apsis.h returned. */
static void note(call *c, apsis_status status) {
    if (status != APSIS_OK) fail(c, status, "%s", apsis_message(c->context));
}

/** Takes note of what a function of MPI returned. */
static void note_mpi(call *c, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &length);
    fail(c, APSIS_ERROR_DEVICE, "MPI: %s", text);
    c->is_broken = true;
}

/** Ends a phase: whether all ranks have got through it.  If so, `least` becomes the least of each number over all ranks. */
static bool agree(call *c, int64_t *least, int count) {
    enum { MOST = 31 };
    int64_t mine[MOST + 1], all[MOST + 1];
    if (c->is_broken) return false;
    mine[0] = c->is.status == APSIS_OK ? c->size : c->rank;
    for (int i = 0; i < count; ++i) mine[i + 1] = least[i];
    note_mpi(c, MPI_Allreduce(mine, all, count + 1, MPI_INT64_T, MPI_MIN, c->comm));
    if (c->is_broken) return false;
    if (all[0] < c->size) {
        note_mpi(c, MPI_Bcast(&c->is, sizeof c->is, MPI_BYTE, (int)all[0], c->comm));
        return false;
    }
    for (int i = 0; i < count; ++i) least[i] = all[i + 1];
    return true;
}

/** An array of the call's, or NULL. */
static int64_t *take(call *c, int64_t count) {
    block *taken = NULL;
    if (count < (int64_t)1 << 59) taken = malloc(sizeof *taken + (size_t)count * sizeof *taken->numbers);
    if (!taken) {
        fail(c, APSIS_ERROR_MEMORY, "no memory for %lld numbers of 8 bytes", (long long)count);
        return NULL;
    }
    taken->next = c->blocks;
    c->blocks = taken;
    return taken->numbers;
}

/* ---- Messages ----------------------------------------------------------- */

static int64_t least_of(int64_t one, int64_t other) { return one < other ? one : other; }

enum { RECEIVED, SENT };

static void pass(call *c, bool is_sent, void *numbers, int64_t count, int other) {
    int64_t *next = numbers;
    for (int64_t i = 0; i < count && !c->is_broken; i += LARGEST) {
        const int some = (int)least_of(count - i, LARGEST);
        note_mpi(c, is_sent ? MPI_Send(next + i, some, MPI_INT64_T, other, TAG, c->comm)
                            : MPI_Recv(next + i, some, MPI_INT64_T, other, TAG, c->comm, MPI_STATUS_IGNORE));
    }
}

/* ---- Beginning and ending a call ---------------------------------------- */

/** Copies the fields that the caller's version of the options has. */
static void read_options(call *c, const apsis_options *options) {
    const apsis_options defaults = APSIS_OPTIONS_INIT;
    c->options = defaults;
    if (!options) return;
    const size_t bytes = options->struct_size < sizeof defaults ? options->struct_size : sizeof defaults;
    memcpy(&c->options, options, bytes);
    c->options.struct_size = sizeof defaults;
}

/** Numbers in which ranks must not differ: the axes that are not cut, and options. */
enum { SHARED = 3 + sizeof(apsis_options) / sizeof(int64_t), MOST_AGREED = 2 * SHARED };

static void check_set(call *c, const apsis_image *set, int64_t shared[SHARED]) {
    memset(shared, 0, SHARED * sizeof *shared);
    if (!c->context) fail(c, APSIS_ERROR_ARGUMENT, "context is NULL");
    if (!set) fail(c, APSIS_ERROR_ARGUMENT, "set is NULL, but the rows of this rank are needed");
    if (set && set->ndim != 2 && set->ndim != 3)
        fail(c, APSIS_ERROR_ARGUMENT, "set: ndim is %d, but must be 2 or 3", (int)set->ndim);
    if (c->is.status != APSIS_OK) return;
    for (int a = 0; a < set->ndim; ++a)
        if (set->size[a] < 0 || set->size[a] > MOST_AXIS)
            fail(c, APSIS_ERROR_ARGUMENT, "set: size[%d] is %lld, but must be from 0 to 2^30", a, (long long)set->size[a]);
    c->columns = 1;
    for (int a = 0; a < set->ndim - 1; ++a) c->columns *= shared[a] = set->size[a];
    c->rows = set->size[set->ndim - 1];
    shared[2] = set->ndim;
    memcpy(shared + 3, &c->options, sizeof c->options);
}

/** Ends the first phase: whether the calls of all ranks go together. */
static bool agree_on_image(call *c, const int64_t shared[SHARED]) {
    static const char *const names[] = {"set: size[0]", "set: size[1]", "set: ndim"};
    int64_t both[2 * SHARED]; /* their minima and, all bits turned, their maxima */
    for (int i = 0; i < SHARED; ++i) both[i] = shared[i], both[SHARED + i] = ~shared[i];
    if (!agree(c, both, 2 * SHARED)) return false;
    for (int i = SHARED; i-- > 0;)
        if (both[i] != ~both[SHARED + i]) {
            c->is.status = APSIS_ERROR_ARGUMENT;
            if (i >= 3)
                snprintf(c->is.why, sizeof c->is.why, "options: those of all ranks must be the same");
            else
                snprintf(c->is.why, sizeof c->is.why, "%s is %lld on one rank and %lld on another", names[i],
                         (long long)both[i], (long long)~both[SHARED + i]);
        }
    if (c->is.status != APSIS_OK) return false;
    note_mpi(c, MPI_Exscan(&c->rows, &c->start, 1, MPI_INT64_T, MPI_SUM, c->comm));
    if (!c->is_broken) note_mpi(c, MPI_Allreduce(&c->rows, &c->extent, 1, MPI_INT64_T, MPI_SUM, c->comm));
    return !c->is_broken;
}

/** Whether the communicator is one that ranks can agree in; if not, all ranks see that by themselves. */
static bool check_comm(call *c, MPI_Comm comm) {
    int has_begun = 0, has_ended = 0, is_inter = 0;
    MPI_Initialized(&has_begun);
    if (has_begun) MPI_Finalized(&has_ended);
    if (!has_begun || has_ended) fail(c, APSIS_ERROR_ARGUMENT, "MPI is not initialised, or has been finalised");
    else if (comm == MPI_COMM_NULL) fail(c, APSIS_ERROR_ARGUMENT, "comm is MPI_COMM_NULL");
    else note_mpi(c, MPI_Comm_test_inter(comm, &is_inter));
    if (is_inter) fail(c, APSIS_ERROR_ARGUMENT, "comm is an intercommunicator, but its ranks must be one group");
    return c->is.status == APSIS_OK;
}

/** The first phase of every call: whether it goes on. */
static bool begin(call *c, apsis_context *context, MPI_Comm comm, const apsis_image *set, const apsis_options *options) {
    int64_t shared[SHARED];
    memset(c, 0, sizeof *c);
    c->context = context;
    c->comm = MPI_COMM_NULL;
    if (!check_comm(c, comm)) return false;
    note_mpi(c, MPI_Comm_dup(comm, &c->comm));
    if (!c->is_broken) note_mpi(c, MPI_Comm_rank(c->comm, &c->rank));
    if (!c->is_broken) note_mpi(c, MPI_Comm_size(c->comm, &c->size));
    read_options(c, options);
    check_set(c, set, shared);
    return agree_on_image(c, shared);
}

/** Frees what the call has taken.  Returns its status, which is that of all ranks. */
static apsis_status end(call *c) {
    while (c->blocks) {
        block *const next = c->blocks->next;
        free(c->blocks);
        c->blocks = next;
    }
    if (c->comm != MPI_COMM_NULL && !c->is_broken) note_mpi(c, MPI_Comm_free(&c->comm));
    last_outcome = c->is;
    return c->is.status;
}

/** The last phase: all work is done, or one rank has failed. */
static apsis_status finish(call *c) {
    if (c->is.status == APSIS_OK) note(c, apsis_sync(c->context));
    agree(c, NULL, 0);
    return end(c);
}

const char *apsis_mpi_message(void) { return last_outcome.why; }

apsis_status apsis_mpi_extent(MPI_Comm comm, int64_t extent, int64_t *start, int64_t *rows) {
    call c = {.comm = MPI_COMM_NULL};
    if (extent < 0 || !start || !rows)
        fail(&c, APSIS_ERROR_ARGUMENT, "extent is %lld, but must be 0 or more, and start and rows not NULL", (long long)extent);
    if (c.is.status != APSIS_OK || !check_comm(&c, comm)) return end(&c);
    note_mpi(&c, MPI_Comm_rank(comm, &c.rank));
    if (!c.is_broken) note_mpi(&c, MPI_Comm_size(comm, &c.size));
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
 * bytes as there must be, once down and once up, where a tree sends them log2 P times.
 */

static void pass_down(call *c, int64_t *last, int64_t *above) {
    for (int64_t i = 0; i < c->columns && !c->is_broken; i += PIECE) {
        const int64_t count = least_of(c->columns - i, PIECE);
        if (c->rank > 0) {
            pass(c, RECEIVED, above + i, count, c->rank - 1);
            apsis_slab_merge(count, NULL, above + i, NULL, last + i);
        }
        if (c->rank + 1 < c->size) pass(c, SENT, last + i, count, c->rank + 1);
    }
}

static void pass_up(call *c, int64_t *first, int64_t *below) {
    for (int64_t i = 0; i < c->columns && !c->is_broken; i += PIECE) {
        const int64_t count = least_of(c->columns - i, PIECE);
        if (c->rank + 1 < c->size) {
            pass(c, RECEIVED, below + i, count, c->rank + 1);
            apsis_slab_merge(count, below + i, NULL, first + i, NULL);
        }
        if (c->rank > 0) pass(c, SENT, first + i, count, c->rank - 1);
    }
}

/** A phase: finds for each column the nearest rows of the set outside of the slab. */
static bool tell_columns(call *c, const apsis_image *set, const apsis_options *options, int64_t *above, int64_t *below) {
    int64_t *const first = take(c, c->columns), *const last = take(c, c->columns);
    if (first && last) note(c, apsis_slab_summary(c->context, set, c->start, first, last, options));
    if (!agree(c, NULL, 0)) return false;
    pass_down(c, last, above);
    pass_up(c, first, below);
    return !c->is_broken;
}

/** The rows of this rank, of a distance map. */
static void map_distance(call *c, const apsis_image *set, const apsis_image *distance, const apsis_image *nearest,
                         const apsis_options *options) {
    int64_t *near[4] = {NULL, NULL, NULL, NULL}; /* above and below; and of the complement */
    const int sides = c->options.flags & APSIS_SIGNED ? 2 : 1;
    for (int i = 0; i < 2 * sides; ++i) near[i] = take(c, c->columns);
    if (!tell_columns(c, set, options, near[0], near[1])) return;
    c->options.flags ^= APSIS_COMPLEMENT;
    if (sides == 2 && !tell_columns(c, set, &c->options, near[2], near[3])) return;
    apsis_slab slab = {.start = c->start, .extent = c->extent};
    if (c->rank > 0) slab.above = near[0], slab.complement_above = near[2];
    if (c->rank + 1 < c->size) slab.below = near[1], slab.complement_below = near[3];
    note(c, apsis_slab_distance(c->context, set, &slab, distance, nearest, options));
}

apsis_status apsis_mpi_distance(apsis_context *context, MPI_Comm comm, const apsis_image *set, const apsis_image *distance,
                                const apsis_image *nearest, const apsis_options *options) {
    call c;
    if (!begin(&c, context, comm, set, options)) return end(&c);
    map_distance(&c, set, distance, nearest, options);
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
    if (agree(&c, NULL, 0)) map_distance(&c, set, NULL, cells, options);
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
    apsis_slab_labels slab;         /* its own; then together with those that have been joined with it */
    apsis_slab_labels pair[31][2];  /* [level]: what became one there */
    apsis_part *parts;              /* of `slab` */
    int32_t ndim;
    int64_t size[3];                /* of the image */
    bool selects, has_parts;        /* whether components are left out; whether parts go up */
    apsis_options all;              /* as the options, but nothing is left out */
} tree;

static void grow_parts(call *c, tree *t, int64_t count) {
    apsis_part *const grown = count < (int64_t)1 << 56 ? realloc(t->parts, (size_t)(count + 1) * sizeof *grown) : NULL;
    if (grown) t->parts = grown;
    else fail(c, APSIS_ERROR_MEMORY, "no memory for what is known of %lld components", (long long)count);
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
    if (is_told && t->selects) pass(c, is_sent, slab->numbers, slab->count, other);
    else if (slab->rows > 0) pass(c, is_sent, slab->first, c->columns, other), pass(c, is_sent, slab->last, c->columns, other);
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
    if (t->selects) t->slab.first = t->slab.last = NULL;
    if (c->rank == 0) {
        if (t->selects) t->slab.numbers = take(c, t->slab.count);
        if (c->is.status == APSIS_OK)
            note(c, apsis_slab_join(c->context, t->ndim, t->size, &t->slab, 1, t->parts, t->has_parts ? t->slab.count : 0,
                                    count, options));
    }
    if (!agree(c, NULL, 0)) return false;
    note_mpi(c, MPI_Bcast(count, 1, MPI_INT64_T, 0, c->comm));
    if (!all_want_parts || c->is_broken) return !c->is_broken;
    if (c->rank > 0) grow_parts(c, t, *count);
    if (!agree(c, NULL, 0)) return false;
    for (int64_t i = 0; i < *count * PART && !c->is_broken; i += LARGEST)
        note_mpi(c, MPI_Bcast((int64_t *)t->parts + i, (int)least_of(*count * PART - i, LARGEST), MPI_INT64_T, 0, c->comm));
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
    for (int a = 0; a < t->ndim; ++a) t->size[a] = a == t->ndim - 1 ? c->extent : set->size[a];
    t->all = c->options;
    t->all.flags &= ~(uint32_t)(APSIS_NO_BORDER | APSIS_NO_INNER);
    t->all.largest = 0, t->all.min_area = t->all.max_area = 0;
    t->selects = memcmp(&t->all, &c->options, sizeof t->all) != 0;
    t->has_parts = t->selects || wants[0];
    number_slab(c, t, set, options);
    if (!go_up(c, t) || !number_image(c, t, wants[1], &all, options)) return;
    if (count) *count = all;
    if (capacity > 0) apsis_slab_measure(least_of(all, capacity), t->parts, components);
    if (wants[2] && go_down(c, t) && labels) note(c, apsis_slab_components(c->context, set, &t->slab, labels, options));
}

apsis_status apsis_mpi_components(apsis_context *context, MPI_Comm comm, const apsis_image *set, const apsis_image *labels,
                                  apsis_component *components, int64_t capacity, int64_t *count,
                                  const apsis_options *options) {
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

/** Passes a row on to a rank if it has changed, and takes that of another.  Whether one has come. */
static bool exchange(call *c, bool has_changed, const int64_t *mine, int to, int64_t *beside, int from) {
    MPI_Status status;
    int came = 0;
    if (to < 0 || to >= c->size) to = MPI_PROC_NULL;
    if (from < 0 || from >= c->size) from = MPI_PROC_NULL;
    for (int64_t i = 0; i < c->columns && !c->is_broken; i += LARGEST) {
        const int some = (int)least_of(c->columns - i, LARGEST);
        note_mpi(c, MPI_Sendrecv(mine + i, has_changed ? some : 0, MPI_INT64_T, to, TAG, beside + i, some, MPI_INT64_T, from,
                                 TAG, c->comm, &status));
        if (!c->is_broken) note_mpi(c, MPI_Get_count(&status, MPI_INT64_T, &came));
    }
    return came > 0;
}

/** Finds what is told in all first and last rows, in as many phases as that takes.  rows: first, last, above and below, and
 *  the seeds of these, if they are wanted. */
static bool relax(call *c, const apsis_image *set, const apsis_image *seeds, const apsis_slab_paths *slab, int64_t *rows[8],
                  const apsis_options *options) {
    for (bool is_due = true;;) {
        int64_t changed = 0;
        if (is_due && c->is.status == APSIS_OK)
            note(c, apsis_slab_geodesic(c->context, set, seeds, slab, NULL, NULL, &changed, options));
        int64_t least = -changed;
        if (!agree(c, &least, 1)) return false;
        if (least == 0) return true;
        is_due = false;
        for (int i = 0; i < 8 && rows[i] && !c->is_broken; i += 4) {
            const bool came_down = exchange(c, changed, rows[i + 1], c->rank + 1, rows[i + 2], c->rank - 1);
            const bool came_up = exchange(c, changed, rows[i], c->rank - 1, rows[i + 3], c->rank + 1);
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
