// What is known of the values of label images, and of their contacts, of slabs and of parts of them: added up.
#pragma once

#include <vector>

#include "runtime/measures_job.h"

namespace apsis::slabs {

/// Puts the parts of a slab at their places in the image: `start` rows lie before it.
void place_parts(const View &labels, int axes, int64_t start, std::vector<apsis_part> &parts);

void place_sums(const View &labels, int axes, int64_t start, ValueSums &sums);

/// Adds up those of equal values, in ascending order.  Returns how many there are.
int64_t merge_parts(int64_t count, apsis_part *parts);
int64_t merge_sums(int64_t count, apsis_sums *sums);

/// The sums of a value as files and messages hold them, and back.  What is not wanted is 0 there.
apsis_sums record_of(uint32_t wanted, const ValueSums &sums);
ValueSums sums_of(const apsis_sums &record);

/// Adds up faces and corners of equal pairs, in ascending order, and leaves out pairs that have none any more.  Returns how
/// many there are.
int64_t merge_contacts(int64_t count, apsis_contact *contacts);

}  // namespace apsis::slabs
