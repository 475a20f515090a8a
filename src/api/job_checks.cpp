// Makes a checked job from the images and options of a call: of distances, cells and components.
#include <algorithm>
#include <string>

#include "api/arguments.h"
#include "api/map_checks.h"
#include "api/options.h"
#include "core/keys.h"

namespace apsis {

namespace {

/// Throws unless a distance and a site's index fit one 64-bit key of the chessboard transform.
void check_keys(const DistanceJob &job) {
    const int64_t image = job.axes == 3 ? job.set.pixels() : job.set.size[0] * job.set.size[1];
    if (bits_below(image) + bits_below(job.measure.largest + 1) > 62)
        throw Error(APSIS_ERROR_UNSUPPORTED, "set: size is %lld x %lld x %lld, too large for the chessboard metric",
                    static_cast<long long>(job.set.size[0]), static_cast<long long>(job.set.size[1]),
                    static_cast<long long>(job.set.size[2]));
}

/// The published methods keep a site's coordinates in 16 bits each, and squares of distances in 32.
constexpr int64_t LONGEST_PUBLISHED = 32768;

bool is_sweep(apsis_method method) {
    return method == APSIS_SWEEP || method == APSIS_SWEEP_BLOCKS || method == APSIS_SWEEP_ROWS;
}

/// Throws unless a published method of distance and Voronoi maps serves the job.
void check_method(const DistanceJob &job) {
    const bool is_scan = job.method == APSIS_SEQUENTIAL_SCAN;
    const auto refuse = [&](const char *what) {
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: method is %s, which %s", name_of(job.method), what);
    };
    if (job.axes != 2) refuse("is for images in 2-D, and their slices");
    if (job.is_signed) refuse("gives distances without sign");
    if (job.measure.weight[0] != job.measure.weight[1]) refuse("needs equal spacing");
    if (job.measure.metric != APSIS_EUCLIDEAN && !is_scan) refuse("is for the Euclidean metric");
    if (job.set.size[0] > LONGEST_PUBLISHED || job.set.size[1] > LONGEST_PUBLISHED)
        throw Error(APSIS_ERROR_UNSUPPORTED, "set: size is %lld x %lld, but for a published method at most %lld x %lld",
                    static_cast<long long>(job.set.size[0]), static_cast<long long>(job.set.size[1]),
                    static_cast<long long>(LONGEST_PUBLISHED), static_cast<long long>(LONGEST_PUBLISHED));
}

void check_sequential(const apsis_context &context, const apsis_options &options, const apsis_image *nearest) {
    if (context.backend->device() != APSIS_CPU)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: method is APSIS_SEQUENTIAL_SCAN, which is on the CPU alone");
    if (nearest && options.metric != APSIS_EUCLIDEAN)
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "nearest is not NULL, but APSIS_SEQUENTIAL_SCAN knows it only where the metric "
                    "is Euclidean");
}

/// The most components that a job can have.  The first pixels of two components are never neighbours.  With connectivity 1
/// they may fill every other pixel, otherwise every other one along each axis in which neighbours may differ together.  In a
/// label image every pixel may be one.
int64_t most_components(const ComponentsJob &job) {
    const int64_t *size = job.set.size, pixels = job.set.pixels();
    if (pixels == 0) return 0;
    int64_t most = job.by_value ? pixels : most_components(job.set, job.axes);
    if (job.connectivity > 1 && !job.by_value) most = (size[0] + 1) / 2 * ((size[1] + 1) / 2) * size[2];
    if (job.connectivity > 2 && !job.by_value) most = (size[0] + 1) / 2 * ((size[1] + 1) / 2) * ((size[2] + 1) / 2);
    if (job.min_area > 1) most = std::min(most, pixels / job.min_area);
    const int64_t images = job.axes == 2 ? size[2] : 1;
    return job.largest < most / images ? job.largest * images : most;
}

/// Throws where neighbours whose values differ by delta cannot be found.
void check_delta(const apsis_options &options, const ComponentsJob &job) {
    if (options.delta > 0 && !(options.flags & APSIS_LABELS))
        throw Error(APSIS_ERROR_ARGUMENT, "options: delta is %g, but without APSIS_LABELS the set has no values that differ",
                    options.delta);
    if (options.delta > 0 && job.set.type == APSIS_I64)
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "options: delta is %g, but set is APSIS_I64, whose values must be equal in this version", options.delta);
}

}  // namespace

