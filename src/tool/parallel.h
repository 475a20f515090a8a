// Work on several threads, with results that are taken in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tool {

/// Calls make(worker, i) once for each i in [0, count), on up to `workers` threads of which the caller is the first, and
/// take(worker, i) after it: in the order of i, one at a time, and before that worker makes another.  Throws what the lowest i
/// has thrown, when all threads have stopped.
template <class Make, class Take>
void make_and_take(int workers, std::int64_t count, Make make, Take take) {
    constexpr std::int64_t STOPPED = -1;
    std::atomic<std::int64_t> next{0}, turn{0};  // what is made next, and what is taken next
    std::mutex mutex;                            // of these:
    std::int64_t failed = count;
    std::exception_ptr failure;
    const auto work = [&](int worker) {
        for (std::int64_t i; (i = next++) < count;) {
            try {
                make(worker, i);
                for (std::int64_t now; (now = turn) != i; turn.wait(now))
                    if (now == STOPPED) return;
                take(worker, i);
                std::int64_t mine = i;
                turn.compare_exchange_strong(mine, i + 1);  // unless another worker stopped all
            } catch (...) {
                const std::lock_guard lock(mutex);
                next = count;  // what comes before i has begun
                if (i < failed) failure = std::current_exception();
                failed = std::min(failed, i);
                turn = STOPPED;
            }
            turn.notify_all();
        }
    };
    const auto all = static_cast<int>(std::clamp<std::int64_t>(count, 1, workers));
    std::vector<std::thread> others;
    others.reserve(static_cast<size_t>(all - 1));
    try {
        for (int worker = 1; worker < all; ++worker) others.emplace_back(work, worker);
    } catch (const std::exception &) {  // the system has no more threads to give, or no memory for one
    }
    work(0);
    for (std::thread &other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

/// As many threads as were asked for; one for each core if that is none.
inline int workers_of(std::int64_t threads) {
    const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    return static_cast<int>(threads > 0 ? std::min(threads, cores) : cores);
}

}  // namespace tool
