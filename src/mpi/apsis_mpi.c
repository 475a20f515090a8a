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

static void send(call *c, const void *numbers, int64_t count, int to) {
    const int64_t *next = numbers;
    for (int64_t i = 0; i < count && !c->is_broken; i += LARGEST)
        note_mpi(c, MPI_Send(next + i, (int)least_of(count - i, LARGEST), MPI_INT64_T, to, TAG, c->comm));
}

static void receive(call *c, void *numbers, int64_t count, int from) {
    int64_t *next = numbers;
    for (int64_t i = 0; i < count && !c->is_broken; i += LARGEST)
        note_mpi(c, MPI_Recv(next + i, (int)least_of(count - i, LARGEST), MPI_INT64_T, from, TAG, c->comm, MPI_STATUS_IGNORE));
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
            receive(c, above + i, count, c->rank - 1);
            apsis_slab_merge(count, NULL, above + i, NULL, last + i);
        }
        if (c->rank + 1 < c->size) send(c, last + i, count, c->rank + 1);
    }
}

static void pass_up(call *c, int64_t *first, int64_t *below) {
    for (int64_t i = 0; i < c->columns && !c->is_broken; i += PIECE) {
        const int64_t count = least_of(c->columns - i, PIECE);
        if (c->rank + 1 < c->size) {
            receive(c, below + i, count, c->rank + 1);
            apsis_slab_merge(count, below + i, NULL, first + i, NULL);
        }
        if (c->rank > 0) send(c, first + i, count, c->rank - 1);
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
