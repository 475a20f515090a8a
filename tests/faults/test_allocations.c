/*
 * Host memory runs out at each allocation of a call in turn: the call says so, and the next one is right.
 */
#include "apsis_test.h"

#include <pthread.h>

#include "fail_alloc.h"

typedef struct creation {
    long fails, calls;
    int for_good;
    apsis_status status;
    apsis_context *ctx;
    char message[64];
} creation;

/** A new thread has no memory of the library's yet, nor has the first one of a process. */
static void *create(void *user) {
    creation *c = user;
    fail_alloc(c->fails, c->for_good);
    c->status = apsis_create(APSIS_VERSION, APSIS_CPU, &c->ctx);
    c->calls = fail_alloc_end();
    snprintf(c->message, sizeof c->message, "%s", apsis_message(NULL));
    return NULL;
}

static void contexts_without_memory(bench *b) {
    (void)b;
    long failed = 0;
    for (int for_good = 0; for_good < 2; ++for_good)
        for (long n = 1;; ++n) {
            creation c = {.fails = n, .for_good = for_good, .ctx = (apsis_context *)&c};
            pthread_t thread;
            assert_int_equal(pthread_create(&thread, NULL, create, &c), 0);
            pthread_join(thread, NULL);
            if (c.calls < n) { /* none has failed */
                assert_int_equal(c.status, APSIS_OK);
                apsis_destroy(c.ctx);
                break;
            }
            ++failed;
            assert_int_equal(c.status, APSIS_ERROR_MEMORY);
            assert_null(c.ctx);
            assert_string_equal(c.message, "create: host memory ran out");
        }
    assert_true(failed > 0);
    printf("create: %ld host allocations failed one by one\n", failed);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(contexts_without_memory, ON_CPU)};
    return RUN_CASES(cases, argc, argv);
}
