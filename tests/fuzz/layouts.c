/* TIFF files in every layout: see layouts.h. */
#include "layouts.h"

#include <stdio.h>
#include <sys/stat.h>

#define ALL (1 | 2 | 4 | 8 | 16 | 32 | 64)
#define BYTES (8 | 16 | 32 | 64)

/* The codecs that libtiff writes without loss, and the sizes of samples that they take.  COMPRESSION_CCITTRLEW is not among
 * them, as libtiff 4.5 does not read all that it writes; nor WebP, which takes colours alone. */
static const struct {
    const char *name;
    int compression, bits, predictor, fax_options;
} kCodecs[] = {
    {"no compression", COMPRESSION_NONE, ALL, 0, 0},
    {"PackBits", COMPRESSION_PACKBITS, ALL, 0, 0},
    {"LZW", COMPRESSION_LZW, ALL, 0, 0},
    {"LZW, predicted", COMPRESSION_LZW, BYTES, PREDICTOR_HORIZONTAL, 0},
    {"Deflate", COMPRESSION_ADOBE_DEFLATE, ALL, 0, 0},
    {"Deflate, predicted", COMPRESSION_ADOBE_DEFLATE, BYTES, PREDICTOR_HORIZONTAL, 0},
    {"old Deflate", COMPRESSION_DEFLATE, ALL, 0, 0},
    {"ZSTD", COMPRESSION_ZSTD, ALL, 0, 0},
    {"ZSTD, predicted", COMPRESSION_ZSTD, BYTES, PREDICTOR_HORIZONTAL, 0},
    {"LZMA", COMPRESSION_LZMA, ALL, 0, 0},
    {"LERC", COMPRESSION_LERC, 8 | 16 | 32, 0, 0},
    {"JBIG", COMPRESSION_JBIG, 1, 0, 0},
    {"CCITT RLE", COMPRESSION_CCITTRLE, 1, 0, 0},
    {"Group 3", COMPRESSION_CCITTFAX3, 1, 0, 0},
    {"Group 3, two-dimensional", COMPRESSION_CCITTFAX3, 1, 0, GROUP3OPT_2DENCODING},
    {"Group 3, filled", COMPRESSION_CCITTFAX3, 1, 0, GROUP3OPT_FILLBITS},
    {"Group 3, two-dimensional, filled", COMPRESSION_CCITTFAX3, 1, 0, GROUP3OPT_2DENCODING | GROUP3OPT_FILLBITS},
    {"Group 4", COMPRESSION_CCITTFAX4, 1, 0, 0},
};
enum { CODECS = sizeof kCodecs / sizeof *kCodecs };

/* Codec and size of samples number n; how many there are, if n is too large. */
static int kind_at(int n, Layout *l) {
    int kinds = 0;
    for (int c = 0; c < CODECS; ++c)
        for (int bits = 1; bits <= 64; bits *= 2) {
            if (!(kCodecs[c].bits & bits) || kinds++ != n) continue;
            *l = (Layout){.name = kCodecs[c].name,
                          .bits = bits,
                          .compression = kCodecs[c].compression,
                          .predictor = kCodecs[c].predictor,
                          .fax_options = kCodecs[c].fax_options};
            return n;
        }
    return kinds;
}

static int kinds(void) {
    Layout unused;
    return kind_at(-1, &unused);
}

int layouts(void) { return kinds() * ARRANGEMENTS; }

/* The next digit of a number of which each has a base of its own. */
static int digit(int *n, int base) {
    const int value = *n % base;
    *n /= base;
    return value;
}

static void arrange(int n, Layout *l) {
    static const int kTiles[] = {0, 0, 0, 16, 32}, kRows[] = {0, 1, 5, 0, 0};
    static const char *const kModes[] = {"wl", "wb", "wl8", "wb8"};
    const int cut = digit(&n, 5);
    l->tile = kTiles[cut], l->rows = kRows[cut];
    l->mode = kModes[digit(&n, 4)];
    l->photometric = digit(&n, 2);
    l->fill_order = 1 + digit(&n, 2);
    l->format = digit(&n, 2) ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT;
}

