// Pixels in host memory that the command owns, with the library's description of them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "apsis.h"

namespace tool {

struct FreeMemory {
    std::int64_t bytes = 0;
    void operator()(std::uint8_t *memory) const;
};
/// Bytes that --memory counts; zero at first.
using Memory = std::unique_ptr<std::uint8_t[], FreeMemory>;

/// Allocates `count` times `size` bytes, or throws a Failure that names `what`.
Memory allocate(std::int64_t size, std::int64_t count, const std::string &what);
/// Makes such memory larger, and keeps what is in it.
void enlarge(Memory &memory, std::int64_t size, std::int64_t count, const std::string &what);
/// Limits the sum of all such memory to this many bytes.  Without a call the limit is the machine's memory.
void limit_memory(std::int64_t bytes);

/// Width, height, and depth: slices of a volume, or pages of a batch.
struct Shape {
    std::int64_t width = 0, height = 0, depth = 1;
    int dimensions = 2;

    /// Fails if the library does not take such an image.
    void check() const;
    std::int64_t pixels() const { return width * height * depth; }
    std::string words() const {
        return std::to_string(width) + " x " + std::to_string(height) + (depth > 1 ? " x " + std::to_string(depth) : "") +
               " pixels";
    }
    /// The last axis, across which an image is cut into slabs; and what of it is in a slab.
    std::int64_t extent() const { return dimensions == 3 ? depth : height; }
    std::int64_t columns() const { return dimensions == 3 ? width * height : width; }
    /// Its flag, in the options of an image that closes on itself along it.
    std::uint32_t cut_axis() const { return std::uint32_t{APSIS_PERIODIC_X} << (dimensions - 1); }
    Shape cut_to(std::int64_t extent) const {
        return dimensions == 3 ? Shape{width, height, extent, 3} : Shape{width, extent, 1, 2};
    }
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
    /// Bytes of so many rows, in 3-D planes; and the library's description of some.
    std::int64_t bytes_of(std::int64_t extent) const { return extent * row_bytes_ * shape_.columns() / shape_.width; }
    apsis_image part(std::int64_t start, std::int64_t extent) const;

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
