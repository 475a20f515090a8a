/*
 * Data that ends too early, in every codec: a strip that is shorter than it was, or a file whose end is gone.  Decoders go
 * on with what they make up, and many say so only in a warning, or not at all.  So for every cut the apsis command must
 * refuse the file, or give the true pixels; with --tolerate it goes on, and says what was wrong.
 */
#include "tool_tiff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 60, STRIP_ROWS = 20, STRIPS = ROWS / STRIP_ROWS, COLUMNS = 200, TAIL = 8, STRIDE = 97 };

typedef struct Codec {
    const char *name;
    int bits, compression, predictor, fax_options, fill_order;
    uint32_t seed; /* those above 1 have a cut of the last strip of which libtiff says nothing */
} Codec;

static const Codec kCodecs[] = {
    {"Group 4", 1, COMPRESSION_CCITTFAX4, 0, 0, 0, 104},
    {"Group 4, lowest bit first", 1, COMPRESSION_CCITTFAX4, 0, 0, FILLORDER_LSB2MSB, 104},
    {"Group 3", 1, COMPRESSION_CCITTFAX3, 0, 0, 0, 18},
    {"Group 3, two-dimensional", 1, COMPRESSION_CCITTFAX3, 0, GROUP3OPT_2DENCODING, 0, 295},
    {"modified Huffman", 1, COMPRESSION_CCITTRLE, 0, 0, 0, 108},
    {"Deflate", 8, COMPRESSION_ADOBE_DEFLATE, 1, 0, 0, 1},
    {"Deflate, predicted", 8, COMPRESSION_ADOBE_DEFLATE, 2, 0, 0, 7},
    {"Deflate, lowest bit first", 1, COMPRESSION_ADOBE_DEFLATE, 1, 0, FILLORDER_LSB2MSB, 1},
    {"LZW", 8, COMPRESSION_LZW, 1, 0, 0, 1},
    {"PackBits", 8, COMPRESSION_PACKBITS, 0, 0, 0, 1},
    {"Zstandard", 8, COMPRESSION_ZSTD, 1, 0, 0, 1},
    {"LZMA", 8, COMPRESSION_LZMA, 1, 0, 0, 1},
    {"no compression", 8, COMPRESSION_NONE, 0, 0, 0, 1},
};

static uint8_t pixels[ROWS][COLUMNS]; /* 0 or 1 */
static uint8_t data[STRIPS][STRIP_ROWS * COLUMNS];
static uint8_t coded[STRIPS][1 << 14];
static size_t coded_size[STRIPS];

/* Runs that go on from row to row, now and then shifted, so that all kinds of codes occur. */
static void draw_pixels(uint32_t seed) {
    for (int y = 0; y < ROWS; ++y)
        for (int x = 0; x < COLUMNS; ++x)
            pixels[y][x] = y && next_random(&seed) % 8   ? pixels[y - 1][x]
                           : x && next_random(&seed) % 6 ? pixels[y][x - 1]
                                                         : next_random(&seed) % 2;
}

static void set_tags(TIFF *tiff, const Codec *codec) {
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, COLUMNS);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, ROWS);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, codec->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, STRIP_ROWS);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, codec->compression);
    if (codec->predictor) TIFFSetField(tiff, TIFFTAG_PREDICTOR, codec->predictor);
    if (codec->fax_options) TIFFSetField(tiff, TIFFTAG_GROUP3OPTIONS, codec->fax_options);
    if (codec->fill_order) TIFFSetField(tiff, TIFFTAG_FILLORDER, codec->fill_order);
}

/* Fills in `data`, a strip after the other. */
static size_t lay_out(const Codec *codec) {
    const size_t row_bytes = (size_t)(COLUMNS * codec->bits + 7) / 8;
    memset(data, 0, sizeof data);
    for (int y = 0; y < ROWS; ++y)
        for (int x = 0; x < COLUMNS; ++x) {
            uint8_t *row = data[y / STRIP_ROWS] + (size_t)(y % STRIP_ROWS) * row_bytes;
            if (codec->bits == 8)
                row[x] = (uint8_t)(pixels[y][x] * (1 + (x * y) % 200));
            else
                row[x / 8] |= (uint8_t)(pixels[y][x] << (7 - x % 8));
        }
    return STRIP_ROWS * row_bytes;
}

