// The steps of a turn of pair bounds, a kernel or two each (pair_bounds.h).
#pragma once

#include "cuda/paths/pair_bounds.cuh"

namespace apsis::cuda::paths {

/// Some large spans.
struct Range {
    uint32_t begin, end;
    int64_t count() const { return int64_t(end) - begin; }
};

/// Sets up the bounds and spans of new components.
template <class Length>
void begin_components(const Pairs<Length> &pairs, uint32_t components, const Range &spans, cudaStream_t stream);

/// Finds which pixels are proved.
template <class Length, bool FARTHEST>
void prove(const Pairs<Length> &pairs, const Range &spans, cudaStream_t stream);

/// Sets the sources of the first fields, one field after the other; `round` counts them.
template <class Length>
void choose_first_sources(const Pairs<Length> &pairs, uint32_t components, int round, cudaStream_t stream);

/// Sets the sources of the next fields, and reports to the host.
template <class Length>
void choose_sources(const Pairs<Length> &pairs, uint32_t components, cudaStream_t stream);

/// Sets the sources of the fields of new hubs.
template <class Length>
void choose_hubs(const Pairs<Length> &pairs, uint32_t components, cudaStream_t stream);

/// Finds the eccentricities of sources, and records their fields, as hubs or not.
template <class Length, bool FARTHEST>
void measure_fields(const Pairs<Length> &pairs, uint32_t components, const Range &spans, bool as_hubs, cudaStream_t stream);

/// Raises lower bounds by the fields, and keeps lengths from hubs.
template <class Length, bool FARTHEST>
void raise_bounds(const Pairs<Length> &pairs, uint32_t components, const Range &spans, cudaStream_t stream);

/// Finds by how much the lower bounds of unproved pixels may be too low.
template <class Length>
void find_gaps(const Pairs<Length> &pairs, const Range &spans, cudaStream_t stream);

/// Finds the ends and centres of components that are done, and their other ends where these are known.  Where they are not,
/// sets the source of a field that finds them.
template <class Length, bool FARTHEST>
void find_extremes(const Pairs<Length> &pairs, uint32_t components, const Range &spans, cudaStream_t stream);

/// Finds the other ends, from these fields.
template <class Length>
void find_other_ends(const Pairs<Length> &pairs, uint32_t components, const Range &spans, cudaStream_t stream);

}  // namespace apsis::cuda::paths
