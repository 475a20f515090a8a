/*
 * Images that are larger than the memory which the apsis command may take: it computes them slab by slab, and every file is the
 * one that it writes when it computes the image at once, byte for byte.
 */
#include "tool_slabs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define W PHOTOMETRIC_MINISWHITE
#define B PHOTOMETRIC_MINISBLACK

/* Computes in slabs, and at once; with nearest pixels, too, if they are wanted. */
static void compare(const char *words, bool nearest) { compare_cuts(words, nearest ? "--nearest" : NULL, "which.tif", true); }

/* An image with empty rows and columns, and with pixels on both sides of every cut. */
static void draw(int bits) {
    uint32_t seed = 9;
    for (int y = 0; y < BIG_HEIGHT; ++y)
        for (int x = 0; x < BIG_WIDTH; ++x) {
            const bool empty = (y > 100 && y < 170) || (x > 300 && x < 450);
            samples[y * BIG_WIDTH + x] = !empty && next_random(&seed) % 40 == 0 ? (1 << (bits > 8 ? 8 : bits)) - 1 : 0;
        }
}

static void test_layouts(void **state) {
    (void)state;
    static const Layout layouts[] = {
        {.bits = 1, .photometric = B},
        {.bits = 1, .photometric = W, .rows = 7},
        {.bits = 1, .photometric = B, .rows = 1, .fill_order = FILLORDER_LSB2MSB},
        {.bits = 1, .photometric = W, .tile = 16},
        {.bits = 1, .photometric = B, .tile = 48, .fill_order = FILLORDER_LSB2MSB},
        {.bits = 1, .photometric = W, .tile = 1024, .compression = COMPRESSION_CCITTFAX4},
        {.bits = 1, .photometric = W, .rows = 64, .compression = COMPRESSION_CCITTFAX4, .fill_order = FILLORDER_LSB2MSB},
        {.bits = 1, .photometric = B, .tile = 80, .compression = COMPRESSION_ADOBE_DEFLATE, .mode = "w8b"},
        {.bits = 2, .photometric = B, .rows = 13},
        {.bits = 4, .photometric = W, .tile = 112},
        {.bits = 8, .photometric = B, .tile = 64, .compression = COMPRESSION_LZW},
        {.bits = 16, .photometric = W, .rows = 31, .mode = "wb"},
        {.bits = 32, .photometric = B, .tile = 32},
        {.bits = 64, .photometric = B, .tile = 96, .mode = "w8b"},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; ++i) {
        draw(layouts[i].bits);
        write_tiff("in.tif", &layouts[i], BIG_WIDTH, BIG_HEIGHT, 1);
        compare(i % 2 ? "distance in.tif --sites black" : "distance in.tif", i % 3 == 0);
    }
}

static void test_maps(void **state) {
    (void)state;
    draw(1);
    write_tiff("in.tif", &kBits, BIG_WIDTH, BIG_HEIGHT, 1);
    compare("distance in.tif --signed", true);
    compare("distance in.tif --signed --sites zero --type f64", false);
    compare("distance in.tif --squared --max-distance 30", true);
    compare("distance in.tif --squared --type i64", false);
    compare("distance in.tif --metric city-block --type i32 --compress lzw", true);
    compare("distance in.tif --spacing 0.3,1.7 --compress deflate", false);
    compare("distance in.tif --spacing 5,2 --bigtiff --threads 1", true);
    compare("voronoi in.tif", false);
    compare("voronoi in.tif --metric city-block --type i64 --max-distance 9", false);
    compare("distance in.tif --periodic x --signed", true);
    compare("voronoi in.tif --periodic x", false);
    compare("distance in.tif --periodic y --signed --type f64", true);
    compare("distance in.tif --periodic x,y --metric city-block --max-distance 40", true);
    compare("voronoi in.tif --periodic y --sites zero", false);
}

