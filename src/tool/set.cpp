// Marks the samples that are in the set, one bit or one byte a pixel.
#include "tool/set.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tool/failure.h"

namespace tool {
namespace {

constexpr int kMinIsWhite = 0, kMinIsBlack = 1;

using Threshold = std::optional<std::int64_t>;

/// libtiff has the leftmost pixel in the highest bit, the library in the lowest.
std::uint8_t reversed(std::uint8_t byte) {
    byte = static_cast<std::uint8_t>((byte & 0xF0) >> 4 | (byte & 0x0F) << 4);
    byte = static_cast<std::uint8_t>((byte & 0xCC) >> 2 | (byte & 0x33) << 2);
    return static_cast<std::uint8_t>((byte & 0xAA) >> 1 | (byte & 0x55) << 1);
}

template <class Sample>
void mark_as(const Threshold &threshold, const std::uint8_t *bytes, std::int64_t count, std::uint8_t *marks) {
    const auto *samples = reinterpret_cast<const Sample *>(bytes);
    if (threshold)
        for (std::int64_t i = 0; i < count; ++i) marks[i] = std::cmp_greater_equal(samples[i], *threshold);
    else
        for (std::int64_t i = 0; i < count; ++i) marks[i] = samples[i] != 0;
}

/// Samples of 1, 2 or 4 bits, the leftmost in the highest bits.
void mark_packed(const TiffPage &page, const Threshold &threshold, const std::uint8_t *bytes, std::int64_t count,
                 std::uint8_t *marks) {
    const int bits = page.bits, sign = page.format == SampleFormat::kSigned ? 1 << (bits - 1) : 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t bit = i * bits;
        const int sample = bytes[bit / 8] >> (8 - bits - bit % 8) & ((1 << bits) - 1);
        marks[i] = threshold ? (sample ^ sign) - sign >= *threshold : sample != 0;
    }
}

/// Writes 1 for each sample that counts as non-zero, 0 for the others.
void mark(const TiffPage &page, const Threshold &threshold, const std::uint8_t *samples, std::int64_t count,
          std::uint8_t *marks) {
    const bool is_signed = page.format == SampleFormat::kSigned;
    switch (page.bits) {
        case 8: return (is_signed ? mark_as<std::int8_t> : mark_as<std::uint8_t>)(threshold, samples, count, marks);
        case 16: return (is_signed ? mark_as<std::int16_t> : mark_as<std::uint16_t>)(threshold, samples, count, marks);
        case 32: return (is_signed ? mark_as<std::int32_t> : mark_as<std::uint32_t>)(threshold, samples, count, marks);
        case 64: return (is_signed ? mark_as<std::int64_t> : mark_as<std::uint64_t>)(threshold, samples, count, marks);
        default: return mark_packed(page, threshold, samples, count, marks);
    }
}

std::int64_t count_marks(const std::uint8_t *marks, std::int64_t count) {
    return std::count(marks, marks + count, std::uint8_t{1});
}

/// Copies packed bits to a row in reverse order, clears the bits beyond its last pixel, and counts the ones.
std::int64_t copy_bits(const std::uint8_t *samples, std::int64_t count, std::uint8_t *bits) {
    std::int64_t ones = 0;
    for (std::int64_t byte = 0; byte < (count + 7) / 8; ++byte) {
        const std::int64_t left = count - 8 * byte;
        const std::uint8_t mask = left < 8 ? static_cast<std::uint8_t>((1 << left) - 1) : 0xFF;
        bits[byte] = reversed(samples[byte]) & mask;
        ones += std::popcount(bits[byte]);
    }
    return ones;
}

/// The difference that keeps two pages from being slices of one image; "" if there is none.
std::string difference(const TiffPage &page, const TiffPage &first, bool colour_matters) {
    const auto differ = [](const std::string &now, const std::string &before) {
        return "is " + now + ", but page 1 is " + before;
    };
    const auto size = [](const TiffPage &p) { return std::to_string(p.width) + " x " + std::to_string(p.height) + " pixels"; };
    if (size(page) != size(first)) return differ(size(page), size(first));
    if (page.bits != first.bits) return differ(std::to_string(page.bits) + "-bit", std::to_string(first.bits) + "-bit");
    if (colour_matters && page.photometric != first.photometric)
        return "has another photometric tag than page 1, so that black and white differ";
    return "";
}

void check_pages(const TiffReader &reader, const std::string &path, bool colour_matters, const InputSettings &settings) {
    const std::vector<TiffPage> &pages = reader.pages();
    for (size_t i = 0; i < pages.size(); ++i) {
        const std::string name = quoted(path) + (pages.size() > 1 ? ": page " + std::to_string(i + 1) : std::string());
        if (const std::string why = unusable(pages[i]); !why.empty()) fail(name + " " + why);
        if (const std::string why = difference(pages[i], pages[0], colour_matters); !why.empty())
            fail(name + " " + why + "; pages of different kinds must be given one by one");
        if (const std::string &why = pages[i].doubt; !why.empty() && !settings.tolerate)
            fail("cannot read " + name + ": it " + why + "; --tolerate goes on");
    }
    const double pixels =
        static_cast<double>(pages[0].width) * static_cast<double>(pages[0].height) * static_cast<double>(pages.size());
    if (settings.max_pixels && pixels > static_cast<double>(*settings.max_pixels))
        fail(quoted(path) + " has " + std::to_string(pages[0].width) + " x " + std::to_string(pages[0].height) + " pixels, " +
             std::to_string(pages.size()) + (pages.size() == 1 ? " page" : " pages") + ", more than --max-pixels, " +
             std::to_string(*settings.max_pixels));
}

/// Whether the set consists of the samples that count as zero.
bool is_complement(Sites sites, const TiffPage &page, const std::string &path) {
    if (sites == Sites::kNonzero || sites == Sites::kZero) return sites == Sites::kZero;
    const std::string colour = nonzero_colour(page);
    if (colour.empty())
        fail(quoted(path) + " does not say which samples are black and which white; use --sites nonzero or zero");
    return colour != (sites == Sites::kBlack ? "black" : "white");
}

}  // namespace

