/*
 * What apsis_measures must say of a value, found by looking at every pixel, every pair of points, every window.  Nothing here
 * is shared with the library.
 */
#ifndef MEASURE_ORACLE_H
#define MEASURE_ORACLE_H

#include <apsis_measures.h>

#include "oracle.h"

/** One value of an image: its pixels, packed, with a margin of two pixels that are not of it; in 2-D one plane. */
typedef struct shape_of {
    int ndim;
    int64_t size[3]; /* with the margin */
    uint8_t *is_in;
    double spacing[3];
} shape_of;

shape_of new_shape(const problem *p, const int64_t *value, int64_t of);
void free_shape(shape_of *s);

/** Pieces less holes, or in 3-D cells of a complex, one by one. */
int64_t euler_of(const shape_of *s, int connectivity);

/** Its pixels and those that no path of background reaches from outside. */
int64_t filled_of(const shape_of *s);

void faces_of(const shape_of *s, int64_t faces[3], double *surface);
double perimeter_of(const shape_of *s);
double crofton_of(const shape_of *s, int directions);

/** convex, convex_area, feret and feret_contour. */
void hull_of(const shape_of *s, apsis_measure *m);

/** moments. */
void moments_of(const shape_of *s, double *moments);

#endif
