/*
 * Components of images that are larger than the memory which the apsis command may take: it numbers them slab by slab, and
 * every file is the one that it writes when it computes the image at once, byte for byte.
 */
#include "tool_slabs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Images are upright, and there is one thread: then the library needs little beside an output, and slabs save memory. */

/* Few components, which go through many slabs: outlines of rectangles and bars, one over another, with holes and dots. */
static void draw_pieces(int width, int height, int pages) {
    uint32_t seed = 4;
    memset(samples, 0, sizeof samples);
    for (int i = 0; i < width * height * pages / 1500; ++i) {
        const int w = 1 + (int)(next_random(&seed) % 60), h = 1 + (int)(next_random(&seed) % 60),
                  z = (int)(next_random(&seed) % pages);
        const int left = (int)(next_random(&seed) % width), top = (int)(next_random(&seed) % height);
        const int deep = 1 + (int)(next_random(&seed) % 5);
        for (int y = top; y < top + h && y < height; ++y)
            for (int x = left; x < left + w && x < width; ++x)
                for (int p = z; p < z + deep && p < pages; ++p)
                    if (i % 4 == 0 || y == top || y == top + h - 1 || x == left || x == left + w - 1)
                        samples[(p * height + y) * width + x] ^= 1;
    }
}

/* Many components. */
static void draw_noise(void) {
    uint32_t seed = 6;
    for (int i = 0; i < MOST; ++i) samples[i] = next_random(&seed) % 2;
}

static void test_labels(void **state) {
    (void)state;
    draw_noise();
    write_tiff("in.tif", &kBits, BIG_HEIGHT, BIG_WIDTH, 1);
    compare_cuts("components in.tif --threads 1", NULL, "", true);
    compare_cuts("components in.tif --threads 1 --connectivity 8 --sites zero --type i64 --compress deflate", NULL, "", true);
    compare_cuts("components in.tif --threads 1 --type u8", NULL, "", true);
    const Layout tiles = {.bits = 8, .photometric = PHOTOMETRIC_MINISBLACK, .tile = 64, .compression = COMPRESSION_LZW};
    draw_pieces(BIG_HEIGHT, BIG_WIDTH, 1);
    write_tiff("in.tif", &tiles, BIG_HEIGHT, BIG_WIDTH, 1);
    compare_cuts("components in.tif --threads 1 --tiled --compress lzw --connectivity 8", NULL, "", true);
    compare_cuts("components in.tif --threads 1 --periodic x,y --connectivity 8", NULL, "", true);
    memset(samples, 0, sizeof samples);
    write_tiff("in.tif", &kBits, BIG_HEIGHT, BIG_WIDTH, 1);
    compare_cuts("components in.tif --threads 1", "--stats", "table.csv", true);
    compare_cuts("components in.tif --threads 1 --sites zero --largest 1", "--stats", "table.json", true);
}

static void test_selections(void **state) {
    (void)state;
    draw_pieces(BIG_HEIGHT, BIG_WIDTH, 1);
    write_tiff("in.tif", &kBits, BIG_HEIGHT, BIG_WIDTH, 1);
    compare_cuts("components in.tif --threads 1", "--stats", "table.csv", true);
    compare_cuts("components in.tif --threads 1 --connectivity 8 --sites zero --clear-border", "--stats", "table.json", true);
    compare_cuts("components in.tif --threads 1 --periodic x,y --connectivity 8 --largest 3", "--stats", "table.csv", true);
    compare_cuts("components in.tif --threads 1 --periodic x --clear-border", NULL, "", true);
    compare_cuts("components in.tif --threads 1 --largest 7 --type u8", NULL, "", true);
    compare_cuts("components in.tif --threads 1 --largest 40 --clear-border --max-area 200", "--stats", "table.csv", true);
    compare_cuts("components in.tif --threads 1 --min-area 20 --sites zero --type u8", "--stats", "table.csv", true);
    compare_cuts("components in.tif --threads 1 --fill-holes", "--stats", "table.csv", true);
    compare_cuts("components in.tif --threads 1 --fill-holes --connectivity 8 --clear-border --min-area 30 --type u8", NULL, "",
                 true);
    compare_cuts("components in.tif --threads 1 --fill-holes --sites zero --max-area 900", "--stats", "table.json", true);
}

