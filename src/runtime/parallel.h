// Threads of the CPU back end: one arena a context, loops that report progress and can be cancelled, and sums that threads
// share.  Only these files use oneTBB.  A build without it, APSIS_SERIAL, uses only the caller's thread.
#pragma once

#ifndef APSIS_SERIAL
#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "runtime/backend.h"

namespace apsis {

#ifdef APSIS_SERIAL

/// The caller's thread.
class Arena {
  public:
    explicit Arena(int) {}
    int threads() const { return 1; }
    static int cores() { return 1; }
    static int threads_for(int) { return 1; }
    static int thread() { return 0; }
};

/// Runs body(i) for 0 <= i < count, and reports progress between `from` and `to` as the loop goes.
template <class Body>
void parallel_for(Arena &, int64_t count, const Progress &progress, double from, double to, Body body) {
    for (int64_t i = 0; i < count; ++i) {
        body(i);
        if (progress) progress(from + (to - from) * static_cast<double>(i + 1) / static_cast<double>(count));
    }
    if (progress) progress(to);  // also for an empty loop
}

/// The same within the body of such a loop.
template <class Body>
void nested_for(Arena &arena, int64_t count, Body body) {
    parallel_for(arena, count, {}, 0, 1, body);
}

template <class Iterator>
void parallel_sort(Arena &, Iterator begin, Iterator end) {
    std::sort(begin, end);
}

#else

/// Whether this process was forked from one that had started threads for an arena.  A fork does not copy threads, and a lock
/// that one of them held stays locked.  So oneTBB is not called, and each loop runs on its caller's thread alone.
bool has_lost_threads() noexcept;

/// An arena of oneTBB.  oneTBB never frees all memory of an arena, so contexts reuse the arenas of earlier ones.
struct SharedArena {
    tbb::task_arena arena;
    SharedArena *next = nullptr;  // in the list of idle arenas
};

/// At most so many threads, the caller among them, from the pool that all contexts share.
class Arena {
  public:
    explicit Arena(int threads) : threads_(threads) {}
    ~Arena();
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;

    int threads() const { return threads_; }
    /// Runs a task on a thread of the arena, and waits.
    template <class Task>
    void execute(const Task &task) {
        if (!shared_) start();
        shared_->arena.execute(task);
    }

    static int cores() { return tbb::info::default_concurrency(); }  // with more in an arena oneTBB prints a warning
    /// As many threads as were asked for (apsis_set_threads), or all cores; no more than there are.
    static int threads_for(int asked) { return asked ? std::min(asked, cores()) : cores(); }
    /// The number of the calling thread, below threads(); negative outside of an arena.
    static int thread() { return has_lost_threads() ? 0 : tbb::this_task_arena::current_thread_index(); }

  private:
    /// Throws std::bad_alloc.  After that, it may be called again.
    void start();

    int threads_;
    SharedArena *shared_ = nullptr;  // from the first task on
};

/// Runs body(i) for 0 <= i < count, in any order and on any thread of the arena.  The calling thread reports progress
/// between `from` and `to` as the loop goes.
///
/// If no thread can be started, the caller runs all bodies.
///
/// oneTBB orders the caller before the bodies, and the bodies before the return.  Race detectors do not see this in a library
/// that is not instrumented, so `done` states the order explicitly.
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
            // With an isolated context a cancelled call does not cancel the caller's own loops.
            tbb::task_group_context group(tbb::task_group_context::isolated);
            try {
                tbb::parallel_for(
                    tbb::blocked_range<int64_t>(0, count, 1),
                    [&](const tbb::blocked_range<int64_t> &range) {
                        done.load(std::memory_order_acquire);
                        for (int64_t i = range.begin(); i < range.end(); ++i) run(i);
                    },
                    tbb::auto_partitioner(), group);
            } catch (const std::runtime_error &error) {  // only from oneTBB: it cannot start a thread, which it finds out first
                if (done > 0) throw Error(APSIS_ERROR_MEMORY, "a thread cannot be started: %s", error.what());
                run_all();
            }
        });
    }
    if (progress) progress(to);  // also if another thread ran the last body
}

/// The same within the body of such a loop, or outside of all: idle threads of the arena help.  While a thread waits for them
/// it runs no other body of the outer loop, so that memory which belongs to the thread stays as it was.
template <class Body>
void nested_for(Arena &arena, int64_t count, Body body) {
    const auto loop = [&] { parallel_for(arena, count, {}, 0, 1, body); };
    if (has_lost_threads()) return loop();
    arena.execute([&] { tbb::this_task_arena::isolate(loop); });
}

/// Sorts on all threads of the arena, or on the caller's alone if no other can be started.
template <class Iterator>
void parallel_sort(Arena &arena, Iterator begin, Iterator end) {
    if (arena.threads() == 1 || has_lost_threads()) return std::sort(begin, end);
    arena.execute([&] {
        try {
            tbb::parallel_sort(begin, end);
        } catch (const std::runtime_error &) {  // only from oneTBB, which finds out first
            std::sort(begin, end);
        }
    });
}

#endif

/// An atomic sum, which orders no other accesses.
inline void add_shared(int64_t &to, int64_t value) { std::atomic_ref<int64_t>(to).fetch_add(value, std::memory_order_relaxed); }

}  // namespace apsis
