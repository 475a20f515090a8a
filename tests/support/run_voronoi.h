/*
 * One problem through apsis_voronoi, in a bench's place, and its map compared with one that is found by looking.
 */
#ifndef RUN_VORONOI_H
#define RUN_VORONOI_H

#include "run_distance.h"

/** The cells of all pixels, in memory to be freed; `how` gives the types and layouts of the set and, as nearest, of the
 *  cells.  Fails if the call fails, or changes the set or a byte that is no pixel of the map. */
int64_t *run_voronoi(bench *b, const problem *p, const given *how);

/** Which pixels have no path inside their cell to its site, 1 for each, in memory to be freed; and how many they are. */
uint8_t *find_exclaves(const problem *p, const int64_t *cells, int64_t *count);

/** Hides them, round by round, as APSIS_CONNECTED does. */
void hide_exclaves(const problem *p, int64_t *cells, const uint8_t *exclaves);

/** Runs, solves, compares; returns how many exclaves there were to hide. */
int64_t check_voronoi(bench *b, const problem *p, const given *how);

#endif