std::string unusable(const TiffPage &page) {
    if (page.samples != 1)
        return "has " + std::to_string(page.samples) +
               " samples a pixel (colour or transparency), but must have 1: save it as greyscale without "
               "alpha";
    if (page.format != SampleFormat::kUnsigned && page.format != SampleFormat::kSigned)
        return "has floating-point or complex samples, but must have whole numbers: make a mask of it first";
    if (page.bits < 1 || page.bits > 64 || !std::has_single_bit(static_cast<unsigned>(page.bits)))
        return "has " + std::to_string(page.bits) + "-bit samples, but must have 1, 2, 4, 8, 16, 32 or 64 bits";
    return "";
}

std::string nonzero_colour(const TiffPage &page) {
    if (!page.photometric) return "";
    return *page.photometric == kMinIsWhite ? "black" : *page.photometric == kMinIsBlack ? "white" : "";
}

std::int64_t count_nonzero(TiffReader &reader, size_t number, const Report &report) {
    const TiffPage &page = reader.pages()[number];
    std::vector<std::uint8_t> marks(static_cast<size_t>(std::min(page.block_width, page.width)));
    std::int64_t nonzero = 0;
    const auto sink = [&](std::int64_t, std::int64_t, std::int64_t count, const std::uint8_t *samples) {
        mark(page, {}, samples, count, marks.data());
        nonzero += count_marks(marks.data(), count);
    };
    reader.read(number, sink, report);
    return nonzero;
}

BinaryImage read_set(const std::string &path, const InputSettings &settings, Progress &progress) {
    progress.phase("reading");
    TiffReader reader(path, settings.tolerate);
    const bool by_colour = settings.sites == Sites::kBlack || settings.sites == Sites::kWhite;
    check_pages(reader, path, by_colour, settings);

    const std::vector<TiffPage> &pages = reader.pages();
    const Shape shape = {pages[0].width, pages[0].height, static_cast<std::int64_t>(pages.size()),
                         settings.volume || pages.size() > 1 ? 3 : 2};
    // Samples of one bit are kept as bits, unless a threshold may change their meaning.
    const bool bits = pages[0].bits == 1 && !settings.threshold;
    BinaryImage image;
    image.marks = Raster(bits ? APSIS_BIT : APSIS_U8, shape, "an image");
    image.complement = is_complement(settings.sites, pages[0], path);
    image.pages = shape.depth;
    image.tags = pages[0].tags;

    std::int64_t nonzero = 0;
    for (std::int64_t z = 0; z < shape.depth; ++z) {
        const size_t number = static_cast<size_t>(z);
        const auto sink = [&](std::int64_t x, std::int64_t y, std::int64_t count, const std::uint8_t *samples) {
            if (bits) {
                nonzero += copy_bits(samples, count, image.marks.row(y, z) + x / 8);
            } else {
                std::uint8_t *marks = image.marks.row(y, z) + x;
                mark(pages[number], settings.threshold, samples, count, marks);
                nonzero += count_marks(marks, count);
            }
        };
        const auto report = [&](double done) {
            progress.update((static_cast<double>(z) + done) / static_cast<double>(shape.depth));
        };
        reader.read(number, sink, report);
        if (const std::string warning = reader.warning(); !warning.empty()) {
            progress.clear();
            image.warnings.push_back("page " + std::to_string(number + 1) + " of " + quoted(path) + ": " + warning);
            std::fprintf(stderr, "apsis: warning: %s\n", image.warnings.back().c_str());
        }
    }
    image.sites = image.complement ? shape.pixels() - nonzero : nonzero;
    return image;
}

}  // namespace tool
