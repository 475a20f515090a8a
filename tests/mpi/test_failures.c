/* What becomes of all ranks when one fails, and how many bytes they send each other when none does. */
#include "mpi_test.h"

/* ---- Arguments ---------------------------------------------------------- */

/** A call that ranks may spoil: slabs of 5 x 2 pixels. */
typedef struct spoilt {
    apsis_image set, out;
    apsis_options options;
    apsis_context *context;
    MPI_Comm comm;
    uint8_t mask[64];
    int64_t numbers[64];
} spoilt;

static spoilt good(void) {
    spoilt s = {.options = APSIS_OPTIONS_INIT, .context = cpu, .comm = MPI_COMM_WORLD};
    s.set = (apsis_image){.type = APSIS_U8, .ndim = 2, .size = {5, 2}};
    s.out = (apsis_image){.type = APSIS_I64, .ndim = 2, .size = {5, 2}};
    return s;
}

/** Whether all ranks got this status, and tell why in the same words, which have these in them. */
static void check_refused(apsis_status got, apsis_status want, const char *words, const char *spoil) {
    char text[512];
    strcpy(text, apsis_mpi_message());
    MPI_Bcast(text, sizeof text, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(got == want, "%s gives %s", spoil, apsis_status_name(got));
    CHECK(strstr(text, words), "%s says: %s", spoil, text);
    CHECK(strcmp(text, apsis_mpi_message()) == 0, "%s says on rank 0: %s", spoil, text);
}

/** A call is good until one rank, the last, spoils it. */
#define REFUSED(spoil, call, status, words)          \
    do {                                             \
        spoilt s = good();                           \
        s.set.data = s.mask, s.out.data = s.numbers; \
        CHECK(call == APSIS_OK, "%s", #call);        \
        CHECK(!*apsis_mpi_message(), "%s", #call);   \
        if (rank == ranks - 1) spoil;                \
        check_refused(call, status, words, #spoil);  \
    } while (0)

#define MAP apsis_mpi_distance(s.context, s.comm, &s.set, &s.out, NULL, &s.options)
#define CELLS apsis_mpi_voronoi(s.context, s.comm, &s.set, s.out.data ? &s.out : NULL, &s.options)
#define LABELS apsis_mpi_components(s.context, s.comm, &s.set, &s.out, NULL, s.out.reserved, NULL, &s.options)
#define REACH apsis_mpi_eccentricity(s.context, s.comm, &s.set, NULL, &s.out, NULL, 0, NULL, &s.options)
#define VALUES apsis_mpi_statistics(s.context, s.comm, &s.set, NULL, s.out.reserved, NULL, &s.options)
#define PAIRS apsis_mpi_contacts(s.context, s.comm, &s.set, NULL, s.out.reserved, NULL, &s.options)
#define PATHS apsis_mpi_geodesic(s.context, s.comm, &s.set, s.set.data ? &s.set : NULL, NULL, &s.out, &s.options)

/** A call that all ranks spoil in the same way. */
#define ALL_REFUSED(spoil, call, status, words)      \
    do {                                             \
        spoilt s = good();                           \
        s.set.data = s.mask, s.out.data = s.numbers; \
        spoil;                                       \
        check_refused(call, status, words, #spoil);  \
    } while (0)

void arguments(void) {
    char last[32], width[64];
    snprintf(last, sizeof last, "rank %d: ", ranks - 1);
    snprintf(width, sizeof width, "set: size[0] is 5 on one rank and 6 on another");
    REFUSED(s.context = NULL, MAP, APSIS_ERROR_ARGUMENT, "context is NULL");
    REFUSED(s.set.ndim = 4, MAP, APSIS_ERROR_ARGUMENT, "ndim is 4");
    REFUSED(s.set.size[1] = -1, MAP, APSIS_ERROR_ARGUMENT, "size[1] is -1");
    REFUSED(s.set.data = NULL, MAP, APSIS_ERROR_ARGUMENT, last);
    REFUSED(s.out.type = APSIS_U8, MAP, APSIS_ERROR_ARGUMENT, last);
    REFUSED(s.out.size[1] = 1, MAP, APSIS_ERROR_ARGUMENT, last);
    REFUSED(s.out.data = NULL, CELLS, APSIS_ERROR_ARGUMENT, "cells is NULL");
    REFUSED(s.out.reserved = -1, LABELS, APSIS_ERROR_ARGUMENT, "capacity is -1");
    REFUSED(s.out.reserved = 1, LABELS, APSIS_ERROR_ARGUMENT, "components not NULL");
    REFUSED(s.out.type = APSIS_F32, LABELS, APSIS_ERROR_ARGUMENT, last);
    REFUSED(s.out.reserved = 1, VALUES, APSIS_ERROR_ARGUMENT, "components not NULL");
    REFUSED(s.set.type = APSIS_BIT, PAIRS, APSIS_ERROR_ARGUMENT, last);
    REFUSED(s.out.type = APSIS_F32, PATHS, APSIS_ERROR_ARGUMENT, last);
    REFUSED(s.out.type = APSIS_F32, REACH, APSIS_ERROR_ARGUMENT, "farthest: type is APSIS_F32");
    REFUSED(s.out.data = NULL, REACH, APSIS_ERROR_ARGUMENT, "farthest: data is NULL");
    REFUSED(s.out.size[1] = 1, REACH, APSIS_ERROR_ARGUMENT, last);
    if (ranks > 1) {
        REFUSED(s.set.size[0] = 6, MAP, APSIS_ERROR_ARGUMENT, width);
        REFUSED(s.set.ndim = 3, LABELS, APSIS_ERROR_ARGUMENT, "on one rank and");
        REFUSED(s.options.flags = APSIS_SIGNED, MAP, APSIS_ERROR_ARGUMENT, "options: those of all ranks");
        REFUSED(s.options.max_area = 9, LABELS, APSIS_ERROR_ARGUMENT, "options: those of all ranks");
    }
    ALL_REFUSED(s.options.flags = 1u << 20, MAP, APSIS_ERROR_ARGUMENT, "rank 0: slab_summary: options");
    ALL_REFUSED(s.options.struct_size = 3, MAP, APSIS_ERROR_ARGUMENT, "struct_size");
    ALL_REFUSED(s.options.flags = APSIS_SIGNED, CELLS, APSIS_ERROR_ARGUMENT, "APSIS_SIGNED");
    ALL_REFUSED(s.options.flags = APSIS_CONNECTED, CELLS, APSIS_ERROR_UNSUPPORTED, "APSIS_CONNECTED");
    ALL_REFUSED(s.options.max_distance = 2, REACH, APSIS_ERROR_ARGUMENT, "rank 0: eccentricity: options: max_distance");
    ALL_REFUSED(s.options.method = APSIS_SWEEP, MAP, APSIS_ERROR_UNSUPPORTED, "APSIS_SWEEP");
    ALL_REFUSED(s.options.largest = -1, LABELS, APSIS_ERROR_ARGUMENT, "largest is -1");
    ALL_REFUSED(s.options.flags = APSIS_LABELS | APSIS_COMPLEMENT, MAP, APSIS_ERROR_ARGUMENT, "values have no complement");
    ALL_REFUSED(s.options.flags = APSIS_BORDER, MAP, APSIS_ERROR_ARGUMENT, "no distance leads to the background");
    ALL_REFUSED(s.options.flags = APSIS_LABELS | APSIS_BORDER, CELLS, APSIS_ERROR_ARGUMENT, "APSIS_BORDER");
    ALL_REFUSED(s.options.flags = APSIS_LABELS, PATHS, APSIS_ERROR_UNSUPPORTED, "APSIS_LABELS is set, but a slab");
    ALL_REFUSED(s.options.flags = APSIS_LABELS | APSIS_COMPLEMENT, REACH, APSIS_ERROR_ARGUMENT, "values have no complement");
    ALL_REFUSED(s.options.flags = APSIS_PERIODIC_Z, LABELS, APSIS_ERROR_ARGUMENT, "APSIS_PERIODIC_Z is set, but ndim is 2");
    ALL_REFUSED((s.options.flags = APSIS_LABELS, s.options.delta = 2), LABELS, APSIS_ERROR_UNSUPPORTED,
                "delta is 2, but values in slabs must be equal");
    ALL_REFUSED(s.options.flags = APSIS_LABELS | APSIS_COMPLEMENT, LABELS, APSIS_ERROR_ARGUMENT, "values have no complement");
    ALL_REFUSED(s.options.flags = APSIS_DENSE, VALUES, APSIS_ERROR_UNSUPPORTED, "APSIS_DENSE");
    ALL_REFUSED(s.options.flags = APSIS_PERIODIC_Z, PAIRS, APSIS_ERROR_ARGUMENT, "APSIS_PERIODIC_Z");
    ALL_REFUSED(s.comm = MPI_COMM_NULL, MAP, APSIS_ERROR_ARGUMENT, "MPI_COMM_NULL");
    int64_t start;
    check_refused(apsis_mpi_extent(MPI_COMM_WORLD, -1, &start, &start), APSIS_ERROR_ARGUMENT, "extent is -1", "-1");
    check_refused(apsis_mpi_extent(MPI_COMM_WORLD, 1, &start, NULL), APSIS_ERROR_ARGUMENT, "not NULL", "NULL");
}

/* ---- Failures ----------------------------------------------------------- */

/** A call of each function, with all that it can be asked for. */
static apsis_status call_one(int which, problem *p, apsis_image *set, apsis_image *seeds, apsis_image *out,
                             apsis_image *index) {
    static apsis_component known[4];
    p->options.flags = which == 0 ? APSIS_SIGNED : which == 3 ? APSIS_NO_BORDER : 0;
    switch (which) {
        case 0: return apsis_mpi_distance(ctx, MPI_COMM_WORLD, set, out, index, &p->options);
        case 1: return apsis_mpi_voronoi(ctx, MPI_COMM_WORLD, set, index, &p->options);
        case 2: return apsis_mpi_components(ctx, MPI_COMM_WORLD, set, index, known, 4, NULL, &p->options);
        case 3: return apsis_mpi_components(ctx, MPI_COMM_WORLD, set, index, NULL, 0, NULL, &p->options);
        case 4:
            return apsis_mpi_eccentricity(ctx, MPI_COMM_WORLD, set, rank % 2 ? out : NULL, rank % 3 ? NULL : index, NULL, 0,
                                          NULL, &p->options);
        default: return apsis_mpi_geodesic(ctx, MPI_COMM_WORLD, set, seeds, out, index, &p->options);
    }
}

void planted_failures(void) {
    static const apsis_status statuses[] = {APSIS_ERROR_DEVICE, APSIS_ERROR_MEMORY, APSIS_ERROR_WORKSPACE};
    problem p = open_problem(9, 12);
    apsis_image set = open_rows(&p, APSIS_U8, p.mask), seeds = open_rows(&p, APSIS_U8, p.seeds);
    apsis_image out = open_rows(&p, APSIS_F32, NULL), index = open_rows(&p, APSIS_I64, NULL);
    int failed = 0;
    for (int which = 0; which < 6; ++which)
        for (int victim = 0; victim < ranks; victim += ranks > 2 ? ranks / 2 : 1)
            for (plant what = APSIS_CALL; what <= ALLOCATION; ++what)
                for (int n = 1, came = 1; came; ++n) {
                    const apsis_status planted = what == ALLOCATION ? APSIS_ERROR_MEMORY : statuses[n % 3];
                    char words[32];
                    if (rank == victim) plant_failure(what, n, planted);
                    const apsis_status status = call_one(which, &p, &set, &seeds, &out, &index);
                    came = planted_came();
                    MPI_Bcast(&came, 1, MPI_INT, victim, MPI_COMM_WORLD);
                    failed += came;
                    CHECK(status == (came ? planted : APSIS_OK), "call %d, rank %d, %d of %d", which, victim, n, (int)what);
                    snprintf(words, sizeof words, "rank %d: ", victim);
                    if (came) check_refused(status, planted, words, "a planted failure");
                }
    CHECK(failed > 40, "%d failures only", failed);
    apsis_free(ctx, &set), apsis_free(ctx, &seeds), apsis_free(ctx, &out), apsis_free(ctx, &index);
    close_problem(&p);
}

static int stop(void *user, double done) {
    (void)user, (void)done;
    return 1;
}

void a_cancelled_rank(void) {
    problem p = open_problem(20, 40);
    apsis_image set = open_rows(&p, APSIS_U8, p.mask), out = open_rows(&p, APSIS_F32, NULL);
    const int victim = ranks / 2;
    int64_t rows = p.rows;
    MPI_Bcast(&rows, 1, MPI_INT64_T, victim, MPI_COMM_WORLD);
    if (rank == victim) CHECK(!apsis_set_progress(ctx, stop, NULL), "no progress");
    const apsis_status status = apsis_mpi_distance(ctx, MPI_COMM_WORLD, &set, &out, NULL, NULL);
    if (rows > 0) check_refused(status, APSIS_ERROR_CANCELLED, "rank", "a callback");
    CHECK(!apsis_set_progress(ctx, NULL, NULL), "no progress");
    CHECK(!apsis_mpi_distance(ctx, MPI_COMM_WORLD, &set, &out, NULL, NULL), "after a callback");
    apsis_free(ctx, &set), apsis_free(ctx, &out);
    close_problem(&p);
}

typedef struct stops {
    int count, stop_at;
} stops;

static int stop_later(void *user, double done) {
    stops *of = user;
    (void)done;
    return ++of->count == of->stop_at;
}

/** A rank stops while others wait for its share of the fields. */
void a_stopped_share(void) {
    enum { WIDTH = 72 };
    problem p = {.ndim = 2, .size = {WIDTH, WIDTH, 1}, .columns = WIDTH, .height = WIDTH, .options = APSIS_OPTIONS_INIT};
    CHECK(!apsis_mpi_extent(MPI_COMM_WORLD, WIDTH, &p.start, &p.rows), "no extent");
    p.mask = must_alloc(WIDTH * WIDTH);
    for (int i = 0; i < WIDTH * WIDTH; ++i) p.mask[i] = roll(100) < 90;
    apsis_image set = open_rows(&p, APSIS_U8, p.mask), out = open_rows(&p, APSIS_F32, NULL);
    int has_stopped = 1, failed = 0;
    for (int stop_at = 1; has_stopped; stop_at += 1 + stop_at / 4, failed += has_stopped) {
        const int victim = stop_at % ranks;
        stops of = {0, stop_at};
        if (rank == victim) CHECK(!apsis_set_progress(ctx, stop_later, &of), "no progress");
        const apsis_status status = apsis_mpi_eccentricity(ctx, MPI_COMM_WORLD, &set, &out, NULL, NULL, 0, NULL, &p.options);
        has_stopped = of.count >= stop_at;
        MPI_Bcast(&has_stopped, 1, MPI_INT, victim, MPI_COMM_WORLD);
        CHECK(!apsis_set_progress(ctx, NULL, NULL), "no progress");
        CHECK(status == (has_stopped ? APSIS_ERROR_CANCELLED : APSIS_OK), "stopped at %d", stop_at);
        if (has_stopped) check_refused(status, APSIS_ERROR_CANCELLED, "rank", "a callback");
    }
    CHECK(failed > 5, "%d stops only", failed);
    apsis_free(ctx, &set), apsis_free(ctx, &out);
    free(p.mask);
}

/* ---- Bytes -------------------------------------------------------------- */

/** What all ranks have sent since counted was 0; of broadcasts what one rank gets. */
static counts all_counted(void) {
    const counts mine = counted;
    counts all;
    MPI_Allreduce(&mine, &all, 4, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine.largest, &all.largest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    CHECK(all.largest <= APSIS_MPI_LARGEST_MESSAGE, "a message of %lld bytes", (long long)all.largest);
    all.agreed /= ranks, all.combined /= ranks;
    return all;
}

/** How many components there are in some rows. */
static int64_t components_in(const problem *p, int64_t start, int64_t rows) {
    apsis_image set = whole(p, APSIS_U8, p->mask + start * p->columns);
    int64_t count;
    set.size[p->ndim - 1] = rows;
    CHECK(!apsis_components(cpu, &set, NULL, NULL, 0, &count, NULL), "no count");
    return count;
}

static void check_bytes(problem *p) {
    const bool is_signed = roll(2), has_labels = roll(2), selects = roll(2), is_known = roll(2);
    apsis_image set = open_rows(p, APSIS_U8, p->mask), out = open_rows(p, APSIS_I64, NULL);
    apsis_component known;
    int64_t starts[64], rows[64], total, sent = 0;
    MPI_Allgather(&p->start, 1, MPI_INT64_T, starts, 1, MPI_INT64_T, MPI_COMM_WORLD);
    MPI_Allgather(&p->rows, 1, MPI_INT64_T, rows, 1, MPI_INT64_T, MPI_COMM_WORLD);

    const bool by_labels = !is_signed && roll(2);
    if (is_signed || by_labels) p->options.flags = is_signed ? APSIS_SIGNED : APSIS_LABELS;
    counted = (counts){0};
    CHECK(!apsis_mpi_distance(ctx, MPI_COMM_WORLD, &set, &out, NULL, &p->options), "%s", p->text);
    counts all = all_counted();
    CHECK(all.sent == (is_signed   ? 32
                       : by_labels ? 48
                                   : 16) *
                          p->columns * (ranks - 1),
          "%lld bytes: %s", (long long)all.sent, p->text);
    CHECK(all.broadcast == 0 && all.agreed == (is_signed ? 5 : 4), "%lld, %lld", (long long)all.broadcast,
          (long long)all.agreed);

    p->options.flags = 0;
    p->options.max_area = selects ? p->columns * p->height : 0; /* nothing is left out, so that all are counted */
    counted = (counts){0};
    CHECK(!apsis_mpi_components(ctx, MPI_COMM_WORLD, &set, has_labels ? &out : NULL, is_known ? &known : NULL, is_known, &total,
                                &p->options),
          "%s", p->text);
    all = all_counted();
    for (int r = 1; r < ranks; ++r) { /* each tells once, together with the ranks that have told it */
        const int last = r + (r & -r) <= ranks ? r + (r & -r) - 1 : ranks - 1;
        const int64_t group_rows = starts[last] + rows[last] - starts[r], count = components_in(p, starts[r], group_rows);
        const int64_t faces = group_rows > 0 ? 16 * p->columns : 0;
        sent += 16 + faces + (selects || is_known ? (int64_t)sizeof(apsis_part) * count : 0);
        if (has_labels) sent += 8 + (selects ? 8 * count : faces);
    }
    CHECK(all.sent == sent, "%lld bytes, not %lld: %s", (long long)all.sent, (long long)sent, p->text);
    CHECK(all.broadcast == 8 + (is_known && ranks > 1 ? (int64_t)sizeof(apsis_part) * total : 0), "%lld bytes to all",
          (long long)all.broadcast);
    apsis_free(ctx, &set), apsis_free(ctx, &out);
}

void bytes_on_the_wire(void) { with_random_images(check_bytes, 20, 30, 30); }

/** From a seed in the first row, each row is found once: its rank sends what it has found to the ranks beside it. */
void bytes_of_a_path(void) {
    const int64_t width = 40, start = 2 * rank;
    uint8_t mask[80], seeds[80] = {0};
    int64_t length[80];
    memset(mask, 1, sizeof mask);
    seeds[7] = rank == 0;
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {width, 2}};
    const apsis_image from = {.data = seeds, .type = APSIS_U8, .ndim = 2, .size = {width, 2}};
    const apsis_image out = {.data = length, .type = APSIS_I64, .ndim = 2, .size = {width, 2}};
    apsis_options options = APSIS_OPTIONS_INIT;
    options.metric = APSIS_CITY_BLOCK;
    for (int has_nearest = 0; has_nearest < 2; ++has_nearest) {
        counted = (counts){0};
        CHECK(!apsis_mpi_geodesic(cpu, MPI_COMM_WORLD, &set, &from, has_nearest ? NULL : &out, has_nearest ? &out : NULL,
                                  &options),
              "a path");
        const counts all = all_counted();
        CHECK(all.sent == (has_nearest ? 32 : 16) * width * (ranks - 1), "%lld bytes", (long long)all.sent);
        CHECK(all.agreed == 2 + 1 + (ranks + 1) + 1, "%lld phases", (long long)all.agreed);
        if (has_nearest)
            CHECK(length[0] == 7, "%lld", (long long)length[0]);
        else
            CHECK(length[width] == 7 + start + 1, "%lld", (long long)length[width]);
    }
}

/** What a call logs: the fields after each turn. */
typedef struct turns {
    int64_t fields[64];
    int count;
} turns;

static void note_turn(void *user, const char *line) {
    turns *of = user;
    long long fields, left;
    if (sscanf(line, "eccentricity: %lld fields, %lld pixels left", &fields, &left) == 2 && of->count < 64)
        of->fields[of->count++] = fields;
}

/** Of each turn the lower bounds are combined, and the lengths from each new hub; the set once. */
void bytes_of_fields(void) {
    enum { WIDTH = 100, PIXELS = WIDTH * WIDTH };
    problem p = {.ndim = 2, .size = {WIDTH, WIDTH, 1}, .columns = WIDTH, .height = WIDTH, .options = APSIS_OPTIONS_INIT};
    CHECK(!apsis_mpi_extent(MPI_COMM_WORLD, WIDTH, &p.start, &p.rows), "no extent");
    p.mask = must_alloc(PIXELS);
    for (int i = 0; i < PIXELS; ++i) { /* a disc with holes */
        const int x = 2 * (i % WIDTH) + 1 - WIDTH, y = 2 * (i / WIDTH) + 1 - WIDTH;
        p.mask[i] = x * x + y * y < WIDTH * WIDTH && !(i % WIDTH % 7 < 3 && i / WIDTH % 9 < 4);
    }
    apsis_component known;
    int64_t count;
    const apsis_image all_set = whole(&p, APSIS_U8, p.mask);
    p.options.connectivity = 2;
    CHECK(!apsis_components(cpu, &all_set, NULL, &known, 1, &count, &p.options) && count == 1, "%lld", (long long)count);
    apsis_image set = open_rows(&p, APSIS_U8, p.mask), out = open_rows(&p, APSIS_I64, NULL);
    for (int has_farthest = 0; has_farthest < 2 && place == APSIS_HOST; ++has_farthest) {
        turns of = {.count = 0};
        CHECK(!apsis_set_log(ctx, note_turn, &of), "no log");
        counted = (counts){0};
        CHECK(!apsis_mpi_eccentricity(ctx, MPI_COMM_WORLD, &set, NULL, has_farthest ? &out : NULL, NULL, 0, NULL, &p.options),
              "fields");
        CHECK(!apsis_set_log(ctx, NULL, NULL), "no log");
        const counts all = all_counted();
        CHECK(all.sent == 0 && all.broadcast == 0, "%lld bytes", (long long)all.sent);
        int64_t left = all.combined - (WIDTH + 7) / 8 * WIDTH / 8 * 8 - ((WIDTH + 7) / 8 * WIDTH % 8 ? 8 : 0);
        if (ranks == 1) {
            CHECK(left == 0, "%lld bytes", (long long)left);
            continue;
        }
        const int64_t blocks = (known.area + 4095) / 4096, fields = of.fields[of.count - 1] - of.fields[0];
        left -= of.count * 16 * blocks; /* after each turn, and before the first */
        left -= (of.count - 1) * 4 * known.area * (1 + has_farthest);
        const int64_t hubs = left / (4 * known.area), small = left % (4 * known.area);
        CHECK(all.agreed == 5 + 2 * of.count + (of.count - 1) * (7 + has_farthest) + hubs, "%lld phases",
              (long long)all.agreed);
        CHECK(of.count > 3 && hubs > 0 && hubs <= fields / 2, "%lld hubs, %lld fields", (long long)hubs, (long long)fields);
        CHECK(small >= 48 * (fields - hubs) && small <= (of.count - 1) * 8 * 48, "%lld bytes", (long long)small);
    }
    apsis_free(ctx, &set), apsis_free(ctx, &out);
    free(p.mask);
}
