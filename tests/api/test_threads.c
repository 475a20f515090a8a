/* Contexts are independent: eight of them in eight threads at once.  And what a call takes of its thread's stack. */
#include "oracle.h"

#include <pthread.h>

enum { THREADS = 16, W = 150, H = 90 };

typedef struct worker {
    pthread_t thread;
    int device, number;
    char error[512]; /* CMocka's assertions belong to the main thread */
} worker;

static bool failed(worker *w, const apsis_context *ctx, apsis_status st, const char *what) {
    if (st == APSIS_OK) return false;
    snprintf(w->error, sizeof w->error, "thread %d, %s: %s", w->number, what, apsis_message(ctx));
    return true;
}

/** One problem of this thread's own, several times, with an error between that must stay this context's. */
static void work(worker *w, apsis_context *ctx, const uint8_t *mask, const answer *want, const problem *p) {
    static float distance[THREADS][W * H];
    static int32_t nearest[THREADS][W * H];
    const apsis_image set = {.data = (void *)(uintptr_t)mask, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image out = {.data = distance[w->number], .type = APSIS_F32, .ndim = 2, .size = {W, H}};
    const apsis_image near = {.data = nearest[w->number], .type = APSIS_I32, .ndim = 2, .size = {W, H}};
    for (int round = 0; round < 10; ++round) {
        if (failed(w, ctx, apsis_set_threads(ctx, round % 3), "set_threads")) return;
        memset(distance[w->number], 0xa5, sizeof distance[0]);
        memset(nearest[w->number], 0xa5, sizeof nearest[0]);
        if (failed(w, ctx, apsis_distance(ctx, &set, &out, &near, &p->options), "distance")) return;
        for (int64_t i = 0; i < W * H; ++i) {
            float expected;
            expected_pixel(p, want, i, APSIS_F32, &expected);
            if (distance[w->number][i] == expected && nearest[w->number][i] == want->nearest[i]) continue;
            snprintf(w->error, sizeof w->error, "thread %d, round %d: pixel %d is wrong", w->number, round, (int)i);
            return;
        }
        if (apsis_set_threads(ctx, -1 - w->number) != APSIS_ERROR_ARGUMENT) failed(w, ctx, APSIS_ERROR_INTERNAL, "error");
    }
    char mine[16];
    snprintf(mine, sizeof mine, "is %d,", -1 - w->number);
    if (!strstr(apsis_message(ctx), mine)) failed(w, ctx, APSIS_ERROR_INTERNAL, "a message of another context");
}

static void *run(void *user) {
    worker *w = user;
    const int64_t size[3] = {W, H, 1};
    chance c = {(uint64_t)w->number};
    uint8_t *mask = must_alloc(W * H);
    fill_mask(mask, size, w->number % 2 ? NOISE : RING, 0.01, &c);
    problem p = new_problem(2, W, H, 1, mask);
    p.options.metric = (apsis_metric)(w->number % 3);
    p.options.flags = w->number % 4 == 1 ? APSIS_SIGNED : 0;
    answer want = solve_by_rows(&p);
    apsis_context *ctx = NULL;
    if (!failed(w, NULL, apsis_create(APSIS_VERSION, w->device, &ctx), "create")) work(w, ctx, mask, &want, &p);
    apsis_destroy(ctx);
    free_answer(&want);
    free(mask);
    return NULL;
}

/** Rows of random widths: what the kernels of one thread ask of the device is more, or less, than another thread's ask. */
static void *run_wide(void *user) {
    enum { LEAST = 1100, MOST = 12000, ROWS = 4 };
    worker *w = user;
    chance c = {(uint64_t)w->number};
    uint8_t *mask = must_alloc(MOST * ROWS);
    float *out = must_alloc(sizeof *out * MOST * ROWS), *want = must_alloc(sizeof *want * MOST * ROWS);
    const int64_t all[3] = {MOST, ROWS, 1};
    fill_mask(mask, all, NOISE, 0.001, &c);
    apsis_context *ctx = NULL, *cpu = NULL;
    bool is_done = failed(w, NULL, apsis_create(APSIS_VERSION, w->device, &ctx), "create") ||
                   failed(w, NULL, apsis_create(APSIS_VERSION, APSIS_CPU, &cpu), "create");
    for (int round = 0; !is_done && round < effort(200); ++round) {
        const int64_t width = LEAST + roll_below(&c, MOST - LEAST);
        const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {width, ROWS}};
        const apsis_image got = {.data = out, .type = APSIS_F32, .ndim = 2, .size = {width, ROWS}};
        const apsis_image expected = {.data = want, .type = APSIS_F32, .ndim = 2, .size = {width, ROWS}};
        is_done = failed(w, ctx, apsis_distance(ctx, &set, &got, NULL, NULL), "distance") ||
                  failed(w, cpu, apsis_distance(cpu, &set, &expected, NULL, NULL), "distance on the CPU");
        if (is_done || memcmp(out, want, sizeof *out * (size_t)(width * ROWS)) == 0) continue;
        snprintf(w->error, sizeof w->error, "thread %d: width %d is wrong", w->number, (int)width);
        is_done = true;
    }
    apsis_destroy(ctx);
    apsis_destroy(cpu);
    free(mask);
    free(out);
    free(want);
    return NULL;
}

