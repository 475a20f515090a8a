// Times the published methods of distance and Voronoi maps beside APSIS_AUTO, on the papers' densities and on shapes that
// noise flatters; one CSV line for an image and a method, in milliseconds.  Where a method does not make a map, or the
// device does not have the method, there is nothing between the commas.  Or how wrong the approximate ones are, in pixels.
//
//     bench_methods [device [size ...]]                                  default -1, the CPU; 1024
//     bench_methods errors [size ...]                                    default 512 2048
#include <apsis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "masks.h"

enum { RUNS = 3 };

static const char *const masks[] = {"noise-0.0001", "noise-0.01", "noise-0.1", "noise-0.3", "noise-0.5", "noise-0.7",
                                    "noise-0.9",    "blobs",      "disc",      "text",      "single",    NULL};

static const struct {
    apsis_method method;
    const char *name;
} methods[] = {{APSIS_AUTO, "auto"},
               {APSIS_RASTER_SCAN, "raster scan"},
               {APSIS_SWEEP, "sweep"},
               {APSIS_SWEEP_BLOCKS, "sweep, blocks"},
               {APSIS_SWEEP_ROWS, "sweep, rows"},
               {APSIS_JUMP_FLOOD, "jump flooding"},
               {APSIS_SEQUENTIAL_SCAN, "sequential scan"}};

enum { METHODS = sizeof methods / sizeof *methods, APPROXIMATE = METHODS - 2 };

enum { COMPLETE, CONNECTED, MIXED, DISTANCE, MAPS };

/* In the memory of the context: the set, the distance and the cells. */
typedef struct {
    apsis_image set, distance, cells;
} bench_case;

static apsis_status ask(apsis_context *ctx, const bench_case *c, apsis_method method, int map) {
    apsis_options options = APSIS_OPTIONS_INIT;
    options.method = method;
    options.flags = map == CONNECTED ? APSIS_CONNECTED : map == MIXED ? APSIS_MIXED : 0;
    const apsis_status st = map == DISTANCE ? apsis_distance(ctx, &c->set, &c->distance, NULL, &options)
                                            : apsis_voronoi(ctx, &c->set, &c->cells, &options);
    return st == APSIS_OK ? apsis_sync(ctx) : st;
}

/* The median of RUNS calls after one that warms up; negative if there is no such map. */
static double median_ms(apsis_context *ctx, const bench_case *c, apsis_method method, int map) {
    double ms[RUNS];
    if (ask(ctx, c, method, map) != APSIS_OK) return -1;
    for (int i = 0; i < RUNS; ++i) {
        const double start = seconds();
        if (ask(ctx, c, method, map) != APSIS_OK) return -1;
        ms[i] = 1e3 * (seconds() - start);
    }
    qsort(ms, RUNS, sizeof *ms, by_value);
    return ms[RUNS / 2];
}

/* The log says what a method takes: "raster scan: 17 instances, 12 pixels mended". */
typedef struct {
    long long instances, mended;
} taken;

static void listen(void *user, const char *line) {
    taken t;
    if (sscanf(line, "%*[^:]: %lld instances, %lld", &t.instances, &t.mended) == 2) *(taken *)user = t;
}

static void run_method(apsis_context *ctx, const bench_case *c, const char *mask, int m) {
    taken t = {-1, -1};
    printf("\"%s\",%lld,%s,\"%s\"", apsis_device_name(ctx), (long long)c->set.size[0], mask, methods[m].name);
    for (int map = 0; map < MAPS; ++map) {
        const double ms = median_ms(ctx, c, methods[m].method, map);
        printf(ms < 0 ? "," : ",%.3f", ms);
    }
    apsis_set_log(ctx, listen, &t); /* not while it is timed: on a device it waits */
    ask(ctx, c, methods[m].method, DISTANCE);
    apsis_set_log(ctx, NULL, NULL);
    if (t.instances < 0)
        printf(",,\n");
    else
        printf(",%lld,%lld\n", t.instances, t.mended);
    fflush(stdout);
}

