// Jobs of a device that are the work of the host: paths with knight's moves, for which devices have no kernels.
#pragma once

#include "runtime/context.h"

namespace apsis {

bool is_for_host(const apsis_context &context, const Steps &steps);

/// Runs a job on the CPU, on copies of images in device memory.  Returns when it is done.
void run_on_host(apsis_context &context, const GeodesicJob &job);
void run_on_host(apsis_context &context, const EccentricityJob &job);

}  // namespace apsis
