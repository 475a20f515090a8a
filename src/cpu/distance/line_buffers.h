// Scratch memory of lines (lines.h): their elements, and the costs of offsets along them.
#pragma once

#include <algorithm>
#include <limits>

#include "cpu/distance/lines.h"
#include "runtime/workspace.h"

namespace apsis::cpu::distance {

/// The address of an element of a slot; null while scratch memory is only counted.
template <class Cost>
Cost *addressed_from(Cost *slot, int64_t element) {
    return slot ? slot + element : nullptr;
}

/// table[d] = the cost of an offset d, at most SATURATED.  Offsets beyond the line cost as much as the longest within it.
template <class Cost>
Cost *make_table(const Measure &measure, int axis, int64_t length, Carver &carver, bool fill) {
    const int64_t reach = length + LINE_PAD;
    Cost *const table = addressed_from(carver.take<Cost>(2 * reach + 1 + LINE_PAD), reach);
    for (int64_t d = 0; fill && d <= reach; ++d)
        table[d] = table[-d] = static_cast<Cost>(std::min<int64_t>(
            axis_cost<int64_t>(measure.metric, measure.weight[axis], std::min(d, length - 1)), SATURATED<Cost>));
    return table;
}

/// Takes a line's buffer with spare elements on both sides.  The line's own elements are numbered from 0.
template <class Cost>
Cost *take_line(Carver &carver, int64_t length) {
    return addressed_from(carver.take<Cost>(length + 2 * LINE_PAD), LINE_PAD);
}

/// Fills the spare elements of a line so that none is ever the best candidate: with NO_COST for costs, and with the highest
/// number for orders.
template <class Cost>
void seal(Cost *line, int64_t length, Cost spare) {
    std::fill_n(line - LINE_PAD, LINE_PAD, spare);
    std::fill_n(line + length, LINE_PAD, spare);
}

template <class Cost>
void seal(Cost *cost, Cost *order, int64_t length) {
    seal(cost, length, NO_COST<Cost>);
    if (order) seal(order, length, std::numeric_limits<Cost>::max());
}

}  // namespace apsis::cpu::distance
