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

    explicit LabelValues(const View &labels) : image(labels) {
        const int64_t row = image.stride[0] * image.size[0];
        is_packed = image.type != APSIS_BIT && (image.size[1] < 2 || image.stride[1] == row) &&
                    (image.size[2] < 2 || image.stride[2] == row * image.size[1]);
    }

    APSIS_BOTH int64_t at(int64_t index) const {
        if (is_packed) return value_at(image, image.data, index);
        const int64_t width = image.size[0], height = image.size[1];
        return value_at(image, image.row(index / width % height, index / width / height), index % width);
    }
};

}  // namespace apsis
