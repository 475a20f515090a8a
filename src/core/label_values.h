// The types of labels, and the labels of an image by the indices of pixels.
#pragma once

#include "core/view.h"

namespace apsis {

/// Calls body(pixel) with a pixel of the type of a label image.
template <class Body>
void with_label_type(apsis_type type, Body body) {
    switch (type) {
        case APSIS_U8: return body(uint8_t());
        case APSIS_U16: return body(uint16_t());
        case APSIS_I32: return body(int32_t());
        default: return body(int64_t());
    }
}

struct LabelValues {
    View image;
    bool is_packed;  // pixels lie one after the other, whatever their distance: an index is a place
    // Of a slab: the pixels of the image before it, and in each column the labels of the sites beyond it.  The rows of those
    // above tell which is which: around an image that closes on itself either may lie on any side.
    int64_t before = 0, columns = 1;
    const int64_t *rows_above = nullptr, *above = nullptr, *below = nullptr;

    explicit LabelValues(const View &labels) : image(labels) {
        const int64_t row = image.stride[0] * image.size[0];
        is_packed = image.type != APSIS_BIT && (image.size[1] < 2 || image.stride[1] == row) &&
                    (image.size[2] < 2 || image.stride[2] == row * image.size[1]);
    }

    /// The labels of sites of a map, of which those beyond a slab are told.
    template <class Job>
    static LabelValues of_sites(const Job &job) {
        LabelValues labels(job.values);
        labels.rows_above = job.slab.above[0];
        labels.above = job.slab.above_labels, labels.below = job.slab.below_labels;
        labels.columns = job.columns();
        labels.before = job.slab.start * labels.columns;
        return labels;
    }

    APSIS_BOTH int64_t at(int64_t index) const {
        index -= before;
        if (index < 0 || index >= image.pixels()) return beyond((index + before) / columns, (index + before) % columns);
        if (is_packed) return value_at(image, image.data, index);
        const int64_t width = image.size[0], height = image.size[1];
        return value_at(image, image.row(index / width % height, index / width / height), index % width);
    }

  private:
    APSIS_BOTH int64_t beyond(int64_t row, int64_t column) const {
        return above && rows_above[column] == row ? above[column] : below[column];
    }
};

}  // namespace apsis
