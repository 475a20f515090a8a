// See labels.h.
#include "tool/labels.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "tool/failure.h"
#include "tool/samples.h"
#include "tool/set.h"

namespace tool {
namespace {

/// A type of the library.  It has no unsigned ones of 32 and 64 bits: there labels must fit the signed ones.
template <class Sample>
using LabelOf = std::conditional_t<sizeof(Sample) == 8, std::int64_t,
                                   std::conditional_t<std::is_signed_v<Sample> || sizeof(Sample) == 4, std::int32_t, Sample>>;

constexpr apsis_type type_of(std::uint8_t) { return APSIS_U8; }
constexpr apsis_type type_of(std::uint16_t) { return APSIS_U16; }
constexpr apsis_type type_of(std::int32_t) { return APSIS_I32; }
constexpr apsis_type type_of(std::int64_t) { return APSIS_I64; }

constexpr const char *kPaletteIsNone = "has the colours of a palette, but labels must be numbers: save it as greyscale";

std::int64_t copy_reals(const std::uint8_t *samples, std::int64_t count, std::uint8_t *row) {
    std::memcpy(row, samples, static_cast<size_t>(count) * sizeof(float));
    const auto *const values = reinterpret_cast<const float *>(row);
    return count - std::count(values, values + count, 0.0F);
}

}  // namespace

std::string unusable_as_grey(const TiffPage &page) {
    if (page.photometric == kPalette) return kPaletteIsNone;
    const bool is_float = page.format == SampleFormat::kFloat;
    if (page.samples == 1 && (page.bits > 32 || (is_float && page.bits != 32)))
        return "has " + std::to_string(page.bits) + "-bit " + (is_float ? "floating-point " : "") +
               "samples, but grey values are whole numbers of up to 32 bits, or 32-bit floating-point ones";
    return is_float && page.samples == 1 ? "" : unusable(page);
}

std::string unusable_as_labels(const TiffPage &page) {
    if (page.photometric == kPalette) return kPaletteIsNone;
    if (page.format == SampleFormat::kFloat)
        return "has " + std::to_string(page.bits) + "-bit floating-point samples, but labels must be whole numbers";
    return unusable(page);
}

apsis_type label_type(const TiffPage &page) {
    if (page.format == SampleFormat::kFloat) return APSIS_F32;
    return with_samples(page, nullptr, [](auto sample) { return type_of(LabelOf<decltype(sample(0))>{}); });
}

std::int64_t copy_labels(const TiffPage &page, const std::uint8_t *samples, std::int64_t count, std::uint8_t *row,
                         const Place &place) {
    if (page.format == SampleFormat::kFloat) return copy_reals(samples, count, row);
    return with_samples(page, samples, [&](auto sample) {
        using Label = LabelOf<decltype(sample(0))>;
        auto *const labels = reinterpret_cast<Label *>(row);
        std::int64_t nonzero = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const auto label = sample(i);
            if (!std::in_range<Label>(label))
                fail(quoted(place.path) + ": the label at (" + std::to_string(place.x + i) + ", " + std::to_string(place.y) +
                     ") of page " + std::to_string(place.z + 1) + " is " + std::to_string(label) + ", but must be at most " +
                     std::to_string(std::numeric_limits<Label>::max()));
            labels[i] = static_cast<Label>(label);
            nonzero += label != 0;
        }
        return nonzero;
    });
}

}  // namespace tool
