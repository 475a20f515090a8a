// Adds up by key in tiles, in shared memory, and then in global memory: for labels of at most 16 bits.
//
// A warp has 32 pixels of a row.  Lanes with the same key are one item, which its first lane adds to the key's place in a small
// hash table of the block (open addressing).  What finds no place there goes to global memory at once.
//
// Cost: one read of the image, and a global atomic operation for each sum of each key in a tile.
#pragma once

#include "cuda/labels/plan.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::labels {

/// A block's tile: 256 words of 32 pixels, which its 8 warps have column by column.
template <int WORDS_IN_ROW, int ROWS_OF_PLANE, int PLANES_OF_TILE>
struct Tile {
    static constexpr int WORDS = WORDS_IN_ROW, ROWS = ROWS_OF_PLANE, PLANES = PLANES_OF_TILE;
    static_assert(WORDS * ROWS * PLANES == BLOCK && ROWS * PLANES % WARP == 0);

    int64_t origin[3];

    __device__ Tile(const View &image, int64_t tile) {
        const int64_t across = ceil_div(image.size[0], WORDS * WARP), down = ceil_div(image.size[1], ROWS), row = tile / across;
        origin[0] = (tile - row * across) * (WORDS * WARP);
        origin[1] = row % down * ROWS;
        origin[2] = row / down * PLANES;
    }

    /// Whether all of the tile is inside the image, with so many pixels around it.
    __device__ bool is_inside(const View &image, int64_t x, int64_t y, int64_t z) const {
        return origin[0] >= x && origin[1] >= y && origin[2] >= z && origin[0] + WORDS * WARP + x <= image.size[0] &&
               origin[1] + ROWS + y <= image.size[1] && origin[2] + PLANES + z <= image.size[2];
    }

    /// Warp: calls load(i, x, y, z) for some words, one after the other, and then use(i, x, y, z) for the same; i counts from
    /// 0, and x, y, z from the tile's first pixel.  So their loads are under way together.
    template <int AT_ONCE, class Load, class Use>
    __device__ static void for_words(Load load, Use use) {
        const int warp = warp_in_block(), x = warp % WORDS * WARP + static_cast<int>(threadIdx.x) % WARP;
        for (int row = warp / WORDS * WARP, end = row + WARP; row < end; row += AT_ONCE) {
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) load(i, x, (row + i) % ROWS, (row + i) / ROWS);
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) use(i, x, (row + i) % ROWS, (row + i) / ROWS);
        }
    }
};
using PlaneTile = Tile<TILE_WORDS[0], TILE_ROWS[0], TILE_PLANES[0]>;
using VolumeTile = Tile<TILE_WORDS[1], TILE_ROWS[1], TILE_PLANES[1]>;

constexpr uint32_t NO_KEY = UINT32_MAX;

/// The slot of a key in a hash table, or -1 if there is none free in the places where it may be.
__device__ inline int slot_of(uint32_t *table, uint32_t slots, uint32_t key, int tries) {
    constexpr uint32_t MULTIPLIER = 0x9e3779b1u;  // 2^32 over the golden ratio
    uint32_t slot = static_cast<uint32_t>(uint64_t(key * MULTIPLIER) * slots >> 32);
    for (int i = 0; i < tries; ++i) {
        uint32_t found = *const_cast<const volatile uint32_t *>(table + slot);
        if (found == NO_KEY) found = atomicCAS(table + slot, NO_KEY, key);
        if (found == key || found == NO_KEY) return static_cast<int>(slot);
        if (++slot == slots) slot = 0;
    }
    return -1;
}

constexpr int TILE_SLOTS = 1024, TILE_TRIES = 8;  // of the hash table of a tile

}  // namespace apsis::cuda::labels
