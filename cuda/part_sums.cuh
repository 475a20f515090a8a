// What is known of the parts of a tile, added up in shared memory: first pixel, area, box and sums of coordinates.
//
// The pixels that a word has of the part that it begins with are added by whole warps, as there most words are of the same
// one; what else it has, run by run.
#pragma once

#include "tile.cuh"

namespace apsis {

/// Coordinates in a tile have so few bits, and their sums so many.
template <class Tile>
struct PartBits {
    static constexpr int AXES = Tile::PLANES > 1 ? 3 : 2;
    static constexpr int COORDINATE = Tile::PLANES > 1 ? 5 : 7, SUM = 21;
    static_assert(Tile::WORDS * 32 <= 1 << COORDINATE && Tile::ROWS <= 1 << COORDINATE && Tile::PLANES <= 1 << COORDINATE);
    static_assert((int64_t(Tile::THREADS) * 32 << COORDINATE) <= int64_t(1) << SUM);
};

/// Pixels side by side, or more of them, in a row of a tile.
struct Pixels {
    uint32_t area, sum, lower, upper;  // of x the last three
};

/// Of up to COUNT parts, by their places.
template <class Tile, uint32_t COUNT>
struct PartSums {
    static constexpr int AXES = PartBits<Tile>::AXES;
    static constexpr uint32_t NONE = UINT32_MAX;

    uint32_t first[COUNT];  // set by who knows
    uint32_t area[COUNT], sum[AXES][COUNT], lower[AXES][COUNT], upper[AXES][COUNT];

    __device__ void clear(uint32_t count) {
        for (uint32_t i = threadIdx.x; i < count; i += Tile::THREADS) {
            area[i] = 0;
#pragma unroll
            for (int a = 0; a < AXES; ++a) sum[a][i] = 0, lower[a][i] = UINT32_MAX, upper[a][i] = 0;
        }
    }

    /// Adds the words of a labelled tile.  place_of(run) is the place of its part, COUNT or more where that does not count.
    template <class PlaceOf>
    __device__ void add_words(const Labelled<Tile> &labelled, PlaceOf place_of) {
        const int at = threadIdx.x, left = at % Tile::WORDS * 32;
        uint32_t rest = labelled.word[at], run = rest ? labelled.run_at(at, __ffs(rest) - 1) : 0, main = NONE, own = 0;
        for (; rest; ++run) {
            const uint32_t segment = rest & ~(rest + (rest & -rest)), place = place_of(run);
            rest &= ~segment;
            if (place >= COUNT) continue;
            if (main == NONE) main = place;
            if (place == main)
                own |= segment;
            else
                put(place, at / Tile::WORDS, pixels_of(segment, left));
        }
        add_together(main, pixels_of(own, left));
    }

  private:
    __device__ static Pixels pixels_of(uint32_t word, uint32_t left) {
        constexpr uint32_t PLACES[] = {0xaaaaaaaau, 0xccccccccu, 0xf0f0f0f0u, 0xff00ff00u, 0xffff0000u};
        if (!word) return {0, 0, UINT32_MAX, 0};
        const uint32_t area = __popc(word);
        uint32_t sum = left * area;
#pragma unroll
        for (int bit = 0; bit < 5; ++bit) sum += __popc(word & PLACES[bit]) << bit;
        return {area, sum, left + __ffs(word) - 1, left + 31 - __clz(static_cast<int>(word))};
    }

    __device__ void put(uint32_t place, uint32_t row, const Pixels &pixels) {
        const uint32_t y = row % Tile::ROWS, z = row / Tile::ROWS;
        const uint32_t sums[3] = {pixels.sum, pixels.area * y, pixels.area * z};
        const uint32_t low[3] = {pixels.lower, y, z}, high[3] = {pixels.upper, y, z};
        put_all(place, pixels.area, sums, low, high);
    }

    /// Most boxes have grown already when more is put into them.
    __device__ void put_all(uint32_t place, uint32_t pixels, const uint32_t *sums, const uint32_t *low, const uint32_t *high) {
        atomicAdd(&area[place], pixels);
#pragma unroll
        for (int a = 0; a < AXES; ++a) {
            if (sums[a]) atomicAdd(&sum[a][place], sums[a]);
            if (low[a] < lower[a][place]) atomicMin(&lower[a][place], low[a]);
            if (high[a] > upper[a][place]) atomicMax(&upper[a][place], high[a]);
        }
    }

    /// Adds what each lane of a warp has of a part, or has not: what is of the same one, once; what is of a third, by itself.
    __device__ void add_together(uint32_t place, const Pixels &pixels) {
        constexpr int PARTS = 2;
        const uint32_t row = threadIdx.x / Tile::WORDS, lane = threadIdx.x % WARP;
        uint32_t rest = __ballot_sync(ALL_LANES, place != NONE);
        for (int part = 0; part < PARTS && rest; ++part) {
            const uint32_t leader = __ffs(rest) - 1, led = __shfl_sync(ALL_LANES, place, leader);
            const bool is_led = place == led;
            add_warp(is_led, lane == leader, led, row, pixels);
            rest &= ~__ballot_sync(ALL_LANES, is_led);
        }
        if (rest >> lane & 1) put(place, row, pixels);
    }

    __device__ void add_warp(bool has, bool leads, uint32_t place, uint32_t row, const Pixels &pixels) {
        const uint32_t of_row[3] = {0, row % Tile::ROWS, row / Tile::ROWS}, own = has ? pixels.area : 0, total = sum_of_warp(own);
        uint32_t sums[3], low[3], high[3];
#pragma unroll
        for (int a = 0; a < AXES; ++a) {
            sums[a] = sum_of_warp(a > 0 ? own * of_row[a] : has ? pixels.sum : 0);
            low[a] = least_of_warp(!has ? UINT32_MAX : a > 0 ? of_row[a] : pixels.lower);
            high[a] = greatest_of_warp(!has ? 0 : a > 0 ? of_row[a] : pixels.upper);
        }
        if (leads) put_all(place, total, sums, low, high);
    }
};

/// The same of one part as it is kept.
struct alignas(16) KeptSums {
    uint16_t first, area;
    uint32_t box;            // the lower and upper coordinates, axis by axis
    unsigned long long sum;  // likewise
};

template <class Tile, uint32_t COUNT>
__device__ KeptSums keep_sums(const PartSums<Tile, COUNT> &sums, uint32_t place) {
    using Bits = PartBits<Tile>;
    KeptSums kept = {static_cast<uint16_t>(sums.first[place]), static_cast<uint16_t>(sums.area[place]), 0, 0};
#pragma unroll
    for (int a = 0; a < Bits::AXES; ++a) {
        kept.box |= (sums.lower[a][place] | sums.upper[a][place] << Bits::COORDINATE) << 2 * Bits::COORDINATE * a;
        kept.sum |= static_cast<unsigned long long>(sums.sum[a][place]) << Bits::SUM * a;
    }
    return kept;
}

}  // namespace apsis
