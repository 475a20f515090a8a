/* What ranks of MPI take for one image, as lines of a table: of SIDE x SIDE pixels in all (strong), and of SIDE x SIDE / 4 for
 * each rank (weak).  Bytes in memory, noise of 1 %, one thread a rank; the slowest rank counts, of four calls the fastest.
 * Eccentricities of an eighth of SIDE, squared, of noise of 80 %, in one call.
 *
 *     mpirun -n RANKS bench_mpi [SIDE]     by default 16384 */
#include <apsis_mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "masks.h"

enum { CALLS = 4 };

static int rank, ranks;

static void *must_alloc(int64_t bytes) {
    void *memory = malloc((size_t)bytes + 1);
    if (!memory) {
        fprintf(stderr, "bench_mpi: no memory for %lld bytes\n", (long long)bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static void must(apsis_status status) {
    if (status == APSIS_OK) return;
    fprintf(stderr, "bench_mpi: %s\n", apsis_mpi_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void map_distance(apsis_context *context, const apsis_image *set, const apsis_image *out) {
    must(apsis_mpi_distance(context, MPI_COMM_WORLD, set, out, NULL, NULL));
}

static void map_labels(apsis_context *context, const apsis_image *set, const apsis_image *out) {
    must(apsis_mpi_components(context, MPI_COMM_WORLD, set, out, NULL, 0, NULL, NULL));
}

static void measure(apsis_context *context, const char *scaling, int64_t width, int64_t height) {
    static const struct {
        const char *name;
        apsis_type type;
        void (*map)(apsis_context *, const apsis_image *, const apsis_image *);
    } maps[] = {{"distance", APSIS_F32, map_distance}, {"labels", APSIS_I32, map_labels}};
    int64_t start, rows;
    must(apsis_mpi_extent(MPI_COMM_WORLD, height, &start, &rows));
    uint8_t *const mask = must_alloc(width * rows), *const values = must_alloc(4 * width * rows);
    bench_mask("noise-0.01", width, rows, 1, mask);
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {width, rows}};
    for (int m = 0; m < 2; ++m) {
        const apsis_image out = {.data = values, .type = maps[m].type, .ndim = 2, .size = {width, rows}};
        double least = 1e30;
        for (int i = 0; i <= CALLS; ++i) { /* the first one takes memory */
            MPI_Barrier(MPI_COMM_WORLD);
            double seconds = -MPI_Wtime(), slowest = 0;
            maps[m].map(context, &set, &out);
            seconds += MPI_Wtime();
            MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
            if (i > 0 && slowest < least) least = slowest;
        }
        if (rank == 0)
            printf("%d,%s,%s,%lld,%lld,%.1f\n", ranks, maps[m].name, scaling, (long long)width, (long long)height, 1e3 * least);
    }
    free(mask);
    free(values);
}

static void measure_eccentricity(apsis_context *context, int64_t side) {
    int64_t start, rows;
    must(apsis_mpi_extent(MPI_COMM_WORLD, side, &start, &rows));
    uint8_t *const mask = must_alloc(side * side), *const values = must_alloc(4 * side * rows);
    bench_mask("noise-0.8", side, side, 1, mask); /* all ranks have the same */
    const apsis_image set = {.data = mask + start * side, .type = APSIS_U8, .ndim = 2, .size = {side, rows}};
    const apsis_image out = {.data = values, .type = APSIS_F32, .ndim = 2, .size = {side, rows}};
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = -MPI_Wtime(), slowest = 0;
    must(apsis_mpi_eccentricity(context, MPI_COMM_WORLD, &set, &out, NULL, NULL, 0, NULL, NULL));
    seconds += MPI_Wtime();
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d,eccentricity,strong,%lld,%lld,%.1f\n", ranks, (long long)side, (long long)side, 1e3 * slowest);
    free(mask);
    free(values);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t side = argc > 1 ? atoll(argv[1]) : 16384;
    apsis_context *context = NULL;
    if (apsis_create(APSIS_VERSION, APSIS_CPU, &context) != APSIS_OK || apsis_set_threads(context, 1) != APSIS_OK) {
        fprintf(stderr, "bench_mpi: %s\n", apsis_message(context));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) puts("ranks,map,scaling,width,height,ms");
    measure(context, "strong", side, side);
    measure(context, "weak", side, side / 4 * ranks);
    measure_eccentricity(context, side / 8);
    apsis_destroy(context);
    return MPI_Finalize();
}
