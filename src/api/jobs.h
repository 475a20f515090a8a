// The calls of apsis.h as jobs: checked, measured for the memory that they need, and run.
#pragma once

#include "api/image.h"
#include "runtime/context.h"

namespace apsis {

/// A CPU context cannot reach device memory.  NULL is an image that is left out.
void check_reach(const apsis_context &context, const char *name, const apsis_image *image);

// The images and options of a call, checked.  `need_data` is false for apsis_workspace_size, which slabs have none of.

DistanceJob check_distance(const apsis_context &context, const apsis_image *set, const apsis_image *distance,
                           const apsis_image *nearest, const apsis_options *given, bool need_data);
SummaryJob check_slab_summary(const apsis_context &context, const apsis_image *set, int64_t start, const apsis_options *given);
DistanceJob check_slab_distance(const apsis_context &context, const apsis_image *set, const apsis_slab *slab,
                                const apsis_image *distance, const apsis_image *nearest, const apsis_options *given);
VoronoiJob check_voronoi(const apsis_context &context, const apsis_image *set, const apsis_image *cells,
                         const apsis_options *given, bool need_data);
ComponentsJob check_components(const apsis_context &context, const apsis_image *set, const apsis_image *labels,
                               const apsis_options *given, bool need_data);
GeodesicJob check_geodesic(const apsis_context &context, const apsis_image *set, const apsis_image *seeds,
                           const apsis_image *distance, const apsis_image *nearest, const apsis_options *given, bool need_data);
EccentricityJob check_eccentricity(const apsis_context &context, const apsis_image *set, const apsis_image *eccentricity,
                                   const apsis_image *farthest, const apsis_options *given, bool need_data);

/// Whether labels, and what else is asked for, can tell of all components.
void check_labels(const ComponentsJob &job);
/// The array that is filled with what is known of components.
void check_array(const ComponentsJob &job);
void check_array(const EccentricityJob &job);

// The bytes of a workspace in which a job runs.

size_t workspace_of(const apsis_context &context, const DistanceJob &job);
size_t workspace_of(const apsis_context &context, const VoronoiJob &job);
size_t workspace_of(const apsis_context &context, const ComponentsJob &job);
size_t workspace_of(const apsis_context &context, const GeodesicJob &job);
size_t workspace_of(const apsis_context &context, const EccentricityJob &job);

// Runs a job of an image that has pixels; a summary also without, if there are columns.

void run(apsis_context &context, const DistanceJob &job);
void run(apsis_context &context, const SummaryJob &job);
void run(apsis_context &context, const VoronoiJob &job);
void run(apsis_context &context, const ComponentsJob &job);
void run(apsis_context &context, const GeodesicJob &job);
void run(apsis_context &context, const EccentricityJob &job);

}  // namespace apsis
