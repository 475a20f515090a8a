// See runs.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/components/runs.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "cpu/components/runs.h"

HWY_BEFORE_NAMESPACE();
namespace apsis::cpu::components {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE int64_t words_of(int64_t width) { return (width + 63) / 64; }

/// The lowest bits of a word, up to and including bit x % 64.
HWY_INLINE uint64_t up_to(int64_t x) { return ~uint64_t(0) >> (63 - (x & 63)); }

HWY_INLINE void trim(int64_t width, uint64_t *word) {
    if (width & 63) word[width >> 6] &= up_to(width - 1);
}

/// Which of up to 64 bytes are zero.
HWY_INLINE uint64_t zeros_among(const uint8_t *bytes, int64_t count) {
    uint64_t bits = 0;
    for (int64_t i = 0; i < count; ++i) bits |= uint64_t(bytes[i] == 0) << i;
    return bits;
}

void PackBytes(const uint8_t *bytes, int64_t width, bool flip, uint64_t *word) {
    const hn::CappedTag<uint8_t, 64> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), whole = width & ~int64_t(63);
    const auto zero = hn::Zero(d);
    const uint64_t invert = flip ? 0 : ~uint64_t(0);  // zero bytes give ones
    for (int64_t x = 0; x < whole; x += 64) {
        uint64_t bits = 0;
        for (int64_t k = 0; k < 64 && lanes >= 8; k += lanes)
            hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, bytes + x + k), zero), reinterpret_cast<uint8_t *>(&bits) + k / 8);
        if (lanes < 8) bits = zeros_among(bytes + x, 64);  // the bits of one vector are no whole byte
        word[x >> 6] = bits ^ invert;
    }
    if (width > whole) word[whole >> 6] = zeros_among(bytes + whole, width - whole) ^ invert;
    trim(width, word);
}

void PackBits(const uint8_t *bits, int64_t width, bool flip, uint64_t *word) {
    word[words_of(width) - 1] = 0;
    std::memcpy(word, bits, static_cast<size_t>((width + 7) / 8));
    for (int64_t i = 0; flip && i < words_of(width); ++i) word[i] = ~word[i];
    trim(width, word);
}

int64_t CountRuns(const uint64_t *word, int64_t width, uint64_t *start, uint32_t *before) {
    uint32_t runs = 0;
    for (int64_t i = 0; i < words_of(width); ++i) {
        start[i] = word[i] & ~(word[i] << 1 | word[i - 1] >> 63);
        before[i] = runs;
        runs += static_cast<uint32_t>(__builtin_popcountll(start[i]));
    }
    return runs;
}

int64_t FindRuns(const uint64_t *word, int64_t width, uint32_t *ends) {
    uint32_t *to = ends;
    for (int64_t i = 0; i < words_of(width); ++i) {
        uint64_t change = word[i] ^ (word[i] << 1 | word[i - 1] >> 63);
        const int count = __builtin_popcountll(change);
        const uint32_t x = static_cast<uint32_t>(i * 64);
        for (int k = 0; k < count; k += 8)  // always eight at once, as the count is hard to predict
            for (int j = 0; j < 8; ++j) {
                to[k + j] = x + static_cast<uint32_t>(__builtin_ctzll(change | uint64_t(1) << 63));
                change &= change - 1;
            }
        to += count;
    }
    if ((to - ends) & 1) *to++ = static_cast<uint32_t>(width);
    return (to - ends) / 2;
}

/// Of two runs that meet, one starts later: beside a pixel of the other, or with diagonals one pixel after it.  So every
/// meeting has a start of its own.  Its two runs are the last runs of their rows up to that start.
int64_t FindMeetings(const BitRow &one, const BitRow &other, int64_t width, int64_t reach, uint32_t *met) {
    uint32_t *to = met;
    const uint64_t diagonal = reach ? ~uint64_t(0) : 0;
    const auto spread = [&](const BitRow &row, int64_t i) {
        return row.word[i] | ((row.word[i] << 1 | row.word[i - 1] >> 63) & diagonal);
    };
    for (int64_t i = 0; i < words_of(width); ++i) {
        uint64_t pixels = (one.start[i] & spread(other, i)) | (other.start[i] & spread(one, i));
        const int count = __builtin_popcountll(pixels);
        for (int k = 0; k < count; k += 4)  // always four at once, as the count is hard to predict
            for (int j = 0; j < 4; ++j) {
                const uint64_t started = pixels ^ (pixels - 1);  // up to the lowest pixel; all, if there is none
                to[2 * (k + j)] = one.before[i] + static_cast<uint32_t>(__builtin_popcountll(one.start[i] & started)) - 1;
                to[2 * (k + j) + 1] =
                    other.before[i] + static_cast<uint32_t>(__builtin_popcountll(other.start[i] & started)) - 1;
                pixels &= pixels - 1;
            }
        to += 2 * count;
    }
    return (to - met) / 2;
}

