/*
 * Files that claim more pixels than they hold, and limits that the caller sets.  A hundred bytes must not cost gigabytes, and
 * no pixel may be made up without a word; but an honest file is taken, however well it is compressed.
 */
#include "tool_tiff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A page, and the place of its only strip. */
typedef struct Claim {
    uint32_t width, height, bits, samples, compression, offset, bytes;
} Claim;

/* Writes a TIFF that is nothing but a header and a directory of nine entries. */
static void write_claim(const Claim *c) {
    const uint32_t entries[][2] = {
        {TIFFTAG_IMAGEWIDTH, c->width},        {TIFFTAG_IMAGELENGTH, c->height},  {TIFFTAG_BITSPERSAMPLE, c->bits},
        {TIFFTAG_COMPRESSION, c->compression}, {TIFFTAG_PHOTOMETRIC, 1},          {TIFFTAG_STRIPOFFSETS, c->offset},
        {TIFFTAG_SAMPLESPERPIXEL, c->samples}, {TIFFTAG_ROWSPERSTRIP, c->height}, {TIFFTAG_STRIPBYTECOUNTS, c->bytes}};
    uint8_t file[10 + sizeof entries / sizeof *entries * 12 + 4] = {
        'I', 'I', 42, 0, 8, 0, 0, 0, sizeof entries / sizeof *entries, 0};
    for (size_t e = 0; e < sizeof entries / sizeof *entries; ++e) {
        uint8_t *at = file + 10 + 12 * e;
        at[0] = (uint8_t)entries[e][0], at[1] = (uint8_t)(entries[e][0] >> 8);
        at[2] = TIFF_LONG, at[4] = 1;
        for (int b = 0; b < 4; ++b) at[8 + b] = (uint8_t)(entries[e][1] >> 8 * b);
    }
    FILE *to = fopen("in.tif", "wb");
    assert_int_equal(fwrite(file, 1, sizeof file, to), sizeof file);
    fclose(to);
}

static void refused(int code, const char *options, const char *sentence) {
    const int got = run("distance in.tif out.tif --device cpu --threads 1 %s", options);
    if (got != code) fail_msg("%s: exit code %d, but should be %d\n%s", options, got, code, err_text);
    assert_in(err_text, sentence);
    assert_files(1);
}

static void test_claims(void **state) {
    (void)state;
    static const uint32_t sides[] = {20000, 100000};
    static const int compressions[] = {COMPRESSION_NONE, COMPRESSION_CCITTFAX4, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_LZW,
                                       COMPRESSION_PACKBITS};
    for (int i = 0; i < 2; ++i)
        for (size_t c = 0; c < sizeof compressions / sizeof *compressions; ++c) {
            write_claim(&(Claim){sides[i], sides[i], 1, 1, (uint32_t)compressions[c], 0, 0});
            refused(1, "", "cannot read 'in.tif': it has nothing in strip 0 for ");
            refused(14, "--tolerate --memory 1000000 --picture p.tif", "more than --memory, 1000000; it is computed at once: ");
            write_claim(&(Claim){sides[i], sides[i], 1, 1, (uint32_t)compressions[c], 8, 114});
            refused(1, "", "cannot read 'in.tif': it has only 114 bytes in strip 0 for ");
            assert_in(err_text, "; --tolerate goes on");
        }
    write_claim(&(Claim){2147600000, 1, 65535, 65535, COMPRESSION_NONE, 8, 114}); /* in bits, more than 2^63 */
    refused(1, "", "'in.tif' has 65535 samples a pixel");
    write_claim(&(Claim){100000, 100000, 1, 1, COMPRESSION_NONE, 200, 1250000000}); /* beyond the end of the file */
    refused(1, "", "it has nothing in strip 0");
    succeed("info in.tif");
    assert_in(out_text, "not for apsis: it has nothing in strip 0");
}

