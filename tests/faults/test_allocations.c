/*
 * Host memory runs out at each allocation of a call in turn, once or for good: the call is right or says so, nothing is written
 * beside its outputs, and the next call on the same context is right.  Each time in a process of its own, in which oneTBB has
 * not been started, and which may take five seconds.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "fail_alloc.h"

enum { SECONDS = 5, MOST = 4000 };

/* ---- apsis_create ---- */

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

/* ---- Calls ---- */

/** What a process tells of itself, in memory that it shares with the test. */
typedef struct told {
    call_outputs out;
    long calls;
    char wrong[200]; /* empty if all is well */
} told;

static told *share_memory(void) {
    void *memory = mmap(NULL, sizeof(told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

typedef struct experiment {
    const named_call *call;
    int device, threads, for_good;
    long fails;   /* 0: none */
    size_t above; /* 0: any size */
} experiment;

#define WRONG(...) return (void)snprintf(t->wrong, sizeof t->wrong, __VA_ARGS__)

static void call_in_child(const experiment *e, const call_outputs *want, told *t) {
    apsis_context *ctx;
    if (apsis_create(APSIS_VERSION, e->device, &ctx) || (e->device == APSIS_CPU && apsis_set_threads(ctx, e->threads)))
        WRONG("no context");
    prepare_outputs(&t->out);
    if (e->fails) fail_alloc(e->fails, e->for_good);
    if (e->above) fail_alloc_above(e->above);
    apsis_status status = e->call->run(ctx, &t->out);
    if (e->fails || e->above) t->calls = fail_alloc_end();
    if (!canaries_live(&t->out)) WRONG("a byte beside the outputs has changed");
    if (status != APSIS_OK && status != APSIS_ERROR_MEMORY) WRONG("%s", apsis_message(ctx));
    if (status == APSIS_OK && want && memcmp(&t->out, want, sizeof *want)) WRONG("the outputs are wrong");
    for (int again = 0; want && again < 2; ++again) { /* on the same context, then on a new one */
        prepare_outputs(&t->out);
        status = e->call->run(ctx, &t->out);
        if (status != APSIS_OK) WRONG("the next call: %s", apsis_message(ctx));
        if (memcmp(&t->out, want, sizeof *want)) WRONG("the next call's outputs are wrong");
        apsis_destroy(ctx);
        if (apsis_create(APSIS_VERSION, e->device, &ctx)) WRONG("no context after it");
    }
    apsis_destroy(ctx);
}

/** Fails with a line that says what was tried. */
static void run_in_child(const experiment *e, const call_outputs *want, told *t) {
    t->wrong[0] = 0;
    t->calls = 0;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(SECONDS);
        call_in_child(e, want, t);
        _exit(0);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    if (WIFSIGNALED(how)) snprintf(t->wrong, sizeof t->wrong, "signal %d", WTERMSIG(how));
    if (t->wrong[0])
        fail_msg("%s, %d threads, allocation %ld of %ld fails%s, or those above %zu bytes: %s", e->call->name, e->threads,
                 e->fails, t->calls, e->for_good ? ", and all after it" : "", e->above, t->wrong);
}

/** Runs each call undisturbed, and then under a disturbance, which knows the right outputs. */
static void disturb_each_call(bench *b, void (*disturbance)(experiment *e, const call_outputs *want, told *t)) {
    told *t = share_memory();
    call_outputs *want = must_alloc(sizeof *want);
    for (int i = 0; i < call_count; ++i) {
        experiment e = {.call = &calls[i], .device = b->device, .threads = 1};
        run_in_child(&e, NULL, t);
        memcpy(want, &t->out, sizeof *want);
        disturbance(&e, want, t);
    }
    free(want);
    munmap(t, sizeof *t);
}

static void fail_each_allocation(experiment *e, const call_outputs *want, told *t) {
    long failed = 0;
    for (e->threads = 1; e->threads <= (e->device == APSIS_CPU ? 2 : 1); ++e->threads)
        for (e->for_good = 0; e->for_good < 2; ++e->for_good)
            for (e->fails = 1;; ++e->fails) {
                assert_true(e->fails < MOST);
                run_in_child(e, want, t);
                if (t->calls < e->fails) break;
                ++failed;
            }
    printf("%s: %ld host allocations failed one by one\n", e->call->name, failed);
    assert_true(failed > 0);
}

static void calls_without_memory(bench *b) { disturb_each_call(b, fail_each_allocation); }

/** Memory is there, but no large piece of it. */
static void fail_large_allocations(experiment *e, const call_outputs *want, told *t) {
    enum { LEAST = 64, LARGEST = 1 << 20 };
    e->threads = 0;
    for (e->above = LEAST; e->above <= LARGEST; e->above *= 2) run_in_child(e, want, t);
}

static void calls_without_large_memory(bench *b) { disturb_each_call(b, fail_large_allocations); }

/* ---- Leaks ---- */

/** Each allocation of a call fails once, or it and all after it. */
static void fail_all_allocations(apsis_context *ctx, int call, bool for_good, call_outputs *out) {
    for (long n = 1, made = n; made >= n; ++n) {
        assert_ok(ctx, apsis_set_workspace(ctx, NULL, 0)); /* so that each call asks for memory */
        fail_alloc(n, for_good);
        const apsis_status status = calls[call].run(ctx, out);
        made = fail_alloc_end();
        assert_true(status == APSIS_OK || status == APSIS_ERROR_MEMORY);
    }
}

/** What calls that failed have left behind: nothing more, twice in a row.  What oneTBB begins with may come late, and once.
 *  One thread: oneTBB's keep memory as they like. */
static void failed_calls_leave_nothing(bench *b) {
    call_outputs *out = must_alloc(sizeof *out);
    apsis_context *ctx;
    assert_ok(NULL, apsis_create(APSIS_VERSION, b->device, &ctx));
    if (b->device == APSIS_CPU) assert_ok(ctx, apsis_set_threads(ctx, 1));
    for (int i = 0; i < call_count; ++i)
        for (int for_good = 0; for_good < 2; ++for_good)
            for (int turn = 0, quiet = 0; quiet < 2; ++turn) {
                const long before = fail_alloc_live();
                fail_all_allocations(ctx, i, for_good, out);
                quiet = fail_alloc_live() <= before ? quiet + 1 : 0;
                if (turn == 5 && quiet < 2) fail_msg("%s leaves more each time", calls[i].name);
            }
    apsis_destroy(ctx);
    free(out);
}

/** Contexts that are made, used by several threads and destroyed, over and over. */
static void contexts_leave_nothing(bench *b) {
    enum { FIRST = 100, ALL = 10000, GROWTH = 1 << 16 };
    call_outputs *out = must_alloc(sizeof *out);
    long before = 0;
    for (int i = 0; i < ALL; ++i) {
        apsis_context *ctx;
        assert_ok(NULL, apsis_create(APSIS_VERSION, b->device, &ctx));
        assert_ok(ctx, calls[0].run(ctx, out));
        apsis_destroy(ctx);
        if (i == FIRST) before = fail_alloc_live();
    }
    printf("%d contexts later %ld bytes more are allocated\n", ALL - FIRST, fail_alloc_live() - before);
    assert_true(fail_alloc_live() - before < GROWTH);
    free(out);
}

/* ---- Threads ---- */

static void fail_threads_beyond_few(experiment *e, const call_outputs *want, told *t) {
    e->threads = 0;
    for (int most = 0; most < 3; ++most) {
        fail_threads(most);
        run_in_child(e, want, t);
        fail_threads(-1);
    }
}

static void calls_without_threads(bench *b) { disturb_each_call(b, fail_threads_beyond_few); }

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(contexts_without_memory, ON_CPU),
                                      TEST(calls_without_memory, WITH_HOST_IMAGES),
                                      TEST(calls_without_large_memory, WITH_HOST_IMAGES),
                                      TEST(failed_calls_leave_nothing, WITH_HOST_IMAGES),
                                      TEST(contexts_leave_nothing, WITH_HOST_IMAGES),
                                      TEST(calls_without_threads, ON_CPU)};
    return RUN_CASES(cases, argc, argv);
}
