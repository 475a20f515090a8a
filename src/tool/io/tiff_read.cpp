// Reads TIFF: tags of every page, then samples, a strip or a tile at a time.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tool/io/raster.h"
#include "tool/io/tiff.h"
#include "tool/io/tiff_check.h"
#include "tool/io/tiff_handle.h"
#include "tool/parallel.h"

#include <unistd.h>

namespace tool {
namespace {

/// No tag array or compressed strip of a sound file is larger than this, or than a few times the file.
constexpr std::int64_t kLargestAllocation = std::int64_t{1} << 28;

/// Where tiles or strips are as large as this together, no further thread decodes.
constexpr double kDecodedAtOnce = 256 << 20;
/// Threads start anew after this many tiles or strips for each; earlier, if as a set their rows have so many bytes, or are such
/// a part of the page.
constexpr std::int64_t kBlocksForWorker = 64, kBytesAtOnce = 16 << 20, kReports = 16;

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

TiffReader::TiffReader(const std::string &path, bool tolerate, std::int64_t threads)
    : path_(path),
      tolerate_(tolerate),
      workers_(workers_of(threads)),
      file_(path) {
    const TiffHandle &handle = open_handle();
    if (!handle.tiff) {
        const char *const other = other_format(file_.descriptor());
        const std::string why = file_.size() == 0          ? "it is empty"
                                : other                    ? std::string("it is ") + other + ", not TIFF"
                                : handle.messages.error[0] ? handle.messages.error
                                                           : "no memory";
        fail("cannot read " + quoted(path) + ": " + why);
    }
    list_pages();
}

TiffReader::~TiffReader() = default;

TiffHandle &TiffReader::open_handle() {
    handles_.push_back(std::make_unique<TiffHandle>(file_.descriptor()));
    // Without memory mapping (m): a file that shrinks while it is read must be an error, not a crash.
    handles_.back()->open(path_, "rm", std::max(kLargestAllocation, 4 * file_.size()));
    return *handles_.back();
}

void TiffReader::list_pages() {
    TIFF *tiff = handles_[0]->tiff;
    TiffMessages &messages = handles_[0]->messages;
    for (bool first = true;; first = false) {
        if (first || !secondary(tiff)) {
            pages_.push_back(page_of(tiff, file_.size()));
            std::string &doubt = pages_.back().doubt;
            if (doubt.empty() && messages.sizes_guessed) doubt = "says wrongly how long its strips are";
        } else {
            ++left_out_;
        }
        messages.forget();  // warnings about unknown tags, which do not matter
        if (pending_signal()) throw Interrupted{pending_signal()};
        if (TIFFLastDirectory(tiff)) return;
        if (!TIFFReadDirectory(tiff))
            fail("cannot read " + quoted(path_) + " beyond page " + std::to_string(pages_.size()) + ": " +
                 (messages.error[0] ? messages.error : "its list of pages is damaged"));
    }
}

bool TiffReader::bigtiff() const { return TIFFIsBigTIFF(handles_[0]->tiff) != 0; }

bool TiffReader::big_endian() const { return TIFFIsBigEndian(handles_[0]->tiff) != 0; }

std::string TiffReader::warning() const {
    if (warnings_ == 0) return "";
    return warning_ + (warnings_ > 1 ? " (and " + std::to_string(warnings_ - 1) + " more)" : "");
}

void TiffReader::warn(const char *sentence, int count) {
    if (count > 0 && warnings_ == 0) warning_ = sentence;
    warnings_ += count;
}

/// What a thread needs to decode tiles or strips.
struct TiffReader::Decoder {
    TiffHandle &handle;
    Memory buffer;
    DataCheck check;

