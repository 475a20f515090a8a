// Runs jobs on the back end: makes the workspace, and stages images that the back end cannot reach.
#include <algorithm>
#include <vector>

#include "api/cut_runs.h"
#include "api/host_runs.h"
#include "api/jobs.h"
#include "api/workers.h"
#include "runtime/staging.h"
#include "runtime/streamer.h"
#include "runtime/team.h"

namespace apsis {

namespace {

// Moves a job to the back end's own memory: images that it cannot reach become device copies carved from the workspace.

void stage_output(View &view, Staging &staging) {
    if (view) view = staging.output(view);
}

DistanceJob stage_job(DistanceJob job, Staging &staging) {
    const bool apart = job.values && is_wide(job.set.type);
    if (apart) job.values = staging.input(job.values);
    job.set = job.labels ? staging.input(job.set) : staging.set(job.set);
    if (job.values && !apart) job.values = job.set;
    stage_output(job.distance, staging);
    stage_output(job.nearest, staging);
    return job;
}
VoronoiJob stage_job(VoronoiJob job, Staging &staging) {
    static_cast<DistanceJob &>(job) = stage_job(static_cast<const DistanceJob &>(job), staging);
    return job;
}
SummaryJob stage_job(SummaryJob job, Staging &staging) {
    job.set = job.labels ? staging.input(job.set) : staging.set(job.set);
    return job;
}
ComponentsJob stage_job(ComponentsJob job, Staging &staging) {
    job.set = job.by_value ? staging.input(job.set) : staging.set(job.set);
    for (View *told : {&job.told.first, &job.told.last, &job.told.numbers})
        if (*told) *told = staging.input(*told);
    stage_output(job.labels, staging);
    stage_output(job.first, staging);
    stage_output(job.last, staging);
    return job;
}
GeodesicJob stage_job(GeodesicJob job, Staging &staging) {
    job.set = staging.set(job.set);
    const bool apart = job.values && is_wide(job.seeds.type);
    if (apart) job.values = staging.input(job.values);
    job.seeds = staging.set(job.seeds);
    if (job.values && !apart) job.values = job.seeds;
    if (job.entering) job.entering = staging.input(job.entering);
    stage_output(job.distance, staging);
    stage_output(job.nearest, staging);
    stage_output(job.told, staging);
    return job;
}
EccentricityJob stage_job(EccentricityJob job, Staging &staging) {
    job.set = job.by_value ? staging.input(job.set) : staging.set(job.set);
    stage_output(job.eccentricity, staging);
    stage_output(job.farthest, staging);
    return job;
}

/// A label image keeps its values.
template <class LabelsJob>
LabelsJob stage_labels(LabelsJob job, Staging &staging) {
    job.set = staging.input(job.set);
    return job;
}
StatisticsJob stage_job(const StatisticsJob &job, Staging &staging) { return stage_labels(job, staging); }
ContactsJob stage_job(const ContactsJob &job, Staging &staging) { return stage_labels(job, staging); }

/// Gives the sets of a job the type that they are staged with.
template <class Job>
Job with_staged_types(Job job) {
    const auto narrow = [](View &set) {
        if (is_wide(set.type)) set = bits_like(set, set.data, set.memory);
    };
    if constexpr (std::is_same_v<Job, ComponentsJob> || std::is_same_v<Job, EccentricityJob>)
        if (job.by_value) return job;
    if constexpr (std::is_base_of_v<DistanceJob, Job>)
        if (job.labels) return job;
    if constexpr (std::is_same_v<Job, StatisticsJob> || std::is_same_v<Job, ContactsJob>) return job;
    narrow(job.set);
    if constexpr (std::is_same_v<Job, GeodesicJob>) narrow(job.seeds);
    return job;
}

// The scratch memory that the back end needs beside them.

int64_t scratch_of(const Backend &backend, const DistanceJob &job) {
    return static_cast<int64_t>(backend.distance_scratch(job));
}
int64_t scratch_of(const Backend &backend, const VoronoiJob &job) { return static_cast<int64_t>(backend.voronoi_scratch(job)); }
int64_t scratch_of(const Backend &backend, const SummaryJob &job) { return static_cast<int64_t>(backend.summary_scratch(job)); }
int64_t scratch_of(const Backend &backend, const ComponentsJob &job) {
    return static_cast<int64_t>(backend.components_scratch(job));
}
int64_t scratch_of(const Backend &backend, const GeodesicJob &job) {
    return static_cast<int64_t>(backend.geodesic_scratch(job));
}
int64_t scratch_of(const Backend &backend, const EccentricityJob &job) {
    return static_cast<int64_t>(backend.eccentricity_scratch(job));
}
int64_t scratch_of(const Backend &backend, const StatisticsJob &job) {
    return static_cast<int64_t>(backend.statistics_scratch(job));
}
int64_t scratch_of(const Backend &backend, const ContactsJob &job) {
    return static_cast<int64_t>(backend.contacts_scratch(job));
}

template <class Job>
size_t staged_bytes(const apsis_context &context, const Job &job) {
    if (job.set.pixels() == 0) return 0;
    Carver count;
    Staging staging(context, count);
    stage_job(job, staging);
    count.take<uint8_t>(scratch_of(*context.backend, with_staged_types(job)));
    return count.used();
}

/// Calls transform(job, scratch) with the job on the back end's own memory.
template <class Job, class Transform>
void run_staged(apsis_context &context, const Job &job, void *memory, Transform transform) {
    Carver carver(memory);
    Staging staging(context, carver);
    void *const scratch =
        carver.take<uint8_t>(scratch_of(*context.backend, with_staged_types(job)));  // first: what a slab has found stays there
    const Job own = stage_job(job, staging);
    staging.run([&] { transform(own, scratch); });
}

// Why a job cannot be captured, or nullptr.  In these jobs the host waits in the middle, and acts on results of the device.

const char *waits(const apsis_context &context, const DistanceJob &job) {
    if (job.method == APSIS_RASTER_SCAN) return "the number of kernels of APSIS_RASTER_SCAN depends on the image";
    if (job.method != APSIS_AUTO && context.log_fn) return "the log tells what a published method took";
    return nullptr;
}
const char *waits(const apsis_context &, const ComponentsJob &job) {
    if (job.as_parts || job.told.is_any) return "what slabs tell may be in host memory";
    return job.components || job.count ? "components and their count are for the host" : nullptr;
}
const char *waits(const apsis_context &, const GeodesicJob &job) {
    return job.told ? "what slabs tell is in host memory" : nullptr;
}
const char *waits(const apsis_context &, const EccentricityJob &) { return "eccentricities take as many fields as it needs"; }

const char *waits(const apsis_context &, const StatisticsJob &) { return "what is known of values is for the host"; }
const char *waits(const apsis_context &, const ContactsJob &) { return "contacts are for the host"; }

/// Throws if the call cannot be captured, before any work is queued.
template <class Job>
void check_capture(const apsis_context &context, const Job &job) {
    Carver count;
    Staging staging(context, count);
    stage_job(job, staging);
    const char *why = waits(context, job);
    if (!why && context.progress_fn) why = "a progress callback is told of what is done";
    if (!why && staging.crosses()) why = "an image is in host memory";
    if (why) context.refuse_capture(why);
}

void log_start(const apsis_context &context, const char *name, const View &set) {
    context.log("%s: %lld x %lld x %lld pixels on %s", name, static_cast<long long>(set.size[0]),
                static_cast<long long>(set.size[1]), static_cast<long long>(set.size[2]), context.backend->name());
}

const char *words_of(apsis_method method) {
    switch (method) {
        case APSIS_RASTER_SCAN: return "raster scan";
        case APSIS_JUMP_FLOOD: return "jump flooding";
        case APSIS_SEQUENTIAL_SCAN: return "sequential scan";
        default: return "sweep";
    }
}

/// Runs a job.  If it is by a published method, logs the work that it took.
template <class Job, class Transform>
void run_reported(apsis_context &context, Job job, void *memory, Transform transform) {
    DistanceJob::Report report{};
    if (context.log_fn && job.method != APSIS_AUTO) job.report = &report;
    run_staged(context, job, memory, transform);
    if (!job.report) return;
    context.backend->sync();  // the report is a local variable
    context.log("%s: %lld instances, %lld pixels mended", words_of(job.method), static_cast<long long>(report.kernels),
                static_cast<long long>(report.mended));
}

}  // namespace

size_t workspace_of(const apsis_context &context, const DistanceJob &job) {
    if (job.set.pixels() == 0) return 0;
    if (TransferQueue *queue = find_transfer_queue(context, job)) return streaming_bytes(job, *queue);
    return staged_bytes(context, job);
}
size_t workspace_of(const apsis_context &context, const VoronoiJob &job) {
    if (!job.connected) return workspace_of(context, static_cast<const DistanceJob &>(job));
    return staged_bytes(context, job);
}
size_t workspace_of(const apsis_context &context, const ComponentsJob &job) { return staged_bytes(context, job); }
size_t workspace_of(const apsis_context &context, const GeodesicJob &job) {
    return is_for_host(context, job.steps) ? 0 : staged_bytes(context, job);
}
size_t workspace_of(const apsis_context &context, const EccentricityJob &job) {
    return is_for_host(context, job.steps) ? 0 : staged_bytes(context, job);
}
size_t workspace_of(const apsis_context &context, const StatisticsJob &job) { return staged_bytes(context, job); }
size_t workspace_of(const apsis_context &context, const ContactsJob &job) { return staged_bytes(context, job); }

namespace {

/// The bytes of the workspace that hold what a job has from the call before.
size_t kept_bytes(const apsis_context &context, bool is_found) { return is_found ? context.found->bytes : 0; }

/// Notes that the workspace holds so many bytes of what was found of a slab.
template <class Job>
void keep_found(apsis_context &context, const Job &job, size_t bytes, int connectivity) {
    if (context.has_callers_workspace()) return;
    apsis_image set = {};
    set.type = APSIS_U8, set.memory = context.own_memory(), set.ndim = job.axes;
    std::copy_n(job.set.size, job.axes, set.size);
    context.found = {set, job.complement, bytes, connectivity};
}

}  // namespace

void run_here(apsis_context &context, const DistanceJob &job) {
    void *const memory = context.scratch(workspace_of(context, job), kept_bytes(context, job.is_found));
    log_start(context, "distance", job.set);
    if (TransferQueue *queue = find_transfer_queue(context, job)) return stream_distance(context, job, *queue, memory);
    run_reported(context, job, memory,
                 [&](const DistanceJob &own, void *scratch) { context.backend->distance(own, scratch, context.progress()); });
}

void run(apsis_context &context, const SummaryJob &job) {
    if (job.set.pixels() == 0) {
        if (job.first) std::fill_n(job.first, job.told(), INT64_MAX);
        if (job.last) std::fill_n(job.last, job.told(), -1);
        if (!job.labels) keep_found(context, job, 0, 0);
        return;
    }
    void *const memory = context.scratch(staged_bytes(context, job), kept_bytes(context, job.is_found));
    log_start(context, "slab summary", job.set);
    run_staged(context, job, memory,
               [&](const SummaryJob &own, void *scratch) { context.backend->summary(own, scratch, context.progress()); });
    if (!job.labels) keep_found(context, job, context.backend->summary_scratch(job), 0);
}

void run(apsis_context &context, const VoronoiJob &job) {
    if (!job.connected) return run(context, static_cast<const DistanceJob &>(job));
    check_capture(context, job);
    void *const memory = context.scratch(workspace_of(context, job));
    log_start(context, "voronoi", job.set);
    run_reported(context, job, memory,
                 [&](const VoronoiJob &own, void *scratch) { context.backend->voronoi(own, scratch, context.progress()); });
}

void run_here(apsis_context &context, const ComponentsJob &job) {
    void *const memory = context.scratch(workspace_of(context, job), kept_bytes(context, job.is_found()));
    log_start(context, "components", job.set);
    run_staged(context, job, memory,
               [&](const ComponentsJob &own, void *scratch) { context.backend->components(own, scratch, context.progress()); });
    if (job.components || job.count) context.backend->sync();
}

void run_parts(apsis_context &context, const ComponentsJob &job) {
    const bool is_empty = job.set.pixels() == 0;
    if (!is_empty) {
        check_capture(context, job);
        run_here(context, job);
    }
    context.found.reset();
    if (job.by_value || job.periodic.any()) return;
    keep_found(context, job, is_empty ? 0 : context.backend->components_scratch(job), job.connectivity);
}

void run_here(apsis_context &context, const StatisticsJob &job) {
    void *const memory = context.scratch(workspace_of(context, job));
    log_start(context, "statistics", job.set);
    run_staged(context, job, memory,
               [&](const StatisticsJob &own, void *scratch) { context.backend->statistics(own, scratch, context.progress()); });
}

void run_here(apsis_context &context, const ContactsJob &job) {
    void *const memory = context.scratch(workspace_of(context, job));
    log_start(context, "contacts", job.set);
    run_staged(context, job, memory,
               [&](const ContactsJob &own, void *scratch) { context.backend->contacts(own, scratch, context.progress()); });
}

namespace {

/// Runs a job on all devices of the context, or on one; in slabs also where memory runs out.
template <class Job>
void run_where_it_fits(apsis_context &context, const Job &job) {
    check_capture(context, job);
    const bool can_cut = can_be_cut(context, job);
    if (can_cut && !context.others.empty()) return run_in_slabs(context, job);
    try {
        run_here(context, job);
    } catch (const Error &error) {
        if (error.status != APSIS_ERROR_MEMORY || !can_cut) throw;
        run_in_slabs(context, job);
    }
}

}  // namespace

void run(apsis_context &context, const DistanceJob &job) { run_where_it_fits(context, job); }
void run(apsis_context &context, const ComponentsJob &job) { run_where_it_fits(context, job); }
void run(apsis_context &context, const StatisticsJob &job) { run_where_it_fits(context, job); }
void run(apsis_context &context, const ContactsJob &job) { run_where_it_fits(context, job); }

void run(apsis_context &context, const GeodesicJob &job) {
    if (is_for_host(context, job.steps)) return run_on_host(context, job);
    check_capture(context, job);
    void *const memory = context.scratch(workspace_of(context, job));
    log_start(context, "geodesic", job.set);
    run_staged(context, job, memory,
               [&](const GeodesicJob &own, void *scratch) { context.backend->geodesic(own, scratch, context.progress()); });
}

namespace {

/// Runs a job on the context's own device, and reports what it took.
void run_here(apsis_context &context, EccentricityJob job, EccentricityJob::Report &report) {
    void *const memory = context.scratch(workspace_of(context, job));
    log_start(context, "eccentricity", job.set);
    job.report = &report;
    const Progress progress = [&context, &report, told = context.progress(), logged = int64_t(0)](double done) mutable {
        if (report.fields != logged)
            context.log("eccentricity: %lld fields, %lld pixels left", static_cast<long long>(logged = report.fields),
                        static_cast<long long>(report.open));
        if (told) told(done);
    };
    run_staged(context, job, memory,
               [&](const EccentricityJob &own, void *scratch) { context.backend->eccentricity(own, scratch, progress); });
    context.backend->sync();  // the report is the caller's
    context.log("eccentricity: %lld fields for %lld components, at most %lld for one", static_cast<long long>(report.fields),
                static_cast<long long>(report.components), static_cast<long long>(report.most_fields));
}

/// The team of a context and others that apsis_set_allreduce has told of.
class DistantTeam final : public Team {
  public:
    explicit DistantTeam(const apsis_context &context) : Team(context.rank, context.ranks), context_(context) {}
    void merge(apsis_type type, void *numbers, int64_t count) override {
        if (context_.allreduce_fn(context_.allreduce_user, type, numbers, count))
            throw Error(APSIS_ERROR_CANCELLED, "the allreduce callback has failed");
    }
    void *const *meet(void *) override { throw Error(APSIS_ERROR_INTERNAL, "a team of several processes cannot meet"); }

