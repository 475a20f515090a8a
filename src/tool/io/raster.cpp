// Allocates pixels.  A size that is not available is an error before any memory is touched.
#include "tool/io/raster.h"

#include <atomic>
#include <string>

#include "tool/failure.h"
#include "tool/io/memory.h"

namespace tool {

namespace {

constexpr std::int64_t kLongestExtent = std::int64_t{1} << 30;  // the library's limit
constexpr double kMostPixels = 0x1p56;

std::atomic<std::int64_t> held{0};  // bytes of memory

/// The most that may be held.
std::int64_t &most() {
    static std::int64_t bytes = physical_memory();
    return bytes;
}

/// `count` times `size` bytes beside `others`, or throws a Failure if that is more than there may be.
std::int64_t check_room(std::int64_t size, std::int64_t count, std::int64_t others, const std::string &what) {
    std::int64_t bytes = 0;
    const bool overflows = __builtin_mul_overflow(size, count, &bytes);
    if (!overflows && bytes <= most() - others) return bytes;
    throw Failure{kStatus + APSIS_ERROR_MEMORY,
                  "memory with " + what + " would be " +
                      (overflows ? "more than 2^63" : std::to_string(std::uint64_t(others) + std::uint64_t(bytes))) +
                      " bytes, more than --memory, " + std::to_string(most())};
}

}  // namespace

void limit_memory(std::int64_t bytes) { most() = bytes; }

Memory allocate(std::int64_t size, std::int64_t count, const std::string &what) {
    const std::int64_t bytes = check_room(size, count, held, what);
    void *memory = std::calloc(static_cast<size_t>(size), static_cast<size_t>(count));
    if (!memory) throw Failure{kStatus + APSIS_ERROR_MEMORY, "no memory for " + what};
    held += bytes;
    return {static_cast<std::uint8_t *>(memory), FreeMemory{bytes}};
}

void enlarge(Memory &memory, std::int64_t size, std::int64_t count, const std::string &what) {
    const std::int64_t before = memory.get_deleter().bytes, bytes = check_room(size, count, held - before, what);
    void *const larger = std::realloc(memory.get(), static_cast<size_t>(bytes));
    if (!larger) throw Failure{kStatus + APSIS_ERROR_MEMORY, "no memory for " + what};
    static_cast<void>(memory.release());
    memory = {static_cast<std::uint8_t *>(larger), FreeMemory{bytes}};
    held += bytes - before;
}

void FreeMemory::operator()(std::uint8_t *memory) const {
    std::free(memory);
    held -= bytes;
}

int bits_of(apsis_type type) {
    switch (type) {
        case APSIS_BIT: return 1;
        case APSIS_U8: return 8;
        case APSIS_U16: return 16;
        case APSIS_I32:
        case APSIS_F32: return 32;
        default: return 64;
    }
}

void Shape::check() const {
    for (const std::int64_t size : {width, height, depth})
        if (size < 1 || size > kLongestExtent)
            fail("the image is " + words() + ", but each extent must be 1 to " + std::to_string(kLongestExtent));
    // Sizes of its maps must fit in 64 bits, too.
    if (static_cast<double>(width) * static_cast<double>(height) * static_cast<double>(depth) > kMostPixels)
        throw Failure{kStatus + APSIS_ERROR_MEMORY, "the image is " + words() + ", more than 2^56 pixels"};
}

Raster::Raster(apsis_type type, const Shape &shape, const char *what) : shape_(shape) {
    row_bytes_ = (shape.width * bits_of(type) + 7) / 8;
    memory_ = allocate(row_bytes_, shape.height * shape.depth, std::string(what) + " of " + shape.words());

    image_.data = memory_.get();
    image_.type = type;
    image_.ndim = shape.dimensions;
    image_.size[0] = shape.width;
    image_.size[1] = shape.height;
    image_.size[2] = shape.depth;
}

apsis_image Raster::part(std::int64_t start, std::int64_t extent) const {
    apsis_image image = image_;
    image.data = memory_.get() + bytes_of(start);
    image.size[image.ndim - 1] = extent;
    return image;
}

}  // namespace tool