    Decoder(TiffHandle &of, const TiffPage &page, std::int64_t size, Memory memory, std::int64_t bytes)
        : handle(of),
          buffer(std::move(memory)),
          check(of.tiff, of.messages, page, size, bytes) {}
};

void TiffReader::decode(Decoder &decoder, std::uint32_t index, std::int64_t bytes) const {
    TIFF *tiff = decoder.handle.tiff;
    TiffMessages &messages = decoder.handle.messages;
    std::uint8_t *const buffer = decoder.buffer.get();
    const bool tiled = TIFFIsTiled(tiff) != 0;
    const auto refuse = [&](const std::string &why) {
        fail("cannot read " + quoted(path_) + ": " + (tiled ? "tile " : "strip ") + std::to_string(index) + ": " + why);
    };
    messages.forget();
    std::memset(buffer, 0, static_cast<size_t>(bytes));  // pixels that a decoder leaves out must not keep older values
    if (TIFFGetStrileOffset(tiff, index) == 0 || TIFFGetStrileByteCount(tiff, index) == 0) {
        messages.warn("it is missing");
    } else {
        if (!decoder.check.fits(index)) refuse("its data are of another size");
        const tmsize_t got =
            tiled ? TIFFReadEncodedTile(tiff, index, buffer, bytes) : TIFFReadEncodedStrip(tiff, index, buffer, bytes);
        // Some decoders report damage and go on with pixels that are not in the file.
        if (got != bytes || messages.error[0]) refuse(messages.error[0] ? messages.error : "it is too short");
        if (messages.warnings == 0 && !decoder.check.whole(index, buffer, bytes))
            messages.warn("its data is damaged or ends too early");
    }
    if (messages.warnings > 0 && !tolerate_) refuse(std::string(messages.warning) + "; --tolerate goes on");
}

/// The handle of a thread, turned to a page.
TiffHandle &TiffReader::handle_of(int worker, size_t number) {
    const size_t at = static_cast<size_t>(worker);
    TiffHandle &handle = at < handles_.size() ? *handles_[at] : open_handle();
    const std::uint64_t offset = pages_[number].offset;
    if (!handle.tiff || (TIFFCurrentDirOffset(handle.tiff) != offset && !TIFFSetSubDirectory(handle.tiff, offset)))
        fail("cannot read page " + std::to_string(number + 1) + " of " + quoted(path_) + ": " +
             (handle.messages.error[0] ? handle.messages.error : "no memory"));
    return handle;
}

/// How many threads decode a page.
int TiffReader::decoding_threads(size_t number) const {
    const TiffPage &page = pages_[number];
    const double bytes = static_cast<double>(page.block_row_bytes()) * static_cast<double>(page.block_height);
    const double affordable = std::clamp(kDecodedAtOnce / bytes, 1.0, static_cast<double>(workers_));
    return static_cast<int>(std::min(static_cast<std::int64_t>(affordable), page.blocks()));
}

std::int64_t TiffReader::reading_bytes(size_t number) const {
    const TiffPage &page = pages_[number];
    if (!page.has_blocks()) return 0;  // read() refuses it
    // A damaged file may claim anything.
    const double bytes = static_cast<double>(page.block_row_bytes()) * static_cast<double>(page.block_height) *
                         decoding_threads(number) * decodings(page.compression);
    return static_cast<std::int64_t>(std::min(bytes, 0x1p60));
}

std::int64_t TiffReader::rows_at_once(size_t number) const {
    const TiffPage &page = pages_[number];
    if (!page.has_blocks()) return 1;  // read() refuses it
    const std::int64_t rows = page.block_height;
    const std::int64_t useful = (std::int64_t{workers_} * kBlocksForWorker + page.blocks_across() - 1) / page.blocks_across();
    const std::int64_t set_row = (page.width + 7) / 8;
    const std::int64_t affordable = std::min(kBytesAtOnce, set_row * page.height / kReports) / (set_row * rows);
    return std::clamp<std::int64_t>(affordable, 1, useful) * rows;
}

void TiffReader::read(size_t number, std::int64_t from, std::int64_t to, const BlockSink &sink, const RowsReport &report) {
    const TiffPage &page = pages_[number];
    warnings_ = 0;
    if (!page.doubt.empty()) warn(("it " + page.doubt).c_str(), 1);
    if (warnings_ > 0 && !tolerate_) fail("cannot read " + quoted(path_) + ": " + warning_ + "; --tolerate goes on");
    if (!TIFFIsCODECConfigured(static_cast<std::uint16_t>(page.compression)))
        fail("cannot read " + quoted(path_) + ": this libtiff does not have its compression, " + page.compression_name);
    if (!page.has_blocks())
        fail("cannot read " + quoted(path_) + ": its tiles or strips are " + std::to_string(page.block_width) + " x " +
             std::to_string(page.block_height) + " pixels, which TIFF does not allow");

    const std::int64_t row_bytes = page.block_row_bytes();
    const std::string block = "a tile or strip of " + std::to_string(page.block_width) + " x " +
                              std::to_string(page.block_height) + " pixels of " + quoted(path_);
    std::vector<std::unique_ptr<Decoder>> decoders;
    for (int worker = 0; worker < decoding_threads(number); ++worker) {
        TiffHandle &handle = handle_of(worker, number);
        Memory buffer = allocate(row_bytes, page.block_height, block);
        decoders.push_back(
            std::make_unique<Decoder>(handle, page, file_.size(), std::move(buffer), row_bytes * page.block_height));
    }
    const std::int64_t across = page.blocks_across(), at_once = rows_at_once(number);
    for (std::int64_t top = from / page.block_height * page.block_height; top < to; top += at_once) {
        const std::int64_t end = std::min(top + at_once, to);
        const std::int64_t first = top / page.block_height * across;
        const std::int64_t count = (end - top + page.block_height - 1) / page.block_height * across;
        make_and_take(
            static_cast<int>(decoders.size()), count,
            [&](int worker, std::int64_t i) {
                Decoder &decoder = *decoders[static_cast<size_t>(worker)];
                const std::int64_t index = first + i, x = index % across * page.block_width;
                const std::int64_t y = index / across * page.block_height;
                const std::int64_t rows = std::min(page.block_height, page.height - y);
                // A tile has its full height even at the border of the page; a strip does not.
                decode(decoder, static_cast<std::uint32_t>(index), row_bytes * (page.tiled ? page.block_height : rows));
                sink({x, y, std::min(page.block_width, page.width - x), rows, decoder.buffer.get(), row_bytes});
            },
            [&](int worker, std::int64_t) {
                const TiffMessages &messages = decoders[static_cast<size_t>(worker)]->handle.messages;
                warn(messages.warning, messages.warnings);
            });
        report(end);
    }
    if (file_.changed()) fail("cannot read " + quoted(path_) + ": it has changed meanwhile");
}

}  // namespace tool
