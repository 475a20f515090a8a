/* What `apsis morphology` writes, compared with brute force over the same pixels and with answers by hand. */
#include "tool_question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint8_t now[MOST], next[MOST];

static double length_between(int i, int j, int w, int h, const double spacing[3]) {
    const double dx = (i % w - j % w) * spacing[0], dy = (i / w % h - j / w % h) * spacing[1],
                 dz = (i / w / h - j / w / h) * spacing[2];
    return sqrt(dx * dx + dy * dy + dz * dz);
}

/** Dilates `now`, or erodes it: within each page, or within the volume. */
static void apply(int w, int h, int pages, bool volume, const double spacing[3], double radius, bool dilate) {
    const int all = w * h * pages, image = volume ? all : w * h;
    memcpy(next, now, (size_t)all);
    for (int i = 0; i < all; ++i)
        for (int j = i / image * image; j < (i / image + 1) * image; ++j)
            if (now[j] == dilate && length_between(i, j, w, h, spacing) <= radius) next[i] = dilate;
    memcpy(now, next, (size_t)all);
}

static const struct {
    const char *words;
    int pages;
    bool volume, complement;
    double spacing[3], radius;
    const char *steps; /* d: dilated, e: eroded */
} kCases[] = {
    {"--operation dilate --radius 2", 1, false, false, {1, 1, 1}, 2, "d"},
    {"--operation erode --radius 1.5 --sites zero", 1, false, true, {1, 1, 1}, 1.5, "e"},
    {"--operation open --radius 1 --threads 1", PAGES, false, false, {1, 1, 1}, 1, "ed"},
    {"--operation close --radius 3 --spacing 2,1.5", 1, false, false, {2, 1.5, 1}, 3, "de"},
    {"--operation close --radius 2.5 --volume --spacing 1,1,2", PAGES, true, false, {1, 1, 2}, 2.5, "de"},
};

static void test_operations(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof kCases / sizeof *kCases; ++k) {
        const int pages = kCases[k].pages, all = WIDTH * HEIGHT * pages;
        make_samples(8, 9 + (uint32_t)k);
        for (int i = 0; i < all; ++i) samples[i] = samples[i] < 90;
        write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, pages);
        for (int i = 0; i < all; ++i) now[i] = (samples[i] != 0) != kCases[k].complement;
        for (const char *step = kCases[k].steps; *step; ++step)
            apply(WIDTH, HEIGHT, pages, kCases[k].volume, kCases[k].spacing, kCases[k].radius, *step == 'd');
        succeed("morphology in.tif out.tif --overwrite --device cpu %s", kCases[k].words);
        assert_in(out_text, " in the set, which was ");
        for (int z = 0; z < pages; ++z) {
            Result r = read_result("out.tif", z);
            assert_int_equal(r.bits, 8);
            for (int i = 0; i < WIDTH * HEIGHT; ++i)
                if (r.values[i] != (now[z * WIDTH * HEIGHT + i] ? 255 : 0))
                    fail_msg("%s: page %d, pixel %d", kCases[k].words, z, i);
            free(r.values);
        }
    }
}

static void test_words(void **state) {
    (void)state;
    for (int i = 0; i < 35; ++i) samples[i] = 1;
    write_tiff("in.tif", &kBytes, 7, 5, 1);
    succeed("morphology in.tif out.tif --operation erode --radius 2 --border --metric taxicab --json --device cpu");
    assert_in(out_text,
              "\"operation\": \"erode\", \"radius\": 2, \"metric\": \"city-block\", \"spacing\": [1, 1], "
              "\"border\": true, \"pixels\": 3");
    succeed("morphology in.tif out.tif --operation erode --radius 2 --overwrite --device cpu");
    assert_in(out_text, "out.tif: 35 pixels in the set, which was eroded");
    succeed("morphology --help");
    assert_in(out_text, "--operation");

    for (int i = 0; i < 35; ++i) samples[i] = i % 7 < 4 ? 1 : 200; /* two labels side by side */
    write_tiff("in.tif", &kBytes, 7, 5, 1);
    succeed("morphology in.tif out.tif --labels --operation erode --radius 1 --overwrite --device cpu");
    assert_in(out_text, "out.tif: 25 pixels of labels, which were eroded");
    Result r = read_result("out.tif", 0);
    assert_int_equal(r.bits, 32);
    for (int i = 0; i < 35; ++i) assert_int_equal(r.values[i], i % 7 < 3 ? 1 : i % 7 < 5 ? 0 : 200);
    free(r.values);

    static const char *const wrong[][2] = {
        {"--radius 2", "--operation is missing"},
        {"--operation open", "--radius is missing"},
        {"--operation open --radius -1", "--radius"},
        {"--operation thin --radius 1", "--operation is 'thin'"},
        {"--operation open --radius 1 --labels --metric chessboard", "--labels"},
        {"--operation open --radius 1 --metric chamfer", "--metric is 'chamfer'"},
        {"--operation open --radius 1 --metric chessboard --spacing 1,2", "--metric chessboard"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_int_equal(run("morphology in.tif new.tif %s", wrong[i][0]), 2);
        assert_in(err_text, wrong[i][1]);
        assert_false(exists("new.tif"));
    }
    assert_true(run("morphology in.tif new.tif --operation close --radius 1 --border --device cpu") != 0);
    assert_in(err_text, "APSIS_BORDER");
    assert_false(exists("new.tif"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_operations, start),
                                       cmocka_unit_test_setup(test_words, start)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
