/*
 * The apsis command, run as its users run it: the files that it reads, the files that it writes, and what it
 * says and leaves behind when it cannot.  What it computes is compared with brute force over the same pixels.
 *
 * The command is the one that the environment variable APSIS_COMMAND names, or the macro of that name.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tiffio.h>
#include <unistd.h>

/* ---- Running it ----------------------------------------------------------- */

static char command[PATH_MAX];
static char page_tif[PATH_MAX];
static char folder[] = "/tmp/apsis-test-XXXXXX";
static char out_text[1 << 16], err_text[1 << 16];

static void slurp(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

/* Runs a shell line in which @ stands for the command; its exit code, with what it said in out_text and err_text. */
static int shell(const char *line) {
    char whole[8192] = "";
    for (const char *c = line; *c; ++c) {
        size_t used = strlen(whole);
        if (*c == '@')
            snprintf(whole + used, sizeof whole - used, "'%s'", command);
        else
            snprintf(whole + used, sizeof whole - used, "%c", *c);
    }
    size_t used = strlen(whole);
    snprintf(whole + used, sizeof whole - used, " >.out 2>.err");
    int status = system(whole);
    slurp(".out", out_text, sizeof out_text);
    slurp(".err", err_text, sizeof err_text);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs the command with these arguments. */
static int run(const char *format, ...) {
    char line[4096] = "@ ";
    va_list values;
    va_start(values, format);
    vsnprintf(line + 2, sizeof line - 2, format, values);
    va_end(values);
    return shell(line);
}

/* Runs the command, which must succeed and complain of nothing. */
static void succeed(const char *format, ...) {
    char line[4096] = "@ ";
    va_list values;
    va_start(values, format);
    vsnprintf(line + 2, sizeof line - 2, format, values);
    va_end(values);
    int code = shell(line);
    if (code || err_text[0]) fail_msg("%s\nexit code %d: %s", line, code, err_text);
}

/* The same, where no file may grow beyond this many bytes. */
static int shell_limited(const char *line, size_t bytes) {
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
    const int code = shell(line);
    setrlimit(RLIMIT_FSIZE, &before);
    return code;
}

static void assert_in(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("no '%s' in:\n%s", part, text);
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

/* Takes every file out of the folder. */
static void clear_folder(void) {
    DIR *directory = opendir(".");
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (unlink(entry->d_name)) rmdir(entry->d_name);
    }
    closedir(directory);
}

/* Neither outputs nor temporary files may be there: only `expected` files. */
static void assert_files(int expected) {
    int count = 0;
    DIR *directory = opendir(".");
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.' || strstr(entry->d_name, "apsis");
    closedir(directory);
    assert_int_equal(count, expected);
}

/* ---- TIFF files to read --------------------------------------------------- */

enum { WIDTH = 37, HEIGHT = 23, PAGES = 3, PIXELS = WIDTH * HEIGHT * PAGES, MOST = 700 * 300 };

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
} Layout;

static int64_t samples[MOST];

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Sparse samples of this many bits, from 0 up; about one in eight is not 0. */
static void make_samples(int bits, uint32_t seed) {
    const int64_t most = bits >= 32 ? 1000000 : ((int64_t)1 << bits) - 1;
    for (int i = 0; i < PIXELS; ++i)
        samples[i] = next_random(&seed) % 8 ? 0 : 1 + (int64_t)(next_random(&seed) % (uint32_t)most);
}

static void put_sample(uint8_t *row, int bits, int x, int64_t sample) {
    switch (bits) {
        case 8: row[x] = (uint8_t)sample; break;
        case 16: ((uint16_t *)row)[x] = (uint16_t)sample; break;
        case 32: ((uint32_t *)row)[x] = (uint32_t)sample; break;
        case 64: ((uint64_t *)row)[x] = (uint64_t)sample; break;
        default:
            row[x * bits / 8] |= (uint8_t)((sample & ((1 << bits) - 1)) << (8 - bits - x * bits % 8));
    }
}

/* Writes rows y.. and columns x.. of a page as a strip or tile of that width. */
static void put_block(TIFF *tiff, uint32_t index, const Layout *l, int w, int h, const int64_t *page, int x0, int y0,
                      int columns, int rows) {
    const int row_bytes = (columns * l->bits + 7) / 8;
    uint8_t *block = calloc((size_t)rows, (size_t)row_bytes);
    for (int y = y0; y < y0 + rows && y < h; ++y)
        for (int x = x0; x < x0 + columns && x < w; ++x)
            put_sample(block + (y - y0) * row_bytes, l->bits, x - x0, page[y * w + x]);
    const int real = l->tile ? rows : y0 + rows > h ? h - y0 : rows;
    const tmsize_t size = (tmsize_t)real * row_bytes;
    assert_int_equal(l->tile ? TIFFWriteEncodedTile(tiff, index, block, size)
                             : TIFFWriteEncodedStrip(tiff, index, block, size),
                     size);
    free(block);
}

static void write_page(TIFF *tiff, const Layout *l, int w, int h, const int64_t *page) {
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, w);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, h);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, l->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, l->photometric);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, l->compression ? l->compression : COMPRESSION_NONE);
    if (l->fill_order) TIFFSetField(tiff, TIFFTAG_FILLORDER, l->fill_order);
    if (l->format) TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, l->format);
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 300.0);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 150.0);
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
    uint32_t index = 0;
    if (l->tile) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, l->tile);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, l->tile);
        for (int y = 0; y < h; y += l->tile)
            for (int x = 0; x < w; x += l->tile) put_block(tiff, index++, l, w, h, page, x, y, l->tile, l->tile);
    } else {
        const int rows = l->rows ? l->rows : h;
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows);
        for (int y = 0; y < h; y += rows) put_block(tiff, index++, l, w, h, page, 0, y, w, rows);
    }
    assert_int_equal(TIFFWriteDirectory(tiff), 1);
}

static void write_tiff(const char *path, const Layout *l, int w, int h, int pages) {
    TIFF *tiff = TIFFOpen(path, l->mode ? l->mode : "w");
    assert_non_null(tiff);
    for (int z = 0; z < pages; ++z) write_page(tiff, l, w, h, samples + z * w * h);
    TIFFClose(tiff);
}

