// Writes TIFF: strips or tiles, one page after the other.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>

#include "apsis.h"
#include "tool/io/large_file.h"
#include "tool/io/tiff.h"
#include "tool/io/tiff_encoder.h"
#include "tool/io/tiff_handle.h"
#include "tool/parallel.h"

namespace tool {
namespace {

constexpr std::int64_t kStripBytes = 256 << 10;
constexpr double kLargestClassic = 4e9, kSmallFile = 64e6;

double size_of(const TiffImage &image) {
    return static_cast<double>(image.row_bytes()) * static_cast<double>(image.height) * static_cast<double>(image.pages);
}

/// Whether the pixels, and the tables that locate them, might not fit 32-bit offsets.
bool needs_bigtiff(const TiffImage &image, bool tiled) {
    const auto whole_tiles = [tiled](std::int64_t extent) {
        return static_cast<double>(tiled ? (extent + kTileSide - 1) / kTileSide * kTileSide : extent);
    };
    const double page = whole_tiles(image.width) * whole_tiles(image.height) * image.samples * (image.bits / 8);
    // Incompressible data grows a little when deflated; each strip has two offsets, each page a directory.
    return (1.01 * page + 16.0 * static_cast<double>(image.height) + 1024) * static_cast<double>(image.pages) > kLargestClassic;
}

}  // namespace

TiffWriter::Blocks TiffWriter::blocks_of(const OutputSettings &settings, const TiffImage &image) {
    const std::int64_t width = settings.tiled ? kTileSide : image.width, row_bytes = image.row_bytes() / image.width * width;
    const std::int64_t rows = settings.tiled ? kTileSide : std::clamp<std::int64_t>(kStripBytes / row_bytes, 1, image.height);
    return {width, rows, rows * row_bytes};
}

std::int64_t TiffWriter::bytes_of(const OutputSettings &settings, const TiffImage &image, std::int64_t threads) {
    const Blocks blocks = blocks_of(settings, image);
    const std::int64_t encoder = settings.compression == Compression::kNone ? 0 : TiffEncoder::bytes_of(blocks.bytes);
    return workers_of(threads) * (encoder + (settings.tiled ? blocks.bytes : 0));
}

std::int64_t TiffWriter::waiting_bytes(const OutputSettings &settings, const TiffImage &image) {
    return blocks_of(settings, image).rows * image.row_bytes();
}

struct TiffWriter::Handle final : TiffHandle {
    std::string path;
    LargeFile bytes;

    Handle(const OutputFile &file, bool small) : path(file.path()), bytes(file.descriptor(), small) {}
    void check(bool done) const { TiffHandle::check(done, path); }

    ssize_t get(void *to, size_t count, off_t from) override { return bytes.read(to, count, from); }
    ssize_t put(void *from, size_t count, off_t to) override { return bytes.write(from, count, to); }
    off_t size() override { return bytes.size(); }
};

/// What a thread needs to make the data of tiles or strips.
struct TiffWriter::Worker {
    std::optional<TiffEncoder> encoder;
    Memory tile;
    std::span<const std::uint8_t> data;
};

TiffWriter::TiffWriter(OutputFile &file, const OutputSettings &settings, const TiffImage &image, std::int64_t threads)
    : file_(file),
      settings_(settings),
      image_(image),
      blocks_(blocks_of(settings, image)),
      workers_(static_cast<size_t>(workers_of(threads))) {
    for (Worker &worker : workers_) {
        if (settings.compression != Compression::kNone)
            worker.encoder.emplace(settings.compression, image, blocks_.width, blocks_.rows);
        if (settings.tiled) worker.tile = allocate(blocks_.bytes, 1, "a tile");
    }
    file.create();
    handle_ = std::make_unique<Handle>(file, size_of(image) < kSmallFile);
    errno = 0;
    handle_->check(handle_->open(file.path(), settings.bigtiff || needs_bigtiff(image, settings.tiled) ? "w8" : "w"));
    set_tags();
}

TiffWriter::~TiffWriter() = default;

void TiffWriter::set_tags() {
    TIFF *tiff = handle_->tiff;
    if (image_.pages > 1) TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE);
    if (image_.pages > 1 && image_.pages <= UINT16_MAX)
        TIFFSetField(tiff, TIFFTAG_PAGENUMBER, static_cast<int>(page_), static_cast<int>(image_.pages));
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(image_.width));
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(image_.height));
    set_samples(tiff, image_);
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, image_.tags.orientation);
    if (image_.tags.x_resolution > 0) {
        TIFFSetField(tiff, TIFFTAG_XRESOLUTION, static_cast<double>(image_.tags.x_resolution));
        TIFFSetField(tiff, TIFFTAG_YRESOLUTION, static_cast<double>(image_.tags.y_resolution));
        TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, image_.tags.unit);
    }
    const std::string software = "apsis " + std::to_string(APSIS_VERSION_MAJOR) + "." + std::to_string(APSIS_VERSION_MINOR) +
                                 "." + std::to_string(APSIS_VERSION_PATCH);
    if (!TIFFSetField(tiff, TIFFTAG_SOFTWARE, software.c_str())) {
        // libtiff 4.5 counts a tag for which it has no memory, and crashes when it frees it: this handle is not closed.
        Handle *handle = handle_.release();
        handle->check(false);
    }
    handle_->check(set_compression(tiff, settings_.compression, image_.format));
    if (settings_.tiled) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, static_cast<std::uint32_t>(blocks_.width));
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, static_cast<std::uint32_t>(blocks_.rows));
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(blocks_.rows));
    }
}

