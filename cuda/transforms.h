// The functions that the folders of cuda/ offer to the back end and to each other.  Each queues its work on the stream and
// returns.  Views and scratch memory are the device's, and the device is current.
#pragma once

#include <cuda_runtime.h>

#include "core/columns.h"
#include "core/label_values.h"
#include "cuda/runtime/host_number.h"
#include "runtime/backend.h"
#include "runtime/workspace.h"

namespace apsis::cuda {

namespace columns {

// What a slab tells of itself.  Returns when it is told.
size_t summary_scratch(const SummaryJob &job);
void summary(const SummaryJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// What slabs tell, in device memory: whether sites are in range, known when this returns; and merged.
bool are_sites(const int64_t *sites, const SiteRange &range, PageLocked &page_locked, cudaStream_t stream);
void merge_sites(const MergeJob &job, cudaStream_t stream);

// Of a set that is found in the words of a summary, the job of an image of bits, in the same scratch memory, for maps that are
// not made from such words.
size_t unpacked_bytes(const DistanceJob &job);
DistanceJob unpack(const DistanceJob &job, Carver &carver, cudaStream_t stream);

// Of a slab, the sites outside of it: where they are on the device, or a copy, with room for so many numbers, that may be there
// already.
int64_t numbers_outside(const DistanceJob &job);
Slab outside_on_device(const DistanceJob &job, int64_t *to, bool is_there, cudaStream_t stream);

// The labels of the sites of a map, of a slab also those of the sites outside of it, in scratch memory that the map has used.
size_t labels_of_sites_bytes(const DistanceJob &job);
LabelValues labels_of_sites(const DistanceJob &job, void *scratch, cudaStream_t stream);

}  // namespace columns

namespace distance {

// Euclidean and city-block distance, line by line: for jobs that no other transform serves.
size_t lines_scratch(const DistanceJob &job);
void distance_by_lines(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// The same where an axis is periodic, of sets and of label images.
size_t periodic_scratch(const DistanceJob &job);
void distance_in_periodic(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// Chessboard distance.
size_t chessboard_scratch(const DistanceJob &job);
void chessboard(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

}  // namespace distance

namespace voronoi {

// Turns the complete map of Voronoi cells in job.nearest into the connected one, in place.
size_t exclaves_scratch(const VoronoiJob &job);
void hide_exclaves(const VoronoiJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

}  // namespace voronoi

namespace components {

// Connected components.  If they are counted or measured, the host reads their number through `number`, while the device
// continues.
size_t components_scratch(const ComponentsJob &job);
void find_components(const ComponentsJob &job, void *scratch, cudaStream_t stream, const Progress &progress,
                     HostNumber *number);

// Joins slabs by their faces.  Returns when it is done.
size_t join_scratch(const JoinJob &job);
std::optional<int64_t> join_slabs(const JoinJob &job, void *scratch, cudaStream_t stream);

}  // namespace components

namespace paths {

// The lengths of shortest paths from seeds.
size_t geodesic_scratch(const GeodesicJob &job);
void geodesic(const GeodesicJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// From each pixel, the longest of the shortest paths.  Returns when the work is done.
size_t eccentricity_scratch(const EccentricityJob &job);
void eccentricity(const EccentricityJob &job, void *scratch, cudaStream_t stream, const Progress &progress, HostNumber *number);

}  // namespace paths

namespace labels {

// Statistics, contacts and measures of label images.  They return when they are done.
size_t statistics_scratch(const StatisticsJob &job);
void statistics(const StatisticsJob &job, void *scratch, cudaStream_t stream, const Progress &progress, HostNumber &number);
size_t contacts_scratch(const ContactsJob &job);
void contacts(const ContactsJob &job, void *scratch, cudaStream_t stream, const Progress &progress, HostNumber &number);
size_t measures_scratch(const MeasuresJob &job);
bool measures(const MeasuresJob &job, void *scratch, cudaStream_t stream, const Progress &progress, HostNumber &number);

}  // namespace labels

namespace surfaces {

// The surface of a set in a box, and its points by their costs.  They return when they are done.  No scratch memory: keys of so
// large costs have too many bits.
size_t surface_scratch(const SurfaceJob &job);
bool mark_surface(const SurfaceJob &job, void *scratch, cudaStream_t stream, HostNumber &number);
bool count_points(const SurfaceJob &job, void *scratch, cudaStream_t stream, HostNumber &number);

}  // namespace surfaces

namespace published {

// Euclidean distance in the plane: APSIS_RASTER_SCAN, APSIS_SWEEP with its other schedules, and APSIS_JUMP_FLOOD.
size_t distance_scratch(const DistanceJob &job);
void distance(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// Components in the plane: APSIS_TILE_FILL, labels and count.
size_t tile_fill_scratch(const ComponentsJob &job);
void tile_fill(const ComponentsJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

}  // namespace published

}  // namespace apsis::cuda
