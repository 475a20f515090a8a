// Runs a job on host images in slabs: over the devices of a context, or one after another on a device whose memory is too small
// for the whole.
#pragma once

#include "api/jobs.h"

namespace apsis {

/// Whether a job can be run in slabs.
bool can_be_cut(const apsis_context &context, const DistanceJob &job);
bool can_be_cut(const apsis_context &context, const ComponentsJob &job);
bool can_be_cut(const apsis_context &context, const StatisticsJob &job);
bool can_be_cut(const apsis_context &context, const ContactsJob &job);

/// Cuts the job into a slab for each device of the context, or, for one device alone, into two; into more where memory runs
/// out.
void run_in_slabs(apsis_context &context, const DistanceJob &job);
void run_in_slabs(apsis_context &context, const ComponentsJob &job);
void run_in_slabs(apsis_context &context, const StatisticsJob &job);
void run_in_slabs(apsis_context &context, const ContactsJob &job);

}  // namespace apsis
