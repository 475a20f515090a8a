/*
 * Label images that are larger than the memory which the apsis command may take: components, and tables of values and contacts,
 * slab by slab.  Every file is the one that it writes when it looks at the image at once, byte for byte.
 */
#include "tool_png.h"
#include "tool_slabs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define B PHOTOMETRIC_MINISBLACK

/* Values as narrow as the layouts can hold them, and as wide. */
static const struct {
    Layout layout;
    int64_t values[4];
} kKinds[] = {
    {{.bits = 1, .photometric = B, .rows = 8}, {1, 1, 1, 1}},
    {{.bits = 8, .photometric = B, .rows = 7}, {1, 2, 200, 255}},
    {{.bits = 16, .photometric = B, .tile = 16, .compression = COMPRESSION_LZW}, {1, 2, 300, 65535}},
    {{.bits = 32, .photometric = B, .rows = 5, .format = SAMPLEFORMAT_INT}, {-7, 70000, 2, -2147483647}},
    {{.bits = 64, .photometric = B, .rows = 3, .format = SAMPLEFORMAT_INT}, {-5000000000, 1, 2, 5000000000}},
};
enum { KINDS = sizeof kKinds / sizeof *kKinds };

/* Pages that are cut; of a volume the planes. */
enum { PAGE_WIDTH = 100, PAGE_HEIGHT = 70, MANY_PAGES = 30 };

/* Boxes of these values, one over another, with holes in the background and in other boxes; they go through many slabs. */
static void draw_boxes(const int64_t values[4], int width, int height, int pages) {
    uint32_t seed = 12;
    memset(samples, 0, sizeof samples);
    for (int i = 0; i < width * height * pages / 700; ++i) {
        const int w = 1 + (int)(next_random(&seed) % 50), h = 1 + (int)(next_random(&seed) % 50),
                  z = (int)(next_random(&seed) % pages), deep = 1 + (int)(next_random(&seed) % 5);
        const int left = (int)(next_random(&seed) % width), top = (int)(next_random(&seed) % height);
        const int64_t value = i % 5 ? values[next_random(&seed) % 4] : 0;
        for (int p = z; p < z + deep && p < pages; ++p)
            for (int y = top; y < top + h && y < height; ++y)
                for (int x = left; x < left + w && x < width; ++x) samples[(p * height + y) * width + x] = value;
    }
}

static void test_components(void **state) {
    (void)state;
    static const char *const options[KINDS][2] = {
        {"", "--connectivity 8 --clear-border"},
        {"--connectivity 8", "--largest 5 --type u8"},
        {"--type i64 --compress deflate", "--min-area 30 --max-area 900"},
        {"--tiled --connectivity 8 --type u8", "--largest 2"},
        {"--periodic x,y", "--clear-border --connectivity 8"},
    };
    for (int k = 0; k < KINDS; ++k) {
        draw_boxes(kKinds[k].values, BIG_HEIGHT, BIG_WIDTH, 1);
        write_tiff("in.tif", &kKinds[k].layout, BIG_HEIGHT, BIG_WIDTH, 1);
        for (int i = 0; i < 2; ++i) {
            char line[200];
            snprintf(line, sizeof line, "components in.tif --labels --threads 1 %s", options[k][i]);
            compare_cuts(line, i ? "--stats" : NULL, k % 2 ? "table.json" : "table.csv", k > 0);
        }
    }
}

/* Runs a line that makes a table in the lowest slabs, in some more, and at once. */
static void compare_tables(const char *words, const char *table) {
    static const double shares[] = {1, 1.5, 4};
    char line[300], compare[300];
    snprintf(line, sizeof line, "%s --threads 1 --json --overwrite --output", words);
    succeed("%s whole-%s", line, table);
    assert_int_equal(number_after(out_text, "\"slabs\": "), 1);
    const long long sites = number_after(out_text, "\"sites\": ");
    assert_int_equal(run("%s %s --memory 1", line, table), 14);
    long long memory = number_after(err_text, "takes at least ");
    for (int i = 0; i < 200 && run("%s %s --memory %lld", line, table, memory); ++i)
        memory = number_after(err_text, "takes at least "); /* the table is larger than the plan could know */
    int cut = 0;
    for (int s = 0; s < (starts_slowly() ? 1 : 3); ++s) {
        succeed("%s %s --memory %lld", line, table, (long long)((double)memory * shares[s]));
        cut += number_after(out_text, "\"slabs\": ") > 1;
        assert_in(out_text, "\"set_in_file\": false");
        assert_true(number_after(out_text, "\"peak_memory\": ") > 0);
        assert_int_equal(number_after(out_text, "\"sites\": "), sites);
        snprintf(compare, sizeof compare, "cmp %s whole-%s", table, table);
        if (shell(compare)) fail_msg("%s: %s", words, out_text);
    }
    if (!cut) fail_msg("%s: no run was cut", words);
}

