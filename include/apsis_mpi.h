/*
 * apsis_mpi: apsis over the ranks of an MPI communicator.
 *
 * Every rank holds a slab of one image: some of its rows, in 3-D some of its
 * planes, those of rank 0 first, then those of rank 1, and so on.  Together
 * the ranks get what the functions of apsis.h give for the whole image, byte
 * for byte, however it is cut and however many ranks there are.
 *
 *     apsis_mpi_extent        which rows are mine?  A way to cut; any other is as good
 *     apsis_mpi_distance      as apsis_distance
 *     apsis_mpi_voronoi       as apsis_voronoi: the complete map
 *     apsis_mpi_components    as apsis_components
 *     apsis_mpi_geodesic      as apsis_geodesic
 *     apsis_mpi_eccentricity  as apsis_eccentricity
 *
 *     int64_t start, rows;
 *     apsis_mpi_extent(MPI_COMM_WORLD, height, &start, &rows);
 *     ... read rows start to start + rows - 1 into mask ...
 *     apsis_image set  = {.data = mask, .type = APSIS_U8,  .ndim = 2, .size = {width, rows}};
 *     apsis_image dist = {.data = out,  .type = APSIS_F32, .ndim = 2, .size = {width, rows}};
 *     if (apsis_mpi_distance(ctx, MPI_COMM_WORLD, &set, &dist, NULL, NULL) != APSIS_OK)
 *         fprintf(stderr, "apsis: %s\n", apsis_mpi_message());
 *
 * Images.  Those of a rank have the rows of its slab, and no others.  How many
 *   there are before them follows from the ranks before it; a rank may have
 *   none, and then needs no data.  The size along the other axes, ndim, and the
 *   options are the same on every rank; types, strides, memory and devices may
 *   differ.  Indices, labels and coordinates are those of the whole image.
 * Contexts.  One for each rank, of the CPU or of a device; images are where its
 *   context takes them.  Messages are in host memory, so MPI need not know CUDA.
 *   Of several ranks on one machine each uses all of its cores: see
 *   apsis_set_threads.
 * Communicator.  Passed by value, an intracommunicator.  Each call duplicates
 *   it, so that messages of the program are never taken for those of apsis, and
 *   frees the duplicate: nothing is left that MPI_Finalize would have to free.
 *   In Fortran, MPI_Comm_f2c makes one of a communicator's number.
 * Threads.  Calls are collective: all ranks of the communicator make the same
 *   ones, in one order.  MPI is called on the calling thread alone, so that
 *   MPI_THREAD_FUNNELED is enough.
 * Errors.  Every rank returns the same status, whichever failed: the lowest
 *   rank that did tells the others, and apsis_mpi_message says which it was.  No
 *   rank is left waiting: the ranks agree that all have got through a phase
 *   before one sends what it has found.  After a failure the outputs of all
 *   ranks are unspecified.  An error of MPI itself goes to the communicator's
 *   error handler; where that returns, so does the call, on this rank, with
 *   APSIS_ERROR_DEVICE.
 * Ownership.  Nothing is kept after a call, which returns when its work is
 *   done, also with images on a device.
 * Messages.  Of at most 1 GiB each.  How many bytes they are together stands
 *   with each function, for P ranks and an image of `columns` columns: its
 *   width, in 3-D its width times its height.  Agreeing comes on top, one
 *   all-reduce of at most 216 bytes a phase.
 *
 * The library is libapsis_mpi.so.<major>; it needs libapsis, and the MPI that it
 * was built with.  For another MPI compile its one source with your program:
 *
 *     mpicc program.c $(pkg-config --variable=mpi_source apsis) $(pkg-config --cflags --libs apsis)
 */
#ifndef APSIS_MPI_H
#define APSIS_MPI_H

#include <mpi.h>

#include "apsis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Functions ---------------------------------------------------------- */

/** Says in English why this thread's last call failed, and on which rank; "" if it did not.  Valid until the next call. */
APSIS_API const char *apsis_mpi_message(void);

