/* What a caller of the emulated device does to it, for tests: streams that are captured, and contexts of a thread. */
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

#ifdef __cplusplus
}
#endif

#endif
