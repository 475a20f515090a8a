// Loops on all threads of an arena, and arenas that contexts leave to each other: see parallel.h.
#include "runtime/parallel.h"

#include <cmath>

#ifndef APSIS_SERIAL

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <latch>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/platform.h"

namespace apsis {

/// An arena of oneTBB.  oneTBB never frees all memory of an arena, so contexts reuse the arenas of earlier ones.
struct SharedArena {
    tbb::task_arena arena;
    SharedArena *next = nullptr;  // in the list of idle arenas
};

namespace {

std::atomic<bool> threads_started, threads_lost;

/// The arenas that no context has.
struct IdleArenas {
    std::mutex lock;
    SharedArena *first = nullptr;
    bool is_closed = false;

    // oneTBB looks for other libraries when the first arena is made.  If memory runs out then, the program ends (glibc 2.36:
    // dlopen, after a dlopen that had no memory for its message).  So an arena is made and dropped when this library is loaded.
    IdleArenas() {
        call_after_fork([] { threads_lost = threads_started.load(); });
        try {
            tbb::task_arena(1).initialize();
        } catch (const std::bad_alloc &) {  // it looks again later
        }
    }
    ~IdleArenas() {
        if (threads_lost) return;
        std::lock_guard hold(lock);
        while (first) delete std::exchange(first, first->next);
        is_closed = true;  // a context may end later
    }
} idle;

SharedArena *take_idle(int threads) {
    std::lock_guard hold(idle.lock);
    for (SharedArena **at = &idle.first; *at; at = &(*at)->next)
        if ((*at)->arena.max_concurrency() == threads) return std::exchange(*at, (*at)->next);
    return nullptr;
}

/// Whether the system can start so many threads.
bool can_start(int threads) {
    std::latch end(1);
    std::vector<std::thread> started;
    bool can = true;
    try {
        while (static_cast<int>(started.size()) < threads) started.emplace_back([&] { end.wait(); });
    } catch (const std::exception &) {
        can = false;
    }
    end.count_down();
    for (std::thread &thread : started) thread.join();
    return can;
}

}  // namespace

bool has_lost_threads() noexcept { return threads_lost; }

void Arena::start() {
    if (threads_ > 1) threads_started = true;
    shared_ = take_idle(threads_);
    if (shared_) return;
    // oneTBB ends the program if one of its threads cannot start another, for example at a limit of a user's processes.
    const int threads = can_start(threads_ - 1) ? threads_ : 1;
    std::unique_ptr<SharedArena> fresh(new SharedArena{tbb::task_arena(threads)});
    fresh->arena.initialize();  // an arena that failed to start would deadlock in its next start
    shared_ = fresh.release();
}

Arena::~Arena() {
    if (!shared_ || threads_lost) return;
    std::lock_guard hold(idle.lock);
    if (idle.is_closed) {
        delete shared_;
    } else {
        shared_->next = idle.first;
        idle.first = shared_;
    }
}

void Arena::execute(void (*task)(void *), void *argument) {
    if (!shared_) start();
    shared_->arena.execute([=] { task(argument); });
}

int Arena::cores() { return tbb::info::default_concurrency(); }  // with more in an arena oneTBB prints a warning

int Arena::thread() { return has_lost_threads() ? 0 : tbb::this_task_arena::current_thread_index(); }

// oneTBB orders the caller before the bodies, and the bodies before the return.  Race detectors do not see this in a library
// that is not instrumented, so `done` states the order explicitly.
void run_loop(Arena &arena, int64_t count, const Progress &progress, double from, double to, void (*body)(void *, int64_t),
              void *argument) {
    std::atomic<int64_t> done;
    done.store(0, std::memory_order_release);
    struct Join {
        std::atomic<int64_t> &done;
        ~Join() { done.load(std::memory_order_acquire); }
    } join{done};
    const std::thread::id caller = std::this_thread::get_id();
    const auto run = [&](int64_t i) {
        body(argument, i);
        if (progress && std::this_thread::get_id() == caller)
            progress(std::lerp(from, to, static_cast<double>(done + 1) / static_cast<double>(count)));
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
            const auto loop = [&] {
                tbb::parallel_for(
                    tbb::blocked_range<int64_t>(0, count, 1),
                    [&](const tbb::blocked_range<int64_t> &range) {
                        done.load(std::memory_order_acquire);
                        for (int64_t i = range.begin(); i < range.end(); ++i) run(i);
                    },
                    tbb::auto_partitioner(), group);
            };
            try {
                // A thread of an outer loop that waits for an inner one must not begin another body of the outer one: memory
                // that belongs to the thread is in use.  This has to be within execute(), which ends an isolation.
                tbb::this_task_arena::isolate(loop);
            } catch (const std::runtime_error &error) {  // only from oneTBB: it cannot start a thread, which it finds out first
                if (done > 0) throw Error(APSIS_ERROR_MEMORY, "a thread cannot be started: %s", error.what());
                run_all();
            }
        });
    }
    if (progress) progress(to);  // also if another thread ran the last body
}

}  // namespace apsis

#else  // the caller's thread, and no other

namespace apsis {

bool has_lost_threads() noexcept { return false; }

Arena::~Arena() = default;
void Arena::execute(void (*task)(void *), void *argument) { task(argument); }
int Arena::cores() { return 1; }
int Arena::thread() { return 0; }

void run_loop(Arena &, int64_t count, const Progress &progress, double from, double to, void (*body)(void *, int64_t),
              void *argument) {
    for (int64_t i = 0; i < count; ++i) {
        body(argument, i);
        if (progress) progress(std::lerp(from, to, static_cast<double>(i + 1) / static_cast<double>(count)));
    }
    if (progress) progress(to);  // also for an empty loop
}

}  // namespace apsis

#endif
