/* apsis_mpi_distance for Fortran, which has numbers for communicators: the distances of this rank's rows of a mask. */
#include <apsis_mpi.h>

int far_from(MPI_Fint comm, const uint8_t *mask, float *map, int64_t width, int64_t rows);
int far_from(MPI_Fint comm, const uint8_t *mask, float *map, int64_t width, int64_t rows) {
    apsis_context *ctx = NULL;
    const apsis_image set = {.data = (void *)mask, .type = APSIS_U8, .ndim = 2, .size = {width, rows}};
    const apsis_image out = {.data = map, .type = APSIS_F32, .ndim = 2, .size = {width, rows}};
    apsis_create(APSIS_VERSION, APSIS_BEST, &ctx); /* if there is none, all ranks are told so by the call */
    const apsis_status status = apsis_mpi_distance(ctx, MPI_Comm_f2c(comm), &set, &out, NULL, NULL);
    apsis_destroy(ctx);
    return (int)status;
}
