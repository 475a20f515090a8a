// apsis_surface_distance: marks both surfaces in bytes, makes the distance map of each, and reads it at the pixels of the
// other.  A percentile is found by selection, in linear time, and a sum is in the order of pixels, so that it is the same on
// every device, with any number of threads.  Two distance maps are most of the cost.
#include <apsis_measures.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/halves.h"
#include "api/options.h"
#include "runtime/staging.h"

namespace apsis {

namespace {

void check_numbers(double percentile, double tolerance, const apsis_surface_distances *distances) {
    if (!(percentile >= 0 && percentile <= 100))
        throw Error(APSIS_ERROR_ARGUMENT, "percentile is %g, but must be from 0 to 100", percentile);
    if (!(tolerance >= 0)) throw Error(APSIS_ERROR_ARGUMENT, "tolerance is %g, but must be 0 or more", tolerance);
    if (!distances) throw Error(APSIS_ERROR_ARGUMENT, "distances is NULL, but is needed");
}

void check_options(const apsis_options *given) {
    const apsis_options options = read_options(given);
    if (options.flags)
        throw Error(APSIS_ERROR_ARGUMENT, "options: flags is 0x%x, but apsis_surface_distance takes none",
                    unsigned(options.flags));
    if (options.max_distance > 0)
        throw Error(APSIS_ERROR_ARGUMENT, "options: max_distance is %g, but is not for apsis_surface_distance",
                    options.max_distance);
    check_taken("apsis_surface_distance", {APSIS_AUTO}, options);
    refuse_delta("apsis_surface_distance", options);
}

/// Makes of a set on the device its copy in host memory, which is the caller's to keep.
std::unique_ptr<uint8_t[]> to_host(apsis_context &context, View &set) {
    if (set.memory == APSIS_HOST || set.pixels() == 0) return nullptr;
    context.refuse_capture("surfaces are found on the host");
    auto pixels = std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(packed_bytes(set)));
    const View copy = packed_like(set, pixels.get(), APSIS_HOST);
    copy_between(context, set, copy);
    set = copy;
    return pixels;
}

/// A packed image of the same size, in host memory.
template <class Pixel>
struct Packed {
    std::vector<Pixel> pixels;
    apsis_image image;

    Packed(const apsis_image &like, apsis_type type)
        : pixels(static_cast<size_t>(like.size[0] * like.size[1] * (like.ndim == 3 ? like.size[2] : 1))),
          image{pixels.data(), type, like.ndim, {like.size[0], like.size[1], like.size[2]}, {0, 0, 0}, APSIS_HOST, 0} {}
};

/// Calls visit(i, x, y, z) for each pixel, i of a packed image.
template <class Visit>
void each_pixel(const int64_t size[3], Visit visit) {
    size_t i = 0;
    for (int64_t z = 0; z < size[2]; ++z)
        for (int64_t y = 0; y < size[1]; ++y)
            for (int64_t x = 0; x < size[0]; ++x) visit(i++, x, y, z);
}

/// Marks the pixels of a set with a neighbour that is not in it.
void mark_surface(const View &set, int axes, std::vector<uint8_t> &marks) {
    std::vector<uint8_t> members(marks.size());
    each_pixel(set.size, [&](size_t i, int64_t x, int64_t y, int64_t z) { members[i] = value_at(set, set.row(y, z), x) != 0; });
    const size_t step[3] = {1, static_cast<size_t>(set.size[0]), static_cast<size_t>(set.size[0] * set.size[1])};
    each_pixel(set.size, [&](size_t i, int64_t x, int64_t y, int64_t z) {
        const int64_t place[3] = {x, y, z};
        bool inner = true;
        for (int a = 0; a < axes && members[i] && inner; ++a)
            inner = place[a] > 0 && place[a] < set.size[a] - 1 && members[i - step[a]] && members[i + step[a]];
        marks[i] = members[i] && !inner;
    });
}

/// What is known of the distances from the pixels of one surface to the other.
struct Directed {
    int64_t within;
    double largest, percentile, sum;
};

/// As numpy.percentile has it by default.  Changes the order of the lengths.
double percentile_of(std::vector<double> &lengths, double percentile) {
    const double place = percentile / 100 * static_cast<double>(lengths.size() - 1), below = std::floor(place);
    const auto low = lengths.begin() + static_cast<std::ptrdiff_t>(below);
    std::nth_element(lengths.begin(), low, lengths.end());
    if (place == below) return *low;
    const double high = *std::min_element(low + 1, lengths.end());
    return *low == high ? high : *low + (high - *low) * (place - below);
}

Directed summarize(std::vector<double> &lengths, double percentile, double tolerance) {
    if (lengths.empty()) return {0, NAN, NAN, 0};
    Directed found = {0, 0, NAN, 0};
    for (const double length : lengths) {
        found.within += length <= tolerance;
        found.largest = std::max(found.largest, length);
        found.sum += length;
    }
    found.percentile = percentile_of(lengths, percentile);
    return found;
}

}  // namespace

}  // namespace apsis

using namespace apsis;

apsis_status apsis_surface_distance(apsis_context *context, const apsis_image *first, const apsis_image *second,
                                    double percentile, double tolerance, apsis_surface_distances *distances,
                                    const apsis_options *options) {
    return guard("surface_distance", context, [&] {
        check_numbers(percentile, tolerance, distances);
        View sets[2];
        const Argument images[] = {{"first", first, sets[0], Role::SET}, {"second", second, sets[1], Role::SET}};
        check_images(*context, images, true);
        check_options(options);
        const std::unique_ptr<uint8_t[]> copies[2] = {to_host(*context, sets[0]), to_host(*context, sets[1])};
        Packed<uint8_t> surfaces[2] = {{*first, APSIS_U8}, {*first, APSIS_U8}};
        Packed<double> map(*first, APSIS_F64);
        std::vector<double> lengths[2];
        for (int k = 0; k < 2; ++k) mark_surface(sets[k], first->ndim, surfaces[k].pixels);
        Halves halves(*context);
        for (int k = 0; k < 2; ++k, halves.next()) {
            const DistanceJob job = check_distance(*context, &surfaces[!k].image, &map.image, nullptr, options, true);
            if (job.set.pixels() > 0) run(*context, job);
            lengths[k].reserve(static_cast<size_t>(std::count(surfaces[k].pixels.begin(), surfaces[k].pixels.end(), 1)));
            for (size_t i = 0; i < map.pixels.size(); ++i)
                if (surfaces[k].pixels[i]) lengths[k].push_back(map.pixels[i]);
        }
        apsis_surface_distances &to = *distances;
        double sum = 0;
        for (int k = 0; k < 2; ++k) {
            const int64_t pixels = to.pixels[k] = static_cast<int64_t>(lengths[k].size());
            const Directed found = summarize(lengths[k], percentile, tolerance);
            to.within[k] = found.within, to.largest[k] = found.largest, to.percentile[k] = found.percentile;
            to.mean[k] = pixels ? found.sum / static_cast<double>(pixels) : NAN;
            sum += found.sum;
        }
        const double pixels = static_cast<double>(to.pixels[0] + to.pixels[1]);
        to.hausdorff = std::fmax(to.largest[0], to.largest[1]);
        to.hausdorff_percentile = std::fmax(to.percentile[0], to.percentile[1]);
        to.average = pixels > 0 ? sum / pixels : NAN;
        to.dice = pixels > 0 ? static_cast<double>(to.within[0] + to.within[1]) / pixels : NAN;
    });
}
