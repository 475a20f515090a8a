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

/* ---- Grey images ---------------------------------------------------------- */

/* Neighbours differ by 1, 2 or more. */
static const int kGrey[] = {
    1, 2, 4, 0,  9,  /* */
    0, 5, 7, 0,  10, /* */
    9, 0, 0, 11, 12, /* */
};

static void test_grey_images(void **state) {
    static const Layout kinds[] = {
        {.name = "u4", .bits = 4, .photometric = 1},
        {.name = "u8", .bits = 8, .photometric = 1},
        {.name = "i8", .bits = 8, .photometric = 1, .format = SAMPLEFORMAT_INT},
        {.name = "u16", .bits = 16, .photometric = 1, .tile = 16},
        {.name = "i16", .bits = 16, .photometric = 1, .format = SAMPLEFORMAT_INT},
        {.name = "u32", .bits = 32, .photometric = 1},
        {.name = "i32", .bits = 32, .photometric = 1, .format = SAMPLEFORMAT_INT},
        {.name = "f32", .bits = 32, .photometric = 1, .format = SAMPLEFORMAT_IEEEFP},
    };
    static const struct {
        const char *words;
        int labels[15];
    } wanted[] = {
        {"--delta 0", {1, 2, 3, 0, 4, 0, 5, 6, 0, 7, 8, 0, 0, 9, 10}},
        {"--delta 1", {1, 1, 2, 0, 3, 0, 4, 5, 0, 3, 6, 0, 0, 7, 7}},
        {"--delta 1.5 --connectivity 8", {1, 1, 2, 0, 3, 0, 2, 4, 0, 3, 5, 0, 0, 3, 3}},
        {"--delta 2 --labels", {1, 1, 1, 0, 2, 0, 3, 3, 0, 2, 4, 0, 0, 2, 2}},
        {"--delta 1e300 --min-area 2 --clear-border", {0}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
        for (size_t w = 0; w < sizeof wanted / sizeof *wanted; ++w) {
            for (int i = 0; i < 15; ++i) {
                const float real = (float)kGrey[i];
                int32_t bits;
                memcpy(&bits, &real, sizeof bits);
                samples[i] = kinds[k].format == SAMPLEFORMAT_IEEEFP ? bits : kGrey[i];
            }
            write_tiff("in.tif", &kinds[k], 5, 3, 1);
            succeed("components in.tif out.tif --stats t.csv --overwrite --device cpu --json %s", wanted[w].words);
            assert_in(out_text, "\"delta\": ");
            Result r = read_result("out.tif", 0);
            for (int i = 0; i < 15; ++i)
                if ((int)r.values[i] != wanted[w].labels[i])
                    fail_msg("%s %s: pixel %d is %g", kinds[k].name, wanted[w].words, i, r.values[i]);
            free(r.values);
        }
    succeed("components in.tif out.tif --overwrite --device cpu --delta 2");
    assert_in(out_text, "out.tif: 4 components");
    assert_in(out_text, "; 10 in labels (");
}

/* ---- Tables --------------------------------------------------------------- */

/* A square of 1, bars of 2, 3 and -4, and two dots of 5. */
static const int kDrawing[] = {
    1, 1, 0, 2, 2, 0,  /* */
    1, 1, 3, 3, 0, -4, /* */
    0, 5, 0, 5, 0, -4,
};

static void draw_file(int pages) {
    const Layout shorts = {.bits = 16, .photometric = 1, .format = SAMPLEFORMAT_INT};
    for (int i = 0; i < 18 * pages; ++i) samples[i] = kDrawing[i % 18] + (i < 18 || !kDrawing[i % 18] ? 0 : 10);
    write_tiff("in.tif", &shorts, 6, 3, pages);
}

/* What is printed of in.tif is this, and so is what is written to a file. */
static void assert_table(const char *line, const char *text) {
    char got[1 << 12];
    succeed("%s --device cpu -q", line);
    assert_string_equal(out_text, text);
    succeed("%s --device cpu -q --output t.csv --overwrite", line);
    assert_string_equal(out_text, "");
    slurp("t.csv", got, sizeof got);
    assert_string_equal(got, text);
}

static void test_statistics(void **state) {
    (void)state;
    char text[1 << 12];
    draw_file(1);
    assert_table("statistics in.tif",
                 "value,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean\n"
                 "-4,11,2,5,1,0,5,2,0,5,1.5,0\n"
                 "0,2,6,0,0,0,5,2,0,2.8333333333333335,1.1666666666666667,0\n"
                 "1,0,4,0,0,0,1,1,0,0.5,0.5,0\n"
                 "2,3,2,3,0,0,4,0,0,3.5,0,0\n"
                 "3,8,2,2,1,0,3,1,0,2.5,1,0\n"
                 "5,13,2,1,2,0,3,2,0,2,2,0\n");
    succeed("statistics in.tif --output t.json --device cpu");
    assert_in(out_text, "in.tif: 6 x 3 pixels; 12 in labels (66.7 %)\nt.json: 6 values; ");
    slurp("t.json", text, sizeof text);
    assert_in(text,
              "[\n {\"value\": -4, \"first\": 11, \"area\": 2, \"lower\": [5, 1, 0], \"upper\": [5, 2, 0], "
              "\"centroid\": [5, 1.5, 0]},\n {\"value\": 0, ");
    succeed("statistics in.tif --output t.csv --overwrite --device cpu --json");
    assert_in(out_text, "{\"command\": \"statistics\", \"input\": \"in.tif\"");
    assert_in(out_text, "\"labels\": true, \"values\": 6, ");
    assert_in(out_text, "\"outputs\": {\"table\": \"t.csv\"}}");
    draw_file(2);
    for (int volume = 0; volume < 2; ++volume) {
        succeed("statistics in.tif --device cpu %s", volume ? "--volume" : "");
        assert_in(out_text, "\n0,2,12,0,0,0,5,2,1,");
        assert_in(out_text, "\n15,31,2,1,2,1,3,2,1,2,2,1\n");
    }
    /* More values than there is room for at first. */
    for (int i = 0; i < BIG_WIDTH * BIG_HEIGHT; ++i) samples[i] = i % 70000;
    write_tiff("in.tif", &kSamples[8].layout, BIG_WIDTH, BIG_HEIGHT, 1);
    succeed("statistics in.tif --device cpu --output t.csv --overwrite");
    assert_in(out_text, "t.csv: 70000 values; ");
}

/* The square of 1 has an intensity of its own in each pixel. */
static void test_measures(void **state) {
    (void)state;
    char text[1 << 12];
    const Layout reals = {.bits = 32, .photometric = 1, .format = SAMPLEFORMAT_IEEEFP};
    draw_file(1);
    assert_table("measures in.tif --measure surface,euler,hull --spacing 2,3",
                 "value,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean,border,x_faces,y_faces,z_faces,"
                 "surface,euler,convex,convex_area\n"
                 "-4,11,2,5,1,0,5,2,0,5,1.5,0,1,4,2,0,16,1,2,12\n"
                 "1,0,4,0,0,0,1,1,0,0.5,0.5,0,1,4,4,0,20,1,4,24\n"
                 "2,3,2,3,0,0,4,0,0,3.5,0,0,1,2,4,0,14,1,2,12\n"
                 "3,8,2,2,1,0,3,1,0,2.5,1,0,0,2,4,0,14,1,2,12\n"
                 "5,13,2,1,2,0,3,2,0,2,2,0,1,4,4,0,20,2,3,18\n");
    for (int i = 0; i < 18; ++i) samples[i] = i;
    write_tiff("grey.tif", &kBytes, 6, 3, 1);
    succeed("measures in.tif --measure feret --grey grey.tif --output t.json --device cpu");
    assert_in(out_text, "t.json: 5 values; ");
    slurp("t.json", text, sizeof text);
    assert_in(text,
              "\"border\": 1, \"feret\": [2, 2.8284271247461903], \"feret_contour\": 2.23606797749979, \"intensity_sum\": 14, "
              "\"intensity_mean\": 3.5, \"intensity_min\": 0, \"intensity_max\": 7}");
    succeed("measures in.tif --output t.csv --overwrite --device cpu --json --measure filled,moments --connectivity 8");
    assert_in(out_text,
              "\"measures\": [\"moments\", \"filled\"], \"grey\": null, \"connectivity\": 8, \"spacing\": [1, 1], "
              "\"values\": 5");
    assert_int_equal(run("measures in.tif --grey in.tif --device cpu"), 1);
    assert_in(err_text, "'in.tif' has signed samples, or whole ones of 32 bits, but intensities are");
    write_tiff("float.tif", &reals, 6, 3, 1);
    succeed("measures in.tif --grey float.tif --device cpu");
    assert_in(out_text, ",feret_contour,intensity_sum,intensity_mean,intensity_min,intensity_max\n");
    draw_file(2);
    assert_int_equal(run("measures in.tif --device cpu"), 1);
    assert_in(err_text, "the image has 2 pages, and is measured as a volume alone: see --volume");
    succeed("measures in.tif --volume --device cpu");
    assert_in(out_text, "\n15,31,2,1,2,1,3,2,1,2,2,1,1,");
}

static void test_contacts(void **state) {
    (void)state;
    char text[1 << 12];
    draw_file(1);
    assert_table("contacts in.tif",
                 "a,b,x_faces,y_faces,z_faces,corners,area\n"
                 "1,3,1,0,0,0,1\n"
                 "1,5,0,1,0,0,1\n"
                 "2,3,0,1,0,0,1\n"
                 "3,5,0,1,0,0,1\n");
    assert_table("contacts in.tif --connectivity 8 --spacing 2,3",
                 "a,b,x_faces,y_faces,z_faces,corners,area\n"
                 "-4,2,0,0,0,1,0\n"
                 "1,3,1,0,0,1,3\n"
                 "1,5,0,1,0,1,2\n"
                 "2,3,0,1,0,2,2\n"
                 "3,5,0,1,0,2,2\n");
    succeed("contacts in.tif --connectivity 8 --output t.json --device cpu");
    assert_in(out_text, "t.json: 5 contacts; ");
    slurp("t.json", text, sizeof text);
    assert_in(text, "\n {\"a\": 1, \"b\": 3, \"faces\": [1, 0, 0], \"corners\": 1, \"area\": 1},\n");
    succeed("contacts in.tif --output t.csv --overwrite --device cpu --json");
    assert_in(out_text, "\"connectivity\": 4, \"spacing\": [1, 1], \"contacts\": 4, ");
    draw_file(2);
    succeed("contacts in.tif --device cpu");
    assert_in(out_text, "\n3,5,0,1,0,0,1\n11,13,1,0,0,0,1\n"); /* pages do not touch */
    succeed("contacts in.tif --device cpu --volume --spacing 2,3,5");
    assert_in(out_text, "\n1,11,0,0,4,0,24\n"); /* four faces across z, each 2 x 3 */
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
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, palette.bits); /* it says how long the map is */
    TIFFSetField(tiff, TIFFTAG_COLORMAP, colours, colours, colours);
    write_page(tiff, &palette, WIDTH, HEIGHT, samples);
    TIFFClose(tiff);
    tiff = TIFFOpen("signs.tif", "w");
    write_page(tiff, &kWords, WIDTH, HEIGHT, samples);
    write_page(tiff, &shorts, WIDTH, HEIGHT, samples);
    TIFFClose(tiff);
    write_tiff("wide.tif", &huge, WIDTH, HEIGHT, 1);
    assert_int_equal(shell("echo kept >in.csv"), 0);
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
    {"components in.tif new.tif --labels --method tile-fill", "APSIS_TILE_FILL", 12},
    {"components double.tif new.tif --delta 1", "'double.tif' has 64-bit floating-point samples, but grey values are", 1},
    {"components wide.tif new.tif --delta 1",
     "'wide.tif' has 64-bit samples, but grey values are whole numbers of up to 32 bits", 1},
    {"components palette.tif new.tif --delta 1", "'palette.tif' has the colours of a palette", 1},
    {"components rgb.tif new.tif --delta 1", "'rgb.tif' has 3 samples a pixel", 1},
    {"components signs.tif new.tif --delta 1", "'signs.tif': page 2 is signed, but page 1 is unsigned", 1},
    {"components in.tif new.tif --delta -1", "--delta is '-1', but must be a number, at least 0", 2},
    {"components in.tif new.tif --delta nan", "--delta is 'nan', but must be a number, at least 0", 2},
    {"components in.tif new.tif --delta inf", "--delta is 'inf', but must be a number, at least 0", 2},
    {"components in.tif new.tif --delta 1 --sites zero", "--delta takes samples as they are, but --sites is zero", 2},
    {"components in.tif new.tif --delta 1 --threshold 3", "--delta takes samples as they are, but --threshold is 3", 2},
    {"components in.tif new.tif --delta 1 --fill-holes", "--fill-holes is for a set, but --delta takes a grey image", 2},
    {"components in.tif new.tif --delta 1 --method tile-fill", "APSIS_TILE_FILL", 12},
    {"distance in.tif new.tif --delta 1", "unknown option '--delta'", 2},
    {"distance in.tif new.tif --labels --signed", "--signed is for a set, but --labels takes a label image", 2},
    {"distance in.tif new.tif --labels --metric chessboard",
     "--labels is for --metric euclidean or city-block, but --metric is "
     "chessboard",
     2},
    {"distance in.tif new.tif --labels --method sweep", "--labels is for --method auto, but --method is sweep", 2},
    {"distance in.tif new.tif --border --sites zero --method sweep", "--border is for --method auto, but --method is sweep", 2},
    {"distance in.tif new.tif --border", "--border counts what lies outside as pixels of 0, but no distance leads to these", 2},
    {"voronoi in.tif new.tif --labels --method jump-flood", "--labels is for --method auto, but --method is jump-flood", 2},
    {"voronoi in.tif new.tif --labels --mixed", "--mixed is for --method sweep", 2},
    {"voronoi wide.tif new.tif --labels --type i32", "--type i32 cannot hold labels of 64 bits; use i64", 2},
    {"geodesic in.tif in.tif new.tif --labels", "--labels is for --nearest or --picture-nearest, but neither is given", 2},
    {"geodesic in.tif float.tif new.tif --labels --nearest n.tif", "'float.tif' has 32-bit floating-point samples", 1},
    {"geodesic in.tif long.tif new.tif --labels --nearest n.tif", "'long.tif': the label at (3, 2) of page 1 is 2147483648", 1},
    {"statistics", "IN.tif is missing", 2},
    {"statistics gone.tif", "cannot read 'gone.tif': No such file or directory", 1},
    {"statistics float.tif", "'float.tif' has 32-bit floating-point samples", 1},
    {"statistics in.tif --output new.tif", "--output is 'new.tif', but must end in .csv or .json", 2},
    {"statistics in.tif --json", "name a file for the table with --output", 2},
    {"statistics in.tif --sites zero", "unknown option '--sites'", 2},
    {"statistics in.tif --labels", "unknown option '--labels'", 2},
    {"statistics in.tif --output in.csv", "in.csv", 1},
    {"measures in.tif --measure colour", "--measure has 'colour', but must be some of moments, perimeter", 2},
    {"measures in.tif --measure hull --volume", "for images in 2-D, not --volume", 2},
    {"measures in.tif --measure perimeter --spacing 1,2", "--measure perimeter", 2},
    {"measures in.tif --grey gone.tif", "cannot read 'gone.tif'", 1},
    {"measures in.tif --json", "name a file for the table with --output", 2},
    {"contacts float.tif", "'float.tif' has 32-bit floating-point samples", 1},
    {"contacts in.tif --connectivity 6", "--connectivity is 6, but must be 4 or 8", 2},
    {"contacts in.tif --spacing 1,2,3", "--spacing has 3 numbers, but must have 2", 2},
    {"contacts in.tif --json", "name a file for the table with --output", 2},
    {"components in.tif new.tif --labels --memory 2000", " bytes of memory, more than --memory, 2000, in slabs", 14},
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
    static const char *const line = "statistics in.tif --device cpu --memory 1000";
    if (run("%s", line) != 14) fail_msg("%s\n%s", line, err_text);
    assert_in(err_text, " bytes of memory, more than --memory, 1000, in slabs");
    succeed("components signs.tif new.tif --device cpu"); /* as sets they are alike */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_components, start), cmocka_unit_test_setup(test_grey_images, start),
        cmocka_unit_test_setup(test_statistics, start), cmocka_unit_test_setup(test_measures, start),
        cmocka_unit_test_setup(test_contacts, start),   cmocka_unit_test_setup(test_refused, start)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
