/*
 * The apsis command on several devices, which are the fake one several times: the files are those of the CPU, byte for byte;
 * and what it refuses.
 */
#include "tool_slabs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const kLines[] = {
    "distance in.tif --nearest which.tif",
    "distance in.tif --signed --metric city-block --type i32 --tiled --compress deflate",
    "distance in.tif --method sweep",
    "voronoi in.tif --sites zero",
    "voronoi in.tif --connected",
    "components in.tif --connectivity 8 --stats which.csv",
    "components in.tif --fill-holes --largest 5 --type u8",
    "components in.tif --labels --stats which.csv",
    "distance in.tif --labels --border --nearest which.tif",
    "distance in.tif --periodic y --signed --nearest which.tif",
};
static const char *const kPages[] = {
    "distance in.tif --nearest which.tif",
    "distance in.tif --volume --signed",
    "voronoi in.tif --connected",
    "components in.tif --stats which.csv --largest 3",
    "components in.tif --volume --stats which.csv",
    "components in.tif --volume --connectivity 26 --fill-holes",
    "components in.tif --volume --labels --stats which.csv",
};
enum { LINES = sizeof kLines / sizeof *kLines, LINES_OF_PAGES = sizeof kPages / sizeof *kPages };

static void assert_same(const char *words, const char *one, const char *other) {
    char line[100];
    snprintf(line, sizeof line, "cmp %s %s", one, other);
    if (exists(other) && shell(line)) fail_msg("%s: %s differs from %s: %s", words, one, other, out_text);
}

/* What --devices is, and what is told of it. */
static const char *const kDevices[][2] = {{"0", "\"devices\": [0]"},
                                          {"all", "\"devices\": [0]"},
                                          {"0,0", "\"devices\": [0, 0]"},
                                          {"0,0,0,0", "\"devices\": [0, 0, 0, 0]"}};

/* Where a process takes long to start, the last of them follows the first, and of shares of memory there are two. */
static int after(int d) { return d + (starts_slowly() ? 3 : 1); }
static int after_share(int share) { return share + (starts_slowly() ? 4 : 1); }

/* Runs a line on the CPU, and then on devices, at once and within half of the memory that this takes. */
static void compare(const char *words) {
    succeed("%s whole.tif --overwrite --device cpu", words);
    if (exists("which.tif")) rename("which.tif", "whole-which.tif");
    if (exists("which.csv")) rename("which.csv", "whole-which.csv");
    preloaded = APSIS_FAKE;
    for (int d = 0; d < 4; d = after(d)) {
        succeed("%s out.tif --overwrite --json --devices %s", words, kDevices[d][0]);
        assert_in(out_text, kDevices[d][1]);
        const long long slabs = number_after(out_text, "\"slabs\": "), memory = number_after(out_text, "\"memory\": ");
        const bool is_whole = strstr(words, "--method");
        const bool is_cut = !is_whole && (!strstr(words, "--connected") || slabs > 1);
        assert_true(!is_cut || slabs >= d);
        for (int again = 0; again < 2; ++again) {
            assert_same(words, "out.tif", "whole.tif");
            assert_same(words, "which.tif", "whole-which.tif");
            assert_same(words, "which.csv", "whole-which.csv");
            if (!is_cut || again) break;
            const int code = run("%s out.tif --overwrite --json --devices %s --memory %lld", words, kDevices[d][0], memory / 2);
            assert_true(code == 0 || code == 14);
            if (code) break;
            assert_true(number_after(out_text, "\"slabs\": ") > slabs);
        }
    }
    preloaded = NULL;
    start(NULL);
}

static void draw(int height, int width, int pages) {
    uint32_t seed = 7;
    for (int i = 0; i < MOST; ++i) samples[i] = next_random(&seed) % 9 == 0;
    write_tiff("in.tif", &kBits, width, height, pages);
}

static void test_images(void **state) {
    (void)state;
    for (int i = 0; i < LINES; ++i) {
        draw(BIG_WIDTH, BIG_HEIGHT, 1);
        compare(kLines[i]);
    }
    for (int i = 0; i < LINES_OF_PAGES; ++i) {
        draw(70, 100, 30);
        compare(kPages[i]);
    }
}

/* Tables of labels, of few values or of more than there is room for. */
static const struct {
    const char *words;
    bool is_whole;
} kTables[] = {
    {"statistics in.tif", false},
    {"contacts in.tif --connectivity 8 --spacing 2,3", false},
    {"contacts in.tif --periodic x", false},
    {"contacts in.tif --periodic y", false},
    {"measures in.tif", true},
    {"measures in.tif --measure moments,perimeter,euler --connectivity 8", false},
};
static const struct {
    const char *words;
    bool is_whole;
} kTablesOfPages[] = {
    {"statistics in.tif", false},
    {"statistics in.tif --volume", false},
    {"contacts in.tif --connectivity 8", false},
    {"contacts in.tif --volume --connectivity 18", false},
    {"measures in.tif --volume", true},
    {"measures in.tif --volume --measure moments,surface,euler", false},
};
static const Layout kWords = {.bits = 16, .photometric = PHOTOMETRIC_MINISBLACK, .rows = 4};

