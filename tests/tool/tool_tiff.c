/* TIFF files written for the apsis command, and read from it: see tool_tiff.h. */
#include "tool_tiff.h"

#include <stdlib.h>
#include <string.h>

/* ---- To read -------------------------------------------------------------- */

const Layout kBits = {.name = "bits", .bits = 1, .photometric = PHOTOMETRIC_MINISBLACK};
const Layout kBytes = {.name = "bytes", .bits = 8, .photometric = PHOTOMETRIC_MINISBLACK};

int64_t samples[MOST];

uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

void make_samples(int bits, uint32_t seed) {
    const int64_t most = bits >= 32 ? 1000000 : ((int64_t)1 << bits) - 1;
    for (int i = 0; i < PIXELS; ++i)
        samples[i] = next_random(&seed) % 8 ? 0 : 1 + (int64_t)(next_random(&seed) % (uint32_t)most);
}

void make_labels(const int64_t values[4], uint32_t seed) {
    for (int i = 0; i < PIXELS; ++i) {
        const uint32_t chance = next_random(&seed) % 8, which = next_random(&seed) % 6;
        if (i >= WIDTH && chance < 6)
            samples[i] = samples[chance < 3 ? i - 1 : i - WIDTH];
        else
            samples[i] = which < 4 ? values[which] : 0;
    }
}

static void put_sample(uint8_t *row, int bits, int x, int64_t sample) {
    switch (bits) {
        case 8: row[x] = (uint8_t)sample; break;
        case 16: ((uint16_t *)row)[x] = (uint16_t)sample; break;
        case 32: ((uint32_t *)row)[x] = (uint32_t)sample; break;
        case 64: ((uint64_t *)row)[x] = (uint64_t)sample; break;
        default: /* sizes that are no power of two, too */
            for (int b = 0, at = x * bits; b < bits; ++b, ++at)
                row[at / 8] |= (uint8_t)((sample >> (bits - 1 - b) & 1) << (7 - at % 8));
    }
}

/* Samples of a pixel that lie side by side, and planes of them. */
static int side_by_side(const Layout *l) { return l->samples && l->planar != PLANARCONFIG_SEPARATE ? l->samples : 1; }
static int planes(const Layout *l) { return l->samples ? l->samples / side_by_side(l) : 1; }

/* Writes rows y.. and columns x.. of a page as a strip or tile of that width. */
static void put_block(TIFF *tiff, uint32_t index, const Layout *l, int w, int h, const int64_t *page, int x0, int y0,
                      int columns, int rows) {
    const int beside = side_by_side(l), row_bytes = (columns * beside * l->bits + 7) / 8;
    uint8_t *block = calloc((size_t)rows, (size_t)row_bytes);
    for (int y = y0; y < y0 + rows && y < h; ++y)
        for (int x = x0; x < x0 + columns && x < w; ++x)
            for (int s = 0; s < beside; ++s)
                put_sample(block + (y - y0) * row_bytes, l->bits, (x - x0) * beside + s, page[y * w + x]);
    const int real = l->tile ? rows : y0 + rows > h ? h - y0 : rows;
    const tmsize_t size = (tmsize_t)real * row_bytes;
    assert_int_equal(l->tile ? TIFFWriteEncodedTile(tiff, index, block, size) : TIFFWriteEncodedStrip(tiff, index, block, size),
                     size);
    free(block);
}

void write_page(TIFF *tiff, const Layout *l, int w, int h, const int64_t *page) {
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, w);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, h);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, l->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, l->samples ? l->samples : 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, l->photometric);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, l->compression ? l->compression : COMPRESSION_NONE);
    if (l->fill_order) TIFFSetField(tiff, TIFFTAG_FILLORDER, l->fill_order);
    if (l->format) TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, l->format);
    if (l->planar) TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, l->planar);
    if (l->predictor) TIFFSetField(tiff, TIFFTAG_PREDICTOR, l->predictor);
    if (l->fax_options) TIFFSetField(tiff, TIFFTAG_GROUP3OPTIONS, l->fax_options);
    if (l->orientation) TIFFSetField(tiff, TIFFTAG_ORIENTATION, l->orientation);
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 300.0);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 150.0);
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
    uint32_t index = 0;
    if (l->tile) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, l->tile);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, l->tile);
        for (int plane = 0; plane < planes(l); ++plane)
            for (int y = 0; y < h; y += l->tile)
                for (int x = 0; x < w; x += l->tile) put_block(tiff, index++, l, w, h, page, x, y, l->tile, l->tile);
    } else {
        const int rows = l->rows ? l->rows : h;
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows);
        for (int plane = 0; plane < planes(l); ++plane)
            for (int y = 0; y < h; y += rows) put_block(tiff, index++, l, w, h, page, 0, y, w, rows);
    }
    assert_int_equal(TIFFWriteDirectory(tiff), 1);
}

