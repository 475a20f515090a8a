// Turns bits of rows into bits of columns.
#pragma once

#include "cuda/runtime/launch.h"

namespace apsis::cuda::columns {

/// Warp: transposes 32 words, one a lane.  Bit b of lane a becomes bit a of lane b.
__device__ inline uint32_t transpose_bits(uint32_t word) {
    const int lane = threadIdx.x % WARP;
    uint32_t mask = 0x0000ffffu;
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2, mask ^= mask << step) {
        const uint32_t other = __shfl_xor_sync(ALL_LANES, word, step);
        word = lane & step ? (word & ~mask) | (other >> step & mask) : (word & mask) | (other << step & ~mask);
    }
    return word;
}

}  // namespace apsis::cuda::columns
