// A tile or strip becomes the only strip of a TIFF file in memory, from which its data are taken: libtiff compresses only what
// it writes to a file, and only one thread may use a file.
#include "tool/io/tiff_encoder.h"

#include <algorithm>
#include <cstring>

#include "tool/io/tiff_handle.h"

namespace tool {

namespace {

/// Of Deflate and Zstandard.  Distances of text, noise and blobs take a half to a quarter of the time that they take with
/// libtiff's levels, 6 and 9, and files are 4 to 14 % larger.
constexpr int kLevel = 3;

int codec_of(Compression compression) {
    switch (compression) {
        case Compression::kDeflate: return COMPRESSION_ADOBE_DEFLATE;
        case Compression::kZstd: return COMPRESSION_ZSTD;
        case Compression::kLzw: return COMPRESSION_LZW;
        default: return COMPRESSION_NONE;
    }
}

int sample_format(SampleFormat format) {
    switch (format) {
        case SampleFormat::kFloat: return SAMPLEFORMAT_IEEEFP;
        case SampleFormat::kSigned: return SAMPLEFORMAT_INT;
        default: return SAMPLEFORMAT_UINT;
    }
}

}  // namespace

bool has_codec(Compression compression) {
    return TIFFIsCODECConfigured(static_cast<std::uint16_t>(codec_of(compression))) != 0;
}

void set_samples(TIFF *tiff, const TiffImage &image) {
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, image.bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, image.samples);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, sample_format(image.format));
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, image.samples == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
}

bool set_compression(TIFF *tiff, Compression compression, SampleFormat format) {
    if (compression == Compression::kNone) return true;
    if (!TIFFSetField(tiff, TIFFTAG_COMPRESSION, codec_of(compression))) return false;
    if (compression == Compression::kDeflate) TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, kLevel);
    if (compression == Compression::kZstd) TIFFSetField(tiff, TIFFTAG_ZSTD_LEVEL, kLevel);
    TIFFSetField(tiff, TIFFTAG_PREDICTOR, format == SampleFormat::kFloat ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
    return true;
}

struct TiffEncoder::MemoryFile final : TiffHandle {
    std::uint8_t *bytes;
    off_t room, end = 0;

    MemoryFile(std::uint8_t *memory, std::int64_t size) : bytes(memory), room(size) {}

    ssize_t get(void *to, size_t count, off_t from) override {
        const off_t some = std::clamp<off_t>(end - from, 0, static_cast<off_t>(count));
        std::memcpy(to, bytes + from, static_cast<size_t>(some));
        return some;
    }
    ssize_t put(void *from, size_t count, off_t to) override {
        const off_t some = std::clamp<off_t>(room - to, 0, static_cast<off_t>(count));
        std::memcpy(bytes + to, from, static_cast<size_t>(some));
        end = std::max(end, to + some);
        return some;
    }
    off_t size() override { return end; }
};

TiffEncoder::TiffEncoder(Compression compression, const TiffImage &image, std::int64_t width, std::int64_t rows)
    : compression_(compression),
      image_(image),
      room_(bytes_of(rows * (image.row_bytes() / image.width) * width)),
      memory_(allocate(room_, 1, "a compressed tile or strip")) {
    image_.width = width;
}

std::span<const std::uint8_t> TiffEncoder::encode(const std::string &path, const std::uint8_t *pixels, std::int64_t rows) {
    errno = 0;
    MemoryFile file(memory_.get(), room_);
    file.check(file.open(path, "w8"), path);
    TIFF *const tiff = file.tiff;
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(image_.width));
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(rows));
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(rows));
    set_samples(tiff, image_);
    file.check(set_compression(tiff, compression_, image_.format), path);
    file.check(TIFFWriteEncodedStrip(tiff, 0, const_cast<std::uint8_t *>(pixels), rows * image_.row_bytes()) >= 0, path);
    return {memory_.get() + TIFFGetStrileOffset(tiff, 0), static_cast<size_t>(TIFFGetStrileByteCount(tiff, 0))};
}

}  // namespace tool
