// Runs of set pixels: see runs.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/runs.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "cpu/runs.h"

HWY_BEFORE_NAMESPACE();
namespace apsis {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE int64_t words_of(int64_t width) { return (width + 63) / 64; }

/// The lowest bits of a word, up to and with bit x % 64.
HWY_INLINE uint64_t up_to(int64_t x) { return ~uint64_t(0) >> (63 - (x & 63)); }

HWY_INLINE void trim(int64_t width, uint64_t *word) {
    if (width & 63) word[width >> 6] &= up_to(width - 1);
}

void PackBytes(const uint8_t *bytes, int64_t width, bool flip, uint64_t *word) {
    const hn::CappedTag<uint8_t, 64> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto zero = hn::Zero(d);
    const uint64_t invert = flip ? 0 : ~uint64_t(0);  // zero bytes give ones
    for (int64_t x = 0; x + 64 <= width; x += 64) {
        uint64_t bits = 0;
        for (int64_t k = 0; k < 64; k += lanes)
            hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, bytes + x + k), zero), reinterpret_cast<uint8_t *>(&bits) + k / 8);
        word[x >> 6] = bits ^ invert;
    }
    if (width & 63) {
        uint64_t bits = 0;
        for (int64_t x = width & ~int64_t(63); x < width; ++x) bits |= uint64_t(bytes[x] == 0) << (x & 63);
        word[width >> 6] = bits ^ invert;
    }
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
        for (int k = 0; k < count; k += 8)  // eight at a time, wanted or not: how many there are is hard to foresee
            for (int j = 0; j < 8; ++j) {
                to[k + j] = x + static_cast<uint32_t>(__builtin_ctzll(change | uint64_t(1) << 63));
                change &= change - 1;
            }
        to += count;
    }
    if ((to - ends) & 1) *to++ = static_cast<uint32_t>(width);
    return (to - ends) / 2;
}

HWY_INLINE Meeting Between(const BitRow &row, int64_t first, int64_t last) {
    const int64_t i = first >> 6, k = last >> 6;
    const int64_t begun = row.before[i] + __builtin_popcountll(row.start[i] & up_to(first));
    return {begun - static_cast<int64_t>(row.word[i] >> (first & 63) & 1),  // a run that holds `first` has begun, not ended
            row.before[k] + __builtin_popcountll(row.start[k] & up_to(last))};
}

HWY_INLINE uint32_t root_of(uint32_t *parent, uint32_t label) {
    while (parent[label] != label) label = parent[label] = parent[parent[label]];
    return label;
}

constexpr uint32_t NONE = 0;  // as a root it is above all others, see below

/// Whichever root is lower becomes that of both; NONE counts as the highest.  Without branches, for which of the two it
/// is cannot be foreseen: a root that is its own parent already, and NONE, may be written to.
HWY_INLINE uint32_t merge(uint32_t *parent, uint32_t one, uint32_t other) {
    const uint32_t low = std::min(one - 1, other - 1) + 1, high = std::max(one - 1, other - 1) + 1;
    parent[high] = high == NONE ? NONE : low;
    return low;
}

/// The root of a run that has the root `mine` so far, and meets these runs of a neighbour.
HWY_INLINE uint32_t join(uint32_t *parent, uint32_t mine, uint32_t *met, Meeting meeting) {
    // The first is looked at whether or not it is met; there is always one more label than runs.
    const uint32_t met_first = root_of(parent, met[meeting.low]), first = meeting.low < meeting.high ? met_first : NONE;
    mine = mine == NONE ? first : merge(parent, mine, first);
    for (int64_t i = meeting.low + 1; i < meeting.high; ++i) {
        const uint32_t root = root_of(parent, met[i]);
        if (root != mine) mine = merge(parent, mine, root);
    }
    return mine;
}

/// Compiled for one neighbour, and for any number of them.
template <bool ONE>
HWY_INLINE uint32_t Label(const uint32_t *ends, int64_t runs, int64_t width, const Neighbour *neighbour, int neighbours,
                          Forest &forest, uint32_t *label) {
    uint32_t *const parent = forest.parent;
    uint32_t count = forest.count;
    for (int64_t i = 0; i < runs; ++i) {
        uint32_t mine = NONE;
        for (int n = 0; n < (ONE ? 1 : neighbours); ++n) {
            const int64_t reach = neighbour[n].reach;
            const int64_t first = std::max<int64_t>(ends[2 * i] - reach, 0);
            const int64_t last = std::min<int64_t>(ends[2 * i + 1] - 1 + reach, width - 1);
            mine = join(parent, mine, neighbour[n].label, Between(neighbour[n].row, first, last));
        }
        parent[count + 1] = count + 1;
        const bool fresh = mine == NONE;
        count += fresh;
        label[i] = fresh ? count : mine;
    }
    return count;
}

