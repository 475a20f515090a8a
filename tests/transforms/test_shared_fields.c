/*
 * apsis_eccentricity of which several share the work, devices of a context or contexts in threads, between which numbers go by
 * apsis_set_allreduce: the same bytes as of one, and all return when one fails.
 */
#include "paths.h"

#include <pthread.h>

enum { MOST = 5, ROOM = 90 * 90, EXTENTS = 64 };

/** What a call gives. */
typedef struct result {
    apsis_status status;
    double far[ROOM];
    int64_t farthest[ROOM];
    apsis_extent extent[EXTENTS];
    int64_t count;
} result;

static void run(apsis_context *ctx, const problem *p, bool has_farthest, result *r) {
    apsis_image set = {.data = (void *)(uintptr_t)p->mask, .type = APSIS_U8, .ndim = p->ndim};
    for (int a = 0; a < p->ndim; ++a) set.size[a] = p->size[a];
    apsis_image far = set, farthest = set;
    far.data = r->far, far.type = APSIS_F64;
    farthest.data = r->farthest, farthest.type = APSIS_I64;
    memset(r, 0, sizeof *r);
    r->status =
        apsis_eccentricity(ctx, &set, &far, has_farthest ? &farthest : NULL, r->extent, EXTENTS, &r->count, &p->options);
}

/** Noise and other masks, some of which have large components, and some many. */
static problem draw_problem(chance *c, uint8_t *mask, int64_t most) {
    static const double densities[] = {0.5, 0.6, 0.8, 0.95, 1};
    const bool is_volume = roll_below(c, 4) == 0;
    const int64_t side = most - roll_below(c, most / 4);
    const int64_t size[3] = {is_volume ? most / 4 : side, is_volume ? most / 5 : most, is_volume ? 1 + roll_below(c, 20) : 1};
    fill_mask(mask, size, roll_below(c, 3) ? NOISE : (int)roll_below(c, MASK_KINDS), densities[roll_below(c, COUNT(densities))],
              c);
    problem p = new_problem(is_volume ? 3 : 2, size[0], size[1], size[2], mask);
    p.options.flags = (roll_below(c, 3) ? 0 : APSIS_COMPLEMENT) | (is_volume && !roll_below(c, 3) ? APSIS_SLICES : 0);
    p.options.metric = (apsis_metric)roll_below(c, 4);
    if (roll_below(c, 3) == 0) p.options.budget = 1 + roll_below(c, 60);
    if (p.options.metric == APSIS_EUCLIDEAN && roll_below(c, 3) == 0) set_spacing(&p, 1, 300, 1, 1); /* lengths of 64 bits */
    draw_weights(&p, true, c);
    return p;
}

/* ---- Devices ---- */

static apsis_context *open_devices(const bench *b, int count) {
    apsis_context *ctx;
    int devices[MOST];
    for (int i = 0; i < count; ++i) devices[i] = b->device;
    assert_ok(NULL, apsis_create_devices(APSIS_VERSION, devices, count, &ctx));
    return ctx;
}

static void check_devices(bench *b, int problems, int64_t side) {
    uint8_t *mask = must_alloc(ROOM);
    result *want = must_alloc(sizeof *want), *got = must_alloc(sizeof *got);
    chance c = {31};
    for (int count = 2; count <= 3; ++count) {
        apsis_context *several = open_devices(b, count);
        for (int i = 0; i < 2 + effort(problems); ++i) {
            const problem p = draw_problem(&c, mask, side);
            const bool has_farthest = roll_below(&c, 2);
            run(b->ctx, &p, has_farthest, want);
            run(several, &p, has_farthest, got);
            if (got->status != APSIS_ERROR_BUDGET) assert_ok(several, got->status);
            assert_memory_equal(got, want, sizeof *got);
            if (got->status == APSIS_ERROR_BUDGET) assert_string_equal(apsis_message(several), apsis_message(b->ctx));
        }
        apsis_destroy(several);
    }
    free(want), free(got), free(mask);
}

static void random_devices(bench *b) { check_devices(b, 8, 40); }

static void random_large_components(bench *b) { check_devices(b, 30, 90); }

typedef struct reports {
    double last;
    int count, stop_at;
} reports;

static int told(void *user, double done) {
    reports *of = user;
    of->last = done;
    return ++of->count == of->stop_at;
}

