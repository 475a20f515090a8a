// The sample that chooses a way, the sizes of blocks, and how much of a line they hold.  All were measured on an H200, unless
// the comment gives a reason of another kind.
#pragma once

#include <cstdint>

namespace apsis::cuda::volume {

// ---- Which way: near_search.cu ----

// An image is far if one sample in FAR_ONE_IN has no site within the near search's reach.  So few samples suffice, because
// windows take only a third longer where all sites are near, while the argmin takes far longer for voxels that the near search
// leaves.
constexpr int SAMPLES = 1024, FAR_ONE_IN = 64;

// An image is sparse if three of four samples have no site within so many voxels along each axis.  Of the rows around a sample
// only some are read, which takes a quarter of the time; their step divides no period of lines of text.
constexpr int SPARSE_SAMPLES = 128, SPARSE_REACH = 64, SPARSE_STEP = 5;
constexpr int REACH_THREADS = 1024;  // of such a sample, which has a block to itself: all of its loads are in flight at once

// ---- Near search: near_search.cu ----

constexpr int NEAR_THREADS = 512, NEAR_BLOCKS_PER_SM = 2;  // such blocks fill a multiprocessor
constexpr int X_BLOCKS_PER_SM = 4;  // along x: fewer blocks with more registers would not hide the latency of memory
// Blocks along x: of larger images each takes several planes.  If the image is far all blocks return at once, and launching
// more of them would only take time.
constexpr int64_t MOST_X_BLOCKS = 4096;

// ---- Near search of label images: label_search.cu ----

constexpr int LABEL_BLOCKS_PER_SM = 4;  // leaves a thread 64 registers
// Voxels to either side that the search takes along y and z at most.  They lie in shared memory: 24 KiB.
constexpr int LABEL_REACH = 64;
// Greater costs count as this.  With that of a way within reach, not above it, they fit 16 bits.
constexpr uint32_t LABEL_CLIP = 0x7fff;

// ---- Windows: windows.cu ----

constexpr int WINDOW_THREADS = 512, WINDOW_BLOCKS_PER_SM = 2;  // a thread still has all registers that it needs
constexpr int64_t MOST_CHUNKS = 96;  // of a line in a window: a multiprocessor has room for two such windows

// ---- Monotone argmin: argmin.cu ----

constexpr int ARGMIN_THREADS_LOG2 = 8;  // small blocks, because all threads of a block wait for its last
constexpr int ARGMIN_THREADS = 1 << ARGMIN_THREADS_LOG2;
constexpr int ARGMIN_BLOCKS_PER_SM = 5;  // leaves a thread 48 registers
constexpr int CHUNK = 16;                // candidates of which the least cost is kept, to skip them in long brackets
constexpr int CHUNKS_AT_ONCE = 4;        // chunks whose least costs are read together
constexpr int LONG_BRACKET = 2 * CHUNK;  // brackets longer than this are searched by chunks
constexpr int FIRST_PIVOTS_LOG2 = 4;     // of the number of first pivots, which have no bracket; 8 would take a level more
constexpr int PROBES = 8;                // candidates whose costs bound the search of these pivots
constexpr int CHECKED_STEP = 2;          // up to this step it pays to check which intervals are wanted

// How many lines a bundle has.  16 lines read half a cache line at once, and let many blocks share a multiprocessor.  Short
// lines fill a block only if they are many.  Of long lines few fit; fewer than 8 would waste most of each sector read.
constexpr int FEW_LINES = 8, SOME_LINES = 16, MANY_LINES = 256;

}  // namespace apsis::cuda::volume