/* Labels in runs that go through slabs, of several types; and the border of sets. */
static void test_labels(void **state) {
    (void)state;
    static const Layout layouts[] = {{.bits = 8, .photometric = B, .rows = 7},
                                     {.bits = 16, .photometric = B, .tile = 64},
                                     {.bits = 64, .photometric = B, .rows = 13}};
    uint32_t seed = 5;
    for (int i = 0; i < 3; ++i) {
        for (int y = 0; y < BIG_HEIGHT; ++y)
            for (int x = 0; x < BIG_WIDTH; ++x) {
                const bool goes_on = y > 0 && next_random(&seed) % 90;
                samples[y * BIG_WIDTH + x] = goes_on ? samples[(y - 1) * BIG_WIDTH + x] : next_random(&seed) % 4 * 60;
            }
        write_tiff("in.tif", &layouts[i], BIG_WIDTH, BIG_HEIGHT, 1);
        compare(i ? "distance in.tif --labels" : "distance in.tif --labels --border", i < 2);
        compare(i ? "voronoi in.tif --labels --max-distance 3" : "voronoi in.tif --labels --metric city-block", false);
        compare(i ? "distance in.tif --labels --periodic y" : "distance in.tif --labels --periodic y,x --spacing 2,1", i < 2);
        compare("voronoi in.tif --labels --periodic y", false);
    }
    draw(1);
    write_tiff("in.tif", &kBits, BIG_WIDTH, BIG_HEIGHT, 1);
    compare("distance in.tif --border --signed", true);
    compare("distance in.tif --border --sites zero", false);
}

/* Pages of a size that is cut; of a volume the planes. */
enum { PAGE_WIDTH = 100, PAGE_HEIGHT = 70, MANY_PAGES = 30 };

static void test_pages(void **state) {
    (void)state;
    draw(1);
    write_tiff("in.tif", &kBits, PAGE_WIDTH, PAGE_HEIGHT, MANY_PAGES);
    compare("distance in.tif", true);
    compare("distance in.tif --metric chessboard --type i32 --signed", true);
    compare("voronoi in.tif --connected", false);
    compare("voronoi in.tif --method sweep", false);
    compare("distance in.tif --volume", true);
    compare("distance in.tif --volume --signed --spacing 1,2,3 --compress deflate", true);
    compare("voronoi in.tif --volume", false);
    compare("distance in.tif --labels", true);
    compare("voronoi in.tif --labels --max-distance 9", false);
    compare("distance in.tif --volume --periodic x,y --metric city-block", true);
    compare("voronoi in.tif --periodic x,y --connected", false);
    compare("distance in.tif --volume --periodic z --signed", true);
    compare("distance in.tif --volume --labels --periodic x,z --spacing 1,2,3", false);
    compare("voronoi in.tif --volume --periodic y,z", false);
    memset(samples, 0, sizeof samples); /* no set at all, and a single pixel */
    write_tiff("in.tif", &kBits, PAGE_WIDTH, PAGE_HEIGHT, MANY_PAGES);
    compare("distance in.tif --volume", true);
    samples[MOST / 2] = 1;
    write_tiff("in.tif", &kBits, PAGE_WIDTH, PAGE_HEIGHT, MANY_PAGES);
    compare("distance in.tif --volume --signed", true);
    compare("distance in.tif --volume --signed --periodic z", true);
}

/* Tiles are 256 pixels high, and slabs have no other rows than those of whole tiles. */
static void test_tiles(void **state) {
    (void)state;
    draw(1);
    write_tiff("in.tif", &kBits, BIG_HEIGHT, BIG_WIDTH, 1);
    succeed("distance in.tif plain.tif");
    Result plain = read_result("plain.tif", 0);
    static const char *const compressions[] = {"none", "deflate", "lzw", "zstd"};
    for (int c = 0; c < 4; ++c) {
        char line[100];
        snprintf(line, sizeof line, "distance in.tif --tiled --compress %s", compressions[c]);
        if (c == 3 && !TIFFIsCODECConfigured(COMPRESSION_ZSTD)) {
            assert_int_equal(run("%s out.tif", line), 2);
            assert_in(err_text, "--compress is zstd, but this libtiff does not have it");
            continue;
        }
        compare(line, true);
        Result whole = read_result("whole.tif", 0);
        assert_memory_equal(whole.values, plain.values, sizeof(double) * MOST);
        free(whole.values);
    }
    free(plain.values);
}

