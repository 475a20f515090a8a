/* Maps of more than 2^31 pixels: noise, and a bare stretch in what comes last, whose results the oracle judges.
 *
 * A device holds such an image where it has the memory.  A host of ordinary size does not: there all the pages of an
 * output but the last, the only ones that are read, are the same few.  And contacts of more pairs than a table has room for. */
#define _GNU_SOURCE /* memfd_create */
#include "run_voronoi.h"

#include <sys/mman.h>
#include <unistd.h>

/** A plane is one step along the last axis: a row of a 2-D image. */
typedef struct giant {
    int64_t size[3];
    uint32_t flags;
    apsis_type set; /* as the device gets it */
    int64_t seen;   /* planes at the end that the oracle sees ... */
    int64_t judged; /* ... and of which it knows the answer, as all nearest sites are among those seen */
    int64_t bare;   /* columns without a site in the planes judged */
} giant;

static const giant plane = {{65536, 32768 + 48, 1}, 0, APSIS_BIT, 112, 48, 80};
static const giant batch = {{2048, 2048, 514}, APSIS_SLICES, APSIS_U8, 1, 1, 80};
static const giant volume = {{256, 264, 32000}, 0, APSIS_BIT, 24, 8, 8};

static int ndim(const giant *g) { return g->size[2] > 1 ? 3 : 2; }
static int64_t plane_pixels(const giant *g) { return ndim(g) == 3 ? g->size[0] * g->size[1] : g->size[0]; }
static int64_t all_pixels(const giant *g) { return g->size[0] * g->size[1] * g->size[2]; }
static apsis_image image_of(const giant *g, apsis_type type) {
    return (apsis_image){.type = type, .ndim = ndim(g), .size = {g->size[0], g->size[1], ndim(g) == 3 ? g->size[2] : 0}};
}

/* ---- The set ---- */

/** One pixel in 64 is set; rows are whole bytes. */
static uint8_t *giant_bits(const giant *g) {
    const int64_t words = all_pixels(g) / 64;
    uint64_t *bits = must_alloc((size_t)words * sizeof *bits);
    chance c = {31};
    for (int64_t i = 0; i < words; ++i) bits[i] = roll(&c) & roll(&c) & roll(&c) & roll(&c) & roll(&c) & roll(&c);
    uint8_t *const end = (uint8_t *)(bits + words);
    const int64_t rows = g->judged * plane_pixels(g) / g->size[0], row_bytes = g->size[0] / 8;
    for (int64_t r = 1; r <= rows; ++r) memset(end - r * row_bytes + row_bytes / 2, 0, (size_t)g->bare / 8);
    return (uint8_t *)bits;
}

/** What the oracle sees. */
static problem tail_of(const giant *g, const uint8_t *bits, uint8_t *mask) {
    const int64_t count = g->seen * plane_pixels(g), first = all_pixels(g) - count;
    for (int64_t i = 0; i < count; ++i) mask[i] = bits[(first + i) / 8] >> (i % 8) & 1;
    if (ndim(g) == 2) return new_problem(2, g->size[0], g->seen, 1, mask);
    return new_problem(g->seen == 1 ? 2 : 3, g->size[0], g->size[1], g->seen, mask);
}

/* ---- Outputs ---- */

