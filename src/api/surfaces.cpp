// apsis_surface_distance: finds the box that holds a value in both images, marks both surfaces in it (runtime/surfaces.h),
// makes the distance map of each, and reads it at the points of the other.  All that is asked for lies in the box, so that many
// values cost little more than one.  Percentiles are found by selection, or by sorting where points weigh, and a sum is in the
// order of points, so that it is the same on every device, with any number of threads.  Two distance maps are most of the cost.
#include <apsis_measures.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "api/arguments.h"
#include "api/enums.h"
#include "api/guard.h"
#include "api/options.h"
#include "api/stages.h"
#include "runtime/staging.h"
#include "runtime/surfaces.h"

namespace apsis {

namespace {

constexpr double LEAST_SPACING = 1e-60, MOST_SPACING = 1e60;  // of corners, so that squares of areas are doubles

/// A call, checked.
struct Question {
    View sets[2];
    int axes = 2;
    bool by_value = false, is_dense = false;
    apsis_surface surface = APSIS_SURFACE_PIXELS;
    double percentile = 0, tolerance = 0;
    apsis_options options;  // of the distance maps
    double weight[256];
};

/// The job of a distance map over the points of a box of pixels, its images left out.
DistanceJob distances_in(const Question &question, const int64_t size[3]) {
    DistanceJob job;
    for (int a = 0; a < 3; ++a) job.set.size[a] = a < question.axes ? points_along(question.surface, size[a]) : 1;
    apsis_image like = {};
    like.ndim = question.axes;
    fill_in(&like, question.options, job);
    return job;
}

void take_options(const apsis_options *given, Question &question) {
    apsis_options options = read_options(given);
    question.by_value = options.flags & APSIS_LABELS, question.is_dense = options.flags & APSIS_DENSE;
    if (options.flags & ~uint32_t(APSIS_LABELS | APSIS_DENSE))
        throw Error(APSIS_ERROR_ARGUMENT,
                    "options: flags is 0x%x, but apsis_surface_distance takes APSIS_LABELS and APSIS_DENSE alone",
                    unsigned(options.flags));
    if (question.is_dense && !question.by_value)
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_DENSE is set, but a table of values needs APSIS_LABELS");
    if (options.max_distance > 0)
        throw Error(APSIS_ERROR_ARGUMENT, "options: max_distance is %g, but is not for apsis_surface_distance",
                    options.max_distance);
    check_taken("apsis_surface_distance", {APSIS_AUTO}, options);
    refuse_delta("apsis_surface_distance", options);
    options.flags = 0;
    question.options = options;
}

/// Finds the weights of points.
void weigh(Question &question) {
    double spacing[3] = {1, 1, 1};
    for (int a = 0; a < question.axes && question.options.spacing[0] > 0; ++a) {
        spacing[a] = question.options.spacing[a];
        if (question.surface == APSIS_SURFACE_CORNERS && !(spacing[a] >= LEAST_SPACING && spacing[a] <= MOST_SPACING))
            throw Error(APSIS_ERROR_UNSUPPORTED, "options: spacing[%d] is %g, but APSIS_SURFACE_CORNERS takes %g to %g", a,
                        spacing[a], LEAST_SPACING, MOST_SPACING);
    }
    find_weights(question.surface, question.axes, spacing, question.weight);
}

Question check_call(const apsis_context &context, const apsis_image *first, const apsis_image *second,
                    const apsis_surface &surface, double percentile, double tolerance, const apsis_options *given) {
    if (raw(surface) < APSIS_SURFACE_PIXELS || raw(surface) > APSIS_SURFACE_CORNERS)
        throw Error(APSIS_ERROR_ARGUMENT, "surface is %d, which is no apsis_surface", raw(surface));
    if (!(percentile >= 0 && percentile <= 100))
        throw Error(APSIS_ERROR_ARGUMENT, "percentile is %g, but must be from 0 to 100", percentile);
    if (!(tolerance >= 0)) throw Error(APSIS_ERROR_ARGUMENT, "tolerance is %g, but must be 0 or more", tolerance);
    Question question;
    question.surface = surface, question.percentile = percentile, question.tolerance = tolerance;
    const Argument images[] = {{"first", first, question.sets[0], Role::SET}, {"second", second, question.sets[1], Role::SET}};
    check_images(context, images, true);
    question.axes = first->ndim;
    take_options(given, question);
    const int64_t *const size = question.sets[0].size;
    check_sums("first: size", size);
    for (int a = 0; a < question.axes; ++a)
        if (points_along(surface, size[a]) > LONGEST_AXIS)
            throw Error(APSIS_ERROR_UNSUPPORTED,
                        "first: size[%d] is 2^30, but has more corners than APSIS_SURFACE_CORNERS takes", a);
    if (question.sets[0].pixels() > 0) distances_in(question, size);  // throws if options are not for images of this size
    weigh(question);
    return question;
}

/* ---- Values, and where they are ---- */

/// Makes of two lists of values, each in ascending order, one of the boxes that hold a value in both images.
std::vector<apsis_part> joined(const std::vector<apsis_part> (&found)[2]) {
    std::vector<apsis_part> all(found[0].size() + found[1].size()), boxes;
    std::merge(found[0].begin(), found[0].end(), found[1].begin(), found[1].end(), all.begin(),
               [](const apsis_part &a, const apsis_part &b) { return a.value < b.value; });
    for (const apsis_part &each : all) {
        if (boxes.empty() || boxes.back().value != each.value) {
            boxes.push_back(each);
            continue;
        }
        apsis_part &box = boxes.back();
        for (int a = 0; a < 3; ++a)
            box.lower[a] = std::min(box.lower[a], each.lower[a]), box.upper[a] = std::max(box.upper[a], each.upper[a]);
    }
    return boxes;
}

/// A value that is nowhere.
apsis_part nowhere(int64_t value) { return {-1, 0, {0, 0, 0}, {-1, -1, -1}, {0, 0, 0}, value}; }

/// Finds the values to tell of, and their boxes.  A set is the value 1, wherever it is.
std::vector<apsis_part> find_boxes(apsis_context &context, const Question &question, bool is_table, int64_t capacity) {
    std::vector<apsis_part> found[2];
    Stages stages(context);
    for (int k = 0; k < 2; ++k, stages.next()) {
        StatisticsJob job;
        job.set = question.sets[k];
        job.found = &found[k];
        if (job.set.pixels() > 0) run(context, job);
        std::erase_if(found[k], [](const apsis_part &each) { return each.value == 0; });
        if (question.is_dense) check_fit(k ? "second" : "first", found[k], job.set.size, is_table, capacity);
        for (apsis_part &each : found[k])
            if (!question.by_value) each.value = 1;
    }
    std::vector<apsis_part> boxes = joined(found);
    if (!question.by_value && boxes.empty()) boxes.push_back(nowhere(1));
    return boxes;
}

/* ---- Distances ---- */

/// A point of a surface: how far the other one is, and how much it weighs.
struct Point {
    double length, weight;
};

/// The points of both surfaces of a value.
struct Points {
    std::vector<Point> of[2];
};

/// Calls visit(i, mark) for each mark other than 0.  Most are 0, and eight of them are passed over at once.
template <class Visit>
void each_marked(const uint8_t *marks, int64_t count, Visit visit) {
    for (int64_t i = 0; i < count;) {
        uint64_t eight = 1;
        if (count - i >= 8) std::memcpy(&eight, marks + i, sizeof eight);
        for (const int64_t end = eight ? std::min(i + 8, count) : i; i < end; ++i)
            if (marks[i]) visit(i, marks[i]);
        if (!eight) i += 8;
    }
}

Points points_of(apsis_context &context, const Question &question, const apsis_part &box, Arena &arena, Stages &stages) {
    SurfaceJob surface;
    surface.by_value = question.by_value, surface.value = box.value;
    surface.surface = question.surface, surface.axes = question.axes;
    for (int a = 0; a < 3; ++a) surface.lower[a] = box.lower[a], surface.size[a] = box.upper[a] - box.lower[a] + 1;
    Points points;
    if (surface.size[0] == 0) return points;
    DistanceJob job = distances_in(question, surface.size);
    const int64_t all = job.set.pixels();
    std::unique_ptr<uint8_t[]> marks[2];
    int64_t count[2];
    for (int k = 0; k < 2; ++k) {
        marks[k] = std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(all));
        surface.image = question.sets[k];
        mark_surface(surface, marks[k].get(), arena);
        count[k] = all - std::count(marks[k].get(), marks[k].get() + all, 0);
        points.of[k].reserve(static_cast<size_t>(count[k]));
    }
    job.distance = job.set;
    job.distance.type = is_narrow(job.measure) ? APSIS_I32 : APSIS_I64;  // costs; their roots are for the points alone
    const auto costs = std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(packed_bytes(job.distance)));
    job.distance = packed_like(job.distance, costs.get(), APSIS_HOST);
    for (int k = 0; k < 2; ++k, stages.next()) {
        job.set = packed_like(job.set, marks[!k].get(), APSIS_HOST);
        if (count[0] > 0 && count[1] > 0)
            run(context, job);
        else if (const Progress told = context.progress())
            told(1);
        each_marked(marks[k].get(), all, [&](int64_t i, uint8_t mark) {
            const double length =
                count[!k] > 0 ? length_of<double>(job.measure, value_at(job.distance, job.distance.data, i)) : INFINITY;
            points.of[k].push_back({length, question.weight[mark]});
        });
    }
    return points;
}