void check_periodic(const apsis_options &options) {
    if (options.method != APSIS_AUTO)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: method is %s, but periodic axes are for APSIS_AUTO",
                    name_of(options.method));
}

void fill_in(const apsis_options &options, DistanceJob &job) {
    int64_t size[3] = {job.set.size[0], job.set.size[1], job.set.size[2]};
    size[job.axes - 1] = job.slab.extent;
    job.complement = options.flags & APSIS_COMPLEMENT;
    job.is_signed = options.flags & APSIS_SIGNED;
    job.method = options.method;
    job.measure = make_measure(options, size, job.axes, job.periodic);
    if (job.method != APSIS_AUTO) check_method(job);
    if (options.metric == APSIS_CHESSBOARD) check_keys(job);
}

void check_distance_images(const apsis_context &context, const apsis_image *set, const apsis_image *distance,
                           const apsis_image *nearest, bool need_data, DistanceJob &job) {
    const Argument images[] = {{"set", set, job.set, Role::SET},
                               {"distance", distance, job.distance, Role::DISTANCE},
                               {"nearest", nearest, job.nearest, Role::INDEX}};
    check_images(context, images, need_data);
    if (need_data) check_all_apart(images);
}

void check_cells(const apsis_options &options) {
    if (options.flags & (APSIS_CONNECTED | APSIS_MIXED))
        throw Error(APSIS_ERROR_ARGUMENT, "options: flags is 0x%x, but distances have no cells", unsigned(options.flags));
}

void check_background(const apsis_options &options) {
    const bool labels = options.flags & APSIS_LABELS, border = options.flags & APSIS_BORDER;
    const uint32_t other = options.flags & (APSIS_COMPLEMENT | APSIS_SIGNED);
    if (labels && other)
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_LABELS is set with %s, but a label image has no %s",
                    other & APSIS_SIGNED ? "APSIS_SIGNED" : "APSIS_COMPLEMENT", other & APSIS_SIGNED ? "sign" : "complement");
    if (border && !labels && !other)
        throw Error(
            APSIS_ERROR_ARGUMENT,
            "options: APSIS_BORDER is set, but without APSIS_LABELS, APSIS_COMPLEMENT or APSIS_SIGNED no distance leads "
            "to the background");
    if ((labels || border) && options.method != APSIS_AUTO)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: method is %s, but %s is for APSIS_AUTO", name_of(options.method),
                    labels ? "APSIS_LABELS" : "APSIS_BORDER");
    if (labels && options.metric == APSIS_CHESSBOARD)
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "options: metric is APSIS_CHESSBOARD, but distances in label images are APSIS_EUCLIDEAN or "
                    "APSIS_CITY_BLOCK");
}

void take_labels(DistanceJob &job) {
    job.labels = job.set.type != APSIS_BIT;
    job.complement = !job.labels;
}

void take_cell_labels(const char *name, const apsis_image *cells, const apsis_options &options, DistanceJob &job) {
    if (options.flags & APSIS_COMPLEMENT)
        throw Error(APSIS_ERROR_ARGUMENT,
                    "options: APSIS_LABELS is set with APSIS_COMPLEMENT, but a label image has no complement");
    if (options.method != APSIS_AUTO)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: method is %s, but APSIS_LABELS is for APSIS_AUTO",
                    name_of(options.method));
    check_labels_fit(name, cells, "set", job.set.type);
    job.values = job.set;
}

void fill_in(const apsis_image *set, const apsis_options &options, DistanceJob &job) {
    job.axes = axes_of(set, options);
    job.slab.extent = job.set.size[job.axes - 1];
    job.periodic = read_periodic("set", options, job.set.size, set->ndim);
    if (job.periodic.any()) check_periodic(options);
    fill_in(options, job);
}

void check_taken(const char *function, std::initializer_list<apsis_method> methods, const apsis_options &options) {
    std::string names;
    for (const apsis_method each : methods) {
        if (each == options.method) return;
        names += std::string(names.empty() ? "" : ", ") + name_of(each);
    }
    throw Error(APSIS_ERROR_ARGUMENT, "options: method is %s, but %s takes %s", name_of(options.method), function,
                names.c_str());
}