bool layout_at(int n, Layout *l) {
    kind_at(n / ARRANGEMENTS, l);
    arrange(n % ARRANGEMENTS, l);
    if (l->compression == COMPRESSION_JBIG) l->tile = l->rows = 0; /* its encoder takes whole pages alone */
    return TIFFIsCODECConfigured((uint16_t)l->compression);
}

void make_all_samples(int bits, uint32_t seed) {
    for (int i = 0; i < PIXELS; ++i) {
        uint64_t value = 0;
        for (int k = 0; k < 3; ++k) value = value << 24 ^ next_random(&seed);
        switch (next_random(&seed) % 32) {
            case 0: value = ~UINT64_C(0); break;
            case 1: value = UINT64_C(1) << (bits - 1); break;
            case 2: value = UINT64_C(1) << next_random(&seed) % (uint32_t)bits; break;
            case 3: break;
            default: value = 0;
        }
        samples[i] = (int64_t)(value & (~UINT64_C(0) >> (64 - bits)));
    }
}

const char *layout_name(const Layout *l) {
    static char name[200];
    snprintf(name, sizeof name, "%s, %d bits, format %d, photometric %d, fill order %d, %s, tiles of %d, strips of %d", l->name,
             l->bits, l->format, l->photometric, l->fill_order, l->mode, l->tile, l->rows);
    return name;
}

/* ---- Seeds ---------------------------------------------------------------- */

/* Besides one of each kind: what is refused, and what is left out. */
static const Layout kOdd[] = {
    {.name = "RGB", .bits = 8, .photometric = PHOTOMETRIC_RGB, .samples = 3},
    {.name = "RGB in planes", .bits = 8, .photometric = PHOTOMETRIC_RGB, .samples = 3, .planar = PLANARCONFIG_SEPARATE},
    {.name = "float", .bits = 32, .photometric = PHOTOMETRIC_MINISBLACK, .format = SAMPLEFORMAT_IEEEFP},
    {.name = "complex", .bits = 64, .photometric = PHOTOMETRIC_MINISBLACK, .format = SAMPLEFORMAT_COMPLEXIEEEFP},
    {.name = "12 bits", .bits = 12, .photometric = PHOTOMETRIC_MINISBLACK},
    {.name = "JPEG", .bits = 8, .photometric = PHOTOMETRIC_MINISBLACK, .compression = COMPRESSION_JPEG, .rows = 8},
    {.name = "upside down, one plane",
     .bits = 1,
     .photometric = PHOTOMETRIC_MINISBLACK,
     .orientation = ORIENTATION_BOTLEFT,
     .planar = PLANARCONFIG_SEPARATE},
};
enum { ODD = sizeof kOdd / sizeof *kOdd, SEED_WIDTH = 11, SEED_HEIGHT = 7 };

int seeds(void) { return kinds() + ODD + 1; }

static size_t write_small(const char *path, const Layout *l, int pages) {
    make_all_samples(l->bits, 1);
    write_tiff(path, l, SEED_WIDTH, SEED_HEIGHT, pages);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (size_t)status.st_size;
}

size_t write_seed(int n, const char *path) {
    Layout l = kBits;
    if (n == kinds() + ODD) return write_small(path, &l, 3);
    if (n >= kinds()) l = kOdd[n - kinds()];
    if (n >= kinds()) return write_small(path, &l, 1);
    for (int turn = 0;; ++turn) { /* in an arrangement that keeps it small */
        if (!layout_at(n * ARRANGEMENTS + (n * 37 + turn) % ARRANGEMENTS, &l)) return 0;
        const size_t size = write_small(path, &l, 1);
        if (size <= MOST_SEED) return size;
    }
}
