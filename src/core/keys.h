// Keys of the chessboard transform: a distance above, the index of its site below, in one 64-bit number.  The smaller
// of two keys is the nearer site, and of equally near ones the site of lower index.
#pragma once

#include "core/view.h"

namespace apsis {

using Key = uint64_t;
constexpr Key NO_KEY = Key(1) << 63;  // above every key, and a step can be added to it

/// The bits that hold a number below `count`.
APSIS_BOTH inline int bits_below(int64_t count) {
    int bits = 0;
    while (bits < 62 && (int64_t(1) << bits) < count) ++bits;
    return bits;
}

struct KeyFormat {
    int shift;  // bits of the site's index
    explicit KeyFormat(int64_t pixels) : shift(bits_below(pixels)) {}
    APSIS_BOTH Key step() const { return Key(1) << shift; }
    APSIS_BOTH int64_t distance(Key key) const { return static_cast<int64_t>(key >> shift); }
    APSIS_BOTH int64_t site(Key key) const { return static_cast<int64_t>(key & (step() - 1)); }
};

}  // namespace apsis
