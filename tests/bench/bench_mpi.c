/* What ranks of MPI take for one image, as lines of a table: of SIDE x SIDE pixels in all (strong), and of SIDE x SIDE / 4 for
 * each rank (weak).  Bytes in memory, noise of 1 %, one thread a rank, or a GPU of its own with the images on it; the slowest
 * rank counts, of four calls the fastest.
 * Eccentricities of an eighth of SIDE, squared, of noise of 80 %, in one call, from host memory.
 *
 *     mpirun -n RANKS bench_mpi [SIDE [gpu]]     by default 16384 */
#include <apsis_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "masks.h"

enum { CALLS = 4 };

static int rank, ranks;

static void must_say(apsis_status status, const char *why) {
    if (status == APSIS_OK) return;
    fprintf(stderr, "bench_mpi: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void must(apsis_status status) { must_say(status, apsis_mpi_message()); }

/* Memory of the rank's own device, for so many rows. */
static apsis_image must_alloc(apsis_context *context, apsis_memory memory, apsis_type type, int64_t width, int64_t rows) {
    apsis_image image = {.type = type, .ndim = 2, .size = {width, rows}};
    must_say(apsis_alloc(context, memory, &image), apsis_message(context));
    return image;
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
    const apsis_memory memory = apsis_device(context) == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE;
    apsis_image mask = must_alloc(context, APSIS_HOST, APSIS_U8, width, rows);
    apsis_image set = must_alloc(context, memory, APSIS_U8, width, rows);
    if (rows > 0) bench_mask("noise-0.01", width, rows, 1, mask.data);
    must_say(apsis_copy(context, &mask, &set), apsis_message(context));
    for (int m = 0; m < 2; ++m) {
        apsis_image out = must_alloc(context, memory, maps[m].type, width, rows);
        double least = 1e30;
        for (int i = 0; i <= CALLS; ++i) { /* the first one takes memory */
            MPI_Barrier(MPI_COMM_WORLD);
            double seconds = -MPI_Wtime(), slowest = 0;
            maps[m].map(context, &set, &out);
            must_say(apsis_sync(context), apsis_message(context));
            seconds += MPI_Wtime();
            MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
            if (i > 0 && slowest < least) least = slowest;
        }
        if (rank == 0)
            printf("%d,%s,%s,%lld,%lld,%.1f\n", ranks, maps[m].name, scaling, (long long)width, (long long)height, 1e3 * least);
        apsis_free(context, &out);
    }
    apsis_free(context, &set);
    apsis_free(context, &mask);
}

static void measure_eccentricity(apsis_context *context, int64_t side) {
    int64_t start, rows;
    must(apsis_mpi_extent(MPI_COMM_WORLD, side, &start, &rows));
    apsis_image mask = must_alloc(context, APSIS_HOST, APSIS_U8, side, side);
    bench_mask("noise-0.8", side, side, 1, mask.data); /* all ranks have the same */
    apsis_image out = must_alloc(context, APSIS_HOST, APSIS_F32, side, rows), set = out;
    set.type = APSIS_U8;
    set.data = (uint8_t *)mask.data + start * side;
    memset(set.stride, 0, sizeof set.stride);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = -MPI_Wtime(), slowest = 0;
    must(apsis_mpi_eccentricity(context, MPI_COMM_WORLD, &set, &out, NULL, NULL, 0, NULL, NULL));
    seconds += MPI_Wtime();
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d,eccentricity,strong,%lld,%lld,%.1f\n", ranks, (long long)side, (long long)side, 1e3 * slowest);
    apsis_free(context, &out);
    apsis_free(context, &mask);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t side = argc > 1 ? atoll(argv[1]) : 16384;
    const int has_gpu = argc > 2 && apsis_device_count() > 0;
    apsis_context *context = NULL;
    must_say(apsis_create(APSIS_VERSION, has_gpu ? rank % apsis_device_count() : APSIS_CPU, &context), apsis_message(context));
    must_say(apsis_set_threads(context, 1), apsis_message(context));
    if (rank == 0) puts("ranks,map,scaling,width,height,ms");
    measure(context, "strong", side, side);
    measure(context, "weak", side, side / 4 * ranks);
    measure_eccentricity(context, side / 8);
    apsis_destroy(context);
    return MPI_Finalize();
}
