// Packs the begins of runs of a label image into bit columns: a bit for each pixel that differs from the one before it.  Their
// carries are found as those of sets (carries.cu), and nearest_beyond_run() of core/columns.h reads them.
//
// A thread packs a word, 32 pixels of a column.  Neighbouring threads take columns side by side, and along x words side by
// side.
//
// Cost: the pixels in, along y and z once more for each strip's first row, and 1/8 byte a pixel out.
#include "cuda/columns/columns.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::columns {

namespace {

/// A word of columns along an axis: its place, and the pixel where it begins.
struct Word {
    int64_t at;
    int64_t start[3];
};

__device__ Word word_of(const View &labels, int axis, const Columns &columns, int64_t item) {
    const int64_t width = labels.size[0], height = labels.size[1], strips = columns.strips();
    if (axis == 0) {  // a column is a row
        const int64_t strip = item % strips, row = item / strips;
        return {columns.at(0, strip, row), {strip * STRIP, row % height, row / height}};
    }
    const int64_t x = item % width, y = item / width % (axis == 2 ? height : 1);
    const int64_t strip = item / columns.count % strips, image = item / columns.count / strips;
    if (axis == 1) return {columns.at(image, strip, x), {x, strip * STRIP, image}};
    return {columns.at(0, strip, x * height + y), {x, y, strip * STRIP}};
}

template <class Pixel>
__global__ void pack_begins(View labels, int axis, Columns columns) {
    const int64_t step = labels.stride[axis], total = columns.total();
    for (int64_t item = first_item(); item < total; item += item_step()) {
        const Word word = word_of(labels, axis, columns, item);
        const int64_t start = word.start[axis];
        const int count = static_cast<int>(min(columns.length - start, int64_t(STRIP)));
        const uint8_t *pixel = labels.row(word.start[1], word.start[2]) + word.start[0] * labels.stride[0];
        Pixel before = *reinterpret_cast<const Pixel *>(start > 0 ? pixel - step : pixel);
        uint32_t begins = 0;
        for (int bit = 0; bit < count; ++bit, pixel += step) {
            const Pixel value = *reinterpret_cast<const Pixel *>(pixel);
            begins |= static_cast<uint32_t>(value != before) << bit;
            before = value;
        }
        columns.words[word.at] = begins;
    }
}

}  // namespace

void pack_runs(const View &labels, int axis, const Columns &columns, cudaStream_t stream) {
    const auto pack = [&](auto kernel) {
        launch("pack_begins", kernel, ceil_div(columns.total(), BLOCK), BLOCK, stream, labels, axis, columns);
    };
    switch (labels.type) {
        case APSIS_U16: return pack(pack_begins<uint16_t>);
        case APSIS_I32: return pack(pack_begins<uint32_t>);
        case APSIS_I64: return pack(pack_begins<uint64_t>);
        default: return pack(pack_begins<uint8_t>);
    }
}

Columns shape_rows(const View &labels) {
    Columns rows;
    rows.length = labels.size[0];
    rows.count = labels.size[1] * labels.size[2];
    rows.batch = 1;
    return rows;
}

}  // namespace apsis::cuda::columns
