/* What `apsis geodesic` and `apsis eccentricity` write, compared with relaxation in place and with answers by hand. */
#include "tool_question.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double length[MOST];

/** The lengths from the pixels of length 0 over `set`: relaxed, pixel by pixel, until nothing changes. */
static void relax_all(int w, int h, int pages, bool volume, const double step[4]) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int at = 0; at < w * h * pages; ++at) {
            if (!set[at]) continue;
            const int x = at % w, y = at / w % h, z = at / w / h;
            for (int n = 0; n < 27; ++n) {
                const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1, axes = abs(dx) + abs(dy) + abs(dz);
                if (axes == 0 || step[axes] == 0 || (dz && !volume)) continue;
                if (x + dx < 0 || x + dx >= w || y + dy < 0 || y + dy >= h || z + dz < 0 || z + dz >= pages) continue;
                const int from = at + dx + w * (dy + h * dz);
                if (!set[from] || length[from] + step[axes] >= length[at] - 1e-9) continue;
                length[at] = length[from] + step[axes];
                changed = true;
            }
        }
    }
}

static void check_lengths(const char *path, int pages) {
    assert_int_equal(pages_of(path), pages);
    for (int z = 0; z < pages; ++z) {
        Result r = read_result(path, z);
        for (int i = 0; i < WIDTH * HEIGHT; ++i) {
            const int at = z * WIDTH * HEIGHT + i;
            const double want = set[at] ? length[at] : -1, none = r.format == SAMPLEFORMAT_INT ? 2147483647.0 : INFINITY;
            assert_true(isinf(want) ? r.values[i] == none : fabs(r.values[i] - want) <= 1e-6 * (1 + want));
        }
        free(r.values);
    }
}

static const struct {
    const char *words;
    int pages;
    bool volume;
    double step[4];
} kLengths[] = {
    {"", 1, false, {0, 1, M_SQRT2, 0}},
    {"--connectivity 4 --type f64", 1, false, {0, 1, 0, 0}},
    {"--metric city-block --type i32", 1, false, {0, 1, 0, 0}},
    {"--metric taxicab", 1, false, {0, 1, 0, 0}},
    {"--metric chessboard --type i32 --compress deflate", 1, false, {0, 1, 1, 0}},
    {"--metric chamfer", 1, false, {0, 1, 4 / 3.0, 0}},
    {"--metric chamfer --weights 2,3 --type f64", 1, false, {0, 1, 1.5, 0}},
    {"--metric chamfer --weights 4,6,7 --volume", PAGES, true, {0, 1, 1.5, 1.75}},
    {"--spacing 2.5", PAGES, false, {0, 2.5, 2.5 * M_SQRT2, 0}},
    {"--volume", PAGES, true, {0, 1, M_SQRT2, 1.7320508075688772}},
    {"--volume --connectivity 18 --threads 1", PAGES, true, {0, 1, M_SQRT2, 0}},
    {"--max-distance 4", 1, false, {0, 1, M_SQRT2, 0}},
};

static void test_lengths(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kLengths / sizeof *kLengths; ++i) {
        const int pages = kLengths[i].pages, count = WIDTH * HEIGHT * pages;
        uint32_t chance = 7;
        make_samples(8, 41 + (uint32_t)i);
        make_set(1, true);
        write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, pages);
        memset(samples, 0, sizeof samples);
        for (int k = 0; k < count; ++k) {
            samples[k] = next_random(&chance) % 200 == 0;
            length[k] = samples[k] ? 0 : INFINITY;
        }
        write_tiff("seeds.tif", &kBits, WIDTH, HEIGHT, pages);
        relax_all(WIDTH, HEIGHT, pages, kLengths[i].volume, kLengths[i].step);
        for (int k = 0; k < count && strstr(kLengths[i].words, "max"); ++k)
            if (length[k] > 4) length[k] = INFINITY;
        succeed("geodesic in.tif seeds.tif out.tif --sites zero --overwrite --device cpu --nearest n.tif %s",
                kLengths[i].words);
        check_lengths("out.tif", pages);
        Result n = read_result("n.tif", 0);
        for (int k = 0; k < WIDTH * HEIGHT; ++k) assert_true((n.values[k] >= 0) == (set[k] && isfinite(length[k])));
        free(n.values);
    }
}

/* A corridor with a corner, and a speck. */
static const char kDrawing[] =
    "####.."
    "...#.#"
    "...#..";
enum { DRAWN_WIDTH = 6, DRAWN_HEIGHT = 3 };

static void draw_file(void) {
    for (int i = 0; i < DRAWN_WIDTH * DRAWN_HEIGHT; ++i) samples[i] = kDrawing[i] == '#';
    write_tiff("in.tif", &kBits, DRAWN_WIDTH, DRAWN_HEIGHT, 1);
}

