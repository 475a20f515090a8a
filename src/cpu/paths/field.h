// A field: for every pixel of a set the length of the shortest path from some sources, and the lowest of its nearest sources.
//
// Lengths are a unique fixpoint, so that the order of work does not matter.  Vectors of cells take the least offer of their
// neighbours, tile by tile (spans.h), tiles with the least lengths first (tile_queue.h).  When a tile is visited, the lengths
// that enter it are nearly always final, so that a tile is visited about twice.  When all lengths are known, the names of the
// sources spread in the same way, but only along the steps of shortest paths.
//
// Where an image closes on itself, vectors do not reach across its seam.  After a tile at a seam has been visited, its cells
// offer their values to those across it, one by one.  So do all cells, after each visit, to those a knight's move away.
//
// Several threads visit the tiles of a bucket side by side (rounds.h), each on a copy of its tile (tile_copy.h).  They do so
// where tiles are many, and where no cell offers values to cells of other tiles.
//
// Lengths of UNSEEN or more are not taken.  When some lengths come near UNSEEN, all lengths that are at least a step less are
// settled: they are written, and their cells become walls.  The other lengths are counted from there.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cpu/paths/grid.h"
#include "cpu/paths/rounds.h"
#include "cpu/paths/spans.h"
#include "cpu/paths/tile_copy.h"
#include "cpu/paths/tile_queue.h"
#include "runtime/parallel.h"

namespace apsis::cpu::paths {

/// A length is too long for the type of lengths.
struct TooLong {};

/// Length is int32_t or int64_t; names of sources have the same type.
template <class Length>
class Field {
  public:
    static constexpr Length WALL = -1;  // like every length below 0: no path leads there
    static constexpr Length SETTLED = -2;
    static constexpr Length UNSEEN = paths::UNSEEN<Length>;

    /// `nearest`: whether nearest sources are found.
    Field(const Grid &grid, const Steps &steps, int axes, bool nearest, Carver &carver)
        : grid_(grid),
          steps_(steps),
          nearest_(nearest),
          moves_(grid, steps, axes),
          volume_(axes == 3 && grid.depth > 1),
          shape_(volume_, grid.pitch, grid.plane),
          across_{tiles(grid.width, SPAN * shape_.side[0]), tiles(grid.height, shape_.side[1])},
          tiles_(across_[0] * across_[1] * tiles(grid.depth, shape_.side[2])),
          queue_(tiles_, steps, carver) {
        length = carver.take<Length>(grid.cells + SPAN);
        source = carver.take<Length>(nearest ? grid.cells + SPAN : 0);
        starts = carver.take<uint8_t>(grid.rows());
    }

    Length *length;   // [cell]; the caller sets it to UNSEEN, to 0 for a source, or to the length of a path from outside
    Length *source;   // [cell]; the caller sets it to a source's own name
    uint8_t *starts;  // [row]; the caller sets it to 1 where a path starts

    /// Lets idle threads of an arena help with fields that follow, if there are tiles enough.
    void share_with(Arena &arena) {
        arena_ = &arena;
        if (grid_.periodic.any() || steps_.knight) return;
        most_workers_ = workers_ = std::clamp<int64_t>(tiles_ / TILES_A_WORKER, 1, arena.threads());
        if (workers_ > 1) copy_shape_ = std::make_unique<CopyShape>(volume_);
    }

    /// Makes walls of all cells.
    void clear() {
        clear_frame();
        for (int64_t row = 0; row < grid_.rows(); ++row) clear_row(grid_.row(row % grid_.height, row / grid_.height));
    }

    /// The same in two steps, so that threads may share the rows: first of the cells around all rows, then of a row each.
    void clear_frame() {
        clear_cells(0, grid_.origin);
        for (int64_t z = 0; z < grid_.depth; ++z) clear_cells(grid_.row(grid_.height, z), grid_.row(0, z + 1));
        clear_cells(grid_.row(0, grid_.depth), grid_.cells + SPAN);
        std::fill_n(starts, grid_.rows(), uint8_t(0));
        queue_.clear();
    }
    void clear_row(int64_t first) const { clear_cells(first, first + grid_.pitch); }

