// Packs the pixels of a tile into words of bits, in shared memory: the first step of every kernel that labels tiles from the
// image.
#pragma once

#include "cuda/components/tiles.h"

namespace apsis::cuda::components {

/// The sum of `others` and of 128 times the place values of those of four bytes that are not 0.
__device__ inline uint32_t pack_four(uint32_t bytes, uint32_t places, uint32_t others) {
    const uint32_t marks = (bytes | ((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu)) & 0x80808080u;
    return __dp4a(marks, places, others);
}

__device__ inline uint32_t pack_sixteen(uint4 bytes) {
    constexpr uint32_t LOW = 0x08040201u, HIGH = 0x80402010u;
    const uint32_t first = pack_four(bytes.x, LOW, pack_four(bytes.y, HIGH, 0));
    const uint32_t second = pack_four(bytes.z, LOW, pack_four(bytes.w, HIGH, 0));
    return first >> 7 | second << 1;
}

/// The bits of a word at x that are pixels of the image.
__device__ inline uint32_t inside(int64_t x, int64_t width) {
    return x >= width ? 0 : width - x >= 32 ? ~0u : (1u << static_cast<int>(width - x)) - 1;
}

/// Block: packs a tile from bytes, 16 a load.  The loads of a thread are under way together, some rows or planes apart.  A
/// WHOLE tile has no pixels outside the image; only then is the complement taken here.
template <class Tile, int THREADS, bool WHOLE>
__device__ void pack_aligned(const View &set, bool complement, const TilePlace &place, uint32_t *word) {
    constexpr int IN_ROW = 2 * Tile::WORDS, LOADS = 2 * Tile::THREADS / THREADS;
    constexpr int ROWS = THREADS / IN_ROW, DOWN = ROWS % (Tile::ROWS * Tile::PLANES);
    const int row = threadIdx.x / IN_ROW;
    const int64_t x = place.x + threadIdx.x % IN_ROW * 16, left = set.size[0] - x;
    const int64_t y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    constexpr int DY = Tile::PLANES > 1 ? 0 : DOWN, DZ = Tile::PLANES > 1 ? DOWN / Tile::ROWS : 0;
    const uint8_t *from = set.row(y, z) + x;
    uint4 bytes[LOADS] = {};
    uint32_t bits[LOADS] = {};
#pragma unroll
    for (int k = 0; k < LOADS; ++k, from += DY * set.stride[1] + DZ * set.stride[2]) {
        if (!WHOLE && (y + k * DY >= set.size[1] || z + k * DZ >= set.size[2])) continue;
        if (WHOLE || left >= 16)
            bytes[k] = __ldcs(reinterpret_cast<const uint4 *>(from));
        else
#pragma unroll 1  // only at the border of the image
            for (int i = 0; i < left; ++i) bits[k] |= (from[i] ? 1u : 0u) << i;
    }
    const uint32_t flip = WHOLE && complement ? ~0u : 0;
#pragma unroll
    for (int k = 0; k < LOADS; ++k)
        reinterpret_cast<uint16_t *>(word)[k * THREADS + threadIdx.x] =
            static_cast<uint16_t>((pack_sixteen(bytes[k]) | bits[k]) ^ flip);
}

/// Block: packs a tile from bytes with any stride, a lane one of 32.
template <class Tile, int THREADS>
__device__ void pack_bytes(const View &set, const TilePlace &place, uint32_t *word) {
    constexpr int EACH = Tile::THREADS / (THREADS / WARP);  // words of a warp
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
#pragma unroll 8
    for (int i = 0; i < EACH; ++i) {
        const int at = warp * EACH + i, row = at / Tile::WORDS;
        const int64_t x = place.x + at % Tile::WORDS * 32 + lane;
        const int64_t y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
        const bool is_inside = x < set.size[0] && y < set.size[1] && z < set.size[2];
        const unsigned bits = __ballot_sync(ALL_LANES, is_inside && set.row(y, z)[x * set.stride[0]] != 0);
        if (lane == 0) word[at] = bits;
    }
}

/// A word of a tile, from bits.
template <class Tile>
__device__ uint32_t gather_bits(const View &set, const TilePlace &place, int at) {
    const int row = at / Tile::WORDS;
    const int64_t x = place.x + at % Tile::WORDS * 32, y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    if (y >= set.size[1] || z >= set.size[2]) return 0;
    const uint8_t *const from = set.row(y, z);
    uint32_t bits = 0;
#pragma unroll
    for (int byte = 0; byte < 4; ++byte)
        if (x + byte * 8 < set.size[0]) bits |= static_cast<uint32_t>(from[x / 8 + byte]) << 8 * byte;
    return bits;
}

/// Block: packs a tile with THREADS threads.  All of them see it after a barrier.
template <class Tile, int THREADS>
__device__ void pack_tile(const View &set, bool aligned, bool complement, const TilePlace &place, uint32_t *word) {
    const bool is_packed = set.type == APSIS_BIT, is_whole = place.x + Tile::WORDS * 32 <= set.size[0] &&
                                                             place.y + Tile::ROWS <= set.size[1] &&
                                                             place.z + Tile::PLANES <= set.size[2];
    if (aligned && is_whole) return pack_aligned<Tile, THREADS, true>(set, complement, place, word);
    if (!is_packed) {
        if (aligned)
            pack_aligned<Tile, THREADS, false>(set, complement, place, word);
        else
            pack_bytes<Tile, THREADS>(set, place, word);
        __syncthreads();
    }
#pragma unroll
    for (int at = threadIdx.x; at < Tile::THREADS; at += THREADS) {
        const int row = at / Tile::WORDS;
        const int64_t y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
        const bool is_inside = y < set.size[1] && z < set.size[2];
        const uint32_t bits = is_packed ? gather_bits<Tile>(set, place, at) : word[at];
        word[at] = (complement ? ~bits : bits) & (is_inside ? inside(place.x + at % Tile::WORDS * 32, set.size[0]) : 0);
    }
}

/// Whether 16 bytes side by side can be loaded at once.
inline bool is_aligned(const View &set) {
    return set.type == APSIS_U8 && set.stride[0] == 1 && rows_begin_at(set, sizeof(uint4));
}

}  // namespace apsis::cuda::components
