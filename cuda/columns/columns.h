// Bit-packed columns on the device (core/columns.h): the first two steps of every distance map, and how later steps read them.
#pragma once

#include <cuda_runtime.h>

#include "core/columns.h"
#include "cuda/columns/tuning.h"
#include "runtime/backend.h"
#include "runtime/workspace.h"

namespace apsis::cuda::columns {

/// Columns along y, where each slice is an image, or along z, with one image in all.  Column x of a slice has number x.  Column
/// (x, y) along z has number x * height + y, so that neighbours along y, the axis of the next pass, are neighbours in memory.
Columns shape_columns(const View &set, int axis);

/// A view with y and z exchanged: an image for every y, whose rows are the planes.  Columns of one y lie side by side along x.
View swap_y_z(View set);

void carve_words(Columns &columns, Carver &carver);

/// `job` tells of the slab, if columns are those of one.
void carve_carries(Columns &columns, const DistanceJob &job, Carver &carver);

/// Queues the packing of a set, or of its complement, into columns along an axis.
void pack_columns(const View &set, int axis, bool complement, const Columns &columns, cudaStream_t stream);

/// The same for some strips of columns along y.  Only their rows of the set are read.
void pack_strips_of(const View &set, const StripRange &range, bool complement, const Columns &columns, cudaStream_t stream);

/// Queues in one launch the packing of columns along y and the computation of their carries.  Columns have at most
/// LONGEST_WHOLE pixels.
void pack_whole(const View &set, bool complement, const Columns &columns, cudaStream_t stream);

/// What packing does besides, where words come from elsewhere: clears the counts of far groups.
void keep_words(const Columns &columns, cudaStream_t stream);

/// Queues the computation of the carries: of the set, of its complement if `inside`, or of both in mirrored columns.
void carry_columns(const Columns &columns, const DistanceJob &job, bool inside, cudaStream_t stream);

/// Queues the packing of the begins of runs of a label image into columns along an axis.
void pack_runs(const View &labels, int axis, const Columns &columns, cudaStream_t stream);

/// The rows of an image as columns along x: row (y, z) has number z * height + y.
Columns shape_rows(const View &labels);

/// Queues in one launch the packing of the begins of runs along y into `columns`, and along x into `rows`.  `members` has the
/// shape of the words of rows, and gets a bit for each pixel that is not 0.
void pack_runs_of_planes(const View &labels, const Columns &columns, const Columns &rows, uint32_t *members,
                         cudaStream_t stream);

/// The same in a volume.  `along_z` gets the begins of runs along z: an image has the columns of a y, as swap_y_z() tells.
void pack_runs_of_volume(const View &labels, const Columns &along_y, const Columns &along_z, const Columns &rows,
                         uint32_t *members, cudaStream_t stream);

// ---- What that consists of ----

/// Of a slab (slab.cu): carves room for the sites outside of it, and takes these from the job, as carries of its end strips.
void carve_outside(Columns &columns, const DistanceJob &job, Carver &carver);
void take_outside(const Columns &columns, const DistanceJob &job, bool inside, cudaStream_t stream);

#if defined(__CUDACC__)

/// How a carry of mirrored columns is stored.  The pixel right beside a strip is on one of the two sides, and is that side's
/// carry.  Only the other side's carry is stored: 2 * site, and 1 more if that side is the opposite set.  Beyond an end of the
/// image there is no pixel, and neither side has a site.
__device__ inline int32_t stored_carry(int32_t site, bool is_opposite) {
    return static_cast<int32_t>(static_cast<uint32_t>(site) << 1 | (is_opposite ? 1 : 0));
}

/// A column in a strip: as stored, or the sites of one side.
struct Sites {
    uint32_t word;
    int32_t before, after;

    __device__ bool any() const { return word || before != NO_SITE_BEFORE || after != NO_SITE_AFTER; }
};

/// The position of a column's pixel before a strip; NO_SITE_BEFORE and NO_SITE_AFTER outside of the image.
__device__ inline int32_t place_before(const Columns &columns, int64_t strip) {
    return strip > 0 || columns.first_carries ? static_cast<int32_t>(strip * STRIP) - 1 : NO_SITE_BEFORE;
}
__device__ inline int32_t place_after(const Columns &columns, int64_t strip) {
    return strip < columns.strips() || columns.last_carries ? static_cast<int32_t>(strip * STRIP) : NO_SITE_AFTER;
}

/// The columns of a strip.
template <bool MAY_BE_MIRRORED = true>
struct StripColumns {
    const uint32_t *words;
    const int32_t *befores, *afters;
    uint32_t valid, mirrored;  // the bits that tell of pixels; 1 if columns are mirrored
    uint32_t side;             // 1 if the image is of the opposite set
    int32_t above, below;      // the positions of the pixels beside the strip, or NO_SITE_BEFORE and NO_SITE_AFTER

