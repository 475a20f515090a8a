// Steps and lengths: see paths.h.
#include "paths.h"

#include <algorithm>
#include <cstdio>

#include "failure.h"

namespace tool {
namespace {

const std::vector<std::string> kMetrics = {"euclidean", "city-block", "chessboard", "chamfer"};
const std::vector<std::string> kNeighbours = {"4", "8", "6", "18", "26"};
const std::vector<std::string> kTypes = {"f32", "f64", "i32", "i64"};
constexpr apsis_type kTypeOf[] = {APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64};
constexpr int kAxesOf[] = {1, 2, 1, 2, 3};  // along which neighbours may differ

}  // namespace

void PathSettings::add_to(Arguments &arguments) {
    arguments.choice("--metric", kMetrics, "How long a step is; chamfer: 3, 4 or 5 thirds. Default: euclidean.", metric);
    arguments.choice("--connectivity", kNeighbours,
                     "How many neighbours a pixel has: 4 or 8, with --volume 6, 18 or 26. Default: all, or with "
                     "--metric city-block 4, or 6.",
                     neighbours);
    arguments.numbers("--spacing", "x,y[,z]",
                      "Size of a pixel along each axis, in your unit; one number is for every axis. Default: 1. "
                      "Chessboard and chamfer take the same for every axis, integer types only 1.",
                      spacing);
    arguments.choice("--type", kTypes,
                     "Type of the lengths. Default: f32. i32 and i64 are for all metrics but euclidean, and hold chamfer "
                     "lengths in thirds.",
                     type);
}

void PathSettings::check(bool volume) {
    if (neighbours < 0) neighbours = metric == APSIS_CITY_BLOCK ? (volume ? 2 : 0) : volume ? 4 : 1;
    if (volume != (neighbours >= 2))
        usage("--connectivity is " + kNeighbours[static_cast<size_t>(neighbours)] + ", but must be " +
              (volume ? "6, 18 or 26 with --volume" : "4 or 8 without --volume"));
    if (type >= 2 && metric == APSIS_EUCLIDEAN)
        usage("--type " + kTypes[static_cast<size_t>(type)] + " cannot hold Euclidean lengths; use f32 or f64");
    if (spacing.empty()) return;
    const size_t axes = volume ? 3 : 2;
    if (spacing.size() == 1) spacing.resize(axes, spacing[0]);
    if (spacing.size() != axes)
        usage("--spacing has " + std::to_string(spacing.size()) + " numbers, but must have " + std::to_string(axes) +
              (volume ? " with --volume" : " without --volume"));
    const auto all = [this](double size) {
        return std::all_of(spacing.begin(), spacing.end(), [size](double one) { return one == size; });
    };
    if (type >= 2 && !all(1))
        usage("--spacing must be 1 for --type " + kTypes[static_cast<size_t>(type)] + "; f32 and f64 take any");
    if ((metric == APSIS_CHESSBOARD || metric == APSIS_CHAMFER) && !all(spacing[0]))
        usage("--spacing must be the same for every axis with --metric " + kMetrics[metric]);
    spacing.resize(3, spacing[0]);  // pages are apart: any size will do along z
}

apsis_options PathSettings::options(const BinaryImage &image, bool volume) const {
    apsis_options options = APSIS_OPTIONS_INIT;
    if (image.complement) options.flags |= APSIS_COMPLEMENT;
    if (image.pages > 1 && !volume) options.flags |= APSIS_SLICES;
    std::copy(spacing.begin(), spacing.end(), options.spacing);
    options.metric = metric;
    options.connectivity = kAxesOf[neighbours];
    return options;
}

apsis_type PathSettings::pixel_type() const { return kTypeOf[type]; }

void PathSettings::print(Json &json, bool volume) const {
    json.key("spacing").array();
    for (size_t axis = 0; axis < (volume ? 3 : 2); ++axis) json.value(spacing.empty() ? 1.0 : spacing[axis]);
    json.end_array().member("metric", kMetrics[metric]);
    json.member("connectivity", std::stoi(kNeighbours[static_cast<size_t>(neighbours)]));
    json.member("type", kTypes[static_cast<size_t>(type)]);
}

Statistics measure_lengths(const Raster &lengths) {
    const Shape &shape = lengths.shape();
    return with_type(lengths.type(), [&](auto zero) {
        using Length = decltype(zero);
        Statistics result;
        double sum = 0;
        for (std::int64_t z = 0; z < shape.depth; ++z)
            for (std::int64_t y = 0; y < shape.height; ++y) {
                const auto *row = lengths.row_of<Length>(y, z);
                for (std::int64_t x = 0; x < shape.width; ++x) {
                    if (row[x] < 0) continue;
                    if (!is_finite(row[x])) {
                        ++result.infinite;
                        continue;
                    }
                    const double length = static_cast<double>(row[x]);
                    result.minimum = result.finite ? std::min(result.minimum, length) : length;
                    result.maximum = std::max(result.maximum, length);
                    ++result.finite;
                    sum += length;
                }
            }
        if (result.finite > 0) result.mean = sum / static_cast<double>(result.finite);
        return result;
    });
}

std::string sentence_of(const char *what, const Statistics &statistics) {
    char text[160] = "";
    if (statistics.finite > 0)
        std::snprintf(text, sizeof text, "%s %.6g to %.6g, mean %.6g", what, statistics.minimum, statistics.maximum,
                      statistics.mean);
    std::string sentence = text;
    if (statistics.finite == 0 && statistics.infinite == 0) return "the set is empty";
    if (statistics.infinite > 0)
        sentence += (sentence.empty() ? "" : ", ") + std::to_string(statistics.infinite) + " pixels without one";
    return sentence;
}

}  // namespace tool
