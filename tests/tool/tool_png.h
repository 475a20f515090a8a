/* PNG files for the tests of the apsis command. */
#ifndef TOOL_PNG_H
#define TOOL_PNG_H

#include "tool_tiff.h"

#include <stdio.h>

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4 };

/** The first page of `samples`, as grey. */
void write_png(const char *path, int bits, bool interlaced);

/** The same as another colour, which each sample is in every channel; the file claims this size. */
void write_png_of(const char *path, int width, int height, int bits, int colour, bool interlaced);

void put_png_chunk(FILE *file, const char *type, const uint8_t *data, size_t size);

#endif