static void run_in_threads(bench *b, void *(*body)(void *)) {
    static worker workers[THREADS];
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < THREADS; ++i) {
        workers[i].number = i;
        workers[i].device = b->device;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, body, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; ++i) assert_string_equal(workers[i].error, "");
}

static void contexts_in_many_threads(bench *b) { run_in_threads(b, run); }
static void contexts_of_wide_rows(bench *b) { run_in_threads(b, run_wide); }

/* ---- Stacks ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(_WIN32)
/* Sanitizers make frames larger, and lay some elsewhere; Windows gives a thread no stack of the caller's. */
static void small_stacks(bench *b) { skip_case(b); }
#else

enum { STACK = 512 << 10, MOST = 32 << 10, PAINT = 0x5c };
static uint8_t stack[STACK] __attribute__((aligned(4096)));

/** A call of each transform, of an image that keeps them busy, or none of them: then the stack holds what a thread itself
 *  takes. */
typedef struct caller {
    apsis_context *ctx;
    int transform; /* -1: none */
    apsis_status st;
} caller;

static void *call(void *user) {
    caller *c = user;
    static uint8_t mask[W * H];
    static double reals[W * H];
    static int64_t indices[W * H];
    const int64_t size[3] = {W, H, 1};
    chance dice = {5};
    fill_mask(mask, size, NOISE, 0.8, &dice);
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    apsis_image real = {.data = reals, .type = APSIS_F64, .ndim = 2, .size = {W, H}}, index = real;
    apsis_options o = APSIS_OPTIONS_INIT;
    o.spacing[0] = 3.14159; /* lengths of 64 bits */
    o.spacing[1] = 2.71828;
    index.data = indices;
    index.type = APSIS_I64;
    switch (c->transform) {
        case -1: break;
        case APSIS_DISTANCE: c->st = apsis_distance(c->ctx, &set, &real, &index, &o); break;
        case APSIS_VORONOI:
            o.flags = APSIS_CONNECTED;
            c->st = apsis_voronoi(c->ctx, &set, &index, &o);
            break;
        case APSIS_COMPONENTS: c->st = apsis_components(c->ctx, &set, &index, NULL, 0, NULL, &o); break;
        case APSIS_GEODESIC: c->st = apsis_geodesic(c->ctx, &set, &set, &real, &index, &o); break;
        default: c->st = apsis_eccentricity(c->ctx, &set, &real, &index, NULL, 0, NULL, &o);
    }
    return NULL;
}

/** The bytes of its stack that a thread has written to. */
static size_t stack_of(caller *c) {
    pthread_t thread;
    pthread_attr_t attr;
    memset(stack, PAINT, sizeof stack);
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstack(&attr, stack, sizeof stack), 0);
    assert_int_equal(pthread_create(&thread, &attr, call, c), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    size_t clean = 0;
    while (clean < sizeof stack && stack[clean] == PAINT) ++clean;
    return sizeof stack - clean;
}

static void small_stacks(bench *b) {
    caller none = {.ctx = b->ctx, .transform = -1};
    const size_t thread = stack_of(&none);
    for (int threads = 0; threads <= 1; ++threads)
        for (int t = APSIS_DISTANCE; t <= APSIS_ECCENTRICITY; ++t) {
            caller c = {.ctx = b->ctx, .transform = t};
            assert_ok(b->ctx, apsis_set_threads(b->ctx, threads));
            const size_t bytes = stack_of(&c) - thread;
            assert_ok(b->ctx, c.st);
            if (bytes > MOST) fail_msg("transform %d takes %zu bytes of stack", t, bytes);
        }
}
#endif

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(contexts_in_many_threads, WITH_HOST_IMAGES),
                                      TEST(contexts_of_wide_rows, ON_DEVICE_HOST), TEST(small_stacks, ON_CPU)};
    return RUN_CASES(cases, argc, argv);
}
