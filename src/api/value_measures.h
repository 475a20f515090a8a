// apsis_measures, also of slabs: what is checked, how sums are found, and what follows from them.
#pragma once

#include "runtime/measures_job.h"

namespace apsis {

/// The axes whose coordinates a second moment multiplies, in the order of apsis_measure.
constexpr int MOMENT_AXES[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

/// Fills in what is wanted of images with the job's axes.
void take_wanted(uint32_t wanted, MeasuresJob &job);
void take_options(const char *function, const apsis_options *given, MeasuresJob &job);

/// Checks the images, what is wanted of them, and the options of a call.
MeasuresJob check_measures(const char *function, const apsis_context &context, const apsis_image *labels,
                           const apsis_image *grey, uint32_t wanted, const apsis_options *given);

/// Finds the sums on the back end; if it has no kernels for them, or not enough memory, on the host.
void run(apsis_context &context, MeasuresJob &job, Arena &arena);

/// What follows from the sums of a value.
apsis_measure measure_of(const MeasuresJob &job, const ValueSums &sums);

}  // namespace apsis
