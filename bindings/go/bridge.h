// What Go cannot say to the C library by itself.  A structure that Go hands to C may not point to Go's memory, so images
// come without their data, and the data beside them, as arguments of the call: these Go keeps in their place until it ends.
#pragma once

#include <apsis.h>

apsis_status bridge_create(int device, apsis_context **context, char *message, size_t room);

/* Without `on` there is no callback.  user is a cgo.Handle. */
apsis_status bridge_set_progress(apsis_context *context, int on, uintptr_t user);
apsis_status bridge_set_log(apsis_context *context, int on, uintptr_t user);

apsis_status bridge_distance(apsis_context *context, apsis_image set, void *set_data, apsis_image distance, void *distance_data,
                             apsis_image nearest, void *nearest_data, const apsis_options *options);
apsis_status bridge_voronoi(apsis_context *context, apsis_image set, void *set_data, apsis_image cells, void *cells_data,
                            const apsis_options *options);
apsis_status bridge_components(apsis_context *context, apsis_image set, void *set_data, apsis_image labels, void *labels_data,
                               apsis_component *components, int64_t capacity, int64_t *count, const apsis_options *options);
apsis_status bridge_geodesic(apsis_context *context, apsis_image set, void *set_data, apsis_image seeds, void *seeds_data,
                             apsis_image distance, void *distance_data, apsis_image nearest, void *nearest_data,
                             const apsis_options *options);
apsis_status bridge_eccentricity(apsis_context *context, apsis_image set, void *set_data, apsis_image eccentricity,
                                 void *eccentricity_data, apsis_image farthest, void *farthest_data, apsis_extent *extents,
                                 int64_t capacity, int64_t *count, const apsis_options *options);
apsis_status bridge_copy(apsis_context *context, apsis_image from, void *from_data, apsis_image to, void *to_data);
