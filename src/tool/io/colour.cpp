// Colour maps, computed in OKLCh (lightness, chroma, hue) and looked up.
#include "tool/io/colour.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace tool {
namespace {

constexpr int kSteps = 1024;
constexpr int kDistinct = 4096;

using Linear = std::array<double, 3>;

/// Björn Ottosson's Oklab (2020) to linear sRGB.
Linear linear_rgb(double lightness, double chroma, double hue) {
    const double radians = hue * std::numbers::pi / 180;
    const double a = chroma * std::cos(radians), b = chroma * std::sin(radians);
    const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s, -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

std::uint8_t encoded(double linear) {
    const double value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
}

/// The colour in sRGB.  A colour outside sRGB keeps its lightness and hue, and its chroma is lowered until it fits.
Rgb shown(double lightness, double chroma, double hue) {
    Linear colour = linear_rgb(lightness, chroma, hue);
    const auto visible = [&] {
        return std::all_of(colour.begin(), colour.end(), [](double c) { return c > -0.0005 && c < 1.0005; });
    };
    for (; chroma > 0 && !visible(); colour = linear_rgb(lightness, chroma, hue)) chroma -= 0.002;
    return {encoded(colour[0]), encoded(colour[1]), encoded(colour[2])};
}

template <class Colour>
std::vector<Rgb> table(int size, Colour colour) {
    std::vector<Rgb> result;
    result.reserve(static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) result.push_back(colour(i));
    return result;
}

/// Sebastiano Vigna's SplitMix64: neighbouring labels get unrelated bits.
std::uint64_t scattered(std::uint64_t label) {
    label += 0x9E3779B97F4A7C15u;
    label = (label ^ (label >> 30)) * 0xBF58476D1CE4E5B9u;
    label = (label ^ (label >> 27)) * 0x94D049BB133111EBu;
    return label ^ (label >> 31);
}

}  // namespace

Rgb sequential(double t) {
    static const std::vector<Rgb> colours = table(kSteps, [](int i) {
        const double at = i / (kSteps - 1.0);
        return shown(0.22 + 0.70 * at, 0.10 + 0.05 * at, 285 - 185 * std::pow(at, 0.9));
    });
    return colours[static_cast<size_t>(std::clamp(t, 0.0, 1.0) * (kSteps - 1) + 0.5)];
}

Rgb diverging(double t) {
    static const std::vector<Rgb> colours = table(2 * kSteps - 1, [](int i) {
        const double at = i / (kSteps - 1.0) - 1, away = std::abs(at);
        return shown(0.96 - 0.58 * away, 0.20 * std::sqrt(away), at < 0 ? 255 : 35);
    });
    return colours[static_cast<size_t>((std::clamp(t, -1.0, 1.0) + 1) * (kSteps - 1) + 0.5)];
}

Rgb distinct(std::uint64_t label) {
    static const std::vector<Rgb> colours = table(kDistinct, [](int i) {
        const std::uint64_t bits = scattered(static_cast<std::uint64_t>(i));
        const auto fraction = [bits](int shift) { return static_cast<double>(bits >> shift & 0xFFFF) / 0xFFFF; };
        return shown(0.50 + 0.40 * fraction(0), 0.06 + 0.10 * fraction(16), 360 * fraction(32));
    });
    return colours[scattered(label) % kDistinct];
}

}  // namespace tool
