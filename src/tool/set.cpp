// Marks the samples that are in the set, one bit a pixel.
#include "tool/set.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tool/failure.h"
#include "tool/io/png.h"
#include "tool/labels.h"
#include "tool/samples.h"

namespace tool {
namespace {

using Threshold = std::optional<std::int64_t>;

/// libtiff has the leftmost pixel in the highest bit, the library in the lowest.
std::uint8_t reversed(std::uint8_t byte) {
    byte = static_cast<std::uint8_t>((byte & 0xF0) >> 4 | (byte & 0x0F) << 4);
    byte = static_cast<std::uint8_t>((byte & 0xCC) >> 2 | (byte & 0x33) << 2);
    return static_cast<std::uint8_t>((byte & 0xAA) >> 1 | (byte & 0x55) << 1);
}

/// Writes 1 for each sample that counts as non-zero, 0 for the others.
void mark(const TiffPage &page, const Threshold &threshold, const std::uint8_t *samples, std::int64_t count,
          std::uint8_t *marks) {
    with_samples(page, samples, [&](auto sample) {
        if (threshold)
            for (std::int64_t i = 0; i < count; ++i) marks[i] = std::cmp_greater_equal(sample(i), *threshold);
        else
            for (std::int64_t i = 0; i < count; ++i) marks[i] = sample(i) != 0;
    });
}

/// Copies packed samples of one bit to `bits`, in reverse order.
void copy_bits(const std::uint8_t *samples, std::int64_t count, std::uint8_t *bits) {
    std::transform(samples, samples + (count + 7) / 8, bits, reversed);
}

/// Packs the marks of samples, the leftmost in the lowest bit.
void pack(const TiffPage &page, const Threshold &threshold, const std::uint8_t *samples, std::int64_t count,
          std::uint8_t *bits) {
    constexpr std::int64_t kChunk = 512;
    std::uint8_t marks[kChunk];
    for (std::int64_t x = 0; x < count; x += kChunk) {
        const std::int64_t some = std::min(kChunk, count - x);
        std::memset(marks + some / 8 * 8, 0, some % 8 ? 8 : 0);
        mark(page, threshold, samples + x * page.bits / 8, some, marks);
        for (std::int64_t at = 0; at < some; at += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, marks + at, 8);
            bits[(x + at) / 8] = static_cast<std::uint8_t>(eight * 0x0102040810204080 >> 56);
        }
    }
}

/// Writes a bit for each sample that counts as non-zero to a row of the set, clears those beyond its last pixel, and counts the
/// ones.
std::int64_t mark_row(const TiffPage &page, const Threshold &threshold, const std::uint8_t *samples, std::int64_t count,
                      std::uint8_t *bits) {
    // A threshold may change the meaning of samples of one bit.
    page.bits == 1 && !threshold ? copy_bits(samples, count, bits) : pack(page, threshold, samples, count, bits);
    if (count % 8) bits[count / 8] &= static_cast<std::uint8_t>((1 << count % 8) - 1);
    std::int64_t ones = 0, at = 0;
    for (std::uint64_t eight; at + 64 <= count; at += 64) {
        std::memcpy(&eight, bits + at / 8, 8);
        ones += std::popcount(eight);
    }
    for (; at < count; at += 8) ones += std::popcount(bits[at / 8]);
    return ones;
}

/// The difference that keeps two pages from being slices of one image; "" if there is none.
std::string difference(const TiffPage &page, const TiffPage &first, bool colour_matters, bool sign_matters) {
    const auto differ = [](const std::string &now, const std::string &before) {
        return "is " + now + ", but page 1 is " + before;
    };
    const auto size = [](const TiffPage &p) { return std::to_string(p.width) + " x " + std::to_string(p.height) + " pixels"; };
    const auto kind = [](const TiffPage &p) {
        return std::string(p.format == SampleFormat::kFloat    ? "floating-point"
                           : p.format == SampleFormat::kSigned ? "signed"
                                                               : "unsigned");
    };
    if (size(page) != size(first)) return differ(size(page), size(first));
    if (page.bits != first.bits) return differ(std::to_string(page.bits) + "-bit", std::to_string(first.bits) + "-bit");
    if (sign_matters && page.format != first.format) return differ(kind(page), kind(first));
    if (colour_matters && page.photometric != first.photometric)
        return "has another photometric tag than page 1, so that black and white differ";
    return "";
}

void check_pages(const PageReader &reader, const std::string &path, bool colour_matters, const InputSettings &settings) {
    const std::vector<TiffPage> &pages = reader.pages();
    const auto check = settings.delta ? unusable_as_grey : settings.labels ? unusable_as_labels : unusable;
    for (size_t i = 0; i < pages.size(); ++i) {
        const std::string name = quoted(path) + (pages.size() > 1 ? ": page " + std::to_string(i + 1) : std::string());
        if (const std::string why = check(pages[i]); !why.empty()) fail(name + " " + why);
        if (const std::string why = difference(pages[i], pages[0], colour_matters, settings.labels); !why.empty())
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

std::unique_ptr<PageReader> open_pages(const std::string &path, bool tolerate, std::int64_t threads) {
    if (std::unique_ptr<PageReader> png = open_png(path)) return png;
    return std::make_unique<TiffReader>(path, tolerate, threads);
}

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

std::int64_t count_nonzero(PageReader &reader, size_t number, const Report &report) {
    const TiffPage &page = reader.pages()[number];
    std::atomic<std::int64_t> nonzero{0};
    const auto sink = [&](const SampleBlock &block) {
        std::vector<std::uint8_t> bits(static_cast<size_t>((block.columns + 7) / 8));
        std::int64_t ones = 0;
        for (std::int64_t y = 0; y < block.rows; ++y) ones += mark_row(page, {}, block.row(y), block.columns, bits.data());
        nonzero += ones;
    };
    reader.read(number, sink, [&](std::int64_t rows) { report(static_cast<double>(rows) / static_cast<double>(page.height)); });
    return nonzero;
}

apsis_image BinaryImage::slab(std::int64_t start, std::int64_t rows, int device) const {
    if (!spill) return marks.part(start, rows);
    const apsis_image image = marks.part(device * extent, rows);
    spill->read(static_cast<std::uint8_t *>(image.data), marks.bytes_of(rows), marks.bytes_of(start));
    return image;
}

void BinaryImage::replace(std::int64_t start, std::int64_t rows, const Raster &by) {
    const std::int64_t bytes = marks.bytes_of(rows), at = marks.bytes_of(start);
    if (spill)
        spill->write(by.row(0, 0), bytes, at);
    else
        std::memcpy(marks.row(0, 0) + at, by.row(0, 0), static_cast<size_t>(bytes));
}

SetFile::SetFile(const std::string &path, const InputSettings &settings, std::int64_t threads)
    : path_(path),
      settings_(settings),
      reader_(open_pages(path, settings.tolerate, threads)) {
    const bool by_colour = settings.sites == Sites::kBlack || settings.sites == Sites::kWhite;
    check_pages(*reader_, path, by_colour, settings);
    const std::vector<TiffPage> &pages = reader_->pages();
    shape_ = {pages[0].width, pages[0].height, static_cast<std::int64_t>(pages.size()),
              settings.volume || pages.size() > 1 ? 3 : 2};
    shape_.check();
    complement_ = is_complement(settings.sites, pages[0], path);
}

/// Makes marks or labels of the row y of a block of samples, and counts those that are not 0.
std::int64_t SetFile::take_row(const TiffPage &page, const SampleBlock &block, std::int64_t y, std::int64_t z,
                               std::uint8_t *row) const {
    if (settings_.labels) return copy_labels(page, block.row(y), block.columns, row, {path_, block.x, block.y + y, z});
    return mark_row(page, settings_.threshold, block.row(y), block.columns, row);
}

/// Reads a page into the set; or, if it is kept in a file, some rows at a time.
void SetFile::read_page(std::int64_t z, BinaryImage &image, const Report &report) {
    const size_t number = static_cast<size_t>(z);
    const TiffPage &page = reader_->pages()[number];
    const Raster band =
        image.spill ? Raster(type(), {page.width, reader_->rows_at_once(number)}, "rows of an image") : Raster();
    std::int64_t before = 0;  // rows that are in the file already
    std::atomic<std::int64_t> nonzero{0};
    const auto sink = [&](const SampleBlock &block) {
        std::int64_t ones = 0;
        for (std::int64_t y = 0; y < block.rows; ++y) {
            std::uint8_t *row = band ? band.row(block.y + y - before, 0) : image.marks.row(block.y + y, z);
            row += block.x * bits_of(type()) / 8;
            ones += take_row(page, block, y, z, row);
        }
        nonzero += ones;
    };
    reader_->read(number, sink, [&](std::int64_t rows) {
        if (band)
            image.spill->write(band.row(0, 0), (rows - before) * band.row_bytes(),
                               (z * page.height + before) * band.row_bytes());
        before = rows;
        report(static_cast<double>(rows) / static_cast<double>(page.height));
    });
    image.sites += nonzero;
}

apsis_type SetFile::type() const { return settings_.labels ? label_type(reader_->pages()[0]) : APSIS_BIT; }

std::int64_t SetFile::rows_at_once() const {
    const TiffPage &page = reader_->pages()[0];
    if (shape_.dimensions == 3) return 1;
    return page.block_height > 0 ? page.block_height : reader_->rows_at_once(0);
}

/// Prints the damage of a page that was tolerated, and keeps the sentence.
void SetFile::take_warning(std::int64_t z, Progress &progress, BinaryImage &image) const {
    const std::string warning = reader_->warning();
    if (warning.empty()) return;
    progress.clear();
    image.warnings.push_back("page " + std::to_string(z + 1) + " of " + quoted(path_) + ": " + warning);
    std::fprintf(stderr, "apsis: warning: %s\n", image.warnings.back().c_str());
}

BinaryImage SetFile::read_part(Progress &progress, std::int64_t start, std::int64_t extent) {
    BinaryImage image;
    image.complement = complement_;
    image.extent = extent;
    image.marks = Raster(type(), shape_.cut_to(extent), "a slab");
    const bool is_volume = shape_.dimensions == 3;
    const Shape &part = image.marks.shape();
    std::atomic<std::int64_t> nonzero{0};
    for (std::int64_t z = 0; z < part.depth; ++z) {
        const std::int64_t number = is_volume ? start + z : 0;
        const std::int64_t from = is_volume ? 0 : start, to = from + part.height;
        const TiffPage &page = reader_->pages()[static_cast<size_t>(number)];
        const auto sink = [&](const SampleBlock &block) {
            std::int64_t ones = 0;
            for (std::int64_t y = std::max(from, block.y); y < std::min(to, block.y + block.rows); ++y)
                ones +=
                    take_row(page, block, y - block.y, number, image.marks.row(y - from, z) + block.x * bits_of(type()) / 8);
            nonzero += ones;
        };
        reader_->read(static_cast<size_t>(number), from, to, sink, [&](std::int64_t rows) {
            const double done = static_cast<double>(rows - from) / static_cast<double>(part.height);
            progress.update((static_cast<double>(z) + done) / static_cast<double>(part.depth));
        });
        take_warning(number, progress, image);
    }
    image.sites = image.complement ? part.pixels() - nonzero : nonzero.load();
    return image;
}

BinaryImage SetFile::read(Progress &progress, const std::string &spill, std::int64_t extent, int devices) {
    progress.phase("reading");
    BinaryImage image;
    image.complement = complement_;
    image.extent = extent;
    image.marks = Raster(type(), spill.empty() ? shape_ : shape_.cut_to(devices * extent), "an image");
    if (!spill.empty()) image.spill = std::make_unique<ScratchFile>(spill);
    for (std::int64_t z = 0; z < shape_.depth; ++z) {
        read_page(z, image,
                  [&](double done) { progress.update((static_cast<double>(z) + done) / static_cast<double>(shape_.depth)); });
        take_warning(z, progress, image);
    }
    if (image.complement) image.sites = shape_.pixels() - image.sites;
    return image;
}

}  // namespace tool
