// The functions of apsis.h, but those of slab_maps.cpp and slab_values.cpp: guard, check, dispatch.
#include <apsis.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/enums.h"
#include "api/guard.h"
#include "api/image.h"
#include "api/jobs.h"
#include "core/component.h"
#include "runtime/packed.h"
#include "runtime/staging.h"

using namespace apsis;

namespace {

thread_local Message create_message;

/// The first device that can be used, otherwise the CPU.
std::unique_ptr<Backend> make_best_backend() {
    const int count = device_count();
    for (int device = 0; device < count; ++device) try {
            return make_device_backend(device);
        } catch (const Error &) {  // too old, or in use: the next device may serve
        }
    return make_cpu_backend();
}

void check_creation(int version, apsis_context **context) {
    if (!context) throw Error(APSIS_ERROR_ARGUMENT, "context is NULL, but must point to a pointer");
    *context = nullptr;
    const int promise = APSIS_VERSION_MAJOR == 0 ? 100 : 10000;  // compatible versions have the same quotient
    if (version / promise != APSIS_VERSION / promise || version > APSIS_VERSION)
        throw Error(APSIS_ERROR_UNSUPPORTED, "version is %d, but this library is version %d", version, APSIS_VERSION);
}

/// Tells the caller what was found of values, unless the back end has done so.
template <class Job, class Record>
void finish(const Job &job, Record *records, int64_t capacity, int64_t *count) {
    if (!job.told || *job.told < 0)
        tell(job, records, capacity, count);
    else if (count)
        *count = *job.told;
}

/// The number of images and the name of a transform's call; 0 and nullptr if there is no such transform.
struct Call {
    int images;
    const char *name;
};

Call call_of(int transform) {
    switch (transform) {
        case APSIS_DISTANCE: return {3, "apsis_distance"};
        case APSIS_VORONOI: return {2, "apsis_voronoi"};
        case APSIS_COMPONENTS: return {2, "apsis_components"};
        case APSIS_GEODESIC: return {4, "apsis_geodesic"};
        case APSIS_ECCENTRICITY: return {3, "apsis_eccentricity"};
        case APSIS_STATISTICS: return {1, "apsis_statistics"};
        case APSIS_CONTACTS: return {1, "apsis_contacts"};
        case APSIS_MORPHOLOGY: return {2, "apsis_morphology"};
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
        check_creation(version, context);
        if (device < APSIS_BEST)
            throw Error(APSIS_ERROR_ARGUMENT, "device is %d, but must be APSIS_CPU, APSIS_BEST or a CUDA device number",
                        device);
        *context = new apsis_context(device == APSIS_BEST  ? make_best_backend()
                                     : device == APSIS_CPU ? make_cpu_backend()
                                                           : make_device_backend(device));
    });
}

apsis_status apsis_create_devices(int version, const int *devices, int count, apsis_context **context) {
    return guard("create_devices", create_message, [&] {
        check_creation(version, context);
        if (!devices) throw Error(APSIS_ERROR_ARGUMENT, "devices is NULL, but must list CUDA device numbers");
        if (count < 1) throw Error(APSIS_ERROR_ARGUMENT, "count is %d, but must be 1 or more", count);
        std::vector<std::unique_ptr<apsis_context>> made;
        for (int i = 0; i < count; ++i) {
            if (devices[i] < 0)
                throw Error(APSIS_ERROR_ARGUMENT, "devices[%d] is %d, but must be a CUDA device number", i, devices[i]);
            made.push_back(std::make_unique<apsis_context>(make_device_backend(devices[i])));
        }
        std::unique_ptr<apsis_context> first = std::move(made.front());
        made.erase(made.begin());
        first->others = std::move(made);
        *context = first.release();
    });
}

void apsis_destroy(apsis_context *context) { delete context; }

int apsis_device(const apsis_context *context) { return context ? context->backend->device() : int(APSIS_CPU); }

const char *apsis_device_name(const apsis_context *context) { return context ? context->backend->name() : ""; }

const char *apsis_message(const apsis_context *context) { return (context ? context->message : create_message).text; }

apsis_status apsis_distance(apsis_context *context, const apsis_image *set, const apsis_image *distance,
                            const apsis_image *nearest, const apsis_options *options) {
    return guard("distance", context, [&] {
        const DistanceJob job = check_distance(*context, set, distance, nearest, options, true);
        if (job.set.pixels() > 0 && (distance || nearest)) run(*context, job);
    });
}

