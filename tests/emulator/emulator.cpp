// The fibers of a block and how they meet: see emulator.h.
#include "emulator.h"

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace emulator {

thread_local Index thread, block, block_size, grid_size;

namespace {

using boost::context::fiber;

constexpr unsigned WARP = 32;
constexpr size_t STACK = (64 << 10) + 320;  // no power of two, or all stacks would want the same lines of the cache
constexpr int RUBBISH = 0xAB;

[[noreturn]] void fail(const char *what) {
    std::fprintf(stderr, "emulator: block %u, thread %u, %u: %s\n", block.x, thread.x, thread.y, what);
    std::abort();
}

/// The threads of one block after another.
class Block {
  public:
    void run(Index size, size_t shared_bytes, const std::function<void()> &body) {
        const unsigned threads = size.x * size.y * size.z;
        body_ = &body;
        shared_.assign(shared_bytes + 16, RUBBISH);
        while (lanes_.size() < threads) lanes_.emplace_back();
        left_ = threads_ = threads;
        at_barrier_ = sum_ = 0;
        for (unsigned i = 0; i < threads; ++i) {
            lanes_[i].state = READY;
            lanes_[i].thread = {i % size.x, i / size.x % size.y, i / size.x / size.y};
        }
        while (left_ > 0) {
            bool moved = false;
            const unsigned warps = (threads + WARP - 1) / WARP, first = random() % warps;
            for (unsigned w = 0; w < warps; ++w) moved |= run_warp((first + w) % warps * WARP);
            moved |= open_barrier();
            if (!moved && left_ > 0) fail("all threads wait for each other");
        }
    }

    void *shared() { return shared_.data() + (16 - reinterpret_cast<uintptr_t>(shared_.data()) % 16); }

    void pause() { leave(READY); }
    void may_pause() {
        if (random() % 4 == 0) leave(READY);
    }

    uint64_t meet(Meeting kind, unsigned mask, uint64_t value, unsigned from) {
        Lane &lane = lanes_[now_];
        if (!(mask >> (now_ % WARP) & 1)) fail("an operation of a warp by a lane that its mask leaves out");
        lane.kind = kind;
        lane.mask = mask;
        lane.value = value;
        lane.from = from;
        leave(MEETING);
        return lane.value;
    }

    int barrier(int value) {
        sum_ += value;
        ++at_barrier_;
        leave(AT_BARRIER);
        return result_;
    }

  private:
    enum State { READY, MEETING, AT_BARRIER, GONE };
    struct Lane {
        fiber inside, outside;
        Index thread;
        State state = GONE;
        Meeting kind;
        unsigned mask, from;
        uint64_t value;
    };

    /// A turn of all lanes of a warp that can go on, and then of what they meet in.
    bool run_warp(unsigned base) {
        bool moved = false;
        const unsigned count = std::min(WARP, threads_ - base), first = random() % count;
        for (unsigned i = 0; i < count; ++i) {
            const unsigned lane = base + (first + i < count ? first + i : first + i - count);
            if (lanes_[lane].state != READY) continue;
            moved = true;
            enter(lane);
        }
        for (unsigned i = 0; i < count; ++i)
            if (const Lane &lane = lanes_[base + i]; lane.state == MEETING && (lane.mask & ((1u << i) - 1)) == 0)  // the first
                moved |= hold_meeting(base, count, lane);
        return moved;
    }

    void enter(unsigned index) {
        Lane &lane = lanes_[index];
        if (!lane.inside)
            lane.inside = fiber(std::allocator_arg, boost::context::fixedsize_stack(STACK), [this, index](fiber &&outside) {
                for (;;) {
                    lanes_[index].outside = std::move(outside);
                    (*body_)();
                    lanes_[index].state = GONE;
                    --left_;
                    outside = std::move(lanes_[index].outside).resume();
                }
                return std::move(outside);
            });
        now_ = index;
        thread = lane.thread;
        lane.inside = std::move(lane.inside).resume();
    }

    void leave(State state) {
        Lane &lane = lanes_[now_];
        lane.state = state;
        lane.outside = std::move(lane.outside).resume();
    }

    /// Does an operation if all its lanes are there.
    bool hold_meeting(unsigned base, unsigned count, const Lane &caller) {
        const unsigned mask = caller.mask & (count == WARP ? ~0u : (1u << count) - 1);
        const Meeting kind = caller.kind;
        uint64_t value[WARP] = {};
        for (unsigned i = 0; i < count; ++i) {
            if (!(mask >> i & 1)) continue;
            const Lane &lane = lanes_[base + i];
            if (lane.state == GONE) fail("an operation of a warp waits for a lane that has left");
            if (lane.state == AT_BARRIER) fail("some lanes are at a barrier, others at an operation of their warp");
            if (lane.state != MEETING) return false;
            if (lane.kind != kind || lane.mask != caller.mask) fail("lanes of a warp come to different operations");
            value[i] = lane.value;
        }
        const uint64_t all = all_of(kind, mask, value);
        for (unsigned i = 0; i < count; ++i) {
            if (!(mask >> i & 1)) continue;
            Lane &lane = lanes_[base + i];
            if (kind == Meeting::SHUFFLE && !(mask >> lane.from & 1)) fail("a shuffle from a lane that is not there");
            lane.value = kind == Meeting::SHUFFLE ? value[lane.from]
                         : kind == Meeting::MATCH ? equal_to(value[i], mask, value)
                                                  : all;
            lane.state = READY;
        }
        return true;
    }

    /// What an operation gives that gives all lanes the same.
    static uint64_t all_of(Meeting kind, unsigned mask, const uint64_t *value) {
        uint64_t all = kind == Meeting::LEAST || kind == Meeting::AND ? ~uint64_t(0) : 0;
        for (unsigned i = 0; i < WARP; ++i) {
            if (!(mask >> i & 1)) continue;
            switch (kind) {
                case Meeting::BALLOT: all |= uint64_t(value[i] != 0) << i; break;
                case Meeting::LEAST: all = std::min(all, value[i]); break;
                case Meeting::MOST: all = std::max(all, value[i]); break;
                case Meeting::SUM: all += value[i]; break;
                case Meeting::AND: all &= value[i]; break;
                case Meeting::OR: all |= value[i]; break;
                default: break;
            }
        }
        return all;
    }

    static uint64_t equal_to(uint64_t one, unsigned mask, const uint64_t *value) {
        uint64_t lanes = 0;
        for (unsigned i = 0; i < WARP; ++i) lanes |= uint64_t((mask >> i & 1) && value[i] == one) << i;
        return lanes;
    }

    bool open_barrier() {
        if (at_barrier_ == 0 || at_barrier_ < left_) return false;
        if (left_ < threads_) fail("a barrier that threads have passed by");
        result_ = sum_;
        at_barrier_ = sum_ = 0;
        for (unsigned i = 0; i < threads_; ++i) lanes_[i].state = READY;
        return true;
    }

    unsigned random() {
        seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<unsigned>(seed_ >> 33);
    }

    const std::function<void()> *body_ = nullptr;
    std::vector<uint8_t> shared_;
    std::vector<Lane> lanes_;  // fibers are kept for the next block
    unsigned threads_ = 0, left_ = 0, now_ = 0, at_barrier_ = 0;
    int sum_ = 0, result_ = 0;
    uint64_t seed_ = 12345;
};

Block &current() {
    thread_local Block block;
    return block;
}

}  // namespace

void launch(unsigned blocks, Index threads, size_t shared_bytes, const std::function<void()> &body) {
    block_size = threads;
    grid_size = {blocks, 1, 1};
    for (unsigned i = 0; i < blocks; ++i) {
        block = {i, 0, 0};
        current().run(threads, shared_bytes, body);
    }
}

void *shared_memory() { return current().shared(); }
void pause() { current().pause(); }
void may_pause() { current().may_pause(); }
uint64_t meet(Meeting kind, unsigned mask, uint64_t value, unsigned from) { return current().meet(kind, mask, value, from); }
int barrier(int value) { return current().barrier(value); }

}  // namespace emulator