static const Layout kBits = {.name = "bits", .bits = 1, .photometric = PHOTOMETRIC_MINISBLACK};
static const Layout kBytes = {.name = "bytes", .bits = 8, .photometric = PHOTOMETRIC_MINISBLACK};

/* ---- TIFF files that it wrote --------------------------------------------- */

/* A page of a result, as numbers; and its tags. */
typedef struct Result {
    int width, height, bits, format, samples;
    double *values;
} Result;

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
    assert_int_equal(TIFFIsTiled(tiff) ? TIFFReadEncodedTile(tiff, index, block, size)
                                       : TIFFReadEncodedStrip(tiff, index, block, size),
                     size);
    const int pixel = r->samples * r->bits / 8;
    for (int y = y0; y < y0 + rows && y < r->height; ++y)
        for (int x = x0; x < x0 + columns && x < r->width; ++x)
            for (int s = 0; s < r->samples; ++s)
                r->values[(y * r->width + x) * r->samples + s] =
                    value_of(block + ((y - y0) * columns + x - x0) * pixel + s * r->bits / 8, r->bits, r->format);
    free(block);
}

static Result read_result(const char *path, int page) {
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

static int pages_of(const char *path) {
    TIFF *tiff = TIFFOpen(path, "r");
    assert_non_null(tiff);
    int pages = (int)TIFFNumberOfDirectories(tiff);
    TIFFClose(tiff);
    return pages;
}

/* ---- Brute force ---------------------------------------------------------- */

enum { EUCLIDEAN, CITY_BLOCK, CHESSBOARD };

/* What was asked of a set; 0 is a plain question. */
typedef struct Question {
    int width, height, pages;
    bool volume, is_signed, squared;
    int metric;
    double spacing[3], most;
    double none; /* what stands for no distance; 0: infinity */
    double tolerance;
} Question;

static uint8_t set[MOST];

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

/* Compares files with brute force over `set`; the nearest file may be NULL. */
static void check(const char *name, const Question *q, const char *distance, const char *nearest) {
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
                fail_msg("%s: page %d, pixel (%d, %d): distance is %.9g, but should be %.9g", name, z, i % q->width,
                         i / q->width, d.values[i], want);
            if (nearest && n.values[i] != (double)which)
                fail_msg("%s: page %d, pixel (%d, %d): nearest is %.0f, but should be %lld", name, z, i % q->width,
                         i / q->width, n.values[i], (long long)which);
        }
        free(d.values);
        free(n.values);
    }
}

/* The set of the samples that are at least `least`; of the others with `complement`. */
static void make_set(int64_t least, bool complement) {
    for (int i = 0; i < PIXELS; ++i) set[i] = (samples[i] >= least) != complement;
}

static const Question kPage = {.width = WIDTH, .height = HEIGHT, .pages = 1};
static const Question kPages = {.width = WIDTH, .height = HEIGHT, .pages = PAGES};

/* ---- What it reads -------------------------------------------------------- */

#define W PHOTOMETRIC_MINISWHITE
#define B PHOTOMETRIC_MINISBLACK

static const Layout kLayouts[] = {
    {.name = "1-bit", .bits = 1, .photometric = B},
    {.name = "1-bit MinIsWhite", .bits = 1, .photometric = W},
    {.name = "1-bit lowest bit first", .bits = 1, .photometric = B, .fill_order = FILLORDER_LSB2MSB, .rows = 5},
    {.name = "1-bit big endian", .bits = 1, .photometric = B, .mode = "wb", .rows = 1},
    {.name = "1-bit tiles", .bits = 1, .photometric = B, .tile = 16},
    {.name = "1-bit tiles lowest bit first", .bits = 1, .photometric = W, .tile = 16, .fill_order = FILLORDER_LSB2MSB},
    {.name = "1-bit PackBits", .bits = 1, .photometric = B, .compression = COMPRESSION_PACKBITS, .rows = 7},
    {.name = "1-bit LZW", .bits = 1, .photometric = B, .compression = COMPRESSION_LZW},
    {.name = "1-bit LZW lowest bit first", .bits = 1, .photometric = B, .compression = COMPRESSION_LZW,
     .fill_order = FILLORDER_LSB2MSB},
    {.name = "1-bit CCITT RLE", .bits = 1, .photometric = W, .compression = COMPRESSION_CCITTRLE, .rows = 4},
    {.name = "1-bit CCITT G3", .bits = 1, .photometric = W, .compression = COMPRESSION_CCITTFAX3},
    {.name = "1-bit CCITT G4", .bits = 1, .photometric = W, .compression = COMPRESSION_CCITTFAX4, .rows = 6},
    {.name = "1-bit CCITT G4 lowest bit first", .bits = 1, .photometric = W, .compression = COMPRESSION_CCITTFAX4,
     .fill_order = FILLORDER_LSB2MSB},
    {.name = "1-bit CCITT G4 MinIsBlack", .bits = 1, .photometric = B, .compression = COMPRESSION_CCITTFAX4},
    {.name = "1-bit CCITT G4 tiles", .bits = 1, .photometric = W, .compression = COMPRESSION_CCITTFAX4, .tile = 32},
    {.name = "1-bit JBIG", .bits = 1, .photometric = W, .compression = COMPRESSION_JBIG},
    {.name = "2-bit", .bits = 2, .photometric = B, .rows = 3},
    {.name = "4-bit", .bits = 4, .photometric = B},
    {.name = "4-bit tiles", .bits = 4, .photometric = W, .tile = 16},
    {.name = "8-bit", .bits = 8, .photometric = B},
    {.name = "8-bit MinIsWhite", .bits = 8, .photometric = W, .rows = 2},
    {.name = "8-bit palette-like mask", .bits = 8, .photometric = PHOTOMETRIC_MASK},
    {.name = "8-bit BigTIFF", .bits = 8, .photometric = B, .mode = "w8"},
    {.name = "8-bit deflate", .bits = 8, .photometric = B, .compression = COMPRESSION_ADOBE_DEFLATE, .tile = 16},
    {.name = "8-bit ZSTD", .bits = 8, .photometric = B, .compression = COMPRESSION_ZSTD},
    {.name = "8-bit LZMA", .bits = 8, .photometric = B, .compression = COMPRESSION_LZMA},
    {.name = "8-bit LERC", .bits = 8, .photometric = B, .compression = COMPRESSION_LERC},
    {.name = "8-bit signed", .bits = 8, .photometric = B, .format = SAMPLEFORMAT_INT},
    {.name = "16-bit", .bits = 16, .photometric = B, .rows = 10},
    {.name = "16-bit big endian", .bits = 16, .photometric = B, .mode = "wb"},
    {.name = "16-bit big endian BigTIFF LZW tiles", .bits = 16, .photometric = W, .mode = "w8b",
     .compression = COMPRESSION_LZW, .tile = 32},
    {.name = "32-bit", .bits = 32, .photometric = B},
    {.name = "64-bit big endian", .bits = 64, .photometric = B, .mode = "wb"},
};

