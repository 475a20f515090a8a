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

/** Fails, with the first pixel that differs, unless the outputs are the answer. */
void compare_geodesic(const problem *p, const given *how, const uint8_t *seeds, const outputs *out, const answer *want);

/** Runs, solves, compares. */
void check_geodesic(bench *b, const problem *p, const uint8_t *seeds, const given *how);

#endif
