// Which sizes the ways of this folder are for, and the sizes of their blocks.  All were measured on an H200, unless the comment
// gives a reason of another kind.
#pragma once

#include "cuda/distance/plane/layout.h"

namespace apsis::cuda::plane {

// ---- Which way: plan.cu ----

// Small images leave most of a device idle if a kernel follows another.  Up to 1024 x 1024 one kernel for all rows takes half
// the time of the other ways.  At SMALL_AREA it takes as long, but half as long for the worst images.
constexpr int64_t SMALL_WIDTH = 2048, SMALL_AREA = int64_t(3) << 19;
// Up to NARROW_WIDTH, and from MANY_STRIPS on, a block holds a strip.  At width 320 that takes 39 to 85 % of the time of
// whole rows, and 104 % for diagonals; at 28 a third.  At 352, where two blocks fill a multiprocessor, it is up to 128 %.
// For nearest sites whole rows take less from 128 on.
constexpr int64_t NARROW_WIDTH = 320, NARROW_NEAREST_WIDTH = 128, MANY_STRIPS = 1024;
// Fewer blocks of the near search do not fill a device, and get a longer reach.  Where sites are 24 to 96 pixels away, that
// takes half the time of the envelope.  At 2048^2 it costs noise 8 % or 2 us, and 17 % of nearest sites.
constexpr int64_t FEW_NEAR_BLOCKS = 300;
// A strip is left to the envelope as a whole if 1 / FAR_SHARE of its groups or more are far.  The envelope costs twice as much
// as the near search, but half of its cost does not depend on how many pixels of a row are wanted.
constexpr int FAR_SHARE = 8;

// ---- Blocks ----

// Columns of a block of the near search: four patches, or one.  With the columns that it reads on either side they are 560, or
// 320.
constexpr int WIDE_SPAN = 512, SHORT_SPAN = 128;
static_assert(SHORT_SPAN == PATCH && WIDE_SPAN % PATCH == 0);

// Of label images they are 256 and 448: distances in the columns on either side are found again by the next blocks.
constexpr int LABEL_SPAN = 256;
// A second search of label images reaches as far as it must, up to so many columns.  With 128 in the middle a warp then has
// 1024.
constexpr int LABEL_REACH = 448;

constexpr int LIST_THREADS = 512;  // of a block: three such blocks fill a multiprocessor's registers and shared memory

constexpr int THREADS = 512;   // at most, of a block of the envelope: two blocks, of rows up to 16384, fill the shared memory
constexpr int TILES_EACH = 2;  // that a thread finishes in a shorter row
// Fewer blocks of the envelope do not fill a device, and have more threads.  On an H100 that takes 6 to 12 % less at 1448^2 and
// 2048^2, and 15 to 24 % less at 1024 x 2048.  In 1024 blocks, at 2048 x 8192, it would take 4 % more.
constexpr int64_t FEW_BANDS = 512;
constexpr int FEW_BANDS_THREADS = 256;

// Candidates of a block at most where rows are cut: a multiprocessor of 228 KiB has room for two such blocks, with their tiles
// and 1 KiB each.
constexpr int32_t MOST_CANDIDATES = 13248;

}  // namespace apsis::cuda::plane