/** The caller stops it at each report in turn; and then all goes on. */
static void check_stops(bench *b, int64_t side) {
    uint8_t *mask = must_alloc(ROOM);
    result *want = must_alloc(sizeof *want), *got = must_alloc(sizeof *got);
    const int64_t size[3] = {side, side, 1};
    chance c = {32};
    fill_mask(mask, size, NOISE, 0.85, &c);
    problem p = new_problem(2, side, side, 1, mask);
    run(b->ctx, &p, true, want);
    apsis_context *several = open_devices(b, 3);
    reports of;
    assert_ok(several, apsis_set_progress(several, told, &of));
    for (int stop = 1;; stop += effort(10) < 10 ? 1 + stop / 3 : 1) {
        of = (reports){.stop_at = stop};
        run(several, &p, true, got);
        if (of.count < stop) break;
        assert_int_equal(got->status, APSIS_ERROR_CANCELLED);
    }
    assert_true(of.last == 1);
    assert_memory_equal(got, want, sizeof *got);
    apsis_destroy(several);
    free(want), free(got), free(mask);
}

static void random_stops(bench *b) { check_stops(b, 35); }

static void stops_in_large_components(bench *b) { check_stops(b, 75); }

/* ---- Contexts that tell each other numbers ---- */

/** Threads that meet, until one of them ends that. */
typedef struct ring {
    pthread_mutex_t lock;
    pthread_cond_t all;
    int ranks, come, round, calls;
    bool is_over;
    void *numbers[MOST];
} ring;

typedef struct member {
    pthread_t thread;
    ring *ring;
    apsis_context *ctx;
    const problem *p;
    int rank, calls, fail_at; /* its allreduce fails at that call */
    bool has_farthest;
    result result;
} member;

static void end_ring(ring *r) {
    pthread_mutex_lock(&r->lock);
    r->is_over = true;
    pthread_cond_broadcast(&r->all);
    pthread_mutex_unlock(&r->lock);
}

static bool meet(ring *r, int rank, void *numbers) {
    pthread_mutex_lock(&r->lock);
    const int round = r->round;
    if (numbers) r->numbers[rank] = numbers;
    if (++r->come == r->ranks) r->come = 0, ++r->round, pthread_cond_broadcast(&r->all);
    while (r->round == round && !r->is_over) pthread_cond_wait(&r->all, &r->lock);
    const bool has_met = r->round != round;
    pthread_mutex_unlock(&r->lock);
    return has_met;
}

static int64_t number_at(apsis_type type, const void *numbers, int64_t i) {
    return type == APSIS_I32 ? ((const int32_t *)numbers)[i] : ((const int64_t *)numbers)[i];
}

static int allreduce(void *user, apsis_type type, void *numbers, int64_t count) {
    member *m = user;
    ring *r = m->ring;
    if (++m->calls == m->fail_at) return end_ring(r), 1;
    if (!meet(r, m->rank, numbers)) return 1;
    for (int64_t i = m->rank; i < count; i += r->ranks) {
        int64_t most = INT64_MIN;
        for (int k = 0; k < r->ranks; ++k)
            if (number_at(type, r->numbers[k], i) > most) most = number_at(type, r->numbers[k], i);
        for (int k = 0; k < r->ranks; ++k)
            type == APSIS_I32 ? (((int32_t *)r->numbers[k])[i] = (int32_t)most) : (((int64_t *)r->numbers[k])[i] = most);
    }
    return !meet(r, m->rank, NULL);
}

static void *work(void *user) {
    member *m = user;
    run(m->ctx, m->p, m->has_farthest, &m->result);
    if (m->result.status != APSIS_OK && m->result.status != APSIS_ERROR_BUDGET) end_ring(m->ring); /* as others may wait */
    return NULL;
}

static void open_members(member *members, int ranks) {
    for (int i = 0; i < ranks; ++i) {
        member *m = &members[i];
        *m = (member){.rank = i};
        assert_ok(NULL, apsis_create(APSIS_VERSION, APSIS_CPU, &m->ctx));
        assert_ok(m->ctx, apsis_set_threads(m->ctx, 1 + i % 2));
        assert_ok(m->ctx, apsis_set_allreduce(m->ctx, i, ranks, allreduce, m));
    }
}

/** All make a call; the victim's allreduce fails at some call of it. */
static void run_members(member *members, int ranks, const problem *p, bool has_farthest, int victim, int fail_at) {
    ring r = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .ranks = ranks};
    for (int i = 0; i < ranks; ++i) {
        member *m = &members[i];
        m->ring = &r, m->p = p, m->has_farthest = has_farthest, m->calls = 0, m->fail_at = i == victim ? fail_at : 0;
        assert_int_equal(pthread_create(&m->thread, NULL, work, m), 0);
    }
    for (int i = 0; i < ranks; ++i) pthread_join(members[i].thread, NULL);
    pthread_cond_destroy(&r.all);
    pthread_mutex_destroy(&r.lock);
}

