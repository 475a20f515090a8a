// Lengths of Euclidean costs: see roots.h.  Compiled once for every instruction set.
//
// A root is rounded once.  Single precision is exact for costs below 2^24, which a float holds; others have their root in
// double precision, and are then rounded to float: see root() in core/measure.h, which is what each of these is.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/distance/roots.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "cpu/distance/roots.h"

HWY_BEFORE_NAMESPACE();
namespace apsis::cpu::distance {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls a function with the first pixel of each vector and where the results go: the last vector may be cut short.
template <class Real, class Body>
HWY_INLINE void for_vectors(int64_t count, int64_t N, Real *length, Body body) {
    int64_t x = 0;
    for (; x + N <= count; x += N) body(x, length + x);
    if (x == count) return;
    HWY_ALIGN Real rest[HWY_MAX_BYTES / sizeof(Real)];
    body(x, rest);
    std::copy_n(rest, count - x, length + x);
}

template <class D, class T>
HWY_INLINE hn::Vec<D> to_double(D dd, const T *cost) {
    const hn::Rebind<T, D> d;
    if constexpr (sizeof(T) == 4)
        return hn::PromoteTo(dd, hn::LoadU(d, cost));
    else
        return hn::ConvertTo(dd, hn::LoadU(d, cost));
}

template <class D>
HWY_INLINE void store(D dd, hn::Vec<D> length, double *to) {
    hn::StoreU(length, dd, to);
}

template <class D>
HWY_INLINE void store(D, hn::Vec<D> length, float *to) {
    const hn::Rebind<float, D> df;
    hn::StoreU(hn::DemoteTo(df, length), df, to);
}

/// For costs up to 2^24.
template <class D>
HWY_INLINE hn::Vec<D> small_roots(D df, const int32_t *cost, int32_t limit) {
    const hn::RebindToSigned<D> d;
    const auto c = hn::LoadU(d, cost);
    const auto root = hn::BitCast(d, hn::Sqrt(hn::ConvertTo(df, c)));
    return hn::BitCast(df, hn::IfThenElse(hn::Gt(c, hn::Set(d, limit)), hn::Set(d, 0x7f800000), root));
}

void SmallRoots(const int32_t *cost, int64_t count, int32_t limit, float *length) {
    const hn::ScalableTag<float> df;
    for_vectors(count, static_cast<int64_t>(hn::Lanes(df)), length,
                [&](int64_t x, float *to) { hn::StoreU(small_roots(df, cost + x, limit), df, to); });
}

template <class T, class Real>
void LargeRoots(const T *cost, int64_t count, T limit, Real *length) {
    const hn::ScalableTag<double> dd;
    const auto most = hn::Set(dd, static_cast<double>(limit)), infinity = hn::Set(dd, HUGE_VAL);
    for_vectors(count, static_cast<int64_t>(hn::Lanes(dd)), length, [&](int64_t x, Real *to) {
        const auto c = to_double(dd, cost + x);
        store(dd, hn::IfThenElse(hn::Gt(c, most), infinity, hn::Sqrt(c)), to);
    });
}

/// For a unit that is not 1, to float.  The product is off by less than 3 units in the last place.  Where that might change the
/// float, because the product is nearly halfway between two, it is computed again.
template <class T>
void ScaledRoots(double unit, const T *cost, int64_t count, T limit, float *length) {
    const hn::ScalableTag<double> dd;
    const hn::RebindToSigned<decltype(dd)> dw;
    constexpr int64_t MORE = int64_t(1) << 29, HALFWAY = MORE / 2;  // of the bits that a double has and a float has not
    const int64_t N = static_cast<int64_t>(hn::Lanes(dd));
    const auto most = hn::Set(dd, static_cast<double>(limit)), infinity = hn::Set(dd, HUGE_VAL);
    for_vectors(count, N, length, [&](int64_t x, float *to) {
        const auto c = to_double(dd, cost + x);
        const auto product = hn::Mul(hn::Set(dd, unit), hn::Sqrt(c));
        const auto more = hn::And(hn::BitCast(dw, product), hn::Set(dw, MORE - 1));
        const auto in_doubt = hn::Lt(hn::Abs(hn::Sub(more, hn::Set(dw, HALFWAY))), hn::Set(dw, 4));
        store(dd, hn::IfThenElse(hn::Gt(c, most), infinity, product), to);
        for (int64_t i = 0; i < N && !hn::AllFalse(dw, in_doubt); ++i)
            if (cost[x + i] <= limit) to[i] = static_cast<float>(scaled_root(unit, cost[x + i]));
    });
}

HWY_INLINE bool are_small(const int32_t *cost, int64_t count, int32_t limit) {
    const hn::ScalableTag<int32_t> d;
    auto largest = hn::Zero(d);
    for (int64_t x = 0; x < count; x += static_cast<int64_t>(hn::Lanes(d))) largest = hn::Max(largest, hn::LoadU(d, cost + x));
    return hn::GetLane(hn::MaxOfLanes(d, largest)) < 1 << 24 || limit < 1 << 24;
}

template <class T>
void FloatLengths(double unit, const T *cost, int64_t count, T limit, float *length) {
    if (unit != 1) return ScaledRoots(unit, cost, count, limit, length);
    if constexpr (sizeof(T) == 4)
        if (are_small(cost, count, limit)) return SmallRoots(cost, count, limit, length);
    LargeRoots(cost, count, limit, length);
}

/// Vectors begin where a whole one may be stored past the caches.
void StreamLengths(const int32_t *cost, int64_t count, int32_t limit, float *length) {
    const hn::ScalableTag<float> df;
    const int64_t N = static_cast<int64_t>(hn::Lanes(df));
    if (!are_small(cost, count, limit)) return LargeRoots(cost, count, limit, length);
    if (reinterpret_cast<uintptr_t>(length) % sizeof(float)) return SmallRoots(cost, count, limit, length);
    const int64_t skew = static_cast<int64_t>(reinterpret_cast<uintptr_t>(length) / sizeof(float)) % N;
    int64_t x = std::min((N - skew) % N, count);
    SmallRoots(cost, x, limit, length);
    for (; x + N <= count; x += N) hn::Stream(small_roots(df, cost + x, limit), df, length + x);
    SmallRoots(cost + x, count - x, limit, length + x);
}

template <class T>
void DoubleLengths(double unit, const T *cost, int64_t count, T limit, double *length) {
    if (unit == 1) return LargeRoots(cost, count, limit, length);
    for (int64_t x = 0; x < count; ++x) length[x] = cost[x] <= limit ? scaled_root(unit, cost[x]) : HUGE_VAL;
}

void FloatLengths32(double unit, const int32_t *cost, int64_t count, int32_t limit, float *length) {
    FloatLengths(unit, cost, count, limit, length);
}
void FloatLengths64(double unit, const int64_t *cost, int64_t count, int64_t limit, float *length) {
    FloatLengths(unit, cost, count, limit, length);
}
void DoubleLengths32(double unit, const int32_t *cost, int64_t count, int32_t limit, double *length) {
    DoubleLengths(unit, cost, count, limit, length);
}
void DoubleLengths64(double unit, const int64_t *cost, int64_t count, int64_t limit, double *length) {
    DoubleLengths(unit, cost, count, limit, length);
}

}  // namespace HWY_NAMESPACE
}  // namespace apsis::cpu::distance
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace apsis::cpu::distance {

HWY_EXPORT(FloatLengths32);
HWY_EXPORT(FloatLengths64);
HWY_EXPORT(DoubleLengths32);
HWY_EXPORT(DoubleLengths64);
HWY_EXPORT(StreamLengths);

void lengths(double unit, const int32_t *cost, int64_t count, int32_t limit, float *length) {
    HWY_DYNAMIC_DISPATCH(FloatLengths32)(unit, cost, count, limit, length);
}

void lengths(double unit, const int64_t *cost, int64_t count, int64_t limit, float *length) {
    HWY_DYNAMIC_DISPATCH(FloatLengths64)(unit, cost, count, limit, length);
}

void lengths(double unit, const int32_t *cost, int64_t count, int32_t limit, double *length) {
    HWY_DYNAMIC_DISPATCH(DoubleLengths32)(unit, cost, count, limit, length);
}

void lengths(double unit, const int64_t *cost, int64_t count, int64_t limit, double *length) {
    HWY_DYNAMIC_DISPATCH(DoubleLengths64)(unit, cost, count, limit, length);
}

void stream_lengths(const int32_t *cost, int64_t count, int32_t limit, float *length) {
    HWY_DYNAMIC_DISPATCH(StreamLengths)(cost, count, limit, length);
}

}  // namespace apsis::cpu::distance
#endif
