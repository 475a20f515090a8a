// Writes rasters as TIFF, and sums them up.
#include "results.h"

#include <algorithm>
#include <cstring>

namespace tool {

Statistics measure(const Raster &distance) {
    const Shape &shape = distance.shape();
    return with_type(distance.type(), [&](auto zero) {
        using Distance = decltype(zero);
        Statistics result;
        double sum = 0;
        Distance least = std::numeric_limits<Distance>::max(), most = std::numeric_limits<Distance>::lowest();
        for (std::int64_t z = 0; z < shape.depth; ++z)
            for (std::int64_t y = 0; y < shape.height; ++y) {
                const auto *row = distance.row_of<Distance>(y, z);
                for (std::int64_t x = 0; x < shape.width; ++x) {
                    if (!is_finite(row[x])) continue;
                    ++result.finite;
                    sum += static_cast<double>(row[x]);
                    least = std::min(least, row[x]);
                    most = std::max(most, row[x]);
                }
            }
        result.infinite = shape.pixels() - result.finite;
        if (result.finite > 0) {
            result.minimum = static_cast<double>(least);
            result.maximum = static_cast<double>(most);
            result.mean = sum / static_cast<double>(result.finite);
        }
        return result;
    });
}

void print_statistics(Json &json, const char *key, const Statistics &statistics) {
    json.key(key).object();
    for (const auto &[name, value] : {std::pair{"minimum", statistics.minimum}, {"maximum", statistics.maximum},
                                      {"mean", statistics.mean}}) {
        json.key(name);
        statistics.finite > 0 ? json.value(value) : json.null();
    }
    json.member("finite", statistics.finite).member("infinite", statistics.infinite).end_object();
}

void write_raster(const Raster &raster, OutputFile &file, const OutputSettings &settings,
                  const TiffTags &tags, Progress &progress) {
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
        writer.write(image, [&](double done) {
            progress.update((static_cast<double>(z) + done) / static_cast<double>(shape.depth));
        });
    writer.finish();
}

}  // namespace tool
