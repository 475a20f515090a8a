// Jobs of a device that are the work of the host: such as paths with knight's moves, for which devices have no kernels.
#pragma once

#include <memory>

#include "runtime/context.h"

namespace apsis {

bool is_for_host(const apsis_context &context, const Steps &steps);

/// A CPU context with as many threads, that tells what this one would tell.
std::unique_ptr<apsis_context> host_context_like(const apsis_context &context);

/// Runs a job on the CPU, on copies of images in device memory.  Returns when it is done.
void run_on_host(apsis_context &context, const GeodesicJob &job);
void run_on_host(apsis_context &context, const EccentricityJob &job);

}  // namespace apsis