    /// Finds the field of all sources.  Calls tick(visited pixels) now and then; with nearest sources all pixels are visited
    /// once more.  When lengths become large, calls flush(below), which must record all lengths less than `below` and set them
    /// to SETTLED.  When lengths are known, calls name(), which may set names of sources that paths come from outside.
    template <class Tick, class Flush, class Name>
    void run(Tick tick, Flush flush, Name name) {
        shift = visits_ = 0;
        do {
            wake_all(length);
            spread(length, tick);
            if (nearest_) {
                name();
                wake_all(source);
                spread(source, tick);
            }
        } while (start_over(flush));
    }

    /// Finds the field of one cell; `members` are all cells that it reaches.  The threads are for so many fields at a time.
    /// Throws TooLong if a length comes within a step of UNSEEN.
    template <class Cell>
    void run_from(int64_t cell, const Cell *members, int64_t count, int64_t fields = 1) {
        workers_ = count < FEW_CELLS ? 1 : (most_workers_ + fields - 1) / fields;
        each_part(count, [=, this](int64_t from, int64_t to) {
            for (int64_t i = from; i < to; ++i) length[members[i]] = UNSEEN;
        });
        length[cell] = shift = 0;
        queue_.start();
        const Grid::Place at = grid_.place(cell);
        wake_around(at.x / SPAN, at.y, at.z, 0);
        spread(length, [](int64_t) {});
        if (has_high_) throw TooLong();
    }

    /// Calls body(i) for 0 <= i < count, side by side if idle threads help with the last field.
    template <class Body>
    void side_by_side(int64_t count, Body body) const {
        if (workers_ > 1) return parallel_for(*arena_, count, {}, 0, 1, body);
        for (int64_t i = 0; i < count; ++i) body(i);
    }

    const Moves &moves() const { return moves_; }

    int64_t shift = 0;  // to be added to the lengths

  private:
    static constexpr int64_t TICK = 64;            // visits
    static constexpr int64_t TILES_A_WORKER = 8;   // of an image
    static constexpr int64_t FEW_CELLS = 1 << 15;  // of a component: one thread is enough
    static constexpr int64_t PART = 1 << 17;       // cells that a thread goes through at a time

    // How many buckets further on tiles are taken from, where the first has fewer than there are threads.  For 16 threads a
    // maze of 4096^2 then takes 22 % fewer rounds, and 2 % more visits.  With more buckets little more is won.
    static constexpr int64_t AHEAD = 1;

    struct Visit {
        int64_t tile;
        AwakeSpans<Length> awake;
    };

    static int64_t tiles(int64_t extent, int64_t side) { return (extent + side - 1) / side; }

    Length high_length() const { return UNSEEN - static_cast<Length>(steps_.most); }

    void clear_cells(int64_t from, int64_t to) const {
        std::fill(length + from, length + to, WALL);
        if (nearest_) std::fill(source + from, source + to, UNSEEN);
    }

    /// Calls body(from, to) for parts of 0 to count.
    template <class Body>
    void each_part(int64_t count, Body body) const {
        side_by_side((count + PART - 1) / PART, [=](int64_t i) { body(i * PART, std::min((i + 1) * PART, count)); });
    }

    /// Wakes the spans that have a value, and those around them.
    void wake_all(const Length *value) {
        queue_.start();
        for (int64_t row = 0; row < grid_.rows(); ++row)
            if (starts[row]) wake_row(value, row % grid_.height, row / grid_.height);
    }

    void wake_row(const Length *value, int64_t y, int64_t z) {
        const int64_t first = grid_.row(y, z);
        for (int64_t x = 0; x < grid_.width; x += SPAN) {
            Length least = UNSEEN;
            for (int64_t i = first + x; i < first + x + SPAN; ++i)  // also beyond the row: an extra span does no harm
                least = std::min(least, length[i] >= 0 && value[i] < UNSEEN ? length[i] : UNSEEN);
            if (least < UNSEEN) wake_around(x / SPAN, y, z, least);
        }
    }

