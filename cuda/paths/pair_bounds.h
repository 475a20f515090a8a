// The eccentricities of the pixels of components, exact and proved, from few of their fields: by pair bounds, on the device.
// Chosen for components that are not solved by small_components.h.
//
// The method is that of src/cpu/paths/pair_bounds.h, which explains why it works.  The same pixels become sources, so that the
// bounds are the same when a budget runs out.  Components take their turns side by side: they share nothing but the image, and
// a field holds a source of each.  A turn is
//
//     prove     every pixel that is not proved looks for a witness: a pixel that may be farther than is known (pair_proof.cu)
//     choose    the pixel with the least lower bound, and some others, name the next sources (pair_targets.cu)
//     measure   the largest length of each field, and its pixel (pair_fields.cu)
//     raise     the lower bounds rise (pair_fields.cu)
//     walk      from the pixels down the fields of their witnesses, to where new hubs are wanted (pair_targets.cu)
//
// and then the fields of the new hubs are measured and raise bounds likewise; they are kept, with their maxima.
//
// Pixels are searched by spans: 64 ranks that follow each other in a component, 64 of these spans, and 64 of the larger ones.
// A block of threads has a span of 4096 ranks, or for the proof a part of it.
//
// Cost: some dozen fields a component, and a proof a turn.
#pragma once

#include <vector>

#include "cuda/paths/field.h"
#include "cuda/paths/ranks.h"

namespace apsis::cuda::paths {

/// Lower bounds of the eccentricities of pixels, by rank.
template <class Length>
struct LowerBounds {
    Length *lower;       // the lower bound
    uint32_t *farthest;  // the pixel at that distance, where wanted
};

/// A component: its number, from 0, and its ranks.
struct ComponentRange {
    uint32_t component, begin, size;
};

/// The result for a component.  Pixels are indices.
template <class Length>
struct Certificate {
    uint32_t component;
    bool proved;
    int64_t fields;
    Length gap, diameter, radius;
    uint32_t first, end, other_end, centre;
};

/// A path is too long for 32-bit lengths.
struct TooLong {};

/// Called after each turn with the number of fields made, and of pixels proved.
using OnTurn = std::function<void(int64_t, int64_t)>;

/// The scratch memory of solve_by_pairs().
template <class Length>
size_t pair_bounds_bytes(const EccentricityJob &job);

/// Solves components of a set of `members` pixels, each with at most job.budget fields.  `spare` has room for a number a pixel.
/// The other ends are found only if extents are wanted.
template <class Length>
std::vector<Certificate<Length>> solve_by_pairs(const EccentricityJob &job, const Ranks &ranks,
                                                const LowerBounds<Length> &bounds, uint32_t *spare,
                                                const std::vector<ComponentRange> &found, int64_t members, void *memory,
                                                cudaStream_t stream, const OnTurn &on_turn);

}  // namespace apsis::cuda::paths
