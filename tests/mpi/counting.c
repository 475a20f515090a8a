#define _POSIX_C_SOURCE 200809L
#include "counting.h"

#include <stdlib.h>
#include <time.h>

counts counted;

/* ---- MPI ---------------------------------------------------------------- */

static int64_t bytes_of(int count, MPI_Datatype type) {
    int size;
    PMPI_Type_size(type, &size);
    return (int64_t)count * size;
}

/** Waits without keeping a core from the other ranks: tests have more of them than there are cores, and MPI would spin. */
static int wait_with_status(MPI_Request *request, int code, MPI_Status *status) {
    const struct timespec moment = {0, 20000};
    for (int is_done = 0; code == MPI_SUCCESS && !is_done;) {
        code = PMPI_Test(request, &is_done, status);
        if (!is_done) nanosleep(&moment, NULL);
    }
    return code;
}

static int wait_for(MPI_Request *request, int code) { return wait_with_status(request, code, MPI_STATUS_IGNORE); }

static void note_largest(int64_t bytes) {
    if (bytes > counted.largest) counted.largest = bytes;
}

static void count_message(int64_t bytes) {
    counted.sent += bytes;
    note_largest(bytes);
}

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    MPI_Request request;
    count_message(bytes_of(count, type));
    return wait_for(&request, PMPI_Isend(data, count, type, to, tag, comm, &request));
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Request request;
    return wait_with_status(&request, PMPI_Irecv(data, count, type, from, tag, comm, &request), status);
}

int MPI_Sendrecv(const void *data, int count, MPI_Datatype type, int to, int tag, void *room, int most, MPI_Datatype room_type,
                 int from, int room_tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Request sent, received;
    if (to != MPI_PROC_NULL) count_message(bytes_of(count, type));
    const int began = PMPI_Isend(data, count, type, to, tag, comm, &sent);
    const int code = wait_with_status(&received, PMPI_Irecv(room, most, room_type, from, room_tag, comm, &received), status);
    return code == MPI_SUCCESS ? wait_for(&sent, began) : code;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    MPI_Request request;
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (rank == root) counted.broadcast += bytes_of(count, type);
    return wait_for(&request, PMPI_Ibcast(data, count, type, root, comm, &request));
}

int MPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    MPI_Request request;
    if (op == MPI_MAX || op == MPI_BOR)
        counted.combined += bytes_of(count, type), note_largest(bytes_of(count, type));
    else
        ++counted.agreed;
    return wait_for(&request, PMPI_Iallreduce(mine, all, count, type, op, comm, &request));
}

int MPI_Exscan(const void *mine, void *before, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    MPI_Request request;
    return wait_for(&request, PMPI_Iexscan(mine, before, count, type, op, comm, &request));
}

int MPI_Barrier(MPI_Comm comm) {
    MPI_Request request;
    return wait_for(&request, PMPI_Ibarrier(comm, &request));
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy) {
    MPI_Request request;
    return wait_for(&request, PMPI_Comm_idup(comm, copy, &request));
}

/* ---- What fails --------------------------------------------------------- */

static plant planted;
static int left;
static apsis_status planted_status;

void plant_failure(plant what, int n, apsis_status status) { planted = what, left = n, planted_status = status; }

int planted_came(void) {
    planted = NOTHING;
    return left <= 0;
}

static int fails(plant what) { return planted == what && --left == 0; }

int64_t live_allocations;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) {
    void *const data = fails(ALLOCATION) ? NULL : __real_malloc(bytes);
    live_allocations += data != NULL;
    return data;
}

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes) {
    void *const data = fails(ALLOCATION) ? NULL : __real_realloc(old, bytes);
    live_allocations += data && !old;
    return data;
}

void __real_free(void *data);
void __wrap_free(void *data);
void __wrap_free(void *data) {
    live_allocations -= data != NULL;
    __real_free(data);
}

/* A function of apsis.h, its parameters in parentheses, and its arguments. */
#define FUNCTION(name, parameters, arguments) \
    apsis_status __real_##name parameters;    \
    apsis_status __wrap_##name parameters;    \
    apsis_status __wrap_##name parameters { return fails(APSIS_CALL) ? planted_status : __real_##name arguments; }

FUNCTION(apsis_slab_summary,
         (apsis_context * ctx, const apsis_image *set, int64_t start, int64_t *first, int64_t *last,
          const apsis_options *options),
         (ctx, set, start, first, last, options))
FUNCTION(apsis_slab_distance,
         (apsis_context * ctx, const apsis_image *set, const apsis_slab *slab, const apsis_image *distance,
          const apsis_image *nearest, const apsis_options *options),
         (ctx, set, slab, distance, nearest, options))
FUNCTION(apsis_slab_voronoi,
         (apsis_context * ctx, const apsis_image *set, const apsis_slab *slab, const apsis_image *cells,
          const apsis_options *options),
         (ctx, set, slab, cells, options))
FUNCTION(apsis_slab_geodesic,
         (apsis_context * ctx, const apsis_image *set, const apsis_image *seeds, const apsis_slab_paths *slab,
          const apsis_image *distance, const apsis_image *nearest, int64_t *changed, const apsis_options *options),
         (ctx, set, seeds, slab, distance, nearest, changed, options))
FUNCTION(apsis_slab_parts, (apsis_context * ctx, const apsis_image *set, apsis_slab_labels *slab, const apsis_options *options),
         (ctx, set, slab, options))
FUNCTION(apsis_slab_join,
         (apsis_context * ctx, int32_t ndim, const int64_t *size, apsis_slab_labels *slabs, int64_t slab_count,
          apsis_part *parts, int64_t capacity, int64_t *count, const apsis_options *options),
         (ctx, ndim, size, slabs, slab_count, parts, capacity, count, options))
FUNCTION(apsis_slab_renumber,
         (apsis_context * ctx, int64_t columns, const apsis_slab_labels *joined, apsis_slab_labels *slabs, int64_t slab_count),
         (ctx, columns, joined, slabs, slab_count))
FUNCTION(apsis_slab_components,
         (apsis_context * ctx, const apsis_image *set, const apsis_slab_labels *slab, const apsis_image *labels,
          const apsis_options *options),
         (ctx, set, slab, labels, options))
FUNCTION(apsis_eccentricity,
         (apsis_context * ctx, const apsis_image *set, const apsis_image *eccentricity, const apsis_image *farthest,
          apsis_extent *extents, int64_t capacity, int64_t *count, const apsis_options *options),
         (ctx, set, eccentricity, farthest, extents, capacity, count, options))
FUNCTION(apsis_workspace_size,
         (apsis_context * ctx, apsis_transform transform, const apsis_image *const *images, int count,
          const apsis_options *options, size_t *bytes),
         (ctx, transform, images, count, options, bytes))
FUNCTION(apsis_alloc, (apsis_context * ctx, apsis_memory memory, apsis_image *image), (ctx, memory, image))
FUNCTION(apsis_copy, (apsis_context * ctx, const apsis_image *from, const apsis_image *to), (ctx, from, to))
FUNCTION(apsis_sync, (apsis_context * ctx), (ctx))
