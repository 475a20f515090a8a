/*
 * A library with a deliberate fault, which the soak must report: loaded before apsis (LD_PRELOAD), it makes one pixel wrong, by
 * its lowest bit, of distance maps that a device has written to the host.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <apsis.h>

#include <dlfcn.h>
#include <string.h>

typedef apsis_status (*distance_fn)(apsis_context *, const apsis_image *, const apsis_image *, const apsis_image *,
                                    const apsis_options *);

APSIS_API apsis_status apsis_distance(apsis_context *ctx, const apsis_image *set, const apsis_image *distance,
                                      const apsis_image *nearest, const apsis_options *options) {
    distance_fn right;
    *(void **)&right = dlsym(RTLD_NEXT, "apsis_distance");
    const apsis_status st = right(ctx, set, distance, nearest, options);
    if (st == APSIS_OK && distance && distance->data && distance->memory == APSIS_HOST &&
        strncmp(apsis_device_name(ctx), "CPU", 3) != 0 && apsis_sync(ctx) == APSIS_OK)
        *(unsigned char *)distance->data ^= 1;
    return st;
}
