// Reads TIFF: tags of every page, then samples, a strip or a tile at a time.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tool/io/raster.h"
#include "tool/io/tiff.h"
#include "tool/io/tiff_check.h"
#include "tool/io/tiff_handle.h"

#include <unistd.h>

namespace tool {
namespace {

/// No tag array or compressed strip of a sound file is larger than this, or than a few times the file.
constexpr std::int64_t kLargestAllocation = std::int64_t{1} << 28;

SampleFormat format_of(TIFF *tiff) {
    std::uint16_t format = SAMPLEFORMAT_UINT;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &format);
    switch (format) {
        case SAMPLEFORMAT_UINT:
        case SAMPLEFORMAT_VOID: return SampleFormat::kUnsigned;
        case SAMPLEFORMAT_INT: return SampleFormat::kSigned;
        case SAMPLEFORMAT_IEEEFP: return SampleFormat::kFloat;
        default: return SampleFormat::kOther;
    }
}

std::uint16_t short_tag(TIFF *tiff, std::uint32_t tag, std::uint16_t otherwise) {
    std::uint16_t value = 0;
    return TIFFGetFieldDefaulted(tiff, tag, &value) ? value : otherwise;
}

TiffTags tags_of(TIFF *tiff) {
    TiffTags tags;
    if (!TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &tags.x_resolution) ||
        !TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &tags.y_resolution) || !(tags.x_resolution > 0) || !(tags.y_resolution > 0))
        tags.x_resolution = tags.y_resolution = 0;
    tags.unit = short_tag(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
    tags.orientation = short_tag(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    return tags;
}

TiffPage page_of(TIFF *tiff, std::int64_t size) {
    TiffPage page = {};
    std::uint32_t width = 0, height = 0, block_width = 0, block_height = 0;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    page.offset = TIFFCurrentDirOffset(tiff);
    page.width = width;
    page.height = height;
    page.bits = short_tag(tiff, TIFFTAG_BITSPERSAMPLE, 1);
    page.samples = short_tag(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    page.format = format_of(tiff);
    std::uint16_t photometric = 0;
    if (TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric)) page.photometric = photometric;
    page.compression = short_tag(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    const TIFFCodec *codec = TIFFFindCODEC(static_cast<std::uint16_t>(page.compression));
    page.compression_name = codec ? codec->name : "number " + std::to_string(page.compression);
    page.tiled = TIFFIsTiled(tiff) != 0;
    if (page.tiled) {
        TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &block_width);
        TIFFGetField(tiff, TIFFTAG_TILELENGTH, &block_height);
    } else {
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &block_height);
        block_width = width;
        block_height = std::min(block_height, height);
    }
    page.block_width = block_width;
    page.block_height = block_height;
    page.lowest_bit_first = short_tag(tiff, TIFFTAG_FILLORDER, FILLORDER_MSB2LSB) == FILLORDER_LSB2MSB;
    page.tags = tags_of(tiff);
    page.doubt = too_few_data(tiff, page, size);
    return page;
}

/// Whether a page is a reduced copy or a transparency mask of another.
bool secondary(TIFF *tiff) {
    std::uint32_t type = 0;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &type);
    return (type & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
}

/// What the first bytes say a file is, for formats that may be taken for TIFF; nullptr for others.
const char *other_format(int descriptor) {
    char head[6] = "";
    if (pread(descriptor, head, sizeof head, 0) < 3) return nullptr;
    const auto begins = [&head](std::string_view bytes) { return std::equal(bytes.begin(), bytes.end(), head); };
    if (begins("\x89PNG")) return "PNG";
    if (begins("\xff\xd8\xff")) return "JPEG";
    if (begins("\x93NUMPY")) return "NPY";
    const bool is_pnm = head[0] == 'P' && '1' <= head[1] && head[1] <= '7';
    return is_pnm && std::string_view("\t\n\r ").find(head[2]) != std::string_view::npos ? "PNM" : nullptr;
}

}  // namespace

struct TiffReader::Handle {
    TIFF *tiff = nullptr;
    TiffMessages messages;

    ~Handle() {
        if (tiff) TIFFClose(tiff);
    }
};

TiffReader::TiffReader(const std::string &path, bool tolerate) : path_(path), tolerate_(tolerate), handle_(new Handle) {
    const int descriptor = open_input(path);
    size_ = lseek(descriptor, 0, SEEK_END);
    lseek(descriptor, 0, SEEK_SET);
    // Without memory mapping (m): a file that shrinks while it is read must be an error, not a crash.
    handle_->tiff = open_tiff(descriptor, path, "rm", std::max(kLargestAllocation, 4 * size_), handle_->messages);
    if (!handle_->tiff) {
        const char *const other = other_format(descriptor);
        close(descriptor);
        fail("cannot read " + quoted(path) + ": " +
             (size_ == 0                   ? "it is empty"
              : other                      ? std::string("it is ") + other + ", but only TIFF is read"
              : handle_->messages.error[0] ? handle_->messages.error
                                           : "no memory"));
    }
    list_pages();
}

TiffReader::~TiffReader() = default;

