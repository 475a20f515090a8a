/* What `apsis thickness` and `apsis medial-axis` write, compared with brute force over the same pixels. */
#include "tool_question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double square_between(int i, int j, int w, int h, const double spacing[3]) {
    const double dx = (i % w - j % w) * spacing[0], dy = (i / w % h - j / w % h) * spacing[1],
                 dz = (i / w / h - j / w / h) * spacing[2];
    return dx * dx + dy * dy + dz * dz;
}

/** The squares of radii, within each page or the volume. */
static void solve(int w, int h, int pages, bool volume, const double spacing[3], bool axis, double *result) {
    static double square[MOST];
    const int all = w * h * pages, image = volume ? all : w * h;
    for (int i = 0; i < all; ++i) {
        square[i] = set[i] ? INFINITY : 0;
        result[i] = 0;
        for (int j = i / image * image; j < (i / image + 1) * image; ++j)
            if (!set[j]) square[i] = fmin(square[i], square_between(i, j, w, h, spacing));
    }
    for (int i = 0; i < all; ++i) {
        double greatest = 0;
        int centre = -1;
        for (int j = i / image * image; set[i] && j < (i / image + 1) * image; ++j) {
            const double apart = square_between(i, j, w, h, spacing), power = axis ? square[j] - apart : square[j];
            if (apart < square[j] && power > greatest) greatest = power, centre = j;
        }
        if (centre >= 0) result[axis ? centre : i] = axis ? square[centre] : greatest;
    }
}

static const struct {
    const char *words;
    int pages;
    bool volume, complement, squared;
    double spacing[3];
} kCases[] = {
    {"", 1, false, false, false, {1, 1, 1}},
    {"--squared --sites zero", PAGES, false, true, true, {1, 1, 1}},
    {"--spacing 2,1.5 --type f64 --threads 1", 1, false, false, false, {2, 1.5, 1}},
    {"--volume --spacing 1,1,2", PAGES, true, false, false, {1, 1, 2}},
};

static void test_radii(void **state) {
    (void)state;
    static double want[MOST];
    for (size_t k = 0; k < 2 * sizeof kCases / sizeof *kCases; ++k) {
        const bool axis = k % 2;
        const int pages = kCases[k / 2].pages, all = WIDTH * HEIGHT * pages;
        make_samples(8, 19 + (uint32_t)k);
        for (int i = 0; i < all; ++i) samples[i] = (samples[i] < 220) != kCases[k / 2].complement;
        write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, pages);
        for (int i = 0; i < all; ++i) set[i] = (samples[i] != 0) != kCases[k / 2].complement;
        solve(WIDTH, HEIGHT, pages, kCases[k / 2].volume, kCases[k / 2].spacing, axis, want);
        succeed("%s in.tif out.tif --overwrite --device cpu %s", axis ? "medial-axis" : "thickness", kCases[k / 2].words);
        assert_in(out_text, "radius");
        for (int z = 0; z < pages; ++z) {
            Result r = read_result("out.tif", z);
            for (int i = 0; i < WIDTH * HEIGHT; ++i) {
                const double square = want[z * WIDTH * HEIGHT + i], value = kCases[k / 2].squared ? square : sqrt(square);
                if (fabs(r.values[i] - value) > 1e-6 * value)
                    fail_msg("%s: page %d, pixel %d is %g, not %g", kCases[k / 2].words, z, i, r.values[i], value);
            }
            free(r.values);
        }
    }
}

static void test_words(void **state) {
    (void)state;
    for (int i = 0; i < 35; ++i) samples[i] = 1;
    write_tiff("in.tif", &kBytes, 7, 5, 1);
    succeed("thickness in.tif out.tif --border --squared --json --device cpu");
    assert_in(out_text,
              "\"spacing\": [1, 1], \"border\": true, \"squared\": true, \"type\": \"i32\", "
              "\"radius\": {\"minimum\": 9, \"maximum\": 9, \"mean\": 9");
    succeed("medial-axis in.tif out.tif --overwrite --border --device cpu");
    assert_in(out_text, "out.tif: radius 2 to 3, mean 2.42857");
    succeed("thickness in.tif out.tif --overwrite --device cpu");
    assert_in(out_text, "35 pixels without one");
    succeed("medial-axis --help");
    assert_in(out_text, "--squared");

    static const char *const wrong[][2] = {{"--type i32", "--type i32 cannot hold radii"},
                                           {"--squared --type f32", "--squared gives whole numbers"},
                                           {"--squared --spacing 2", "--type i32"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_int_equal(run("thickness in.tif new.tif %s", wrong[i][0]), 2);
        assert_in(err_text, wrong[i][1]);
        assert_false(exists("new.tif"));
    }
    assert_true(run("thickness in.tif new.tif --border --sites zero --device cpu") != 0);
    assert_in(err_text, "APSIS_BORDER");
    assert_false(exists("new.tif"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_radii, start), cmocka_unit_test_setup(test_words, start)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
