/* apsis_measures: laws, and where numbers are large, small or none. */
#include <math.h>

#include "run_measures.h"

/** The same bytes with any number of threads, of an image with more rows than one thread takes. */
static void random_threads(bench *b) {
    enum { W = 700, H = 600 };
    const int64_t size[3] = {W, H, 1};
    chance c = {2712};
    uint8_t *mask = must_alloc(W * H);
    float *grey = must_alloc(W * H * sizeof *grey);
    for (int i = 0; i < effort(6); ++i) {
        fill_cells(mask, size, &c);
        for (int k = 0; k < W * H; ++k) grey[k] = (float)ldexp(roll_real(&c) - 0.5, (int)roll_below(&c, 250) - 126);
        frame labels = frame_open(b, APSIS_U8, 2, size, PACKED), grey_frame = frame_open(b, APSIS_F32, 2, size, PACKED);
        frame_put(&labels, mask);
        frame_put(&grey_frame, grey);
        static apsis_measure found[4][256];
        int64_t count[4];
        for (int threads = 1; threads < 4; ++threads) {
            assert_ok(b->ctx, apsis_set_threads(b->ctx, threads));
            memset(found[threads], 0, sizeof found[threads]);
            assert_ok(b->ctx, apsis_measures(b->ctx, &labels.image, &grey_frame.image, ALL, found[threads], 256,
                                             &count[threads], NULL));
            assert_memory_equal(found[threads], found[1], sizeof found[1]);
            assert_int_equal(count[threads], count[1]);
        }
        frame_close(&labels);
        frame_close(&grey_frame);
    }
    free(mask);
    free(grey);
}

/** Sums of squares that do not fit 64 bits. */
static void long_line(bench *b) {
    enum { LENGTH = 4 << 20 };
    const int64_t size[3] = {1, LENGTH, 1};
    uint8_t *line = must_alloc(LENGTH);
    memset(line, 1, LENGTH);
    frame labels = frame_open(b, APSIS_U8, 2, size, PACKED);
    frame_put(&labels, line);
    apsis_measure m;
    assert_ok(b->ctx, apsis_measures(b->ctx, &labels.image, NULL, APSIS_MOMENTS, &m, 1, NULL, NULL));
    const double n = LENGTH;
    assert_true(m.moments[1] == n * ((n * n - 1) / 12) && m.moments[0] == 0);
    frame_close(&labels);
    free(line);
}

/** A digital disc has the moments and the perimeters of a disc, nearly. */
static void disc(bench *b) {
    enum { SIDE = 221, R = 100 };
    static uint8_t mask[SIDE * SIDE];
    const double pi = 3.14159265358979323846;
    for (int i = 0; i < SIDE * SIDE; ++i) {
        const int x = i % SIDE - SIDE / 2, y = i / SIDE - SIDE / 2;
        mask[i] = x * x + y * y <= R * R;
    }
    const int64_t size[3] = {SIDE, SIDE, 1};
    frame labels = frame_open(b, APSIS_U8, 2, size, PACKED);
    frame_put(&labels, mask);
    apsis_measure m;
    assert_ok(b->ctx, apsis_measures(b->ctx, &labels.image, NULL, ALL & ~APSIS_INTENSITY, &m, 1, NULL, NULL));
    for (int a = 0; a < 2; ++a) assert_true(fabs(m.axes[a] / (2 * R) - 1) < 0.01);
    assert_true(fabs(m.crofton[1] / (2 * pi * R) - 1) < 0.01 && fabs(m.perimeter / (2 * pi * R) - 1) < 0.06);
    assert_true(fabs(m.feret[0] / (2 * R + 1) - 1) < 0.01 && fabs(m.feret[1] / (2 * R + 1) - 1) < 0.01);
    assert_true(m.convex >= m.component.area && (double)m.convex < 1.01 * (double)m.component.area);
    assert_true(m.eccentricity == 0 && m.euler == 1 && m.filled == m.component.area && !m.border);
    frame_close(&labels);
}

/** Sums of floats that cancel, and what is no number. */
static void unusual_intensities(bench *b) {
    uint8_t ones[4] = {1, 1, 1, 1};
    const float big = 3e38f, tiny = 1e-45f;
    const struct {
        float grey[4];
        double sum, least, most;
    } row[] = {{{big, 1, -big, tiny}, 1, -(double)big, (double)big},
               {{tiny, tiny, -0.0f, 0}, 2 * (double)tiny, 0, (double)tiny},
               {{big, big, big, big}, 4 * (double)big, (double)big, (double)big},
               {{0x1p100F, 0x1p47F, tiny, 0}, 0x1p100 + 0x1p48, 0, 0x1p100}, /* more than half way */
               {{0x1p100F, 0x1p47F, -0.0F, 0}, 0x1p100, 0, 0x1p100},
               {{-0x1p100F, -0x1p47F, -tiny, 0}, -0x1p100 - 0x1p48, -0x1p100, 0},
               {{INFINITY, 1, -1, 2}, INFINITY, -1, INFINITY},
               {{INFINITY, -INFINITY, 1, 2}, NAN, -INFINITY, INFINITY},
               {{NAN, INFINITY, 1, 2}, NAN, NAN, NAN}};
    const int64_t size[3] = {4, 1, 1};
    for (int i = 0; i < COUNT(row); ++i) {
        frame labels = frame_open(b, APSIS_U8, 2, size, PACKED), grey = frame_open(b, APSIS_F32, 2, size, PACKED);
        frame_put(&labels, ones);
        frame_put(&grey, row[i].grey);
        apsis_measure m;
        assert_ok(b->ctx, apsis_measures(b->ctx, &labels.image, &grey.image, APSIS_INTENSITY, &m, 1, NULL, NULL));
        const double got[3] = {m.intensity_sum, m.intensity_min, m.intensity_max},
                     want[3] = {row[i].sum, row[i].least, row[i].most};
        for (int k = 0; k < 3; ++k) assert_true(isnan(want[k]) ? isnan(got[k]) : got[k] == want[k]);
        frame_close(&labels);
        frame_close(&grey);
    }
}

static const test_case cases[] = {
    TEST(random_threads, EVERYWHERE),
    TEST(disc, EVERYWHERE),
    TEST(long_line, WITH_HOST_IMAGES),
    TEST(unusual_intensities, EVERYWHERE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
