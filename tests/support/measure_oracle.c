#include "measure_oracle.h"

#include <math.h>

enum { MARGIN = 2 };

static int64_t count_of(const shape_of *s) { return s->size[0] * s->size[1] * s->size[2]; }

shape_of new_shape(const problem *p, const int64_t *value, int64_t of) {
    shape_of s = {p->ndim, {1, 1, 1}, NULL, {1, 1, 1}};
    for (int a = 0; a < p->ndim; ++a) {
        s.size[a] = p->size[a] + 2 * MARGIN;
        if (p->options.spacing[0] > 0) s.spacing[a] = p->options.spacing[a];
    }
    s.is_in = must_alloc((size_t)count_of(&s));
    memset(s.is_in, 0, (size_t)count_of(&s));
    const int64_t w = p->size[0], h = p->size[1], up = p->ndim == 3 ? MARGIN : 0;
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        const int64_t x = i % w + MARGIN, y = i / w % h + MARGIN, z = i / w / h + up;
        s.is_in[x + s.size[0] * (y + s.size[1] * z)] = value[i] == of;
    }
    return s;
}

void free_shape(shape_of *s) { free(s->is_in); }

/** Gives all pixels that a path of `kind` pixels reaches from pixel i another kind. */
static void flood(const shape_of *s, uint8_t *kind, int64_t i, uint8_t to, int connectivity) {
    int64_t *stack = must_alloc((size_t)count_of(s) * sizeof *stack), depth = 0;
    const uint8_t from = kind[i];
    stack[depth++] = i;
    kind[i] = to;
    while (depth) {
        const int64_t at = stack[--depth];
        for (int n = 0; n < 27; ++n) {
            const int64_t d[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            int64_t place[3] = {at % s->size[0], at / s->size[0] % s->size[1], at / s->size[0] / s->size[1]};
            bool inside = llabs(d[0]) + llabs(d[1]) + llabs(d[2]) <= connectivity;
            for (int a = 0; a < 3; ++a) place[a] += d[a], inside = inside && place[a] >= 0 && place[a] < s->size[a];
            const int64_t next = place[0] + s->size[0] * (place[1] + s->size[1] * place[2]);
            if (!inside || kind[next] != from) continue;
            kind[next] = to;
            stack[depth++] = next;
        }
    }
    free(stack);
}

static uint8_t *copy_of(const shape_of *s) {
    uint8_t *kind = must_alloc((size_t)count_of(s));
    memcpy(kind, s->is_in, (size_t)count_of(s));
    return kind;
}

static int64_t pieces_of(const shape_of *s, uint8_t *kind, uint8_t of, int connectivity) {
    int64_t pieces = 0;
    for (int64_t i = 0; i < count_of(s); ++i)
        if (kind[i] == of) flood(s, kind, i, 7, connectivity), ++pieces;
    return pieces;
}

/** On a grid twice as fine, where a pixel, its faces, edges and corners have a place each. */
static int64_t cells_of(const shape_of *s, int connectivity) {
    const int64_t w = 2 * s->size[0] + 1, h = 2 * s->size[1] + 1, d = 2 * s->size[2] + 1;
    uint8_t *around = must_alloc((size_t)(w * h * d)); /* how many pixels a cell is part of */
    memset(around, 0, (size_t)(w * h * d));
    for (int64_t i = 0; i < count_of(s); ++i) {
        const int64_t x = 2 * (i % s->size[0]), y = 2 * (i / s->size[0] % s->size[1]), z = 2 * (i / s->size[0] / s->size[1]);
        for (int n = 0; n < 27 && s->is_in[i]; ++n) ++around[x + n % 3 + w * (y + n / 3 % 3 + h * (z + n / 9))];
    }
    int64_t euler = 0;
    for (int64_t i = 0; i < w * h * d; ++i) {
        const int odd = (int)(i % w % 2 + i / w % h % 2 + i / w / h % 2), dimension = connectivity == 1 ? 3 - odd : odd;
        const bool is_there = connectivity == 1 ? around[i] == 1 << (3 - odd) : around[i] > 0;
        euler += is_there ? dimension % 2 ? -1 : 1 : 0;
    }
    free(around);
    return euler;
}

int64_t euler_of(const shape_of *s, int connectivity) {
    if (s->ndim == 3) return cells_of(s, connectivity);
    uint8_t *kind = copy_of(s);
    const int64_t pieces = pieces_of(s, kind, 1, connectivity);
    memcpy(kind, s->is_in, (size_t)count_of(s));
    const int64_t holes = pieces_of(s, kind, 0, 3 - connectivity) - 1;
    free(kind);
    return pieces - holes;
}

int64_t filled_of(const shape_of *s) {
    uint8_t *kind = copy_of(s);
    flood(s, kind, 0, 7, s->ndim);
    int64_t filled = 0;
    for (int64_t i = 0; i < count_of(s); ++i) filled += kind[i] != 7;
    free(kind);
    return filled;
}

void faces_of(const shape_of *s, int64_t faces[3], double *surface) {
    const int64_t step[3] = {1, s->size[0], s->size[0] * s->size[1]};
    *surface = 0;
    for (int a = 0; a < s->ndim; ++a) {
        faces[a] = 0;
        for (int64_t i = 0; i + step[a] < count_of(s); ++i) faces[a] += s->is_in[i] != s->is_in[i + step[a]];
        double area = 1;
        for (int other = 0; other < s->ndim; ++other) area *= other == a ? 1 : s->spacing[other];
        *surface += (double)faces[a] * area;
    }
}

/** By the weights of what a window of border pixels adds up to, as the paper has it. */
double perimeter_of(const shape_of *s) {
    const int64_t w = s->size[0];
    uint8_t *border = must_alloc((size_t)count_of(s));
    memset(border, 0, (size_t)count_of(s));
    for (int64_t i = w + 1; i < count_of(s) - w - 1; ++i)
        border[i] = s->is_in[i] && !(s->is_in[i - 1] && s->is_in[i + 1] && s->is_in[i - w] && s->is_in[i + w]);
    double length = 0;
    for (int64_t i = w + 1; i < count_of(s) - w - 1; ++i) {
        const int sum = border[i] + 2 * (border[i - 1] + border[i + 1] + border[i - w] + border[i + w]) +
                        10 * (border[i - w - 1] + border[i - w + 1] + border[i + w - 1] + border[i + w + 1]);
        switch (sum) {
            case 5:
            case 7:
            case 15:
            case 17:
            case 25:
            case 27: length += 1; break;
            case 21:
            case 33: length += sqrt(2); break;
            case 13:
            case 23: length += (1 + sqrt(2)) / 2; break;
            default: break;
        }
    }
    free(border);
    return length * s->spacing[0];
}

/** By the weights of windows, as Rivollier's thesis has them. */
double crofton_of(const shape_of *s, int directions) {
    const double pi = 3.14159265358979323846, r = sqrt(2);
    const double two[16] = {0, pi / 2, 0, 0, 0, pi / 2, 0, 0, pi / 2, pi, 0, 0, pi / 2, pi, 0, 0};
    const double four[16] = {0,
                             pi / 4 * (1 + 1 / r),
                             pi / (4 * r),
                             pi / (2 * r),
                             0,
                             pi / 4 * (1 + 1 / r),
                             0,
                             pi / (4 * r),
                             pi / 4,
                             pi / 2,
                             pi / (4 * r),
                             pi / (4 * r),
                             pi / 4,
                             pi / 2,
                             0,
                             0};
    const int64_t w = s->size[0];
    double length = 0;
    for (int64_t i = 0; i + w + 1 < count_of(s); ++i) {
        const int code = s->is_in[i + w + 1] + 2 * s->is_in[i + 1] + 4 * s->is_in[i + w] + 8 * s->is_in[i];
        length += directions == 2 ? two[code] : four[code];
    }
    return length * s->spacing[0];
}

/* ---- Hulls, in half pixels ---- */

typedef struct point {
    int64_t x, y;
} point;

static int64_t turn(point a, point b, point c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

/** Points of the pixels that are in: the midpoints of their edges, or their corners.  Returns how many. */
static int points_of(const shape_of *s, const uint8_t *is_in, bool corners, point *points) {
    int n = 0;
    for (int64_t i = 0; i < count_of(s); ++i)
        for (int k = 0; k < 4 && is_in[i]; ++k) {
            const int64_t x = 2 * (i % s->size[0]), y = 2 * (i / s->size[0]), sign = k % 2 ? 1 : -1;
            points[n++] = corners ? (point){x + sign, y + (k / 2 ? 1 : -1)}
                          : k / 2 ? (point){x + sign, y}
                                  : (point){x, y + sign};
        }
    return n;
}

/** Around the hull from point to point, with no other on the right (Jarvis 1973).  Returns how many. */
static int wrap(const point *points, int n, point *hull) {
    int start = 0, count = 0;
    for (int i = 1; i < n; ++i)
        if (points[i].y < points[start].y || (points[i].y == points[start].y && points[i].x < points[start].x)) start = i;
    for (int at = start;;) {
        hull[count++] = points[at];
        int next = -1;
        for (int i = 0; i < n; ++i) {
            if (points[i].x == points[at].x && points[i].y == points[at].y) continue;
            const int64_t side = next < 0 ? -1 : turn(points[at], points[next], points[i]);
            const int64_t far = next < 0 ? 0
                                         : llabs(points[i].x - points[at].x) + llabs(points[i].y - points[at].y) -
                                               llabs(points[next].x - points[at].x) - llabs(points[next].y - points[at].y);
            if (side < 0 || (side == 0 && far > 0)) next = i;
        }
        if (points[next].x == hull[0].x && points[next].y == hull[0].y) return count;
        at = next;
    }
}

static double length_of(const shape_of *s, point a, point b) {
    return hypot((double)(a.x - b.x) * s->spacing[0] / 2, (double)(a.y - b.y) * s->spacing[1] / 2);
}

static double farthest(const shape_of *s, const point *points, int n) {
    double most = 0;
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < i; ++k) most = fmax(most, length_of(s, points[i], points[k]));
    return most;
}

void hull_of(const shape_of *s, apsis_measure *m) {
    const size_t bytes = (size_t)(4 * count_of(s)) * sizeof(point);
    point *points = must_alloc(bytes), *hull = must_alloc(bytes);
    int n = wrap(points, points_of(s, s->is_in, true, points), hull);
    int64_t twice = 0;
    m->feret[0] = INFINITY, m->feret[1] = farthest(s, hull, n);
    for (int i = 0; i < n; ++i) {
        const point a = hull[i], b = hull[(i + 1) % n];
        int64_t high = 0;
        for (int k = 0; k < n; ++k) high = turn(a, b, hull[k]) > high ? turn(a, b, hull[k]) : high;
        m->feret[0] = fmin(m->feret[0], (double)high * s->spacing[0] * s->spacing[1] / 4 / length_of(s, a, b));
        twice += a.x * b.y - a.y * b.x;
    }
    m->convex_area = (double)twice / 8 * s->spacing[0] * s->spacing[1];
    n = wrap(points, points_of(s, s->is_in, false, points), hull);
    uint8_t *is_in = must_alloc((size_t)count_of(s));
    m->convex = 0;
    for (int64_t i = 0; i < count_of(s); ++i) {
        const point centre = {2 * (i % s->size[0]), 2 * (i / s->size[0])};
        is_in[i] = 1;
        for (int k = 0; k < n; ++k) is_in[i] = is_in[i] && turn(hull[k], hull[(k + 1) % n], centre) >= 0;
        m->convex += is_in[i];
    }
    n = wrap(points, points_of(s, is_in, false, points), hull);
    m->feret_contour = farthest(s, hull, n);
    free(is_in);
    free(points);
    free(hull);
}

void moments_of(const shape_of *s, double *moments) {
    long double centre[3] = {0, 0, 0}, area = 0, sum[6] = {0};
    for (int pass = 0; pass < 2; ++pass) {
        for (int64_t i = 0; i < count_of(s); ++i) {
            if (!s->is_in[i]) continue;
            const long double x = (long double)(i % s->size[0]) * s->spacing[0] - centre[0],
                              y = (long double)(i / s->size[0] % s->size[1]) * s->spacing[1] - centre[1],
                              z = (long double)(i / s->size[0] / s->size[1]) * s->spacing[2] - centre[2];
            const long double first[3] = {x, y, z}, second[6] = {x * x, y * y, z * z, x * y, x * z, y * z};
            for (int k = 0; k < 6; ++k) sum[k] += pass ? second[k] : k < 3 ? first[k] : 0;
            area += !pass;
        }
        for (int k = 0; k < 6 && !pass; ++k) {
            if (k < 3) centre[k] = sum[k] / area;
            sum[k] = 0;
        }
    }
    for (int k = 0; k < 6; ++k) moments[k] = (double)sum[k];
}
