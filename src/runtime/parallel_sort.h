// Sorting on all threads of an arena: apart from parallel.h, as it needs headers of oneTBB.
#pragma once

#include <algorithm>

#include "runtime/parallel.h"

#ifndef APSIS_SERIAL
#include <tbb/parallel_sort.h>

#include <stdexcept>
#endif

namespace apsis {

/// Sorts on all threads of the arena, or on the caller's alone if no other can be started.
template <class Iterator>
void parallel_sort([[maybe_unused]] Arena &arena, Iterator begin, Iterator end) {
#ifdef APSIS_SERIAL
    std::sort(begin, end);
#else
    if (arena.threads() == 1 || has_lost_threads()) return std::sort(begin, end);
    arena.execute([&] {
        try {
            tbb::parallel_sort(begin, end);
        } catch (const std::runtime_error &) {  // only from oneTBB, which finds out first
            std::sort(begin, end);
        }
    });
#endif
}

}  // namespace apsis
