/* What a caller of the emulated device does to it, for tests: streams that are captured, contexts of a thread, and
 * functions that fail. */
#ifndef CALLER_H
#define CALLER_H

#include <apsis.h>

#ifdef __cplusplus
extern "C" {
#endif

/** From now on this stream is captured, alone; NULL: none is. */
APSIS_API void apsis_emulated_capture(struct CUstream_st *stream);

/** How often since then something was done that CUDA does not allow while a stream is captured. */
APSIS_API int apsis_emulated_violations(void);

/** Makes a context current, as the driver's interface does, and returns what was so before. */
APSIS_API void *apsis_emulated_context(void *context);

/** From now on CUDA's functions are counted, and the n-th fails; those after it too, if it is for good.  0: none does. */
APSIS_API void apsis_emulated_fail(long n, int for_good);

/** How many were called since then. */
APSIS_API long apsis_emulated_calls(void);

/** How many pieces of memory the device and page-locked memory hold. */
APSIS_API long apsis_emulated_live(void);

#ifdef __cplusplus
}
#endif

#endif
