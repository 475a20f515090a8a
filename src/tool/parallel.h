// Work on several threads, with results that are taken in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
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
    std::mutex mutex;
    std::condition_variable taken;
    std::atomic<std::int64_t> next{0};
    std::int64_t turn = 0, failed = count;
    std::exception_ptr failure;
    const auto work = [&](int worker) {
        for (std::int64_t i; (i = next++) < count;) {
            try {
                make(worker, i);
                std::unique_lock lock(mutex);
                taken.wait(lock, [&] { return turn == i || failure; });
                if (failure) return;
                take(worker, i);
                ++turn;
            } catch (...) {
                const std::lock_guard lock(mutex);
                next = count;  // what comes before i has begun
                if (i < failed) failure = std::current_exception();
                failed = std::min(failed, i);
            }
            taken.notify_all();
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
