// What Go cannot say to the C library by itself.  A structure that Go hands to C may not point to Go's memory, so images
// come without their data, and the data beside them, as arguments of the call: these Go keeps in their place until it ends.
#pragma once

#include <apsis_measures.h>

apsis_status bridge_create(int device, apsis_context **context, char *message, size_t room);
apsis_status bridge_create_devices(const int *devices, int count, apsis_context **context, char *message, size_t room);

/* Without `on` there is no callback.  user is a cgo.Handle. */
apsis_status bridge_set_progress(apsis_context *context, int on, uintptr_t user);
apsis_status bridge_set_log(apsis_context *context, int on, uintptr_t user);

apsis_status bridge_distance(apsis_context *context, apsis_image set, void *set_data, apsis_image distance, void *distance_data,
                             apsis_image nearest, void *nearest_data, const apsis_options *options);
apsis_status bridge_voronoi(apsis_context *context, apsis_image set, void *set_data, apsis_image cells, void *cells_data,
                            const apsis_options *options);
apsis_status bridge_morphology(apsis_context *context, apsis_operation operation, double radius, apsis_image set,
                               void *set_data, apsis_image result, void *result_data, const apsis_options *options);
apsis_status bridge_thickness(apsis_context *context, apsis_image set, void *set_data, apsis_image thickness,
                              void *thickness_data, const apsis_options *options);
apsis_status bridge_medial_axis(apsis_context *context, apsis_image set, void *set_data, apsis_image radii, void *radii_data,
                                const apsis_options *options);
apsis_status bridge_surface_distance(apsis_context *context, apsis_image first, void *first_data, apsis_image second,
                                     void *second_data, apsis_surface surface, double percentile, double tolerance,
                                     apsis_surface_distances *distances, int64_t capacity, int64_t *count,
                                     const apsis_options *options);
apsis_status bridge_components(apsis_context *context, apsis_image set, void *set_data, apsis_image labels, void *labels_data,
                               apsis_component *components, int64_t capacity, int64_t *count, const apsis_options *options);
apsis_status bridge_statistics(apsis_context *context, apsis_image labels, void *labels_data, apsis_component *components,
                               int64_t capacity, int64_t *count, const apsis_options *options);
apsis_status bridge_measures(apsis_context *context, apsis_image labels, void *labels_data, apsis_image grey, void *grey_data,
                             uint32_t wanted, apsis_measure *measures, int64_t capacity, int64_t *count,
                             const apsis_options *options);
apsis_status bridge_contacts(apsis_context *context, apsis_image labels, void *labels_data, apsis_contact *contacts,
                             int64_t capacity, int64_t *count, const apsis_options *options);
apsis_status bridge_geodesic(apsis_context *context, apsis_image set, void *set_data, apsis_image seeds, void *seeds_data,
                             apsis_image distance, void *distance_data, apsis_image nearest, void *nearest_data,
                             const apsis_options *options);
apsis_status bridge_cost_distance(apsis_context *context, apsis_image set, void *set_data, apsis_image costs, void *costs_data,
                                  apsis_image seeds, void *seeds_data, apsis_image distance, void *distance_data,
                                  apsis_image nearest, void *nearest_data, const apsis_options *options);
apsis_status bridge_paths(apsis_context *context, apsis_image set, void *set_data, apsis_image costs, void *costs_data,
                          apsis_image seeds, void *seeds_data, const int64_t *starts, int64_t start_count, apsis_path *paths,
                          int64_t *pixels, int64_t capacity, int64_t *pixel_count, const apsis_options *options);
apsis_status bridge_longest_paths(apsis_context *context, apsis_image set, void *set_data, apsis_path *paths,
                                  int64_t path_capacity, int64_t *path_count, int64_t *pixels, int64_t pixel_capacity,
                                  int64_t *pixel_count, const apsis_options *options);
apsis_status bridge_eccentricity(apsis_context *context, apsis_image set, void *set_data, apsis_image eccentricity,
                                 void *eccentricity_data, apsis_image farthest, void *farthest_data, apsis_extent *extents,
                                 int64_t capacity, int64_t *count, const apsis_options *options);
apsis_status bridge_copy(apsis_context *context, apsis_image from, void *from_data, apsis_image to, void *to_data);

/* Slabs come without their arrays, too: these lie one behind the other in the order of the slabs, the first and the last row of
   each, its parts (capacity), and its numbers (count).  The slabs are in memory of C. */
apsis_status bridge_slab_summary(apsis_context *context, apsis_image set, void *set_data, int64_t start, int64_t *first,
                                 int64_t *last, const apsis_options *options);
apsis_status bridge_slab_distance(apsis_context *context, apsis_image set, void *set_data, int64_t start, int64_t extent,
                                  const int64_t *above, const int64_t *below, const int64_t *complement_above,
                                  const int64_t *complement_below, apsis_image distance, void *distance_data,
                                  apsis_image nearest, void *nearest_data, const apsis_options *options);
apsis_status bridge_slab_voronoi(apsis_context *context, apsis_image set, void *set_data, int64_t start, int64_t extent,
                                 const int64_t *above, const int64_t *below, apsis_image cells, void *cells_data,
                                 const apsis_options *options);
apsis_status bridge_slab_geodesic(apsis_context *context, apsis_image set, void *set_data, apsis_image seeds, void *seeds_data,
                                  int64_t start, int64_t extent, const int64_t *above, const int64_t *below,
                                  const int64_t *above_seeds, const int64_t *below_seeds, int64_t *first, int64_t *last,
                                  int64_t *first_seeds, int64_t *last_seeds, apsis_image distance, void *distance_data,
                                  apsis_image nearest, void *nearest_data, int64_t *changed, const apsis_options *options);
apsis_status bridge_slab_parts(apsis_context *context, apsis_image set, void *set_data, int64_t start, int64_t *first,
                               int64_t *last, apsis_part *parts, int64_t capacity, int64_t *rows, int64_t *count,
                               const apsis_options *options);
apsis_status bridge_slab_statistics(apsis_context *context, apsis_image labels, void *labels_data, int64_t start,
                                    apsis_part *parts, int64_t capacity, int64_t *count, const apsis_options *options);
apsis_status bridge_slab_contacts(apsis_context *context, apsis_image labels, void *labels_data, const int64_t *before,
                                  apsis_contact *contacts, int64_t capacity, int64_t *count, const apsis_options *options);
apsis_status bridge_slab_sums(apsis_context *context, apsis_image labels, void *labels_data, apsis_image grey, void *grey_data,
                              apsis_image before, void *before_data, int64_t start, uint32_t wanted, apsis_sums *sums,
                              int64_t capacity, int64_t *count, const apsis_options *options);
apsis_status bridge_slab_join(apsis_context *context, int32_t ndim, const int64_t *size, apsis_slab_labels *slabs,
                              int64_t slab_count, int64_t columns, int64_t *faces, apsis_part *parts, int64_t *numbers,
                              int64_t capacity, int64_t *count, const apsis_options *options);
apsis_status bridge_slab_renumber(apsis_context *context, int64_t columns, int64_t rows, int64_t count, int64_t before,
                                  int64_t *first, int64_t *last, int64_t *joined_numbers, apsis_slab_labels *slabs,
                                  int64_t slab_count, int64_t *faces, int64_t *numbers);
apsis_status bridge_slab_components(apsis_context *context, apsis_image set, void *set_data, int64_t start, int64_t rows,
                                    int64_t count, int64_t before, int64_t *first, int64_t *last, int64_t *numbers,
                                    apsis_image labels, void *labels_data, const apsis_options *options);
