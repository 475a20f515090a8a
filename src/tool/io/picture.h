// Pictures of results.  They are drawn row by row, so that they need no memory of their own.
#pragma once

#include <functional>
#include <string>

#include "tool/arguments.h"
#include "tool/io/file.h"
#include "tool/io/raster.h"
#include "tool/io/tiff.h"
#include "tool/progress.h"
#include "tool/results.h"

namespace tool {

/// Fills in one packed row.
using RowSource = std::function<void(std::int64_t y, std::uint8_t *row)>;

/// Red, green and blue bytes.
struct Picture {
    std::int64_t width, height;
    RowSource rows;
};

/// An option for a picture.  The file name's ending chooses PNG or TIFF.
void add_picture(Arguments &arguments, const std::string &name, const std::string &help, std::string &target);

/// Slice z of distances (squared ones are drawn as their roots).  The raster must outlive the picture.
Picture picture_of_distance(const Raster &distance, const Statistics &statistics, bool squared, std::int64_t z);
/// Slice z of lengths of paths, -1 outside the set.
Picture picture_of_lengths(const Raster &lengths, const Statistics &statistics, std::int64_t z);
/// Slice z of indices.
Picture picture_of_indices(const Raster &indices, std::int64_t z);
/// Slice z of labels, or of a set.
Picture picture_of_labels(const Raster &labels, std::int64_t z);

/// Writes PNG or TIFF, by the ending of the file's name.  The caller commits the file.
void write_picture(const Picture &picture, OutputFile &file, const TiffTags &tags, std::int64_t threads, Progress &progress);

}  // namespace tool
