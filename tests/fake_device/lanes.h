// The lanes of the fake device: what is queued on them happens as late as the order that was asked for allows.
//
// A lane moves when a call waits for a mark on it, or for all of them, and no farther.  An order that was not asked for
// is one that does not hold: work that should have followed a copy finds poison, a copy out finds what was there before.
#pragma once

#include <deque>
#include <exception>
#include <functional>

#include "runtime/transfer_queue.h"

namespace fake {

class Lanes {
  public:
    using Lane = apsis::Lane;

    void push(Lane lane, std::function<void()> step) {
        Queue &queue = queue_of(lane);
        queue.steps.push_back(std::move(step));
        ++queue.pushed;
    }
    void mark(Lane lane, int number) { marks_[number] = {lane, queue_of(lane).pushed}; }
    void follow(Lane lane, int number) {
        push(lane, [this, mark = marks_[number]] { reach(mark); });
    }
    void await(int number) { reach(marks_[number]); }
    /// Nothing is left on any lane, even if a step fails; throws the first failure.
    void finish() {
        std::exception_ptr failure;
        while (!idle()) try {
                for (const Lane lane : {Lane::OUT, Lane::WORK, Lane::IN}) reach({lane, queue_of(lane).pushed});
            } catch (...) {
                if (!failure) failure = std::current_exception();
            }
        if (failure) std::rethrow_exception(failure);
    }
    bool idle() const {
        for (const Queue &queue : queues_)
            if (!queue.steps.empty()) return false;
        return true;
    }

  private:
    struct Queue {
        std::deque<std::function<void()>> steps;
        int64_t pushed = 0, begun = 0;
    };
    struct Mark {
        Lane lane = Lane::WORK;
        int64_t place = 0;  // steps before it
    };
    Queue &queue_of(Lane lane) { return queues_[static_cast<int>(lane)]; }

    void reach(const Mark &mark) {
        Queue &queue = queue_of(mark.lane);
        while (queue.begun < mark.place) {
            const std::function<void()> step = std::move(queue.steps.front());
            queue.steps.pop_front();
            ++queue.begun;
            step();
        }
    }

    Queue queues_[3];
    Mark marks_[apsis::TransferQueue::MARKS];
};

}  // namespace fake
