// A field of costs: for every cell the least cost of a path from some sources, the lowest of the sources from which a path
// costs as little, and the path.
//
// Cells are settled in the order of their costs (Dijkstra 1959), from a radix heap.  All costs that differ by less than the
// cheapest step are settled in any order (Dinitz 1978): no step leads from one to another.  A step between two cells costs
// the sum of their costs times its weight, a whole number above 0: so costs are a unique answer, whatever the order, and so are
// sources, which spread along steps of shortest paths alone.
//
// Cost: each pixel is settled once, and looks at its neighbours; it enters the heap up to a few times.
#pragma once

#include <vector>

#include "cpu/paths/grid.h"
#include "cpu/paths/radix_queue.h"

namespace apsis::cpu::paths {

/// Cost is that of a cell, Length that of a path: unsigned types.  BY_VALUE: whether steps go to equal values alone.
template <class Cost, class Length, bool BY_VALUE>
class CostField {
  public:
    static constexpr Length UNSEEN = ~Length(0);

    CostField(const Grid &grid, const Steps &steps, int axes) : moves_(grid, steps, axes) {
        const auto cells = static_cast<size_t>(grid.cells);
        cost.resize(cells);
        length.resize(cells);
        source.resize(cells);
        if constexpr (BY_VALUE) value.resize(cells);
    }

    std::vector<Cost> cost;       // [cell]: 0 where no path leads
    std::vector<Length> length;   // [cell]: UNSEEN where none has come
    std::vector<int64_t> source;  // [cell]: the lowest of the nearest
    std::vector<int64_t> value;   // [cell], by value

    /// Makes walls of all cells.
    void clear() {
        std::fill(cost.begin(), cost.end(), Cost(0));
        std::fill(length.begin(), length.end(), UNSEEN);
    }

    /// A cell with a cost becomes a source.  No other is found from it before run().
    void add_source(int64_t cell, int64_t name) {
        length[at(cell)] = 0;
        source[at(cell)] = name;
        sources_.push_back(cell);
    }

    /// Finds the field.  `least` is at most the cost of every cell that has one.  Paths go on from lengths for which
    /// is_within(length) is true; tick(settled) is called now and then.
    template <class IsWithin, class Tick>
    void run(uint64_t least, int64_t least_weight, IsWithin is_within, Tick tick) {
        const Length cheapest = 2 * Length(least) * static_cast<Length>(least_weight);
        int shift = 0;
        while (cheapest >> shift > 1) ++shift;
        queue_.start(shift);
        for (const int64_t cell : sources_) queue_.push({0, cell});
        sources_.clear();
        int64_t settled = 0;
        for (typename Queue::Entry entry; queue_.pop(entry);) {
            if (entry.length != length[at(entry.cell)]) continue;  // a shorter path has come since
            if (++settled % TICK == 0) tick(settled);
            if (is_within(entry.length)) settle(entry);
        }
    }

    /// The lowest cell that is before this one on a shortest path from its source; -1 of a source.
    int64_t before(int64_t cell) const {
        for (int i = 0; i < moves_.count && length[at(cell)] > 0; ++i) {  // in the order of cells
            const int64_t from = cell + moves_.offset[i];
            if (!leads(cell, from, i) || source[at(from)] != source[at(cell)] || length[at(from)] >= length[at(cell)]) continue;
            if (length[at(from)] + step(from, cell, i) == length[at(cell)]) return from;
        }
        return -1;
    }

    /// The weight of the step between two neighbours.
    int64_t weight(int64_t from, int64_t to) const {
        return moves_.weight[std::find(moves_.offset, moves_.offset + moves_.count, to - from) - moves_.offset];
    }

  private:
    using Queue = RadixQueue<Length>;
    static constexpr int64_t TICK = 1 << 16;

    static size_t at(int64_t cell) { return static_cast<size_t>(cell); }

    /// Whether a step leads from a cell to this neighbour.
    bool leads(int64_t from, int64_t to, int move) const {
        return is_passable(from, to) && moves_.is_open(from, move, [=, this](int64_t cell) { return is_passable(from, cell); });
    }
    bool is_passable([[maybe_unused]] int64_t from, int64_t cell) const {
        if constexpr (BY_VALUE)
            if (value[at(from)] != value[at(cell)]) return false;
        return cost[at(cell)] != 0;
    }

    Length step(int64_t from, int64_t to, int move) const {
        return (Length(cost[at(from)]) + cost[at(to)]) * static_cast<Length>(moves_.weight[move]);
    }

    void settle(const typename Queue::Entry &entry) {
        // Stores could change what is read through a vector, as far as a compiler knows.
        Length *const lengths = length.data();
        int64_t *const sources = source.data();
        const Length own = cost[at(entry.cell)];
        const int64_t name = sources[entry.cell];
        for (int i = 0, moves = moves_.count; i < moves; ++i) {
            const int64_t to = entry.cell + moves_.offset[i];
            if (!leads(entry.cell, to, i)) continue;
            const Length found = entry.length + (own + cost[at(to)]) * static_cast<Length>(moves_.weight[i]);
            if (found < lengths[to]) {
                lengths[to] = found;
                sources[to] = name;
                queue_.push({found, to});
            } else if (found == lengths[to]) {
                sources[to] = std::min(sources[to], name);
            }
        }
    }

    Moves moves_;
    Queue queue_;
    std::vector<int64_t> sources_;
};

}  // namespace apsis::cpu::paths
