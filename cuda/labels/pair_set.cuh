// The set of the pairs of values that touch: a bit for each pair that there can be, in the order of their keys.
//
// It is made where a hash table has no room for all pairs (tile_pairs.cuh).  Values of 16 bits have 2^31 pairs, 256 MiB, and
// none is made that takes more memory than the image.
//
// Cost: an atomic operation for each pair in a tile, and a read of the set.
#pragma once

#include "cuda/runtime/launch.h"

namespace apsis::cuda::labels {

/// Pairs of a < b, which both are less than `values`; of a key, a is the upper half.
struct PairSet {
    static constexpr bool COUNTS = false;       // it does not ask how many faces a pair has
    static constexpr int TILE_SLOTS = 1 << 12;  // what a tile finds once is added once

    uint32_t *word;
    int64_t values;

    /// Of the pairs of a, the first one's place.
    APSIS_BOTH int64_t begin_of(int64_t a) const { return a * (2 * values - a - 1) / 2; }

    int64_t places() const { return begin_of(values - 1); }

    uint32_t key_at(int64_t place) const {
        int64_t a = 0;
        for (int64_t step = values / 2; step; step /= 2)
            if (a + step < values && begin_of(a + step) <= place) a += step;
        return static_cast<uint32_t>(a << 16 | (a + 1 + place - begin_of(a)));
    }

    __device__ static constexpr bool is_full() { return false; }

    __device__ void add(uint32_t key, int, uint32_t) const {
        const int64_t a = key >> 16, b = key & 0xffff, place = begin_of(a) + b - a - 1;
        atomicOr(&word[place / WARP], 1u << place % WARP);
    }
};

/// Block: counts the pairs in a chunk of the set.
static __global__ void __launch_bounds__(BLOCK) count_pairs(PairSet set, int64_t words, int64_t chunk, uint32_t *count) {
    const int64_t end = min((blockIdx.x + int64_t(1)) * chunk, words);
    uint32_t pairs = 0;
    for (int64_t i = blockIdx.x * chunk + threadIdx.x; i < end; i += BLOCK) pairs += static_cast<uint32_t>(__popc(set.word[i]));
    pairs = sum_of_warp(pairs);
    if (threadIdx.x % WARP == 0 && pairs) atomicAdd(&count[blockIdx.x], pairs);
}

}  // namespace apsis::cuda::labels
