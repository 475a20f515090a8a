/*
 * One problem through apsis_measures, and the answer compared with brute force.  Nothing here is shared with the library.
 */
#ifndef RUN_MEASURES_H
#define RUN_MEASURES_H

#include "measure_oracle.h"
#include "run_labels.h"

enum { IN_2D = APSIS_PERIMETER | APSIS_HULL | APSIS_FERET, OUTLINES = APSIS_FILLED | APSIS_HULL | APSIS_FERET, ALL = 255 };

typedef struct measuring {
    problem p; /* a byte of its mask stands for a value of the type, as everywhere */
    apsis_type type, grey_type;
    unsigned layout, grey_layout;
    uint32_t wanted;
    int64_t capacity;
    const int64_t *grey; /* [pixel]: whole numbers, in units of grey_unit; NULL: intensities are not wanted */
    double grey_unit;
} measuring;

void check_measures(bench *b, const measuring *q);

#endif
