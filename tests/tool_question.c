/* Distances by brute force, compared with files: see tool_question.h. */
#include "tool_question.h"

#include <math.h>
#include <stdlib.h>

const Question kPage = {.width = WIDTH, .height = HEIGHT, .pages = 1};
const Question kPages = {.width = WIDTH, .height = HEIGHT, .pages = PAGES};

uint8_t set[MOST];

void make_set(int64_t least, bool complement) {
    for (int i = 0; i < PIXELS; ++i) set[i] = (samples[i] >= least) != complement;
}

static double key(const Question *q, int dx, int dy, int dz) {
    const double *s = q->spacing;
    const double x = fabs(dx * (s[0] > 0 ? s[0] : 1)), y = fabs(dy * (s[0] > 0 ? s[1] : 1)),
                 z = fabs(dz * (s[0] > 0 ? s[2] : 1));
    return q->metric == EUCLIDEAN    ? x * x + y * y + z * z
           : q->metric == CITY_BLOCK ? x + y + z
                                     : fmax(x, fmax(y, z));
}

/* The distance of pixel i, and the lowest index of the nearest pixel. */
static double expected(const Question *q, int i, int64_t *nearest) {
    const int w = q->width, plane = w * q->height, z = i / plane;
    const bool inside = q->is_signed && set[i];
    const int from = q->volume ? 0 : z * plane, to = q->volume ? plane * q->pages : (z + 1) * plane;
    double best = INFINITY;
    *nearest = -1;
    for (int j = from; j < to; ++j) {
        if (!set[j] != inside) continue;
        double k = key(q, i % w - j % w, i % plane / w - j % plane / w, z - j / plane);
        if (k < best) best = k, *nearest = j;
    }
    double distance = q->metric == EUCLIDEAN && !q->squared ? sqrt(best) : best;
    if (q->most > 0 && (q->squared ? sqrt(best) : distance) > q->most) distance = INFINITY, *nearest = -1;
    if (isinf(distance) && q->none > 0) distance = q->none;
    return inside ? -distance : distance;
}

void check(const char *name, const Question *q, const char *distance, const char *nearest) {
    assert_int_equal(pages_of(distance), q->pages);
    const int plane = q->width * q->height;
    for (int z = 0; z < q->pages; ++z) {
        Result d = read_result(distance, z), n = {0};
        assert_int_equal(d.width, q->width);
        assert_int_equal(d.height, q->height);
        assert_int_equal(d.samples, 1);
        if (nearest) n = read_result(nearest, z);
        for (int i = 0; i < plane; ++i) {
            int64_t which;
            double want = expected(q, z * plane + i, &which);
            if (d.bits == 32 && d.format == SAMPLEFORMAT_IEEEFP) want = (float)want;
            if (d.values[i] != want && !(fabs(d.values[i] - want) <= q->tolerance))
                fail_msg("%s: page %d, pixel (%d, %d): distance is %.9g, but should be %.9g", name, z,
                         i % q->width, i / q->width, d.values[i], want);
            if (nearest && n.values[i] != (double)which)
                fail_msg("%s: page %d, pixel (%d, %d): nearest is %.0f, but should be %lld", name, z,
                         i % q->width, i / q->width, n.values[i], (long long)which);
        }
        free(d.values);
        free(n.values);
    }
}
