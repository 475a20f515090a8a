/* PNG files that the apsis command reads: grey samples of every size, plain and interlaced, as labels and as sets. */
#include "tool_png.h"
#include "tool_question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static int label[MOST];

/* Whether this build of the command reads PNG. */
static int need_png(void **state) {
    start(state);
    make_samples(8, 3);
    write_png("in.png", 8, false);
    if (run("distance in.png out.tif") == 0) return start(state);
    assert_in(err_text, "it is PNG, not TIFF");
    return -1;
}

static void test_samples(void **state) {
    (void)state;
    for (int bits = 1; bits <= 16; bits *= 2)
        for (int interlaced = 0; interlaced < 2; ++interlaced) {
            const int64_t most = (1 << bits) - 1, values[4] = {1, most / 2 + 1, most, most - most / 4};
            make_labels(values, 50 + (uint32_t)bits);
            write_png("in.png", bits, interlaced);
            const int count = number_all(WIDTH, HEIGHT, 1, false, 2, label);
            succeed("components in.png out.tif --labels --connectivity 8 --overwrite --device cpu");
            char sentence[64];
            snprintf(sentence, sizeof sentence, "out.tif: %d component", count);
            assert_in(out_text, sentence);
            Result r = read_result("out.tif", 0);
            for (int i = 0; i < WIDTH * HEIGHT; ++i) assert_int_equal((int)r.values[i], label[i]);
            free(r.values);
            succeed("voronoi in.png out.tif --labels --max-distance 0.5 --overwrite --device cpu -q");
            r = read_result("out.tif", 0); /* no label grows so little */
            for (int i = 0; i < WIDTH * HEIGHT; ++i) assert_int_equal((int)r.values[i], samples[i]);
            free(r.values);
            succeed("distance in.png out.tif --nearest which.tif --overwrite --device cpu -q");
            make_set(1, false);
            check("a set", &kPage, "out.tif", "which.tif");
            succeed("distance in.png out.tif --overwrite --device cpu -q --sites black");
            make_set(1, true);
            check("black", &kPage, "out.tif", NULL);
        }
}

/* Larger than what is read at once, in slabs, with the set in a file. */
static void test_slabs(void **state) {
    (void)state;
    enum { SIDE = 2000 };
    static uint8_t rows[SIDE][SIDE + 1];
    static uint8_t packed[sizeof rows + 4096];
    uint32_t seed = 9;
    for (int y = 0; y < SIDE; ++y)
        for (int x = 1; x <= SIDE; ++x) rows[y][x] = next_random(&seed) % 50 == 0;
    uLongf size = sizeof packed;
    assert_int_equal(compress(packed, &size, rows[0], sizeof rows), Z_OK);
    FILE *file = fopen("in.png", "wb");
    assert_non_null(file);
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    put_png_chunk(file, "IHDR", (const uint8_t[13]){0, 0, SIDE >> 8, SIDE & 255, 0, 0, SIDE >> 8, SIDE & 255, 8}, 13);
    put_png_chunk(file, "IDAT", packed, size);
    put_png_chunk(file, "IEND", packed, 0);
    fclose(file);
    succeed("distance in.png one.tif --device cpu -q");
    succeed("distance in.png many.tif --device cpu --memory 1400K --json");
    assert_in(out_text, "\"set_in_file\": true");
    assert_int_equal(shell("cmp one.tif many.tif"), 0);
}

static void test_refused(void **state) {
    (void)state;
    make_samples(8, 3);
    write_png("in.png", 8, false);
    write_png_of("rgb.png", WIDTH, HEIGHT, 8, RGB, false);
    write_png_of("alpha.png", WIDTH, HEIGHT, 8, GREY_ALPHA, false);
    write_png_of("palette.png", WIDTH, HEIGHT, 8, PALETTE, false);
    write_png_of("claim.png", 65535, 65535, 16, GREY, true);
    write_png_of("high.png", WIDTH, HEIGHT + 1, 8, GREY, false);
    assert_int_equal(shell("head -c 100 in.png >short.png; head -c 4 in.png >head.png; head -c 20 in.png >head20.png;"
                           "(head -c 60 in.png; printf x; tail -c +62 in.png) >broken.png;"
                           "head -c -12 in.png >endless.png; true"),
                     0);
    static const char *const cases[][2] = {
        {"rgb.png", "'rgb.png' has 3 samples a pixel"},
        {"alpha.png", "'alpha.png' has 2 samples a pixel"},
        {"palette.png", "'palette.png' has the colours of a palette, but labels must be numbers"},
        {"claim.png", "cannot read 'claim.png': it has only "},
        {"high.png", "cannot read 'high.png': "},
        {"short.png", "cannot read 'short.png': it ends too early"},
        {"head.png", "cannot read 'head.png': it ends too early"},
        {"head20.png", "cannot read 'head20.png': it ends too early"},
        {"broken.png", "cannot read 'broken.png': "},
        {"endless.png", "cannot read 'endless.png': it ends too early"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const int code = run("components %s new.tif --labels --device cpu", cases[i][0]);
        if (code != 1) fail_msg("%s: exit code %d, but should be 1\n%s", cases[i][0], code, err_text);
        assert_in(err_text, cases[i][1]);
        assert_false(exists("new.tif"));
    }
    assert_int_equal(run("info in.png"), 1);
    assert_in(err_text, "cannot read 'in.png': it is PNG, not TIFF");
    assert_int_equal(run("distance in.png new.tif --max-pixels 850"), 1);
    assert_in(err_text, "'in.png' has 37 x 23 pixels, 1 page, more than --max-pixels, 850");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_samples, start), cmocka_unit_test_setup(test_slabs, start),
                                       cmocka_unit_test_setup(test_refused, start)};
    if (enter_folder(NULL)) return 1;
    const bool is_read = need_png(NULL) == 0;
    leave_folder(NULL);
    return is_read ? cmocka_run_group_tests(tests, enter_folder, leave_folder) : 77;
}
