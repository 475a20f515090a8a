/*
 * Host memory that runs out where a test wants it to, and threads that cannot be started.  A program that is linked with
 * fail_alloc.c, as a shared library ahead of the others, has its malloc, and with it operator new and that of every library it
 * loads.
 */
#ifndef FAIL_ALLOC_H
#define FAIL_ALLOC_H

#include <stddef.h>

/** From now on allocations are counted, of all threads, and the n-th fails; those after it too, if it is for good. */
void fail_alloc(long n, int for_good);

/** From now on allocations of more bytes than these fail. */
void fail_alloc_above(size_t bytes);

/** Allocations succeed again.  How many there were since fail_alloc. */
long fail_alloc_end(void);

/** Bytes that are allocated and not yet freed, of all threads. */
long fail_alloc_live(void);

/** From now on no more than so many threads can be alive beside those that are; negative: any number. */
void fail_threads(int most);

#endif