    void wake_around(int64_t i, int64_t y, int64_t z, Length least) {
        for (int64_t w = std::max<int64_t>(z - volume_, 0); w <= std::min(z + volume_, grid_.depth - 1); ++w)
            for (int64_t v = std::max<int64_t>(y - 1, 0); v <= std::min(y + 1, grid_.height - 1); ++v)
                for (int64_t u = std::max<int64_t>(i - 1, 0); u <= std::min(i + 1, (grid_.width - 1) / SPAN); ++u)
                    wake_span(u, v, w, least);
    }

    void wake_span(int64_t i, int64_t y, int64_t z, Length least) {
        const int64_t *const side = shape_.side;
        const int64_t tile = (z / side[2] * across_[1] + y / side[1]) * across_[0] + i / side[0];
        queue_.wake(tile, uint64_t(1) << ((z % side[2] * side[1] + y % side[1]) * side[0] + i % side[0]), least);
    }

    /// Visits tiles until no span is awake.  The values are lengths, or names of sources.
    template <class Tick>
    void spread(Length *value, Tick tick) {
        const bool has_high = workers_ > 1 ? visit_side_by_side(value, tick) : visit_alone(value, tick);
        if (value == length) has_high_ = has_high;
    }

    /// Returns whether a length came near UNSEEN.
    template <class Tick>
    bool visit_alone(Length *value, Tick tick) {
        const Pull<Length> pull = pull_for(value, value == length ? nullptr : length, grid_.pitch, grid_.plane);
        AwakeSpans<Length> awake;
        uint64_t spans;
        for (int64_t tile; (tile = queue_.next(spans)) >= 0;) {
            if (++visits_ % TICK == 0) tick(pixels_of(visits_));
            if (const int64_t next = queue_.likely_next(); next >= 0) prefetch(value + first_cell(next));
            start_visit(awake, spans);
            settle(pull, shape_, first_cell(tile), grid_.width - tile % across_[0] * shape_.side[0] * SPAN, awake);
            wake_beside(tile, awake);
            if (grid_.periodic.any()) awake.has_high |= cross_seams(tile, value);
            if (steps_.knight) awake.has_high |= offer_far(tile, awake.pulled, value);
        }
        return awake.has_high;
    }

    /// The same by several threads, round by round.  Only the calling thread calls tick.
    template <class Tick>
    bool visit_side_by_side(Length *value, Tick tick) {
        Rounds rounds;
        std::atomic<bool> is_led = false;
        std::atomic<int64_t> visited = visits_;
        bool has_high = false;
        const std::thread::id caller = std::this_thread::get_id();
        const bool names = value != length;
        side_by_side(workers_, [&](int64_t) {
            TileCopy<Length> copy(*copy_shape_), lengths(*copy_shape_, names);
            const Pull<Length> pull =
                pull_for(copy.data(), names ? lengths.data() : nullptr, copy_shape_->pitch, copy_shape_->plane);
            const bool is_caller = std::this_thread::get_id() == caller;
            int64_t visits = 0;
            const auto visit = [&](int64_t i) {
                Visit &at = visit_[static_cast<size_t>(i)];
                const TileBox box = box_of(at.tile);
                copy.load(value, grid_, box);
                if (names) lengths.load(length, grid_, box);
                settle(pull, copy_shape_->tile, copy_shape_->first, grid_.width - box.low[0], at.awake);
                copy.store(value, grid_, box, at.awake.pulled);
                if (is_caller && ++visits % TICK == 0) tick(pixels_of(visited));
            };
            if (is_led.exchange(true)) return rounds.help(visit);
            struct End {
                Rounds &rounds;
                ~End() { rounds.end(); }
            } end{rounds};
            for (int64_t count; !rounds.is_stopped() && (count = take_round()) > 0;) {
                rounds.run(count, visit);
                for (int64_t i = 0; i < count; ++i) {
                    Visit &at = visit_[static_cast<size_t>(i)];
                    wake_beside(at.tile, at.awake);
                    has_high |= at.awake.has_high;
                }
                visited += count;
            }
        });
        visits_ = visited;
        return has_high;
    }