/* Writes in.tif, its directory first, so that a cut of the file is one of its data. */
static void write_whole(const Codec *codec) {
    const size_t bytes = lay_out(codec);
    TIFF *tiff = TIFFOpen("in.tif", "w");
    set_tags(tiff, codec);
    TIFFDeferStrileArrayWriting(tiff);
    assert_int_equal(TIFFWriteCheck(tiff, 0, "test") && TIFFWriteDirectory(tiff) && TIFFSetDirectory(tiff, 0), 1);
    uint8_t copy[sizeof data[0]]; /* a predictor works in place */
    for (uint32_t s = 0; s < STRIPS; ++s) {
        memcpy(copy, data[s], bytes);
        assert_int_equal(TIFFWriteEncodedStrip(tiff, s, copy, (tmsize_t)bytes), bytes);
    }
    assert_int_equal(TIFFForceStrileArrayWriting(tiff), 1);
    TIFFClose(tiff);
    tiff = TIFFOpen("in.tif", "r");
    for (uint32_t s = 0; s < STRIPS; ++s) {
        coded_size[s] = (size_t)TIFFReadRawStrip(tiff, s, coded[s], sizeof coded[s]);
        assert_in_range(coded_size[s], 1, sizeof coded[s]);
    }
    TIFFClose(tiff);
}

/* Writes in.tif with only the first `size` bytes of a strip. */
static void write_cut(const Codec *codec, uint32_t strip, size_t size) {
    TIFF *tiff = TIFFOpen("in.tif", "w");
    set_tags(tiff, codec);
    for (uint32_t s = 0; s < STRIPS; ++s) {
        const size_t bytes = s == strip ? size : coded_size[s];
        assert_int_equal(TIFFWriteRawStrip(tiff, s, coded[s], (tmsize_t)bytes), bytes);
    }
    TIFFClose(tiff);
}

/* Whether in.tif was taken; then its pixels are the true ones: those at distance 0 of the set. */
static int taken(const char *name, const char *what, size_t size) {
    const int code = run("distance in.tif out.tif --metric chessboard --type i32 --device cpu --threads 1 -q");
    if (code) {
        if (code != 1) fail_msg("%s, %s %zu: exit code %d", name, what, size, code);
        assert_in(err_text, "cannot read 'in.tif'");
        assert_false(exists("out.tif"));
        return 0;
    }
    Result r = read_result("out.tif", 0);
    for (int i = 0; i < ROWS * COLUMNS; ++i)
        if ((r.values[i] == 0) != pixels[i / COLUMNS][i % COLUMNS])
            fail_msg("%s, %s %zu: pixel (%d, %d) is wrong", name, what, size, i % COLUMNS, i / COLUMNS);
    free(r.values);
    unlink("out.tif");
    return 1;
}

static void test_strips(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof kCodecs / sizeof *kCodecs; ++c) {
        const Codec *codec = kCodecs + c;
        if (!TIFFIsCODECConfigured((uint16_t)codec->compression)) continue;
        draw_pixels(codec->seed);
        write_whole(codec);
        assert_true(taken(codec->name, "whole", 0));
        for (size_t size = 1; size < coded_size[1]; size += STRIDE) {
            write_cut(codec, 1, size);
            taken(codec->name, "strip 1 cut at", size);
        }
        for (size_t size = coded_size[2] - TAIL; size < coded_size[2]; ++size) {
            write_cut(codec, 2, size);
            taken(codec->name, "strip 2 cut at", size);
        }
        assert_true(coded_size[1] > 100);
        write_cut(codec, 1, coded_size[1] / 2);
        assert_false(taken(codec->name, "strip 1 cut at", coded_size[1] / 2));
    }
}

static void test_files(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof kCodecs / sizeof *kCodecs; ++c) {
        const Codec *codec = kCodecs + c;
        if (!TIFFIsCODECConfigured((uint16_t)codec->compression)) continue;
        draw_pixels(codec->seed);
        write_whole(codec);
        FILE *file = fopen("in.tif", "rb");
        fseek(file, 0, SEEK_END);
        const long size = ftell(file);
        fclose(file);
        for (long cut = 1; cut < 200; cut += 1 + cut / 2) {
            assert_int_equal(truncate("in.tif", size - cut), 0);
            taken(codec->name, "the file cut by", (size_t)cut);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_strips, start),
        cmocka_unit_test_setup(test_files, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