static void test_plan(void **state) {
    (void)state;
    draw(1);
    write_tiff("in.tif", &kBits, BIG_WIDTH, BIG_HEIGHT, 1);
    succeed("distance in.tif out.tif --dry-run");
    assert_in(out_text, "in.tif: 700 x 300 pixels, read once\ncomputed at once, on ");
    assert_in(out_text, "\nout.tif: 840 KB before compression\n");
    assert_files(1);
    const long long memory = least_memory("distance in.tif out.tif --device cpu") + 300;
    succeed("distance in.tif out.tif --device cpu --dry-run --memory %lld", memory);
    assert_in(out_text, "read once; the set is kept in a file of 26.4 KB\ncomputed in ");
    succeed("distance in.tif out.tif --device cpu --dry-run --json --memory %lld", memory);
    char plan[300];
    snprintf(plan, sizeof plan, "%.*s", (int)(strstr(out_text, "}}") - strstr(out_text, "\"plan\"")),
             strstr(out_text, "\"plan\""));
    assert_true(number_after(plan, "\"memory\": ") <= memory);
    assert_files(1);
    succeed("distance in.tif out.tif --device cpu --json --memory %lld", memory);
    assert_in(out_text, plan);
    assert_true(number_after(out_text, "\"peak_memory\": ") > memory);
    succeed("components in.tif labels.tif --dry-run");
    assert_in(out_text, "computed at once");
    assert_files(2);
    assert_int_equal(run("distance in.tif out.tif --dry-run"), 1); /* it exists */

    static const struct {
        const char *words, *sentence;
        int code;
    } refused[] = {
        {"distance in.tif o.tif --memory 100K --picture p.png", "it is computed at once: --picture shows all of it", 14},
        {"distance in.tif o.tif --memory 100K --metric chessboard", "at once: --metric chessboard has no slabs", 14},
        {"distance in.tif o.tif --memory 100K --method sweep", "at once: --method sweep has no slabs", 14},
        {"voronoi in.tif o.tif --memory 100K --connected", "at once: --connected looks at all of it", 14},
        {"components in.tif o.tif --memory 100K --picture p.png", "700 x 300 pixels takes 866400 bytes of memory, more than",
         14},
        {"components in.tif o.tif --memory 100K --method tile-fill", "at once: --method tile-fill has no slabs", 14},
        {"geodesic in.tif in.tif o.tif --memory 100K", "at once: paths go through all of it", 14},
        {"distance in.tif o.tif --memory 0", "--memory is '0', but must be a number of bytes, such as", 2},
        {"distance in.tif o.tif --memory 4g", "--memory is '4g'", 2},
        {"distance in.tif o.tif --memory 4GB", "--memory is '4GB'", 2},
        {"distance in.tif o.tif --memory 8388608T", "--memory is '8388608T'", 2},
        {"distance in.tif o.tif --memory G", "--memory is 'G'", 2},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
        const int code = run("%s", refused[i].words);
        if (code != refused[i].code) fail_msg("%s: exit code %d\n%s", refused[i].words, code, err_text);
        assert_in(err_text, refused[i].sentence);
        assert_files(2);
    }
    succeed("distance in.tif o.tif --memory 1T --method sweep");
}

/* Without --memory an image may take half of what is free in the container, and one that is not cut all that it has. */
static void test_container(void **state) {
    (void)state;
    draw(1);
    write_tiff("in.tif", &kBits, BIG_WIDTH, BIG_HEIGHT, 1);
    preloaded = APSIS_CONTAINER;
    for (int version = 1; version <= 2; ++version) {
        setenv("APSIS_CONTAINER", version == 1 ? "1" : "2", 1);
        succeed("distance in.tif out.tif --dry-run --json --threads 1 --device cpu");
        const long long memory = number_after(out_text, "\"memory\": ");
        if (memory > 800000 || memory <= 500000) fail_msg("version %d: %lld bytes", version, memory);
        assert_int_equal(run("distance in.tif out.tif --nearest which.tif --type f64 --method sweep --device cpu"), 14);
        assert_in(err_text, "bytes of memory, more than --memory, 2000000; it is computed at once: ");
    }
    preloaded = NULL;
    unsetenv("APSIS_CONTAINER");
    assert_files(1);
}

/* Nothing is left behind when the disk is full or the file damaged, wherever that is found. */
static void test_failures(void **state) {
    (void)state;
    draw(1);
    const Layout strips = {.bits = 1, .photometric = B, .rows = 8, .compression = COMPRESSION_ADOBE_DEFLATE};
    write_tiff("in.tif", &strips, BIG_WIDTH, BIG_HEIGHT, 1);
    char line[200];
    snprintf(line, sizeof line, "@ distance in.tif out.tif --nearest which.tif --memory %lld",
             least_memory("distance in.tif out.tif --nearest which.tif"));
    check_failures(line, "which.tif", (const size_t[]){20000, 200000, 839000});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_layouts, start),   cmocka_unit_test_setup(test_maps, start),
        cmocka_unit_test_setup(test_labels, start),    cmocka_unit_test_setup(test_pages, start),
        cmocka_unit_test_setup(test_tiles, start),     cmocka_unit_test_setup(test_plan, start),
        cmocka_unit_test_setup(test_container, start), cmocka_unit_test_setup(test_failures, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
