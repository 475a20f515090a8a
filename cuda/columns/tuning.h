// What counts as near, which columns are packed whole, and the sizes of this folder's blocks.  All were measured on an H200,
// unless the comment gives a reason of another kind.
#pragma once

#include <cstdint>

namespace apsis::cuda::columns {

// A site is near a strip if it is in it or within this many rows of it.  It is also the reach of the plane's near search where
// blocks are wide.
constexpr int NEAR = 24;
// Columns of up to so many pixels may be packed with their carries in one launch.  For longer ones that does not pay (pack.cu).
constexpr int64_t LONGEST_WHOLE = 4096;

constexpr int PACK_BLOCKS_PER_SM = 4;  // a thread has registers for half of its 32 loads at once

constexpr int STRETCHES = 32;  // stretches of a chunk at most: the warps of a block
constexpr int STRETCH = 16;    // strips of a stretch at most; half as many where a block has enough warps

}  // namespace apsis::cuda::columns
