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
    return q->metric == EUCLIDEAN ? x * x + y * y + z * z : q->metric == CITY_BLOCK ? x + y + z : fmax(x, fmax(y, z));
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

/* One file: distances, or indices of the nearest pixels. */
static void check_file(const char *name, const Question *q, const char *path, bool is_nearest) {
    assert_int_equal(pages_of(path), q->pages);
    const int plane = q->width * q->height;
    for (int z = 0; z < q->pages; ++z) {
        Result r = read_result(path, z);
        assert_int_equal(r.width, q->width);
        assert_int_equal(r.height, q->height);
        assert_int_equal(r.samples, 1);
        for (int i = 0; i < plane; ++i) {
            int64_t which;
            double want = expected(q, z * plane + i, &which);
            if (is_nearest) want = (double)which;
            if (r.bits == 32 && r.format == SAMPLEFORMAT_IEEEFP) want = (float)want;
            if (r.values[i] != want && !(fabs(r.values[i] - want) <= q->tolerance))
                fail_msg("%s: page %d, pixel (%d, %d): %s is %.9g, but should be %.9g", name, z, i % q->width, i / q->width,
                         is_nearest ? "nearest" : "distance", r.values[i], want);
        }
        free(r.values);
    }
}

void check(const char *name, const Question *q, const char *distance, const char *nearest) {
    if (distance) check_file(name, q, distance, false);
    if (nearest) check_file(name, q, nearest, true);
}

/* ---- Components ----------------------------------------------------------- */

static void fill_from(int w, int h, int pages, bool volume, int axes, int at, int number, int *label) {
    label[at] = number;
    const int x = at % w, y = at / w % h, z = at / w / h;
    for (int n = 0; n < 27; ++n) {
        const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1;
        if (abs(dx) + abs(dy) + abs(dz) > axes || (dz && !volume)) continue;
        if (x + dx < 0 || x + dx >= w || y + dy < 0 || y + dy >= h || z + dz < 0 || z + dz >= pages) continue;
        const int next = at + dx + w * (dy + h * dz);
        if (samples[next] == samples[at] && !label[next]) fill_from(w, h, pages, volume, axes, next, number, label);
    }
}

int number_all(int w, int h, int pages, bool volume, int axes, int *label) {
    int count = 0;
    for (int i = 0; i < w * h * pages; ++i) label[i] = 0;
    for (int i = 0; i < w * h * pages; ++i)
        if (samples[i] && !label[i]) fill_from(w, h, pages, volume, axes, i, ++count, label);
    return count;
}
