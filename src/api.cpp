// Every function of apsis.h: guard, check, dispatch.
#include <apsis.h>

#include <algorithm>

#include "core/keys.h"
#include "enums.h"
#include "guard.h"
#include "image.h"
#include "options.h"
#include "relay.h"
#include "stage.h"

using namespace apsis;

namespace {

thread_local std::string create_message;

/// The first device that can be used, otherwise the CPU.
std::unique_ptr<Backend> make_best_backend() {
    const int count = device_count();
    for (int device = 0; device < count; ++device) try {
            return make_device_backend(device);
        } catch (const Error &) {  // too old, or taken: the next one may serve
        }
    return make_cpu_backend();
}

/// The chessboard transform keeps a distance and a site's index in one 64-bit key.
void check_keys(const DistanceJob &job) {
    const int64_t image = job.axes == 3 ? job.set.pixels() : job.set.size[0] * job.set.size[1];
    if (bits_below(image) + bits_below(job.measure.largest + 1) > 62)
        throw Error(APSIS_ERROR_UNSUPPORTED, "set: size is %lld x %lld x %lld, too large for the chessboard metric",
                    static_cast<long long>(job.set.size[0]), static_cast<long long>(job.set.size[1]),
                    static_cast<long long>(job.set.size[2]));
}

/// A CPU context cannot reach device memory.  NULL is an image that is left out.
void check_reach(const apsis_context &context, const char *name, const apsis_image *image) {
    if (image && image->memory == APSIS_DEVICE && context.own_memory() == APSIS_HOST)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: memory is APSIS_DEVICE, but the context is a CPU one", name);
}

/// The axes of an image of its own: 2 for slices, otherwise ndim.
int axes_of(const apsis_image *set, const apsis_options &options) {
    if (!(options.flags & APSIS_SLICES)) return set->ndim;
    if (set->ndim != 3)
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_SLICES is set, but ndim is %d and not 3", int(set->ndim));
    return 2;
}

void check_indices_fit(const char *name, const apsis_image *image, const View &set) {
    if (image && image->type == APSIS_I32 && set.pixels() > (int64_t(1) << 31))
        throw Error(APSIS_ERROR_RANGE, "%s: type is APSIS_I32, but an index may be as large as %lld", name,
                    static_cast<long long>(set.pixels() - 1));
}

/// The images and options of an apsis_distance call, checked.  `need_data` is false for apsis_workspace_size.
DistanceJob check_distance(const apsis_context &context, const apsis_image *set, const apsis_image *distance,
                           const apsis_image *nearest, const apsis_options *given, bool need_data) {
    DistanceJob job;
    job.set = check_image("set", set, Role::SET, need_data);
    const apsis_options options = read_options(given);
    if (distance) {
        job.distance = check_image("distance", distance, Role::DISTANCE, need_data);
        check_same_size("set", set, "distance", distance);
    }
    if (nearest) {
        job.nearest = check_image("nearest", nearest, Role::INDEX, need_data);
        check_same_size("set", set, "nearest", nearest);
    }
    check_reach(context, "set", set);
    check_reach(context, "distance", distance);
    check_reach(context, "nearest", nearest);
    if (need_data) {
        check_apart("set", job.set, "distance", job.distance);
        check_apart("set", job.set, "nearest", job.nearest);
        check_apart("distance", job.distance, "nearest", job.nearest);
    }

    job.axes = axes_of(set, options);
    if (options.method != APSIS_AUTO)
        throw Error(APSIS_ERROR_ARGUMENT, "options: method is %d, which is none for apsis_distance", int(options.method));
    job.complement = options.flags & APSIS_COMPLEMENT;
    job.is_signed = options.flags & APSIS_SIGNED;
    job.measure = make_measure(options, job.set.size, job.axes);
    if (options.metric == APSIS_CHESSBOARD) check_keys(job);
    if (distance) check_fits("distance", distance->type, job.measure);
    check_indices_fit("nearest", nearest, job.set);
    return job;
}

/// The job on the back end's own memory: images that it cannot reach become device copies carved from the workspace.
DistanceJob stage_distance(DistanceJob job, Stage &stage) {
    job.set = stage.input(job.set);
    if (job.distance) job.distance = stage.output(job.distance);
    if (job.nearest) job.nearest = stage.output(job.nearest);
    return job;
}

size_t distance_bytes(const apsis_context &context, const DistanceJob &job) {
    if (job.set.pixels() == 0) return 0;
    if (Conveyor *conveyor = find_conveyor(context, job)) return relay_bytes(job, *conveyor);
    Carver count;
    Stage stage(context, count);
    stage_distance(job, stage);
    count.take<uint8_t>(static_cast<int64_t>(context.backend->distance_scratch(job)));
    return count.used();
}

void run_distance(apsis_context &context, const DistanceJob &job) {
    void *const memory = context.scratch(distance_bytes(context, job));
    context.log("distance: %lld x %lld x %lld pixels on %s", static_cast<long long>(job.set.size[0]),
                static_cast<long long>(job.set.size[1]), static_cast<long long>(job.set.size[2]),
                context.backend->name());
    if (Conveyor *conveyor = find_conveyor(context, job)) return relay_distance(context, job, *conveyor, memory);
    Carver carver(memory);
    Stage stage(context, carver);
    const DistanceJob own = stage_distance(job, stage);
    void *scratch = carver.take<uint8_t>(static_cast<int64_t>(context.backend->distance_scratch(job)));
    stage.run([&] { context.backend->distance(own, scratch, context.progress()); });
}

/// No more components than this: no two first pixels are neighbours.  With connectivity 1 they may fill every other
/// pixel, otherwise every other one along each axis in which neighbours may differ together.
int64_t most_components(const ComponentsJob &job) {
    const int64_t *size = job.set.size;
    int64_t most = (job.set.pixels() + 1) / 2;
    if (job.connectivity > 1) most = (size[0] + 1) / 2 * ((size[1] + 1) / 2) * size[2];
    if (job.connectivity > 2) most = (size[0] + 1) / 2 * ((size[1] + 1) / 2) * ((size[2] + 1) / 2);
    if (job.axes == 2 && job.connectivity == 1) most = (size[0] * size[1] + 1) / 2 * size[2];
    if (job.min_area > 1) most = std::min(most, job.set.pixels() / job.min_area);
    const int64_t images = job.axes == 2 ? size[2] : 1;
    return job.largest < most / images ? job.largest * images : most;
}

void check_labels(const ComponentsJob &job) {
    const int64_t most = most_components(job);
    if (job.labels && job.labels.type == APSIS_I32 && most > INT32_MAX)
        throw Error(APSIS_ERROR_RANGE, "labels: type is APSIS_I32, but there may be as many as %lld components",
                    static_cast<long long>(most));
    if (job.method == APSIS_TILE_FILL && (job.axes != 2 || job.selects() || job.components || job.is_mask()))
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: method is APSIS_TILE_FILL, which gives labels and count, in 2-D, "
                    "of all components");
}

