/*
 * What the cases of test_mpi share: random images that all ranks have, in the same cut, and a check that ends all ranks.
 */
#ifndef MPI_TEST_H
#define MPI_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counting.h"

extern int rank, ranks;
extern apsis_context *cpu, *ctx; /* of whole images, and of slabs */
extern apsis_memory place;       /* of the images of slabs */
extern uint64_t state;           /* of roll */

#define CHECK(is_right, ...)                                                                       \
    do {                                                                                           \
        if (is_right) break;                                                                       \
        fprintf(stderr, "%s:%d, rank %d of %d: %s: ", __FILE__, __LINE__, rank, ranks, #is_right); \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fprintf(stderr, "; %s; %s\n", apsis_mpi_message(), apsis_message(ctx));                    \
        MPI_Abort(MPI_COMM_WORLD, 1);                                                              \
    } while (0)

/** The same numbers on every rank. */
int64_t roll(int64_t below);

/** An image that all ranks have, and the rows of this one. */
typedef struct problem {
    int ndim;
    int64_t size[3], columns, height; /* height: rows, or planes */
    int64_t start, rows;              /* of this rank */
    uint8_t *mask, *seeds;
    apsis_options options;
    char text[200];
} problem;

problem open_problem(int64_t most_width, int64_t most_height);
void close_problem(problem *p);

/** Calls a check for random images. */
void with_random_images(void (*check)(problem *), int times, int64_t most_width, int64_t most_height);

void *must_alloc(int64_t bytes);

/** The whole image, in host memory. */
apsis_image whole(const problem *p, apsis_type type, void *data);

/** The rows of this rank: where the test has its images, with these pixels of the whole image if there are any. */
apsis_image open_rows(const problem *p, apsis_type type, uint8_t *pixels);

/** Whether these are the rows of this rank of the whole image; they are freed. */
void check_rows(const problem *p, apsis_image *rows, const uint8_t *want, const char *what);

/* ---- Cases of test_failures.c ---- */

void arguments(void);
void planted_failures(void);
void a_cancelled_rank(void);
void a_stopped_share(void);
void bytes_on_the_wire(void);
void bytes_of_a_path(void);
void bytes_of_fields(void);

#endif
