/*
 * What a process does to itself: it forks, cancels, rounds otherwise, and writes numbers with a comma.
 */
#include <fenv.h>
#include <limits.h>
#include <locale.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "calls.h"

enum { SECONDS = 20 };

/** The outputs of a call as they should be, of a context of its own. */
static call_outputs *outputs_of(const bench *b, const named_call *call) {
    apsis_context *ctx;
    call_outputs *out = must_alloc(sizeof *out);
    assert_ok(NULL, apsis_create(APSIS_VERSION, b->device, &ctx));
    prepare_outputs(out);
    assert_ok(ctx, call->run(ctx, out));
    apsis_destroy(ctx);
    return out;
}

/* ---- fork ---- */

static bool is_right(apsis_context *ctx, const named_call *call, const call_outputs *want) {
    call_outputs *out = malloc(sizeof *out);
    prepare_outputs(out);
    const apsis_status status = call->run(ctx, out);
    const bool right = status == APSIS_OK && !memcmp(out, want, sizeof *want);
    const bool refused = status == APSIS_ERROR_DEVICE && strstr(apsis_message(ctx), "forked");
    if (!right && !refused) fprintf(stderr, "%s in a forked process: %s\n", call->name, apsis_message(ctx));
    free(out);
    return right || refused;
}

/** In a child both its parent's context and one of its own are right, or a device's says that it cannot go on; the parent's
 *  goes on. */
static void forked_processes(bench *b) {
    for (int i = 0; i < call_count; ++i) {
        call_outputs *want = outputs_of(b, &calls[i]);
        assert_true(is_right(b->ctx, &calls[i], want));
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(SECONDS);
            bool right = is_right(b->ctx, &calls[i], want);
            apsis_destroy(b->ctx);
            apsis_context *own;
            const apsis_status status = apsis_create(APSIS_VERSION, b->device, &own);
            if (status == APSIS_OK)
                right = right && is_right(own, &calls[i], want);
            else
                right = right && b->device != APSIS_CPU && strstr(apsis_message(NULL), "forked");
            if (status == APSIS_OK) apsis_destroy(own);
            _exit(!right);
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        if (WIFSIGNALED(how)) fail_msg("%s in a forked process: signal %d", calls[i].name, WTERMSIG(how));
        assert_int_equal(WEXITSTATUS(how), 0);
        assert_true(is_right(b->ctx, &calls[i], want));
        free(want);
    }
}

/** Threads of the parent's that are about to sleep hold locks now and then: a child must not wait for them. */
static void forked_while_threads_fall_asleep(bench *b) {
    enum { FORKS = 1000 };
    const named_call *call = &calls[0];
    call_outputs *want = outputs_of(b, call), *out = must_alloc(sizeof *out);
    for (int i = 0; i < FORKS; ++i) {
        prepare_outputs(out);
        assert_ok(b->ctx, call->run(b->ctx, out));
        usleep(i % 300);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(SECONDS);
            _exit(!is_right(b->ctx, call, want));
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_int_equal(how, 0);
    }
    free(out);
    free(want);
}

/* ---- Cancelling ---- */

typedef struct ticks {
    int seen, stop;
} ticks;

static int tick(void *user, double done) {
    ticks *t = user;
    (void)done;
    return ++t->seen == t->stop;
}

/** At every report of progress in turn: the call says so, and the next one is right. */
static void cancelled_at_every_report(bench *b) {
    call_outputs *out = must_alloc(sizeof *out);
    for (int i = 0; i < call_count; ++i) {
        call_outputs *want = outputs_of(b, &calls[i]);
        int cancelled = 0;
        for (int stop = 1;; ++stop) {
            ticks t = {.stop = stop};
            prepare_outputs(out);
            assert_ok(b->ctx, apsis_set_progress(b->ctx, tick, &t));
            const apsis_status status = calls[i].run(b->ctx, out);
            assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
            assert_true(canaries_live(out));
            if (t.seen < stop) {
                assert_int_equal(status, APSIS_OK);
                break;
            }
            assert_int_equal(status, APSIS_ERROR_CANCELLED);
            ++cancelled;
            prepare_outputs(out);
            assert_ok(b->ctx, calls[i].run(b->ctx, out));
            assert_memory_equal(out, want, sizeof *want);
        }
        assert_true(cancelled > 0);
        free(want);
    }
    free(out);
}

