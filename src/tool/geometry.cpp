// Parses and checks --spacing, --weights and --connectivity.
#include "tool/geometry.h"

#include <algorithm>
#include <cmath>

#include "tool/failure.h"

namespace tool {
namespace {

constexpr const char *kNeighbours[] = {"4", "8", "6", "18", "26"};
constexpr int kAxesOf[] = {1, 2, 1, 2, 3};  // axes along which neighbours may differ
enum { kFour, kEight, kSix, kEighteen, kTwentySix };

}  // namespace

void Spacing::add_to(Arguments &arguments, const std::string &limits) {
    arguments.numbers("--spacing", "x,y[,z]",
                      "Size of a pixel along each axis, in your unit. One number is for every axis; commas stand between "
                      "axes: 1.5 is one and a half for all, 1,5 is 1 along x and 5 along y. Default: 1. " +
                          limits,
                      sizes_);
}

void Spacing::check(bool volume) {
    if (sizes_.empty()) return;
    const size_t axes = volume ? 3 : 2;
    if (sizes_.size() == 1) sizes_.resize(axes, sizes_[0]);
    if (sizes_.size() != axes)
        usage("--spacing has " + std::to_string(sizes_.size()) + " numbers, but must have " + std::to_string(axes) +
              (volume ? " with --volume" : " without --volume"));
}

bool Spacing::all(double size) const {
    return std::all_of(sizes_.begin(), sizes_.end(), [size](double one) { return one == size; });
}

void Spacing::check_one(const std::string &why) const {
    if (!all(1)) usage("--spacing must be 1 for " + why + "; f32 and f64 take any");
}

void Spacing::check_equal(const std::string &why) const {
    if (!sizes_.empty() && !all(sizes_[0])) usage("--spacing must be the same for every axis with " + why);
}

void Spacing::fill_in(apsis_options &options) const {
    if (sizes_.empty()) return;
    std::fill(options.spacing, options.spacing + 3, sizes_[0]);  // the size along z does not matter between separate pages
    std::copy(sizes_.begin(), sizes_.end(), options.spacing);
}

void Spacing::print(Json &json, bool volume) const {
    json.key("spacing").array();
    for (size_t axis = 0; axis < (volume ? 3 : 2); ++axis) json.value(sizes_.empty() ? 1.0 : sizes_[axis]);
    json.end_array();
}

void Weights::add_to(Arguments &arguments) {
    arguments.numbers("--weights", "a,b[,c]",
                      "With --metric chamfer, how long a step along one axis is, along two, and with --volume along three; "
                      "without, c is for a knight's move, by 1 and 2, and may be left out. Lengths are in units of a. Such are "
                      "2,3 and 5,7,11. Default: 3,4,5, without a knight's move.",
                      weights_);
}

void Weights::check(bool volume, bool is_chamfer) const {
    if (weights_.empty()) return;
    if (!is_chamfer) usage("--weights is for --metric chamfer");
    const size_t count = weights_.size();
    if (count > 3 || count < 2 || (volume && count < 3))
        usage("--weights has " + std::to_string(count) + (count == 1 ? " number" : " numbers") + ", but must have " +
              (volume ? "3 with --volume" : "2 or 3"));
    for (const double weight : weights_)
        if (!(weight >= 1 && weight <= 1 << 20 && weight == std::floor(weight)))
            usage("--weights must be whole numbers from 1 to 1048576");
}

void Weights::fill_in(apsis_options &options) const {
    for (size_t i = 0; i < weights_.size(); ++i) options.weights[i] = static_cast<std::int32_t>(weights_[i]);
}

void Weights::print(Json &json) const {
    if (weights_.empty()) return;
    json.key("weights").array();
    for (const double weight : weights_) json.value(weight);
    json.end_array();
}

void Connectivity::add_to(Arguments &arguments, const std::string &fallback) {
    arguments.choice("--connectivity", kNeighbours,
                     "How many neighbours a pixel has: 4 or 8, with --volume 6, 18 or 26. " + fallback, place_);
}

void Connectivity::check(bool volume, bool all) {
    if (place_ < 0) place_ = volume ? (all ? kTwentySix : kSix) : all ? kEight : kFour;
    if (volume != (place_ >= kSix))
        usage(std::string("--connectivity is ") + kNeighbours[static_cast<size_t>(place_)] + ", but must be " +
              (volume ? "6, 18 or 26 with --volume" : "4 or 8 without --volume"));
}

int Connectivity::axes() const { return kAxesOf[place_]; }

void Connectivity::print(Json &json) const { json.member("connectivity", std::stoi(kNeighbours[static_cast<size_t>(place_)])); }

}  // namespace tool
