// Threads of the CPU back end: an arena a context, loops that report progress and can be cancelled, and sums that threads
// share.  They are oneTBB's, and nothing else knows it; a build without it, APSIS_SERIAL, has the caller's thread alone.
#pragma once

#ifndef APSIS_SERIAL
#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif

#include <atomic>
#include <stdexcept>
#include <thread>

#include "runtime/backend.h"

namespace apsis {

#ifdef APSIS_SERIAL

/// The one thread that there is.
class Arena {
  public:
    explicit Arena(int) {}
    int threads() const { return 1; }
    static int cores() { return 1; }
    static int thread() { return 0; }
};

/// Runs body(i) for 0 <= i < count, and reports progress between `from` and `to` as the loop goes.
template <class Body>
void parallel_for(Arena &, int64_t count, const Progress &progress, double from, double to, Body body) {
    for (int64_t i = 0; i < count; ++i) {
        body(i);
        if (progress) progress(from + (to - from) * static_cast<double>(i + 1) / static_cast<double>(count));
    }
    if (progress) progress(to);  // a loop without bodies too
}

#else

/// Whether this process was forked from one that has started threads for an arena.  They are not here, and what one of them had
/// locked is locked for good: oneTBB is not called, and each loop is its caller's alone.
bool has_lost_threads() noexcept;

/// An arena of oneTBB's, which never gives back all that it keeps of one: so contexts leave theirs to each other.
struct SharedArena {
    tbb::task_arena arena;
    SharedArena *next = nullptr;  // of those that no context has
};

/// At most so many threads, the caller among them, from the pool that all contexts share.
class Arena {
  public:
    explicit Arena(int threads) : threads_(threads) {}
    ~Arena();
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;

    int threads() const { return threads_; }
    /// Runs this on a thread of it, and waits.
    template <class Task>
    void execute(const Task &task) {
        if (!shared_) start();
        shared_->arena.execute(task);
    }

    static int cores() { return tbb::info::default_concurrency(); }  // more in an arena, and oneTBB prints a warning
    /// The number of the calling thread, below threads(); negative outside of an arena.
    static int thread() { return has_lost_threads() ? 0 : tbb::this_task_arena::current_thread_index(); }

  private:
    /// Throws std::bad_alloc, and may be tried again.
    void start();

    int threads_;
    SharedArena *shared_ = nullptr;  // from the first task on
};

/// Runs body(i) for 0 <= i < count, in any order and on any thread of the arena.  The calling thread reports progress
/// between `from` and `to` as the loop goes.
///
/// Where there are no threads to be had, the caller runs all bodies.
///
/// oneTBB orders the caller before the bodies and those before the return, but no race detector sees that inside a
/// library that it does not instrument: `done` says it once more, in so many words.
template <class Body>
void parallel_for(Arena &arena, int64_t count, const Progress &progress, double from, double to, Body body) {
    std::atomic<int64_t> done;
    done.store(0, std::memory_order_release);
    struct Join {
        std::atomic<int64_t> &done;
        ~Join() { done.load(std::memory_order_acquire); }
    } join{done};
    const std::thread::id caller = std::this_thread::get_id();
    const auto run = [&](int64_t i) {
        body(i);
        if (progress && std::this_thread::get_id() == caller)
            progress(from + (to - from) * static_cast<double>(done + 1) / static_cast<double>(count));
        ++done;
    };
    const auto run_all = [&] {
        for (int64_t i = 0; i < count; ++i) run(i);
    };
    if (has_lost_threads()) {
        run_all();
    } else {
        arena.execute([&] {
            // A context of our own keeps a cancelled call from cancelling the caller's own loops.
            tbb::task_group_context group(tbb::task_group_context::isolated);
            try {
                tbb::parallel_for(
                    tbb::blocked_range<int64_t>(0, count, 1),
                    [&](const tbb::blocked_range<int64_t> &range) {
                        done.load(std::memory_order_acquire);
                        for (int64_t i = range.begin(); i < range.end(); ++i) run(i);
                    },
                    tbb::auto_partitioner(), group);
            } catch (const std::runtime_error &error) {  // oneTBB's alone: it cannot start a thread, which it finds out first
                if (done > 0) throw Error(APSIS_ERROR_MEMORY, "a thread cannot be started: %s", error.what());
                run_all();
            }
        });
    }
    if (progress) progress(to);  // whoever ran the last body
}

#endif

/// Nothing else is ordered by it.
inline void add_shared(int64_t &to, int64_t value) { std::atomic_ref<int64_t>(to).fetch_add(value, std::memory_order_relaxed); }

}  // namespace apsis
