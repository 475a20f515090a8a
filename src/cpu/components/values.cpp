// See values.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/components/values.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>
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

/// Which of the 64 pixels at one place are near those at another.  Differences of whole numbers have no sign, and do not wrap.
template <class Pixel>
HWY_INLINE uint64_t NearAmong(const Pixel *one, const Pixel *other, const Nearness &near) {
    uint64_t bits = 0;
    if constexpr (std::is_same_v<Pixel, float>) {
        const hn::CappedTag<double, 64> d;
        const hn::Rebind<float, decltype(d)> from;
        const auto most = hn::Set(d, near.delta);
        for (int64_t k = 0; k < 64; k += static_cast<int64_t>(hn::Lanes(d))) {
            const auto a = hn::PromoteTo(d, hn::LoadU(from, one + k)), b = hn::PromoteTo(d, hn::LoadU(from, other + k));
            bits |= BitsOf(d, hn::Or(hn::Eq(a, b), hn::Le(hn::Abs(hn::Sub(a, b)), most))) << k;
        }
    } else {
        using Whole = std::make_unsigned_t<Pixel>;
        const hn::CappedTag<Pixel, 64> d;
        const hn::RebindToUnsigned<decltype(d)> u;
        const auto most =
            hn::Set(u, static_cast<Whole>(std::min<uint32_t>(near.whole_delta, std::numeric_limits<Whole>::max())));
        for (int64_t k = 0; k < 64; k += static_cast<int64_t>(hn::Lanes(d))) {
            const auto a = hn::LoadU(d, one + k), b = hn::LoadU(d, other + k);
            const auto difference = hn::Sub(hn::BitCast(u, hn::Max(a, b)), hn::BitCast(u, hn::Min(a, b)));
            bits |= BitsOf(u, hn::Eq(hn::Max(difference, most), most)) << k;
        }
    }
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

template <class Pixel>
HWY_INLINE void MarkNear(const void *pixels, const Nearness &near, int64_t width, uint64_t *word, uint64_t *start) {
    const auto *const row = static_cast<const Pixel *>(pixels);
    for (int64_t x = 0; x < width; x += 64) {
        Word<Pixel> values(row, x, width);
        uint64_t *const here = word + (x >> 6), set = ~EqualAmong<Pixel>(values.here(), nullptr);
        *here = set;
        start[x >> 6] = set & ~(NearAmong(values.here(), values.before(), near) & (set << 1 | here[-1] >> 63));
    }
}

/// Calls body(pixel) with a pixel of a grey image of this type.
template <class Body>
HWY_INLINE auto WithGreyPixel(apsis_type type, Body body) {
    switch (type) {
        case APSIS_U8: return body(uint8_t());
        case APSIS_U16: return body(uint16_t());
        case APSIS_I32: return body(int32_t());
        default: return body(float());
    }
}

void MarkNearValues(const void *pixels, const Nearness &near, int64_t width, uint64_t *word, uint64_t *start) {
    WithGreyPixel(near.type, [&](auto pixel) { MarkNear<decltype(pixel)>(pixels, near, width, word, start); });
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

/// A word of a row: where its runs start, and the number of the last run before it.
struct RunsOfWord {
    uint64_t starts;
    uint32_t last_before;

    /// The last run that starts at one of `columns`, which are all up to some column.
    HWY_INLINE uint32_t run_in(uint64_t columns) const {
        return last_before + static_cast<uint32_t>(__builtin_popcountll(starts & columns));
    }
};

/// Writes which runs of two rows are at some pixels; with `back`, one pixel before.
HWY_INLINE uint32_t *WritePairs(uint64_t pixels, RunsOfWord one, bool back, RunsOfWord other, bool other_back, uint32_t *to) {
    const int count = __builtin_popcountll(pixels);
    for (int k = 0; k < count; k += 4)  // always four at once, as the count is hard to predict
        for (int j = 0; j < 4; ++j) {
            const uint64_t to_here = pixels ^ (pixels - 1), before_here = to_here >> 1;
            to[2 * (k + j)] = one.run_in(back ? before_here : to_here);
            to[2 * (k + j) + 1] = other.run_in(other_back ? before_here : to_here);
            pixels &= pixels - 1;
        }
    return to + 2 * count;
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
        const RunsOfWord runs = {starts, one.before[i] - 1}, other_runs = {other_starts, other.before[i] - 1};
        to = WritePairs(equal & (starts | other_starts) & open, runs, false, other_runs, false, to);
        if (!reach) continue;
        // At a corner both rows change.
        const uint64_t before = one.word[i] << 1 | one.word[i - 1] >> 63;
        const uint64_t ends = starts | (before & ~one.word[i]), other_ends = other_starts | (other_before & ~other.word[i]);
        if (const uint64_t right = starts & other_ends & ~equal & ~known_before)
            to = WritePairs(right & EqualAmong(values.here(), other_values.before()), runs, false, other_runs, true, to);
        if (const uint64_t right = other_starts & ends & ~equal & ~known)
            to = WritePairs(right & EqualAmong(other_values.here(), values.before()), runs, true, other_runs, false, to);
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

/// That a is near b, and b near c, does not say that a is near c.  So two runs may meet in any column, and meet again where
/// neither starts; what is left out is a pixel beside one at which the same two meet.  Across a corner they meet anyway where
/// one goes on past it, and is near the other there.
template <class Pixel>
HWY_INLINE int64_t FindNearMeetingsOf(const BitRow &one, const void *one_row, const BitRow &other, const void *other_row,
                                      const Nearness &near, int64_t width, int64_t reach, uint32_t *met) {
    uint32_t *to = met;
    uint64_t last = 0;  // whether the last pixels of the word before meet
    for (int64_t i = 0; i < (width + 63) / 64; ++i) {
        const uint64_t before = one.word[i] << 1 | one.word[i - 1] >> 63,
                       other_before = other.word[i] << 1 | other.word[i - 1] >> 63;
        if (!((one.word[i] | before) & (other.word[i] | other_before))) {
            last = 0;
            continue;
        }
        Word<Pixel> values(static_cast<const Pixel *>(one_row), i * 64, width);
        Word<Pixel> other_values(static_cast<const Pixel *>(other_row), i * 64, width);
        const uint64_t meet = NearAmong(values.here(), other_values.here(), near) & one.word[i] & other.word[i];
        const uint64_t meet_before = meet << 1 | last;
        const uint64_t goes_on = ~one.start[i], other_goes_on = ~other.start[i];
        last = meet >> 63;
        const RunsOfWord runs = {one.start[i], one.before[i] - 1}, other_runs = {other.start[i], other.before[i] - 1};
        to = WritePairs(meet & ~(meet_before & goes_on & other_goes_on), runs, false, other_runs, false, to);
        if (!reach) continue;
        if (const uint64_t corner = one.word[i] & other_before & ~(meet & other_goes_on) & ~(meet_before & goes_on))
            to = WritePairs(corner & NearAmong(values.here(), other_values.before(), near), runs, false, other_runs, true, to);
        if (const uint64_t corner = before & other.word[i] & ~(meet & goes_on) & ~(meet_before & other_goes_on))
            to = WritePairs(corner & NearAmong(values.before(), other_values.here(), near), runs, true, other_runs, false, to);
    }
    return (to - met) / 2;
}

int64_t FindNearMeetings(const BitRow &one, const void *one_row, const BitRow &other, const void *other_row,
                         const Nearness &near, int64_t width, int64_t reach, uint32_t *met) {
    return WithGreyPixel(near.type, [&](auto pixel) {
        return FindNearMeetingsOf<decltype(pixel)>(one, one_row, other, other_row, near, width, reach, met);
    });
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
HWY_EXPORT(MarkNearValues);
HWY_EXPORT(FindNearMeetings);

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

void mark_near_values(const ValueRow &row, const Nearness &near, int64_t width, uint64_t *word, uint64_t *start) {
    HWY_DYNAMIC_DISPATCH(MarkNearValues)(row.pixels, near, width, word, start);
}

int64_t find_near_meetings(const BitRow &one, const ValueRow &one_values, const BitRow &other, const ValueRow &other_values,
                           const Nearness &near, int64_t width, int64_t reach, uint32_t *met) {
    return HWY_DYNAMIC_DISPATCH(FindNearMeetings)(one, one_values.pixels, other, other_values.pixels, near, width, reach, met);
}

}  // namespace apsis::cpu::components
#endif
