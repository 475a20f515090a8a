// The numbers that decide which fields pair bounds make (cpu/paths/pair_bounds.h describes the method).  They are the same on
// every device, so that the bounds are also the same when a budget runs out.
#pragma once

#include "core/view.h"

namespace apsis {

/// The number of hubs that memory has room for if the set is the whole image.  Smaller sets have more, up to MOST_HUBS.
template <class Length>
constexpr int HUB_ROOM = 128 / static_cast<int>(sizeof(Length));
template <class Length>
constexpr int MOST_HUBS = 2 * HUB_ROOM<Length>;
constexpr int FIRST_HUBS = 4;  // they are never replaced: three that are far from each other, and one between them

/// The most pixels that name sources in a turn.
template <class Length>
constexpr int BATCH = 32 / static_cast<int>(sizeof(Length));
constexpr int64_t TINY_SIZE = 24;      // in components up to this size every pixel has a field, if the budget allows it
constexpr int64_t SHORT_PIECE = 4096;  // in a component of up to so many pixels, one pixel does
constexpr int64_t FEW_FIELDS = 64;     // a component with so many fields takes many more: each turn then makes more at once

/// Where between a pixel and its witness a hub is put, as a share of the way from the witness.  In a plane a few pixels are the
/// farthest from nearly all others, and a hub near one of them is on many ways.  In a volume they may be all of a surface.
APSIS_BOTH constexpr double along(int axes) { return axes == 2 ? 0.6 : 0.7; }

/// The most hubs of a component.  Their lengths are a whole number of 16-byte lines.
template <class Length>
int hub_room(int64_t pixels, int64_t members) {
    constexpr int LINE = 16 / static_cast<int>(sizeof(Length));
    const int64_t room = HUB_ROOM<Length> * pixels / (members > 0 ? members : 1);
    return room < MOST_HUBS<Length> ? static_cast<int>(room) / LINE * LINE : MOST_HUBS<Length>;
}

/// How many pixels of a component name sources in a turn, after so many of its fields.
template <class Length>
APSIS_BOTH int64_t batch_of(int64_t size, int64_t fields) {
    if (size <= SHORT_PIECE) return 1;
    return fields < FEW_FIELDS && BATCH<Length> > 4 ? 4 : BATCH<Length>;
}

}  // namespace apsis
