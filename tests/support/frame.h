/*
 * A frame: an image in a buffer of its own, with canaries around it and between its pixels, in host memory or on the
 * bench's device, in any layout that an apsis_image can describe.
 */
#ifndef FRAME_H
#define FRAME_H

#include "apsis_test.h"

/* Layouts, to be combined.  PACKED leaves the strides 0.  APSIS_BIT knows no STEPPED, no FLIP_X, and swaps y and z only. */
enum { PACKED = 0, PADDED = 1, STEPPED = 2, FLIP_X = 4, FLIP_Y = 8, FLIP_Z = 16, SWAPPED = 32, LAYOUTS = 64 };

/* Of images that are packed but for the ends of rows: each begins at a multiple of 64 bytes, as of a pitched allocation. */
enum { PITCHED = LAYOUTS };

enum { POISON = 0xa5 };

typedef struct frame {
    apsis_image image; /* what apsis is given */
    bench *bench;
    uint8_t *bytes;     /* the buffer, or the host's copy of it */
    uint8_t *sent;      /* what frame_put left there */
    int64_t count;      /* its bytes */
    apsis_image device; /* the buffer on the device */
    int64_t origin;     /* where in the buffer pixel (0, 0, 0) is ... */
    int64_t stride[3];  /* ... and the true strides */
} frame;

/** All bytes are poison. */
frame frame_open(bench *b, apsis_type type, int ndim, const int64_t size[3], unsigned layout);
void frame_close(frame *f);

/** Writes packed pixels of the frame's type; of a set, one byte a pixel, and any non-zero one is drawn. */
void frame_put(frame *f, const void *pixels);

/** Reads them, and fails if a byte that is no pixel has changed. */
void frame_get(frame *f, void *pixels);

/** Fails if any byte has changed since frame_put. */
void frame_assert_unchanged(frame *f);

/** The bytes of a pixel; 1 for APSIS_BIT. */
size_t type_size(apsis_type type);

#endif
