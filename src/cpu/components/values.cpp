// See values.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/components/values.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cpu/components/values.h"

HWY_BEFORE_NAMESPACE();
namespace apsis::cpu::components {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// 64 pixels of a row from pixel x on, and those one to the left of them; 0 outside the row.  They are copied only where they
/// would be read outside of it.
template <class Pixel>
class Word {
  public:
    Word(const Pixel *row, int64_t x, int64_t width) : row_(row), x_(x), width_(width) {}
    Word(const Word &) = delete;

    const Pixel *here() { return x_ + 64 <= width_ ? row_ + x_ : padded() + 1; }
    const Pixel *before() { return x_ + 64 <= width_ && x_ > 0 ? row_ + x_ - 1 : padded(); }

  private:
    const Pixel *padded() {
        if (is_padded_) return padded_;
        const int64_t from = std::max<int64_t>(x_ - 1, 0), count = std::min(x_ + 64, width_) - from;
        std::memset(padded_, 0, sizeof padded_);
        std::memcpy(padded_ + (from - x_ + 1), row_ + from, static_cast<size_t>(count) * sizeof(Pixel));
        is_padded_ = true;
        return padded_;
    }

    const Pixel *row_;
    int64_t x_, width_;
    bool is_padded_ = false;
    Pixel padded_[65];
};

/// The bits of a mask.  They are loaded in the size in which they are stored, so that they need not go through memory.
template <class Tag>
HWY_INLINE uint64_t BitsOf(Tag d, hn::Mask<Tag> mask) {
    using Bits = std::conditional_t<
        hn::MaxLanes(d) <= 8, uint8_t,
        std::conditional_t<hn::MaxLanes(d) <= 16, uint16_t, std::conditional_t<hn::MaxLanes(d) <= 32, uint32_t, uint64_t>>>;
    uint8_t bytes[sizeof(Bits)] = {};
    hn::StoreMaskBits(d, mask, bytes);
    Bits bits;
    std::memcpy(&bits, bytes, sizeof bits);
    return bits;
}

/// Which of the 64 pixels at one place equal those at another, or 0 without another.
template <class Pixel>
HWY_INLINE uint64_t EqualAmong(const Pixel *one, const Pixel *other) {
    const hn::CappedTag<Pixel, 64> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    uint64_t bits = 0;
    for (int64_t k = 0; k < 64; k += lanes)
        bits |= BitsOf(d, hn::Eq(hn::LoadU(d, one + k), other ? hn::LoadU(d, other + k) : hn::Zero(d))) << k;
    return bits;
}

template <class Pixel>
HWY_INLINE void Mark(const void *pixels, int64_t width, uint64_t *word, uint64_t *start) {
    const auto *const row = static_cast<const Pixel *>(pixels);
    for (int64_t x = 0; x < width; x += 64) {
        Word<Pixel> values(row, x, width);
        const uint64_t set = ~EqualAmong<Pixel>(values.here(), nullptr);
        word[x >> 6] = set;
        start[x >> 6] = set & ~EqualAmong(values.here(), values.before());
    }
}

void MarkValues(const void *pixels, int64_t bytes, int64_t width, uint64_t *word, uint64_t *start) {
    switch (bytes) {
        case 1: return Mark<uint8_t>(pixels, width, word, start);
        case 2: return Mark<uint16_t>(pixels, width, word, start);
        case 4: return Mark<uint32_t>(pixels, width, word, start);
        default: return Mark<uint64_t>(pixels, width, word, start);
    }
}

int64_t CountStarts(const uint64_t *start, int64_t width, uint32_t *before) {
    uint32_t runs = 0;
    for (int64_t i = 0; i < (width + 63) / 64; ++i) {
        before[i] = runs;
        runs += static_cast<uint32_t>(__builtin_popcountll(start[i]));
    }
    return runs;
}

/// Writes the positions of the bits of a word, from x on, to every other element.  Always four at once, as the count is hard to
/// predict.
HWY_INLINE uint32_t *WritePositions(uint64_t bits, uint32_t x, uint32_t *to) {
    const int count = __builtin_popcountll(bits);
    for (int k = 0; k < count; k += 4)
        for (int j = 0; j < 4; ++j) {
            to[2 * (k + j)] = x + static_cast<uint32_t>(__builtin_ctzll(bits | uint64_t(1) << 63));
            bits &= bits - 1;
        }
    return to + 2 * count;
}

int64_t FindValueRuns(const uint64_t *word, const uint64_t *start, int64_t width, uint32_t *ends) {
    uint32_t *begin = ends, *end = ends + 1;
    for (int64_t i = 0; i < (width + 63) / 64; ++i) {
        const uint64_t ended = (word[i] << 1 | word[i - 1] >> 63) & (start[i] | ~word[i]);
        begin = WritePositions(start[i], static_cast<uint32_t>(i * 64), begin);
        end = WritePositions(ended, static_cast<uint32_t>(i * 64), end);
    }
    if (end - begin < 1) *end = static_cast<uint32_t>(width);
    return (begin - ends) / 2;
}

/// Two runs that meet do so in one column, or only across a corner.  In the first such column one of them starts; at a corner
/// the one on the right does, and the pixel beside that start, in the row of the other, is not equal.
template <class Pixel>
HWY_INLINE int64_t FindMeetingsOf(const BitRow &one, const Pixel *one_row, const BitRow &other, const Pixel *other_row,
                                  int64_t width, int64_t reach, const KnownMeetings &of, uint32_t *met) {
    uint32_t *to = met;
    for (int64_t i = 0; i < (width + 63) / 64; ++i) {
        const uint64_t starts = one.start[i], other_starts = other.start[i];
        const uint64_t known = of.known ? of.known[i] : 0, open = other.word[i] & ~known;
        const uint64_t known_before = of.known && i ? known << 1 | of.known[i - 1] >> 63 : known << 1;
        const uint64_t other_before = other.word[i] << 1 | other.word[i - 1] >> 63;
        const uint64_t may_meet = reach ? open | (other_before & ~known_before) : open;
        if (!of.equal && !((starts | other_starts) & may_meet)) continue;
        Word<Pixel> values(one_row, i * 64, width), other_values(other_row, i * 64, width);
        const uint64_t equal = EqualAmong(values.here(), other_values.here());
        if (of.equal) of.equal[i] |= equal & other.word[i];
        // One run has begun at or before the pixel; with `back`, before it.
        const auto write = [&](uint64_t pixels, bool back, bool other_back) {
            const int count = __builtin_popcountll(pixels);
            for (int k = 0; k < count; k += 4)  // always four at once, as the count is hard to predict
                for (int j = 0; j < 4; ++j) {
                    const uint64_t to_here = pixels ^ (pixels - 1), before_here = to_here >> 1;
                    to[2 * (k + j)] = one.before[i] - 1 +
                                      static_cast<uint32_t>(__builtin_popcountll(starts & (back ? before_here : to_here)));
                    to[2 * (k + j) + 1] =
                        other.before[i] - 1 +
                        static_cast<uint32_t>(__builtin_popcountll(other_starts & (other_back ? before_here : to_here)));
                    pixels &= pixels - 1;
                }
            to += 2 * count;
        };
        write(equal & (starts | other_starts) & open, false, false);
        if (!reach) continue;
        // At a corner both rows change.
        const uint64_t before = one.word[i] << 1 | one.word[i - 1] >> 63;
        const uint64_t ends = starts | (before & ~one.word[i]), other_ends = other_starts | (other_before & ~other.word[i]);
        if (const uint64_t right = starts & other_ends & ~equal & ~known_before)
            write(right & EqualAmong(values.here(), other_values.before()), false, true);
        if (const uint64_t right = other_starts & ends & ~equal & ~known)
            write(right & EqualAmong(other_values.here(), values.before()), true, false);
    }
    return (to - met) / 2;
}

int64_t FindValueMeetings(const BitRow &one, const void *one_row, const BitRow &other, const void *other_row, int64_t bytes,
                          int64_t width, int64_t reach, const KnownMeetings &of, uint32_t *met) {
    const auto find = [&](auto pixel) {
        using Pixel = decltype(pixel);
        return FindMeetingsOf(one, static_cast<const Pixel *>(one_row), other, static_cast<const Pixel *>(other_row), width,
                              reach, of, met);
    };
    switch (bytes) {
        case 1: return find(uint8_t());
        case 2: return find(uint16_t());
        case 4: return find(uint32_t());
        default: return find(uint64_t());
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace apsis::cpu::components
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace apsis::cpu::components {

HWY_EXPORT(MarkValues);
HWY_EXPORT(CountStarts);
HWY_EXPORT(FindValueRuns);
HWY_EXPORT(FindValueMeetings);

void mark_values(const ValueRow &row, int64_t width, uint64_t *word, uint64_t *start) {
    HWY_DYNAMIC_DISPATCH(MarkValues)(row.pixels, row.bytes, width, word, start);
}

int64_t count_starts(const uint64_t *start, int64_t width, uint32_t *before) {
    return HWY_DYNAMIC_DISPATCH(CountStarts)(start, width, before);
}

int64_t find_value_runs(const uint64_t *word, const uint64_t *start, int64_t width, uint32_t *ends) {
    return HWY_DYNAMIC_DISPATCH(FindValueRuns)(word, start, width, ends);
}

int64_t find_value_meetings(const BitRow &one, const ValueRow &one_values, const BitRow &other, const ValueRow &other_values,
                            int64_t width, int64_t reach, const KnownMeetings &of, uint32_t *met) {
    return HWY_DYNAMIC_DISPATCH(FindValueMeetings)(one, one_values.pixels, other, other_values.pixels, one_values.bytes, width,
                                                   reach, of, met);
}

}  // namespace apsis::cpu::components
#endif
