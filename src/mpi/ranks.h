/*
 * A call that all ranks make together, for apsis_mpi.c.
 *
 * It goes in phases.  In a phase a rank works alone, and takes the memory that the next messages need.  At its end the ranks
 * agree, by one all-reduce; what has been found is sent only when all have got through it.  So a rank that fails leaves no
 * other waiting.
 */
#ifndef APSIS_MPI_RANKS_H
#define APSIS_MPI_RANKS_H

#include <apsis_mpi.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef APSIS_MPI_LARGEST_MESSAGE /* in bytes; those of the tests are smaller */
#define APSIS_MPI_LARGEST_MESSAGE (1 << 30)
#endif

enum { TAG = 1, LARGEST = APSIS_MPI_LARGEST_MESSAGE / 8, MOST_AXIS = 1 << 30 };

/** How a call ended, or a phase of it. */
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
    outcome is;            /* of this rank; when the ranks have agreed, of all */
    bool is_broken;        /* MPI itself has failed, and is not called again */
    apsis_options options; /* filled up with defaults */
    int64_t columns, start, rows, extent;
    block *blocks;
} call;

/** Numbers in which ranks must not differ: the axes that are not cut, ndim, and options. */
enum { SHARED = 3 + sizeof(apsis_options) / sizeof(int64_t), MOST_AGREED = 2 * SHARED };

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

/** Takes note of what a function of MPI returned; TRY_MPI calls it only if none has failed before. */
static void note_mpi(call *c, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &length);
    fail(c, APSIS_ERROR_DEVICE, "MPI: %s", text);
    c->is_broken = true;
}

#define TRY_MPI(c, function)                        \
    do {                                            \
        if (!(c)->is_broken) note_mpi(c, function); \
    } while (0)

/** Ends a phase: whether all ranks have got through it.  If so, `least` becomes the least of each number over all ranks. */
static bool agree(call *c, int64_t *least, int count) {
    int64_t mine[1 + MOST_AGREED], all[1 + MOST_AGREED];
    mine[0] = c->is.status == APSIS_OK ? c->size : c->rank;
    for (int i = 0; i < count; ++i) mine[i + 1] = least[i];
    TRY_MPI(c, MPI_Allreduce(mine, all, count + 1, MPI_INT64_T, MPI_MIN, c->comm));
    if (c->is_broken) return false;
    if (all[0] < c->size) { /* the lowest rank that failed says why */
        TRY_MPI(c, MPI_Bcast(&c->is, sizeof c->is, MPI_BYTE, (int)all[0], c->comm));
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

/** Numbers to another rank, or from it.  That one waits for them, so whether they are sent must not depend on anything that can
 *  fail on one rank alone. */
static void pass(call *c, bool is_sent, void *numbers, int64_t count, int other) {
    int64_t *const all = numbers;
    for (int64_t i = 0; i < count; i += LARGEST) {
        const int some = (int)least_of(count - i, LARGEST);
        TRY_MPI(c, is_sent ? MPI_Send(all + i, some, MPI_INT64_T, other, TAG, c->comm)
                           : MPI_Recv(all + i, some, MPI_INT64_T, other, TAG, c->comm, MPI_STATUS_IGNORE));
    }
}

/** Numbers of one rank to all ranks. */
static void pass_to_all(call *c, void *numbers, int64_t count, int from) {
    int64_t *const all = numbers;
    for (int64_t i = 0; i < count; i += LARGEST)
        TRY_MPI(c, MPI_Bcast(all + i, (int)least_of(count - i, LARGEST), MPI_INT64_T, from, c->comm));
}

/** Combines the numbers of all ranks, of 4 or 8 bytes each. */
static void combine(call *c, void *numbers, int64_t count, MPI_Datatype type, int bytes, MPI_Op op) {
    const int64_t most = LARGEST * (int64_t)(sizeof(int64_t) / (size_t)bytes);
    for (int64_t i = 0; i < count; i += most)
        TRY_MPI(c, MPI_Allreduce(MPI_IN_PLACE, (char *)numbers + i * bytes, (int)least_of(count - i, most), type, op, c->comm));
}

/** Passes a row on to a rank if it has changed, and takes that of another.  Whether one has come. */
static bool exchange(call *c, bool has_changed, const int64_t *mine, int to, int64_t *beside, int from) {
    MPI_Status status;
    int came = 0;
    if (to < 0 || to >= c->size) to = MPI_PROC_NULL;
    if (from < 0 || from >= c->size) from = MPI_PROC_NULL;
    for (int64_t i = 0; i < c->columns; i += LARGEST) {
        const int some = (int)least_of(c->columns - i, LARGEST);
        TRY_MPI(c, MPI_Sendrecv(mine + i, has_changed ? some : 0, MPI_INT64_T, to, TAG, beside + i, some, MPI_INT64_T, from,
                                TAG, c->comm, &status));
        TRY_MPI(c, MPI_Get_count(&status, MPI_INT64_T, &came));
    }
    return came > 0;
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

/** Whether the image closes on itself along the axis that is cut. */
static bool is_ring(const call *c, const apsis_image *set) {
    return c->options.flags & (uint32_t)APSIS_PERIODIC_X << (set->ndim - 1);
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
    TRY_MPI(c, MPI_Exscan(&c->rows, &c->start, 1, MPI_INT64_T, MPI_SUM, c->comm));
    TRY_MPI(c, MPI_Allreduce(&c->rows, &c->extent, 1, MPI_INT64_T, MPI_SUM, c->comm));
    return !c->is_broken;
}

/** Whether the communicator is one that ranks can agree in; if not, all ranks see that by themselves. */
static bool check_comm(call *c, MPI_Comm comm) {
    int has_begun = 0, has_ended = 0, is_inter = 0;
    MPI_Initialized(&has_begun);
    if (has_begun) MPI_Finalized(&has_ended);
    if (!has_begun || has_ended)
        fail(c, APSIS_ERROR_ARGUMENT, "MPI is not initialised, or has been finalised");
    else if (comm == MPI_COMM_NULL)
        fail(c, APSIS_ERROR_ARGUMENT, "comm is MPI_COMM_NULL");
    else
        TRY_MPI(c, MPI_Comm_test_inter(comm, &is_inter));
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
    TRY_MPI(c, MPI_Comm_dup(comm, &c->comm));
    TRY_MPI(c, MPI_Comm_rank(c->comm, &c->rank));
    TRY_MPI(c, MPI_Comm_size(c->comm, &c->size));
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
    if (c->comm != MPI_COMM_NULL) TRY_MPI(c, MPI_Comm_free(&c->comm));
    last_outcome = c->is;
    return c->is.status;
}

/** The last phase: all work is done, or one rank has failed. */
static apsis_status finish(call *c) {
    if (c->is.status == APSIS_OK) note(c, apsis_sync(c->context));
    agree(c, NULL, 0);
    return end(c);
}

#endif