static void test_tables(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; ++k) {
        draw_boxes(kKinds[k].values, BIG_HEIGHT, BIG_WIDTH, 1);
        write_tiff("in.tif", &kKinds[k].layout, BIG_HEIGHT, BIG_WIDTH, 1);
        compare_tables("statistics in.tif", k % 2 ? "t.json" : "t.csv");
        compare_tables("contacts in.tif", k % 2 ? "t.csv" : "t.json");
        compare_tables("contacts in.tif --connectivity 8 --spacing 2,3 --periodic x", "t.csv");
        compare_tables("contacts in.tif --periodic y", "t.json");
        compare_tables("contacts in.tif --connectivity 8 --periodic x,y", "t.csv");
    }
}

/* Measures by slabs are also those of the whole image that are made with filled areas, by another function. */
static void compare_measures(const char *words, const char *measures) {
    char line[300];
    snprintf(line, sizeof line, "measures %s --measure %s", words, measures);
    compare_tables(line, "t.csv");
    succeed("measures %s --measure %s,filled --output filled.csv --overwrite --threads 1", words, measures);
    const int differ = shell(
        "awk -F, 'NR == 1 { while ($(++f) != \"filled\"); } { line = $1; for (i = 2; i <= NF; ++i) "
        "if (i != f) line = line \",\" $i; print line }' filled.csv | cmp - t.csv");
    if (differ) fail_msg("%s: %s", line, out_text);
}

static void test_measures(void **state) {
    (void)state;
    static const Layout greys[] = {{.bits = 8, .photometric = B, .tile = 48},
                                   {.bits = 16, .photometric = B, .rows = 11},
                                   {.bits = 32, .photometric = B, .rows = 4, .format = SAMPLEFORMAT_IEEEFP}};
    static const char *const greys_of[KINDS] = {"", "--grey grey.tif", "--grey grey.tif --connectivity 8",
                                                "--grey grey.tif --spacing 3,3", "--connectivity 8"};
    static const char *const measures[KINDS] = {"perimeter,euler", "moments,perimeter", "surface", "moments,perimeter,euler",
                                                "moments"};
    uint32_t seed = 3;
    for (int k = 0; k < KINDS; ++k) {
        for (int i = 0; i < MOST; ++i) samples[i] = next_random(&seed) % 200;
        write_tiff("grey.tif", &greys[k % 3], BIG_HEIGHT, BIG_WIDTH, 1);
        draw_boxes(kKinds[k].values, BIG_HEIGHT, BIG_WIDTH, 1);
        write_tiff("in.tif", &kKinds[k].layout, BIG_HEIGHT, BIG_WIDTH, 1);
        char words[100];
        snprintf(words, sizeof words, "in.tif %s", greys_of[k]);
        compare_measures(words, measures[k]);
    }
    write_tiff("small.tif", &greys[0], PAGE_WIDTH, PAGE_HEIGHT, 1);
    assert_int_equal(run("measures in.tif --grey small.tif --output t.csv --overwrite --measure euler"), 1);
    assert_in(err_text, "'small.tif' has 100 x 70 pixels, 1 page, but 'in.tif' has 300 x 700 pixels, 1 page\n");
    /* Slabs of a row each, which are told rows of several before. */
    static const Layout rows = {.bits = 8, .photometric = B, .rows = 1};
    draw_boxes(kKinds[1].values, BIG_HEIGHT, BIG_WIDTH, 1);
    write_tiff("in.tif", &rows, BIG_HEIGHT, BIG_WIDTH, 1);
    compare_measures("in.tif", "moments,perimeter,surface,euler");
    draw_boxes(kKinds[3].values, PAGE_WIDTH, PAGE_HEIGHT, MANY_PAGES);
    write_tiff("in.tif", &kKinds[3].layout, PAGE_WIDTH, PAGE_HEIGHT, MANY_PAGES);
    write_tiff("grey.tif", &greys[1], PAGE_WIDTH, PAGE_HEIGHT, MANY_PAGES);
    compare_measures("in.tif --volume --connectivity 26 --spacing 1,2,3", "moments,surface,euler");
    compare_measures("in.tif --volume --grey grey.tif", "euler");
}

