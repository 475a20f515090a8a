/*
 * apsis_mpi.h on however many ranks mpirun starts: test_mpi [device] [CASE ...].  Every rank makes the whole image, the same by
 * the same numbers, and calls apsis.h with it; then its rows must be those that the call on all ranks gives it.  With `device`
 * contexts are those of device 0, and images are there.
 *
 * A rank on which a check fails ends them all.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counting.h"

static int rank, ranks;
static apsis_context *cpu, *ctx; /* of whole images, and of slabs */
static apsis_memory place = APSIS_HOST;

#define CHECK(is_right, ...)                                       \
    do {                                                           \
        if (is_right) break;                                       \
        fprintf(stderr, "%s:%d, rank %d of %d: %s: ", __FILE__, __LINE__, rank, ranks, #is_right); \
        fprintf(stderr, __VA_ARGS__);                              \
        fprintf(stderr, "; %s; %s\n", apsis_mpi_message(), apsis_message(ctx)); \
        MPI_Abort(MPI_COMM_WORLD, 1);                              \
    } while (0)

/* ---- Random images, in slabs -------------------------------------------- */

static uint64_t state = 1;

/** The same numbers on every rank. */
static int64_t roll(int64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)below);
}

/** An image that all ranks have, and the rows of this one. */
typedef struct problem {
    int ndim;
    int64_t size[3], columns, height; /* height: rows, or planes */
    int64_t start, rows;              /* of this rank */
    uint8_t *mask, *seeds;
    apsis_options options;
    char text[200];
} problem;

static void *must_alloc(int64_t bytes) {
    void *const data = malloc((size_t)bytes + 1);
    CHECK(data, "no memory");
    return data;
}

/** Cuts an image as apsis_mpi_extent does, or anywhere. */
static void cut(problem *p) {
    if (roll(2)) {
        CHECK(!apsis_mpi_extent(MPI_COMM_WORLD, p->height, &p->start, &p->rows), "no extent");
        return;
    }
    int64_t at[65] = {0};
    for (int r = 1; r < ranks; ++r) at[r] = roll(p->height + 1);
    at[ranks] = p->height;
    for (int r = 1; r < ranks; ++r) /* sorts them */
        for (int i = r; i > 1 && at[i] < at[i - 1]; --i) {
            const int64_t lower = at[i];
            at[i] = at[i - 1], at[i - 1] = lower;
        }
    p->start = at[rank];
    p->rows = at[rank + 1] - p->start;
}

static problem open_problem(int64_t most_width, int64_t most_height) {
    static const int of_100[] = {0, 1, 5, 30, 60, 95, 100};
    problem p = {.ndim = 2 + (int)roll(2), .options = APSIS_OPTIONS_INIT};
    p.size[0] = 1 + roll(most_width);
    p.size[1] = 1 + roll(p.ndim == 2 ? most_height : 6);
    p.size[2] = p.ndim == 2 ? 1 : 1 + roll(most_height);
    p.columns = p.ndim == 2 ? p.size[0] : p.size[0] * p.size[1];
    p.height = p.size[p.ndim - 1];
    const int64_t pixels = p.columns * p.height;
    const int filled = of_100[roll(7)], seeded = of_100[roll(4)];
    p.mask = must_alloc(pixels), p.seeds = must_alloc(pixels);
    for (int64_t i = 0; i < pixels; ++i) p.mask[i] = roll(100) < filled, p.seeds[i] = roll(100) < seeded;
    cut(&p);
    snprintf(p.text, sizeof p.text, "%lld x %lld x %lld, %d in 100, rows %lld + %lld", (long long)p.size[0],
             (long long)p.size[1], (long long)p.size[2], filled, (long long)p.start, (long long)p.rows);
    return p;
}

static int64_t pixel_size(apsis_type type) { return type == APSIS_U8 ? 1 : type == APSIS_I32 || type == APSIS_F32 ? 4 : 8; }

/** The whole image, in host memory. */
static apsis_image whole(const problem *p, apsis_type type, void *data) {
    const apsis_image image = {.data = data, .type = type, .ndim = p->ndim, .size = {p->size[0], p->size[1], p->size[2]}};
    return image;
}

/** The rows of this rank: where the test has its images, with these pixels of the whole image if there are any. */
static apsis_image open_rows(const problem *p, apsis_type type, uint8_t *pixels) {
    apsis_image rows = whole(p, type, NULL), from = rows;
    rows.size[p->ndim - 1] = from.size[p->ndim - 1] = p->rows;
    CHECK(!apsis_alloc(ctx, place, &rows), "no memory");
    if (pixels && p->rows > 0) {
        from.data = pixels + p->start * p->columns * pixel_size(type);
        CHECK(!apsis_copy(ctx, &from, &rows), "no copy");
    }
    return rows;
}

