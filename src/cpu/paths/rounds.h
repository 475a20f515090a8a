// Rounds of work that idle threads share.  The items of a round are independent of each other, and a round begins when the one
// before has ended.
//
// A round takes some microseconds, so threads stay between rounds, and look for the next one.  One thread leads, and works too:
// rounds end however few threads are there.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>

namespace apsis::cpu::paths {

class Rounds {
  public:
    /// Called by the leader: calls body(i) for 0 <= i < count, by all threads that are there, and returns when all are done.
    template <class Body>
    void run(int64_t count, Body &body) {
        done_.store(0, std::memory_order_relaxed);
        left_.store(count, std::memory_order_release);
        while (work(body)) {
        }
        for (Pause pause; done_.load(std::memory_order_acquire) < count;) pause();
    }

    /// Called by other threads, with the same body: they work until the leader calls end().
    template <class Body>
    void help(Body &body) {
        for (Pause pause;;) {
            const int64_t left = left_.load(std::memory_order_relaxed);
            if (left <= ENDED) return;
            if (left > 0 && work(body))
                pause = {};
            else
                pause();
        }
    }
    void end() { left_.store(ENDED, std::memory_order_release); }

    /// Whether a body has thrown in a thread that helps.
    bool is_stopped() const { return is_stopped_.load(std::memory_order_relaxed); }

  private:
    static constexpr int64_t ENDED = INT64_MIN / 2;  // threads that come late count a little further down

    /// Waits, at first without giving up the core.  A thread that finds nothing for long sleeps: there may be more threads than
    /// items, or than a container's share of cores.
    struct Pause {
        int times = 0;
        void operator()() {
            static constexpr int SPINS = 2000, YIELDS = 50;  // some microseconds; some tens
            if (++times <= SPINS) return;
            if (times <= SPINS + YIELDS) return std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::microseconds(50) * std::min(times - SPINS - YIELDS, 20));
        }
    };

    /// Takes an item, if there is one left.
    template <class Body>
    bool work(Body &body) {
        const int64_t item = left_.fetch_sub(1, std::memory_order_acq_rel) - 1;
        if (item < 0) return false;
        struct Done {
            Rounds &rounds;
            const int errors = std::uncaught_exceptions();
            ~Done() {
                if (std::uncaught_exceptions() > errors) rounds.is_stopped_.store(true, std::memory_order_relaxed);
                rounds.done_.fetch_add(1, std::memory_order_release);
            }
        } done{*this};
        body(item);
        return true;
    }

    alignas(128) std::atomic<int64_t> left_ = 0;  // items to take; 0 or less: none
    alignas(128) std::atomic<int64_t> done_ = 0;
    std::atomic<bool> is_stopped_ = false;
};

}  // namespace apsis::cpu::paths
