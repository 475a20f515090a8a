// The last pass of a 2-D Euclidean distance map on the device: its data, and the kernels that search the rows.
//
// The near search takes the strips where sites are near.  It writes what it settles within its reach, and marks the rest,
// PATCH pixels of a row at a time.  The lower envelope takes strips with wide empty parts, and the marked patches of the
// others.  It tries only the candidates: the columns of a strip that may hold a nearest site.
//
// Small images have one kernel for all rows (small_images.cu), narrow rows another one (narrow_rows.cu).  plan.cu chooses.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/columns/columns.h"
#include "cuda/distance/plane/plan.h"
#include "cuda/runtime/pixel_writer.h"
#include "runtime/workspace.h"

namespace apsis::cuda::plane {

using namespace columns;

constexpr int PATCH = 128;                  // pixels of a row that are marked together: those of a warp in the near search
constexpr int BAND = 4;                     // rows that the envelope takes together: their nearest sites are much the same
constexpr int GROUP = 32;                   // columns whose candidates are counted together
constexpr uint32_t MARKED = 0x80000000;     // in the count of a strip's far groups: the near search has left marks
constexpr uint32_t NO_CARRY = 0xffff - 31;  // no site: above every distance; the rows of a strip added to it fit 16 bits
// The distance of a column without a site.  It is above every distance.  Its square plus the square of the way to the column
// fits 32 bits.
constexpr uint32_t NO_SITE_DISTANCE = 65400;
constexpr int64_t WIDEST_ROW = 32768;      // shared memory holds its candidates, and 15 bits number its columns
constexpr int64_t LONGEST_COLUMN = 65472;  // its distances are below NO_CARRY
// Largest extent of images whose rows are cut: a distance and three differences fit a word, and the difference between a
// pixel's cost and its tile's least cost fits 32 bits.
constexpr int64_t LONGEST = int64_t(1) << 22;
// Pixels of a row that a block takes where rows are cut.  The candidates of two blocks, and some more from either side, fill a
// multiprocessor's shared memory.
constexpr int SEGMENT = 8192;
static_assert(SEGMENT % PATCH == 0);

// The rounding error of a breakpoint, in halves of a pixel.  In a row of 32768 its terms are below 2^17 with three roundings of
// 2^-22 or less, so that it is off by less than 2^-4.  In a wider row only breakpoints inside the row count.  Two of them are
// off by 2^-19 of its width at most, or by 5/8 of that if x is counted from a segment's first pixel.
constexpr float SLACK = 0.25f;
inline float slack_of(int64_t width) { return std::max(SLACK, static_cast<float>(width) / (1 << 19)); }

/// Lower bounds of the distances from a strip's first row to a group's sites above and below the strip.
struct GroupBounds {
    static constexpr uint32_t NONE = 1u << 30;  // there is no site
    uint32_t above, below;                      // `above` is STRIP more than the distance; both are 0 if the strip has sites
};

/// What the envelope reads of a strip, in a word: the load; of a signed map a bit a band in which all pixels are sites; whether
/// it takes the whole strip or its marked patches; and the number of candidates.
class StripSummary {
    static constexpr int COUNT_BITS = 16, ALL_SITES_SHIFT = COUNT_BITS + 2, LOAD_SHIFT = ALL_SITES_SHIFT + STRIP / BAND;
    static constexpr uint32_t MARKS = 1u << COUNT_BITS, FAR = 2 * MARKS;
    uint32_t word_;

  public:
    static constexpr int LOAD_BITS = 5, MOST_LOAD = (1 << LOAD_BITS) - 1;
    static_assert(LOAD_SHIFT + LOAD_BITS <= 32 && WIDEST_ROW < 1 << COUNT_BITS);

