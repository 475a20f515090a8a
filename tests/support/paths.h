/*
 * What apsis_geodesic and apsis_eccentricity must answer, found by relaxing paths one after the other until none is
 * shorter.  Nothing here is shared with the library.
 */
#ifndef PATHS_H
#define PATHS_H

#include "oracle.h"

/** Lengths are whole numbers of length / divisor * unit.  They are the library's own unless `rounded` is set: then they
 *  are finer, and the library's may differ by 2^-26 of themselves. */
typedef struct scale {
    int64_t weight[8]; /* of a step, by the axes it goes along: 1, 2, 4; 0 where there is none */
    int64_t knight;    /* of a step by 1 along one axis and 2 along the other, in the plane; 0: none */
    double divisor, unit;
    bool rounded;
} scale;

scale scale_of(const problem *p);

/** The weight of a step by so much; 0 if there is none. */
int64_t weight_of(const scale *s, const int64_t step[3]);

/** Draws weights of the chamfer metric, sometimes the default ones; a knight's move, if allowed, where it is one. */
void draw_weights(problem *p, bool knights, chance *c);
bool is_member(const problem *p, int64_t i);

/** Lengths and nearest seeds, -1 and -1 where no path leads; max_distance is not looked at.  Freed by free_answer. */
answer solve_paths(const problem *p, const uint8_t *seeds);

/** The largest length from each pixel, and the lowest pixel that has it, -1 and -1 outside the set; and what is known of
 *  components, in order.  A field from every pixel. */
typedef struct extremes {
    int64_t *cost, *farthest;
    apsis_extent *extent;
    int64_t count;
} extremes;
extremes solve_extremes(const problem *p);
void free_extremes(extremes *e);

double real_of(const scale *s, int64_t length);
/** What a pixel of an output holds for it: integers count as the scale does, others in the caller's unit. */
double shown(const scale *s, apsis_type type, int64_t length);
/** What pixel i of an output holds. */
double value_at(const void *pixels, apsis_type type, int64_t i);

#endif
