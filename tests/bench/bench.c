// Times apsis_distance, apsis_components and apsis_morphology on the masks of masks.h, on the CPU, one CSV line a case.  For
// GPUs see bench_cuda.cpp.
//
//     bench [size-2d [size-3d [threads]]]          default 4096, 256, one thread a core
//     bench scale [threads]                        a few masks, from 64^2 to 8192^2
#include <apsis_measures.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "masks.h"

enum { RUNS = 7 };

static const double RADIUS = 50;

enum {
    DISTANCE,
    DISTANCE_AND_NEAREST,
    DILATE,
    OPEN,
    LABELS,
    LABELS_DIAGONAL,
    COUNT_ALONE,
    STATISTICS,
    LARGEST,
    TILE_FILL,
    QUESTIONS
};
static const char *const question_name[QUESTIONS] = {"distance", "distance+nearest", "dilate 50", "open 50",
                                                     "labels",   "labels, diagonal", "count",     "statistics",
                                                     "largest",  "labels, tile fill"};

/* The images of a case, and room for its components. */
typedef struct {
    apsis_image set, distance, nearest, mask, labels;
    apsis_component *component;
    int64_t capacity;
} bench_case;

static apsis_status ask(apsis_context *ctx, bench_case *c, int question) {
    apsis_options options = APSIS_OPTIONS_INIT;
    int64_t count;
    if (question <= DISTANCE_AND_NEAREST)
        return apsis_distance(ctx, &c->set, &c->distance, question == DISTANCE ? NULL : &c->nearest, NULL);
    if (question <= OPEN)
        return apsis_morphology(ctx, question == DILATE ? APSIS_DILATE : APSIS_OPEN, RADIUS, &c->set, &c->mask, NULL);
    options.connectivity = question == LABELS_DIAGONAL ? c->set.ndim : 1;
    options.largest = question == LARGEST;
    options.method = question == TILE_FILL ? APSIS_TILE_FILL : APSIS_AUTO;
    const apsis_image *labels = question == COUNT_ALONE || question == STATISTICS ? NULL : &c->labels;
    return apsis_components(ctx, &c->set, labels, question == STATISTICS ? c->component : NULL,
                            question == STATISTICS ? c->capacity : 0, &count, &options);
}

/* The median of RUNS calls after one that warms up, in milliseconds; negative on failure. */
static double median_ms(apsis_context *ctx, bench_case *c, int question) {
    double ms[RUNS];
    if (ask(ctx, c, question) != APSIS_OK) return -1;
    for (int i = 0; i < RUNS; ++i) {
        const double start = seconds();
        if (ask(ctx, c, question) != APSIS_OK) return -1;
        ms[i] = 1e3 * (seconds() - start);
    }
    qsort(ms, RUNS, sizeof *ms, by_value);
    return ms[RUNS / 2];
}

/* As many components as the mask has. */
static int make_room(apsis_context *ctx, bench_case *c) {
    free(c->component);
    c->component = NULL;
    if (apsis_components(ctx, &c->set, NULL, NULL, 0, &c->capacity, NULL) != APSIS_OK) return 1;
    c->component = calloc((size_t)c->capacity + 1, sizeof *c->component);
    return !c->component;
}

static int run(apsis_context *ctx, const char *const *masks, int ndim, int64_t side, int questions) {
    const int64_t depth = ndim == 3 ? side : 1, pixels = side * side * depth;
    uint8_t *mask = malloc((size_t)pixels);
    float *distances = malloc((size_t)pixels * sizeof *distances);
    int32_t *indices = malloc((size_t)pixels * sizeof *indices);
    int status = mask && distances && indices ? 0 : 1;
    bench_case c = {.set = {.data = mask, .type = APSIS_U8, .ndim = ndim, .size = {side, side, depth}}};
    c.distance = c.nearest = c.mask = c.labels = c.set;
    c.distance.data = distances;
    c.distance.type = APSIS_F32;
    c.nearest.data = c.mask.data = c.labels.data = indices;
    c.nearest.type = c.labels.type = APSIS_I32;
    for (; !status && *masks; ++masks) {
        bench_mask(*masks, side, side, depth, mask);
        if (questions > LABELS) status = make_room(ctx, &c);
        for (int question = 0; question < questions && !status; ++question) {
            const double ms = median_ms(ctx, &c, question);
            status = ms < 0;
            printf("\"%s\",\"%s\",%dd,%lld,%s,%.3f,%.3f\n", apsis_device_name(ctx), question_name[question], ndim,
                   (long long)side, *masks, ms, 1e6 * ms / (double)pixels);
            fflush(stdout);
        }
    }
    free(mask);
    free(distances);
    free(indices);
    free(c.component);
    return status;
}

static int run_scale(apsis_context *ctx) {
    static const char *const masks[] = {"noise-0.01", "noise-0.5", "blobs", "row", NULL};
    int status = 0;
    for (int64_t side = 64; !status && side <= 8192; side *= 2) status = run(ctx, masks, 2, side, DISTANCE_AND_NEAREST);
    return status;
}

int main(int argc, char **argv) {
    const int scale = argc > 1 && strcmp(argv[1], "scale") == 0, threads = scale ? 2 : 3;
    const int64_t side_2d = argc > 1 ? atoll(argv[1]) : 4096, side_3d = argc > 2 ? atoll(argv[2]) : 256;
    apsis_context *ctx = NULL;
    int status =
        apsis_create(APSIS_VERSION, APSIS_CPU, &ctx) || apsis_set_threads(ctx, argc > threads ? atoi(argv[threads]) : 0);
    printf("device,question,dimensions,side,mask,ms,ns_per_pixel\n");
    if (!status && scale) status = run_scale(ctx);
    if (!status && !scale && side_2d) status = run(ctx, bench_masks_2d, 2, side_2d, QUESTIONS);
    if (!status && !scale && side_3d) status = run(ctx, bench_masks_3d, 3, side_3d, TILE_FILL);
    if (status) fprintf(stderr, "bench: %s\n", apsis_message(ctx));
    apsis_destroy(ctx);
    return status;
}
