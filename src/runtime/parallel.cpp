// Arenas of threads that contexts leave to each other: see parallel.h.
#include "runtime/parallel.h"

#ifndef APSIS_SERIAL

#include <atomic>
#include <latch>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/platform.h"

namespace apsis {
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

}  // namespace apsis

#endif
