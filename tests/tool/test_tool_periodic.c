/* The apsis command on images that close on themselves: distance by brute force, and small images whose answers are known. */
#include "tool_question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Distance, and cells -------------------------------------------------- */

static const struct {
    const char *words;
    int pages;
    bool volume, labels, closed[3];
    double spacing[3];
} kWays[] = {
    {"--periodic x", 1, .closed = {true, false}, .spacing = {1, 1, 1}},
    {"--periodic y,x", PAGES, .closed = {true, true}, .spacing = {1, 1, 1}},
    {"--volume --periodic z,y --spacing 1,2,4", PAGES, true, .closed = {false, true, true}, .spacing = {1, 2, 4}},
    {"--labels --periodic=x,y", 1, .labels = true, .closed = {true, true}, .spacing = {1, 1, 1}},
};

/* The squared distance from pixel i to the nearest pixel that counts, and the lowest index of one. */
static double expected(size_t way, int i, int64_t *nearest) {
    const int plane = WIDTH * HEIGHT, size[3] = {WIDTH, HEIGHT, kWays[way].pages};
    const int from = kWays[way].volume ? 0 : i / plane * plane, to = kWays[way].volume ? plane * size[2] : from + plane;
    double best = INFINITY;
    *nearest = -1;
    for (int j = from; j < to; ++j) {
        const bool counts = kWays[way].labels ? samples[i] && samples[j] != samples[i] : samples[j] != 0;
        if (!counts && !(i == j && kWays[way].labels && samples[i] == 0)) continue;
        const int offset[3] = {abs(j % WIDTH - i % WIDTH), abs(j % plane / WIDTH - i % plane / WIDTH),
                               abs(j / plane - i / plane)};
        double square = 0;
        for (int a = 0; a < 3; ++a) {
            const int far = kWays[way].closed[a] && offset[a] > size[a] / 2 ? size[a] - offset[a] : offset[a];
            square += pow(far * kWays[way].spacing[a], 2);
        }
        if (square < best) best = square, *nearest = j;
    }
    return best;
}

static void test_distance(void **state) {
    (void)state;
    static const int64_t values[4] = {1, 2, 3, 200};
    for (size_t w = 0; w < sizeof kWays / sizeof *kWays; ++w) {
        kWays[w].labels ? make_labels(values, 51) : make_samples(8, 52 + (uint32_t)w);
        write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, kWays[w].pages);
        succeed("distance in.tif out.tif --nearest which.tif --overwrite --device cpu --type f64 -q %s", kWays[w].words);
        for (int z = 0; z < kWays[w].pages; ++z) {
            Result d = read_result("out.tif", z), n = read_result("which.tif", z);
            for (int i = 0; i < WIDTH * HEIGHT; ++i) {
                int64_t nearest;
                const double want = sqrt(expected(w, z * WIDTH * HEIGHT + i, &nearest));
                if (d.values[i] != want || n.values[i] != (double)nearest)
                    fail_msg("%s: page %d, pixel %d is %g from %g, but should be %g from %lld", kWays[w].words, z, i,
                             d.values[i], n.values[i], want, (long long)nearest);
            }
            free(d.values), free(n.values);
        }
        if (kWays[w].labels) continue;
        succeed("voronoi in.tif cells.tif --overwrite --device cpu -q %s", kWays[w].words);
        assert_int_equal(shell("cmp which.tif cells.tif"), 0);
    }
    succeed("distance in.tif out.tif --overwrite --device cpu --json --periodic y,x");
    assert_in(out_text, "\"volume\": false, \"periodic\": \"x,y\", ");
    succeed("distance in.tif out.tif --overwrite --device cpu --json");
    assert_in(out_text, "\"periodic\": \"\", ");
}

/* ---- Answers that are known ----------------------------------------------- */

/* Two values at the ends of rows of six pixels, and a wall between them: they touch across the seam alone. */
static void write_ends(void) {
    static const int64_t rows[12] = {1, 1, 0, 0, 2, 2, 1, 1, 0, 0, 2, 2};
    memcpy(samples, rows, sizeof rows);
    write_tiff("in.tif", &kBytes, 6, 2, 1);
}

static void assert_values(const char *path, const double *want) {
    Result got = read_result(path, 0);
    for (int i = 0; i < 12; ++i)
        if (got.values[i] != want[i]) fail_msg("%s: pixel %d is %g, but should be %g", path, i, got.values[i], want[i]);
    free(got.values);
}

