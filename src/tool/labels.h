// Keeps the samples of a label image as they are, in a type that the library takes.
#pragma once

#include <cstdint>
#include <string>

#include "apsis.h"
#include "tool/io/tiff.h"

namespace tool {

/// Why the samples of a page cannot be labels; "" if they can.
std::string unusable_as_labels(const TiffPage &page);

/// Likewise, those of a grey image.
std::string unusable_as_grey(const TiffPage &page);

/// The type of labels in memory: that of the samples, or the next one that can have their sign; of grey images also
/// APSIS_F32.
apsis_type label_type(const TiffPage &page);

/// Where the labels of a row begin, for messages.
struct Place {
    const std::string &path;
    std::int64_t x, y, z;
};

/// Copies samples to a row of labels of that type, and counts those that are not 0.  Throws a Failure if one is too large.
std::int64_t copy_labels(const TiffPage &page, const std::uint8_t *samples, std::int64_t count, std::uint8_t *row,
                         const Place &place);

}  // namespace tool
