/*
 * apsis_mpi.h on however many ranks mpirun starts: test_mpi [device].  Every rank makes the whole image, the same by
 * the same numbers, and calls apsis.h with it; then its rows must be those that the call on all ranks gives it.  With `device`
 * a rank has a context on a device, and its images are there.
 *
 * A rank on which a check fails ends them all.
 */
#include "mpi_test.h"

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

/** Makes a label image of the set: some values, in rows or at random, of another type than bytes at times. */
static apsis_type draw_labels(problem *p) {
    const int64_t pixels = p->columns * p->height, values = 1 + roll(4), run = 1 + roll(9);
    const apsis_type type = (apsis_type[]){APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64}[roll(4)];
    int64_t *const label = must_alloc(pixels * 8);
    for (int64_t i = 0, value = 1; i < pixels; ++i) {
        if (i % run == 0) value = 1 + roll(values);
        label[i] = p->mask[i] ? type == APSIS_U8 ? value : value % 2 ? value << 8 : type == APSIS_U16 ? value : -value : 0;
    }
    uint8_t *const pixel = must_alloc(pixels * 8);
    const int64_t bytes = type == APSIS_U8 ? 1 : type == APSIS_U16 ? 2 : type == APSIS_I32 ? 4 : 8;
    for (int64_t i = 0; i < pixels; ++i) memcpy(pixel + i * bytes, label + i, (size_t)bytes); /* the low ones */
    free(label), free(p->mask);
    p->mask = pixel;
    p->options.flags |= APSIS_LABELS;
    return type;
}

/** Lets the image close on itself along some axes. */
static void draw_periodic(problem *p) {
    if (roll(3)) return;
    for (int a = 0; a < p->ndim; ++a)
        if (p->size[a] > 1 && roll(2)) p->options.flags |= (uint32_t)APSIS_PERIODIC_X << a;
}

/** A distance or Voronoi map with random options. */
static void check_map(problem *p) {
    static const apsis_type types[] = {APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64};
    static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD};
    const bool by_labels = roll(3) == 0;
    const apsis_type taken = by_labels ? draw_labels(p) : APSIS_U8;
    const apsis_type type = types[roll(4)], index = taken == APSIS_I64 ? APSIS_I64 : types[2 + roll(2)];
    const int64_t pixels = p->columns * p->height;
    const bool is_voronoi = roll(4) == 0;
    p->options.metric = metrics[roll(is_voronoi || by_labels ? 2 : 3)];
    const bool wants_nearest = is_voronoi || (p->options.metric != APSIS_CHESSBOARD && roll(2));
    if (!by_labels && roll(2)) p->options.flags |= APSIS_COMPLEMENT;
    if (!by_labels && roll(2) && !is_voronoi) p->options.flags |= APSIS_SIGNED;
    if (!is_voronoi && p->options.flags && roll(3) == 0) p->options.flags |= APSIS_BORDER;
    draw_periodic(p);
    if (roll(4) == 0) p->options.max_distance = 1 + (double)roll(12);
    if (roll(3) == 0 && (is_voronoi || type > APSIS_I64) && p->options.metric != APSIS_CHESSBOARD)
        for (int a = 0; a < 3; ++a) p->options.spacing[a] = 1 + (double)roll(3);
    uint8_t *const far = must_alloc(pixels * 8), *const near = must_alloc(pixels * 8);
    const apsis_image set = whole(p, taken, p->mask), far_image = whole(p, type, far), near_image = whole(p, index, near);
    apsis_image my_set = open_rows(p, taken, p->mask), my_far = open_rows(p, type, NULL), my_near = open_rows(p, index, NULL);
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
    const apsis_type taken = roll(2) && place == APSIS_HOST ? draw_labels(p) : APSIS_U8; /* those of devices have no slabs */
    if (roll(2) && !(p->options.flags & APSIS_LABELS)) p->options.flags |= APSIS_COMPLEMENT;
    draw_periodic(p);
    if (roll(2)) {
        if (roll(3) == 0) p->options.flags |= roll(2) ? APSIS_NO_BORDER : APSIS_NO_INNER;
        if (roll(3) == 0) p->options.largest = 1 + (int)roll(4);
        if (roll(3) == 0) p->options.min_area = 1 + roll(5);
        if (roll(3) == 0) p->options.max_area = 1 + roll(40);
    }
    uint8_t *const numbers = must_alloc(pixels * 8);
    apsis_component *const known = must_alloc(room * (int64_t)sizeof *known), *const mine =
                                                                                  must_alloc(room * (int64_t)sizeof *mine);
    const apsis_image set = whole(p, taken, p->mask), labels = whole(p, type, numbers);
    apsis_image my_set = open_rows(p, taken, p->mask), my_labels = open_rows(p, type, NULL);
    const bool gets_labels = roll(4) || rank % 2,
               gets_known = asks == ALL || asks == rank; /* at times some ranks, or none, want labels */
    int64_t count = -1, my_count = -1;
    CHECK(!apsis_components(cpu, &set, &labels, known, room, &count, &p->options), "%s: %s", p->text, apsis_message(cpu));
    CHECK(!apsis_mpi_components(ctx, MPI_COMM_WORLD, &my_set, gets_labels ? &my_labels : NULL, gets_known ? mine : NULL,
                                gets_known ? room : 0, &my_count, &p->options),
          "%s", p->text);
    CHECK(my_count == count, "%lld, not %lld of %s", (long long)my_count, (long long)count, p->text);
    if (gets_labels) check_rows(p, &my_labels, numbers, "labels");
    const int64_t known_count = count < room ? count : room;
    if (gets_known) CHECK(memcmp(mine, known, (size_t)known_count * sizeof *known) == 0, "statistics of %s", p->text);
    apsis_free(ctx, &my_set), apsis_free(ctx, &my_labels);
    free(numbers), free(known), free(mine);
}

