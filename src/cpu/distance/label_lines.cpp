// Rows of label images: see label_lines.h.  Compiled once for every instruction set; plain loops are vectorized by the
// compiler.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/distance/label_lines.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "cpu/distance/bits-inl.h"
#include "cpu/distance/label_lines.h"
#include "cpu/distance/lines.h"
#include "runtime/packed.h"

HWY_BEFORE_NAMESPACE();
namespace apsis {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Pixels of a row, one `stride` bytes after the other.
template <class T>
struct Apart {
    const uint8_t *row;
    int64_t stride;
    HWY_INLINE T operator[](int64_t x) const { return *reinterpret_cast<const T *>(row + x * stride); }
};

/// Calls body(pixels(row)...) with the pixels of rows, which can be indexed.
template <class T, class Body, class... Row>
HWY_INLINE void with_pixels_of(const View &labels, Body body, Row... row) {
    if (labels.stride[0] == sizeof(T))
        body(reinterpret_cast<const T *>(row)...);
    else
        body(Apart<T>{row, labels.stride[0]}...);
}
template <class Body, class... Row>
HWY_INLINE void with_pixels(const View &labels, Body body, Row... row) {
    switch (labels.type) {
        case APSIS_U16: return with_pixels_of<uint16_t>(labels, body, row...);
        case APSIS_I32: return with_pixels_of<uint32_t>(labels, body, row...);
        case APSIS_I64: return with_pixels_of<uint64_t>(labels, body, row...);
        default: return with_pixels_of<uint8_t>(labels, body, row...);
    }
}

void PackBegins(const View &labels, const uint8_t *row, const uint8_t *before, int bit, uint32_t *words) {
    const int64_t width = labels.size[0];
    with_pixels(
        labels,
        [=](auto mine, auto theirs) {
            for (int64_t x = 0; x < width; ++x) words[x] |= uint32_t(mine[x] != theirs[x]) << bit;
        },
        row, before);
}

void PackRowBegins(const View &labels, const uint8_t *row, uint32_t *words) {
    constexpr uint64_t GATHER = 0x0102040810204080;  // moves the lowest bit of byte k to bit 56 + k
    constexpr int64_t FLAGS = 8 * STRIP;             // pixels that are compared together
    const int64_t width = labels.size[0];
    with_pixels(
        labels,
        [=](auto pixels) {
            uint8_t flags[FLAGS] = {}, bits[FLAGS / 8];
            for (int64_t x = 0; x < width; x += FLAGS) {
                const int64_t count = std::min(FLAGS, width - x);
                for (int64_t i = x == 0; i < count; ++i) flags[i] = pixels[x + i] != pixels[x + i - 1];
                if (count < FLAGS) std::fill(flags + count, flags + FLAGS, uint8_t(0));
                for (int64_t i = 0; i < FLAGS; i += 8) {
                    uint64_t eight;
                    std::memcpy(&eight, flags + i, sizeof eight);
                    bits[i / 8] = static_cast<uint8_t>(eight * GATHER >> 56);
                }
                std::memcpy(words + x / STRIP, bits, static_cast<size_t>((count + STRIP - 1) / STRIP) * sizeof *words);
            }
        },
        row);
}

template <class Cost>
HWY_INLINE void ClearBackground(const View &labels, const uint8_t *row, int32_t at, Cost *cost, Cost *order) {
    const int64_t width = labels.size[0];
    with_pixels(
        labels,
        [=](auto pixels) {
            for (int64_t x = 0; x < width; ++x) cost[x] = pixels[x] ? cost[x] : 0;
            for (int64_t x = 0; order && x < width; ++x) order[x] = pixels[x] ? order[x] : Cost(at);
        },
        row);
}
void ClearBackground32(const View &labels, const uint8_t *row, int32_t at, int32_t *cost, int32_t *order) {
    ClearBackground(labels, row, at, cost, order);
}
void ClearBackground64(const View &labels, const uint8_t *row, int32_t at, int64_t *cost, int64_t *order) {
    ClearBackground(labels, row, at, cost, order);
}

using D = hn::CappedTag<int32_t, STRIP>;
using V = hn::Vec<D>;

/// The positions `here` of pixels, bit `bit` of a word each, to the cost of the nearest pixel beyond their runs.
template <class Bit>
HWY_INLINE void StoreEnds(D d, const Scale<int32_t> &scale, hn::Vec<hn::RebindToUnsigned<D>> word, Bit bit, V before, V after,
                          V here, int32_t *cost, int32_t *position) {
    const hn::RebindToUnsigned<D> du;
    const auto zero = hn::Zero(d), one = hn::Set(d, 1);
    const auto below = hn::BitCast(d, hn::ShiftLeft<1>(hn::ShiftRight<1>(hn::Shr(word, bit))));
    const auto down = hn::IfThenElse(hn::Eq(below, zero), after, hn::Add(here, lowest_position(d, below)));
    const auto left = hn::Shl(word, hn::Sub(hn::Set(du, 31), bit));
    const auto begin = hn::IfThenElse(hn::Eq(hn::BitCast(d, left), zero), before, hn::Sub(here, highest_from_top(d, left)));
    const auto up = hn::Sub(begin, one);
    const auto to_up = hn::Sub(here, up), to_down = hn::Sub(down, here);
    const auto offset = hn::Min(to_up, to_down);
    const auto length = scale.squared ? hn::Mul(offset, offset) : offset;
    const auto has_site = hn::Lt(offset, hn::Set(d, scale.reach));
    const auto none = hn::Set(d, NO_COST<int32_t>);
    hn::StoreU(hn::IfThenElse(has_site, hn::Mul(length, hn::Set(d, scale.weight)), none), d, cost);
    if (position) hn::StoreU(hn::IfThenElseZero(has_site, hn::IfThenElse(hn::Gt(to_up, to_down), down, up)), d, position);
}

void RunEndCosts32(const Scale<int32_t> &scale, const uint32_t *words, const int32_t *before, const int32_t *after,
                   int64_t count, int32_t start, int32_t at, int32_t *cost, int32_t *position) {
    const D d;
    const hn::RebindToUnsigned<D> du;
    const auto bit = hn::Set(du, static_cast<uint32_t>(at - start));
    for (int64_t x = 0; x < count; x += static_cast<int64_t>(hn::Lanes(d)))
        StoreEnds(d, scale, hn::LoadU(du, words + x), bit, hn::LoadU(d, before + x), hn::LoadU(d, after + x), hn::Set(d, at),
                  cost + x, position ? position + x : nullptr);
}

void LineEndCosts32(const Scale<int32_t> &scale, const Columns &columns, int64_t column, int32_t *cost, int32_t *position) {
    const D d;
    const hn::RebindToUnsigned<D> du;
    const auto lanes = hn::Iota(d, 0);  // made once, as it goes through memory
    for (int64_t strip = 0; strip < columns.strips(); ++strip) {
        const int64_t at = columns.at(0, strip, column);
        const auto word = hn::Set(du, columns.words[at]);
        const auto before = hn::Set(d, columns.before[at]), after = hn::Set(d, columns.after[at]);
        for (int32_t k = 0; k < STRIP; k += static_cast<int32_t>(hn::Lanes(d))) {
            const int64_t x = strip * STRIP + k;
            StoreEnds(d, scale, word, hn::BitCast(du, hn::Add(lanes, hn::Set(d, k))), before, after,
                      hn::Add(lanes, hn::Set(d, static_cast<int32_t>(x))), cost + x, position ? position + x : nullptr);
        }
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace apsis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace apsis {

HWY_EXPORT(PackBegins);
HWY_EXPORT(PackRowBegins);
HWY_EXPORT(ClearBackground32);
HWY_EXPORT(ClearBackground64);
HWY_EXPORT(RunEndCosts32);
HWY_EXPORT(LineEndCosts32);

namespace {

/// The same as StoreEnds, for one pixel with 64-bit costs.
void store_end(const Measure &measure, int axis, uint32_t word, int32_t before, int32_t after, int32_t start, int32_t at,
               int64_t *cost, int64_t *position) {
    const int32_t site = nearest_beyond_run(word, before, after, start, at);
    *cost = site == NO_SITE_BEFORE ? NO_COST<int64_t>
                                   : axis_cost<int64_t>(measure.metric, measure.weight[axis], int64_t(at) - site);
    if (position) *position = site == NO_SITE_BEFORE ? 0 : site;
}

}  // namespace

void run_end_costs(const Measure &measure, int axis, const uint32_t *words, const int32_t *before, const int32_t *after,
                   int64_t count, int32_t start, int32_t at, int32_t *cost, int32_t *position) {
    HWY_DYNAMIC_DISPATCH(RunEndCosts32)(Scale<int32_t>(measure, axis), words, before, after, count, start, at, cost, position);
}
void run_end_costs(const Measure &measure, int axis, const uint32_t *words, const int32_t *before, const int32_t *after,
                   int64_t count, int32_t start, int32_t at, int64_t *cost, int64_t *position) {
    for (int64_t x = 0; x < count; ++x)
        store_end(measure, axis, words[x], before[x], after[x], start, at, cost + x, position ? position + x : nullptr);
}

void line_end_costs(const Measure &measure, int axis, const Columns &columns, int64_t column, int32_t *cost,
                    int32_t *position) {
    HWY_DYNAMIC_DISPATCH(LineEndCosts32)(Scale<int32_t>(measure, axis), columns, column, cost, position);
}
void line_end_costs(const Measure &measure, int axis, const Columns &columns, int64_t column, int64_t *cost,
                    int64_t *position) {
    for (int64_t i = 0; i < columns.length; ++i) {
        const int64_t strip = i / STRIP, at = columns.at(0, strip, column);
        store_end(measure, axis, columns.words[at], columns.before[at], columns.after[at], static_cast<int32_t>(strip * STRIP),
                  static_cast<int32_t>(i), cost + i, position ? position + i : nullptr);
    }
}

void pack_begins(const View &labels, const uint8_t *row, const uint8_t *before, int bit, uint32_t *words) {
    HWY_DYNAMIC_DISPATCH(PackBegins)(labels, row, before, bit, words);
}

void pack_row_begins(const View &labels, const uint8_t *row, uint32_t *words) {
    HWY_DYNAMIC_DISPATCH(PackRowBegins)(labels, row, words);
}

bool is_background(const View &labels, const uint8_t *row) {
    const size_t bytes = static_cast<size_t>(labels.size[0] * labels.stride[0]);
    // Every byte is as the one before it.
    return labels.stride[0] == pixel_bytes(labels.type) && bytes > 0 && *row == 0 && !std::memcmp(row, row + 1, bytes - 1);
}

void clear_background(const View &labels, const uint8_t *row, int32_t at, int32_t *cost, int32_t *order) {
    HWY_DYNAMIC_DISPATCH(ClearBackground32)(labels, row, at, cost, order);
}
void clear_background(const View &labels, const uint8_t *row, int32_t at, int64_t *cost, int64_t *order) {
    HWY_DYNAMIC_DISPATCH(ClearBackground64)(labels, row, at, cost, order);
}

}  // namespace apsis
#endif
