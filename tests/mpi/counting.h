/*
 * What stands between apsis_mpi.c and what it calls: functions of MPI, which are counted; and functions of apsis.h and malloc,
 * which fail where a test wants them to.  The former by MPI's profiling interface, the latter by the linker's --wrap.
 */
#ifndef COUNTING_H
#define COUNTING_H

#include <apsis_mpi.h>

/** What this rank has handed to MPI since counted = (counts){0}. */
typedef struct counts {
    int64_t sent;      /* bytes, to one other rank each */
    int64_t broadcast; /* bytes, as their root */
    int64_t agreed;    /* reductions by which ranks agree */
    int64_t combined;  /* bytes that others combine */
    int64_t largest;   /* bytes of the largest message */
} counts;

extern counts counted;

/** Allocations of apsis_mpi.c, and of the test, that have not been freed. */
extern int64_t live_allocations;

typedef enum plant { NOTHING, APSIS_CALL, ALLOCATION } plant;

/** From now on the n-th of these fails on this rank: a call of apsis.h with this status. */
void plant_failure(plant what, int n, apsis_status status);

/** Nothing fails any more.  Whether the failure has come. */
int planted_came(void);

#endif
