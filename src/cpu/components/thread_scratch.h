// The scratch memory of one thread: the runs of a block, its parts, and a row of the output.
#pragma once

#include "cpu/components/blocks.h"
#include "cpu/components/selection.h"
#include "cpu/components/statistics.h"
#include "runtime/workspace.h"

namespace apsis::cpu::components {

constexpr uint32_t TOUCHES_BORDER = uint32_t(1) << 31;  // a flag in the area of a part: it touches the border of the image

struct ThreadScratch {
    uint32_t *ends;       // of the runs of a row
    uint64_t *start;      // [row][word], see BitRow
    uint32_t *before;     // [row][word], likewise
    uint32_t *run;        // [row]: its first run
    uint32_t *begin;      // [row]: the first part that begins in it or in a later row
    uint32_t *part;       // [run]
    uint32_t *parent;     // [run]: a lower run of its tree, or itself
    uint32_t *met;        // pairs of runs of two rows that meet
    uint32_t *area;       // [part], with TOUCHES_BORDER
    int64_t *number;      // [part]: first -1 - (its first slot), or 0 without slots; then its component's number
    uint8_t *line;        // a row of the output
    uint8_t *values;      // rows of a label image: one, and its earlier ones
    uint64_t *empty;      // of a label image: a row of bits without any, with word[-1]
    uint64_t *mask;       // a row of bits of the output
    ComponentSums *sums;  // of parts with slots
    uint64_t *bins;       // counts of digits of ranks

    ThreadScratch(const Blocks &blocks, Carver &carver) {
        const int64_t rows = blocks.block_height * blocks.block_depth, runs = rows * blocks.runs();
        ends = carver.take<uint32_t>(2 * blocks.runs() + 64);
        const int64_t counted = std::max<int64_t>(rows, 1 + blocks.earlier_rows);
        start = carver.take<uint64_t>(counted * blocks.words());
        before = carver.take<uint32_t>(counted * blocks.words());
        run = carver.take<uint32_t>(rows + 1);
        begin = carver.take<uint32_t>(rows + 1);
        part = carver.take<uint32_t>(runs + 1);
        parent = carver.take<uint32_t>(runs);
        met = carver.take<uint32_t>(2 * blocks.meetings() + 8);
        area = carver.take<uint32_t>(runs + 1);
        number = carver.take<int64_t>(runs + 1);
        line = carver.take<uint8_t>(blocks.width * 8 + 64);
        values = carver.take<uint8_t>(blocks.by_value ? (1 + blocks.earlier_rows) * blocks.width * 8 : 0);
        empty = carver.take<uint64_t>(blocks.by_value ? 1 + blocks.words() : 0);
        mask = carver.take<uint64_t>(blocks.words());
        sums = carver.take<ComponentSums>(blocks.borders_of_block() * blocks.runs());
        bins = carver.take<uint64_t>(Selection::BINS);
    }
};

}  // namespace apsis::cpu::components
