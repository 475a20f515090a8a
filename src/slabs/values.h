// What is known of the values of label images, and of their contacts, of slabs and of parts of them: added up.
#pragma once

#include <vector>

#include "runtime/backend.h"

namespace apsis::slabs {

/// Puts the parts of a slab at their places in the image: `start` rows lie before it.
void place_parts(const View &labels, int axes, int64_t start, std::vector<apsis_part> &parts);

/// Adds up those of equal values, in ascending order.  Returns how many there are.
int64_t merge_parts(int64_t count, apsis_part *parts);

/// Adds up faces and corners of equal pairs, in ascending order, and leaves out pairs that have none any more.  Returns how
/// many there are.
int64_t merge_contacts(int64_t count, apsis_contact *contacts);

}  // namespace apsis::slabs
