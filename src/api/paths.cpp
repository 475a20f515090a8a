// apsis_cost_distance, apsis_paths and apsis_longest_paths: guard, check, and the work of the host (find_costs).
#include <apsis_measures.h>

#include <algorithm>
#include <cfloat>
#include <cinttypes>
#include <cmath>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/stages.h"
#include "api/options.h"
#include "runtime/cost_job.h"
#include "runtime/parallel.h"

namespace apsis {

namespace {

/// The options of a call that takes some flags.
apsis_options take_options(const char *function, uint32_t taken, const apsis_options *given) {
    const apsis_options options = read_options(given);
    refuse_border(function, options);
    refuse_periodic(function, options);
    if (!(taken & APSIS_LABELS)) refuse_labels(function, options);
    if (options.flags & ~taken)
        throw Error(APSIS_ERROR_ARGUMENT, "options: flags is 0x%" PRIx32 ", but %s takes APSIS_COMPLEMENT and APSIS_SLICES%s",
                    options.flags, function, taken & APSIS_LABELS ? ", and APSIS_LABELS" : "");
    check_taken(function, {APSIS_AUTO}, options);
    refuse_delta(function, options);
    return options;
}

/// An image that may be left out, beside one that is there.
View check_optional(const char *function, const char *name, const apsis_image *image, Role role, const apsis_image *seeds) {
    if (!image) return {};
    const View view = check_image(name, image, role);
    check_same_size("seeds", seeds, name, image);
    check_host(function, name, image);
    return view;
}

/// Fills in where paths go, and what they cost.
void fill_in(const char *function, const apsis_image *set, const apsis_image *costs, const apsis_image *seeds,
             const apsis_options &options, CostJob &job) {
    job.seeds = check_image("seeds", seeds, Role::SET);
    check_host(function, "seeds", seeds);
    job.set = check_optional(function, "set", set, Role::SET, seeds);
    job.costs = check_optional(function, "costs", costs, Role::COSTS, seeds);
    std::copy_n(job.seeds.size, 3, job.size);
    job.axes = axes_of(seeds, options);
    job.complement = options.flags & APSIS_COMPLEMENT;
    if (job.complement && !set)
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_COMPLEMENT is set, but set is NULL, and has no complement");
    apsis_options unlimited = options;
    unlimited.max_distance = 0;
    job.steps = make_steps(unlimited, job.size, job.axes);
    if (options.max_distance > 0) job.max_distance = options.max_distance;
}

/// Throws unless every cost of a path fits the type of an output.
void check_costs_fit(const apsis_image &distance, const apsis_options &options, const CostJob &job) {
    const bool is_real = distance.type == APSIS_F32 || distance.type == APSIS_F64;
    if (!is_real && job.costs.type == APSIS_F32)
        throw Error(APSIS_ERROR_ARGUMENT, "distance: type is an integer, but costs are APSIS_F32");
    if (job.costs.type == APSIS_F32) return;  // a path may cost more than a float holds, if its steps do
    Steps steps = job.steps;
    steps.most *= 2 * (job.costs.type == APSIS_U8 ? UINT8_MAX : UINT16_MAX);
    steps.divisor *= 2;
    const int64_t pixels = job.size[0] * job.size[1] * (job.axes == 3 ? job.size[2] : 1);
    check_lengths_fit("distance", distance.type, options, steps, pixels);
}

std::vector<int64_t> check_starts(const int64_t *starts, int64_t count, const CostJob &job) {
    if (count < 0) throw Error(APSIS_ERROR_ARGUMENT, "start_count is %" PRId64 ", but cannot be negative", count);
    if (count > 0 && !starts) throw Error(APSIS_ERROR_ARGUMENT, "starts is NULL, but start_count is %" PRId64, count);
    const int64_t pixels = job.size[0] * job.size[1] * job.size[2];
    for (int64_t i = 0; i < count; ++i)
        if (starts[i] < 0 || starts[i] >= pixels)
            throw Error(APSIS_ERROR_ARGUMENT, "starts[%" PRId64 "] is %" PRId64 ", but the image has %" PRId64 " pixels", i,
                        starts[i], pixels);
    return {starts, starts + count};
}

/// What was found of paths.
struct Found {
    std::vector<apsis_path> paths;
    std::vector<int64_t> pixels;
};

/// Adds the distances between the ends.  The squares of the smallest and the largest spacings would not fit.
void add_straight(const int64_t size[3], const double spacing[3], std::vector<apsis_path> &paths) {
    const double unit = std::max({spacing[0], spacing[1], spacing[2]});
    for (apsis_path &path : paths) {
        if (path.count == 0) continue;
        const auto along = [&](int64_t pixel, int axis) {
            return axis == 0 ? pixel % size[0] : axis == 1 ? pixel / size[0] % size[1] : pixel / size[0] / size[1];
        };
        double square = 0;
        for (int a = 0; a < 3; ++a) {
            const double offset = static_cast<double>(along(path.start, a) - along(path.seed, a));
            const double length = unit > 0 ? offset * (spacing[a] / unit) : offset;
            square += length * length;
        }
        path.straight = std::sqrt(square) * (unit > 0 ? unit : 1);
        path.tortuosity = path.straight > 0 ? std::max(path.length / path.straight, 1.0) : 1;  // diagonal steps are rounded
    }
}

void run(apsis_context &context, const char *name, const CostJob &job) {
    context.log("%s: %lld x %lld x %lld pixels on the host", name, static_cast<long long>(job.size[0]),
                static_cast<long long>(job.size[1]), static_cast<long long>(job.size[2]));
    Arena arena(Arena::threads_for(context.threads));
    find_costs(job, arena, context.progress());
}

void find_paths(apsis_context &context, const char *name, const apsis_options &options, CostJob job, Found &found) {
    job.paths = &found.paths;
    job.pixels = &found.pixels;
    if (!job.starts->empty()) run(context, name, job);
    add_straight(job.size, options.spacing, found.paths);
}

/// Writes the first `capacity` items to the caller's array, if there is one, and how many there are.
template <class T>
void tell(const std::vector<T> &items, T *to, int64_t capacity, int64_t *count) {
    const auto all = static_cast<int64_t>(items.size());
    if (to) std::copy_n(items.data(), std::min(all, capacity), to);
    if (count) *count = all;
}

/// The ends of the longest path in each component, in their order.
std::vector<apsis_extent> find_extents(apsis_context &context, const apsis_image *set, const apsis_options &options) {
    int64_t count = 0;
    apsis_options neighbours = APSIS_OPTIONS_INIT;
    neighbours.flags = options.flags;
    EccentricityJob job = check_eccentricity(context, set, nullptr, nullptr, &options, true);
    neighbours.connectivity = job.connectivity;
    ComponentsJob components = check_components(context, set, nullptr, &neighbours, true);
    if (job.set.pixels() == 0) return {};
    components.count = &count;
    Stages stages(context);
    run(context, components);
    std::vector<apsis_extent> extents(static_cast<size_t>(count));
    stages.next();
    job.extents = extents.data();
    job.capacity = count;
    job.has_farthest = true;
    if (count > 0) run(context, job);
    return extents;
}

}  // namespace

}  // namespace apsis