/**
 * Cuts an image of so many rows as FFTW does: every rank gets as many as the
 * first, rounded up, until none are left.  Not collective.
 *
 * @param extent  The rows of the image, in 3-D its planes.
 * @param start   Receives the rows before this rank's.
 * @param rows    Receives the number of its rows, which may be 0.
 */
APSIS_API apsis_status apsis_mpi_extent(MPI_Comm comm, int64_t extent, int64_t *start, int64_t *rows);

/**
 * The rows of this rank, of what apsis_distance gives for the whole image.
 *
 * Each rank but the last sends 8 bytes a column to the next one, each but the
 * first as much to the one before: 16 * columns * (P - 1) in all, of a signed
 * map twice that, with APSIS_LABELS three times.  It takes 32 bytes a column of
 * memory, or 48; with APSIS_LABELS 96, and 6 MiB.
 *
 * @param set       APSIS_BIT or an integer type: the slab.
 * @param distance  Of the size of the set, as is nearest.  Either may be NULL.
 * @param options   Those of apsis_distance that apsis_slab_distance takes.
 */
APSIS_API apsis_status apsis_mpi_distance(apsis_context *context, MPI_Comm comm, const apsis_image *set,
                                          const apsis_image *distance, const apsis_image *nearest,
                                          const apsis_options *options);

/** The rows of this rank, of what apsis_voronoi gives for the whole image: the
 *  complete map, with APSIS_LABELS of the labels of sites.  APSIS_CONNECTED is APSIS_ERROR_UNSUPPORTED.  Messages and
 *  memory are those of apsis_mpi_distance. */
APSIS_API apsis_status apsis_mpi_voronoi(apsis_context *context, MPI_Comm comm, const apsis_image *set,
                                         const apsis_image *cells, const apsis_options *options);

/**
 * The rows of this rank, of what apsis_components gives for the whole image, which with
 * APSIS_LABELS may be a label image; components and count are those of the whole image.  Each rank gets the outputs that
 * it asks for: statistics on every rank, on one, or on none.
 *
 * Ranks send up a binomial tree to rank 0, and are told the same way down.  A rank
 * r > 0 sends once, for the ranks from r to r + b - 1 that have been joined with it,
 * where b is the largest power of two that divides r:
 *
 *     16 + 16 * columns    up: how many rows and components these ranks have, and two rows of numbers
 *     8 + 16 * columns     down, if any rank wants labels: two rows of numbers
 *     96 * components      up, with statistics, of label images, or where options leave components out
 *     8 * components       down, in place of the rows, where options leave components out
 *
 * So labels take (P - 1) * (24 + 32 * columns) bytes; of ranks that have no rows there
 * are no rows of numbers.  Then count goes to all ranks, 8 bytes each, and the
 * statistics, 96 * count bytes each, if any rank but 0 asks for them.  Rank 0 takes
 * 16 + 32 * log2(P) bytes a column of memory, and room for all components that are
 * told up; another rank takes less.
 *
 * @param set         APSIS_BIT or an integer type: the slab.
 * @param labels      Of the size of the set.  May be NULL.  APSIS_ERROR_RANGE if a number does not fit.
 * @param components  [capacity], in host memory.  May be NULL where capacity is 0.
 * @param count       Receives how many there are in the whole image.  May be NULL.
 * @param options     Those of apsis_components that apsis_slab_parts takes.
 */
APSIS_API apsis_status apsis_mpi_components(apsis_context *context, MPI_Comm comm, const apsis_image *set,
                                            const apsis_image *labels, apsis_component *components, int64_t capacity,
                                            int64_t *count, const apsis_options *options);