/// As numpy.percentile has it by default.  Changes the order of the points.
double percentile_of_equal(std::vector<Point> &points, double percentile) {
    const auto is_shorter = [](const Point &a, const Point &b) { return a.length < b.length; };
    const double place = percentile / 100 * static_cast<double>(points.size() - 1), below = std::floor(place);
    const auto at = points.begin() + static_cast<std::ptrdiff_t>(below);
    std::nth_element(points.begin(), at, points.end(), is_shorter);
    const double low = at->length;
    if (place == below) return low;
    const double high = std::min_element(at + 1, points.end(), is_shorter)->length;
    return low == high ? high : low + (high - low) * (place - below);
}

/// The least length up to which such a part of the weight is.  Changes the order of the points.
double percentile_of_weighted(std::vector<Point> &points, double percentile) {
    std::sort(points.begin(), points.end(), [](const Point &a, const Point &b) {
        return a.length < b.length || (a.length == b.length && a.weight < b.weight);
    });
    double all = 0, sum = 0;
    for (const Point &each : points) all += each.weight;
    for (const Point &each : points)
        if ((sum += each.weight) / all >= percentile / 100) return each.length;
    return points.back().length;
}

apsis_surface_distances summary_of(const Question &question, int64_t value, Points points) {
    apsis_surface_distances to = {};
    to.value = value;
    double sums = 0;
    for (int k = 0; k < 2; ++k) {
        std::vector<Point> &own = points.of[k];
        double sum = 0, largest = 0;
        for (const Point &each : own) {
            to.area[k] += each.weight;
            if (each.length <= question.tolerance) to.within[k] += each.weight;
            largest = std::max(largest, each.length);
            sum += each.length * each.weight;
        }
        to.points[k] = static_cast<int64_t>(own.size());
        to.largest[k] = own.empty() ? NAN : largest;
        to.mean[k] = own.empty() ? NAN : sum / to.area[k];
        to.percentile[k] = own.empty()                                 ? NAN
                           : question.surface == APSIS_SURFACE_CORNERS ? percentile_of_weighted(own, question.percentile)
                                                                       : percentile_of_equal(own, question.percentile);
        sums += sum;
    }
    const double area = to.area[0] + to.area[1];
    to.hausdorff = std::fmax(to.largest[0], to.largest[1]);
    to.hausdorff_percentile = std::fmax(to.percentile[0], to.percentile[1]);
    to.average = area > 0 ? sums / area : NAN;
    to.dice = area > 0 ? (to.within[0] + to.within[1]) / area : NAN;
    return to;
}

