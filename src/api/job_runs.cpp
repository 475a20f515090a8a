// Runs jobs on the back end: makes the workspace, and stages images that the back end cannot reach.
#include <algorithm>

#include "api/cut_runs.h"
#include "api/jobs.h"
#include "runtime/staging.h"
#include "runtime/streamer.h"

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
    job.set = staging.set(job.set);
    return job;
}
ComponentsJob stage_job(ComponentsJob job, Staging &staging) {
    job.set = staging.set(job.set);
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
    job.set = staging.set(job.set);
    stage_output(job.eccentricity, staging);
    stage_output(job.farthest, staging);
    return job;
}

/// Gives the sets of a job the type that they are staged with.
template <class Job>
Job with_staged_types(Job job) {
    const auto narrow = [](View &set) {
        if (is_wide(set.type)) set = bits_like(set, set.data, set.memory);
    };
    if constexpr (std::is_base_of_v<DistanceJob, Job>) {
        if (!job.labels) narrow(job.set);
    } else {
        narrow(job.set);
    }
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
    if (job.as_parts || job.told.is_any) return "what slabs tell is in host memory";
    return job.components || job.count ? "components and their count are for the host" : nullptr;
}
const char *waits(const apsis_context &, const GeodesicJob &job) {
    return job.told ? "what slabs tell is in host memory" : nullptr;
}
const char *waits(const apsis_context &, const EccentricityJob &) { return "eccentricities take as many fields as it needs"; }

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
size_t workspace_of(const apsis_context &context, const GeodesicJob &job) { return staged_bytes(context, job); }
size_t workspace_of(const apsis_context &context, const EccentricityJob &job) { return staged_bytes(context, job); }

void run_here(apsis_context &context, const DistanceJob &job) {
    void *const memory = context.scratch(workspace_of(context, job));
    log_start(context, "distance", job.set);
    if (TransferQueue *queue = find_transfer_queue(context, job)) return stream_distance(context, job, *queue, memory);
    run_reported(context, job, memory,
                 [&](const DistanceJob &own, void *scratch) { context.backend->distance(own, scratch, context.progress()); });
}

void run(apsis_context &context, const SummaryJob &job) {
    if (job.set.pixels() == 0) {
        if (job.first) std::fill_n(job.first, job.columns(), INT64_MAX);
        if (job.last) std::fill_n(job.last, job.columns(), -1);
        return;
    }
    void *const memory = context.scratch(staged_bytes(context, job));
    log_start(context, "slab summary", job.set);
    run_staged(context, job, memory,
               [&](const SummaryJob &own, void *scratch) { context.backend->summary(own, scratch, context.progress()); });
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
    void *const memory = context.scratch(workspace_of(context, job), job.is_found() ? context.found->bytes : 0);
    log_start(context, "components", job.set);
    run_staged(context, job, memory,
               [&](const ComponentsJob &own, void *scratch) { context.backend->components(own, scratch, context.progress()); });
    if (job.components || job.count) context.backend->sync();
}

void keep_found(apsis_context &context, const ComponentsJob &job) {
    if (context.has_callers_workspace()) return;
    apsis_image set = {};
    set.type = APSIS_U8, set.memory = context.own_memory(), set.ndim = job.axes;
    std::copy_n(job.set.size, job.axes, set.size);
    const size_t bytes = job.set.pixels() > 0 ? context.backend->components_scratch(job) : 0;
    context.found = {set, job.connectivity, job.complement, bytes};
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

void run(apsis_context &context, const GeodesicJob &job) {
    check_capture(context, job);
    void *const memory = context.scratch(workspace_of(context, job));
    log_start(context, "geodesic", job.set);
    run_staged(context, job, memory,
               [&](const GeodesicJob &own, void *scratch) { context.backend->geodesic(own, scratch, context.progress()); });
}

void run(apsis_context &context, const EccentricityJob &job) {
    check_capture(context, job);
    void *const memory = context.scratch(workspace_of(context, job));
    log_start(context, "eccentricity", job.set);
    EccentricityJob::Report report{};
    const Progress progress = [&context, &report, told = context.progress(), logged = int64_t(0)](double done) mutable {
        if (report.fields != logged)
            context.log("eccentricity: %lld fields, %lld pixels left", static_cast<long long>(logged = report.fields),
                        static_cast<long long>(report.open));
        if (told) told(done);
    };
    run_staged(context, job, memory, [&](EccentricityJob own, void *scratch) {
        own.report = &report;
        context.backend->eccentricity(own, scratch, progress);
    });
    context.backend->sync();  // the report is a local variable
    context.log("eccentricity: %lld fields for %lld components, at most %lld for one", static_cast<long long>(report.fields),
                static_cast<long long>(report.components), static_cast<long long>(report.most_fields));
    if (report.unproved)
        throw Error(APSIS_ERROR_BUDGET,
                    "options: budget is %lld, not enough for %lld of %lld components; the largest gap is %g",
                    static_cast<long long>(job.budget), static_cast<long long>(report.unproved),
                    static_cast<long long>(report.components), report.gap);
}

}  // namespace apsis
