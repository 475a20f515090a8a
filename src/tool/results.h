// From the library's outputs to files and numbers.
#pragma once

#include <cstdint>

#include "file.h"
#include "json.h"
#include "progress.h"
#include "raster.h"
#include "tiff.h"

namespace tool {

/// Of the distances that are finite; all 0 if none is.
struct Statistics {
    double minimum = 0, maximum = 0, mean = 0;
    std::int64_t finite = 0, infinite = 0;
};

/// Whether a distance is one: infinity, or the largest integer, stands for none.
template <class Distance>
bool is_finite(Distance distance) {
    using Limits = std::numeric_limits<Distance>;
    if constexpr (Limits::has_infinity)
        return distance < Limits::infinity() && distance > -Limits::infinity();
    else
        return distance < Limits::max() && distance > -Limits::max();
}

Statistics measure(const Raster &distance);

/// A member of a JSON object.
void print_statistics(Json &json, const char *key, const Statistics &statistics);

/// Writes a page for every slice; the file still waits for its name.
void write_raster(const Raster &raster, OutputFile &file, const OutputSettings &settings,
                  const TiffTags &tags, Progress &progress);

}  // namespace tool
