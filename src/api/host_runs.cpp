// Jobs of a device that are the work of the host: see host_runs.h.
#include "api/host_runs.h"

#include <initializer_list>
#include <vector>

#include "api/jobs.h"
#include "runtime/staging.h"

namespace apsis {
namespace {

/// Runs a job, of these views, on a CPU context that tells what this one would tell.
template <class Job>
void run_copy(apsis_context &context, Job &job, std::initializer_list<View *> inputs, std::initializer_list<View *> outputs) {
    context.refuse_capture("knight's moves are the work of the host");
    std::vector<std::unique_ptr<uint8_t[]>> copies;
    const auto to_host = [&](View &view) {
        copies.push_back(std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(packed_bytes(view))));
        view = packed_like(view, copies.back().get(), APSIS_HOST);
    };
    const auto is_far = [](const View &view) { return view && view.memory == APSIS_DEVICE; };
    for (View *view : inputs) {
        if (!is_far(*view)) continue;
        const View from = *view;
        to_host(*view);
        copy_between(context, from, *view);
    }
    std::vector<View> told;
    for (View *view : outputs) {
        told.push_back(*view);
        if (is_far(*view)) to_host(*view);
    }
    const std::unique_ptr<apsis_context> host = host_context_like(context);
    const auto copy_back = [&] {
        size_t i = 0;
        for (const View *view : outputs)
            if (const View &to = told[i++]; is_far(to)) copy_between(context, *view, to);
    };
    try {
        run(*host, job);
    } catch (const Error &error) {
        if (error.status == APSIS_ERROR_BUDGET) copy_back();  // they are bounds
        throw;
    }
    copy_back();
}

}  // namespace

std::unique_ptr<apsis_context> host_context_like(const apsis_context &context) {
    auto host = std::make_unique<apsis_context>(make_cpu_backend());
    host->backend->set_threads(context.threads);
    host->threads = context.threads;
    host->progress_fn = context.progress_fn, host->progress_user = context.progress_user;
    host->log_fn = context.log_fn, host->log_user = context.log_user;
    return host;
}

bool is_for_host(const apsis_context &context, const Steps &steps) {
    return steps.knight != 0 && context.own_memory() == APSIS_DEVICE;
}

void run_on_host(apsis_context &context, const GeodesicJob &job) {
    GeodesicJob own = job;
    run_copy(context, own, {&own.set, &own.seeds, &own.values}, {&own.distance, &own.nearest});
}

void run_on_host(apsis_context &context, const EccentricityJob &job) {
    EccentricityJob own = job;
    run_copy(context, own, {&own.set}, {&own.eccentricity, &own.farthest});
}

}  // namespace apsis