static void test_layouts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kLayouts / sizeof *kLayouts; ++i) {
        const Layout *l = &kLayouts[i];
        if (l->compression && !TIFFIsCODECConfigured((uint16_t)l->compression)) continue;
        make_samples(l->bits, 7 + (uint32_t)i);
        make_set(1, false);
        write_tiff("in.tif", l, WIDTH, HEIGHT, 1);
        succeed("distance in.tif out.tif --nearest which.tif --overwrite -q");
        check(l->name, &kPage, "out.tif", "which.tif");
        int count = 0;
        for (int p = 0; p < WIDTH * HEIGHT; ++p) count += set[p];
        char words[80];
        succeed("info in.tif");
        snprintf(words, sizeof words, "non-zero     %d of %d", count, WIDTH * HEIGHT);
        assert_in(out_text, words);
        if (l->photometric <= 1)
            assert_in(out_text, l->photometric == W ? "a non-zero sample is black" : "a non-zero sample is white");
    }
}

static void test_sites(void **state) {
    (void)state;
    static const char *const sites[] = {"nonzero", "zero", "black", "white"};
    for (int photometric = 0; photometric <= 1; ++photometric)
        for (int bits = 1; bits <= 16; bits += bits == 1 ? 7 : 8)
            for (int s = 0; s < 4; ++s) {
                Layout l = {.name = sites[s], .bits = bits, .photometric = photometric};
                make_samples(bits, 3);
                write_tiff("in.tif", &l, WIDTH, HEIGHT, 1);
                /* MinIsWhite, 0: non-zero is black. */
                make_set(1, s == 1 || (s == 2 && photometric == B) || (s == 3 && photometric == W));
                succeed("distance in.tif out.tif --nearest which.tif --sites %s --overwrite -q", sites[s]);
                check(sites[s], &kPage, "out.tif", "which.tif");
            }
}

static void test_threshold(void **state) {
    (void)state;
    static const struct {
        int bits, format, threshold;
        const char *sites;
        bool complement;
    } cases[] = {
        {8, SAMPLEFORMAT_UINT, 128, "nonzero", false},  {8, SAMPLEFORMAT_UINT, 128, "zero", true},
        {8, SAMPLEFORMAT_UINT, 200, "black", true},     {8, SAMPLEFORMAT_UINT, 200, "white", false},
        {8, SAMPLEFORMAT_UINT, 0, "nonzero", false},    {8, SAMPLEFORMAT_UINT, 256, "nonzero", false},
        {16, SAMPLEFORMAT_UINT, 40000, "nonzero", false}, {16, SAMPLEFORMAT_INT, -20, "nonzero", false},
        {1, SAMPLEFORMAT_UINT, 1, "nonzero", false},    {1, SAMPLEFORMAT_UINT, 2, "zero", true},
        {4, SAMPLEFORMAT_UINT, 9, "nonzero", false},    {4, SAMPLEFORMAT_INT, -3, "nonzero", false},
        {64, SAMPLEFORMAT_INT, -5, "zero", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        Layout l = {.bits = cases[i].bits, .photometric = B, .format = cases[i].format};
        make_samples(cases[i].bits, 11);
        if (cases[i].format == SAMPLEFORMAT_INT)
            for (int p = 0; p < PIXELS; ++p) samples[p] = samples[p] % 8 - 7;
        write_tiff("in.tif", &l, WIDTH, HEIGHT, 1);
        make_set(cases[i].threshold, cases[i].complement);
        succeed("distance in.tif out.tif --threshold %d --sites %s --overwrite -q", cases[i].threshold, cases[i].sites);
        char name[40];
        snprintf(name, sizeof name, "threshold case %zu", i);
        check(name, &kPage, "out.tif", NULL);
    }
}

static void test_pages(void **state) {
    (void)state;
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, PAGES);
    make_set(1, false);
    succeed("distance in.tif out.tif --nearest which.tif -q");
    check("slices", &kPages, "out.tif", "which.tif");

    Question q = kPages;
    q.volume = true;
    succeed("distance in.tif out.tif --nearest which.tif --volume -q --overwrite");
    check("volume", &q, "out.tif", "which.tif");
    succeed("distance in.tif out.tif --nearest which.tif --volume --metric city-block --spacing 2.5 -q --overwrite");
    q.metric = CITY_BLOCK;
    q.spacing[0] = q.spacing[1] = q.spacing[2] = 2.5;
    check("city-block volume", &q, "out.tif", "which.tif");
    succeed("distance in.tif out.tif --nearest which.tif --volume --spacing 1,0.5,2 -q --overwrite");
    Question spaced = {.width = WIDTH, .height = HEIGHT, .pages = PAGES, .volume = true, .spacing = {1, 0.5, 2}};
    check("spaced volume", &spaced, "out.tif", "which.tif");
    succeed("distance in.tif out.tif --metric city-block --spacing 2,2 -q --overwrite");
    Question blocks = {.width = WIDTH, .height = HEIGHT, .pages = PAGES, .metric = CITY_BLOCK, .spacing = {2, 2, 2}};
    check("spaced slices", &blocks, "out.tif", NULL);

    /* Reduced copies are not pages. */
    TIFF *tiff = TIFFOpen("in.tif", "a");
    TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
    write_page(tiff, &kBits, 5, 4, samples);
    TIFFClose(tiff);
    succeed("distance in.tif out.tif --nearest which.tif -q --overwrite");
    check("with a reduced copy", &kPages, "out.tif", "which.tif");
    succeed("info in.tif --json");
    assert_in(out_text, "\"pages_left_out\": 1");

}