void check_components_array(const ComponentsJob &job) {
    if (job.capacity < 0)
        throw Error(APSIS_ERROR_ARGUMENT, "capacity is %lld, but cannot be negative", static_cast<long long>(job.capacity));
    if (job.capacity > 0 && !job.components)
        throw Error(APSIS_ERROR_ARGUMENT, "components is NULL, but capacity is %lld", static_cast<long long>(job.capacity));
    const int64_t longest = *std::max_element(job.set.size, job.set.size + 3);
    if (job.components && bits_below(job.set.pixels()) + bits_below(longest) > 64)  // sums of coordinates stay below 2^63
        throw Error(APSIS_ERROR_UNSUPPORTED, "set: size is %lld x %lld x %lld, too large for centroids",
                    static_cast<long long>(job.set.size[0]), static_cast<long long>(job.set.size[1]),
                    static_cast<long long>(job.set.size[2]));
}

/// The images and options of an apsis_components call, checked.
ComponentsJob check_components(const apsis_context &context, const apsis_image *set, const apsis_image *labels,
                               const apsis_options *given, bool need_data) {
    ComponentsJob job;
    job.set = check_image("set", set, Role::SET, need_data);
    const apsis_options options = read_options(given);
    if (labels) {
        job.labels = check_image("labels", labels, Role::LABELS, need_data);
        check_same_size("set", set, "labels", labels);
    }
    check_reach(context, "set", set);
    check_reach(context, "labels", labels);
    if (need_data) check_apart("set", job.set, "labels", job.labels);
    if (options.flags & APSIS_SIGNED)
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_SIGNED is set, but components have no sign");
    job.axes = axes_of(set, options);
    job.connectivity = connectivity_of(options, job.axes, 1);
    if (options.method == APSIS_EVERY_SOURCE)
        throw Error(APSIS_ERROR_ARGUMENT, "options: method is %d, which is none for apsis_components", int(options.method));
    job.method = options.method;
    job.complement = options.flags & APSIS_COMPLEMENT;
    job.no_border = options.flags & APSIS_NO_BORDER;
    job.no_inner = options.flags & APSIS_NO_INNER;
    job.min_area = options.min_area;
    if (options.max_area) job.max_area = options.max_area;
    if (options.largest) job.largest = options.largest;
    return job;
}

