// A field: the lengths of the shortest paths from some sources to every pixel of the set, by a queue of buckets (Dial
// 1969), each as wide as the shortest step is long.
//
// Two pixels of one bucket differ by less than a step, so neither lies on the other's path: whatever is taken from the
// lowest bucket is settled, in any order, and is expanded once.  The lengths are a unique fixpoint; so is the lowest of
// the nearest sources of each pixel, since all pixels before it on its shortest paths are settled in lower buckets.
//
// Memory for what waits in buckets is small.  A bucket that finds none is marked as spilt, and when its turn comes its
// pixels are found by looking at all lengths.  That happens where a bucket holds a good part of the image, so not often;
// the sources are such a bucket from the start.
#pragma once

#include <algorithm>
#include <limits>

#include "backend.h"
#include "core/steps.h"
#include "workspace.h"

namespace apsis::cpu {

/// The cells of an image: its pixels, a column of walls behind each row, a row of walls behind each plane, and walls
/// before and after all, so that every pixel has all its neighbours.
struct Grid {
    int64_t width, height, depth, pitch, plane, origin, cells;

    Grid(const int64_t size[3], int axes)
        : width(size[0]), height(size[1]), depth(axes == 3 ? size[2] : 1), pitch(width + 1), plane(pitch * (height + 1)),
          origin((axes == 3 ? plane : 0) + pitch + 1), cells(depth * plane + 2 * origin) {}
    int64_t row(int64_t y, int64_t z) const { return origin + z * plane + y * pitch; }
    int64_t rows() const { return height * depth; }

    struct Place {
        int64_t x, y, z;
    };
    Place place(int64_t cell) const {
        const int64_t at = cell - origin;
        return {at % plane % pitch, at % plane / pitch, at / plane};
    }
    /// The index of a cell's pixel in the image.
    int64_t index(int64_t cell) const {
        const Place at = place(cell);
        return (at.z * height + at.y) * width + at.x;
    }
};

/// The steps to the neighbours of a cell.
struct Moves {
    int count = 0;
    int64_t by[26], weight[26];

    Moves(const Grid &grid, const Steps &steps, int axes) {
        for (int n = 0; n < 27; ++n) {
            const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1, kind = kind_of(dx, dy, dz);
            if ((axes == 2 && dz) || steps.weight[kind] == 0) continue;
            by[count] = dz * grid.plane + dy * grid.pitch + dx;
            weight[count++] = steps.weight[kind];
        }
    }
};

/// What waits, bucket by bucket, in a ring of them.  Memory comes in chunks.
template <class Cell>
class Buckets {
  public:
    static constexpr int CHUNK = 508;
    struct Chunk {
        Chunk *next;
        Cell cell[CHUNK];
    };
    struct Bucket {
        Cell *at, *end;  // where the next cell goes, and where its chunk ends
        Chunk *first, *last;
        bool spilt;
    };

    Buckets(int64_t cells, const Steps &steps, Carver &carver)
        : count_(steps.most / steps.least + 2), chunks_(cells / 8 / CHUNK + count_ + 8) {
        bucket_ = carver.take<Bucket>(count_);
        chunk_ = carver.take<Chunk>(chunks_);
    }

    void clear() {
        std::fill_n(bucket_, count_, Bucket{});
        free_ = nullptr;
        fresh_ = 0;
    }

    int64_t count() const { return count_; }
    Bucket &at(int64_t index) const { return bucket_[index % count_]; }
    /// The bucket that lies `hop` behind the one at a place of the ring, once around at most.
    Bucket &ahead(int64_t place, int64_t hop) const { return bucket_[place + hop < count_ ? place + hop : place + hop - count_]; }

    void push(Bucket &bucket, Cell cell) {
        if (bucket.at == bucket.end && !grow(bucket)) return;
        *bucket.at++ = cell;
    }

    /// Calls body(cells, count) for what waits in a bucket, and empties it.
    template <class Body>
    void drain(Bucket &bucket, Body body) {
        for (Chunk *chunk = bucket.first; chunk;) {
            body(chunk->cell, chunk == bucket.last ? bucket.at - chunk->cell : CHUNK);
            Chunk *const done = chunk;
            chunk = chunk == bucket.last ? nullptr : chunk->next;
            done->next = free_;
            free_ = done;
        }
        bucket = Bucket{};
    }