/* Pages that are cut; of a volume the planes. */
enum { PAGE_WIDTH = 100, PAGE_HEIGHT = 70, MANY_PAGES = 30 };

static void test_pages(void **state) {
    (void)state;
    draw_pieces(PAGE_WIDTH, PAGE_HEIGHT, MANY_PAGES);
    write_tiff("in.tif", &kBits, PAGE_WIDTH, PAGE_HEIGHT, MANY_PAGES);
    compare_cuts("components in.tif --threads 1", "--stats", "table.csv", true);
    compare_cuts("components in.tif --threads 1 --largest 2 --fill-holes", "--stats", "table.json", true);
    compare_cuts("components in.tif --threads 1 --clear-border --type u8 --connectivity 8 --sites zero", NULL, "", true);
    compare_cuts("components in.tif --threads 1 --volume", "--stats", "table.csv", false);
    compare_cuts("components in.tif --threads 1 --volume --periodic x,z", "--stats", "table.csv", false);
    compare_cuts("components in.tif --threads 1 --volume --connectivity 26 --largest 3 --type i64", "--stats", "table.csv",
                 false);
    compare_cuts("components in.tif --threads 1 --volume --connectivity 18 --fill-holes --clear-border --type u8", NULL, "",
                 false);
    compare_cuts("components in.tif --threads 1 --volume --sites zero --min-area 5 --max-area 500", "--stats", "table.json",
                 false);
}

/* More components than there is memory for. */
static void test_refused(void **state) {
    (void)state;
    draw_noise();
    write_tiff("in.tif", &kBits, BIG_HEIGHT, BIG_WIDTH, 1);
    const long long least = least_memory("components in.tif --threads 1 out.tif");
    succeed("components in.tif --threads 1 out.tif --dry-run --memory %lld", least);
    assert_in(out_text, "read once; the set is kept in a file of 26.6 KB\ncomputed in ");
    succeed("components in.tif --threads 1 out.tif --json --memory %lld", least);
    assert_in(out_text, "\"number\": ");
    const long long components = number_after(out_text, "\"components\": ");
    unlink("out.tif");
    static const char *const wanting[] = {"--stats t.csv", "--largest 3", "--clear-border", "--fill-holes", "--min-area 2"};
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(run("components in.tif --threads 1 out.tif %s --memory %lld", wanting[i], least + 1000), 14);
        const long long takes = number_after(err_text, "an image of 300 x 700 pixels takes ");
        const long long found = number_after(err_text, ": its slabs have ");
        assert_in(err_text, " components, and statistics, selections and labels need 96 bytes for each\n");
        assert_true(takes > 88 * found && (i == 3 || found > components));
        assert_files(1);
    }
    /* At once, too. */
    const long long whole =
        number_after((run("components in.tif --threads 1 out.tif --memory 1 --picture p.png"), err_text), " takes ");
    assert_int_equal(run("components in.tif --threads 1 out.tif --stats t.csv --picture p.png --memory %lld", whole + 100000),
                     14);
    assert_int_equal(number_after(err_text, ": its slabs have "), components);
    assert_files(1);
}

/* Nothing is left behind when the disk is full or the file damaged, wherever that is found. */
static void test_failures(void **state) {
    (void)state;
    draw_pieces(BIG_HEIGHT, BIG_WIDTH, 1);
    const Layout strips = {
        .bits = 1, .photometric = PHOTOMETRIC_MINISBLACK, .rows = 8, .compression = COMPRESSION_ADOBE_DEFLATE};
    write_tiff("in.tif", &strips, BIG_HEIGHT, BIG_WIDTH, 1);
    char line[200];
    snprintf(line, sizeof line, "@ components in.tif --threads 1 out.tif --fill-holes --stats table.csv --memory %lld",
             least_memory("components in.tif --threads 1 out.tif") + 20000);
    check_failures(line, "table.csv", (const size_t[]){1000, 27000, 839000});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_labels, start),   cmocka_unit_test_setup(test_selections, start),
        cmocka_unit_test_setup(test_pages, start),    cmocka_unit_test_setup(test_refused, start),
        cmocka_unit_test_setup(test_failures, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
