// Bit-packed columns on the device: see core/columns.h.
#pragma once

#include <cuda_runtime.h>

#include "core/columns.h"
#include "runtime/workspace.h"

namespace apsis::cuda::columns {

constexpr int NEAR = 24;  // rows within which a strip sees a site near

/// Columns along y, one image a slice, or along z, one image in all.  Column x of a slice is number x. Column
/// (x, y) along z is number x * height + y: neighbours along y, the axis of the next pass, are neighbours in
/// memory.
Columns shape_columns(const View &set, int axis);

void carve_words(Columns &columns, Carver &carver);
void carve_carries(Columns &columns, Carver &carver);

/// Queues the packing of a set, or of its complement, into columns along an axis.
void pack_columns(const View &set, int axis, bool complement, const Columns &columns, cudaStream_t stream);

/// The same of some strips of columns along y.  Only their rows of the set are read.
void pack_strips_of(const View &set, const StripRange &range, bool complement, const Columns &columns, cudaStream_t stream);

/// Queues both the packing of columns along y that are LONGEST_WHOLE pixels long at most and the filling in of their
/// carries, in one launch.
constexpr int64_t LONGEST_WHOLE = 4096;
void pack_whole(const View &set, bool complement, const Columns &columns, cudaStream_t stream);

/// Queues the filling in of the carries.
void carry_columns(const Columns &columns, cudaStream_t stream);

#if defined(__CUDACC__)

/// A carry of mirrored columns as it is stored.  The pixel beside a strip is a site of one of the two sides, which is that
/// one's carry; so the other one's is stored, twice, and 1 more if that is the opposite set's.  Beside the first strip and the
/// last there is no pixel, and neither side has a site.
__device__ inline int32_t stored_carry(int32_t site, bool is_opposite) {
    return static_cast<int32_t>(static_cast<uint32_t>(site) << 1 | (is_opposite ? 1 : 0));
}

/// A column in a strip, as it is stored or as an image has it.
struct Sites {
    uint32_t word;
    int32_t before, after;

    __device__ bool any() const { return word || before != NO_SITE_BEFORE || after != NO_SITE_AFTER; }
};

/// The columns of a strip, which MAY be MIRRORED.
template <bool MAY_BE_MIRRORED = true>
struct StripColumns {
    const uint32_t *words;
    const int32_t *befores, *afters;
    uint32_t valid, mirrored;  // 1 if they are
    uint32_t side;             // 1 if an image is of the opposite set
    int32_t above, below;      // the positions of the pixels beside it; none, if there are none

    __device__ StripColumns(const Columns &columns, int64_t image, int64_t strip)
        : valid(columns.valid(strip)),
          mirrored(columns.is_mirrored ? 1 : 0),
          side(MAY_BE_MIRRORED && image >= columns.images() ? 1 : 0),
          above(strip > 0 ? static_cast<int32_t>(strip * STRIP) - 1 : NO_SITE_BEFORE),
          below(strip + 1 < columns.strips() ? static_cast<int32_t>((strip + 1) * STRIP) : NO_SITE_AFTER) {
        const int64_t first = columns.at(side ? image - columns.images() : image, strip, 0);
        words = columns.words + first, befores = columns.before + first, afters = columns.after + first;
    }
    __device__ Sites stored(int64_t x) const { return {words[x], befores[x], afters[x]}; }
    /// What a side has of a column, which takes no branch.
    __device__ int32_t before(int32_t stored, uint32_t of) const {
        return (static_cast<uint32_t>(stored) & mirrored) == of ? stored >> mirrored : above;
    }
    __device__ int32_t after(int32_t stored, uint32_t of) const {
        const uint32_t number = static_cast<uint32_t>(stored);
        return (number & mirrored) == of ? static_cast<int32_t>(number >> mirrored) : below;
    }
    __device__ Sites seen(const Sites &stored, uint32_t of) const {
        if constexpr (!MAY_BE_MIRRORED) return stored;
        return {of ? stored.word ^ valid : stored.word, before(stored.before, of), after(stored.after, of)};
    }
    __device__ Sites seen(const Sites &stored) const { return seen(stored, side); }
    __device__ Sites at(int64_t x) const { return seen(stored(x)); }
};

#endif

}  // namespace apsis::cuda::columns