/// The job on the back end's own memory.
ComponentsJob stage_components(ComponentsJob job, Stage &stage) {
    job.set = stage.input(job.set);
    if (job.labels) job.labels = stage.output(job.labels);
    return job;
}

size_t components_bytes(const apsis_context &context, const ComponentsJob &job) {
    if (job.set.pixels() == 0) return 0;
    Carver count;
    Stage stage(context, count);
    stage_components(job, stage);
    count.take<uint8_t>(static_cast<int64_t>(context.backend->components_scratch(job)));
    return count.used();
}

void run_components(apsis_context &context, const ComponentsJob &job) {
    Carver carver(context.scratch(components_bytes(context, job)));
    Stage stage(context, carver);
    const ComponentsJob own = stage_components(job, stage);
    void *scratch = carver.take<uint8_t>(static_cast<int64_t>(context.backend->components_scratch(job)));
    context.log("components: %lld x %lld x %lld pixels on %s", static_cast<long long>(job.set.size[0]),
                static_cast<long long>(job.set.size[1]), static_cast<long long>(job.set.size[2]),
                context.backend->name());
    stage.run([&] { context.backend->components(own, scratch, context.progress()); });
    if (job.components || job.count) context.backend->sync();
}

/// The images and options of an apsis_geodesic call, checked.
GeodesicJob check_geodesic(const apsis_context &context, const apsis_image *set, const apsis_image *seeds,
                           const apsis_image *distance, const apsis_image *nearest, const apsis_options *given,
                           bool need_data) {
    GeodesicJob job;
    const struct { const char *name; const apsis_image *image; View &view; Role role; } images[] = {
        {"set", set, job.set, Role::SET}, {"seeds", seeds, job.seeds, Role::SET},
        {"distance", distance, job.distance, Role::DISTANCE}, {"nearest", nearest, job.nearest, Role::INDEX}};
    for (const auto &each : images) {
        if (!each.image && each.role != Role::SET) continue;
        each.view = check_image(each.name, each.image, each.role, need_data);
        check_same_size("set", set, each.name, each.image);
        check_reach(context, each.name, each.image);
    }
    const apsis_options options = read_options(given);
    for (int i = 0; need_data && i < 4; ++i)
        for (int k = std::max(i + 1, 2); k < 4; ++k) check_apart(images[i].name, images[i].view, images[k].name, images[k].view);
    if (options.flags & APSIS_SIGNED)
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_SIGNED is set, but lengths of paths have no sign");
    if (options.method != APSIS_AUTO)
        throw Error(APSIS_ERROR_ARGUMENT, "options: method is %d, which is none for apsis_geodesic", int(options.method));
    job.axes = axes_of(set, options);
    job.complement = options.flags & APSIS_COMPLEMENT;
    job.steps = make_steps(options, job.set.size, job.axes);
    const int64_t image = job.axes == 3 ? job.set.pixels() : job.set.size[0] * job.set.size[1];
    if (distance) check_lengths_fit("distance", distance->type, options, job.steps, image);
    check_indices_fit("nearest", nearest, job.set);
    return job;
}