    __device__ StripColumns(const Columns &columns, int64_t image, int64_t strip)
        : valid(columns.filled(strip)),
          mirrored(columns.is_mirrored ? 1 : 0),
          side(MAY_BE_MIRRORED && image >= columns.images() ? 1 : 0),
          above(place_before(columns, strip)),
          below(place_after(columns, strip + 1)) {
        const int64_t first = columns.at(side ? image - columns.images() : image, strip, 0);
        words = columns.words + first, befores = columns.before + first, afters = columns.after + first;
    }
    __device__ Sites stored(int64_t x) const { return {words[x], befores[x], afters[x]}; }
    /// A side's carries and sites, without a branch.
    __device__ int32_t before(int32_t stored, uint32_t of_side) const {
        return (static_cast<uint32_t>(stored) & mirrored) == of_side ? stored >> mirrored : above;
    }
    __device__ int32_t after(int32_t stored, uint32_t of_side) const {
        const uint32_t number = static_cast<uint32_t>(stored);
        return (number & mirrored) == of_side ? static_cast<int32_t>(number >> mirrored) : below;
    }
    __device__ Sites sites_of(const Sites &stored, uint32_t of_side) const {
        if constexpr (!MAY_BE_MIRRORED) return stored;
        return {of_side ? stored.word ^ valid : stored.word, before(stored.before, of_side), after(stored.after, of_side)};
    }
    __device__ Sites sites_of(const Sites &stored) const { return sites_of(stored, side); }
    __device__ Sites at(int64_t x) const { return sites_of(stored(x)); }
};

// ---- The distances in a column of a strip, of two rows in the halves of a word ----

constexpr int HALF_STRIP = STRIP / 2;   // rows r and r + HALF_STRIP share a word
constexpr uint32_t BOTH = 0x00010001u;  // 1 in both halves

/// For rows r and r + HALF_STRIP of a strip, a half each: LEAST where the row's bit in a word is set, and all ones elsewhere.
template <uint32_t LEAST>
__device__ uint32_t at_bits(uint32_t word, int r) {
    return (~word >> r & BOTH) * (0xffff - LEAST) + LEAST * BOTH;
}

/// Finds two distances, plus LEAST, for each row of a column of a strip.  `up` is that to the last row with a bit in `above`
/// that is not below this row.  `nearest` is the lesser of `up` and the distance down to a row with a bit in `below`.  `first`
/// is `up` of the row above the strip, and `last` the distance down of the row below it.  Calls lay(r, up, nearest) for rows r
/// and r + HALF_STRIP together, 0 <= r < HALF_STRIP.
template <uint32_t LEAST, class Lay>
__device__ void scan_rows(uint32_t above, uint32_t below, uint32_t first, uint32_t last, Lay lay) {
    const uint32_t lower = above & 0xffff, upper = below >> HALF_STRIP;
    const uint32_t middle_up = lower ? HALF_STRIP - 1 - highest_bit(lower) + LEAST : first + HALF_STRIP;
    const uint32_t middle_down = upper ? lowest_bit(upper) + LEAST : last + HALF_STRIP;
    uint32_t up[HALF_STRIP], count = middle_up << 16 | first;
#pragma unroll
    for (int r = 0; r < HALF_STRIP; ++r) up[r] = count = __viaddmin_u16x2(count, BOTH, at_bits<LEAST>(above, r));
    count = last << 16 | middle_down;
#pragma unroll
    for (int r = HALF_STRIP - 1; r >= 0; --r) {
        // Without LEAST both words are the sites, and `up` is 0 at a site.  With it, bit r of `below` is bit r + 1 of `above`.
        const uint32_t down = r + 1 < HALF_STRIP ? at_bits<LEAST>(above, r + 1) : at_bits<LEAST>(below, r);
        count = __viaddmin_u16x2(count, BOTH, LEAST ? __vminu2(up[r], down) : up[r]);
        lay(r, up[r], count);
    }
}

/// The distances from each row of a strip to a column's nearest site above, and to its nearest site of all: see scan_rows.
/// Carries longer than FAR_CARRY count as that.
template <int32_t FAR_CARRY, class Lay>
__device__ void scan_column(const Sites &sites, int32_t start, Lay lay) {
    const uint32_t first = min(start - 1 - sites.before, FAR_CARRY);    // at the row above the strip
    const uint32_t last = min(sites.after - start - STRIP, FAR_CARRY);  // at the row below it
    scan_rows<0>(sites.word, sites.word, first, last, lay);
}

/// The squares of two distances, a half each.
__device__ inline uint32_t square_both(uint32_t distances) {
    const uint32_t low = distances & 0xffff, high = distances >> 16;
    return low * low + (distances & 0xffff0000u) * high;
}

#endif

}  // namespace apsis::cuda::columns
