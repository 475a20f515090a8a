/*
 * Damaged files: cut short, changed a byte at a time, or claiming sizes that are not there.  The apsis
 * command may refuse them or read what is left, but neither crashes nor leaves half an answer.
 */
#include "tool_tiff.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint8_t original[4096];

static void try_damaged(const uint8_t *bytes, size_t size, const char *how, size_t at) {
    FILE *file = fopen("in.tif", "wb");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    const int code = run("distance in.tif out.tif --threads 1 -q");
    if (code != 0 && code != 1 && code != 14) fail_msg("%s at %zu: exit code %d\n%s", how, at, code, err_text);
    assert_int_equal(exists("out.tif"), code == 0);
    if (code) assert_in(err_text, "apsis distance: ");
    unlink("out.tif");
    assert_files(1);
}

static void test_damage(void **state) {
    (void)state;
    static const Layout seeds[] = {
        {.bits = 1, .photometric = PHOTOMETRIC_MINISWHITE, .compression = COMPRESSION_CCITTFAX4, .rows = 6},
        {.bits = 8, .photometric = PHOTOMETRIC_MINISBLACK, .compression = COMPRESSION_LZW, .tile = 16, .mode = "w8"},
        {.bits = 16, .photometric = PHOTOMETRIC_MINISBLACK, .rows = 4, .mode = "wb"},
    };
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; ++s) {
        make_samples(seeds[s].bits, 9);
        write_tiff("in.tif", &seeds[s], 19, 9, s == 0 ? 2 : 1);
        FILE *file = fopen("in.tif", "rb");
        const size_t size = fread(original, 1, sizeof original, file);
        fclose(file);
        assert_true(size < sizeof original);
        for (size_t length = 0; length < size; length += 1 + size / 100) try_damaged(original, length, "cut", length);
        uint8_t changed[sizeof original];
        uint32_t seed = 1;
        for (size_t at = 0; at < size; at += 1 + size / 250) {
            memcpy(changed, original, size);
            changed[at] ^= (uint8_t)(at % 2 ? 0xFF : 1u << next_random(&seed) % 8);
            try_damaged(changed, size, "changed", at);
        }
    }
}

/* Sizes that are claimed, but not there, take no memory and no time. */
static void test_claims(void **state) {
    (void)state;
    memset(samples, 0, sizeof samples);
    static const struct {
        uint32_t width, height;
    } sizes[] = {{0xFFFFFFFF, 0xFFFFFFFF}, {1u << 31, 3}, {1u << 30, 1u << 30}, {3, 1u << 30}, {1 << 20, 1 << 20}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        TIFF *tiff = TIFFOpen("in.tif", "w");
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, sizes[i].width);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, sizes[i].height);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 1);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, sizes[i].height);
        TIFFWriteRawStrip(tiff, 0, (void *)"abcdefgh", 8);
        TIFFClose(tiff);
        const int code = shell("@ distance in.tif out.tif --threads 1");
        if (code != 1 && code != 14) fail_msg("%u x %u: exit code %d", sizes[i].width, sizes[i].height, code);
        assert_in(err_text, "apsis distance: ");
        assert_files(1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_damage, start),
        cmocka_unit_test_setup(test_claims, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