/// The job on the back end's own memory.
GeodesicJob stage_geodesic(GeodesicJob job, Stage &stage) {
    job.set = stage.input(job.set);
    job.seeds = stage.input(job.seeds);
    if (job.distance) job.distance = stage.output(job.distance);
    if (job.nearest) job.nearest = stage.output(job.nearest);
    return job;
}

size_t geodesic_bytes(const apsis_context &context, const GeodesicJob &job) {
    if (job.set.pixels() == 0) return 0;
    Carver count;
    Stage stage(context, count);
    stage_geodesic(job, stage);
    count.take<uint8_t>(static_cast<int64_t>(context.backend->geodesic_scratch(job)));
    return count.used();
}

void run_geodesic(apsis_context &context, const GeodesicJob &job) {
    Carver carver(context.scratch(geodesic_bytes(context, job)));
    Stage stage(context, carver);
    const GeodesicJob own = stage_geodesic(job, stage);
    void *scratch = carver.take<uint8_t>(static_cast<int64_t>(context.backend->geodesic_scratch(job)));
    context.log("geodesic: %lld x %lld x %lld pixels on %s", static_cast<long long>(job.set.size[0]),
                static_cast<long long>(job.set.size[1]), static_cast<long long>(job.set.size[2]),
                context.backend->name());
    stage.run([&] { context.backend->geodesic(own, scratch, context.progress()); });
}

/// The images and options of an apsis_eccentricity call, checked.
EccentricityJob check_eccentricity(const apsis_context &context, const apsis_image *set, const apsis_image *eccentricity,
                                   const apsis_image *farthest, const apsis_options *given, bool need_data) {
    EccentricityJob job;
    const struct { const char *name; const apsis_image *image; View &view; Role role; } images[] = {
        {"set", set, job.set, Role::SET}, {"eccentricity", eccentricity, job.eccentricity, Role::DISTANCE},
        {"farthest", farthest, job.farthest, Role::INDEX}};
    for (const auto &each : images) {
        if (!each.image && each.role != Role::SET) continue;
        each.view = check_image(each.name, each.image, each.role, need_data);
        check_same_size("set", set, each.name, each.image);
        check_reach(context, each.name, each.image);
    }
    const apsis_options options = read_options(given);
    for (int i = 0; need_data && i < 3; ++i)
        for (int k = i + 1; k < 3; ++k) check_apart(images[i].name, images[i].view, images[k].name, images[k].view);
    if (options.flags & APSIS_SIGNED)
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_SIGNED is set, but lengths of paths have no sign");
    if (options.max_distance > 0)
        throw Error(APSIS_ERROR_ARGUMENT, "options: max_distance is %g, but eccentricities have no limit", options.max_distance);
    if (options.method != APSIS_AUTO && options.method != APSIS_EVERY_SOURCE)
        throw Error(APSIS_ERROR_ARGUMENT, "options: method is %d, which is none for apsis_eccentricity", int(options.method));
    if (options.method == APSIS_EVERY_SOURCE && options.budget)
        throw Error(APSIS_ERROR_ARGUMENT, "options: budget is %lld, but APSIS_EVERY_SOURCE makes a field from every pixel",
                    static_cast<long long>(options.budget));
    job.axes = axes_of(set, options);
    job.method = options.method;
    job.complement = options.flags & APSIS_COMPLEMENT;
    job.steps = make_steps(options, job.set.size, job.axes);
    job.connectivity = job.steps.connectivity;
    if (options.budget) job.budget = options.budget;
    const int64_t image = job.axes == 3 ? job.set.pixels() : job.set.size[0] * job.set.size[1];
    if (eccentricity) check_lengths_fit("eccentricity", eccentricity->type, options, job.steps, image);
    check_indices_fit("farthest", farthest, job.set);
    return job;
}

/// The job on the back end's own memory.
EccentricityJob stage_eccentricity(EccentricityJob job, Stage &stage) {
    job.set = stage.input(job.set);
    if (job.eccentricity) job.eccentricity = stage.output(job.eccentricity);
    if (job.farthest) job.farthest = stage.output(job.farthest);
    return job;
}

