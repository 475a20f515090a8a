// The eccentricities of the pixels of components, exact and proved, from few of their fields: by pair bounds, on the device.
//
// It is the method of src/cpu/paths/pair_bounds.h, which says why it works, turn by turn: the same pixels become sources, so
// that what is known when a budget runs out is the same, too.  Components that are under way, the pieces, take their turns side
// by side: they share nothing but the image, and so a field holds a source of each of them.  A turn is
//
//     prove     every pixel that is not proved looks for a pixel that may be farther than is known (pair_proof.cu)
//     choose    the weakest of those that have found one, and some others, name the next sources (pair_targets.cu)
//     measure   the largest length of each field, and who has it (pair_fields.cu)
//     fold      the lower bounds rise
//     walk      from the pixels down the fields, to where a new hub is wanted (pair_targets.cu)
//
// and then new hubs' fields are measured and folded like those before, and kept, and their maxima.
//
// What is known of the pixels is looked at by spans: 64 ranks that follow each other in a piece, 64 such spans, and 64 of
// those.  A block of threads has a span of 4096, or for the proof a part of it.
#pragma once

#include <vector>

#include "cuda/paths/field.h"
#include "cuda/paths/ranks.h"

namespace apsis::cuda::paths {

/// What is known of pixels, by rank.
template <class Length>
struct LowerBounds {
    Length *lower;       // the lower bound
    uint32_t *farthest;  // the pixel that it comes from, where that is wanted
};

/// A component: its number, from 0, and its ranks.
struct ComponentRange {
    uint32_t component, begin, size;
};

/// What came of one.  Pixels are indices.
template <class Length>
struct Certificate {
    uint32_t component;
    bool proved;
    int64_t fields;
    Length gap, diameter, radius;
    uint32_t first, end, other_end, centre;
};

/// A path is too long for lengths of 32 bits.
struct TooLong {};

/// Told how many fields there have been, and how many more pixels are proved.
using OnTurn = std::function<void(int64_t, int64_t)>;

/// The memory of all that pair bounds keep beside what is known.
template <class Length>
size_t pair_bounds_bytes(const EccentricityJob &job);

/// Solves components, each with job.budget fields at most, of a set of `members` pixels.  `spare` has room for a number a
/// pixel.  The other ends are looked for only if extents are wanted.
template <class Length>
std::vector<Certificate<Length>> solve_by_pairs(const EccentricityJob &job, const Ranks &ranks,
                                                const LowerBounds<Length> &bounds, uint32_t *spare,
                                                const std::vector<ComponentRange> &found, int64_t members, void *memory,
                                                cudaStream_t stream, const OnTurn &on_turn);

}  // namespace apsis::cuda::paths