apsis_status apsis_slab_geodesic(apsis_context *context, const apsis_image *set, const apsis_image *seeds,
                                 const apsis_slab_paths *slab, const apsis_image *distance, const apsis_image *nearest,
                                 int64_t *changed, const apsis_options *options) {
    return guard("slab_geodesic", context, [&] {
        GeodesicJob job = check_slab_geodesic(*context, set, seeds, slab, distance, nearest, options);
        slabs::BorderPaths paths(*slab, job);
        if (job.set.pixels() > 0) run(*context, job);
        const int64_t found = paths.tell();
        if (changed) *changed = found;
    });
}

apsis_status apsis_slab_parts(apsis_context *context, const apsis_image *set, apsis_slab_labels *slab,
                              const apsis_options *options) {
    return guard("slab_parts", context, [&] {
        context->found.reset();
        ComponentsJob job = check_slab_parts(*context, set, slab, options);
        slab->rows = job.set.size[job.axes - 1];
        slab->count = 0;
        job.count = &slab->count;
        for (int64_t *face : {slab->first, slab->last})  // there may be columns, without rows
            if (job.set.pixels() == 0) clear_face(*context, face, job.columns());
        run_parts(*context, job);
    });
}

apsis_status apsis_slab_join(apsis_context *context, int32_t ndim, const int64_t *size, apsis_slab_labels *slabs,
                             int64_t slab_count, apsis_part *parts, int64_t capacity, int64_t *count,
                             const apsis_options *options) {
    return guard("slab_join", context, [&] {
        const int64_t found = run(*context, check_slab_join(ndim, size, slabs, slab_count, parts, capacity, options));
        if (count) *count = found;
    });
}

apsis_status apsis_slab_renumber(apsis_context *context, int64_t columns, const apsis_slab_labels *joined,
                                 apsis_slab_labels *slabs, int64_t slab_count) {
    return guard("slab_renumber", context, [&] { renumber(*context, columns, joined, slabs, slab_count); });
}

apsis_status apsis_slab_components(apsis_context *context, const apsis_image *set, const apsis_slab_labels *slab,
                                   const apsis_image *labels, const apsis_options *options) {
    return guard("slab_components", context, [&] {
        ComponentsJob job = check_slab_components(*context, set, slab, labels, options);
        int64_t found = 0;
        job.count = &found;
        if (job.set.pixels() > 0) run(*context, job);
        if (found != slab->count)
            throw Error(APSIS_ERROR_ARGUMENT, "slab: count is %lld, but the set has %lld components with these options",
                        static_cast<long long>(slab->count), static_cast<long long>(found));
    });
}

void apsis_slab_measure(int64_t count, const apsis_part *parts, apsis_component *components) {
    for (int64_t i = 0; parts && components && i < count; ++i) components[i] = component_of(parts[i]);
}

apsis_status apsis_voronoi(apsis_context *context, const apsis_image *set, const apsis_image *cells,
                           const apsis_options *options) {
    return guard("voronoi", context, [&] {
        const VoronoiJob job = check_voronoi(*context, set, cells, options, true);
        if (job.set.pixels() > 0) run(*context, job);
    });
}

apsis_status apsis_components(apsis_context *context, const apsis_image *set, const apsis_image *labels,
                              apsis_component *components, int64_t capacity, int64_t *count, const apsis_options *options) {
    return guard("components", context, [&] {
        ComponentsJob job = check_components(*context, set, labels, options, true);
        job.components = components;
        job.capacity = capacity;
        job.count = count;
        check_labels(job);
        check_array(job);
        if (count) *count = 0;
        if (job.set.pixels() > 0 && (labels || components || count)) run(*context, job);
    });
}

apsis_status apsis_statistics(apsis_context *context, const apsis_image *labels, apsis_component *components, int64_t capacity,
                              int64_t *count, const apsis_options *options) {
    return guard("statistics", context, [&] {
        StatisticsJob job = check_statistics(*context, labels, options, true);
        check_capacity("components", components, capacity);
        std::vector<apsis_part> found;
        int64_t told = -1;
        job.found = &found;
        if (!job.is_dense) job.components = components, job.capacity = capacity, job.told = &told;
        if (job.set.pixels() > 0 && (components || count)) run(*context, job);
        finish(job, components, capacity, count);
    });
}