static void test_tolerate(void **state) {
    (void)state;
    write_claim(&(Claim){100, 100, 1, 1, COMPRESSION_CCITTFAX4, 0, 0});
    refused(1, "", "it has nothing in strip 0");
    assert_int_equal(run("distance in.tif out.tif --tolerate --json"), 0);
    assert_in(err_text, "apsis: warning: page 1 of 'in.tif': it has nothing in strip 0");
    assert_in(out_text, "\"sites\": 0");
    assert_in(out_text, "\"warnings\": [\"page 1 of 'in.tif': it has nothing in strip 0");
    assert_int_equal(run("info in.tif --tolerate --json"), 0);
    assert_in(out_text, "\"nonzero\": 0");
    assert_in(out_text, "\"warning\": \"it has nothing in strip 0");

    /* Half of a strip after one of ones: what is missing is 0, and not what was there before. */
    make_samples(1, 5);
    const Layout fax = {.bits = 1, .photometric = 1, .compression = COMPRESSION_CCITTFAX4, .rows = HEIGHT};
    write_tiff("in.tif", &fax, WIDTH, HEIGHT, 1);
    uint8_t data[4096], ones[HEIGHT * ((WIDTH + 7) / 8)];
    TIFF *tiff = TIFFOpen("in.tif", "r");
    const tmsize_t size = TIFFReadRawStrip(tiff, 0, data, sizeof data);
    TIFFClose(tiff);
    unlink("out.tif");
    tiff = TIFFOpen("in.tif", "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 2 * HEIGHT);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, 1);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_CCITTFAX4);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, HEIGHT);
    memset(ones, 0xFF, sizeof ones);
    TIFFWriteEncodedStrip(tiff, 0, ones, sizeof ones);
    TIFFWriteRawStrip(tiff, 1, data, size / 2);
    TIFFClose(tiff);
    refused(1, "", "cannot read 'in.tif': strip 1: ");
    assert_in(err_text, "; --tolerate goes on");
    assert_int_equal(run("distance in.tif out.tif --metric chessboard --type i32 --tolerate --json"), 0);
    assert_in(err_text, "apsis: warning: page 1 of 'in.tif': ");
    assert_in(out_text, "\"warnings\": [\"page 1 of 'in.tif': ");
    Result r = read_result("out.tif", 0);
    const double *second = r.values + WIDTH * HEIGHT, *last = second + WIDTH * (HEIGHT - 1);
    for (int x = 0; x < WIDTH; ++x) {
        assert_int_equal(second[x] == 0, samples[x] != 0);
        assert_true(last[x] > 0);
    }
    free(r.values);
}

static void test_limits(void **state) {
    (void)state;
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, PAGES);
    refused(1, "--max-pixels 2552", "'in.tif' has 37 x 23 pixels, 3 pages, more than --max-pixels, 2552");
    refused(2, "--max-pixels 0", "--max-pixels is '0'");
    refused(14, "--memory 1K", "an image of 37 x 23 x 3 pixels takes at least ");
    assert_in(err_text, " bytes of memory, more than --memory, 1024, in slabs\n");
    refused(14, "--memory 10556 --picture p.tif",
            "an image of 37 x 23 x 3 pixels takes 10557 bytes of memory, more than --memory, 10556; it is computed at once: ");
    const Layout fax = {.bits = 1, .photometric = 1, .compression = COMPRESSION_CCITTFAX4, .rows = HEIGHT};
    write_tiff("in.tif", &fax, WIDTH, HEIGHT, PAGES);
    succeed("distance in.tif out.tif --max-pixels 2553 --memory 1M");
    assert_int_equal(run("geodesic in.tif out.tif in.tif --max-pixels 1"), 1);
}

/* What the command says that it takes at least, of a file of one strip of this size: room for it, for fax data twice, and for
 * its pixels as bits. */
static void assert_counted(tmsize_t strip, tmsize_t bits, bool fax) {
    assert_int_equal(run("distance in.tif out.tif --device cpu --memory 1"), 14);
    assert_in(err_text, "takes at least ");
    const long long least = atoll(strstr(err_text, "at least ") + strlen("at least ")), decoded = (fax ? 2 : 1) * strip + bits;
    if (least < decoded || least > decoded + 10000) fail_msg("a strip of %ld bytes: %s", (long)strip, err_text);
}

/* Blank pages are the ones that compress best. */
static void test_blank(void **state) {
    (void)state;
    enum { SIDE = 3000 };
    static const int compressions[] = {COMPRESSION_NONE,     COMPRESSION_CCITTFAX4,     COMPRESSION_CCITTFAX3,
                                       COMPRESSION_CCITTRLE, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_LZW,
                                       COMPRESSION_PACKBITS, COMPRESSION_ZSTD,          COMPRESSION_LZMA};
    uint8_t *blank = calloc(SIDE, SIDE);
    for (size_t c = 0; c < sizeof compressions / sizeof *compressions; ++c) {
        if (!TIFFIsCODECConfigured((uint16_t)compressions[c])) continue;
        const bool fax = c >= 1 && c <= 3;
        TIFF *tiff = TIFFOpen("in.tif", "w");
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, SIDE);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, SIDE);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, fax ? 1 : 8);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, 0);
        TIFFSetField(tiff, TIFFTAG_COMPRESSION, compressions[c]);
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, SIDE);
        const tmsize_t bytes = SIDE * (fax ? (SIDE + 7) / 8 : SIDE);
        assert_int_equal(TIFFWriteEncodedStrip(tiff, 0, blank, bytes), bytes);
        TIFFClose(tiff);
        succeed("info in.tif --json");
        assert_in(out_text, "\"nonzero\": 0");
        if (compressions[c] != COMPRESSION_NONE)
            assert_counted(bytes, SIDE * SIDE / 8, fax); /* a plain strip is read in parts */
    }
    free(blank);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_claims, start),
        cmocka_unit_test_setup(test_tolerate, start),
        cmocka_unit_test_setup(test_limits, start),
        cmocka_unit_test_setup(test_blank, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
