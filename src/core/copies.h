// A line of an image that closes on itself, and copies of it beside it: half of one on each side, as no nearest pixel is
// farther away.  Half of an even one stands on one side alone: on the other it would be as far.
#pragma once

#include "core/view.h"

namespace apsis {

struct Copies {
    int64_t length, before, all;  // pixels: of the line, of the copy before it, and with both copies

    /// Without copies, unless the line closes on itself.
    Copies(int64_t pixels, bool is_closed)
        : length(pixels),
          before(is_closed ? pixels / 2 : 0),
          all(pixels + before + (is_closed ? (pixels - 1) / 2 : 0)) {}

    /// The pixel of which there is a copy at some place: the line's own pixels are at 0 ... length - 1.
    APSIS_BOTH int64_t original(int64_t at) const { return at < 0 ? at + length : at < length ? at : at - length; }
    /// Behind the last copy.
    APSIS_BOTH int64_t end() const { return all - before; }

    /// Fills in the copies of a line whose pixels are behind its first copy.
    template <class Element>
    void fill(Element *line) const {
        for (int64_t i = 0; i < before; ++i) line[i] = line[i + length];
        for (int64_t i = before + length; i < all; ++i) line[i] = line[i - length];
    }
};

}  // namespace apsis
