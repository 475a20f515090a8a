// The blocks of the raster scan (Elizondo-Leal et al. 2020): their sizes, and when a block is finished.
#pragma once

#include <algorithm>

#include "core/sites.h"

namespace apsis {

// Table 2: a block has BSIZE x BSIZE tiles, and a tile TILERES x TILERES pixels.
constexpr int BSIZE = 8, SMALL_TILERES = 2, LARGE_TILERES = 4;
constexpr int64_t LARGEST_SMALL = 2048;  // the longer side of an image with small tiles

inline int tileres_of(const View &set) {
    return std::max(set.size[0], set.size[1]) <= LARGEST_SMALL ? SMALL_TILERES : LARGE_TILERES;
}

/// After so many instances over blocks of side x side pixels, a pixel whose squared distance is not above this number has its
/// nearest site, unless it is an exclave.  docs/methods.md says why, and why the number is below the paper's after 1 to 4.
inline uint32_t settled_by(int64_t instances, int64_t side) {
    const int64_t reach = std::max<int64_t>(instances - 2, 0) * side;
    return static_cast<uint32_t>(std::min<int64_t>(reach * reach / 2, INT32_MAX));
}

}  // namespace apsis
