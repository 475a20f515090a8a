// The images that benchmarks run on: noise of several densities, and the shapes that noise flatters.
#ifndef APSIS_BENCH_MASKS_H
#define APSIS_BENCH_MASKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The names of the 2-D and the 3-D masks, NULL at the end.  There are more: grain4-0.5, noise of pixels four times as
 *  large along each axis; a spiral; a comb; an empty one; and likenesses of what papers take, a photograph in black and
 *  white and all but vessels. */
extern const char *const bench_masks_2d[];
extern const char *const bench_masks_3d[];

/** Fills width * height * depth bytes with 0 and 1.  Returns 0 if there is no mask of this name: one of those, or "coil",
 *  "maze" or "wide-spiral", for paths, or "annulus", "torus", "islands" or "holes", for eccentricities, or "values-4", for
 *  label images: noise of 0 to 3; or one that a seed draws, as "strokes-17": see random_masks.h. */
int bench_mask(const char *name, int64_t width, int64_t height, int64_t depth, uint8_t *mask);

#ifdef __cplusplus
}
#endif
#endif
