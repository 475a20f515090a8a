// Which components are solved many at a time, the sizes of blocks, and how much is done between two looks by the host.  What
// small components win was measured on an H200 (plan.cu); of the other constants the comments give the reasons.  Those of
// fields stand beside their kernels.
#pragma once

#include <cstdint>

namespace apsis::cuda::paths {

// ---- Small components: small_components.cuh ----

// They come in classes of sizes; a class has twice the size of the class before.  Classes end where a block's fields fill
// 48 KiB, which every device has without asking.
constexpr int SIZE_CLASSES = 4;
constexpr uint32_t SMALLEST_CLASS = 32;

// ---- Pair bounds: pair_bounds.cuh ----

constexpr int SPAN_THREADS = 512;   // of a block for a large span or a component: they fill a device at 1024^2 pixels
constexpr int PROOF_THREADS = 256;  // of a block for a part of a large span, a pixel each: some searches are long
template <class Length>
constexpr int PROOF_BLOCKS_PER_SM = sizeof(Length) == 4 ? 3 : 2;  // with more, registers are spilt

constexpr uint32_t DEALT_ROWS = 8;  // of spans for the proof, to each member of a team: some parts of an image take longer

// ---- A field from every pixel: every_source.cuh ----

constexpr int ITERATIONS = 8;                // of both kernels between two checks by the host
constexpr int64_t PIXELS_AT_ONCE = 1 << 20;  // of the fields that are made side by side
constexpr int64_t MOST_FIELDS = 256;         // of these

}  // namespace apsis::cuda::paths
