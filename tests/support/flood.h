/*
 * What apsis_components must answer, found by filling one component after the other.  Nothing here is shared with the
 * library.
 */
#ifndef FLOOD_H
#define FLOOD_H

#include "oracle.h"

typedef struct flooded {
    int64_t *label;             /* of each pixel, 0 outside and where a component is left out */
    apsis_component *component; /* those that are kept */
    int64_t count;
} flooded;

flooded flood(const problem *p);
void free_flooded(flooded *f);

#endif