    /// Takes the tiles of a bucket, and if those are few, the next ones of buckets a little further on.  Returns how many.
    int64_t take_round() {
        int64_t count = 0, first = 0;
        uint64_t spans = 0;
        while (queue_.first() >= 0) {
            if (count == 0) first = queue_.bucket();
            if (queue_.bucket() > first && (count >= workers_ || queue_.bucket() > first + AHEAD)) break;
            if (count == static_cast<int64_t>(visit_.size())) visit_.emplace_back();
            Visit &at = visit_[static_cast<size_t>(count++)];
            at.tile = queue_.next(spans);
            start_visit(at.awake, spans);
            at.awake.has_high = false;
        }
        return count;
    }

    static int64_t pixels_of(int64_t visits) { return visits * TileShape::SPANS * SPAN / 2; }  // nearly two visits a tile

    static void start_visit(AwakeSpans<Length> &awake, uint64_t spans) {
        std::fill_n(awake.least, TileShape::AROUND, UNSEEN);
        awake.spans[TileShape::SELF] = spans;
        awake.pulled = 0;
    }

    /// Wakes the spans beside a tile that gain from its visit.
    void wake_beside(int64_t tile, AwakeSpans<Length> &awake) {
        for (int n = 0; n < TileShape::AROUND; ++n) {
            const uint64_t woken = std::exchange(awake.spans[n], 0);
            if (!woken || shift + awake.least[n] > steps_.limit) continue;
            queue_.wake(tile + ((n / 9 - 1) * across_[1] + n / 3 % 3 - 1) * across_[0] + n % 3 - 1, woken, awake.least[n]);
        }
    }

    /// Offers the values of a tile to the cells across the seams of the image, and wakes the spans around those that gain.
    /// Returns whether a length came near UNSEEN.
    bool cross_seams(int64_t tile, Length *value) {
        const int64_t extent[3] = {grid_.width, grid_.height, grid_.depth};
        const TileBox box = box_of(tile);
        const int64_t *const low = box.low;
        const int64_t high[3] = {low[0] + box.extent[0], low[1] + box.extent[1], low[2] + box.extent[2]};
        const auto is_at_seam = [&](int axis, int64_t from, int64_t to) {
            return grid_.periodic.along[axis] && (from == 0 || to == extent[axis]);
        };
        bool has_high = false;
        for (int64_t z = low[2]; z < high[2]; ++z)
            for (int64_t y = low[1]; y < high[1]; ++y) {
                const bool is_row_at_seam = is_at_seam(1, y, y + 1) || is_at_seam(2, z, z + 1);
                if (!is_row_at_seam && !is_at_seam(0, low[0], high[0])) continue;
                for (int64_t x = low[0]; x < high[0]; ++x)
                    if (is_row_at_seam || is_at_seam(0, x, x + 1)) has_high |= offer_across({x, y, z}, value);
            }
        return has_high;
    }

    bool offer_across(const Grid::Place &at, Length *value) {
        const int64_t from = grid_.row(at.y, at.z) + at.x;
        if (length[from] < 0 || value[from] >= UNSEEN) return false;
        bool has_high = false;
        for (int k = 0; k < moves_.count; ++k)
            if (const int64_t to = moves_.across_seam(at, k); to != Moves::NOWHERE) has_high |= offer(from, to, k, value);
        return has_high;
    }

    /// Offers the values of a tile's spans to the cells a knight's move away.
    bool offer_far(int64_t tile, uint64_t spans, Length *value) {
        const int64_t first = first_cell(tile);
        bool has_high = false;
        for (; spans; spans &= spans - 1) {
            const int64_t start = first + shape_.at[std::countr_zero(spans)];
            for (int64_t from = start; from < start + SPAN; ++from) {
                if (length[from] < 0 || value[from] >= UNSEEN) continue;
                for (int k = 0; k < moves_.count; ++k)
                    if (moves_.is_knights(k)) has_high |= offer(from, from + moves_.offset[k], k, value);
            }
        }
        return has_high;
    }

