// The centres of the medial axis.
#pragma once

#include <memory>

#include "runtime/balls.h"

namespace apsis::cpu::balls {

/// For each pixel, by its number, whether it is on the medial axis.
using Centres = std::unique_ptr<uint8_t[]>;

/// Finds the medial axis of finite balls.  Reports progress up to `to`.
Centres find_centres(const BallsJob &job, Arena &arena, const Progress &progress, double to);

}  // namespace apsis::cpu::balls
