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

apsis_status bridge_create_devices(const int *devices, int count, apsis_context **context, char *message, size_t room) {
    const apsis_status status = apsis_create_devices(APSIS_VERSION, devices, count, context);
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

apsis_status bridge_morphology(apsis_context *context, apsis_operation operation, double radius, apsis_image set,
                               void *set_data, apsis_image result, void *result_data, const apsis_options *options) {
    return apsis_morphology(context, operation, radius, with_data(&set, set_data), with_data(&result, result_data), options);
}

apsis_status bridge_thickness(apsis_context *context, apsis_image set, void *set_data, apsis_image thickness,
                              void *thickness_data, const apsis_options *options) {
    return apsis_thickness(context, with_data(&set, set_data), with_data(&thickness, thickness_data), options);
}

apsis_status bridge_medial_axis(apsis_context *context, apsis_image set, void *set_data, apsis_image radii, void *radii_data,
                                const apsis_options *options) {
    return apsis_medial_axis(context, with_data(&set, set_data), with_data(&radii, radii_data), options);
}

apsis_status bridge_surface_distance(apsis_context *context, apsis_image first, void *first_data, apsis_image second,
                                     void *second_data, apsis_surface surface, double percentile, double tolerance,
                                     apsis_surface_distances *distances, int64_t capacity, int64_t *count,
                                     const apsis_options *options) {
    return apsis_surface_distance(context, with_data(&first, first_data), with_data(&second, second_data), surface, percentile,
                                  tolerance, distances, capacity, count, options);
}

apsis_status bridge_components(apsis_context *context, apsis_image set, void *set_data, apsis_image labels, void *labels_data,
                               apsis_component *components, int64_t capacity, int64_t *count, const apsis_options *options) {
    return apsis_components(context, with_data(&set, set_data), with_data(&labels, labels_data), components, capacity, count,
                            options);
}

apsis_status bridge_statistics(apsis_context *context, apsis_image labels, void *labels_data, apsis_component *components,
                               int64_t capacity, int64_t *count, const apsis_options *options) {
    return apsis_statistics(context, with_data(&labels, labels_data), components, capacity, count, options);
}

apsis_status bridge_measures(apsis_context *context, apsis_image labels, void *labels_data, apsis_image grey, void *grey_data,
                             uint32_t wanted, apsis_measure *measures, int64_t capacity, int64_t *count,
                             const apsis_options *options) {
    return apsis_measures(context, with_data(&labels, labels_data), with_data(&grey, grey_data), wanted, measures, capacity,
                          count, options);
}

apsis_status bridge_contacts(apsis_context *context, apsis_image labels, void *labels_data, apsis_contact *contacts,
                             int64_t capacity, int64_t *count, const apsis_options *options) {
    return apsis_contacts(context, with_data(&labels, labels_data), contacts, capacity, count, options);
}

apsis_status bridge_geodesic(apsis_context *context, apsis_image set, void *set_data, apsis_image seeds, void *seeds_data,
                             apsis_image distance, void *distance_data, apsis_image nearest, void *nearest_data,
                             const apsis_options *options) {
    return apsis_geodesic(context, with_data(&set, set_data), with_data(&seeds, seeds_data),
                          with_data(&distance, distance_data), with_data(&nearest, nearest_data), options);
}

apsis_status bridge_cost_distance(apsis_context *context, apsis_image set, void *set_data, apsis_image costs, void *costs_data,
                                  apsis_image seeds, void *seeds_data, apsis_image distance, void *distance_data,
                                  apsis_image nearest, void *nearest_data, const apsis_options *options) {
    return apsis_cost_distance(context, with_data(&set, set_data), with_data(&costs, costs_data), with_data(&seeds, seeds_data),
                               with_data(&distance, distance_data), with_data(&nearest, nearest_data), options);
}

apsis_status bridge_paths(apsis_context *context, apsis_image set, void *set_data, apsis_image costs, void *costs_data,
                          apsis_image seeds, void *seeds_data, const int64_t *starts, int64_t start_count, apsis_path *paths,
                          int64_t *pixels, int64_t capacity, int64_t *pixel_count, const apsis_options *options) {
    return apsis_paths(context, with_data(&set, set_data), with_data(&costs, costs_data), with_data(&seeds, seeds_data), starts,
                       start_count, paths, pixels, capacity, pixel_count, options);
}

apsis_status bridge_longest_paths(apsis_context *context, apsis_image set, void *set_data, apsis_path *paths,
                                  int64_t path_capacity, int64_t *path_count, int64_t *pixels, int64_t pixel_capacity,
                                  int64_t *pixel_count, const apsis_options *options) {
    return apsis_longest_paths(context, with_data(&set, set_data), paths, path_capacity, path_count, pixels, pixel_capacity,
                               pixel_count, options);
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

apsis_status bridge_slab_summary(apsis_context *context, apsis_image set, void *set_data, int64_t start, int64_t *first,
                                 int64_t *last, const apsis_options *options) {
    return apsis_slab_summary(context, with_data(&set, set_data), start, first, last, options);
}

apsis_status bridge_slab_distance(apsis_context *context, apsis_image set, void *set_data, int64_t start, int64_t extent,
                                  const int64_t *above, const int64_t *below, const int64_t *complement_above,
                                  const int64_t *complement_below, apsis_image distance, void *distance_data,
                                  apsis_image nearest, void *nearest_data, const apsis_options *options) {
    const apsis_slab slab = {start, extent, above, below, complement_above, complement_below};
    return apsis_slab_distance(context, with_data(&set, set_data), &slab, with_data(&distance, distance_data),
                               with_data(&nearest, nearest_data), options);
}

apsis_status bridge_slab_voronoi(apsis_context *context, apsis_image set, void *set_data, int64_t start, int64_t extent,
                                 const int64_t *above, const int64_t *below, apsis_image cells, void *cells_data,
                                 const apsis_options *options) {
    const apsis_slab slab = {.start = start, .extent = extent, .above = above, .below = below};
    return apsis_slab_voronoi(context, with_data(&set, set_data), &slab, with_data(&cells, cells_data), options);
}

apsis_status bridge_slab_geodesic(apsis_context *context, apsis_image set, void *set_data, apsis_image seeds, void *seeds_data,
                                  int64_t start, int64_t extent, const int64_t *above, const int64_t *below,
                                  const int64_t *above_seeds, const int64_t *below_seeds, int64_t *first, int64_t *last,
                                  int64_t *first_seeds, int64_t *last_seeds, apsis_image distance, void *distance_data,
                                  apsis_image nearest, void *nearest_data, int64_t *changed, const apsis_options *options) {
    const apsis_slab_paths slab = {start, extent, above, below, above_seeds, below_seeds, first, last, first_seeds, last_seeds};
    return apsis_slab_geodesic(context, with_data(&set, set_data), with_data(&seeds, seeds_data), &slab,
                               with_data(&distance, distance_data), with_data(&nearest, nearest_data), changed, options);
}

apsis_status bridge_slab_parts(apsis_context *context, apsis_image set, void *set_data, int64_t start, int64_t *first,
                               int64_t *last, apsis_part *parts, int64_t capacity, int64_t *rows, int64_t *count,
                               const apsis_options *options) {
    apsis_slab_labels slab = {.start = start, .first = first, .last = last, .parts = parts, .capacity = capacity};
    const apsis_status status = apsis_slab_parts(context, with_data(&set, set_data), &slab, options);
    *rows = slab.rows, *count = slab.count;
    return status;
}

/* The slabs with their arrays, which lie one behind the other: rows of faces, parts, and numbers if there are any. */
static void place(apsis_slab_labels *slabs, int64_t slab_count, int64_t columns, int64_t *faces, apsis_part *parts,
                  int64_t *numbers) {
    for (int64_t k = 0; k < slab_count; ++k) {
        slabs[k].first = faces + 2 * k * columns;
        slabs[k].last = faces + (2 * k + 1) * columns;
        slabs[k].parts = slabs[k].capacity > 0 ? parts : NULL;
        parts += slabs[k].capacity;
        if (!slabs[k].numbers) continue;
        slabs[k].numbers = numbers;
        numbers += slabs[k].count;
    }
}

apsis_status bridge_slab_statistics(apsis_context *context, apsis_image labels, void *labels_data, int64_t start,
                                    apsis_part *parts, int64_t capacity, int64_t *count, const apsis_options *options) {
    return apsis_slab_statistics(context, with_data(&labels, labels_data), start, parts, capacity, count, options);
}

apsis_status bridge_slab_contacts(apsis_context *context, apsis_image labels, void *labels_data, const int64_t *before,
                                  apsis_contact *contacts, int64_t capacity, int64_t *count, const apsis_options *options) {
    return apsis_slab_contacts(context, with_data(&labels, labels_data), before, contacts, capacity, count, options);
}

apsis_status bridge_slab_sums(apsis_context *context, apsis_image labels, void *labels_data, apsis_image grey, void *grey_data,
                              apsis_image before, void *before_data, int64_t start, uint32_t wanted, apsis_sums *sums,
                              int64_t capacity, int64_t *count, const apsis_options *options) {
    return apsis_slab_sums(context, with_data(&labels, labels_data), with_data(&grey, grey_data),
                           with_data(&before, before_data), start, wanted, sums, capacity, count, options);
}

apsis_status bridge_slab_join(apsis_context *context, int32_t ndim, const int64_t *size, apsis_slab_labels *slabs,
                              int64_t slab_count, int64_t columns, int64_t *faces, apsis_part *parts, int64_t *numbers,
                              int64_t capacity, int64_t *count, const apsis_options *options) {
    place(slabs, slab_count, columns, faces, parts, numbers);
    return apsis_slab_join(context, ndim, size, slabs, slab_count, parts, capacity, count, options);
}

apsis_status bridge_slab_renumber(apsis_context *context, int64_t columns, int64_t rows, int64_t count, int64_t before,
                                  int64_t *first, int64_t *last, int64_t *joined_numbers, apsis_slab_labels *slabs,
                                  int64_t slab_count, int64_t *faces, int64_t *numbers) {
    const apsis_slab_labels joined = {
        .rows = rows, .count = count, .before = before, .first = first, .last = last, .numbers = joined_numbers};
    place(slabs, slab_count, columns, faces, NULL, numbers);
    return apsis_slab_renumber(context, columns, &joined, slabs, slab_count);
}

apsis_status bridge_slab_components(apsis_context *context, apsis_image set, void *set_data, int64_t start, int64_t rows,
                                    int64_t count, int64_t before, int64_t *first, int64_t *last, int64_t *numbers,
                                    apsis_image labels, void *labels_data, const apsis_options *options) {
    const apsis_slab_labels slab = {
        .start = start, .rows = rows, .count = count, .before = before, .first = first, .last = last, .numbers = numbers};
    return apsis_slab_components(context, with_data(&set, set_data), &slab, with_data(&labels, labels_data), options);
}