    /// Offers the value of a cell to the one that a move leads to.  Returns whether a length came near UNSEEN.
    bool offer(int64_t from, int64_t to, int move, Length *value) {
        const bool names = value != length;
        const Length sum = length[from] + static_cast<Length>(moves_.weight[move]);
        if (names ? sum != length[to] || value[from] >= value[to] : sum >= length[to] || shift + sum > steps_.limit)
            return false;  // as where a wall is
        if (!moves_.is_open(from, move, [this](int64_t cell) { return length[cell] != WALL; })) return false;
        value[to] = names ? value[from] : sum;
        const Grid::Place there = grid_.place(to);
        wake_around(there.x / SPAN, there.y, there.z, sum);
        return !names && sum >= high_length();
    }

    TileBox box_of(int64_t tile) const {
        const int64_t *const side = shape_.side, above = tile / across_[0];
        TileBox box{{tile % across_[0] * side[0] * SPAN, above % across_[1] * side[1], above / across_[1] * side[2]}, {}};
        box.extent[0] = std::min(side[0] * SPAN, grid_.width - box.low[0]);
        box.extent[1] = std::min(side[1], grid_.height - box.low[1]);
        box.extent[2] = std::min(side[2], grid_.depth - box.low[2]);
        return box;
    }

    int64_t first_cell(int64_t tile) const {
        const TileBox box = box_of(tile);
        return grid_.row(box.low[1], box.low[2]) + box.low[0];
    }

    /// Loads the next tile into the cache, while this one is worked on.
    void prefetch(const Length *first) const {
        for (const int64_t at : shape_.at) __builtin_prefetch(first + at, 1);
    }

    /// The pull in cells of this pitch and plane.  `lengths` is null where the values are lengths.
    Pull<Length> pull_for(Length *value, const Length *lengths, int64_t pitch, int64_t plane) const {
        Pull<Length> pull{value, lengths, high_length() - 1, 0, {}};
        const auto weight = [this](int dx, int dy, int dz) { return static_cast<Length>(steps_.weight[kind_of(dx, dy, dz)]); };
        for (int k = 0; k < (volume_ ? 9 : 3); ++k) {
            constexpr int ORDER[9] = {0, -1, 1, -3, 3, -4, -2, 2, 4};  // the span's own row comes first
            const int dz = (ORDER[k] + 4) / 3 - 1, dy = (ORDER[k] + 4) % 3 - 1;
            const Length straight = k ? weight(0, dy, dz) : 0, diagonal = weight(1, dy, dz);
            if (straight || diagonal)
                pull.row[pull.rows++] = {dz * plane + dy * pitch, 3 * (ORDER[k] + 4) + 1, straight, diagonal};
        }
        return pull;
    }

    /// Flushes the lengths below high_length(), which can lower no other length any more, and counts the others from there.
    /// Returns whether the field has to be spread again.
    template <class Flush>
    bool start_over(Flush flush) {
        const Length below = high_length();
        // has_high_ may be out of date, where a high length has been lowered since.  Then little work is wasted.
        if (!has_high_ || shift + below > steps_.limit) return false;
        if (shift > std::numeric_limits<int64_t>::max() / 2)
            throw Error(APSIS_ERROR_UNSUPPORTED, "a path is longer than 2^62 units of length");
        flush(below);
        std::fill_n(starts, grid_.rows(), uint8_t(1));
        each_part(grid_.cells, [=, this](int64_t from, int64_t to) {
            for (int64_t i = from; i < to; ++i) length[i] -= length[i] >= below && length[i] < UNSEEN ? below : 0;
        });
        shift += below;
        return true;
    }

    Grid grid_;
    Steps steps_;
    bool nearest_;
    Moves moves_;
    bool volume_;
    TileShape shape_;
    int64_t across_[2], tiles_;  // tiles along x and y, and in all
    TileQueue<Length> queue_;
    Arena *arena_ = nullptr;
    int64_t most_workers_ = 1, workers_ = 1;  // threads that may make a field, and this one
    std::unique_ptr<CopyShape> copy_shape_;   // if there are several
    std::vector<Visit> visit_;                // of a round
    bool has_high_ = false;                   // whether a length came near UNSEEN
    int64_t visits_ = 0;                      // of tiles, since the start
};

}  // namespace apsis::cpu::paths