/* Other values in each slab than in those before, more than there is room for. */
static void test_many_values(void **state) {
    (void)state;
    const Layout words = {.bits = 32, .photometric = B, .rows = 2};
    for (int i = 0; i < MOST; ++i) samples[i] = 1 + i / BIG_HEIGHT / 30 * 10 + i % BIG_HEIGHT / 30;
    write_tiff("in.tif", &words, BIG_HEIGHT, BIG_WIDTH, 1);
    succeed("statistics in.tif --output whole.csv --json");
    assert_int_equal(number_after(out_text, "\"values\": "), (BIG_WIDTH + 29) / 30 * 10);
    compare_tables("statistics in.tif", "t.csv");
    compare_tables("contacts in.tif --connectivity 8", "t.csv");
    compare_tables("measures in.tif --measure perimeter", "t.json");
    assert_int_equal(run("statistics in.tif --memory 30000 --threads 1"), 14);
    assert_in(err_text, "an image of 300 x 700 pixels takes at least ");
    assert_in(err_text, " bytes of memory, more than --memory, 30000: its first ");
    assert_in(err_text, " values, and a table needs 96 bytes for each\n");
    assert_string_equal(out_text, "");
}

static void test_pages(void **state) {
    (void)state;
    draw_boxes(kKinds[3].values, PAGE_WIDTH, PAGE_HEIGHT, MANY_PAGES);
    write_tiff("in.tif", &kKinds[3].layout, PAGE_WIDTH, PAGE_HEIGHT, MANY_PAGES);
    compare_cuts("components in.tif --labels --threads 1", "--stats", "table.csv", true);
    compare_cuts("components in.tif --labels --threads 1 --largest 3 --type u8", NULL, "", true);
    compare_cuts("components in.tif --delta 80000 --threads 1", "--stats", "table.csv", true);
    compare_cuts("components in.tif --labels --threads 1 --volume", "--stats", "table.json", true);
    compare_cuts("components in.tif --labels --threads 1 --volume --connectivity 26 --clear-border --min-area 9", "--stats",
                 "table.csv", true);
    compare_cuts("components in.tif --labels --threads 1 --volume --connectivity 18 --type u8", NULL, "", true);
    compare_tables("statistics in.tif", "t.csv");
    compare_tables("statistics in.tif --volume", "t.json");
    compare_tables("contacts in.tif --connectivity 8 --spacing 0.5,3", "t.csv");
    compare_tables("contacts in.tif --volume", "t.json");
    compare_tables("contacts in.tif --volume --connectivity 26 --spacing 1,2,5", "t.csv");
    compare_tables("contacts in.tif --volume --connectivity 18 --periodic y,z", "t.csv");
}

/* A PNG of more rows than are read at once: its reader goes on where the slab before has ended. */
static void test_png(void **state) {
    (void)state;
    enum { W = 1500, H = 2000 };
    static uint8_t rows[H][1 + W], packed[sizeof rows / 8];
    for (int y = 0; y < H; ++y)
        for (int x = 0; x < W; ++x) rows[y][1 + x] = (uint8_t)((y / 50 * 7 + x / 40 * 3) % 250);
    uLongf size = sizeof packed;
    assert_int_equal(compress(packed, &size, rows[0], sizeof rows), Z_OK);
    FILE *file = fopen("in.png", "wb");
    assert_non_null(file);
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    put_png_chunk(file, "IHDR", (const uint8_t[13]){0, 0, W >> 8, W & 255, 0, 0, H >> 8, H & 255, 8}, 13);
    put_png_chunk(file, "IDAT", packed, size);
    put_png_chunk(file, "IEND", packed, 0);
    fclose(file);
    compare_tables("statistics in.png", "t.csv");
    compare_tables("contacts in.png --connectivity 8", "t.json");
    compare_tables("contacts in.png --periodic y", "t.csv");
    compare_tables("measures in.png --measure euler,perimeter --grey in.png", "t.csv");
}

