// The samples of a row of a TIFF page as whole numbers, of whatever size they are stored in.
#pragma once

#include <cstdint>

#include "tool/io/tiff.h"

namespace tool {

/// Calls body(sample), where sample(i) is the i-th number from `bytes` on, of the type that the page has; those of fewer than 8
/// bits, of which the leftmost is in the highest bits, are of 8.
template <class Body>
auto with_samples(const TiffPage &page, const std::uint8_t *bytes, Body body) {
    const bool is_signed = page.format == SampleFormat::kSigned;
    const auto stored_as = [&](auto zero) {
        return body([samples = reinterpret_cast<const decltype(zero) *>(bytes)](std::int64_t i) { return samples[i]; });
    };
    const auto packed_as = [&](auto zero) {
        const int bits = page.bits, sign = is_signed ? 1 << (bits - 1) : 0;
        return body([=](std::int64_t i) {
            const std::int64_t bit = i * bits;
            const int sample = bytes[bit / 8] >> (8 - bits - bit % 8) & ((1 << bits) - 1);
            return static_cast<decltype(zero)>((sample ^ sign) - sign);
        });
    };
    switch (page.bits) {
        case 8: return is_signed ? stored_as(std::int8_t{}) : stored_as(std::uint8_t{});
        case 16: return is_signed ? stored_as(std::int16_t{}) : stored_as(std::uint16_t{});
        case 32: return is_signed ? stored_as(std::int32_t{}) : stored_as(std::uint32_t{});
        case 64: return is_signed ? stored_as(std::int64_t{}) : stored_as(std::uint64_t{});
        default: return is_signed ? packed_as(std::int8_t{}) : packed_as(std::uint8_t{});
    }
}

}  // namespace tool
