/*
 * What the apsis command reads: layouts of TIFF files, which samples are in the set, and several pages.  Each
 * file is given to it and the answer compared with brute force.
 */
#include "tool_question.h"

#include <stdio.h>

#define W PHOTOMETRIC_MINISWHITE
#define B PHOTOMETRIC_MINISBLACK

static const Layout kLayouts[] = {
    {.name = "1-bit", .bits = 1, .photometric = B},
    {.name = "1-bit MinIsWhite", .bits = 1, .photometric = W},
    {.name = "1-bit lowest bit first", .bits = 1, .photometric = B, .fill_order = FILLORDER_LSB2MSB, .rows = 5},
    {.name = "1-bit big endian", .bits = 1, .photometric = B, .mode = "wb", .rows = 1},
    {.name = "1-bit tiles", .bits = 1, .photometric = B, .tile = 16},
    {.name = "1-bit tiles lowest bit first", .bits = 1, .photometric = W, .tile = 16, .fill_order = FILLORDER_LSB2MSB},
    {.name = "1-bit PackBits", .bits = 1, .photometric = B, .compression = COMPRESSION_PACKBITS, .rows = 7},
    {.name = "1-bit LZW", .bits = 1, .photometric = B, .compression = COMPRESSION_LZW},
    {.name = "1-bit LZW lowest bit first",
     .bits = 1,
     .photometric = B,
     .compression = COMPRESSION_LZW,
     .fill_order = FILLORDER_LSB2MSB},
    {.name = "1-bit CCITT RLE", .bits = 1, .photometric = W, .compression = COMPRESSION_CCITTRLE, .rows = 4},
    {.name = "1-bit CCITT G3", .bits = 1, .photometric = W, .compression = COMPRESSION_CCITTFAX3},
    {.name = "1-bit CCITT G4", .bits = 1, .photometric = W, .compression = COMPRESSION_CCITTFAX4, .rows = 6},
    {.name = "1-bit CCITT G4 lowest bit first",
     .bits = 1,
     .photometric = W,
     .compression = COMPRESSION_CCITTFAX4,
     .fill_order = FILLORDER_LSB2MSB},
    {.name = "1-bit CCITT G4 MinIsBlack", .bits = 1, .photometric = B, .compression = COMPRESSION_CCITTFAX4},
    {.name = "1-bit CCITT G4 tiles", .bits = 1, .photometric = W, .compression = COMPRESSION_CCITTFAX4, .tile = 32},
    {.name = "1-bit JBIG", .bits = 1, .photometric = W, .compression = COMPRESSION_JBIG},
    {.name = "2-bit", .bits = 2, .photometric = B, .rows = 3},
    {.name = "4-bit", .bits = 4, .photometric = B},
    {.name = "4-bit tiles", .bits = 4, .photometric = W, .tile = 16},
    {.name = "8-bit", .bits = 8, .photometric = B},
    {.name = "8-bit MinIsWhite", .bits = 8, .photometric = W, .rows = 2},
    {.name = "8-bit palette-like mask", .bits = 8, .photometric = PHOTOMETRIC_MASK},
    {.name = "8-bit BigTIFF", .bits = 8, .photometric = B, .mode = "w8"},
    {.name = "8-bit deflate", .bits = 8, .photometric = B, .compression = COMPRESSION_ADOBE_DEFLATE, .tile = 16},
    {.name = "8-bit ZSTD", .bits = 8, .photometric = B, .compression = COMPRESSION_ZSTD},
    {.name = "8-bit LZMA", .bits = 8, .photometric = B, .compression = COMPRESSION_LZMA},
    {.name = "8-bit LERC", .bits = 8, .photometric = B, .compression = COMPRESSION_LERC},
    {.name = "8-bit signed", .bits = 8, .photometric = B, .format = SAMPLEFORMAT_INT},
    {.name = "16-bit", .bits = 16, .photometric = B, .rows = 10},
    {.name = "16-bit big endian", .bits = 16, .photometric = B, .mode = "wb"},
    {.name = "16-bit big endian BigTIFF LZW tiles",
     .bits = 16,
     .photometric = W,
     .mode = "w8b",
     .compression = COMPRESSION_LZW,
     .tile = 32},
    {.name = "32-bit", .bits = 32, .photometric = B},
    {.name = "64-bit big endian", .bits = 64, .photometric = B, .mode = "wb"},
};

static void test_layouts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kLayouts / sizeof *kLayouts; ++i) {
        const Layout *l = &kLayouts[i];
        if (l->compression && !TIFFIsCODECConfigured((uint16_t)l->compression)) continue;
        make_samples(l->bits, 7 + (uint32_t)i);
        make_set(1, false);
        write_tiff("in.tif", l, WIDTH, HEIGHT, 1);
        succeed("distance in.tif out.tif --nearest which.tif --overwrite -q");
        check(l->name, &kPage, "out.tif", "which.tif");
        int count = 0;
        for (int p = 0; p < WIDTH * HEIGHT; ++p) count += set[p];
        char words[80];
        succeed("info in.tif");
        snprintf(words, sizeof words, "non-zero     %d of %d", count, WIDTH * HEIGHT);
        assert_in(out_text, words);
        if (l->photometric <= 1)
            assert_in(out_text, l->photometric == W ? "a non-zero sample is black" : "a non-zero sample is white");
    }
}

