// The candidates of a band of rows with their distances in shared memory: the first part of envelope.cu, which describes the
// whole.
#pragma once

#include "cuda/distance/plane/tuning.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::plane {

constexpr int TILE = 8;                              // pixels of a row in a thread's registers
constexpr int AHEAD = 4;                             // candidates whose words a thread loads at once
constexpr int DISTANCE_BITS = 22, STEP_BITS = 3;     // of a packed word
constexpr uint32_t TIE = 1u << (DISTANCE_BITS + 2);  // the first step has only two bits
static_assert(DISTANCE_BITS + STEP_BITS * (BAND - 1) <= 32 && LONGEST <= 1 << DISTANCE_BITS);

/// The candidates, from left to right, and the tiles of a band; or of a pair of bands, which share their brackets.
template <class N, int H = 1>
struct BandOf {
    using Number = N;
    static constexpr int HALVES = H, HEIGHT = H * BAND;
    static constexpr bool IS_PIECE = sizeof(Number) == 4;  // a piece of a row that is cut

    uint32_t *distances;  // [position]: of the candidate's column to its nearest site, in all rows: see pack
    Number *columns;      // [position]
    uint32_t *lows;       // [tile]: the first position of its bracket; later the first and, in the upper half, the last
    uint32_t *highs;      // [tile]: the last
    int32_t length, tiles, count;
    int32_t stride;  // from one band's distances to the next one's
    int32_t origin;  // the first pixel of a piece
    float wide_slack;

    __device__ uint32_t word(int32_t position, int half) const { return distances[position + half * stride]; }
    /// One of the bands.
    __device__ BandOf half(int which) const {
        BandOf one = *this;
        one.distances += which * stride;
        return one;
    }
    __device__ float slack() const { return IS_PIECE ? wide_slack : SLACK; }
    /// Once brackets are known: the tiles in the order in which they are finished.
    __device__ uint16_t *order() const { return reinterpret_cast<uint16_t *>(highs); }
};
template <int HALVES>
using RowBand = BandOf<uint16_t, HALVES>;  // of whole rows
using PieceBand = BandOf<uint32_t>;        // of a piece of rows that are cut

inline size_t band_bytes(int64_t length, int halves) {
    return static_cast<size_t>(length * (2 + 4 * halves) + ceil_div(length, TILE) * 8);
}

template <int HALVES>
__device__ RowBand<HALVES> shape_band(uint32_t *shared, int32_t length, int32_t count) {
    RowBand<HALVES> band = {};
    band.stride = length;
    band.length = length;
    band.tiles = (length + TILE - 1) / TILE;
    band.count = count;
    band.lows = shared;
    band.highs = band.lows + band.tiles;
    band.distances = band.highs + band.tiles;
    band.columns = reinterpret_cast<uint16_t *>(band.distances + HALVES * length);
    return band;
}

/// The mask of the bits that hold the difference between the distances in row r > 0 and in the first row of a band, and the
/// bias that makes it unsigned.
__host__ __device__ constexpr uint32_t step_mask(int r) { return r == 1 ? 3 : (1u << STEP_BITS) - 1; }
__host__ __device__ constexpr int step_bias(int r) { return r == 1 ? 1 : BAND - 1; }

/// A column's distances in the rows of a band in one word: that in the first row, the biased differences of the others, and
/// whether two sites are nearest in the first row.
__device__ inline uint32_t pack(const int32_t (&distance)[BAND], bool tie) {
    static_assert(BAND <= 1 << (STEP_BITS - 1), "neighbouring rows differ by one at most");
    uint32_t word = static_cast<uint32_t>(distance[0]) | (tie ? TIE : 0);
#pragma unroll
    for (int r = 1; r < BAND; ++r)
        word |= static_cast<uint32_t>(distance[r] - distance[0] + step_bias(r)) << (DISTANCE_BITS + STEP_BITS * (r - 1));
    return word;
}
__device__ inline int32_t unpack(uint32_t word, int r) {
    const int32_t first = static_cast<int32_t>(word & ((1u << DISTANCE_BITS) - 1));
    if (r == 0) return first;
    const uint32_t step = word >> (DISTANCE_BITS + STEP_BITS * (r - 1));
    return first + static_cast<int32_t>(r + 1 < BAND ? step & step_mask(r) : step) - step_bias(r);
}
/// How many rows below row r the nearest site of the column lies, the upper one of two.  It lies above if the distance is more
/// than in the row before.  In the first row it lies above if there is a tie, or if the next row's distance is no less: if any
/// of three bits is set.
__device__ inline int32_t way_to_site(uint32_t word, int r) {
    static_assert(step_bias(1) == 1 && step_mask(1) << DISTANCE_BITS < TIE);
    const int32_t distance = unpack(word, r);
    const bool above = r > 0 ? distance > unpack(word, r - 1) : (word & (TIE | step_mask(1) << DISTANCE_BITS)) != 0;
    return above ? -distance : distance;
}

