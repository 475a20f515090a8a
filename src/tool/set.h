// Turns the samples of a TIFF file into the set that the library works on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tool/io/raster.h"
#include "tool/io/tiff.h"
#include "tool/progress.h"
#include "tool/settings.h"

namespace tool {

struct BinaryImage {
    Raster marks;             // the non-zero samples: APSIS_BIT or APSIS_U8
    bool complement = false;  // the set is the zero samples
    std::int64_t sites = 0;   // pixels of the set
    std::int64_t pages = 0;
    TiffTags tags;
    std::vector<std::string> warnings;  // printed already
};

/// Reads all pages, and prints a warning for every page with damage that is tolerated.
BinaryImage read_set(const std::string &path, const InputSettings &settings, Progress &progress);

/// Why the samples of a page cannot be a set; "" if they can.
std::string unusable(const TiffPage &page);

/// The colour of a non-zero sample: "black", "white", or "" if the file does not say.
std::string nonzero_colour(const TiffPage &page);

/// How many samples of a page are not zero.
std::int64_t count_nonzero(TiffReader &reader, size_t page, const Report &report);

}  // namespace tool
