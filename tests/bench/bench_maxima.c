// How far the way to save fields that "The Eccentricity Transform on CUDA" proposes is from the eccentricity transform: make
// the field of any pixel, then a field from each of its local maxima, and take the largest length of these at each pixel.
// Compared with apsis_eccentricity, which makes fields until every pixel is proved; one CSV line a shape and a first pixel:
// those at one, two and three quarters of the component's pixels, row by row.
//
//     bench_maxima [size]                                                                  default 256
#include <apsis.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "masks.h"

/* A mask of masks.h, or with '-' before it the pixels outside it; of each the largest component. */
static const char *const shapes[] = {"full", "-disc", "-blobs", "noise-0.8", "noise-0.9", "coil", "maze", "ring", NULL};

typedef struct shape {
    apsis_context *ctx;
    int64_t width, pixels;
    uint8_t *mask, *seeds;
    double *field, *most, *exact;
} shape;

static apsis_image image_of(const shape *s, void *data, apsis_type type) {
    return (apsis_image){.data = data, .type = type, .ndim = 2, .size = {s->width, s->pixels / s->width}};
}

static int keep_largest(const shape *s, const char *name) {
    apsis_options options = APSIS_OPTIONS_INIT;
    const apsis_image set = image_of(s, s->seeds, APSIS_U8), largest = image_of(s, s->mask, APSIS_U8);
    bench_mask(name + (*name == '-'), s->width, s->pixels / s->width, 1, s->seeds);
    for (int64_t i = 0; *name == '-' && i < s->pixels; ++i) s->seeds[i] = !s->seeds[i];
    options.connectivity = 2;
    options.largest = 1;
    return apsis_components(s->ctx, &set, &largest, NULL, 0, NULL, &options);
}

static int make_field(const shape *s, int64_t source) {
    const apsis_image set = image_of(s, s->mask, APSIS_U8), seeds = image_of(s, s->seeds, APSIS_U8),
                      field = image_of(s, s->field, APSIS_F64);
    memset(s->seeds, 0, (size_t)s->pixels);
    s->seeds[source] = 1;
    return apsis_geodesic(s->ctx, &set, &seeds, &field, NULL, NULL);
}

/* Whether no neighbour is farther. */
static int is_maximum(const shape *s, const double *field, int64_t i) {
    const int64_t x = i % s->width, y = i / s->width, height = s->pixels / s->width;
    for (int n = 0; n < 9; ++n) {
        const int64_t u = x + n % 3 - 1, v = y + n / 3 - 1;
        if (u >= 0 && u < s->width && v >= 0 && v < height && field[u + v * s->width] > field[i]) return 0;
    }
    return s->mask[i];
}

static int64_t count_members(const shape *s) {
    int64_t count = 0;
    for (int64_t i = 0; i < s->pixels; ++i) count += s->mask[i];
    return count;
}

static int64_t member(const shape *s, int64_t n) {
    int64_t i = 0;
    while (!s->mask[i] || n-- > 0) ++i;
    return i;
}

static int64_t estimate(const shape *s, int64_t start, int *status) {
    int64_t fields = 1;
    *status = make_field(s, start);
    double *first = malloc((size_t)s->pixels * sizeof *first);
    memcpy(first, s->field, (size_t)s->pixels * sizeof *first);
    for (int64_t i = 0; i < s->pixels; ++i) s->most[i] = -1;
    for (int64_t i = 0; i < s->pixels && !*status; ++i) {
        if (!is_maximum(s, first, i)) continue;
        *status = make_field(s, i);
        for (int64_t k = 0; k < s->pixels; ++k) s->most[k] = fmax(s->most[k], s->field[k]);
        ++fields;
    }
    free(first);
    return fields;
}

/* The log says how many fields were made: "eccentricity: N fields for ...". */
static void listen(void *fields, const char *line) {
    long long count;
    if (sscanf(line, "eccentricity: %lld fields", &count) == 1) *(long long *)fields = count;
}

static int prove(const shape *s, long long *fields) {
    const apsis_image set = image_of(s, s->mask, APSIS_U8), exact = image_of(s, s->exact, APSIS_F64);
    apsis_set_log(s->ctx, listen, fields);
    const int status = apsis_eccentricity(s->ctx, &set, &exact, NULL, NULL, 0, NULL, NULL);
    apsis_set_log(s->ctx, NULL, NULL);
    return status;
}

static void compare(const shape *s, const char *name, int64_t members, int quarters, int64_t fields, long long proved) {
    int64_t wrong = 0;
    double error = 0, relative = 0;
    for (int64_t i = 0; i < s->pixels; ++i) {
        wrong += s->most[i] != s->exact[i];
        error = fmax(error, s->exact[i] - s->most[i]);
        if (s->mask[i]) relative = fmax(relative, (s->exact[i] - s->most[i]) / s->exact[i]);
    }
    printf("%s,%lld,%lld,%d/4,%lld,%.2f,%.1f,%.2f,%lld\n", name, (long long)s->width, (long long)members, quarters,
           (long long)fields, 100.0 * (double)wrong / (double)members, error, 100 * relative, proved);
    fflush(stdout);
}

static int run(const shape *s, const char *name) {
    long long proved = 0;
    int status = keep_largest(s, name);
    if (!status) status = prove(s, &proved);
    const int64_t members = count_members(s);
    for (int quarters = 1; quarters < 4 && !status; ++quarters) {
        const int64_t fields = estimate(s, member(s, members * quarters / 4), &status);
        if (!status) compare(s, name, members, quarters, fields, proved);
    }
    return status;
}

int main(int argc, char **argv) {
    const int64_t side = argc > 1 ? atoll(argv[1]) : 256, pixels = side * side;
    const size_t bytes = (size_t)pixels, lengths = bytes * sizeof(double);
    shape s = {NULL, side, pixels, malloc(bytes), malloc(bytes), malloc(lengths), malloc(lengths), malloc(lengths)};
    int status = !s.mask || !s.seeds || !s.field || !s.most || !s.exact || apsis_create(APSIS_VERSION, APSIS_CPU, &s.ctx);
    printf("shape,side,pixels,start,fields,wrong_percent,largest_error,largest_error_percent,fields_of_the_proof\n");
    for (int i = 0; !status && shapes[i]; ++i) status = run(&s, shapes[i]);
    if (status) fprintf(stderr, "bench_maxima: %s\n", apsis_message(s.ctx));
    apsis_destroy(s.ctx);
    free(s.mask), free(s.seeds), free(s.field), free(s.most), free(s.exact);
    return status;
}