static void close_members(member *members, int ranks) {
    for (int i = 0; i < ranks; ++i) apsis_destroy(members[i].ctx);
}

static void random_ranks(bench *b) {
    uint8_t *mask = must_alloc(ROOM);
    result *want = must_alloc(sizeof *want);
    member *members = must_alloc(MOST * sizeof *members);
    chance c = {33};
    int64_t calls = 0;
    for (int ranks = 1; ranks <= MOST; ++ranks) {
        open_members(members, ranks);
        for (int i = 0; i < effort(25) || i < 8; ++i) { /* so many that some are shared */
            const bool is_every_source = roll_below(&c, 6) == 0;
            /* A field from every pixel takes long: those are of small images. */
            problem p = draw_problem(&c, mask, is_every_source ? 30 : 90);
            if (is_every_source) p.options.method = APSIS_EVERY_SOURCE, p.options.budget = 0;
            const bool has_farthest = roll_below(&c, 2);
            run(b->ctx, &p, has_farthest, want);
            run_members(members, ranks, &p, has_farthest, -1, 0);
            for (int k = 0; k < ranks; ++k) {
                if (want->status == APSIS_OK) assert_ok(members[k].ctx, members[k].result.status);
                assert_memory_equal(&members[k].result, want, sizeof *want);
                calls += members[k].calls;
            }
        }
        close_members(members, ranks);
        assert_true((calls > 0) == (ranks > 1));
    }
    free(want), free(members), free(mask);
}

static void an_allreduce_fails(bench *b) {
    const int64_t size[3] = {80, 80, 1};
    uint8_t *mask = must_alloc(ROOM);
    result *want = must_alloc(sizeof *want);
    member *members = must_alloc(MOST * sizeof *members);
    chance c = {34};
    fill_mask(mask, size, NOISE, 0.9, &c);
    const problem p = new_problem(2, size[0], size[1], 1, mask);
    run(b->ctx, &p, true, want);
    open_members(members, 3);
    int fail_at = 1;
    for (bool has_failed = true; has_failed; fail_at += 1 + fail_at / 8) {
        const int victim = fail_at % 3;
        run_members(members, 3, &p, true, victim, fail_at);
        has_failed = members[victim].calls >= fail_at;
        for (int k = 0; k < 3; ++k) {
            assert_int_equal(members[k].result.status, has_failed ? APSIS_ERROR_CANCELLED : APSIS_OK);
            if (has_failed) assert_non_null(strstr(apsis_message(members[k].ctx), "allreduce"));
            if (!has_failed) assert_memory_equal(&members[k].result, want, sizeof *want);
        }
    }
    assert_true(fail_at > 10);
    close_members(members, 3);
    free(want), free(members), free(mask);
}

static void wrong_arguments(bench *b) {
    apsis_context *ctx;
    assert_ok(NULL, apsis_create(APSIS_VERSION, b->device, &ctx));
    assert_fails(ctx, apsis_set_allreduce(ctx, 0, 0, allreduce, NULL), APSIS_ERROR_ARGUMENT, "ranks|0");
    assert_fails(ctx, apsis_set_allreduce(ctx, 2, 2, allreduce, NULL), APSIS_ERROR_ARGUMENT, "rank is 2|0 to 1");
    assert_fails(ctx, apsis_set_allreduce(ctx, -1, 2, allreduce, NULL), APSIS_ERROR_ARGUMENT, "rank is -1");
    assert_fails(ctx, apsis_set_allreduce(ctx, 0, 2, NULL, NULL), APSIS_ERROR_ARGUMENT, "allreduce|NULL|2");
    if (b->place != ON_CPU)
        assert_fails(ctx, apsis_set_allreduce(ctx, 0, 2, allreduce, NULL), APSIS_ERROR_UNSUPPORTED,
                     "CUDA|apsis_create_devices");
    assert_ok(ctx, apsis_set_allreduce(ctx, 0, 1, NULL, NULL));
    assert_int_equal(apsis_set_allreduce(NULL, 0, 1, NULL, NULL), APSIS_ERROR_ARGUMENT);
    apsis_destroy(ctx);
}

static const test_case cases[] = {TEST(random_devices, ON_DEVICE_HOST),
                                  TEST(random_large_components, ON_DEVICE_HOST),
                                  TEST(random_stops, ON_DEVICE_HOST),
                                  TEST(stops_in_large_components, ON_DEVICE_HOST),
                                  TEST(random_ranks, ON_CPU),
                                  TEST(an_allreduce_fails, ON_CPU),
                                  TEST(wrong_arguments, WITH_HOST_IMAGES)};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
