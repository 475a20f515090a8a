// Allocates pixels; a size that cannot be had is an error before anything is touched.
#include "raster.h"

#include <string>

#include "failure.h"

namespace tool {

constexpr std::int64_t kLongestExtent = std::int64_t{1} << 30;  // the library's

int bits_of(apsis_type type) {
    switch (type) {
        case APSIS_BIT:
            return 1;
        case APSIS_U8:
            return 8;
        case APSIS_I32:
        case APSIS_F32:
            return 32;
        default:
            return 64;
    }
}

Raster::Raster(apsis_type type, const Shape &shape, const char *what) : shape_(shape) {
    const std::string size = std::to_string(shape.width) + " x " + std::to_string(shape.height) +
                             (shape.depth > 1 ? " x " + std::to_string(shape.depth) : "") + " pixels";
    for (const std::int64_t extent : {shape.width, shape.height, shape.depth})
        if (extent < 1 || extent > kLongestExtent)
            fail("the image is " + size + ", but each extent must be 1 to " + std::to_string(kLongestExtent));

    row_bytes_ = (shape.width * bits_of(type) + 7) / 8;
    std::int64_t bytes = 0;
    if (!__builtin_mul_overflow(row_bytes_, shape.height, &bytes) &&
        !__builtin_mul_overflow(bytes, shape.depth, &bytes))
        memory_.reset(static_cast<std::uint8_t *>(std::calloc(static_cast<size_t>(bytes), 1)));
    if (!memory_)
        throw Failure{kStatus + APSIS_ERROR_MEMORY, std::string("no memory for ") + what + " of " + size};

    image_.data = memory_.get();
    image_.type = type;
    image_.ndim = shape.dimensions;
    image_.size[0] = shape.width;
    image_.size[1] = shape.height;
    image_.size[2] = shape.depth;
}

}  // namespace tool
