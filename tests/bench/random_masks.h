// Images that a seed draws: what benchmarks search for the worst of, since no list of shapes has it.
#ifndef APSIS_BENCH_RANDOM_MASKS_H
#define APSIS_BENCH_RANDOM_MASKS_H

#include <stdint.h>

/** A number of 64 bits that looks random, of another one. */
uint64_t bench_hash(uint64_t i);

/** Fills width * height * depth bytes with 0 and 1.  Returns 0 if there is no such image.  Names are
 *  strokes-SEED, axis-parallel lines as in floor plans and layouts; fractal-SEED, with gaps of every size; dust-SEED, Cantor
 *  dust; and sparse-SEED, a few pixels, lines and clusters. */
int bench_random_mask(const char *name, int64_t width, int64_t height, int64_t depth, uint8_t *mask);

#endif
