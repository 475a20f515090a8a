/*
 * One problem through apsis_geodesic, in a bench's place, and its answer compared with the oracle's.
 */
#ifndef RUN_GEODESIC_H
#define RUN_GEODESIC_H

#include "frame.h"
#include "paths.h"
#include "run_distance.h"

/** As run_distance: `how` gives the types and layouts; seeds have those of the set. */
outputs run_geodesic(bench *b, const problem *p, const uint8_t *seeds, const given *how);

/** Runs, solves, compares. */
void check_geodesic(bench *b, const problem *p, const uint8_t *seeds, const given *how);

#endif
