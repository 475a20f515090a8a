// From the library's outputs to files and numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "file.h"
#include "json.h"
#include "progress.h"
#include "raster.h"
#include "tiff.h"

namespace tool {

// The types of distances, and their names on the command line.
constexpr apsis_type kDistanceTypes[] = {APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64};
constexpr const char *kDistanceTypeWords[] = {"f32", "f64", "i32", "i64"};

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

/// Of lengths of paths `least` is 0, since outside the set they are -1.
Statistics measure(const Raster &distances, double least = -std::numeric_limits<double>::infinity());

/// What is said of them after "OUT.tif: "; `what` is one of them, such as "distance".
std::string sentence_of(const std::string &what, const Statistics &statistics);
/// A member of a JSON object.
void print_statistics(Json &json, const char *key, const Statistics &statistics);

/// Writes a page for every slice; the file still waits for its name.
void write_raster(const Raster &raster, OutputFile &file, const OutputSettings &settings, const TiffTags &tags,
                  Progress &progress);

}  // namespace tool
