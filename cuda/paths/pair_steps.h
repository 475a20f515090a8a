// The steps of a turn of pair bounds, each a kernel or two; pair_bounds.h says what they are for.
#pragma once

#include "cuda/paths/pair_bounds.cuh"

namespace apsis::cuda::paths {

/// Some large spans.
struct Range {
    uint32_t begin, end;
    int64_t count() const { return int64_t(end) - begin; }
};

/// Nothing is known of the pixels of new pieces.
template <class Length>
void begin_components(const Pairs<Length> &pairs, uint32_t components, const Range &spans, cudaStream_t stream);

/// Which pixels are proved.
template <class Length, bool FARTHEST>
void prove(const Pairs<Length> &pairs, const Range &spans, cudaStream_t stream);

/// The sources of the first fields, one after the other: `round` counts them.
template <class Length>
void choose_first_sources(const Pairs<Length> &pairs, uint32_t components, int round, cudaStream_t stream);

/// The sources of the next fields; and what the host has to know.
template <class Length>
void choose_sources(const Pairs<Length> &pairs, uint32_t components, cudaStream_t stream);

/// The sources of the fields after those: new hubs.
template <class Length>
void choose_hubs(const Pairs<Length> &pairs, uint32_t components, cudaStream_t stream);

/// The eccentricities of sources; takes note of their fields, which become hubs or do not.
template <class Length, bool FARTHEST>
void measure_fields(const Pairs<Length> &pairs, uint32_t components, const Range &spans, bool as_hubs, cudaStream_t stream);

/// Raises lower bounds by the fields, and keeps those of hubs.
template <class Length, bool FARTHEST>
void raise_bounds(const Pairs<Length> &pairs, uint32_t components, const Range &spans, cudaStream_t stream);

/// By how much the lower bounds of what is not proved may be too low.
template <class Length>
void find_gaps(const Pairs<Length> &pairs, const Range &spans, cudaStream_t stream);

/// The ends and the centres of pieces that are done; the other ends, where known: where they are not, the source of a field
/// that tells.
template <class Length, bool FARTHEST>
void find_extremes(const Pairs<Length> &pairs, uint32_t components, const Range &spans, cudaStream_t stream);

/// The other ends, from those fields.
template <class Length>
void find_other_ends(const Pairs<Length> &pairs, uint32_t components, const Range &spans, cudaStream_t stream);

}  // namespace apsis::cuda::paths
