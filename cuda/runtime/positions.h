// Positions of set bits.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace apsis::cuda {

/// The sum of the positions of the set bits of two words.  The bits of `other` are moved to bits that do not count, one pass a
/// bit of the position.
__device__ inline uint32_t sum_of_positions(uint32_t word, uint32_t other = 0) {
    constexpr uint32_t POSITION_BITS[] = {0xaaaaaaaau, 0xccccccccu, 0xf0f0f0f0u, 0xff00ff00u, 0xffff0000u};
    uint32_t sum = 0;
#pragma unroll
    for (int bit = 0; bit < 5; ++bit)
        sum += __popc((word & POSITION_BITS[bit]) | (other >> (1 << bit) & ~POSITION_BITS[bit])) << bit;
    return sum;
}

}  // namespace apsis::cuda