  private:
    bool grow(Bucket &bucket) {
        Chunk *const chunk = free_ ? free_ : fresh_ < chunks_ ? chunk_ + fresh_++ : nullptr;
        if (!chunk || bucket.spilt) return !(bucket.spilt = true);
        if (chunk == free_) free_ = free_->next;
        (bucket.first ? bucket.last->next : bucket.first) = chunk;
        bucket.last = chunk;
        bucket.at = chunk->cell;
        bucket.end = chunk->cell + CHUNK;
        return true;
    }

    int64_t count_, chunks_, fresh_ = 0;
    Bucket *bucket_;
    Chunk *chunk_, *free_ = nullptr;
};

/// A field that was to be kept in lengths that are too short for it.
struct TooLong {};

/// Length is int32_t or int64_t, Cell holds the index of a cell or of a pixel.  NEAREST: whether sources are told.
template <class Length, class Cell, bool NEAREST>
class Field {
  public:
    static constexpr Length WALL = -1;  // and everything else below 0: no path leads there
    static constexpr Length SETTLED = -2;
    static constexpr Length UNSEEN = std::numeric_limits<Length>::max();
    static constexpr Length FULL = sizeof(Length) == 4 ? UNSEEN - UNSEEN / 64 : UNSEEN / 2;  // no bucket begins above this
    static constexpr int64_t TICK = 1 << 16;

    Field(const Grid &grid, const Steps &steps, int axes, Carver &carver)
        : grid_(grid), steps_(steps), moves_(grid, steps, axes), buckets_(grid.cells, steps, carver) {
        length = carver.take<Length>(grid.cells);
        source = carver.take<Cell>(NEAREST ? grid.cells : 0);
    }

    Length *length;  // [cell]; to be set to WALL, to UNSEEN, or for a source to 0
    Cell *source;    // [cell]; of a source, its own name

    /// From the sources to all that they reach.  Calls tick(settled) every TICK pixels, and flush(below) when lengths
    /// are about to be FULL: it is to take note of all that are below, and to make them SETTLED.
    template <class Tick, class Flush>
    void run(Tick tick, Flush flush) {
        buckets_.clear();
        buckets_.at(0).spilt = true;
        members_ = nullptr;
        flood_all(tick, flush);
    }

    /// From one cell to all of `members`, which are all that it reaches.  Throws TooLong if a length is to be FULL.
    void run_from(int64_t cell, const Cell *members, int64_t count) {
        for (int64_t i = 0; i < count; ++i) length[members[i]] = UNSEEN;
        length[cell] = 0;
        members_ = members;
        member_count_ = count;
        buckets_.clear();
        buckets_.push(buckets_.at(0), static_cast<Cell>(cell));
        flood_all([](int64_t) {}, [](Length) { throw TooLong(); });
    }

    const Moves &moves() const { return moves_; }

    int64_t shift = 0;  // what is to be added to the lengths that are there

  private:
    using Bucket = typename Buckets<Cell>::Bucket;

    template <class Tick, class Flush>
    void flood_all(Tick tick, Flush flush) {
        shift = base_ = now_ = settled_ = 0;
        switch (moves_.count) {
            case 4: return flood<4>(tick, flush);
            case 6: return flood<6>(tick, flush);
            case 8: return flood<8>(tick, flush);
            case 18: return flood<18>(tick, flush);
            default: return flood<26>(tick, flush);
        }
    }

    /// The moves, with the buckets that they lead to from the present one.
    template <int N>
    struct Reach {
        static constexpr int ROWS = N == 4 || N == 8 ? 3 : 9;
        int64_t by[N], row[ROWS], hop[N];  // by how many buckets at least
        Length weight[N], rest[N];         // from where on in this bucket the later of two buckets is reached
        Bucket *to[N][2];
    };

    template <int N, class Tick, class Flush>
    void flood(Tick tick, Flush flush) {
        Reach<N> reach;
        measure(reach);
        for (int64_t idle = 0; idle < buckets_.count() && shift + base_ <= steps_.limit; ++now_, base_ += least()) {
            if (base_ > FULL) start_over(flush);
            Bucket &bucket = buckets_.at(now_);
            if (!bucket.first && !bucket.spilt) {
                ++idle;
                continue;
            }
            idle = 0;
            aim(reach);
            if (bucket.spilt) {
                buckets_.drain(bucket, [](const Cell *, int64_t) {});
                expand_all(reach, tick);
            } else {
                buckets_.drain(bucket, [&](const Cell *cell, int64_t count) { expand(reach, cell, count, tick); });
            }
        }
    }

