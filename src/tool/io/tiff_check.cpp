// Checks data by its size, by its checksum, or by decoding it twice with different bits after its end.
#include "tool/io/tiff_check.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "tool/io/tiff_handle.h"

namespace tool {
namespace {

constexpr std::int64_t kPadding = 64;

bool is_fax(int compression) {
    return compression == COMPRESSION_CCITTFAX4 || compression == COMPRESSION_CCITTFAX3 ||
           compression == COMPRESSION_CCITTRLE || compression == COMPRESSION_CCITTRLEW;
}

bool is_deflate(int compression) { return compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE; }

/// The fewest bytes from which a codec can make some rows; 1 for codecs without a known bound.
double least_data(int compression, std::int64_t rows, double bytes) {
    if (is_fax(compression)) return static_cast<double>((rows + 7) / 8);  // a row equal to the row above it takes a bit
    switch (compression) {
        case COMPRESSION_NONE: return bytes;
        case COMPRESSION_PACKBITS: return bytes / 64;  // 128 bytes from 2
        case COMPRESSION_ADOBE_DEFLATE:
        case COMPRESSION_DEFLATE: return bytes / 1032;  // 258 bytes from 2 bits
        case COMPRESSION_LZW: return bytes / 4096;      // the whole table of 12 bits
        default: return 1;
    }
}

}  // namespace

std::string too_few_data(TIFF *tiff, const TiffPage &page, std::int64_t size) {
    if (page.block_width < 1 || page.block_height < 1) return "";
    // In double, since the sizes in a file may have any value, and their products could overflow.
    const double row_bytes = std::ceil(static_cast<double>(page.block_width) * page.bits * page.samples / 8);
    const std::int64_t across = (page.width + page.block_width - 1) / page.block_width;
    std::uint32_t index = 0;
    for (std::int64_t y = 0; y < page.height; y += page.block_height) {
        const std::int64_t rows = page.tiled ? page.block_height : std::min(page.block_height, page.height - y);
        const double least = least_data(page.compression, rows, row_bytes * static_cast<double>(rows));
        for (std::int64_t column = 0; column < across; ++column, ++index) {
            const std::uint64_t offset = TIFFGetStrileOffset(tiff, index), end = static_cast<std::uint64_t>(size);
            const std::uint64_t data =
                offset == 0 || offset > end ? 0 : std::min(TIFFGetStrileByteCount(tiff, index), end - offset);
            if (data > 0 && static_cast<double>(data) >= least) continue;
            return "has " + (data ? "only " + std::to_string(data) + " bytes" : std::string("nothing")) + " in " +
                   (page.tiled ? "tile " : "strip ") + std::to_string(index) + " for " + std::to_string(page.block_width) +
                   " x " + std::to_string(rows) + " pixels, compression " + page.compression_name;
        }
    }
    return "";
}

int decodings(int compression) { return is_fax(compression) ? 2 : 1; }

DataCheck::DataCheck(TIFF *tiff, TiffMessages &messages, const TiffPage &page, std::int64_t size, std::int64_t block_bytes)
    : tiff_(tiff),
      messages_(messages),
      page_(page),
      size_(size) {
    if (decodings(page.compression) > 1) again_ = allocate(block_bytes, 1, "a tile or strip that is decoded twice");
}

size_t DataCheck::read_raw(std::uint32_t index) {
    const auto count = static_cast<std::int64_t>(TIFFGetStrileByteCount(tiff_, index));
    const std::int64_t size = std::clamp<std::int64_t>(count, 0, size_);
    raw_.resize(static_cast<size_t>(size + kPadding));
    const tmsize_t got =
        page_.tiled ? TIFFReadRawTile(tiff_, index, raw_.data(), size) : TIFFReadRawStrip(tiff_, index, raw_.data(), size);
    std::fill(raw_.begin() + std::max<std::int64_t>(got, 0), raw_.end(), std::uint8_t{0xFF});
    return static_cast<size_t>(std::max<tmsize_t>(got, 0));
}

/// Whether the Deflate stream ends, and with the right checksum.  libtiff does not check for its end.  Where the stream breaks
/// off in the last pixels, libtiff accepts pixels that are not in the data.
bool DataCheck::inflates(size_t size) {
    if (page_.lowest_bit_first) TIFFReverseBits(raw_.data(), static_cast<tmsize_t>(size));
    z_stream stream = {};
    if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
    std::uint8_t pixels[1 << 14];
    size_t at = 0;
    int result = Z_OK;
    while (result == Z_OK) {  // until the stream ends; at the end of the data zlib reports that there is no progress
        if (stream.avail_in == 0) {
            stream.next_in = raw_.data() + at;
            stream.avail_in = static_cast<uInt>(std::min<size_t>(size - at, 1 << 30));
            at += stream.avail_in;
        }
        stream.next_out = pixels;
        stream.avail_out = sizeof pixels;
        result = inflate(&stream, Z_NO_FLUSH);
    }
    inflateEnd(&stream);
    return result == Z_STREAM_END;
}

/// Fax codes have no checksum, and their end may be left out.  The decoder reads zeroes after the end of the data.  If ones
/// there give other pixels, then some pixels are not in the data.
bool DataCheck::decodes_alike(std::uint32_t index, const std::uint8_t *pixels, std::int64_t bytes) {
    const TiffMessages before = messages_;
    std::memset(again_.get(), 0, static_cast<size_t>(bytes));
    const bool done =
        TIFFReadFromUserBuffer(tiff_, index, raw_.data(), static_cast<tmsize_t>(raw_.size()), again_.get(), bytes);
    messages_ = before;
    return done && std::memcmp(again_.get(), pixels, static_cast<size_t>(bytes)) == 0;
}

/// JBIG data state their size and number of planes, and libjbig does not check either: it may decode for minutes, or abort
/// the process where memory runs out.  libtiff stores bits in the opposite of the order that it states.
bool DataCheck::fits(std::uint32_t index) {
    if (page_.compression != COMPRESSION_JBIG) return true;
    std::uint8_t head[12] = {};
    page_.tiled ? TIFFReadRawTile(tiff_, index, head, sizeof head) : TIFFReadRawStrip(tiff_, index, head, sizeof head);
    if (!page_.lowest_bit_first) TIFFReverseBits(head, sizeof head);
    const auto number = [&head](int at) {
        return static_cast<std::int64_t>(head[at]) << 24 | head[at + 1] << 16 | head[at + 2] << 8 | head[at + 3];
    };
    return head[2] == 1 && number(4) == page_.block_width && number(8) <= page_.block_height;
}

bool DataCheck::whole(std::uint32_t index, const std::uint8_t *pixels, std::int64_t bytes) {
    if (is_deflate(page_.compression)) return inflates(read_raw(index));
    if (!is_fax(page_.compression)) return true;
    read_raw(index);
    return decodes_alike(index, pixels, bytes);
}

}  // namespace tool
