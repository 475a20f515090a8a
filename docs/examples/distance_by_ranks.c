/* Maps a raw file of bytes on all ranks of MPI, each of which reads its rows and writes its part of the map:
 * mpirun -n 4 distance_by_ranks WIDTH HEIGHT IN OUT.  Non-zero bytes are the set; OUT gets a float for each byte. */
#include <apsis_mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int is_right, const char *what, const char *why) {
    if (!is_right) fprintf(stderr, "distance_by_ranks: %s: %s\n", what, why), MPI_Abort(MPI_COMM_WORLD, 1);
}

/* MPI counts with int, so a row at a time. */
static void move_rows(const char *name, int is_written, int64_t start, int64_t rows, int64_t bytes, char *data) {
    MPI_File file;
    const int mode = is_written ? MPI_MODE_WRONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    must(!MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file), name, "cannot be opened");
    for (int64_t y = 0; y < rows; ++y) {
        const MPI_Offset at = (start + y) * bytes;
        int code;
        if (is_written)
            code = MPI_File_write_at(file, at, data + y * bytes, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            code = MPI_File_read_at(file, at, data + y * bytes, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        must(code == MPI_SUCCESS, name, "a row cannot be moved");
    }
    MPI_File_close(&file);
}

int main(int argc, char **argv) {
    int level, rank;
    int64_t start, rows;
    apsis_context *ctx = NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    must(argc == 5, "arguments", "WIDTH HEIGHT IN OUT are needed");
    const int64_t width = atoll(argv[1]), height = atoll(argv[2]);
    const int devices = apsis_device_count();
    must(!apsis_create(APSIS_VERSION, devices ? rank % devices : APSIS_CPU, &ctx), "no context", apsis_message(NULL));
    must(!apsis_mpi_extent(MPI_COMM_WORLD, height, &start, &rows), "no rows", apsis_mpi_message());
    uint8_t *mask = malloc((size_t)(width * rows + 1));
    float *map = malloc((size_t)(width * rows + 1) * sizeof *map);
    must(mask && map, "the slab", "no memory");
    move_rows(argv[3], 0, start, rows, width, (char *)mask);
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {width, rows}};
    const apsis_image out = {.data = map, .type = APSIS_F32, .ndim = 2, .size = {width, rows}};
    must(!apsis_mpi_distance(ctx, MPI_COMM_WORLD, &set, &out, NULL, NULL), "no map", apsis_mpi_message());
    move_rows(argv[4], 1, start, rows, width * (int64_t)sizeof *map, (char *)map);
    free(mask), free(map), apsis_destroy(ctx);
    return MPI_Finalize();
}
