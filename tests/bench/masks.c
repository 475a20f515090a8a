// The images that benchmarks run on: see masks.h.  Every pixel is computed from its coordinates alone, so an image
// is the same on every machine.
#include "masks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "random_masks.h"

const char *const bench_masks_2d[] = {"noise-0.0001", "noise-0.01", "noise-0.1", "noise-0.3",  "noise-0.5", "noise-0.7",
                                      "noise-0.9",    "blobs",      "disc",      "pixel-disc", "ring",      "single",
                                      "diagonal",     "left-strip", "text",      "full",       "row",       NULL};
const char *const bench_masks_3d[] = {"noise-0.01", "noise-0.1", "noise-0.5", "blobs", "disc", NULL};

typedef struct {
    int64_t width, height, depth;
    uint64_t threshold; /* of noise: a pixel is set if its hash is below */
    int grain;          /* the binary logarithm of the side of a grain of noise */
} shape;

static int noise(const shape *s, int64_t x, int64_t y, int64_t z) {
    return bench_hash((uint64_t)(((z >> s->grain) * s->height + (y >> s->grain)) * s->width + (x >> s->grain))) < s->threshold;
}

static int values(const shape *s, int64_t x, int64_t y, int64_t z) {
    return (int)(bench_hash((uint64_t)((z * s->height + y) * s->width + x)) % 4);
}

static int left_strip(const shape *s, int64_t x, int64_t y, int64_t z) { return x < s->width / 10 && noise(s, x, y, z); }

/* Distance from the centre, squared, in units in which the image is 1 wide. */
static double radius2(const shape *s, int64_t x, int64_t y, int64_t z) {
    const double dx = (x + 0.5) / s->width - 0.5, dy = (y + 0.5) / s->height - 0.5;
    const double dz = s->depth > 1 ? (z + 0.5) / s->depth - 0.5 : 0;
    return dx * dx + dy * dy + dz * dz;
}

/* The sites lie outside a disc or ball: a hole to be measured. */
static int disc(const shape *s, int64_t x, int64_t y, int64_t z) { return radius2(s, x, y, z) > 0.45 * 0.45; }

/* The same about a pixel, from side to side: all columns have sites that are about as far from it. */
static int pixel_disc(const shape *s, int64_t x, int64_t y, int64_t z) {
    const int64_t dx = x - s->width / 2, dy = y - s->height / 2, dz = z - s->depth / 2;
    const int64_t side = s->width < s->height ? s->width : s->height;
    return 4 * (dx * dx + dy * dy + dz * dz) > side * side;
}

static int ring(const shape *s, int64_t x, int64_t y, int64_t z) {
    return fabs(sqrt(radius2(s, x, y, z)) - 0.4) < 1.0 / s->width;
}

/* Smooth islands some hundred pixels across, without a period that divides the image. */
static int blobs(const shape *s, int64_t x, int64_t y, int64_t z) {
    (void)s;
    const float u = 0.013f * (float)x, v = 0.017f * (float)y, w = 0.019f * (float)z;
    return sinf(u + 1.3f * sinf(0.31f * v)) * sinf(v + 1.7f * sinf(0.37f * u + w)) + 0.3f * sinf(2.7f * u - 1.9f * v + w) >
           0.45f;
}

/* Smooth noise between 0 and 1, of so many waves across the image: what is hashed at the corners of squares, in between. */
static double waves(const shape *s, int count, double x, double y, int64_t z) {
    const double u = count * (x + 0.5) / s->width, v = count * (y + 0.5) / s->height;
    const int64_t i = (int64_t)u, j = (int64_t)v;
    const double a = u - (double)i, b = v - (double)j, p = a * a * (3 - 2 * a), q = b * b * (3 - 2 * b);
    double corner[4];
    for (int k = 0; k < 4; ++k)
        corner[k] =
            (double)(bench_hash((uint64_t)(((z * 4099 + count) * 4099 + j + k / 2) * 4099 + i + k % 2)) >> 11) * 0x1p-53;
    return (1 - q) * ((1 - p) * corner[0] + p * corner[1]) + q * ((1 - p) * corner[2] + p * corner[3]);
}

/* Detail of many sizes, cut where half of the pixels are light: as a photograph in black and white, areas of up to a tenth
 * of the image that fray.  Larger images are the same one, enlarged. */
static int photograph(const shape *s, int64_t x, int64_t y, int64_t z) {
    double light = 0, most = 0;
    for (int count = 7; count < 500; count *= 2) {
        light += waves(s, count, (double)x, (double)y, z) / sqrt(count);
        most += 1 / sqrt(count);
    }
    return light < most / 2;
}

/* All but vessels: lines that branch, of up to a fortieth of the image, as in a picture of the retina. */
static int outside_vessels(const shape *s, int64_t x, int64_t y, int64_t z) {
    const double u = (double)x + s->width * 0.03 * waves(s, 17, (double)x, (double)y, z);
    const double v = (double)y + s->height * 0.03 * waves(s, 19, (double)x, (double)y, z);
    return fabs(waves(s, 4, u, v, z) - 0.5) > 0.014 && fabs(waves(s, 9, u, v, z) - 0.5) > 0.016;
}

/* A path one pixel wide that winds inward, one pixel between its turns.  Rings do, two pixels apart, where each is cut
 * below its first corner, and the pixel below that cut leads on to the next ring's first corner. */
static int spiral(const shape *s, int64_t x, int64_t y, int64_t z) {
    (void)z;
    const int64_t across = x < s->width - 1 - x ? x : s->width - 1 - x, down = y < s->height - 1 - y ? y : s->height - 1 - y;
    const int64_t ring = across < down ? across : down;
    return (ring % 2 == 0) != (x == ring && y == ring + 1);
}

