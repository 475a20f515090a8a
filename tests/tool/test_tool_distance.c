/*
 * What the apsis command computes: every option that changes the answer, sets that are empty or full, and a
 * scanned page, compared with brute force.
 */
#include "tool_question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *words;
    Question q;
} kOptions[] = {
    {"--signed", {.is_signed = true}},
    {"--type f64", {0}},
    {"--squared", {.squared = true, .none = INT32_MAX}},
    {"--squared --type i64 --signed", {.squared = true, .is_signed = true, .none = (double)INT64_MAX}},
    {"--squared --type i32 --max-distance 2", {.squared = true, .most = 2, .none = INT32_MAX}},
    {"--metric city-block", {.metric = CITY_BLOCK}},
    {"--metric cityblock", {.metric = CITY_BLOCK}},
    {"--metric taxicab", {.metric = CITY_BLOCK}},
    {"--metric=manhattan", {.metric = CITY_BLOCK}},
    {"--metric chessboard --type i32", {.metric = CHESSBOARD, .none = INT32_MAX}},
    {"--metric=city-block --type=i64 --max-distance=1.5", {.metric = CITY_BLOCK, .most = 1.5, .none = (double)INT64_MAX}},
    {"--spacing 0.5,2", {.spacing = {0.5, 2, 1}}},
    {"--spacing 3", {.spacing = {3, 3, 3}}},
    {"--spacing 1,1 --squared", {.squared = true, .none = INT32_MAX}},
    {"--max-distance 1.5 --signed", {.most = 1.5, .is_signed = true}},
    {"--threads 1", {0}},
    {"--device cpu", {0}},
};

static void test_options(void **state) {
    (void)state;
    make_samples(8, 21);
    make_set(1, false);
    write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, 1);
    for (size_t i = 0; i < sizeof kOptions / sizeof *kOptions; ++i) {
        Question q = kOptions[i].q;
        q.width = WIDTH, q.height = HEIGHT, q.pages = 1;
        succeed("distance in.tif out.tif --nearest which.tif --overwrite -q %s", kOptions[i].words);
        check(kOptions[i].words, &q, "out.tif", "which.tif");
        Result r = read_result("out.tif", 0);
        const bool wide = strstr(kOptions[i].words, "64"), whole = q.none > 0;
        assert_int_equal(r.bits, wide ? 64 : 32);
        assert_int_equal(r.format, whole ? SAMPLEFORMAT_INT : SAMPLEFORMAT_IEEEFP);
        free(r.values);
    }
    /* Any spacing at all: equal up to rounding. */
    succeed("distance in.tif out.tif --overwrite -q --spacing 0.3,1.7 --type f64");
    Question q = {.width = WIDTH, .height = HEIGHT, .pages = 1, .spacing = {0.3, 1.7, 1}, .tolerance = 1e-12};
    check("odd spacing", &q, "out.tif", NULL);
}

static void test_empty_and_full(void **state) {
    (void)state;
    memset(samples, 0, sizeof samples);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    for (int full = 0; full <= 1; ++full) {
        make_set(1, full);
        Question q = kPage;
        succeed("distance in.tif out.tif --nearest which.tif --overwrite -q %s", full ? "--sites zero" : "");
        check("no edge", &q, "out.tif", "which.tif");
        q.is_signed = true;
        succeed("distance in.tif out.tif --nearest which.tif --signed --overwrite -q %s --picture p.tif",
                full ? "--sites zero" : "");
        check("no edge, signed", &q, "out.tif", "which.tif");
    }
    succeed("distance in.tif out.tif --overwrite --json");
    assert_in(out_text, "\"minimum\": null");
    assert_in(out_text, "\"infinite\": 851");
    succeed("distance in.tif out.tif --overwrite");
    assert_in(out_text, "no distances: 851 pixels without one");
}

enum { PAGE_WIDTH = 2480, PAGE_HEIGHT = 3508 };

static const char kPageFile[] = APSIS_DATA "/page.tif";
static uint8_t page[PAGE_HEIGHT][(PAGE_WIDTH + 7) / 8];

/* The squared distance and the nearest pixel of (x, y), over every pixel that is drawn. */
static void assert_probe(const Result *d, const Result *n, int x, int y) {
    int64_t best = INT64_MAX, which = -1;
    for (int v = 0; v < PAGE_HEIGHT; ++v)
        for (int u = 0; u < PAGE_WIDTH; ++u) {
            const int64_t square = (int64_t)(u - x) * (u - x) + (int64_t)(v - y) * (v - y);
            if (square < best && (page[v][u / 8] & 0x80 >> u % 8)) best = square, which = u + PAGE_WIDTH * v;
        }
    assert_true(d->values[y * PAGE_WIDTH + x] == (double)best);
    assert_true(n->values[y * PAGE_WIDTH + x] == (double)which);
}

static void test_page(void **state) {
    (void)state;
    enum { PROBES = 40 };
    succeed("info '%s'", kPageFile);
    assert_in(out_text, "2480 x 3508 pixels");
    assert_in(out_text, "a non-zero sample is black");
    succeed("distance '%s' out.tif --nearest which.tif --sites black --squared -q", kPageFile);
    TIFF *tiff = TIFFOpen(kPageFile, "r");
    assert_non_null(tiff);
    for (int y = 0; y < PAGE_HEIGHT; ++y) assert_int_equal(TIFFReadScanline(tiff, page[y], (uint32_t)y, 0), 1);
    TIFFClose(tiff);
    Result d = read_result("out.tif", 0), n = read_result("which.tif", 0);
    uint32_t seed = 17;
    for (int probe = 0; probe < PROBES; ++probe) {
        const int x = (int)(next_random(&seed) % PAGE_WIDTH), y = (int)(next_random(&seed) % PAGE_HEIGHT);
        assert_probe(&d, &n, x, y);
    }
    free(d.values), free(n.values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_options, start),
        cmocka_unit_test_setup(test_empty_and_full, start),
        cmocka_unit_test_setup(test_page, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
