/*
 * What apsis_cost_distance and apsis_paths must answer, found by relaxing costs until none is less.  Nothing here is shared
 * with the library.
 */
#ifndef COSTS_H
#define COSTS_H

#include "paths.h"

typedef struct cost_problem {
    problem p;            /* its mask is NULL where the set is left out */
    const int64_t *cost;  /* of each pixel, as a whole number; 0 or less: no path leads there; NULL: all are 1 */
    const uint8_t *seeds; /* not 0: a seed */
} cost_problem;

/** Whether paths may go through a pixel. */
bool is_passable(const cost_problem *c, int64_t i);

/** The weight of the step between two pixels, 0 if they are no neighbours, or with APSIS_LABELS differ in their labels. */
int64_t weight_between(const cost_problem *c, int64_t i, int64_t j);

/** What the step costs, doubled. */
int64_t step_between(const cost_problem *c, int64_t i, int64_t j);

/** Doubled costs and the nearest seeds; -1 and -1 where no path leads.  max_distance is not looked at. */
answer solve_costs(const cost_problem *c);

/** A cost in the caller's unit. */
double real_cost(const cost_problem *c, int64_t doubled);

/** The seed to be told of a pixel: -1 also where the path costs more than max_distance. */
int64_t seed_of(const cost_problem *c, const answer *a, int64_t i);

#endif
