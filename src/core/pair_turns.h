// What decides which fields pair bounds make (cpu/paths/pair_bounds.h says what these are): the same on every device, so that the
// bounds are the same, too, when a budget runs out.
#pragma once

#include "core/view.h"

namespace apsis {

/// The hubs that there is room for if the set is the whole image; of smaller sets more, but not more than this.
template <class Length>
constexpr int HUB_ROOM = 128 / static_cast<int>(sizeof(Length));
template <class Length>
constexpr int MOST_HUBS = 2 * HUB_ROOM<Length>;
constexpr int FIRST_HUBS = 4;  // they stay: three that are far from each other, and what lies between them

/// The most pixels that name sources in a turn.
template <class Length>
constexpr int BATCH = 32 / static_cast<int>(sizeof(Length));
constexpr int64_t SHORT_PIECE = 4096;  // in a component of so many pixels one does
constexpr int64_t FEW_FIELDS = 64;     // after so many of them there are going to be many: each turn makes more

/// Where between a pixel and its witness a hub is put, from the witness.  In a plane a few pixels are the farthest of nearly
/// all, and a hub not far from one of them is on the way of many; in a volume they may be all of a surface.
APSIS_BOTH constexpr double along(int axes) { return axes == 2 ? 0.6 : 0.7; }

/// The most hubs of a component: a whole number of lines of 16 bytes.
template <class Length>
int hub_room(int64_t pixels, int64_t members) {
    constexpr int LINE = 16 / static_cast<int>(sizeof(Length));
    const int64_t room = HUB_ROOM<Length> * pixels / (members > 0 ? members : 1);
    return room < MOST_HUBS<Length> ? static_cast<int>(room) / LINE * LINE : MOST_HUBS<Length>;
}

/// How many pixels of a component name sources, after so many fields of it.
template <class Length>
APSIS_BOTH int64_t batch_of(int64_t size, int64_t fields) {
    if (size <= SHORT_PIECE) return 1;
    return fields < FEW_FIELDS && BATCH<Length> > 4 ? 4 : BATCH<Length>;
}

}  // namespace apsis