    StripSummary() = default;
    __device__ explicit StripSummary(uint32_t word) : word_(word) {}
    __device__ StripSummary(int32_t load, uint32_t all_site_bands, bool is_far, int32_t count)
        : word_(static_cast<uint32_t>(min(load, MOST_LOAD)) << LOAD_SHIFT | (all_site_bands & 0xff) << ALL_SITES_SHIFT |
                (is_far ? FAR : MARKS) | static_cast<uint32_t>(count)) {}
    __device__ uint32_t word() const { return word_; }
    __device__ bool is_any() const { return word_ & (FAR | MARKS); }
    __device__ bool is_far() const { return word_ & FAR; }
    __device__ int32_t count() const { return static_cast<int32_t>(word_ & (MARKS - 1)); }
    __device__ uint32_t load() const { return word_ >> LOAD_SHIFT; }
    /// Whether all pixels are sites in so many of the strip's bands, from row y of the image on.
    __device__ bool are_all_sites(int64_t y, int bands) const {
        const uint32_t all = ((1u << bands) - 1) << y % STRIP / BAND;
        return (word_ >> ALL_SITES_SHIFT & all) == all;
    }
};

/// The arrays of a map: its packed columns with carries, what kernels hand on to later ones, and the range of strips to search.
///
/// A signed map has twice as many images: those of the inside, whose sites are the complement, come after those of the outside.
/// Each side writes the pixels that are not its sites.
struct Layout {
    Columns columns;
    int64_t images;                          // of a side
    StripRange range = {}, band_range = {};  // of a side
    // [image][band][patch][row]: not 0 where the near search gave up.
    uint8_t *marks = nullptr;
    // [image][strip][i]: columns that may hold a nearest site, from left to right.  In rows that are cut each segment
    // has a list of its own, and counts its columns from its first.
    uint16_t *candidates = nullptr;
    // [image][strip][i], unless rows are cut: the words of candidates; and the distances from the strip's first row to the
    // sites before and after the strip, in the lower and the upper half, NO_CARRY if there is none.
    uint32_t *site_words = nullptr, *carry_distances = nullptr;
    // [image][strip][segment]: how many candidates there are; where rows are not cut, what StripSummary says.
    uint32_t *summaries = nullptr;
    // [image][strip][8 columns]: a bit for each column that is all sites, like both its neighbours: it is no candidate.
    uint8_t *interior = nullptr;
    // In rows that are cut, [image][strip][group]: the place of its first candidate in the list, and bounds of its distances.
    uint16_t *places = nullptr;
    GroupBounds *group_bounds = nullptr;
    // In rows that are cut, [image][band][segment]: the first and the last column that are nearest to the segment's first
    // pixels.  One more is for the row's last pixels.
    int2 *segment_brackets = nullptr;
    bool is_paired = false, is_cut = false;  // as the plan says
    float slack;
    uint32_t least_far = 0;  // with so many far groups of columns, a strip is left to the envelope
    Output output;

    /// `side` has the columns of one side; `columns` has room for all sides.
    Layout(const Columns &side, const Output &output)
        : columns(side),
          images(side.batch),
          slack(slack_of(side.count)),
          output(output) {
        columns.batch *= sides(), columns.is_mirrored = output.is_signed;
    }

    __host__ __device__ int sides() const { return output.is_signed ? 2 : 1; }
    __device__ bool is_inside(int64_t image) const { return image >= images; }
    __device__ int64_t slice_of(int64_t image) const { return is_inside(image) ? image - images : image; }
    /// The output of the side that an image belongs to.
    __device__ Output output_of(int64_t image) const {
        Output own = output;
        own.is_inside = is_inside(image);
        return own;
    }

    __host__ __device__ int64_t patches() const { return (columns.count + PATCH - 1) / PATCH; }
    __host__ __device__ int64_t bands() const { return (columns.length + BAND - 1) / BAND; }
    /// The bands of all images before a strip of a side.
    int64_t bands_before(int64_t strip) const {
        return strip / columns.strips() * bands() + strip % columns.strips() * (STRIP / BAND);
    }
    void take(const StripRange &strips) {
        range = strips;
        band_range = {bands_before(strips.first), bands_before(strips.end()) - bands_before(strips.first)};
    }
    int64_t count_strips() const { return range.count * sides(); }
    int64_t count_bands() const { return band_range.count * sides(); }
    /// The number, counted over all images, of the n-th strip or band that is searched: the outside's come first.
    __device__ int64_t strip_at(int64_t n) const { return at_side(range, images * columns.strips(), n); }
    __device__ int64_t band_at(int64_t n) const { return at_side(band_range, images * bands(), n); }

