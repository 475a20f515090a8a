// Cuts an image that is larger than the memory it may take across its last axis, into slabs: some of its rows, in 3-D some of
// its planes or pages.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tool/device.h"
#include "tool/io/raster.h"
#include "tool/set.h"

namespace tool {

/// What a run takes of memory, in bytes.
struct Demand {
    Shape shape;
    apsis_type set = APSIS_BIT;  // its pixels in memory
    std::int64_t beside = 0;     // bytes of a pixel of another image that is read with it
    std::string whole;           // why it must be done at once; "" if it can be cut
    bool looks_once = false;     // slabs are read one after another, and not kept
    std::int64_t step = 1;       // slabs have a multiple of so many rows
    std::int64_t devices = 1;    // that compute a slab each
    std::int64_t outputs = 0;    // a pixel of all outputs together
    // Beside the set to read it, and more to keep it in a file; beside the outputs to write them, and more to write slabs.
    std::int64_t reading = 0, spilling = 0, writing = 0, waiting = 0;
    std::function<std::int64_t(const Shape &)> scratch;      // what the library needs for a slab
    std::function<std::int64_t(std::int64_t slabs)> column;  // for each column, to know what slabs tell each other
};

/// How it is cut.
struct Cut {
    std::int64_t extent = 0;  // rows or planes of a slab; the last one may have fewer
    std::int64_t slabs = 1;
    bool spilled = false;     // the set is kept in a file
    std::int64_t memory = 0;  // bytes that it takes
    std::int64_t told = 0;    // those of them that it takes before outputs are made
    std::int64_t limit = 0;   // bytes that it may take where that turns out later

    std::int64_t start(std::int64_t slab) const { return slab * extent; }
    std::int64_t extent_of(std::int64_t slab, const Shape &shape) const {
        return std::min(extent, shape.extent() - start(slab));
    }
};

/// The cut of least effort that takes at most `memory`; what cannot be cut may take `limit`.  Otherwise throws a Failure.
Cut cut_to_fit(const Demand &demand, std::int64_t memory, std::int64_t limit);

/// Throws the Failure of an image that takes more memory than it may.
[[noreturn]] void refuse_memory(const Shape &shape, const std::string &takes, std::int64_t limit, const std::string &why);

/// Computes distances and nearest pixels slab by slab: what the library gives for the whole image.
class SlabMaps {
  public:
    /// Computes the maps of some slices, or of an image that is not cut.
    using Call = std::function<apsis_status(apsis_context *context, const apsis_image *set, const apsis_image *distance,
                                            const apsis_image *nearest)>;

    SlabMaps(const Device &device, const BinaryImage &image, const Shape &shape, const Cut &cut, const apsis_options &options,
             Call whole);

    /// How many numbers it keeps for each column.
    static std::int64_t numbers(std::int64_t slabs, const Shape &shape, const apsis_options &options);
    /// Finds what so many slabs, from a multiple of that number on, must know of the others.  To be called from the first group
    /// to the last, before its slabs are computed.
    std::int64_t group() const { return group_; }
    bool gathers() const { return !sides_.empty(); }
    void gather(std::int64_t first);
    /// Computes a slab.  Rasters have room for it; either may be empty.  Devices may compute slabs of a group at the same time.
    void compute(int device, std::int64_t slab, const Raster &distance, const Raster &nearest) const;

  private:
    /// The pixels of the set, or of its complement, that are nearest to a slab in each column.
    struct Side {
        apsis_options options;
        // For each slab of a group, and of `above` for the slab behind it; corners: for the last slab of each group.
        Memory above, below, corners;
        Memory ends;  // of the whole image the first ones and the last ones, if it closes on itself along that axis

        std::int64_t *row(const Memory &rows, std::int64_t number, std::int64_t told) const {
            return reinterpret_cast<std::int64_t *>(rows.get()) + number * told;
        }
    };
    /// How many numbers a column has each way.
    static std::int64_t told(const apsis_options &options);
    void merge(const std::int64_t *first, const std::int64_t *last, std::int64_t *all) const;
    void summarize(const Side &side, std::int64_t slab, std::int64_t *first, std::int64_t *last) const;
    void gather_corners(Side &side);
    void gather_ends(Side &side);
    bool is_ring() const { return options_.flags & shape_.cut_axis(); }
    void go_around(const Side &side, std::int64_t *above, std::int64_t *below) const;
    void gather_group(Side &side, std::int64_t first);

    const Device &device_;
    const BinaryImage &image_;
    Shape shape_;
    Cut cut_;
    apsis_options options_;
    Call whole_;
    std::int64_t told_;   // numbers that a slab tells each way
    std::int64_t group_;  // slabs in a group
    std::vector<Side> sides_;
};

}  // namespace tool
