/* TIFF files for the tests of the apsis command: those that it is given, in many layouts, and its own. */
#ifndef TOOL_TIFF_H
#define TOOL_TIFF_H

#include "tool.h"

#include <tiffio.h>

/* The pages of most tests, and a large one. */
enum { WIDTH = 37, HEIGHT = 23, PAGES = 3, PIXELS = WIDTH * HEIGHT * PAGES };
enum { BIG_WIDTH = 700, BIG_HEIGHT = 300, MOST = BIG_WIDTH * BIG_HEIGHT };

/* How a file stores its samples; 0 is a plain one. */
typedef struct Layout {
    const char *name;
    int bits;
    int photometric;
    int compression;
    int fill_order;
    int tile; /* side of a tile, 0 for strips */
    int rows; /* in a strip, 0 for all */
    const char *mode;
    int format;
    int samples; /* a pixel, all alike; 0 is 1 */
    int planar, predictor, fax_options, orientation;
} Layout;

extern const Layout kBits, kBytes;

/** What write_tiff writes, page after page. */
extern int64_t samples[MOST];

uint32_t next_random(uint32_t *state);

/** Sparse samples of this many bits, from 0 up; about one in eight is not 0. */
void make_samples(int bits, uint32_t seed);

/** Cells of several pixels, of these values and of 0, so that labels touch labels and the background. */
void make_labels(const int64_t values[4], uint32_t seed);

void write_tiff(const char *path, const Layout *l, int w, int h, int pages);
void write_page(TIFF *tiff, const Layout *l, int w, int h, const int64_t *page);

/* A page of a result, as numbers; and its tags. */
typedef struct Result {
    int width, height, bits, format, samples;
    double *values;
} Result;

/** The caller frees the values. */
Result read_result(const char *path, int page);
int pages_of(const char *path);

#endif