static void test_components_and_contacts(void **state) {
    (void)state;
    write_ends();
    succeed("components in.tif out.tif --device cpu --overwrite");
    assert_in(out_text, "out.tif: 2 components; ");
    succeed("components in.tif out.tif --device cpu --overwrite --periodic x");
    assert_in(out_text, "out.tif: 1 component; ");
    succeed("components in.tif out.tif --device cpu --overwrite --labels --periodic x");
    assert_in(out_text, "out.tif: 2 components; ");
    succeed("components in.tif out.tif --device cpu --overwrite --periodic x,y --clear-border");
    assert_in(out_text, "out.tif: 1 component; ");
    succeed("contacts in.tif --device cpu -q --output t.csv");
    slurp("t.csv", out_text, sizeof out_text);
    assert_null(strstr(out_text, "\n1,2"));
    succeed("contacts in.tif --device cpu -q --output t.csv --overwrite --periodic x");
    slurp("t.csv", out_text, sizeof out_text);
    assert_in(out_text, "\n1,2,2,0,0,0,2\n");
}

static void test_paths(void **state) {
    (void)state;
    static const int64_t seed[12] = {0, 1};
    static const double lengths[12] = {1, 0, -1, -1, 3, 2, 2, 1, -1, -1, 4, 3};
    static const double farthest[12] = {3, 4, -1, -1, 4, 3, 3, 4, -1, -1, 4, 3};
    static const double of_labels[12] = {2, 2, -1, -1, 2, 2, 2, 2, -1, -1, 2, 2};
    memcpy(samples, seed, sizeof seed);
    write_tiff("seed.tif", &kBytes, 6, 2, 1);
    write_ends();
    const char *const how = "--metric city-block --type i32 --device cpu --overwrite";
    succeed("geodesic in.tif seed.tif out.tif %s --periodic x", how);
    assert_values("out.tif", lengths);
    succeed("eccentricity in.tif out.tif %s --periodic x,y", how);
    assert_values("out.tif", farthest);
    succeed("eccentricity in.tif out.tif %s --periodic x --labels", how);
    assert_values("out.tif", of_labels);
    samples[1] = samples[7] = 5, samples[4] = samples[10] = 4; /* values of a column each */
    write_tiff("in.tif", &kBytes, 6, 2, 1);
    succeed("eccentricity in.tif out.tif %s --labels --components t.csv --json", how);
    assert_in(out_text, "\"labels\": true, ");
    assert_in(out_text, "\"components\": 4, ");
}

/* ---- What is refused ------------------------------------------------------ */

static const struct {
    const char *line, *sentence;
    int code;
} kRefused[] = {
    {"distance in.tif new.tif --periodic", "--periodic needs a value: x,y,z", 2},
    {"distance in.tif new.tif --periodic ''", "--periodic is '', but must be axes, each once, such as x or x,y", 2},
    {"distance in.tif new.tif --periodic w", "--periodic is 'w', but must be axes", 2},
    {"distance in.tif new.tif --periodic xy", "--periodic is 'xy', but must be axes", 2},
    {"distance in.tif new.tif --periodic x,x", "--periodic is 'x,x', but must be axes, each once", 2},
    {"distance in.tif new.tif --periodic x,", "--periodic is 'x,', but must be axes", 2},
    {"distance in.tif new.tif --periodic z,x", "--periodic is 'x,z', but z is an axis with --volume alone", 2},
    {"distance in.tif new.tif --periodic x --method sweep", "--periodic is for --method auto, but --method is sweep", 2},
    {"components in.tif new.tif --periodic x --method tile-fill", "--periodic is for --method auto", 2},
    {"components in.tif new.tif --periodic x,y --fill-holes",
     "--fill-holes goes by the border of the image, but with --periodic x,y it has none", 2},
    {"components thin.tif new.tif --periodic y", "APSIS_PERIODIC_Y is set, but set: size[1] is 1", 11},
    {"statistics in.tif --periodic x", "unknown option '--periodic'", 2},
};

static void test_refused(void **state) {
    (void)state;
    make_samples(8, 61);
    write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, 1);
    write_tiff("thin.tif", &kBytes, WIDTH, 1, 1);
    for (size_t i = 0; i < sizeof kRefused / sizeof *kRefused; ++i) {
        const int code = run(i ? "%s --device cpu" : "%s", kRefused[i].line);
        if (code != kRefused[i].code)
            fail_msg("%s: exit code %d, but should be %d\n%s", kRefused[i].line, code, kRefused[i].code, err_text);
        assert_in(err_text, kRefused[i].sentence);
        assert_false(exists("new.tif"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_distance, start),
                                       cmocka_unit_test_setup(test_components_and_contacts, start),
                                       cmocka_unit_test_setup(test_paths, start), cmocka_unit_test_setup(test_refused, start)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