/* Pages of several sizes are refused by name. */
static void test_odd_pages(void **state) {
    (void)state;
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 2);
    TIFF *tiff = TIFFOpen("in.tif", "a");
    write_page(tiff, &kBits, 5, 4, samples);
    TIFFClose(tiff);
    assert_int_equal(run("distance in.tif out.tif"), 1);
    assert_in(err_text, "page 3 is 5 x 4 pixels, but page 1 is 37 x 23 pixels");
    assert_false(exists("out.tif"));
    succeed("info in.tif");
    assert_in(out_text, "3 pages");
    assert_in(out_text, "5 x 4 pixels");
}

/* ---- What it computes ----------------------------------------------------- */

static void test_options(void **state) {
    (void)state;
    static const struct {
        const char *words;
        Question q;
    } cases[] = {
        {"--signed", {.is_signed = true}},
        {"--type f64", {0}},
        {"--squared", {.squared = true, .none = INT32_MAX}},
        {"--squared --type i64 --signed", {.squared = true, .is_signed = true, .none = (double)INT64_MAX}},
        {"--squared --type i32 --max-distance 2", {.squared = true, .most = 2, .none = INT32_MAX}},
        {"--metric city-block", {.metric = CITY_BLOCK}},
        {"--metric chessboard --type i32", {.metric = CHESSBOARD, .none = INT32_MAX}},
        {"--metric=city-block --type=i64 --max-distance=1.5", {.metric = CITY_BLOCK, .most = 1.5, .none = (double)INT64_MAX}},
        {"--spacing 0.5,2", {.spacing = {0.5, 2, 1}}},
        {"--spacing 3", {.spacing = {3, 3, 3}}},
        {"--spacing 1,1 --squared", {.squared = true, .none = INT32_MAX}},
        {"--max-distance 1.5 --signed", {.most = 1.5, .is_signed = true}},
        {"--threads 1", {0}},
        {"--device cpu", {0}},
    };
    make_samples(8, 21);
    make_set(1, false);
    write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        Question q = cases[i].q;
        q.width = WIDTH, q.height = HEIGHT, q.pages = 1;
        succeed("distance in.tif out.tif --nearest which.tif --overwrite -q %s", cases[i].words);
        check(cases[i].words, &q, "out.tif", "which.tif");
        Result r = read_result("out.tif", 0);
        const bool wide = strstr(cases[i].words, "64"), whole = q.none > 0;
        assert_int_equal(r.bits, wide ? 64 : 32);
        assert_int_equal(r.format, whole ? SAMPLEFORMAT_INT : SAMPLEFORMAT_IEEEFP);
        free(r.values);
    }
    /* Any spacing at all: equal up to rounding. */
    succeed("distance in.tif out.tif --overwrite -q --spacing 0.3,1.7 --type f64");
    Question q = {.width = WIDTH, .height = HEIGHT, .pages = 1, .spacing = {0.3, 1.7, 1}, .tolerance = 1e-12};
    check("odd spacing", &q, "out.tif", NULL);
}

static void test_empty_and_full(void **state) {
    (void)state;
    memset(samples, 0, sizeof samples);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    for (int full = 0; full <= 1; ++full) {
        make_set(1, full);
        Question q = kPage;
        succeed("distance in.tif out.tif --nearest which.tif --overwrite -q %s", full ? "--sites zero" : "");
        check("no edge", &q, "out.tif", "which.tif");
        q.is_signed = true;
        succeed("distance in.tif out.tif --nearest which.tif --signed --overwrite -q %s --picture p.tif",
                full ? "--sites zero" : "");
        check("no edge, signed", &q, "out.tif", "which.tif");
    }
    succeed("distance in.tif out.tif --overwrite --json");
    assert_in(out_text, "\"minimum\": null");
    assert_in(out_text, "\"infinite\": 851");
    succeed("distance in.tif out.tif --overwrite");
    assert_in(out_text, "no distances: 851 pixels without one");
}

/* ---- What it writes ------------------------------------------------------- */

static void test_output_layouts(void **state) {
    (void)state;
    enum { BIG_WIDTH = 700, BIG_HEIGHT = 300 };
    memset(samples, 0, sizeof samples);
    samples[5] = samples[123456] = samples[MOST - 40000] = 1;
    write_tiff("in.tif", &kBits, BIG_WIDTH, BIG_HEIGHT, 1);
    static const char *const kinds[] = {"", "--squared", "--type f64", "--squared --type i64"};
    static const char *const layouts[] = {"--tiled", "--compress deflate", "--tiled --compress deflate", "--bigtiff"};
    for (int k = 0; k < 4; ++k) {
        succeed("distance in.tif plain.tif --nearest near.tif -q --overwrite %s", kinds[k]);
        Result d = read_result("plain.tif", 0), n = read_result("near.tif", 0);
        for (int l = 0; l < 4; ++l) {
            succeed("distance in.tif out.tif --nearest which.tif -q --overwrite %s %s", kinds[k], layouts[l]);
            Result d2 = read_result("out.tif", 0), n2 = read_result("which.tif", 0);
            assert_memory_equal(d.values, d2.values, sizeof(double) * MOST);
            assert_memory_equal(n.values, n2.values, sizeof(double) * MOST);
            free(d2.values);
            free(n2.values);
            TIFF *tiff = TIFFOpen("out.tif", "r");
            uint16_t compression = 0, predictor = 0;
            TIFFGetField(tiff, TIFFTAG_COMPRESSION, &compression);
            assert_int_equal(TIFFIsTiled(tiff), l == 0 || l == 2);
            assert_int_equal(TIFFIsBigTIFF(tiff), l == 3);
            assert_int_equal(compression, l == 1 || l == 2 ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE);
            if (TIFFGetField(tiff, TIFFTAG_PREDICTOR, &predictor) && compression != COMPRESSION_NONE)
                assert_int_equal(predictor, k % 2 ? PREDICTOR_HORIZONTAL : PREDICTOR_FLOATINGPOINT);
            float resolution = 0;
            uint16_t unit = 0;
            TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &resolution);
            TIFFGetField(tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
            assert_true(resolution == 150 && unit == RESUNIT_CENTIMETER);
            TIFFClose(tiff);
        }
        free(d.values);
        free(n.values);
    }
}

