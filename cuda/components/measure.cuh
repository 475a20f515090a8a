// Adds up area, box and sums of coordinates of the parts of a tile in shared memory.
//
// In most words the first part is also that of the words beside it: whole warps add its pixels together.  The rest is added run
// by run, dealt out to all lanes.  Rows with equal words are added as one.
#pragma once

#include "cuda/components/label.cuh"
#include "cuda/runtime/positions.h"

namespace apsis::cuda::components {

/// The bits of coordinates in a tile, and of sums of them.
template <class Tile>
struct PartBits {
    static constexpr int AXES = Tile::PLANES > 1 ? 3 : 2;
    static constexpr int COORDINATE = Tile::PLANES > 1 ? 5 : 7, SUM = 21;
    static_assert(Tile::WORDS * 32 <= 1 << COORDINATE && Tile::ROWS <= 1 << COORDINATE && Tile::PLANES <= 1 << COORDINATE);
    static_assert((int64_t(Tile::THREADS) * 32 << COORDINATE) <= int64_t(1) << SUM);
};

/// Area, sums of coordinates and box of some pixels of a part.
struct PixelSums {
    uint32_t area, sum[3], lower[3], upper[3];

    /// The sums of pixels of a word that are the same in `rows` rows from there on.
    template <class Tile>
    __device__ static PixelSums of_rows(int at, uint32_t rows, uint32_t pixels) {
        const uint32_t left = at % Tile::WORDS * 32, row = at / Tile::WORDS, y = row % Tile::ROWS, z = row / Tile::ROWS;
        const uint32_t count = __popc(pixels), area = count * rows;
        return {area,
                {(left * count + sum_of_positions(pixels)) * rows, count * (rows * y + rows * (rows - 1) / 2), area * z},
                {left + __ffs(pixels) - 1, y, z},
                {left + 31 - __clz(static_cast<int>(pixels)), y + rows - 1, z}};
    }

    /// The sums of pixels of two rows of a word that are the same in `pairs` pairs of rows from there on; `at` counts words of
    /// pairs.
    template <class Tile>
    __device__ static PixelSums of_row_pairs(uint32_t at, uint32_t pairs, uint32_t upper, uint32_t lower) {
        const uint32_t left = at % Tile::WORDS * 32, y = at / Tile::WORDS * 2, columns = upper | lower;
        const uint32_t below = __popc(lower), count = __popc(upper) + below;
        return {count * pairs,
                {(left * count + sum_of_positions(upper, lower)) * pairs,
                 (y * count + below) * pairs + count * pairs * (pairs - 1), 0},
                {left + __ffs(columns) - 1, y + (upper == 0), 0},
                {left + 31 - __clz(static_cast<int>(columns)), y + 2 * (pairs - 1) + (lower != 0), 0}};
    }
};

/// No part, or one that is not measured.
constexpr uint32_t NO_PART = UINT32_MAX;

/// Warp: the sums of the lanes that have pixels.
template <class Tile>
__device__ PixelSums total_of_warp(bool has, const PixelSums &own) {
    PixelSums all = {sum_of_warp(has ? own.area : 0), {}, {}, {}};
#pragma unroll
    for (int a = 0; a < PartBits<Tile>::AXES; ++a) {
        all.sum[a] = sum_of_warp(has ? own.sum[a] : 0);
        all.lower[a] = least_of_warp(has ? own.lower[a] : UINT32_MAX);
        all.upper[a] = greatest_of_warp(has ? own.upper[a] : 0);
    }
    return all;
}

/// Warp: calls add(part, sums) for the lanes' parts.  Lanes of the same part add together, for two parts; the other lanes call
/// it themselves.
template <class Tile, class Add>
__device__ void add_by_warp(uint32_t part, const PixelSums &added, Add add) {
    constexpr int ROUNDS = 2;
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t rest = __ballot_sync(ALL_LANES, part != NO_PART);
    for (int round = 0; round < ROUNDS && rest; ++round) {
        const uint32_t leader = __ffs(rest) - 1, led = __shfl_sync(ALL_LANES, part, leader);
        const bool is_led = part == led;
        const PixelSums all = total_of_warp<Tile>(is_led, added);
        if (lane == leader) add(led, all);
        rest &= ~__ballot_sync(ALL_LANES, is_led);
    }
    if (rest >> lane & 1) add(part, added);
}

/// Warp: how many rows of the warp, from this thread's on, have the same word, and so pixels of the same parts; 0 if the row
/// before has it too.  `differs` is whether a thread's word differs from that of the row before.
template <class Tile>
__device__ uint32_t rows_alike(bool differs) {
    constexpr uint32_t COLUMN = Tile::WORDS == 1 ? ~0u : 0x11111111u;
    static_assert(Tile::WORDS == 1 || Tile::WORDS == 4);
    const int lane = threadIdx.x % WARP;
    const uint32_t others = __ballot_sync(ALL_LANES, differs);
    const uint32_t later = lane + Tile::WORDS < WARP ? others >> (lane + Tile::WORDS) & COLUMN : 0;
    const uint32_t left = (WARP - 1 - lane) / Tile::WORDS;
    return others >> lane & 1 ? 1 + (later ? (__ffs(later) - 1) / Tile::WORDS : left) : 0;
}

/// Warp: calls add(part, sums) for the words of a labelled tile.  part_of(run) is the number of its part, or NO_PART.
template <class Tile, class PartOf, class Add>
__device__ void add_words(const LabelledTile<Tile> &labelled, PartOf part_of, Add add) {
    const int at = threadIdx.x, lane = at % WARP;
    const uint32_t word = labelled.word[at], above = __shfl_up_sync(ALL_LANES, word, Tile::WORDS);
    const uint32_t rows = rows_alike<Tile>(lane < Tile::WORDS || above != word);
    uint32_t main_part = NO_PART, own = 0;
    if (word && rows) {
        uint32_t number = labelled.runs_of(at).number_in(up_to(__ffs(word) - 1));
        main_part = part_of(entry_of(number));
        for (uint32_t rest = word; rest; ++number) {
            const uint32_t segment = rest & ~(rest + (rest & -rest));
            rest &= ~segment;
            if (part_of(entry_of(number)) == main_part) own |= segment;
        }
    }
    add_by_warp<Tile>(main_part, PixelSums::of_rows<Tile>(at, rows, own), add);
    const uint32_t others = rows ? word & ~own : 0;
    for_bits_of_warp(others & ~(others << 1), [&](int from, int x) {
        const uint32_t alike = __shfl_sync(ALL_LANES, rows, from);
        if (x < 0) return;
        const int there = at - lane + from;
        const uint32_t part = part_of(labelled.run_at(there, x)), rest = labelled.word[there] >> x;
        const uint32_t length = rest == ~0u ? 32 : __ffs(~rest) - 1;
        if (part != NO_PART)
            add(part, PixelSums::of_rows<Tile>(there, alike, static_cast<uint32_t>(((1ull << length) - 1) << x)));
    });
}

/// Sums of up to COUNT parts.  The lower end along the last axis is not kept: it follows from the first pixel of a part.
template <class Tile, uint32_t COUNT>
struct PartSums {
    static constexpr int AXES = PartBits<Tile>::AXES;

