// Rows of a label image: where values begin, and where equal values of two rows are neighbours.
//
// A run of a label image is a maximal stretch of equal pixels other than 0.  Unlike those of a set, two runs may lie side by
// side; so a row has two planes of bits: its set, and where its runs start.  Compiled once for every instruction set (Highway).
#pragma once

#include "cpu/components/runs.h"

namespace apsis::cpu::components {

/// Finds the bits of a row of pixels of `bytes` bytes each, side by side, and where its runs start.  word[-1] is 0 already.
void mark_values(const void *pixels, int64_t bytes, int64_t width, uint64_t *word, uint64_t *start);

/// Counts the starts before each word.  Returns the number of runs.
int64_t count_starts(const uint64_t *start, int64_t width, uint32_t *before);

/// find_runs() of a row of values.
int64_t find_value_runs(const uint64_t *word, const uint64_t *start, int64_t width, uint32_t *ends);

struct ValueRow {
    BitRow bits;
    const void *pixels;  // side by side; their sign does not matter
    uint32_t first;      // the number of its first run
};

/// Which pixels of rows are neighbours: with how many axes their coordinates may differ, and whether z is one of them.
struct Neighbourhood {
    bool volume;
    int64_t connectivity;
};

/// Finds runs of equal values that are neighbours, of a row and of its earlier rows, which are in the order of Blocks::earlier.
/// Of an earlier row that is not there the bits are 0, and the pixels any.  Writes the numbers of each two, that of the earlier
/// row first.  May write up to 8 elements more.  Returns the number of pairs: at most two for each pixel and earlier row.
///
/// Pairs are left out that follow from others, in a volume with diagonals.  The row before in the plane is a neighbour of the
/// row in the plane before, where pixels one column aside are neighbours only across corners.  Both are neighbours of the row
/// before in the plane before, and the latter of the next row there.  So a pixel that equals one in these is joined with all of
/// its neighbours in the later row.
int64_t find_value_meetings(const ValueRow &row, const ValueRow *earlier, const Neighbourhood &neighbourhood, int64_t bytes,
                            int64_t width, uint32_t *met);

}  // namespace apsis::cpu::components
