// A queue of the tiles with awake spans: a ring of buckets by the least length that has woken a tile (Dial 1969, for tiles).
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "core/steps.h"
#include "runtime/workspace.h"

namespace apsis::cpu::paths {

template <class Length>
class TileQueue {
  public:
    TileQueue(int64_t tiles, const Steps &steps, Carver &carver)
        : tiles_(tiles),
          width_(std::bit_width(static_cast<uint64_t>(STEPS * steps.least))) {
        tile_ = carver.take<QueuedTile>(tiles);
    }

    /// Called before the first field.  After a field no span is awake.
    void clear() { std::fill_n(tile_, tiles_, QueuedTile{}); }

    /// Called before every field.
    void start() {
        std::fill_n(first_, RING, -1);
        waiting_ = now_ = 0;
    }

    void wake(int64_t at, uint64_t spans, Length length) {
        QueuedTile &tile = tile_[at];
        if (!tile.spans) {
            ++waiting_;
        } else {
            if (length >= tile.least) {
                tile.spans |= spans;
                return;
            }
            unlink(at);
        }
        tile.spans |= spans;
        tile.least = length;
        link(at);
    }

    /// The tile that next() takes, or -1.
    int64_t first() {
        int64_t empty = 0;  // buckets, one behind the other
        while (waiting_) {
            const int64_t at = first_[now_ % RING];
            if (at < 0) {
                ++now_;
                ++empty;
                continue;
            }
            if (tile_[at].least >> width_ > now_) {  // it was beyond the ring
                const bool is_gap = empty == RING - 1;
                empty = 0;
                if (is_gap) {
                    skip_gap();
                } else {
                    unlink(at);
                    link(at);
                }
                continue;
            }
            return at;
        }
        return -1;
    }
    /// The number of its bucket, after first().
    int64_t bucket() const { return now_; }

    /// The next tile, or -1, and which of its spans are awake; these count as asleep from then on.
    int64_t next(uint64_t &spans) {
        const int64_t at = first();
        if (at < 0) return at;
        unlink(at);
        --waiting_;
        spans = std::exchange(tile_[at].spans, 0);
        return at;
    }

    /// The tile that is likely to be next, or -1.
    int64_t likely_next() const { return first_[now_ % RING]; }

  private:
    static constexpr int64_t RING = 64;
    /// A bucket is as wide as this many of the shortest steps, or up to twice as wide.  In wider buckets tiles would be visited
    /// too early.
    static constexpr int64_t STEPS = 4;

    struct QueuedTile {
        uint64_t spans;          // the awake spans, as bits
        Length least;            // the least length that has woken them
        int64_t before, behind;  // its neighbours in the bucket; -1: none
    };

    int64_t &head(int64_t at) { return first_[std::clamp<int64_t>(tile_[at].least >> width_, now_, now_ + RING - 1) % RING]; }

    void link(int64_t at) {
        int64_t &first = head(at);
        tile_[at].before = -1;
        tile_[at].behind = first;
        if (first >= 0) tile_[first].before = at;
        first = at;
    }

    /// Goes on to the least length that a tile waits for.  All of them are in one bucket, since the others are empty.  Paths
    /// that come into a slab may be much longer than those before them.
    void skip_gap() {
        const int64_t first = std::exchange(first_[now_ % RING], -1);
        Length least = tile_[first].least;
        for (int64_t at = first; at >= 0; at = tile_[at].behind) least = std::min(least, tile_[at].least);
        now_ = least >> width_;
        for (int64_t at = first, next; at >= 0; at = next) {
            next = tile_[at].behind;
            link(at);
        }
    }

    void unlink(int64_t at) {
        const QueuedTile &tile = tile_[at];
        if (tile.behind >= 0) tile_[tile.behind].before = tile.before;
        if (tile.before >= 0) {
            tile_[tile.before].behind = tile.behind;
            return;
        }
        for (int64_t &first : first_)
            if (first == at) first = tile.behind;
    }

    int64_t tiles_;
    int width_;  // of a bucket, as a shift
    QueuedTile *tile_;
    int64_t first_[RING], waiting_ = 0, now_ = 0;
};

}  // namespace apsis::cpu::paths
