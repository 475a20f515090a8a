// See differences.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/labels/differences.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "cpu/labels/differences.h"

HWY_BEFORE_NAMESPACE();
namespace apsis::cpu::labels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Pixel>
HWY_INLINE void Mark(const void *one_row, const void *other_row, int64_t count, uint64_t *bits) {
    const auto *const one = static_cast<const Pixel *>(one_row), *const other = static_cast<const Pixel *>(other_row);
    const hn::CappedTag<Pixel, 64> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t x = 0;
    for (; x + 64 <= count; x += 64) {
        uint64_t word = 0;
        for (int64_t k = 0; k < 64; k += lanes) {
            uint8_t some[8] = {};
            hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, one + x + k), hn::LoadU(d, other + x + k)), some);
            uint64_t here;
            std::memcpy(&here, some, sizeof here);
            word |= here << k;
        }
        bits[x >> 6] = word;
    }
    if (x == count) return;
    uint64_t word = 0;
    for (int64_t k = x; k < count; ++k) word |= uint64_t(one[k] != other[k]) << (k - x);
    bits[x >> 6] = word;
}

void MarkDifferences(const void *one, const void *other, int64_t bytes, int64_t count, uint64_t *bits) {
    switch (bytes) {
        case 1: return Mark<uint8_t>(one, other, count, bits);
        case 2: return Mark<uint16_t>(one, other, count, bits);
        case 4: return Mark<uint32_t>(one, other, count, bits);
        default: return Mark<uint64_t>(one, other, count, bits);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace apsis::cpu::labels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace apsis::cpu::labels {

HWY_EXPORT(MarkDifferences);

void mark_differences(const void *one, const void *other, int64_t bytes, int64_t count, uint64_t *bits) {
    HWY_DYNAMIC_DISPATCH(MarkDifferences)(one, other, bytes, count, bits);
}

}  // namespace apsis::cpu::labels
#endif
