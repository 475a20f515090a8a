// Threads of the CPU back end: a oneTBB arena a context, loops that report progress and can be cancelled, and sums that
// threads share.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <thread>

#include "backend.h"

namespace apsis {

/// Runs body(i) for 0 <= i < count, in any order and on any thread of the arena.  The calling thread reports progress
/// between `from` and `to` as the loop goes.
///
/// oneTBB orders the caller before the bodies and those before the return, but no race detector sees that inside a
/// library that it does not instrument: `done` says it once more, in so many words.
template <class Body>
void parallel_for(tbb::task_arena &arena, int64_t count, const Progress &progress, double from, double to, Body body) {
    std::atomic<int64_t> done;
    done.store(0, std::memory_order_release);
    struct Join {
        std::atomic<int64_t> &done;
        ~Join() { done.load(std::memory_order_acquire); }
    } join{done};
    const std::thread::id caller = std::this_thread::get_id();
    arena.execute([&] {
        // A context of our own keeps a cancelled call from cancelling the caller's own loops.
        tbb::task_group_context group(tbb::task_group_context::isolated);
        tbb::parallel_for(tbb::blocked_range<int64_t>(0, count, 1), [&](const tbb::blocked_range<int64_t> &range) {
            done.load(std::memory_order_acquire);
            for (int64_t i = range.begin(); i < range.end(); ++i) {
                body(i);
                if (progress && std::this_thread::get_id() == caller)
                    progress(from + (to - from) * static_cast<double>(done + 1) / static_cast<double>(count));
                ++done;
            }
        }, tbb::auto_partitioner(), group);
    });
    if (progress) progress(to);  // whoever ran the last body
}

/// Nothing else is ordered by it.
inline void add_shared(int64_t &to, int64_t value) {
    std::atomic_ref<int64_t>(to).fetch_add(value, std::memory_order_relaxed);
}

}  // namespace apsis
