// Times apsis_geodesic, one field from one seed, and apsis_eccentricity, on the CPU, one CSV line a case.
//
//     bench_paths [size-2d [size-3d [threads]]]                           default 4096, 256, 1
//     bench_paths eccentricity [size-2d [size-3d [threads]]]              default 1024, 64, one thread a core
#include <apsis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "masks.h"

enum { RUNS = 5 };

/* A mask of masks.h, or with '-' before it the pixels outside it. */
static const char *const shapes_2d[] = {"full",      "-disc", "-blobs", "blobs",       "noise-0.9",
                                        "noise-0.7", "coil",  "maze",   "wide-spiral", NULL};
static const char *const shapes_3d[] = {"full", "-disc", "-blobs", "blobs", "noise-0.9", "noise-0.5", NULL};

static apsis_status ask(apsis_context *ctx, const apsis_image images[4], const char *shape, int nearest) {
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = shape[0] == '-' ? APSIS_COMPLEMENT : 0;
    return apsis_geodesic(ctx, &images[0], &images[1], &images[2], nearest ? &images[3] : NULL, &options);
}

/* The middle pixel of the largest component, or the one of the set that follows it. */
static int plant(apsis_context *ctx, const apsis_image *set, const char *shape, uint8_t *seeds) {
    apsis_options options = APSIS_OPTIONS_INIT;
    const int64_t pixels = set->size[0] * set->size[1] * set->size[2];
    apsis_image largest = *set;
    uint8_t *mask = malloc((size_t)pixels);
    largest.data = mask;
    options.flags = shape[0] == '-' ? APSIS_COMPLEMENT : 0;
    options.connectivity = set->ndim;
    options.largest = 1;
    memset(seeds, 0, (size_t)pixels);
    const apsis_status st = mask ? apsis_components(ctx, set, &largest, NULL, 0, NULL, &options) : APSIS_ERROR_MEMORY;
    int64_t i = pixels / 2 + set->size[0] / 2;
    for (int64_t k = 0; st == APSIS_OK && k < pixels && mask[i] == (shape[0] == '-'); ++k) i = (i + 1) % pixels;
    seeds[i] = 1;
    free(mask);
    return st != APSIS_OK;
}

static int64_t reached(const float *distance, int64_t pixels) {
    int64_t count = 0;
    for (int64_t i = 0; i < pixels; ++i) count += distance[i] >= 0 && distance[i] < 1e30f;
    return count;
}

static int run_case(apsis_context *ctx, const apsis_image images[4], const char *shape, int nearest) {
    const int64_t pixels = images[0].size[0] * images[0].size[1] * images[0].size[2];
    double ms[RUNS];
    if (ask(ctx, images, shape, nearest) != APSIS_OK) return 1;
    for (int i = 0; i < RUNS; ++i) {
        const double start = seconds();
        if (ask(ctx, images, shape, nearest) != APSIS_OK) return 1;
        ms[i] = 1e3 * (seconds() - start);
    }
    qsort(ms, RUNS, sizeof *ms, by_value);
    const int64_t count = reached(images[2].data, pixels);
    printf("\"%s\",%s,%dd,%lld,%s,%lld,%.2f,%.1f\n", apsis_device_name(ctx), nearest ? "geodesic+nearest" : "geodesic",
           images[0].ndim, (long long)images[0].size[0], shape, (long long)count, ms[RUNS / 2],
           (double)count / ms[RUNS / 2] / 1e3);
    fflush(stdout);
    return 0;
}

static int run(apsis_context *ctx, const char *const *shapes, int ndim, int64_t side) {
    const int64_t depth = ndim == 3 ? side : 1, pixels = side * side * depth;
    static const apsis_type types[4] = {APSIS_U8, APSIS_U8, APSIS_F32, APSIS_I32};
    apsis_image images[4];
    int status = 0;
    for (int k = 0; k < 4; ++k) {
        images[k] = (apsis_image){.type = types[k], .ndim = ndim, .size = {side, side, depth}};
        images[k].data = malloc((size_t)pixels * (k < 2 ? 1 : 4));
        status |= !images[k].data;
    }
    for (; !status && *shapes; ++shapes) {
        bench_mask(*shapes + (**shapes == '-'), side, side, depth, images[0].data);
        status = plant(ctx, &images[0], *shapes, images[1].data);
        for (int nearest = 0; nearest < 2 && !status; ++nearest) status = run_case(ctx, images, *shapes, nearest);
    }
    for (int k = 0; k < 4; ++k) free(images[k].data);
    return status;
}