size_t eccentricity_bytes(const apsis_context &context, const EccentricityJob &job) {
    if (job.set.pixels() == 0) return 0;
    Carver count;
    Stage stage(context, count);
    stage_eccentricity(job, stage);
    count.take<uint8_t>(static_cast<int64_t>(context.backend->eccentricity_scratch(job)));
    return count.used();
}

void run_eccentricity(apsis_context &context, const EccentricityJob &job) {
    Carver carver(context.scratch(eccentricity_bytes(context, job)));
    Stage stage(context, carver);
    EccentricityJob own = stage_eccentricity(job, stage);
    void *scratch = carver.take<uint8_t>(static_cast<int64_t>(context.backend->eccentricity_scratch(job)));
    context.log("eccentricity: %lld x %lld x %lld pixels on %s", static_cast<long long>(job.set.size[0]),
                static_cast<long long>(job.set.size[1]), static_cast<long long>(job.set.size[2]),
                context.backend->name());
    EccentricityJob::Report report{};
    own.report = &report;
    stage.run([&] { context.backend->eccentricity(own, scratch, context.progress()); });
    context.backend->sync();  // the report is ours
    context.log("eccentricity: %lld fields for %lld components, at most %lld for one", static_cast<long long>(report.fields),
                static_cast<long long>(report.components), static_cast<long long>(report.most_fields));
    if (report.unproved)
        throw Error(APSIS_ERROR_BUDGET, "options: budget is %lld, not enough for %lld of %lld components; the largest gap is %g",
                    static_cast<long long>(job.budget), static_cast<long long>(report.unproved),
                    static_cast<long long>(report.components), report.gap);
}

void check_extents_array(const EccentricityJob &job) {
    if (job.capacity < 0)
        throw Error(APSIS_ERROR_ARGUMENT, "capacity is %lld, but cannot be negative", static_cast<long long>(job.capacity));
    if (job.capacity > 0 && !job.extents)
        throw Error(APSIS_ERROR_ARGUMENT, "extents is NULL, but capacity is %lld", static_cast<long long>(job.capacity));
}

/// How many images the call of a transform has, and its name; none for what is no transform.
struct Call {
    int images;
    const char *name;
};

Call call_of(int transform) {
    switch (transform) {
        case APSIS_DISTANCE: return {3, "apsis_distance"};
        case APSIS_COMPONENTS: return {2, "apsis_components"};
        case APSIS_GEODESIC: return {4, "apsis_geodesic"};
        case APSIS_ECCENTRICITY: return {3, "apsis_eccentricity"};
        default: return {0, nullptr};
    }
}

}  // namespace

const char *apsis_status_name(apsis_status status) {
    switch (raw(status)) {
        case APSIS_OK: return "APSIS_OK";
        case APSIS_ERROR_ARGUMENT: return "APSIS_ERROR_ARGUMENT";
        case APSIS_ERROR_UNSUPPORTED: return "APSIS_ERROR_UNSUPPORTED";
        case APSIS_ERROR_NO_DEVICE: return "APSIS_ERROR_NO_DEVICE";
        case APSIS_ERROR_MEMORY: return "APSIS_ERROR_MEMORY";
        case APSIS_ERROR_WORKSPACE: return "APSIS_ERROR_WORKSPACE";
        case APSIS_ERROR_RANGE: return "APSIS_ERROR_RANGE";
        case APSIS_ERROR_CANCELLED: return "APSIS_ERROR_CANCELLED";
        case APSIS_ERROR_DEVICE: return "APSIS_ERROR_DEVICE";
        case APSIS_ERROR_INTERNAL: return "APSIS_ERROR_INTERNAL";
        case APSIS_ERROR_BUDGET: return "APSIS_ERROR_BUDGET";
        default: return "unknown apsis_status";
    }
}

int apsis_version(void) { return APSIS_VERSION; }

int apsis_device_count(void) { return device_count(); }