static void test_pictures(void **state) {
    (void)state;
    memset(samples, 0, sizeof samples);
    samples[5 * WIDTH + 5] = samples[15 * WIDTH + 30] = 1;
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    succeed("distance in.tif out.tif --nearest w.tif --picture d.tif --picture-nearest n.tif --max-distance 12 -q");
    Result distance = read_result("out.tif", 0), which = read_result("w.tif", 0);
    Result d = read_result("d.tif", 0), n = read_result("n.tif", 0);
    assert_int_equal(d.samples, 3);
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        const double *colour = d.values + 3 * i, *label = n.values + 3 * i;
        const bool grey = colour[0] == 128 && colour[1] == 128 && colour[2] == 128;
        assert_int_equal(grey, isinf(distance.values[i]));
        assert_int_equal(colour[0] == 255 && colour[2] == 255, distance.values[i] == 0);
        if (distance.values[i] == 0 || isinf(distance.values[i])) continue;
        /* One colour for one nearest pixel, another for another; farther is lighter. */
        const int first = which.values[i] == 5 * WIDTH + 5 ? 5 * WIDTH + 6 : 15 * WIDTH + 29;
        assert_memory_equal(label, n.values + 3 * first, 3 * sizeof(double));
        assert_true(colour[1] >= d.values[3 * (5 * WIDTH + 6) + 1]);
    }
    assert_memory_not_equal(n.values + 3 * (5 * WIDTH + 6), n.values + 3 * (15 * WIDTH + 29), 3 * sizeof(double));
    free(distance.values), free(which.values), free(d.values), free(n.values);

    assert_int_equal(run("distance in.tif out.tif --picture d.jpg --overwrite"), 2);
    if (run("distance in.tif out.tif --overwrite --picture d.PNG -q") == 0) {
        uint8_t head[24];
        FILE *file = fopen("d.PNG", "rb");
        assert_int_equal(fread(head, 1, 24, file), 24);
        fclose(file);
        assert_memory_equal(head, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x25\0\0\0\x17", 24);
    } else {
        assert_in(err_text, "libpng");
    }
}

