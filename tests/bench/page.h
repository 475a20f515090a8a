// A page of text for the benchmarks, drawn from a small alphabet, tiled for ever.
#ifndef APSIS_BENCH_PAGE_H
#define APSIS_BENCH_PAGE_H

#include <stdint.h>

enum { PAGE_MARGIN = 300 }; /* white pixels on the left and above, and on the other sides */

int page_pixel(int64_t x, int64_t y);

#endif
