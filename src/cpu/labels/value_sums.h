// First pixel, area, bounding box and sums of coordinates of a value, as a thread's table has them.
#pragma once

#include <bit>

#include "cpu/components/statistics.h"

namespace apsis::cpu::labels {

struct ValueParts : components::ComponentSums {
    using ComponentSums::add;
    ValueParts() { clear(); }
    void add(const ValueParts &other) {
        first = std::min(first, other.first);
        area += other.area;
        for (int a = 0; a < 3; ++a) {
            lower[a] = std::min(lower[a], other.lower[a]);
            upper[a] = std::max(upper[a], other.upper[a]);
            sum[a] += other.sum[a];
        }
    }
    apsis_part part_of(int64_t its_value) const {
        ComponentSums sums = *this;
        sums.value = its_value;
        return std::bit_cast<apsis_part>(sums);
    }
};

}  // namespace apsis::cpu::labels
