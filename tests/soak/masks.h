// Masks of many kinds.
#pragma once

#include "problem.h"

namespace soak {

/// Fills `mask`, packed, a byte a pixel, with a kind that is drawn; returns its name.
std::string draw_mask(std::vector<uint8_t> &mask, const std::array<int64_t, 3> &size, Dice &dice);

}  // namespace soak
