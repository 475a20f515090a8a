// Threads of the CPU back end: one arena a context, loops that report progress and can be cancelled, and sums that threads
// share.  parallel.cpp calls oneTBB, whose headers take half a second to compile; parallel_sort.h is the only other file that
// does.  A build without it, APSIS_SERIAL, uses only the caller's thread.
#pragma once

#include <algorithm>
#include <atomic>

#include "runtime/backend.h"

namespace apsis {

struct SharedArena;

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
    void execute(Task task) {
        execute([](void *known) { (*static_cast<Task *>(known))(); }, &task);
    }

    static int cores();
    /// As many threads as were asked for (apsis_set_threads), or all cores; no more than there are.
    static int threads_for(int asked) { return asked ? std::min(asked, cores()) : cores(); }
    /// The number of the calling thread, below threads(); negative outside of an arena.
    static int thread();

  private:
    void execute(void (*task)(void *), void *argument);
    /// Throws std::bad_alloc.  After that, it may be called again.
    void start();

    int threads_;
    SharedArena *shared_ = nullptr;  // from the first task on
};

/// Whether this process was forked from one that had started threads for an arena.  A fork does not copy threads, and a lock
/// that one of them held stays locked.  So oneTBB is not called, and each loop runs on its caller's thread alone.
bool has_lost_threads() noexcept;

/// The loop of parallel_for: body(argument, i) for all i.
void run_loop(Arena &arena, int64_t count, const Progress &progress, double from, double to, void (*body)(void *, int64_t),
              void *argument);

/// Runs body(i) for 0 <= i < count, in any order and on any thread of the arena.  The calling thread reports progress
/// between `from` and `to` as the loop goes.
///
/// Called within a body of another loop, idle threads help.  A thread that waits runs bodies of the inner loop alone.
///
/// If no thread can be started, the caller runs all bodies.
template <class Body>
void parallel_for(Arena &arena, int64_t count, const Progress &progress, double from, double to, Body body) {
    run_loop(arena, count, progress, from, to, [](void *known, int64_t i) { (*static_cast<Body *>(known))(i); }, &body);
}

/// An atomic sum, which orders no other accesses.
inline void add_shared(int64_t &to, int64_t value) { std::atomic_ref<int64_t>(to).fetch_add(value, std::memory_order_relaxed); }

}  // namespace apsis
