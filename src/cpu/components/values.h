// Rows of a label image: where values begin, and where equal values of two rows are neighbours.
//
// A run of a label image is a maximal stretch of equal pixels other than 0.  Unlike those of a set, two runs may lie side by
// side; so a row has two planes of bits: its set, and where its runs start.  Compiled once for every instruction set (Highway).
#pragma once

#include "cpu/components/runs.h"

namespace apsis::cpu::components {

/// Pixels of `bytes` bytes each, side by side.  Their sign does not matter.
struct ValueRow {
    const void *pixels;
    int64_t bytes;
};

/// Finds the bits of a row, and where its runs start.  word[-1] is 0 already.
void mark_values(const ValueRow &row, int64_t width, uint64_t *word, uint64_t *start);

/// Counts the starts before each word.  Returns the number of runs.
int64_t count_starts(const uint64_t *start, int64_t width, uint32_t *before);

/// find_runs() of a row of values.
int64_t find_value_runs(const uint64_t *word, const uint64_t *start, int64_t width, uint32_t *ends);

/// Pixels of the other row, as bits.  The meetings of those in `known` are known and left out, unless it is null.  Those that
/// equal the pixel at their place in the one row are added to `equal`, unless that is null.
struct KnownMeetings {
    const uint64_t *known;
    uint64_t *equal;
};

/// find_meetings() of two rows of values: of the runs that are neighbours, those of equal values.
int64_t find_value_meetings(const BitRow &one, const ValueRow &one_values, const BitRow &other, const ValueRow &other_values,
                            int64_t width, int64_t reach, const KnownMeetings &of, uint32_t *met);

}  // namespace apsis::cpu::components