/* ---- Floats ---- */

/** Rounding modes and the treatment of subnormal numbers are the caller's: results do not depend on them, and they stay. */
static void floats_of_the_caller(bench *b) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    call_outputs *out = must_alloc(sizeof *out);
    for (int i = 0; i < call_count; ++i) {
        call_outputs *want = outputs_of(b, &calls[i]);
        for (int m = 0; m < COUNT(modes); ++m) {
            apsis_context *ctx;
            prepare_outputs(out);
            fesetround(modes[m]);
#if defined(__SSE2__)
            _mm_setcsr(_mm_getcsr() | 0x8040); /* flush to zero, and denormals are zero */
#endif
            const apsis_status created = apsis_create(APSIS_VERSION, b->device, &ctx);
            const apsis_status status = created == APSIS_OK ? calls[i].run(ctx, out) : created;
            const int mode = fegetround();
#if defined(__SSE2__)
            const unsigned flushes = _mm_getcsr() & 0x8040;
            _mm_setcsr(_mm_getcsr() & ~0x8040u);
            assert_int_equal(flushes, 0x8040);
#endif
            fesetround(FE_TONEAREST);
            assert_int_equal(mode, modes[m]);
            assert_int_equal(status, APSIS_OK);
            apsis_destroy(ctx);
            assert_memory_equal(out, want, sizeof *want);
        }
        free(want);
    }
    free(out);
}

/* ---- Locales ---- */

/** A locale with a decimal comma, made here if the system has none; false if it cannot be made either. */
static bool set_comma(void) {
    const char *const above = getenv("TMPDIR");
    char folder[PATH_MAX], command[PATH_MAX + 100];
    if (setlocale(LC_ALL, "de_DE.UTF-8")) return true;
    snprintf(folder, sizeof folder, "%s/apsis-locale-XXXXXX", above && *above ? above : "/tmp");
    if (!mkdtemp(folder)) return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 --no-archive %s/de_DE.UTF-8 2>&1 >/dev/null | head -c 0",
             folder);
    if (system(command) != 0) return false;
    setenv("LOCPATH", folder, 1);
    const bool is_set = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 && is_set;
}

static void messages_with_points(bench *b) {
    uint8_t pixel[4] = {0};
    float real[4];
    const apsis_image set = {.data = pixel, .type = APSIS_U8, .ndim = 2, .size = {2, 2}},
                      out = {.data = real, .type = APSIS_F32, .ndim = 2, .size = {2, 2}};
    apsis_options o = APSIS_OPTIONS_INIT;
    if (!set_comma()) {
        printf("no locale with a decimal comma here\n");
        skip_case(b);
    }
    char comma[8];
    snprintf(comma, sizeof comma, "%g", 0.5);
    assert_string_equal(comma, "0,5");
    o.spacing[0] = -1.5;
    assert_fails(b->ctx, apsis_distance(b->ctx, &set, &out, NULL, &o), APSIS_ERROR_ARGUMENT, "spacing[0]|-1.5");
    snprintf(comma, sizeof comma, "%g", 0.5);
    assert_string_equal(comma, "0,5"); /* the caller's is as it was */
    setlocale(LC_ALL, "C");
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(forked_processes, WITH_HOST_IMAGES), TEST(forked_while_threads_fall_asleep, ON_CPU),
                                      TEST(cancelled_at_every_report, WITH_HOST_IMAGES),
                                      TEST(floats_of_the_caller, WITH_HOST_IMAGES), TEST(messages_with_points, ON_CPU)};
    return RUN_CASES(cases, argc, argv);
}
