// The distance map of a large image as one that is made when it is asked for, some rows at a time.
#ifndef APSIS_VIPS_STRIPS_H
#define APSIS_VIPS_STRIPS_H

#include "operation.h"

// Gives the operation an `out` that is computed by strips of so many rows; it takes the set over.
apsis_status apsis_operation_output_by_strips(ApsisOperation *operation, int rows);

#endif