void TiffWriter::write(const std::uint8_t *rows, std::int64_t count, const Report &report) {
    errno = 0;
    const std::int64_t row_bytes = image_.row_bytes(), all = count;
    while (count > 0) {
        const std::int64_t left = std::min(count, image_.height - row_), waiting = row_ % blocks_.rows;
        const bool ends_page = row_ + left == image_.height;
        std::int64_t some = ends_page ? left : left / blocks_.rows * blocks_.rows;
        if (waiting == 0 && some > 0) {
            write_blocks(row_, rows, some, [&](double done) {
                report((static_cast<double>(all - count) + done * static_cast<double>(some)) / static_cast<double>(all));
            });
        } else {  // a tile or strip of which not all rows are there
            if (!rest_) rest_ = allocate(blocks_.rows, row_bytes, "rows of tiles or strips");
            some = std::min(left, blocks_.rows - waiting);
            std::memcpy(rest_.get() + waiting * row_bytes, rows, static_cast<size_t>(some * row_bytes));
            if (waiting + some == blocks_.rows || row_ + some == image_.height)
                write_blocks(row_ - waiting, rest_.get(), waiting + some, [](double) {});
        }
        row_ += some;
        count -= some;
        rows += some * row_bytes;
        if (row_ == image_.height) end_page();
    }
}

void TiffWriter::write_blocks(std::int64_t first, const std::uint8_t *rows, std::int64_t count, const Report &report) {
    const std::int64_t across = (image_.width + blocks_.width - 1) / blocks_.width, row_bytes = image_.row_bytes();
    const std::int64_t blocks = (count + blocks_.rows - 1) / blocks_.rows * across, index = first / blocks_.rows * across;
    const std::int64_t block_row_bytes = blocks_.bytes / blocks_.rows;
    const auto make = [&](int number, std::int64_t i) {
        Worker &worker = workers_[static_cast<size_t>(number)];
        const std::int64_t top = i / across * blocks_.rows, from = i % across * block_row_bytes;
        std::int64_t high = std::min(blocks_.rows, count - top);
        const std::uint8_t *pixels = rows + top * row_bytes + from;
        if (worker.tile) {
            std::uint8_t *const tile = worker.tile.get();
            std::memset(tile, 0, static_cast<size_t>(blocks_.bytes));
            for (std::int64_t y = 0; y < high; ++y)
                std::memcpy(tile + y * block_row_bytes, pixels + y * row_bytes,
                            static_cast<size_t>(std::min(block_row_bytes, row_bytes - from)));
            pixels = tile;
            high = blocks_.rows;
        }
        worker.data = worker.encoder ? worker.encoder->encode(handle_->path, pixels, high)
                                     : std::span(pixels, static_cast<size_t>(high * block_row_bytes));
    };
    make_and_take(static_cast<int>(workers_.size()), blocks, make, [&](int number, std::int64_t i) {
        const auto data = workers_[static_cast<size_t>(number)].data;
        const auto put = settings_.tiled ? TIFFWriteRawTile : TIFFWriteRawStrip;
        errno = 0;  // this thread's
        handle_->check(put(handle_->tiff, static_cast<std::uint32_t>(index + i), const_cast<std::uint8_t *>(data.data()),
                           static_cast<tmsize_t>(data.size())) >= 0);
        report(static_cast<double>(i + 1) / static_cast<double>(blocks));
    });
}

void TiffWriter::end_page() {
    handle_->check(TIFFWriteDirectory(handle_->tiff) != 0);
    row_ = 0;
    if (++page_ < image_.pages) set_tags();
}

void TiffWriter::finish() {
    errno = 0;
    handle_->check(TIFFFlush(handle_->tiff) != 0);
    TIFFClose(handle_->tiff);
    handle_->tiff = nullptr;
    const bool flushed = handle_->bytes.flush();
    if (!flushed) handle_->messages.system = errno;
    handle_->check(flushed);
    file_.sync();
}

}  // namespace tool
