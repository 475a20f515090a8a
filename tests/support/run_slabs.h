/*
 * One problem cut into slabs, each computed with what the others tell of themselves, compared byte for byte with the map of
 * the whole image.
 */
#ifndef RUN_SLABS_H
#define RUN_SLABS_H

#include "cuts.h"
#include "run_distance.h"

/** Of every cut: runs slab k in places[k % count], with slabs and merges in any order, and fails unless the map is that of the
 *  whole image in places[0]. */
void check_every_cut(bench *const places[], int count, const problem *p, const given *how, chance *c);

/** The same of three cuts, in one place. */
void check_random_cuts(bench *place, const problem *p, const given *how, chance *c);

void fill(int64_t *array, int64_t count, int64_t value);

#endif