static void test_words(void **state) {
    (void)state;
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    succeed("distance in.tif out.tif");
    assert_in(out_text, "in.tif: 37 x 23 pixels");
    assert_in(out_text, "out.tif: distance 0 to ");
    succeed("distance in.tif out.tif -q --overwrite");
    assert_string_equal(out_text, "");

    succeed("distance in.tif 'o \"u\tt.tif' --json --spacing 1,2 --type f64 --threads 2 --sites white");
    static const char *const parts[] = {
        "{\"command\": \"distance\", \"input\": \"in.tif\", \"width\": 37, \"height\": 23, \"pages\": 1",
        "\"volume\": false", "\"pixels\": 851", "\"sites\": ", "\"sites_are\": \"white\"", "\"threshold\": null",
        "\"spacing\": [1, 2]", "\"metric\": \"euclidean\"", "\"type\": \"f64\"", "\"max_distance\": null",
        "\"device\": {\"number\": ", "\"why\": \"", "\"threads\": 2", "\"minimum\": 0", "\"maximum\": ", "\"mean\": ",
        "\"seconds\": {\"prepare\": ", "\"read\": ", "\"transform\": ", "\"write\": ", "\"picture\": ", "\"total\": ",
        "\"outputs\": {\"distance\": \"o \\\"u\\u0009t.tif\", \"nearest\": null", "}}\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) assert_in(out_text, parts[i]);
    succeed("info in.tif --json");
    assert_in(out_text, "\"nonzero_is\": \"white\"");
    assert_in(out_text, "\"resolution\": {\"x\": 300, \"y\": 150, \"unit\": \"centimetre\"}");
    succeed("devices");
    assert_in(out_text, "cpu  ");
    succeed("devices --json");
    assert_in(out_text, "{\"command\": \"devices\", \"devices\": [{\"device\": \"cpu\", \"usable\": true, \"name\": \"");
    succeed("--version");
    assert_in(out_text, "apsis ");

    assert_int_equal(run("distance in.tif out.tif --overwrite -q --progress always"), 0);
    assert_string_equal(err_text, "");
    assert_int_equal(run("distance in.tif out.tif --overwrite --progress always"), 0);
    assert_in(err_text, "\rapsis: reading");
    assert_string_equal(err_text + strlen(err_text) - 4, "\r\033[K");
}

static void test_help(void **state) {
    (void)state;
    static const char *const options[] = {
        "--nearest",  "--sites",   "--threshold", "--signed", "--squared",    "--spacing",  "--metric", "--max-distance",
        "--device",   "--threads", "--type",      "--picture", "--json",      "--progress", "--overwrite", "-q",
        "--volume",   "--tiled",   "--compress",  "--bigtiff", "--picture-nearest", "--help", "black", "MinIsWhite",
        "APSIS_ERROR_RANGE", "  16 ", "130"};
    succeed("distance --help");
    for (size_t i = 0; i < sizeof options / sizeof *options; ++i) assert_in(out_text, options[i]);
    char first[sizeof out_text];
    strcpy(first, out_text);
    succeed("help distance");
    assert_string_equal(out_text, first);
    succeed("distance in.tif -h");
    assert_string_equal(out_text, first);
    static const char *const ways[] = {"--help", "-h", "help"};
    for (int i = 0; i < 3; ++i) {
        succeed(ways[i]);
        assert_in(out_text, "distance");
        assert_in(out_text, "devices");
        assert_in(out_text, "info");
        assert_in(out_text, "Exit codes");
    }
    succeed("info --help");
    assert_in(out_text, "--json");
    succeed("devices --help");
    assert_in(out_text, "--json");
}

/* ---- What it refuses ------------------------------------------------------ */

static void test_usage(void **state) {
    (void)state;
    static const struct {
        const char *words, *sentence;
    } cases[] = {
        {"", "a verb is missing; see apsis --help"},
        {"distanse", "unknown verb 'distanse'"},
        {"--wat", "unknown option '--wat'"},
        {"help distanse", "unknown verb 'distanse'"},
        {"distance", "IN.tif is missing; see apsis distance --help"},
        {"distance in.tif", "OUT.tif is missing"},
        {"distance in.tif out.tif more.tif", "unexpected argument 'more.tif'"},
        {"distance in.tif ''", "OUT.tif is empty"},
        {"distance in.tif out.tif --wat", "unknown option '--wat'"},
        {"distance in.tif out.tif -z", "unknown option '-z'"},
        {"distance in.tif out.tif --nearest", "--nearest needs a value: OUT2.tif"},
        {"distance in.tif out.tif --signed=yes", "--signed takes no value, but got '--signed=yes'"},
        {"distance in.tif out.tif --sites ink", "--sites is 'ink', but must be one of nonzero|zero|black|white"},
        {"distance in.tif out.tif --threshold many", "--threshold is 'many', but must be a whole number"},
        {"distance in.tif out.tif --threshold 1.5", "--threshold is '1.5'"},
        {"distance in.tif out.tif --threads -1", "--threads is '-1', but must be a whole number, at least 0"},
        {"distance in.tif out.tif --device gpu", "--device is 'gpu', but must be auto, cpu or the number"},
        {"distance in.tif out.tif --max-distance -3", "--max-distance is '-3', but must be a number above 0"},
        {"distance in.tif out.tif --max-distance nan", "--max-distance is 'nan'"},
        {"distance in.tif out.tif --spacing 1,", "--spacing is '1,', but must be numbers above 0"},
        {"distance in.tif out.tif --spacing 1,0", "--spacing is '1,0'"},
        {"distance in.tif out.tif --spacing 1,1,1", "--spacing has 3 numbers, but must have 2 without --volume"},
        {"distance in.tif out.tif --spacing 1,1 --volume", "--spacing has 2 numbers, but must have 3 with --volume"},
        {"distance in.tif out.tif --spacing 2 --squared", "--spacing must be 1 for --type i32"},
        {"distance in.tif out.tif --spacing 1,2 --metric chessboard", "--spacing must be the same for every axis"},
        {"distance in.tif out.tif --metric manhattan", "--metric is 'manhattan'"},
        {"distance in.tif out.tif --type u8", "--type is 'u8', but must be one of f32|f64|i32|i64"},
        {"distance in.tif out.tif --type i32", "--type i32 cannot hold Euclidean distances; add --squared"},
        {"distance in.tif out.tif --squared --type f32", "--squared gives whole numbers, but --type is f32"},
        {"distance in.tif out.tif --squared --metric city-block", "--squared is for --metric euclidean"},
        {"distance in.tif out.tif --picture far.gif", "--picture is 'far.gif', but must end in .png or .tif"},
        {"distance in.tif out.tif --nearest out.tif", "'out.tif' is named for two outputs"},
        {"distance in.tif out.tif --nearest ./out.tif", "'./out.tif' is named for two outputs"},
        {"info", "IN.tif is missing"},
        {"devices 0", "unexpected argument '0'"},
    };
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const int code = run("%s", cases[i].words);
        if (code != 2) fail_msg("apsis %s: exit code %d, but should be 2", cases[i].words, code);
        assert_in(err_text, cases[i].sentence);
        assert_in(err_text, "--help\n");
        assert_ptr_equal(strchr(err_text, '\n') + 1, err_text + strlen(err_text)); /* one line */
        assert_string_equal(out_text, "");
    }
    assert_files(1);
}

static void test_inputs_refused(void **state) {
    (void)state;
    make_samples(8, 5);
    const Layout floats = {.bits = 32, .photometric = B, .format = SAMPLEFORMAT_IEEEFP};
    const Layout palette = {.bits = 8, .photometric = PHOTOMETRIC_MASK};
    write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, 1);
    write_tiff("float.tif", &floats, WIDTH, HEIGHT, 1);
    write_tiff("mask.tif", &palette, WIDTH, HEIGHT, 1);
    TIFF *tiff = TIFFOpen("rgb.tif", "w");
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
    uint8_t row[3] = {1, 2, 3};
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 1);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    assert_int_equal(TIFFWriteEncodedStrip(tiff, 0, row, 3), 3);
    TIFFClose(tiff);
    assert_int_equal(shell("echo hello world >text.tif; : >empty.tif; mkdir dir; mkfifo fifo; true"), 0);
    static const struct {
        const char *words, *sentence;
        int code;
    } cases[] = {
        {"gone.tif", "cannot read 'gone.tif': No such file or directory", 1},
        {"empty.tif", "cannot read 'empty.tif': it is empty", 1},
        {"text.tif", "cannot read 'text.tif': Not a TIFF", 1},
        {"dir", "cannot read 'dir': it is a directory", 1},
        {"fifo", "cannot read 'fifo': it is not a regular file", 1},
        {"float.tif", "'float.tif' has floating-point or complex samples", 1},
        {"rgb.tif", "'rgb.tif' has 3 samples a pixel", 1},
        {"mask.tif --sites black", "'mask.tif' does not say which samples are black", 1},
        {"in.tif --device 4000", "4000", 13},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *words = cases[i].words, *space = strchr(words, ' ');
        const int length = space ? (int)(space - words) : (int)strlen(words);
        assert_int_equal(run("distance %.*s out.tif %s", length, words, space ? space : ""), cases[i].code);
        assert_in(err_text, cases[i].sentence);
        assert_files(8);
    }
    succeed("info float.tif");
    assert_in(out_text, "floating-point");
    succeed("info rgb.tif --json");
    assert_in(out_text, "\"nonzero\": null");
}

