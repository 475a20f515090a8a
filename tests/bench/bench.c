// Times apsis_distance on the masks of masks.h, on the CPU, one CSV line a case.  For GPUs see bench_cuda.cpp.
//
//     bench [size-2d [size-3d [threads]]]          default 4096, 256, one thread a core
//     bench scale [threads]                        a few masks, from 64^2 to 8192^2
#include <apsis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "masks.h"

enum { RUNS = 7 };

static double seconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of RUNS calls after one that warms up, in milliseconds; negative on failure. */
static double median_ms(apsis_context *ctx, const apsis_image *set, const apsis_image *distance,
                        const apsis_image *nearest) {
    double ms[RUNS];
    if (apsis_distance(ctx, set, distance, nearest, NULL) != APSIS_OK) return -1;
    for (int i = 0; i < RUNS; ++i) {
        const double start = seconds();
        if (apsis_distance(ctx, set, distance, nearest, NULL) != APSIS_OK) return -1;
        ms[i] = 1e3 * (seconds() - start);
    }
    qsort(ms, RUNS, sizeof *ms, by_value);
    return ms[RUNS / 2];
}

static int run(apsis_context *ctx, const char *const *masks, int ndim, int64_t side, int outputs) {
    const int64_t depth = ndim == 3 ? side : 1, pixels = side * side * depth;
    uint8_t *mask = malloc((size_t)pixels);
    float *distances = malloc((size_t)pixels * sizeof *distances);
    int32_t *indices = malloc((size_t)pixels * sizeof *indices);
    int status = mask && distances && indices ? 0 : 1;
    apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = ndim, .size = {side, side, depth}};
    apsis_image distance = {.data = distances, .type = APSIS_F32, .ndim = ndim, .size = {side, side, depth}};
    apsis_image nearest = {.data = indices, .type = APSIS_I32, .ndim = ndim, .size = {side, side, depth}};
    for (; !status && *masks; ++masks) {
        bench_mask(*masks, side, side, depth, mask);
        for (int with_nearest = 0; with_nearest < outputs && !status; ++with_nearest) {
            const double ms = median_ms(ctx, &set, &distance, with_nearest ? &nearest : NULL);
            status = ms < 0;
            printf("\"%s\",%s,%dd,%lld,%s,%.4f,%.3f\n", apsis_device_name(ctx),
                   with_nearest ? "distance+nearest" : "distance", ndim, (long long)side, *masks, ms,
                   1e6 * ms / (double)pixels);
            fflush(stdout);
        }
    }
    free(mask);
    free(distances);
    free(indices);
    return status;
}

static int run_scale(apsis_context *ctx) {
    static const char *const masks[] = {"noise-0.01", "noise-0.5", "blobs", "row", NULL};
    int status = 0;
    for (int64_t side = 64; !status && side <= 8192; side *= 2) status = run(ctx, masks, 2, side, 1);
    return status;
}

int main(int argc, char **argv) {
    const int scale = argc > 1 && strcmp(argv[1], "scale") == 0, threads = scale ? 2 : 3;
    const int64_t side_2d = argc > 1 ? atoll(argv[1]) : 4096, side_3d = argc > 2 ? atoll(argv[2]) : 256;
    apsis_context *ctx = NULL;
    int status = apsis_create(APSIS_VERSION, APSIS_CPU, &ctx) || apsis_set_threads(ctx, argc > threads ? atoi(argv[threads]) : 0);
    printf("device,outputs,dimensions,side,mask,ms,ns_per_pixel\n");
    if (!status && scale) status = run_scale(ctx);
    if (!status && !scale && side_2d) status = run(ctx, bench_masks_2d, 2, side_2d, 2);
    if (!status && !scale && side_3d) status = run(ctx, bench_masks_3d, 3, side_3d, 2);
    if (status) fprintf(stderr, "bench: %s\n", apsis_message(ctx));
    apsis_destroy(ctx);
    return status;
}
