// The rows of a label image, for near searches: the begins of runs along x, with carries, and which pixels have a value.
#pragma once

#include "cuda/columns/columns.h"

namespace apsis::cuda::columns {

/// As pack_runs_of_planes() packs them.
struct LabelRows {
    Columns begins;           // of runs, as columns along x
    const uint32_t *members;  // in the places of their words: a bit for each pixel that is not 0
};

#if defined(__CUDACC__)

/// A word of a row, 32 pixels: the begins of runs, their carries, and which pixels have a value.
struct alignas(16) RowWord {
    uint32_t begins;
    int32_t before, after;
    uint32_t members;

    RowWord() = default;
    __device__ RowWord(const LabelRows &rows, int64_t x, int64_t row) {
        const int64_t at = rows.begins.at(0, x / STRIP, row);
        begins = rows.begins.words[at], before = rows.begins.before[at], after = rows.begins.after[at];
        members = rows.members[at];
    }
    /// How far it is from each of COUNT pixels, from x on, to the nearer end of its run; 0 for a pixel without a value.
    template <int COUNT>
    __device__ void find_ways(int64_t x, uint32_t (&way)[COUNT]) const {
        each_pixel<COUNT>(
            x, [&](int c, bool has_value, uint32_t left, uint32_t right) { way[c] = has_value ? min(left, right) : 0; });
    }
    /// The offsets of these ends, of two at the same distance the left one.
    template <int COUNT>
    __device__ void find_ends(int64_t x, int32_t (&end)[COUNT]) const {
        each_pixel<COUNT>(x, [&](int c, bool has_value, uint32_t left, uint32_t right) {
            end[c] = !has_value ? 0 : left <= right ? -static_cast<int32_t>(left) : static_cast<int32_t>(right);
        });
    }

  private:
    /// Calls take(c, has_value, left, right) with the distances to either end.
    template <int COUNT, class Take>
    __device__ void each_pixel(int64_t x, Take take) const {
        static_assert(COUNT < STRIP && STRIP % COUNT == 0);
        const int32_t own = static_cast<int32_t>(x), start = static_cast<int32_t>(x - x % STRIP);
        const int bit = own - start;
        const uint32_t lower = begins & (~0u >> (31 - bit)), here = begins >> bit, upper = here >> COUNT;
        uint32_t left[COUNT], right = static_cast<uint32_t>((upper ? own + COUNT + lowest_bit(upper) : after) - own - COUNT);
        left[0] = static_cast<uint32_t>(own + 1 - (lower ? start + highest_bit(lower) : before));
#pragma unroll
        for (int c = 1; c < COUNT; ++c) left[c] = here >> c & 1 ? 1 : left[c - 1] + 1;
#pragma unroll
        for (int c = COUNT - 1; c >= 0; --c) {
            right = c + 1 < COUNT && (here >> (c + 1) & 1) ? 1 : right + 1;
            take(c, members >> (bit + c) & 1, left[c], right);
        }
    }
};

/// The ways from COUNT pixels of two lines, from `first` on, to the nearer ends of their runs, in the halves of a word.  Longer
/// ones count as `longest`, which with COUNT more fits 16 bits.
template <int COUNT>
__device__ void find_ways(const RowWord &low, const RowWord &high, int32_t first, uint32_t longest, uint32_t (&way)[COUNT]) {
    static_assert(COUNT < STRIP && STRIP % COUNT == 0);
    const int shift = first % STRIP;
    uint32_t begins = 0, ahead = 0, beyond = 0;  // of the pixels before these and after them, as scan_rows() has them
    const auto take = [&](const RowWord &line, int bits) {
        const uint32_t lower = line.begins & ((1u << shift) - 1), upper = line.begins >> shift >> COUNT;
        const int32_t begin = lower ? first - shift + highest_bit(lower) : line.before;
        const int32_t next = upper ? first + COUNT + lowest_bit(upper) : line.after;
        begins |= (line.begins >> shift & ((1u << COUNT) - 1)) << bits;
        ahead |= min(static_cast<uint32_t>(first - begin), longest) << bits;
        beyond |= min(static_cast<uint32_t>(next - first - COUNT), longest) << bits;
    };
    take(low, 0), take(high, 16);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) way[i] = ahead = __viaddmin_u16x2(ahead, BOTH, at_bits<1>(begins, i));
#pragma unroll
    for (int i = COUNT - 1; i >= 0; --i) {
        const uint32_t down = i + 1 < COUNT ? at_bits<1>(begins, i + 1) : ~0u;
        way[i] = beyond = __viaddmin_u16x2(beyond, BOTH, __vminu2(way[i], down));
    }
#pragma unroll
    for (uint32_t &each : way) each = __vminu2(each, longest * BOTH);
}

/// As scan_column(), of a column's begins of runs: the distances up and to the nearest of the pixels beside a pixel's run.
template <int32_t FAR_CARRY, class Lay>
__device__ void scan_runs(const Sites &begins, int32_t start, Lay lay) {
    const uint32_t first = min(start - begins.before, FAR_CARRY);        // up from the row above the strip
    const uint32_t last = min(begins.after - start - STRIP, FAR_CARRY);  // down from the row below it
    scan_rows<1>(begins.word, begins.word >> 1, first, last, lay);
}

#endif

}  // namespace apsis::cuda::columns
