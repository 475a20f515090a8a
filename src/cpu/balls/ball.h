// Balls and boxes of pixels, and whether they meet.
#pragma once

#include <algorithm>
#include <cstdint>

namespace apsis::cpu::balls {

template <class Cost>
struct Ball {
    Cost square;
    int32_t at[3];
};

/// Pixels from `lower` to `upper`, the latter included.
struct Box {
    int64_t lower[3], upper[3];
};

/// The weight of offsets along each axis; 0 along one that does not count.
template <class Cost>
struct Weights {
    Cost along[3];

    /// The cost of the pixel of a box that is nearest to the centre of a ball.
    Cost nearest(const Box &box, const Ball<Cost> &ball) const {
        Cost cost = 0;
        for (int a = 0; a < 3; ++a) {
            const Cost below = static_cast<Cost>(box.lower[a]) - ball.at[a],
                       above = ball.at[a] - static_cast<Cost>(box.upper[a]);
            const Cost offset = std::max(std::max(below, above), Cost(0));
            cost += along[a] * offset * offset;
        }
        return cost;
    }
    bool meets(const Box &box, const Ball<Cost> &ball) const { return nearest(box, ball) < ball.square; }

    /// Whether all pixels of a box are in a ball.
    bool contains(const Box &box, const Ball<Cost> &ball) const {
        Cost cost = 0;
        for (int a = 0; a < 3; ++a) {
            const Cost offset =
                std::max(static_cast<Cost>(box.upper[a]) - ball.at[a], ball.at[a] - static_cast<Cost>(box.lower[a]));
            cost += along[a] * offset * offset;
        }
        return cost < ball.square;
    }

    /// Whether a ball has, at every pixel of a box, at least the power of another one.
    bool dominates(const Box &box, const Ball<Cost> &ball, const Ball<Cost> &other) const {
        Cost cost = 0;
        for (int a = 0; a < 3; ++a) {
            const Cost from = ball.at[a], to = other.at[a], at = static_cast<Cost>(to > from ? box.upper[a] : box.lower[a]);
            cost += along[a] * (to - from) * (2 * at - from - to);
        }
        return cost <= ball.square - other.square;
    }
};

}  // namespace apsis::cpu::balls
