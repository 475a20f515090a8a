/* Contexts over several devices, and such with little memory. */
#ifndef DEVICES_H
#define DEVICES_H

#include "apsis_test.h"

/** A context on the device of another, so many times. */
bench open_devices(const bench *b, int count);

/** Grants no more than so many bytes at once, to one context on a device, from the memory of another. */
typedef struct budget {
    apsis_context *pool;
    size_t most;
    int refused;
} budget;

bench open_little(const bench *b, budget *of);

#endif
