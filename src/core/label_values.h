// The labels of an image, by the indices of pixels.
#pragma once

#include "core/view.h"

namespace apsis {

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
