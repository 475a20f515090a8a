/* Comparing slabs with whole images: see tool_slabs.h. */
#include "tool_slabs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long long number_after(const char *text, const char *words) {
    assert_in(text, words);
    return atoll(strstr(text, words) + strlen(words));
}

long long least_memory(const char *words) {
    assert_int_equal(run("%s --memory 1", words), 14);
    return number_after(err_text, "takes at least ");
}

/* The memory with which a line succeeds: when components are counted, they may take more. */
static long long enough_memory(const char *line) {
    long long memory = least_memory(line);
    for (int i = 0; i < 3 && run("%s --memory %lld", line, memory); ++i) {
        assert_in(err_text, " components, and statistics, selections and labels need ");
        memory = number_after(err_text, " pixels takes ");
    }
    return memory;
}

static void assert_same(const char *words, const char *one, const char *other) {
    char line[300];
    snprintf(line, sizeof line, "cmp %s %s", one, other);
    if (shell(line)) fail_msg("%s: %s differs from %s: %s", words, one, other, out_text);
}

bool starts_slowly(void) { return getenv("APSIS_TEST_SHARE") != NULL; }

void compare_cuts(const char *words, const char *option, const char *other, bool spills) {
    static const double shares[] = {1, 1.3, 3};
    char line[500], whole[100];
    snprintf(whole, sizeof whole, "whole-%s", other);
    snprintf(line, sizeof line, "%s out.tif --overwrite %s %s", words, option ? option : "", option ? other : "");
    const long long least = enough_memory(line);
    succeed("%s whole.tif --json --overwrite %s %s", words, option ? option : "", option ? whole : "");
    assert_int_equal(number_after(out_text, "\"slabs\": "), 1);
    const long long sites = number_after(out_text, "\"sites\": ");
    int cut = 0, in_file = 0;
    for (int s = 0; s < (starts_slowly() ? 1 : 3); ++s) {
        succeed("%s --json --memory %lld", line, (long long)((double)least * shares[s]));
        cut += number_after(out_text, "\"slabs\": ") > 1;
        in_file += strstr(out_text, "\"set_in_file\": true") != NULL;
        assert_int_equal(number_after(out_text, "\"sites\": "), sites);
        assert_same(line, "out.tif", "whole.tif");
        if (option) assert_same(line, other, whole);
    }
    if (!cut || (spills && !in_file)) fail_msg("%s: %d were cut, %d with the set in a file", line, cut, in_file);
}

void check_failures(const char *line, const char *other, const size_t disks[3]) {
    static const char *const sentences[] = {"cannot write a temporary file beside 'out.tif': File too large",
                                            "cannot write 'out.tif': File too large", "cannot write 'out.tif': File too large"};
    for (int tmpfile = 0; tmpfile < 2; ++tmpfile) {
        if (!tmpfile) preloaded = APSIS_NO_TMPFILE;
        for (int d = 0; d < 3; ++d) {
            assert_int_equal(shell_limited(line, disks[d]), 1);
            assert_in(err_text, sentences[d]);
            assert_files(1);
        }
        assert_int_equal(shell(line), 0);
        assert_files(3);
        unlink("out.tif"), unlink(other);
        preloaded = NULL;
    }

    preloaded = APSIS_CHANGING_FILE;
    assert_int_equal(shell(line), 1);
    preloaded = NULL;
    assert_in(err_text, "cannot read 'in.tif': it has changed meanwhile");
    assert_files(1);

    TIFF *tiff = TIFFOpen("in.tif", "r+");
    uint8_t data[1 << 12];
    const tmsize_t size = TIFFReadRawStrip(tiff, 30, data, sizeof data);
    TIFFWriteRawStrip(tiff, 30, data, size / 2);
    TIFFClose(tiff);
    assert_int_equal(shell(line), 1);
    assert_in(err_text, "cannot read 'in.tif': strip 30: ");
    assert_files(1);
}
