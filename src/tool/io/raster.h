// Pixels in host memory that the command owns, with the library's description of them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "apsis.h"

namespace tool {

struct FreeMemory {
    std::int64_t bytes = 0;
    void operator()(std::uint8_t *memory) const;
};
/// Bytes that --max-memory counts; zero at first.
using Memory = std::unique_ptr<std::uint8_t[], FreeMemory>;

/// Allocates `count` times `size` bytes, or throws a Failure that names `what`.
Memory allocate(std::int64_t size, std::int64_t count, const std::string &what);
/// Limits the sum of all such memory to this many bytes.  Without a call the limit is the machine's memory.
void limit_memory(std::int64_t bytes);

/// Width, height, and depth: slices of a volume, or pages of a batch.
struct Shape {
    std::int64_t width = 0, height = 0, depth = 1;
    int dimensions = 2;

    std::int64_t pixels() const { return width * height * depth; }
};

class Raster {
  public:
    Raster() = default;
    /// Allocates zeroes, or throws a Failure that names `what`.
    Raster(apsis_type type, const Shape &shape, const char *what);

    explicit operator bool() const { return memory_ != nullptr; }
    const apsis_image *image() const { return memory_ ? &image_ : nullptr; }
    apsis_type type() const { return image_.type; }
    const Shape &shape() const { return shape_; }
    std::int64_t row_bytes() const { return row_bytes_; }

    /// The first byte of a row.
    std::uint8_t *row(std::int64_t y, std::int64_t z) const { return memory_.get() + (z * shape_.height + y) * row_bytes_; }
    /// A row as numbers of the raster's type.
    template <class Pixel>
    Pixel *row_of(std::int64_t y, std::int64_t z) const {
        return reinterpret_cast<Pixel *>(row(y, z));
    }

  private:
    Shape shape_;
    std::int64_t row_bytes_ = 0;
    apsis_image image_ = {};
    Memory memory_;
};

/// Bits of a pixel.
int bits_of(apsis_type type);

/// Calls `body` with a zero of the C++ type of a distance or an index, so that it can be a template.
template <class Body>
auto with_type(apsis_type type, Body body) {
    switch (type) {
        case APSIS_I32: return body(std::int32_t{});
        case APSIS_I64: return body(std::int64_t{});
        case APSIS_F64: return body(double{});
        default: return body(float{});
    }
}

}  // namespace tool
