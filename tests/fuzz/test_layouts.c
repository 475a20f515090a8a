/*
 * Every layout of TIFF that there is: the reader of the apsis command takes the pixels that were written, or refuses the file
 * for the reason that it documents.  What the command makes of some of them is tests/tool/test_tool_reading.c.
 */
#include "layouts.h"
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOW = 16, THRESHOLD = 5 };

/* Of the layouts all, or one in APSIS_TEST_SHARE. */
static int stride(void) {
    const char *share = getenv("APSIS_TEST_SHARE");
    return share ? atoi(share) + 1 : 1; /* coprime to the numbers of arrangements */
}

static bool expected(const Layout *l, int64_t sample, const int64_t *threshold) {
    if (!threshold) return sample != 0;
    if (l->format != SAMPLEFORMAT_INT) return (uint64_t)sample >= (uint64_t)*threshold;
    const int unused = 64 - l->bits;
    return (int64_t)((uint64_t)sample << unused) >> unused >= *threshold;
}

/* Reads what was written, and compares. */
static void assert_read(const Layout *l, int w, int h, int pages, const int64_t *threshold) {
    ReadSet got = read_file(memory_file(), threshold, false);
    if (!got.marks) fail_msg("%s: %s", layout_name(l), got.refused);
    if (got.width != w || got.height != h || got.pages != pages) fail_msg("%s: the size is wrong", layout_name(l));
    if (got.orientation != (l->orientation ? l->orientation : 1)) fail_msg("%s: the orientation is wrong", layout_name(l));
    int64_t sites = 0;
    for (int i = 0; i < w * h * pages; ++i) {
        const bool want = expected(l, samples[i], threshold);
        if (got.marks[i] != want) fail_msg("%s: pixel %d, sample %lld", layout_name(l), i, (long long)samples[i]);
        sites += want;
    }
    assert_int_equal(got.sites, sites);
    if (!threshold) assert_int_equal(count_file(memory_file()), sites);
    free(got.marks);
}

static bool is_slow(const Layout *l) { return l->compression == COMPRESSION_LZMA || l->compression == COMPRESSION_ZSTD; }

static void test_all(void **state) {
    (void)state;
    static const int64_t threshold = THRESHOLD;
    int tried = 0;
    for (int n = 0; n < layouts(); n += stride()) {
        Layout l;
        if (!layout_at(n, &l) || (is_slow(&l) && n / ARRANGEMENTS % SLOW != n % SLOW)) continue;
        make_all_samples(l.bits, (uint32_t)n);
        write_tiff(memory_file(), &l, WIDTH, HEIGHT, 1);
        assert_read(&l, WIDTH, HEIGHT, 1, NULL);
        assert_read(&l, WIDTH, HEIGHT, 1, &threshold);
        ++tried;
    }
    printf("%d of %d layouts\n", tried, layouts());
}

/* The eight orientations are told on, and the pixels stay as they are stored. */
static void test_orientations(void **state) {
    (void)state;
    for (int orientation = 1; orientation <= 8; ++orientation)
        for (int planar = 1; planar <= 2; ++planar) {
            const Layout l = {.name = "an orientation",
                              .bits = 8,
                              .photometric = PHOTOMETRIC_MINISBLACK,
                              .mode = "w",
                              .orientation = orientation,
                              .planar = planar};
            make_all_samples(8, (uint32_t)orientation);
            write_tiff(memory_file(), &l, WIDTH, HEIGHT, 1);
            assert_read(&l, WIDTH, HEIGHT, 1, NULL);
        }
}

/* Sizes at which rows and tiles end within a byte, and at one. */
static void test_sizes(void **state) {
    (void)state;
    for (int w = 1; w <= 34; ++w)
        for (int bits = 1; bits <= 8; bits *= 2)
            for (int tile = 0; tile <= 16; tile += 16) {
                const Layout l = {.name = "a size",
                                  .bits = bits,
                                  .photometric = PHOTOMETRIC_MINISBLACK,
                                  .mode = "w",
                                  .tile = tile,
                                  .rows = 2};
                make_all_samples(bits, (uint32_t)w);
                write_tiff(memory_file(), &l, w, 35 - w, 1);
                assert_read(&l, w, 35 - w, 1, NULL);
            }
}

/* The pages' own directories, each with a smaller image below it, which is no page. */
static void test_sub_directories(void **state) {
    (void)state;
    Layout l = kBytes;
    l.mode = "w";
    for (int bigtiff = 0; bigtiff < 2; ++bigtiff)
        for (int type = 0; type <= FILETYPE_REDUCEDIMAGE; ++type) {
            make_all_samples(8, 3);
            TIFF *tiff = TIFFOpen(memory_file(), bigtiff ? "w8" : "w");
            for (int page = 0; page < PAGES; ++page) {
                toff_t offsets[2] = {0, 0};
                TIFFSetField(tiff, TIFFTAG_SUBIFD, 2, offsets);
                write_page(tiff, &l, WIDTH, HEIGHT, samples + page * WIDTH * HEIGHT);
                for (int below = 0; below < 2; ++below) {
                    TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, type);
                    write_page(tiff, &l, 5, 4, samples);
                }
            }
            TIFFClose(tiff);
            assert_read(&l, WIDTH, HEIGHT, PAGES, NULL);
        }
}

