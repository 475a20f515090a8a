#include "bridge.h"

#include <stdio.h>

#include "_cgo_export.h"

/* The image with its data; NULL for one that is left out, which has no type. */
static const apsis_image *with_data(apsis_image *image, void *data) {
    image->data = data;
    return image->type ? image : NULL;
}

/* The message of a failed creation is its thread's, and Go may change threads between two calls. */
apsis_status bridge_create(int device, apsis_context **context, char *message, size_t room) {
    const apsis_status status = apsis_create(APSIS_VERSION, device, context);
    if (status != APSIS_OK) snprintf(message, room, "%s", apsis_message(NULL));
    return status;
}

static int tell_progress(void *user, double done) { return goProgress((uintptr_t)user, done); }
static void tell_log(void *user, const char *line) { goLog((uintptr_t)user, (char *)line); }

apsis_status bridge_set_progress(apsis_context *context, int on, uintptr_t user) {
    return apsis_set_progress(context, on ? tell_progress : NULL, (void *)user);
}

apsis_status bridge_set_log(apsis_context *context, int on, uintptr_t user) {
    return apsis_set_log(context, on ? tell_log : NULL, (void *)user);
}

apsis_status bridge_distance(apsis_context *context, apsis_image set, void *set_data, apsis_image distance, void *distance_data,
                             apsis_image nearest, void *nearest_data, const apsis_options *options) {
    return apsis_distance(context, with_data(&set, set_data), with_data(&distance, distance_data),
                          with_data(&nearest, nearest_data), options);
}

apsis_status bridge_voronoi(apsis_context *context, apsis_image set, void *set_data, apsis_image cells, void *cells_data,
                            const apsis_options *options) {
    return apsis_voronoi(context, with_data(&set, set_data), with_data(&cells, cells_data), options);
}

apsis_status bridge_components(apsis_context *context, apsis_image set, void *set_data, apsis_image labels, void *labels_data,
                               apsis_component *components, int64_t capacity, int64_t *count, const apsis_options *options) {
    return apsis_components(context, with_data(&set, set_data), with_data(&labels, labels_data), components, capacity, count,
                            options);
}

apsis_status bridge_geodesic(apsis_context *context, apsis_image set, void *set_data, apsis_image seeds, void *seeds_data,
                             apsis_image distance, void *distance_data, apsis_image nearest, void *nearest_data,
                             const apsis_options *options) {
    return apsis_geodesic(context, with_data(&set, set_data), with_data(&seeds, seeds_data),
                          with_data(&distance, distance_data), with_data(&nearest, nearest_data), options);
}

apsis_status bridge_eccentricity(apsis_context *context, apsis_image set, void *set_data, apsis_image eccentricity,
                                 void *eccentricity_data, apsis_image farthest, void *farthest_data, apsis_extent *extents,
                                 int64_t capacity, int64_t *count, const apsis_options *options) {
    return apsis_eccentricity(context, with_data(&set, set_data), with_data(&eccentricity, eccentricity_data),
                              with_data(&farthest, farthest_data), extents, capacity, count, options);
}

apsis_status bridge_copy(apsis_context *context, apsis_image from, void *from_data, apsis_image to, void *to_data) {
    return apsis_copy(context, with_data(&from, from_data), with_data(&to, to_data));
}