static void test_outputs_refused(void **state) {
    (void)state;
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    assert_int_equal(shell("echo precious >keep.tif; mkdir dir; ln -s nowhere dangling.tif"), 0);
    static const struct {
        const char *words, *sentence;
    } cases[] = {
        {"keep.tif", "cannot write 'keep.tif': it exists; --overwrite replaces it"},
        {"in.tif", "cannot write 'in.tif': it exists"},
        {"out.tif --nearest keep.tif", "cannot write 'keep.tif': it exists"},
        {"out.tif --picture keep.tif", "cannot write 'keep.tif': it exists"},
        {"gone/out.tif", "cannot write 'gone/out.tif': directory 'gone': No such file or directory"},
        {"keep.tif/out.tif", "cannot write 'keep.tif/out.tif': Not a directory"},
        {"new/", "cannot write 'new/': it names a directory"},
        {"dir --overwrite", "cannot write 'dir': it is a directory"},
        {"dangling.tif --overwrite", "cannot write 'dangling.tif': it is a link to nothing"},
        {"/dev/null --overwrite", "cannot write '/dev/null': it is not a regular file"},
        {"/proc/out.tif", "cannot write '/proc/out.tif': "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_int_equal(run("distance in.tif %s", cases[i].words), 1);
        assert_in(err_text, cases[i].sentence);
        assert_files(4);
    }
    char text[20];
    slurp("keep.tif", text, sizeof text);
    assert_string_equal(text, "precious\n");
    if (geteuid() != 0) {
        assert_int_equal(chmod("dir", 0555), 0);
        assert_int_equal(run("distance in.tif dir/out.tif"), 1);
        assert_in(err_text, "directory 'dir': Permission denied");
    }
    assert_int_equal(shell("(@ info in.tif >/dev/full)"), 1);
}

static void test_overwrite(void **state) {
    (void)state;
    make_samples(1, 5);
    make_set(1, false);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    /* Through a link, keeping the permissions; and over the input itself. */
    assert_int_equal(shell("echo old >real.tif; chmod 640 real.tif; ln -s real.tif link.tif"), 0);
    succeed("distance in.tif link.tif --overwrite -q");
    check("through a link", &kPage, "real.tif", NULL);
    struct stat status;
    assert_int_equal(lstat("link.tif", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat("real.tif", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    succeed("distance in.tif in.tif --overwrite -q");
    check("over itself", &kPage, "in.tif", NULL);
    /* A new file has the permissions that the user's mask asks for. */
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    assert_int_equal(shell("umask 027; @ distance -q -- in.tif -new.tif"), 0);
    assert_int_equal(stat("./-new.tif", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

static void test_disk_full(void **state) {
    (void)state;
    enum { BIG_WIDTH = 700, BIG_HEIGHT = 300 };
    uint32_t seed = 3;
    for (int i = 0; i < MOST; ++i) samples[i] = next_random(&seed) % 8 == 0;
    write_tiff("in.tif", &kBits, BIG_WIDTH, BIG_HEIGHT, 1);
    static const char *const words[] = {"", "--tiled", "--compress deflate", "--nearest which.tif --bigtiff"};
    for (int i = 0; i < 4; ++i) {
        char line[200];
        snprintf(line, sizeof line, "@ distance in.tif out.tif %s", words[i]);
        assert_int_equal(shell_limited(line, 4096), 1);
        assert_in(err_text, "cannot write 'out.tif': File too large");
        assert_files(1);
    }
    /* Where the distances fit but the picture does not, there is neither. */
    struct stat distance, picture;
    const char *both = "@ distance in.tif out.tif -q --compress deflate --picture-nearest p.tif";
    assert_int_equal(shell(both), 0);
    assert_int_equal(stat("out.tif", &distance) | stat("p.tif", &picture), 0);
    unlink("out.tif");
    unlink("p.tif");
    assert_true(picture.st_size > 2 * distance.st_size);
    assert_int_equal(shell_limited(both, (size_t)(distance.st_size + picture.st_size) / 2), 1);
    assert_in(err_text, "cannot write 'p.tif': File too large");
    assert_files(1);
}

/* Starts the command, waits until it says `word` on standard error, sends a signal; how it ended. */
static int interrupt_at(const char *word, int number) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        execl(command, "apsis", "distance", "in.tif", "out.tif", "--nearest", "which.tif", "--compress", "deflate",
              "--progress", "always", "--threads", "1", (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    char text[8192] = "";
    size_t used = 0;
    bool sent = false;
    for (ssize_t got; used < sizeof text - 1 && (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;) {
        text[used += (size_t)got] = 0;
        if (!sent && strstr(text, word)) kill(child, number), sent = true;
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(sent);
    assert_in(text, "interrupted; nothing was written\n");
    return status;
}

static void test_interrupt(void **state) {
    (void)state;
    enum { SIDE = 4000 };
    TIFF *tiff = TIFFOpen("in.tif", "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, SIDE);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, SIDE);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 16);
    uint8_t strip[16 * SIDE];
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof strip; ++i) strip[i] = next_random(&seed) % 1000 == 0;
    for (uint32_t s = 0; s < SIDE / 16; ++s) TIFFWriteEncodedStrip(tiff, s, strip, sizeof strip);
    TIFFClose(tiff);
    static const struct {
        const char *word;
        int number;
    } cases[] = {{"reading", SIGINT}, {"computing", SIGTERM}, {"writing", SIGINT}, {"writing", SIGHUP}};
    for (int i = 0; i < 4; ++i) {
        const int status = interrupt_at(cases[i].word, cases[i].number);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), cases[i].number);
        assert_files(1);
    }
}

/* ---- Damaged files -------------------------------------------------------- */

static uint8_t original[4096];

static void try_damaged(const uint8_t *bytes, size_t size, const char *how, size_t at) {
    FILE *file = fopen("in.tif", "wb");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    const int code = run("distance in.tif out.tif --threads 1 -q");
    if (code != 0 && code != 1 && code != 14) fail_msg("%s at %zu: exit code %d\n%s", how, at, code, err_text);
    assert_int_equal(exists("out.tif"), code == 0);
    if (code) assert_in(err_text, "apsis distance: ");
    unlink("out.tif");
    assert_files(1);
}

static void test_damage(void **state) {
    (void)state;
    static const Layout seeds[] = {
        {.bits = 1, .photometric = W, .compression = COMPRESSION_CCITTFAX4, .rows = 6},
        {.bits = 8, .photometric = B, .compression = COMPRESSION_LZW, .tile = 16, .mode = "w8"},
        {.bits = 16, .photometric = B, .rows = 4, .mode = "wb"},
    };
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; ++s) {
        make_samples(seeds[s].bits, 9);
        write_tiff("in.tif", &seeds[s], 19, 9, s == 0 ? 2 : 1);
        FILE *file = fopen("in.tif", "rb");
        const size_t size = fread(original, 1, sizeof original, file);
        fclose(file);
        assert_true(size < sizeof original);
        for (size_t length = 0; length < size; length += 1 + size / 100) try_damaged(original, length, "cut", length);
        uint8_t changed[sizeof original];
        uint32_t seed = 1;
        for (size_t at = 0; at < size; at += 1 + size / 250) {
            memcpy(changed, original, size);
            changed[at] ^= (uint8_t)(at % 2 ? 0xFF : 1u << next_random(&seed) % 8);
            try_damaged(changed, size, "changed", at);
        }
    }
}

/* Sizes that are claimed, but not there, take no memory and no time. */
static void test_claims(void **state) {
    (void)state;
    memset(samples, 0, sizeof samples);
    static const struct {
        uint32_t width, height;
    } sizes[] = {{0xFFFFFFFF, 0xFFFFFFFF}, {1u << 31, 3}, {1u << 30, 1u << 30}, {3, 1u << 30}, {1 << 20, 1 << 20}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        TIFF *tiff = TIFFOpen("in.tif", "w");
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, sizes[i].width);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, sizes[i].height);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 1);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, sizes[i].height);
        TIFFWriteRawStrip(tiff, 0, (void *)"abcdefgh", 8);
        TIFFClose(tiff);
        const int code = shell("@ distance in.tif out.tif --threads 1");
        if (code != 1 && code != 14) fail_msg("%u x %u: exit code %d", sizes[i].width, sizes[i].height, code);
        assert_in(err_text, "apsis distance: ");
        assert_files(1);
    }
}

/* ---- A page --------------------------------------------------------------- */

static void test_page(void **state) {
    (void)state;
    enum { PAGE_WIDTH = 2480, PAGE_HEIGHT = 3508, PROBES = 40 };
    succeed("info %s", page_tif);
    assert_in(out_text, "2480 x 3508 pixels");
    assert_in(out_text, "a non-zero sample is black");
    succeed("distance %s out.tif --nearest which.tif --sites black --squared -q", page_tif);
    TIFF *tiff = TIFFOpen(page_tif, "r");
    static uint8_t rows[PAGE_HEIGHT][(PAGE_WIDTH + 7) / 8];
    for (int y = 0; y < PAGE_HEIGHT; ++y) assert_int_equal(TIFFReadScanline(tiff, rows[y], (uint32_t)y, 0), 1);
    TIFFClose(tiff);
    Result d = read_result("out.tif", 0), n = read_result("which.tif", 0);
    uint32_t seed = 17;
    for (int probe = 0; probe < PROBES; ++probe) {
        const int x = (int)(next_random(&seed) % PAGE_WIDTH), y = (int)(next_random(&seed) % PAGE_HEIGHT);
        int64_t best = INT64_MAX, which = -1;
        for (int v = 0; v < PAGE_HEIGHT; ++v)
            for (int u = 0; u < PAGE_WIDTH; ++u) {
                const int64_t square = (int64_t)(u - x) * (u - x) + (int64_t)(v - y) * (v - y);
                if (square < best && (rows[v][u / 8] & 0x80 >> u % 8)) best = square, which = u + PAGE_WIDTH * v;
            }
        assert_true(d.values[y * PAGE_WIDTH + x] == (double)best);
        assert_true(n.values[y * PAGE_WIDTH + x] == (double)which);
    }
    free(d.values), free(n.values);
}

/* ---- Setting up ----------------------------------------------------------- */

static int start(void **state) {
    (void)state;
    clear_folder();
    return 0;
}

static int enter_folder(void **state) {
    (void)state;
    const char *from = getenv("APSIS_COMMAND");
    if (!realpath(from ? from : APSIS_COMMAND, command) || !realpath(APSIS_DATA "/page.tif", page_tif)) return -1;
    TIFFSetWarningHandler(NULL);
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state) {
    (void)state;
    clear_folder();
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_layouts, start),        cmocka_unit_test_setup(test_sites, start),
        cmocka_unit_test_setup(test_threshold, start),      cmocka_unit_test_setup(test_pages, start),
        cmocka_unit_test_setup(test_odd_pages, start),      cmocka_unit_test_setup(test_options, start),
        cmocka_unit_test_setup(test_empty_and_full, start), cmocka_unit_test_setup(test_output_layouts, start),
        cmocka_unit_test_setup(test_pictures, start),       cmocka_unit_test_setup(test_words, start),
        cmocka_unit_test_setup(test_help, start),           cmocka_unit_test_setup(test_usage, start),
        cmocka_unit_test_setup(test_inputs_refused, start), cmocka_unit_test_setup(test_outputs_refused, start),
        cmocka_unit_test_setup(test_overwrite, start),      cmocka_unit_test_setup(test_disk_full, start),
        cmocka_unit_test_setup(test_interrupt, start),      cmocka_unit_test_setup(test_damage, start),
        cmocka_unit_test_setup(test_claims, start),         cmocka_unit_test_setup(test_page, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