using namespace apsis;

apsis_status apsis_cost_distance(apsis_context *context, const apsis_image *set, const apsis_image *costs,
                                 const apsis_image *seeds, const apsis_image *distance, const apsis_image *nearest,
                                 const apsis_options *given) {
    constexpr const char *NAME = "apsis_cost_distance";
    return guard("cost_distance", context, [&] {
        CostJob job;
        const apsis_options options = take_options(NAME, APSIS_COMPLEMENT | APSIS_SLICES | APSIS_LABELS, given);
        if (!costs) throw Error(APSIS_ERROR_ARGUMENT, "costs is NULL, but an image is needed");
        fill_in(NAME, set, costs, seeds, options, job);
        job.distance = check_optional(NAME, "distance", distance, Role::DISTANCE, seeds);
        job.nearest = check_optional(NAME, "nearest", nearest, Role::INDEX, seeds);
        const Argument images[] = {{"set", set, job.set, Role::SET},
                                   {"costs", costs, job.costs, Role::COSTS},
                                   {"seeds", seeds, job.seeds, Role::SET},
                                   {"distance", distance, job.distance, Role::DISTANCE},
                                   {"nearest", nearest, job.nearest, Role::INDEX}};
        check_all_apart(images);
        if (distance) check_costs_fit(*distance, options, job);
        check_indices_fit("nearest", nearest, job.seeds.pixels());
        if (options.flags & APSIS_LABELS && nearest) {
            check_labels_fit("nearest", nearest, "seeds", job.seeds.type);
            job.values = job.seeds;
        }
        if (job.seeds.pixels() > 0 && (distance || nearest)) run(*context, "cost distance", job);
    });
}

