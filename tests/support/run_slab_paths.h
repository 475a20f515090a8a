/*
 * Paths of one problem, found slab by slab until no slab finds a shorter one, compared byte for byte with those of the whole
 * image.
 */
#ifndef RUN_SLAB_PATHS_H
#define RUN_SLAB_PATHS_H

#include "cuts.h"
#include "run_geodesic.h"

/** Runs each slab in one of the places, in any order, and fails unless the outputs are `whole`. */
void check_paths_cut(bench *const places[], int count, const problem *p, const uint8_t *seeds, const given *how,
                     const outputs *whole, const cut *at, chance *c);

/** The same of every cut, with the outputs of the whole image from places[0]. */
void check_paths_of_every_cut(bench *const places[], int count, const problem *p, const uint8_t *seeds, const given *how,
                              chance *c);

#endif
