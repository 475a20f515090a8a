// The queue of tiles with awake spans when several threads visit them: a ring (tile_queue.h) for each worker.
//
// A worker takes tiles from its own ring, and puts there the tiles that it wakes, which are near.  Now and then it looks at the
// ring of another worker, in turn.  If that one is a bucket behind, or its own is empty, it takes half of the tiles there, but
// never the only one, which the other worker is about to take itself.  A worker that is too far ahead of others waits.  So the
// order of tiles is nearly that of lengths.  That costs some visits more, and no answer: lengths are a unique fixpoint.
//
// A worker that finds nothing waits only for workers that visit a tile, and one that is ahead for tiles that it may take itself,
// or whose worker is there.  So no number of threads has to run at a time.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "cpu/paths/tile_queue.h"

namespace apsis::cpu::paths {

template <class Length>
class SharedTiles {
  public:
    SharedTiles(QueuedTile<Length> *tile, const Steps &steps, int workers)
        : tile_(tile),
          workers_(workers),
          worker_(new std::unique_ptr<Worker>[static_cast<size_t>(workers)]) {
        for (int i = 0; i < workers; ++i) worker_[static_cast<size_t>(i)].reset(new Worker{TileRing<Length>(tile, steps)});
    }

    int workers() const { return workers_; }

    /// Called before every field.  No span is awake.
    void start() {
        is_stopped_ = false;
        for (int i = 0; i < workers_; ++i) {
            Worker &worker = at(i);
            worker.ring.start();
            worker.publish();
            worker.added = worker.visited = 0;
            worker.is_here = worker.is_visiting = false;
            worker.limit = 0;
        }
    }

    /// Wakes spans of a tile.  What is written before is seen by the visit that follows.
    void wake(int by, int64_t tile, uint64_t spans, Length length) {
        std::atomic_ref(tile_[tile].spans).fetch_or(spans);
        if (!std::atomic_ref(tile_[tile].is_taken).exchange(true)) add(by, tile, length);
    }

    /// Called by a worker before its first tile.
    void begin(int worker) { at(worker).is_here = true; }
    /// The next tile for a worker, and its awake spans; these count as asleep from then on.  -1: none will come any more.
    int64_t next(int worker, uint64_t &spans) {
        for (int64_t tile; !is_stopped_; std::this_thread::yield()) {
            const bool is_empty = at(worker).waiting.load(std::memory_order_relaxed) == 0;
            for (int tries = is_empty ? workers_ : 1; tries > 0 && !steal(worker); --tries) {
            }
            if ((tile = take(at(worker))) >= 0) {
                spans = std::atomic_ref(tile_[tile].spans).exchange(0);
                return tile;
            }
            if (is_done()) break;
        }
        return -1;
    }

    /// Ends the visit of a tile, which other workers may have woken again.
    void end_visit(int worker, int64_t tile) {
        std::atomic_ref(tile_[tile].is_taken).exchange(false);
        if (std::atomic_ref(tile_[tile].spans).load() && !std::atomic_ref(tile_[tile].is_taken).exchange(true))
            add(worker, tile, tile_[tile].least);
        at(worker).is_visiting.store(false, std::memory_order_relaxed);
        ++at(worker).visited;
    }

    /// Tiles that were visited.
    int64_t visited() const {
        int64_t all = 0;
        for (int i = 0; i < workers_; ++i) all += at(i).visited;
        return all;
    }
    /// Makes all workers leave off.
    void stop() { is_stopped_ = true; }

  private:
    static constexpr int64_t MOST_STOLEN = 16;
    // How many buckets a worker may be ahead of others.  16 workers for noise of 4096^2 make 33 000 visits, and one thread 24 000;
    // with 1 bucket 40 000, and they wait more; with no limit 300 000.
    static constexpr int64_t LEAD = 8;

    struct alignas(128) Worker {
        TileRing<Length> ring;
        std::mutex lock = {};                         // of the ring
        std::atomic<int64_t> waiting = 0, now = 0;    // as in the ring, for those that look at it
        alignas(128) std::atomic<int64_t> added = 0;  // to the ring, without those that were stolen
        std::atomic<int64_t> visited = 0;
        std::atomic<bool> is_here = false;  // and takes tiles from its ring
        std::atomic<bool> is_visiting = false;
        int64_t looks = 0;  // at other workers' rings
        int64_t limit = 0;  // the bucket up to which tiles are known to be in time

        void publish() {
            waiting.store(ring.waiting(), std::memory_order_relaxed);
            now.store(ring.now(), std::memory_order_relaxed);
        }
    };

    Worker &at(int worker) const { return *worker_[static_cast<size_t>(worker)]; }

    void add(int by, int64_t tile, Length length) {
        Worker &worker = at(by);
        ++worker.added;
        tile_[tile].least = length;
        const std::lock_guard hold(worker.lock);
        worker.ring.add(tile);
        worker.publish();
    }

    /// Takes the next tile from a worker's ring, unless others are too far behind.
    int64_t take(Worker &from) {
        const std::lock_guard hold(from.lock);
        int64_t tile = from.ring.first();
        if (tile >= 0 && from.ring.now() > from.limit) {
            from.limit = least_bucket(from) + LEAD;
            if (from.ring.now() > from.limit) tile = -1;
        }
        if (tile >= 0) {
            from.is_visiting.store(true, std::memory_order_relaxed);
            from.ring.next();
        }
        from.publish();
        return tile;
    }

    /// The least bucket of the tiles that other workers have.
    int64_t least_bucket(const Worker &of) const {
        int64_t least = INT64_MAX - LEAD;
        for (int i = 0; i < workers_; ++i) {
            const Worker &other = at(i);
            if (&other == &of) continue;
            if (other.is_visiting.load(std::memory_order_relaxed) || other.waiting.load(std::memory_order_relaxed) > 0)
                least = std::min(least, other.now.load(std::memory_order_relaxed));
        }
        return least;
    }

    /// Looks at the ring of another worker.  Returns whether tiles of it are now in the ring of this one.
    bool steal(int thief) {
        Worker &to = at(thief), &from = at(static_cast<int>((thief + 1 + to.looks++ % std::max(workers_ - 1, 1)) % workers_));
        const auto waits = [](const Worker &worker) { return worker.waiting.load(std::memory_order_relaxed); };
        const auto now = [](const Worker &worker) { return worker.now.load(std::memory_order_relaxed); };
        const int64_t kept = from.is_here;
        if (&to == &from || waits(from) <= kept || (waits(to) > 0 && now(from) + 1 >= now(to))) return false;
        int64_t stolen[MOST_STOLEN], count = 0;
        {
            const std::unique_lock hold(from.lock, std::try_to_lock);
            if (!hold) return false;
            const int64_t most = std::min((from.ring.waiting() + 1 - kept) / 2, MOST_STOLEN);
            while (count < most) stolen[count++] = from.ring.next();
            from.publish();
        }
        const std::lock_guard hold(to.lock);
        for (int64_t i = 0; i < count; ++i) to.ring.add(stolen[i]);
        to.publish();
        return count > 0;
    }

    /// Whether all tiles that were added have been visited.  Those are counted first, so that none is missed.
    bool is_done() const {
        int64_t left = -visited();
        for (int i = 0; i < workers_; ++i) left += at(i).added;
        return left == 0;
    }

    QueuedTile<Length> *tile_;
    int workers_;
    std::unique_ptr<std::unique_ptr<Worker>[]> worker_;
    std::atomic<bool> is_stopped_ = false;
};

}  // namespace apsis::cpu::paths