/// How far from a strip's first row the nearest sites of a column before and after the strip are; NO_CARRY or
/// NO_SITE_DISTANCE if there is none.
struct CarryDistances {
    uint32_t above, below;

    __device__ explicit CarryDistances(uint32_t packed) : above(packed & 0xffff), below(packed >> 16) {}
    __device__ CarryDistances(const Sites &sites, int32_t start, uint32_t most)
        : above(min(static_cast<uint32_t>(start - sites.before), most)),
          below(min(static_cast<uint32_t>(sites.after - start), most)) {}
};

/// The distances of a column in the rows of a band that has no sites between its first and its last row.  From the first row it
/// is `up` rows to the nearest site at or above that row, and `down` rows to the nearest site at or below the last row.  Each
/// row is a step farther from the upper site and a step nearer to the lower one, so that down - up decides all differences of
/// the rows.
__device__ inline uint32_t measure_between(int32_t up, int32_t down) {
    const int32_t farther = min(max(down - up, 0), 2 * (BAND - 1));
    uint32_t word = static_cast<uint32_t>(min(up, down)) + (up == down ? TIE : 0);
#pragma unroll
    for (int r = 1; r < BAND; ++r)
        word += static_cast<uint32_t>(min(farther, 2 * r) - r + step_bias(r)) << (DISTANCE_BITS + STEP_BITS * (r - 1));
    return word;
}

/// The distances of any column, in the band that begins at row `bit` of its strip.
__device__ inline uint32_t measure_column(const CarryDistances &carries, uint32_t word, int bit) {
    static_assert(BAND == 4, "two rows between the first and the last");
    int32_t up = static_cast<int32_t>(carries.above) + bit, down = static_cast<int32_t>(carries.below) - bit;
    if (word) {
        const uint32_t upper = word << (STRIP - 1 - bit), band = word >> bit, lower = band >> (BAND - 1);
        if (upper) up = __clz(static_cast<int>(upper));
        if (lower) down = lowest_bit(lower) + BAND - 1;
        if (band >> 1 & 3) {
            const int32_t second = ~band >> 1 & 1, third = ~band >> 2 & 1;
            return pack({min(up, second + 1), second, third, min(down - (BAND - 1), third + 1)}, up == second + 1);
        }
    }
    return measure_between(up, down);
}

/// A pointer that the compiler keeps in a register, rather than compute it for every use.
template <class T>
__device__ const T *keep(const T *pointer) {
    asm("" : "+l"(pointer));
    return pointer;
}

/// Block: lays the candidates of the band that begins at row y in shared memory.
template <int HALVES>
__device__ void load_band(const RowBand<HALVES> &band, const Layout &layout, int64_t image, int64_t y) {
    const int64_t strip = y / STRIP;
    const uint16_t *const list = keep(layout.candidates_of(image, strip));
    const uint32_t *const carry_distances = keep(layout.carry_distances_of(image, strip));
    const uint32_t *const site_words = keep(layout.site_words_of(image, strip));
    const int bit = static_cast<int>(y % STRIP), threads = blockDim.x;
    for (int32_t turn = threadIdx.x; turn < band.count; turn += AHEAD * threads) {
        uint32_t x[AHEAD], carries[AHEAD], word[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const int32_t i = min(turn + k * threads, band.count - 1);
            x[k] = __ldg(list + i), carries[k] = __ldg(carry_distances + i), word[k] = __ldg(site_words + i);
        }
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const int32_t position = turn + k * threads;
            if (position >= band.count) break;
            const CarryDistances distances(carries[k]);
#pragma unroll
            for (int h = 0; h < HALVES; ++h)
                band.distances[position + h * band.stride] = measure_column(distances, word[k], bit + h * BAND);
            band.columns[position] = static_cast<uint16_t>(x[k]);
        }
    }
}

}  // namespace apsis::cuda::plane