static void test_sites(void **state) {
    (void)state;
    static const char *const sites[] = {"nonzero", "zero", "black", "white"};
    for (int photometric = 0; photometric <= 1; ++photometric)
        for (int bits = 1; bits <= 16; bits += bits == 1 ? 7 : 8)
            for (int s = 0; s < 4; ++s) {
                Layout l = {.name = sites[s], .bits = bits, .photometric = photometric};
                make_samples(bits, 3);
                write_tiff("in.tif", &l, WIDTH, HEIGHT, 1);
                /* MinIsWhite, 0: non-zero is black. */
                make_set(1, s == 1 || (s == 2 && photometric == B) || (s == 3 && photometric == W));
                succeed("distance in.tif out.tif --nearest which.tif --sites %s --overwrite -q", sites[s]);
                check(sites[s], &kPage, "out.tif", "which.tif");
            }
}

static void test_threshold(void **state) {
    (void)state;
    static const struct {
        int bits, format, threshold;
        const char *sites;
        bool complement;
    } cases[] = {
        {8, SAMPLEFORMAT_UINT, 128, "nonzero", false},    {8, SAMPLEFORMAT_UINT, 128, "zero", true},
        {8, SAMPLEFORMAT_UINT, 200, "black", true},       {8, SAMPLEFORMAT_UINT, 200, "white", false},
        {8, SAMPLEFORMAT_UINT, 0, "nonzero", false},      {8, SAMPLEFORMAT_UINT, 256, "nonzero", false},
        {16, SAMPLEFORMAT_UINT, 40000, "nonzero", false}, {16, SAMPLEFORMAT_INT, -20, "nonzero", false},
        {1, SAMPLEFORMAT_UINT, 1, "nonzero", false},      {1, SAMPLEFORMAT_UINT, 2, "zero", true},
        {4, SAMPLEFORMAT_UINT, 9, "nonzero", false},      {4, SAMPLEFORMAT_INT, -3, "nonzero", false},
        {64, SAMPLEFORMAT_INT, -5, "zero", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        Layout l = {.bits = cases[i].bits, .photometric = B, .format = cases[i].format};
        make_samples(cases[i].bits, 11);
        if (cases[i].format == SAMPLEFORMAT_INT)
            for (int p = 0; p < PIXELS; ++p) samples[p] = samples[p] % 8 - 7;
        write_tiff("in.tif", &l, WIDTH, HEIGHT, 1);
        make_set(cases[i].threshold, cases[i].complement);
        succeed("distance in.tif out.tif --threshold %d --sites %s --overwrite -q", cases[i].threshold, cases[i].sites);
        char name[40];
        snprintf(name, sizeof name, "threshold case %zu", i);
        check(name, &kPage, "out.tif", NULL);
    }
}

/* Reduced copies in a file of pages are not pages. */
static void append_reduced_copy(void) {
    TIFF *tiff = TIFFOpen("in.tif", "a");
    TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
    write_page(tiff, &kBits, 5, 4, samples);
    TIFFClose(tiff);
}

static void test_pages(void **state) {
    (void)state;
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, PAGES);
    make_set(1, false);
    succeed("distance in.tif out.tif --nearest which.tif -q");
    check("slices", &kPages, "out.tif", "which.tif");

    Question q = kPages;
    q.volume = true;
    succeed("distance in.tif out.tif --nearest which.tif --volume -q --overwrite");
    check("volume", &q, "out.tif", "which.tif");
    succeed(
        "distance in.tif out.tif --nearest which.tif --volume --metric city-block --spacing 2.5 -q "
        "--overwrite");
    q.metric = CITY_BLOCK;
    q.spacing[0] = q.spacing[1] = q.spacing[2] = 2.5;
    check("city-block volume", &q, "out.tif", "which.tif");
    succeed("distance in.tif out.tif --nearest which.tif --volume --spacing 1,0.5,2 -q --overwrite");
    Question spaced = kPages;
    spaced.volume = true;
    spaced.spacing[0] = 1, spaced.spacing[1] = 0.5, spaced.spacing[2] = 2;
    check("spaced volume", &spaced, "out.tif", "which.tif");
    succeed("distance in.tif out.tif --metric city-block --spacing 2,2 -q --overwrite");
    Question blocks = kPages;
    blocks.metric = CITY_BLOCK;
    blocks.spacing[0] = blocks.spacing[1] = blocks.spacing[2] = 2;
    check("spaced slices", &blocks, "out.tif", NULL);

    append_reduced_copy();
    succeed("distance in.tif out.tif --nearest which.tif -q --overwrite");
    check("with a reduced copy", &kPages, "out.tif", "which.tif");
    succeed("info in.tif --json");
    assert_in(out_text, "\"pages_left_out\": 1");
}

/* Pages of several sizes are refused by name. */
static void test_odd_pages(void **state) {
    (void)state;
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 2);
    TIFF *tiff = TIFFOpen("in.tif", "a");
    write_page(tiff, &kBits, 5, 4, samples);
    TIFFClose(tiff);
    assert_int_equal(run("distance in.tif out.tif"), 1);
    assert_in(err_text, "page 3 is 5 x 4 pixels, but page 1 is 37 x 23 pixels");
    assert_false(exists("out.tif"));
    succeed("info in.tif");
    assert_in(out_text, "3 pages");
    assert_in(out_text, "5 x 4 pixels");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_layouts, start),   cmocka_unit_test_setup(test_sites, start),
        cmocka_unit_test_setup(test_threshold, start), cmocka_unit_test_setup(test_pages, start),
        cmocka_unit_test_setup(test_odd_pages, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
