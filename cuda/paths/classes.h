// Classes of components that do not touch: the components of a class are solved side by side, with fields that hold a source of
// each.  Those of a set are one class.  In a label image components touch where values differ.
//
// Components are numbered in an image of their own, whose contacts tell which of them touch.  Then each gets the lowest class
// that none of the earlier components beside it has (greedy colouring).
//
// Cost: the contacts of an image of 32 bits, and 4 bytes a pixel.  Pair bounds take a round for each class, of which there are
// a few in the plane, and as many as components if each touches all others.
#pragma once

#include <vector>

#include "cuda/paths/ranks.h"

namespace apsis::cuda::paths {

/// A component: its number, from 0, and its ranks.
struct ComponentRange {
    uint32_t component, begin, size;
};

/// The scratch memory of sort_by_class().
size_t classes_bytes(const EccentricityJob &job);

/// Sorts components, which are in order, by class.  Returns where each class ends.
std::vector<size_t> sort_by_class(const EccentricityJob &job, const Ranks &ranks, std::vector<ComponentRange> &components,
                                  void *memory, cudaStream_t stream, HostNumber &number);

}  // namespace apsis::cuda::paths
