/*
 * One problem through apsis_statistics or apsis_contacts, and the answer compared with brute force.  A byte of the mask stands
 * for a value of the type (value_of_byte).  Nothing here is shared with the library.
 */
#ifndef RUN_LABELS_H
#define RUN_LABELS_H

#include "run_components.h"

extern const apsis_type label_types[4];

/** In order of the values that occur; of APSIS_U8 as a table, too. */
void check_statistics(bench *b, const problem *p, apsis_type type, unsigned layout, int64_t capacity);

void check_contacts(bench *b, const problem *p, apsis_type type, unsigned layout, int64_t capacity);

/** For qsort: in the order of a, then of b. */
int compare_pairs(const void *one, const void *other);

int64_t least(int64_t a, int64_t b);

/** Cells of some grain, noise of some values, or both. */
void fill_cells(uint8_t *mask, const int64_t size[3], chance *c);

/** An image of them, of any size that is not large; the mask is to be freed. */
problem draw_labels(chance *c, uint8_t **mask);

#endif
