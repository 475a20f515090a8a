// Writes TIFF: strips or tiles, one page after the other.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "apsis.h"
#include "tool/io/tiff.h"
#include "tool/io/tiff_handle.h"

namespace tool {
namespace {

constexpr std::int64_t kStripBytes = 256 << 10;
constexpr std::int64_t kTileSide = 256;
constexpr double kLargestClassic = 4e9;

int sample_format(SampleFormat format) {
    switch (format) {
        case SampleFormat::kFloat: return SAMPLEFORMAT_IEEEFP;
        case SampleFormat::kSigned: return SAMPLEFORMAT_INT;
        default: return SAMPLEFORMAT_UINT;
    }
}

std::int64_t row_bytes_of(const TiffImage &image) { return image.width * image.samples * (image.bits / 8); }

/// Whether the pixels, and the tables that locate them, might not fit 32-bit offsets.
bool needs_bigtiff(const TiffImage &image, bool tiled, std::int64_t pages) {
    const auto whole_tiles = [tiled](std::int64_t extent) {
        return static_cast<double>(tiled ? (extent + kTileSide - 1) / kTileSide * kTileSide : extent);
    };
    const double page = whole_tiles(image.width) * whole_tiles(image.height) * image.samples * (image.bits / 8);
    // Incompressible data grows a little when deflated; each strip has two offsets, each page a directory.
    return (1.01 * page + 16.0 * static_cast<double>(image.height) + 1024) * static_cast<double>(pages) > kLargestClassic;
}

}  // namespace

struct TiffWriter::Handle {
    TIFF *tiff = nullptr;
    TiffMessages messages;
    std::string path;

    /// An unfinished file is closed as if it was opened to read.  Writing the rest could only fail again, and libtiff may crash
    /// then.
    ~Handle() {
        if (!tiff) return;
        TIFFSetMode(tiff, O_RDONLY);
        TIFFClose(tiff);
    }

    /// Throws if a call of libtiff failed or reported an error.
    void check(bool done) {
        if (done && !messages.error[0]) return;
        fail("cannot write " + quoted(path) + ": " +
             (messages.system     ? system_error(messages.system)
              : messages.error[0] ? messages.error
                                  : "no memory"));
    }
};

TiffWriter::TiffWriter(OutputFile &file, const OutputSettings &settings, const TiffImage &image, std::int64_t pages)
    : file_(file),
      settings_(settings),
      pages_(pages),
      handle_(new Handle) {
    const bool big = settings.bigtiff || needs_bigtiff(image, settings.tiled, pages);
    handle_->path = file.path();
    file.create();
    const int descriptor = dup(file.descriptor());
    errno = 0;
    handle_->tiff = open_tiff(descriptor, file.path(), big ? "w8" : "w", 0, handle_->messages);
    if (!handle_->tiff && descriptor >= 0) close(descriptor);
    handle_->check(handle_->tiff != nullptr);
}

TiffWriter::~TiffWriter() = default;

void TiffWriter::set_tags(const TiffImage &image) {
    TIFF *tiff = handle_->tiff;
    if (pages_ > 1) TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE);
    if (pages_ > 1 && pages_ <= UINT16_MAX)
        TIFFSetField(tiff, TIFFTAG_PAGENUMBER, static_cast<int>(page_), static_cast<int>(pages_));
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(image.width));
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(image.height));
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, image.bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, image.samples);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, sample_format(image.format));
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, image.samples == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, image.tags.orientation);
    if (image.tags.x_resolution > 0) {
        TIFFSetField(tiff, TIFFTAG_XRESOLUTION, static_cast<double>(image.tags.x_resolution));
        TIFFSetField(tiff, TIFFTAG_YRESOLUTION, static_cast<double>(image.tags.y_resolution));
        TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, image.tags.unit);
    }
    const std::string software = "apsis " + std::to_string(APSIS_VERSION_MAJOR) + "." + std::to_string(APSIS_VERSION_MINOR) +
                                 "." + std::to_string(APSIS_VERSION_PATCH);
    if (!TIFFSetField(tiff, TIFFTAG_SOFTWARE, software.c_str())) {
        // libtiff 4.5 counts a tag for which it has no memory, and crashes when it frees it: this handle is not closed.
        Handle *handle = handle_.release();
        handle->check(false);
    }
    if (settings_.compression == Compression::kDeflate) {
        handle_->check(TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE));
        TIFFSetField(tiff, TIFFTAG_PREDICTOR,
                     image.format == SampleFormat::kFloat ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
    }
}

void TiffWriter::write(const TiffImage &image, const Report &report) {
    errno = 0;
    set_tags(image);
    settings_.tiled ? write_tiles(image, report) : write_strips(image, report);
    handle_->check(TIFFWriteDirectory(handle_->tiff) != 0);
    ++page_;
}

void TiffWriter::write_strips(const TiffImage &image, const Report &report) {
    const std::int64_t row_bytes = row_bytes_of(image);
    const std::int64_t strip_rows = std::clamp<std::int64_t>(kStripBytes / row_bytes, 1, image.height);
    TIFFSetField(handle_->tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(strip_rows));
    std::vector<std::uint8_t> strip(static_cast<size_t>(strip_rows * row_bytes));
    std::uint32_t index = 0;
    for (std::int64_t y = 0; y < image.height; y += strip_rows, ++index) {
        const std::int64_t rows = std::min(strip_rows, image.height - y);
        for (std::int64_t row = 0; row < rows; ++row) image.rows(y + row, strip.data() + row * row_bytes);
        handle_->check(TIFFWriteEncodedStrip(handle_->tiff, index, strip.data(), rows * row_bytes) >= 0);
        report(static_cast<double>(y + rows) / static_cast<double>(image.height));
    }
}

void TiffWriter::write_tiles(const TiffImage &image, const Report &report) {
    TIFFSetField(handle_->tiff, TIFFTAG_TILEWIDTH, static_cast<std::uint32_t>(kTileSide));
    TIFFSetField(handle_->tiff, TIFFTAG_TILELENGTH, static_cast<std::uint32_t>(kTileSide));
    const std::int64_t row_bytes = row_bytes_of(image), tile_bytes = kTileSide * row_bytes / image.width;
    std::vector<std::uint8_t> band(static_cast<size_t>(kTileSide * row_bytes));
    std::vector<std::uint8_t> tile(static_cast<size_t>(kTileSide * tile_bytes));
    std::uint32_t index = 0;
    for (std::int64_t y = 0; y < image.height; y += kTileSide) {
        const std::int64_t rows = std::min(kTileSide, image.height - y);
        for (std::int64_t row = 0; row < rows; ++row) image.rows(y + row, band.data() + row * row_bytes);
        for (std::int64_t from = 0; from < row_bytes; from += tile_bytes, ++index) {
            std::fill(tile.begin(), tile.end(), std::uint8_t{0});
            for (std::int64_t row = 0; row < rows; ++row)
                std::memcpy(tile.data() + row * tile_bytes, band.data() + row * row_bytes + from,
                            static_cast<size_t>(std::min(tile_bytes, row_bytes - from)));
            handle_->check(TIFFWriteEncodedTile(handle_->tiff, index, tile.data(), kTileSide * tile_bytes) >= 0);
        }
        report(static_cast<double>(y + rows) / static_cast<double>(image.height));
    }
}

void TiffWriter::finish() {
    errno = 0;
    handle_->check(TIFFFlush(handle_->tiff) != 0);
    TIFFClose(handle_->tiff);
    handle_->tiff = nullptr;
    handle_->check(true);
    file_.sync();
}

}  // namespace tool
