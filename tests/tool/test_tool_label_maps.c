/* The maps that the apsis command makes of label images: distance by brute force; labels that grow, from maps of indices. */
#include "tool_question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t kShortValues[4] = {1, 2, -3, 300}, kLongValues[4] = {1, 2, -3, 5000000000};
static const Layout kShorts = {.name = "i16", .bits = 16, .photometric = 1, .format = SAMPLEFORMAT_INT};
static const Layout kLongs = {.name = "i64", .bits = 64, .photometric = 1, .format = SAMPLEFORMAT_INT, .tile = 16};

/* ---- Distance ------------------------------------------------------------- */

typedef struct Way {
    const char *words;
    int pages;
    bool volume, labels, border, complement, is_signed;
    double spacing[3];
    bool city_block;
} Way;

/* Whether a distance from a pixel leads to this value. */
static bool leads_to(const Way *way, int64_t from, int64_t to) {
    if (way->labels) return from != 0 && to != from;
    const bool inside = (from != 0) != way->complement;
    return ((to != 0) != way->complement) != (way->is_signed && inside);
}

static double length(const Way *way, double x, double y, double z) {
    const double *s = way->spacing;
    x *= s[0], y *= s[1], z *= s[2];
    return way->city_block ? fabs(x) + fabs(y) + fabs(z) : sqrt(x * x + y * y + z * z);
}

/* The distance of pixel i, and the lowest index of the nearest pixel. */
static double expected(const Way *way, int i, int64_t *nearest) {
    const int plane = WIDTH * HEIGHT, x = i % WIDTH, y = i % plane / WIDTH, z = i / plane;
    const int from = way->volume ? 0 : z * plane, to = way->volume ? plane * way->pages : (z + 1) * plane;
    const bool inside = !way->labels && (samples[i] != 0) != way->complement;
    double best = INFINITY;
    *nearest = -1;
    if ((way->labels && samples[i] == 0) || (inside && !way->is_signed)) return *nearest = i, 0;
    if (way->border && leads_to(way, samples[i], 0)) {
        best = fmin(length(way, fmin(x + 1, WIDTH - x), 0, 0), length(way, 0, fmin(y + 1, HEIGHT - y), 0));
        if (way->volume) best = fmin(best, length(way, 0, 0, fmin(z + 1, way->pages - z)));
    }
    for (int j = from; j < to; ++j) {
        if (!leads_to(way, samples[i], samples[j])) continue;
        const double far = length(way, j % WIDTH - x, j % plane / WIDTH - y, j / plane - z);
        if (far < best) best = far, *nearest = j;
    }
    return inside ? -best : best;
}

static const Way kWays[] = {
    {"--labels", 1, .labels = true, .spacing = {1, 1, 1}},
    {"--labels --border --threads 1", 1, .labels = true, .border = true, .spacing = {1, 1, 1}},
    {"--labels --metric city-block", PAGES, .labels = true, .city_block = true, .spacing = {1, 1, 1}},
    {"--labels --border", PAGES, .labels = true, .border = true, .spacing = {1, 1, 1}},
    {"--labels --border --volume --spacing 1,2,4", PAGES, true, .labels = true, .border = true, .spacing = {1, 2, 4}},
    {"--border --sites zero", 1, .border = true, .complement = true, .spacing = {1, 1, 1}},
    {"--border --sites zero", PAGES, .border = true, .complement = true, .spacing = {1, 1, 1}},
    {"--border --signed", 1, .border = true, .is_signed = true, .spacing = {1, 1, 1}},
    {"--border --signed --volume --sites zero", PAGES, true, .border = true, .is_signed = true, .complement = true,
     .spacing = {1, 1, 1}},
};

static void test_distance(void **state) {
    (void)state;
    for (size_t w = 0; w < sizeof kWays / sizeof *kWays; ++w) {
        make_labels(kShortValues, 11 + (uint32_t)w);
        for (int i = 0; i < PIXELS; ++i) /* cells that are larger than the way to the border */
            if (i % WIDTH < WIDTH / 2) samples[i] = 2;
        write_tiff("in.tif", &kShorts, WIDTH, HEIGHT, kWays[w].pages);
        succeed("distance in.tif out.tif --nearest which.tif --overwrite --device cpu --type f64 -q %s", kWays[w].words);
        for (int z = 0; z < kWays[w].pages; ++z) {
            Result d = read_result("out.tif", z), n = read_result("which.tif", z);
            for (int i = 0; i < WIDTH * HEIGHT; ++i) {
                int64_t nearest;
                const double want = expected(&kWays[w], z * WIDTH * HEIGHT + i, &nearest);
                if (d.values[i] != want || n.values[i] != (double)nearest)
                    fail_msg("%s: page %d, pixel %d is %g from %g, but should be %g from %lld", kWays[w].words, z, i,
                             d.values[i], n.values[i], want, (long long)nearest);
            }
            free(d.values), free(n.values);
        }
    }
    succeed("distance in.tif out.tif --labels --border --overwrite --device cpu --json --picture p.tif");
    assert_in(out_text, "\"labels\": true");
    assert_in(out_text, "\"border\": true, \"signed\": false");
}

