// Writes rasters as TIFF, and computes their statistics.
#include "tool/results.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>

#include "tool/failure.h"
#include "tool/parallel.h"

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

void measure(const Raster &distances, std::int64_t extent, int workers, Statistics &statistics, double least) {
    constexpr std::int64_t kRows = 16;
    const std::int64_t width = distances.shape().width, rows = extent * (distances.shape().columns() / width);
    with_type(distances.type(), [&](auto zero) {
        using Distance = decltype(zero);
        using Limits = std::numeric_limits<Distance>;
        struct Rows {
            double sums[kRows];  // added from the first row to the last, whichever thread computes them
            Distance low, high;
            std::int64_t finite, infinite;
        };
        std::vector<Rows> found(static_cast<size_t>(workers));
        const auto measure_row = [&](Rows &all, std::int64_t y) {
            const auto *row = distances.row_of<Distance>(y, 0);
            Distance low = all.low, high = all.high;
            double sum = 0;
            std::int64_t finite = 0, infinite = 0;
            for (std::int64_t x = 0; x < width; ++x) {
                if (static_cast<double>(row[x]) < least) continue;
                if (!is_finite(row[x])) {
                    ++infinite;
                    continue;
                }
                ++finite;
                sum += static_cast<double>(row[x]);
                low = std::min(low, row[x]);
                high = std::max(high, row[x]);
            }
            all.low = low, all.high = high;
            all.finite += finite, all.infinite += infinite;
            return sum;
        };
        make_and_take(
            workers, (rows + kRows - 1) / kRows,
            [&](int worker, std::int64_t i) {
                Rows &mine = found[static_cast<size_t>(worker)] = {{}, Limits::max(), Limits::lowest(), 0, 0};
                for (std::int64_t y = i * kRows; y < std::min((i + 1) * kRows, rows); ++y)
                    mine.sums[y - i * kRows] = measure_row(mine, y);
            },
            [&](int worker, std::int64_t) {
                const Rows &mine = found[static_cast<size_t>(worker)];
                const bool first = statistics.finite == 0;
                statistics.infinite += mine.infinite;
                if (mine.finite == 0) return;
                statistics.finite += mine.finite;
                for (const double sum : mine.sums) statistics.sum += sum;
                const auto low = static_cast<double>(mine.low), high = static_cast<double>(mine.high);
                statistics.minimum = first ? low : std::min(statistics.minimum, low);
                statistics.maximum = first ? high : std::max(statistics.maximum, high);
            });
    });
}

std::string sentence_of(const std::string &what, const Statistics &statistics) {
    if (statistics.finite == 0 && statistics.infinite == 0) return "the set is empty";
    char numbers[96] = "";
    std::snprintf(numbers, sizeof numbers, " %.6g to %.6g, mean %.6g", statistics.minimum, statistics.maximum,
                  statistics.mean());
    const std::string without = std::to_string(statistics.infinite) + " pixels without one";
    if (statistics.finite == 0) return "no " + what + "s: " + without;
    return what + numbers + (statistics.infinite > 0 ? ", " + without : "");
}

void print_statistics(Json &json, const char *key, const Statistics &statistics) {
    json.key(key).object();
    for (const auto &[name, value] :
         {std::pair{"minimum", statistics.minimum}, {"maximum", statistics.maximum}, {"mean", statistics.mean()}}) {
        json.key(name);
        statistics.finite > 0 ? json.value(value) : json.null();
    }
    json.member("finite", statistics.finite).member("infinite", statistics.infinite).end_object();
}

TiffImage image_of(apsis_type type, const Shape &shape, const TiffTags &tags) {
    const bool floating = type == APSIS_F32 || type == APSIS_F64;
    const SampleFormat format = floating           ? SampleFormat::kFloat
                                : type == APSIS_U8 ? SampleFormat::kUnsigned
                                                   : SampleFormat::kSigned;
    return {shape.width, shape.height, bits_of(type), 1, format, tags, shape.depth};
}

}  // namespace tool
