/*
 * One problem cut into slabs, each computed with what the others tell of themselves, compared byte for byte with the map of
 * the whole image.
 */
#ifndef RUN_SLABS_H
#define RUN_SLABS_H

#include "run_distance.h"

enum { MOST_SLABS = 12 };

/** Slab k has the rows from start[k] to start[k + 1]: planes in 3-D. */
typedef struct cut {
    int slabs;
    int64_t start[MOST_SLABS + 1];
} cut;

int64_t rows_of(const problem *p);

/** The image is cut between two rows where `cuts` has a bit. */
cut cut_of(unsigned cuts, int64_t rows);

/** Some slabs, those without rows among them. */
cut choose_cut(chance *c, int64_t rows);

/** Runs slab k in places[k % count], with slabs and merges in any order, and fails unless the map is `whole`. */
void check_cut(bench *const places[], int count, const problem *p, const given *how, const outputs *whole, const cut *at,
               chance *c);

/** The same of every cut, with the map of the whole image from places[0]. */
void check_every_cut(bench *const places[], int count, const problem *p, const given *how, chance *c);

void fill(int64_t *array, int64_t count, int64_t value);

#endif
