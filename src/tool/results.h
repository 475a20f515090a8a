// Turns the library's outputs into files and statistics.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tool/arguments.h"
#include "tool/io/file.h"
#include "tool/io/json.h"
#include "tool/io/raster.h"
#include "tool/io/tiff.h"
#include "tool/progress.h"

namespace tool {

// The types of distances, and their names on the command line.
constexpr apsis_type kDistanceTypes[] = {APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64};
constexpr const char *kDistanceTypeWords[] = {"f32", "f64", "i32", "i64"};

/// Statistics of the finite distances, all 0 if none is finite, and the number of infinite ones.
struct Statistics {
    double minimum = 0, maximum = 0, sum = 0;
    std::int64_t finite = 0, infinite = 0;

    double mean() const { return finite > 0 ? sum / static_cast<double>(finite) : 0; }
};

/// Whether a pixel has a distance: infinity, or the largest integer, means that it has none.
template <class Distance>
bool is_finite(Distance distance) {
    using Limits = std::numeric_limits<Distance>;
    if constexpr (Limits::has_infinity)
        return distance < Limits::infinity() && distance > -Limits::infinity();
    else
        return distance < Limits::max() && distance > -Limits::max();
}

/// Adds the first rows, in 3-D planes, of a raster; on so many threads, which do not change the sum.  Leaves out pixels below
/// `least`: for lengths of paths it is 0, since they are -1 outside the set.
void measure(const Raster &distances, std::int64_t extent, int workers, Statistics &statistics,
             double least = -std::numeric_limits<double>::infinity());

/// The sentence about them that follows "OUT.tif: "; `what` is their name in the singular, such as "distance".
std::string sentence_of(const std::string &what, const Statistics &statistics);
/// Writes them as a member of a JSON object.
void print_statistics(Json &json, const char *key, const Statistics &statistics);

/// Adds an argument, or an option, that names a file for write_raster(): TIFF, so that no other ending is taken.
void add_raster(Arguments &arguments, const std::string &name, const std::string &help, std::string &target);
void add_raster_option(Arguments &arguments, const std::string &name, const std::string &help, std::string &target);

/// The file of rasters of this type, a page for every slice.
TiffImage image_of(apsis_type type, const Shape &shape, const TiffTags &tags = {});

}  // namespace tool
