// A tile of a field: how the values of its cells fall until nothing changes, a span of a row at a time, in vectors.
//
// A span *pulls*: each of its cells takes the least that its neighbours offer, and then they offer among themselves, along
// the row, in doubling strides.  Where that has changed it, exactly those spans are woken to which it has to offer
// something now.  A tile has 64 spans, so who is awake is a word; they pull there and back in the order of the image.
//
// Values are lengths of paths, or, once these are known, the names of sources: a cell offers its name to those whose
// shortest paths lead over it.
#pragma once

#include <limits>

#include "cpu/paths/grid.h"

namespace apsis::cpu::paths {

/// What no path leads to.  Steps can be added to it; and two of 64 bits, since shifts may be as large.
template <class Length>
constexpr Length UNSEEN = std::numeric_limits<Length>::max() / 16 * (sizeof(Length) == 4 ? 15 : 4);

/// How the 64 spans of a tile lie, and which 3 x 3 x 3 are about each of them, and about a tile; number 13 is itself.
struct TileShape {
    static constexpr int SPANS = 64, AROUND = 27, SELF = 13;
    struct Place {
        uint8_t tile, span;
    };
    int64_t side[3];    // spans along x, pixels along y and z
    int64_t at[SPANS];  // its first cell, from the tile's
    int64_t x[SPANS];   // likewise its first pixel
    Place neighbour[SPANS][AROUND];

    TileShape(bool volume, int64_t pitch, int64_t plane);
};

/// What is pulled: the values, and a span's row, which comes first, and those beside it.
template <class Length>
struct Pull {
    struct Row {
        int64_t offset;             // cells from the span's own
        int neighbour;              // the place of the span there among the 27
        Length straight, diagonal;  // what a step there adds to a length; 0 where there is none
    };
    Length *value;         // [cell]
    const Length *length;  // [cell]: where values are names; otherwise null.  Walls are below 0
    Length report_above;   // that there are lengths above it is to be told
    int rows;
    Row row[9];
};

/// Who is awake in a tile and about it, and from which length on.
template <class Length>
struct AwakeSpans {
    uint64_t spans[TileShape::AROUND] = {};
    Length least[TileShape::AROUND];
    bool has_high = false;
};

/// Pulls in a tile until none of its spans is awake.  `right`: how many pixels the image has from the tile on.
void settle(const Pull<int32_t> &pull, const TileShape &shape, int64_t first, int64_t right, AwakeSpans<int32_t> &awake);
void settle(const Pull<int64_t> &pull, const TileShape &shape, int64_t first, int64_t right, AwakeSpans<int64_t> &awake);

}  // namespace apsis::cpu::paths
