/* What the apsis command should answer, by brute force over the same pixels. */
#ifndef TOOL_QUESTION_H
#define TOOL_QUESTION_H

#include "tool_tiff.h"

enum { EUCLIDEAN, CITY_BLOCK, CHESSBOARD };

/* What was asked of a set; 0 is a plain question. */
typedef struct Question {
    int width, height, pages;
    bool volume, is_signed, squared;
    int metric;
    double spacing[3], most;
    double none; /* what stands for no distance; 0: infinity */
    double tolerance;
} Question;

extern const Question kPage, kPages;

/** The pixels that distances are to. */
extern uint8_t set[MOST];

/** The set of the samples that are at least `least`; of the others with `complement`. */
void make_set(int64_t least, bool complement);

/** Compares files of distances and of nearest pixels with brute force over `set`; either may be NULL. */
void check(const char *name, const Question *q, const char *distance, const char *nearest);

/** Numbers the connected pieces of `samples` that have one value other than 0; returns how many there are. */
int number_all(int width, int height, int pages, bool volume, int axes, int *label);

#endif
