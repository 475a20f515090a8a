/* Contexts are independent: eight of them in eight threads at once. */
#include "oracle.h"

#include <pthread.h>

enum { THREADS = 8, W = 150, H = 90 };

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

static void eight_contexts_in_eight_threads(bench *b) { run_in_threads(b, run); }
static void eight_contexts_of_wide_rows(bench *b) { run_in_threads(b, run_wide); }

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(eight_contexts_in_eight_threads, WITH_HOST_IMAGES),
                                      TEST(eight_contexts_of_wide_rows, ON_DEVICE_HOST)};
    return RUN_CASES(cases, argc, argv);
}