/* ---- Eccentricity ---- */

static const char *const wholes_2d[] = {"full",      "-disc", "holes", "-blobs", "noise-0.8",
                                        "noise-0.9", "coil",  "maze",  "ring",   NULL};
static const char *const wholes_3d[] = {"full", "-disc", "-blobs", "noise-0.8", NULL};

/* The log says how many fields were made: "eccentricity: N fields for ...". */
static void listen(void *fields, const char *line) {
    long long count;
    if (sscanf(line, "eccentricity: %lld fields", &count) == 1) *(long long *)fields = count;
}

static int run_whole(apsis_context *ctx, const char *shape, int ndim, int64_t side) {
    const int64_t depth = ndim == 3 ? side : 1, pixels = side * side * depth;
    apsis_image set = {.type = APSIS_U8, .ndim = ndim, .size = {side, side, depth}}, out = set;
    set.data = malloc((size_t)pixels);
    out.data = malloc((size_t)pixels * sizeof(float));
    out.type = APSIS_F32;
    int status = !set.data || !out.data;
    for (int farthest = 0; farthest < 2 && !status; ++farthest) {
        apsis_options options = APSIS_OPTIONS_INIT;
        long long fields = 0;
        int64_t count = 0;
        apsis_extent extent = {0};
        bench_mask(shape + (*shape == '-'), side, side, depth, set.data);
        options.flags = *shape == '-' ? APSIS_COMPLEMENT : 0;
        apsis_image index = {.data = NULL};
        if (farthest) index = out, index.type = APSIS_I32, index.data = malloc((size_t)pixels * sizeof(int32_t));
        apsis_set_log(ctx, listen, &fields);
        const double start = seconds();
        status = apsis_eccentricity(ctx, &set, &out, farthest ? &index : NULL, &extent, 1, &count, &options);
        printf("\"%s\",%s,%dd,%lld,%s,%lld,%.1f,%lld,%lld\n", apsis_device_name(ctx),
               farthest ? "eccentricity+farthest" : "eccentricity", ndim, (long long)side, shape,
               (long long)reached(out.data, pixels), 1e3 * (seconds() - start), (long long)count, fields);
        fflush(stdout);
        free(index.data);
    }
    free(set.data);
    free(out.data);
    return status;
}

int main(int argc, char **argv) {
    const int whole = argc > 1 && strcmp(argv[1], "eccentricity") == 0;
    argv += whole;
    argc -= whole;
    const int64_t side_2d = argc > 1 ? atoll(argv[1])
                            : whole  ? 1024
                                     : 4096,
                  side_3d = argc > 2 ? atoll(argv[2])
                            : whole  ? 64
                                     : 256;
    apsis_context *ctx = NULL;
    int status = apsis_create(APSIS_VERSION, APSIS_CPU, &ctx) || apsis_set_threads(ctx, argc > 3 ? atoi(argv[3]) : !whole);
    printf("device,question,dimensions,side,shape,pixels,ms,%s\n", whole ? "components,fields" : "megapixels_per_second");
    if (!status && side_2d && !whole) status = run(ctx, shapes_2d, 2, side_2d);
    if (!status && side_3d && !whole) status = run(ctx, shapes_3d, 3, side_3d);
    for (int i = 0; side_2d && whole && !status && wholes_2d[i]; ++i) status = run_whole(ctx, wholes_2d[i], 2, side_2d);
    for (int i = 0; side_3d && whole && !status && wholes_3d[i]; ++i) status = run_whole(ctx, wholes_3d[i], 3, side_3d);
    if (status) fprintf(stderr, "bench_paths: %s\n", apsis_message(ctx));
    apsis_destroy(ctx);
    return status;
}
