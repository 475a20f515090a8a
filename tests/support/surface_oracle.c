/* See surface_oracle.h. */
#include "surface_oracle.h"

#include <math.h>

problem points_problem(const problem *p, apsis_surface surface) {
    problem points = *p;
    for (int a = 0; a < p->ndim && surface == APSIS_SURFACE_CORNERS; ++a) ++points.size[a];
    return points;
}

/** Whether a pixel is in the image and in the set. */
static bool holds(const problem *p, const uint8_t *mask, int64_t x, int64_t y, int64_t z) {
    const bool inside = x >= 0 && y >= 0 && z >= 0 && x < p->size[0] && y < p->size[1] && z < p->size[2];
    return inside && mask[x + p->size[0] * (y + p->size[1] * z)];
}

static bool is_enclosed(const problem *p, const uint8_t *mask, int64_t x, int64_t y, int64_t z) {
    for (int a = 0; a < p->ndim; ++a)
        for (int step = -1; step <= 1; step += 2)
            if (!holds(p, mask, x + (a == 0) * step, y + (a == 1) * step, z + (a == 2) * step)) return false;
    return true;
}

/* ---- Corners ---- */

/** Triangles around corners of a cube that edges connect; places are in half edges.  All else are turned or mirrored. */
typedef struct shape {
    int corners, count; /* corner (x, y, z) is bit x + 2 y + 4 z */
    int triangle[4][3][3];
} shape;
static const shape shapes[] = {
    {1, 1, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
    {3, 2, {{{0, 1, 0}, {0, 0, 1}, {2, 0, 1}}, {{0, 1, 0}, {2, 0, 1}, {2, 1, 0}}}},
    {7, 3, {{{2, 0, 1}, {0, 0, 1}, {0, 2, 1}}, {{2, 1, 0}, {2, 0, 1}, {0, 2, 1}}, {{2, 1, 0}, {0, 2, 1}, {1, 2, 0}}}},
    {15, 2, {{{0, 0, 1}, {2, 0, 1}, {2, 2, 1}}, {{0, 0, 1}, {2, 2, 1}, {0, 2, 1}}}},
    {23,
     4,
     {{{2, 1, 0}, {2, 0, 1}, {1, 0, 2}},
      {{2, 1, 0}, {1, 0, 2}, {0, 1, 2}},
      {{2, 1, 0}, {0, 1, 2}, {0, 2, 1}},
      {{2, 1, 0}, {0, 2, 1}, {1, 2, 0}}}},
    {1 << 6 | 1 << 1 | 1 << 3 | 1 << 7,
     4,
     {{{2, 0, 1}, {2, 1, 2}, {0, 1, 2}},
      {{0, 2, 1}, {1, 2, 0}, {1, 0, 0}},
      {{1, 0, 0}, {2, 0, 1}, {0, 2, 1}},
      {{2, 0, 1}, {0, 1, 2}, {0, 2, 1}}}},
};
static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/** A place in a cube of this side, turned and mirrored in one of 48 ways. */
static void turn(int way, int side, const int from[3], int to[3]) {
    for (int a = 0; a < 3; ++a) {
        const int at = from[orders[way / 8][a]];
        to[a] = way >> a & 1 ? side - at : at;
    }
}

static double area_of(const int triangle[3][3], int way, const double *spacing) {
    double at[3][3], cross[3];
    for (int k = 0; k < 3; ++k) {
        int turned[3];
        turn(way, 2, triangle[k], turned);
        for (int a = 0; a < 3; ++a) at[k][a] = turned[a] * spacing[a] / 2;
    }
    for (int a = 0; a < 3; ++a) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        cross[a] = (at[1][b] - at[0][b]) * (at[2][c] - at[0][c]) - (at[1][c] - at[0][c]) * (at[2][b] - at[0][b]);
    }
    return sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]) / 2;
}

/** The area around corners that edges connect. */
static double area_around(int corners, const double *spacing) {
    for (int s = 0; s < COUNT(shapes); ++s)
        for (int way = 0; way < 48; ++way) {
            int turned = 0;
            for (int k = 0; k < 8; ++k) {
                const int at[3] = {k & 1, k >> 1 & 1, k >> 2};
                int to[3];
                turn(way, 1, at, to);
                if (shapes[s].corners >> k & 1) turned |= 1 << (to[0] + 2 * to[1] + 4 * to[2]);
            }
            double area = 0;
            if (turned != corners) continue;
            for (int t = 0; t < shapes[s].count; ++t) area += area_of(shapes[s].triangle[t], way, spacing);
            return area;
        }
    fail_msg("no shape has the corners %d", corners);
    return 0;
}

/** The length around corners of a square that edges connect. */
static double length_around(int corners, const double *spacing) {
    if (corners == 3 || corners == 12) return spacing[0];
    if (corners == 5 || corners == 10) return spacing[1];
    return hypot(spacing[0] / 2, spacing[1] / 2);
}

/** The weight of a corner, of the pixels around it. */
static double weight_of(int code, int ndim, const double *spacing) {
    const int corners = 1 << ndim;
    int members = 0;
    double weight = 0;
    for (int k = 0; k < corners; ++k) members += code >> k & 1;
    if (members * 2 > corners) code ^= (1 << corners) - 1;
    for (int first = 0; first < corners; ++first) {
        if (!(code >> first & 1)) continue;
        int piece = 1 << first;
        for (int round = 0; round < corners; ++round)
            for (int k = 0; k < corners; ++k)
                for (int a = 0; a < ndim; ++a)
                    if (piece >> k & 1 && code >> (k ^ 1 << a) & 1) piece |= 1 << (k ^ 1 << a);
        code &= ~piece;
        weight += ndim == 3 ? area_around(piece, spacing) : length_around(piece, spacing);
    }
    return weight;
}

void weigh_points(const problem *p, apsis_surface surface, const uint8_t *mask, double *weight) {
    const problem points = points_problem(p, surface);
    double spacing[3];
    for (int a = 0; a < 3; ++a) spacing[a] = p->options.spacing[a] > 0 ? p->options.spacing[a] : 1;
    for (int64_t i = 0; i < pixels_of(&points); ++i) {
        const int64_t x = i % points.size[0], y = i / points.size[0] % points.size[1], z = i / points.size[0] / points.size[1];
        if (surface != APSIS_SURFACE_CORNERS) {
            const bool counts = surface == APSIS_SURFACE_ALL || !is_enclosed(p, mask, x, y, z);
            weight[i] = counts && holds(p, mask, x, y, z);
            continue;
        }
        int code = 0;
        for (int k = 0; k < 1 << p->ndim; ++k)
            if (holds(p, mask, x - 1 + (k & 1), y - 1 + (k >> 1 & 1), p->ndim == 3 ? z - 1 + (k >> 2) : 0)) code |= 1 << k;
        weight[i] = weight_of(code, p->ndim, spacing);
    }
}
