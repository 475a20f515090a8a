// Checks whether the data of a TIFF file match its tags.  Decoders do not always report it: some read zeroes after the end of a
// strip and go on.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tool/io/raster.h"
#include "tool/io/tiff.h"

namespace tool {

struct TiffMessages;

/// Why the tiles or strips of a page cannot hold its pixels; "" if they can.  `size` is the file's.
std::string too_few_data(TIFF *tiff, const TiffPage &page, std::int64_t size);

/// How often data of this compression are decoded: once, or another time to check them.
int decodings(int compression);

/// Checks data again that a decoder has accepted without an error.
class DataCheck {
  public:
    /// For a file of `size` bytes, and tiles or strips of up to `block_bytes` when they are decoded.
    DataCheck(TIFF *tiff, TiffMessages &messages, const TiffPage &page, std::int64_t size, std::int64_t block_bytes);

    /// Whether the data of a tile or strip have its size, so that it is safe to decode them.
    bool fits(std::uint32_t index);

    /// Whether these pixels of a tile or strip come from its data alone, and its data is complete.
    bool whole(std::uint32_t index, const std::uint8_t *pixels, std::int64_t bytes);

  private:
    /// Reads the data as it is stored into `raw_`, with some bytes of ones after it; returns its size.
    size_t read_raw(std::uint32_t index);
    bool inflates(size_t size);
    bool decodes_alike(std::uint32_t index, const std::uint8_t *pixels, std::int64_t bytes);

    TIFF *tiff_;
    TiffMessages &messages_;
    const TiffPage &page_;
    std::int64_t size_;
    std::vector<std::uint8_t> raw_;
    Memory again_;
};

}  // namespace tool