static void expect(const char *path, const int *want) {
    Result r = read_result(path, 0);
    for (int i = 0; i < DRAWN_WIDTH * DRAWN_HEIGHT; ++i) assert_int_equal((int)r.values[i], want[i]);
    free(r.values);
}

static void test_eccentricity(void **state) {
    (void)state;
    static const int e[] = {5, 4, 3, 3, -1, -1, -1, -1, -1, 4, -1, 0, -1, -1, -1, 5, -1, -1};
    static const int f[] = {15, 15, 15, 0, -1, -1, -1, -1, -1, 0, -1, 11, -1, -1, -1, 0, -1, -1};
    char text[4096];
    draw_file();
    for (int method = 0; method < 2; ++method) {
        succeed(
            "eccentricity in.tif e.tif --metric city-block --type i32 --farthest f.tif --components c.csv --device cpu "
            "--overwrite %s",
            method ? "--method every-source" : "--budget 9");
        expect("e.tif", e);
        expect("f.tif", f);
        assert_in(out_text, "e.tif: 2 components, eccentricity 0 to 5");
        slurp("c.csv", text, sizeof text);
        assert_string_equal(text, "label,first,diameter,end_1,end_2,radius,centre\n1,0,5,0,15,3,2\n2,11,0,11,11,0,11\n");
    }
    assert_int_equal(run("eccentricity in.tif e.tif --device cpu --overwrite --progress always"), 0);
    assert_in(err_text, "apsis: computing");
    succeed("eccentricity in.tif e.tif --components c.json --device cpu --overwrite -q --connectivity 4");
    slurp("c.json", text, sizeof text);
    assert_string_equal(
        text,
        "[\n {\"label\": 1, \"first\": 0, \"diameter\": 5, \"ends\": [0, 15], \"radius\": 3, \"centre\": 2},\n"
        " {\"label\": 2, \"first\": 11, \"diameter\": 0, \"ends\": [11, 11], \"radius\": 0, \"centre\": 11}\n]\n");
}

/* Costs of 8 and 16 bits and of floats, of which some are none; and those that are refused. */
static void test_costs(void **state) {
    (void)state;
    draw_file();
    memset(samples, 0, sizeof samples);
    samples[0] = 1;
    write_tiff("seeds.tif", &kBits, DRAWN_WIDTH, DRAWN_HEIGHT, 1);
    static const int costs[] = {1, 2, 3, 4, 0, 9, 1, 1, 1, 5, 0, 9, 1, 1, 1, 0, 9, 9};
    static const int twice[] = {0, 3, 8, 15, -1, -1, -1, -1, -1, 24, -1, INT32_MAX, -1, -1, -1, -1, -1, -1};
    static const Layout layouts[] = {{.name = "u8", .bits = 8, .photometric = 1},
                                     {.name = "u16", .bits = 16, .photometric = 1},
                                     {.name = "f32", .bits = 32, .photometric = 1, .format = SAMPLEFORMAT_IEEEFP},
                                     {.name = "i32", .bits = 32, .photometric = 1, .format = SAMPLEFORMAT_INT}};
    for (size_t k = 0; k < 4; ++k) {
        for (int i = 0; i < DRAWN_WIDTH * DRAWN_HEIGHT; ++i) {
            const float real = k == 2 && costs[i] == 0 ? -1 : (float)costs[i];
            uint32_t bits;
            memcpy(&bits, &real, sizeof bits);
            samples[i] = k == 2 ? bits : (uint32_t)costs[i];
        }
        write_tiff("costs.tif", &layouts[k], DRAWN_WIDTH, DRAWN_HEIGHT, 1);
        if (k == 3) continue;
        succeed("geodesic in.tif seeds.tif out.tif --costs costs.tif --metric city-block --device cpu --overwrite --type %s",
                k < 2 ? "i32" : "f32");
        Result r = read_result("out.tif", 0);
        for (int i = 0; i < DRAWN_WIDTH * DRAWN_HEIGHT; ++i) {
            const double real = twice[i] < 0 ? -1 : twice[i] == INT32_MAX ? INFINITY : twice[i] / 2.0;
            assert_true(r.values[i] == (k < 2 ? twice[i] : real));
        }
        free(r.values);
        assert_in(out_text, "cost 0 to");
    }
    assert_int_equal(run("geodesic in.tif seeds.tif o.tif --costs costs.tif --device cpu"), 1);
    assert_in(err_text, "'costs.tif' has signed samples, or whole ones of 32 bits, but costs are");
    assert_int_equal(run("geodesic in.tif seeds.tif o.tif --costs none.tif --device cpu"), 1);
    assert_in(err_text, "none.tif");
}

