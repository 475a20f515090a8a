// What the checks of distance and Voronoi maps share, of whole images and of slabs.
#pragma once

#include "api/jobs.h"

namespace apsis {

void check_distance_images(const apsis_context &context, const apsis_image *set, const apsis_image *distance,
                           const apsis_image *nearest, bool need_data, DistanceJob &job);

/// Throws if the options are of cells, for a map of distances.
void check_cells(const apsis_options &options);

/// Throws where APSIS_LABELS or APSIS_BORDER does not go with the other options of a distance map.
void check_background(const apsis_options &options);

/// Throws where a map of an image with periodic axes is not made.
void check_periodic(const apsis_options &options);

/// Fills in a distance job from the options.  The job may be a slab of the image.
void fill_in(const apsis_options &options, DistanceJob &job);

/// Makes a distance job one of the labels of its set.  With two values it is that of the complement.
void take_labels(DistanceJob &job);

/// Gives the cells of a job, the caller's image of that name, the labels of its set.  Throws unless they can have them.
void take_cell_labels(const char *name, const apsis_image *cells, const apsis_options &options, DistanceJob &job);

}  // namespace apsis
