// Reads and writes TIFF files.  Only tiff_read.cpp, tiff_write.cpp, tiff_check.* and tiff_handle.h use libtiff.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tool/io/file.h"
#include "tool/settings.h"

namespace tool {

class DataCheck;

enum class SampleFormat { kUnsigned, kSigned, kFloat, kOther };

/// Tags about the scale and the orientation of a picture, copied from input to output.
struct TiffTags {
    float x_resolution = 0, y_resolution = 0;  // 0: no such tag
    std::uint16_t unit = 2;                    // 1: none, 2: inch, 3: centimetre
    std::uint16_t orientation = 1;
};

/// One page, as its tags describe it.
struct TiffPage {
    std::uint64_t offset;  // of its directory
    std::int64_t width, height;
    int bits, samples;
    SampleFormat format;
    std::optional<int> photometric;
    int compression;
    std::string compression_name;
    bool tiled;
    std::int64_t block_width, block_height;  // of a tile or strip
    bool lowest_bit_first;
    TiffTags tags;
    std::string doubt;  // why its data cannot hold its pixels; "" if it can
};

/// Part of a row, as stored: `count` samples from column x on, sub-byte samples packed highest bits first.
using SampleSink = std::function<void(std::int64_t x, std::int64_t y, std::int64_t count, const std::uint8_t *samples)>;
/// Called with the share that is done, from 0 to 1; may throw.
using Report = std::function<void(double done)>;

class TiffReader {
  public:
    /// Reads the tags of every page.  With `tolerate`, damage is a warning where libtiff can go on, and missing samples are 0.
    explicit TiffReader(const std::string &path, bool tolerate = false);
    ~TiffReader();
    TiffReader(const TiffReader &) = delete;
    TiffReader &operator=(const TiffReader &) = delete;

    /// The full images.  Reduced copies and masks of other pages are left out.
    const std::vector<TiffPage> &pages() const { return pages_; }
    size_t pages_left_out() const { return left_out_; }
    bool bigtiff() const;
    bool big_endian() const;

    /// Passes the samples of a page with one sample a pixel to the sink.  Throws if any cannot be read.
    void read(size_t page, const SampleSink &sink, const Report &report);

    /// The damage that was tolerated in the page that was read last; "" if there was none.
    std::string warning() const;

  private:
    struct Handle;
    void list_pages();
    void read_tile_or_strip(std::uint32_t index, std::uint8_t *buffer, std::int64_t bytes, DataCheck &check);

    std::string path_;
    bool tolerate_;
    std::int64_t size_ = 0;  // of the file
    std::unique_ptr<Handle> handle_;
    std::vector<TiffPage> pages_;
    size_t left_out_ = 0;
};

/// Fills in one packed row.
using RowSource = std::function<void(std::int64_t y, std::uint8_t *row)>;

/// A page to write.
struct TiffImage {
    std::int64_t width, height;
    int bits;
    int samples;  // 1: grey, 3: red, green, blue
    SampleFormat format;
    TiffTags tags;
    RowSource rows;
};

class TiffWriter {
  public:
    /// For `pages` pages, all of the format of `image`.
    TiffWriter(OutputFile &file, const OutputSettings &settings, const TiffImage &image, std::int64_t pages);
    ~TiffWriter();
    TiffWriter(const TiffWriter &) = delete;
    TiffWriter &operator=(const TiffWriter &) = delete;

    void write(const TiffImage &image, const Report &report);
    /// Passes all data to the system and to the disk, or throws.
    void finish();

  private:
    struct Handle;
    void set_tags(const TiffImage &image);
    void write_strips(const TiffImage &image, const Report &report);
    void write_tiles(const TiffImage &image, const Report &report);

    OutputFile &file_;
    OutputSettings settings_;
    std::int64_t pages_, page_ = 0;
    std::unique_ptr<Handle> handle_;
};

}  // namespace tool
