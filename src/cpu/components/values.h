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

/// Pixels of `bytes` bytes each, side by side.  Their sign does not matter.
struct ValueRow {
    const void *pixels;
    int64_t bytes;
};

/// Finds the bits of a row, and where its runs start.  word[-1] is 0 already.
void mark_values(const ValueRow &row, int64_t width, uint64_t *word, uint64_t *start);

/// Which values are near: those that are equal, or differ by at most delta.
struct Nearness {
    apsis_type type;
    double delta;          // of APSIS_F32
    uint32_t whole_delta;  // of other types
};

/// mark_values() of a grey image.
void mark_near_values(const ValueRow &row, const Nearness &near, int64_t width, uint64_t *word, uint64_t *start);

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

/// The same of two rows of a grey image: of the runs that are neighbours, those with near values side by side.  The number of
/// pairs may be three for each pixel, as two runs may be written more than once.
int64_t find_near_meetings(const BitRow &one, const ValueRow &one_values, const BitRow &other, const ValueRow &other_values,
                           const Nearness &near, int64_t width, int64_t reach, uint32_t *met);

}  // namespace apsis::cpu::components
