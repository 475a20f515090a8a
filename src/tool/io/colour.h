// Colours for pictures, made in a perceptual space: equal steps look equal.
#pragma once

#include <array>
#include <cstdint>

namespace tool {

using Rgb = std::array<std::uint8_t, 3>;

constexpr Rgb kSite = {255, 255, 255};     // the set itself, in distance pictures
constexpr Rgb kDark = {16, 16, 16};        // the set itself, in pictures of indices
constexpr Rgb kNothing = {128, 128, 128};  // no distance, no index

/// From dark blue at 0 to light yellow at 1.  Lightness always increases, so that it can be read without colour too.
Rgb sequential(double t);

/// From blue at -1 over near white at 0 to red at 1.
Rgb diverging(double t);

/// The same colour for the same label, in every picture.  Most pairs of labels get different colours.
Rgb distinct(std::uint64_t label);

}  // namespace tool
