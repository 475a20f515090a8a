// The calls of apsis.h as jobs: checks them, computes the memory that they need, and runs them.
#pragma once

#include <apsis_measures.h>

#include <initializer_list>

#include "api/image.h"
#include "runtime/context.h"
#include "slabs/join.h"
#include "slabs/paths.h"
#include "slabs/runs.h"

namespace apsis {

/// Throws if the context cannot reach the image: a CPU context cannot reach device memory.  NULL is an image that is left out.
void check_reach(const apsis_context &context, const char *name, const apsis_image *image);

// Check the images and options of a call.  `need_data` is false for apsis_workspace_size, which does not serve slabs.

DistanceJob check_distance(const apsis_context &context, const apsis_image *set, const apsis_image *distance,
                           const apsis_image *nearest, const apsis_options *given, bool need_data);
VoronoiJob check_voronoi(const apsis_context &context, const apsis_image *set, const apsis_image *cells,
                         const apsis_options *given, bool need_data);
/// Fills in the job of a map of a whole image from the options.
void fill_in(const apsis_image *set, const apsis_options &options, DistanceJob &job);
MorphologyJob check_morphology(const apsis_context &context, const apsis_operation &operation, double radius,
                               const apsis_image *set, const apsis_image *result, const apsis_options *given, bool need_data);
ComponentsJob check_components(const apsis_context &context, const apsis_image *set, const apsis_image *labels,
                               const apsis_options *given, bool need_data);
ComponentsJob check_slab_parts(const apsis_context &context, const apsis_image *set, const apsis_slab_labels *slab,
                               const apsis_options *given);
JoinJob check_slab_join(int32_t ndim, const int64_t *size, apsis_slab_labels *slabs, int64_t slab_count, apsis_part *parts,
                        int64_t capacity, const apsis_options *given);
/// Throws unless what the arrays of slabs hold can be theirs.  Faces are in host memory.
void check_slab_arrays(const JoinJob &job, Arena &arena);
void check_slab_renumber(int64_t columns, const apsis_slab_labels *joined, const apsis_slab_labels *slabs, int64_t slab_count);
void check_told_arrays(int64_t columns, const apsis_slab_labels &joined, const apsis_slab_labels *slabs, int64_t slab_count);
ComponentsJob check_slab_components(const apsis_context &context, const apsis_image *set, const apsis_slab_labels *slab,
                                    const apsis_image *labels, const apsis_options *given);
GeodesicJob check_geodesic(const apsis_context &context, const apsis_image *set, const apsis_image *seeds,
                           const apsis_image *distance, const apsis_image *nearest, const apsis_options *given, bool need_data);
GeodesicJob check_slab_geodesic(const apsis_context &context, const apsis_image *set, const apsis_image *seeds,
                                const apsis_slab_paths *slab, const apsis_image *distance, const apsis_image *nearest,
                                const apsis_options *given);
EccentricityJob check_eccentricity(const apsis_context &context, const apsis_image *set, const apsis_image *eccentricity,
                                   const apsis_image *farthest, const apsis_options *given, bool need_data);
StatisticsJob check_statistics(const apsis_context &context, const apsis_image *labels, const apsis_options *given,
                               bool need_data);
ContactsJob check_contacts(const apsis_context &context, const apsis_image *labels, const apsis_options *given, bool need_data);

/// Throws unless all values of an image fit a table with room for so many, in the order of APSIS_DENSE.  Tells of the first
/// pixel that does not.
void check_fit(const char *name, const std::vector<apsis_part> &parts, const int64_t *size, bool is_table, int64_t capacity);

// Write what was found to the caller's memory; NULL is not wanted.
void tell(const StatisticsJob &job, apsis_component *components, int64_t capacity, int64_t *count);
void tell(const ContactsJob &job, apsis_contact *contacts, int64_t capacity, int64_t *count);

/// The number of axes of one image: 2 for slices, otherwise ndim.
int axes_of(const apsis_image *set, const apsis_options &options);
/// Throws unless the method of the options is among the `methods` of a function.
void check_taken(const char *function, std::initializer_list<apsis_method> methods, const apsis_options &options);

/// Throws unless a slab of so many rows lies in the image.
void check_place(int64_t start, int64_t extent, int64_t rows);
/// Throws if the type of an output does not hold all indices of so many pixels.
void check_indices_fit(const char *name, const apsis_image *image, __int128 pixels);

/// The faces of a slab as views; those of a slab without rows are left out.
void take_faces(const apsis_context &context, const ComponentsJob &job, const apsis_slab_labels &slab, View &first, View &last);
/// Fills in what a slab has been told.
void take_numbers(const apsis_context &context, const apsis_slab_labels &slab, ComponentsJob &job);

/// A face of a slab as a view, in host memory or in that of a device; without data if it is not wanted, or has no columns.
View face_view(const apsis_context &context, const int64_t *face, int64_t width, int64_t height);

/// Fills in the neighbours and the selection of a components job.
void fill_in(const apsis_options &options, ComponentsJob &job);

/// Throws unless the type of labels, and the other outputs, can hold all components.
void check_labels(const ComponentsJob &job);
/// Throws unless the caller's array of components is valid.
void check_array(const ComponentsJob &job);
void check_array(const EccentricityJob &job);
void check_capacity(const char *name, const void *array, int64_t capacity);
/// Throws unless sums of coordinates in an image of this size stay below 2^63.
void check_sums(const char *name, const int64_t size[3]);

// The bytes of workspace that a job needs.

size_t workspace_of(const apsis_context &context, const DistanceJob &job);
size_t workspace_of(const apsis_context &context, const VoronoiJob &job);
size_t workspace_of(const apsis_context &context, const MorphologyJob &job);
/// That of any operation which the options allow.
size_t morphology_workspace(const apsis_context &context, const apsis_image *set, const apsis_image *result,
                            const apsis_options *given);
size_t workspace_of(const apsis_context &context, const ComponentsJob &job);
size_t workspace_of(const apsis_context &context, const GeodesicJob &job);
size_t workspace_of(const apsis_context &context, const EccentricityJob &job);
size_t workspace_of(const apsis_context &context, const StatisticsJob &job);
size_t workspace_of(const apsis_context &context, const ContactsJob &job);

// Run a job whose image has pixels.  A summary, and the parts of a slab, need only columns: what they have found stays in the
// workspace for the next job, if that is the context's own.

/// On the context's own device alone, whole.
void run_here(apsis_context &context, const DistanceJob &job);
void run_here(apsis_context &context, const ComponentsJob &job);
void run_here(apsis_context &context, const StatisticsJob &job);
void run_here(apsis_context &context, const ContactsJob &job);
void run(apsis_context &context, const DistanceJob &job);
void run(apsis_context &context, const SummaryJob &job);
void run_parts(apsis_context &context, const ComponentsJob &job);
void run(apsis_context &context, const VoronoiJob &job);
void run(apsis_context &context, const MorphologyJob &job);
void run(apsis_context &context, const ComponentsJob &job);
void run(apsis_context &context, const GeodesicJob &job);
void run(apsis_context &context, const EccentricityJob &job);
void run(apsis_context &context, const StatisticsJob &job);
void run(apsis_context &context, const ContactsJob &job);

// Faces of slabs may be in the memory of a device.

/// Writes 0 to a face; NULL is not wanted.
void clear_face(apsis_context &context, int64_t *face, int64_t columns);
/// Joins slabs, and returns the number of components; what arrays hold is checked.
int64_t run(apsis_context &context, const JoinJob &job);
/// apsis_slab_renumber.
void renumber(apsis_context &context, int64_t columns, const apsis_slab_labels *joined, apsis_slab_labels *slabs,
              int64_t slab_count);

}  // namespace apsis
