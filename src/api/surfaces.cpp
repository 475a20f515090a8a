// apsis_surface_distance: finds the box that holds a value in both images, marks both surfaces in it (runtime/surfaces.h),
// makes the distance map of each unless the other is near it, and counts the points of the other by their costs.  All that is
// asked for lies in the box, so that many values cost little more than one.  All that is told follows from the counts, in their
// order, so that it is the same on every device, with any number of threads.  Distance maps, if any, are most of the cost.
#include <apsis_measures.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "api/arguments.h"
#include "api/enums.h"
#include "api/guard.h"
#include "api/host_runs.h"
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

/* ---- What is told ---- */

/// Points of a surface that are as far from the other one and have one mark: what they weigh together, and how many they are.
struct Point {
    double length, weight;
    int64_t count;
};

/// The points of both surfaces of a value, in ascending order of their lengths.
struct Points {
    std::vector<Point> of[2];
};

/// As numpy.percentile has it by default.
double percentile_of_equal(const std::vector<Point> &points, double percentile) {
    int64_t all = 0;
    for (const Point &each : points) all += each.count;
    const double place = percentile / 100 * static_cast<double>(all - 1), below = std::floor(place);
    const auto length_of_point = [&](int64_t i) {
        size_t at = 0;
        for (int64_t end = points[0].count; end <= i && at + 1 < points.size(); end += points[at].count) ++at;
        return points[at].length;
    };
    const double low = length_of_point(static_cast<int64_t>(below));
    if (place == below) return low;
    const double high = length_of_point(static_cast<int64_t>(below) + 1);
    return low == high ? high : low + (high - low) * (place - below);
}

// A length of n steps and a tolerance of n steps are rounded each in its own way, and so are sums of weights: 3.82 is twice
// 1.91, but 382 hundredths come out above it.  What differs by no more than rounding counts as equal.
constexpr double LENGTH_ROUNDING = 0x1p-50, WEIGHT_ROUNDING = 0x1p-40;

/// The least length up to which such a part of the weight is.
double percentile_of_weighted(const std::vector<Point> &points, double percentile) {
    double all = 0, sum = 0;
    for (const Point &each : points) all += each.weight;
    for (const Point &each : points)
        if ((sum += each.weight) / all >= percentile / 100 * (1 - WEIGHT_ROUNDING)) return each.length;
    return points.back().length;
}