static const struct {
    const char *words, *sentence;
} kRefused[] = {
    {"components in.tif out.tif --labels --picture p.png", "it is computed at once: --picture shows all of it"},
    {"components in.tif out.tif --labels --method tile-fill", "it is computed at once: --method tile-fill has no slabs"},
    {"components in.tif out.tif --delta 0", "it is computed at once: --delta has no slabs"},
    {"measures in.tif --output out.csv", "it is computed at once: --measure filled, hull and feret look at all of it"},
    {"measures in.tif --output out.csv --measure euler,hull", "it is computed at once: --measure filled, hull and feret"},
};

static void test_refused(void **state) {
    (void)state;
    draw_boxes(kKinds[2].values, BIG_HEIGHT, BIG_WIDTH, 1);
    const Layout words = {.bits = 16, .photometric = B, .rows = 7};
    write_tiff("in.tif", &words, BIG_HEIGHT, BIG_WIDTH, 1);
    for (size_t i = 0; i < sizeof kRefused / sizeof *kRefused; ++i) {
        const int code = run("%s --memory 100K", kRefused[i].words);
        if (code != 14) fail_msg("%s: exit code %d\n%s", kRefused[i].words, code, err_text);
        assert_in(err_text, kRefused[i].sentence);
        assert_files(1);
    }
    succeed("statistics in.tif --dry-run --memory 200K --threads 1");
    assert_in(out_text, "in.tif: 300 x 700 pixels, read once\ncomputed in ");
    const long long least = least_memory("components in.tif --labels --threads 1 out.tif");
    succeed("components in.tif --labels --threads 1 out.tif --dry-run --memory %lld", least);
    assert_in(out_text, "read once; the set is kept in a file of 420 KB\ncomputed in ");
    /* Each label component has a part, which a plan cannot know of. */
    for (int i = 0; i < MOST; ++i) samples[i] = 1 + i % 7 % 3;
    write_tiff("in.tif", &words, BIG_HEIGHT, BIG_WIDTH, 1);
    assert_int_equal(run("components in.tif --labels --threads 1 out.tif --memory %lld", least), 14);
    assert_in(err_text, " components, and statistics, selections and labels need 96 bytes for each\n");
    assert_files(1);
}

/* Nothing is left behind when the disk is full or the file damaged, wherever that is found. */
static void test_failures(void **state) {
    (void)state;
    draw_boxes(kKinds[1].values, BIG_HEIGHT, BIG_WIDTH, 1);
    const Layout strips = {.bits = 8, .photometric = B, .rows = 8, .compression = COMPRESSION_ADOBE_DEFLATE};
    write_tiff("in.tif", &strips, BIG_HEIGHT, BIG_WIDTH, 1);
    char line[200];
    snprintf(line, sizeof line, "@ components in.tif --labels --threads 1 out.tif --stats table.csv --memory %lld",
             least_memory("components in.tif --labels --threads 1 out.tif") + 200000);
    check_failures(line, "table.csv", (const size_t[]){100000, 211000, 839000});
}

/* A table is not begun where the image cannot be read to its end. */
static void test_damage(void **state) {
    (void)state;
    draw_boxes(kKinds[1].values, BIG_HEIGHT, BIG_WIDTH, 1);
    const Layout strips = {.bits = 8, .photometric = B, .rows = 8, .compression = COMPRESSION_ADOBE_DEFLATE};
    write_tiff("in.tif", &strips, BIG_HEIGHT, BIG_WIDTH, 1);
    preloaded = APSIS_CHANGING_FILE;
    assert_int_equal(run("contacts in.tif --threads 1 --memory 100K"), 1);
    preloaded = NULL;
    assert_in(err_text, "cannot read 'in.tif': it has changed meanwhile");
    assert_string_equal(out_text, "");
    TIFF *tiff = TIFFOpen("in.tif", "r+");
    uint8_t data[1 << 12];
    const tmsize_t size = TIFFReadRawStrip(tiff, 30, data, sizeof data);
    TIFFWriteRawStrip(tiff, 30, data, size / 2);
    TIFFClose(tiff);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(run("%s in.tif --output t.csv --threads 1 --memory 100K", i ? "contacts" : "statistics"), 1);
        assert_in(err_text, "cannot read 'in.tif': strip 30: ");
        assert_files(1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_components, start), cmocka_unit_test_setup(test_tables, start),
        cmocka_unit_test_setup(test_measures, start),   cmocka_unit_test_setup(test_many_values, start),
        cmocka_unit_test_setup(test_pages, start),      cmocka_unit_test_setup(test_png, start),
        cmocka_unit_test_setup(test_refused, start),    cmocka_unit_test_setup(test_failures, start),
        cmocka_unit_test_setup(test_damage, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
