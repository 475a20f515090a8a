// What the rooms of cuda/ offer to the back end, and to each other.  Each call queues its work on the stream and returns; the views
// and the scratch memory are the device's, and the device is current.
#pragma once

#include <cuda_runtime.h>

#include "core/columns.h"
#include "cuda/runtime/host_number.h"
#include "runtime/backend.h"

namespace apsis::cuda {

namespace distance {

// Euclidean and city-block distance, line by line: whatever the others do not serve.
size_t lines_scratch(const DistanceJob &job);
void distance_by_lines(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// Chessboard distance.
size_t chessboard_scratch(const DistanceJob &job);
void chessboard(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

}  // namespace distance

namespace voronoi {

// From the complete map of Voronoi cells, in job.nearest, to the connected one, in place.
size_t exclaves_scratch(const VoronoiJob &job);
void hide_exclaves(const VoronoiJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

}  // namespace voronoi

namespace components {

// Connected components; how many there are comes by way of `number`, if there is one, while the device goes on.
size_t components_scratch(const ComponentsJob &job);
void find_components(const ComponentsJob &job, void *scratch, cudaStream_t stream, const Progress &progress,
                     HostNumber *number = nullptr);

}  // namespace components

namespace paths {

// Lengths of paths.
size_t geodesic_scratch(const GeodesicJob &job);
void geodesic(const GeodesicJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// The longest of the shortest paths.  Returns when it is done.
size_t eccentricity_scratch(const EccentricityJob &job);
void eccentricity(const EccentricityJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

}  // namespace paths

namespace published {

// Euclidean distance in the plane: APSIS_RASTER_SCAN, APSIS_SWEEP with its other schedules, and APSIS_JUMP_FLOOD.
size_t raster_scan_scratch(const DistanceJob &job);
void raster_scan(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);
size_t sweep_scratch(const DistanceJob &job);
void sweep(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);
size_t jump_flood_scratch(const DistanceJob &job);
void jump_flood(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// Components in the plane: APSIS_TILE_FILL, labels and count.
size_t tile_fill_scratch(const ComponentsJob &job);
void tile_fill(const ComponentsJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

}  // namespace published

}  // namespace apsis::cuda
