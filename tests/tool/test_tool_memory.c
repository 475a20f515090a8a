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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_memory, start)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
