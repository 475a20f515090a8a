// Device functions of numbers and of their bits: the last part of cuda_runtime.h.
#pragma once

inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
inline int __clz(int bits) { return bits ? __builtin_clz(static_cast<unsigned>(bits)) : 32; }
inline int __clzll(long long bits) { return bits ? __builtin_clzll(static_cast<unsigned long long>(bits)) : 64; }
inline unsigned __brev(unsigned bits) {
    unsigned turned = 0;
    for (int i = 0; i < 32; ++i) turned |= (bits >> i & 1) << (31 - i);
    return turned;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return static_cast<unsigned>((uint64_t(high) << 32 | low) >> (by & 31));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return static_cast<unsigned>((uint64_t(high) << 32 | low) << (by & 31) >> 32);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
    for (int i = 0; i < 32; i += 8) sum += (a >> i & 255) * (b >> i & 255);
    return sum;
}
inline int __dp4a(int a, int b, int sum) {
    for (int i = 0; i < 32; i += 8) sum += static_cast<int8_t>(a >> i) * static_cast<int8_t>(b >> i);
    return sum;
}
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned pick) {
    const uint64_t both = uint64_t(high) << 32 | low;
    unsigned bytes = 0;
    for (int i = 0; i < 4; ++i) bytes |= static_cast<unsigned>(both >> 8 * (pick >> 4 * i & 7) & 255) << 8 * i;
    return bytes;
}
inline unsigned halves(unsigned low, unsigned high) { return (low & 0xffff) | high << 16; }
inline unsigned __vminu2(unsigned a, unsigned b) {
    return halves(std::min(a & 0xffff, b & 0xffff), std::min(a >> 16, b >> 16));
}
inline unsigned __vmaxu2(unsigned a, unsigned b) {
    return halves(std::max(a & 0xffff, b & 0xffff), std::max(a >> 16, b >> 16));
}
inline unsigned __vmins2(unsigned a, unsigned b) {
    const auto least = [](unsigned c, unsigned d) { return static_cast<unsigned>(std::min<int16_t>(int16_t(c), int16_t(d))); };
    return halves(least(a, b), least(a >> 16, b >> 16));
}
inline unsigned __vmaxs2(unsigned a, unsigned b) { return ~__vmins2(~a, ~b); }
inline unsigned __vimin_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(__vmins2(a, b), 0); }
inline unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(__vmaxs2(a, b), 0); }
inline unsigned __vimin3_u16x2(unsigned a, unsigned b, unsigned c) { return __vminu2(__vminu2(a, b), c); }
inline unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned c) {
    return __vminu2(halves(a + b, (a >> 16) + (b >> 16)), c);
}
inline unsigned __viaddmin_u32(unsigned a, unsigned b, unsigned c) { return std::min(a + b, c); }
inline int __viaddmin_s32(int a, int b, int c) {
    return std::min(static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c);
}
inline unsigned __vimin3_u32(unsigned a, unsigned b, unsigned c) { return std::min(std::min(a, b), c); }
inline unsigned __vimax3_u32(unsigned a, unsigned b, unsigned c) { return std::max(std::max(a, b), c); }
inline unsigned __vimax3_u16x2(unsigned a, unsigned b, unsigned c) { return __vmaxu2(__vmaxu2(a, b), c); }
inline int __vimin3_s32(int a, int b, int c) { return std::min(std::min(a, b), c); }
inline unsigned __float_as_uint(float value) { return emulator::value_of<unsigned>(emulator::bits_of(value)); }
inline int __float_as_int(float value) { return emulator::value_of<int>(emulator::bits_of(value)); }
inline float __uint_as_float(unsigned bits) { return emulator::value_of<float>(bits); }
inline float __int_as_float(int bits) { return emulator::value_of<float>(static_cast<unsigned>(bits)); }
inline double __hiloint2double(int high, int low) {
    return emulator::value_of<double>(uint64_t(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low));
}
namespace emulator {
/// A device takes the nearest number that there is, where C++ says nothing.
inline int to_int(float whole) {
    return whole >= 0x1p31f ? INT32_MAX : whole <= -0x1p31f ? INT32_MIN : static_cast<int>(whole);
}
}  // namespace emulator
inline int __float2int_rd(float value) { return emulator::to_int(std::floor(value)); }
inline int __float2int_ru(float value) { return emulator::to_int(std::ceil(value)); }
inline float __ull2float_rd(unsigned long long value) {
    const float near = static_cast<float>(value);
    return static_cast<long double>(near) > static_cast<long double>(value) ? std::nextafter(near, 0.0f) : near;
}
inline float __ull2float_ru(unsigned long long value) {
    const float near = static_cast<float>(value);
    return static_cast<long double>(near) < static_cast<long double>(value) ? std::nextafter(near, HUGE_VALF) : near;
}
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsqrt_rn(float value) { return std::sqrt(value); }
inline double __dsqrt_rn(double value) { return std::sqrt(value); }
inline float rsqrtf(float value) { return 1 / std::sqrt(value); }
namespace emulator {
template <class Real>
Real rsqrt(Real value) {
    return 1 / std::sqrt(value);
}
template <class Real>
Real rcp(Real value) {
    return 1 / value;
}
template <class Real>
Real sqrt(Real value) {
    return std::sqrt(value);
}
}  // namespace emulator

template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
    return a < b ? a : b;
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
    return a < b ? b : a;
}
