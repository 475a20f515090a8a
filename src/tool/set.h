// Turns the samples of a TIFF or PNG file into the set, or the label image, that the library works on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tool/io/raster.h"
#include "tool/io/tiff.h"
#include "tool/progress.h"
#include "tool/settings.h"

namespace tool {

struct BinaryImage {
    Raster marks;  // the non-zero samples, one bit each, or labels; if they are in `spill`, of a slab for each device
    std::unique_ptr<ScratchFile> spill;
    std::int64_t extent = 0;            // of those slabs
    bool complement = false;            // the set is the zero samples
    std::int64_t sites = 0;             // pixels of the set, or of labels
    std::vector<std::string> warnings;  // printed already

    /// Some rows, in 3-D planes.  Valid until the next call for the same device.
    apsis_image slab(std::int64_t start, std::int64_t rows, int device = 0) const;
    /// Replaces some of them by those of a raster.
    void replace(std::int64_t start, std::int64_t rows, const Raster &by);
};

/// A file with an image that can be a set.
class SetFile {
  public:
    /// Opens it, and checks the tags of all pages.
    SetFile(const std::string &path, const InputSettings &settings, std::int64_t threads);

    const std::string &path() const { return path_; }
    const Shape &shape() const { return shape_; }
    std::int64_t pages() const { return shape_.depth; }
    const TiffTags &tags() const { return reader_->pages()[0].tags; }
    /// Whether the set consists of the samples that count as zero.
    bool complement() const { return complement_; }
    /// The type of its pixels in memory: APSIS_BIT, or that of labels.
    apsis_type type() const;
    /// Bytes of the set; of memory that it takes to read beside it, and more to keep it in a file.
    std::int64_t set_bytes() const { return row_bytes() * shape_.height * shape_.depth; }
    std::int64_t reading_bytes() const { return reader_->reading_bytes(0); }
    std::int64_t spilling_bytes() const { return row_bytes() * reader_->rows_at_once(0); }

    /// Reads all pages, and prints a warning for every page with damage that is tolerated.  Without room in memory the set is
    /// kept in a file beside `spill`, and slabs, one for each device, are at most `extent` long.
    BinaryImage read(Progress &progress, const std::string &spill = "", std::int64_t extent = 0, int devices = 1);

    /// Reads some rows, in 3-D planes.  In 2-D tiles or strips that have others too are decoded again for these.
    BinaryImage read_part(Progress &progress, std::int64_t start, std::int64_t extent);
    /// A part of so many has tiles or strips, in 3-D pages, of its own.
    std::int64_t rows_at_once() const;

  private:
    std::int64_t row_bytes() const { return (shape_.width * bits_of(type()) + 7) / 8; }
    std::int64_t take_row(const TiffPage &page, const SampleBlock &block, std::int64_t y, std::int64_t z,
                          std::uint8_t *row) const;
    void read_page(std::int64_t z, BinaryImage &image, const Report &report);
    void take_warning(std::int64_t z, Progress &progress, BinaryImage &image) const;

    std::string path_;
    InputSettings settings_;
    std::unique_ptr<PageReader> reader_;
    Shape shape_;
    bool complement_;
};

/// Opens a file of a format that is read.
std::unique_ptr<PageReader> open_pages(const std::string &path, bool tolerate, std::int64_t threads);

/// Why the samples of a page cannot be a set; "" if they can.
std::string unusable(const TiffPage &page);

/// The colour of a non-zero sample: "black", "white", or "" if the file does not say.
std::string nonzero_colour(const TiffPage &page);

/// How many samples of a page are not zero.
std::int64_t count_nonzero(PageReader &reader, size_t page, const Report &report);

}  // namespace tool