int axes_of(const apsis_image *set, const apsis_options &options) {
    if (!(options.flags & APSIS_SLICES)) return set->ndim;
    if (set->ndim != 3)
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_SLICES is set, but ndim is %d and not 3", int(set->ndim));
    return 2;
}

void check_reach(const apsis_context &context, const char *name, const apsis_image *image) {
    if (image && image->memory == APSIS_DEVICE && context.own_memory() == APSIS_HOST)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: memory is APSIS_DEVICE, but the context is a CPU one", name);
}

void check_place(int64_t start, int64_t extent, int64_t rows) {
    if (extent < 0 || extent > LONGEST_AXIS)
        throw Error(APSIS_ERROR_ARGUMENT, "slab: extent is %lld, but must be from 0 to 2^30", static_cast<long long>(extent));
    if (start < 0 || start > extent - rows)
        throw Error(APSIS_ERROR_ARGUMENT, "start is %lld, but must be from 0 to %lld: the slab has %lld of %lld rows",
                    static_cast<long long>(start), static_cast<long long>(extent - rows), static_cast<long long>(rows),
                    static_cast<long long>(extent));
}

void check_labels_fit(const char *name, const apsis_image *output, const char *input, apsis_type type) {
    if (output && output->type == APSIS_I32 && type == APSIS_I64)
        throw Error(APSIS_ERROR_RANGE, "%s: type is APSIS_I32, but labels of %s are APSIS_I64", name, input);
}

void check_indices_fit(const char *name, const apsis_image *image, __int128 pixels) {
    if (!image || pixels <= __int128(1) << (image->type == APSIS_I32 ? 31 : 63)) return;
    throw Error(APSIS_ERROR_RANGE, "%s: type is %s, but an index may be as large as %.0f", name,
                image->type == APSIS_I32 ? "APSIS_I32" : "APSIS_I64", static_cast<double>(pixels - 1));
}

DistanceJob check_distance(const apsis_context &context, const apsis_image *set, const apsis_image *distance,
                           const apsis_image *nearest, const apsis_options *given, bool need_data) {
    DistanceJob job;
    check_distance_images(context, set, distance, nearest, need_data, job);
    const apsis_options options = read_options(given);
    check_cells(options);
    check_background(options);
    refuse_delta("apsis_distance", options);
    check_taken("apsis_distance",
                {APSIS_AUTO, APSIS_RASTER_SCAN, APSIS_SWEEP, APSIS_SWEEP_BLOCKS, APSIS_SWEEP_ROWS, APSIS_JUMP_FLOOD,
                 APSIS_SEQUENTIAL_SCAN},
                options);
    if (options.method == APSIS_SEQUENTIAL_SCAN) check_sequential(context, options, nearest);
    fill_in(set, options, job);
    job.border = options.flags & APSIS_BORDER;
    if (options.flags & APSIS_LABELS) take_labels(job);
    if (distance) check_fits("distance", distance->type, options, job.measure, job.axes);
    check_indices_fit("nearest", nearest, job.set.pixels());
    return job;
}

VoronoiJob check_voronoi(const apsis_context &context, const apsis_image *set, const apsis_image *cells,
                         const apsis_options *given, bool need_data) {
    VoronoiJob job;
    const Argument images[] = {{"set", set, job.set, Role::SET}, {"cells", cells, job.nearest, Role::INDEX}};
    if (!cells) throw Error(APSIS_ERROR_ARGUMENT, "cells is NULL, but an image is needed");
    check_images(context, images, need_data);
    const apsis_options options = read_options(given);
    if (need_data) check_all_apart(images);
    refuse_border("apsis_voronoi", options);
    refuse_delta("apsis_voronoi", options);
    if (options.flags & APSIS_SIGNED) throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_SIGNED is set, but cells have no sign");
    check_taken("apsis_voronoi",
                {APSIS_AUTO, APSIS_RASTER_SCAN, APSIS_SWEEP, APSIS_SWEEP_BLOCKS, APSIS_SWEEP_ROWS, APSIS_JUMP_FLOOD}, options);
    job.connected = options.flags & APSIS_CONNECTED;
    job.mixed = options.flags & APSIS_MIXED;
    if (job.mixed && (job.connected || !is_sweep(options.method)))
        throw Error(APSIS_ERROR_ARGUMENT,
                    "options: APSIS_MIXED is set, but method is %s%s, and the mixed map is what "
                    "APSIS_SWEEP, APSIS_SWEEP_BLOCKS and APSIS_SWEEP_ROWS leave",
                    name_of(options.method), job.connected ? " with APSIS_CONNECTED" : "");
    job.connected &= options.metric == APSIS_EUCLIDEAN;  // other metrics have no exclaves: see docs/methods.md
    if (options.flags & APSIS_LABELS) take_cell_labels("cells", cells, options, job);
    fill_in(set, options, job);
    check_indices_fit("cells", cells, job.set.pixels());
    return job;
}

