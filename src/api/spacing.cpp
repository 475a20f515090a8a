// Spacing: see spacing.h.
#include "api/spacing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace apsis {
namespace {

/// The ratio of two spacings that are off by a unit in the last place each is off by less than this part of itself.
constexpr double ROUNDING = 0x1p-50;

/// A ratio of whole numbers; 0 : 0 for none.
struct Fraction {
    int64_t p = 0, q = 0;
};

/// The fraction of numbers up to MOST_WHOLE that a ratio of 1 or more stands for.
///
/// Two such fractions differ by at least 2^-40 of themselves, so there is one at most within ROUNDING.  It differs from the
/// ratio by less than 1 / (2 q^2), so it is a convergent of the ratio's continued fraction (Legendre).
Fraction whole_fraction(double ratio) {
    Fraction before = {0, 1}, now = {1, 0};
    for (double rest = ratio; rest <= MOST_WHOLE; rest = 1 / (rest - std::floor(rest))) {
        const auto term = static_cast<int64_t>(rest);
        before = std::exchange(now, {term * now.p + before.p, term * now.q + before.q});
        if (now.p > MOST_WHOLE) break;
        const auto p = static_cast<double>(now.p), q = static_cast<double>(now.q);
        if (std::fabs(std::fma(-ratio, q, p)) <= ROUNDING * p) return now;
    }
    return {};
}

/// Finds whole numbers up to MOST_WHOLE in the ratio of the spacings.  Returns that of the least spacing, or 0 for none.
int64_t whole_numbers(const double *spacing, int axes, double least, int64_t whole[3]) {
    Fraction fraction[3];
    int64_t common = 1;
    for (int a = 0; a < axes; ++a) {
        fraction[a] = whole_fraction(spacing[a] / least);
        if (!fraction[a].q) return 0;
        common = std::lcm(common, fraction[a].q);
    }
    for (int a = 0; a < axes; ++a) {
        const auto [p, q] = fraction[a];
        if (common / q > MOST_WHOLE / p) return 0;
        whole[a] = common / q * p;
    }
    return common;
}

}  // namespace

int Spacing::least() const { return static_cast<int>(std::min_element(along, along + axes) - along); }

int Spacing::most() const { return static_cast<int>(std::max_element(along, along + axes) - along); }

Spacing ratio_of(const double *spacing, int axes) {
    const auto [least, most] = std::minmax_element(spacing, spacing + axes);
    int64_t whole[3];
    const int64_t common = whole_numbers(spacing, axes, *least, whole);
    Spacing found;
    found.axes = axes;
    found.is_whole = common > 0;
    found.unit = found.is_whole ? *least / static_cast<double>(common) : *most;
    for (int a = 0; a < axes; ++a) found.along[a] = found.is_whole ? static_cast<double>(whole[a]) : spacing[a] / *most;
    return found;
}

}  // namespace apsis
