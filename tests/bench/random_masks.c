// Images that a seed draws: see random_masks.h.  The same on every machine.
#include "random_masks.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t size[3];
    uint8_t *pixels;
    uint64_t seed;
} image;

uint64_t bench_hash(uint64_t i) {
    i += 0x9e3779b97f4a7c15u;
    i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
    i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
    return i ^ (i >> 31);
}

/* The n-th number of an image below `limit`. */
static int64_t draw(const image *m, uint64_t n, int64_t limit) {
    return (int64_t)(bench_hash(m->seed * 0x100000001b3u + n) % (uint64_t)limit);
}

/* The n-th power of two of an image, from 2^low on and below 2^high, and what is between: as many small ones as large ones. */
static int64_t draw_size(const image *m, uint64_t n, int low, int high) {
    const int64_t power = (int64_t)1 << (low + draw(m, n, high - low));
    return power + draw(m, ~n, power);
}

/* Sets the pixels of a box, as far as they lie in rows from `first` to before `end`. */
static void fill(const image *m, const int64_t lower[3], const int64_t extent[3], int64_t first, int64_t end) {
    const int64_t *const size = m->size;
    const int64_t left = lower[0] > 0 ? lower[0] : 0, beyond = lower[0] + extent[0];
    const int64_t right = beyond < size[0] ? beyond : size[0];
    if (left >= right) return;
    for (int64_t z = lower[2]; z < lower[2] + extent[2]; ++z)
        for (int64_t y = lower[1]; y < lower[1] + extent[1]; ++y)
            if (z >= 0 && z < size[2] && y >= first && y < end)
                memset(m->pixels + (z * size[1] + y) * size[0] + left, 1, (size_t)(right - left));
}

static int bits_of(int64_t size) {
    int bits = 0;
    while (size >> bits) ++bits;
    return bits;
}

/* From 16 to 16384 lines, 1 to 31 pixels wide, and as long as half of the image. */
static void strokes(const image *m) {
    const int64_t count = draw_size(m, 0, 4, 14), axes = m->size[2] > 1 ? 3 : 2, height = m->size[1], rows = 256;
    const int width_bits = 1 + (int)draw(m, 1, 5);
#pragma omp parallel for schedule(dynamic)
    for (int64_t first = 0; first < height; first += rows)
        for (int64_t k = 0; k < count; ++k) {
            const uint64_t n = 100 + 20 * (uint64_t)k;
            const int64_t along = draw(m, n, axes), width = draw_size(m, n + 1, 0, width_bits);
            int64_t extent[3] = {width, width, axes == 3 ? width : 1}, lower[3];
            extent[along] = draw_size(m, n + 2, 3, bits_of(m->size[along] / 2) > 3 ? bits_of(m->size[along] / 2) : 4);
            for (int a = 0; a < 3; ++a)
                lower[a] = draw(m, n + 3 + (uint64_t)a, m->size[a] + extent[a]) - extent[a] + (m->size[a] == 1);
            fill(m, lower, extent, first, first + rows < height ? first + rows : height);
        }
}

/* A square, or cube, is cut into BASE along each axis, some of the pieces are kept and cut again. */
static void fractal(const image *m) {
    const int64_t base = 2 + draw(m, 0, 4), kept_of_8 = 2 + draw(m, 1, 6);
    const int flipped = draw(m, 2, 4) == 0;
    uint8_t kept[5 * 5 * 5] = {0};
    for (int i = 0; i < 5 * 5 * 5; ++i) kept[i] = (uint8_t)(draw(m, 10 + (uint64_t)i, 8) < kept_of_8);
    kept[draw(m, 3, base * base)] = 1;
#pragma omp parallel for schedule(dynamic)
    for (int64_t row = 0; row < m->size[1] * m->size[2]; ++row)
        for (int64_t x = 0; x < m->size[0]; ++x) {
            int64_t a = x, b = row % m->size[1], c = row / m->size[1];
            int all = 1;
            for (int64_t cell = 1; all && cell < m->size[0]; cell *= base, a /= base, b /= base, c /= base)
                all = kept[a % base + base * (b % base) + base * base * (m->size[2] > 1 ? c % base : 0)];
            m->pixels[row * m->size[0] + x] = (uint8_t)(all != flipped);
        }
}

/* The same, but which pieces are kept is drawn for each. */
static void dust(const image *m) {
    const int64_t kept_of_64 = 20 + draw(m, 0, 40);
    const int first_bit = (int)draw(m, 1, 4), bits = bits_of(m->size[0]);
#pragma omp parallel for schedule(dynamic)
    for (int64_t row = 0; row < m->size[1] * m->size[2]; ++row) {
        const uint64_t y = (uint64_t)(row % m->size[1]), z = (uint64_t)(row / m->size[1]);
        for (int64_t x = 0; x < m->size[0]; ++x) {
            int all = 1;
            for (int bit = first_bit; all && bit < bits; ++bit) {
                const uint64_t place = (z >> bit << 42) + (y >> bit << 21) + ((uint64_t)x >> bit);
                all = draw(m, 100 + place * 64 + (uint64_t)bit, 64) < kept_of_64;
            }
            m->pixels[row * m->size[0] + x] = (uint8_t)all;
        }
    }
}

/* One to 31 pixels, lines and clusters. */
static void sparse(const image *m) {
    const int64_t count = draw_size(m, 0, 0, 5);
    for (int64_t k = 0; k < count; ++k) {
        const uint64_t n = 100 + 10000 * (uint64_t)k;
        const int64_t kind = draw(m, n, 3), points = kind == 2 ? draw_size(m, n + 1, 4, 10) : 1;
        const int64_t spread = draw_size(m, n + 2, 2, 7);
        for (int64_t i = 0; i < points; ++i) {
            int64_t extent[3] = {1, 1, 1}, lower[3];
            for (int a = 0; a < 3; ++a) {
                lower[a] = draw(m, n + 3 + (uint64_t)a, m->size[a]);
                if (kind == 2 && m->size[a] > 1) lower[a] += draw(m, n + 10 + 3 * (uint64_t)i + (uint64_t)a, spread);
            }
            const int64_t along = draw(m, n + 6, m->size[2] > 1 ? 3 : 2);
            if (kind == 1) lower[along] = 0, extent[along] = m->size[along];
            fill(m, lower, extent, 0, m->size[1]);
        }
    }
}

int bench_random_mask(const char *name, int64_t width, int64_t height, int64_t depth, uint8_t *mask) {
    static const struct {
        const char *name;
        void (*fill)(const image *);
    } kinds[] = {{"strokes-", strokes}, {"fractal-", fractal}, {"dust-", dust}, {"sparse-", sparse}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        if (strncmp(name, kinds[k].name, strlen(kinds[k].name)) != 0) continue;
        const image m = {{width, height, depth}, mask, strtoull(name + strlen(kinds[k].name), NULL, 10)};
        memset(mask, 0, (size_t)(width * height * depth));
        kinds[k].fill(&m);
        return 1;
    }
    return 0;
}
