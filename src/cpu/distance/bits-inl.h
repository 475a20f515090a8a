// Positions of bits in vectors of words, for each instruction set: included by what Highway compiles once for every one.
#if defined(APSIS_CPU_DISTANCE_BITS) == defined(HWY_TARGET_TOGGLE)
#ifdef APSIS_CPU_DISTANCE_BITS
#undef APSIS_CPU_DISTANCE_BITS
#else
#define APSIS_CPU_DISTANCE_BITS
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace apsis {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The position of the only set bit of each lane, read off the exponent of its conversion to float.
template <class D, class V>
HWY_INLINE V bit_position(D d, V bits) {
    const hn::Rebind<float, D> df;
    const auto exponent = hn::ShiftRight<23>(hn::BitCast(d, hn::ConvertTo(df, bits)));
    return hn::Sub(hn::And(exponent, hn::Set(d, 0xff)), hn::Set(d, 127));
}

/// The position of the lowest set bit; undefined where there is none.
template <class D, class V>
HWY_INLINE V lowest_position(D d, V bits) {
    return bit_position(d, hn::And(bits, hn::Neg(bits)));
}

/// How far the highest set bit is below bit 31; undefined where there is none.
template <class D, class Words>
HWY_INLINE hn::Vec<D> highest_from_top(D d, Words words) {
    // Clearing the bit below each set bit keeps the conversion from rounding up.
    const auto highest = hn::BitCast(d, hn::AndNot(hn::ShiftRight<1>(words), words));
    return hn::IfThenElse(hn::Lt(highest, hn::Zero(d)), hn::Zero(d), hn::Sub(hn::Set(d, 31), bit_position(d, highest)));
}

}  // namespace HWY_NAMESPACE
}  // namespace apsis
HWY_AFTER_NAMESPACE();

#endif
