// The devices of a context at work on one call, each on a thread of its own.
#pragma once

#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/context.h"

namespace apsis {

/// A place where threads wait for each other.  They wait on an atomic: std::condition_variable asks for a newer libstdc++.
class Meeting {
  public:
    explicit Meeting(size_t size) : items_{std::vector<void *>(size), std::vector<void *>(size)} {}

    /// Waits for all others.  Returns what each of them has passed, until the next time.
    void *const *meet(size_t i, void *item) {
        const int32_t round = round_;
        if (round == OVER) fail();
        std::vector<void *> &items = items_[round % 2];
        items[i] = item;
        if (come_.fetch_add(1) + 1 == static_cast<int64_t>(items.size())) {
            come_ = 0;
            int32_t now = round;
            round_.compare_exchange_strong(now, (round + 1) % ROUNDS);  // unless it is over
            round_.notify_all();
        }
        round_.wait(round);
        if (round_ == OVER) fail();
        return items.data();
    }

    /// All that wait, or come later, throw.
    void end() noexcept {
        round_ = OVER;
        round_.notify_all();
    }

  private:
    static constexpr int32_t OVER = -1, ROUNDS = 1 << 30;

    [[noreturn]] static void fail() { throw Error(APSIS_ERROR_CANCELLED, "another device has failed"); }

    std::vector<void *> items_[2];  // of this round, and of the one before
    std::atomic<int64_t> come_{0};
    std::atomic<int32_t> round_{0};
};

/// The contexts of a call, which work at the same time.  If one fails, the others stop at their next meeting, and at their next
/// report of progress, if the caller is told of it.
class Workers {
  public:
    explicit Workers(apsis_context &context) : meeting_(1 + context.others.size()) {
        reports_.reserve(1 + context.others.size());
        add(context);
        for (const auto &other : context.others) add(*other);
    }
    ~Workers() {
        for (const Report &report : reports_)
            report.context->progress_fn = report.told, report.context->progress_user = report.user;
    }
    Workers(const Workers &) = delete;
    Workers &operator=(const Workers &) = delete;

    size_t count() const { return reports_.size(); }
    apsis_context &operator[](size_t i) const { return *reports_[i].context; }

    /// Waits until all are here, on threads of their own.  Returns what each has passed, until the next time.
    void *const *meet(size_t i, void *item) { return meeting_.meet(i, item); }

    /// Calls work(i) for each context: for the first on the calling thread, for each other on one of its own.  Where no thread
    /// is to be had, that one works later, on the calling thread, or fails if they meet.  The caller is told of progress from
    /// `from` to `to`.  Throws the first failure.
    template <class Work>
    void run(double from, double to, Work work, bool do_meet = false) {
        from_ = from, to_ = to;
        const auto one = [&](size_t i) noexcept {
            try {
                work(i);
            } catch (const Error &error) {
                fail(i, error);
            } catch (const std::bad_alloc &) {
                fail(i, Error(APSIS_ERROR_MEMORY, "host memory ran out"));
            } catch (const std::exception &error) {
                fail(i, Error(APSIS_ERROR_INTERNAL, "%s", error.what()));
            }
        };
        std::vector<std::thread> threads;
        std::vector<size_t> here = {0};
        threads.reserve(count()), here.reserve(count());
        for (size_t i = 1; i < count(); ++i) try {
                threads.emplace_back(one, i);
            } catch (const std::exception &) {
                if (do_meet)
                    fail(i, Error(APSIS_ERROR_MEMORY, "no thread is to be had for it"));
                else
                    here.push_back(i);
            }
        for (const size_t i : here) one(i);
        for (std::thread &thread : threads) thread.join();
        if (failure_) throw *failure_;
    }

  private:
    struct Report {
        Workers *workers;
        apsis_context *context;
        apsis_progress_fn told;  // the caller's
        void *user;
    };

    void add(apsis_context &context) {
        reports_.push_back({this, &context, context.progress_fn, context.progress_user});
        if (!reports_.front().told) return;  // a report costs the device a wait
        context.progress_fn = report, context.progress_user = &reports_.back();
    }

    static int report(void *user, double done) {
        const Report &from = *static_cast<Report *>(user);
        Workers &all = *from.workers;
        if (from.told && from.told(from.user, all.from_ + (all.to_ - all.from_) * done)) return 1;
        return all.stop_;
    }

    void fail(size_t i, const Error &error) {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
        if (failure_) return;
        const bool has_place = count() > 1 && error.status != APSIS_ERROR_CANCELLED;
        if (has_place)
            failure_.emplace(error.status, "device %d: %s", (*this)[i].backend->device(), error.what());
        else
            failure_.emplace(error);
        meeting_.end();
    }

    std::vector<Report> reports_;
    Meeting meeting_;
    double from_ = 0, to_ = 1;
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::optional<Error> failure_;
};

}  // namespace apsis
