/* Flags of periodic axes. */
#ifndef PERIODIC_H
#define PERIODIC_H

#include <apsis.h>

#define PERIODIC ((uint32_t)(APSIS_PERIODIC_X | APSIS_PERIODIC_Y | APSIS_PERIODIC_Z))

/** The which-th set of axes, as bits. */
static inline uint32_t periodic_flags(int which) { return (uint32_t)which * APSIS_PERIODIC_X; }

#endif
