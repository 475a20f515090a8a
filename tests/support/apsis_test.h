/*
 * What every test needs: CMocka, assertions that show apsis's own message, places to run in, masks, chance.
 *
 *     static void test_it(bench *b) { assert_ok(b->ctx, apsis_sync(b->ctx)); }
 *     static const test_case cases[] = {TEST(test_it, EVERYWHERE)};
 *     int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
 *
 * A test program takes "cpu" or "device", or nothing for both, and then which cases, such as "random_*"; with "device" and
 * no device it says so and returns 77.  What became of each case it adds to the file $APSIS_OUTCOMES (outcomes.py).
 */
#ifndef APSIS_TEST_H
#define APSIS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <apsis.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- Places: one list of cases, run in all of them ---- */

enum {
    ON_CPU = 1,              /* a CPU context */
    ON_DEVICE_HOST = 2,      /* a device context, images in host memory */
    ON_DEVICE = 4,           /* a device context, images in device memory */
    ON_TWO_GPUS = ON_DEVICE, /* for outcomes.py: a case that a machine with one skips */
    WITH_HOST_IMAGES = ON_CPU | ON_DEVICE_HOST,
    WITH_DEVICE = ON_DEVICE_HOST | ON_DEVICE,
    EVERYWHERE = 7
};

typedef struct bench {
    int place;           /* ON_CPU, ON_DEVICE_HOST or ON_DEVICE */
    int device;          /* APSIS_CPU or a device number */
    apsis_memory memory; /* where the images of the test are */
    apsis_context *ctx;  /* made before the test, destroyed after it */
    bool skipped;        /* set by a case that cannot run here, or not wholly */
} bench;

/** Ends a case that cannot run here, aloud. */
#define skip_case(b) ((b)->skipped = true, skip())

typedef struct test_case {
    const char *name;
    void (*run)(bench *b);
    int places;
} test_case;

#define TEST(function, places) {#function, function, places}
#define RUN_CASES(cases, argc, argv) run_cases(__FILE__, cases, COUNT(cases), argc, argv)
int run_cases(const char *source, const test_case *cases, int count, int argc, char **argv);

/** How many of `full` random cases to run: all, or one in APSIS_TEST_SHARE where they are slow. */
int effort(int full);

/** All 65536 images of 4x4 pixels as one batch; where cases are slow, with an APSIS_TEST_SHARE, one in 7, and where they are
 *  very slow, with one above 16, one in 241.  Their number in *count; to be freed. */
uint8_t *every_4x4(int *count);

/** The same of 3 x 4 pixels; and of 3 x 3 whose values are 0, 1 and 2. */
uint8_t *every_3x4(int *count);
uint8_t *every_3x3_of_three(int *count);

/** The image of values 0, 1 and 2 whose digits make a number. */
void draw_digits(uint8_t *mask, int pixels, int digits);

/* ---- Assertions ---- */

#define assert_ok(ctx, call) check_ok(ctx, call, #call, __FILE__, __LINE__)
#define assert_fails(ctx, call, status, text) check_fails(ctx, call, status, text, #call, __FILE__, __LINE__)
void check_ok(const apsis_context *ctx, apsis_status got, const char *call, const char *file, int line);
/** `text` is a list of words separated by '|', each of which the message must contain. */
void check_fails(const apsis_context *ctx, apsis_status got, apsis_status status, const char *text, const char *call,
                 const char *file, int line);

/* ---- Chance: the same on every machine ---- */

typedef struct {
    uint64_t state;
} chance;
uint64_t roll(chance *c);
int64_t roll_below(chance *c, int64_t bound);
double roll_real(chance *c);

/** For apsis_set_progress, with a chance: the thread that reports stands aside now and then, so that others overtake it. */
int disturb(void *dice, double done);

/** The same with an int that counts: stops the call. */
int stop_at_once(void *calls, double done);

/* ---- Masks: one byte a pixel, packed; 1 is in the set ---- */

enum { EMPTY, FULL, SINGLE, NOISE, BLOBS, DISC, RING, DIAGONAL, CORNERS, CHECKERS, LEFT_STRIP, MASK_KINDS };
extern const char *const mask_name[MASK_KINDS];
void fill_mask(uint8_t *mask, const int64_t size[3], int kind, double density, chance *c);

/** A mask of ASCII art, rows from the top, '#' in the set: draw(mask, "#..", ".#.", NULL). */
void draw(uint8_t *mask, ...);

void *must_alloc(size_t bytes);

#endif