/* Pages in a row, each in an arrangement of its own. */
static void test_mixed_pages(void **state) {
    (void)state;
    for (int n = 0; n < ARRANGEMENTS; ++n) {
        Layout l;
        make_all_samples(1, (uint32_t)n);
        TIFF *tiff = NULL;
        for (int page = 0; page < PAGES; ++page) {
            const int codec = page == 0 ? 0 : page == 1 ? layouts() / ARRANGEMENTS - 1 : 7; /* none, Group 4, PackBits */
            assert_true(layout_at(codec * ARRANGEMENTS + (n + page * 11) % ARRANGEMENTS, &l));
            assert_int_equal(l.bits, 1);
            if (!tiff) tiff = TIFFOpen(memory_file(), l.mode);
            write_page(tiff, &l, WIDTH, HEIGHT, samples + page * WIDTH * HEIGHT);
        }
        TIFFClose(tiff);
        assert_read(&l, WIDTH, HEIGHT, PAGES, NULL);
    }
}

/* A lossy codec: samples that differ by less than half of the range do not matter. */
static void test_jpeg(void **state) {
    (void)state;
    static const int64_t half = 128;
    if (!TIFFIsCODECConfigured(COMPRESSION_JPEG)) skip();
    for (int n = 0; n < ARRANGEMENTS; ++n) {
        Layout l;
        layout_at(n, &l);
        if (l.format == SAMPLEFORMAT_INT || l.rows) continue; /* strips of whole blocks alone */
        l.name = "JPEG", l.bits = 8, l.compression = COMPRESSION_JPEG;
        for (int i = 0; i < WIDTH * HEIGHT; ++i) samples[i] = (i % WIDTH / 8 + i / WIDTH / 8) % 2 ? 255 : 0;
        write_tiff(memory_file(), &l, WIDTH, HEIGHT, 1);
        assert_read(&l, WIDTH, HEIGHT, 1, &half);
    }
}

static void test_refused(void **state) {
    (void)state;
    static const int kOddBits[] = {3, 5, 6, 7, 9, 10, 12, 14, 15, 24, 31, 33, 63};
    for (size_t i = 0; i < sizeof kOddBits / sizeof *kOddBits; ++i) {
        Layout l = {.bits = kOddBits[i], .photometric = PHOTOMETRIC_MINISBLACK};
        make_all_samples(l.bits, 1);
        write_tiff(memory_file(), &l, WIDTH, HEIGHT, 1);
        assert_in(read_file(memory_file(), NULL, false).refused, "-bit samples, but must have 1, 2, 4, 8, 16, 32 or 64 bits");
    }
    for (int bits = 16; bits <= 64; bits *= 2)
        for (int format = SAMPLEFORMAT_IEEEFP; format <= SAMPLEFORMAT_COMPLEXIEEEFP; ++format) {
            Layout l = {.bits = bits, .photometric = PHOTOMETRIC_MINISBLACK, .format = format};
            make_all_samples(bits, 1);
            write_tiff(memory_file(), &l, WIDTH, HEIGHT, 1);
            const ReadSet got = read_file(memory_file(), NULL, false);
            if (format == SAMPLEFORMAT_VOID)
                assert_non_null(got.marks); /* "not said": numbers without a sign */
            else
                assert_in(got.refused, "has floating-point or complex samples, but must have whole numbers");
            free(got.marks);
        }
    for (int count = 2; count <= 5; ++count)
        for (int planar = PLANARCONFIG_CONTIG; planar <= PLANARCONFIG_SEPARATE; ++planar)
            for (int tile = 0; tile <= 16; tile += 16) {
                Layout l = {.bits = 8,
                            .photometric = count < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB,
                            .samples = count,
                            .planar = planar,
                            .tile = tile};
                make_all_samples(8, 1);
                write_tiff(memory_file(), &l, WIDTH, HEIGHT, 1);
                char words[80];
                snprintf(words, sizeof words, "has %d samples a pixel (colour or transparency), but must have 1", count);
                assert_in(read_file(memory_file(), NULL, false).refused, words);
            }
}

int main(void) {
    TIFFSetWarningHandler(NULL); /* that a codec is old is meant */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),         cmocka_unit_test(test_orientations),
        cmocka_unit_test(test_sizes),       cmocka_unit_test(test_sub_directories),
        cmocka_unit_test(test_mixed_pages), cmocka_unit_test(test_jpeg),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