static int run(apsis_context *ctx, int64_t side) {
    const apsis_memory memory = apsis_device(ctx) == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE;
    apsis_image host = {.type = APSIS_U8, .ndim = 2, .size = {side, side}};
    bench_case c = {host, host, host};
    c.distance.type = APSIS_F32;
    c.cells.type = APSIS_I32;
    host.data = malloc((size_t)(side * side));
    int status = !host.data || apsis_alloc(ctx, memory, &c.set) || apsis_alloc(ctx, memory, &c.distance) ||
                 apsis_alloc(ctx, memory, &c.cells);
    for (int i = 0; !status && masks[i]; ++i) {
        bench_mask(masks[i], side, side, 1, host.data);
        status = apsis_copy(ctx, &host, &c.set);
        for (int m = 0; !status && m < METHODS; ++m) run_method(ctx, &c, masks[i], m);
    }
    apsis_free(ctx, &c.set);
    apsis_free(ctx, &c.distance);
    apsis_free(ctx, &c.cells);
    free(host.data);
    return status;
}

/* ---- Errors ---- */

static int compare(apsis_context *ctx, const bench_case *c, const double *exact, const char *mask, int m) {
    const int64_t pixels = c->set.size[0] * c->set.size[1];
    const double *distance = c->distance.data;
    int64_t wrong = 0;
    double most = 0;
    if (ask(ctx, c, methods[m].method, DISTANCE) != APSIS_OK) return 1;
    for (int64_t i = 0; i < pixels; ++i) {
        wrong += distance[i] != exact[i];
        if (distance[i] - exact[i] > most) most = distance[i] - exact[i];
    }
    printf("%lld,%s,\"%s\",%.3g,%.3g\n", (long long)c->set.size[0], mask, methods[m].name, (double)wrong / (double)pixels,
           most);
    return 0;
}

static int run_errors(apsis_context *ctx, int64_t side) {
    const size_t pixels = (size_t)(side * side);
    const apsis_image image = {.type = APSIS_U8, .ndim = 2, .size = {side, side}};
    bench_case c = {image, image, image};
    double *const exact = malloc(pixels * sizeof *exact);
    c.set.data = malloc(pixels);
    c.distance.data = malloc(pixels * sizeof *exact);
    c.distance.type = APSIS_F64;
    int status = !exact || !c.set.data || !c.distance.data;
    for (int i = 0; !status && masks[i]; ++i) {
        bench_mask(masks[i], side, side, 1, c.set.data);
        status = ask(ctx, &c, APSIS_AUTO, DISTANCE);
        memcpy(exact, c.distance.data, pixels * sizeof *exact);
        for (int m = APPROXIMATE; !status && m < METHODS; ++m) status = compare(ctx, &c, exact, masks[i], m);
    }
    free(exact);
    free(c.set.data);
    free(c.distance.data);
    return status;
}

int main(int argc, char **argv) {
    const int errors = argc > 1 && strcmp(argv[1], "errors") == 0;
    int (*const run_size)(apsis_context *, int64_t) = errors ? run_errors : run;
    apsis_context *ctx = NULL;
    int status = apsis_create(APSIS_VERSION, argc > 1 && !errors ? atoi(argv[1]) : APSIS_CPU, &ctx);
    printf(errors ? "side,mask,method,wrong,largest_error\n"
                  : "device,side,mask,method,complete_ms,connected_ms,mixed_ms,distance_ms,instances,mended\n");
    for (int i = 2; !status && i < argc; ++i) status = run_size(ctx, atoll(argv[i]));
    if (!status && argc < 3) status = errors ? run_errors(ctx, 512) || run_errors(ctx, 2048) : run(ctx, 1024);
    if (status) fprintf(stderr, "bench_methods: %s\n", apsis_message(ctx));
    apsis_destroy(ctx);
    return status;
}