apsis_status apsis_contacts(apsis_context *context, const apsis_image *labels, apsis_contact *contacts, int64_t capacity,
                            int64_t *count, const apsis_options *options) {
    return guard("contacts", context, [&] {
        ContactsJob job = check_contacts(*context, labels, options, true);
        check_capacity("contacts", contacts, capacity);
        std::vector<apsis_contact> found;
        int64_t told = -1;
        job.found = &found, job.contacts = contacts, job.capacity = capacity, job.told = &told;
        if (job.set.pixels() > 0 && (contacts || count)) run(*context, job);
        finish(job, contacts, capacity, count);
    });
}

apsis_status apsis_geodesic(apsis_context *context, const apsis_image *set, const apsis_image *seeds,
                            const apsis_image *distance, const apsis_image *nearest, const apsis_options *options) {
    return guard("geodesic", context, [&] {
        const GeodesicJob job = check_geodesic(*context, set, seeds, distance, nearest, options, true);
        if (job.set.pixels() > 0 && (distance || nearest)) run(*context, job);
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
        check_array(job);
        if (count) *count = 0;
        const bool has_output = eccentricity || farthest || extents || count;
        if (job.set.pixels() > 0 && (has_output || context->ranks > 1)) run(*context, job);
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
        if (view.pixels() > 0) context->refuse_capture("memory is to be allocated");
        if (view.pixels() > 0) wanted.data = context->allocate(memory, static_cast<size_t>(packed_bytes(view)));
        for (int a = 0; a < 3; ++a) wanted.stride[a] = a < wanted.ndim ? view.stride[a] : 0;
        *image = wanted;
    });
}

void apsis_free(apsis_context *context, apsis_image *image) {
    if (!context || !image || !image->data) return;
    guard("free", context->message, [&] {
        const View view = check_image("image", image, Role::ANY_INPUT);
        const auto release = [&] {
            context->release(view.memory, image->data, static_cast<size_t>(packed_bytes(view)));
            image->data = nullptr;
        };
        try {
            if (view.memory == APSIS_DEVICE) context->backend->sync();
        } catch (const Error &error) {
            if (error.status == APSIS_ERROR_DEVICE) release();  // a stream that is captured will end, and then it can be freed
            throw;
        }
        release();
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
        for (const auto &other : context->others) other->threads = threads;
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
        const apsis_context &on = *context;
        switch (raw(transform)) {
            case APSIS_DISTANCE:
                *bytes = workspace_of(on, check_distance(on, images[0], images[1], images[2], options, false));
                break;
            case APSIS_VORONOI: *bytes = workspace_of(on, check_voronoi(on, images[0], images[1], options, false)); break;
            case APSIS_COMPONENTS: {
                const ComponentsJob job = check_components(on, images[0], images[1], options, false);
                check_labels(job);
                *bytes = workspace_of(on, job);
                break;
            }
            case APSIS_GEODESIC:
                *bytes = workspace_of(on, check_geodesic(on, images[0], images[1], images[2], images[3], options, false));
                break;
            case APSIS_STATISTICS: *bytes = workspace_of(on, check_statistics(on, images[0], options, false)); break;
            case APSIS_MORPHOLOGY: *bytes = morphology_workspace(on, images[0], images[1], options); break;
            case APSIS_CONTACTS: *bytes = workspace_of(on, check_contacts(on, images[0], options, false)); break;
            default: *bytes = workspace_of(on, check_eccentricity(on, images[0], images[1], images[2], options, false));
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

apsis_status apsis_set_allreduce(apsis_context *context, int rank, int ranks, apsis_allreduce_fn allreduce, void *user) {
    return guard("set_allreduce", context, [&] {
        if (ranks < 1) throw Error(APSIS_ERROR_ARGUMENT, "ranks is %d, but must be 1 or more", ranks);
        if (rank < 0 || rank >= ranks)
            throw Error(APSIS_ERROR_ARGUMENT, "rank is %d, but must be from 0 to %d", rank, ranks - 1);
        if (ranks > 1 && !allreduce)
            throw Error(APSIS_ERROR_ARGUMENT, "allreduce is NULL, but ranks is %d, and numbers must go between them", ranks);
        if (ranks > 1 && context->own_memory() == APSIS_DEVICE)
            throw Error(APSIS_ERROR_UNSUPPORTED,
                        "the context is a CUDA one, and fields go between devices faster than through the "
                        "host: see apsis_create_devices");
        context->allreduce_fn = allreduce;
        context->allreduce_user = user;
        context->rank = rank;
        context->ranks = ranks;
    });
}

apsis_status apsis_set_log(apsis_context *context, apsis_log_fn log, void *user) {
    return guard("set_log", context, [&] {
        context->log_fn = log;
        context->log_user = user;
    });
}