/**
 * The rows of this rank, of what apsis_geodesic gives for the whole image.
 *
 * Where shortest paths cross k cuts at most, there are k + 2 rounds or fewer.  In a round
 * a rank whose first or last row has changed sends both, to the ranks beside it: 8 bytes
 * a column each, and 8 more with nearest seeds.  A rank that is told nothing new rests.  It
 * takes 32 bytes a column of memory, or 64.
 *
 * @param set       APSIS_BIT or an integer type: the slab.
 * @param seeds     Of the size of the set, as are distance and nearest.  Either of these may be NULL.
 */
APSIS_API apsis_status apsis_mpi_geodesic(apsis_context *context, MPI_Comm comm, const apsis_image *set,
                                          const apsis_image *seeds, const apsis_image *distance,
                                          const apsis_image *nearest, const apsis_options *options);

/**
 * The rows of this rank, of what apsis_eccentricity gives for the whole image; extents and
 * count are those of the whole image, for each rank that asks.
 *
 * Here the work is cut, not the memory: every rank takes what apsis_eccentricity takes for the
 * whole image, and room for its outputs.  CPU contexts share out the distance fields of components
 * of more than 4096 pixels (apsis_set_allreduce, which the call puts back to its default).  Where a
 * rank has a CUDA context each makes all fields, and nothing but the set goes between them: several
 * devices of one machine are for apsis_create_devices.
 *
 * All-reduces combine the set, a bit a pixel in rows of whole bytes, rounded up to 8 in all; of label images, which
 * have one type on all ranks, their pixels.  A turn of a
 * component of m pixels, in b = m / 4096 blocks, rounded up, that makes w fields and then those of
 * h hubs, combines, in numbers of 4 bytes or, where steps or paths are long, of 8:
 *
 *     m * (1 + h)       lower bounds, and lengths from hubs
 *     m                 the farthest pixels, if any rank wants them
 *
 * and 16 * b + 24 * (8 + w) bytes at most, before the first turn 16 * b.  Each begins with a phase.
 *
 * @param set           APSIS_BIT or an integer type: the slab.
 * @param eccentricity  Of the size of the set, as is farthest.  Either may be NULL.
 * @param extents       [capacity], in host memory.  May be NULL where capacity is 0.
 * @param count         Receives how many components there are in the whole image.  May be NULL.
 */
APSIS_API apsis_status apsis_mpi_eccentricity(apsis_context *context, MPI_Comm comm, const apsis_image *set,
                                              const apsis_image *eccentricity, const apsis_image *farthest,
                                              apsis_extent *extents, int64_t capacity, int64_t *count,
                                              const apsis_options *options);

/**
 * What apsis_statistics says of the values of the whole image, on each rank that asks.
 *
 * What is known of values goes up a binomial tree, 96 bytes for each of those that occur on some ranks together, and then to
 * all ranks, if any but rank 0 asks.  APSIS_DENSE is APSIS_ERROR_UNSUPPORTED.
 *
 * @param labels      An integer type: the slab.
 * @param components  [capacity], in host memory.  May be NULL where capacity is 0.
 * @param count       Receives how many values occur.  May be NULL.
 */
APSIS_API apsis_status apsis_mpi_statistics(apsis_context *context, MPI_Comm comm, const apsis_image *labels,
                                            apsis_component *components, int64_t capacity, int64_t *count,
                                            const apsis_options *options);

/**
 * Which values of the whole image touch, as apsis_contacts says, on each rank that asks.
 *
 * Each rank sends its last row to the next one, 8 bytes a column, and what it knows as in apsis_mpi_statistics, 56 bytes
 * a pair.
 *
 * @param labels    An integer type: the slab.
 * @param contacts  [capacity], in host memory.  May be NULL where capacity is 0.
 * @param count     Receives how many pairs touch.  May be NULL.
 */
APSIS_API apsis_status apsis_mpi_contacts(apsis_context *context, MPI_Comm comm, const apsis_image *labels,
                                          apsis_contact *contacts, int64_t capacity, int64_t *count,
                                          const apsis_options *options);

#ifdef __cplusplus
}
#endif

#endif /* APSIS_MPI_H */