/** Statistics and contacts of the values of a label image, for some ranks. */
static void check_values(problem *p) {
    enum { ROOM = 64 };
    const apsis_type taken = draw_labels(p);
    apsis_component known[ROOM], mine[ROOM];
    apsis_contact pairs[ROOM], my_pairs[ROOM];
    const bool asks = roll(2) || rank % 2;
    int64_t count = -1, my_count = -1;
    p->options.flags = 0;
    draw_periodic(p);
    p->options.connectivity = 1 + (int)roll(p->ndim);
    for (int a = 0; a < 3; ++a) p->options.spacing[a] = 0.1 * (double)(1 + roll(3));
    const apsis_image labels = whole(p, taken, p->mask);
    apsis_image my_labels = open_rows(p, taken, p->mask);
    CHECK(!apsis_statistics(cpu, &labels, known, ROOM, &count, NULL), "%s: %s", p->text, apsis_message(cpu));
    CHECK(!apsis_mpi_statistics(ctx, MPI_COMM_WORLD, &my_labels, asks ? mine : NULL, asks ? ROOM : 0, &my_count, NULL), "%s",
          p->text);
    CHECK(my_count == count, "%lld values, not %lld of %s", (long long)my_count, (long long)count, p->text);
    if (asks) CHECK(memcmp(mine, known, (size_t)count * sizeof *known) == 0, "values of %s", p->text);
    CHECK(!apsis_contacts(cpu, &labels, pairs, ROOM, &count, &p->options), "%s: %s", p->text, apsis_message(cpu));
    CHECK(!apsis_mpi_contacts(ctx, MPI_COMM_WORLD, &my_labels, asks ? my_pairs : NULL, asks ? ROOM : 0, &my_count, &p->options),
          "%s", p->text);
    CHECK(my_count == count, "%lld pairs, not %lld of %s", (long long)my_count, (long long)count, p->text);
    if (asks) CHECK(memcmp(my_pairs, pairs, (size_t)count * sizeof *pairs) == 0, "contacts of %s", p->text);
    apsis_free(ctx, &my_labels);
}

/** Geodesic distance with random options. */
static void check_paths(problem *p) {
    static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD, APSIS_CHAMFER};
    p->options.metric = metrics[roll(4)];
    const apsis_type type = p->options.metric != APSIS_EUCLIDEAN && roll(2) ? APSIS_I64 : APSIS_F32;
    const bool wants_nearest = roll(2), i_want_it = wants_nearest && (roll(2) || rank % 2);
    if (roll(2)) p->options.flags |= APSIS_COMPLEMENT;
    if (roll(4) == 0) p->options.max_distance = 1 + (double)roll(20);
    draw_periodic(p);
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

