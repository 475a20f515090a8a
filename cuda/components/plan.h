// How components are found, and the launches of tiles: chosen once a call, from the job alone (plan.cu).  No choice depends on
// the device.
#pragma once

#include "cuda/runtime/limits.h"
#include "runtime/backend.h"

namespace apsis::cuda::components {

struct Plan {
    bool is_volume = false;  // the kind of tile: a plane's or a volume's, with diagonal neighbours or without
    int connectivity = 1;
    bool by_row_pairs = false;                     // tiles are labelled two rows at once
    bool counts_alone = false;                     // components are counted where they are joined, and nothing else is kept
    bool packed_labels = false;                    // labels can be stored 16 bytes at once
    bool stores_roots = false;                     // a run's root is stored where its labels will be
    bool has_nodes = false;                        // there is more than one tile in an image
    uint32_t across = 0, down = 0, deep = 0;       // tiles
    uint32_t kept_words = 0, most_kept_parts = 0;  // of a tile
    bool links_at_random = false;                  // roots are linked in random order
    bool is_small_image = false;                   // only small_image_plan_of() plans such
    bool is_one_tile = false;                      // of those, one that one block labels
    Launch label, areas, remeasure, write, end;    // `end`: the tiles of the first row or plane, or of the last
    Launch join;                                   // of small images
};

/// The tiles of a label image.
struct ValuePlan {
    uint32_t across = 0, down = 0;  // tiles
    bool packed_labels = false;     // labels can be stored 16 bytes at once
    Launch label, join;
};

/// Pure arithmetic: no call of CUDA.  Both throw APSIS_ERROR_UNSUPPORTED if an image is too large.
Plan plan_of(const ComponentsJob &job);

/// The plan for the labels of a small image (small_images.cuh); and whether labels that can be stored at once, and the count,
/// are all that a job is for.
Plan small_image_plan_of(const ComponentsJob &job);
bool is_for_labels(const ComponentsJob &job);
ValuePlan value_plan_of(const ComponentsJob &job);

}  // namespace apsis::cuda::components
