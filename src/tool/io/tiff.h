// Reads and writes TIFF files, and says what readers of other files tell.  Only tiff_read.cpp, tiff_write.cpp, tiff_check.* and
// tiff_handle.h use libtiff.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tool/io/file.h"
#include "tool/io/raster.h"
#include "tool/settings.h"

namespace tool {

class TiffHandle;

enum class SampleFormat { kUnsigned, kSigned, kFloat, kOther };

// Photometric tags.
constexpr int kMinIsWhite = 0, kMinIsBlack = 1, kRgb = 2, kPalette = 3;

/// Tags about the scale and the orientation of a picture, copied from input to output.
struct TiffTags {
    float x_resolution = 0, y_resolution = 0;  // 0: no such tag
    std::uint16_t unit = 2;                    // 1: none, 2: inch, 3: centimetre
    std::uint16_t orientation = 1;
};

/// One page, as the tags of TIFF describe it.
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

    std::int64_t blocks_across() const { return (width + block_width - 1) / block_width; }
    std::int64_t blocks() const { return blocks_across() * ((height + block_height - 1) / block_height); }
    std::int64_t block_row_bytes() const { return (block_width * bits + 7) / 8; }
    bool has_blocks() const { return block_width > 0 && block_height > 0 && (!tiled || block_width % 8 == 0); }
};

/// Part of a page as it is stored: `rows` rows of `columns` samples from (x, y) on.  Sub-byte samples are packed highest bits
/// first; x is a multiple of 8.
struct SampleBlock {
    std::int64_t x, y, columns, rows;
    const std::uint8_t *samples;
    std::int64_t row_bytes;  // from a row to the next

    const std::uint8_t *row(std::int64_t number) const { return samples + number * row_bytes; }
};
/// Called by several threads at once, with different blocks.
using BlockSink = std::function<void(const SampleBlock &block)>;
/// Called when these rows of a page, the first ones, have been passed on; may throw.
using RowsReport = std::function<void(std::int64_t rows)>;
/// Called with the share that is done, from 0 to 1; may throw.
using Report = std::function<void(double done)>;

/// A file of pages.
class PageReader {
  public:
    virtual ~PageReader() = default;

    /// The full images.  Reduced copies and masks of other pages are left out.
    const std::vector<TiffPage> &pages() const { return pages_; }
    /// Passes the samples of a page with one sample a pixel to the sink.  Throws if any cannot be read, or if the file has
    /// changed since it was opened.
    void read(size_t page, const BlockSink &sink, const RowsReport &report) {
        read(page, 0, pages_[page].height, sink, report);
    }
    /// The same of the tiles, strips or rows that have some of these rows.
    virtual void read(size_t page, std::int64_t from, std::int64_t to, const BlockSink &sink, const RowsReport &report) = 0;
    /// From one report to the next there are at most so many rows.
    virtual std::int64_t rows_at_once(size_t page) const = 0;
    /// Bytes of memory that it takes to read a page.
    virtual std::int64_t reading_bytes(size_t page) const = 0;
    /// The damage that was tolerated in the page that was read last; "" if there was none.
    virtual std::string warning() const { return ""; }

  protected:
    std::vector<TiffPage> pages_;
};

class TiffReader final : public PageReader {
  public:
    /// Reads the tags of every page.  With `tolerate`, damage is a warning where libtiff can go on, and missing samples are 0.
    /// Samples are decoded by at most `threads` threads; 0 is one per core.
    explicit TiffReader(const std::string &path, bool tolerate = false, std::int64_t threads = 0);
    ~TiffReader() override;
    TiffReader(const TiffReader &) = delete;
    TiffReader &operator=(const TiffReader &) = delete;

    size_t pages_left_out() const { return left_out_; }
    bool bigtiff() const;
    bool big_endian() const;

    using PageReader::read;
    void read(size_t page, std::int64_t from, std::int64_t to, const BlockSink &sink, const RowsReport &report) override;
    std::int64_t rows_at_once(size_t page) const override;
    std::int64_t reading_bytes(size_t page) const override;
    std::string warning() const override;

  private:
    struct Decoder;
    TiffHandle &open_handle();
    void list_pages();
    TiffHandle &handle_of(int worker, size_t page);
    int decoding_threads(size_t page) const;
    void decode(Decoder &decoder, std::uint32_t index, std::int64_t bytes) const;
    void warn(const char *sentence, int count);

    std::string path_;
    bool tolerate_;
    int workers_;
    InputFile file_;
    std::vector<std::unique_ptr<TiffHandle>> handles_;  // one a thread
    std::string warning_;
    int warnings_ = 0;
    size_t left_out_ = 0;
};

/// Width and height of the tiles that are written.
constexpr std::int64_t kTileSide = 256;

/// The pages of a file that is written.
struct TiffImage {
    std::int64_t width, height;
    int bits;
    int samples;  // 1: grey, 3: red, green, blue
    SampleFormat format;
    TiffTags tags;
    std::int64_t pages = 1;

    std::int64_t row_bytes() const { return width * samples * (bits / 8); }
};

/// Writes the pages of a file, from the first row to the last.  The bytes of the file do not depend on how many rows each call
/// writes, nor on the threads that compress them.
class TiffWriter {
  public:
    TiffWriter(OutputFile &file, const OutputSettings &settings, const TiffImage &image, std::int64_t threads);
    ~TiffWriter();
    TiffWriter(const TiffWriter &) = delete;
    TiffWriter &operator=(const TiffWriter &) = delete;

    /// Writes so many packed rows; those after the last row of a page begin the next one.
    void write(const std::uint8_t *rows, std::int64_t count, const Report &report);
    /// Whether all rows of all pages have been written.
    bool complete() const { return page_ == image_.pages; }
    /// Passes all data to the system and to the disk, or throws.
    void finish();

    /// Bytes of memory that it takes, and more if a call may end within a row of tiles or a strip.
    static std::int64_t bytes_of(const OutputSettings &settings, const TiffImage &image, std::int64_t threads);
    static std::int64_t waiting_bytes(const OutputSettings &settings, const TiffImage &image);

  private:
    /// Of tiles or strips, the width, the rows, and the bytes before compression.
    struct Blocks {
        std::int64_t width, rows, bytes;
    };
    struct Handle;
    struct Worker;
    static Blocks blocks_of(const OutputSettings &settings, const TiffImage &image);
    void set_tags();
    void write_blocks(std::int64_t first, const std::uint8_t *rows, std::int64_t count, const Report &report);
    void end_page();

    OutputFile &file_;
    OutputSettings settings_;
    TiffImage image_;
    Blocks blocks_;
    std::int64_t page_ = 0, row_ = 0;  // what is written next
    Memory rest_;                      // the rows before it that wait for those of the same tiles or strips
    std::unique_ptr<Handle> handle_;
    std::vector<Worker> workers_;
};

}  // namespace tool
