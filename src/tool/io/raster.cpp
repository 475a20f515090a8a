// Allocates pixels.  A size that is not available is an error before any memory is touched.
#include "tool/io/raster.h"

#include <string>

#include "tool/failure.h"
#include "tool/io/file.h"

namespace tool {

namespace {

constexpr std::int64_t kLongestExtent = std::int64_t{1} << 30;  // the library's limit

std::int64_t most = physical_memory(), held = 0;  // bytes of memory

}  // namespace

void limit_memory(std::int64_t bytes) { most = bytes; }

Memory allocate(std::int64_t size, std::int64_t count, const std::string &what) {
    std::int64_t bytes = 0;
    const bool overflows = __builtin_mul_overflow(size, count, &bytes);
    if (overflows || bytes > most - held)
        throw Failure{kStatus + APSIS_ERROR_MEMORY,
                      "memory with " + what + " would be " +
                          (overflows ? "more than 2^63" : std::to_string(std::uint64_t(held) + std::uint64_t(bytes))) +
                          " bytes, more than --max-memory, " + std::to_string(most)};
    void *memory = std::calloc(static_cast<size_t>(size), static_cast<size_t>(count));
    if (!memory) throw Failure{kStatus + APSIS_ERROR_MEMORY, "no memory for " + what};
    held += bytes;
    return {static_cast<std::uint8_t *>(memory), FreeMemory{bytes}};
}

void FreeMemory::operator()(std::uint8_t *memory) const {
    std::free(memory);
    held -= bytes;
}

int bits_of(apsis_type type) {
    switch (type) {
        case APSIS_BIT: return 1;
        case APSIS_U8: return 8;
        case APSIS_I32:
        case APSIS_F32: return 32;
        default: return 64;
    }
}

Raster::Raster(apsis_type type, const Shape &shape, const char *what) : shape_(shape) {
    const std::string size = std::to_string(shape.width) + " x " + std::to_string(shape.height) +
                             (shape.depth > 1 ? " x " + std::to_string(shape.depth) : "") + " pixels";
    for (const std::int64_t extent : {shape.width, shape.height, shape.depth})
        if (extent < 1 || extent > kLongestExtent)
            fail("the image is " + size + ", but each extent must be 1 to " + std::to_string(kLongestExtent));

    row_bytes_ = (shape.width * bits_of(type) + 7) / 8;
    memory_ = allocate(row_bytes_, shape.height * shape.depth, std::string(what) + " of " + size);

    image_.data = memory_.get();
    image_.type = type;
    image_.ndim = shape.dimensions;
    image_.size[0] = shape.width;
    image_.size[1] = shape.height;
    image_.size[2] = shape.depth;
}

}  // namespace tool
