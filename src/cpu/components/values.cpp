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

/// Which of 64 pixels are 0.
template <class Pixel>
HWY_INLINE uint64_t ZerosAmong(const Pixel *pixels) {
    const hn::CappedTag<Pixel, 64> d;
    uint64_t bits = 0;
    for (int64_t k = 0; k < 64; k += static_cast<int64_t>(hn::Lanes(d)))
        bits |= BitsOf(d, hn::Eq(hn::LoadU(d, pixels + k), hn::Zero(d))) << k;
    return bits;
}

/// Which of the 64 pixels at one place equal those at another.
template <class Pixel>
HWY_INLINE uint64_t EqualAmong(const Pixel *one, const Pixel *other) {
    const hn::CappedTag<Pixel, 64> d;
    uint64_t bits = 0;
    for (int64_t k = 0; k < 64; k += static_cast<int64_t>(hn::Lanes(d)))
        bits |= BitsOf(d, hn::Eq(hn::LoadU(d, one + k), hn::LoadU(d, other + k))) << k;
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

/// 64 pixels of a row from pixel x on, and the one before them.  They are copied, with 0 outside the row, only where they would
/// be read outside of it.
template <class Pixel>
class Word {
  public:
    Word(const Pixel *row, int64_t x, int64_t width) : first_(x == 0), here_(row + x) {
        if (x + 64 + first_ <= width) return;
        const int64_t from = std::max<int64_t>(x - 1, 0), count = std::min(x + 64, width) - from;
        std::memset(copy_, 0, sizeof copy_);
        std::memcpy(copy_ + (from - x + 1), row + from, static_cast<size_t>(count) * sizeof(Pixel));
        here_ = copy_ + 1;
    }
    Word(const Word &) = delete;

    uint64_t zeros() const { return ZerosAmong(here_); }
    uint64_t equal(const Word &other) const { return EqualAmong(here_, other.here_); }
    /// Which equal the pixel one to the left of them in the other row.  The first pixel of a row does not.
    uint64_t equal_before(const Word &other) const { return EqualAmong(here_ + first_, other.here_ + first_ - 1) << first_; }
    /// The same of near pixels.  Which of them are 0 is not asked.
    uint64_t near(const Word &other, const Nearness &near) const { return NearAmong(here_, other.here_, near); }
    uint64_t near_before(const Word &other, const Nearness &near) const {
        return NearAmong(here_ + first_, other.here_ + first_ - 1, near) << first_;
    }

  private:
    int64_t first_;
    const Pixel *here_;
    Pixel copy_[66];
};

template <class Pixel>
HWY_INLINE void Mark(const void *pixels, int64_t width, uint64_t *word, uint64_t *start) {
    const auto *const row = static_cast<const Pixel *>(pixels);
    for (int64_t x = 0; x < width; x += 64) {
        const Word<Pixel> values(row, x, width);
        word[x >> 6] = ~values.zeros();
        start[x >> 6] = word[x >> 6] & ~values.equal_before(values);
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
        const Word<Pixel> values(row, x, width);
        uint64_t *const here = word + (x >> 6);
        *here = ~values.zeros();
        start[x >> 6] = *here & ~(values.near_before(values, near) & (*here << 1 | here[-1] >> 63));
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

/// Of stretches of pixels, each a start with the `body` pixels behind it: the last pixel of those without a known one.  From
/// each start a carry runs through pixels that are not known.
HWY_INLINE uint64_t LastOfUnknown(uint64_t starts, uint64_t body, uint64_t known) {
    const uint64_t open_starts = starts & ~known, open_body = body & ~known;
    uint64_t sum;
    const bool runs_over = __builtin_add_overflow(open_starts << 1, open_body, &sum);
    const uint64_t behind = sum & ~open_body & ~(body & known);
    return behind >> 1 | (uint64_t(runs_over) << 63 | (open_starts & uint64_t(1) << 63));
}

/// Word i of two rows, and where their pairs of runs are written.
class RunPairs {
  public:
    HWY_INLINE RunPairs(const ValueRow &row, const ValueRow &other, int64_t i)
        : starts_(row.bits.start[i]),
          other_starts_(other.bits.start[i]),
          before_(row.first + row.bits.before[i] - 1),
          other_before_(other.first + other.bits.before[i] - 1) {}

    /// Writes the runs that pixels lie in; always four at once, as their count is hard to predict.
    HWY_INLINE uint32_t *write(uint64_t pixels, uint32_t *to) const {
        const int count = __builtin_popcountll(pixels);
        int k = 0;
        do {
            for (int j = 0; j < 4; ++j) {
                const uint64_t to_here = pixels ^ (pixels - 1);
                to[2 * (k + j)] = other_before_ + static_cast<uint32_t>(__builtin_popcountll(other_starts_ & to_here));
                to[2 * (k + j) + 1] = before_ + static_cast<uint32_t>(__builtin_popcountll(starts_ & to_here));
                pixels &= pixels - 1;
            }
        } while ((k += 4) < count);
        return to + 2 * count;
    }
    /// The same for pixels that few words have.  One of the rows has its run `left` of them.
    HWY_INLINE uint32_t *write_few(uint64_t pixels, int left, int other_left, uint32_t *to) const {
        for (; pixels; pixels &= pixels - 1) {
            const uint64_t to_here = pixels ^ (pixels - 1);
            *to++ = other_before_ + static_cast<uint32_t>(__builtin_popcountll(other_starts_ & to_here >> other_left));
            *to++ = before_ + static_cast<uint32_t>(__builtin_popcountll(starts_ & to_here >> left));
        }
        return to;
    }

  private:
    uint64_t starts_, other_starts_;
    uint32_t before_, other_before_;
};

/// Two runs that meet do so in one column, or only across a corner.  In the first such column one of them starts.  At a corner
/// both rows change, the run on the right starts, and the pixel beside that start, in the row of the other, is not equal.
template <class Pixel, bool VOLUME, int CONNECTIVITY>
HWY_INLINE int64_t FindMeetingsOf(const ValueRow &row, const ValueRow *earlier, int64_t width, uint32_t *met) {
    constexpr Neighbourhood NEIGHBOURHOOD = {VOLUME, CONNECTIVITY};
    constexpr int ROWS = NEIGHBOURHOOD.earlier_rows(), WITH_CORNERS = NEIGHBOURHOOD.rows_with_corners();
    constexpr int FIRST_KNOWN = CONNECTIVITY > 2 ? 1 : 2;  // the first earlier row for which others tell something
    uint32_t *to = met;
    uint64_t known_before[ROWS] = {};  // of the word before
    for (int64_t i = 0; i < (width + 63) / 64; ++i) {
        const auto changes = [i](const BitRow &bits) {
            return bits.start[i] | ((bits.word[i] << 1 | bits.word[i - 1] >> 63) & ~bits.word[i]);
        };
        const uint64_t starts = row.bits.start[i], word = row.bits.word[i], word_left = word << 1 | row.bits.word[i - 1] >> 63;
        const Word<Pixel> values(static_cast<const Pixel *>(row.pixels), i * 64, width);
        uint64_t equal[std::max(ROWS, 2)], left[ROWS] = {}, right[ROWS] = {}, corners = 0;
        for (int r = 0; r < ROWS; ++r) {
            const BitRow &bits = earlier[r].bits;
            const uint64_t known = r < FIRST_KNOWN ? 0 : r == 1 ? equal[0] : r == 2 ? equal[0] | equal[1] : equal[1];
            const uint64_t known_left = known << 1 | known_before[r];
            known_before[r] = known >> 63;
            if (r > 1 && !((word & ~known) | (word_left & ~known_left))) continue;  // often: what goes on along z
            const Word<Pixel> others(static_cast<const Pixel *>(earlier[r].pixels), i * 64, width);
            equal[r] = values.equal(others) & bits.word[i];
            const uint64_t first = equal[r] & (starts | bits.start[i]);
            if (r < FIRST_KNOWN)
                to = RunPairs(row, earlier[r], i).write(first, to);
            else if (const uint64_t last = LastOfUnknown(first, equal[r] & ~first, known))
                to = RunPairs(row, earlier[r], i).write(last, to);
            if (r >= WITH_CORNERS) continue;
            left[r] = starts & changes(bits) & ~equal[r] & ~known & values.equal_before(others);
            right[r] = bits.start[i] & changes(row.bits) & ~equal[r] & ~known_left & others.equal_before(values);
            corners |= left[r] | right[r];
        }
        for (int r = 0; r < WITH_CORNERS && corners; ++r) {
            to = RunPairs(row, earlier[r], i).write_few(left[r], 0, 1, to);
            to = RunPairs(row, earlier[r], i).write_few(right[r], 1, 0, to);
        }
    }
    return (to - met) / 2;
}

template <class Pixel>
HWY_INLINE int64_t FindMeetingsAmong(const ValueRow &row, const ValueRow *earlier, const Neighbourhood &neighbourhood,
                                     int64_t width, uint32_t *met) {
    const int64_t connectivity = neighbourhood.connectivity;
    if (!neighbourhood.volume)
        return connectivity > 1 ? FindMeetingsOf<Pixel, false, 2>(row, earlier, width, met)
                                : FindMeetingsOf<Pixel, false, 1>(row, earlier, width, met);
    return connectivity > 2   ? FindMeetingsOf<Pixel, true, 3>(row, earlier, width, met)
           : connectivity > 1 ? FindMeetingsOf<Pixel, true, 2>(row, earlier, width, met)
                              : FindMeetingsOf<Pixel, true, 1>(row, earlier, width, met);
}

int64_t FindValueMeetings(const ValueRow &row, const ValueRow *earlier, const Neighbourhood &neighbourhood, int64_t bytes,
                          int64_t width, uint32_t *met) {
    switch (bytes) {
        case 1: return FindMeetingsAmong<uint8_t>(row, earlier, neighbourhood, width, met);
        case 2: return FindMeetingsAmong<uint16_t>(row, earlier, neighbourhood, width, met);
        case 4: return FindMeetingsAmong<uint32_t>(row, earlier, neighbourhood, width, met);
        default: return FindMeetingsAmong<uint64_t>(row, earlier, neighbourhood, width, met);
    }
}

/// That a is near b, and b near c, does not say that a is near c.  So two runs may meet in any column, and meet again where
/// neither starts; what is left out is a pixel beside one at which the same two meet.  Across a corner they meet anyway where
/// one goes on past it, and is near the other there.
template <class Pixel>
HWY_INLINE uint32_t *FindNearMeetingsOf(const ValueRow &row, const ValueRow &earlier, bool has_corners, const Nearness &near,
                                        int64_t width, uint32_t *to) {
    uint64_t last = 0;  // whether the last pixels of the word before meet
    for (int64_t i = 0; i < (width + 63) / 64; ++i) {
        const uint64_t word = row.bits.word[i], left = word << 1 | row.bits.word[i - 1] >> 63;
        const uint64_t other = earlier.bits.word[i], other_left = other << 1 | earlier.bits.word[i - 1] >> 63;
        if (!((word | left) & (other | other_left))) {
            last = 0;
            continue;
        }
        const Word<Pixel> values(static_cast<const Pixel *>(row.pixels), i * 64, width);
        const Word<Pixel> others(static_cast<const Pixel *>(earlier.pixels), i * 64, width);
        const RunPairs pairs(row, earlier, i);
        const uint64_t goes_on = ~row.bits.start[i], other_goes_on = ~earlier.bits.start[i];
        const uint64_t meet = word & other & values.near(others, near), meet_left = meet << 1 | last;
        last = meet >> 63;
        to = pairs.write(meet & ~(meet_left & goes_on & other_goes_on), to);
        if (!has_corners) continue;
        if (const uint64_t corner = word & other_left & ~(meet & other_goes_on) & ~(meet_left & goes_on))
            to = pairs.write_few(corner & values.near_before(others, near), 0, 1, to);
        if (const uint64_t corner = left & other & ~(meet & goes_on) & ~(meet_left & other_goes_on))
            to = pairs.write_few(corner & others.near_before(values, near), 1, 0, to);
    }
    return to;
}

int64_t FindNearMeetings(const ValueRow &row, const ValueRow *earlier, const Neighbourhood &neighbourhood, const Nearness &near,
                         int64_t width, uint32_t *met) {
    return WithGreyPixel(near.type, [&](auto pixel) {
        uint32_t *to = met;
        for (int r = 0; r < neighbourhood.earlier_rows(); ++r)
            to = FindNearMeetingsOf<decltype(pixel)>(row, earlier[r], r < neighbourhood.rows_with_corners(), near, width, to);
        return (to - met) / 2;
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

void mark_values(const void *pixels, int64_t bytes, int64_t width, uint64_t *word, uint64_t *start) {
    HWY_DYNAMIC_DISPATCH(MarkValues)(pixels, bytes, width, word, start);
}

int64_t count_starts(const uint64_t *start, int64_t width, uint32_t *before) {
    return HWY_DYNAMIC_DISPATCH(CountStarts)(start, width, before);
}

int64_t find_value_runs(const uint64_t *word, const uint64_t *start, int64_t width, uint32_t *ends) {
    return HWY_DYNAMIC_DISPATCH(FindValueRuns)(word, start, width, ends);
}

int64_t find_value_meetings(const ValueRow &row, const ValueRow *earlier, const Neighbourhood &neighbourhood, int64_t bytes,
                            int64_t width, uint32_t *met) {
    return HWY_DYNAMIC_DISPATCH(FindValueMeetings)(row, earlier, neighbourhood, bytes, width, met);
}

void mark_near_values(const void *pixels, const Nearness &near, int64_t width, uint64_t *word, uint64_t *start) {
    HWY_DYNAMIC_DISPATCH(MarkNearValues)(pixels, near, width, word, start);
}

int64_t find_near_meetings(const ValueRow &row, const ValueRow *earlier, const Neighbourhood &neighbourhood,
                           const Nearness &near, int64_t width, uint32_t *met) {
    return HWY_DYNAMIC_DISPATCH(FindNearMeetings)(row, earlier, neighbourhood, near, width, met);
}

}  // namespace apsis::cpu::components
#endif
