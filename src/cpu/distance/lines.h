// The inner loops of the distance transform, in SIMD with run-time dispatch.
//
// A line is a row (or column) of pixels.  Each element has the cost of reaching its site from its own place.  The transform
// finds, for every x, the least of cost[x'] plus the cost of the offset x - x' over all x'.  It does so in two exact ways:
//   outward search    when all sites are near: candidates x - 1, x + 1, x - 2, ... until none can be better;
//   monotone argmin   otherwise: the best x' never moves left as x moves right, so the best x' of two pixels bracket the best
//                     x' of every pixel between them.  log2(n) + 2 evaluations a pixel, whatever the image.
// Among equal costs the lower order wins, then the lower x', so that the answer is unique.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/columns.h"
#include "core/measure.h"

namespace apsis {

/// Lines have this many spare elements on both sides, of NO_COST: loads may run over the ends.
constexpr int64_t LINE_PAD = 96;

/// Where costs are higher than this, those of offsets are this one, and those of columns NO_COST: what they are added to does
/// not overflow, and is no less than this.
template <class Cost>
constexpr Cost SATURATED = NO_COST<Cost> - 1;

template <class Cost>
struct Line {
    int64_t length;
    const Cost *cost;   // [-LINE_PAD, length + LINE_PAD)
    const Cost *order;  // likewise; nullptr if only the least cost is wanted
    const Cost *table;  // table[d], -(length + LINE_PAD) <= d <= length + LINE_PAD: the cost of an offset d
    Cost *least;        // [0, length + LINE_PAD): the least cost
    Cost *arg;          // the x' of the least cost; nullptr if `order` is
    Cost *arg_order;    // the order of that x'; likewise
    Cost *bracket;      // scratch, length + LINE_PAD
    // Of a label image: for each pixel the nearest one of another value on the line, as a candidate beside those above.
    const Cost *end_cost = nullptr;                 // [0, length + LINE_PAD): 0 behind the line; nullptr: there are none
    const Cost *end_arg = nullptr;                  // its x'; nullptr if `order` is
    Cost end_order = 0;                             // the order of each of them
    Cost limit = std::numeric_limits<Cost>::max();  // a least cost above it may be any other one above it
    bool may_saturate = false;                      // whether costs may be too long for their type
};

/// How offsets along an axis become costs.  From `reach` on they are too long for the type, or there is no site.
template <class Cost>
struct Scale {
    bool squared;
    Cost weight, reach = -NO_SITE_BEFORE;

    Scale(const Measure &measure, int axis)
        : squared(measure.metric == APSIS_EUCLIDEAN),
          weight(static_cast<Cost>(std::min<int64_t>(measure.weight[axis], NO_COST<Cost>))) {
        if (sizeof(Cost) == 8) return;  // of an image
        const double most = SATURATED<Cost> / weight + 1;
        reach = static_cast<Cost>(squared ? std::ceil(std::sqrt(most)) : most);
    }
};

void least_on_line(const Line<int32_t> &line);
void least_on_line(const Line<int64_t> &line);

/// The costs (and orders: site positions) of `count` columns at position `at`, from the words and carries of the strip
/// that begins at `start`.  `flip` exchanges sites and other pixels.  Here and below vectors may read and write past the last
/// element: arrays have LINE_PAD spare ones.
void column_costs(const Measure &measure, int axis, const uint32_t *words, const int32_t *before, const int32_t *after,
                  uint32_t flip, int64_t count, int32_t start, int32_t at, int32_t *cost, int32_t *order);
void column_costs(const Measure &measure, int axis, const uint32_t *words, const int32_t *before, const int32_t *after,
                  uint32_t flip, int64_t count, int32_t start, int32_t at, int64_t *cost, int64_t *order);

/// Sets bit `bit` of words[x] where pixel x of a packed row of bytes, or of bits, is non-zero.
void pack_bytes(const uint8_t *row, int64_t count, int bit, uint32_t *words);
void pack_bits(const uint8_t *row, int64_t count, int bit, uint32_t *words);

/// The instructions that this machine runs the loops with, such as "AVX2".
const char *row_instructions();

}  // namespace apsis