/* The longest path of a corridor, and that of a speck. */
static void test_longest(void **state) {
    (void)state;
    char text[4096];
    draw_file();
    succeed("paths in.tif p.tif --connectivity 4 --table t.csv --device cpu");
    static const int want[] = {1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 1, 0, 0};
    expect("p.tif", want);
    assert_in(out_text, "p.tif: 2 paths");
    slurp("t.csv", text, sizeof text);
    assert_string_equal(text,
                        "label,start,end,pixels,length,straight,tortuosity\n"
                        "1,0,15,6,5,3.605551275463989,1.386750490563073\n2,11,11,1,0,0,1\n");
    succeed("paths in.tif p.tif --connectivity 4 --overwrite --json --device cpu --spacing 2");
    assert_in(out_text, "\"paths\": 2, \"path_pixels\": 7");
    for (int i = 0; i < 18; ++i) samples[i] = kDrawing[i] == '#' ? 7 + i / 6 : 0;
    write_tiff("labels.tif", &kBytes, DRAWN_WIDTH, DRAWN_HEIGHT, 1);
    succeed("paths labels.tif p.tif --labels --overwrite --device cpu");
    assert_in(out_text, "p.tif: 4 paths");
}

static void test_words(void **state) {
    (void)state;
    draw_file();
    memset(samples, 0, sizeof samples);
    samples[0] = 1;
    write_tiff("seeds.tif", &kBits, DRAWN_WIDTH, DRAWN_HEIGHT, 1);
    write_tiff("small.tif", &kBits, DRAWN_WIDTH - 1, DRAWN_HEIGHT, 1);
    succeed("geodesic in.tif seeds.tif out.tif --json --connectivity 4 --picture p.tif --picture-nearest n.tif --device cpu");
    static const char *const parts[] = {"{\"command\": \"geodesic\", \"input\": \"in.tif\"",
                                        "\"seeds\": \"seeds.tif\", \"seed_pixels\": 1",
                                        "\"connectivity\": 4",
                                        "\"distance\": {\"minimum\": 0, \"maximum\": 5",
                                        "\"finite\": 6, \"infinite\": 1}",
                                        "\"picture\": \"p.tif\""};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) assert_in(out_text, parts[i]);
    succeed("eccentricity in.tif e.tif --json --picture q.tif --device cpu");
    assert_in(out_text, "{\"command\": \"eccentricity\", \"input\": \"in.tif\"");
    assert_in(out_text, "\"budget\": null, \"components\": 2");
    static const char *const pictures[] = {"p.tif", "n.tif", "q.tif"};
    for (int i = 0; i < 3; ++i) {
        Result p = read_result(pictures[i], 0);
        assert_int_equal(p.samples, 3);
        free(p.values);
    }
    static const struct {
        const char *line, *sentence;
        int code;
    } wrong[] = {
        {"geodesic in.tif seeds.tif", "OUT.tif is missing", 2},
        {"geodesic in.tif small.tif new.tif", "'small.tif' has 5 x 3 pixels, 1 page, but 'in.tif' has 6 x 3", 1},
        {"geodesic in.tif seeds.tif new.tif --connectivity 6", "--connectivity is 6, but must be 4 or 8", 2},
        {"geodesic in.tif seeds.tif new.tif --type i32", "--type i32 cannot hold Euclidean lengths", 2},
        {"geodesic in.tif seeds.tif new.tif --spacing 1,2,3", "--spacing has 3 numbers, but must have 2", 2},
        {"geodesic in.tif seeds.tif new.tif --metric chessboard --spacing 1,2", "--spacing must be the same", 2},
        {"geodesic in.tif seeds.tif new.tif --picture p.gif", "--picture", 2},
        {"eccentricity in.tif new.tif --components c.txt", "--components is 'c.txt', but must end in .csv or .json", 2},
        {"eccentricity in.tif new.tif --budget 0", "--budget", 2},
        {"eccentricity in.tif new.tif --budget 3 --method every-source", "--budget is for --method auto", 2},
        {"eccentricity in.tif new.tif --budget 1", "budget is 1, not enough for 1 of 2 components; the largest gap is ", 20},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_int_equal(run("%s --device cpu", wrong[i].line), wrong[i].code);
        assert_in(err_text, wrong[i].sentence);
        assert_false(exists("new.tif"));
    }
    succeed("geodesic --help");
    assert_in(out_text, "SEEDS.tif");
    succeed("eccentricity --help");
    assert_in(out_text, "--budget");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_lengths, start),
                                       cmocka_unit_test_setup(test_eccentricity, start),
                                       cmocka_unit_test_setup(test_costs, start), cmocka_unit_test_setup(test_longest, start),
                                       cmocka_unit_test_setup(test_words, start)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
