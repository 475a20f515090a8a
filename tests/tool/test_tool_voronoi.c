/*
 * What `apsis voronoi` writes: complete maps compared with brute force, connected ones with a flood fill, and what it says,
 * shows and refuses.
 */
#include "tool_question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *words;
    Question q;
    bool complement;
} kMaps[] = {
    {"", {.pages = 1}, false},
    {"--type i64 --sites zero", {.pages = 1}, true},
    {"--metric city-block --compress deflate", {.pages = 1, .metric = CITY_BLOCK}, false},
    {"--metric city-block --spacing 0.5,2", {.pages = 1, .metric = CITY_BLOCK, .spacing = {0.5, 2, 1}}, false},
    {"--metric chessboard --tiled", {.pages = 1, .metric = CHESSBOARD}, false},
    {"--spacing 0.5,2 --threads 1", {.pages = 1, .spacing = {0.5, 2, 1}}, false},
    {"--max-distance 2.5", {.pages = 1, .most = 2.5}, false},
    {"--spacing 3 --bigtiff", {.pages = PAGES, .spacing = {3, 3, 3}}, false},
    {"--volume --spacing 1,1,2", {.pages = PAGES, .volume = true, .spacing = {1, 1, 2}}, false},
};

static void test_maps(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kMaps / sizeof *kMaps; ++i) {
        Question q = kMaps[i].q;
        q.width = WIDTH, q.height = HEIGHT;
        make_samples(8, 61 + (uint32_t)i);
        make_set(1, kMaps[i].complement);
        write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, q.pages);
        succeed("voronoi in.tif out.tif --device cpu --overwrite -q %s", kMaps[i].words);
        check(kMaps[i].words, &q, NULL, "out.tif");
        Result r = read_result("out.tif", 0);
        assert_int_equal(r.bits, strstr(kMaps[i].words, "i64") ? 64 : 32);
        assert_int_equal(r.format, SAMPLEFORMAT_INT);
        free(r.values);
    }
}

static void test_empty(void **state) {
    (void)state;
    memset(samples, 0, sizeof samples);
    make_set(1, false);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    succeed("voronoi in.tif out.tif --device cpu");
    check("no site", &kPage, NULL, "out.tif");
    assert_in(out_text, "out.tif: 0 cells, 851 pixels in none; ");
    make_set(1, true);
    succeed("voronoi in.tif out.tif --device cpu --overwrite --sites zero --picture p.tif");
    check("all sites", &kPage, NULL, "out.tif");
    assert_in(out_text, "out.tif: 851 cells; ");
}

/* Two sites, in different rows. */
enum { FEW_WIDTH = 7, FEW_HEIGHT = 2 };

static void draw_file(void) {
    for (int i = 0; i < FEW_WIDTH * FEW_HEIGHT; ++i) samples[i] = i == 1 || i == 12;
    write_tiff("in.tif", &kBits, FEW_WIDTH, FEW_HEIGHT, 1);
}

static void test_words(void **state) {
    (void)state;
    draw_file();
    succeed("voronoi in.tif out.tif --device cpu --max-distance 1.5");
    assert_in(out_text, "in.tif: 7 x 2 pixels; 2 in the set");
    assert_in(out_text, "out.tif: 2 cells, 2 pixels in none; CPU");
    succeed("voronoi in.tif out.tif --device cpu --overwrite --json --picture p.tif --spacing 2");
    static const char *const parts[] = {
        "{\"command\": \"voronoi\", \"input\": \"in.tif\", \"width\": 7, \"height\": 2, \"pages\": 1",
        "\"sites\": 2, \"sites_are\": \"nonzero\", \"threshold\": null",
        "\"spacing\": [2, 2], \"metric\": \"euclidean\", \"max_distance\": null, \"method\": \"auto\"",
        "\"connected\": false, \"mixed\": false, \"type\": \"i32\", \"kernels\": null, \"mended\": null",
        "\"cells\": 2, \"pixels_in_none\": 0",
        "\"seconds\": {\"prepare\": ",
        "\"outputs\": {\"cells\": \"out.tif\", \"picture\": \"p.tif\"}}"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) assert_in(out_text, parts[i]);
    succeed("voronoi --help");
    assert_in(out_text, "--connected");
    assert_in(out_text, "auto|raster-scan|sweep|sweep-blocks|sweep-rows|jump-flood");
    assert_null(strstr(out_text, "sequential-scan"));
}

