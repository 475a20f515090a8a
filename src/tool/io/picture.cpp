// Draws distances and indices.
#include "tool/io/picture.h"

#include <algorithm>
#include <cmath>

#include "tool/failure.h"
#include "tool/io/colour.h"
#include "tool/io/png.h"

namespace tool {
namespace {

constexpr std::int64_t kBandBytes = 4 << 20;  // rows that are drawn before they are compressed

/// Scales a distance by the extreme on its side, positive or negative, so that both extremes get full colour.  Inside a set
/// distances are often much smaller than outside, and on one common scale they would not show.
struct Scale {
    bool squared;
    double minimum, maximum;

    double linear(double value) const { return squared ? std::copysign(std::sqrt(std::abs(value)), value) : value; }
    template <class Distance>
    Rgb colour(Distance distance) const {
        if (!is_finite(distance)) return kNothing;
        const double value = linear(static_cast<double>(distance));
        const double t = value < 0 ? value / -minimum : value > 0 ? value / maximum : 0;
        if (minimum < 0) return diverging(t);
        return value == 0 ? kSite : sequential(t);
    }
};

template <class Colour>
RowSource rows_of(std::int64_t width, Colour colour) {
    return [width, colour](std::int64_t y, std::uint8_t *row) {
        for (std::int64_t x = 0; x < width; ++x) {
            const Rgb rgb = colour(x, y);
            std::copy(rgb.begin(), rgb.end(), row + 3 * x);
        }
    };
}

}  // namespace

void add_picture(Arguments &arguments, const std::string &name, const std::string &help, std::string &target) {
    arguments.custom(name, "FILE.png|.tif", help, [name, &target](const std::string &path) {
        target = path;
        if (ends_with(path, ".tif") || ends_with(path, ".tiff")) return;
        if (!ends_with(path, ".png")) usage(name + " is " + quoted(path) + ", but must end in .png or .tif");
        if (!has_png()) usage(name + " is " + quoted(path) + ", but this build has no libpng: use .tif");
    });
}

Picture picture_of_distance(const Raster &distance, const Statistics &statistics, bool squared, std::int64_t z) {
    Scale scale = {squared, 0, 0};
    scale.minimum = scale.linear(statistics.minimum);
    scale.maximum = scale.linear(statistics.maximum);
    return with_type(distance.type(), [&](auto zero) {
        using Distance = decltype(zero);
        const auto colour = [&distance, scale, z](std::int64_t x, std::int64_t y) {
            return scale.colour(distance.row_of<Distance>(y, z)[x]);
        };
        return Picture{distance.shape().width, distance.shape().height, rows_of(distance.shape().width, colour)};
    });
}

Picture picture_of_lengths(const Raster &lengths, const Statistics &statistics, std::int64_t z) {
    const double low = statistics.minimum, range = statistics.maximum - low;
    return with_type(lengths.type(), [&](auto zero) {
        using Length = decltype(zero);
        const auto colour = [&lengths, low, range, z](std::int64_t x, std::int64_t y) {
            const Length length = lengths.row_of<Length>(y, z)[x];
            if (length < 0) return kDark;
            if (!is_finite(length)) return kNothing;
            const double value = static_cast<double>(length);
            return value == 0 ? kSite : sequential(range > 0 ? (value - low) / range : 0);
        };
        return Picture{lengths.shape().width, lengths.shape().height, rows_of(lengths.shape().width, colour)};
    });
}

Picture picture_of_indices(const Raster &indices, std::int64_t z) {
    const Shape shape = indices.shape();
    return with_type(indices.type(), [&](auto zero) {
        using Index = decltype(zero);
        const auto colour = [&indices, shape, z](std::int64_t x, std::int64_t y) {
            const auto index = static_cast<std::int64_t>(indices.row_of<Index>(y, z)[x]);
            if (index < 0) return kNothing;
            const bool itself = index == x + shape.width * (y + shape.height * z);
            return itself ? kDark : distinct(static_cast<std::uint64_t>(index));
        };
        return Picture{shape.width, shape.height, rows_of(shape.width, colour)};
    });
}

Picture picture_of_labels(const Raster &labels, std::int64_t z) {
    const std::int64_t width = labels.shape().width;
    if (labels.type() == APSIS_U8)
        return {width, labels.shape().height,
                rows_of(width, [&labels, z](std::int64_t x, std::int64_t y) { return labels.row(y, z)[x] ? kSite : kDark; })};
    return with_type(labels.type(), [&](auto zero) {
        using Label = decltype(zero);
        const auto colour = [&labels, z](std::int64_t x, std::int64_t y) {
            const auto label = static_cast<std::uint64_t>(labels.row_of<Label>(y, z)[x]);
            return label ? distinct(label) : kDark;
        };
        return Picture{width, labels.shape().height, rows_of(width, colour)};
    });
}

void write_picture(const Picture &picture, OutputFile &file, const TiffTags &tags, std::int64_t threads, Progress &progress) {
    progress.phase("drawing");
    const auto report = [&progress](double done) { progress.update(done); };
    if (ends_with(file.path(), ".png")) return write_png(picture, file, report);
    OutputSettings settings;
    settings.compression = Compression::kDeflate;
    const TiffImage image = {picture.width, picture.height, 8, 3, SampleFormat::kUnsigned, tags};
    const std::int64_t at_once = std::clamp<std::int64_t>(kBandBytes / image.row_bytes(), 1, picture.height);
    std::vector<std::uint8_t> band(static_cast<size_t>(at_once * image.row_bytes()));
    TiffWriter writer(file, settings, image, threads);
    for (std::int64_t y = 0; y < picture.height; y += at_once) {
        const std::int64_t rows = std::min(at_once, picture.height - y);
        for (std::int64_t row = 0; row < rows; ++row) picture.rows(y + row, band.data() + row * image.row_bytes());
        writer.write(band.data(), rows, [&](double done) {
            report((static_cast<double>(y) + done * static_cast<double>(rows)) / static_cast<double>(picture.height));
        });
    }
    writer.finish();
}

}  // namespace tool