void run(apsis_context &context, Question &question, apsis_surface_distances *distances, int64_t capacity, int64_t *count) {
    context.refuse_capture("surfaces are found on the host");
    std::unique_ptr<uint8_t[]> copies[2], bytes[2];
    for (int k = 0; k < 2; ++k) {
        const apsis_type type = question.sets[k].type;
        const bool may_be_many = is_wide(type) && !question.by_value;  // a set may have as many values as pixels
        if (may_be_many || type == APSIS_BIT) bytes[k] = bring_to_host(context, question.sets[k], APSIS_U8);
    }
    Stages halves(context);
    const std::vector<apsis_part> boxes = find_boxes(context, question, distances, capacity);
    const auto values = static_cast<int64_t>(boxes.size());
    if (count) *count = !question.is_dense ? values : values ? boxes.back().value + 1 : 0;
    if (!distances) return;
    for (int k = 0; k < 2; ++k) copies[k] = bring_to_host(context, question.sets[k], question.sets[k].type);
    for (int64_t i = 0; question.is_dense && i < capacity; ++i) distances[i] = summary_of(question, i, {});
    const int64_t told = question.is_dense ? values : std::min(values, capacity);
    context.log("surface distance: of %lld values", static_cast<long long>(told));
    Arena arena(Arena::threads_for(context.threads));
    halves.next();
    Stages stages(context, 2 * told);
    for (int64_t i = 0; i < told; ++i) {
        const apsis_part &box = boxes[static_cast<size_t>(i)];
        distances[question.is_dense ? box.value : i] =
            summary_of(question, box.value, points_of(context, question, box, arena, stages));
    }
}

}  // namespace

}  // namespace apsis

using namespace apsis;

apsis_status apsis_surface_distance(apsis_context *context, const apsis_image *first, const apsis_image *second,
                                    apsis_surface surface, double percentile, double tolerance,
                                    apsis_surface_distances *distances, int64_t capacity, int64_t *count,
                                    const apsis_options *options) {
    return guard("surface_distance", context, [&] {
        Question question = check_call(*context, first, second, surface, percentile, tolerance, options);
        check_capacity("distances", distances, capacity);
        run(*context, question, distances, capacity, count);
    });
}