/** Eccentricities with random options; outputs for all ranks, or for some. */
static void check_reach(problem *p) {
    enum { ROOM = 5 };
    static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD, APSIS_CHAMFER};
    p->options.metric = metrics[roll(4)];
    const apsis_type type = p->options.metric != APSIS_EUCLIDEAN && roll(2) ? APSIS_I32 : APSIS_F32;
    const bool wants_farthest = roll(2), i_want_it = wants_farthest && (roll(2) || rank == 0), i_want_far = roll(2) || rank % 2;
    if (roll(2)) p->options.flags |= APSIS_COMPLEMENT;
    const int64_t pixels = p->columns * p->height; /* of a torus, some need too many fields for a test */
    if (roll(3) == 0) p->options.budget = 1 + roll(40);
    if (p->options.budget || pixels < 1500) draw_periodic(p);
    const apsis_type taken = roll(3) || p->options.flags & APSIS_COMPLEMENT ? APSIS_U8 : draw_labels(p);
    if (roll(4) == 0 && p->ndim == 3 && !(p->options.flags & APSIS_PERIODIC_Z)) p->options.flags |= APSIS_SLICES;
    uint8_t *const far = must_alloc(p->columns * p->height * 8), *const farthest = must_alloc(p->columns * p->height * 8);
    const apsis_image set = whole(p, taken, p->mask), far_image = whole(p, type, far),
                      farthest_image = whole(p, APSIS_I64, farthest);
    apsis_image my_set = open_rows(p, taken, p->mask), my_far = open_rows(p, type, NULL),
                my_farthest = open_rows(p, APSIS_I64, NULL);
    apsis_extent want[ROOM], got[ROOM];
    int64_t count = -1, my_count = -1;
    memset(want, 0, sizeof want), memset(got, 0, sizeof got);
    const apsis_status status = apsis_eccentricity(cpu, &set, &far_image, wants_farthest ? &farthest_image : NULL, want,
                                                   rank % 2 ? 0 : ROOM, &count, &p->options);
    CHECK(status == APSIS_OK || status == APSIS_ERROR_BUDGET, "%s: %s", p->text, apsis_message(cpu));
    CHECK(apsis_mpi_eccentricity(ctx, MPI_COMM_WORLD, &my_set, i_want_far ? &my_far : NULL, i_want_it ? &my_farthest : NULL,
                                 got, rank % 2 ? 0 : ROOM, &my_count, &p->options) == status,
          "%s", p->text);
    CHECK(strcmp(apsis_mpi_message(), status ? apsis_message(cpu) : "") == 0, "not %s", apsis_message(cpu));
    CHECK(my_count == count && memcmp(got, want, sizeof got) == 0, "extents of %s", p->text);
    if (i_want_far) check_rows(p, &my_far, far, "eccentricities");
    if (i_want_it) check_rows(p, &my_farthest, farthest, "farthest pixels");
    apsis_free(ctx, &my_set), apsis_free(ctx, &my_far), apsis_free(ctx, &my_farthest);
    free(far), free(farthest);
}

static void random_maps(void) { with_random_images(check_map, 60, 40, 30); }

static void random_components(void) { with_random_images(check_components, 150, 30, 20); }

static void random_values(void) { with_random_images(check_values, 60, 30, 20); }

static void random_paths(void) { with_random_images(check_paths, 50, 30, 20); }

static void random_reach(void) { with_random_images(check_reach, 16, 90, 90); }

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"extents", extents},
                 {"random_maps", random_maps},
                 {"random_components", random_components},
                 {"random_values", random_values},
                 {"random_paths", random_paths},
                 {"random_reach", random_reach},
                 {"arguments", arguments},
                 {"planted_failures", planted_failures},
                 {"a_cancelled_rank", a_cancelled_rank},
                 {"a_stopped_share", a_stopped_share},
                 {"bytes_on_the_wire", bytes_on_the_wire},
                 {"bytes_of_a_path", bytes_of_a_path},
                 {"bytes_of_fields", bytes_of_fields}};
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool on_device = argc > 1 && !strcmp(argv[1], "device");
    if (on_device) place = APSIS_DEVICE;
    CHECK(!apsis_create(APSIS_VERSION, APSIS_CPU, &cpu), "no context");
    const int devices = apsis_device_count();
    if (on_device && devices == 0) {
        if (rank == 0) printf("there is no device here\n");
        MPI_Finalize();
        return 77;
    }
    CHECK(!apsis_create(APSIS_VERSION, on_device ? rank % devices : APSIS_CPU, &ctx), "no context");
    CHECK(!apsis_set_threads(cpu, 1) && !apsis_set_threads(ctx, 1), "no threads");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const double begun = MPI_Wtime();
        state = 1 + i;
        cases[i].run();
        CHECK(live_allocations == 0, "%lld allocations are left", (long long)live_allocations);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) printf("%s on %d ranks: %.2f s\n", cases[i].name, ranks, MPI_Wtime() - begun);
    }
    apsis_destroy(ctx);
    apsis_destroy(cpu);
    MPI_Finalize();
    return 0;
}
