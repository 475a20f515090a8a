// See bounds.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/paths/bounds.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "cpu/paths/bounds.h"

HWY_BEFORE_NAMESPACE();
namespace apsis::cpu::paths {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Length>
HWY_INLINE void least_sums_of(const Length *one, const Length *rows, int64_t count, int hubs, Length *sums) {
    const hn::CappedTag<Length, MOST_HUBS<Length>> d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    for (int64_t i = 0; i < count; ++i, rows += MOST_HUBS<Length>) {
        auto least = hn::Add(hn::LoadU(d, one), hn::LoadU(d, rows));
        for (int h = lanes; h < hubs; h += lanes)
            least = hn::Min(least, hn::Add(hn::LoadU(d, one + h), hn::LoadU(d, rows + h)));
        sums[i] = hn::GetLane(hn::MinOfLanes(d, least));
    }
}

template <class Length>
HWY_INLINE Length pixel_bounds_of(const Length *one, const Length *const *slot, int64_t first, int64_t count, int hubs,
                                  Length *bounds) {
    const hn::CappedTag<Length, STRETCH> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    auto most = hn::Zero(d);
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        auto least = hn::Set(d, std::numeric_limits<Length>::max());
        for (int h = 0; h < hubs; ++h) least = hn::Min(least, hn::Add(hn::Set(d, one[h]), hn::LoadU(d, slot[h] + first + i)));
        hn::StoreU(least, d, bounds + i);
        most = hn::Max(most, least);
    }
    Length largest = hn::GetLane(hn::MaxOfLanes(d, most));
    for (; i < count; ++i) {
        bounds[i] = std::numeric_limits<Length>::max();
        for (int h = 0; h < hubs; ++h) bounds[i] = std::min(bounds[i], static_cast<Length>(one[h] + slot[h][first + i]));
        largest = std::max(largest, bounds[i]);
    }
    return largest;
}

void LeastSums32(const int32_t *one, const int32_t *rows, int64_t count, int hubs, int32_t *sums) {
    least_sums_of(one, rows, count, hubs, sums);
}
void LeastSums64(const int64_t *one, const int64_t *rows, int64_t count, int hubs, int64_t *sums) {
    least_sums_of(one, rows, count, hubs, sums);
}
int32_t PixelBounds32(const int32_t *one, const int32_t *const *slot, int64_t first, int64_t count, int hubs, int32_t *bounds) {
    return pixel_bounds_of(one, slot, first, count, hubs, bounds);
}
int64_t PixelBounds64(const int64_t *one, const int64_t *const *slot, int64_t first, int64_t count, int hubs, int64_t *bounds) {
    return pixel_bounds_of(one, slot, first, count, hubs, bounds);
}

}  // namespace HWY_NAMESPACE
}  // namespace apsis::cpu::paths
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace apsis::cpu::paths {

HWY_EXPORT(LeastSums32);
HWY_EXPORT(LeastSums64);
HWY_EXPORT(PixelBounds32);
HWY_EXPORT(PixelBounds64);

void least_sums(const int32_t *one, const int32_t *rows, int64_t count, int hubs, int32_t *sums) {
    HWY_DYNAMIC_DISPATCH(LeastSums32)(one, rows, count, hubs, sums);
}

void least_sums(const int64_t *one, const int64_t *rows, int64_t count, int hubs, int64_t *sums) {
    HWY_DYNAMIC_DISPATCH(LeastSums64)(one, rows, count, hubs, sums);
}

int32_t pixel_bounds(const int32_t *one, const int32_t *const *slot, int64_t first, int64_t count, int hubs, int32_t *bounds) {
    return HWY_DYNAMIC_DISPATCH(PixelBounds32)(one, slot, first, count, hubs, bounds);
}

int64_t pixel_bounds(const int64_t *one, const int64_t *const *slot, int64_t first, int64_t count, int hubs, int64_t *bounds) {
    return HWY_DYNAMIC_DISPATCH(PixelBounds64)(one, slot, first, count, hubs, bounds);
}

}  // namespace apsis::cpu::paths
#endif
