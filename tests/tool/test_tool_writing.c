/* What the apsis command writes: layouts of its TIFF files, pictures, and files in the place of others. */
#include "tool_question.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* out.tif is stored as layout l of test_output_layouts asks, and has the input's resolution. */
static void assert_tags(int l, bool whole) {
    TIFF *tiff = TIFFOpen("out.tif", "r");
    uint16_t compression = 0, predictor = 0;
    TIFFGetField(tiff, TIFFTAG_COMPRESSION, &compression);
    assert_int_equal(TIFFIsTiled(tiff), l == 0 || l == 2);
    assert_int_equal(TIFFIsBigTIFF(tiff), l == 3);
    assert_int_equal(compression, l == 1 || l == 2 ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE);
    if (TIFFGetField(tiff, TIFFTAG_PREDICTOR, &predictor) && compression != COMPRESSION_NONE)
        assert_int_equal(predictor, whole ? PREDICTOR_HORIZONTAL : PREDICTOR_FLOATINGPOINT);
    float resolution = 0;
    uint16_t unit = 0;
    TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &resolution);
    TIFFGetField(tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
    assert_true(resolution == 150 && unit == RESUNIT_CENTIMETER);
    TIFFClose(tiff);
}

static void test_output_layouts(void **state) {
    (void)state;
    memset(samples, 0, sizeof samples);
    samples[5] = samples[123456] = samples[MOST - 40000] = 1;
    write_tiff("in.tif", &kBits, BIG_WIDTH, BIG_HEIGHT, 1);
    static const char *const kinds[] = {"", "--squared", "--type f64", "--squared --type i64"};
    static const char *const layouts[] = {"--tiled", "--compress deflate", "--tiled --compress deflate", "--bigtiff"};
    for (int k = 0; k < 4; ++k) {
        succeed("distance in.tif plain.tif --nearest near.tif -q --overwrite %s", kinds[k]);
        Result d = read_result("plain.tif", 0), n = read_result("near.tif", 0);
        for (int l = 0; l < 4; ++l) {
            succeed("distance in.tif out.tif --nearest which.tif -q --overwrite %s %s", kinds[k], layouts[l]);
            Result d2 = read_result("out.tif", 0), n2 = read_result("which.tif", 0);
            assert_memory_equal(d.values, d2.values, sizeof(double) * MOST);
            assert_memory_equal(n.values, n2.values, sizeof(double) * MOST);
            free(d2.values);
            free(n2.values);
            assert_tags(l, k % 2);
        }
        free(d.values);
        free(n.values);
    }
}

static void test_pictures(void **state) {
    (void)state;
    memset(samples, 0, sizeof samples);
    samples[5 * WIDTH + 5] = samples[15 * WIDTH + 30] = 1;
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    succeed(
        "distance in.tif out.tif -q --max-distance 12 --nearest w.tif --picture d.tif "
        "--picture-nearest n.tif");
    Result distance = read_result("out.tif", 0), which = read_result("w.tif", 0);
    Result d = read_result("d.tif", 0), n = read_result("n.tif", 0);
    assert_int_equal(d.samples, 3);
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        const double *colour = d.values + 3 * i, *label = n.values + 3 * i;
        const bool grey = colour[0] == 128 && colour[1] == 128 && colour[2] == 128;
        assert_int_equal(grey, isinf(distance.values[i]));
        assert_int_equal(colour[0] == 255 && colour[2] == 255, distance.values[i] == 0);
        if (distance.values[i] == 0 || isinf(distance.values[i])) continue;
        /* One colour for one nearest pixel, another for another; farther is lighter. */
        const int first = which.values[i] == 5 * WIDTH + 5 ? 5 * WIDTH + 6 : 15 * WIDTH + 29;
        assert_memory_equal(label, n.values + 3 * first, 3 * sizeof(double));
        assert_true(colour[1] >= d.values[3 * (5 * WIDTH + 6) + 1]);
    }
    assert_memory_not_equal(n.values + 3 * (5 * WIDTH + 6), n.values + 3 * (15 * WIDTH + 29), 3 * sizeof(double));
    free(distance.values), free(which.values), free(d.values), free(n.values);

    assert_int_equal(run("distance in.tif out.tif --picture d.jpg --overwrite"), 2);
    if (run("distance in.tif out.tif --overwrite --picture d.PNG -q") == 0) {
        uint8_t head[24];
        FILE *file = fopen("d.PNG", "rb");
        assert_int_equal(fread(head, 1, 24, file), 24);
        fclose(file);
        assert_memory_equal(head, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x25\0\0\0\x17", 24);
    } else {
        assert_in(err_text, "libpng");
    }
}

static void test_overwrite(void **state) {
    (void)state;
    make_samples(1, 5);
    make_set(1, false);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    /* Through a link, keeping the permissions; and over the input itself. */
    assert_int_equal(shell("echo old >real.tif; chmod 640 real.tif; ln -s real.tif link.tif"), 0);
    succeed("distance in.tif link.tif --overwrite -q");
    check("through a link", &kPage, "real.tif", NULL);
    struct stat status;
    assert_int_equal(lstat("link.tif", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat("real.tif", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    succeed("distance in.tif in.tif --overwrite -q");
    check("over itself", &kPage, "in.tif", NULL);
    /* A new file has the permissions that the user's mask asks for. */
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    assert_int_equal(shell("umask 027; @ distance -q -- in.tif -new.tif"), 0);
    assert_int_equal(stat("./-new.tif", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_output_layouts, start),
        cmocka_unit_test_setup(test_pictures, start),
        cmocka_unit_test_setup(test_overwrite, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