/* ---- Labels of nearest pixels --------------------------------------------- */

/* A file has the labels of `samples` at the indices of another one. */
static void assert_labels_of(const char *words, const char *labels, const char *indices, int pages, int bits) {
    assert_int_equal(pages_of(labels), pages);
    for (int z = 0; z < pages; ++z) {
        Result l = read_result(labels, z), i = read_result(indices, z);
        assert_int_equal(l.bits, bits);
        for (int k = 0; k < WIDTH * HEIGHT; ++k)
            if (l.values[k] != (i.values[k] < 0 ? 0 : (double)samples[(int)i.values[k]]))
                fail_msg("%s: page %d, pixel %d is %g, but its nearest pixel is %g", words, z, k, l.values[k], i.values[k]);
        free(l.values), free(i.values);
    }
}

/* Few pixels have labels, so that these have room. */
static void write_sparse(const char *path, bool wide, int pages, uint32_t seed) {
    make_labels(wide ? kLongValues : kShortValues, seed);
    for (int i = 0; i < PIXELS; ++i)
        if (next_random(&seed) % 30) samples[i] = 0;
    write_tiff(path, wide ? &kLongs : &kShorts, WIDTH, HEIGHT, pages);
}

static const struct {
    const char *words;
    int pages;
    bool wide;
} kGrown[] = {
    {"", 1, false},
    {"--max-distance 2.5", 1, false},
    {"--connected", 1, false},
    {"--connected --max-distance 6", PAGES, true},
    {"--metric chessboard", 1, true},
    {"--volume --spacing 1,2,3", PAGES, false},
};

static void test_voronoi(void **state) {
    (void)state;
    for (size_t g = 0; g < sizeof kGrown / sizeof *kGrown; ++g) {
        write_sparse("in.tif", kGrown[g].wide, kGrown[g].pages, 21 + (uint32_t)g);
        succeed("voronoi in.tif map.tif --overwrite --device cpu %s", kGrown[g].words);
        succeed("voronoi in.tif out.tif --labels --overwrite --device cpu --picture p.tif %s", kGrown[g].words);
        assert_in(out_text, "out.tif: labels grown by ");
        assert_labels_of(kGrown[g].words, "out.tif", "map.tif", kGrown[g].pages, kGrown[g].wide ? 64 : 32);
    }
    memset(samples, 0, sizeof samples);
    samples[0] = 7;
    write_tiff("in.tif", &kShorts, WIDTH, HEIGHT, 1);
    succeed("voronoi in.tif out.tif --labels --overwrite --device cpu --max-distance 1");
    assert_in(out_text, "out.tif: labels grown by 2 pixels, 848 pixels in none; ");
    succeed("voronoi in.tif out.tif --labels --overwrite --device cpu --max-distance 1 --json --type i64");
    assert_in(out_text, "\"pixels_grown\": 2, \"pixels_in_none\": 848");
}

static void test_geodesic(void **state) {
    (void)state;
    for (size_t g = 0; g < 3; ++g) {
        const char *const words = ((const char *[]){"", "--connectivity 4 --max-distance 9", "--volume"})[g];
        const int pages = g == 2 ? PAGES : 1;
        make_samples(8, 31);
        write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, pages);
        write_sparse("seeds.tif", g == 1, pages, 41 + (uint32_t)g);
        succeed("geodesic in.tif seeds.tif d.tif --sites zero --nearest map.tif --overwrite --device cpu %s", words);
        succeed(
            "geodesic in.tif seeds.tif e.tif --sites zero --nearest out.tif --labels --overwrite --device cpu "
            "--picture-nearest p.tif --json %s",
            words);
        assert_in(out_text, "\"labels\": false, \"seeds\": \"seeds.tif\", \"seed_pixels\": ");
        assert_in(out_text, "\"seed_labels\": true, ");
        assert_labels_of(words, "out.tif", "map.tif", pages, g == 1 ? 64 : 32);
        assert_int_equal(shell("cmp d.tif e.tif"), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_distance, start),
                                       cmocka_unit_test_setup(test_voronoi, start),
                                       cmocka_unit_test_setup(test_geodesic, start)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