ComponentsJob check_components(const apsis_context &context, const apsis_image *set, const apsis_image *labels,
                               const apsis_options *given, bool need_data) {
    ComponentsJob job;
    const apsis_options options = read_options(given);
    job.set = check_image("set", set, options.flags & APSIS_LABELS ? Role::GREY : Role::SET, need_data);
    if (labels) {
        job.labels = check_image("labels", labels, Role::LABELS, need_data);
        check_same_size("set", set, "labels", labels);
    }
    check_reach(context, "set", set);
    check_reach(context, "labels", labels);
    if (need_data) check_apart("set", job.set, "labels", job.labels);
    refuse_border("apsis_components", options);
    if (options.flags & APSIS_SIGNED)
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_SIGNED is set, but components have no sign");
    refuse_complement_of_labels(options);
    job.axes = axes_of(set, options);
    check_taken("apsis_components", {APSIS_AUTO, APSIS_TILE_FILL}, options);
    job.method = options.method;
    job.complement = options.flags & APSIS_COMPLEMENT;
    job.by_value = (options.flags & APSIS_LABELS) && set->type != APSIS_BIT;
    check_delta(options, job);
    job.delta = options.delta;
    job.periodic = read_periodic("set", options, job.set.size, set->ndim);
    fill_in(options, job);
    return job;
}

void fill_in(const apsis_options &options, ComponentsJob &job) {
    job.connectivity = connectivity_of(options, job.axes, 1);
    job.no_border = options.flags & APSIS_NO_BORDER;
    job.no_inner = options.flags & APSIS_NO_INNER;
    job.min_area = options.min_area;
    if (options.max_area) job.max_area = options.max_area;
    if (options.largest) job.largest = options.largest;
}

void check_labels(const ComponentsJob &job) {
    const int64_t most = most_components(job);
    if (job.labels && job.labels.type == APSIS_I32 && most > INT32_MAX)
        throw Error(APSIS_ERROR_RANGE, "labels: type is APSIS_I32, but there may be as many as %lld components",
                    static_cast<long long>(most));
    if (job.method == APSIS_TILE_FILL &&
        (job.periodic.any() || job.axes != 2 || job.selects() || job.components || job.is_mask() || job.by_value))
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "options: method is APSIS_TILE_FILL, which gives labels and count, in 2-D, "
                    "of all components of a set, without periodic axes");
}

void check_array(const ComponentsJob &job) {
    check_capacity("components", job.components, job.capacity);
    if (job.components) check_sums("set: size", job.set.size);
}

void check_sums(const char *name, const int64_t size[3]) {
    const __int128 pixels = __int128(size[0]) * size[1] * size[2];
    const int64_t longest = *std::max_element(size, size + 3);
    if (bits_below(static_cast<int64_t>(std::min<__int128>(pixels, INT64_MAX))) + bits_below(longest) > 64)
        throw Error(APSIS_ERROR_UNSUPPORTED, "%s is %lld x %lld x %lld, too large for centroids", name,
                    static_cast<long long>(size[0]), static_cast<long long>(size[1]), static_cast<long long>(size[2]));
}

void check_capacity(const char *name, const void *array, int64_t capacity) {
    if (capacity < 0)
        throw Error(APSIS_ERROR_ARGUMENT, "capacity is %lld, but cannot be negative", static_cast<long long>(capacity));
    if (capacity > 0 && !array)
        throw Error(APSIS_ERROR_ARGUMENT, "%s is NULL, but capacity is %lld", name, static_cast<long long>(capacity));
}

}  // namespace apsis
