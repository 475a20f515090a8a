/*
 * The apsis command when memory runs out: each of its allocations fails once, and those of its last part all from one on.  It
 * either succeeds, or says what was wrong; it never crashes, and leaves all of its files or none.
 */
#include "tool_tiff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kOutputs[] = {"out.tif", "more.tif", "more.png", "more.csv"};

/* Runs the command where this allocation fails, and those after it if `for_good`; its exit code. */
static int run_short_of_memory(const char *words, long n, bool for_good, int files) {
    char line[1000];
    for (size_t i = 0; i < sizeof kOutputs / sizeof *kOutputs; ++i) unlink(kOutputs[i]);
    snprintf(line, sizeof line,
             "LD_PRELOAD='" APSIS_SCARCE_MEMORY ":" APSIS_NO_TMPFILE
             "' APSIS_COUNT_ALLOCATIONS=.count "
             "APSIS_FAIL_ALLOCATION=%ld%s @ %s",
             n, for_good ? "+" : "", words);
    const int code = shell(line);
    if (code != 0 && code != 1 && code != 14) fail_msg("%s\nexit code %d: %s", line, code, err_text);
    if (code && !strstr(err_text, "apsis")) fail_msg("%s\nexit code %d, and nothing is said: %s", line, code, err_text);
    assert_files(code ? 1 : files);
    return code;
}

/* Takes the allocations of a line in steps, as it makes all of these files beside its input. */
static void fail_all(const char *words, int step, int files) {
    char count[32];
    assert_int_equal(run_short_of_memory(words, 0, false, files), 0);
    slurp(".count", count, sizeof count);
    const long allocations = atol(count);
    int failures = 0;
    bool writing = false;
    for (long n = 1; n <= allocations; n += step) {
        const int code = run_short_of_memory(words, n, false, files);
        failures += code != 0;
        writing |= code && strstr(err_text, "cannot write");
        if (writing) run_short_of_memory(words, n, true, files);
    }
    print_message("%s: %d of %ld allocations are missed\n", words, failures, (allocations + step - 1) / step);
    assert_true(failures > 10);
}

static void test_memory(void **state) {
    (void)state;
    make_samples(8, 5);
    /* Without compression: libtiff 4.5 crashes where it has no memory for the tags of a codec that it reads. */
    write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, 1);
    fail_all("distance in.tif out.tif --nearest more.tif --picture more.png --compress deflate --json --threads 1", 1, 4);
    fail_all("components in.tif out.tif --stats more.csv --tiled --threads 1", 3, 3);
    fail_all("info in.tif --json", 1, 1);
    fail_all("help distance", 1, 1);
}

/* The most memory that the command held, as it says. */
static double peak_memory(const char *verb, const char *words) {
    succeed("%s in.tif out.tif --device cpu --json --overwrite %s", verb, words);
    assert_in(out_text, "\"peak_memory\": ");
    return atof(strstr(out_text, "\"peak_memory\": ") + strlen("\"peak_memory\": "));
}

/* An image of which a map takes 64 MB keeps to less, beside what the program itself takes; statistics of its 250 000 components
 * take 22 MB more. */
static void test_slabs(void **state) {
    (void)state;
    enum { SIDE = 4000, MOST_BYTES = 16 << 20 };
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    const double program = peak_memory("distance", "");
    uint8_t row[SIDE / 8];
    uint32_t seed = 3;
    TIFF *tiff = TIFFOpen("in.tif", "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, SIDE);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, SIDE);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 1);
    for (uint32_t y = 0; y < SIDE; ++y) {
        for (int i = 0; i < SIDE / 8; ++i) row[i] = (uint8_t)(next_random(&seed) % 8 == 0);
        TIFFWriteEncodedStrip(tiff, y, row, sizeof row);
    }
    TIFFClose(tiff);
    static const struct {
        const char *verb, *words;
        int most;
    } runs[] = {{"distance", "", MOST_BYTES},
                {"components", "", MOST_BYTES},
                {"components", "--largest 1000 --stats t.csv", 3 * MOST_BYTES}};
    for (int i = 0; i < 3; ++i) {
        char words[100];
        snprintf(words, sizeof words, "%s --memory %d --tiled --compress deflate", runs[i].words, runs[i].most);
        const double held = peak_memory(runs[i].verb, words) - program;
        print_message("%s: %.1f MB are held of %.1f\n", runs[i].verb, held / 1e6, runs[i].most / 1e6);
        assert_true(held <= 1.1 * runs[i].most);
    }
    assert_true(peak_memory("distance", "") - program > 3 * MOST_BYTES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_slabs, start),
        cmocka_unit_test_setup(test_memory, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