    __host__ __device__ int64_t count_marks() const {
        return (is_paired ? images : columns.batch) * bands() * patches() * BAND;
    }
    __host__ __device__ int64_t segments() const { return is_cut ? (columns.count + SEGMENT - 1) / SEGMENT : 1; }
    __host__ __device__ int64_t count_segment_brackets() const { return segments() + 1; }
    __host__ __device__ int64_t groups() const { return (columns.count + GROUP - 1) / GROUP; }
    /// The marks of a band's patch, a byte a row.
    __device__ uint8_t *marks_of(int64_t image, int64_t band, int64_t patch) const {
        return marks + (((is_paired ? slice_of(image) : image) * bands() + band) * patches() + patch) * BAND;
    }
    __device__ void mark(int64_t image, int64_t row, int64_t x, bool far) const {
        marks_of(image, row / BAND, x / PATCH)[row % BAND] = far;
    }
    /// Whether a strip is left to the envelope as a whole.  If one side of a signed map is left to it, so is the other: the
    /// envelope skips large areas of sites, which the near search would read.
    __device__ bool is_far(int64_t image, int64_t strip) const {
        const auto is_side_far = [&](int64_t side) {
            return (columns.far_groups[columns.far_at(side, strip)] & ~MARKED) >= least_far;
        };
        return is_side_far(image) || (output.is_signed && is_side_far(is_inside(image) ? image - images : image + images));
    }
    /// Whether the near search has left marks in a strip.
    __device__ bool has_marks(int64_t image, int64_t strip) const {
        return columns.far_groups[columns.far_at(image, strip)] & MARKED;
    }
    __device__ void mark_strip(int64_t image, int64_t strip) const {
        if (!has_marks(image, strip)) atomicOr(columns.far_groups + columns.far_at(image, strip), MARKED);
    }

    __host__ __device__ int64_t interior_bytes() const { return groups() * (GROUP / 8); }
    __host__ __device__ uint8_t *interior_of(int64_t image, int64_t strip) const {
        return interior + (image * columns.strips() + strip) * interior_bytes();
    }

    /// [8 columns] of a strip of a signed map: a bit a band in which all their pixels are sites.
    __host__ __device__ uint8_t *all_site_bands_of(int64_t image, int64_t strip) const {
        return interior_of(image, strip) + columns.batch * columns.strips() * interior_bytes();
    }

    __host__ __device__ uint16_t *candidates_of(int64_t image, int64_t strip) const {
        return candidates + columns.at(image, strip, 0);
    }
    __host__ __device__ uint32_t *site_words_of(int64_t image, int64_t strip) const {
        return site_words + columns.at(image, strip, 0);
    }
    __host__ __device__ uint32_t *carry_distances_of(int64_t image, int64_t strip) const {
        return carry_distances + columns.at(image, strip, 0);
    }
    __host__ __device__ uint32_t *summaries_of(int64_t image, int64_t strip) const {
        return summaries + (image * columns.strips() + strip) * segments();
    }
    __host__ __device__ uint16_t *places_of(int64_t image, int64_t strip) const {
        return places + (image * columns.strips() + strip) * groups();
    }
    __host__ __device__ GroupBounds *group_bounds_of(int64_t image, int64_t strip) const {
        return group_bounds + (image * columns.strips() + strip) * groups();
    }
    __host__ __device__ int2 *segment_brackets_of(int64_t image, int64_t band) const {
        return segment_brackets + (image * bands() + band) * count_segment_brackets();
    }

  private:
    __device__ int64_t at_side(const StripRange &searched, int64_t of_side, int64_t n) const {
        return searched.first + n + (output.is_signed && n >= searched.count ? of_side - searched.count : 0);
    }
};

/// The arrays of a map, in scratch memory.
Layout carve_layout(const DistanceJob &job, const Plan &plan, Carver &carver);

// ---- The dynamic shared memory of a block; each function stands beside its kernel ----

size_t small_images_bytes(int64_t width, bool nearest);
constexpr size_t SMALL_IMAGES_DECLARED = 8192;
size_t narrow_rows_bytes(int64_t width);
size_t near_search_bytes(bool nearest, bool has_long_reach);
size_t list_bytes(int64_t columns);
size_t segment_bytes(int64_t width, int64_t candidates);

// ---- The steps of a map: each queues what its plan says ----

/// Writes all rows of small images.
void search_small_images(const Plan &plan, const Layout &layout, cudaStream_t stream);

/// Writes all narrow rows.
void search_narrow_rows(const Plan &plan, const Layout &layout, cudaStream_t stream);

/// Writes pixels whose sites are near, and marks the others: of both sides of a signed map together if the plan says so.
void search_near(const Plan &plan, const Layout &layout, cudaStream_t stream);

/// The same where nearest sites are wanted.
void search_near_nearest(const Plan &plan, const Layout &layout, cudaStream_t stream);

/// Lists the candidates of far strips, and of strips with marks.
void list_candidates(const Plan &plan, const Layout &layout, cudaStream_t stream);

/// Writes far strips, and the marked pixels of the others.
void search_envelope(const Plan &plan, const Layout &layout, cudaStream_t stream);

/// The same where rows are cut.
void search_segmented_rows(const Plan &plan, const Layout &layout, cudaStream_t stream);

}  // namespace apsis::cuda::plane