/* Every cell has a colour of its own, its site is dark, and what is in no cell is grey. */
static void test_picture(void **state) {
    (void)state;
    draw_file();
    succeed("voronoi in.tif out.tif --device cpu -q --max-distance 1.5 --picture p.tif");
    Result map = read_result("out.tif", 0), p = read_result("p.tif", 0);
    assert_int_equal(p.samples, 3);
    for (int i = 0; i < FEW_WIDTH * FEW_HEIGHT; ++i)
        for (int c = 0; c < 3; ++c) {
            const int site = (int)map.values[i], other = site == 1 ? 0 : 13; /* a pixel of the cell besides the site */
            const double want = site < 0 ? 128 : site == i ? 16 : p.values[3 * other + c];
            assert_true(p.values[3 * i + c] == want);
        }
    assert_true(memcmp(p.values, p.values + 3 * 13, 3 * sizeof *p.values));
    free(map.values), free(p.values);
}

static const struct {
    const char *words, *sentence;
    int code;
} kWrong[] = {
    {"", "OUT.tif is missing", 2},
    {"new.tif --signed", "unknown option '--signed'", 2},
    {"new.tif --method tile-fill", "--method is 'tile-fill', but must be one of auto|raster-scan", 2},
    {"new.tif --method sequential-scan", "--method is 'sequential-scan'", 2},
    {"new.tif --mixed", "--mixed is for --method sweep, but --method is auto", 2},
    {"new.tif --mixed --method jump-flood", "--mixed is for --method sweep, but --method is jump-flood", 2},
    {"new.tif --mixed --connected --method sweep", "--mixed leaves exclaves, but --connected hides them", 2},
    {"new.tif --spacing 1,1,1", "--spacing has 3 numbers, but must have 2", 2},
    {"new.tif --spacing 1,2 --metric chessboard", "--spacing must be the same for every axis", 2},
    {"new.tif --type f32", "--type is 'f32', but must be one of i32|i64", 2},
    {"new.tif --picture p.gif", "--picture is 'p.gif', but must end in .png or .tif", 2},
    {"new.tif --picture new.tif", "'new.tif' is named for two outputs", 2},
    {"in.tif", "cannot write 'in.tif': it exists", 1},
    {"new.tif --volume --method sweep", "2-D", 12},
    {"new.tif --spacing 1,2 --method raster-scan", "equal spacing", 12},
    {"new.tif --metric city-block --method jump-flood", "Euclidean", 12},
};

static void test_wrong(void **state) {
    (void)state;
    draw_file();
    for (size_t i = 0; i < sizeof kWrong / sizeof *kWrong; ++i) {
        const int code = run("voronoi in.tif --device cpu %s", kWrong[i].words);
        if (code != kWrong[i].code) fail_msg("apsis voronoi in.tif %s: exit code %d", kWrong[i].words, code);
        assert_in(err_text, kWrong[i].sentence);
        assert_files(1);
    }
}

enum { SPARSE_WIDTH = 240, SPARSE_HEIGHT = 160, SPARSE = SPARSE_WIDTH * SPARSE_HEIGHT };

static bool joined[SPARSE]; /* to the site, by pixels of its cell */

static void join(const double *map, int at) {
    static int list[SPARSE];
    int end = 0;
    list[end++] = at, joined[at] = true;
    while (end > 0) {
        const int here = list[--end], x = here % SPARSE_WIDTH, y = here / SPARSE_WIDTH;
        for (int v = y - (y > 0); v <= y + (y < SPARSE_HEIGHT - 1); ++v)
            for (int u = x - (x > 0); u <= x + (x < SPARSE_WIDTH - 1); ++u) {
                const int next = u + SPARSE_WIDTH * v;
                if (joined[next] || map[next] != map[at]) continue;
                list[end++] = next, joined[next] = true;
            }
    }
}

