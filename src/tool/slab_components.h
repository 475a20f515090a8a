// Components of an image that is cut into slabs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tool/run.h"

namespace tool {

/// Numbers components slab by slab: what the library gives for the whole image.
class SlabComponents {
  public:
    using Take = std::function<void(const apsis_component &)>;

    /// join() calls take(component) for each component, in the order of their numbers, if there is such a function.
    SlabComponents(Run &run, const apsis_options &options, Take take);

    /// How many numbers it keeps for each column.
    static std::int64_t numbers(std::int64_t slabs, const apsis_options &options);
    /// Finds what the components of slabs are in the image.  To be called first.
    void join();
    /// Labels the next slab.  The raster has room for it.
    void label(std::int64_t slab, const Raster &labels);
    /// How many components there are, once all slabs are labelled.
    std::int64_t count() const { return count_; }

  private:
    bool needs_parts() const { return take_ || selects_; }
    void join_slabs();
    void find_parts();
    void check_memory() const;
    void take_parts();
    void take_pages();

    apsis_image set_of(std::int64_t slab) { return run_.image().slab(run_.cut().start(slab), extent_of(slab)); }
    std::int64_t extent_of(std::int64_t slab) const { return run_.cut().extent_of(slab, run_.shape()); }

    Run &run_;
    apsis_options options_;
    Take take_;
    bool joins_, selects_;
    std::vector<apsis_slab_labels> slabs_;
    Memory faces_, parts_, numbers_;
    std::int64_t found_ = 0, in_faces_ = 0;  // components of slabs; runs of pixels of theirs in faces
    std::int64_t count_ = 0;
};

}  // namespace tool
