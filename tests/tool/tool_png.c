/* PNG files for the tests of the apsis command: see tool_png.h. */
#include "tool_png.h"

#include <stdio.h>
#include <zlib.h>

static void put_number(FILE *file, uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) fputc((int)(number >> shift & 255), file);
}

void put_png_chunk(FILE *file, const char *type, const uint8_t *data, size_t size) {
    put_number(file, (uint32_t)size);
    fwrite(type, 1, 4, file);
    fwrite(data, 1, size, file);
    const uLong crc = crc32(0, (const Bytef *)type, 4);
    put_number(file, (uint32_t)(size ? crc32(crc, data, (uInt)size) : crc));
}

/* Some rows and columns of `samples`, each row behind a filter of 0; returns its end. */
static uint8_t *put_pass(uint8_t *to, int bits, int channels, int x0, int y0, int dx, int dy) {
    if (x0 >= WIDTH) return to;
    for (int y = y0; y < HEIGHT; y += dy) {
        *to++ = 0;
        int at = 0; /* a bit of the row */
        for (int x = x0; x < WIDTH; x += dx)
            for (int c = 0; c < channels; ++c)
                for (int b = bits - 1; b >= 0; --b, ++at) {
                    if (at % 8 == 0) to[at / 8] = 0;
                    to[at / 8] |= (uint8_t)((samples[y * WIDTH + x] >> b & 1) << (7 - at % 8));
                }
        to += (at + 7) / 8;
    }
    return to;
}

void write_png_of(const char *path, int width, int height, int bits, int colour, bool interlaced) {
    static const int passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                     {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    static uint8_t rows[WIDTH * HEIGHT * 8 + 16 * HEIGHT], packed[sizeof rows + 1024];
    const int channels = colour == RGB ? 3 : colour == GREY_ALPHA ? 2 : 1;
    uint8_t *end = rows;
    for (int p = 0; p < (interlaced ? 7 : 1); ++p)
        end = interlaced ? put_pass(end, bits, channels, passes[p][0], passes[p][1], passes[p][2], passes[p][3])
                         : put_pass(end, bits, channels, 0, 0, 1, 1);
    uLongf size = sizeof packed;
    assert_int_equal(compress(packed, &size, rows, (uLong)(end - rows)), Z_OK);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    uint8_t head[13] = {0,
                        0,
                        (uint8_t)(width >> 8),
                        (uint8_t)width,
                        0,
                        0,
                        (uint8_t)(height >> 8),
                        (uint8_t)height,
                        (uint8_t)bits,
                        (uint8_t)colour,
                        0,
                        0,
                        interlaced};
    put_png_chunk(file, "IHDR", head, sizeof head);
    if (colour == PALETTE) put_png_chunk(file, "PLTE", (const uint8_t[768]){0}, 768);
    put_png_chunk(file, "IDAT", packed, size);
    put_png_chunk(file, "IEND", packed, 0);
    fclose(file);
}

void write_png(const char *path, int bits, bool interlaced) { write_png_of(path, WIDTH, HEIGHT, bits, GREY, interlaced); }