void TiffReader::list_pages() {
    TIFF *tiff = handle_->tiff;
    for (bool first = true;; first = false) {
        if (first || !secondary(tiff)) {
            pages_.push_back(page_of(tiff, size_));
            std::string &doubt = pages_.back().doubt;
            if (doubt.empty() && handle_->messages.sizes_guessed) doubt = "says wrongly how long its strips are";
        } else {
            ++left_out_;
        }
        handle_->messages.forget();  // warnings about unknown tags, which do not matter
        if (pending_signal()) throw Interrupted{pending_signal()};
        if (TIFFLastDirectory(tiff)) return;
        if (!TIFFReadDirectory(tiff))
            fail("cannot read " + quoted(path_) + " beyond page " + std::to_string(pages_.size()) + ": " +
                 (handle_->messages.error[0] ? handle_->messages.error : "its list of pages is damaged"));
    }
}

bool TiffReader::bigtiff() const { return TIFFIsBigTIFF(handle_->tiff) != 0; }

bool TiffReader::big_endian() const { return TIFFIsBigEndian(handle_->tiff) != 0; }

std::string TiffReader::warning() const {
    const TiffMessages &messages = handle_->messages;
    if (messages.warnings == 0) return "";
    return std::string(messages.warning) +
           (messages.warnings > 1 ? " (and " + std::to_string(messages.warnings - 1) + " more)" : "");
}

void TiffReader::read_tile_or_strip(std::uint32_t index, std::uint8_t *buffer, std::int64_t bytes, DataCheck &check) {
    TIFF *tiff = handle_->tiff;
    TiffMessages &messages = handle_->messages;
    const bool tiled = TIFFIsTiled(tiff) != 0;
    const auto refuse = [&](const std::string &why) {
        fail("cannot read " + quoted(path_) + ": " + (tiled ? "tile " : "strip ") + std::to_string(index) + ": " + why);
    };
    const int before = messages.warnings;
    std::memset(buffer, 0, static_cast<size_t>(bytes));  // pixels that a decoder leaves out must not keep older values
    if (TIFFGetStrileOffset(tiff, index) == 0 || TIFFGetStrileByteCount(tiff, index) == 0) {
        messages.warn("it is missing");
    } else {
        if (!check.fits(index)) refuse("its data are of another size");
        const tmsize_t got =
            tiled ? TIFFReadEncodedTile(tiff, index, buffer, bytes) : TIFFReadEncodedStrip(tiff, index, buffer, bytes);
        // Some decoders report damage and go on with pixels that are not in the file.
        if (got != bytes || messages.error[0]) refuse(messages.error[0] ? messages.error : "it is too short");
        if (messages.warnings == before && !check.whole(index, buffer, bytes))
            messages.warn("its data is damaged or ends too early");
    }
    if (messages.warnings > 0 && !tolerate_) refuse(std::string(messages.warning) + "; --tolerate goes on");
}

void TiffReader::read(size_t number, const SampleSink &sink, const Report &report) {
    TIFF *tiff = handle_->tiff;
    const TiffPage &page = pages_[number];
    if (TIFFCurrentDirOffset(tiff) != page.offset && !TIFFSetSubDirectory(tiff, page.offset))
        fail("cannot read page " + std::to_string(number + 1) + " of " + quoted(path_) + ": " + handle_->messages.error);
    handle_->messages.forget();
    if (!page.doubt.empty()) handle_->messages.warn(("it " + page.doubt).c_str());
    if (!TIFFIsCODECConfigured(static_cast<std::uint16_t>(page.compression)))
        fail("cannot read " + quoted(path_) + ": this libtiff does not have its compression, " + page.compression_name);
    if (page.block_width < 1 || page.block_height < 1 || (page.tiled && page.block_width % 8 != 0))
        fail("cannot read " + quoted(path_) + ": its tiles or strips are " + std::to_string(page.block_width) + " x " +
             std::to_string(page.block_height) + " pixels, which TIFF does not allow");

    const std::int64_t row_bytes = (page.block_width * page.bits + 7) / 8;
    const std::string block = "a tile or strip of " + std::to_string(page.block_width) + " x " +
                              std::to_string(page.block_height) + " pixels of " + quoted(path_);
    const Memory buffer = allocate(row_bytes, page.block_height, block);
    DataCheck check(tiff, handle_->messages, page, size_, row_bytes * page.block_height);
    std::uint32_t index = 0;
    for (std::int64_t y = 0; y < page.height; y += page.block_height)
        for (std::int64_t x = 0; x < page.width; x += page.block_width, ++index) {
            const std::int64_t rows = std::min(page.block_height, page.height - y);
            // A tile has its full height even at the border of the page; a strip does not.
            read_tile_or_strip(index, buffer.get(), row_bytes * (page.tiled ? page.block_height : rows), check);
            for (std::int64_t row = 0; row < rows; ++row)
                sink(x, y + row, std::min(page.block_width, page.width - x), buffer.get() + row * row_bytes);
            report(static_cast<double>(y + rows) / static_cast<double>(page.height));
        }
}

}  // namespace tool