template <class Pixel>
HWY_INLINE void Fill(const uint32_t *ends, const uint32_t *part, int64_t runs, int64_t width, const int64_t *number,
                     Pixel *row) {
    const hn::CappedTag<Pixel, 64 / sizeof(Pixel)> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    std::memset(row, 0, static_cast<size_t>(width) * sizeof *row);
    for (int64_t i = 0; i < runs; ++i) {
        const auto vector = hn::Set(d, static_cast<Pixel>(number[part[i]]));
        int64_t x = ends[2 * i];
        const int64_t end = ends[2 * i + 1];
        for (; x + lanes < end; x += lanes) hn::StoreU(vector, d, row + x);
        hn::BlendedStore(vector, hn::FirstN(d, static_cast<size_t>(end - x)), d, row + x);
    }
}

void FillRuns32(const uint32_t *ends, const uint32_t *part, int64_t runs, int64_t width, const int64_t *number, int32_t *row) {
    Fill(ends, part, runs, width, number, row);
}

void FillRuns64(const uint32_t *ends, const uint32_t *part, int64_t runs, int64_t width, const int64_t *number, int64_t *row) {
    Fill(ends, part, runs, width, number, row);
}

void StreamBytes(const uint8_t *from, int64_t bytes, uint8_t *to) {
    const hn::CappedTag<uint8_t, 64> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const int64_t skew = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % static_cast<uintptr_t>(lanes));
    int64_t at = std::min(skew ? lanes - skew : 0, bytes);
    std::memcpy(to, from, static_cast<size_t>(at));
    for (; at + lanes <= bytes; at += lanes) hn::Stream(hn::LoadU(d, from + at), d, to + at);
    std::memcpy(to + at, from + at, static_cast<size_t>(bytes - at));
}

}  // namespace HWY_NAMESPACE
}  // namespace apsis::cpu::components
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace apsis::cpu::components {

HWY_EXPORT(PackBytes);
HWY_EXPORT(PackBits);
HWY_EXPORT(CountRuns);
HWY_EXPORT(FindRuns);
HWY_EXPORT(FindMeetings);
HWY_EXPORT(FillRuns32);
HWY_EXPORT(FillRuns64);
HWY_EXPORT(StreamBytes);

void pack_bytes(const uint8_t *bytes, int64_t width, bool flip, uint64_t *word) {
    HWY_DYNAMIC_DISPATCH(PackBytes)(bytes, width, flip, word);
}

void pack_bits(const uint8_t *bits, int64_t width, bool flip, uint64_t *word) {
    HWY_DYNAMIC_DISPATCH(PackBits)(bits, width, flip, word);
}

int64_t count_runs(const uint64_t *word, int64_t width, uint64_t *start, uint32_t *before) {
    return HWY_DYNAMIC_DISPATCH(CountRuns)(word, width, start, before);
}

int64_t find_runs(const uint64_t *word, int64_t width, uint32_t *ends) {
    return HWY_DYNAMIC_DISPATCH(FindRuns)(word, width, ends);
}

int64_t find_meetings(const BitRow &one, const BitRow &other, int64_t width, int64_t reach, uint32_t *met) {
    return HWY_DYNAMIC_DISPATCH(FindMeetings)(one, other, width, reach, met);
}

void fill_runs(const uint32_t *ends, const uint32_t *part, int64_t runs, int64_t width, const int64_t *number, int32_t *row) {
    HWY_DYNAMIC_DISPATCH(FillRuns32)(ends, part, runs, width, number, row);
}

void fill_runs(const uint32_t *ends, const uint32_t *part, int64_t runs, int64_t width, const int64_t *number, int64_t *row) {
    HWY_DYNAMIC_DISPATCH(FillRuns64)(ends, part, runs, width, number, row);
}

void stream_bytes(const uint8_t *from, int64_t bytes, uint8_t *to) { HWY_DYNAMIC_DISPATCH(StreamBytes)(from, bytes, to); }

}  // namespace apsis::cpu::components
#endif