/** How many exclaves a map has; `joined` tells which pixels are none. */
static int count_exclaves(const double *map) {
    int count = SPARSE;
    memset(joined, 0, sizeof joined);
    for (int i = 0; i < SPARSE; ++i)
        if (map[i] == i) join(map, i);
    for (int i = 0; i < SPARSE; ++i) count -= joined[i];
    return count;
}

/** Three sites almost in a line: the cell of the middle one ends in a long tip, thinner than a pixel. */
static void write_sparse(uint32_t seed) {
    const int u = 4 + (int)(next_random(&seed) % 8), v = 2 + (int)(next_random(&seed) % 8);
    const int middle = SPARSE_WIDTH / 2 + SPARSE_WIDTH * (SPARSE_HEIGHT / 2), step = u + SPARSE_WIDTH * v;
    memset(samples, 0, sizeof samples);
    samples[middle - step] = samples[middle] = samples[middle + step + SPARSE_WIDTH] = 1;
    write_tiff("in.tif", &kBits, SPARSE_WIDTH, SPARSE_HEIGHT, 1);
}

static void test_connected(void **state) {
    (void)state;
    int exclaves = 0;
    for (uint32_t seed = 1; seed <= 30; ++seed) {
        write_sparse(seed);
        succeed("voronoi in.tif complete.tif --device cpu -q --overwrite");
        succeed("voronoi in.tif connected.tif --device cpu --json --overwrite --connected");
        assert_in(out_text, "\"connected\": true");
        Result before = read_result("complete.tif", 0), after = read_result("connected.tif", 0);
        assert_int_equal(count_exclaves(after.values), 0);
        exclaves += count_exclaves(before.values);
        for (int i = 0; i < SPARSE; ++i) assert_true(joined[i] == (before.values[i] == after.values[i]));
        free(before.values), free(after.values);
    }
    assert_true(exclaves > 0);
}

/** The number of a member of the report. */
static long long reported(const char *key) {
    char name[40];
    snprintf(name, sizeof name, "\"%s\": ", key);
    const char *at = strstr(out_text, name);
    assert_non_null(at);
    return strtoll(at + strlen(name), NULL, 10);
}

static void test_methods(void **state) {
    (void)state;
    static const char *const exact[] = {"raster-scan", "sweep", "sweep-blocks", "sweep-rows"};
    write_sparse(3);
    succeed("distance in.tif far.tif --device cpu -q --nearest near.tif");
    for (int i = 0; i < 4; ++i) {
        succeed("voronoi in.tif map.tif --device cpu --json --overwrite --method %s", exact[i]);
        assert_true(reported("kernels") > 0 && reported("mended") >= 0);
        assert_int_equal(shell("cmp map.tif near.tif"), 0);
        succeed("distance in.tif f.tif --device cpu --overwrite --nearest n.tif --method %s", exact[i]);
        assert_in(out_text, " instances, ");
        assert_in(out_text, " pixels mended; CPU");
        assert_int_equal(shell("cmp f.tif far.tif && cmp n.tif near.tif"), 0);
        succeed("voronoi in.tif map.tif --device cpu --json --overwrite --max-distance 9 --method %s", exact[i]);
        assert_true(reported("pixels_in_none") > 0);
    }
    succeed("voronoi in.tif map.tif --device cpu --json --overwrite --method sweep --mixed");
    assert_in(out_text, "\"method\": \"sweep\", \"connected\": false, \"mixed\": true");
    succeed("voronoi in.tif map.tif --device cpu --json --overwrite --method jump-flood");
    assert_true(reported("kernels") >= 8);
    succeed("distance in.tif f.tif --device cpu --overwrite --metric city-block --method sequential-scan");
    succeed("distance in.tif g.tif --device cpu --overwrite --metric city-block");
    assert_int_equal(shell("cmp f.tif g.tif"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_maps, start),    cmocka_unit_test_setup(test_empty, start),
        cmocka_unit_test_setup(test_words, start),   cmocka_unit_test_setup(test_picture, start),
        cmocka_unit_test_setup(test_wrong, start),   cmocka_unit_test_setup(test_connected, start),
        cmocka_unit_test_setup(test_methods, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
