/* How an image is cut into slabs, and where these are. */
#ifndef CUTS_H
#define CUTS_H

#include "apsis_test.h"
#include "oracle.h"

enum { MOST_SLABS = 12 };

/** Slab k has the rows from start[k] to start[k + 1]: planes in 3-D. */
typedef struct cut {
    int slabs;
    int64_t start[MOST_SLABS + 1];
} cut;

/** The image is cut between two rows where `cuts` has a bit. */
cut cut_of(unsigned cuts, int64_t rows);

/** Some slabs, those without rows among them. */
cut choose_cut(chance *c, int64_t rows);

/** The rows of slab k. */
problem slab_of(const problem *p, const cut *at, int k);

/** Fails: some result of the slabs is not that of the whole image. */
void fail_at(const cut *at, const char *what);

/** A second place for slabs, with a context to be destroyed. */
bench open_cpu(void);

/** Which of `masks` masks to take, every so-manyth: all, but fewer where they are slow, and on a device one in `on_device`,
 *  which is no power of two, so that every bit changes. */
int mask_step(const bench *b, int masks, int on_device);

#endif
