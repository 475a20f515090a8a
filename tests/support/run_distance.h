/*
 * One problem through apsis_distance, in a bench's place, and its answer compared with the oracle's.
 */
#ifndef RUN_DISTANCE_H
#define RUN_DISTANCE_H

#include "frame.h"
#include "oracle.h"

/** How the images are given; a type of 0 leaves an output out. */
typedef struct given {
    apsis_type set, distance, nearest;
    unsigned set_layout, distance_layout, nearest_layout;
} given;

extern const given PLAIN;          /* packed APSIS_U8, APSIS_F32, APSIS_I32 */
extern const given DISTANCE_ALONE; /* the distance alone */

/** Writes a mask into a frame of its type: what does not fit a byte in its highest byte, so that values are negative too. */
void put_sites(frame *f, const problem *p);

/** The numbers that slabs tell each way: three of each column with APSIS_LABELS. */
int64_t told_of(const problem *p);

/** Where arrays of a slab are: in the bench's place or, of every other slab, on the host. */
bench place_of_columns(const bench *b, const problem *p, int64_t start);
frame open_columns(bench *place, const problem *p);

/** Runs the problem, and returns packed outputs in memory to be freed; NULL for one that is left out.  Fails if the
 *  call fails, or changes the set or a byte that is no pixel of an output. */
typedef struct outputs {
    void *distance, *nearest;
} outputs;
outputs run_distance(bench *b, const problem *p, const given *how);

/** The same of a slab, by apsis_slab_distance: the problem is that of its rows.  The arrays of sites outside of it go to
 *  place_of_columns(); those of the host are poisoned as soon as the call returns.  If it `is_found`, by apsis_slab_summary,
 *  the set is not given again; label images always are. */
outputs run_slab(bench *b, const problem *p, const given *how, const apsis_slab *slab, bool is_found);

void free_outputs(outputs *out);

/** Fails, with the first pixel that differs, unless the outputs are the answer. */
void compare_outputs(const problem *p, const given *how, const outputs *out, const answer *want);

/** All of it: run, solve, compare. */
void check_distance(bench *b, const problem *p, const given *how);

/** The same with a mask of some kind, which the problem's options do not depend on. */
void check_filled(bench *b, problem *p, int kind, double density, chance *c, const given *how);

#endif