apsis_status apsis_create(int version, int device, apsis_context **context) {
    return guard("create", create_message, [&] {
        if (!context) throw Error(APSIS_ERROR_ARGUMENT, "context is NULL, but must point to a pointer");
        *context = nullptr;
        const int promise = APSIS_VERSION_MAJOR == 0 ? 100 : 10000;  // what compatible versions have in common
        if (version / promise != APSIS_VERSION / promise || version > APSIS_VERSION)
            throw Error(APSIS_ERROR_UNSUPPORTED, "version is %d, but this library is version %d", version, APSIS_VERSION);
        if (device < APSIS_BEST)
            throw Error(APSIS_ERROR_ARGUMENT, "device is %d, but must be APSIS_CPU, APSIS_BEST or a CUDA device number", device);
        *context = new apsis_context(device == APSIS_BEST  ? make_best_backend()
                                     : device == APSIS_CPU ? make_cpu_backend()
                                                           : make_device_backend(device));
    });
}

void apsis_destroy(apsis_context *context) { delete context; }

int apsis_device(const apsis_context *context) { return context ? context->backend->device() : int(APSIS_CPU); }

const char *apsis_device_name(const apsis_context *context) { return context ? context->backend->name() : ""; }

const char *apsis_message(const apsis_context *context) {
    return context ? context->message.c_str() : create_message.c_str();
}

apsis_status apsis_distance(apsis_context *context, const apsis_image *set, const apsis_image *distance,
                            const apsis_image *nearest, const apsis_options *options) {
    return guard("distance", context, [&] {
        const DistanceJob job = check_distance(*context, set, distance, nearest, options, true);
        if (job.set.pixels() > 0 && (distance || nearest)) run_distance(*context, job);
    });
}

apsis_status apsis_components(apsis_context *context, const apsis_image *set, const apsis_image *labels,
                              apsis_component *components, int64_t capacity, int64_t *count,
                              const apsis_options *options) {
    return guard("components", context, [&] {
        ComponentsJob job = check_components(*context, set, labels, options, true);
        job.components = components;
        job.capacity = capacity;
        job.count = count;
        check_labels(job);
        check_components_array(job);
        if (count) *count = 0;
        if (job.set.pixels() > 0 && (labels || components || count)) run_components(*context, job);
    });
}

apsis_status apsis_geodesic(apsis_context *context, const apsis_image *set, const apsis_image *seeds,
                            const apsis_image *distance, const apsis_image *nearest, const apsis_options *options) {
    return guard("geodesic", context, [&] {
        const GeodesicJob job = check_geodesic(*context, set, seeds, distance, nearest, options, true);
        if (job.set.pixels() > 0 && (distance || nearest)) run_geodesic(*context, job);
    });
}

apsis_status apsis_eccentricity(apsis_context *context, const apsis_image *set, const apsis_image *eccentricity,
                                const apsis_image *farthest, apsis_extent *extents, int64_t capacity, int64_t *count,
                                const apsis_options *options) {
    return guard("eccentricity", context, [&] {
        EccentricityJob job = check_eccentricity(*context, set, eccentricity, farthest, options, true);
        job.extents = extents;
        job.capacity = capacity;
        job.count = count;
        check_extents_array(job);
        if (count) *count = 0;
        if (job.set.pixels() > 0 && (eccentricity || farthest || extents || count)) run_eccentricity(*context, job);
    });
}

apsis_status apsis_alloc(apsis_context *context, apsis_memory memory, apsis_image *image) {
    return guard("alloc", context, [&] {
        if (!image) throw Error(APSIS_ERROR_ARGUMENT, "image is NULL, but an image is needed");
        if (raw(memory) != APSIS_HOST && raw(memory) != APSIS_DEVICE)
            throw Error(APSIS_ERROR_ARGUMENT, "memory is %d, but must be APSIS_HOST or APSIS_DEVICE", raw(memory));
        if (memory == APSIS_DEVICE && context->own_memory() == APSIS_HOST)
            throw Error(APSIS_ERROR_ARGUMENT, "memory is APSIS_DEVICE, but the context is a CPU one");
        apsis_image wanted = *image;
        wanted.data = nullptr;
        wanted.memory = memory;
        for (int64_t &stride : wanted.stride) stride = 0;
        const View view = check_image("image", &wanted, Role::ANY_OUTPUT, false);
        if (view.pixels() > 0) wanted.data = context->allocate(memory, static_cast<size_t>(packed_bytes(view)));
        for (int a = 0; a < 3; ++a) wanted.stride[a] = a < wanted.ndim ? view.stride[a] : 0;
        *image = wanted;
    });
}