/** Memory of the host that keeps its last `kept` bytes; the others come and go. */
static void *forgetful(size_t bytes, size_t kept) {
    const size_t window = (size_t)64 << 20, forgotten = (bytes - kept) / window * window;
    const int file = memfd_create("window", 0);
    uint8_t *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(file >= 0 && ftruncate(file, (off_t)window) == 0 && data != MAP_FAILED);
    for (size_t at = 0; at < forgotten; at += window)
        assert_true(mmap(data + at, window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED);
    close(file);
    return data;
}

static size_t tail_bytes(const giant *g, apsis_type type) { return (size_t)(g->seen * plane_pixels(g)) * type_size(type); }

/** False, aloud, if the device has not the memory. */
static bool has_memory(bench *b, apsis_status st) {
    if (st != APSIS_ERROR_MEMORY)
        assert_ok(b->ctx, st);
    else
        fprintf(stderr, "SKIPPED: %s\n", apsis_message(b->ctx));
    b->skipped |= st != APSIS_OK;
    return st == APSIS_OK;
}

static bool take(bench *b, const giant *g, apsis_image *image) {
    if (b->place == ON_DEVICE) return has_memory(b, apsis_alloc(b->ctx, APSIS_DEVICE, image));
    image->data = forgetful((size_t)all_pixels(g) * type_size(image->type), tail_bytes(g, image->type));
    return true;
}

static void give(bench *b, const giant *g, apsis_image *image) {
    if (b->place == ON_CPU)
        munmap(image->data, (size_t)all_pixels(g) * type_size(image->type));
    else
        apsis_free(b->ctx, image);
}

/** The planes seen, in memory to be freed. */
static void *read_tail(bench *b, const giant *g, const apsis_image *image) {
    const int64_t rows = g->seen * plane_pixels(g) / g->size[0];
    apsis_image from = {.type = image->type, .ndim = 2, .size = {g->size[0], rows}, .memory = image->memory}, to = from;
    from.data = (uint8_t *)image->data + (size_t)all_pixels(g) * type_size(image->type) - tail_bytes(g, image->type);
    to.memory = APSIS_HOST;
    to.data = must_alloc(tail_bytes(g, image->type));
    assert_ok(b->ctx, apsis_copy(b->ctx, &from, &to));
    return to.data;
}

/* ---- The test ---- */

/** The planes judged are the oracle's. */
static void judge(const giant *g, const problem *p, const float *distance, const int64_t *nearest) {
    answer want = solve(p);
    const int64_t count = g->seen * plane_pixels(g), first = all_pixels(g) - count, apron = g->seen - g->judged;
    for (int64_t i = apron * plane_pixels(g); i < count; ++i) {
        float expected;
        expected_pixel(p, &want, i, APSIS_F32, &expected);
        assert_true(apron == 0 || want.cost[i] < apron * apron);
        if (distance[i] == expected && nearest[i] == first + want.nearest[i]) continue;
        print_error("pixel %lld: %.9g from %lld, but should be %.9g from %lld\n", (long long)(first + i), (double)distance[i],
                    (long long)nearest[i], (double)expected, (long long)(first + want.nearest[i]));
        fail();
    }
    free_answer(&want);
}

static void map_and_judge(bench *b, const giant *g, const uint8_t *bits, const apsis_image images[3]) {
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = g->flags;
    if (!has_memory(b, apsis_distance(b->ctx, &images[0], &images[1], &images[2], &options))) return;
    uint8_t *mask = must_alloc(tail_bytes(g, APSIS_U8));
    const problem p = tail_of(g, bits, mask);
    float *distance = read_tail(b, g, &images[1]);
    int64_t *nearest = read_tail(b, g, &images[2]);
    judge(g, &p, distance, nearest);
    free(mask);
    free(distance);
    free(nearest);
}

static void check_giant(bench *b, const giant *g) {
    assert_true(all_pixels(g) - g->judged * plane_pixels(g) >= (int64_t)1 << 31);
    uint8_t *bits = giant_bits(g);
    apsis_image host = image_of(g, APSIS_BIT);
    host.data = bits;
    apsis_image images[3] = {host, image_of(g, APSIS_F32), image_of(g, APSIS_I64)};
    bool there = true;
    if (b->place == ON_DEVICE) {
        images[0] = image_of(g, g->set);
        there = take(b, g, &images[0]);
        if (there) assert_ok(b->ctx, apsis_copy(b->ctx, &host, &images[0]));
    }
    for (int k = 1; k < 3; ++k) there = there && take(b, g, &images[k]);
    if (there) map_and_judge(b, g, bits, images);
    for (int k = b->place == ON_DEVICE ? 0 : 1; k < 3; ++k)
        if (images[k].data) give(b, g, &images[k]);
    free(bits);
}

/* ---- Connected cells ---- */

/** The planes judged are the oracle's, exclaves and all: it sees enough around their cells. */
static void judge_cells(const giant *g, const problem *p, const int64_t *cells) {
    answer want = solve(p);
    const int64_t count = g->seen * plane_pixels(g), first = all_pixels(g) - count;
    int64_t exclaves, judged = 0;
    uint8_t *cut = find_exclaves(p, want.nearest, &exclaves);
    hide_exclaves(p, want.nearest, cut);
    for (int64_t i = (g->seen - g->judged) * plane_pixels(g); i < count; ++i) {
        assert_int_equal(cells[i], first + want.nearest[i]);
        judged += cut[i];
    }
    print_message("%lld exclaves\n", (long long)judged);
    assert_true(judged > 0);
    free(cut);
    free_answer(&want);
}

/** The host's trick with forgotten pages does not work here: the map is read again. */
static void huge_cells_are_connected(bench *b) {
    const giant *const g = &plane;
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_CONNECTED;
    uint8_t *bits = giant_bits(g), *mask = must_alloc(tail_bytes(g, APSIS_U8));
    apsis_image host = image_of(g, APSIS_BIT), set = image_of(g, g->set), cells = image_of(g, APSIS_I64);
    host.data = bits;
    bool there = take(b, g, &set) && take(b, g, &cells);
    if (there) assert_ok(b->ctx, apsis_copy(b->ctx, &host, &set));
    if (there && has_memory(b, apsis_voronoi(b->ctx, &set, &cells, &options))) {
        const problem p = tail_of(g, bits, mask);
        int64_t *tail = read_tail(b, g, &cells);
        judge_cells(g, &p, tail);
        free(tail);
    }
    if (set.data) give(b, g, &set);
    if (cells.data) give(b, g, &cells);
    free(mask);
    free(bits);
}

/* ---- Pairs of values ---- */

/** As many as values of 16 bits have, in an image that takes as much memory as the set of them.  The first ones are read. */
static void pairs_of_all_values(bench *b) {
    enum { W = 16384, H = 8192, VALUES = 65536, LOWEST = 40, READ = 4 * VALUES };
    const int64_t size[3] = {W, H, 1};
    uint16_t *value = must_alloc((size_t)W * H * sizeof *value);
    uint8_t *seen = must_alloc((size_t)VALUES * VALUES / 8);         /* [pair] */
    int64_t(*faces)[VALUES][2] = must_alloc(LOWEST * sizeof *faces); /* of the lowest values, with others */
    chance c = {16};
    for (int64_t i = 0; i < (int64_t)W * H; ++i) value[i] = (uint16_t)(roll(&c) >> 48);
    for (int64_t i = 0; i < (int64_t)W * H; ++i)
        for (int axis = 0; axis < 2; ++axis) {
            if (axis ? i < W : i % W == 0) continue;
            const uint16_t one = value[i], other = value[i - (axis ? W : 1)];
            const uint32_t low = one < other ? one : other, high = one < other ? other : one;
            if (low == 0 || low == high) continue;
            seen[low * (VALUES / 8) + high / 8] |= (uint8_t)(1 << high % 8);
            if (low < LOWEST) ++faces[low][high][axis];
        }
    int64_t pairs = 0, count = -1, k = 0;
    for (size_t i = 0; i < (size_t)VALUES * VALUES / 8; ++i) pairs += __builtin_popcount(seen[i]);
    frame labels = frame_open(b, APSIS_U16, 2, size, PACKED);
    frame_put(&labels, value);
    apsis_contact *got = must_alloc(READ * sizeof *got);
    assert_ok(b->ctx, apsis_contacts(b->ctx, &labels.image, got, READ, &count, NULL));
    assert_int_equal(count, pairs);
    for (int64_t low = 1; low < LOWEST; ++low)
        for (int64_t high = low + 1; high < VALUES && k < READ; ++high) {
            const int64_t *const across = faces[low][high];
            if (across[0] + across[1] == 0) continue;
            const apsis_contact want = {low, high, {across[0], across[1], 0}, 0, (double)(across[0] + across[1])};
            assert_memory_equal(&got[k++], &want, sizeof want);
        }
    assert_int_equal(k, READ);
    frame_close(&labels);
    free(got);
    free(faces);
    free(seen);
    free(value);
}

static void a_huge_plane(bench *b) { check_giant(b, &plane); }
static void a_huge_batch(bench *b) { check_giant(b, &batch); }
static void a_huge_volume(bench *b) { check_giant(b, &volume); }

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(a_huge_plane, ON_CPU | ON_DEVICE), TEST(a_huge_batch, ON_CPU | ON_DEVICE),
                                      TEST(a_huge_volume, ON_DEVICE), TEST(huge_cells_are_connected, ON_DEVICE),
                                      TEST(pairs_of_all_values, ON_DEVICE)};
    return RUN_CASES(cases, argc, argv);
}
