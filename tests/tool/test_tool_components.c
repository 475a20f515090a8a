/* What `apsis components` writes: numbers, masks and tables, compared with a flood fill and with answers by hand. */
#include "tool_question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int label[MOST];

static void check_labels(const char *path, int pages, int bits) {
    assert_int_equal(pages_of(path), pages);
    for (int z = 0; z < pages; ++z) {
        Result r = read_result(path, z);
        assert_int_equal(r.width, WIDTH);
        assert_int_equal(r.height, HEIGHT);
        assert_int_equal(r.bits, bits);
        assert_int_equal(r.format, SAMPLEFORMAT_INT);
        for (int i = 0; i < WIDTH * HEIGHT; ++i) assert_int_equal((int)r.values[i], label[z * WIDTH * HEIGHT + i]);
        free(r.values);
    }
}

static const struct {
    const char *words;
    int pages, axes, bits;
    bool volume, complement;
} kLabels[] = {
    {"", 1, 1, 32, false, false},
    {"--connectivity 8 --type i64", 1, 2, 64, false, false},
    {"--connectivity 8 --method tile-fill", 1, 2, 32, false, false},
    {"--sites zero --compress deflate --tiled", 1, 1, 32, false, true},
    {"--connectivity 8", PAGES, 2, 32, false, false},
    {"--volume", PAGES, 1, 32, true, false},
    {"--volume --connectivity 18 --threads 1", PAGES, 2, 32, true, false},
    {"--volume --connectivity 26 --sites zero", PAGES, 3, 32, true, true},
};

static void test_labels(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kLabels / sizeof *kLabels; ++i) {
        make_samples(8, 31 + (uint32_t)i);
        make_set(1, kLabels[i].complement);
        write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, kLabels[i].pages);
        for (int k = 0; k < PIXELS; ++k) samples[k] = set[k];
        const int count = number_all(WIDTH, HEIGHT, kLabels[i].pages, kLabels[i].volume, kLabels[i].axes, label);
        succeed("components in.tif out.tif --overwrite %s --device cpu", kLabels[i].words);
        check_labels("out.tif", kLabels[i].pages, kLabels[i].bits);
        char sentence[64];
        snprintf(sentence, sizeof sentence, "out.tif: %d component", count);
        assert_in(out_text, sentence);
    }
}

/* A ring with a dot in it, a bar at the left border, and a speck; '#' is a sample of 1. */
static const char kDrawing[] =
    "........."
    "#..####.."
    "#..#..#.#"
    "#..#..#.."
    "#..####.."
    ".........";
enum { DRAWN_WIDTH = 9, DRAWN_HEIGHT = 6 };

static void draw_file(void) {
    for (int i = 0; i < DRAWN_WIDTH * DRAWN_HEIGHT; ++i) samples[i] = kDrawing[i] == '#';
    write_tiff("in.tif", &kBits, DRAWN_WIDTH, DRAWN_HEIGHT, 1);
}

/** The output, '#' where it is not 0, is this. */
static void expect(const char *words, const char *rows) {
    char got[DRAWN_WIDTH * DRAWN_HEIGHT + 1] = "";
    succeed("components in.tif out.tif --overwrite -q --device cpu %s", words);
    Result r = read_result("out.tif", 0);
    for (int i = 0; i < DRAWN_WIDTH * DRAWN_HEIGHT; ++i) {
        got[i] = r.values[i] > 0 ? '#' : '.';
        if (r.bits == 8) assert_true(r.values[i] == 0 || r.values[i] == 255);
    }
    free(r.values);
    if (strncmp(got, rows, sizeof got - 1)) print_error("%s\n", words);
    assert_memory_equal(got, rows, sizeof got - 1);
}

static void test_selections(void **state) {
    (void)state;
    draw_file();
    expect("--fill-holes --type u8", ".........#..####..#..####.##..####..#..####...........");
    expect("--clear-border", "............####.....#..#.....#..#.....####...........");
    expect("--largest 2 --type u8", ".........#..####..#..#..#..#..#..#..#..####...........");
    expect("--max-area 4", ".........#........#.......##........#.................");
    expect("--min-area 2 --max-area 4 --type u8", ".........#........#........#........#.................");
    expect("--sites zero --largest 1 --type u8", "#########.##....##.##....#..##....##.##....###########");
}

static void test_tables(void **state) {
    (void)state;
    char text[4096];
    draw_file();
    succeed("components in.tif out.tif --stats table.csv -q --device cpu --largest 2");
    slurp("table.csv", text, sizeof text);
    assert_string_equal(text,
                        "label,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean\n"
                        "1,9,4,0,1,0,0,4,0,0,2.5,0\n"
                        "2,12,12,3,1,0,6,4,0,4.5,2.5,0\n");
    succeed("components in.tif out.tif --stats table.json -q --device cpu --max-area 1 --overwrite");
    slurp("table.json", text, sizeof text);
    assert_string_equal(text,
                        "[\n {\"label\": 1, \"first\": 26, \"area\": 1, \"lower\": [8, 2, 0], \"upper\": [8, 2, 0], "
                        "\"centroid\": [8, 2, 0]}\n]\n");
    succeed("components in.tif out.tif --stats none.json -q --device cpu --min-area 100 --overwrite");
    slurp("none.json", text, sizeof text);
    assert_string_equal(text, "[\n]\n");
}

static void test_words(void **state) {
    (void)state;
    draw_file();
    succeed("components in.tif out.tif --json --connectivity 8 --min-area 2 --picture p.tif --device cpu");
    static const char *const parts[] = {"{\"command\": \"components\", \"input\": \"in.tif\", \"width\": 9, \"height\": 6",
                                        "\"connectivity\": 8",
                                        "\"min_area\": 2, \"max_area\": null, \"largest\": null",
                                        "\"type\": \"i32\", \"components\": 2",
                                        "\"seconds\": {\"prepare\": ",
                                        "\"outputs\": {\"components\": \"out.tif\", \"stats\": null, \"picture\": \"p.tif\"}}"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) assert_in(out_text, parts[i]);
    Result p = read_result("p.tif", 0);
    assert_int_equal(p.samples, 3);
    free(p.values);
    succeed("components --help");
    assert_in(out_text, "--fill-holes");

    static const char *const wrong[][2] = {{"--connectivity 6", "--connectivity is 6, but must be 4 or 8"},
                                           {"--connectivity 8 --volume", "--connectivity is 8, but must be 6, 18 or 26"},
                                           {"--connectivity 5", "--connectivity"},
                                           {"--largest 0", "--largest is '0'"},
                                           {"--min-area 5 --max-area 4", "--min-area is 5, more than --max-area, 4"},
                                           {"--stats t.txt", "--stats is 't.txt', but must end in .csv or .json"},
                                           {"--stats out2.tif", "--stats"},
                                           {"--picture p.gif", "--picture"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_int_equal(run("components in.tif new.tif %s", wrong[i][0]), 2);
        assert_in(err_text, wrong[i][1]);
        assert_false(exists("new.tif"));
    }
    assert_int_equal(run("components in.tif new.tif --device cpu --method tile-fill --largest 2"), 12);
    assert_in(err_text, "APSIS_TILE_FILL");
    assert_false(exists("new.tif"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_labels, start),
                                       cmocka_unit_test_setup(test_selections, start),
                                       cmocka_unit_test_setup(test_tables, start), cmocka_unit_test_setup(test_words, start)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
