// A tile of a field: lowers the values of its cells until nothing changes, a span of a row at a time, in vectors (Highway).
//
// A span pulls: each of its cells takes the least offer of its neighbours in other rows, and then the cells offer along the
// row, in doubling strides.  If that has changed the span, it wakes exactly the spans that gain from it.  A tile has 64 spans.
// The awake ones are the bits of a word, and pull forwards and backwards in the order of the image.
//
// Values are lengths of paths or, when all lengths are known, names of sources.  A cell offers its name to cells whose shortest
// paths pass through it.
#pragma once

#include <limits>

#include "cpu/paths/grid.h"

namespace apsis::cpu::paths {

/// The length where no path leads.  Adding a step to it does not overflow.  Neither does the sum of two 64-bit lengths, since
/// shifts may be as large.
template <class Length>
constexpr Length UNSEEN = std::numeric_limits<Length>::max() / 16 * (sizeof(Length) == 4 ? 15 : 4);

/// How the 64 spans of a tile lie, and where their 3 x 3 x 3 neighbours are: number 13 is the span, or the tile, itself.
struct TileShape {
    static constexpr int SPANS = 64, AROUND = 27, SELF = 13;
    struct Place {
        uint8_t tile, span;
    };
    int64_t side[3];    // spans along x, pixels along y and z
    int64_t at[SPANS];  // the span's first cell, from the tile's first
    int64_t x[SPANS];   // the span's first pixel along x, from the tile's first
    Place neighbour[SPANS][AROUND];

    TileShape(bool volume, int64_t pitch, int64_t plane);
};

/// The input of a span's pull: the values, the span's own row, which comes first, and the rows beside it.
template <class Length>
struct Pull {
    struct Row {
        int64_t offset;             // cells from the span's own
        int neighbour;              // the number of the span there among the 27
        Length straight, diagonal;  // what a step there adds to a length; 0 where there is none
    };
    Length *value;         // [cell]
    const Length *length;  // [cell]: where values are names; otherwise null.  Walls are below 0
    Length report_above;   // longer lengths set has_high
    int rows;
    Row row[9];
};

/// The spans that are awake in a tile and around it, and the least lengths that have woken them.
template <class Length>
struct AwakeSpans {
    uint64_t spans[TileShape::AROUND] = {};
    Length least[TileShape::AROUND];
    uint64_t pulled = 0;  // the spans of the tile that have been awake
    bool has_high = false;
};

/// Pulls in a tile until none of its spans is awake.  `right` is how many pixels the image has from the tile's first column on.
void settle(const Pull<int32_t> &pull, const TileShape &shape, int64_t first, int64_t right, AwakeSpans<int32_t> &awake);
void settle(const Pull<int64_t> &pull, const TileShape &shape, int64_t first, int64_t right, AwakeSpans<int64_t> &awake);

}  // namespace apsis::cpu::paths
