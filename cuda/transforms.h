// What the CUDA files offer to the back end.  Each call queues its work on the stream and returns; the views
// and the scratch memory are the device's, and the device is current.
#pragma once

#include <cuda_runtime.h>

#include "backend.h"
#include "core/columns.h"
#include "host_number.h"

namespace apsis {

/// CUDA's error if this build has no code for the current device.
cudaError_t probe_code() noexcept;

void copy_views(const View &from, const View &to, cudaStream_t stream);

// Euclidean and city-block distance, line by line: whatever the others do not serve.
size_t lines_scratch(const DistanceJob &job);
void distance_by_lines(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// Euclidean distance in the plane, row by row, where rows_serve() says so.
bool rows_serve(const DistanceJob &job);
size_t rows_scratch(const DistanceJob &job);
void distance_by_rows(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// The same in parts, with the same scratch memory: all strips are taken in their order, of which only the set's rows are
// read; then they are given, of which only the outputs' rows are written.
void take_rows(const DistanceJob &job, const StripRange &range, void *scratch, cudaStream_t stream);
void give_rows(const DistanceJob &job, const StripRange &range, void *scratch, cudaStream_t stream);

// Euclidean distance in a volume, where volume_serves() says so.  The device is current.
bool volume_serves(const DistanceJob &job);
size_t volume_scratch(const DistanceJob &job);
void distance_in_volume(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// Chessboard distance, step by step.
size_t steps_scratch(const DistanceJob &job);
void distance_by_steps(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// From the complete map of Voronoi cells, in job.nearest, to the connected one, in place.
size_t exclaves_scratch(const VoronoiJob &job);
void hide_exclaves(const VoronoiJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// Euclidean distance in the plane by published methods: APSIS_RASTER_SCAN, APSIS_SWEEP with its other schedules, and
// APSIS_JUMP_FLOOD.
size_t raster_scan_scratch(const DistanceJob &job);
void raster_scan(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);
size_t sweep_scratch(const DistanceJob &job);
void sweep(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);
size_t jump_flood_scratch(const DistanceJob &job);
void jump_flood(const DistanceJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// Connected components; how many there are comes by way of `number`, if there is one, while the device goes on.
size_t components_scratch(const ComponentsJob &job);
void components(const ComponentsJob &job, void *scratch, cudaStream_t stream, const Progress &progress,
                HostNumber *number = nullptr);

// Components in the plane by the method APSIS_TILE_FILL: labels and count.
size_t tile_fill_scratch(const ComponentsJob &job);
void tile_fill(const ComponentsJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// Lengths of paths.
size_t geodesic_scratch(const GeodesicJob &job);
void geodesic(const GeodesicJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

// The longest of the shortest paths.  Returns when it is done.
size_t eccentricity_scratch(const EccentricityJob &job);
void eccentricity(const EccentricityJob &job, void *scratch, cudaStream_t stream, const Progress &progress);

/// Reports progress if somebody listens, after waiting for the work so far; otherwise does not wait.
void report(const Progress &progress, double done, cudaStream_t stream);

}  // namespace apsis
