// A page of text: see page.h.  Letters of 5 x 7 dots, magnified to those of a 300-dpi page, in words and paragraphs
// with margins, so that it has strokes, line spacing and wide empty areas as scanned text has.
#include "page.h"

enum { DOT = 5, CELL = 6 * DOT, LINE = 12 * DOT, WIDTH = 2480, HEIGHT = 3508, MARGIN = PAGE_MARGIN };

static const uint8_t letters[][7] = {
    {0x0e, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11}, {0x0e, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0e},
    {0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x1f}, {0x04, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e},
    {0x11, 0x19, 0x15, 0x13, 0x11, 0x11, 0x11}, {0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e},
    {0x0f, 0x10, 0x10, 0x0e, 0x01, 0x01, 0x1e}, {0x1f, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04},
};

int page_pixel(int64_t x, int64_t y) {
    const int64_t u = x % WIDTH - MARGIN, v = y % HEIGHT - MARGIN;
    if (u < 0 || v < 0 || u >= WIDTH - 2 * MARGIN || v >= HEIGHT - 2 * MARGIN) return 0;
    const int64_t row = v / LINE, column = u / CELL, dx = u % CELL / DOT, dy = v % LINE / DOT;
    if (row % 9 == 8 || dx >= 5 || dy >= 7) return 0;
    const uint32_t pick = (uint32_t)(row * 131 + column) * 2654435761u >> 16;
    if (pick % 6 == 0 || (row % 9 == 7 && column > 30)) return 0; /* between words, and after a paragraph */
    return (letters[pick / 6 % 8][dy] >> (4 - dx)) & 1;
}