void write_tiff(const char *path, const Layout *l, int w, int h, int pages) {
    TIFF *tiff = TIFFOpen(path, l->mode ? l->mode : "w");
    assert_non_null(tiff);
    for (int z = 0; z < pages; ++z) write_page(tiff, l, w, h, samples + z * w * h);
    TIFFClose(tiff);
}

/* ---- Written -------------------------------------------------------------- */

static double value_of(const uint8_t *at, int bits, int format) {
    float f32;
    double f64;
    int32_t i32;
    int64_t i64;
    if (bits == 8) return *at;
    if (format == SAMPLEFORMAT_IEEEFP) return bits == 32 ? (memcpy(&f32, at, 4), f32) : (memcpy(&f64, at, 8), f64);
    return bits == 32 ? (memcpy(&i32, at, 4), i32) : (double)(memcpy(&i64, at, 8), i64);
}

static void read_block(TIFF *tiff, Result *r, uint32_t index, int x0, int y0, int columns, int rows) {
    const tmsize_t size = TIFFIsTiled(tiff) ? TIFFTileSize(tiff) : TIFFVStripSize(tiff, (uint32_t)rows);
    uint8_t *block = malloc((size_t)size);
    assert_int_equal(
        TIFFIsTiled(tiff) ? TIFFReadEncodedTile(tiff, index, block, size) : TIFFReadEncodedStrip(tiff, index, block, size),
        size);
    const int pixel = r->samples * r->bits / 8;
    for (int y = y0; y < y0 + rows && y < r->height; ++y)
        for (int x = x0; x < x0 + columns && x < r->width; ++x)
            for (int s = 0; s < r->samples; ++s)
                r->values[(y * r->width + x) * r->samples + s] =
                    value_of(block + ((y - y0) * columns + x - x0) * pixel + s * r->bits / 8, r->bits, r->format);
    free(block);
}

Result read_result(const char *path, int page) {
    Result r = {0};
    TIFF *tiff = TIFFOpen(path, "r");
    assert_non_null(tiff);
    assert_int_equal(TIFFSetDirectory(tiff, (uint32_t)page), 1);
    uint16_t bits = 0, format = 0, count = 0;
    uint32_t columns = 0, rows = 0;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &r.width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &r.height);
    TIFFGetField(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetField(tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetField(tiff, TIFFTAG_SAMPLESPERPIXEL, &count);
    r.bits = bits, r.format = format, r.samples = count;
    r.values = malloc(sizeof(double) * (size_t)(r.width * r.height * r.samples));
    if (TIFFIsTiled(tiff)) {
        TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &columns);
        TIFFGetField(tiff, TIFFTAG_TILELENGTH, &rows);
    } else {
        TIFFGetField(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
        columns = (uint32_t)r.width;
    }
    uint32_t index = 0;
    for (int y = 0; y < r.height; y += (int)rows)
        for (int x = 0; x < r.width; x += (int)columns) {
            int real = TIFFIsTiled(tiff) || y + (int)rows <= r.height ? (int)rows : r.height - y;
            read_block(tiff, &r, index++, x, y, (int)columns, real);
        }
    TIFFClose(tiff);
    return r;
}

int pages_of(const char *path) {
    TIFF *tiff = TIFFOpen(path, "r");
    assert_non_null(tiff);
    int pages = (int)TIFFNumberOfDirectories(tiff);
    TIFFClose(tiff);
    return pages;
}