static void draw_labels(int width, int height, int pages, int side) {
    uint32_t seed = 8;
    for (int i = 0; i < width * height * pages; ++i) {
        const int x = i % width, y = i / width % height, z = i / width / height;
        samples[i] = next_random(&seed) % 9 ? (x / side + y / side * 61 + z / side * 7) % 5000 : 0;
    }
    write_tiff("in.tif", &kWords, width, height, pages);
}

static void compare_tables(const char *words, bool is_whole) {
    succeed("%s --output whole.csv --overwrite --device cpu", words);
    preloaded = APSIS_FAKE;
    for (int d = 0; d < 4; d = after(d)) {
        succeed("%s --output out.csv --overwrite --json --devices %s", words, kDevices[d][0]);
        const long long slabs = number_after(out_text, "\"slabs\": "), memory = number_after(out_text, "\"memory\": ");
        assert_true(is_whole ? slabs == 1 : slabs >= d);
        assert_same(words, "out.csv", "whole.csv");
        for (int share = 2; share <= 6 && !is_whole; share = after_share(share)) {
            const int code = run("%s --output out.csv --overwrite --json --devices %s --memory %lld", words, kDevices[d][0],
                                 memory * share / 4);
            assert_true(code == 0 || code == 14);
            if (code == 0) assert_same(words, "out.csv", "whole.csv");
        }
    }
    preloaded = NULL;
    start(NULL);
}

static void test_tables(void **state) {
    (void)state;
    for (int side = 2; side <= 30; side += 28) {
        for (size_t i = 0; i < sizeof kTables / sizeof *kTables; ++i) {
            draw_labels(BIG_WIDTH, BIG_HEIGHT, 1, side);
            compare_tables(kTables[i].words, kTables[i].is_whole);
        }
        for (size_t i = 0; i < sizeof kTablesOfPages / sizeof *kTablesOfPages; ++i) {
            draw_labels(70, 100, 30, side);
            compare_tables(kTablesOfPages[i].words, kTablesOfPages[i].is_whole);
        }
    }
}

/* A damaged strip, which one of several devices is to read; and a table that takes too much. */
static void test_failing_tables(void **state) {
    (void)state;
    draw_labels(BIG_WIDTH, BIG_HEIGHT, 1, 2);
    preloaded = APSIS_FAKE;
    assert_int_equal(run("statistics in.tif --devices 0,0,0 --memory 60000"), 14);
    assert_in(err_text, " values, and a table needs 96 bytes for each\n");
    TIFF *tiff = TIFFOpen("in.tif", "r+");
    uint8_t data[1 << 14];
    const tmsize_t size = TIFFReadRawStrip(tiff, 30, data, sizeof data);
    TIFFWriteRawStrip(tiff, 30, data, size / 2);
    TIFFClose(tiff);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(run("%s in.tif --output t.csv --devices 0,0,0", i ? "contacts" : "statistics"), 1);
        assert_in(err_text, "cannot read 'in.tif': it has only ");
        assert_string_equal(out_text, "");
        assert_files(1);
    }
    preloaded = NULL;
}

static void test_refused(void **state) {
    (void)state;
    draw(BIG_WIDTH, BIG_HEIGHT, 1);
    static const struct {
        const char *words, *sentence;
        int code;
    } cases[] = {
        {"distance in.tif out.tif --devices ''", "--devices is '', but must be all, or numbers of CUDA devices, such as 0,1",
         2},
        {"distance in.tif out.tif --devices 0,", "--devices is '0,'", 2},
        {"distance in.tif out.tif --devices 0,cpu", "--devices is '0,cpu'", 2},
        {"voronoi in.tif out.tif --devices -1", "--devices is '-1'", 2},
        {"components in.tif out.tif --devices 0 --device 0", "--device and --devices both say where to compute", 2},
        {"components in.tif out.tif --device cpu --devices all", "--device and --devices both say where to compute", 2},
        {"geodesic in.tif in.tif out.tif --devices 0,1", "unknown option '--devices'", 2},
        {"eccentricity in.tif out.tif --devices all", "unknown option '--devices'", 2},
        {"distance in.tif out.tif --devices 0,7", "device is 7", 13},
        {"statistics in.tif --devices 0,7", "device is 7", 13},
        {"contacts in.tif --devices 0 --device 0", "--device and --devices both say where to compute", 2},
        {"measures in.tif --devices 0,", "--devices is '0,'", 2},
    };
    preloaded = APSIS_FAKE;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const int code = run("%s", cases[i].words);
        if (code != cases[i].code) fail_msg("%s: exit code %d\n%s", cases[i].words, code, err_text);
        assert_in(err_text, cases[i].sentence);
        assert_files(1);
    }
    /* A full disk, when devices are at work on other slabs. */
    assert_int_equal(shell_limited("@ distance in.tif out.tif --devices 0,0,0 --nearest which.tif", 300000), 1);
    assert_in(err_text, "cannot write 'out.tif': File too large");
    assert_files(1);
    preloaded = NULL;
    if (run("devices --json") == 0 && strstr(out_text, "\"why_no_cuda\": null")) return;
    assert_int_equal(run("distance in.tif out.tif --devices all"), 13);
    assert_files(1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_images, start), cmocka_unit_test_setup(test_tables, start),
                                       cmocka_unit_test_setup(test_failing_tables, start),
                                       cmocka_unit_test_setup(test_refused, start)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
