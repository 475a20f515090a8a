// Compresses tiles and strips of TIFF files, in memory.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <span>
#include <string>

#include "tool/io/raster.h"
#include "tool/io/tiff.h"
#include "tool/settings.h"

namespace tool {

/// Whether this libtiff has the codec.
bool has_codec(Compression compression);

/// Sets the tags of what a pixel is, and of how the data are compressed; the second may fail.
void set_samples(TIFF *tiff, const TiffImage &image);
bool set_compression(TIFF *tiff, Compression compression, SampleFormat format);

/// Makes what libtiff would write for a tile or strip.  A thread needs one of its own.
class TiffEncoder {
  public:
    /// For tiles or strips of this width, and of up to `rows` rows.
    TiffEncoder(Compression compression, const TiffImage &image, std::int64_t width, std::int64_t rows);

    /// Memory that it takes for tiles or strips of so many bytes.  No codec makes more than twice as much of anything.
    static std::int64_t bytes_of(std::int64_t block) { return 2 * block + 4096; }

    /// The data of a tile or strip, valid until the next call.  `path` is for what fails.
    std::span<const std::uint8_t> encode(const std::string &path, const std::uint8_t *pixels, std::int64_t rows);

  private:
    struct MemoryFile;

    Compression compression_;
    TiffImage image_;  // of one tile or strip
    std::int64_t room_;
    Memory memory_;
};

}  // namespace tool
