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

static void eight_contexts_in_eight_threads(bench *b) {
    static worker workers[THREADS];
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < THREADS; ++i) {
        workers[i].number = i;
        workers[i].device = b->device;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; ++i) assert_string_equal(workers[i].error, "");
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(eight_contexts_in_eight_threads, WITH_HOST_IMAGES)};
    return RUN_CASES(cases, argc, argv);
}
