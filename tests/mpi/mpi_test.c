#include "mpi_test.h"

int rank, ranks;
apsis_context *cpu, *ctx;
apsis_memory place = APSIS_HOST;
uint64_t state = 1;

int64_t roll(int64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)below);
}

void *must_alloc(int64_t bytes) {
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

problem open_problem(int64_t most_width, int64_t most_height) {
    static const int of_100[] = {0, 1, 5, 30, 60, 95, 100};
    problem p = {.ndim = 2 + (int)roll(2), .options = APSIS_OPTIONS_INIT};
    p.size[0] = roll(20) ? 1 + roll(most_width) : 0;
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

static int64_t pixel_size(apsis_type type) {
    return type == APSIS_U8 ? 1 : type == APSIS_U16 ? 2 : type == APSIS_I32 || type == APSIS_F32 ? 4 : 8;
}

apsis_image whole(const problem *p, apsis_type type, void *data) {
    const apsis_image image = {.data = data, .type = type, .ndim = p->ndim, .size = {p->size[0], p->size[1], p->size[2]}};
    return image;
}

apsis_image open_rows(const problem *p, apsis_type type, uint8_t *pixels) {
    apsis_image rows = whole(p, type, NULL), from = rows;
    rows.size[p->ndim - 1] = from.size[p->ndim - 1] = p->rows;
    CHECK(!apsis_alloc(ctx, place, &rows), "no memory");
    if (pixels && p->rows > 0) {
        from.data = pixels + p->start * p->columns * pixel_size(type);
        CHECK(!apsis_copy(ctx, &from, &rows), "no copy");
    }
    return rows;
}

void check_rows(const problem *p, apsis_image *rows, const uint8_t *want, const char *what) {
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

void close_problem(problem *p) {
    free(p->mask);
    free(p->seeds);
}

void with_random_images(void (*check)(problem *), int times, int64_t most_width, int64_t most_height) {
    for (int i = 0; i < times; ++i) {
        problem p = open_problem(most_width, most_height);
        check(&p);
        close_problem(&p);
    }
}
