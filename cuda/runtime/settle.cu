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

/// Calls body(x, y, z) for the pixels of a thread.
template <class Body>
__device__ void for_pixels(const int64_t (&size)[3], Body body) {
    const int64_t total = size[0] * size[1] * size[2];
    for (int64_t item = first_item(); item < total; item += item_step())
        body(item % size[0], item / size[0] % size[1], item / size[0] / size[1]);
}

__global__ void settle_pixels(Border border) {
    for_pixels(border.set.size, [&](int64_t x, int64_t y, int64_t z) { border.settle(x, y, z); });
}

__global__ void label_pixels(View nearest, LabelValues labels) {
    for_pixels(nearest.size, [&](int64_t x, int64_t y, int64_t z) {
        uint8_t *const row = nearest.row(y, z);
        const int64_t index = value_at(nearest, row, x), label = index < 0 ? 0 : labels.at(index);
        with_index(nearest.type, [&](auto pixel) { put(nearest, row, x, static_cast<decltype(pixel)>(label)); });
    });
}

__global__ void keep_pixels(View mask, View labels, View result) {
    for_pixels(result.size, [&](int64_t x, int64_t y, int64_t z) {
        const int64_t label = mask.row(y, z)[x] ? value_at(labels, labels.row(y, z), x) : 0;
        with_index(result.type, [&](auto pixel) { put(result, result.row(y, z), x, static_cast<decltype(pixel)>(label)); });
    });
}

}  // namespace

void settle_border(const DistanceJob &job, cudaStream_t stream) {
    launch("settle_pixels", settle_pixels, ceil_div(job.set.pixels(), BLOCK), BLOCK, stream, Border(job));
}

void write_labels(const View &nearest, const LabelValues &labels, cudaStream_t stream) {
    launch("label_pixels", label_pixels, ceil_div(nearest.pixels(), BLOCK), BLOCK, stream, nearest, labels);
}

void keep_labels(const View &mask, const View &labels, const View &result, cudaStream_t stream) {
    launch("keep_pixels", keep_pixels, ceil_div(result.pixels(), BLOCK), BLOCK, stream, mask, labels, result);
}

}  // namespace apsis::cuda
