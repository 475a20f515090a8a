// Labels in place of indices, in an output that is there.
#pragma once

#include "core/label_values.h"
#include "cpu/runtime/row_writer.h"
#include "runtime/parallel.h"

namespace apsis::cpu {

/// Replaces each index in `nearest` by the label there, and -1 by 0.
inline void write_labels(const View &nearest, const View &labels, Arena &arena) {
    const LabelValues values(labels);
    const int64_t height = nearest.size[1];
    parallel_for(arena, height * nearest.size[2], {}, 0, 0, [&](int64_t i) {
        const int64_t y = i % height, z = i / height;
        const uint8_t *const row = nearest.row(y, z);
        write_pixels(
            nearest, y, z, [](int64_t) { return true; },
            [&](int64_t x, auto pixel) {
                const int64_t index = value_at(nearest, row, x);
                return static_cast<decltype(pixel)>(index < 0 ? 0 : values.at(index));
            });
    });
}

/// Writes the labels of the pixels where a mask is 1, otherwise 0.  The result may be the labels.
inline void keep_labels(const View &mask, const View &labels, const View &result, Arena &arena) {
    const int64_t height = result.size[1];
    parallel_for(arena, height * result.size[2], {}, 0, 0, [&](int64_t i) {
        const int64_t y = i % height, z = i / height;
        const uint8_t *const kept = mask.row(y, z), *const row = labels.row(y, z);
        write_pixels(
            result, y, z, [](int64_t) { return true; },
            [&](int64_t x, auto pixel) { return static_cast<decltype(pixel)>(kept[x] ? value_at(labels, row, x) : 0); });
    });
}

}  // namespace apsis::cpu