/* The same with corridors and walls as wide as a fourteenth of the side: in 4096^2 a path has 28 511 pixels. */
static int wide_spiral(const shape *s, int64_t x, int64_t y, int64_t z) {
    const shape cells = {14, 14, 1, 0, 0};
    return spiral(&cells, x * cells.width / s->width, y * cells.height / s->height, z);
}

/* Teeth one pixel wide that meet in the last row only. */
static int comb(const shape *s, int64_t x, int64_t y, int64_t z) { return (void)z, x % 2 == 0 || y == s->height - 1; }

static int single(const shape *s, int64_t x, int64_t y, int64_t z) {
    return x == s->width / 2 && y == s->height / 3 && z == s->depth / 2;
}
static int diagonal(const shape *s, int64_t x, int64_t y, int64_t z) { return (void)s, (void)z, x == y; }
static int full(const shape *s, int64_t x, int64_t y, int64_t z) { return (void)s, (void)x, (void)y, (void)z, 1; }
static int empty(const shape *s, int64_t x, int64_t y, int64_t z) { return (void)s, (void)x, (void)y, (void)z, 0; }
static int one_row(const shape *s, int64_t x, int64_t y, int64_t z) { return (void)x, (void)z, y == s->height / 5; }
/* A small page begins inside the margin, or it would be blank. */
static int text(const shape *s, int64_t x, int64_t y, int64_t z) {
    const int64_t inside = s->width < 1024 && s->height < 1024 ? PAGE_MARGIN : 0;
    return (void)z, page_pixel(x + inside, y + inside);
}

/* A winding corridor, 16 pixels wide between walls as wide. */
static int coil(const shape *s, int64_t x, int64_t y, int64_t z) {
    (void)z;
    const double dx = x + 0.5 - s->width / 2.0, dy = y + 0.5 - s->height / 2.0;
    const double turn = sqrt(dx * dx + dy * dy) / 32 - atan2(dy, dx) / 6.283185307179586;
    return turn - floor(turn) < 0.5;
}

/* Corridors one pixel wide, between walls as wide: every cell is open to the one on its left or the one above. */
static int maze(const shape *s, int64_t x, int64_t y, int64_t z) {
    (void)z;
    const uint64_t cell = bench_hash((uint64_t)((y | 1) * s->width + (x | 1))), left = y == 1 || (x != 1 && cell % 2);
    if (x % 2 && y % 2) return 1;
    return x % 2 ? y > 0 && y % 2 == 0 && !left : y % 2 && x > 0 && left;
}

/* A ring of a tenth of the width. */
static int annulus(const shape *s, int64_t x, int64_t y, int64_t z) {
    const double r2 = radius2(s, x, y, z);
    return r2 < 0.48 * 0.48 && r2 > 0.38 * 0.38;
}

static int torus(const shape *s, int64_t x, int64_t y, int64_t z) {
    const double dx = (x + 0.5) / s->width - 0.5, dy = (y + 0.5) / s->height - 0.5, dz = (z + 0.5) / s->depth - 0.5;
    const double r = sqrt(dx * dx + dy * dy) - 0.33;
    return r * r + dz * dz < 0.15 * 0.15;
}

/* Round islands, each of up to 120 pixels and in a square of 13 x 13 of its own. */
static int islands(const shape *s, int64_t x, int64_t y, int64_t z) {
    const int64_t dx = x % 13 - 6, dy = y % 13 - 6;
    return dx * dx + dy * dy < (int64_t)(6 + bench_hash((uint64_t)((z * s->height + y / 13) * s->width + x / 13)) % 30);
}

/* A disc with round holes. */
static int holes(const shape *s, int64_t x, int64_t y, int64_t z) { return !disc(s, x, y, z) && !islands(s, x, y, z); }

int bench_mask(const char *name, int64_t width, int64_t height, int64_t depth, uint8_t *mask) {
    static const struct {
        const char *name;
        int (*is_set)(const shape *, int64_t, int64_t, int64_t);
    } masks[] = {{"noise-", noise},
                 {"grain4-", noise},
                 {"values-4", values},
                 {"left-strip", left_strip},
                 {"disc", disc},
                 {"ring", ring},
                 {"blobs", blobs},
                 {"single", single},
                 {"diagonal", diagonal},
                 {"full", full},
                 {"empty", empty},
                 {"row", one_row},
                 {"text", text},
                 {"spiral", spiral},
                 {"comb", comb},
                 {"coil", coil},
                 {"maze", maze},
                 {"annulus", annulus},
                 {"torus", torus},
                 {"islands", islands},
                 {"wide-spiral", wide_spiral},
                 {"photograph", photograph},
                 {"vessels", outside_vessels},
                 {"holes", holes},
                 {"pixel-disc", pixel_disc}};
    shape s = {width, height, depth, (uint64_t)(0.01 * 18446744073709551615.0), 0};
    for (size_t m = 0; m < sizeof masks / sizeof *masks; ++m) {
        if (strncmp(name, masks[m].name, strlen(masks[m].name)) != 0) continue;
        if (masks[m].is_set == noise) s.threshold = (uint64_t)(atof(strchr(name, '-') + 1) * 18446744073709551615.0);
        if (name[0] == 'g') s.grain = 2;
#pragma omp parallel for
        for (int64_t row = 0; row < height * depth; ++row)
            for (int64_t x = 0; x < width; ++x)
                mask[row * width + x] = (uint8_t)masks[m].is_set(&s, x, row % height, row / height);
        return 1;
    }
    return bench_random_mask(name, width, height, depth, mask);
}