apsis_status apsis_paths(apsis_context *context, const apsis_image *set, const apsis_image *costs, const apsis_image *seeds,
                         const int64_t *starts, int64_t start_count, apsis_path *paths, int64_t *pixels, int64_t capacity,
                         int64_t *pixel_count, const apsis_options *given) {
    constexpr const char *NAME = "apsis_paths";
    return guard("paths", context, [&] {
        CostJob job;
        const apsis_options options = take_options(NAME, APSIS_COMPLEMENT | APSIS_SLICES, given);
        fill_in(NAME, set, costs, seeds, options, job);
        const std::vector<int64_t> from = check_starts(starts, start_count, job);
        check_capacity("pixels", pixels, capacity);
        job.starts = &from;
        Found found;
        find_paths(*context, "paths", options, job, found);
        tell(found.paths, paths, start_count, nullptr);
        tell(found.pixels, pixels, capacity, pixel_count);
    });
}

apsis_status apsis_longest_paths(apsis_context *context, const apsis_image *set, apsis_path *paths, int64_t path_capacity,
                                 int64_t *path_count, int64_t *pixels, int64_t pixel_capacity, int64_t *pixel_count,
                                 const apsis_options *given) {
    constexpr const char *NAME = "apsis_longest_paths";
    return guard("longest_paths", context, [&] {
        const apsis_options options = take_options(NAME, APSIS_COMPLEMENT | APSIS_SLICES | APSIS_LABELS, given);
        if (options.max_distance > 0)
            throw Error(APSIS_ERROR_ARGUMENT, "options: max_distance is %g, but the longest paths have no limit",
                        options.max_distance);
        if (options.budget)
            throw Error(APSIS_ERROR_ARGUMENT, "options: budget is %" PRId64 ", but only proved ends have a longest path",
                        options.budget);
        CostJob job;
        job.set = check_image("set", set, Role::SET);
        check_host(NAME, "set", set);
        check_capacity("paths", paths, path_capacity);
        check_capacity("pixels", pixels, pixel_capacity);
        std::copy_n(job.set.size, 3, job.size);
        job.axes = axes_of(set, options);
        job.complement = options.flags & APSIS_COMPLEMENT;
        job.by_value = (options.flags & APSIS_LABELS) && set->type != APSIS_BIT;
        job.steps = make_steps(options, job.size, job.axes);
        std::vector<int64_t> from, to;
        Stages stages(*context);
        for (const apsis_extent &extent : find_extents(*context, set, options)) {
            from.push_back(extent.ends[0]);
            to.push_back(extent.ends[1]);
        }
        std::sort(to.begin(), to.end());
        job.starts = &from;
        job.sources = &to;
        stages.next();
        Found found;
        find_paths(*context, "longest paths", options, job, found);
        tell(found.paths, paths, path_capacity, path_count);
        tell(found.pixels, pixels, pixel_capacity, pixel_count);
    });
}
