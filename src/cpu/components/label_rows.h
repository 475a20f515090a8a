// Writes a row of the output of apsis_components, numbers or a set, from the runs of the row and the numbers of their parts.
#pragma once

#include "cpu/components/thread_scratch.h"

namespace apsis::cpu::components {

/// The scratch memory has the ends of the row's runs; `part` holds the part of each.  A set is written as its complement, if it
/// is one.
void write_row(const View &labels, bool complement, const ThreadScratch &scratch, int64_t runs, const uint32_t *part, int64_t y,
               int64_t z);

}  // namespace apsis::cpu::components
