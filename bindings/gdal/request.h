// What a caller of GDALComputeProximity asks for: GDAL's options, read.
#pragma once

#include <gdal.h>

#include <optional>
#include <vector>

namespace apsis_gdal {

/// A failure that CPLError has told of.
struct Failure {};

/// Tells GDAL of an error, and throws.
[[noreturn]] void fail(CPLErrorNum number, const char *sentence);

struct Request {
    std::vector<int> values;             // of the pixels from which distances go; empty: all but 0
    double spacing[2] = {1, 1};          // the size of a pixel in the unit that distances are found in,
    double scale = 1;                    // and that unit in the unit in which they are written
    std::optional<double> max_distance;  // in the unit that they are found in
    std::optional<double> input_nodata;  // pixels that stay without a value
    std::optional<double> fixed;         // what is written in place of distances above 0
    float nodata = 65535;                // what is written where there is no distance

    bool is_target(int value) const;
};

Request read_request(GDALRasterBandH source, GDALRasterBandH target, char **options);

}  // namespace apsis_gdal
