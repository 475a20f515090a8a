// Outputs of a map that are there, changed pixel by pixel: the border of the image, labels in place of indices, and labels
// that a mask keeps.
//
// Cost: the outputs in and out; of a label in place of an index, a pixel there.
#include "cuda/runtime/settle.h"

#include "core/border.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/pixel_writer.h"

namespace apsis::cuda {

namespace {

__global__ void settle_pixels(Border border) {
    const int64_t width = border.set.size[0], height = border.set.size[1], total = width * height * border.set.size[2];
    for (int64_t item = first_item(); item < total; item += item_step())
        border.settle(item % width, item / width % height, item / width / height);
}

constexpr int TOGETHER = 8;  // pixels of a row that a thread loads before it stores the first: as many loads are on their way
constexpr int STRETCH = TOGETHER * BLOCK;  // pixels of a row that a block has

/// Writes value(row of the image, x, y, z) to each pixel.  Places are divided once a stretch: once a pixel, labels that a mask
/// keeps took 0.45 ms more (H200, 16384^2).
template <class Value>
__device__ void write_pixels(const View &image, Value value) {
    const int64_t width = image.size[0], stretches = ceil_div(width, STRETCH),
                  total = stretches * image.size[1] * image.size[2];
    for (int64_t item = blockIdx.x; item < total; item += gridDim.x) {
        const int64_t place = item / stretches, y = place % image.size[1], z = place / image.size[1];
        const int64_t first = item % stretches * STRETCH + threadIdx.x;
        uint8_t *const row = image.row(y, z);
        int64_t values[TOGETHER];
        for (int k = 0; k < TOGETHER; ++k)
            if (first + k * BLOCK < width) values[k] = value(row, first + k * BLOCK, y, z);
        with_index(image.type, [&](auto pixel) {
            for (int k = 0; k < TOGETHER; ++k)
                if (first + k * BLOCK < width) put(image, row, first + k * BLOCK, static_cast<decltype(pixel)>(values[k]));
        });
    }
}

__global__ void label_pixels(View nearest, LabelValues labels) {
    write_pixels(nearest, [&](const uint8_t *row, int64_t x, int64_t, int64_t) {
        const int64_t index = value_at(nearest, row, x);
        return index < 0 ? 0 : labels.at(index);
    });
}

__global__ void keep_pixels(View mask, View labels, View result) {
    write_pixels(result, [&](const uint8_t *, int64_t x, int64_t y, int64_t z) {
        return mask.row(y, z)[x] ? value_at(labels, labels.row(y, z), x) : 0;
    });
}

/// Makes one row of the rows of images of one size, where they lie one after the other in each, so that stretches are full.
void join_rows(std::initializer_list<View *> images) {
    for (const View *image : images)
        if (image->stride[0] == 0 || image->stride[1] != image->size[0] * image->stride[0] ||
            image->stride[2] != image->size[1] * image->stride[1])
            return;
    for (View *image : images) image->size[0] = image->pixels(), image->size[1] = image->size[2] = 1;
}

int64_t stretches_of(const View &image) { return ceil_div(image.size[0], STRETCH) * image.size[1] * image.size[2]; }

}  // namespace

void settle_border(const DistanceJob &job, cudaStream_t stream) {
    launch("settle_pixels", settle_pixels, ceil_div(job.set.pixels(), BLOCK), BLOCK, stream, Border(job));
}

void write_labels(const View &nearest, const LabelValues &labels, cudaStream_t stream) {
    View image = nearest;
    join_rows({&image});
    launch("label_pixels", label_pixels, stretches_of(image), BLOCK, stream, image, labels);
}

void keep_labels(const View &mask, const View &labels, const View &result, cudaStream_t stream) {
    View from = mask, values = labels, to = result;
    join_rows({&from, &values, &to});
    launch("keep_pixels", keep_pixels, stretches_of(to), BLOCK, stream, from, values, to);
}

}  // namespace apsis::cuda
