// All threads over the rows of a label image, each with scratch memory and a table of its own.
#pragma once

#include <vector>

#include "core/label_values.h"
#include "cpu/labels/differences.h"
#include "runtime/parallel.h"

namespace apsis::cpu::labels {

constexpr int64_t PIECE = 1 << 16;  // pixels that a thread takes at a time, in whole rows

/// `more` is what scratch memory depends on beside the image.
template <class ThreadScratch, class... More>
size_t scratch_of_threads(const View &image, int threads, const More &...more) {
    Carver carver;
    for (int i = 0; i < threads; ++i) ThreadScratch(image, carver, more...);
    return carver.used();
}

/// Calls add_row(Pixel(), y, z, scratch, table) for every row, and returns what all tables have together.
template <class ThreadScratch, class Table, class AddRow, class... More>
Table collect(const View &image, void *memory, Arena &arena, const Progress &progress, AddRow add_row, const More &...more) {
    Carver carver(memory);
    std::vector<ThreadScratch> scratch;
    for (int i = 0; i < arena.threads(); ++i) scratch.emplace_back(image, carver, more...);
    std::vector<Table> tables(scratch.size());
    const int64_t height = image.size[1], rows = height * image.size[2], each = std::max(PIECE / image.size[0], int64_t(1));
    with_label_type(image.type, [&](auto pixel) {
        parallel_for(arena, (rows + each - 1) / each, progress, 0, 1, [&](int64_t piece) {
            const auto thread = static_cast<size_t>(Arena::thread());
            for (int64_t row = piece * each; row < std::min((piece + 1) * each, rows); ++row)
                add_row(pixel, row % height, row / height, scratch[thread], tables[thread]);
        });
    });
    for (size_t i = 1; i < tables.size(); ++i) tables[0].add(tables[i]);
    return std::move(tables[0]);
}

}  // namespace apsis::cpu::labels
