/* What the apsis command makes of label images, in every type of sample: compared with brute force and with answers by hand. */
#include "tool_question.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int label[MOST];

static const Layout kWords = {.name = "u16", .bits = 16, .photometric = PHOTOMETRIC_MINISBLACK};

static const struct {
    Layout layout;
    int64_t values[4]; /* beside 0 */
} kSamples[] = {
    {{.name = "u1", .bits = 1, .photometric = 1}, {1, 1, 1, 1}},
    {{.name = "u4", .bits = 4, .photometric = 1}, {1, 2, 8, 15}},
    {{.name = "i4", .bits = 4, .photometric = 1, .format = SAMPLEFORMAT_INT}, {1, 7, -1, -8}},
    {{.name = "u8", .bits = 8, .photometric = 1}, {1, 2, 128, 255}},
    {{.name = "i8", .bits = 8, .photometric = 1, .format = SAMPLEFORMAT_INT}, {1, 127, -1, -128}},
    {{.name = "u16", .bits = 16, .photometric = 1, .tile = 16}, {1, 256, 32768, 65535}},
    {{.name = "i16", .bits = 16, .photometric = 1, .format = SAMPLEFORMAT_INT}, {1, 256, -1, -32768}},
    {{.name = "u32", .bits = 32, .photometric = 1, .rows = 5}, {1, 65536, 1 << 24, INT32_MAX}},
    {{.name = "i32", .bits = 32, .photometric = 1, .format = SAMPLEFORMAT_INT, .mode = "wb"}, {1, 65536, -1, INT32_MIN}},
    {{.name = "u64", .bits = 64, .photometric = 1, .tile = 16}, {1, 2, 5000000000, 1ll << 52}},
    {{.name = "i64", .bits = 64, .photometric = 1, .format = SAMPLEFORMAT_INT}, {1, 1ll << 32, -1, -(1ll << 52)}},
};
enum { TYPES = sizeof kSamples / sizeof *kSamples };

/* Cells of several pixels, so that labels touch labels and the background. */
static void make_labels(const int64_t values[4], uint32_t seed) {
    for (int i = 0; i < PIXELS; ++i) {
        const uint32_t chance = next_random(&seed) % 8, which = next_random(&seed) % 6;
        if (i >= WIDTH && chance < 6)
            samples[i] = samples[chance < 3 ? i - 1 : i - WIDTH];
        else
            samples[i] = which < 4 ? values[which] : 0;
    }
}

/* ---- Components ----------------------------------------------------------- */

static const struct {
    const char *words;
    int pages, axes;
    bool volume;
} kWays[] = {
    {"", 1, 1, false},
    {"--connectivity 8 --type i64", PAGES, 2, false},
    {"--volume --connectivity 26 --threads 1", PAGES, 3, true},
};

/* A table as CSV: each component has the value of its first pixel. */
static void check_values(const char *path, int count) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[512];
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "label,value,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean\n");
    for (int number = 1; number <= count; ++number) {
        long long of = 0, value = 0, first = 0;
        assert_non_null(fgets(line, sizeof line, file));
        assert_int_equal(sscanf(line, "%lld,%lld,%lld,", &of, &value, &first), 3);
        assert_int_equal(of, number);
        assert_int_equal(label[first], number);
        assert_true(value == samples[first]);
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
}

static void test_components(void **state) {
    (void)state;
    for (int t = 0; t < TYPES; ++t)
        for (size_t w = 0; w < sizeof kWays / sizeof *kWays; ++w) {
            make_labels(kSamples[t].values, 3 + (uint32_t)(t + TYPES * w));
            write_tiff("in.tif", &kSamples[t].layout, WIDTH, HEIGHT, kWays[w].pages);
            const int count = number_all(WIDTH, HEIGHT, kWays[w].pages, kWays[w].volume, kWays[w].axes, label);
            succeed("components in.tif out.tif --labels --stats t.csv --overwrite --device cpu %s", kWays[w].words);
            char sentence[64];
            snprintf(sentence, sizeof sentence, "out.tif: %d component", count);
            assert_in(out_text, sentence);
            assert_in(out_text, " in labels (");
            check_values("t.csv", count);
            for (int z = 0; z < kWays[w].pages; ++z) {
                Result r = read_result("out.tif", z);
                for (int i = 0; i < WIDTH * HEIGHT; ++i)
                    if ((int)r.values[i] != label[z * WIDTH * HEIGHT + i])
                        fail_msg("%s %s: page %d, pixel %d", kSamples[t].layout.name, kWays[w].words, z, i);
                free(r.values);
            }
        }
}

