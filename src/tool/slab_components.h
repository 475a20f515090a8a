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
    static std::int64_t numbers(std::int64_t slabs, const Shape &shape, const apsis_options &options);
    /// Finds what the components of slabs are in the image.  To be called first.
    void join();
    /// Labels a slab.  The raster has room for it.  Devices may label slabs at the same time.
    void label(int device, std::int64_t slab, const Raster &labels);
    /// Makes the numbers of the next slab those of the image, when it has been labelled.
    void go_on(int device, std::int64_t slab, const Raster &labels);
    /// How many components there are, in the end.
    std::int64_t count() const { return count_; }

  private:
    bool needs_parts() const { return take_ || selects_ || options_.flags & APSIS_LABELS; }
    void join_slabs();
    void find_parts();
    void check_memory() const;
    void take_parts();
    void take_pages();

    apsis_image set_of(int device, std::int64_t slab) {
        return run_.image().slab(run_.cut().start(slab), run_.extent_of(slab), device);
    }

    Run &run_;
    apsis_options options_;
    Take take_;
    bool joins_, selects_;
    std::vector<apsis_slab_labels> slabs_;
    Memory faces_, parts_, numbers_;
    std::int64_t found_ = 0, in_faces_ = 0;  // components of slabs; runs of pixels of theirs in faces
    std::int64_t count_ = 0;
    std::vector<std::int64_t> counts_;  // [device]: of the slab that it has labelled last
};

}  // namespace tool