void apsis_free(apsis_context *context, apsis_image *image) {
    if (!context || !image || !image->data) return;
    guard("free", context->message, [&] {
        const View view = check_image("image", image, Role::ANY_INPUT);
        if (view.memory == APSIS_DEVICE) context->backend->sync();
        context->release(view.memory, image->data, static_cast<size_t>(packed_bytes(view)));
        image->data = nullptr;
    });
}

apsis_status apsis_copy(apsis_context *context, const apsis_image *from, const apsis_image *to) {
    return guard("copy", context, [&] {
        const View source = check_image("from", from, Role::ANY_INPUT);
        const View target = check_image("to", to, Role::ANY_OUTPUT);
        check_same_size("from", from, "to", to);
        const bool both_sets = from->type <= APSIS_U8 && to->type <= APSIS_U8;
        if (from->type != to->type && !both_sets)
            throw Error(APSIS_ERROR_ARGUMENT, "to: type is %d, but that of from is %d", int(to->type), int(from->type));
        check_reach(*context, "from", from);
        check_reach(*context, "to", to);
        check_apart("from", source, "to", target);
        if (source.pixels() > 0) copy_between(*context, source, target);
    });
}

apsis_status apsis_set_stream(apsis_context *context, struct CUstream_st *stream) {
    return guard("set_stream", context, [&] { context->backend->set_stream(stream); });
}

apsis_status apsis_sync(apsis_context *context) {
    return guard("sync", context, [&] { context->backend->sync(); });
}

apsis_status apsis_set_threads(apsis_context *context, int threads) {
    return guard("set_threads", context, [&] {
        if (threads < 0) throw Error(APSIS_ERROR_ARGUMENT, "threads is %d, but cannot be negative", threads);
        context->backend->set_threads(threads);
        context->threads = threads;
    });
}

apsis_status apsis_workspace_size(apsis_context *context, apsis_transform transform, const apsis_image *const *images,
                                  int count, const apsis_options *options, size_t *bytes) {
    return guard("workspace_size", context, [&] {
        const Call call = call_of(raw(transform));
        if (!call.images) throw Error(APSIS_ERROR_ARGUMENT, "transform is %d, which is no apsis_transform", raw(transform));
        if (!images) throw Error(APSIS_ERROR_ARGUMENT, "images is NULL, but the images of the call are needed");
        if (count != call.images)
            throw Error(APSIS_ERROR_ARGUMENT, "count is %d, but %s has %d images", count, call.name, call.images);
        if (!bytes) throw Error(APSIS_ERROR_ARGUMENT, "bytes is NULL, but must point to a size_t");
        if (raw(transform) == APSIS_DISTANCE) {
            *bytes = distance_bytes(*context, check_distance(*context, images[0], images[1], images[2], options, false));
        } else if (raw(transform) == APSIS_COMPONENTS) {
            const ComponentsJob job = check_components(*context, images[0], images[1], options, false);
            check_labels(job);
            *bytes = components_bytes(*context, job);
        } else if (raw(transform) == APSIS_ECCENTRICITY) {
            *bytes = eccentricity_bytes(*context, check_eccentricity(*context, images[0], images[1], images[2], options, false));
        } else {
            *bytes = geodesic_bytes(*context, check_geodesic(*context, images[0], images[1], images[2], images[3], options,
                                                             false));
        }
    });
}

apsis_status apsis_set_workspace(apsis_context *context, void *memory, size_t bytes) {
    return guard("set_workspace", context, [&] { context->set_workspace(memory, bytes); });
}

apsis_status apsis_set_allocator(apsis_context *context, apsis_alloc_fn allocate, apsis_free_fn release, void *user) {
    return guard("set_allocator", context, [&] { context->set_allocator(allocate, release, user); });
}

apsis_status apsis_set_progress(apsis_context *context, apsis_progress_fn progress, void *user) {
    return guard("set_progress", context, [&] {
        context->progress_fn = progress;
        context->progress_user = user;
    });
}

apsis_status apsis_set_log(apsis_context *context, apsis_log_fn log, void *user) {
    return guard("set_log", context, [&] {
        context->log_fn = log;
        context->log_user = user;
    });
}
