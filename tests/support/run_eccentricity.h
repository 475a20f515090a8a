/*
 * One problem through apsis_eccentricity, in a bench's place, and its answer compared with the oracle's.
 */
#ifndef RUN_ECCENTRICITY_H
#define RUN_ECCENTRICITY_H

#include "run_geodesic.h"

/** As run_distance: `how` gives the types and layouts, of eccentricity and farthest in the places of distance and
 *  nearest.  `extents` has room for `capacity`, and may be NULL. */
outputs run_eccentricity(bench *b, const problem *p, const given *how, apsis_extent *extents, int64_t capacity, int64_t *count);

/** Runs, solves, compares all outputs that are wanted, and the extents. */
void check_eccentricity(bench *b, const problem *p, const given *how);

/** Larger images: with and without farthest pixels, as a field from every pixel gives it. */
void check_by_every_source(bench *b, const problem *p);

#endif