    uint32_t area[COUNT], sum[AXES][COUNT], lower[AXES - 1][COUNT], upper[AXES][COUNT];

    __device__ void clear(uint32_t part) {
        area[part] = 0;
#pragma unroll
        for (int a = 0; a < AXES; ++a) sum[a][part] = 0, upper[a][part] = 0;
#pragma unroll
        for (int a = 0; a < AXES - 1; ++a) lower[a][part] = UINT32_MAX;
    }

    /// Reads before the atomics, as most pixels do not make a box larger.
    __device__ void add(uint32_t part, const PixelSums &added) {
        atomicAdd(&area[part], added.area);
#pragma unroll
        for (int a = 0; a < AXES; ++a) {
            if (added.sum[a]) atomicAdd(&sum[a][part], added.sum[a]);
            if (a < AXES - 1 && added.lower[a] < lower[a][part]) atomicMin(&lower[a][part], added.lower[a]);
            if (added.upper[a] > upper[a][part]) atomicMax(&upper[a][part], added.upper[a]);
        }
    }
};

/// The sums of a part in 16 bytes, for global memory.
struct alignas(16) PackedSums {
    uint16_t first, area;
    uint32_t box;            // lower and upper coordinate, axis by axis
    unsigned long long sum;  // axis by axis
};

template <class Tile, uint32_t COUNT>
__device__ PackedSums pack_sums(const PartSums<Tile, COUNT> &sums, uint32_t part, uint32_t first) {
    using Bits = PartBits<Tile>;
    constexpr uint32_t IN_ROW = Tile::WORDS * 32, LAST = Tile::PLANES > 1 ? IN_ROW * Tile::ROWS : IN_ROW;
    PackedSums kept = {static_cast<uint16_t>(first), static_cast<uint16_t>(sums.area[part]), 0, 0};
#pragma unroll
    for (int a = 0; a < Bits::AXES; ++a) {
        const uint32_t lower = a < Bits::AXES - 1 ? sums.lower[a][part] : first / LAST;
        kept.box |= (lower | sums.upper[a][part] << Bits::COORDINATE) << 2 * Bits::COORDINATE * a;
        kept.sum |= static_cast<unsigned long long>(sums.sum[a][part]) << Bits::SUM * a;
    }
    return kept;
}

}  // namespace apsis::cuda::components