/** Whether these are the rows of this rank of the whole image; they are freed. */
static void check_rows(const problem *p, apsis_image *rows, const uint8_t *want, const char *what) {
    const int64_t row = p->columns * pixel_size(rows->type);
    uint8_t *const got = must_alloc(p->rows * row);
    apsis_image host = *rows;
    host.data = got, host.memory = APSIS_HOST;
    memset(host.stride, 0, sizeof host.stride);
    if (p->rows > 0) CHECK(!apsis_copy(ctx, rows, &host), "no copy");
    CHECK(memcmp(got, want + p->start * row, (size_t)(p->rows * row)) == 0, "%s of %s", what, p->text);
    free(got);
    apsis_free(ctx, rows);
}

/* ---- Cases -------------------------------------------------------------- */

static void extents(void) {
    for (int64_t height = 0; height < 40; ++height) {
        int64_t start, rows, all, before, first;
        CHECK(!apsis_mpi_extent(MPI_COMM_WORLD, height, &start, &rows), "%d", (int)height);
        before = 0;
        MPI_Allreduce(&rows, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        MPI_Exscan(&rows, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        first = rows;
        MPI_Bcast(&first, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        CHECK(all == height && start == before, "%d", (int)height);
        CHECK(first == (height + ranks - 1) / ranks && (rows == first || start + rows == height), "%d", (int)height);
    }
}

/** A distance or Voronoi map with random options. */
static void check_map(problem *p) {
    static const apsis_type types[] = {APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64};
    static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD};
    const apsis_type type = types[roll(4)], index = types[2 + roll(2)];
    const int64_t pixels = p->columns * p->height;
    const bool is_voronoi = roll(4) == 0;
    p->options.metric = metrics[roll(is_voronoi ? 2 : 3)];
    const bool wants_nearest = is_voronoi || (p->options.metric != APSIS_CHESSBOARD && roll(2));
    if (roll(2)) p->options.flags |= APSIS_COMPLEMENT;
    if (roll(2) && !is_voronoi) p->options.flags |= APSIS_SIGNED;
    if (roll(4) == 0) p->options.max_distance = 1 + (double)roll(12);
    if (roll(3) == 0 && (is_voronoi || type > APSIS_I64) && p->options.metric != APSIS_CHESSBOARD)
        for (int a = 0; a < 3; ++a) p->options.spacing[a] = 1 + (double)roll(3);
    uint8_t *const far = must_alloc(pixels * 8), *const near = must_alloc(pixels * 8);
    const apsis_image set = whole(p, APSIS_U8, p->mask), far_image = whole(p, type, far), near_image = whole(p, index, near);
    apsis_image my_set = open_rows(p, APSIS_U8, p->mask), my_far = open_rows(p, type, NULL), my_near = open_rows(p, index, NULL);
    const apsis_image *const nearest = wants_nearest ? &near_image : NULL, *const my_nearest = wants_nearest ? &my_near : NULL;
    if (is_voronoi) {
        CHECK(!apsis_voronoi(cpu, &set, &near_image, &p->options), "%s: %s", p->text, apsis_message(cpu));
        CHECK(!apsis_mpi_voronoi(ctx, MPI_COMM_WORLD, &my_set, &my_near, &p->options), "%s", p->text);
    } else {
        CHECK(!apsis_distance(cpu, &set, &far_image, nearest, &p->options), "%s: %s", p->text, apsis_message(cpu));
        CHECK(!apsis_mpi_distance(ctx, MPI_COMM_WORLD, &my_set, &my_far, my_nearest, &p->options), "%s", p->text);
        check_rows(p, &my_far, far, "distances");
    }
    if (wants_nearest) check_rows(p, &my_near, near, "nearest pixels");
    apsis_free(ctx, &my_set), apsis_free(ctx, &my_far), apsis_free(ctx, &my_near);
    free(far), free(near);
}

/** Components with random options; the statistics for all ranks, or for one, or for none. */
static void check_components(problem *p) {
    enum { ALL = -1 };
    const apsis_type type = (apsis_type[]){APSIS_I32, APSIS_I64, APSIS_U8}[roll(3)];
    const int64_t pixels = p->columns * p->height, room = roll(3) ? pixels : roll(5);
    const int asks = (int)roll(ranks + 2) - 1; /* a rank; or all; or none */
    p->options.connectivity = 1 + (int)roll(p->ndim);
    if (roll(2)) p->options.flags |= APSIS_COMPLEMENT;
    if (roll(2)) {
        if (roll(3) == 0) p->options.flags |= roll(2) ? APSIS_NO_BORDER : APSIS_NO_INNER;
        if (roll(3) == 0) p->options.largest = 1 + (int)roll(4);
        if (roll(3) == 0) p->options.min_area = 1 + roll(5);
        if (roll(3) == 0) p->options.max_area = 1 + roll(40);
    }
    uint8_t *const numbers = must_alloc(pixels * 8);
    apsis_component *const known = must_alloc(room * (int64_t)sizeof *known), *const mine = must_alloc(room * (int64_t)sizeof *mine);
    const apsis_image set = whole(p, APSIS_U8, p->mask), labels = whole(p, type, numbers);
    apsis_image my_set = open_rows(p, APSIS_U8, p->mask), my_labels = open_rows(p, type, NULL);
    const bool gets_labels = roll(4) || rank % 2, gets_known = asks == ALL || asks == rank; /* at times some ranks, or none, want labels */
    int64_t count = -1, my_count = -1;
    CHECK(!apsis_components(cpu, &set, &labels, known, room, &count, &p->options), "%s: %s", p->text, apsis_message(cpu));
    CHECK(!apsis_mpi_components(ctx, MPI_COMM_WORLD, &my_set, gets_labels ? &my_labels : NULL, gets_known ? mine : NULL,
                                gets_known ? room : 0, &my_count, &p->options), "%s", p->text);
    CHECK(my_count == count, "%lld, not %lld of %s", (long long)my_count, (long long)count, p->text);
    if (gets_labels) check_rows(p, &my_labels, numbers, "labels");
    const int64_t known_count = count < room ? count : room;
    if (gets_known) CHECK(memcmp(mine, known, (size_t)known_count * sizeof *known) == 0, "statistics of %s", p->text);
    apsis_free(ctx, &my_set), apsis_free(ctx, &my_labels);
    free(numbers), free(known), free(mine);
}

/** Geodesic distance with random options. */
static void check_paths(problem *p) {
    static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD, APSIS_CHAMFER};
    p->options.metric = metrics[roll(4)];
    const apsis_type type = p->options.metric != APSIS_EUCLIDEAN && roll(2) ? APSIS_I64 : APSIS_F32;
    const bool wants_nearest = roll(2), i_want_it = wants_nearest && (roll(2) || rank % 2);
    if (roll(2)) p->options.flags |= APSIS_COMPLEMENT;
    if (roll(4) == 0) p->options.max_distance = 1 + (double)roll(20);
    uint8_t *const far = must_alloc(p->columns * p->height * 8), *const near = must_alloc(p->columns * p->height * 8);
    const apsis_image set = whole(p, APSIS_U8, p->mask), seeds = whole(p, APSIS_U8, p->seeds);
    const apsis_image far_image = whole(p, type, far), near_image = whole(p, APSIS_I64, near);
    apsis_image my_set = open_rows(p, APSIS_U8, p->mask), my_seeds = open_rows(p, APSIS_U8, p->seeds);
    apsis_image my_far = open_rows(p, type, NULL), my_near = open_rows(p, APSIS_I64, NULL);
    CHECK(!apsis_geodesic(cpu, &set, &seeds, &far_image, &near_image, &p->options), "%s: %s", p->text, apsis_message(cpu));
    CHECK(!apsis_mpi_geodesic(ctx, MPI_COMM_WORLD, &my_set, &my_seeds, &my_far, i_want_it ? &my_near : NULL, &p->options), "%s",
          p->text);
    check_rows(p, &my_far, far, "lengths");
    if (i_want_it) check_rows(p, &my_near, near, "nearest seeds");
    apsis_free(ctx, &my_set), apsis_free(ctx, &my_seeds), apsis_free(ctx, &my_near);
    free(far), free(near);
}

/** Calls a check for random images. */
static void with_random_images(void (*check)(problem *), int times, int64_t most_width, int64_t most_height) {
    for (int i = 0; i < times; ++i) {
        problem p = open_problem(most_width, most_height);
        check(&p);
        free(p.mask), free(p.seeds);
    }
}

static void random_maps(void) {
    with_random_images(check_map, 60, 40, 30);
    with_random_images(check_map, 1, 20000, 12); /* several messages along the chain */
}

static void random_components(void) { with_random_images(check_components, 100, 30, 20); }

static void random_paths(void) { with_random_images(check_paths, 50, 30, 20); }

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"extents", extents}, {"random_maps", random_maps}, {"random_components", random_components}, {"random_paths", random_paths}};
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool on_device = argc > 1 && !strcmp(argv[1], "device");
    if (on_device) place = APSIS_DEVICE;
    CHECK(!apsis_create(APSIS_VERSION, APSIS_CPU, &cpu), "no context");
    CHECK(!apsis_create(APSIS_VERSION, on_device ? 0 : APSIS_CPU, &ctx), "no context");
    CHECK(!apsis_set_threads(cpu, 1) && !apsis_set_threads(ctx, 1), "no threads");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const double begun = MPI_Wtime();
        state = 1 + i;
        cases[i].run();
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) printf("%s on %d ranks: %.2f s\n", cases[i].name, ranks, MPI_Wtime() - begun);
    }
    apsis_destroy(ctx);
    apsis_destroy(cpu);
    MPI_Finalize();
    return 0;
}
