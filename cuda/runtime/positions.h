// Positions of set bits.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace apsis::cuda {

/// A word of the positions whose number has a bit.
__device__ constexpr uint32_t positions_with(int bit) {
    constexpr uint32_t POSITIONS[] = {0xaaaaaaaau, 0xccccccccu, 0xf0f0f0f0u, 0xff00ff00u, 0xffff0000u};
    return POSITIONS[bit];
}

/// The sum of the positions of the set bits of two words.  The bits of `other` are moved to bits that do not count, one pass a
/// bit of the position.
__device__ inline uint32_t sum_of_positions(uint32_t word, uint32_t other = 0) {
    uint32_t sum = 0;
#pragma unroll
    for (int bit = 0; bit < 5; ++bit)
        sum += __popc((word & positions_with(bit)) | (other >> (1 << bit) & ~positions_with(bit))) << bit;
    return sum;
}

/// The sum of the squares of the positions of the set bits of a word.
__device__ inline uint32_t sum_of_squares(uint32_t word) {
    uint32_t sum = 0;
#pragma unroll
    for (int a = 0; a < 5; ++a)
#pragma unroll
        for (int b = 0; b <= a; ++b) sum += __popc(word & positions_with(a) & positions_with(b)) << (a + b + (a != b));
    return sum;
}

}  // namespace apsis::cuda
