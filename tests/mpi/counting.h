/*
 * What stands between apsis_mpi.c and what it calls: functions of MPI, which are counted; and the slab functions and malloc,
 * which fail where a test wants them to.  The former by MPI's profiling interface, the latter by the linker's --wrap.
 */
#ifndef COUNTING_H
#define COUNTING_H

#include <apsis_mpi.h>

/** What this rank has handed to MPI since counted = (counts){0}. */
typedef struct counts {
    int64_t sent;      /* bytes, to one other rank each */
    int64_t broadcast; /* bytes, as their root */
    int64_t agreed;    /* reductions */
    int64_t largest;   /* bytes of the largest message */
} counts;

extern counts counted;

/** Allocations of apsis_mpi.c, and of the test, that have not been freed. */
extern int64_t live_allocations;

typedef enum plant { NOTHING, SLAB_CALL, ALLOCATION } plant;

/** From now on the n-th of these fails on this rank: a slab call with this status. */
void plant_failure(plant what, int n, apsis_status status);

/** Nothing fails any more.  Whether the failure has come. */
int planted_came(void);

#endif
