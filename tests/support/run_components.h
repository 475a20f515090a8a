/*
 * One problem through apsis_components, in a bench's place, and its answer compared with the flood fill's.
 */
#ifndef RUN_COMPONENTS_H
#define RUN_COMPONENTS_H

#include "flood.h"
#include "frame.h"

/** How the images are given, and what is asked for; a type of 0 leaves the labels out. */
typedef struct asked {
    apsis_type set, labels;
    unsigned set_layout, labels_layout;
    int64_t capacity; /* of the components; -1 leaves them out */
    bool no_count;
} asked;

extern const asked LABELS; /* packed APSIS_U8, APSIS_I32, without components */

typedef struct pieces {
    void *labels; /* packed, of the type asked for; NULL if left out */
    apsis_component *component;
    int64_t count; /* -1 if left out */
} pieces;

/** The value of a pixel of this type where the mask has a byte: different for each byte, 0 for 0, and itself if the type is
 *  APSIS_U8.  Some are negative, and some differ in their highest bits alone. */
int64_t value_of_byte(apsis_type type, uint8_t byte);

/** Puts the pixels of a problem into a set of any type. */
void put_set(frame *set, const problem *p);

/** Sets options that leave components out, a bit of i each; none for 0. */
void leave_out(problem *p, int i);

/** Fails if the call fails, or changes the set, a byte that is no pixel, or a component beyond the capacity. */
pieces run_components(bench *b, const problem *p, const asked *how);
void free_pieces(pieces *out);

/** Runs, fills, compares everything that was asked for. */
void check_components(bench *b, const problem *p, const asked *how);

#endif