void LabelRuns(const uint32_t *ends, int64_t runs, int64_t width, const Neighbour *neighbour, int neighbours,
               Forest &forest, uint32_t *label) {
    label[0] = NONE;  // what may be looked at in vain
    forest.parent[NONE] = NONE;
    forest.count = neighbours == 1 ? Label<true>(ends, runs, width, neighbour, 1, forest, label)
                                   : Label<false>(ends, runs, width, neighbour, neighbours, forest, label);
}

Meeting RunsBetween(const BitRow &row, int64_t first, int64_t last) { return Between(row, first, last); }

/// Stores whole vectors from x on, at least up to `end`; what lies beyond is written later.
template <class Pixel>
HWY_INLINE void spread(Pixel *row, int64_t x, int64_t end, Pixel value) {
    const hn::CappedTag<Pixel, 64 / sizeof(Pixel)> d;
    const auto vector = hn::Set(d, value);
    do {
        hn::StoreU(vector, d, row + x);
        x += static_cast<int64_t>(hn::Lanes(d));
    } while (x < end);
}

template <class Pixel>
HWY_INLINE void Fill(const uint32_t *ends, const uint32_t *part, int64_t runs, int64_t width,
                     const int64_t *number, Pixel *row) {
    const Pixel none = static_cast<Pixel>(number[NONE]);  // 0; a compiler that knew would call memset for every gap
    spread(row, 0, runs ? ends[0] : width, none);
    for (int64_t i = 0; i < runs; ++i) {
        const int64_t end = ends[2 * i + 1];
        spread(row, ends[2 * i], end, static_cast<Pixel>(number[part[i]]));
        if (end < width) spread(row, end, i + 1 < runs ? ends[2 * i + 2] : width, none);
    }
}

void FillRuns32(const uint32_t *ends, const uint32_t *part, int64_t runs, int64_t width,
                const int64_t *number, int32_t *row) {
    Fill(ends, part, runs, width, number, row);
}

void FillRuns64(const uint32_t *ends, const uint32_t *part, int64_t runs, int64_t width,
                const int64_t *number, int64_t *row) {
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

void EndStream() { hwy::FlushStream(); }

}  // namespace HWY_NAMESPACE
}  // namespace apsis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace apsis {

HWY_EXPORT(PackBytes);
HWY_EXPORT(PackBits);
HWY_EXPORT(CountRuns);
HWY_EXPORT(FindRuns);
HWY_EXPORT(LabelRuns);
HWY_EXPORT(RunsBetween);
HWY_EXPORT(FillRuns32);
HWY_EXPORT(FillRuns64);
HWY_EXPORT(StreamBytes);
HWY_EXPORT(EndStream);

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

void label_runs(const uint32_t *ends, int64_t runs, int64_t width, const Neighbour *neighbour, int neighbours,
                Forest &forest, uint32_t *label) {
    HWY_DYNAMIC_DISPATCH(LabelRuns)(ends, runs, width, neighbour, neighbours, forest, label);
}

Meeting runs_between(const BitRow &row, int64_t first, int64_t last) {
    return HWY_DYNAMIC_DISPATCH(RunsBetween)(row, first, last);
}

void fill_runs(const uint32_t *ends, const uint32_t *part, int64_t runs, int64_t width,
               const int64_t *number, int32_t *row) {
    HWY_DYNAMIC_DISPATCH(FillRuns32)(ends, part, runs, width, number, row);
}

void fill_runs(const uint32_t *ends, const uint32_t *part, int64_t runs, int64_t width,
               const int64_t *number, int64_t *row) {
    HWY_DYNAMIC_DISPATCH(FillRuns64)(ends, part, runs, width, number, row);
}

void stream_bytes(const uint8_t *from, int64_t bytes, uint8_t *to) {
    HWY_DYNAMIC_DISPATCH(StreamBytes)(from, bytes, to);
}

void end_stream() { HWY_DYNAMIC_DISPATCH(EndStream)(); }

}  // namespace apsis
#endif
