// Rows of a label image: where values begin, and where equal values of two rows are neighbours.  And rows of a grey image, in
// which near values are connected.
//
// A run of a label image is a maximal stretch of equal pixels other than 0; of a grey image, one in which each pixel is near
// the one before it.  Unlike those of a set, two runs may lie side by side; so a row has two planes of bits: its set, and
// where its runs start.  Compiled once for every instruction set (Highway).
#pragma once

#include "core/view.h"
#include "cpu/components/runs.h"

namespace apsis::cpu::components {

/// Finds the bits of a row of pixels of `bytes` bytes each, side by side, and where its runs start.  word[-1] is 0 already.
void mark_values(const void *pixels, int64_t bytes, int64_t width, uint64_t *word, uint64_t *start);

/// Which values are near: those that are equal, or differ by at most delta.
struct Nearness {
    apsis_type type;
    double delta;          // of APSIS_F32
    uint32_t whole_delta;  // of other types
};

/// mark_values() of a grey image.
void mark_near_values(const void *pixels, const Nearness &near, int64_t width, uint64_t *word, uint64_t *start);

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

    constexpr int earlier_rows() const { return !volume ? 1 : connectivity > 1 ? 4 : 2; }
    /// How many of the earlier rows, from the first on, have neighbours across corners.
    constexpr int rows_with_corners() const {
        return connectivity > 2 ? earlier_rows() : connectivity > 1 ? (volume ? 2 : 1) : 0;
    }
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

/// The same of a grey image, where near values are neighbours: at most three pairs for each pixel and earlier row, as two runs
/// may be written more than once.  None are left out that follow from other rows: of near values nothing does.
int64_t find_near_meetings(const ValueRow &row, const ValueRow *earlier, const Neighbourhood &neighbourhood,
                           const Nearness &near, int64_t width, uint32_t *met);

}  // namespace apsis::cpu::components
