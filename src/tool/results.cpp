// Writes rasters as TIFF, and computes their statistics.
#include "tool/results.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>

#include "tool/failure.h"

namespace tool {
namespace {

/// Endings by which other software tells a file that is not TIFF.
constexpr const char *OTHER_FORMATS[] = {".png", ".jpg", ".jpeg", ".jp2", ".gif", ".bmp", ".webp", ".exr", ".pbm", ".pgm",
                                         ".ppm", ".pnm", ".pfm",  ".npy", ".npz", ".csv", ".json", ".txt", ".pdf"};

/// Takes the name of a TIFF file.  It may have any ending but that of another format.
std::function<void(const std::string &)> take_name(const std::string &name, std::string &target) {
    return [name, &target](const std::string &path) {
        if (path.empty()) usage(name + " is empty, but must be a file name");
        if (std::any_of(std::begin(OTHER_FORMATS), std::end(OTHER_FORMATS),
                        [&](auto *other) { return ends_with(path, other); }))
            usage(name + " is " + quoted(path) + ", but must end in .tif: maps are TIFF, and --picture draws a PNG");
        target = path;
    };
}

}  // namespace

void add_raster(Arguments &arguments, const std::string &name, const std::string &help, std::string &target) {
    arguments.positional(name, help, take_name(name, target));
}

void add_raster_option(Arguments &arguments, const std::string &name, const std::string &help, std::string &target) {
    arguments.custom(name, "OUT2.tif", help, take_name(name, target));
}

Statistics measure(const Raster &distances, double least) {
    const Shape &shape = distances.shape();
    return with_type(distances.type(), [&](auto zero) {
        using Distance = decltype(zero);
        using Limits = std::numeric_limits<Distance>;
        Statistics result;
        double sum = 0;
        Distance low = Limits::max(), high = Limits::lowest();
        for (std::int64_t z = 0; z < shape.depth; ++z)
            for (std::int64_t y = 0; y < shape.height; ++y) {
                const auto *row = distances.row_of<Distance>(y, z);
                for (std::int64_t x = 0; x < shape.width; ++x) {
                    if (static_cast<double>(row[x]) < least) continue;
                    if (!is_finite(row[x])) {
                        ++result.infinite;
                        continue;
                    }
                    ++result.finite;
                    sum += static_cast<double>(row[x]);
                    low = std::min(low, row[x]);
                    high = std::max(high, row[x]);
                }
            }
        if (result.finite > 0) {
            result.minimum = static_cast<double>(low);
            result.maximum = static_cast<double>(high);
            result.mean = sum / static_cast<double>(result.finite);
        }
        return result;
    });
}

std::string sentence_of(const std::string &what, const Statistics &statistics) {
    if (statistics.finite == 0 && statistics.infinite == 0) return "the set is empty";
    char numbers[96] = "";
    std::snprintf(numbers, sizeof numbers, " %.6g to %.6g, mean %.6g", statistics.minimum, statistics.maximum, statistics.mean);
    const std::string without = std::to_string(statistics.infinite) + " pixels without one";
    if (statistics.finite == 0) return "no " + what + "s: " + without;
    return what + numbers + (statistics.infinite > 0 ? ", " + without : "");
}

void print_statistics(Json &json, const char *key, const Statistics &statistics) {
    json.key(key).object();
    for (const auto &[name, value] :
         {std::pair{"minimum", statistics.minimum}, {"maximum", statistics.maximum}, {"mean", statistics.mean}}) {
        json.key(name);
        statistics.finite > 0 ? json.value(value) : json.null();
    }
    json.member("finite", statistics.finite).member("infinite", statistics.infinite).end_object();
}

void write_raster(const Raster &raster, OutputFile &file, const OutputSettings &settings, const TiffTags &tags,
                  Progress &progress) {
    const Shape &shape = raster.shape();
    const bool floating = raster.type() == APSIS_F32 || raster.type() == APSIS_F64;
    std::int64_t z = 0;
    const TiffImage image = {shape.width,
                             shape.height,
                             bits_of(raster.type()),
                             1,
                             floating                    ? SampleFormat::kFloat
                             : raster.type() == APSIS_U8 ? SampleFormat::kUnsigned
                                                         : SampleFormat::kSigned,
                             tags,
                             [&](std::int64_t y, std::uint8_t *row) {
                                 std::memcpy(row, raster.row(y, z), static_cast<size_t>(raster.row_bytes()));
                             }};
    progress.phase("writing");
    TiffWriter writer(file, settings, image, shape.depth);
    for (; z < shape.depth; ++z)
        writer.write(image,
                     [&](double done) { progress.update((static_cast<double>(z) + done) / static_cast<double>(shape.depth)); });
    writer.finish();
}

}  // namespace tool
