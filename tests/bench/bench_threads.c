// Times calls on the CPU with 1, 2, 4 ... threads, up to one a core, one CSV line a case.
#include <apsis.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "masks.h"

enum { RUNS = 5 };

typedef enum question { DISTANCE, GEODESIC, ECCENTRICITY } question;

static const char *const names[] = {"distance", "geodesic", "eccentricity"};

/* A mask of masks.h, or with '-' before it the pixels outside it. */
static const struct {
    question asked;
    const char *mask;
    int ndim;
    int64_t side;
} cases[] = {{DISTANCE, "noise-0.5", 2, 16384},   {DISTANCE, "blobs", 2, 16384}, {DISTANCE, "blobs", 3, 512},
             {GEODESIC, "noise-0.8", 2, 4096},    {GEODESIC, "-disc", 2, 4096},  {GEODESIC, "-blobs", 2, 4096},
             {GEODESIC, "maze", 2, 4096},         {GEODESIC, "-disc", 3, 256},   {ECCENTRICITY, "-disc", 2, 2048},
             {ECCENTRICITY, "noise-0.8", 2, 1024}};

typedef struct work {
    apsis_image set, seeds, out;
    apsis_options options;
} work;

static apsis_status ask(apsis_context *ctx, question asked, const work *w) {
    switch (asked) {
        case DISTANCE: return apsis_distance(ctx, &w->set, &w->out, NULL, &w->options);
        case GEODESIC: return apsis_geodesic(ctx, &w->set, &w->seeds, &w->out, NULL, &w->options);
        default: return apsis_eccentricity(ctx, &w->set, &w->out, NULL, NULL, 0, NULL, &w->options);
    }
}

static int run_case(apsis_context *ctx, int number, int threads) {
    const char *const mask = cases[number].mask;
    const int64_t side = cases[number].side, depth = cases[number].ndim == 3 ? side : 1, pixels = side * side * depth;
    work w = {.set = {.type = APSIS_U8, .ndim = cases[number].ndim, .size = {side, side, depth}},
              .options = APSIS_OPTIONS_INIT};
    uint8_t *const set = malloc((size_t)pixels), *const seeds = calloc((size_t)pixels, 1);
    float *const out = malloc((size_t)pixels * sizeof *out);
    int status = !set || !seeds || !out || !bench_mask(mask + (*mask == '-'), side, side, depth, set);
    if (!status) {
        int64_t middle = pixels / 2 + side / 2;
        while (set[middle] == (*mask == '-')) ++middle;
        seeds[middle] = 1;
        w.seeds = w.out = w.set;
        w.set.data = set;
        w.seeds.data = seeds;
        w.out.data = out;
        w.out.type = APSIS_F32;
        w.options.flags = *mask == '-' ? APSIS_COMPLEMENT : 0;
        double ms[RUNS];
        status = apsis_set_threads(ctx, threads) || ask(ctx, cases[number].asked, &w);
        for (int i = 0; i < RUNS && !status; ++i) {
            const double start = seconds();
            status = ask(ctx, cases[number].asked, &w) != APSIS_OK;
            ms[i] = 1e3 * (seconds() - start);
        }
        qsort(ms, RUNS, sizeof *ms, by_value);
        if (!status)
            printf("%s,%dd,%lld,%s,%d,%.2f\n", names[cases[number].asked], w.set.ndim, (long long)side, mask, threads,
                   ms[RUNS / 2]);
        fflush(stdout);
    }
    free(set);
    free(seeds);
    free(out);
    return status;
}

int main(void) {
    apsis_context *ctx = NULL;
    int status = apsis_create(APSIS_VERSION, APSIS_CPU, &ctx);
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    puts("question,dimensions,side,mask,threads,ms");
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); ++i)
        for (int threads = 1; threads <= cores && !status; threads *= 2) status = run_case(ctx, i, threads);
    if (status) fprintf(stderr, "bench_threads: %s\n", apsis_message(ctx));
    apsis_destroy(ctx);
    return status;
}
