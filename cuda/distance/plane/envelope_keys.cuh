// Nearest sites of a tile of the lower envelope in one pass over its bracket.  The cost of a candidate for a pixel, the row of
// its site and its place in the bracket are one key.  The least key is that of the lowest of the nearest sites.  The longer a
// bracket is, the more bits its places take, and the nearer sites must be.  envelope_tiles.cuh finishes tiles whose keys do not
// fit.
#pragma once

#include "cuda/distance/plane/envelope_brackets.cuh"

namespace apsis::cuda::plane {

/// The keys of a tile's candidates.  From the highest bits down: a signed cost; the rows down to the site, and 2^B; the place
/// in the bracket.  The cost is counted from the least cost of the bracket for the tile's middle pixel, and lacks the square of
/// a pixel's distance from the middle.
///
/// Let that least cost be the square of D <= 2^B - MARGIN, and B >= 7.  A candidate that is nearest to a pixel of the tile,
/// which is 4.5 away at most, costs the middle pixel no more than 18 * 2^B above the least.  No candidate within that is
/// farther than 2^B - 13.  In the tile its costs change by 9 * 2^B at most, so that they fit B + 6 bits; rows down, in any row,
/// fit B + 1.
class SiteKeys {
    static constexpr int32_t MIDDLE = 4, MIDDLE_ROW = 1;
    static_assert(TILE == 8 && BAND == 4);
    static constexpr int LEAST_BITS = 7, MOST_PLACE_BITS = 32 - (LEAST_BITS + 6) - (LEAST_BITS + 1);
    static constexpr uint32_t MARGIN = 24;

    int32_t middle_, first_;
    uint32_t least_;
    int bits_;  // B

    __device__ int cost_shift() const { return 26 - bits_; }
    __device__ int place_bits() const { return 25 - 2 * bits_; }
    template <class Band>
    __device__ uint32_t cost_of(const Band &band, int32_t position) const {
        const uint32_t down = static_cast<uint32_t>(unpack(band.distances[position], MIDDLE_ROW));
        const uint32_t along = static_cast<uint32_t>(middle_) - band.columns[position];
        return down * down + along * along;
    }
    /// Returns whether keys fit.
    template <class Band>
    __device__ bool find_least(const Band &band, int2 bracket) {
        const int32_t more = bracket.y - bracket.x;
        if (more < 0 || more >= 1 << MOST_PLACE_BITS) return false;
        bits_ = (24 - highest_bit(static_cast<uint32_t>(more) | 1)) / 2;
        const uint32_t farthest = (1u << bits_) - MARGIN, most = farthest * farthest;
        least_ = cost_of(band, bracket.x);
        if (least_ > most + most / 4) return false;  // other candidates hardly cost so much less
#pragma unroll 1
        for (int32_t p = bracket.x + 1; p <= bracket.y; p += 2)
            least_ = min(least_, min(cost_of(band, p), cost_of(band, min(p + 1, bracket.y))));
        return least_ <= most;
    }

  public:
    bool fit = false;

    SiteKeys() = default;
    /// Warp: for a tile that begins at x, with its bracket from a first position to a last.  If the keys of one lane do not
    /// fit, no lane uses keys, since a divergent warp takes the time of both ways.
    template <class Band>
    __device__ SiteKeys(const Band &band, int2 bracket, int32_t x) : middle_(x + MIDDLE),
                                                                     first_(bracket.x) {
        fit = __all_sync(ALL_LANES, find_least(band, bracket));
    }

    /// A candidate's keys.
    struct CandidateKeys {
        int32_t first[BAND], slope;

        __device__ int32_t cost(int r, int k) const { return first[r] + k * slope; }
    };
    template <class Band>
    __device__ CandidateKeys candidate(const Band &band, int32_t position) const {
        const uint32_t word = band.distances[position], cost_unit = 1u << cost_shift(), way_unit = 1u << place_bits();
        const uint32_t d = static_cast<uint32_t>(middle_) - band.columns[position], along = d * d - least_;
        const uint32_t slope = 2 * cost_unit * d, place = static_cast<uint32_t>(position - first_);
        const uint32_t rest = (way_unit << bits_) + place - slope * MIDDLE;
        uint32_t above[BAND];
#pragma unroll
        for (int r = 0; r < BAND; ++r) {
            const uint32_t down = static_cast<uint32_t>(unpack(word, r));
            above[r] = down * down + along;
        }
        const bool counts = above[MIDDLE_ROW] <= 18u << bits_;
        CandidateKeys keys;
        keys.slope = counts ? static_cast<int32_t>(slope) : 0;
#pragma unroll
        for (int r = 0; r < BAND; ++r) {
            const uint32_t key = above[r] * cost_unit + (static_cast<uint32_t>(way_to_site(word, r)) * way_unit + rest);
            keys.first[r] = counts ? static_cast<int32_t>(key) : INT32_MAX;
        }
        return keys;
    }

    /// Decodes the least keys of a tile's row, y of the image: into costs, and the indices of the nearest sites.
    template <class Band, class Cost, class Index>
    __device__ void decode(const Band &band, const int32_t (&key)[TILE], int64_t y, int64_t width, Cost (&cost)[TILE],
                           Index (&found)[TILE]) const {
        const uint32_t above = static_cast<uint32_t>(y) - (1u << bits_);  // the row from which rows down are counted
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const uint32_t way = static_cast<uint32_t>(key[k]) >> place_bits() & ((2u << bits_) - 1);
            const uint32_t column = band.columns[first_ + (key[k] & ((1 << place_bits()) - 1))];
            found[k] = (above + way) * static_cast<uint32_t>(width) + column;
            cost[k] = least_ + static_cast<uint32_t>((key[k] >> cost_shift()) + (k - MIDDLE) * (k - MIDDLE));
        }
    }
};

}  // namespace apsis::cuda::plane
