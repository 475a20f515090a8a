// The pixels of a row within a limit: see cover.h.  Compiled once for every instruction set.
//
// A column whose site is near enough covers the pixels up to some offset to either side: its reach, the root of what its cost
// leaves of the limit.  A pixel is covered if a column before it reaches as far, or one behind it.
//
// Single precision is exact for costs below 2^22: if n is less than a square below that, its root is less than that of the
// square by more than a float is rounded by.  Double precision is, for all costs of 32 bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/distance/cover.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/distance/cover.h"

HWY_BEFORE_NAMESPACE();
namespace apsis::cpu::distance {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE auto whole(D, hn::Vec<D> offset) {
    const hn::Rebind<int32_t, D> d;
    if constexpr (sizeof(hn::TFromD<D>) == 4)
        return hn::ConvertTo(d, offset);
    else
        return hn::DemoteTo(d, offset);
}

template <class D>
HWY_INLINE hn::Vec<D> real(D df, hn::Vec<hn::Rebind<int32_t, D>> cost) {
    if constexpr (sizeof(hn::TFromD<D>) == 4)
        return hn::ConvertTo(df, cost);
    else
        return hn::PromoteTo(df, cost);
}

constexpr int64_t SPAN = 16;  // pixels that are compared by doubling; no vector of these has more lanes

/// Where what a column covers ends, counted from the row's beginning, and where it begins, counted from the row's end; 0 where
/// the cost is above the limit.
template <class Real>
HWY_INLINE void FindReaches(const int32_t *cost, int64_t count, int32_t limit, Real weight, bool squared, int32_t *end,
                            int32_t *begin) {
    const hn::CappedTag<Real, SPAN> df;
    const hn::Rebind<int32_t, decltype(df)> d;
    const auto most = hn::Set(d, limit), longest = hn::Set(d, static_cast<int32_t>(count)), first = hn::Iota(d, 0),
               one = hn::Set(d, 1);
    for (int64_t x = 0; x < count; x += static_cast<int64_t>(hn::Lanes(d))) {
        const auto rest = hn::Sub(most, hn::LoadU(d, cost + x));
        auto offset = real(df, hn::Max(rest, hn::Zero(d)));
        if (weight != 1) offset = hn::Div(offset, hn::Set(df, weight));
        if (squared) offset = hn::Sqrt(offset);
        const auto reach = hn::Min(whole(df, offset), longest), at = hn::Add(first, hn::Set(d, static_cast<int32_t>(x)));
        const auto none = hn::Lt(rest, hn::Zero(d));
        hn::StoreU(hn::IfThenZeroElse(none, hn::Add(hn::Add(at, one), reach)), d, end + x);
        hn::StoreU(hn::IfThenZeroElse(none, hn::Add(hn::Sub(longest, at), reach)), d, begin + x);
    }
}

/// Each number becomes the greatest of itself and all before it.  A pass goes against the numbers that it looks at, so that none
/// is loaded just after it was stored.
void SpreadOn(int32_t *number, int64_t count) {
    const hn::CappedTag<int32_t, SPAN> d;
    const auto N = static_cast<int64_t>(hn::Lanes(d));
    std::fill_n(number - SPAN, SPAN, 0);
    const auto raise = [&](int64_t x, int64_t by) {
        hn::StoreU(hn::Max(hn::LoadU(d, number + x), hn::LoadU(d, number + x - by)), d, number + x);
    };
    for (int64_t step = 1; step < SPAN; step *= 2)
        for (int64_t x = (count - 1) / N * N; x >= 0; x -= N) raise(x, step);
    for (int64_t x = 0; x < count; x += N) raise(x, SPAN);
}

/// The same of all behind it.
void SpreadBack(int32_t *number, int64_t count) {
    const hn::CappedTag<int32_t, SPAN> d;
    const auto N = static_cast<int64_t>(hn::Lanes(d));
    std::fill_n(number + count, 2 * SPAN, 0);
    const auto raise = [&](int64_t x, int64_t by) {
        hn::StoreU(hn::Max(hn::LoadU(d, number + x), hn::LoadU(d, number + x + by)), d, number + x);
    };
    for (int64_t step = 1; step < SPAN; step *= 2)
        for (int64_t x = 0; x < count; x += N) raise(x, step);
    for (int64_t x = (count - 1) / N * N; x >= 0; x -= N) raise(x, SPAN);
}

/// Marks the pixels that a column before them covers, or one behind them.
void MarkCovered(int32_t *end, int32_t *begin, int64_t count) {
    SpreadOn(end, count);
    SpreadBack(begin, count);
    const hn::CappedTag<int32_t, SPAN> d;
    const auto last = hn::Set(d, static_cast<int32_t>(count - 1)), first = hn::Iota(d, 0);
    for (int64_t x = 0; x < count; x += static_cast<int64_t>(hn::Lanes(d))) {
        const auto at = hn::Add(first, hn::Set(d, static_cast<int32_t>(x)));
        const auto on = hn::Gt(hn::LoadU(d, end + x), at), back = hn::Gt(hn::LoadU(d, begin + x), hn::Sub(last, at));
        hn::StoreU(hn::VecFromMask(d, hn::Or(on, back)), d, end + x);
    }
}

void CoverInFloats(const int32_t *cost, int64_t count, int32_t limit, bool squared, int32_t *covered, int32_t *scratch) {
    FindReaches<float>(cost, count, limit, 1, squared, covered, scratch);
    MarkCovered(covered, scratch, count);
}
void CoverInDoubles(const int32_t *cost, int64_t count, int32_t limit, double weight, bool squared, int32_t *covered,
                    int32_t *scratch) {
    FindReaches<double>(cost, count, limit, weight, squared, covered, scratch);
    MarkCovered(covered, scratch, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace apsis::cpu::distance
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace apsis::cpu::distance {

HWY_EXPORT(CoverInFloats);
HWY_EXPORT(CoverInDoubles);

void cover_row(const Measure &measure, const int32_t *cost, int64_t count, int32_t limit, int32_t *covered, int32_t *scratch) {
    const bool squared = measure.metric == APSIS_EUCLIDEAN;
    const int64_t weight = measure.weight[0];
    if (weight == 1 && limit < 1 << 22)
        HWY_DYNAMIC_DISPATCH(CoverInFloats)(cost, count, limit, squared, covered, scratch);
    else
        HWY_DYNAMIC_DISPATCH(CoverInDoubles)
    (cost, count, limit, static_cast<double>(weight), squared, covered, scratch);
}

}  // namespace apsis::cpu::distance
#endif
