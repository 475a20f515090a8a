// A page of text for the benchmarks, drawn from a small alphabet, tiled for ever.
#ifndef APSIS_BENCH_PAGE_H
#define APSIS_BENCH_PAGE_H

#include <stdint.h>

int page_pixel(int64_t x, int64_t y);

#endif