  private:
    const apsis_context &context_;
};

/// The team of the devices of a context.
class DeviceTeam final : public Team {
  public:
    DeviceTeam(Workers &workers, size_t i) : Team(static_cast<int>(i), static_cast<int>(workers.count())), workers_(workers) {}
    void *const *meet(void *mine) override { return workers_.meet(static_cast<size_t>(rank), mine); }
    void merge(apsis_type type, void *numbers, int64_t count) override {
        type == APSIS_I32 ? merge_numbers<int32_t>(numbers, count) : merge_numbers<int64_t>(numbers, count);
    }

  private:
    /// Each member finds the largest numbers of a part, and gives them to all.
    template <class Number>
    void merge_numbers(void *numbers, int64_t count) {
        void *const *const all = meet(numbers);
        for (int64_t i = count * rank / size; i < count * (rank + 1) / size; ++i) {
            Number largest = static_cast<const Number *>(all[0])[i];
            for (int k = 1; k < size; ++k) largest = std::max(largest, static_cast<const Number *>(all[k])[i]);
            for (int k = 0; k < size; ++k) static_cast<Number *>(all[k])[i] = largest;
        }
        meet(nullptr);
    }

    Workers &workers_;
};

/// Whether the devices of a context make fields together.  A field from every pixel is for the first alone, and so are images
/// on a device.
bool is_for_all_devices(const apsis_context &context, const EccentricityJob &job) {
    if (context.others.empty() || job.method != APSIS_AUTO) return false;
    for (const View *view : {&job.set, &job.eccentricity, &job.farthest})
        if (*view && view->memory == APSIS_DEVICE) return false;
    std::vector<const Backend *> all = {context.backend.get()};
    for (const auto &other : context.others) all.push_back(other->backend.get());
    for (const Backend *one : all)
        for (const Backend *other : all)
            if (!one->can_read(*other)) return false;
    return true;
}

/// Runs a job on all devices: all find all, the first writes it.
void run_on_all_devices(apsis_context &context, const EccentricityJob &job, EccentricityJob::Report &report) {
    Workers workers(context);
    workers.run(
        0, 1,
        [&](size_t i) {
            DeviceTeam team(workers, i);
            EccentricityJob own = job;
            own.team = &team;
            if (i == 0) return run_here(context, own, report);
            EccentricityJob::Report others{};
            own.eccentricity = own.farthest = {};
            own.extents = nullptr;
            own.capacity = 0;
            own.count = nullptr;
            run_here(workers[i], own, others);
        },
        true);
}

}  // namespace

void run(apsis_context &context, const EccentricityJob &job) {
    if (is_for_host(context, job.steps)) return run_on_host(context, job);
    check_capture(context, job);
    EccentricityJob::Report report{};
    if (is_for_all_devices(context, job)) {
        run_on_all_devices(context, job, report);
    } else if (context.ranks > 1) {
        DistantTeam team(context);
        EccentricityJob own = job;
        own.team = &team;
        run_here(context, own, report);
    } else {
        run_here(context, job, report);
    }
    if (report.unproved)
        throw Error(APSIS_ERROR_BUDGET,
                    "options: budget is %lld, not enough for %lld of %lld components; the largest gap is %g",
                    static_cast<long long>(job.budget), static_cast<long long>(report.unproved),
                    static_cast<long long>(report.components), report.gap);
}

}  // namespace apsis
