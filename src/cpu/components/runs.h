// Finds the runs of set pixels in rows of bits, finds which runs of two rows meet, and writes numbers over runs.
//
// A run is a maximal stretch of set pixels in a row (Rosenfeld and Pfaltz 1966; labelled run by run by He, Chao and Suzuki
// 2008).  Runs and meetings are counted in 64-bit words, without any search.  Compiled once for every instruction set
// (Highway).
#pragma once

#include <cstdint>

namespace apsis::cpu::components {

/// A row of bits, lowest first.  word[-1] is 0, and so are the bits beyond the row's last pixel.
struct BitRow {
    const uint64_t *word;
    const uint64_t *start;   // [word]: the pixels at which its runs start
    const uint32_t *before;  // [word]: how many of its runs start before the word
};

/// Packs bytes into the bits of a row.  Non-zero bytes become 1, or 0 with `flip`.
void pack_bytes(const uint8_t *bytes, int64_t width, bool flip, uint64_t *word);
void pack_bits(const uint8_t *bits, int64_t width, bool flip, uint64_t *word);

/// Finds where runs start, and counts the starts before each word.  Returns the number of runs.
int64_t count_runs(const uint64_t *word, int64_t width, uint64_t *start, uint32_t *before);

/// Writes where the runs of a row begin and end: ends[2 i] <= x < ends[2 i + 1].  May write up to 64 elements more.  Returns
/// the number of runs.
int64_t find_runs(const uint64_t *word, int64_t width, uint32_t *ends);

/// Writes which runs of two rows are neighbours, in order: met[2 i] of the one row and met[2 i + 1] of the other.  `reach` is
/// how far a run reaches beyond its ends: 0, or 1 with diagonals.  May write up to 8 elements more.  Returns the number of
/// pairs, which is less than the number of runs.
int64_t find_meetings(const BitRow &one, const BitRow &other, int64_t width, int64_t reach, uint32_t *met);

/// Writes number[part] over every run of a row, and number[0], which is 0, between them.  May write up to 64 bytes beyond the
/// row.
void fill_runs(const uint32_t *ends, const uint32_t *part, int64_t runs, int64_t width, const int64_t *number, int32_t *row);
void fill_runs(const uint32_t *ends, const uint32_t *part, int64_t runs, int64_t width, const int64_t *number, int64_t *row);

/// Copies bytes past the caches.  They are visible to other threads after hwy::FlushStream().
void stream_bytes(const uint8_t *from, int64_t bytes, uint8_t *to);

}  // namespace apsis::cpu::components