    Length least() const { return static_cast<Length>(steps_.least); }

    template <int N>
    void measure(Reach<N> &reach) const {
        for (int i = 0; i < Reach<N>::ROWS; ++i)
            reach.row[i] = (i % 3 - 1) * grid_.pitch + (i / 3 - (Reach<N>::ROWS > 3)) * grid_.plane;
        for (int k = 0; k < N; ++k) {
            reach.by[k] = moves_.by[k];
            reach.weight[k] = static_cast<Length>(moves_.weight[k]);
            reach.rest[k] = least() - static_cast<Length>(moves_.weight[k] % steps_.least);
            reach.hop[k] = moves_.weight[k] / steps_.least;
        }
    }

    template <int N>
    void aim(Reach<N> &reach) const {
        const int64_t here = now_ % buckets_.count();
        for (int k = 0; k < N; ++k)
            for (int later = 0; later < 2; ++later) reach.to[k][later] = &buckets_.ahead(here, reach.hop[k] + later);
    }

    template <int N, class Tick>
    void expand(const Reach<N> &reach, const Cell *cell, int64_t count, Tick tick) {
        constexpr int AHEAD = 12;
        for (int64_t i = 0; i < count; ++i) {
            for (int row = 0; i + AHEAD < count && row < Reach<N>::ROWS; ++row)
                prefetch(static_cast<int64_t>(cell[i + AHEAD]) + reach.row[row]);
            expand_one(reach, static_cast<int64_t>(cell[i]));
        }
        count_settled(count, tick);
    }

    void prefetch(int64_t cell) const {
        __builtin_prefetch(length + cell, 1);
        if constexpr (NEAREST) __builtin_prefetch(source + cell, 1);
    }

    template <int N, class Tick>
    void expand_all(const Reach<N> &reach, Tick tick) {
        const auto waits = [this](int64_t i) { return length[i] >= base_ && length[i] - base_ < least(); };
        for (int64_t i = 0; members_ && i < member_count_; ++i)
            if (waits(members_[i])) expand_one(reach, static_cast<int64_t>(members_[i]));
        if (members_) return;
        constexpr int64_t BLOCK = 64;
        for (int64_t start = 0; start < grid_.cells; start += BLOCK) {
            const int64_t end = std::min(start + BLOCK, grid_.cells);
            int any = 0;
            for (int64_t i = start; i < end; ++i) any |= waits(i);
            if (!any) continue;
            for (int64_t i = start; i < end; ++i)
                if (waits(i)) expand_one(reach, i);
            count_settled(BLOCK, tick);
        }
    }

    template <class Tick>
    void count_settled(int64_t count, Tick tick) {
        const int64_t before = settled_;
        settled_ += count;
        if (before / TICK != settled_ / TICK) tick(settled_);
    }

    template <int N>
    void expand_one(const Reach<N> &reach, int64_t cell) {
        const Length from = length[cell], into = from - base_;
        if (into < 0) return;  // it came in a lower bucket, too
        const Cell name = NEAREST ? source[cell] : Cell();
        for (int k = 0; k < N; ++k) {
            const int64_t to = cell + reach.by[k];
            const Length sum = from + reach.weight[k];
            if (sum < length[to]) {
                length[to] = sum;
                if constexpr (NEAREST) source[to] = name;
                buckets_.push(*reach.to[k][into >= reach.rest[k]], static_cast<Cell>(to));
            } else if constexpr (NEAREST) {
                if (sum == length[to] && name < source[to]) source[to] = name;
            }
        }
    }

    /// What is settled, and beyond the reach of what is not, is taken away; the rest counts from there.
    template <class Flush>
    void start_over(Flush flush) {
        const Length below = base_ - static_cast<Length>(steps_.most);
        if (shift > std::numeric_limits<int64_t>::max() / 2)
            throw Error(APSIS_ERROR_UNSUPPORTED, "a path is longer than 2^62 units of length");
        flush(below);
        for (int64_t i = 0; i < grid_.cells; ++i)
            if (length[i] >= below && length[i] != UNSEEN) length[i] -= below;
        shift += below;
        base_ -= below;
    }

    Grid grid_;
    Steps steps_;
    Moves moves_;
    Buckets<Cell> buckets_;
    Length base_ = 0;  // where the present bucket begins
    int64_t now_ = 0, settled_ = 0;
    const Cell *members_ = nullptr;  // null: all cells
    int64_t member_count_ = 0;
};

}  // namespace apsis::cpu