/* ---- Wrong ---------------------------------------------------------------- */

static void write_refused(void) {
    const Layout floats = {.bits = 32, .photometric = 1, .format = SAMPLEFORMAT_IEEEFP};
    const Layout doubles = {.bits = 64, .photometric = 1, .format = SAMPLEFORMAT_IEEEFP};
    const Layout palette = {.bits = 8, .photometric = PHOTOMETRIC_PALETTE};
    const Layout rgb = {.bits = 8, .photometric = PHOTOMETRIC_RGB, .samples = 3};
    const Layout longs = {.bits = 32, .photometric = 1}, huge = {.bits = 64, .photometric = 1};
    const Layout shorts = {.bits = 16, .photometric = 1, .format = SAMPLEFORMAT_INT};
    make_labels(kSamples[3].values, 5);
    write_tiff("in.tif", &kWords, WIDTH, HEIGHT, 1);
    write_tiff("float.tif", &floats, WIDTH, HEIGHT, 1);
    write_tiff("double.tif", &doubles, WIDTH, HEIGHT, 1);
    write_tiff("rgb.tif", &rgb, WIDTH, HEIGHT, 1);
    TIFF *tiff = TIFFOpen("palette.tif", "w");
    uint16_t colours[256] = {0};
    TIFFSetField(tiff, TIFFTAG_COLORMAP, colours, colours, colours);
    write_page(tiff, &palette, WIDTH, HEIGHT, samples);
    TIFFClose(tiff);
    tiff = TIFFOpen("signs.tif", "w");
    write_page(tiff, &kWords, WIDTH, HEIGHT, samples);
    write_page(tiff, &shorts, WIDTH, HEIGHT, samples);
    TIFFClose(tiff);
    samples[2 * WIDTH + 3] = 2147483648;
    write_tiff("long.tif", &longs, WIDTH, HEIGHT, 1);
    samples[2 * WIDTH + 3] = INT64_MIN; /* 2^63 */
    write_tiff("huge.tif", &huge, WIDTH, HEIGHT, 1);
}

static const struct {
    const char *line, *sentence;
    int code;
} kRefused[] = {
    {"components gone.tif new.tif --labels", "cannot read 'gone.tif': No such file or directory", 1},
    {"components float.tif new.tif --labels", "'float.tif' has 32-bit floating-point samples, but labels must be whole numbers",
     1},
    {"components double.tif new.tif --labels", "'double.tif' has 64-bit floating-point samples", 1},
    {"components palette.tif new.tif --labels", "'palette.tif' has the colours of a palette, but labels must be numbers", 1},
    {"components rgb.tif new.tif --labels", "'rgb.tif' has 3 samples a pixel", 1},
    {"components signs.tif new.tif --labels", "'signs.tif': page 2 is signed, but page 1 is unsigned", 1},
    {"components long.tif new.tif --labels",
     "'long.tif': the label at (3, 2) of page 1 is 2147483648, but must be at most 2147483647", 1},
    {"components huge.tif new.tif --labels",
     "'huge.tif': the label at (3, 2) of page 1 is 9223372036854775808, but must be at most 9223372036854775807", 1},
    {"components in.tif new.tif --labels --sites zero", "--labels takes samples as they are, but --sites is zero", 2},
    {"components in.tif new.tif --labels --threshold 3", "--labels takes samples as they are, but --threshold is 3", 2},
    {"components in.tif new.tif --labels --fill-holes", "--fill-holes is for a set, but --labels takes a label image", 2},
    {"components in.tif new.tif --labels --memory 2000",
     "bytes of memory, more than --memory, 2000; it is computed at once: label "
     "images have no slabs",
     14},
};

static void test_refused(void **state) {
    (void)state;
    write_refused();
    for (size_t i = 0; i < sizeof kRefused / sizeof *kRefused; ++i) {
        const int code = run("%s --device cpu", kRefused[i].line);
        if (code != kRefused[i].code)
            fail_msg("%s: exit code %d, but should be %d\n%s", kRefused[i].line, code, kRefused[i].code, err_text);
        assert_in(err_text, kRefused[i].sentence);
        assert_string_equal(out_text, "");
        assert_false(exists("new.tif"));
    }
    succeed("components signs.tif new.tif --device cpu"); /* as sets they are alike */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_components, start),
                                       cmocka_unit_test_setup(test_refused, start)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
