// Writes a row of the output of apsis_components, numbers or a set, from the runs of the row and the numbers of their parts.
#pragma once

#include "cpu/components/thread_scratch.h"

namespace apsis::cpu::components {

/// `bits` are the row of the set; `part` holds the part of each of its runs.  A set is written as its complement, if it is one.
void write_row(const View &labels, bool complement, const ThreadScratch &scratch, const uint64_t *bits, const uint32_t *part,
               int64_t y, int64_t z);

}  // namespace apsis::cpu::components
