/* What `apsis surface-distance` says, of answers by hand and by brute force. */
#include "tool_question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Two rectangles in 20 x 10 pixels, the second one `by` to the right. */
static void write_pair(int by) {
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < 200; ++i) {
            const int x = i % 20 - k * by, y = i / 20;
            samples[i] = x >= 2 && x < 8 && y >= 3 && y < 7;
        }
        write_tiff(k ? "b.tif" : "a.tif", &kBytes, 20, 10, 1);
    }
}

static void test_numbers(void **state) {
    (void)state;
    write_pair(3);
    succeed("surface-distance a.tif b.tif --tolerance 1 --device cpu");
    assert_in(out_text, "a.tif: 20 x 10 pixels; 24 in the set");
    assert_in(out_text, "b.tif: 24 in the set");
    assert_in(out_text, "Hausdorff distance 3, at 95 % 3, average ");
    succeed("surface-distance a.tif a.tif --device cpu");
    assert_in(out_text, "Hausdorff distance 0, at 95 % 0, average 0, surface Dice 1");
    succeed("surface-distance a.tif b.tif --spacing 0.5,1 --percentile 50 --tolerance 2 --json --device cpu");
    assert_in(out_text,
              "\"spacing\": [0.5, 1], \"percentile_of\": 50, \"tolerance\": 2, \"surface\": \"pixels\", \"hausdorff\": 1.5, ");
    assert_in(out_text, "\"dice\": 1, \"surfaces\": [{\"points\": 16, \"area\": 16, \"within\": 16, \"largest\": 1.5, ");
    for (int i = 0; i < 200; ++i) samples[i] = 0;
    write_tiff("b.tif", &kBytes, 20, 10, 1);
    succeed("surface-distance a.tif b.tif --json --device cpu");
    assert_in(out_text, "\"hausdorff\": null");
}

static void test_volumes(void **state) {
    (void)state;
    for (int i = 0; i < 60; ++i) samples[i] = i == 0;
    write_tiff("a.tif", &kBytes, 5, 4, 3);
    for (int i = 0; i < 60; ++i) samples[i] = i == 40;
    write_tiff("b.tif", &kBytes, 5, 4, 3);
    succeed("surface-distance a.tif b.tif --volume --spacing 1,1,2.5 --device cpu");
    assert_in(out_text, "Hausdorff distance 5, at 95 % 5, average 5, surface Dice 0");
    assert_true(run("surface-distance a.tif b.tif --device cpu") != 0);
    assert_in(err_text, "has 3 pages: take them as slices of one image with --volume");
}

static void test_labels(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < 200; ++i) samples[i] = i % 20 == 2 && i < 100 ? 9 : i == 199 - k ? 4 : k && i == 0 ? 200 : 0;
        write_tiff(k ? "b.tif" : "a.tif", &kBytes, 20, 10, 1);
    }
    succeed("surface-distance a.tif b.tif --labels --tolerance 1 --device cpu");
    assert_in(out_text, "value,hausdorff,hausdorff_percentile,average,dice,points_1,points_2,area_1,");
    assert_in(out_text, "\n4,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n9,0,0,0,1,5,5,");
    assert_in(out_text, "\n200,inf,inf,inf,0,0,1,0,1,0,0,");
    succeed("surface-distance a.tif b.tif --labels --surface corners --table t.json --json --device cpu");
    assert_in(out_text, "\"surface\": \"corners\", \"values\": 3");
    succeed("surface-distance a.tif b.tif --labels --table t.csv --device cpu");
    assert_in(out_text, "3 values; ");
    assert_int_equal(run("surface-distance a.tif b.tif --labels --json"), 2);
    assert_in(err_text, "--table");
    succeed("surface-distance a.tif b.tif --surface all --device cpu");
    assert_in(out_text, "Hausdorff distance 2, ");
}

static void test_words(void **state) {
    (void)state;
    write_pair(1);
    static const char *const wrong[][2] = {{"--percentile 101", "--percentile is above 100"},
                                           {"--tolerance -1", "--tolerance"},
                                           {"--metric chamfer", "--metric is 'chamfer'"},
                                           {"--surface edges", "--surface is 'edges'"},
                                           {"--metric chessboard --spacing 1,2", "--metric chessboard"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_int_equal(run("surface-distance a.tif b.tif %s", wrong[i][0]), 2);
        assert_in(err_text, wrong[i][1]);
    }
    assert_int_equal(run("surface-distance a.tif"), 2);
    for (int i = 0; i < 6; ++i) samples[i] = 1;
    write_tiff("b.tif", &kBytes, 3, 2, 1);
    assert_true(run("surface-distance a.tif b.tif --device cpu") != 0);
    assert_in(err_text, "has 3 x 2 pixels, 1 page, but ");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_numbers, start), cmocka_unit_test_setup(test_volumes, start),
                                       cmocka_unit_test_setup(test_labels, start), cmocka_unit_test_setup(test_words, start)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
