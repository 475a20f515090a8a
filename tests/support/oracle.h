/*
 * What apsis_distance must answer, found by looking.  Nothing here is shared with the library.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "apsis_test.h"

typedef struct problem {
    int ndim;
    int64_t size[3];     /* size[2] is 1 if ndim is 2 */
    const uint8_t *mask; /* packed, one byte a pixel; with APSIS_LABELS its label */
    apsis_options options;
    int64_t ratio[3]; /* options.spacing is ratio * unit; all 1 where spacing is the default */
    double unit;
    const double *grey; /* of a grey image: the value of each pixel, 0 where the mask is; NULL: the mask has the labels */
    bool cells;         /* apsis_voronoi is called, for what is nearest alone */
} problem;

/** The lowest cost from each pixel to its target, and the lowest index that has it; -1 and -1 if there is none.
 *  Euclidean costs are squares: the sum of (ratio * offset)^2.  Lengths are unit * sqrt(cost), or unit * cost. */
typedef struct answer {
    int64_t *cost;
    int64_t *nearest;
} answer;

problem new_problem(int ndim, int64_t w, int64_t h, int64_t d, const uint8_t *mask);
int64_t pixels_of(const problem *p);

/** Along the last axis, rows in 2-D and planes in 3-D; and the pixels of each. */
int64_t rows_of(const problem *p);
int64_t columns_of(const problem *p);
void set_spacing(problem *p, int64_t x, int64_t y, int64_t z, double unit);
void describe(const problem *p, char *text, size_t bytes);

/** Whether the image closes on itself along an axis. */
bool is_periodic(const problem *p, int axis);

/** The pixel at an offset of at most an image from pixel i: one of a copy of the image beside it, if that axis is periodic.
 *  Returns false if there is none. */
bool neighbour_at(const problem *p, int64_t i, const int64_t offset[3], int64_t *j);

/** Draws which axes are periodic: none of one pixel, nor z where it has no neighbours. */
void draw_periodic(problem *p, chance *c);

/** The cost of the offset between two pixels, by their indices. */
int64_t cost_between(const problem *p, int64_t i, int64_t j);

/** Brute force: every pixel against every target. */
answer solve_by_force(const problem *p);

/** About how many comparisons that takes. */
int64_t work_of_force(const problem *p);

/** Row by row, outward, until the rows are too far: the same answer, for larger ones. */
answer solve_by_rows(const problem *p);

/** By the lower envelope of the columns in each row: the same answer, however far the sites are, in time that goes with
 *  the pixels alone.  For Euclidean problems in the plane, slices included. */
bool has_envelope(const problem *p);
answer solve_by_envelope(const problem *p);

/** Whether labels or the border count, which only brute force knows of; as it does of periodic axes. */
bool has_background(const problem *p);

/** By the quickest of them. */
answer solve(const problem *p);
void free_answer(answer *a);

/** The value of pixel i as `type` holds it; and, for reals where unit is no power of two, whether `got` is that value
 *  rounded once.  Euclidean integers are squares. */
void expected_pixel(const problem *p, const answer *a, int64_t i, apsis_type type, void *pixel);
bool is_close(const problem *p, const answer *a, int64_t i, apsis_type type, const void *got);

/** sqrt(cost), rounded once to double and to float, for a cost below 2^62. */
double exact_root(int64_t cost);
float exact_root_float(int64_t cost);

#endif
