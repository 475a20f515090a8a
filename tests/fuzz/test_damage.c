/*
 * Every byte changed, all of its bits and one of them, and every length cut, of one small file a layout: the
 * reader refuses what is left or gives an answer, and no sanitizer reports anything.
 *
 *     test_fuzz_damage --write FOLDER    the files themselves, as a corpus to fuzz with
 */
#include "layouts.h"
#include "reader.h"
#include "tool_png.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t seed[MOST_SEED];

static size_t read_seed(int n) {
    const size_t size = write_seed(n, memory_file());
    FILE *file = fopen(memory_file(), "rb");
    assert_int_equal(fread(seed, 1, size, file), size);
    fclose(file);
    return size;
}

/* A copy of just that size, so that a sanitizer sees what is read behind its end. */
static void try_bytes(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size + !size);
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void try_with(size_t size, size_t at, uint8_t byte) {
    seed[at] = byte;
    try_bytes(seed, size);
}

/* Of all changes and cuts of a file, or one in APSIS_TEST_SHARE; how many. */
static int damage(int number, size_t size) {
    const char *share = getenv("APSIS_TEST_SHARE");
    const size_t stride = share ? (size_t)atoi(share) : 1;
    int tried = 0;
    for (size_t at = (size_t)number % stride; at < size; at += stride) {
        const uint8_t byte = seed[at];
        try_with(size, at, (uint8_t)~byte);
        try_with(size, at, (uint8_t)(byte ^ 1 << at % 8));
        seed[at] = byte;
        try_bytes(seed, at);
        tried += 3;
    }
    return tried;
}

static void test_damage(void **state) {
    (void)state;
    int files = 0, tried = 0;
    for (int n = 0; n < seeds(); ++n) {
        const size_t size = read_seed(n);
        files += size > 0;
        tried += damage(n, size);
    }
    printf("%d files, %d ways to damage them\n", files, tried);
}

static void test_damaged_png(void **state) {
    (void)state;
    int tried = 0;
    make_samples(8, 3);
    for (int n = 0; n < 4; ++n) {
        write_png(memory_file(), n & 1 ? 16 : 1, n & 2);
        FILE *file = fopen(memory_file(), "rb");
        const size_t size = fread(seed, 1, sizeof seed, file);
        fclose(file);
        assert_true(size > 0 && size < sizeof seed);
        tried += damage(n, size);
    }
    printf("PNG: %d ways to damage them\n", tried);
}

int main(int argc, char **argv) {
    TIFFSetWarningHandler(NULL); /* that a codec is old is meant */
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        char path[PATH_MAX];
        for (int n = 0; n < seeds(); ++n) {
            snprintf(path, sizeof path, "%s/seed-%02d.tif", argv[2], n);
            write_seed(n, path);
        }
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damage), cmocka_unit_test(test_damaged_png)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