apsis_surface_distances summary_of(const Question &question, int64_t value, const Points &points) {
    apsis_surface_distances to = {};
    to.value = value;
    double sums = 0;
    const double tolerance = question.tolerance * (1 + LENGTH_ROUNDING);
    for (int k = 0; k < 2; ++k) {
        const std::vector<Point> &own = points.of[k];
        double sum = 0;
        for (const Point &each : own) {
            to.points[k] += each.count;
            to.area[k] += each.weight;
            if (each.length <= tolerance) to.within[k] += each.weight;
            sum += each.length * each.weight;
        }
        to.largest[k] = own.empty() ? NAN : own.back().length;
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

/* ---- Distances ---- */

/// The steps for a value, in the memory that they need.
struct ValueJobs {
    SurfaceJob surface[2];
    DistanceJob map;
    void *scratch;
    bool is_served;  // whether the back end has kernels for them

    ValueJobs(const apsis_context &context, const Question &question, const View (&sets)[2], const apsis_part &box,
              Carver &carver) {
        for (int k = 0; k < 2; ++k) {
            SurfaceJob &job = surface[k];
            job.image = sets[k];
            job.by_value = question.by_value, job.value = box.value;
            job.surface = question.surface, job.axes = question.axes;
            for (int a = 0; a < 3; ++a) job.lower[a] = box.lower[a], job.size[a] = box.upper[a] - box.lower[a] + 1;
        }
        map = distances_in(question, surface[0].size);
        map.distance = map.set;
        map.distance.type = is_narrow(map.measure) ? APSIS_I32 : APSIS_I64;  // costs; their roots are for the points alone
        const auto place = [&](const View &like) {
            return packed_like(like, carver.take<uint8_t>(packed_bytes(like)), context.own_memory());
        };
        for (SurfaceJob &job : surface) job.marks = place(map.set), job.measure = map.measure;
        map.set = surface[0].marks;
        map.distance = place(map.distance);
        const size_t own = context.backend->surface_scratch(surface[0]);
        is_served = own > 0;
        scratch = carver.take<uint8_t>(static_cast<int64_t>(std::max(own, context.backend->distance_scratch(map))));
    }
};

Points points_of(apsis_context &context, const Question &question, ValueJobs &jobs, Stages &stages) {
    Points points;
    std::vector<AlikePoints> alike;
    bool has_points[2];
    for (int k = 0; k < 2; ++k) has_points[k] = context.backend->mark_surface(jobs.surface[k], jobs.scratch);
    for (int k = 0; k < 2; ++k, stages.next()) {
        SurfaceJob &job = jobs.surface[k];
        job.found = &alike;
        if (has_points[0] && has_points[1]) job.others = jobs.surface[!k].marks;
        alike.clear();
        const Progress told = context.progress();
        if (has_points[k] && !context.backend->count_points(job, jobs.scratch)) {
            jobs.map.set = job.others;
            context.backend->distance(jobs.map, jobs.scratch, told);
            job.costs = jobs.map.distance;
            context.backend->count_points(job, jobs.scratch);
        } else if (told) {
            told(1);
        }
        for (const AlikePoints &each : alike)
            points.of[k].push_back({has_points[!k] ? length_of<double>(jobs.map.measure, each.cost) : INFINITY,
                                    static_cast<double>(each.count) * question.weight[each.mark], each.count});
    }
    return points;
}

/// The values to tell of, and where.
struct Answer {
    const Question &question;
    const std::vector<apsis_part> &boxes;
    apsis_surface_distances *distances;
    int64_t told;
};

/// Finds the answer on a context whose memory can hold the images.  Returns false if its back end has no kernels for a value,
/// or not enough memory.
bool find_answer(apsis_context &context, const Answer &answer) {
    const Question &question = answer.question;
    View sets[2];
    const auto stage = [&](Staging &staging) {
        for (int k = 0; k < 2; ++k) sets[k] = staging.input(question.sets[k]);
    };
    Carver count;
    Staging counted(context, count);
    stage(counted);
    const auto has_pixels = [](const apsis_part &box) { return box.upper[0] >= box.lower[0]; };
    size_t bytes = 0;
    for (int64_t i = 0; i < answer.told; ++i) {
        if (!has_pixels(answer.boxes[static_cast<size_t>(i)])) continue;
        Carver of_value;
        const ValueJobs jobs(context, question, sets, answer.boxes[static_cast<size_t>(i)], of_value);
        if (!jobs.is_served) return false;
        bytes = std::max(bytes, of_value.used());
    }
    count.take<uint8_t>(static_cast<int64_t>(bytes));
    size_t kept = 0;
    void *const memory = context.find_scratch(count.used(), kept);
    if (!memory) return false;
    Carver carver(memory);
    Staging staging(context, carver);
    stage(staging);
    void *const scratch = carver.take<uint8_t>(static_cast<int64_t>(bytes));
    staging.run([&] {
        Stages stages(context, 2 * answer.told);
        for (int64_t i = 0; i < answer.told; ++i) {
            const apsis_part &box = answer.boxes[static_cast<size_t>(i)];
            Points points;
            if (has_pixels(box)) {
                Carver of_value(scratch);
                ValueJobs jobs(context, question, sets, box, of_value);
                points = points_of(context, question, jobs, stages);
            }
            answer.distances[question.is_dense ? box.value : i] = summary_of(question, box.value, points);
        }
    });
    return true;
}

/// The same on the CPU, with copies of images in device memory.
void find_on_host(apsis_context &context, Question &question, const Answer &answer) {
    std::unique_ptr<uint8_t[]> copies[2];
    for (int k = 0; k < 2; ++k) copies[k] = bring_to_host(context, question.sets[k], question.sets[k].type);
    if (!find_answer(*host_context_like(context), answer))
        throw Error(APSIS_ERROR_MEMORY, "no memory for the surfaces of the largest value");
}

void run(apsis_context &context, Question &question, apsis_surface_distances *distances, int64_t capacity, int64_t *count) {
    context.refuse_capture("surface distances are for the host");
    std::unique_ptr<uint8_t[]> bytes[2];
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
    for (int64_t i = 0; question.is_dense && i < capacity; ++i) distances[i] = summary_of(question, i, {});
    const Answer answer = {question, boxes, distances, question.is_dense ? values : std::min(values, capacity)};
    context.log("surface distance: of %lld values", static_cast<long long>(answer.told));
    halves.next();
    if (!find_answer(context, answer)) find_on_host(context, question, answer);
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
